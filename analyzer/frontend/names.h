// SPDX-License-Identifier: Apache-2.0
// Mangled names made readable, and comparable between compilers.
#pragma once

#include <string>
#include <string_view>

namespace handoff::frontend {

/// "_ZN2M44loadILi2EEEvPKf" -> "M4::load<2>": no return type, no parameters. Other names stay as they are.
std::string shortFunctionName(const std::string& name);

/// With parameters: "ring_sum<3>(float4 const*, float*, int)".
std::string prettyFunctionName(const std::string& name);

/// Clang writes a static kernel as "_ZL4kernPi", nvcc as "_Z4kernPi": both become the second form.
std::string linkageFreeName(std::string_view name);

}  // namespace handoff::frontend
