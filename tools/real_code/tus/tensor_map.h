// SPDX-License-Identifier: Apache-2.0
// A tensor map of two dimensions, for units that launch a kernel themselves.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

inline void encode(CUtensorMap* map, CUtensorMapDataType type, void* data, cuuint64_t columns, cuuint64_t rows,
                   cuuint64_t pitch, cuuint32_t box_columns, cuuint32_t box_rows) {
    cuuint64_t extents[2] = {columns, rows};
    cuuint64_t pitches[1] = {pitch};
    cuuint32_t box[2] = {box_columns, box_rows};
    cuuint32_t steps[2] = {1, 1};
    cuTensorMapEncodeTiled(map, type, 2, data, extents, pitches, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                           CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
