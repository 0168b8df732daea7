// SPDX-License-Identifier: Apache-2.0
// What an instruction does to the protocol: a closed variant. Visit it without a catch-all, so that a new
// effect makes the compiler list every place that must answer for it.
#pragma once

#include <cstdint>
#include <variant>

namespace handoff::ptx {

/// Integer, logic, predicate and move operations that the machine evaluates on concrete lanes.
/// Everything else that only computes is Opaque.
enum class AluOp : std::uint8_t {
  kMov,
  kAdd,
  kAddC,
  kSub,
  kSubC,
  kMul,
  kMad,
  kMadC,
  kMul24,
  kMad24,
  kSad,
  kDiv,
  kRem,
  kAbs,
  kNeg,
  kMin,
  kMax,
  kPopc,
  kClz,
  kBfind,
  kFns,
  kBrev,
  kBfe,
  kBfi,
  kBmsk,
  kSzext,
  kDp4a,
  kDp2a,
  kAnd,
  kOr,
  kXor,
  kNot,
  kCnot,
  kShl,
  kShr,
  kShf,
  kLop3,
  kPrmt,
  kSetp,
  kSet,
  kSelp,
  kSlct,
  kCvt,
  kCvta,
  kIsspacep,
  kMapa,
  kGetctarank,
  kCvtPack,
};

enum class CmpOp : std::uint8_t {
  kNone,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kLo,
  kLs,
  kHi,
  kHs,
  kUnorderedOrFloat
};
enum class BoolOp : std::uint8_t { kNone, kAnd, kOr, kXor };

struct Alu {
  AluOp op;
};
/// Computes a value that the protocol cannot depend on exactly (floating point, tensor-core arithmetic on
/// registers, texture fetches, timers): its destinations become unknown. No memory or ordering effect.
struct Opaque {};
/// No effect on any state the machine tracks (prefetch, nanosleep, discard, pragma, pmevent).
struct Hint {};

// Control flow.
struct Branch {
  bool is_uniform = false;
};
struct BranchIndexed {};
struct Call {};
struct Return {};
struct Exit {};
struct Trap {};

// Memory, generic proxy.
struct Load {
  bool is_async_hint = false;
};
struct Store {};
struct Atomic {
  bool returns_value = true;
};                   ///< atom / red, also multimem.red
struct LdMatrix {};  ///< row addresses come from the lanes; every row is attributed to the whole warp
struct StMatrix {};
struct WmmaLoad {};  ///< wmma.load: warp-collective, strided rows
struct WmmaStore {};
struct StoreBulk {};  ///< st.bulk

// Lane communication: execution synchronisation only, no memory order.
enum class CollectiveOp : std::uint8_t { kShfl, kVote, kMatch, kRedux, kActivemask, kElect };
struct Collective {
  CollectiveOp op;
};

// Barriers and fences.
enum class BarrierOp : std::uint8_t { kSync, kArrive, kRed };
struct CtaBarrier {
  BarrierOp op;
  bool is_aligned;
};
struct WarpBarrier {};
struct ClusterBarrier {
  bool is_arrive;
};
enum class FenceKind : std::uint8_t {
  kThread,             ///< fence{.sem}.scope, membar
  kMbarrierInit,       ///< fence.mbarrier_init.release.cluster
  kProxyAsync,         ///< fence.proxy.async{.space}
  kProxyAsyncGeneric,  ///< fence.proxy.async::generic.{acquire,release}...
  kProxyAlias,
  kProxyTensormap,
};
struct Fence {
  FenceKind kind;
};

// Non-bulk asynchronous copies.
struct CpAsync {};
struct CpAsyncCommit {};
struct CpAsyncWaitGroup {};
struct CpAsyncWaitAll {};
struct CpAsyncMbarrierArrive {
  bool is_noinc;
};

// mbarrier objects.
enum class MbarrierOp : std::uint8_t {
  kInit,
  kInval,
  kExpectTx,
  kCompleteTx,
  kArrive,
  kArriveDrop,
  kArriveExpectTx,
  kArriveDropExpectTx,
  kTestWait,
  kTryWait,
  kPendingCount,
};
struct Mbarrier {
  MbarrierOp op;
  bool is_no_complete = false;
  bool is_parity = false;
};

// Bulk and tensor copies, asynchronous stores, asynchronous tensor cores.
struct BulkCopy {
  bool is_reduction = false;
};
struct TensorCopy {
  bool is_reduction = false;
};
struct BulkPrefetch {};
struct BulkCommit {};
struct BulkWait {
  bool is_read_only;
};
struct AsyncStore {
  bool is_reduction;
};                        ///< st.async, red.async
struct TensormapEdit {};  ///< tensormap.replace, tensormap.cp_fenceproxy
enum class WgmmaOp : std::uint8_t { kMma, kFence, kCommit, kWait };
struct Wgmma {
  WgmmaOp op;
};
enum class Tcgen05Op : std::uint8_t {
  kMma,
  kCp,
  kShift,
  kCommit,
  kLd,
  kSt,
  kWaitLd,
  kWaitSt,
  kFenceBefore,
  kFenceAfter,
  kAlloc,
  kDealloc,
  kRelinquish
};
struct Tcgen05 {
  Tcgen05Op op;
};
struct SetMaxNReg {
  bool is_increase;
};
struct GridDepControl {
  bool is_wait;
};
struct ClusterLaunchControl {
  bool is_query;
};

/// The table has no row for this spelling: the machine names it as a limit when it is reached.
struct Unmodelled {};

using Effect =
    std::variant<Unmodelled, Alu, Opaque, Hint, Branch, BranchIndexed, Call, Return, Exit, Trap, Load, Store,
                 Atomic, LdMatrix, StMatrix, WmmaLoad, WmmaStore, StoreBulk, Collective, CtaBarrier,
                 WarpBarrier, ClusterBarrier, Fence, CpAsync, CpAsyncCommit, CpAsyncWaitGroup, CpAsyncWaitAll,
                 CpAsyncMbarrierArrive, Mbarrier, BulkCopy, TensorCopy, BulkPrefetch, BulkCommit, BulkWait,
                 AsyncStore, TensormapEdit, Wgmma, Tcgen05, SetMaxNReg, GridDepControl, ClusterLaunchControl>;

}  // namespace handoff::ptx
