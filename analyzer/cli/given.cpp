// SPDX-License-Identifier: Apache-2.0
// Launches and tensor maps of a run.
#include "analyzer/cli/given.h"

#include <iostream>

namespace handoff::cli {

Given::Given(const CheckOptions& options) {
  for (const std::string& text : options.launches) of_command_line_.push_back({text, {}, {}});
}

void Given::add(const project::CheckedFile& file, const config::Config& config) {
  addLaunches(file.audiences, config);
  addMaps(file.map_audiences, config);
}

void Given::addLaunches(const std::vector<explore::Audience>& audiences, const config::Config& config) {
  if (audiences.size() != of_command_line_.size() + config.launches.size()) return;  // the file was not read
  auto next = audiences.begin();
  for (Item& item : of_command_line_) item.audience.add(*next++);
  if (config.launches.empty()) return;
  std::vector<Item>& items = of_configs_[config.launches.front().pos.file];
  for (std::size_t i = 0; i < config.launches.size(); ++i, ++next) {
    if (i == items.size()) items.push_back({config.launches[i].launch, config.launches[i].pos, {}});
    items[i].audience.add(*next);
  }
}

void Given::addMaps(const std::vector<explore::MapAudience>& audiences, const config::Config& config) {
  if (audiences.size() != config.tensor_maps.size() || audiences.empty()) return;
  std::vector<MapItem>& items = maps_[config.tensor_maps.front().pos.file];
  for (std::size_t i = 0; i < audiences.size(); ++i) {
    if (i == items.size()) items.push_back({config.tensor_maps[i].map, config.tensor_maps[i].pos, {}});
    items[i].audience.add(audiences[i]);
  }
}

bool Given::reportMistakes() const {
  bool is_right = true;
  const auto report = [&](const Item& item) {
    const Result<LaunchText> launch = parseLaunchText(item.text, Block::kNeeded);
    HANDOFF_CHECK(launch.hasValue());
    for (const Error& mistake : item.audience.mistakes(*launch, item.pos)) {
      std::cerr << (item.pos.file.empty() ? "handoff: error: --launch: " + mistake.message
                                          : toString(mistake))
                << "\n";
      is_right = false;
    }
  };
  for (const Item& item : of_command_line_) report(item);
  for (const auto& [path, items] : of_configs_)
    for (const Item& item : items) report(item);
  for (const auto& [path, items] : maps_) {
    for (const MapItem& item : items) {
      const std::optional<Error> mistake = item.audience.mistake(item.name, item.pos);
      if (mistake) std::cerr << toString(*mistake) << "\n";
      is_right &= !mistake;
    }
  }
  return is_right;
}

}  // namespace handoff::cli
