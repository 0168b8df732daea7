// SPDX-License-Identifier: Apache-2.0
// The loop of parses, each with the repairs that the one before asked for, and the step to PTX.
//
// Threads: everything a compilation needs hangs on this call's stack. LLVM's target registry is filled once;
// its crash recovery keeps its own state per thread.
#include "analyzer/frontend/clang/compile.h"

#include <clang/Driver/Compilation.h>
#include <clang/Driver/Driver.h>
#include <clang/Driver/Tool.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <chrono>
#include <mutex>

#include "analyzer/frontend/clang/attempt.h"
#include "analyzer/frontend/clang/budget.h"
#include "analyzer/frontend/clang/deferred_codegen.h"
#include "analyzer/frontend/clang/hooks.h"
#include "analyzer/frontend/clang/lowering.h"
#include "analyzer/frontend/clang/recording_files.h"
#include "analyzer/frontend/clang/virtual_files.h"
#include "analyzer/support/thread_clock.h"

namespace handoff::frontend {
namespace {

using FileSystem = llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>;

constexpr int kMaxParses = 4;
constexpr unsigned kStackBytes = 64U << 20U;  // template instantiation recurses deeply

/// Carries LLVM's last words from its fatal-error handler to the caller.
struct Guard : llvm::CrashRecoveryContext {
  std::string last_words;
};

void onFatalError(void*, const char* reason, bool) {
  auto* guard = static_cast<Guard*>(llvm::CrashRecoveryContext::GetCurrent());
  if (guard == nullptr) return;  // not ours: LLVM aborts
  guard->last_words = reason;
  guard->HandleExit(1);
}

void initializeOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    LLVMInitializeX86TargetInfo();
    llvm::CrashRecoveryContext::Enable();
    llvm::install_fatal_error_handler(onFatalError);
  });
}

/// Where only the system's own installation puts files.
std::vector<std::string> systemFolders(const ClangRequest& request) {
  std::vector<std::string> folders = {std::string(kOwnFolder), "/usr/", "/lib", HANDOFF_CLANG_RESOURCES};
  if (request.toolkit) folders.push_back(request.toolkit->path + "/");
  return folders;
}

llvm::IntrusiveRefCntPtr<RecordingFiles> makeFileSystem(const ClangRequest& request) {
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  for (const VirtualFile& file : virtualFiles())
    files->addFile(file.path, 0, llvm::MemoryBuffer::getMemBuffer(file.text, file.path));
  if (request.overlay != nullptr)
    for (const auto& [path, text] : *request.overlay)
      files->addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(text, path));
  // A file system with a working directory of its own: the process has only one for all threads.
  auto overlay = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(
      FileSystem(llvm::vfs::createPhysicalFileSystem().release()));
  overlay->pushOverlay(files);
  if (!request.flags.directory.empty()) overlay->setCurrentWorkingDirectory(request.flags.directory);
  return llvm::makeIntrusiveRefCnt<RecordingFiles>(overlay, systemFolders(request));
}

std::vector<std::string> toolkitArgs(const Toolkit& toolkit, const Repairs& repairs) {
  std::vector<std::string> args = {"--cuda-path=" + toolkit.path,
                                   // Behind the user's own folders, so that a CCCL of their own wins.
                                   "-isystem", toolkit.path + "/include/cccl",
                                   "-D__CUDACC_VER_MAJOR__=" + std::to_string(toolkit.major),
                                   "-D__CUDACC_VER_MINOR__=" + std::to_string(toolkit.minor),
                                   "-D__CUDACC_VER_BUILD__=0", "-D_CG_CLUSTER_INTRINSICS_AVAILABLE"};
  if (repairs.wide_shim) args.emplace_back("-DHANDOFF_WIDE_SHIM");
  args.insert(args.end(), {"-include", std::string(kShimPath)});
  return args;
}

std::vector<std::string> bundledArgs() {
  const std::string folder(kBundledFolder);
  return {"-nocudainc", "-nocudalib", "--no-cuda-version-check", "-isystem",
          folder,       "-include",   folder + "/cuda_runtime.h"};
}

/// Errors of Clang by default that nvcc lets pass with a warning or in silence, and that leave a complete
/// tree behind. -Wnon-pod-varargs is none of them: Clang cannot compile such a call.
constexpr const char* kPassesNvcc[] = {
    "-Wno-c++11-narrowing",                           // T x = {blockIdx.z, ...} for an int member
    "-Wno-c++11-narrowing-const-reference",           //
    "-Wno-reserved-user-defined-literal",             // "%"PRIu64
    "-Wno-register",                                  // in C++17
    "-Wno-invalid-constexpr",                         // a constexpr function that calls one that is not
    "-Wno-missing-template-arg-list-after-template-kw",  // a.template get()
    "-Wno-invalid-partial-specialization",            //
    "-Wno-address-of-temporary",                      // &make()
    "-Wno-increment-bool",                            //
    "-Wno-dynamic-exception-spec",                    //
};

std::vector<std::string> driverArgs(const ClangRequest& request, const Repairs& repairs) {
  const std::string& arch = request.flags.arch;
  std::vector<std::string> args = {HANDOFF_CLANG,
                                   "-x",
                                   "cuda",
                                   "--cuda-device-only",
                                   "--cuda-gpu-arch=" + arch,
                                   "-S",
                                   "-O2",
                                   "-gline-tables-only",
                                   "-resource-dir",
                                   HANDOFF_CLANG_RESOURCES};
  args.insert(args.end(), request.flags.args.begin(), request.flags.args.end());
  const std::vector<std::string> toolkit =
      request.toolkit ? toolkitArgs(*request.toolkit, repairs) : bundledArgs();
  args.insert(args.end(), toolkit.begin(), toolkit.end());
  if (arch.ends_with("a")) {
    const std::string number = arch.substr(3, arch.size() - 4) + "0";
    args.push_back("-D__CUDA_ARCH_SPECIFIC__=" + number);
    args.push_back("-D__CUDA_ARCH_FAMILY_SPECIFIC__=" + number);
  }
  args.insert(args.end(), std::begin(kPassesNvcc), std::end(kPassesNvcc));
  args.insert(args.end(), {"-w", "-ferror-limit=0", "-fno-verbose-asm", request.file});
  return args;
}

/// Keeps the driver's complaints.
class DriverErrors : public clang::DiagnosticConsumer {
 public:
  explicit DriverErrors(std::vector<Error>& out) : out_(out) {}
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    if (level < clang::DiagnosticsEngine::Error) return;
    llvm::SmallString<128> text;
    info.FormatDiagnostic(text);
    out_.push_back({text.str().str(), {}});
  }

 private:
  std::vector<Error>& out_;
};

/// The driver turns user-level arguments into those of the compiler proper. Null: errors were reported.
std::shared_ptr<clang::CompilerInvocation> makeInvocation(const ClangRequest& request, const Repairs& repairs,
                                                          const FileSystem& files,
                                                          std::vector<Error>& errors) {
  clang::DiagnosticOptions options;
  DriverErrors consumer(errors);
  const auto diagnostics =
      clang::CompilerInstance::createDiagnostics(*files, options, &consumer, /*ShouldOwnClient=*/false);
  const std::vector<std::string> words = driverArgs(request, repairs);
  std::vector<const char*> args;
  for (const std::string& word : words) args.push_back(word.c_str());
  clang::driver::Driver driver(args[0], "x86_64-pc-linux-gnu", *diagnostics, "handoff", files);
  const std::unique_ptr<clang::driver::Compilation> compilation(driver.BuildCompilation(args));
  if (compilation == nullptr || !errors.empty()) return nullptr;
  const clang::driver::Command* job = nullptr;
  for (const clang::driver::Command& command : compilation->getJobs())
    if (llvm::StringRef(command.getCreator().getName()) == "clang") job = &command;
  if (job == nullptr) {
    errors.push_back({"Clang's driver plans no compilation for these flags", {}});
    return nullptr;
  }
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, job->getArguments(), *diagnostics, args[0]))
    return nullptr;
  return invocation;
}

void adjust(clang::CompilerInvocation& invocation, const ClangRequest& request, const Repairs& repairs) {
  clang::CodeGenOptions& codegen = invocation.getCodeGenOpts();
  codegen.DisableLLVMPasses = true;
  codegen.ClearASTBeforeBackend = false;
  codegen.DebugInfoForProfiling =
      true;  // brings mangled names into line tables: readable frames in inline chains
  invocation.getFrontendOpts().DisableFree = false;
  invocation.getDiagnosticOpts().ShowCarets = false;  // also silences "N errors generated"
  if (repairs.relocatable) invocation.getLangOpts().GPURelocatableDeviceCode = true;
  if (request.toolkit) return;
  // Without a toolkit the driver cannot know a PTX version and takes a very old one.
  auto& features = invocation.getTargetOpts().FeaturesAsWritten;
  std::erase_if(features, [](const std::string& feature) { return feature.starts_with("+ptx"); });
  features.emplace_back("+ptx88");
}

/// Copies of files with the missing keywords in place, and blanks for a "__restrict__" that qualifies nothing.
void patchKeywords(clang::CompilerInvocation& invocation, const Repairs& repairs,
                   llvm::vfs::FileSystem& files) {
  std::map<std::string, std::string> texts;
  const auto textOf = [&](const std::string& file) -> std::string& {
    const auto [entry, is_new] = texts.try_emplace(file);
    if (is_new)
      if (auto buffer = files.getBufferForFile(file)) entry->second = (*buffer)->getBuffer().str();
    return entry->second;
  };
  for (const auto& [file, offset] : repairs.restricts) {
    std::string& text = textOf(file);
    const auto isOfTheWord = [](char c) { return c == '_' || llvm::isAlpha(c); };
    const std::size_t length = llvm::StringRef(text).substr(offset).take_while(isOfTheWord).size();
    if (length != 0) text.replace(offset, length, length, ' ');
  }
  for (auto it = repairs.keywords.rbegin(); it != repairs.keywords.rend();
       ++it) {  // from the back: offsets stay true
    const auto& [file, offset] = it->first;
    std::string& text = textOf(file);
    if (offset <= text.size()) text.insert(offset, it->second + " ");
  }
  for (const auto& [file, text] : texts)
    invocation.getPreprocessorOpts().addRemappedFile(
        file, llvm::MemoryBuffer::getMemBufferCopy(text, file).release());
}

class Action : public clang::EmitLLVMOnlyAction {
 public:
  Action(llvm::LLVMContext& context, Attempt& attempt) : EmitLLVMOnlyAction(&context), attempt_(attempt) {}
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef input) override {
    watchTokens(compiler.getPreprocessor(), attempt_);
    auto codegen = EmitLLVMOnlyAction::CreateASTConsumer(compiler, input);
    if (codegen == nullptr) return nullptr;
    return std::make_unique<DeferredCodegen>(compiler, *this, attempt_, std::move(codegen));
  }

 private:
  Attempt& attempt_;
};

/// One parse. True: parse again with attempt.wanted.
bool parseOnce(const ClangRequest& request, const FileSystem& files, Attempt& attempt, bool is_last) {
  auto invocation = makeInvocation(request, attempt.applied, files, attempt.output.errors);
  if (invocation == nullptr) return false;
  adjust(*invocation, request, attempt.applied);
  patchKeywords(*invocation, attempt.applied, *files);
  const std::unique_ptr<clang::DiagnosticConsumer> consumer = makeDiagnosticConsumer(attempt);
  llvm::LLVMContext context;
  clang::CompilerInstance compiler(invocation);
  compiler.setVirtualFileSystem(files);
  compiler.createDiagnostics(consumer.get(), /*ShouldOwnClient=*/false);
  attempt.is_last = is_last;
  attempt.cancel = request.cancel;
  Action action(context, attempt);
  compiler.ExecuteAction(action);
  if (isCancelled(request.cancel)) return false;
  if (attempt.wantsRetry()) return true;
  for (ParseError& error : attempt.errors) attempt.output.errors.push_back(error.error);
  if (std::unique_ptr<llvm::Module> module = action.takeModule(); module != nullptr && request.wants_ptx)
    lowerToPtx(compiler, std::move(module), *request.paths, attempt.output);
  return false;
}

void compile(const ClangRequest& request, ClangOutput& output) {
  const auto files = makeFileSystem(request);
  Repairs repairs;
  for (int count = 1; count <= kMaxParses; ++count) {
    Attempt attempt(*request.paths, repairs);
    const bool is_again = parseOnce(request, files, attempt, count == kMaxParses);
    if (!is_again) {
      output = std::move(attempt.output);
      output.files_read = files->read();
      output.files_missed = files->missed();
      return;
    }
    repairs = std::move(attempt.wanted);
  }
}

/// Reads tokens alone.
class ScanAction : public clang::PreprocessOnlyAction {
  bool BeginSourceFileAction(clang::CompilerInstance& compiler) override {
    limitMacros(compiler.getPreprocessor());
    compiler.getPreprocessor().setTokenWatcher([budget = TokenBudget()](const clang::Token&) mutable { budget.count(); });
    return PreprocessOnlyAction::BeginSourceFileAction(compiler);
  }
};

std::set<std::string> scan(const ClangRequest& request) {
  const auto files = makeFileSystem(request);
  std::vector<Error> errors;
  auto invocation = makeInvocation(request, Repairs(), files, errors);
  if (invocation == nullptr) return {};
  adjust(*invocation, request, Repairs());
  clang::IgnoringDiagConsumer consumer;
  clang::CompilerInstance compiler(invocation);
  compiler.setVirtualFileSystem(files);
  compiler.createDiagnostics(&consumer, /*ShouldOwnClient=*/false);
  ScanAction action;
  const bool is_whole = compiler.ExecuteAction(action) && !compiler.getDiagnostics().hasErrorOccurred();
  return is_whole ? files->read() : std::set<std::string>();
}

}  // namespace

std::set<std::string> scanWithClang(const ClangRequest& request) {
  initializeOnce();
  std::set<std::string> files;
  Guard guard;
  const bool is_alive = guard.RunSafelyOnThread([&] { files = scan(request); }, kStackBytes);
  return is_alive ? files : std::set<std::string>();
}

ClangOutput compileWithClang(const ClangRequest& request) {
  initializeOnce();
  ClangOutput output;
  Guard guard;
  const bool is_alive = guard.RunSafelyOnThread([&] {
    compile(request, output);
    // All that this thread has ever done.
    output.processor_seconds = std::chrono::duration<double>(ThreadClock::now().time_since_epoch()).count();
  }, kStackBytes);
  if (isCancelled(request.cancel)) {
    ClangOutput cancelled;
    cancelled.failure = kCancelled;
    return cancelled;
  }
  if (is_alive) return output;
  // What a crashed compilation left behind cannot be relied on.
  ClangOutput crashed;
  crashed.failure = guard.last_words.empty() ? "Clang crashed" : "Clang gave up: " + guard.last_words;
  return crashed;
}

}  // namespace handoff::frontend
