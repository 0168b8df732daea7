// SPDX-License-Identifier: Apache-2.0
// Stands for PyTorch's header: the state of a random generator, of which kernels without dropout read nothing.
#pragma once
#include <cstdint>

namespace at {
struct PhiloxCudaState {
    uint64_t seed;
    uint64_t offset;
};
}
