// SPDX-License-Identifier: Apache-2.0
// Running nvcc and cuobjdump in a private folder and reading their messages.
#include "analyzer/frontend/nvcc.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <regex>
#include <sstream>
#include <thread>
#include <utility>

#include "analyzer/frontend/input.h"

namespace handoff::frontend {
namespace {

constexpr std::chrono::minutes kMaxTime(10);
constexpr std::chrono::milliseconds kMaxNap(50);

/// Waits for a process that leads a group of its own, and ends the group when time is over or nobody wants it any more.
Result<int> waitFor(pid_t pid, const std::string& name, const CancelToken* cancel) {
  const auto deadline = std::chrono::steady_clock::now() + kMaxTime;
  std::chrono::milliseconds nap(1);
  int status = 0;
  for (pid_t ended = 0; ended != pid;) {
    ended = waitpid(pid, &status, WNOHANG);
    if (ended < 0 && errno != EINTR) return Error{"lost '" + name + "': " + std::string(std::strerror(errno)), {}};
    if (ended == pid) break;
    const bool is_late = std::chrono::steady_clock::now() > deadline;
    if (is_late || isCancelled(cancel)) {
      kill(-pid, SIGKILL);
      while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
      }
      if (!is_late) return Error{std::string(kCancelled), {}};
      return Error{"'" + name + "' was ended after " + std::to_string(kMaxTime.count()) + " minutes", {}};
    }
    std::this_thread::sleep_for(nap);
    nap = std::min(2 * nap, kMaxNap);
  }
  if (!WIFEXITED(status)) return Error{"'" + name + "' was ended by signal " + std::to_string(WTERMSIG(status)), {}};
  return WEXITSTATUS(status);
}

/// Exit status, or an error when the program did not start or did not end by itself. Output goes to `log`.
Result<int> runProgram(const std::vector<std::string>& words, const std::string& directory, const std::string& log,
                       const CancelToken* cancel) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  if (!directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  // A group of its own: nvcc starts further programs, and all of them have to end with it.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t pid = 0;
  const int code = posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) return Error{"cannot run it: " + std::string(std::strerror(code)), {words[0], 0, 0}};
  return waitFor(pid, words[0], cancel);
}

}  // namespace

Error firstNvccError(const std::string& text, const PathMap& paths) {
  static const std::regex kParenthesis(R"(^(.+?)\((\d+)\): (?:catastrophic )?error(?: #[\w-]+)?: (.*)$)");
  static const std::regex kColons(R"(^(.+?):(\d+):(\d+): (?:fatal )?error: (.*)$)");
  std::optional<Error> first;
  int more = 0;
  std::string last_line;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    Error error;
    if (std::regex_match(line, match, kParenthesis))
      error = {match[3].str(),
               {paths.display(match[1].str()), static_cast<std::uint32_t>(std::stoul(match[2].str())), 0}};
    else if (std::regex_match(line, match, kColons))
      error = {match[4].str(),
               {paths.display(match[1].str()), static_cast<std::uint32_t>(std::stoul(match[2].str())),
                static_cast<std::uint32_t>(std::stoul(match[3].str()))}};
    else {
      if (!line.empty()) last_line = line;
      continue;
    }
    if (first)
      ++more;
    else
      first = std::move(error);
  }
  if (!first)
    return {"nvcc failed: " + (last_line.empty() ? std::string("it printed nothing") : last_line), {}};
  if (more > 0) first->message += " (and " + std::to_string(more) + " more)";
  return *first;
}

namespace {

/// Runs nvcc up to `stage` ("-ptx", "-cubin"), with the result in `output`; `log` is for its messages.
std::optional<Error> runNvcc(const std::string& file, const Flags& flags, const Toolkit& toolkit, const PathMap& paths,
                             const std::vector<std::string>& stage, const std::string& output, const std::string& log,
                             const CancelToken* cancel) {
  if (toolkit.nvcc.empty()) return Error{"the CUDA toolkit in '" + toolkit.path + "' has no nvcc", {}};
  std::vector<std::string> words = {toolkit.nvcc};
  words.insert(words.end(), stage.begin(), stage.end());
  words.insert(words.end(), {"-lineinfo", "--expt-relaxed-constexpr", "--expt-extended-lambda", "-arch=" + flags.arch, "-w"});
  if (!file.ends_with(".ptx")) words.insert(words.end(), {"-x", "cu"});
  const std::vector<std::string> args = nvccSpelling(flags.args);
  words.insert(words.end(), args.begin(), args.end());
  words.insert(words.end(), {file, "-o", output});
  const auto status = runProgram(words, flags.directory, log, cancel);
  if (!status) return status.error();
  if (*status == 0) return std::nullopt;
  const auto text = readFile(log);
  return firstNvccError(text ? *text : std::string(), paths);
}

bool isProgram(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

/// A program of the toolkit, else the first of that name on PATH; "" where there is none.
std::string findTool(const std::string& name, const std::optional<Toolkit>& toolkit) {
  if (toolkit && isProgram(toolkit->path + "/bin/" + name)) return toolkit->path + "/bin/" + name;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (!folder.empty() && isProgram(folder + "/" + name)) return folder + "/" + name;
  return "";
}

}  // namespace

std::vector<std::string> prerequisites(std::string_view rule) {
  std::vector<std::string> names;
  const std::size_t colon = rule.find(": ");
  if (colon == std::string_view::npos) return names;
  std::string name;
  for (std::size_t i = colon + 1; i <= rule.size(); ++i) {
    const char c = i < rule.size() ? rule[i] : '\n';
    if (c == '\\' && i + 1 < rule.size() && rule[i + 1] != '\n') {
      name += rule[++i];
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\\') {
      if (!name.empty()) names.push_back(std::exchange(name, {}));
    } else {
      name += c;
    }
  }
  return names;
}

Result<NvccOutput> compileWithNvcc(const std::string& file, const Flags& flags, const Toolkit& toolkit,
                                    const PathMap& paths, const CancelToken* cancel) {
  auto folder = TempFolder::create();
  if (!folder) return folder.error();
  const std::string ptx = folder->path() + "/out.ptx";
  const std::string rule = folder->path() + "/rule";
  if (auto error = runNvcc(file, flags, toolkit, paths, {"-ptx", "-MD", "-MF", rule}, ptx, folder->path() + "/log", cancel))
    return *error;
  Result<std::string> text = readFile(ptx);
  if (!text) return text.error();
  NvccOutput output{std::move(*text), {}};
  const Result<std::string> depends = readFile(rule);
  if (!depends) return depends.error();
  for (const std::string& name : prerequisites(*depends)) output.files_read.push_back(absolutePath(name, flags.directory));
  return output;
}

Result<std::string> disassembleWithNvcc(const std::string& file, const Flags& flags, const Toolkit& toolkit,
                                        const PathMap& paths) {
  auto folder = TempFolder::create();
  if (!folder) return folder.error();
  const std::string cubin = folder->path() + "/out.cubin";
  if (auto error = runNvcc(file, flags, toolkit, paths, {"-cubin"}, cubin, folder->path() + "/log", nullptr)) return *error;
  return disassemble(cubin, toolkit);
}

Result<std::string> disassemble(const std::string& file, const std::optional<Toolkit>& toolkit) {
  auto folder = TempFolder::create();
  if (!folder) return folder.error();
  const std::string log = folder->path() + "/log";
  // nvdisasm knows lines, cuobjdump more kinds of files.
  if (const std::string nvdisasm = findTool("nvdisasm", toolkit); !nvdisasm.empty()) {
    const auto status = runProgram({nvdisasm, "-gi", "-c", file}, "", log, nullptr);
    if (status && *status == 0) return readFile(log);
  }
  const std::string cuobjdump = findTool("cuobjdump", toolkit);
  if (cuobjdump.empty())
    return Error{"machine code needs cuobjdump or nvdisasm, which are neither in the CUDA toolkit nor on PATH; they are its "
                 "binary utilities", {}};
  const auto status = runProgram({cuobjdump, "-sass", file}, "", log, nullptr);
  if (!status) return status.error();
  auto text = readFile(log);
  if (*status == 0 || !text) return text;
  while (text->ends_with('\n')) text->pop_back();
  return Error{"cuobjdump failed: " + text->substr(text->rfind('\n') + 1), {}};
}

}  // namespace handoff::frontend
