// SPDX-License-Identifier: Apache-2.0
// SVG as text.
#include "analyzer/report/svg.h"

#include <llvm/Support/JSON.h>

#include <array>
#include <cmath>
#include <cstdio>

#include "analyzer/report/page_parts.h"

namespace handoff::report {

std::string escapeMarkup(std::string_view text) {
  const llvm::StringRef ref(text.data(), text.size());
  const std::string valid = llvm::json::isUTF8(ref) ? ref.str() : llvm::json::fixUTF8(ref);
  std::string result;
  for (const char c : valid) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else if (c == '\'')
      result += "&#39;";
    else if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f)
      result += "\xef\xbf\xbd";  // not allowed in markup
    else
      result += c;
  }
  return result;
}

Svg::Value::Value(double number) {
  std::array<char, 40> buffer{};
  const double rounded = std::round(number * 10) / 10;
  std::snprintf(buffer.data(), buffer.size(), rounded == std::floor(rounded) ? "%.0f" : "%.1f", rounded);
  text_ = buffer.data();
}

Svg::Svg(double width, double height, std::string_view label) {
  open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
               {"viewBox", "0 0 " + Value(width).text() + " " + Value(height).text()},
               {"width", width},
               {"height", height},
               {"role", "img"},
               {"aria-label", std::string(label)},
               {"class", "picture"}});
}

void Svg::begin(std::string_view name, Attributes attributes) {
  text_ += "<" + std::string(name);
  for (const auto& [key, value] : attributes)
    text_ += " " + std::string(key) + "=\"" + escapeMarkup(value.text()) + "\"";
}

void Svg::open(std::string_view name, Attributes attributes) {
  begin(name, attributes);
  text_ += ">\n";
}

void Svg::close(std::string_view name) { text_ += "</" + std::string(name) + ">\n"; }

void Svg::element(std::string_view name, Attributes attributes, std::string_view tooltip) {
  begin(name, attributes);
  if (tooltip.empty()) {
    text_ += "/>\n";
  } else {
    text_ += "><title>" + escapeMarkup(tooltip) + "</title></" + std::string(name) + ">\n";
  }
}

void Svg::text(double x, double y, std::string_view text, Attributes attributes) {
  begin("text", {{"x", x}, {"y", y}});
  for (const auto& [key, value] : attributes)
    text_ += " " + std::string(key) + "=\"" + escapeMarkup(value.text()) + "\"";
  text_ += ">" + escapeMarkup(text) + "</text>\n";
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view css_class) {
  element("line", {{"x1", x1}, {"y1", y1}, {"x2", x2}, {"y2", y2}, {"class", std::string(css_class)}});
}

void Svg::rect(double x, double y, double width, double height, std::string_view css_class,
               std::string_view tooltip) {
  element("rect",
          {{"x", x},
           {"y", y},
           {"width", width},
           {"height", height},
           {"rx", 2.0},
           {"class", std::string(css_class)}},
          tooltip);
}

void Svg::arrow(double x1, double y1, double x2, double y2, std::string_view css_class, double gap) {
  const double length = std::hypot(x2 - x1, y2 - y1);
  if (length < 1) return;
  constexpr double kHead = 7, kHalf = 3.5;
  const double dx = (x2 - x1) / length, dy = (y2 - y1) / length;
  const double tip_x = x2 - dx * gap, tip_y = y2 - dy * gap;
  const double base_x = tip_x - dx * kHead, base_y = tip_y - dy * kHead;
  line(x1, y1, base_x, base_y, std::string(css_class) + " edge");
  const auto point = [](double x, double y) { return Value(x).text() + "," + Value(y).text() + " "; };
  element("polygon", {{"points", point(tip_x, tip_y) + point(base_x - dy * kHalf, base_y + dx * kHalf) +
                                     point(base_x + dy * kHalf, base_y - dx * kHalf)},
                      {"class", std::string(css_class) + " head"}});
}

std::string Svg::take() {
  close("svg");
  return std::move(text_);
}

std::string_view svgDefinitions() {
  return "<svg width=\"0\" height=\"0\" class=\"definitions\" aria-hidden=\"true\"><defs>"
         "<pattern id=\"filling\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
         "patternTransform=\"rotate(45)\">"
         "<rect width=\"6\" height=\"6\" class=\"ground\"/><rect width=\"2\" height=\"6\" "
         "class=\"stripe\"/></pattern>"
         "<pattern id=\"stale\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
         "patternTransform=\"rotate(-45)\">"
         "<rect width=\"5\" height=\"5\" class=\"stale-ground\"/><rect width=\"2\" height=\"5\" "
         "class=\"stale-stripe\"/></pattern>"
         "</defs></svg>\n";
}

std::string_view svgStyle() { return pagePart("picture.css"); }

double textWidth(std::string_view text) {
  double width = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) == 0x80) continue;  // goes on with the character before
    if (byte >= 0xc0)
      width += 11;
    else if (std::string_view("iljtfr.,:;'|!()[] ").find(c) != std::string_view::npos)
      width += 4.4;
    else if (std::string_view("mwMW@%").find(c) != std::string_view::npos)
      width += 10.2;
    else
      width += c >= 'A' && c <= 'Z' ? 8.2 : 6.9;
  }
  return width;
}

}  // namespace handoff::report
