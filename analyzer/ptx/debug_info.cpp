// SPDX-License-Identifier: Apache-2.0
// Inline chains as a hash-consed forest; stacks are built once per chain that an instruction uses.
#include "analyzer/ptx/debug_info.h"

#include <cxxabi.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>

namespace handoff::ptx {
namespace {

// Deeper chains than any compiler writes: keeps a text of self-referring lines from growing quadratically.
constexpr std::uint32_t kMaxInlineDepth = 64;
// Template instances have names of many thousand characters, and every frame carries one.
constexpr std::size_t kMaxNameLength = 240;
constexpr std::size_t kMaxMangledLength = 1 << 15;
constexpr std::uint32_t kMaxFileIndex = 1 << 16;

std::size_t mix(std::size_t seed, std::size_t value) {
  return (seed ^ value) * 0x9e3779b97f4a7c15ull + (seed >> 29);
}

}  // namespace

std::string demangle(std::string_view name) {
  if (!name.starts_with("_Z") || name.size() > kMaxMangledLength)
    return std::string(name.substr(0, kMaxNameLength));
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), &std::free);
  std::string result = status == 0 && text != nullptr ? text.get() : std::string(name);
  if (result.size() > kMaxNameLength) result = result.substr(0, kMaxNameLength - 3) + "...";
  return result;
}

std::size_t DebugInfo::NodeHash::operator()(const Node& node) const {
  std::size_t seed = mix(PositionHash()(node.pos), node.parent);
  seed = mix(seed, reinterpret_cast<std::uintptr_t>(node.function_label.data()));
  return mix(seed, node.label_offset * 31 + node.function);
}

std::size_t DebugInfo::PositionHash::operator()(const Position& pos) const {
  return mix(mix(pos.file, pos.line), pos.column);
}

void DebugInfo::beginFunction(std::string_view mangled_name) {
  functions_.push_back(mangled_name);
  latest_.clear();
  current_ = 0;
}

LocId DebugInfo::intern(const Node& node) {
  const auto [entry, is_new] = ids_.try_emplace(node, static_cast<LocId>(nodes_.size()));
  if (is_new) nodes_.push_back(node);
  return entry->second;
}

void DebugInfo::addLine(const Line& line) {
  Node node{.pos = line.pos, .function_label = line.function_label, .label_offset = line.label_offset};
  node.function = functions_.empty() ? 0 : static_cast<std::uint32_t>(functions_.size() - 1);
  if (line.is_inlined) {
    const auto parent = latest_.find(line.inlined_at);
    node.parent = parent != latest_.end()
                      ? parent->second
                      : intern({.pos = line.inlined_at, .function_label = {}, .function = node.function});
    node.depth = nodes_[node.parent].depth + 1;
    if (node.depth > kMaxInlineDepth) {
      node.parent = 0;
      node.depth = 1;
    }
  }
  current_ = intern(node);
  latest_[line.pos] = current_;
}

void DebugInfo::addFile(std::uint32_t index, std::string_view path) {
  if (index > kMaxFileIndex) return;
  if (files_.size() <= index) files_.resize(index + 1);
  files_[index] = std::filesystem::path(path).lexically_normal().string();
}

void DebugInfo::beginString(std::string_view label) { string_labels_[label] = strings_.size(); }

std::uint32_t DebugInfo::internName(std::string mangled) {
  std::string name = demangle(mangled);
  const auto [entry, is_new] = name_ids_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.push_back(std::move(name));
  return entry->second;
}

std::uint32_t DebugInfo::functionName(const Node& node) {
  if (node.function_label.empty()) {
    return node.function < names_by_function_.size() ? names_by_function_[node.function] : internName("");
  }
  if (node.label_offset == 0) {
    if (const auto known = names_by_label_.find(node.function_label); known != names_by_label_.end())
      return known->second;
  }
  std::string mangled;
  if (const auto label = string_labels_.find(node.function_label); label != string_labels_.end()) {
    const std::size_t begin = label->second + node.label_offset;
    if (begin >= label->second && begin < strings_.size()) mangled = strings_.c_str() + begin;
  }
  const std::uint32_t name = internName(std::move(mangled));
  if (node.label_offset == 0) names_by_label_.emplace(node.function_label, name);
  return name;
}

SourceStack DebugInfo::stackOf(LocId id, const std::vector<std::string>& files) {
  SourceStack stack;
  for (; id != 0; id = nodes_[id].parent) {
    const Node& node = nodes_[id];
    SourceFrame frame;
    if (node.pos.file < files.size()) frame.pos.file = files[node.pos.file];
    frame.pos.line = node.pos.line;
    frame.pos.column = node.pos.column;
    frame.function = names_[functionName(node)];
    stack.push_back(std::move(frame));
  }
  return stack;
}

void DebugInfo::finish(Module& module) {
  module.files = std::move(files_);
  module.locations.assign(1, SourceStack());
  for (const std::string_view function : functions_)
    names_by_function_.push_back(internName(std::string(function)));
  std::unordered_map<std::string_view, std::uint32_t> file_ids;  // one file may have several indices
  const auto fileId = [&](std::uint32_t index) {
    const std::string_view path = index < module.files.size() ? std::string_view(module.files[index]) : "";
    return file_ids.try_emplace(path, static_cast<std::uint32_t>(file_ids.size())).first->second;
  };
  // Two lines may differ in their labels and yet resolve to one stack, so the final ids go by content.
  std::unordered_map<Node, LocId, NodeHash> by_content;
  by_content.reserve(nodes_.size());
  std::vector<LocId> canonical(nodes_.size(), 0);
  for (LocId id = 1; id < nodes_.size(); ++id) {
    const Node& node = nodes_[id];
    const Node key{.pos = {fileId(node.pos.file), node.pos.line, node.pos.column},
                   .function_label = {},
                   .function = functionName(node),
                   .parent = canonical[node.parent]};
    canonical[id] = by_content.try_emplace(key, id).first->second;
  }
  std::vector<LocId> final_ids(nodes_.size(), 0);
  for (Function& function : module.functions) {
    for (Instruction& instruction : function.instructions) {
      const LocId id = canonical[instruction.loc];
      if (id != 0 && final_ids[id] == 0) {
        final_ids[id] = static_cast<LocId>(module.locations.size());
        module.locations.push_back(stackOf(id, module.files));
      }
      instruction.loc = final_ids[id];
    }
  }
}

}  // namespace handoff::ptx
