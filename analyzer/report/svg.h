// SPDX-License-Identifier: Apache-2.0
// Writes SVG for a page. Colours come from classes (picture.css); all text is escaped.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace handoff::report {

/// Text for the content or an attribute of an element of HTML or SVG: valid UTF-8 without markup.
std::string escapeMarkup(std::string_view text);

class Svg {
 public:
  /// The value of an attribute: text, or a number with at most one decimal place.
  class Value {
   public:
    Value(const char* text) : text_(text) {}             // NOLINT(google-explicit-constructor)
    Value(std::string text) : text_(std::move(text)) {}  // NOLINT(google-explicit-constructor)
    Value(double number);                                // NOLINT(google-explicit-constructor)
    const std::string& text() const { return text_; }

   private:
    std::string text_;
  };
  using Attributes = std::initializer_list<std::pair<std::string_view, Value>>;

  /// `label` is what a screen reader says for the whole drawing.
  Svg(double width, double height, std::string_view label);

  void open(std::string_view name, Attributes attributes);
  void close(std::string_view name);
  /// With a tooltip, if there is one.
  void element(std::string_view name, Attributes attributes, std::string_view tooltip = "");
  void text(double x, double y, std::string_view text, Attributes attributes = {});
  void line(double x1, double y1, double x2, double y2, std::string_view css_class);
  void rect(double x, double y, double width, double height, std::string_view css_class,
            std::string_view tooltip = "");
  /// A straight arrow that ends `gap` before its target.
  void arrow(double x1, double y1, double x2, double y2, std::string_view css_class, double gap);

  std::string take();

 private:
  void begin(std::string_view name, Attributes attributes);

  std::string text_;
};

/// Patterns that drawings refer to; once a page.
std::string_view svgDefinitions();
/// The style of drawings, light and dark.
std::string_view svgStyle();

/// Room that a text takes, at the font size of a drawing's labels; rather too much than too little.
double textWidth(std::string_view text);

}  // namespace handoff::report
