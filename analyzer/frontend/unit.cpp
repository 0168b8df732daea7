// SPDX-License-Identifier: Apache-2.0
// Names of the producers.
#include "analyzer/frontend/unit.h"

namespace handoff::frontend {

std::string_view toString(Producer producer) {
  switch (producer) {
    case Producer::kClang:
      return "clang";
    case Producer::kNvcc:
      return "nvcc";
    case Producer::kPtxFile:
      return "ptx";
  }
  return "unknown";
}

}  // namespace handoff::frontend
