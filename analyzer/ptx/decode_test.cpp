// SPDX-License-Identifier: Apache-2.0
// Real spellings against their effects; misspellings first.
#include "analyzer/ptx/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace handoff::ptx {
namespace {

using ::testing::ElementsAre;

class NearMiss : public ::testing::TestWithParam<const char*> {};

TEST_P(NearMiss, HasNoRow) {
  EXPECT_EQ(decode(GetParam()).info, nullptr);
  EXPECT_TRUE(std::holds_alternative<Unmodelled>(decode(GetParam()).effect));
}

INSTANTIATE_TEST_SUITE_P(
    Table, NearMiss,
    ::testing::Values(
        "", ".", "ld", "ld.global", "ld.globl.u32", "cp.async.cv.shared.global", "cp.async.ca.shared",
        "cp.async.commit", "cp.async.wait_groups", "cp.async.wait_group.read", "cp.async.bulk",
        "cp.async.bulk.wait_group.write", "cp.async.bulk.shared::cluster.global",
        "cp.async.bulk.tensor.6d.shared::cta.global.bulk_group", "mbarrier.init.shared.b32",
        "mbarrier.try_wait.shared", "mbarrier.arrive.noinc.shared.b64", "bar", "bar.sync.aligned",
        "barrier.cluster.sync", "barrier.cluster.wait.release", "fence.cta.acq_rel", "fence.proxy",
        "fence.proxy.asynch", "fence.mbarrier_init.release.cta", "membar.cluster", "shfl.sync.left.b32",
        "vote.sync.ballot.b64", "elect.sync.aligned", "redux.sync.add", "wgmma.wait_group",
        "wgmma.fence.aligned.sync", "setmaxnreg.set.sync.aligned.u32", "griddepcontrol",
        "tcgen05.wait.ld.sync.aligned", "tcgen05.fence", "bra.div", "ret.uni.uni", "exit.now", "add",
        "add.b32", "add.s32.s32.s32", "and.u32", "setp.s32.lt", "setp.lt", "cvta.to.u64", "stmatrix.m8n8"));

template <typename T>
testing::AssertionResult decodesTo(std::string_view opcode) {
  const Decoded& decoded = decode(opcode);
  if (decoded.info == nullptr) return testing::AssertionFailure() << opcode << " has no row";
  if (!std::holds_alternative<T>(decoded.effect)) {
    return testing::AssertionFailure() << opcode << " matches " << decoded.info->grammar;
  }
  return testing::AssertionSuccess();
}

template <typename T>
const T& effectOf(std::string_view opcode) {
  EXPECT_TRUE(decodesTo<T>(opcode));
  static const T kNone{};
  const T* effect = std::get_if<T>(&decode(opcode).effect);
  return effect != nullptr ? *effect : kNone;
}

TEST(Decode, IntegerArithmeticIsAlu) {
  const std::pair<const char*, AluOp> rows[] = {{"mov.u32", AluOp::kMov},
                                                {"mov.pred", AluOp::kMov},
                                                {"mov.b128", AluOp::kMov},
                                                {"mov.f32", AluOp::kMov},
                                                {"add.s32", AluOp::kAdd},
                                                {"add.cc.u32", AluOp::kAdd},
                                                {"add.sat.s32", AluOp::kAdd},
                                                {"addc.cc.u64", AluOp::kAddC},
                                                {"sub.s64", AluOp::kSub},
                                                {"subc.u32", AluOp::kSubC},
                                                {"mul.lo.s32", AluOp::kMul},
                                                {"mul.wide.u16", AluOp::kMul},
                                                {"mad.lo.s32", AluOp::kMad},
                                                {"mad.lo.cc.u32", AluOp::kMad},
                                                {"madc.hi.cc.u32", AluOp::kMadC},
                                                {"mul24.lo.u32", AluOp::kMul24},
                                                {"div.u32", AluOp::kDiv},
                                                {"rem.s32", AluOp::kRem},
                                                {"min.s32", AluOp::kMin},
                                                {"max.u64", AluOp::kMax},
                                                {"abs.s32", AluOp::kAbs},
                                                {"neg.s32", AluOp::kNeg},
                                                {"popc.b32", AluOp::kPopc},
                                                {"clz.b64", AluOp::kClz},
                                                {"bfind.shiftamt.u32", AluOp::kBfind},
                                                {"fns.b32", AluOp::kFns},
                                                {"brev.b32", AluOp::kBrev},
                                                {"bfe.u32", AluOp::kBfe},
                                                {"bfi.b32", AluOp::kBfi},
                                                {"bmsk.clamp.b32", AluOp::kBmsk},
                                                {"szext.wrap.s32", AluOp::kSzext},
                                                {"dp4a.u32.s32", AluOp::kDp4a},
                                                {"dp2a.lo.s32.u32", AluOp::kDp2a}};
  for (const auto& [opcode, op] : rows) EXPECT_EQ(effectOf<Alu>(opcode).op, op) << opcode;
}

TEST(Decode, LogicComparisonsAndAddressesAreAlu) {
  const std::pair<const char*, AluOp> rows[] = {{"and.pred", AluOp::kAnd},
                                                {"or.b32", AluOp::kOr},
                                                {"xor.b64", AluOp::kXor},
                                                {"not.b32", AluOp::kNot},
                                                {"cnot.b32", AluOp::kCnot},
                                                {"shl.b32", AluOp::kShl},
                                                {"shr.s64", AluOp::kShr},
                                                {"shr.b32", AluOp::kShr},
                                                {"shf.l.wrap.b32", AluOp::kShf},
                                                {"lop3.b32", AluOp::kLop3},
                                                {"lop3.or.b32", AluOp::kLop3},
                                                {"prmt.b32", AluOp::kPrmt},
                                                {"prmt.b32.b4e", AluOp::kPrmt},
                                                {"setp.lt.s32", AluOp::kSetp},
                                                {"setp.eq.and.b32", AluOp::kSetp},
                                                {"set.lt.u32.s32", AluOp::kSet},
                                                {"selp.b64", AluOp::kSelp},
                                                {"selp.f32", AluOp::kSelp},
                                                {"slct.u32.s32", AluOp::kSlct},
                                                {"cvt.u64.u32", AluOp::kCvt},
                                                {"cvt.sat.s8.s32", AluOp::kCvt},
                                                {"cvt.pack.sat.u8.s32.b32", AluOp::kCvtPack},
                                                {"cvta.to.global.u64", AluOp::kCvta},
                                                {"cvta.shared.u64", AluOp::kCvta},
                                                {"isspacep.shared::cluster", AluOp::kIsspacep},
                                                {"mapa.shared::cluster.u32", AluOp::kMapa},
                                                {"mapa.u64", AluOp::kMapa},
                                                {"getctarank.shared::cluster.u32", AluOp::kGetctarank},
                                                {"sad.u32", AluOp::kSad}};
  for (const auto& [opcode, op] : rows) EXPECT_EQ(effectOf<Alu>(opcode).op, op) << opcode;
}

TEST(Decode, FloatAndPackedArithmeticIsOpaque) {
  for (const char* opcode : {"add.f32",
                             "add.rn.ftz.f32",
                             "add.f16x2",
                             "add.u16x2",
                             "add.rn.f32.f16",
                             "sub.f64",
                             "mul.rn.f32x2",
                             "mad.f32",
                             "fma.rn.f32",
                             "fma.rn.relu.bf16x2",
                             "div.full.f32",
                             "abs.f16",
                             "neg.bf16x2",
                             "min.NaN.f16",
                             "max.ftz.f32",
                             "max.s16x2.relu",
                             "rcp.approx.ftz.f32",
                             "sqrt.rn.f32",
                             "rsqrt.approx.f32",
                             "ex2.approx.ftz.f32",
                             "tanh.approx.f16",
                             "testp.finite.f32",
                             "copysign.f32",
                             "setp.lt.f32",
                             "setp.geu.and.f64",
                             "setp.eq.f16x2",
                             "set.lt.f32.f32",
                             "cvt.rn.f32.s32",
                             "cvt.rzi.s32.f32",
                             "cvt.rn.satfinite.e4m3x2.f32",
                             "cvt.rn.bf16x2.f32",
                             "vadd.s32.s32.s32",
                             "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
                             "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
                             "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32",
                             "movmatrix.sync.aligned.m8n8.trans.b16",
                             "tex.2d.v4.f32.f32",
                             "createpolicy.fractional.L2::evict_first.b64",
                             "istypep.texref"}) {
    EXPECT_TRUE(decodesTo<Opaque>(opcode));
  }
}

TEST(Decode, HintsTouchNothing) {
  for (const char* opcode :
       {"nanosleep.u32", "prefetch.global.L2", "prefetch.tensormap", "prefetch.global.L2::evict_last",
        "prefetchu.L1", "discard.global.L2", "applypriority.global.L2::evict_normal", "brkpt"}) {
    EXPECT_TRUE(decodesTo<Hint>(opcode));
  }
}

TEST(Decode, ControlFlow) {
  EXPECT_FALSE(effectOf<Branch>("bra").is_uniform);
  EXPECT_TRUE(effectOf<Branch>("bra.uni").is_uniform);
  EXPECT_TRUE(decodesTo<BranchIndexed>("brx.idx"));
  EXPECT_TRUE(decodesTo<BranchIndexed>("brx.idx.uni"));
  EXPECT_TRUE(decodesTo<Call>("call.uni"));
  EXPECT_TRUE(decodesTo<Return>("ret"));
  EXPECT_TRUE(decodesTo<Exit>("exit"));
  EXPECT_TRUE(decodesTo<Trap>("trap"));
}

TEST(Decode, Accesses) {
  for (const char* opcode :
       {"ld.global.nc.v4.f32", "ld.param.u64", "ld.shared::cluster.u32", "ld.volatile.global.u32",
        "ld.acquire.gpu.global.u32", "ld.relaxed.sys.b64", "ld.global.nc.L1::no_allocate.L2::128B.v4.u32",
        "ld.global.L1::evict_last.v8.b32", "ld.mmio.relaxed.sys.global.u32", "ldu.global.u32",
        "multimem.ld_reduce.relaxed.sys.global.add.v4.f32"}) {
    EXPECT_TRUE(decodesTo<Load>(opcode));
  }
  for (const char* opcode : {"st.shared.v4.b32", "st.release.cluster.global.u32", "st.global.cs.f32",
                             "st.param.b64", "multimem.st.weak.global.f32"}) {
    EXPECT_TRUE(decodesTo<Store>(opcode));
  }
  for (const char* opcode : {"atom.shared.add.u32", "atom.global.cas.b32", "atom.acq_rel.gpu.global.add.u32",
                             "atom.relaxed.sys.global.add.noftz.f16x2", "atom.add.release.cluster.u32",
                             "atom.global.v4.f32.add", "atom.shared::cluster.exch.b128"}) {
    EXPECT_TRUE(effectOf<Atomic>(opcode).returns_value) << opcode;
  }
  for (const char* opcode : {"red.global.add.u32", "red.release.gpu.global.add.s32", "red.global.v4.f32.add",
                             "multimem.red.relaxed.sys.global.add.u32"}) {
    EXPECT_FALSE(effectOf<Atomic>(opcode).returns_value) << opcode;
  }
  EXPECT_TRUE(decodesTo<LdMatrix>("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"));
  EXPECT_TRUE(decodesTo<LdMatrix>("ldmatrix.sync.aligned.m16n16.x1.trans.shared::cta.b8x16.b6x16_p32"));
  EXPECT_TRUE(decodesTo<LdMatrix>("ldmatrix.sync.aligned.x4.trans.m8n8.shared.b16"));
  EXPECT_TRUE(decodesTo<StMatrix>("stmatrix.sync.aligned.m8n8.x2.shared.b16"));
  EXPECT_TRUE(decodesTo<StMatrix>("stmatrix.sync.aligned.x4.trans.m8n8.shared.b16"));
  EXPECT_TRUE(decodesTo<WmmaLoad>("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16"));
  EXPECT_TRUE(decodesTo<WmmaLoad>("wmma.load.b.sync.aligned.m16n16k16.col.f16"));
  EXPECT_TRUE(decodesTo<WmmaStore>("wmma.store.d.sync.aligned.row.m16n16k16.global.f32"));
  EXPECT_TRUE(decodesTo<StoreBulk>("st.bulk.weak.shared::cta"));
}

TEST(Decode, LaneCommunication) {
  EXPECT_EQ(effectOf<Collective>("shfl.sync.bfly.b32").op, CollectiveOp::kShfl);
  EXPECT_EQ(effectOf<Collective>("vote.sync.ballot.b32").op, CollectiveOp::kVote);
  EXPECT_EQ(effectOf<Collective>("vote.sync.any.pred").op, CollectiveOp::kVote);
  EXPECT_EQ(effectOf<Collective>("match.any.sync.b32").op, CollectiveOp::kMatch);
  EXPECT_EQ(effectOf<Collective>("redux.sync.add.s32").op, CollectiveOp::kRedux);
  EXPECT_EQ(effectOf<Collective>("activemask.b32").op, CollectiveOp::kActivemask);
  EXPECT_EQ(effectOf<Collective>("elect.sync").op, CollectiveOp::kElect);
}

TEST(Decode, BarriersKnowOperationAndAlignment) {
  const std::tuple<const char*, BarrierOp, bool> rows[] = {
      {"bar.sync", BarrierOp::kSync, true},
      {"bar.cta.sync", BarrierOp::kSync, true},
      {"bar.arrive", BarrierOp::kArrive, true},
      {"bar.red.popc.u32", BarrierOp::kRed, true},
      {"barrier.sync", BarrierOp::kSync, false},
      {"barrier.sync.aligned", BarrierOp::kSync, true},
      {"barrier.cta.arrive", BarrierOp::kArrive, false},
      {"barrier.cta.sync.aligned", BarrierOp::kSync, true},
      {"barrier.red.and.pred", BarrierOp::kRed, false},
      {"barrier.cta.red.or.aligned.pred", BarrierOp::kRed, true}};
  for (const auto& [opcode, op, is_aligned] : rows) {
    EXPECT_EQ(effectOf<CtaBarrier>(opcode).op, op) << opcode;
    EXPECT_EQ(effectOf<CtaBarrier>(opcode).is_aligned, is_aligned) << opcode;
    EXPECT_EQ(decode(opcode).scope, Scope::kNone) << opcode;
  }
  EXPECT_TRUE(decodesTo<WarpBarrier>("bar.warp.sync"));
  EXPECT_TRUE(effectOf<ClusterBarrier>("barrier.cluster.arrive.relaxed.aligned").is_arrive);
  EXPECT_FALSE(effectOf<ClusterBarrier>("barrier.cluster.wait.acquire.aligned").is_arrive);
  EXPECT_EQ(decode("barrier.cluster.arrive.relaxed").sem, Sem::kRelaxed);
  EXPECT_EQ(decode("barrier.cluster.arrive").sem, Sem::kNone);
}

TEST(Decode, Fences) {
  const std::pair<const char*, FenceKind> rows[] = {
      {"membar.gl", FenceKind::kThread},
      {"membar.cta", FenceKind::kThread},
      {"fence.acq_rel.cta", FenceKind::kThread},
      {"fence.sc.sys", FenceKind::kThread},
      {"fence.cluster", FenceKind::kThread},
      {"fence.acquire.sync_restrict::shared::cluster.cluster", FenceKind::kThread},
      {"fence.release.sync_restrict::shared::cta.cluster", FenceKind::kThread},
      {"fence.mbarrier_init.release.cluster", FenceKind::kMbarrierInit},
      {"fence.proxy.async", FenceKind::kProxyAsync},
      {"fence.proxy.async.shared::cta", FenceKind::kProxyAsync},
      {"fence.proxy.async.global", FenceKind::kProxyAsync},
      {"fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
       FenceKind::kProxyAsyncGeneric},
      {"fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster",
       FenceKind::kProxyAsyncGeneric},
      {"fence.proxy.alias", FenceKind::kProxyAlias},
      {"fence.proxy.tensormap::generic.release.gpu", FenceKind::kProxyTensormap},
      {"fence.proxy.tensormap::generic.acquire.sys", FenceKind::kProxyTensormap}};
  for (const auto& [opcode, kind] : rows) EXPECT_EQ(effectOf<Fence>(opcode).kind, kind) << opcode;
  EXPECT_EQ(decode("membar.gl").scope, Scope::kGpu);
  EXPECT_EQ(decode("membar.gl").sem, Sem::kNone);
  EXPECT_EQ(decode("fence.proxy.async.shared::cta").space(), Space::kShared);
  EXPECT_EQ(decode("fence.proxy.async").space_count, 0u);
}

TEST(Decode, NonBulkCopies) {
  EXPECT_TRUE(decodesTo<CpAsync>("cp.async.ca.shared.global"));
  EXPECT_TRUE(decodesTo<CpAsync>("cp.async.cg.shared::cta.global.L2::cache_hint.L2::128B"));
  EXPECT_TRUE(decodesTo<CpAsync>("cp.async.cg.shared.global.L2::256B"));
  EXPECT_TRUE(decodesTo<CpAsyncCommit>("cp.async.commit_group"));
  EXPECT_TRUE(decodesTo<CpAsyncWaitGroup>("cp.async.wait_group"));
  EXPECT_TRUE(decodesTo<CpAsyncWaitAll>("cp.async.wait_all"));
  EXPECT_TRUE(effectOf<CpAsyncMbarrierArrive>("cp.async.mbarrier.arrive.noinc.shared::cta.b64").is_noinc);
  EXPECT_FALSE(effectOf<CpAsyncMbarrierArrive>("cp.async.mbarrier.arrive.b64").is_noinc);
}

TEST(Decode, MbarrierOperations) {
  const std::pair<const char*, Mbarrier> rows[] = {
      {"mbarrier.init.shared::cta.b64", {MbarrierOp::kInit}},
      {"mbarrier.inval.shared.b64", {MbarrierOp::kInval}},
      {"mbarrier.expect_tx.relaxed.cta.shared::cta.b64", {MbarrierOp::kExpectTx}},
      {"mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64", {MbarrierOp::kCompleteTx}},
      {"mbarrier.arrive.b64", {MbarrierOp::kArrive}},
      {"mbarrier.arrive.release.cluster.shared::cluster.b64", {MbarrierOp::kArrive}},
      {"mbarrier.arrive.noComplete.release.cta.shared::cta.b64",
       {MbarrierOp::kArrive, /*is_no_complete=*/true}},
      {"mbarrier.arrive.expect_tx.shared::cta.b64", {MbarrierOp::kArriveExpectTx}},
      {"mbarrier.arrive_drop.shared.b64", {MbarrierOp::kArriveDrop}},
      {"mbarrier.arrive_drop.noComplete.shared.b64", {MbarrierOp::kArriveDrop, /*is_no_complete=*/true}},
      {"mbarrier.arrive_drop.expect_tx.relaxed.cluster.shared::cluster.b64",
       {MbarrierOp::kArriveDropExpectTx}},
      {"mbarrier.test_wait.shared.b64", {MbarrierOp::kTestWait}},
      {"mbarrier.test_wait.parity.acquire.cta.shared::cta.b64",
       {MbarrierOp::kTestWait, false, /*is_parity=*/true}},
      {"mbarrier.try_wait.acquire.cluster.shared::cta.b64", {MbarrierOp::kTryWait}},
      {"mbarrier.try_wait.parity.shared::cta.b64", {MbarrierOp::kTryWait, false, /*is_parity=*/true}},
      {"mbarrier.pending_count.b64", {MbarrierOp::kPendingCount}}};
  for (const auto& [opcode, expected] : rows) {
    const Mbarrier& actual = effectOf<Mbarrier>(opcode);
    EXPECT_EQ(actual.op, expected.op) << opcode;
    EXPECT_EQ(actual.is_no_complete, expected.is_no_complete) << opcode;
    EXPECT_EQ(actual.is_parity, expected.is_parity) << opcode;
  }
}

TEST(Decode, BulkAndTensorCopies) {
  EXPECT_FALSE(
      effectOf<BulkCopy>("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes").is_reduction);
  EXPECT_TRUE(decodesTo<BulkCopy>(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint"));
  EXPECT_TRUE(decodesTo<BulkCopy>("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"));
  EXPECT_TRUE(decodesTo<BulkCopy>("cp.async.bulk.global.shared::cta.bulk_group.cp_mask"));
  EXPECT_TRUE(
      effectOf<BulkCopy>("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16").is_reduction);
  EXPECT_TRUE(decodesTo<TensorCopy>(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"));
  EXPECT_TRUE(decodesTo<TensorCopy>(
      "cp.async.bulk.tensor.4d.shared::cta.global.im2col::w::128.mbarrier::complete_tx::bytes.cta_group::2"));
  EXPECT_TRUE(decodesTo<TensorCopy>(
      "cp.async.bulk.tensor.3d.im2col.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes"));
  EXPECT_TRUE(decodesTo<TensorCopy>("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group"));
  EXPECT_TRUE(decodesTo<TensorCopy>("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group"));
  EXPECT_TRUE(effectOf<TensorCopy>("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group")
                  .is_reduction);
  EXPECT_TRUE(decodesTo<BulkPrefetch>("cp.async.bulk.prefetch.tensor.2d.L2.global.tile"));
  EXPECT_TRUE(decodesTo<BulkPrefetch>("cp.async.bulk.prefetch.L2.global"));
  EXPECT_TRUE(decodesTo<BulkCommit>("cp.async.bulk.commit_group"));
  EXPECT_TRUE(effectOf<BulkWait>("cp.async.bulk.wait_group.read").is_read_only);
  EXPECT_FALSE(effectOf<BulkWait>("cp.async.bulk.wait_group").is_read_only);
  EXPECT_FALSE(
      effectOf<AsyncStore>("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32").is_reduction);
  EXPECT_TRUE(
      effectOf<AsyncStore>("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32")
          .is_reduction);
  EXPECT_TRUE(decodesTo<TensormapEdit>("tensormap.replace.tile.global_address.global.b1024.b64"));
  EXPECT_TRUE(decodesTo<TensormapEdit>(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned"));
}

TEST(Decode, AsynchronousTensorCores) {
  EXPECT_EQ(effectOf<Wgmma>("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16").op, WgmmaOp::kMma);
  EXPECT_EQ(effectOf<Wgmma>("wgmma.fence.sync.aligned").op, WgmmaOp::kFence);
  EXPECT_EQ(effectOf<Wgmma>("wgmma.commit_group.sync.aligned").op, WgmmaOp::kCommit);
  EXPECT_EQ(effectOf<Wgmma>("wgmma.wait_group.sync.aligned").op, WgmmaOp::kWait);
  const std::pair<const char*, Tcgen05Op> rows[] = {
      {"tcgen05.mma.cta_group::1.kind::f16", Tcgen05Op::kMma},
      {"tcgen05.mma.ws.cta_group::1.kind::f16.collector::b0::fill", Tcgen05Op::kMma},
      {"tcgen05.cp.cta_group::1.128x256b", Tcgen05Op::kCp},
      {"tcgen05.shift.cta_group::2.down", Tcgen05Op::kShift},
      {"tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64", Tcgen05Op::kCommit},
      {"tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64",
       Tcgen05Op::kCommit},
      {"tcgen05.ld.sync.aligned.32x32b.x32.b32", Tcgen05Op::kLd},
      {"tcgen05.st.sync.aligned.16x64b.x2.unpack::16b.b32", Tcgen05Op::kSt},
      {"tcgen05.wait::ld.sync.aligned", Tcgen05Op::kWaitLd},
      {"tcgen05.wait::st.sync.aligned", Tcgen05Op::kWaitSt},
      {"tcgen05.fence::before_thread_sync", Tcgen05Op::kFenceBefore},
      {"tcgen05.fence::after_thread_sync", Tcgen05Op::kFenceAfter},
      {"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32", Tcgen05Op::kAlloc},
      {"tcgen05.dealloc.cta_group::1.sync.aligned.b32", Tcgen05Op::kDealloc},
      {"tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned", Tcgen05Op::kRelinquish}};
  for (const auto& [opcode, op] : rows) EXPECT_EQ(effectOf<Tcgen05>(opcode).op, op) << opcode;
}

TEST(Decode, SchedulingAndLaunchControl) {
  EXPECT_TRUE(effectOf<SetMaxNReg>("setmaxnreg.inc.sync.aligned.u32").is_increase);
  EXPECT_FALSE(effectOf<SetMaxNReg>("setmaxnreg.dec.sync.aligned.u32").is_increase);
  EXPECT_TRUE(effectOf<GridDepControl>("griddepcontrol.wait").is_wait);
  EXPECT_FALSE(effectOf<GridDepControl>("griddepcontrol.launch_dependents").is_wait);
  EXPECT_FALSE(effectOf<ClusterLaunchControl>(
                   "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128")
                   .is_query);
  EXPECT_TRUE(
      effectOf<ClusterLaunchControl>("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128").is_query);
  EXPECT_TRUE(effectOf<ClusterLaunchControl>("clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128")
                  .is_query);
  EXPECT_TRUE(effectOf<ClusterLaunchControl>("clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128")
                  .is_query);
}

TEST(DecodeFacts, TypesVectorsAndSpacesInOrder) {
  const Decoded& cvt = decode("cvt.u32.u64");
  EXPECT_EQ(cvt.type_count, 2u);
  EXPECT_EQ(cvt.types[0], Type::kU32);
  EXPECT_EQ(cvt.types[1], Type::kU64);
  EXPECT_EQ(decode("ld.global.v4.f32").vector, 4u);
  EXPECT_EQ(decode("ldmatrix.sync.aligned.m8n8.x2.shared.b16").vector, 2u);
  const Decoded& bulk = decode("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes");
  EXPECT_THAT(bulk.spaces, ElementsAre(Space::kSharedCluster, Space::kGlobal));
  EXPECT_EQ(decode("ld.u32").space(), Space::kGeneric);
  EXPECT_EQ(decode("ld.param::entry.u32").space(), Space::kParam);
}

TEST(DecodeFacts, SemAndScopeAsSpelled) {
  const Decoded& acquire = decode("ld.acquire.cluster.shared::cluster.u32");
  EXPECT_EQ(acquire.sem, Sem::kAcquire);
  EXPECT_EQ(acquire.scope, Scope::kCluster);
  EXPECT_EQ(decode("ld.shared::cluster.u32").scope, Scope::kNone);
  EXPECT_EQ(decode("mbarrier.try_wait.parity.shared::cta.b64").sem, Sem::kNone);
}

TEST(DecodeFacts, Comparisons) {
  EXPECT_EQ(decode("setp.lt.and.s32").cmp, CmpOp::kLt);
  EXPECT_EQ(decode("setp.lt.and.s32").bool_op, BoolOp::kAnd);
  EXPECT_EQ(decode("setp.hs.u32").cmp, CmpOp::kHs);
  EXPECT_EQ(decode("setp.lt.f32").cmp, CmpOp::kUnorderedOrFloat);
  EXPECT_EQ(decode("and.b32").bool_op, BoolOp::kNone);
  EXPECT_EQ(decode("mul.wide.s32").mul, MulMode::kWide);
  EXPECT_EQ(decode("mad.hi.s32").mul, MulMode::kHi);
  EXPECT_TRUE(decode("mad.lo.cc.u32").has("cc"));
  EXPECT_FALSE(decode("add.s32").has("add"));
}

TEST(DecodeFacts, Destinations) {
  const auto count = [](std::string_view opcode, std::size_t operands) {
    return destinationCount(decode(opcode), operands);
  };
  EXPECT_EQ(count("add.s32", 3), 1u);
  EXPECT_EQ(count("st.shared.b32", 2), 0u);
  EXPECT_EQ(count("red.global.add.u32", 2), 0u);
  EXPECT_EQ(count("atom.global.add.u32", 3), 1u);
  EXPECT_EQ(count("bar.sync", 1), 0u);
  EXPECT_EQ(count("bar.red.popc.u32", 3), 1u);
  EXPECT_EQ(count("mbarrier.arrive.shared.b64", 2), 1u);
  EXPECT_EQ(count("mbarrier.init.shared.b64", 2), 0u);
  EXPECT_EQ(count("tcgen05.ld.sync.aligned.32x32b.x2.b32", 2), 1u);
  EXPECT_EQ(count("add.s32", 0), 0u);
}

TEST(DecodeTable, EveryRowParsesAndIsReachedByItsMnemonic) {
  for (const InstructionInfo& info : instructionTable()) {
    EXPECT_FALSE(info.grammar.empty());
    EXPECT_TRUE(info.min_sm == 0 || (info.min_sm >= 30 && info.min_sm <= 120)) << info.grammar;
    EXPECT_TRUE(info.min_ptx == 0 || (info.min_ptx >= 60 && info.min_ptx <= 95)) << info.grammar;
  }
}

TEST(DecodeTable, ResultsAreSharedBetweenThreads) {
  std::vector<const Decoded*> seen(8);
  std::vector<std::thread> threads;
  for (const Decoded*& slot : seen) threads.emplace_back([&slot] { slot = &decode("ld.global.v2.u16"); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(seen, ::testing::Each(seen.front()));
}

}  // namespace
}  // namespace handoff::ptx
