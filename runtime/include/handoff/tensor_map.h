// SPDX-License-Identifier: Apache-2.0
// Tensor maps (TMA descriptors), made on the host.
//
// The driver's encoder is looked up through the CUDA runtime, so that programs need not link against the driver. What
// the encoder would answer with a bare CUDA_ERROR_INVALID_VALUE is checked first and said in words. The rules are those
// of the CUDA Driver API, "Tensor Map Object Management: cuTensorMapEncodeTiled".
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace handoff {

/// How 16-byte chunks of a box are permuted in shared memory; the number is the span of the pattern in bytes.
/// kSpan32, kSpan64 and kSpan128 repeat every 256, 512 and 1024 bytes: align slots to that.
enum class Swizzle { kNone, kSpan32, kSpan64, kSpan128 };

/// What elements outside of the tensor are loaded as. kNan: floating-point types only.
enum class OutOfBounds { kZero, kNan };

namespace detail {

template <class T>
struct TensorElement;
// clang-format off
template <> struct TensorElement<std::uint8_t> { static constexpr auto kType = CU_TENSOR_MAP_DATA_TYPE_UINT8; };
template <> struct TensorElement<std::uint16_t> { static constexpr auto kType = CU_TENSOR_MAP_DATA_TYPE_UINT16; };
template <> struct TensorElement<std::uint32_t> { static constexpr auto kType = CU_TENSOR_MAP_DATA_TYPE_UINT32; };
template <> struct TensorElement<std::int32_t> { static constexpr auto kType = CU_TENSOR_MAP_DATA_TYPE_INT32; };
template <> struct TensorElement<std::uint64_t> { static constexpr auto kType = CU_TENSOR_MAP_DATA_TYPE_UINT64; };
template <> struct TensorElement<std::int64_t> { static constexpr auto kType = CU_TENSOR_MAP_DATA_TYPE_INT64; };
template <> struct TensorElement<__half> { static constexpr auto kType = CU_TENSOR_MAP_DATA_TYPE_FLOAT16; };
template <> struct TensorElement<float> { static constexpr auto kType = CU_TENSOR_MAP_DATA_TYPE_FLOAT32; };
template <> struct TensorElement<double> { static constexpr auto kType = CU_TENSOR_MAP_DATA_TYPE_FLOAT64; };
template <> struct TensorElement<__nv_bfloat16> { static constexpr auto kType = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16; };
// clang-format on

using EncodeTiled = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                 const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                                 CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

/// The driver's encoder, or null where the driver is missing or older than CUDA 12.0.
inline EncodeTiled encodeTiled() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
#else
  const cudaError_t status = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found);
#endif
  const bool is_found = status == cudaSuccess && found == cudaDriverEntryPointSuccess;
  return is_found ? reinterpret_cast<EncodeTiled>(function) : nullptr;
}

}  // namespace detail

/// A tensor in global memory, and the box of it that one copy moves. Extents are elements, innermost dimension first.
template <class T, int kRank>
struct TensorView {
  static_assert(kRank >= 1 && kRank <= 5, "a tensor map has one to five dimensions");

  const T* data = nullptr;                              ///< device memory, aligned to 16 bytes
  std::array<std::uint64_t, kRank> extents{};           ///< 1 to 2^32 elements each
  std::array<std::uint64_t, kRank> pitches{};           ///< bytes from one index to the next; [0] is sizeof(T)
  std::array<std::uint32_t, kRank> box{};               ///< 1 to 256 elements each
  Swizzle swizzle = Swizzle::kNone;
  OutOfBounds fill = OutOfBounds::kZero;

  /// Bytes that each load of the box counts at its barrier, whatever part of it lies in the tensor.
  [[nodiscard]] constexpr std::uint32_t boxBytes() const {
    std::uint32_t bytes = sizeof(T);
    for (const std::uint32_t extent : box) bytes *= extent;
    return bytes;
  }
};

/// A matrix of `rows` rows of `columns` elements, `pitch` bytes from one row to the next, in boxes of
/// box_rows x box_columns.
template <class T>
[[nodiscard]] TensorView<T, 2> matrixView(const T* data, std::uint64_t rows, std::uint64_t columns,
                                          std::uint64_t pitch, std::uint32_t box_rows, std::uint32_t box_columns,
                                          Swizzle swizzle = Swizzle::kNone) {
  TensorView<T, 2> view;
  view.data = data;
  view.extents = {columns, rows};
  view.pitches = {sizeof(T), pitch};
  view.box = {box_columns, box_rows};
  view.swizzle = swizzle;
  return view;
}

/// The first rule that a view breaks, or null. Needs no device.
template <class T, int kRank>
[[nodiscard]] const char* whyNotEncodable(const TensorView<T, kRank>& view) {
  if (view.data == nullptr) return "the tensor has no address";
  if (reinterpret_cast<std::uintptr_t>(view.data) % 16 != 0) return "the tensor is not aligned to 16 bytes";
  if (view.pitches[0] != sizeof(T)) return "the innermost dimension is not dense";
  for (int d = 0; d < kRank; ++d) {
    const auto i = static_cast<std::size_t>(d);
    if (view.extents[i] < 1 || view.extents[i] > (std::uint64_t{1} << 32)) return "an extent is not 1 to 2^32";
    if (view.box[i] < 1 || view.box[i] > 256) return "an extent of the box is not 1 to 256";
    if (d > 0 && view.pitches[i] % 16 != 0) return "a pitch is no multiple of 16 bytes";
    if (d > 0 && view.pitches[i] >= (std::uint64_t{1} << 40)) return "a pitch is 2^40 bytes or more";
    if (d > 0 && view.pitches[i] < view.pitches[i - 1]) return "pitches do not grow";
  }
  const std::uint64_t inner_bytes = view.box[0] * sizeof(T);
  if (inner_bytes % 16 != 0) return "the box's innermost extent is no multiple of 16 bytes";
  constexpr std::array<std::uint64_t, 4> kSpans = {~std::uint64_t{0}, 32, 64, 128};
  if (inner_bytes > kSpans[static_cast<std::size_t>(view.swizzle)]) return "the box is wider than the swizzle's span";
  return nullptr;
}

struct TensorMapResult {
  CUtensorMap map{};
  const char* error = nullptr;  ///< null where the map may be used, else why not

  explicit operator bool() const { return error == nullptr; }
};

/// The tensor map of a view: pass it to a kernel by value, as `const __grid_constant__ CUtensorMap`.
template <class T, int kRank>
[[nodiscard]] TensorMapResult encodeTensorMap(const TensorView<T, kRank>& view) {
  TensorMapResult result;
  result.error = whyNotEncodable(view);
  if (result.error != nullptr) return result;
  const detail::EncodeTiled encode = detail::encodeTiled();
  if (encode == nullptr) {
    result.error = "the driver has no cuTensorMapEncodeTiled";
    return result;
  }
  std::array<std::uint32_t, kRank> element_strides{};
  element_strides.fill(1);
  constexpr std::array<CUtensorMapSwizzle, 4> kSwizzles = {CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_32B,
                                                           CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_SWIZZLE_128B};
  const CUtensorMapFloatOOBfill fill = view.fill == OutOfBounds::kNan
                                           ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                                           : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  const CUresult status =
      encode(&result.map, detail::TensorElement<T>::kType, kRank, const_cast<T*>(view.data), view.extents.data(),
             view.pitches.data() + 1, view.box.data(), element_strides.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
             kSwizzles[static_cast<std::size_t>(view.swizzle)], CU_TENSOR_MAP_L2_PROMOTION_L2_256B, fill);
  if (status != CUDA_SUCCESS) result.error = "the driver refuses the tensor map";
  return result;
}

}  // namespace handoff
