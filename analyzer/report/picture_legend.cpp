// SPDX-License-Identifier: Apache-2.0
// What colours and lines mean, as far as they occur.
#include <set>
#include <string>
#include <utility>

#include "analyzer/report/picture_classes.h"
#include "analyzer/report/picture_svg.h"

namespace handoff::report {

using diagnose::Picture;

std::string legendOf(const Picture& picture) {
  std::string items;
  const auto add = [&](std::string_view css, std::string_view text) {
    items += "<li><svg width=\"26\" height=\"14\" aria-hidden=\"true\">" + std::string(css) + "</svg>" +
             std::string(text) + "</li>";
  };
  const auto state = [](std::string_view css) {
    return "<rect x=\"1\" y=\"1\" width=\"24\" height=\"12\" rx=\"2\" class=\"" + std::string(css) + "\"/>";
  };
  const auto edge = [](std::string_view css) {
    return "<line x1=\"2\" y1=\"7\" x2=\"24\" y2=\"7\" class=\"" + std::string(css) + " edge\"/>";
  };
  std::set<Picture::SlotState> states;
  for (const Picture::Slot& slot : picture.slots)
    for (const Picture::SlotSpan& span : slot.spans) states.insert(span.state);
  static constexpr std::pair<Picture::SlotState, std::string_view> kStates[] = {
      {Picture::SlotState::kFree, "free"},
      {Picture::SlotState::kFilling, "being filled"},
      {Picture::SlotState::kReady, "full, not read"},
      {Picture::SlotState::kReading, "being read"},
      {Picture::SlotState::kStale, "used out of turn"}};
  for (const auto& [known, text] : kStates)
    if (states.contains(known)) add(state(stateClass(known)), text);
  std::set<Picture::Edge::Kind> edges;
  for (const Picture::Edge& one : picture.edges) edges.insert(one.kind);
  static constexpr std::pair<Picture::Edge::Kind, std::string_view> kEdges[] = {
      {Picture::Edge::Kind::kIssue, "issues"},
      {Picture::Edge::Kind::kCompletion, "lets a wait go on"},
      {Picture::Edge::Kind::kArrival, "arrives"},
      {Picture::Edge::Kind::kBarrier, "barrier: each waits for the other"},
      {Picture::Edge::Kind::kMissing, "the order that is missing"}};
  for (const auto& [known, text] : kEdges)
    if (edges.contains(known)) add(edge(edgeClass(known)), text);
  return "<ul class=\"legend\">" + items + "</ul>\n";
}

}  // namespace handoff::report
