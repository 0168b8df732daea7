// SPDX-License-Identifier: Apache-2.0
// A header that the flags of the target have to find.
#pragma once

constexpr int kThreads = 64;
