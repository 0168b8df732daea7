// SPDX-License-Identifier: Apache-2.0
// Parsing boxes and places of tensor maps. Limits: cuTensorMapEncodeTiled in <cuda.h>.
#include "analyzer/support/tensor_box.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace handoff {
namespace {

struct ElementType {
  std::string_view name;
  std::uint32_t bytes;
};
constexpr ElementType kElementTypes[] = {
    {"b8", 1},   {"u8", 1},  {"s8", 1},  {"e4m3", 1}, {"e5m2", 1}, {"b16", 2},  {"f16", 2},
    {"bf16", 2}, {"u16", 2}, {"s16", 2}, {"b32", 4},  {"f32", 4},  {"tf32", 4}, {"u32", 4},
    {"s32", 4},  {"b64", 8}, {"f64", 8}, {"u64", 8},  {"s64", 8},
};
constexpr std::size_t kMaxRank = 5;
constexpr std::uint32_t kMaxExtent = 256;

std::optional<std::uint32_t> toNumber(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  return status == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<TensorBox> parseTensorBox(std::string_view text) {
  TensorBox box;
  for (std::size_t end = text.find('x'); end != std::string_view::npos; end = text.find('x')) {
    const std::optional<std::uint32_t> extent = toNumber(text.substr(0, end));
    if (!extent || *extent == 0 || *extent > kMaxExtent || box.extents.size() == kMaxRank) return std::nullopt;
    box.extents.push_back(*extent);
    text.remove_prefix(end + 1);
  }
  const auto type = std::find_if(std::begin(kElementTypes), std::end(kElementTypes),
                                 [&](const ElementType& t) { return t.name == text; });
  if (box.extents.empty() || type == std::end(kElementTypes)) return std::nullopt;
  box.element_bytes = type->bytes;
  box.row_bytes = std::uint64_t{type->bytes} * box.extents.front();
  box.bytes = type->bytes;
  for (const std::uint32_t extent : box.extents) box.bytes *= extent;
  return box;
}

std::optional<ParamPlace> parseParamPlace(std::string_view text) {
  constexpr std::string_view kParam = "param";
  if (!text.starts_with(kParam)) return std::nullopt;
  text.remove_prefix(kParam.size());
  const std::size_t plus = text.find('+');
  const std::optional<std::uint32_t> param = toNumber(text.substr(0, plus));
  const std::optional<std::uint32_t> offset = plus == text.npos ? 0 : toNumber(text.substr(plus + 1));
  return param && offset ? std::optional(ParamPlace{*param, *offset}) : std::nullopt;
}

std::string toString(const ParamPlace& place) {
  const std::string number = "param" + std::to_string(place.param);
  return place.offset == 0 ? number : number + "+" + std::to_string(place.offset);
}

}  // namespace handoff
