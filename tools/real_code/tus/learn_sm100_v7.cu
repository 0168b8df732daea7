// SPDX-License-Identifier: Apache-2.0
// Calls the launchers of learn-cuda's 02e_matmul_sm100/matmul_v7.cu for matrices of 4096 squared, as main.py does.
#include "matmul_v7.cu"

int main() {
    nv_bfloat16 *A = nullptr, *B = nullptr, *C = nullptr;
    int64_t* profile = nullptr;
    matmul_v7a(A, B, C, 4096, 4096, 4096);
    matmul_v7b(A, B, C, 4096, 4096, 4096);
    matmul_v7c(A, B, C, 4096, 4096, 4096);
    profile_matmul_v7a(A, B, C, 4096, 4096, 4096, profile, 100000);
    profile_matmul_v7b(A, B, C, 4096, 4096, 4096, profile, 100000);
}
