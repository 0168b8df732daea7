// SPDX-License-Identifier: Apache-2.0
// Choosing the producer of PTX, falling back from one to the other, and putting the unit together.
#include "analyzer/frontend/input.h"

#include <algorithm>
#include <chrono>

#include "analyzer/frontend/clang/compile.h"
#include "analyzer/frontend/comments.h"
#include "analyzer/frontend/compile_command.h"
#include "analyzer/frontend/files.h"
#include "analyzer/frontend/names.h"
#include "analyzer/frontend/nvcc.h"
#include "analyzer/frontend/toolkit.h"
#include "analyzer/ptx/parser.h"

namespace handoff::frontend {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Everything known before a compiler runs.
struct Job {
  std::string file;  ///< as the user named it
  std::string text;
  CompileCommand command;
  std::optional<Toolkit> toolkit;
  PathMap paths;
  const Overlay* overlay = nullptr;
  const CancelToken* cancel = nullptr;
};

std::optional<Error> parsePtx(Unit& unit, const std::string& text, const std::string& name) {
  const Clock::time_point start = Clock::now();
  auto module = ptx::parse(text, name);
  unit.parse_seconds = secondsSince(start);
  if (!module) return module.error();
  unit.module = std::move(*module);
  return std::nullopt;
}

/// Headers that were not found, apart from `first` itself: most of the other errors come of them.
std::string missingHeaders(const Error& first, const std::vector<Error>& errors) {
  constexpr std::size_t kNamed = 5;
  std::vector<std::string> names;
  for (const Error& error : errors) {
    const std::size_t end = error.message.find(" file not found");
    if (end == std::string::npos || error.message == first.message) continue;
    std::string name = error.message.substr(0, end);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kNamed); ++i) text += (i == 0 ? "; not found: " : ", ") + names[i];
  if (names.size() > kNamed) text += " and " + std::to_string(names.size() - kNamed) + " other headers";
  return text;
}

/// `first` speaks for all of them.
Error withCount(Error first, const std::vector<Error>& errors) {
  if (errors.size() < 2) return first;
  first.message += " (and " + std::to_string(errors.size() - 1) + " more" + missingHeaders(first, errors) + ")";
  return first;
}
Error withCount(const std::vector<Error>& errors) { return withCount(errors.front(), errors); }

bool isTrusted(const KernelDecl& kernel) { return !kernel.untrusted.has_value(); }

/// Why Clang's output is of no use at all.
std::optional<Error> whyClangFailed(const ClangOutput& output) {
  const bool has_errors = !output.errors.empty();
  if (!output.failure.empty()) return has_errors ? withCount(output.errors) : Error{output.failure, {}};
  if (output.ptx.empty()) return has_errors ? withCount(output.errors) : Error{"Clang made no PTX", {}};
  if (!has_errors) return std::nullopt;
  // A kernel that the parser lost altogether could be missed in silence.
  if (!output.lost_kernels.empty() || output.kernels.empty()) return withCount(output.errors);
  if (std::any_of(output.kernels.begin(), output.kernels.end(), isTrusted)) return std::nullopt;
  // The first error of the file may be one that no kernel depends on.
  return withCount(*output.kernels.front().untrusted, output.errors);
}

/// Why another compiler should be asked although Clang's output could be used.
std::optional<Error> whyClangIsDoubtful(const ClangOutput& output) {
  for (const KernelDecl& kernel : output.kernels)
    if (!isTrusted(kernel)) return kernel.untrusted;
  if (output.kernels.empty() && output.mentions_kernels)
    return Error{"the source has kernels, but none of them came out", {}};
  return std::nullopt;
}

/// The parser saw numbers in place of lines.
void restoreLocations(ptx::Module& module, std::vector<SourceStack>& locations) {
  for (SourceStack& stack : module.locations) {
    if (stack.empty()) continue;
    const std::uint32_t number = stack.front().pos.line;
    if (number >= 1 && number <= locations.size())
      stack = locations[number - 1];
    else
      stack.clear();
  }
}

bool isEmptyKernel(const ptx::Function& function) {
  return std::all_of(function.instructions.begin(), function.instructions.end(),
                     [](const ptx::Instruction& i) { return i.opcode == "ret" || i.opcode == "exit"; });
}

void distrustEmptyKernels(Unit& unit, const ClangOutput& output) {
  for (KernelDecl& kernel : unit.kernels) {
    const ptx::Function* function = unit.module.findFunction(kernel.name);
    if (kernel.untrusted || function == nullptr || output.with_effect.count(kernel.name) == 0 ||
        !isEmptyKernel(*function))
      continue;
    kernel.untrusted = Error{"the kernel writes or synchronises, but no code came out for it", kernel.pos};
  }
}

Unit startUnit(const Job& job, Producer producer) {
  Unit unit;
  unit.file = job.file;
  unit.text = job.text;
  unit.files_read.insert(absolutePath(job.file));
  unit.producer = producer;
  unit.used_bundled_headers = producer == Producer::kClang && !job.toolkit;
  if (job.command.note) unit.notes.push_back(*job.command.note);
  return unit;
}

Result<Unit> unitFromClang(const Job& job, ClangOutput output) {
  Unit unit = startUnit(job, Producer::kClang);
  if (auto error = parsePtx(unit, output.ptx, job.file + ".ptx")) {
    error->message = "Clang's PTX cannot be read: " + error->message;
    return *error;
  }
  restoreLocations(unit.module, output.locations);
  unit.kernels = std::move(output.kernels);
  unit.launches = std::move(output.launches);
  unit.tensor_maps = std::move(output.tensor_maps);
  unit.asm_facts = std::move(output.asm_facts);
  unit.shared_arrays = std::move(output.shared_arrays);
  unit.comments = std::move(output.comments);
  unit.files_read.merge(output.files_read);
  unit.files_missed = std::move(output.files_missed);
  distrustEmptyKernels(unit, output);
  if (!output.errors.empty()) {
    Error note = withCount(output.errors);
    note.message = "tolerated, as no kernel that is checked depends on it: " + note.message;
    unit.notes.push_back(std::move(note));
  }
  unit.notes.insert(unit.notes.end(), output.notes.begin(), output.notes.end());
  if (unit.kernels.empty() && output.mentions_kernels)
    unit.notes.push_back({"no kernel of this file is instantiated", {job.file, 0, 0}});
  return unit;
}

/// nvcc's names stand in the PTX; what Clang's syntax tree says is attached to them.
void adoptFacts(Unit& unit, const ClangOutput& output) {
  std::map<std::string, std::string> names;  // comparable -> as in the PTX
  for (const ptx::Function& function : unit.module.functions) {
    if (!function.is_kernel || function.is_declaration) continue;
    names[linkageFreeName(function.name)] = function.name;
    KernelDecl kernel;
    kernel.name = function.name;
    kernel.pretty = prettyFunctionName(function.name);
    for (const KernelDecl& known : output.kernels)
      if (linkageFreeName(known.name) == linkageFreeName(function.name)) kernel = known;
    kernel.name = function.name;
    // The doubt was about Clang's code, unless there is none from nvcc either.
    if (!isEmptyKernel(function)) kernel.untrusted.reset();
    unit.kernels.push_back(std::move(kernel));
  }
  const auto adoptName = [&](std::string& kernel) {
    if (const auto found = names.find(linkageFreeName(kernel)); found != names.end()) kernel = found->second;
  };
  unit.launches = output.launches;
  for (LaunchSite& launch : unit.launches) adoptName(launch.kernel);
  unit.tensor_maps = output.tensor_maps;
  for (TensorMapFact& map : unit.tensor_maps) adoptName(map.kernel);
  unit.asm_facts = output.asm_facts;
  unit.shared_arrays = output.shared_arrays;
  unit.files_read.insert(output.files_read.begin(), output.files_read.end());
  unit.files_missed = output.files_missed;
}

void normalizeLocations(ptx::Module& module, const PathMap& paths) {
  for (SourceStack& stack : module.locations)
    for (SourceFrame& frame : stack) {
      frame.pos.file = paths.display(frame.pos.file);
      frame.function = shortFunctionName(frame.function);
    }
}

Result<Unit> unitFromNvcc(const Job& job, const NvccOutput& compiled, const ClangOutput& output) {
  Unit unit = startUnit(job, Producer::kNvcc);
  unit.files_read.insert(compiled.files_read.begin(), compiled.files_read.end());
  if (auto error = parsePtx(unit, compiled.ptx, job.file + ".ptx")) {
    error->message = "nvcc's PTX cannot be read: " + error->message;
    return *error;
  }
  normalizeLocations(unit.module, job.paths);
  adoptFacts(unit, output);
  unit.comments = output.has_facts ? output.comments : scanComments(job.text, job.file);
  for (const KernelDecl& kernel : unit.kernels)
    if (const ptx::Function* function = unit.module.findFunction(kernel.name);
        function != nullptr && isEmptyKernel(*function) && output.with_effect.count(kernel.name) != 0)
      unit.notes.push_back({"no code came out for kernel '" + kernel.pretty + "'", kernel.pos});
  return unit;
}

Result<Unit> loadPtx(const std::string& file, const std::string& text) {
  Unit unit;
  unit.file = file;
  unit.producer = Producer::kPtxFile;
  unit.files_read.insert(absolutePath(file));
  if (auto error = parsePtx(unit, text, file)) return *error;
  return unit;
}

ClangOutput runClang(const Job& job, bool wants_ptx) {
  return compileWithClang({absolutePath(job.file), job.command.flags, job.toolkit, &job.paths, wants_ptx, job.overlay, job.cancel});
}

Result<NvccOutput> runNvcc(const Job& job) {
  if (!job.toolkit) return Error{"no CUDA toolkit was found, so there is no nvcc", {}};
  if (isCancelled(job.cancel)) return Error{std::string(kCancelled), {job.file, 0, 0}};
  if (job.overlay != nullptr && !job.overlay->empty())
    return Error{"nvcc reads files from the disk only, and this one is not saved", {job.file, 0, 0}};
  return compileWithNvcc(absolutePath(job.file), job.command.flags, *job.toolkit, job.paths, job.cancel);
}

Result<Unit> loadWithNvcc(const Job& job) {
  const Clock::time_point start = Clock::now();
  const auto compiled = runNvcc(job);
  if (!compiled) return compiled.error();
  const double seconds = secondsSince(start);
  auto unit = unitFromNvcc(job, *compiled, runClang(job, /*wants_ptx=*/false));
  if (unit) unit->produce_seconds = unit->produce_processor_seconds = seconds;
  return unit;
}

Result<Unit> loadWithClang(const Job& job, Choice choice) {
  const Clock::time_point start = Clock::now();
  ClangOutput output = runClang(job, /*wants_ptx=*/true);
  if (isCancelled(job.cancel)) return Error{std::string(kCancelled), {job.file, 0, 0}};
  std::optional<Error> failure = whyClangFailed(output);
  if (failure && failure->pos.file.empty()) failure->pos.file = job.file;
  const std::optional<Error> doubt = failure ? failure : whyClangIsDoubtful(output);
  if (choice == Choice::kAuto && doubt && job.toolkit && !job.toolkit->nvcc.empty()) {
    if (const auto compiled = runNvcc(job)) {
      auto unit = unitFromNvcc(job, *compiled, output);
      if (!unit) return unit;
      unit->notes.push_back({"Clang could not serve this file, nvcc did: " + doubt->message, doubt->pos});
      unit->produce_seconds = unit->produce_processor_seconds = secondsSince(start);
      return unit;
    } else if (isCancelled(job.cancel)) {
      return compiled.error();
    } else if (!failure) {
      output.notes.push_back(
          {"nvcc cannot serve this file either: " + compiled.error().message, compiled.error().pos});
    }
  }
  if (failure) return *failure;
  const double seconds = secondsSince(start);
  const double processor_seconds = output.processor_seconds;
  auto unit = unitFromClang(job, std::move(output));
  if (unit) {
    unit->produce_seconds = seconds;
    unit->produce_processor_seconds = processor_seconds;
  }
  return unit;
}

Result<std::string> readText(const std::string& file, const Overlay* overlay) {
  if (overlay != nullptr)
    if (const auto found = overlay->find(absolutePath(file)); found != overlay->end()) return found->second;
  return readFile(file);
}

}  // namespace

Result<Unit> load(const std::string& file, const Options& options) {
  auto text = readText(file, options.overlay.get());
  if (!text) return text.error();
  if (file.ends_with(".ptx")) return loadPtx(file, *text);
  auto command = commandFor(file, options);
  if (!command) return command.error();
  auto toolkit = findToolkit(options, command->flags.cuda_path);
  if (!toolkit) return toolkit.error();
  std::string directory = command->flags.directory;
  const Job job{file, std::move(*text), std::move(*command), std::move(*toolkit),
                PathMap(file, std::move(directory)), options.overlay.get(), options.cancel};
  return options.frontend == Choice::kNvcc ? loadWithNvcc(job) : loadWithClang(job, options.frontend);
}

std::optional<std::set<std::string>> scanFiles(const std::string& file, const Options& options) {
  if (file.ends_with(".ptx")) return std::set{absolutePath(file)};
  auto command = commandFor(file, options);
  if (!command) return std::nullopt;
  auto toolkit = findToolkit(options, command->flags.cuda_path);
  if (!toolkit) return std::nullopt;
  const PathMap paths(file, command->flags.directory);
  std::set<std::string> files =
      scanWithClang({absolutePath(file), command->flags, *toolkit, &paths, /*wants_ptx=*/false, options.overlay.get()});
  if (files.empty()) return std::nullopt;
  return files;
}

Result<std::string> describeCommand(const std::string& file, const Options& options) {
  if (file.ends_with(".ptx")) return std::string("ptx");
  auto command = commandFor(file, options);
  if (!command) return command.error();
  auto toolkit = findToolkit(options, command->flags.cuda_path);
  if (!toolkit) return toolkit.error();
  std::string text = std::to_string(static_cast<int>(options.frontend));
  const auto add = [&](const std::string& word) { text += word + '\0'; };
  add(command->flags.directory);
  add(command->flags.arch);
  for (const std::string& arg : command->flags.args) add(arg);
  if (command->note) add(toString(*command->note));
  if (!*toolkit) return text;
  add((*toolkit)->path);
  add(std::to_string((*toolkit)->major) + "." + std::to_string((*toolkit)->minor));
  add((*toolkit)->nvcc);
  return text;
}

Result<std::string> loadSass(const std::string& file, const Options& options) {
  if (auto text = readFile(file); !text) return text.error();
  const bool is_source = !file.ends_with(".cubin");
  Result<CompileCommand> command = is_source ? commandFor(file, options) : Result<CompileCommand>(CompileCommand{});
  if (!command) return command.error();
  auto toolkit = findToolkit(options, command->flags.cuda_path);
  if (!toolkit) return toolkit.error();
  if (!is_source) return disassemble(absolutePath(file), *toolkit);
  if (!*toolkit) return Error{"no CUDA toolkit was found, so there is no nvcc to make machine code", {file, 0, 0}};
  return disassembleWithNvcc(absolutePath(file), command->flags, **toolkit, PathMap(file, command->flags.directory));
}

}  // namespace handoff::frontend
