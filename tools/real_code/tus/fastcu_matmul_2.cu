// SPDX-License-Identifier: Apache-2.0
// Calls the launcher of fast.cu's matmul_2.cuh with matrices of 8192 squared, as its benchmark does.
#include "fastcu_prelude.h"
#include "examples/matmul/matmul_2.cuh"

int main() {
    bf16 *A = nullptr, *B = nullptr, *C = nullptr;
    runKernel2(8192, 8192, 8192, A, B, C);
}
