// SPDX-License-Identifier: Apache-2.0
// The scalars inside a kernel parameter.
#pragma once

#include "analyzer/frontend/clang/fold.h"

namespace handoff::frontend {

struct Leaf {
  Path path;
  std::string name;  ///< "" for a scalar parameter, ".stride", ".shape[1]"
  std::uint32_t offset = 0, size = 0;
  ParamField::Kind kind = ParamField::Kind::kOther;
  bool is_signed = false;
  std::uint32_t pointee_size = 0;
  bool points_to_tensor_map = false;
};

/// The driver API's CUtensorMap.
bool isTensorMap(const clang::RecordDecl* record);

/// In the order of their offsets. Classes with bases or virtual functions, unions and long arrays come as one
/// opaque leaf each (bases are looked into).
std::vector<Leaf> leavesOf(clang::ASTContext& context, clang::QualType type);

}  // namespace handoff::frontend
