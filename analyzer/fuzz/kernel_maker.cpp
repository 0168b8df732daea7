// SPDX-License-Identifier: Apache-2.0
// A table of spellings whose operands the bytes choose, and the statements around them.
#include "analyzer/fuzz/kernel_maker.h"

#include <string_view>
#include <vector>

namespace handoff::fuzz {
namespace {

constexpr unsigned kMaxStatements = 40, kMaxDepth = 4;
constexpr unsigned kRegisters = 8;  ///< of each kind: few, so that values meet

// $r $d $h $p $f registers (32, 64, 16 bits, predicates, floats), $o register or number, $i number, $n 0 to 3,
// $s address in shared memory, $c the same in the cluster, $b mbarrier, $g global address, $y bytes of a copy,
// $m mask of lanes, $S special register, $C comparison, $e state of an mbarrier, $t parity, $N named barrier,
// $k count of threads.
constexpr const char* kSpellings[] = {
    "mov.u32 $r, $S;",
    "mov.u32 $r, $o;",
    "add.u32 $r, $r, $o;",
    "sub.s32 $r, $r, $o;",
    "mul.lo.s32 $r, $r, $o;",
    "mul.wide.u32 $d, $r, $o;",
    "mad.lo.u32 $r, $r, $o, $r;",
    "div.u32 $r, $r, $o;",
    "div.s32 $r, $r, $o;",
    "rem.s32 $r, $r, $o;",
    "rem.u32 $r, $r, $o;",
    "shl.b32 $r, $r, $o;",
    "shr.s32 $r, $r, $o;",
    "shr.u32 $r, $r, $o;",
    "and.b32 $r, $r, $o;",
    "xor.b32 $r, $r, $o;",
    "not.b32 $r, $r;",
    "neg.s32 $r, $r;",
    "abs.s32 $r, $r;",
    "min.s32 $r, $r, $o;",
    "max.u32 $r, $r, $o;",
    "popc.b32 $r, $r;",
    "clz.b32 $r, $r;",
    "bfind.u32 $r, $r;",
    "brev.b32 $r, $r;",
    "bfe.s32 $r, $r, $o, $o;",
    "bfe.u32 $r, $r, $o, $o;",
    "bfi.b32 $r, $r, $r, $o, $o;",
    "prmt.b32 $r, $r, $r, $o;",
    "lop3.b32 $r, $r, $r, $r, 150;",
    "shf.l.wrap.b32 $r, $r, $r, $o;",
    "fns.b32 $r, $r, $o, $i;",
    "dp4a.s32.u32 $r, $r, $r, $r;",
    "bmsk.clamp.b32 $r, $r, $o;",
    "szext.wrap.s32 $r, $r, $o;",
    "sad.u32 $r, $r, $r, $r;",
    "cvt.u64.u32 $d, $r;",
    "cvt.s64.s32 $d, $r;",
    "cvt.u32.u64 $r, $d;",
    "cvt.s16.s32 $h, $r;",
    "cvt.u32.u8 $r, $h;",
    "cvt.sat.s8.s32 $r, $r;",
    "add.s64 $d, $d, $d;",
    "mul.hi.u64 $d, $d, $d;",
    "div.s64 $d, $d, $d;",
    "rem.u64 $d, $d, $d;",
    "shl.b64 $d, $d, $o;",
    "add.cc.u32 $r, $r, $o;",
    "addc.u32 $r, $r, $o;",
    "setp.$C.s32 $p, $r, $o;",
    "setp.$C.u32 $p, $r, $o;",
    "setp.$C.u32 $p|$p, $r, $o;",
    "setp.$C.and.s32 $p, $r, $o, $p;",
    "selp.b32 $r, $r, $o, $p;",
    "not.pred $p, $p;",
    "and.pred $p, $p, $p;",
    "xor.pred $p, $p, $p;",
    "fma.rn.f32 $f, $f, $f, $f;",
    "cvt.rn.f32.u32 $f, $r;",
    "cvta.to.shared.u64 $d, $d;",
    "cvta.shared.u64 $d, $d;",
    "isspacep.shared $p, $d;",
    "mapa.shared::cluster.u32 $r, $r, $n;",
    "getctarank.shared::cluster.u32 $r, $r;",
    "ld.shared.u32 $r, [$s];",
    "ld.shared.v4.u32 {$r, $r, $r, $r}, [$s];",
    "ld.shared.u8 $h, [$s];",
    "ld.volatile.shared.u32 $r, [$s];",
    "ld.acquire.gpu.global.u32 $r, [$g];",
    "ld.global.u32 $r, [$g];",
    "ld.global.nc.v2.u64 {$d, $d}, [$g];",
    "ld.shared::cluster.u32 $r, [$c];",
    "ld.u32 $r, [$d];",
    "st.shared.u32 [$s], $r;",
    "st.shared.v4.u32 [$s], {$r, $r, $r, $r};",
    "st.shared.u8 [$s], $h;",
    "st.shared::cluster.u32 [$c], $r;",
    "st.global.u32 [$g], $r;",
    "st.release.gpu.global.u32 [$g], $r;",
    "st.u64 [$d], $d;",
    "atom.shared.add.u32 $r, [$s], $o;",
    "atom.acq_rel.gpu.global.cas.b32 $r, [$g], $r, $r;",
    "atom.shared.exch.b32 $r, [flag+$n], $r;",
    "red.release.gpu.global.add.u32 [$g], $o;",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$r, $r, $r, $r}, [$s];",
    "stmatrix.sync.aligned.m8n8.x2.shared.b16 [$s], {$r, $r};",
    "shfl.sync.idx.b32 $r, $r, $o, 31, $m;",
    "shfl.sync.up.b32 $r|$p, $r, $o, 0, $m;",
    "vote.sync.any.pred $p, $p, $m;",
    "vote.sync.ballot.b32 $r, $p, $m;",
    "match.any.sync.b32 $r, $r, $m;",
    "redux.sync.add.s32 $r, $r, $m;",
    "activemask.b32 $r;",
    "elect.sync $r|$p, $m;",
    "bar.warp.sync $m;",
    "bar.sync 0;",
    "bar.sync 0;",
    "bar.sync $N, $k;",
    "bar.arrive $N, $k;",
    "barrier.sync $N;",
    "barrier.sync $o, $k;",
    "bar.red.popc.u32 $r, $N, $p;",
    "bar.red.or.pred $p, $N, $k, $p;",
    "barrier.cluster.arrive.release.aligned;",
    "barrier.cluster.arrive.relaxed;",
    "barrier.cluster.wait.acquire.aligned;",
    "fence.acq_rel.cta;",
    "fence.sc.cluster;",
    "membar.gl;",
    "fence.mbarrier_init.release.cluster;",
    "fence.proxy.async;",
    "fence.proxy.async.shared::cta;",
    "cp.async.ca.shared.global [$s], [$g], 4;",
    "cp.async.cg.shared.global [$s], [$g], 16;",
    "cp.async.cg.shared.global [$s], [$g], 16, $o;",
    "cp.async.ca.shared.global [$s], [$g], 8, $p;",
    "cp.async.commit_group;",
    "cp.async.commit_group;",
    "cp.async.wait_group $n;",
    "cp.async.wait_group 0;",
    "cp.async.wait_all;",
    "cp.async.mbarrier.arrive.noinc.shared.b64 [$b];",
    "cp.async.mbarrier.arrive.shared.b64 [$b];",
    "mbarrier.init.shared.b64 [$b], $k;",
    "mbarrier.init.shared.b64 [$b], 1;",
    "mbarrier.inval.shared.b64 [$b];",
    "mbarrier.arrive.shared.b64 $e, [$b];",
    "mbarrier.arrive.shared.b64 _, [$b], $o;",
    "mbarrier.arrive.noComplete.shared.b64 $e, [$b], $n;",
    "mbarrier.arrive.expect_tx.shared.b64 _, [$b], $y;",
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [$c];",
    "mbarrier.arrive_drop.shared.b64 $e, [$b];",
    "mbarrier.expect_tx.relaxed.cta.shared.b64 [$b], $y;",
    "mbarrier.complete_tx.relaxed.cta.shared.b64 [$b], $y;",
    "mbarrier.test_wait.shared.b64 $p, [$b], $e;",
    "mbarrier.test_wait.parity.shared.b64 $p, [$b], $t;",
    "mbarrier.try_wait.parity.shared.b64 $p, [$b], $t;",
    "mbarrier.try_wait.parity.acquire.cluster.shared.b64 $p, [$b], $t, $o;",
    "mbarrier.pending_count.b64 $r, $e;",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$s], [$g], $y, [$b];",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$s], [$g], $y, [$b];",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [$s], [$g], $y, [$b], $h;",
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [$c], [$s], $y, [$c];",
    "cp.async.bulk.global.shared::cta.bulk_group [$g], [$s], $y;",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [$g], [$s], $y;",
    "cp.async.bulk.commit_group;",
    "cp.async.bulk.wait_group $n;",
    "cp.async.bulk.wait_group.read 0;",
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$s], [%map0, {$r, $r}], [$b];",
    "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%map1, {$r}], [$s];",
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [$c], $r, [$c];",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [$c], $r, [$c];",
    "wgmma.fence.sync.aligned;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$f, $f, $f, $f}, $d, $d, $p, 1, 1, 0, 0;",
    "wgmma.commit_group.sync.aligned;",
    "wgmma.wait_group.sync.aligned $n;",
    "setmaxnreg.dec.sync.aligned.u32 24;",
    "setmaxnreg.inc.sync.aligned.u32 240;",
    "griddepcontrol.wait;",
    "nanosleep.u32 $o;",
    "prefetch.global.L2 [$g];",
    "call (%r7), helper, ($r, $r);",
    "call (%r6), again, ($r, $r);",
    "exit;",
    "trap;",
};

constexpr const char* kSpecials[] = {"%tid.x",   "%tid.y",  "%ntid.x",  "%ctaid.x", "%nctaid.x", "%laneid",
                                     "%warpid",  "%clock",  "%smid",    "%lanemask_lt", "%cluster_ctarank",
                                     "%cluster_nctarank"};
constexpr const char* kNumbers[] = {"0", "1", "2", "3", "4", "7", "16", "31", "32", "33", "64", "128", "1024",
                                    "0x7fffffff", "0x80000000", "-1", "-16", "65536"};
constexpr const char* kBytes[] = {"16", "32", "64", "128", "512", "1024", "0", "8", "24", "2048", "1048576", "-16"};
constexpr const char* kMasks[] = {"-1", "0xffffffff", "0xffff", "1", "0", "0x80000001"};
constexpr const char* kComparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};
constexpr const char* kThreadCounts[] = {"32", "64", "96", "128", "0", "1", "256", "1056"};

/// Functions that kernels call: one with a loop, and one that calls the other.
constexpr const char* kFunctions = R"(
.func (.reg .b32 %res) helper(.reg .b32 %x, .reg .b32 %y)
{
.reg .pred %q;
.reg .b32 %c;
mov.u32 %c, 0;
mov.u32 %res, %x;
AGAIN:
add.u32 %res, %res, %y;
add.u32 %c, %c, 1;
setp.lt.u32 %q, %c, 3;
@%q bra AGAIN;
ret;
}
.func (.reg .b32 %res) again(.reg .b32 %x, .reg .b32 %y)
{
.reg .pred %q;
setp.gt.u32 %q, %x, %y;
@%q bra SKIP;
call (%res), helper, (%x, %y);
bar.sync 0;
ret;
SKIP:
mov.u32 %res, %y;
ret;
}
)";

class KernelMaker {
 public:
  explicit KernelMaker(Bytes bytes) : bytes_(bytes) {}

  Kernel make() {
    kernel_.setup.block = {bytes_.oneOf(kBlocks), 1, 1};
    if (bytes_.below(4) == 3) kernel_.setup.cluster = kernel_.setup.grid = {2, 1, 1};
    kernel_.setup.n = static_cast<std::uint32_t>(bytes_.below(8));
    kernel_.setup.map_parameters = 2;
    kernel_.setup.functions = kFunctions;
    kernel_.setup.options.fail_first_polls = bytes_.below(4) == 3;
    if (bytes_.below(4) != 0) {
      for (unsigned barrier = 0; barrier < 4; ++barrier)
        add("@!%p15 mbarrier.init.shared.b64 [bar+" + std::to_string(8 * barrier) + "], " + bytes_.oneOf(kCounts) + ";");
      kernel_.statements = "setp.ne.u32 %p15, %t, 0;\n" + kernel_.statements;
      add("bar.sync 0;");
    }
    while (!bytes_.isAtEnd() && made_ < kMaxStatements) statement(0);
    for (unsigned mark = marks_; mark < kMaxMarks; ++mark) add(markName(mark) + ":");
    kernel_.setup.declarations = declarations_;
    return std::move(kernel_);
  }

 private:
  static constexpr std::uint32_t kBlocks[] = {32, 64, 128, 1, 33, 96, 256};
  static constexpr const char* kCounts[] = {"1", "32", "64", "2", "128"};
  static constexpr unsigned kMaxMarks = 4;  ///< labels that jumps go to, wherever they stand

  void add(const std::string& line) { kernel_.statements += line + "\n"; }
  std::string fresh(const char* name) { return name + std::to_string(++labels_); }
  static std::string markName(unsigned mark) { return "MARK" + std::to_string(mark); }
  std::string number(unsigned count) { return std::to_string(bytes_.below(count)); }
  std::string predicate() { return "%p" + number(kRegisters); }
  std::string guard() { return (bytes_.below(2) == 0 ? "@" : "@!") + predicate(); }

  void statement(unsigned depth) {
    if (++made_ > kMaxStatements) return;
    const std::size_t kind = bytes_.below(24);
    if (depth >= kMaxDepth || kind >= 12) return instruction();
    switch (kind) {
      case 0: return onlyWhere("%t", depth);
      case 1: return onlyWhere("%w", depth);
      case 2: return onlyWhere("%lane", depth);
      case 3: return branch(depth);
      case 4: return twoSides(depth);
      case 5:
      case 6: return loop(depth);
      case 7:
      case 8: return waitLoop();
      case 9: return indexed(depth);
      case 10: return jump();
      default: return mark();
    }
  }

  void body(unsigned depth) {
    for (std::size_t count = 1 + bytes_.below(5); count > 0; --count) statement(depth + 1);
  }

  void instruction() {
    const char* const spelling = bytes_.oneOf(kSpellings);
    const bool is_guarded = bytes_.below(5) == 4;
    const std::string condition = is_guarded ? guard() + " " : "";
    add(condition + expanded(spelling));
  }

  void onlyWhere(const char* what, unsigned depth) {
    const std::string label = fresh("SKIP");
    add("setp.ne.u32 %p14, " + std::string(what) + ", " + number(3) + ";\n@%p14 bra " + label + ";");
    body(depth);
    add(label + ":");
  }

  void branch(unsigned depth) {
    const std::string label = fresh("END");
    add(guard() + " bra " + label + ";");
    body(depth);
    add(label + ":");
  }

  void twoSides(unsigned depth) {
    const std::string other = fresh("ELSE"), end = fresh("END");
    add(guard() + " bra " + other + ";");
    body(depth);
    add("bra.uni " + end + ";\n" + other + ":");
    body(depth);
    add(end + ":");
  }

  void loop(unsigned depth) {
    static constexpr const char* kTrips[] = {"3", "1", "%n", "%u", "5", "0x7fffffff", "1000", "%t", "for ever"};
    const std::string label = fresh("LOOP"), counter = "%count" + label, goes_on = "%goes" + label;
    const std::string trips = bytes_.oneOf(kTrips);
    declarations_ += ".reg .b32 " + counter + ";\n.reg .pred " + goes_on + ";\n";
    add("mov.u32 " + counter + ", 0;\n" + label + ":");
    body(depth);
    if (bytes_.below(2) == 1) add("mov.u32 %r" + number(kRegisters) + ", " + counter + ";");
    add("add.u32 " + counter + ", " + counter + ", 1;");
    if (trips == "for ever") return add("bra.uni " + label + ";");
    add("setp.lt.u32 " + goes_on + ", " + counter + ", " + trips + ";\n@" + goes_on + " bra " + label + ";");
  }

  void waitLoop() {
    const std::string label = fresh("WAIT");
    add(label + ":\n" + expanded("mbarrier.try_wait.parity.shared.b64 %p13, [$b], $t;") + "\n@!%p13 bra " + label + ";");
  }

  void indexed(unsigned depth) {
    const std::string table = fresh("TABLE"), first = fresh("CASE"), second = fresh("CASE"), end = fresh("END");
    add(table + ": .branchtargets " + first + ", " + second + ", " + end + ";\nbrx.idx %r" + number(kRegisters) + ", " +
        table + ";\n" + first + ":");
    body(depth);
    add("bra " + end + ";\n" + second + ":");
    body(depth);
    add(end + ":");
  }

  void jump() {
    const bool is_guarded = bytes_.below(4) != 0;
    add((is_guarded ? guard() + " " : std::string()) + "bra " + markName(static_cast<unsigned>(bytes_.below(kMaxMarks))) + ";");
  }

  void mark() {
    if (marks_ == kMaxMarks) return instruction();
    add(markName(marks_++) + ":");
  }

  std::string expanded(std::string_view spelling) {
    std::string text;
    for (std::size_t i = 0; i < spelling.size(); ++i)
      text += spelling[i] == '$' ? operand(spelling[++i]) : std::string(1, spelling[i]);
    return text;
  }

  std::string operand(char kind) {
    switch (kind) {
      case 'r': return "%r" + number(kRegisters);
      case 'd': return "%d" + number(kRegisters);
      case 'e': return "%d" + std::to_string(8 + bytes_.below(2));
      case 'h': return "%h" + number(kRegisters);
      case 'p': return predicate();
      case 'f': return "%f" + number(kRegisters);
      case 'i': return bytes_.oneOf(kNumbers);
      case 'o': return bytes_.below(2) == 0 ? "%r" + number(kRegisters) : bytes_.oneOf(kNumbers);
      case 'n': return number(4);
      case 'y': return bytes_.below(8) == 7 ? "%r" + number(kRegisters) : bytes_.oneOf(kBytes);
      case 'm': return bytes_.oneOf(kMasks);
      case 'k': return bytes_.oneOf(kThreadCounts);
      case 'N': return std::to_string(bytes_.below(17));
      case 'S': return bytes_.oneOf(kSpecials);
      case 'C': return bytes_.oneOf(kComparisons);
      default: return address(kind);
    }
  }

  std::string address(char kind) {
    static constexpr const char* kShared[] = {"%s", "tile", "tile+16", "tile+1024", "%r1", "tile+16383", "bar", "%r2+8"};
    static constexpr const char* kCluster[] = {"%r1", "%r2", "tile", "bar", "%s", "%r3+16"};
    static constexpr const char* kGlobal[] = {"%g", "%in", "%out", "%in+16", "%out+1024", "%d1", "%d2+4", "%in-8"};
    static constexpr const char* kBarriers[] = {"bar", "bar+8", "bar+16", "bar+24", "bar", "bar+4", "tile", "%r4"};
    static constexpr const char* kParities[] = {"0", "1", "%r5", "%r0", "2"};
    switch (kind) {
      case 's': return bytes_.oneOf(kShared);
      case 'c': return bytes_.oneOf(kCluster);
      case 'g': return bytes_.oneOf(kGlobal);
      case 'b': return bytes_.oneOf(kBarriers);
      default: return bytes_.oneOf(kParities);
    }
  }

  Bytes bytes_;
  Kernel kernel_;
  std::string declarations_;
  unsigned made_ = 0, labels_ = 0, marks_ = 0;
};

}  // namespace

std::string Kernel::launchText() const {
  return "block=" + std::to_string(setup.block[0]) + " grid=" + std::to_string(setup.grid[0]) +
         " cluster=" + std::to_string(setup.cluster[0]);
}

Kernel makeKernel(Bytes bytes) { return KernelMaker(bytes).make(); }

}  // namespace handoff::fuzz
