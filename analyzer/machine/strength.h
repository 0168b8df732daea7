// SPDX-License-Identifier: Apache-2.0
// Weak and strong operations (PTX ISA, Memory Consistency Model, "Operation types").
#pragma once

#include "analyzer/ptx/module.h"

namespace handoff::machine {

/// Without a qualifier, or .weak: no other thread may rely on it.
inline bool isWeak(const ptx::Decoded& decoded) { return decoded.sem == ptx::Sem::kNone || decoded.sem == ptx::Sem::kWeak; }
inline bool isStrong(const ptx::Decoded& decoded) { return !isWeak(decoded); }

}  // namespace handoff::machine
