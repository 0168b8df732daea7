// SPDX-License-Identifier: Apache-2.0
// Text of the perturbations. Each stands in a scope of its own, so that its names meet no others.
#include "analyzer/witness/instrument.h"

#include <algorithm>
#include <string_view>
#include <variant>

#include "analyzer/ptx/decode.h"
#include "analyzer/ptx/print_operand.h"

namespace handoff::witness {

using ptx::Operand;

namespace {

constexpr const char* kScope =
    "\t{\n\t.reg .pred %handoff_p;\n\t.reg .b32 %handoff_r<4>;\n\t.reg .b64 %handoff_d<3>;\n";

/// Number of the thread's warp in its block, into %handoff_r0.
constexpr const char* kWarpNumber =
    "\tmov.u32 %handoff_r0, %tid.z;\n\tmov.u32 %handoff_r1, %ntid.y;\n\tmov.u32 %handoff_r2, %tid.y;\n"
    "\tmad.lo.u32 %handoff_r0, %handoff_r0, %handoff_r1, %handoff_r2;\n"
    "\tmov.u32 %handoff_r1, %ntid.x;\n\tmov.u32 %handoff_r2, %tid.x;\n"
    "\tmad.lo.u32 %handoff_r0, %handoff_r0, %handoff_r1, %handoff_r2;\n\tshr.u32 %handoff_r0, %handoff_r0, "
    "5;\n";

std::string skipUnlessEqual(const char* reg, std::uint32_t value, const std::string& label) {
  return std::string("\tsetp.ne.u32 %handoff_p, ") + reg + ", " + std::to_string(value) +
         ";\n\t@%handoff_p bra " + label + ";\n";
}

/// "{a, b}, c, d" -> "{a, b}", "c", "d".
std::vector<std::string> splitOperands(std::string_view text) {
  std::vector<std::string> operands(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '{') ++depth;
    if (c == '}') --depth;
    if (c == ',' && depth == 0) {
      operands.emplace_back();
    } else if (c != ' ' || !operands.back().empty()) {
      operands.back() += c;
    }
  }
  return operands;
}

/// A number that a float, a half and an integer can hold, and that no tile is filled with.
std::string junk(unsigned word) { return std::to_string(0x4155'4155u + word * 0x0001'0001u); }

}  // namespace

std::string Instrumenter::nameOf(const Operand& operand) const {
  const ptx::Function& function = program_.function;
  const auto variable = static_cast<std::uint32_t>(operand.var);
  if (operand.kind == Operand::Kind::kRegister || operand.base == Operand::Base::kRegister)
    return function.registers[static_cast<std::uint32_t>(operand.reg)].name;
  if (operand.kind == Operand::Kind::kVariable || operand.base == Operand::Base::kVariable)
    return operand.is_module_scope ? program_.module->variables[variable].name
                                   : function.variables[variable].name;
  return "";
}

std::string Instrumenter::address(const Operand& operand, std::int64_t more) const {
  const std::int64_t offset = operand.imm + more;
  const std::string name = nameOf(operand);
  if (name.empty()) return "[" + std::to_string(offset) + "]";
  return "[" + name + (offset < 0 ? "" : "+") + std::to_string(offset) + "]";
}

void Instrumenter::addHeader(const std::string& line) {
  if (result_.header.find(line) == std::string::npos) result_.header += line;
}

std::string Instrumenter::skipUnlessGuarded(const ptx::Instruction& instruction,
                                            const std::string& label) const {
  if (!instruction.guard) return "";
  const std::string& reg =
      program_.function.registers[static_cast<std::uint32_t>(instruction.guard->reg)].name;
  return std::string("\t@") + (instruction.guard->is_negated ? "" : "!") + reg + " bra " + label + ";\n";
}

std::string Instrumenter::skipOthers(const Actors& actors, const std::string& label) const {
  using Who = Actors::Who;
  if (actors.who == Who::kAll) return "";
  std::string text = kWarpNumber;
  if (actors.who == Who::kOddWarps)
    return text + "\tand.b32 %handoff_r0, %handoff_r0, 1;\n" + skipUnlessEqual("%handoff_r0", 1, label);
  if (actors.who == Who::kWarp) {
    text += skipUnlessEqual("%handoff_r0", actors.warp, label);
    if (actors.has_cluster)
      text +=
          "\tmov.u32 %handoff_r0, %cluster_ctarank;\n" + skipUnlessEqual("%handoff_r0", actors.cta, label);
    return text;
  }
  text += "\tsetp.eq.u32 %handoff_p, %handoff_r0, " + std::to_string(actors.warp) + ";\n";
  if (actors.has_cluster)
    text += "\tmov.u32 %handoff_r0, %cluster_ctarank;\n\tsetp.eq.and.u32 %handoff_p, %handoff_r0, " +
            std::to_string(actors.cta) + ", %handoff_p;\n";
  return text + "\t@%handoff_p bra " + label + ";\n";
}

std::string Instrumenter::skipOtherTurns(std::uint32_t pass, const std::string& label) {
  if (pass == 0) return "";
  const std::string counter = "%handoff_pass" + std::to_string(++passes_);
  result_.entry += "\t.reg .b32 " + counter + ";\n\tmov.b32 " + counter + ", 0;\n";
  return "\tadd.u32 " + counter + ", " + counter + ", 1;\n" + skipUnlessEqual(counter.c_str(), pass, label);
}

std::string Instrumenter::spin() {
  const std::string loop = unique("spin");
  return "\tmov.u64 %handoff_d0, %clock64;\n" + loop +
         ":\n\tmov.u64 %handoff_d1, %clock64;\n\tsub.u64 %handoff_d1, %handoff_d1, %handoff_d0;\n"
         "\tsetp.lt.u64 %handoff_p, %handoff_d1, " +
         std::to_string(kDelayClocks) + ";\n\t@%handoff_p bra " + loop + ";\n";
}

void Instrumenter::delay(const Place& place) {
  const std::string done = unique("done");
  std::string text = kScope + skipOthers(place.actors, done);
  text += skipOtherTurns(place.pass, done);
  text += spin();
  add(place.instr, text + done + ":\n\t}\n");
}

bool Instrumenter::poison(std::uint32_t instr, std::uint64_t box_bytes) {
  const ptx::Instruction& copy = program_.function.instructions[instr];
  const ptx::Decoded& decoded = *copy.decoded;
  const bool is_to_shared =
      decoded.space() == ptx::Space::kShared || decoded.space() == ptx::Space::kSharedCluster;
  if (!is_to_shared || copy.operands.empty() || copy.operands[0].kind != Operand::Kind::kAddress)
    return false;
  const std::string skip = unique("skip");
  std::string text = kScope + skipUnlessGuarded(copy, skip);
  if (std::holds_alternative<ptx::CpAsync>(decoded.effect)) {
    if (copy.operands.size() < 3 || copy.operands[2].kind != Operand::Kind::kImmediate) return false;
    for (std::int64_t byte = 0; byte < copy.operands[2].imm; byte += 4)
      text += "\tst.shared.b32 " + address(copy.operands[0], byte) + ", " +
              junk(static_cast<unsigned>(byte)) + ";\n";
    add(instr, text + skip + ":\n\t}\n");
    return true;
  }
  const bool is_tensor = std::holds_alternative<ptx::TensorCopy>(decoded.effect);
  if ((!is_tensor && !std::holds_alternative<ptx::BulkCopy>(decoded.effect)) ||
      decoded.has("multicast::cluster"))
    return false;
  std::string size = std::to_string(box_bytes);
  if (!is_tensor) {
    if (copy.operands.size() < 3) return false;
    size = copy.operands[2].kind == Operand::Kind::kImmediate ? std::to_string(copy.operands[2].imm)
                                                              : nameOf(copy.operands[2]);
  }
  const std::string base = nameOf(copy.operands[0]);
  if (base.empty() || size.empty() || size == "0") return false;
  // The async proxy has to see the junk before its own bytes, or the junk would come last.
  const std::string loop = unique("fill");
  const bool is_wide =
      copy.operands[0].base == Operand::Base::kRegister &&
      ptx::byteSize(program_.function.registers[static_cast<std::uint32_t>(copy.operands[0].reg)].type) == 8;
  text += is_wide ? "\tcvt.u32.u64 %handoff_r0, " + base + ";\n" : "\tmov.u32 %handoff_r0, " + base + ";\n";
  text += "\tadd.u32 %handoff_r0, %handoff_r0, " + std::to_string(copy.operands[0].imm) +
          ";\n\tmov.b32 %handoff_r1, " + size + ";\n\tadd.u32 %handoff_r1, %handoff_r1, %handoff_r0;\n" +
          loop + ":\n\tst.shared::cluster.b32 [%handoff_r0], " + junk(1) +
          ";\n\tadd.u32 %handoff_r0, %handoff_r0, 4;\n\tsetp.lt.u32 %handoff_p, %handoff_r0, "
          "%handoff_r1;\n\t@%handoff_p bra " +
          loop + ";\n\tfence.proxy.async;\n" + skip + ":\n\t}\n";
  add(instr, std::move(text));
  return true;
}

bool Instrumenter::conflictingStores(const Place& place, ptx::Space space, unsigned count) {
  const ptx::Instruction& store = program_.function.instructions[place.instr];
  const std::string skip = unique("skip");
  std::string text = kScope + skipUnlessGuarded(store, skip) + skipOthers(place.actors, skip);
  text += skipOtherTurns(place.pass, skip);
  text += "\tmov.u32 %handoff_r0, %laneid;\n";
  if (space == ptx::Space::kShared) {
    if (program_.static_shared_bytes + kScratchBytes > kMaxSharedBytes) return false;
    addHeader(".shared .align 128 .b8 handoff_scratch[" + std::to_string(kScratchBytes) + "];\n");
    text +=
        "\tshl.b32 %handoff_r0, %handoff_r0, 7;\n\tmov.u32 %handoff_r1, handoff_scratch;\n\tadd.u32 "
        "%handoff_r0, %handoff_r0, %handoff_r1;\n";
    for (unsigned i = 0; i < count; ++i) text += "\tst.volatile.shared.b32 [%handoff_r0], %handoff_r1;\n";
  } else {
    constexpr unsigned kSpacing = 4096, kRounds = 8;
    addHeader(".global .align 128 .b8 handoff_sink[" + std::to_string(kRounds * 32 * kSpacing) + "];\n");
    text += "\tmul.wide.u32 %handoff_d0, %handoff_r0, " + std::to_string(kSpacing) +
            ";\n\tmov.u64 %handoff_d1, handoff_sink;\n\tadd.u64 %handoff_d0, %handoff_d0, %handoff_d1;\n";
    for (unsigned i = 0; i < count; ++i)
      text +=
          "\tst.global.b32 [%handoff_d0+" + std::to_string(i % kRounds * 32 * kSpacing) + "], %handoff_r0;\n";
  }
  add(place.instr, text + skip + ":\n\t}\n");
  return true;
}

bool Instrumenter::queueCopies(const Place& place) {
  const ptx::Instruction& copy = program_.function.instructions[place.instr];
  const ptx::Effect& effect = copy.decoded->effect;
  if (!std::holds_alternative<ptx::BulkCopy>(effect) && !std::holds_alternative<ptx::TensorCopy>(effect))
    return false;
  constexpr std::uint64_t kMostBytes = 16 * 1024, kUnit = 1024;
  constexpr unsigned kCopies = 8;
  const std::uint64_t used = program_.static_shared_bytes + kUnit;  // what its alignment may cost
  const std::uint64_t room = used < kMaxSharedBytes ? (kMaxSharedBytes - used) / kUnit * kUnit : 0;
  const std::string bytes = std::to_string(std::min(room, kMostBytes));
  if (room == 0) return false;
  addHeader(".visible .global .align 8 .u64 handoff_host;\n");
  addHeader(".shared .align 1024 .b8 handoff_queue[" + bytes + "];\n");
  const std::string skip = unique("skip");
  std::string text = kScope + skipUnlessGuarded(copy, skip) + skipOthers(place.actors, skip);
  text += skipOtherTurns(place.pass, skip);
  text += "\tld.global.u64 %handoff_d0, [handoff_host];\n\tmov.u32 %handoff_r0, handoff_queue;\n";
  for (unsigned i = 0; i < kCopies; ++i)
    text += "\tcp.async.bulk.global.shared::cta.bulk_group [%handoff_d0], [%handoff_r0], " + bytes +
            ";\n\tadd.u64 %handoff_d0, %handoff_d0, " + bytes + ";\n";
  add(place.instr, text + skip + ":\n\t}\n");
  return true;
}

bool Instrumenter::queueMultiplications(const Place& place) {
  const ptx::Instruction& mma = program_.function.instructions[place.instr];
  const auto* wgmma = std::get_if<ptx::Wgmma>(&mma.decoded->effect);
  const bool is_exact = mma.opcode.find(".f32.bf16.bf16") != std::string::npos;
  constexpr std::size_t kScaleD = 3, kScaleA = 4, kScaleB = 5;
  if (wgmma == nullptr || wgmma->op != ptx::WgmmaOp::kMma || !is_exact || mma.guard ||
      mma.operands.size() <= kScaleB || mma.decoded->has("sp"))
    return false;
  constexpr unsigned kPairs = 32;
  const std::string skip = unique("skip");
  std::string text = kScope + skipOthers(place.actors, skip) + skipOtherTurns(place.pass, skip);
  text += "\tsetp.eq.u32 %handoff_p, 0, 0;\n";
  const std::string printed = ptx::printInstruction(*program_.module, program_.function, mma);
  std::vector<std::string> operands = splitOperands(printed.substr(printed.find(' ') + 1));
  operands[kScaleD] = "%handoff_p";
  for (unsigned i = 0; i < 2 * kPairs; ++i) {
    operands[kScaleA] = i % 2 == 0 ? "1" : "-1";
    text += "\t" + mma.opcode + " ";
    for (std::size_t o = 0; o < operands.size(); ++o) text += (o == 0 ? "" : ", ") + operands[o];
    text += ";\n";
  }
  add(place.instr, text + skip + ":\n\t}\n");
  return true;
}

bool Instrumenter::staleBarrier(std::uint32_t instr, bool is_first_phase_over) {
  const ptx::Instruction& init = program_.function.instructions[instr];
  const auto* barrier = std::get_if<ptx::Mbarrier>(&init.decoded->effect);
  constexpr std::string_view kName = "mbarrier.init";
  const bool is_init =
      barrier != nullptr && barrier->op == ptx::MbarrierOp::kInit && init.operands.size() >= 2;
  if (!is_init || init.opcode.find("layout") != std::string::npos) return false;
  const std::string place = address(init.operands[0], 0), skip = unique("skip");
  std::string text = kScope + skipUnlessGuarded(init, skip) + "\t" + init.opcode + " " + place + ", 1;\n";
  if (is_first_phase_over)
    text += "\tmbarrier.arrive" + init.opcode.substr(kName.size()) + " %handoff_d0, " + place + ";\n";
  text += spin();
  add(instr, text + skip + ":\n\t}\n");
  return true;
}

bool Instrumenter::prefetchMap(std::uint32_t instr) {
  const ptx::Instruction& edit = program_.function.instructions[instr];
  const bool is_edit = std::holds_alternative<ptx::TensormapEdit>(edit.decoded->effect);
  if (!is_edit || edit.decoded->space() != ptx::Space::kGlobal || edit.operands.empty()) return false;
  const std::string skip = unique("skip");
  std::string text =
      kScope + skipUnlessGuarded(edit, skip) + "\tprefetch.tensormap " + address(edit.operands[0], 0) + ";\n";
  text += spin();
  add(instr, text + skip + ":\n\t}\n");
  return true;
}

bool Instrumenter::queueMapFetches(const Place& place) {
  const ptx::Instruction& copy = program_.function.instructions[place.instr];
  const auto tensor = std::find_if(copy.operands.begin(), copy.operands.end(), [](const Operand& operand) {
    return operand.kind == Operand::Kind::kTensorAddress && !operand.elements.empty();
  });
  if (!std::holds_alternative<ptx::TensorCopy>(copy.decoded->effect) || tensor == copy.operands.end())
    return false;
  const Operand& map = tensor->elements.front();
  const bool is_register = map.kind == Operand::Kind::kRegister || map.base == Operand::Base::kRegister;
  if (!is_register) return false;
  constexpr std::int64_t kMaps = 32, kMapBytes = 128;
  const std::string skip = unique("skip");
  std::string text = kScope + skipUnlessGuarded(copy, skip) + skipOthers(place.actors, skip);
  text += skipOtherTurns(place.pass, skip);
  for (std::int64_t i = 1; i <= kMaps; ++i)
    text += "\tprefetch.tensormap " + address(map, i * kMapBytes) + ";\n";
  add(place.instr, text + skip + ":\n\t}\n");
  return true;
}

bool Instrumenter::floodStores(std::uint32_t instr) {
  const ptx::Instruction& store = program_.function.instructions[instr];
  const ptx::Decoded& decoded = *store.decoded;
  const auto* bulk = std::get_if<ptx::BulkCopy>(&decoded.effect);
  if (bulk == nullptr || bulk->is_reduction || decoded.space() != ptx::Space::kGlobal ||
      store.operands.size() < 3)
    return false;
  const Operand& size_operand = store.operands[2];
  const std::string size = size_operand.kind == Operand::Kind::kImmediate ? std::to_string(size_operand.imm)
                                                                          : nameOf(size_operand);
  if (size.empty()) return false;
  constexpr unsigned kBytes = 512 * 1024;
  addHeader(".visible .global .align 8 .u64 handoff_host;\n");
  const std::string skip = unique("skip"), loop = unique("copy");
  std::string text = kScope + skipUnlessGuarded(store, skip);
  text += "\tld.global.u64 %handoff_d0, [handoff_host];\n\tmov.b32 %handoff_r0, 0;\n" + loop +
          ":\n\tcp.async.bulk.global.shared::cta.bulk_group [%handoff_d0], " + address(store.operands[1], 0) +
          ", " + size + ";\n\tcvt.u64.u32 %handoff_d1, " + size +
          ";\n\tadd.u64 %handoff_d0, %handoff_d0, %handoff_d1;\n\tadd.u32 %handoff_r0, %handoff_r0, " + size +
          ";\n\tsetp.lt.u32 %handoff_p, %handoff_r0, " + std::to_string(kBytes) + ";\n\t@%handoff_p bra " +
          loop + ";\n" + skip + ":\n\t}\n";
  add(instr, std::move(text));
  return true;
}

}  // namespace handoff::witness
