// SPDX-License-Identifier: Apache-2.0
// The text of --launch: "block=128 grid=16x2 smem=49152 K=64".
#pragma once

#include <string>
#include <string_view>

namespace handoff::cli {

/// What is wrong with the text, or "".
std::string checkLaunchText(std::string_view text);

}  // namespace handoff::cli
