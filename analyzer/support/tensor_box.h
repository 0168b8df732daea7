// SPDX-License-Identifier: Apache-2.0
// The box of a tensor map as users write it, "64x128xbf16", and the place of a map among a kernel's parameters,
// "param0+128". Comments, .handoff.yaml and reports share these forms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace handoff {

struct TensorBox {
  std::uint64_t bytes = 0, row_bytes = 0;  ///< of the whole box, and of its innermost dimension
  std::uint32_t element_bytes = 0;
  std::vector<std::uint32_t> extents{};    ///< elements, innermost first
};

/// One to five extents of 1 to 256, innermost first, and the type of the elements.
std::optional<TensorBox> parseTensorBox(std::string_view text);

struct ParamPlace {
  std::uint32_t param = 0;   ///< index of the kernel parameter
  std::uint32_t offset = 0;  ///< bytes from the start of that parameter
  friend bool operator==(const ParamPlace&, const ParamPlace&) = default;
};

/// "param0", "param0+128".
std::optional<ParamPlace> parseParamPlace(std::string_view text);
std::string toString(const ParamPlace& place);

}  // namespace handoff
