// SPDX-License-Identifier: Apache-2.0
// The timeline as a drawing and as a table.
#include "analyzer/lab/page.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "analyzer/support/check.h"

namespace handoff::lab {

namespace {

// Of the drawing, in its own units.
constexpr double kNames = 90, kWidth = 620, kTop = 34, kLane = 34, kBar = 22;

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&') result += "&amp;";
    else if (c == '<') result += "&lt;";
    else if (c == '>') result += "&gt;";
    else if (c == '"') result += "&quot;";
    else result += c;
  }
  return result;
}

std::string number(double value) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.1f", value);
  return buffer.data();
}

std::string number(std::uint64_t value) { return std::to_string(value); }

class Drawing {
 public:
  explicit Drawing(const Timeline& timeline) : timeline_(timeline) {}

  std::string draw() {
    const double height = kTop + kLane * static_cast<double>(timeline_.slots.size()) + 8;
    text_ = "<svg viewBox=\"0 0 " + number(kNames + kWidth + 10) + " " + number(height) +
            "\" role=\"img\" aria-label=\"Slots over time; the table below has the numbers\">\n";
    drawPhase("fill", 0, timeline_.filled, height);
    drawPhase("steady", timeline_.filled, timeline_.drained_from, height);
    drawPhase("drain", timeline_.drained_from, timeline_.end, height);
    for (std::size_t i = 0; i < timeline_.slots.size(); ++i) drawSlot(timeline_.slots[i], kTop + kLane * static_cast<double>(i));
    return text_ + "</svg>\n";
  }

 private:
  double x(std::uint64_t time) const {
    return kNames + kWidth * static_cast<double>(time) / static_cast<double>(std::max<std::uint64_t>(timeline_.end, 1));
  }

  void drawPhase(const char* name, std::uint64_t from, std::uint64_t to, double height) {
    if (from == to) return;
    text_ += "<line class=\"phase\" x1=\"" + number(x(to)) + "\" x2=\"" + number(x(to)) + "\" y1=\"20\" y2=\"" +
             number(height) + "\"/>\n<text x=\"" + number((x(from) + x(to)) / 2) +
             "\" y=\"14\" text-anchor=\"middle\">" + name + "</text>\n";
  }

  void drawSlot(const Slot& slot, double y) {
    text_ += "<text x=\"0\" y=\"" + number(y + kBar * 0.7) + "\">" + escaped(slot.name) + "</text>\n<line class=\"lane\" x1=\"" +
             number(kNames) + "\" x2=\"" + number(kNames + kWidth) + "\" y1=\"" + number(y + kBar / 2) + "\" y2=\"" +
             number(y + kBar / 2) + "\"/>\n";
    for (const Tile& tile : slot.tiles) {
      drawBar("flight", tile.number, "on its way", tile.issued, tile.waited, y);
      drawBar("use", tile.number, "in use", tile.waited, tile.released, y);
    }
  }

  void drawBar(const char* kind, std::uint32_t tile, const char* what, std::uint64_t from, std::uint64_t to, double y) {
    const double width = std::max(1.0, x(to) - x(from));
    text_ += "<rect class=\"" + std::string(kind) + "\" x=\"" + number(x(from)) + "\" y=\"" + number(y) + "\" width=\"" +
             number(width) + "\" height=\"" + number(kBar) + "\"><title>tile " + number(std::uint64_t{tile}) + " " + what +
             ": " + number(from) + " to " + number(to) + "</title></rect>\n";
    constexpr double kRoomForNumber = 16;
    if (width < kRoomForNumber) return;
    text_ += "<text class=\"number\" x=\"" + number(x(from) + width / 2) + "\" y=\"" + number(y + kBar * 0.7) + "\">" +
             number(std::uint64_t{tile}) + "</text>\n";
  }

  const Timeline& timeline_;
  std::string text_;
};

std::string tableOf(const Timeline& timeline) {
  std::string text =
      "<details><summary>The numbers</summary>\n<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">Slot</th>"
      "<th scope=\"col\">Tile</th><th scope=\"col\">Issued</th><th scope=\"col\">Waited for</th>"
      "<th scope=\"col\">Last read</th></tr></thead>\n<tbody>\n";
  for (const Slot& slot : timeline.slots)
    for (const Tile& tile : slot.tiles)
      text += "<tr><td>" + escaped(slot.name) + "</td><td>" + number(std::uint64_t{tile.number}) + "</td><td>" +
              number(tile.issued) + "</td><td>" + number(tile.waited) + "</td><td>" + number(tile.released) + "</td></tr>\n";
  return text + "</tbody>\n</table></div></details>\n";
}

}  // namespace

std::string renderPage(const Timeline& timeline) {
  const std::string slots = std::to_string(timeline.slots.size()) + (timeline.slots.size() == 1 ? " slot" : " slots");
  std::string figure = "<p><code>" + escaped(timeline.kernel) + "</code> in <code>" + escaped(timeline.file) + "</code>, " + slots +
                       "; launch <code>" + escaped(timeline.launch) + "</code>.</p>\n";
  figure += "<p><span class=\"key flight\"></span>issued, not yet waited for; <span class=\"key use\"></span>waited for, until its "
            "last read. The axis counts instructions of warp " + std::to_string(timeline.warp) +
            " on the analyzer's schedule: an order, and no time.</p>\n";
  figure += "<div class=\"wide\">\n" + Drawing(timeline).draw() + "</div>\n";
  figure += "<p><strong>Fill</strong>, up to " + number(timeline.filled) +
            ": tiles are issued, and none is used. <strong>Steady state</strong>, up to " + number(timeline.drained_from) +
            ": a tile is used while others are on their way. <strong>Drain</strong>, up to " + number(timeline.end) +
            ": nothing is issued any more.</p>\n";
  figure += tableOf(timeline);
  constexpr std::string_view kMark = "<!-- TIMELINE -->\n";
  std::string page(pageTemplate());
  const std::size_t at = page.find(kMark);
  HANDOFF_CHECK(at != std::string::npos);
  return page.replace(at, kMark.size(), figure);
}

}  // namespace handoff::lab
