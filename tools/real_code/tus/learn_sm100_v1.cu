// SPDX-License-Identifier: Apache-2.0
// Calls the launchers of learn-cuda's 02e_matmul_sm100/matmul_v1.cu for matrices of 4096 squared, as main.py does.
#include "matmul_v1.cu"

int main() {
    nv_bfloat16 *A = nullptr, *B = nullptr, *C = nullptr;
    matmul_v1a(A, B, C, 4096, 4096, 4096);
    matmul_v1b(A, B, C, 4096, 4096, 4096);
}
