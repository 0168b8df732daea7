// SPDX-License-Identifier: Apache-2.0
// Calls by their position in the source and their interface.
#include "analyzer/audit/lowering.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <variant>

#include "analyzer/audit/api.h"

namespace handoff::audit {

using ptx::Operand;

namespace {

std::optional<Lowering> loweringOf(const ptx::Effect& effect) {
  if (std::holds_alternative<ptx::CpAsync>(effect)) return Lowering::kCpAsync;
  if (std::holds_alternative<ptx::BulkCopy>(effect)) return Lowering::kBulk;
  if (std::holds_alternative<ptx::TensorCopy>(effect)) return Lowering::kTensor;
  if (std::holds_alternative<ptx::AsyncStore>(effect)) return Lowering::kAsyncStore;
  if (const auto* wgmma = std::get_if<ptx::Wgmma>(&effect); wgmma != nullptr && wgmma->op == ptx::WgmmaOp::kMma)
    return Lowering::kMatrix;
  if (const auto* tcgen05 = std::get_if<ptx::Tcgen05>(&effect);
      tcgen05 != nullptr && (tcgen05->op == ptx::Tcgen05Op::kMma || tcgen05->op == ptx::Tcgen05Op::kCp))
    return Lowering::kMatrix;
  return std::nullopt;
}

/// A load or store that may move the data of a copy: neither parameters nor spilled registers.
bool movesData(const ptx::Decoded& decoded) {
  const bool is_load = std::holds_alternative<ptx::Load>(decoded.effect);
  if (!is_load && !std::holds_alternative<ptx::Store>(decoded.effect)) return false;
  const ptx::Space space = decoded.space();
  return space == ptx::Space::kGeneric || space == ptx::Space::kGlobal || space == ptx::Space::kShared;
}

bool mayStoreShared(const ptx::Decoded& decoded) {
  return std::holds_alternative<ptx::Store>(decoded.effect) && decoded.space() != ptx::Space::kGlobal;
}

unsigned accessBytes(const ptx::Decoded& decoded) {
  return ptx::byteSize(decoded.type()) * std::max(decoded.vector, 1u);
}

std::string bytesText(std::uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string describeCpAsync(const machine::Program& program, const ptx::Instruction& instr) {
  constexpr std::size_t kSize = 2, kOption = 3;
  std::string text = instr.decoded->has("cg") ? "cp.async.cg" : "cp.async.ca";
  if (instr.operands.size() <= kSize || instr.operands[kSize].kind != Operand::Kind::kImmediate) return text;
  const std::int64_t size = instr.operands[kSize].imm;
  text += ", " + bytesText(static_cast<std::uint64_t>(size));
  if (instr.operands.size() <= kOption) return text;
  const Operand& option = instr.operands[kOption];
  if (option.kind == Operand::Kind::kImmediate) {
    // CUDA's own header always gives the size of the source.
    return option.imm == size ? text : text + ", of which " + std::to_string(option.imm) + " from the source";
  }
  if (option.kind != Operand::Kind::kRegister) return text;
  const bool is_predicate =
      program.function.registers[static_cast<std::uint32_t>(option.reg)].type == ptx::Type::kPred;
  const bool is_hint = !is_predicate && instr.decoded->has("L2::cache_hint") && instr.operands.size() == kOption + 1;
  if (is_hint) return text;
  return text + (is_predicate ? ", source ignored under a predicate" : ", source size in a register");
}

/// Position, interface: what makes two instructions parts of one call.
using CallKey = std::tuple<std::string, std::vector<std::tuple<std::string, std::uint32_t, std::uint32_t>>>;

class Lowerer {
 public:
  explicit Lowerer(const machine::Program& program) : program_(program) {
    const std::size_t count = program.function.instructions.size();
    result_.call_of.assign(count, kNoCall);
    result_.place_of.assign(count, 0);
  }

  Lowered run() {
    const std::vector<ptx::Instruction>& instructions = program_.function.instructions;
    for (std::uint32_t i = 0; i < instructions.size(); ++i) {
      const ptx::Decoded& decoded = *instructions[i].decoded;
      if (const std::optional<Lowering> lowering = loweringOf(decoded.effect)) {
        add(i, *lowering, describeInstruction(program_, i));
      } else if (movesData(decoded)) {
        plain_.push_back(i);
      }
    }
    addPlain();
    sortBySource();
    return std::move(result_);
  }

 private:
  struct Source { std::string api; SourceStack stack; };

  Source sourceOf(std::uint32_t instr) const {
    const SourceStack& stack = program_.stackOf(instr);
    const std::optional<ApiFrame> api = findApi(stack);
    if (!api || api->frame + 1 >= stack.size()) {
      const bool is_asm = program_.function.instructions[instr].is_inline_asm;
      SourceStack own = stack;
      if (own.empty())
        own.push_back({{program_.module->file, program_.function.instructions[instr].ptx_line, 0}, ""});
      return {is_asm ? "inline PTX" : "PTX", std::move(own)};
    }
    return {api->name, SourceStack(stack.begin() + static_cast<std::ptrdiff_t>(api->frame) + 1, stack.end())};
  }

  bool fillsShared(std::uint32_t instr, Lowering lowering) const {
    if (lowering == Lowering::kCpAsync) return true;
    const ptx::Space destination = program_.function.instructions[instr].decoded->space();
    const bool is_bulk = lowering == Lowering::kBulk || lowering == Lowering::kTensor;
    return is_bulk && (destination == ptx::Space::kShared || destination == ptx::Space::kSharedCluster);
  }

  static CallKey keyOf(const Source& source) {
    CallKey key{source.api, {}};
    for (const SourceFrame& frame : source.stack)
      std::get<1>(key).emplace_back(frame.pos.file, frame.pos.line, frame.pos.column);
    return key;
  }

  void add(std::uint32_t instr, Lowering lowering, std::string text) {
    Source source = sourceOf(instr);
    const auto [known, is_new] = by_source_.try_emplace(keyOf(source), static_cast<std::uint32_t>(result_.calls.size()));
    if (is_new) {
      Call call;
      call.api = std::move(source.api);
      call.stack = std::move(source.stack);
      result_.calls.push_back(std::move(call));
    }
    std::vector<Instruction>& places = result_.calls[known->second].instructions;
    auto place = std::find_if(places.begin(), places.end(), [&](const Instruction& i) { return i.text == text; });
    if (place == places.end())
      place = places.insert(places.end(), {lowering, std::move(text), fillsShared(instr, lowering), 0, 0});
    ++place->copies;
    result_.call_of[instr] = known->second;
    result_.place_of[instr] = static_cast<std::uint32_t>(place - places.begin());
  }

  // What an interface for copies does beside its copies (reading the state of a pipeline) is none: only a call that
  // stores into what may be shared memory moves data itself.
  void addPlain() {
    std::map<CallKey, std::vector<std::uint32_t>> groups;
    for (const std::uint32_t instr : plain_) {
      const SourceStack& stack = program_.stackOf(instr);
      const std::optional<ApiFrame> api = findApi(stack);
      if (api && api->frame + 1 < stack.size()) groups[keyOf(sourceOf(instr))].push_back(instr);
    }
    for (const auto& [key, instrs] : groups) {
      const bool stores = std::any_of(instrs.begin(), instrs.end(), [&](std::uint32_t i) {
        return mayStoreShared(*program_.function.instructions[i].decoded);
      });
      if (!stores) continue;
      for (const std::uint32_t instr : instrs) add(instr, Lowering::kPlain, describeInstruction(program_, instr));
    }
  }

  void sortBySource() {
    std::vector<std::uint32_t> order(result_.calls.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    // The outermost frame lies in the kernel; calls of one line stay in the order of the code.
    const auto lineOf = [&](std::uint32_t call) {
      const SourceStack& stack = result_.calls[call].stack;
      return stack.empty() ? 0u : stack.back().pos.line;
    };
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return lineOf(a) < lineOf(b); });
    std::vector<Call> calls;
    std::vector<std::uint32_t> place(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      calls.push_back(std::move(result_.calls[order[i]]));
    }
    result_.calls = std::move(calls);
    for (std::uint32_t& call : result_.call_of)
      if (call != kNoCall) call = place[call];
  }

  const machine::Program& program_;
  Lowered result_;
  std::map<CallKey, std::uint32_t> by_source_;
  std::vector<std::uint32_t> plain_;
};

}  // namespace

std::string_view toString(Lowering lowering) {
  switch (lowering) {
    case Lowering::kCpAsync: return "cp.async";
    case Lowering::kBulk: return "bulk";
    case Lowering::kTensor: return "tensor";
    case Lowering::kAsyncStore: return "st.async";
    case Lowering::kMatrix: return "matrix";
    case Lowering::kPlain: break;
  }
  return "plain";
}

Lowered lowerCalls(const machine::Program& program) { return Lowerer(program).run(); }

std::string describeInstruction(const machine::Program& program, std::uint32_t index) {
  const ptx::Instruction& instr = program.function.instructions[index];
  const ptx::Decoded& decoded = *instr.decoded;
  if (std::holds_alternative<ptx::CpAsync>(decoded.effect)) return describeCpAsync(program, instr);
  if (movesData(decoded)) {
    const char* const name = std::holds_alternative<ptx::Load>(decoded.effect) ? "load" : "store";
    return std::string(name) + ", " + bytesText(accessBytes(decoded));
  }
  constexpr std::size_t kBulkSize = 2;
  const bool has_size = std::holds_alternative<ptx::BulkCopy>(decoded.effect) && instr.operands.size() > kBulkSize &&
                        instr.operands[kBulkSize].kind == Operand::Kind::kImmediate;
  return has_size ? decoded.opcode + ", " + bytesText(static_cast<std::uint64_t>(instr.operands[kBulkSize].imm))
                  : decoded.opcode;
}

std::string reasonForPlain(const machine::Program& program, const Lowered& lowered, std::uint32_t call) {
  constexpr unsigned kFirstSm = 80, kLeastCopy = 4;
  if (program.module->sm < kFirstSm) return "the target " + program.module->target + " has no asynchronous copies";
  unsigned widest = 0;
  for (std::uint32_t i = 0; i < lowered.call_of.size(); ++i) {
    if (lowered.call_of[i] != call) continue;
    const ptx::Decoded& decoded = *program.function.instructions[i].decoded;
    if (mayStoreShared(decoded)) widest = std::max(widest, accessBytes(decoded));
  }
  if (widest < kLeastCopy)
    return "its data is known to be aligned to " + bytesText(std::max(widest, 1u)) +
           " only, and cp.async copies 4, 8 or 16 bytes that are aligned to as much";
  return "its type, size or spaces are none that the interface copies asynchronously";
}

}  // namespace handoff::audit
