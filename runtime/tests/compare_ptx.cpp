// SPDX-License-Identifier: Apache-2.0
// compare_ptx A.ptx B.ptx: whether two files hold the same instructions. Registers, labels and variables are renamed in
// the order in which they first occur; comments, debug lines and blank lines do not count. Exit code 0: the same.
#include <cctype>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace {

bool isNameChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%'; }

/// Names that a compiler makes up: %r12, $L__BB0_2, and mangled variables.
bool isMadeUp(const std::string& word) {
  const bool is_register = word.size() > 2 && word[0] == '%' && std::isdigit(static_cast<unsigned char>(word.back())) != 0;
  return is_register || word.rfind("$L", 0) == 0 || word.rfind("_Z", 0) == 0;
}

class Renamer {
 public:
  std::string renamed(const std::string& line) {
    std::string result;
    for (std::size_t i = 0; i < line.size();) {
      std::size_t end = i;
      while (end < line.size() && isNameChar(line[end])) ++end;
      if (end == i) {
        result += line[i++];
        continue;
      }
      const std::string word = line.substr(i, end - i);
      result += isMadeUp(word) ? nameOf(word) : word;
      i = end;
    }
    return result;
  }

 private:
  std::string nameOf(const std::string& word) {
    // Registers of different classes stay different: %r1 and %rd1 get names of their own.
    const auto entry = names_.emplace(word, "@" + std::to_string(names_.size()));
    return entry.first->second;
  }

  std::map<std::string, std::string> names_;
};

/// The instructions of a file, in a form that does not depend on names.
std::vector<std::string> instructionsOf(const char* file) {
  std::ifstream stream(file);
  if (!stream) {
    std::cerr << "compare_ptx: cannot read " << file << "\n";
    std::exit(2);
  }
  std::vector<std::string> lines;
  Renamer renamer;
  bool is_body = false;
  for (std::string line; std::getline(stream, line);) {
    line = line.substr(0, line.find("//"));
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos) continue;
    line = line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
    is_body = is_body || line[0] == '{';
    const bool is_directive = line.rfind(".loc", 0) == 0 || line.rfind(".file", 0) == 0 || line.rfind(".reg", 0) == 0 ||
                              line.rfind(".shared", 0) == 0;
    if (is_body && !is_directive) lines.push_back(renamer.renamed(line));
  }
  return lines;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "Usage: compare_ptx A.ptx B.ptx\n";
    return 2;
  }
  const std::vector<std::string> a = instructionsOf(argv[1]), b = instructionsOf(argv[2]);
  if (a.empty()) {
    std::cerr << "compare_ptx: no instructions in " << argv[1] << "\n";
    return 2;
  }
  for (std::size_t i = 0; i < a.size() || i < b.size(); ++i) {
    const std::string left = i < a.size() ? a[i] : "(end)", right = i < b.size() ? b[i] : "(end)";
    if (left == right) continue;
    std::cerr << "instruction " << i << " differs\n  " << argv[1] << ": " << left << "\n  " << argv[2] << ": " << right
              << "\n";
    return 1;
  }
  std::cout << a.size() << " lines are the same\n";
  return 0;
}
