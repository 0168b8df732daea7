// SPDX-License-Identifier: Apache-2.0
// cuBLAS, found at run time.
#include <cublas_v2.h>
#include <dlfcn.h>

#include "gemm_common/gemm.h"

namespace handoff::kernels {
namespace {

class Cublas {
 public:
  Cublas() {
    for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"}) {
      library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (library_ != nullptr) break;
    }
    if (library_ == nullptr) return;
    const auto create = reinterpret_cast<decltype(&cublasCreate_v2)>(dlsym(library_, "cublasCreate_v2"));
    gemm_ = reinterpret_cast<Gemm>(dlsym(library_, "cublasGemmEx"));
    if (create == nullptr || gemm_ == nullptr || create(&handle_) != CUBLAS_STATUS_SUCCESS) gemm_ = nullptr;
  }

  [[nodiscard]] bool isFound() const { return gemm_ != nullptr; }

  /// Row-major c = a * transpose(b) is column-major transpose(c) = b * transpose(a), with b's rows as
  /// columns.
  void multiply(const GemmProblem& p) const {
    const float one = 1, zero = 0;
    const cublasStatus_t status =
        gemm_(handle_, CUBLAS_OP_T, CUBLAS_OP_N, p.n, p.m, p.k, &one, p.b, CUDA_R_16BF, p.ldb, p.a,
              CUDA_R_16BF, p.lda, &zero, p.c, CUDA_R_16BF, p.ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    if (status != CUBLAS_STATUS_SUCCESS)
      throw std::runtime_error("cublasGemmEx: status " + std::to_string(static_cast<int>(status)));
  }

 private:
  using Gemm = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                                  const void*, const void*, cudaDataType, int, const void*, cudaDataType, int,
                                  const void*, void*, cudaDataType, int, cublasComputeType_t,
                                  cublasGemmAlgo_t);

  void* library_ = nullptr;
  cublasHandle_t handle_ = nullptr;
  Gemm gemm_ = nullptr;
};

}  // namespace

std::optional<Variant> cublasVariant(const GemmProblem& problem) {
  static const Cublas kCublas;
  if (!kCublas.isFound()) return std::nullopt;
  Variant variant;
  variant.name = "cuBLAS";
  variant.launch = [&problem] { kCublas.multiply(problem); };
  return variant;
}

}  // namespace handoff::kernels
