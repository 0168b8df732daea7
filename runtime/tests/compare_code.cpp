// SPDX-License-Identifier: Apache-2.0
// compare_code A.cubin B.cubin: whether the kernels of two cubins are the same machine code, byte for byte.
// Exit code 0: the same. A cubin is an ELF file of 64 bits; its code lies in sections named .text.KERNEL.
#include <elf.h>

#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>

namespace {

using Sections = std::map<std::string, std::string>;

/// The sections of code, by name; none where the file is no ELF file.
Sections codeOf(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  Sections code;
  Elf64_Ehdr header{};
  if (bytes.size() < sizeof header || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) return code;
  std::memcpy(&header, bytes.data(), sizeof header);
  const auto section = [&](std::size_t index) {
    Elf64_Shdr result{};
    const std::size_t at = header.e_shoff + index * header.e_shentsize;
    if (at + sizeof result <= bytes.size()) std::memcpy(&result, bytes.data() + at, sizeof result);
    return result;
  };
  const Elf64_Shdr names = section(header.e_shstrndx);
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr of = section(i);
    if (names.sh_offset + of.sh_name >= bytes.size() || of.sh_offset + of.sh_size > bytes.size()) continue;
    const std::string name = bytes.c_str() + names.sh_offset + of.sh_name;
    if (name.rfind(".text.", 0) == 0) code[name] = bytes.substr(of.sh_offset, of.sh_size);
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "Usage: compare_code A.cubin B.cubin\n";
    return 2;
  }
  const Sections a = codeOf(argv[1]), b = codeOf(argv[2]);
  if (a.empty() || b.empty()) {
    std::cerr << "compare_code: no code in " << (a.empty() ? argv[1] : argv[2]) << "\n";
    return 2;
  }
  if (a == b) return 0;
  for (const auto& [name, code] : a) {
    const auto other = b.find(name);
    if (other == b.end()) std::cerr << name << " is in one file only\n";
    if (other != b.end() && other->second != code)
      std::cerr << name << " differs: " << code.size() << " and " << other->second.size() << " bytes\n";
  }
  return 1;
}
