// SPDX-License-Identifier: Apache-2.0
// Tables and JSON of `bench`. Rates are of the median; shares are of the copy bandwidth of the same run.
#include "common/report.h"

#include <cstdio>

namespace handoff::kernels {
namespace {

template <class... Arguments>
std::string format(const char* pattern, Arguments... arguments) {
  char buffer[512];
  std::snprintf(buffer, sizeof buffer, pattern, arguments...);
  return buffer;
}

double perSecond(double quantity, const Times& times) { return quantity / (times.median * 1e-3); }

std::string toText(const InstructionCounts& counts) {
  std::string text;
  for (const auto& [mnemonic, count] : counts)
    text += (text.empty() ? "" : " ") + mnemonic + ":" + std::to_string(count);
  return text.empty() ? "-" : text;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string shapeJson(const Shape& shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "[" + text + "]";
}

std::string variantJson(const BenchReport& report, const Bench& bench, const Measured& measured) {
  const Variant& variant = measured.variant;
  const Resources resources = resourcesOf(variant);
  std::string counts;
  for (const auto& [mnemonic, count] : instructionsOf(variant, report.instructions))
    counts += (counts.empty() ? "" : ", ") + quoted(mnemonic) + ": " + std::to_string(count);
  std::string text = "        {\"name\": " + quoted(variant.name) + ", \"stages\": " + std::to_string(variant.stages);
  text += ", \"completion\": " + quoted(variant.completion);
  text += format(", \"median_ms\": %.6f, \"p10_ms\": %.6f, \"p90_ms\": %.6f, \"launches\": %d", measured.times.median,
                 measured.times.low, measured.times.high, measured.times.launches);
  text += format(",\n         \"bytes_per_s\": %.4g, \"share_of_copy\": %.4f, \"flop_per_s\": %.4g",
                 perSecond(bench.bytes, measured.times),
                 perSecond(bench.bytes, measured.times) / report.copy.best(), perSecond(bench.flops, measured.times));
  text += format(", \"speedup\": %.4f", bench.measured.front().times.median / measured.times.median);
  text += format(",\n         \"block_threads\": %d, \"registers\": %d, \"shared_bytes\": %zu, \"local_bytes\": %zu",
                 variant.block_threads, resources.registers, resources.shared_bytes, resources.local_bytes);
  text += format(", \"blocks_per_multiprocessor\": %d, \"occupancy\": %.4f", resources.blocks_per_multiprocessor,
                 resources.occupancy);
  return text + ", \"instructions\": {" + counts + "}}";
}

std::string benchJson(const BenchReport& report, const Kernel& kernel, const Bench& bench) {
  std::string variants;
  for (const Measured& measured : bench.measured)
    variants += (variants.empty() ? "" : ",\n") + variantJson(report, bench, measured);
  return "    {\"kernel\": " + quoted(kernel.name) + ", \"extents\": " + quoted(kernel.extents) + ", \"shape\": " +
         shapeJson(bench.shape) + ", \"setting\": " + quoted(bench.setting) + format(", \"bytes\": %.0f, \"flops\": %.0f, \"is_mover\": %s", bench.bytes,
                                         bench.flops, bench.is_mover ? "true" : "false") +
         ",\n      \"variants\": [\n" + variants + "]}";
}

}  // namespace

std::string toText(const Shape& shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text;
}

std::string toText(const BenchReport& report, const Kernel& kernel, const Bench& bench) {
  std::string text = format("%s%s%s: %s = %s, %.1f MB, %.3g FLOP\n", kernel.name, bench.setting.empty() ? "" : ", ",
                            bench.setting.c_str(), kernel.extents, toText(bench.shape).c_str(), bench.bytes * 1e-6,
                            bench.flops);
  text += format("  %-26s %8s %17s %7s %6s %8s %8s %4s %7s %4s %4s %s\n", "variant", "ms", "p10..p90", "GB/s", "copy",
                 "GFLOP/s", "speedup", "regs", "smem", "blk", "occ", "stages, completion, instructions");
  for (const Measured& measured : bench.measured) {
    const Resources resources = resourcesOf(measured.variant);
    const double rate = perSecond(bench.bytes, measured.times);
    text += format("  %-26s %8.4f %8.4f %8.4f %7.0f %5.1f%% %8.0f %7.2fx %4d %7zu %4d %3.0f%% ",
                   measured.variant.name.c_str(), measured.times.median, measured.times.low, measured.times.high,
                   rate * 1e-9, 100 * rate / report.copy.best(), perSecond(bench.flops, measured.times) * 1e-9,
                   bench.measured.front().times.median / measured.times.median, resources.registers,
                   resources.shared_bytes, resources.blocks_per_multiprocessor, 100 * resources.occupancy);
    text += format("%d, %s, ", measured.variant.stages, measured.variant.completion.c_str()) +
            toText(instructionsOf(measured.variant, report.instructions)) + "\n";
  }
  return text;
}

std::string toJson(const BenchReport& report) {
  const DeviceFacts& device = report.device;
  std::string text = "{\n  \"date\": " + quoted(report.date) + ",\n  \"command\": " + quoted(report.command);
  text += ",\n  \"device\": {\"name\": " + quoted(device.name) +
          format(", \"sm\": %d, \"multiprocessors\": %d, \"driver\": %d, \"runtime\": %d, \"driver_release\": ",
                 device.sm, device.multiprocessors, device.driver, device.runtime) +
          quoted(device.driver_release) + "}";
  text += format(",\n  \"copy_bytes_per_s\": {\"memcpy\": %.5g, \"kernel\": %.5g},\n", report.copy.memcpy_rate,
                 report.copy.kernel_rate);
  std::string benches;
  for (const auto& [kernel, of_kernel] : report.kernels)
    for (const Bench& bench : of_kernel)
      benches += (benches.empty() ? "" : ",\n") + benchJson(report, *kernel, bench);
  return text + "  \"results\": [\n" + benches + "]\n}\n";
}

}  // namespace handoff::kernels
