// SPDX-License-Identifier: Apache-2.0
// Thin wrappers over the driver's functions.
#include "analyzer/confirm/driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

namespace handoff::confirm {

struct Driver::LaunchConfig {
  unsigned grid[3], block[3], shared_bytes;
  StreamHandle* stream;
  struct Attribute {
    int id;
    char pad[4];
    std::uint32_t value[16];
  }* attributes;
  unsigned attribute_count;
};

namespace {

// Values of enumerators of cuda.h.
constexpr int kAttributeMultiprocessors = 16, kAttributeMaxSharedOptin = 97;
constexpr int kFunctionMaxDynamicShared = 8, kFunctionNonPortableCluster = 14;
constexpr int kLaunchClusterDimension = 4;
constexpr unsigned kHostPortableMapped = 1 | 2;
constexpr int kJitErrorLog = 5, kJitErrorLogBytes = 6;

}  // namespace

template <typename Function>
bool Driver::find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library_, name));
  if (function == nullptr && missing_.empty()) missing_ = name;
  return function != nullptr;
}

bool Driver::findAll() {
  return find(init_, "cuInit") && find(device_get_, "cuDeviceGet") &&
         find(device_name_get_, "cuDeviceGetName") && find(device_attribute_, "cuDeviceGetAttribute") &&
         find(version_get_, "cuDriverGetVersion") && find(retain_, "cuDevicePrimaryCtxRetain") &&
         find(set_current_, "cuCtxSetCurrent") && find(module_load_, "cuModuleLoadDataEx") &&
         find(function_get_, "cuModuleGetFunction") && find(global_get_, "cuModuleGetGlobal_v2") &&
         find(function_set_, "cuFuncSetAttribute") && find(alloc_, "cuMemAlloc_v2") &&
         find(host_alloc_, "cuMemHostAlloc") && find(host_address_, "cuMemHostGetDevicePointer_v2") &&
         find(to_device_, "cuMemcpyHtoD_v2") && find(to_host_, "cuMemcpyDtoH_v2") &&
         find(stream_create_, "cuStreamCreate") && find(launch_, "cuLaunchKernelEx") &&
         find(synchronize_, "cuCtxSynchronize") && find(error_name_, "cuGetErrorName") &&
         find(encode_tiled_, "cuTensorMapEncodeTiled");
}

Result<Driver> Driver::open() {
  Driver driver;
  const char* given = std::getenv("HANDOFF_LIBCUDA");
  for (const char* name : {given, "libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1"}) {
    if (driver.library_ == nullptr && name != nullptr) driver.library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (given != nullptr) break;
  }
  if (driver.library_ == nullptr) return Error{"no CUDA driver: libcuda.so.1 was not found", {}};
  if (!driver.findAll()) return Error{"the CUDA driver is too old: it has no " + driver.missing_, {}};
  int device = 0;
  void* context = nullptr;
  char name[256] = {};
  const auto failed = [&](Status status, const char* what) {
    return Error{std::string(what) + ": " + driver.nameOf(status), {}};
  };
  if (const Status status = driver.init_(0)) return failed(status, "no GPU can be used");
  if (const Status status = driver.device_get_(&device, 0)) return failed(status, "no GPU was found");
  driver.device_name_get_(name, sizeof name, device);
  driver.device_name_ = name;
  driver.version_get_(&driver.driver_version_);
  driver.device_attribute_(&driver.multiprocessors_, kAttributeMultiprocessors, device);
  driver.device_attribute_(&driver.max_shared_, kAttributeMaxSharedOptin, device);
  if (const Status status = driver.retain_(&context, device))
    return failed(status, "no context could be made");
  if (const Status status = driver.set_current_(context)) return failed(status, "no context could be made");
  return driver;
}

std::string Driver::nameOf(Status status) const {
  const char* name = nullptr;
  if (error_name_ == nullptr || error_name_(status, &name) != 0 || name == nullptr)
    return "error " + std::to_string(status);
  return name;
}

Status Driver::loadModule(const std::string& image, ModuleHandle*& module, std::string& log) const {
  log.assign(4096, '\0');
  int options[] = {kJitErrorLog, kJitErrorLogBytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  const Status status = module_load_(&module, image.c_str(), 2, options, values);
  log.resize(std::min(log.size(), log.find('\0')));
  return status;
}

Status Driver::findFunction(ModuleHandle* module, const std::string& name, FunctionHandle*& function) const {
  return function_get_(&function, module, name.c_str());
}

bool Driver::setGlobal(ModuleHandle* module, const char* name, std::uint64_t value) const {
  Address address = 0;
  std::size_t bytes = 0;
  return global_get_(&address, &bytes, module, name) == status::kOk && bytes == sizeof value &&
         to_device_(address, &value, sizeof value) == status::kOk;
}

Status Driver::allocate(std::size_t bytes, Address& address) const { return alloc_(&address, bytes); }

Status Driver::allocateHost(std::size_t bytes, Address& address) const {
  void* host = nullptr;
  if (const Status status = host_alloc_(&host, bytes, kHostPortableMapped)) return status;
  return host_address_(&address, host, 0);
}

Status Driver::toDevice(Address to, const void* from, std::size_t bytes) const {
  return to_device_(to, from, bytes);
}
Status Driver::toHost(void* to, Address from, std::size_t bytes) const { return to_host_(to, from, bytes); }
Status Driver::synchronize() const { return synchronize_(); }

Status Driver::prepare(FunctionHandle* function, const LaunchShape& shape) const {
  constexpr std::uint32_t kPortableCluster = 8;
  if (shape.cluster[0] * shape.cluster[1] * shape.cluster[2] > kPortableCluster) {
    if (const Status status = function_set_(function, kFunctionNonPortableCluster, 1)) return status;
  }
  if (shape.shared_bytes == 0) return status::kOk;
  return function_set_(function, kFunctionMaxDynamicShared, static_cast<int>(shape.shared_bytes));
}

Status Driver::makeStream(StreamHandle*& stream) const {
  constexpr unsigned kNonBlocking = 1;
  return stream_create_(&stream, kNonBlocking);
}

Status Driver::launch(FunctionHandle* function, const LaunchShape& shape, void** parameters,
                      StreamHandle* stream) const {
  LaunchConfig::Attribute cluster{
      kLaunchClusterDimension, {}, {shape.cluster[0], shape.cluster[1], shape.cluster[2]}};
  const bool is_cluster = shape.cluster[0] * shape.cluster[1] * shape.cluster[2] > 1;
  const LaunchConfig config{{shape.grid[0], shape.grid[1], shape.grid[2]},
                            {shape.block[0], shape.block[1], shape.block[2]},
                            shape.shared_bytes,
                            stream,
                            &cluster,
                            is_cluster ? 1u : 0u};
  return launch_(&config, function, parameters, nullptr);
}

Status Driver::encode(EncodedMap& map, const TensorMapSpec& spec, Address address, std::size_t bytes) const {
  // Only sizes matter to the copy: unsigned integers of the elements' width.
  constexpr int kUint8 = 0, kUint16 = 1, kUint32 = 2, kUint64 = 4;
  const int type = spec.element_bytes == 1   ? kUint8
                   : spec.element_bytes == 2 ? kUint16
                   : spec.element_bytes == 4 ? kUint32
                                             : kUint64;
  const auto rank = static_cast<std::uint32_t>(spec.box.size());
  std::uint64_t extents[5], strides[5];
  std::uint32_t box[5], steps[5];
  constexpr std::uint64_t kBoxes = 64;  // along a row, as far as the memory reaches
  std::uint64_t room = bytes / spec.element_bytes;
  for (std::uint32_t d = 0; d < rank; ++d) {
    box[d] = spec.box[d];
    steps[d] = d < spec.steps.size() && spec.steps[d] != 0 ? spec.steps[d] : 1;
    // Rows are multiples of 16 bytes, since their number of elements is a multiple of 16.
    const std::uint64_t wanted = (std::uint64_t{spec.box[d]} * (rank == 1 ? room : kBoxes) + 15) / 16 * 16;
    extents[d] = d + 1 == rank ? std::max<std::uint64_t>(room, spec.box[d])
                               : std::min(wanted, std::max<std::uint64_t>(room / 16 * 16, 16));
    if (spec.is_edited) extents[d] = d == 0 ? (std::uint64_t{spec.box[d]} + 15) / 16 * 16 : spec.box[d];
    extents[d] = std::min<std::uint64_t>(extents[d], std::uint64_t{1} << 31);
    room /= std::max<std::uint64_t>(extents[d], 1);
    strides[d] = (d == 0 ? spec.element_bytes : strides[d - 1]) * extents[d];
  }
  return encode_tiled_(&map, type, rank, reinterpret_cast<void*>(address), extents, strides, box, steps,
                       static_cast<int>(spec.interleave), static_cast<int>(spec.swizzle), /*l2Promotion=*/0,
                       /*oobFill=*/0);
}

}  // namespace handoff::confirm
