// SPDX-License-Identifier: Apache-2.0
// Demangling and address naming.
#include "analyzer/diagnose/names.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "analyzer/machine/address.h"

namespace handoff::diagnose {

std::string demangle(std::string_view mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? text.get() : std::string(mangled);
}

bool isNamed(std::string_view mangled, std::string_view part) {
  return mangled.find(part) != std::string_view::npos || demangle(mangled).find(part) != std::string::npos;
}

std::string variableName(std::string_view mangled) {
  std::string name = demangle(mangled);
  // A static of a function demangles to "function(parameters)::name"; nvcc may append a number after a dollar sign.
  const std::size_t scope = name.rfind("::");
  if (scope != std::string::npos) name = name.substr(scope + 2);
  if (const std::size_t dollar = name.find('$'); dollar != std::string::npos && dollar != 0) name.resize(dollar);
  return name;
}

std::string threadName(const machine::Launch& launch, unsigned warp, unsigned lane) {
  const unsigned thread = warp % launch.warps() * machine::kWarpSize + lane;
  const unsigned x = thread % launch.block[0], y = thread / launch.block[0] % launch.block[1],
                 z = thread / launch.block[0] / launch.block[1];
  const std::string of = launch.clusterSize() > 1 ? " of CTA " + std::to_string(warp / launch.warps()) : "";
  return "(" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + ")" + of;
}

namespace {

struct Place {
  std::string name;
  std::uint64_t offset = 0;
};

Place placeOf(const machine::Program& program, const Names& names, ptx::Space space, std::uint64_t address) {
  if (space == ptx::Space::kShared) {
    const std::uint64_t local = machine::withinCta(address);
    if (local >= machine::kTensorBase) return {"tensor memory", (local - machine::kTensorBase) / 4};
    const machine::SharedVariable* variable = program.sharedAt(local);
    if (variable == nullptr) return {"shared memory", local - machine::kSharedBase};
    return {variableName(variable->name), local - variable->offset};
  }
  const auto buffer = static_cast<unsigned>((address >> machine::kBufferShift) - 1);
  const auto it = names.buffers.find(buffer);
  const std::uint64_t offset = address & ((std::uint64_t{1} << machine::kBufferShift) - 1);
  return {it == names.buffers.end() ? "global memory" : it->second, offset};
}

}  // namespace

std::string bufferName(const machine::Program& program, const Names& names, ptx::Space space, std::uint64_t address) {
  return placeOf(program, names, space, address).name;
}

std::string placeName(const machine::Program& program, const Names& names, ptx::Space space, std::uint64_t address) {
  const Place place = placeOf(program, names, space, address);
  const std::uint64_t window = space == ptx::Space::kShared ? address >> machine::kClusterShift : 0;
  const std::string of = window == 0 ? "" : " of CTA " + std::to_string(window - 1);
  const auto shape = names.arrays.find(place.name);
  if (shape == names.arrays.end() || shape->second.element_bytes == 0 || shape->second.extents.empty()) {
    const bool is_tensor = place.name == "tensor memory";
    return place.name + (is_tensor ? ", column " : ", byte ") + std::to_string(place.offset) + of;
  }
  std::uint64_t index = place.offset / shape->second.element_bytes;
  std::string text;
  for (std::size_t d = shape->second.extents.size(); d-- > 0;) {
    const std::uint32_t extent = shape->second.extents[d];
    // The first extent may be open (a dynamic array): it takes what is left.
    const std::uint64_t here = d == 0 || extent == 0 ? index : index % extent;
    if (extent != 0) index /= extent;
    text = "[" + std::to_string(here) + "]" + text;
  }
  return place.name + text + of;
}

}  // namespace handoff::diagnose
