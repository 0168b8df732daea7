// SPDX-License-Identifier: Apache-2.0
// Launch sites: "<<<>>>" and the runtime's launch functions, with the tensor maps they pass on.
#include "analyzer/frontend/clang/facts.h"
#include "analyzer/frontend/clang/fields.h"
#include "analyzer/frontend/clang/fold.h"
#include "analyzer/frontend/clang/tensor_maps.h"

namespace handoff::frontend {
namespace {

using clang::CallExpr;
using clang::Expr;
using clang::FieldDecl;
using clang::FunctionDecl;
using clang::VarDecl;

const FieldDecl* fieldOf(clang::QualType type, llvm::StringRef name) {
  const clang::RecordDecl* record = type.isNull() ? nullptr : type->getAsRecordDecl();
  if (record == nullptr || record->getDefinition() == nullptr) return nullptr;
  for (const FieldDecl* field : record->getDefinition()->fields())
    if (field->getName() == name) return field;
  return nullptr;
}

/// "attrs[0].val.clusterDim.x" in terms of fields; empty when a name does not exist in this toolkit.
Path pathOf(clang::QualType type, llvm::ArrayRef<llvm::StringRef> names) {
  Path path;
  for (const llvm::StringRef name : names) {
    const FieldDecl* field = fieldOf(type, name);
    if (field == nullptr) return {};
    path.push_back({field, 0});
    type = field->getType();
  }
  return path;
}

/// "&config" -> config.
const VarDecl* addressed(const Expr* expr) {
  expr = expr->IgnoreParenCasts();
  if (const auto* address = llvm::dyn_cast<clang::UnaryOperator>(expr);
      address != nullptr && address->getOpcode() == clang::UO_AddrOf)
    expr = address->getSubExpr()->IgnoreParenCasts();
  const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(expr);
  return ref != nullptr ? llvm::dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
}

class LaunchVisitor : public clang::RecursiveASTVisitor<LaunchVisitor> {
 public:
  LaunchVisitor(clang::ASTContext& context, Attempt& attempt, HostCode& host, const FunctionDecl& function)
      : context_(context),
        attempt_(attempt),
        function_(function),
        uses_(host.usesOf(function)),
        maps_(context, attempt, host) {}
  bool shouldVisitLambdaBody() const { return true; }

  bool VisitCUDAKernelCallExpr(clang::CUDAKernelCallExpr* expr) {
    const FunctionDecl* kernel = kernelOf(expr->getCallee());
    if (kernel == nullptr) return true;
    Folder folder(context_, uses_, expr);
    LaunchSite site = start(*kernel, expr->getBeginLoc());
    const CallExpr* config = expr->getConfig();
    if (config->getNumArgs() > 0) site.grid = dimensions(folder, config->getArg(0));
    if (config->getNumArgs() > 1) site.block = dimensions(folder, config->getArg(1));
    if (config->getNumArgs() > 2) site.dynamic_smem = folder.integer(config->getArg(2));
    addArguments(folder, *kernel, expr, 0, site);
    finish(std::move(site));
    return true;
  }

  bool VisitCallExpr(CallExpr* expr) {
    if (llvm::isa<clang::CUDAKernelCallExpr>(expr)) return true;
    const FunctionDecl* callee = expr->getDirectCallee();
    if (callee == nullptr || callee->getIdentifier() == nullptr) return true;
    const llvm::StringRef name = callee->getName();
    if ((name == "cudaLaunchKernel" || name == "cudaLaunchCooperativeKernel") && expr->getNumArgs() >= 4)
      launchKernel(expr);
    else if (name == "cudaLaunchKernelEx" && expr->getNumArgs() >= 2)
      launchKernelEx(expr, /*is_c_form=*/false);
    else if (name == "cudaLaunchKernelExC" && expr->getNumArgs() >= 3)
      launchKernelEx(expr, /*is_c_form=*/true);
    return true;
  }

 private:
  LaunchSite start(const FunctionDecl& kernel, clang::SourceLocation loc) {
    LaunchSite site;
    site.kernel = mangledName(context_, kernel);
    site.pos = positionOf(context_.getSourceManager(), attempt_.paths, loc);
    return site;
  }

  /// The same launch in several instantiations of a host template can come out equal: once is enough.
  void finish(LaunchSite site) {
    const auto equals = [&](const LaunchSite& other) {
      return other.kernel == site.kernel && other.pos == site.pos && other.grid == site.grid &&
             other.block == site.block && other.cluster == site.cluster &&
             other.dynamic_smem == site.dynamic_smem && sameArguments(other, site);
    };
    for (const LaunchSite& other : attempt_.output.launches)
      if (equals(other)) return;
    attempt_.output.launches.push_back(std::move(site));
  }

  static bool sameArguments(const LaunchSite& a, const LaunchSite& b) {
    return std::equal(a.arguments.begin(), a.arguments.end(), b.arguments.begin(), b.arguments.end(),
                      [](const auto& x, const auto& y) {
                        return x.param == y.param && x.offset == y.offset && x.value == y.value;
                      });
  }

  std::array<Folded, 3> dimensions(Folder& folder, const Expr* expr) {
    // "<<<8, 128>>>": an integer that was converted to dim3.
    if (expr->getType()->isIntegralOrEnumerationType()) return {folder.integer(expr), 1, 1};
    std::array<Folded, 3> result;
    constexpr llvm::StringLiteral kNames[3] = {"x", "y", "z"};
    for (unsigned i = 0; i < 3; ++i)
      if (const FieldDecl* field = fieldOf(expr->getType(), kNames[i]))
        result[i] = folder.member(expr, {{field, 0}});
    return result;
  }

  std::array<Folded, 3> dimensions(Folder& folder, const VarDecl* variable, Path path, clang::QualType type) {
    std::array<Folded, 3> result;
    constexpr llvm::StringLiteral kNames[3] = {"x", "y", "z"};
    for (unsigned i = 0; i < 3; ++i) {
      const FieldDecl* field = fieldOf(type, kNames[i]);
      if (field == nullptr) continue;
      path.push_back({field, 0});
      result[i] = folder.member(variable, path);
      path.pop_back();
    }
    return result;
  }

  /// Every tensor map inside a parameter, or behind a pointer in it, that can be followed to its encoding.
  template <typename Value>
  void addTensorMaps(const FunctionDecl& kernel, unsigned index, const Value* value, const LaunchSite& site) {
    for (const Leaf& leaf : leavesOf(context_, kernel.getParamDecl(index)->getType())) {
      if (leaf.kind != ParamField::Kind::kTensorMap && !leaf.points_to_tensor_map) continue;
      Path path = leaf.path;
      if (leaf.points_to_tensor_map) path.push_back(kDeref);
      std::optional<TensorMapFact> fact = maps_.find(function_, value, path);
      if (!fact) continue;
      fact->kernel = site.kernel;
      fact->param = index;
      fact->offset = leaf.offset;
      fact->launch_pos = site.pos;
      addOnce(std::move(*fact));
    }
  }

  /// Several instantiations of a host template tell the same.
  void addOnce(TensorMapFact fact) {
    const auto equals = [&](const TensorMapFact& other) {
      return other.kernel == fact.kernel && other.param == fact.param && other.offset == fact.offset &&
             other.launch_pos == fact.launch_pos && other.pos == fact.pos && other.box == fact.box &&
             other.element_bytes == fact.element_bytes && other.element_strides == fact.element_strides;
    };
    auto& maps = attempt_.output.tensor_maps;
    if (std::none_of(maps.begin(), maps.end(), equals)) maps.push_back(std::move(fact));
  }

  template <typename Call>
  void addArguments(Folder& folder, const FunctionDecl& kernel, const Call* call, unsigned first,
                    LaunchSite& site) {
    for (unsigned i = 0; i < kernel.getNumParams() && first + i < call->getNumArgs(); ++i) {
      const Expr* argument = call->getArg(first + i);
      addLeaves(kernel, i, site, [&](const Path& path) { return folder.member(argument, path); });
      addTensorMaps(kernel, i, argument, site);
    }
  }

  /// Every integer inside a parameter that folds.
  template <typename Fold>
  void addLeaves(const FunctionDecl& kernel, unsigned index, LaunchSite& site, Fold&& fold) {
    for (const Leaf& leaf : leavesOf(context_, kernel.getParamDecl(index)->getType())) {
      if (leaf.kind != ParamField::Kind::kInteger) continue;
      if (const Folded value = fold(leaf.path))
        site.arguments.push_back({index, leaf.offset, leaf.size, *value});
    }
  }

  /// "void* args[] = {&in, &n}"
  void addArgumentArray(Folder& folder, const FunctionDecl& kernel, const Expr* expr, LaunchSite& site) {
    const VarDecl* array = addressed(expr);
    const auto* list = array != nullptr && array->getInit() != nullptr
                           ? llvm::dyn_cast<clang::InitListExpr>(array->getInit()->IgnoreParenImpCasts())
                           : nullptr;
    if (list == nullptr || uses_.mayChange(array) || !uses_.writesTo(array).empty()) return;
    for (unsigned i = 0; i < kernel.getNumParams() && i < list->getNumInits(); ++i) {
      const VarDecl* variable = addressed(list->getInit(i));
      if (variable == nullptr) continue;
      addLeaves(kernel, i, site, [&](const Path& path) { return folder.member(variable, path); });
      addTensorMaps(kernel, i, variable, site);
    }
  }

  void launchKernel(CallExpr* expr) {
    const FunctionDecl* kernel = kernelOf(expr->getArg(0));
    if (kernel == nullptr) return;
    Folder folder(context_, uses_, expr);
    LaunchSite site = start(*kernel, expr->getBeginLoc());
    site.grid = dimensions(folder, expr->getArg(1));
    site.block = dimensions(folder, expr->getArg(2));
    addArgumentArray(folder, *kernel, expr->getArg(3), site);
    if (expr->getNumArgs() > 4) site.dynamic_smem = folder.integer(expr->getArg(4));
    finish(std::move(site));
  }

  void launchKernelEx(CallExpr* expr, bool is_c_form) {
    const FunctionDecl* kernel = kernelOf(expr->getArg(1));
    if (kernel == nullptr) return;
    Folder folder(context_, uses_, expr);
    LaunchSite site = start(*kernel, expr->getBeginLoc());
    if (const VarDecl* config = addressed(expr->getArg(0))) readConfig(folder, config, site);
    if (is_c_form)
      addArgumentArray(folder, *kernel, expr->getArg(2), site);
    else
      addArguments(folder, *kernel, expr, 2, site);
    finish(std::move(site));
  }

  void readConfig(Folder& folder, const VarDecl* config, LaunchSite& site) {
    const clang::QualType type = config->getType();
    const Path grid = pathOf(type, {"gridDim"}), block = pathOf(type, {"blockDim"});
    if (grid.empty() || block.empty()) return;
    site.grid = dimensions(folder, config, grid, grid.back().field->getType());
    site.block = dimensions(folder, config, block, block.back().field->getType());
    site.dynamic_smem = folder.member(config, pathOf(type, {"dynamicSmemBytes"}));
    const Expr* attributes = folder.source(config, pathOf(type, {"attrs"}));
    const VarDecl* list = attributes != nullptr ? addressed(attributes) : nullptr;
    if (list == nullptr) return;
    constexpr std::uint64_t kMaxAttributes = 16;
    const Folded count = folder.member(config, pathOf(type, {"numAttrs"}));
    for (std::uint64_t i = 0; i < kMaxAttributes && (!count || i < static_cast<std::uint64_t>(*count)); ++i)
      readAttribute(folder, list, i, site);
  }

  void readAttribute(Folder& folder, const VarDecl* list, std::uint64_t index, LaunchSite& site) {
    constexpr std::int64_t kClusterDimension = 4;  // cudaLaunchAttributeClusterDimension
    Path base;
    clang::QualType type = list->getType();
    if (const clang::ArrayType* array = context_.getAsArrayType(type)) {
      base.push_back({nullptr, index});
      type = array->getElementType();
    } else if (index > 0) {
      return;
    }
    Path id = base, dims = base;
    id.append(pathOf(type, {"id"}));
    const Path value = pathOf(type, {"val", "clusterDim"});
    if (value.empty() || folder.member(list, id) != Folded(kClusterDimension)) return;
    dims.append(value);
    site.cluster = dimensions(folder, list, dims, value.back().field->getType());
  }

  clang::ASTContext& context_;
  Attempt& attempt_;
  const FunctionDecl& function_;
  const LocalUses& uses_;
  TensorMapFinder maps_;
};

}  // namespace

const FunctionDecl* kernelOf(const Expr* expr) {
  for (int hops = 0; expr != nullptr && hops < 8; ++hops) {
    expr = expr->IgnoreParenCasts();
    if (const auto* address = llvm::dyn_cast<clang::UnaryOperator>(expr);
        address != nullptr &&
        (address->getOpcode() == clang::UO_AddrOf || address->getOpcode() == clang::UO_Deref)) {
      expr = address->getSubExpr();
      continue;
    }
    if (const auto* full = llvm::dyn_cast<clang::FullExpr>(expr)) {
      expr = full->getSubExpr();
      continue;
    }
    if (const auto* parameter = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(expr)) {
      expr = parameter->getReplacement();
      continue;
    }
    const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(expr);
    if (ref == nullptr) return nullptr;
    if (const auto* function = llvm::dyn_cast<FunctionDecl>(ref->getDecl()))
      return function->hasAttr<clang::CUDAGlobalAttr>() ? function : nullptr;
    const auto* variable = llvm::dyn_cast<VarDecl>(ref->getDecl());
    expr = variable != nullptr ? variable->getInit() : nullptr;
  }
  return nullptr;
}

namespace {

class LaunchProbe : public clang::RecursiveASTVisitor<LaunchProbe> {
 public:
  bool VisitCallExpr(CallExpr* expr) {
    const FunctionDecl* callee = expr->getDirectCallee();
    found = llvm::isa<clang::CUDAKernelCallExpr>(expr) ||
            (callee != nullptr && callee->getIdentifier() != nullptr &&
             callee->getName().starts_with("cudaLaunch"));
    return !found;
  }
  bool found = false;
};

}  // namespace

void collectLaunches(clang::ASTContext& context, Attempt& attempt, HostCode& host,
                     const FunctionDecl& function) {
  LaunchProbe probe;
  probe.TraverseStmt(function.getBody());
  if (probe.found) LaunchVisitor(context, attempt, host, function).TraverseStmt(function.getBody());
}

}  // namespace handoff::frontend
