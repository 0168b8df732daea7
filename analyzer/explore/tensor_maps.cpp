// SPDX-License-Identifier: Apache-2.0
// Boxes of tensor maps, in bytes. Bytes of one copy: PTX ISA, "Tensor", and cuTensorMapEncodeTiled in
// <cuda.h>.
#include "analyzer/explore/tensor_maps.h"

#include <algorithm>
#include <charconv>

#include "analyzer/explore/annotations.h"
#include "analyzer/explore/scenario.h"
#include "analyzer/support/text.h"

namespace handoff::explore {

using frontend::KernelDecl;
using frontend::ParamField;
using frontend::TensorMapFact;

namespace {

struct ElementType {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr ElementType kElementTypes[] = {
    {"b8", 1},   {"u8", 1},  {"s8", 1},  {"e4m3", 1}, {"e5m2", 1}, {"b16", 2},  {"f16", 2},
    {"bf16", 2}, {"u16", 2}, {"s16", 2}, {"b32", 4},  {"f32", 4},  {"tf32", 4}, {"u32", 4},
    {"s32", 4},  {"b64", 8}, {"f64", 8}, {"u64", 8},  {"s64", 8},
};
/// cuTensorMapEncodeTiled: rank 1 to 5, extents 1 to 256.
constexpr std::size_t kMaxRank = 5;
constexpr std::uint64_t kMaxExtent = 256;

struct Box {
  std::uint64_t bytes = 0, row_bytes = 0;
  std::uint32_t element_bytes = 0;
  std::vector<std::uint32_t> extents{};
};

/// "64x128xbf16".
std::optional<Box> parseBox(std::string_view text) {
  std::vector<std::uint64_t> extents;
  for (std::size_t end = text.find('x'); end != std::string_view::npos; end = text.find('x')) {
    std::uint64_t extent = 0;
    const auto [stop, status] = std::from_chars(text.data(), text.data() + end, extent);
    if (status != std::errc() || stop != text.data() + end || extent == 0 || extent > kMaxExtent)
      return std::nullopt;
    extents.push_back(extent);
    text.remove_prefix(end + 1);
  }
  const auto type = std::find_if(std::begin(kElementTypes), std::end(kElementTypes),
                                 [&](const auto& t) { return t.name == text; });
  if (extents.empty() || extents.size() > kMaxRank || type == std::end(kElementTypes)) return std::nullopt;
  Box box{type->bytes, type->bytes * extents.front(), static_cast<std::uint32_t>(type->bytes), {extents.begin(), extents.end()}};
  for (const std::uint64_t extent : extents) box.bytes *= extent;
  return box;
}

Box boxOf(const TensorMapFact& fact) {
  Box box{fact.element_bytes, 0, fact.element_bytes, fact.box};
  for (std::size_t d = 0; d < fact.box.size(); ++d) {
    const bool is_dense = d >= fact.element_strides.size() || fact.element_strides[d] == 0 ||
                          (d == 0 && fact.interleave == 0);  // ignored without interleave
    const std::uint64_t stride = is_dense ? 1 : fact.element_strides[d];
    box.bytes *= (fact.box[d] + stride - 1) / stride;
    if (d == 0) box.row_bytes = box.bytes;
  }
  return box;
}

std::vector<std::string_view> wordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  line = line.substr(0, line.find_first_of("\r\n"));
  for (std::size_t begin = line.find_first_not_of(" \t"); begin != std::string_view::npos;
       begin = line.find_first_not_of(" \t")) {
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

bool mayBeMap(const ParamField& field) {
  return field.kind == ParamField::Kind::kTensorMap || field.kind == ParamField::Kind::kPointer;
}

/// "NAME box=64x128xbf16", or nothing.
struct Said {
  std::string_view name;
  Box box;
};
std::optional<Said> parseAnnotation(std::string_view text) {
  constexpr std::string_view kBox = "box=";
  const std::vector<std::string_view> words = wordsOf(text);
  if (words.size() != 2 || !words[1].starts_with(kBox)) return std::nullopt;
  const std::optional<Box> box = parseBox(words[1].substr(kBox.size()));
  return box ? std::optional(Said{words[0], *box}) : std::nullopt;
}

const ParamField* findMap(const KernelDecl& decl, std::string_view name) {
  const auto field = std::find_if(decl.fields.begin(), decl.fields.end(),
                                  [&](const ParamField& f) { return f.name == name && mayBeMap(f); });
  return field != decl.fields.end() ? &*field : nullptr;
}

std::string fieldName(const KernelDecl* decl, const TensorMapFact& fact) {
  if (decl != nullptr) {
    for (const ParamField& field : decl->fields) {
      if (field.param == fact.param && field.offset == fact.offset && !field.name.empty()) return field.name;
    }
  }
  return fact.variable;
}

}  // namespace

std::optional<Error> tensorMapMistake(const std::vector<const KernelDecl*>& kernels,
                                      const Annotation& annotation) {
  const std::optional<Said> said = parseAnnotation(annotation.text);
  if (!said) {
    std::string all;
    for (const std::string_view word : wordsOf(annotation.text)) all += " " + std::string(word);
    return Error{
        "'handoff: tensormap" + all + "' is not of the form 'handoff: tensormap NAME box=64x128xbf16'",
        annotation.pos};
  }
  std::vector<std::string_view> names;
  for (const KernelDecl* decl : kernels) {
    if (findMap(*decl, said->name) != nullptr) return std::nullopt;
    for (const ParamField& field : decl->fields)
      if (mayBeMap(field)) names.push_back(field.name);
  }
  if (kernels.empty()) return std::nullopt;  // of a template without instances, the parameters are not known
  return Error{"'handoff: tensormap " + std::string(said->name) +
                   "': the kernel has no tensor map of this name" + suggestion(said->name, names),
               annotation.pos};
}

TensorMaps::TensorMaps(const frontend::Unit& unit, const KernelDecl* decl, std::string_view kernel,
                       const SourcePos& launch_pos) {
  for (const TensorMapFact& fact : unit.tensor_maps) {
    const bool is_meant = !launch_pos.isKnown() || fact.launch_pos == launch_pos;
    if (is_meant && isSameKernel(fact.kernel, kernel)) addFact(fact, fieldName(decl, fact));
  }
  if (decl == nullptr) return;
  for (const frontend::SourceComment& comment : unit.comments) {
    if (!speaksOf(comment, *decl)) continue;
    std::vector<const KernelDecl*> kernels = kernelsBelow(unit, comment);
    if (kernels.empty()) kernels.push_back(decl);
    for (const Annotation& annotation : annotationsIn(comment, "tensormap")) {
      if (const std::optional<Error> mistake = tensorMapMistake(kernels, annotation))
        mistakes_.push_back({mistake->message, mistake->pos});
      else
        addAnnotation(*decl, annotation.text);
    }
  }
}

TensorMaps::Entry* TensorMaps::find(std::uint32_t param, std::uint32_t offset) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.param == param && entry.offset == offset;
  });
  return found != entries_.end() ? &*found : nullptr;
}

void TensorMaps::addFact(const TensorMapFact& fact, const std::string& name) {
  const Box box = boxOf(fact);
  if (Entry* known = find(fact.param, fact.offset)) {
    known->is_ambiguous |= known->map.box_bytes != box.bytes || known->map.row_bytes != box.row_bytes;
    return;
  }
  entries_.push_back(
      {fact.param,
       fact.offset,
       {.name = name,
        .box_bytes = box.bytes,
        .row_bytes = box.row_bytes,
        .element_bytes = box.element_bytes,
        .box = box.extents,
        .steps = fact.element_strides,
        .swizzle = static_cast<std::uint32_t>(fact.swizzle.value_or(0)),
        .interleave = static_cast<std::uint32_t>(fact.interleave.value_or(0))}});
}

void TensorMaps::addAnnotation(const KernelDecl& decl, std::string_view text) {
  const std::optional<Said> said = parseAnnotation(text);
  const ParamField* field = said ? findMap(decl, said->name) : nullptr;
  if (field == nullptr) return;  // it is about another kernel
  const machine::TensorMap map{
      .name = field->name, .box_bytes = said->box.bytes, .row_bytes = said->box.row_bytes,
      .element_bytes = said->box.element_bytes, .box = said->box.extents};
  if (Entry* known = find(field->param, field->offset)) {
    *known = {field->param, field->offset, map};
    return;
  }
  entries_.push_back({field->param, field->offset, map});
}

std::optional<machine::TensorMap> TensorMaps::at(std::uint32_t param, std::uint32_t offset) const {
  for (const Entry& entry : entries_) {
    if (entry.param == param && entry.offset == offset && !entry.is_ambiguous) return entry.map;
  }
  return std::nullopt;
}

}  // namespace handoff::explore
