// SPDX-License-Identifier: Apache-2.0
// Which operands an instruction writes.
#include <algorithm>

#include "analyzer/ptx/decode.h"

namespace handoff::ptx {
namespace {

// One overload an effect and no catch-all: a new effect does not compile until it answers here.
struct Destinations {
  const Decoded& decoded;

  unsigned operator()(const Unmodelled&) const {
    return 1;
  }  // unknown: assume that the first operand is written
  unsigned operator()(const Alu&) const { return 1; }
  unsigned operator()(const Opaque&) const { return 1; }
  unsigned operator()(const Hint&) const { return 0; }
  unsigned operator()(const Branch&) const { return 0; }
  unsigned operator()(const BranchIndexed&) const { return 0; }
  unsigned operator()(const Call&) const { return 1; }  // the list of returned values, empty or not
  unsigned operator()(const Return&) const { return 0; }
  unsigned operator()(const Exit&) const { return 0; }
  unsigned operator()(const Trap&) const { return 0; }
  unsigned operator()(const Load&) const { return 1; }
  unsigned operator()(const Store&) const { return 0; }
  unsigned operator()(const Atomic& atomic) const { return atomic.returns_value ? 1 : 0; }
  unsigned operator()(const LdMatrix&) const { return 1; }
  unsigned operator()(const StMatrix&) const { return 0; }
  unsigned operator()(const WmmaLoad&) const { return 1; }
  unsigned operator()(const WmmaStore&) const { return 0; }
  unsigned operator()(const StoreBulk&) const { return 0; }
  unsigned operator()(const Collective&) const { return 1; }
  unsigned operator()(const CtaBarrier& barrier) const { return barrier.op == BarrierOp::kRed ? 1 : 0; }
  unsigned operator()(const WarpBarrier&) const { return 0; }
  unsigned operator()(const ClusterBarrier&) const { return 0; }
  unsigned operator()(const Fence&) const { return 0; }
  unsigned operator()(const CpAsync&) const { return 0; }
  unsigned operator()(const CpAsyncCommit&) const { return 0; }
  unsigned operator()(const CpAsyncWaitGroup&) const { return 0; }
  unsigned operator()(const CpAsyncWaitAll&) const { return 0; }
  unsigned operator()(const CpAsyncMbarrierArrive&) const { return 0; }
  unsigned operator()(const Mbarrier& mbarrier) const {
    switch (mbarrier.op) {
      case MbarrierOp::kInit:
      case MbarrierOp::kInval:
      case MbarrierOp::kExpectTx:
      case MbarrierOp::kCompleteTx:
        return 0;
      case MbarrierOp::kArrive:
      case MbarrierOp::kArriveDrop:
      case MbarrierOp::kArriveExpectTx:
      case MbarrierOp::kArriveDropExpectTx:
      case MbarrierOp::kTestWait:
      case MbarrierOp::kTryWait:
      case MbarrierOp::kPendingCount:
        return 1;
    }
    return 0;
  }
  unsigned operator()(const BulkCopy&) const { return 0; }
  unsigned operator()(const TensorCopy&) const { return 0; }
  unsigned operator()(const BulkPrefetch&) const { return 0; }
  unsigned operator()(const BulkCommit&) const { return 0; }
  unsigned operator()(const BulkWait&) const { return 0; }
  unsigned operator()(const AsyncStore&) const { return 0; }
  unsigned operator()(const TensormapEdit&) const { return 0; }
  unsigned operator()(const Wgmma& wgmma) const { return wgmma.op == WgmmaOp::kMma ? 1 : 0; }
  unsigned operator()(const Tcgen05& tcgen05) const {
    if (tcgen05.op != Tcgen05Op::kLd) return 0;
    return decoded.has("red") ? 2 : 1;  // the loaded values, and their reduction
  }
  unsigned operator()(const SetMaxNReg&) const { return 0; }
  unsigned operator()(const GridDepControl&) const { return 0; }
  unsigned operator()(const ClusterLaunchControl& control) const { return control.is_query ? 1 : 0; }
};

}  // namespace

unsigned destinationCount(const Decoded& decoded, std::size_t operand_count) {
  const unsigned count = std::visit(Destinations{decoded}, decoded.effect);
  return static_cast<unsigned>(std::min<std::size_t>(count, operand_count));
}

}  // namespace handoff::ptx
