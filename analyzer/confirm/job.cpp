// SPDX-License-Identifier: Apache-2.0
// Nothing in a manifest is trusted: sizes are bounded, and every name of a file stays in its folder.
#include "analyzer/confirm/job.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

namespace handoff::confirm {

namespace {

using json::Value;

constexpr std::uint64_t kMaxBufferBytes = std::uint64_t{4} << 30;
constexpr std::uint64_t kMaxParameterBytes = 32'764;  // PTX ISA, "Kernel Function Parameters"

class Reader {
 public:
  Reader(const std::string& folder, const Value& manifest, const Value& given)
      : manifest_(manifest), given_(given) {
    job_.folder = folder;
  }

  Result<Job> read() {
    if (manifest_["version"].integer() != 1) return wrong("its version is not 1");
    job_.name = manifest_["name"].text();
    job_.rule = manifest_["rule"].text();
    job_.file = manifest_["file"].text();
    job_.line = manifest_["line"].integer();
    job_.kernel = manifest_["kernel"].text();
    if (job_.name.empty() || job_.kernel.empty()) return wrong("it names no job or no kernel");
    const Value& launch = manifest_["launch"];
    const bool is_shape = extent(launch["grid"], job_.shape.grid) &&
                          extent(launch["block"], job_.shape.block) &&
                          extent(launch["cluster"], job_.shape.cluster);
    if (!is_shape) return wrong("the launch has no grid, block and cluster of three positive numbers");
    job_.shape.shared_bytes = static_cast<std::uint32_t>(launch["dynamic_shared"].integer());
    std::uint64_t total = 0;
    for (const Value& parameter : manifest_["parameters"].array()) {
      const auto bytes = static_cast<std::uint64_t>(parameter["bytes"].integer());
      total += bytes;
      if (bytes == 0 || total > kMaxParameterBytes)
        return wrong("a parameter has no size, or they are too large");
      job_.parameter_bytes.push_back(bytes);
    }
    for (const Value& argument : manifest_["arguments"].array()) {
      if (!addArgument(argument)) return wrong("argument '" + argument["name"].text() + "': " + why_);
    }
    job_.is_control = manifest_["is_control"].boolean();
    for (const Value& outcome : manifest_["predicts"].array()) {
      job_.predicts_hang |= outcome.text() == "hang";
      job_.predicts_fault |= outcome.text() == "fault";
    }
    for (const Value& variant : manifest_["variants"].array()) {
      job_.variants.push_back({variant["name"].text(), variant["what"].text(), variant["base"].text(),
                               variant["repaired"].text(), variant["host_sources"].boolean(),
                               variant["host_buffers"].boolean(), variant["neighbour"].boolean(),
                               variant["noise"].boolean()});
      for (const std::string& file : {job_.variants.back().base, job_.variants.back().repaired}) {
        if (file.find('/') != std::string::npos)
          return wrong("a file of variant '" + job_.variants.back().name +
                       "' is not in the folder of the job");
      }
      if (job_.variants.back().base.empty())
        return wrong("variant '" + job_.variants.back().name + "' has no kernel");
    }
    // What everything is compared with is the kernel without any addition.
    const auto plain = std::find_if(job_.variants.begin(), job_.variants.end(),
                                    [](const Variant& v) { return v.name == "plain"; });
    if (plain == job_.variants.end()) return wrong("it has no variant 'plain'");
    reference_ = *plain;
    return std::move(job_);
  }

  const Variant& reference() const { return reference_; }

 private:
  Error wrong(const std::string& what) const {
    return {"this is no job: " + what, {job_.folder + "/job.json", 0, 0}};
  }

  static bool extent(const Value& value, Dim3& result) {
    if (value.array().size() != 3) return false;
    for (std::size_t d = 0; d < 3; ++d) {
      const std::int64_t n = value.array()[d].integer();
      if (n < 1 || n > 0x7fff'ffff) return false;
      result[d] = static_cast<std::uint32_t>(n);
    }
    return true;
  }

  bool addArgument(const Value& said) {
    // What the user gives replaces single members.
    Value argument = said;
    for (const auto& [name, value] : given_[said["name"].text()].object()) argument.set(name, value);
    Argument result;
    result.name = argument["name"].text();
    result.param = static_cast<std::uint32_t>(argument["param"].integer());
    result.offset = static_cast<std::uint32_t>(argument["offset"].integer());
    const std::string kind = argument["kind"].text();
    std::uint64_t size = 0;
    if (kind == "buffer") {
      result.kind = Argument::Kind::kBuffer;
      result.bytes = static_cast<std::uint64_t>(argument["bytes"].integer());
      result.is_source = argument["is_source"].boolean();
      size = 8;
      if (result.bytes == 0 || result.bytes > kMaxBufferBytes || result.bytes % 4 != 0)
        return fail("a buffer has 4 bytes to 4 GiB, in words");
      if (argument["map"].isObject() && !readMap(argument["map"], result.map)) return false;
    } else if (kind == "tensor_map") {
      result.kind = Argument::Kind::kTensorMap;
      size = sizeof(EncodedMap);
      if (!argument["map"].isObject()) return fail("nobody says what this tensor map looks like; --args can");
      if (!readMap(argument["map"], result.map)) return false;
    } else if (kind == "value") {
      if (!readValue(argument, result.value)) return false;
      size = result.value.size();
    } else {
      return fail("it is neither buffer nor value nor tensor_map");
    }
    if (result.param >= job_.parameter_bytes.size() ||
        result.offset + size > job_.parameter_bytes[result.param])
      return fail("it lies outside of its parameter");
    job_.arguments.push_back(std::move(result));
    return true;
  }

  bool readValue(const Value& argument, std::vector<std::uint8_t>& value) {
    const std::string text = argument["bytes"].text();
    for (std::size_t i = 0; i + 1 < text.size(); i += 2)
      value.push_back(static_cast<std::uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
    if (argument["value"].isInteger()) {
      const auto number = static_cast<std::uint64_t>(argument["value"].integer());
      for (std::size_t i = 0; i < value.size(); ++i)
        value[i] = static_cast<std::uint8_t>(i < 8 ? number >> (8 * i) : 0);
    }
    return !value.empty() || fail("it has no bytes");
  }

  bool readMap(const Value& said, TensorMapSpec& map) {
    map.element_bytes = static_cast<std::uint32_t>(said["element_bytes"].integer());
    map.swizzle = static_cast<std::uint32_t>(said["swizzle"].integer());
    map.is_edited = said["is_edited"].boolean();
    map.interleave = static_cast<std::uint32_t>(said["interleave"].integer());
    for (const Value& extent : said["box"].array())
      map.box.push_back(static_cast<std::uint32_t>(extent.integer()));
    for (const Value& step : said["steps"].array())
      map.steps.push_back(static_cast<std::uint32_t>(step.integer()));
    const bool is_element =
        map.element_bytes == 1 || map.element_bytes == 2 || map.element_bytes == 4 || map.element_bytes == 8;
    return (is_element && !map.box.empty() && map.box.size() <= 5) ||
           fail("a map has elements of 1, 2, 4 or 8 bytes and a box of 1 to 5 extents");
  }

  bool fail(const char* why) {
    why_ = why;
    return false;
  }

  const Value& manifest_;
  const Value& given_;
  Job job_;
  Variant reference_;
  std::string why_;
};

std::optional<std::string> contents(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace

Result<Job> readJob(const std::string& folder, const Value& given) {
  const Result<Value> manifest = json::read(folder + "/job.json");
  if (!manifest) return manifest.error();
  Reader reader(folder, *manifest, given);
  Result<Job> job = reader.read();
  if (job) job->plain = reader.reference();
  return job;
}

void narrow(Job& job, const std::string& variants, unsigned blocks) {
  const std::string list = "," + variants + ",";
  if (!variants.empty())
    std::erase_if(job.variants, [&](const Variant& variant) {
      return variant.name != "plain" && list.find("," + variant.name + ",") == std::string::npos;
    });
  const Dim3& grid = job.shape.grid;
  const std::uint64_t now = std::uint64_t{grid[0]} * grid[1] * grid[2];
  if (blocks > now) job.shape.grid[0] *= static_cast<std::uint32_t>((blocks + now - 1) / now);
}

Result<std::string> readImage(const Job& job, const std::string& file) {
  const std::string path = job.folder + "/" + file;
  const std::string cubin = std::filesystem::path(path).replace_extension(".cubin").string();
  if (std::optional<std::string> code = contents(cubin)) return std::move(*code);
  if (std::optional<std::string> text = contents(path)) return std::move(*text);
  return Error{"cannot read the kernel", {path, 0, 0}};
}

}  // namespace handoff::confirm
