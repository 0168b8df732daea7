// SPDX-License-Identifier: Apache-2.0
// Boxes of tensor maps, in bytes. Bytes of one copy: PTX ISA, "Tensor", and cuTensorMapEncodeTiled in
// <cuda.h>.
#include "analyzer/explore/tensor_maps.h"

#include <algorithm>

#include "analyzer/diagnose/names.h"
#include "analyzer/explore/configured.h"
#include "analyzer/explore/scenario.h"
#include "analyzer/support/check.h"
#include "analyzer/support/text.h"

namespace handoff::explore {

using frontend::KernelDecl;
using frontend::ParamField;
using frontend::TensorMapFact;

namespace {

TensorBox boxOf(const TensorMapFact& fact) {
  TensorBox box{fact.element_bytes, 0, fact.element_bytes, fact.box};
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
  TensorBox box;
};
std::optional<Said> parseAnnotation(std::string_view text) {
  constexpr std::string_view kBox = "box=";
  const std::vector<std::string_view> words = wordsOf(text);
  if (words.size() != 2 || !words[1].starts_with(kBox)) return std::nullopt;
  const std::optional<TensorBox> box = parseTensorBox(words[1].substr(kBox.size()));
  return box ? std::optional(Said{words[0], *box}) : std::nullopt;
}

bool isWithin(const ParamField& field, const ParamPlace& place) {
  return field.param == place.param && place.offset >= field.offset && place.offset < field.offset + field.size;
}

/// Of a place in what the declaration does not take apart, any may be a map.
std::optional<NamedPlace> findPlace(const KernelDecl& decl, const ParamPlace& place) {
  const auto field = std::find_if(decl.fields.begin(), decl.fields.end(),
                                  [&](const ParamField& f) { return isWithin(f, place); });
  if (field == decl.fields.end() || field->kind == ParamField::Kind::kOther)
    return NamedPlace{toString(place), place};
  if (!mayBeMap(*field) || field->offset != place.offset) return std::nullopt;
  return NamedPlace{field->name, place};
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

std::optional<NamedPlace> findMap(const KernelDecl& decl, std::string_view name) {
  const auto field = std::find_if(decl.fields.begin(), decl.fields.end(),
                                  [&](const ParamField& f) { return f.name == name && mayBeMap(f); });
  if (field != decl.fields.end()) return NamedPlace{field->name, {field->param, field->offset}};
  const std::optional<ParamPlace> place = parseParamPlace(name);
  return place ? findPlace(decl, *place) : std::nullopt;
}

void addMapNames(const KernelDecl& decl, std::set<std::string, std::less<>>& names) {
  for (const ParamField& field : decl.fields)
    if (mayBeMap(field)) names.insert(field.name);
}

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
  std::set<std::string, std::less<>> names;
  for (const KernelDecl* decl : kernels) {
    if (findMap(*decl, said->name)) return std::nullopt;
    addMapNames(*decl, names);
  }
  if (kernels.empty()) return std::nullopt;  // of a template without instances, the parameters are not known
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  return Error{"'handoff: tensormap " + std::string(said->name) +
                   "': the kernel has no tensor map of this name" + suggestion(said->name, candidates),
               annotation.pos};
}

TensorMaps::TensorMaps(const frontend::Unit& unit, const KernelDecl* decl, std::string_view kernel,
                       const Options& options, const SourcePos& launch_pos) {
  addFacts(unit, decl, kernel, launch_pos);
  const std::string pretty = decl != nullptr ? decl->pretty : diagnose::demangle(kernel);
  for (const ConfiguredTensorMap& configured : options.tensor_maps)
    if (isKernelCalled(configured.kernel_glob, kernel, pretty)) addConfigured(configured, decl);
  if (decl != nullptr) addAnnotations(unit, *decl);
}

void TensorMaps::addFacts(const frontend::Unit& unit, const KernelDecl* decl, std::string_view kernel,
                          const SourcePos& launch_pos) {
  for (const TensorMapFact& fact : unit.tensor_maps) {
    const bool is_meant = !launch_pos.isKnown() || fact.launch_pos == launch_pos;
    if (is_meant && isSameKernel(fact.kernel, kernel)) addFact(fact, fieldName(decl, fact));
  }
}

void TensorMaps::addConfigured(const ConfiguredTensorMap& configured, const KernelDecl* decl) {
  const std::optional<TensorBox> box = parseTensorBox(configured.box);
  HANDOFF_CHECK(box.has_value());  // config::parse has seen it
  if (decl != nullptr) {
    // Of a name that this kernel does not have, another kernel of the glob may have it (given_check.h).
    if (const std::optional<NamedPlace> place = findMap(*decl, configured.name)) set(*place, *box);
  } else if (const std::optional<ParamPlace> place = parseParamPlace(configured.name)) {
    set({toString(*place), *place}, *box);
  } else {
    mistakes_.push_back({"the parameters of PTX have no names: the tensor map '" + configured.name +
                             "' is one at param0, param0+128, ...",
                         configured.pos});
  }
}

void TensorMaps::addAnnotations(const frontend::Unit& unit, const KernelDecl& decl) {
  for (const frontend::SourceComment& comment : unit.comments) {
    if (!speaksOf(comment, decl)) continue;
    std::vector<const KernelDecl*> kernels = kernelsBelow(unit, comment);
    if (kernels.empty()) kernels.push_back(&decl);
    for (const Annotation& annotation : annotationsIn(comment, "tensormap")) {
      if (const std::optional<Error> mistake = tensorMapMistake(kernels, annotation)) {
        mistakes_.push_back({mistake->message, mistake->pos});
        continue;
      }
      const std::optional<Said> said = parseAnnotation(annotation.text);
      const std::optional<NamedPlace> place = said ? findMap(decl, said->name) : std::nullopt;
      if (place) set(*place, said->box);  // else it is about another kernel
    }
  }
}

TensorMaps::Entry* TensorMaps::find(const ParamPlace& place) {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.place == place; });
  return found != entries_.end() ? &*found : nullptr;
}

void TensorMaps::addFact(const TensorMapFact& fact, const std::string& name) {
  const TensorBox box = boxOf(fact);
  const ParamPlace place{fact.param, fact.offset};
  if (Entry* known = find(place)) {
    known->is_ambiguous |= known->map.box_bytes != box.bytes || known->map.row_bytes != box.row_bytes;
    return;
  }
  entries_.push_back(
      {place,
       {.name = name,
        .box_bytes = box.bytes,
        .row_bytes = box.row_bytes,
        .element_bytes = box.element_bytes,
        .box = box.extents,
        .steps = fact.element_strides,
        .swizzle = static_cast<std::uint32_t>(fact.swizzle.value_or(0)),
        .interleave = static_cast<std::uint32_t>(fact.interleave.value_or(0))}});
}

void TensorMaps::set(const NamedPlace& named, const TensorBox& box) {
  const Entry entry{named.place,
                    {.name = named.name,
                     .box_bytes = box.bytes,
                     .row_bytes = box.row_bytes,
                     .element_bytes = box.element_bytes,
                     .box = box.extents}};
  if (Entry* known = find(named.place))
    *known = entry;
  else
    entries_.push_back(entry);
}

std::optional<machine::TensorMap> TensorMaps::at(const ParamPlace& place) const {
  for (const Entry& entry : entries_)
    if (entry.place == place && !entry.is_ambiguous) return entry.map;
  return std::nullopt;
}

std::vector<ParamPlace> TensorMaps::places() const {
  std::vector<ParamPlace> places;
  for (const Entry& entry : entries_) places.push_back(entry.place);
  return places;
}

bool haveSameBoxes(const machine::Launch& a, const machine::Launch& b) {
  return std::equal(a.tensor_maps.begin(), a.tensor_maps.end(), b.tensor_maps.begin(), b.tensor_maps.end(),
                    [](const auto& x, const auto& y) {
                      return x.first == y.first && x.second.box_bytes == y.second.box_bytes &&
                             x.second.row_bytes == y.second.row_bytes;
                    });
}

}  // namespace handoff::explore
