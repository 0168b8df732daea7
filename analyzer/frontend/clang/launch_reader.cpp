// SPDX-License-Identifier: Apache-2.0
// Reading "<<<>>>", cudaLaunchKernel and cudaLaunchKernelEx.
#include "analyzer/frontend/clang/launch_reader.h"

#include "analyzer/frontend/clang/facts.h"
#include "analyzer/frontend/clang/fields.h"

namespace handoff::frontend {

using clang::CallExpr;
using clang::Expr;
using clang::FieldDecl;
using clang::FunctionDecl;
using clang::VarDecl;

namespace {

constexpr int kMaxHops = 12;  // variables and parameters between an address and what it is of

const FieldDecl* fieldOf(clang::QualType type, llvm::StringRef name) {
  const clang::RecordDecl* record = type.isNull() ? nullptr : type.getNonReferenceType()->getAsRecordDecl();
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

/// "&config", "config" -> config.
const VarDecl* addressed(const Expr* expr) {
  expr = expr->IgnoreParenCasts();
  while (const auto* call = llvm::dyn_cast<CallExpr>(expr)) {
    if (!isForwarding(call)) return nullptr;
    expr = call->getArg(0)->IgnoreParenCasts();
  }
  if (const auto* address = llvm::dyn_cast<clang::UnaryOperator>(expr);
      address != nullptr && address->getOpcode() == clang::UO_AddrOf)
    expr = address->getSubExpr()->IgnoreParenCasts();
  const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(expr);
  return ref != nullptr ? llvm::dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
}

bool allKnown(const std::array<Folded, 3>& extent) {
  return std::all_of(extent.begin(), extent.end(), [](const Folded& f) { return f.has_value(); });
}

/// How many arguments the runtime's function takes at least; 0 for any other.
unsigned minArguments(llvm::StringRef name) {
  return llvm::StringSwitch<unsigned>(name)
      .Cases({"cudaLaunchKernel", "cudaLaunchCooperativeKernel"}, 4)
      .Case("cudaLaunchKernelEx", 2)
      .Case("cudaLaunchKernelExC", 3)
      .Default(0);
}

}  // namespace

bool isLaunchFunction(const FunctionDecl& function) {
  return function.getIdentifier() != nullptr && minArguments(function.getName()) != 0;
}

bool isLaunch(const Expr* expr) {
  if (llvm::isa<clang::CUDAKernelCallExpr>(expr)) return true;
  const auto* call = llvm::dyn_cast<CallExpr>(expr);
  const unsigned least = call != nullptr ? minArguments(calleeName(call)) : 0;
  return least != 0 && call->getNumArgs() >= least;
}

ReadLaunch LaunchReader::read(const Scope& scope, const CallExpr* launch) {
  ReadLaunch out;
  out.is_complete = true;
  const llvm::StringRef name = calleeName(launch);
  if (const auto* brackets = llvm::dyn_cast<clang::CUDAKernelCallExpr>(launch))
    readBrackets(scope, brackets, out);
  else if (name.starts_with("cudaLaunchKernelEx"))
    readLaunchKernelEx(scope, launch, /*is_c_form=*/name == "cudaLaunchKernelExC", out);
  else
    readLaunchKernel(scope, launch, out);
  for (const LaunchSite& site : out.sites)
    out.is_complete &= allKnown(site.grid) && allKnown(site.block) && site.dynamic_smem.has_value();
  out.is_complete &= !out.sites.empty();
  return out;
}

void LaunchReader::readBrackets(const Scope& scope, const clang::CUDAKernelCallExpr* launch,
                                ReadLaunch& out) {
  Folder folder(context_, host_, scope, launch);
  LaunchSite config;
  const CallExpr* brackets = launch->getConfig();
  if (brackets->getNumArgs() > 0) config.grid = dimensions(folder, brackets->getArg(0));
  if (brackets->getNumArgs() > 1) config.block = dimensions(folder, brackets->getArg(1));
  if (brackets->getNumArgs() > 2) config.dynamic_smem = folder.integer(brackets->getArg(2));
  forEachKernel(scope, launch, launch->getCallee(), config, out,
                [&](const FunctionDecl& kernel, LaunchSite& site) {
                  addArguments(scope, launch, 0, kernel, site, out);
                });
}

void LaunchReader::readLaunchKernel(const Scope& scope, const CallExpr* launch, ReadLaunch& out) {
  Folder folder(context_, host_, scope, launch);
  LaunchSite config;
  config.grid = dimensions(folder, launch->getArg(1));
  config.block = dimensions(folder, launch->getArg(2));
  config.dynamic_smem = launch->getNumArgs() > 4 ? folder.integer(launch->getArg(4)) : Folded(0);
  forEachKernel(scope, launch, launch->getArg(0), config, out,
                [&](const FunctionDecl& kernel, LaunchSite& site) {
                  addArgumentArray(scope, launch, launch->getArg(3), kernel, site, out);
                });
}

void LaunchReader::readLaunchKernelEx(const Scope& scope, const CallExpr* launch, bool is_c_form,
                                      ReadLaunch& out) {
  LaunchSite config;
  const Located place = locate(scope, launch, launch->getArg(0));
  if (place.variable != nullptr) readConfig(place, config);
  forEachKernel(scope, launch, launch->getArg(1), config, out,
                [&](const FunctionDecl& kernel, LaunchSite& site) {
                  if (is_c_form)
                    addArgumentArray(scope, launch, launch->getArg(2), kernel, site, out);
                  else
                    addArguments(scope, launch, 2, kernel, site, out);
                });
}

template <typename Finish>
void LaunchReader::forEachKernel(const Scope& scope, const CallExpr* launch, const Expr* kernel,
                                 const LaunchSite& config, ReadLaunch& out, Finish&& finish) {
  for (const KernelRef& ref : kernelsOf(host_, scope, launch, kernel)) {
    LaunchSite site = config;
    site.kernel = mangledName(context_, *ref.kernel);
    site.pos = positionOf(context_.getSourceManager(), attempt_.paths, ref.named_at);
    finish(*ref.kernel, site);
    out.sites.push_back(std::move(site));
  }
}

/// What a pointer or a reference is of, over parameters and locals that keep their value.
LaunchReader::Located LaunchReader::locate(const Scope& scope, const clang::Stmt* site, const Expr* expr) {
  Located place{addressed(expr), &scope, site};
  for (int hops = 0; place.variable != nullptr && hops < kMaxHops; ++hops) {
    const HostCode::Home home = host_.homeOf(place.variable, *place.scope, place.site);
    place.scope = home.scope;
    place.site = home.site;
    const VarDecl* variable = place.variable;
    if (home.scope->uses->mayChange(variable) || !home.scope->uses->writesTo(variable).empty()) break;
    const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(variable);
    const bool is_alias = variable->getType()->isReferenceType() || variable->getType()->isPointerType();
    const Expr* next = parameter != nullptr ? home.scope->arguments.lookup(parameter)
                       : is_alias           ? variable->getInit()
                                            : nullptr;
    const VarDecl* target = next != nullptr ? addressed(next) : nullptr;
    if (target == nullptr) break;
    place.variable = target;
    if (parameter != nullptr) {
      place.site = home.scope->site;
      place.scope = home.scope->caller;
    }
  }
  return place;
}

LaunchReader::Dimensions LaunchReader::dimensions(Folder& folder, const Expr* expr) {
  // "<<<8, 128>>>": an integer that was converted to dim3.
  if (expr->getType()->isIntegralOrEnumerationType()) return {folder.integer(expr), 1, 1};
  Dimensions result;
  constexpr llvm::StringLiteral kNames[3] = {"x", "y", "z"};
  for (unsigned i = 0; i < 3; ++i)
    if (const FieldDecl* field = fieldOf(expr->getType(), kNames[i]))
      result[i] = folder.member(expr, {{field, 0}});
  return result;
}

LaunchReader::Dimensions LaunchReader::dimensions(Folder& folder, const VarDecl* variable, Path path,
                                                  clang::QualType type) {
  Dimensions result;
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

void LaunchReader::readConfig(const Located& config, LaunchSite& site) {
  const clang::QualType type = config.variable->getType().getNonReferenceType();
  const Path grid = pathOf(type, {"gridDim"}), block = pathOf(type, {"blockDim"});
  if (grid.empty() || block.empty()) return;
  Folder folder = folderAt(config);
  site.grid = dimensions(folder, config.variable, grid, grid.back().field->getType());
  site.block = dimensions(folder, config.variable, block, block.back().field->getType());
  site.dynamic_smem = folder.member(config.variable, pathOf(type, {"dynamicSmemBytes"}));
  const Expr* attributes = folder.source(config.variable, pathOf(type, {"attrs"}));
  const Located list = attributes != nullptr ? locate(*config.scope, config.site, attributes) : Located();
  if (list.variable == nullptr) return;
  Folder attribute_folder = folderAt(list);
  constexpr std::uint64_t kMaxAttributes = 16;
  const Folded count = folder.member(config.variable, pathOf(type, {"numAttrs"}));
  for (std::uint64_t i = 0; i < kMaxAttributes && (!count || i < static_cast<std::uint64_t>(*count)); ++i)
    readAttribute(attribute_folder, list.variable, i, site);
}

void LaunchReader::readAttribute(Folder& folder, const VarDecl* list, std::uint64_t index, LaunchSite& site) {
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

void LaunchReader::addArguments(const Scope& scope, const CallExpr* launch, unsigned first,
                                const FunctionDecl& kernel, LaunchSite& site, ReadLaunch& out) {
  Folder folder(context_, host_, scope, launch);
  for (unsigned i = 0; i < kernel.getNumParams() && first + i < launch->getNumArgs(); ++i) {
    const Expr* argument = launch->getArg(first + i);
    addLeaves(kernel, i, site, out, [&](const Path& path) { return folder.member(argument, path); });
    addTensorMaps(scope, kernel, i, argument, site, out);
  }
}

/// "void* args[] = {&in, &n}"
void LaunchReader::addArgumentArray(const Scope& scope, const Expr* launch, const Expr* expr,
                                    const FunctionDecl& kernel, LaunchSite& site, ReadLaunch& out) {
  const Located array = locate(scope, launch, expr);
  const auto* list =
      array.variable != nullptr && array.variable->getInit() != nullptr
          ? llvm::dyn_cast<clang::InitListExpr>(array.variable->getInit()->IgnoreParenImpCasts())
          : nullptr;
  if (list == nullptr || array.scope->uses->mayChange(array.variable) ||
      !array.scope->uses->writesTo(array.variable).empty()) {
    out.is_complete = false;
    return;
  }
  for (unsigned i = 0; i < kernel.getNumParams() && i < list->getNumInits(); ++i) {
    const VarDecl* variable = addressed(list->getInit(i));
    if (variable == nullptr) continue;
    Folder folder = folderAt(array);
    addLeaves(kernel, i, site, out, [&](const Path& path) { return folder.member(variable, path); });
    addTensorMaps(*array.scope, kernel, i, variable, site, out);
  }
}

/// Every integer inside a parameter that folds.
template <typename Fold>
void LaunchReader::addLeaves(const FunctionDecl& kernel, unsigned index, LaunchSite& site, ReadLaunch& out,
                             Fold&& fold) {
  for (const Leaf& leaf : leavesOf(context_, kernel.getParamDecl(index)->getType())) {
    if (leaf.kind != ParamField::Kind::kInteger) continue;
    const Folded value = fold(leaf.path);
    if (value) site.arguments.push_back({index, leaf.offset, leaf.size, *value});
    out.is_complete &= value.has_value();
  }
}

/// Every tensor map inside a parameter, or behind a pointer in it, that can be followed to its encoding.
template <typename Value>
void LaunchReader::addTensorMaps(const Scope& scope, const FunctionDecl& kernel, unsigned index,
                                 const Value* value, const LaunchSite& site, ReadLaunch& out) {
  for (const Leaf& leaf : leavesOf(context_, kernel.getParamDecl(index)->getType())) {
    if (leaf.kind != ParamField::Kind::kTensorMap && !leaf.points_to_tensor_map) continue;
    Path path = leaf.path;
    if (leaf.points_to_tensor_map) path.push_back(kDeref);
    std::optional<TensorMapFact> fact = maps_.find(scope, value, path);
    if (!fact) continue;
    fact->kernel = site.kernel;
    fact->param = index;
    fact->offset = leaf.offset;
    fact->launch_pos = site.pos;
    out.maps.push_back(std::move(*fact));
  }
}

}  // namespace handoff::frontend
