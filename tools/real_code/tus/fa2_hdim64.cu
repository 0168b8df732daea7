// SPDX-License-Identifier: Apache-2.0
// FlashAttention 2, forward, heads of 64, half precision, whole tiles: the one kernel of the dispatcher for that case.
#include "flash_fwd_launch_template.h"

using Traits = FLASH_NAMESPACE::Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, cutlass::half_t>;

int main() {
    FLASH_NAMESPACE::Flash_fwd_params params{};
    auto kernel = &FLASH_NAMESPACE::flash_fwd_kernel<Traits, false, false, false, false, true, true, false, false>;
    kernel<<<dim3(32, 4, 16), Traits::kNThreads, Traits::kSmemSize>>>(params);
}
