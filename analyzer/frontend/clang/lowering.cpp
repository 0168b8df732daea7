// SPDX-License-Identifier: Apache-2.0
// The middle end and the NVPTX back end.
//
// Why an own pass pipeline: at -O0 no address space is inferred and every operation sits in a called
// function; stock -O1 marks helpers noinline; stock -O2 costs minutes and gigabytes on template-heavy
// kernels. Here every helper is inlined into its kernel bottom-up, after it has been simplified, and only
// loops that the author marked, or that are short, are unrolled: loops stay loops for the executor.
#include "analyzer/frontend/clang/lowering.h"

#include <clang/CodeGen/BackendUtil.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>

#include "analyzer/frontend/clang/budget.h"
#include "analyzer/frontend/names.h"

namespace handoff::frontend {
namespace {

constexpr unsigned kSharedSpace = 3;

constexpr char kPasses[] =
    "annotation2metadata,"
    "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>),"
    "cgscc(inline,function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,loop(loop-rotate),"
    "simplifycfg,"
    "instcombine<no-verify-fixpoint>,loop(indvars,loop-deletion,loop-unroll-full),sroa,early-cse,"
    "instcombine<no-verify-fixpoint>,simplifycfg)),"
    "ipsccp,globaldce,function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,adce),globaldce";

void inlineEverything(llvm::Module& module) {
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && !function.hasFnAttribute(llvm::Attribute::NoInline) &&
        function.getCallingConv() != llvm::CallingConv::PTX_Kernel)
      function.addFnAttr(llvm::Attribute::AlwaysInline);
}

/// Shared memory is filled by asynchronous copies that the optimiser cannot see: without this it may conclude
/// that an array nobody stores to holds nothing, and delete the reads. Seen as defined elsewhere, it keeps
/// them.
class SharedAsExternal {
 public:
  explicit SharedAsExternal(llvm::Module& module) {
    for (llvm::GlobalVariable& global : module.globals()) {
      if (global.getAddressSpace() != kSharedSpace || global.isDeclaration()) continue;
      if (global.hasLocalLinkage() && global.use_empty()) continue;
      saved_.push_back({&global, global.getLinkage()});
      global.setLinkage(llvm::GlobalValue::ExternalLinkage);
      global.setExternallyInitialized(true);
    }
  }
  /// Also removes what the passes left without a use: it would count as occupied memory.
  void restore() {
    for (auto& [global, linkage] : saved_) {
      if (!global) continue;
      auto* variable = llvm::cast<llvm::GlobalVariable>(global);
      variable->setLinkage(linkage);
      variable->setExternallyInitialized(false);
      variable->removeDeadConstantUsers();
      if (variable->use_empty()) variable->eraseFromParent();
    }
  }

 private:
  std::vector<std::pair<llvm::WeakTrackingVH, llvm::GlobalValue::LinkageTypes>> saved_;
};

std::string runPasses(llvm::Module& module, llvm::StringRef cpu) {
  std::string problem;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(module.getTargetTriple(), problem);
  if (target == nullptr) return problem;
  const std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(module.getTargetTriple(), cpu, "", {}, {}));
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassInstrumentationCallbacks callbacks;
  limitPasses(callbacks);
  llvm::PassBuilder builder(machine.get(), {}, std::nullopt, &callbacks);
  machine->registerPassBuilderCallbacks(builder);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  if (llvm::Error error = builder.parsePassPipeline(passes, kPasses)) return llvm::toString(std::move(error));
  passes.run(module, modules);
  return {};
}

SourceStack chainOf(const llvm::DILocation* location, const PathMap& paths) {
  SourceStack stack;
  for (; location != nullptr; location = location->getInlinedAt()) {
    const llvm::DIFile* file = location->getFile();
    std::string name = file != nullptr ? file->getFilename().str() : std::string();
    if (file != nullptr && !name.starts_with("/") && !file->getDirectory().empty())
      name = file->getDirectory().str() + "/" + name;
    const llvm::DISubprogram* function = location->getScope()->getSubprogram();
    SourceFrame frame{{paths.display(name), location->getLine(), location->getColumn()}, {}};
    if (function != nullptr)
      frame.function = shortFunctionName(
          function->getLinkageName().empty() ? function->getName().str() : function->getLinkageName().str());
    stack.push_back(std::move(frame));
  }
  return stack;
}

/// LLVM 22 prints no inline chains into PTX. So every distinct chain gets a number, and the number takes the
/// place of the line: one ".loc" then stands for the whole chain.
void numberLocations(llvm::Module& module, const PathMap& paths, std::vector<SourceStack>& out) {
  llvm::DenseMap<const llvm::DILocation*, unsigned> numbers;
  for (llvm::Function& function : module) {
    llvm::DISubprogram* scope = function.getSubprogram();
    if (scope == nullptr) continue;
    for (llvm::BasicBlock& block : function)
      for (llvm::Instruction& instruction : block) {
        const llvm::DILocation* location = instruction.getDebugLoc().get();
        if (location == nullptr) continue;
        const auto [entry, is_new] = numbers.try_emplace(location, out.size() + 1);
        if (is_new) out.push_back(chainOf(location, paths));
        instruction.setDebugLoc(llvm::DILocation::get(module.getContext(), entry->second, 0, scope));
      }
  }
}

/// LLVM's own handler prints and ends the process.
class BackendErrors : public llvm::DiagnosticHandler {
 public:
  explicit BackendErrors(std::string& out) : out_(out) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error || !out_.empty()) return true;
    llvm::raw_string_ostream stream(out_);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    return true;
  }

 private:
  std::string& out_;
};

}  // namespace

void lowerToPtx(clang::CompilerInstance& compiler, std::unique_ptr<llvm::Module> module, const PathMap& paths,
                ClangOutput& output) {
  std::string problem;
  module->getContext().setDiagnosticHandler(std::make_unique<BackendErrors>(problem));
  inlineEverything(*module);
  SharedAsExternal shared(*module);
  output.failure = runPasses(*module, compiler.getTargetOpts().CPU);
  shared.restore();
  if (!output.failure.empty()) return;
  numberLocations(*module, paths, output.locations);
  llvm::SmallString<0> text;
  clang::CodeGenOptions options = compiler.getCodeGenOpts();
  options.DisableLLVMPasses = true;
  clang::emitBackendOutput(compiler, options, compiler.getTarget().getDataLayoutString(), module.get(),
                           clang::Backend_EmitAssembly, compiler.getVirtualFileSystemPtr(),
                           std::make_unique<llvm::raw_svector_ostream>(text));
  if (!problem.empty())
    output.failure = "code generation failed: " + problem;
  else
    output.ptx = text.str().str();
}

}  // namespace handoff::frontend
