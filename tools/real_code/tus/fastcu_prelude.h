// SPDX-License-Identifier: Apache-2.0
// What the kernel headers of fast.cu expect of the file that includes them.
#pragma once
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <cuda/barrier>
#include <cudaTypedefs.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

using bf16 = __nv_bfloat16;
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
#define cudaCheck(call) ((call) == cudaSuccess ? (void)0 : abort())
