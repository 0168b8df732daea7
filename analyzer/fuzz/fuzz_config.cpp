// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes are a configuration or an error with a position; what a configuration is written
// as reads as the same configuration.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/config/config.h"
#include "analyzer/support/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace handoff;
  const auto config = config::parse({reinterpret_cast<const char*>(data), size}, ".handoff.yaml");
  if (!config) {
    HANDOFF_CHECK(!config.error().message.empty());
    HANDOFF_CHECK(config.error().pos.line != 0);
    return 0;
  }
  const std::string text = config::toYaml(*config);
  const auto again = config::parse(text, ".handoff.yaml");
  HANDOFF_CHECK(again.hasValue());
  HANDOFF_CHECK(config::toYaml(*again) == text);
  HANDOFF_CHECK(again->launches.size() == config->launches.size());
  HANDOFF_CHECK(again->tensor_maps.size() == config->tensor_maps.size());
  HANDOFF_CHECK(again->tensor_maps.size() == config->tensor_maps.size());
  HANDOFF_CHECK(again->suppressions.size() == config->suppressions.size());
  return 0;
}
