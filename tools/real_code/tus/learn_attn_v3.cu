// SPDX-License-Identifier: Apache-2.0
// Calls the launcher of learn-cuda's 07_attention/attention_v3.cu: 32 heads in all, 4096 queries and keys of 128.
#include "attention_v3.cu"

int main() {
    nv_bfloat16 *Q = nullptr, *K = nullptr, *V = nullptr, *O = nullptr;
    attention_v3(Q, K, V, O, 32, 4096, 4096, 128);
}
