// SPDX-License-Identifier: Apache-2.0
// The driver API's tensor map, as an opaque parameter.
#pragma once
#include <cuda_runtime.h>
typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;
typedef struct CUtensorMap_st {
  alignas(64) cuuint64_t opaque[16];
} CUtensorMap;
