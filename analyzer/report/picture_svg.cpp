// SPDX-License-Identifier: Apache-2.0
// A column is as wide as its widest label, so that labels never meet. Labels stand away from the lanes in the
// middle, where the arrows are.
#include "analyzer/report/picture_svg.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analyzer/report/picture_classes.h"
#include "analyzer/report/svg.h"

namespace handoff::report {

using diagnose::Picture;
using Kind = Picture::LaneKind;

namespace {

// All in units of the drawing, which are pixels of a page.
constexpr double kMargin = 10, kGapWidth = 64, kMinColumn = 46, kLine = 12.5;
constexpr double kDot = 9, kBar = 16, kBarPitch = 20, kSlot = 20, kSlotPitch = 25, kHeader = 20, kBand = 32;
constexpr double kLaneHeight = 34, kWanted = 900, kMaxStretch = 46;
constexpr double kCompactColumns = 980, kCompactMin = 9, kCompactMax = 38, kTick = 3.5, kCount = 5;

std::vector<std::string> linesOf(const std::string& label) {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from <= label.size();) {
    const std::size_t end = std::min(label.find('\n', from), label.size());
    lines.push_back(label.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

/// Where a lane lies.
struct Row {
  double top = 0, axis = 0, bottom = 0;
  double first_bar = 0;
  bool has_labels_above = true;
};

class Drawing {
 public:
  Drawing(const Picture& picture, std::string_view label)
      : picture_(picture),
        is_compact_(!picture.phases.empty()),
        width_(layOut()),
        svg_(width_, height_, label) {}

  std::string draw() {
    drawColumns();
    drawGaps();
    drawPhases();
    for (std::size_t lane = 0; lane < picture_.lanes.size(); ++lane) drawLane(lane);
    drawSpans();
    if (is_compact_) drawUse();
    for (std::size_t slot = 0; slot < picture_.slots.size(); ++slot) drawSlot(slot);
    for (const Picture::Edge& edge : picture_.edges)
      if (edge.kind != Picture::Edge::Kind::kMissing) drawEdge(edge);
    for (std::size_t i = 0; i < picture_.marks.size(); ++i)
      is_compact_ ? drawTick(picture_.marks[i]) : drawMark(i);
    for (const Picture::Edge& edge : picture_.edges)
      if (edge.kind == Picture::Edge::Kind::kMissing) drawMissing(edge);
    return svg_.take();
  }

 private:
  // --- layout ---

  /// The width of the drawing; sets everything else.
  double layOut() {
    names_ = nameWidth();
    setColumns();
    header_ = (picture_.phases.empty() ? 0 : kHeader) + (picture_.gaps.empty() ? 0 : kHeader);
    double y = kMargin + header_;
    rows_.resize(picture_.lanes.size());
    packSpans();
    for (std::size_t lane = 0; lane < rows_.size(); ++lane) {
      if (needsBand(lane, /*below=*/false)) y += kBand;
      y = setRow(lane, y);
      if (needsBand(lane, /*below=*/true)) y += kBand;
    }
    if (is_compact_) {
      count_top_ = y + 6;
      y = count_top_ + kCount * static_cast<double>(mostUsed()) + 10;
    }
    slots_top_ = y + (picture_.slots.empty() ? 0 : 10);
    height_ = slots_top_ + kSlotPitch * static_cast<double>(picture_.slots.size()) + kMargin;
    return right_ + kMargin;
  }

  /// Of names and roles at the left.
  double nameWidth() const {
    constexpr double kLeast = 150, kBold = 1.12, kApart = 24;
    double width = kLeast;
    for (const Picture::Lane& lane : picture_.lanes) {
      const double name = textWidth(lane.name) * kBold, role = textWidth(lane.role);
      width = std::max(width, (is_compact_ ? name + role + kApart : std::max(name, role)) + kApart);
    }
    for (const Picture::Slot& slot : picture_.slots)
      width = std::max(width, textWidth(slot.name) * kBold + kApart);
    return width;
  }

  void setColumns() {
    std::vector<double> widths(picture_.end, kMinColumn);
    if (is_compact_) {
      const double width =
          std::clamp(kCompactColumns / std::max(1.0, double(picture_.end)), kCompactMin, kCompactMax);
      std::fill(widths.begin(), widths.end(), width);
    } else {
      for (const Picture::Mark& mark : picture_.marks)
        for (const std::string& line : linesOf(mark.label))
          widths[mark.at] = std::max(widths[mark.at], textWidth(line) + 10);
    }
    if (!is_compact_) stretch(widths);
    double x = names_;
    for (Picture::Time column = 0; column <= picture_.end; ++column) {
      for (const Picture::Gap& gap : picture_.gaps)
        if (gap.at == column) x += std::max(kGapWidth, textWidth(gap.text) + 24);
      lefts_.push_back(x);
      if (column < picture_.end) x += widths[column];
      rights_.push_back(x);
    }
    right_ = x;
    for (const Picture::Edge& edge : picture_.edges)
      if (edge.kind == Picture::Edge::Kind::kMissing)
        right_ = std::max(right_, names_ + wordsWidth(edge.text));
    rights_.back() = std::max(rights_.back(), lefts_.back());
  }

  void stretch(std::vector<double>& widths) const {
    double total = names_;
    for (const double width : widths) total += width;
    if (widths.empty() || total >= kWanted) return;
    const double more = std::min((kWanted - total) / static_cast<double>(widths.size()), kMaxStretch);
    for (double& width : widths) width += more;
  }

  double left(Picture::Time column) const { return lefts_[std::min<std::size_t>(column, lefts_.size() - 1)]; }
  double center(Picture::Time column) const {
    const std::size_t at = std::min<std::size_t>(column, lefts_.size() - 1);
    return (lefts_[at] + rights_[at]) / 2;
  }

  // Operations that are in flight together lie above each other.
  void packSpans() {
    packed_.resize(picture_.spans.size());
    heights_.assign(picture_.lanes.size(), 1);
    std::vector<std::vector<Picture::Time>> ends(picture_.lanes.size());
    for (std::size_t i = 0; i < picture_.spans.size(); ++i) {
      const Picture::Span& span = picture_.spans[i];
      std::vector<Picture::Time>& taken = ends[span.lane];
      std::size_t row = 0;
      while (row < taken.size() && taken[row] > span.from) ++row;
      if (row == taken.size()) taken.push_back(0);
      taken[row] = std::max(span.to, span.from + 1);
      packed_[i] = row;
      heights_[span.lane] = std::max(heights_[span.lane], taken.size());
    }
  }

  std::size_t labelLines(std::size_t lane) const {
    std::size_t lines = 0;
    for (const Picture::Mark& mark : picture_.marks)
      if (mark.lane == lane && !mark.label.empty()) lines = std::max(lines, linesOf(mark.label).size());
    return lines;
  }

  double setRow(std::size_t lane, double y) {
    Row& row = rows_[lane];
    row.top = y;
    if (is_compact_) {
      row.axis = y + 10;
      return row.bottom = y + 20;
    }
    if (picture_.lanes[lane].kind != Kind::kThread) {
      const double bars = kBarPitch * static_cast<double>(heights_[lane]);
      row.bottom = y + std::max(bars + 6, kLaneHeight);
      row.first_bar = (row.top + row.bottom - bars) / 2 + 2;
      row.axis = (row.top + row.bottom) / 2;
      return row.bottom;
    }
    const double labels = kLine * static_cast<double>(labelLines(lane)) + 5;
    row.has_labels_above = lane == 0 || lane + 1 != rows_.size();
    row.axis = y + kDot + (row.has_labels_above ? 4 + labels : 10);
    const double below = row.has_labels_above ? 0 : labels;
    return row.bottom = std::max(row.axis + kDot + 6 + below, y + kLaneHeight);
  }

  // Room for the words on the missing arrow, beside the lane that it leads to.
  bool needsBand(std::size_t lane, bool below) const {
    return std::any_of(picture_.edges.begin(), picture_.edges.end(), [&](const Picture::Edge& edge) {
      return edge.kind == Picture::Edge::Kind::kMissing && edge.to.lane == lane &&
             below == (edge.from.lane >= edge.to.lane);
    });
  }

  double spanY(std::size_t span) const {
    return rows_[picture_.spans[span].lane].first_bar + kBarPitch * static_cast<double>(packed_[span]);
  }

  /// Where an arrow meets a lane: a step's dot, or a bar. Of several bars that of the finding if
  /// `prefers_culprit`, one that begins or ends there, or the nearest to the other end of the arrow.
  double laneY(Picture::Point point, bool from_above, bool prefers_culprit) const {
    const Row& row = rows_[point.lane];
    if (picture_.lanes[point.lane].kind == Kind::kThread) return row.axis;
    std::vector<double> tops;
    int best = 0;
    for (std::size_t i = 0; i < picture_.spans.size(); ++i) {
      const Picture::Span& span = picture_.spans[i];
      if (span.lane != point.lane || point.at < span.from || span.to < point.at) continue;
      const bool is_border = span.from == point.at || span.to == point.at;
      const int rank = prefers_culprit && span.is_culprit ? 3 : is_border ? 2 : 1;
      if (rank > best) tops.clear();
      best = std::max(best, rank);
      if (rank == best) tops.push_back(spanY(i));
    }
    if (tops.empty()) return row.axis;
    const auto [least, most] = std::minmax_element(tops.begin(), tops.end());
    return from_above ? *least : *most + kBar;
  }

  // --- parts ---

  void drawColumns() {
    if (is_compact_) return;
    for (std::size_t i = 0; i < picture_.marks.size(); ++i) {
      const Picture::Time at = picture_.marks[i].at;
      svg_.element("rect", {{"x", left(at)},
                            {"y", kMargin / 2},
                            {"width", rights_[at] - left(at)},
                            {"height", height_ - kMargin},
                            {"class", "column"},
                            {"data-step", double(i + 1)}});
    }
  }

  void drawGaps() {
    for (const Picture::Gap& gap : picture_.gaps) {
      const double from = gap.at == 0 ? names_ : rights_[gap.at - 1], to = left(gap.at), x = (from + to) / 2;
      const double top = kMargin + header_;
      svg_.line(x - 4, top - 2, x - 4, height_ - kMargin, "gap");
      svg_.line(x + 4, top - 2, x + 4, height_ - kMargin, "gap");
      svg_.text(x, top - 8, "⋯ " + gap.text, {{"class", "muted middle"}});
    }
  }

  void drawPhases() {
    for (const Picture::Phase& phase : picture_.phases) {
      const double from = left(phase.from), to = phase.to == picture_.end ? right_ : left(phase.to);
      svg_.line(from, kMargin + kHeader - 4, from, height_ - kMargin, "phase");
      svg_.rect(from + 1, kMargin + kHeader - 5, std::max(1.0, to - from - 2), 3, "phase-bar", phase.name);
      const bool fits = textWidth(phase.name) + 4 <= to - from;
      if (fits) svg_.text((from + to) / 2, kMargin + kHeader - 9, phase.name, {{"class", "muted middle"}});
    }
  }

  void drawName(double y, std::string_view name, std::string_view role) {
    const bool is_single = role.empty();
    svg_.text(kMargin, y + (is_single ? 4 : -2), name, {{"class", "name"}});
    if (!is_single) svg_.text(kMargin, y + 11, role, {{"class", "muted"}});
  }

  void drawLane(std::size_t lane) {
    const Row& row = rows_[lane];
    const Picture::Lane& what = picture_.lanes[lane];
    if (is_compact_) {
      svg_.text(kMargin, row.axis + 4, what.name, {{"class", "name"}});
      svg_.text(names_ - 12, row.axis + 4, what.role, {{"class", "muted end"}});
    } else {
      const double middle = what.kind == Kind::kThread ? row.axis : (row.top + row.bottom) / 2;
      drawName(middle, what.name, what.role);
    }
    if (what.kind == Kind::kThread) svg_.line(names_, row.axis, right_, row.axis, "lane");
  }

  void drawSpans() {
    for (std::size_t i = 0; i < picture_.spans.size(); ++i) {
      const Picture::Span& span = picture_.spans[i];
      const Kind kind = picture_.lanes[span.lane].kind;
      const bool is_phase = kind == Kind::kBarrier;
      const double from = is_phase ? (span.from == 0 ? names_ : center(span.from)) : center(span.from);
      const double to = std::max(span.to >= picture_.end ? right_ : center(span.to), from + 8);
      std::string css = is_phase ? "phase-span" : kind == Kind::kTensorCore ? "flight tensor" : "flight";
      if (span.is_culprit) css += " culprit";
      if (span.is_open) css += " open";
      const double y = spanY(i);
      svg_.rect(from, y, to - from - (is_phase ? 1 : 0), kBar, css, span.text);
      if (textWidth(span.label) + 10 <= to - from)
        svg_.text(from + 6, y + 12, span.label, {{"class", "on-bar"}});
    }
  }

  std::size_t usedAt(Picture::Time at) const {
    std::size_t count = 0;
    for (const Picture::Slot& slot : picture_.slots)
      for (const Picture::SlotSpan& span : slot.spans)
        count += span.state != Picture::SlotState::kFree && span.from <= at && at < span.to ? 1 : 0;
    return count;
  }
  std::size_t mostUsed() const {
    std::size_t most = 1;
    for (Picture::Time at = 0; at < picture_.end; ++at) most = std::max(most, usedAt(at));
    return most;
  }

  void drawUse() {
    const std::size_t most = mostUsed();
    const double base = count_top_ + kCount * static_cast<double>(most) + 4;
    svg_.text(kMargin, base - 2, "slots in use", {{"class", "name"}});
    svg_.text(names_ - 12, base - 2, "up to " + std::to_string(most), {{"class", "muted end"}});
    svg_.line(names_, base, right_, base, "lane");
    for (Picture::Time at = 0; at < picture_.end; ++at) {
      const std::size_t count = usedAt(at);
      const double height = kCount * static_cast<double>(count);
      if (count != 0)
        svg_.rect(left(at), base - height, rights_[at] - left(at), height, "count",
                  std::to_string(count) + " in use");
    }
  }

  void drawSlot(std::size_t index) {
    const Picture::Slot& slot = picture_.slots[index];
    const double y = slots_top_ + kSlotPitch * static_cast<double>(index);
    svg_.text(kMargin, y + 14, slot.name, {{"class", slot.is_culprit ? "name culprit" : "name"}});
    for (const Picture::SlotSpan& span : slot.spans) {
      const double from = left(span.from), to = span.to >= picture_.end ? right_ : left(span.to);
      svg_.rect(from, y, to - from, kSlot, stateClass(span.state), span.text);
      const std::string text = is_compact_ || span.label.empty() ? span.label : "tile " + span.label;
      const bool fits = !text.empty() && textWidth(text) + 3 <= to - from;
      if (fits) svg_.text((from + to) / 2, y + 14, text, {{"class", "on-bar middle"}});
      if (span.state == Picture::SlotState::kStale) svg_.rect(from, y - 1.5, to - from, kSlot + 3, "outline");
    }
  }

  void drawEdge(const Picture::Edge& edge) {
    const bool is_down = edge.to.lane >= edge.from.lane;
    const double x1 = center(edge.from.at), x2 = center(edge.to.at);
    double y1 = laneY(edge.from, !is_down, /*prefers_culprit=*/false);
    double y2 = laneY(edge.to, is_down, /*prefers_culprit=*/false);
    const bool from_dot = picture_.lanes[edge.from.lane].kind == Kind::kThread,
               to_dot = picture_.lanes[edge.to.lane].kind == Kind::kThread;
    if (from_dot) y1 += is_down ? kDot : -kDot;
    if (edge.kind == Picture::Edge::Kind::kBarrier && !edge.text.empty()) {
      if (to_dot) y2 += is_down ? -kDot : kDot;
      svg_.line(x1, y1, x2, y2, "barrier edge");
      return;
    }
    svg_.arrow(x1, y1, x2, y2, edgeClass(edge.kind), to_dot ? kDot + 1 : 1);
  }

  // Above everything else, with its words in a band of their own.
  void drawMissing(const Picture::Edge& edge) {
    const bool is_down = edge.to.lane > edge.from.lane;
    const bool is_same = edge.to.lane == edge.from.lane;
    // Beside whatever else happens at the same moment.
    const double aside = edge.from.at == edge.to.at && !is_same ? 5 : 0;
    const double x1 = center(edge.from.at) + aside, x2 = center(edge.to.at) + aside;
    const Row& target = rows_[edge.to.lane];
    double y1 = laneY(edge.from, !is_down, /*prefers_culprit=*/true);
    if (picture_.lanes[edge.from.lane].kind == Kind::kThread) y1 += is_down || is_same ? kDot : -kDot;
    const double band = is_down ? target.top - kBand / 2 : target.bottom + kBand / 2;
    svg_.open("g", {{"class", "missing-edge"}});
    if (is_same) {
      svg_.element("path",
                   {{"d", "M" + Svg::Value(x1).text() + " " + Svg::Value(target.axis + kDot).text() + " V" +
                              Svg::Value(target.bottom + 3).text() + " H" + Svg::Value(x2).text()},
                    {"class", "missing edge"}});
      svg_.arrow(x2, target.bottom + 3, x2, target.axis, "missing", kDot + 1);
    } else {
      svg_.arrow(x1, y1, x2, target.axis, "missing", kDot + 1);
    }
    const double part = is_down ? (band - y1) / std::max(1.0, target.axis - y1)
                                : (y1 - band) / std::max(1.0, y1 - target.axis);
    const double at = is_same ? (x1 + x2) / 2 : x1 + (x2 - x1) * std::clamp(part, 0.0, 1.0);
    drawWords(at, band, edge.text);
    svg_.close("g");
  }

  static double wordsWidth(const std::string& words) { return textWidth(words) * 1.08 + 14; }

  void drawWords(double x, double y, const std::string& words) {
    const double width = wordsWidth(words);
    const double from = std::max(names_, std::min(x - width / 2, right_ - width));
    svg_.rect(from, y - 9, width, 18, "words");
    svg_.text(from + width / 2, y + 4, words, {{"class", "missing-words middle"}});
  }

  void drawTick(const Picture::Mark& mark) {
    svg_.element("circle",
                 {{"cx", left(mark.at)},
                  {"cy", rows_[mark.lane].axis},
                  {"r", kTick},
                  {"class", "dot " + std::string(markClass(mark.kind))}},
                 mark.text);
  }

  void drawMark(std::size_t index) {
    const Picture::Mark& mark = picture_.marks[index];
    const Row& row = rows_[mark.lane];
    const double x = center(mark.at);
    const std::string number = std::to_string(index + 1);
    svg_.open("g",
              {{"class", std::string("step ") + (mark.is_culprit ? "culprit" : "")}, {"data-step", number}});
    svg_.element(
        "circle",
        {{"cx", x}, {"cy", row.axis}, {"r", kDot}, {"class", "dot " + std::string(markClass(mark.kind))}},
        mark.text);
    svg_.text(x, row.axis + 4, number, {{"class", "number middle"}});
    const std::vector<std::string> lines = linesOf(mark.label);
    double y = row.has_labels_above ? row.axis - kDot - 6 - kLine * static_cast<double>(lines.size() - 1)
                                    : row.axis + kDot + kLine;
    for (const std::string& line : lines) {
      svg_.text(x, y, line, {{"class", "label middle"}});
      y += kLine;
    }
    svg_.close("g");
  }

  const Picture& picture_;
  const bool is_compact_;  ///< a whole kernel: many narrow columns, and no words in them
  std::vector<double> lefts_, rights_;
  double names_ = 0, header_ = 0, right_ = 0, height_ = 0, slots_top_ = 0, count_top_ = 0;
  std::vector<Row> rows_;
  std::vector<std::size_t> packed_, heights_;
  const double width_;  ///< of the drawing; after all that its layout sets
  Svg svg_;
};

}  // namespace

std::string drawPicture(const Picture& picture, std::string_view label) {
  return Drawing(picture, label).draw();
}

}  // namespace handoff::report
