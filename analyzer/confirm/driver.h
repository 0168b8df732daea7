// SPDX-License-Identifier: Apache-2.0
// The few functions of the CUDA driver that are needed, found in libcuda at run time: the program builds
// without a toolkit and starts without a GPU. Declarations follow "CUDA Driver API" (cuda.h), whose types are
// part of its binary interface.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/support/result.h"

namespace handoff::confirm {

using Status = int;  ///< CUresult; 0: success
using Address = std::uint64_t;
using Dim3 = std::array<std::uint32_t, 3>;
struct ModuleHandle;
struct FunctionHandle;
struct StreamHandle;

namespace status {
inline constexpr Status kOk = 0, kOutOfMemory = 2, kIllegalAddress = 700, kLaunchTimeout = 702;
}

/// CUtensorMap: 128 bytes, aligned to 64.
struct alignas(64) EncodedMap {
  std::array<std::uint64_t, 16> words{};
};

struct TensorMapSpec {
  std::uint32_t element_bytes = 0;
  std::vector<std::uint32_t> box;    ///< elements, innermost first
  std::vector<std::uint32_t> steps;  ///< between elements of the box; empty: 1
  std::uint32_t swizzle = 0, interleave = 0;
  bool is_edited = false;  ///< the kernel makes it point elsewhere: there is one box
};

struct LaunchShape {
  Dim3 grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  std::uint32_t shared_bytes = 0;
};

class Driver {
 public:
  /// Loads libcuda, or the library that HANDOFF_LIBCUDA names, and makes a context on device 0.
  static Result<Driver> open();

  const std::string& deviceName() const { return device_name_; }
  int driverVersion() const { return driver_version_; }
  int multiprocessors() const { return multiprocessors_; }
  int maxSharedBytes() const { return max_shared_; }

  Status loadModule(const std::string& image, ModuleHandle*& module, std::string& log) const;
  Status findFunction(ModuleHandle* module, const std::string& name, FunctionHandle*& function) const;
  /// Sets an 8-byte variable of the module; true when the module has it.
  bool setGlobal(ModuleHandle* module, const char* name, std::uint64_t value) const;
  Status allocate(std::size_t bytes, Address& address) const;
  /// Memory of the host that the device can address.
  Status allocateHost(std::size_t bytes, Address& address) const;
  Status toDevice(Address to, const void* from, std::size_t bytes) const;
  Status toHost(void* to, Address from, std::size_t bytes) const;
  /// Allows the shared memory that the launch asks for.
  Status prepare(FunctionHandle* function, const LaunchShape& shape) const;
  /// A stream whose kernels run beside those of the others.
  Status makeStream(StreamHandle*& stream) const;
  /// `stream`: null for the one that all else is in.
  Status launch(FunctionHandle* function, const LaunchShape& shape, void** parameters,
                StreamHandle* stream = nullptr) const;
  Status synchronize() const;
  /// A map over `bytes` bytes at `address`, with rows as long as 64 boxes, or over one box.
  Status encode(EncodedMap& map, const TensorMapSpec& spec, Address address, std::size_t bytes) const;
  std::string nameOf(Status status) const;

 private:
  template <typename Function>
  bool find(Function& function, const char* name);
  bool findAll();

  void* library_ = nullptr;
  std::string missing_, device_name_;
  int driver_version_ = 0, multiprocessors_ = 0, max_shared_ = 0;

  struct LaunchConfig;
  Status (*init_)(unsigned) = nullptr;
  Status (*device_get_)(int*, int) = nullptr;
  Status (*device_name_get_)(char*, int, int) = nullptr;
  Status (*device_attribute_)(int*, int, int) = nullptr;
  Status (*version_get_)(int*) = nullptr;
  Status (*retain_)(void**, int) = nullptr;
  Status (*set_current_)(void*) = nullptr;
  Status (*module_load_)(ModuleHandle**, const void*, unsigned, int*, void**) = nullptr;
  Status (*function_get_)(FunctionHandle**, ModuleHandle*, const char*) = nullptr;
  Status (*global_get_)(Address*, std::size_t*, ModuleHandle*, const char*) = nullptr;
  Status (*function_set_)(FunctionHandle*, int, int) = nullptr;
  Status (*alloc_)(Address*, std::size_t) = nullptr;
  Status (*host_alloc_)(void**, std::size_t, unsigned) = nullptr;
  Status (*host_address_)(Address*, void*, unsigned) = nullptr;
  Status (*to_device_)(Address, const void*, std::size_t) = nullptr;
  Status (*to_host_)(void*, Address, std::size_t) = nullptr;
  Status (*stream_create_)(StreamHandle**, unsigned) = nullptr;
  Status (*launch_)(const LaunchConfig*, FunctionHandle*, void**, void**) = nullptr;
  Status (*synchronize_)() = nullptr;
  Status (*error_name_)(Status, const char**) = nullptr;
  Status (*encode_tiled_)(EncodedMap*, int, std::uint32_t, void*, const std::uint64_t*, const std::uint64_t*,
                          const std::uint32_t*, const std::uint32_t*, int, int, int, int) = nullptr;
};

}  // namespace handoff::confirm
