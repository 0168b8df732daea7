// SPDX-License-Identifier: Apache-2.0
// Launch sites. What a launch takes from the parameters of the function around it, each of the calls of that
// function in this file says for itself: a wrapper that launches what it is given is one site for each of its
// callers.
#include "analyzer/frontend/clang/facts.h"
#include "analyzer/frontend/clang/launch_reader.h"

namespace handoff::frontend {
namespace {

using clang::CallExpr;
using clang::FunctionDecl;

constexpr int kMaxCallers = 4;  // calls above each other
constexpr std::size_t kMaxChains =
    64;  // of one launch; a helper that all call says nothing about any of them

class LaunchVisitor : public clang::RecursiveASTVisitor<LaunchVisitor> {
 public:
  LaunchVisitor(clang::ASTContext& context, Attempt& attempt, HostCode& host, const FunctionDecl& function)
      : context_(context),
        attempt_(attempt),
        host_(host),
        function_(function),
        reader_(context, attempt, host) {}

  /// A lambda is a function with callers of its own.
  bool TraverseLambdaExpr(clang::LambdaExpr* lambda) {
    forEachCallOperator(*lambda, [&](const FunctionDecl& body) {
      if (!body.isDependentContext()) collectLaunches(context_, attempt_, host_, body);
    });
    return true;
  }

  bool VisitCallExpr(CallExpr* expr) {
    if (!isLaunch(expr)) return true;
    const std::vector<ReadLaunch> chains = readIn(
        host_.scopeOf(function_), kMaxCallers, [&](const Scope& scope) { return reader_.read(scope, expr); });
    for (const ReadLaunch& chain : chains) {
      for (const LaunchSite& site : chain.sites) addOnce(site);
      for (const TensorMapFact& map : chain.maps)
        if (isFoundByAll(chains, map)) addOnce(map);
    }
    return true;
  }

 private:
  using Read = llvm::function_ref<ReadLaunch(const Scope&)>;

  /// What the launch says in this scope, or, where something is missing, in each scope that leads to it.
  std::vector<ReadLaunch> readIn(const Scope& scope, int levels, Read read) {
    ReadLaunch own = read(scope);
    const llvm::ArrayRef<HostCode::Call> calls =
        !own.is_complete && levels > 0 ? host_.callsOf(*scope.function) : llvm::ArrayRef<HostCode::Call>();
    if (calls.empty() || calls.size() > kMaxChains) return {std::move(own)};
    std::vector<ReadLaunch> all;
    for (const HostCode::Call& call : calls) {
      const auto from_there = [&](const Scope& outer) {
        const std::optional<Scope> inner = host_.enter(outer, call.call);
        return inner ? read(*inner) : own;
      };
      std::vector<ReadLaunch> chains = readIn(host_.scopeOf(*call.caller), levels - 1, from_there);
      std::move(chains.begin(), chains.end(), std::back_inserter(all));
      if (all.size() > kMaxChains) return {std::move(own)};
    }
    if (!host_.hasAllCallers(*scope.function)) all.push_back(std::move(own));
    return all;
  }

  /// Chains that end in the same place cannot be told apart by it: one that does not find its map must not
  /// get that of another.
  static bool isFoundByAll(const std::vector<ReadLaunch>& chains, const TensorMapFact& map) {
    return std::all_of(chains.begin(), chains.end(), [&](const ReadLaunch& chain) {
      const bool is_there = std::any_of(chain.sites.begin(), chain.sites.end(), [&](const LaunchSite& site) {
        return site.kernel == map.kernel && site.pos == map.launch_pos;
      });
      return !is_there || std::any_of(chain.maps.begin(), chain.maps.end(), [&](const TensorMapFact& other) {
        return other.kernel == map.kernel && other.launch_pos == map.launch_pos && other.param == map.param &&
               other.offset == map.offset;
      });
    });
  }

  /// The same launch in several instantiations or from several callers can come out equal: once is enough.
  void addOnce(const LaunchSite& site) {
    const auto equals = [&](const LaunchSite& other) {
      return other.kernel == site.kernel && other.pos == site.pos && other.grid == site.grid &&
             other.block == site.block && other.cluster == site.cluster &&
             other.dynamic_smem == site.dynamic_smem && sameArguments(other, site);
    };
    auto& launches = attempt_.output.launches;
    if (std::none_of(launches.begin(), launches.end(), equals)) launches.push_back(site);
  }

  static bool sameArguments(const LaunchSite& a, const LaunchSite& b) {
    return std::equal(a.arguments.begin(), a.arguments.end(), b.arguments.begin(), b.arguments.end(),
                      [](const auto& x, const auto& y) {
                        return x.param == y.param && x.offset == y.offset && x.value == y.value;
                      });
  }

  void addOnce(const TensorMapFact& fact) {
    const auto equals = [&](const TensorMapFact& other) {
      return other.kernel == fact.kernel && other.param == fact.param && other.offset == fact.offset &&
             other.launch_pos == fact.launch_pos && other.pos == fact.pos && other.box == fact.box &&
             other.element_bytes == fact.element_bytes && other.element_strides == fact.element_strides;
    };
    auto& maps = attempt_.output.tensor_maps;
    if (std::none_of(maps.begin(), maps.end(), equals)) maps.push_back(fact);
  }

  clang::ASTContext& context_;
  Attempt& attempt_;
  HostCode& host_;
  const FunctionDecl& function_;
  LaunchReader reader_;
};

class LaunchProbe : public clang::RecursiveASTVisitor<LaunchProbe> {
 public:
  bool VisitCallExpr(CallExpr* expr) {
    found = isLaunch(expr);
    return !found;
  }
  /// The instantiations of a generic lambda are not among the statements.
  bool VisitLambdaExpr(clang::LambdaExpr* lambda) {
    found = lambda->isGenericLambda();
    return !found;
  }
  bool found = false;
};

}  // namespace

void collectLaunches(clang::ASTContext& context, Attempt& attempt, HostCode& host,
                     const FunctionDecl& function) {
  if (isLaunchFunction(function)) return;  // how the runtime does it is no launch of the user's
  LaunchProbe probe;
  probe.TraverseStmt(function.getBody());
  if (probe.found) LaunchVisitor(context, attempt, host, function).TraverseStmt(function.getBody());
}

}  // namespace handoff::frontend
