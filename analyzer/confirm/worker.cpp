// SPDX-License-Identifier: Apache-2.0
// Two copies of the kernel's memory, filled alike: the reference runs on one, the kernel under test on the
// other.
#include "analyzer/confirm/worker.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "analyzer/confirm/driver.h"
#include "analyzer/confirm/helper_kernels.h"

namespace handoff::confirm {

namespace {

struct FillMode {
  std::uint32_t kind;   ///< of handoff_fill
  std::uint64_t scale;  ///< of the sizes of buffers
};
/// Of handoff_fill, for variants that ask for it.
constexpr std::uint32_t kNoise = 3;
constexpr FillMode kModes[kFillModes] = {{0, 1}, {1, 1}, {0, 16}, {2, 1}};

/// Room in front of a buffer, for kernels that look at the elements before it.
constexpr std::uint64_t kMargin = 1 << 20;

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

/// A kernel with its own memory.
struct Side {
  std::vector<Address> memory;                     ///< by argument; 0: no buffer
  std::vector<std::vector<std::uint64_t>> values;  ///< by parameter, in words
  std::vector<EncodedMap> maps;                    ///< by argument
  std::vector<void*> pointers;
  FunctionHandle* function = nullptr;
};

class Worker {
 public:
  Worker(const Job& job, const WorkerOptions& options, Driver driver)
      : job_(job), options_(options), driver_(std::move(driver)), mode_(kModes[options.mode % kFillModes]) {}

  /// Only the kernel as it is, once.
  int runOneLaunch() {
    Side& side = reference_;
    if (loadHelpers() && makeSide(side, Place::kDevice) && load(job_.plain.base, side) &&
        fill(side, /*seed=*/1, mode_.kind) && check(driver_.synchronize(), "preparation") &&
        check(driver_.launch(side.function, job_.shape, side.pointers.data()), "launch") &&
        check(driver_.synchronize(), "kernel"))
      return 0;
    return broken();
  }

  int run() {
    say("device " + driver_.deviceName());
    say("driver " + std::to_string(driver_.driverVersion()));
    say("loading");
    if (!loadHelpers() || !makeSide(reference_, Place::kDevice) || !load(job_.reference(), reference_))
      return broken();
    if (!isTrusted()) {
      // The kernel itself says what is right, so what it does undisturbed is its first cell.
      const auto isPlain = [](const Variant& v) { return v.name == "plain"; };
      say("cell " +
          std::to_string(std::find_if(job_.variants.begin(), job_.variants.end(), isPlain) -
                         job_.variants.begin()) +
          " 0");
    }
    say("running");
    if (!isReferenceStable()) return 1;
    for (std::size_t v = options_.first_variant; v < job_.variants.size(); ++v) {
      const Variant& variant = job_.variants[v];
      const bool is_second_half = v == options_.first_variant && options_.first_which != 0;
      unsigned wrong[2] = {is_second_half ? 1u : 0u, 0};  // the first half ended a process before this one
      for (unsigned which = is_second_half ? 1 : 0; which < 2; ++which) {
        const std::string& file = which == 0 ? variant.base : variant.repaired;
        if (file.empty()) continue;
        // The reference of a control is asked only whether it fails under the same.
        if (which == 1 && job_.is_control && wrong[0] == 0) continue;
        say("cell " + std::to_string(v) + " " + std::to_string(which));
        if (!runCell(variant, file, wrong[which])) return 1;
      }
      if (wrong[0] != 0 && wrong[1] == 0 && !options_.runs_all) break;
    }
    say("done");
    return 0;
  }

 private:
  int broken() {
    say("reference " + why_);
    return 1;
  }

  bool check(Status status, const std::string& what) {
    if (status == status::kOk) return true;
    why_ = what + ": " + driver_.nameOf(status);
    return false;
  }

  bool loadHelpers() {
    ModuleHandle* module = nullptr;
    std::string log;
    return check(driver_.loadModule(kHelperKernels, module, log), "cannot load the helper kernels") &&
           check(driver_.findFunction(module, "handoff_fill", fill_), "handoff_fill") &&
           check(driver_.findFunction(module, "handoff_compare", compare_), "handoff_compare") &&
           check(driver_.findFunction(module, "handoff_scrub", scrub_), "handoff_scrub") &&
           check(driver_.findFunction(module, "handoff_neighbour", neighbour_), "handoff_neighbour") &&
           check(driver_.makeStream(beside_), "no stream") &&
           check(driver_.allocate(16, result_), "no memory") &&
           check(driver_.allocate(16, changed_), "no memory") &&
           check(driver_.allocateHost(1 << 20, flood_), "no memory");
  }

  std::uint64_t bytesOf(const Argument& argument) const { return argument.bytes * mode_.scale; }

  enum class Place : std::uint8_t { kDevice, kHostSources, kHost };

  bool makeSide(Side& side, Place place_of_buffers) {
    const bool is_any_source = std::any_of(job_.arguments.begin(), job_.arguments.end(),
                                           [](const Argument& a) { return a.is_source; });
    side.memory.assign(job_.arguments.size(), 0);
    side.maps.resize(job_.arguments.size());
    side.values.clear();
    for (const std::uint64_t bytes : job_.parameter_bytes) side.values.emplace_back((bytes + 7) / 8 + 8, 0);
    for (std::size_t a = 0; a < job_.arguments.size(); ++a) {
      const Argument& argument = job_.arguments[a];
      auto* place = reinterpret_cast<std::uint8_t*>(side.values[argument.param].data()) + argument.offset;
      if (argument.kind == Argument::Kind::kValue) {
        std::copy(argument.value.begin(), argument.value.end(), place);
        continue;
      }
      const bool is_map = argument.kind == Argument::Kind::kTensorMap;
      // Where nobody knows which buffer the copies read, all of them are.
      const bool is_source = is_map || argument.is_source || !is_any_source;
      const bool is_host =
          place_of_buffers == Place::kHost || (place_of_buffers == Place::kHostSources && is_source);
      const std::uint64_t bytes = is_map ? kMapBytes : bytesOf(argument);
      Address& address = side.memory[a];
      const Status status = is_host ? driver_.allocateHost(bytes + 2 * kMargin, address)
                                    : driver_.allocate(bytes + 2 * kMargin, address);
      if (!check(status, "no memory for '" + argument.name + "'")) return false;
      // A buffer that holds maps has what they describe in its second half.
      const Address described = address + kMargin + (is_map ? 0 : bytes / 2);
      const Status encoded = argument.map.box.empty() ? status::kOk
                                                      : driver_.encode(side.maps[a], argument.map, described,
                                                                       is_map ? bytes : bytes / 2);
      if (!check(encoded, "cannot make the tensor map '" + argument.name + "'")) return false;
      const Address inside = address + kMargin;
      if (is_map) {
        std::copy_n(reinterpret_cast<const std::uint8_t*>(&side.maps[a]), sizeof(EncodedMap), place);
      } else {
        std::copy_n(reinterpret_cast<const std::uint8_t*>(&inside), sizeof inside, place);
      }
    }
    side.pointers.clear();
    for (std::vector<std::uint64_t>& value : side.values) side.pointers.push_back(value.data());
    return true;
  }

  std::uint64_t wordsOf(std::size_t argument) const {
    const bool is_map = job_.arguments[argument].kind == Argument::Kind::kTensorMap;
    return ((is_map ? kMapBytes : bytesOf(job_.arguments[argument])) + 2 * kMargin) / 4;
  }

  bool load(const std::string& file, Side& side) {
    const Result<std::string> image = readImage(job_, file);
    if (!image) return why_ = toString(image.error()), false;
    ModuleHandle* module = nullptr;
    std::string log;
    const Status status = driver_.loadModule(*image, module, log);
    if (!check(status, file + " cannot be loaded")) {
      if (!log.empty()) why_ += " (" + log.substr(0, log.find('\n')) + ")";
      return false;
    }
    constexpr const char* kHost = "handoff_host";  // of the kernels that queue copies to host memory
    if (image->find(kHost) != std::string::npos) driver_.setGlobal(module, kHost, flood_);
    return check(driver_.findFunction(module, job_.kernel, side.function), "kernel " + job_.kernel) &&
           check(driver_.prepare(side.function, job_.shape), "this launch is not possible");
  }

  bool fill(const Side& side, std::uint32_t seed, std::uint32_t kind) {
    for (std::size_t a = 0; a < side.memory.size(); ++a) {
      if (side.memory[a] == 0) continue;
      Address to = side.memory[a];
      std::uint64_t words = wordsOf(a);
      std::uint32_t own = seed * 0x01000193u + static_cast<std::uint32_t>(a) * 0x9e3779b9u;
      void* parameters[] = {&to, &words, &own, &kind};
      if (!check(driver_.launch(fill_, helperShape(), parameters), "fill")) return false;
      if (!holdsMaps(a)) continue;
      const std::vector<EncodedMap> maps(kHeldMaps, side.maps[a]);
      if (!check(driver_.synchronize(), "fill") ||
          !check(driver_.toDevice(to + kMargin, maps.data(), maps.size() * sizeof(EncodedMap)), "fill"))
        return false;
    }
    return true;
  }

  bool holdsMaps(std::size_t argument) const {
    return job_.arguments[argument].kind == Argument::Kind::kBuffer &&
           !job_.arguments[argument].map.box.empty();
  }

  LaunchShape helperShape() const {
    return {{static_cast<std::uint32_t>(4 * driver_.multiprocessors()), 1, 1}, {256, 1, 1}, {1, 1, 1}, 0};
  }

  LaunchShape wholeBlocks(std::uint32_t each) const {
    return {{each * static_cast<std::uint32_t>(driver_.multiprocessors()), 1, 1},
            {256, 1, 1},
            {1, 1, 1},
            static_cast<std::uint32_t>(driver_.maxSharedBytes())};
  }

  // Shared memory is never clean in practice; what is in it must not be the tile of the launch before.
  bool scrub(std::uint32_t seed) {
    const LaunchShape shape = wholeBlocks(2);
    std::uint32_t bytes = shape.shared_bytes;
    void* parameters[] = {&bytes, &seed};
    return check(driver_.prepare(scrub_, shape), "scrub") &&
           check(driver_.launch(scrub_, shape, parameters), "scrub");
  }

  // Its blocks need all shared memory of a multiprocessor: they start where, and when, the kernel's have
  // ended.
  bool startNeighbour(std::uint32_t seed) {
    constexpr std::uint32_t kBlocksEach = 8;
    const LaunchShape shape = wholeBlocks(kBlocksEach);
    std::uint32_t bytes = shape.shared_bytes;
    Address result = changed_;
    void* parameters[] = {&bytes, &seed, &result};
    return check(driver_.prepare(neighbour_, shape), "neighbour") &&
           check(driver_.launch(neighbour_, shape, parameters, beside_), "neighbour");
  }

  struct Conditions {
    std::uint32_t fill_kind = 0;
    bool has_neighbour = false;
  };

  /// One launch of the kernel on fresh memory.
  bool runSide(Side& side, std::uint32_t seed, std::uint32_t junk, const Conditions& conditions) {
    if (!fill(side, seed, conditions.fill_kind) || !scrub(junk) ||
        !check(driver_.synchronize(), "preparation"))
      return false;
    const Status launched = driver_.launch(side.function, job_.shape, side.pointers.data());
    is_launch_refused_ = launched != status::kOk;
    return check(launched, "launch") && (!conditions.has_neighbour || startNeighbour(junk)) &&
           check(driver_.synchronize(), "kernel");
  }

  /// Words of the neighbour's shared memory that somebody else has changed since the last call.
  bool takeChanged(std::uint32_t& words) {
    const std::uint32_t zero = 0;
    return check(driver_.toHost(&words, changed_, sizeof words), "compare") &&
           check(driver_.toDevice(changed_, &zero, sizeof zero), "compare");
  }

  bool compare(const Side& a, const Side& b, std::uint32_t& different, std::uint32_t& first) {
    different = 0;
    for (std::size_t i = 0; i < a.memory.size(); ++i) {
      if (a.memory[i] == 0) continue;
      std::uint32_t counts[2] = {0, 0xffffffffu};
      // Maps hold addresses, which are not the same on both sides.
      const std::uint64_t skipped = holdsMaps(i) ? kMargin + bytesOf(job_.arguments[i]) / 2 : 0;
      Address pa = a.memory[i] + skipped, pb = b.memory[i] + skipped, result = result_;
      std::uint64_t words = wordsOf(i) - skipped / 4;
      void* parameters[] = {&pa, &pb, &words, &result};
      if (!check(driver_.toDevice(result_, counts, sizeof counts), "compare") ||
          !check(driver_.launch(compare_, helperShape(), parameters), "compare") ||
          !check(driver_.toHost(counts, result_, sizeof counts), "compare"))
        return false;
      if (counts[0] != 0 && different == 0) first = counts[1] - static_cast<std::uint32_t>(kMargin / 4);
      different += counts[0];
    }
    return true;
  }

  /// Whether the kernel that says what is right has to be the same every time: where it is the one under
  /// suspicion, the defect may show undisturbed.
  bool isTrusted() const { return job_.hasRepair() || job_.is_control; }

  // Two launches with different junk in shared memory.
  bool isReferenceStable() {
    Side second;
    if (!makeSide(second, Place::kDevice)) return broken(), false;
    second.function = reference_.function;
    constexpr unsigned kTries = 4;
    const Conditions undisturbed{.fill_kind = mode_.kind};
    for (unsigned i = 0; i < kTries; ++i) {
      std::uint32_t different = 0, first = 0;
      if (!runSide(reference_, i, 2 * i, undisturbed) || !runSide(second, i, 2 * i + 1, undisturbed)) {
        if (is_launch_refused_ || isTrusted()) return broken(), false;
        say("fault " + why_.substr(why_.rfind(' ') + 1));
        return false;
      }
      if (!compare(reference_, second, different, first)) return broken(), false;
      if (different == 0) continue;
      if (!isTrusted()) continue;
      why_ = "its result is not the same in two launches (word " + std::to_string(first) + ")";
      return broken(), false;
    }
    spare_ = std::move(second);
    return true;
  }

  bool runCell(const Variant& variant, const std::string& file, unsigned& wrong) {
    say("loading");
    const Place place = variant.has_host_buffers   ? Place::kHost
                        : variant.has_host_sources ? Place::kHostSources
                                                   : Place::kDevice;
    Side& side = place == Place::kDevice ? spare_ : place == Place::kHost ? all_host_ : host_;
    if (side.memory.empty() && !makeSide(side, place)) return say("skip " + why_), true;
    if (!load(file, side)) return say("skip " + why_), true;
    say("running");
    const Conditions quiet{.fill_kind = variant.has_noise ? kNoise : mode_.kind};
    const Conditions own{.fill_kind = quiet.fill_kind, .has_neighbour = variant.has_neighbour};
    std::uint32_t word = 0, ignored = 0;
    if (own.has_neighbour && !takeChanged(ignored)) return broken(), false;
    const auto count = [&](unsigned launches) {
      say("count " + std::to_string(launches) + " " + std::to_string(wrong) + " " + std::to_string(word));
    };
    for (unsigned i = 0; i < options_.launches; ++i) {
      std::uint32_t different = 0, first = 0, changed = 0;
      const std::uint32_t seed = 1000 + i;
      if (!runSide(reference_, seed, 2 * seed, quiet)) return broken(), false;
      if (!runSide(side, seed, 2 * seed + 1, own)) {
        if (is_launch_refused_) return say("skip " + why_), true;
        count(i + 1);
        return say("fault " + why_.substr(why_.rfind(' ') + 1)), false;
      }
      if (!compare(reference_, side, different, first)) return broken(), false;
      if (own.has_neighbour && !takeChanged(changed)) return broken(), false;
      if (different + changed != 0 && wrong++ == 0) word = first;
      if (i % 10 == 9) count(i + 1);
    }
    count(options_.launches);
    return true;
  }

  /// Memory behind a tensor map that is a parameter.
  static constexpr std::uint64_t kMapBytes = 16 << 20;
  /// At the start of a buffer that holds maps.
  static constexpr std::size_t kHeldMaps = 64;

  const Job& job_;
  const WorkerOptions options_;
  const Driver driver_;
  const FillMode mode_;
  FunctionHandle *fill_ = nullptr, *compare_ = nullptr, *scrub_ = nullptr, *neighbour_ = nullptr;
  StreamHandle* beside_ = nullptr;
  Address result_ = 0, changed_ = 0, flood_ = 0;
  Side reference_, spare_, host_, all_host_;
  bool is_launch_refused_ = false;
  std::string why_;
};

}  // namespace

int runOneLaunch(const Job& job, const WorkerOptions& options) {
  Result<Driver> driver = Driver::open();
  if (!driver) {
    say("reference " + driver.error().message);
    return 1;
  }
  return Worker(job, options, std::move(*driver)).runOneLaunch();
}

int runWorker(const Job& job, const WorkerOptions& options) {
  Result<Driver> driver = Driver::open();
  if (!driver) {
    say("reference " + driver.error().message);
    return 1;
  }
  return Worker(job, options, std::move(*driver)).run();
}

}  // namespace handoff::confirm
