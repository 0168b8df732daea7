// SPDX-License-Identifier: Apache-2.0
// Stands for PyTorch's header.
#pragma once
#include <ATen/cuda/PhiloxCudaState.h>
#include <tuple>

namespace at::cuda::philox {
__host__ __device__ inline std::tuple<uint64_t, uint64_t> unpack(PhiloxCudaState state) {
    return {state.seed, state.offset};
}
}
