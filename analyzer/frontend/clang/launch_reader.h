// SPDX-License-Identifier: Apache-2.0
// What one launch says about itself, seen from one chain of calls that leads to it.
#pragma once

#include "analyzer/frontend/clang/kernel_refs.h"
#include "analyzer/frontend/clang/tensor_maps.h"

namespace handoff::frontend {

/// "<<<>>>" or a call of one of the runtime's launch functions.
bool isLaunch(const clang::Expr* expr);
bool isLaunchFunction(const clang::FunctionDecl& function);

struct ReadLaunch {
  std::vector<LaunchSite> sites;  ///< one for each kernel that may be meant
  std::vector<TensorMapFact> maps;
  bool is_complete = false;  ///< callers can add nothing
};

class LaunchReader {
 public:
  LaunchReader(clang::ASTContext& context, const Attempt& attempt, HostCode& host)
      : context_(context), attempt_(attempt), host_(host), maps_(context, attempt, host) {}

  ReadLaunch read(const Scope& scope, const clang::CallExpr* launch);

 private:
  /// A variable, the scope that it belongs to, and the statement in that scope at which it is looked at.
  struct Located {
    const clang::VarDecl* variable = nullptr;
    const Scope* scope = nullptr;
    const clang::Stmt* site = nullptr;
  };
  using Dimensions = std::array<Folded, 3>;

  void readBrackets(const Scope& scope, const clang::CUDAKernelCallExpr* launch, ReadLaunch& out);
  void readLaunchKernel(const Scope& scope, const clang::CallExpr* launch, ReadLaunch& out);
  void readLaunchKernelEx(const Scope& scope, const clang::CallExpr* launch, bool is_c_form, ReadLaunch& out);
  void readConfig(const Located& config, LaunchSite& site);
  void readAttribute(Folder& folder, const clang::VarDecl* list, std::uint64_t index, LaunchSite& site);

  template <typename Finish>
  void forEachKernel(const Scope& scope, const clang::CallExpr* launch, const clang::Expr* kernel,
                     const LaunchSite& config, ReadLaunch& out, Finish&& finish);
  void addArguments(const Scope& scope, const clang::CallExpr* launch, unsigned first,
                    const clang::FunctionDecl& kernel, LaunchSite& site, ReadLaunch& out);
  void addArgumentArray(const Scope& scope, const clang::Expr* launch, const clang::Expr* expr,
                        const clang::FunctionDecl& kernel, LaunchSite& site, ReadLaunch& out);
  template <typename Fold>
  void addLeaves(const clang::FunctionDecl& kernel, unsigned index, LaunchSite& site, ReadLaunch& out,
                 Fold&& fold);
  template <typename Value>
  void addTensorMaps(const Scope& scope, const clang::FunctionDecl& kernel, unsigned index,
                     const Value* value, const LaunchSite& site, ReadLaunch& out);

  Located locate(const Scope& scope, const clang::Stmt* site, const clang::Expr* expr);
  Folder folderAt(const Located& place) { return {context_, host_, *place.scope, place.site}; }
  Dimensions dimensions(Folder& folder, const clang::Expr* expr);
  Dimensions dimensions(Folder& folder, const clang::VarDecl* variable, Path path, clang::QualType type);

  clang::ASTContext& context_;
  const Attempt& attempt_;
  HostCode& host_;
  TensorMapFinder maps_;
};

}  // namespace handoff::frontend
