// SPDX-License-Identifier: Apache-2.0
#include "analyzer/explore/pointer_use.h"

#include <optional>
#include <set>
#include <span>
#include <string>
#include <variant>

#include "analyzer/machine/pointer_flow.h"

namespace handoff::explore {

namespace {

using machine::Op;

/// The parts of an operand that are no addresses. A tensor copy names its map by one, ahead of the coordinates.
std::span<const machine::Arg> valuesOf(const machine::Program& program, const Op& op, const machine::Arg& arg) {
  if (arg.kind != machine::Arg::Kind::kVector) return {&arg, 1};
  const std::span<const machine::Arg> parts = std::span(program.args).subspan(arg.first, arg.count);
  const bool is_map = std::holds_alternative<ptx::TensorCopy>(op.decoded->effect) && !parts.empty() &&
                      parts.front().kind == machine::Arg::Kind::kAddress;
  return is_map ? parts.subspan(1) : parts;
}

/// The pointer that an instruction uses for something else than an address.
const std::string* usedBy(const machine::Program& program, const machine::PointerFlow& flow, const Scenario& scenario, const Op& op) {
  const auto args = program.argsOf(op);
  const auto* alu = std::get_if<ptx::Alu>(&op.decoded->effect);
  for (std::size_t i = op.dst_count; i < args.size(); ++i) {
    const bool is_value = args[i].kind == machine::Arg::Kind::kSlot || args[i].kind == machine::Arg::Kind::kVector;
    if (!is_value || (alu != nullptr && machine::PointerFlow::isBase(*alu, i - op.dst_count))) continue;
    for (const machine::Arg& value : valuesOf(program, op, args[i])) {
      for (const machine::PointerOrigin origin : flow.of(value)) {
        if (const std::string* const name = bufferOf(scenario, origin)) return name;
      }
    }
  }
  return nullptr;
}

}  // namespace

std::vector<std::uint64_t> nullablePointers(const machine::Program& program, const Scenario& scenario) {
  std::set<std::uint64_t> found;
  for (const machine::NullCheck& check : program.null_checks) {
    if (bufferOf(scenario, check.parameter) != nullptr) found.insert(check.parameter);
  }
  return {found.begin(), found.end()};
}

std::vector<machine::Program::Limit> pointerUses(const machine::Program& program, const Scenario& scenario) {
  const machine::PointerFlow flow(program);
  std::vector<machine::Program::Limit> limits;
  for (const Op& op : program.ops) {
    if (op.is_null_check) continue;
    const std::string* const name = usedBy(program, flow, scenario, op);
    if (name == nullptr) continue;
    limits.push_back({"what happens here goes by the pointer '" + *name + "' itself, which is assumed to lead to a buffer of its own", op.instr});
  }
  return limits;
}

}  // namespace handoff::explore
