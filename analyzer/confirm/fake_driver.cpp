// SPDX-License-Identifier: Apache-2.0
// A libcuda for tests on machines without a GPU (HANDOFF_LIBCUDA). Kernels do what a comment in their text
// says: "fake: wrong" changes the first buffer, "fake: hang" never ends, "fake: fault" reports an illegal
// instruction.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

enum class Kind { kFill, kCompare, kScrub, kRight, kWrong, kHang, kFault };
struct FakeFunction {
  Kind kind;
};
struct FakeModule {
  std::string text;
};
bool has_faulted = false;

struct Config {
  unsigned grid[3], block[3], shared_bytes;
};

template <typename T>
T parameter(void** parameters, int index) {
  return *static_cast<T*>(parameters[index]);
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return 0; }
int cuDeviceGet(int* device, int) { return *device = 0; }
int cuDeviceGetName(char* name, int bytes, int) {
  std::strncpy(name, "Fake", static_cast<std::size_t>(bytes));
  return 0;
}
int cuDeviceGetAttribute(int* value, int, int) {
  *value = 1024;
  return 0;
}
int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = context;
  return 0;
}
int cuCtxSetCurrent(void*) { return 0; }
int cuModuleLoadDataEx(FakeModule** module, const void* image, unsigned, int*, void**) {
  *module = new FakeModule{static_cast<const char*>(image)};
  return (*module)->text.find("fake: no image") != std::string::npos ? 209 : 0;
}
int cuModuleGetFunction(FakeFunction** function, FakeModule* module, const char* name) {
  const std::string text = name;
  const auto has = [&](const char* what) { return module->text.find(what) != std::string::npos; };
  const Kind kind = text == "handoff_fill"        ? Kind::kFill
                    : text == "handoff_compare"   ? Kind::kCompare
                    : text == "handoff_scrub"     ? Kind::kScrub
                    : text == "handoff_neighbour" ? Kind::kScrub
                    : has("fake: wrong")          ? Kind::kWrong
                    : has("fake: hang")           ? Kind::kHang
                    : has("fake: fault")          ? Kind::kFault
                                                  : Kind::kRight;
  *function = new FakeFunction{kind};
  return 0;
}
int cuModuleGetGlobal_v2(std::uint64_t*, std::size_t*, FakeModule*, const char*) { return 500; }
int cuFuncSetAttribute(FakeFunction*, int, int) { return 0; }
int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
  *address = reinterpret_cast<std::uint64_t>(std::calloc(bytes, 1));
  return 0;
}
int cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
  *address = std::calloc(bytes, 1);
  return 0;
}
int cuMemHostGetDevicePointer_v2(std::uint64_t* address, void* host, unsigned) {
  *address = reinterpret_cast<std::uint64_t>(host);
  return 0;
}
int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
  std::memcpy(to, reinterpret_cast<void*>(from), bytes);
  return 0;
}
int cuStreamCreate(void** stream, unsigned) {
  *stream = stream;
  return 0;
}
int cuLaunchKernelEx(const Config* config, FakeFunction* function, void** parameters, void**) {
  switch (function->kind) {
    case Kind::kFill: {
      auto* to = reinterpret_cast<std::uint32_t*>(parameter<std::uint64_t>(parameters, 0));
      const auto words = parameter<std::uint64_t>(parameters, 1);
      for (std::uint64_t i = 0; i < words; i += 1024) to[i] = parameter<std::uint32_t>(parameters, 2);
      return 0;
    }
    case Kind::kCompare: {
      const auto* a = reinterpret_cast<const std::uint32_t*>(parameter<std::uint64_t>(parameters, 0));
      const auto* b = reinterpret_cast<const std::uint32_t*>(parameter<std::uint64_t>(parameters, 1));
      auto* result = reinterpret_cast<std::uint32_t*>(parameter<std::uint64_t>(parameters, 3));
      for (std::uint64_t i = 0; i < parameter<std::uint64_t>(parameters, 2); i += 1024)
        result[0] += a[i] != b[i] ? 1 : 0;
      return 0;
    }
    case Kind::kWrong:
      ++*reinterpret_cast<std::uint32_t*>(parameter<std::uint64_t>(parameters, 0));
      return 0;
    case Kind::kHang:
      while (true) pause();
    case Kind::kFault:
      has_faulted = true;
      return 0;
    case Kind::kScrub:
    case Kind::kRight:
      return config->grid[0] == 0 ? 1 : 0;
  }
  return 0;
}
int cuCtxSynchronize() { return has_faulted ? 715 : 0; }
int cuGetErrorName(int error, const char** name) {
  *name = error == 715   ? "CUDA_ERROR_ILLEGAL_INSTRUCTION"
          : error == 209 ? "CUDA_ERROR_NO_BINARY_FOR_GPU"
                         : "CUDA_ERROR_UNKNOWN";
  return 0;
}
int cuTensorMapEncodeTiled(void*, int, std::uint32_t, void*, const std::uint64_t*, const std::uint64_t*,
                           const std::uint32_t*, const std::uint32_t*, int, int, int, int) {
  return 0;
}

}  // extern "C"
