// SPDX-License-Identifier: Apache-2.0
// Calls the launchers of learn-cuda's 02c_matmul_sm120/matmul_v1.cu for matrices of 4096 squared.
#include "matmul_v1.cu"

int main() {
    nv_bfloat16 *A = nullptr, *B = nullptr, *C = nullptr;
    int8_t *P = nullptr, *Q = nullptr;
    int *R = nullptr;
    matmul_v1_bf16(A, B, C, 4096, 4096, 4096);
    matmul_v1_int8(P, Q, R, 4096, 4096, 4096);
}
