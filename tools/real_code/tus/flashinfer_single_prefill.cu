// SPDX-License-Identifier: Apache-2.0
// FlashInfer's prefill of one request: heads of 128, causal, half precision, all tile shapes that its dispatcher chooses from.
#include <flashinfer/attention/default_prefill_params.cuh>
#include <flashinfer/attention/prefill.cuh>
#include <flashinfer/attention/variants.cuh>

namespace flashinfer {
using Params = SinglePrefillParams<half, half, half>;
using Variant = DefaultAttention<false, false, false, false>;
template cudaError_t SinglePrefillWithKVCacheDispatched<128, 128, PosEncodingMode::kNone, false, MaskMode::kCausal, Variant, Params>(
    Params params, half* tmp, cudaStream_t stream);
}
