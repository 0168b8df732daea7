// SPDX-License-Identifier: Apache-2.0
#include "analyzer/explore/input_words.h"

#include <algorithm>
#include <string>
#include <utility>

#include "analyzer/machine/address.h"
#include "analyzer/machine/read_only.h"

namespace handoff::explore {

Scenario withWords(Scenario scenario, const machine::Program& program, const std::map<std::uint64_t, machine::Word>& words) {
  scenario.launch.words = words;
  for (const auto& [address, word] : words) {
    const std::uint64_t place = address & ((std::uint64_t{1} << machine::kBufferShift) - 1);
    const std::string buffer = diagnose::bufferName(program, scenario.names, ptx::Space::kGlobal, address);
    const bool is_element = place % word.bytes == 0;
    const std::string name = buffer + (is_element ? "[" + std::to_string(place / word.bytes) + "]" : ", byte " + std::to_string(place));
    auto& known = scenario.names.parameters;
    const bool is_named = std::any_of(known.begin(), known.end(), [&](const auto& parameter) { return parameter.first == name; });
    if (!is_named) known.emplace_back(name, std::to_string(word.value));
  }
  return scenario;
}

std::size_t countWordConditions(const machine::PathLog& log) {
  std::set<machine::TermId> symbols, conditions;
  for (const machine::SymbolicInputs::Word& word : log.inputs().words) symbols.insert(word.symbol);
  if (symbols.empty()) return 0;
  for (const machine::Decision& decision : log.decisions) {
    const std::vector<machine::TermId>& asked = log.terms().symbolsOf(decision.condition);
    if (std::any_of(asked.begin(), asked.end(), [&](machine::TermId symbol) { return symbols.contains(symbol); })) {
      conditions.insert(decision.condition);
    }
  }
  return conditions.size();
}

machine::Instructions inputWords(const ptx::Module& module, const ptx::Function& kernel,
                                 const std::set<machine::Instructions>& wanted, const machine::Instructions& known) {
  machine::Instructions words = known, asked;
  for (const machine::Instructions& loads : wanted) asked.insert(loads.begin(), loads.end());
  if (asked.empty()) return words;
  const Result<machine::Program> whole = machine::buildWholeProgram(module, kernel);
  if (!whole) return words;
  const machine::Instructions possible = machine::readOnlyLoads(*whole, asked);
  for (const machine::Instructions& loads : wanted) {
    if (std::includes(possible.begin(), possible.end(), loads.begin(), loads.end())) words.insert(loads.begin(), loads.end());
  }
  return words;
}

}  // namespace handoff::explore
