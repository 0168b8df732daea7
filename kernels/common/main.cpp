// SPDX-License-Identifier: Apache-2.0
// handoff-kernels: lists, checks and times the reference kernels.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <string_view>

#include "common/device_facts.h"
#include "common/kernel.h"
#include "common/report.h"

namespace handoff::kernels {
namespace {

constexpr const char* kUsage =
    "Usage: handoff-kernels list\n"
    "       handoff-kernels run NAMES|all [--seed N] [--small]\n"
    "       handoff-kernels bench NAMES|all [--json FILE]\n"
    "\n"
    "NAMES are names from the list, with commas between them.\n"
    "run checks every shape of a kernel against the host; --small takes the five smallest shapes of each, --seed\n"
    "makes the random data repeatable. bench measures times, beside the copy bandwidth of the same device.\n"
    "Exit codes: 0 all right, 1 a result is wrong, 2 wrong usage, 3 a CUDA call failed, 77 there is no device.\n";

enum ExitCode : int { kRight = 0, kWrong = 1, kUsageError = 2, kFailed = 3, kNoDevice = 77 };

struct Options {
  std::string verb, name, json_file;
  std::uint64_t seed = 0;
  bool small = false;
};

/// False where the arguments are wrong.
bool parse(int argc, char** argv, Options& options) {
  if (argc < 2) return false;
  options.verb = argv[1];
  options.seed = std::random_device{}();
  int at = 2;
  if (options.verb != "list") {
    if (argc < 3) return false;
    options.name = argv[at++];
  }
  for (; at < argc; ++at) {
    const std::string_view option = argv[at];
    const bool has_value = at + 1 < argc;
    if (option == "--small") {
      options.small = true;
    } else if (option == "--seed" && has_value) {
      options.seed = std::strtoull(argv[++at], nullptr, 0);
    } else if (option == "--json" && has_value) {
      options.json_file = argv[++at];
    } else {
      return false;
    }
  }
  return options.verb == "list" || options.verb == "run" || options.verb == "bench";
}

/// The kernels of a list of names; none where a name is wrong.
std::vector<const Kernel*> selected(const std::string& names) {
  if (names == "all") return allKernels();
  std::vector<const Kernel*> kernels;
  std::stringstream list(names);
  for (std::string name; std::getline(list, name, ',');) {
    const auto is_meant = [&](const Kernel* kernel) { return name == kernel->name; };
    const auto found = std::find_if(allKernels().begin(), allKernels().end(), is_meant);
    if (found == allKernels().end()) return {};
    kernels.push_back(*found);
  }
  return kernels;
}

bool runKernel(const Kernel& kernel, const Options& options) {
  std::vector<Shape> shapes = kernel.shapes();
  if (options.small && shapes.size() > 5) shapes.resize(5);
  std::size_t wrong = 0;
  double worst = 0, tolerance = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Check check = kernel.run(shapes[i], options.seed + i);
    worst = check.max_relative_error > worst ? check.max_relative_error : worst;
    tolerance = check.tolerance;
    if (check.passes()) continue;
    ++wrong;
    std::printf("%s %s: WRONG, relative error %.3g > %.3g in %s\n", kernel.name, toText(shapes[i]).c_str(),
                check.max_relative_error, check.tolerance, check.where.c_str());
  }
  std::printf("%-18s %zu of %zu shapes right, largest relative error %.3g (tolerance %.3g)\n", kernel.name,
              shapes.size() - wrong, shapes.size(), worst, tolerance);
  std::fflush(stdout);
  return wrong == 0;
}

std::string utcNow() {
  const std::time_t now = std::time(nullptr);
  char buffer[32];
  std::strftime(buffer, sizeof buffer, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return buffer;
}

int bench(const std::vector<const Kernel*>& kernels, const Options& options, const std::filesystem::path& executable) {
  BenchReport report;
  report.device = deviceFacts();
  report.date = utcNow();
  report.command = "handoff-kernels bench " + options.name;
  report.instructions = countInstructions(executable.string(), report.device.sm);
  report.copy = measureCopyBandwidth();
  std::printf("%s, driver %s, copy bandwidth %.0f GB/s (cudaMemcpyAsync %.0f, kernel %.0f), read and written counted\n",
              report.device.name.c_str(), report.device.driver_release.c_str(), report.copy.best() * 1e-9,
              report.copy.memcpy_rate * 1e-9, report.copy.kernel_rate * 1e-9);
  if (report.instructions.empty()) std::puts("no cuobjdump: instructions are not counted");
  for (const Kernel* kernel : kernels) {
    if (report.device.sm < kernel->min_sm) continue;
    report.kernels.emplace_back(kernel, kernel->bench());
    for (const Bench& result : report.kernels.back().second) std::puts(toText(report, *kernel, result).c_str());
    std::fflush(stdout);
  }
  if (!options.json_file.empty()) std::ofstream(options.json_file) << toJson(report);
  return kRight;
}

int list() {
  for (const Kernel* kernel : allKernels())
    std::printf("%-18s sm_%d  %-40s %s\n", kernel->name, kernel->min_sm, kernel->extents, kernel->summary);
  return kRight;
}

int run(const std::vector<const Kernel*>& kernels, const Options& options) {
  const DeviceFacts device = deviceFacts();
  std::printf("%s, sm_%d, seed %llu\n", device.name.c_str(), device.sm,
              static_cast<unsigned long long>(options.seed));
  bool all_right = true;
  for (const Kernel* kernel : kernels) {
    if (device.sm < kernel->min_sm) {
      std::printf("%-18s skipped: needs sm_%d\n", kernel->name, kernel->min_sm);
      continue;
    }
    all_right &= runKernel(*kernel, options);
  }
  return all_right ? kRight : kWrong;
}

}  // namespace
}  // namespace handoff::kernels

int main(int argc, char** argv) {
  using namespace handoff::kernels;
  Options options;
  if (!parse(argc, argv, options)) {
    std::fputs(kUsage, stderr);
    return kUsageError;
  }
  if (options.verb == "list") return list();
  const std::vector<const Kernel*> kernels = selected(options.name);
  if (kernels.empty()) {
    std::fprintf(stderr, "handoff-kernels: there is no kernel '%s'\n", options.name.c_str());
    return kUsageError;
  }
  if (!hasDevice()) {
    std::fputs("handoff-kernels: no CUDA device\n", stderr);
    return kNoDevice;
  }
  try {
    return options.verb == "run" ? run(kernels, options) : bench(kernels, options, std::filesystem::read_symlink("/proc/self/exe"));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "handoff-kernels: %s\n", error.what());
    return kFailed;
  }
}
