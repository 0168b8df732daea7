// SPDX-License-Identifier: Apache-2.0
// From ".loc", ".file" and ".debug_str" to source stacks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/ptx/module.h"

namespace handoff::ptx {

/// The demangled form of a mangled name, cut to a length that a message can carry; other names as they are.
std::string demangle(std::string_view name);

/// Collects line information while a module is parsed and resolves it afterwards, because compilers put the
/// file table and the names of inlined functions at the end of the text.
///
/// nvcc writes one ".loc" a level, outermost first: "inlined_at f l c" names the position of a line written
/// before. A chain is written in full where it first occurs and by its innermost line alone later on, so the
/// position means the most recent line of that position in the same function.
class DebugInfo {
 public:
  struct Position {
    std::uint32_t file = 0, line = 0, column = 0;
    friend bool operator==(const Position&, const Position&) = default;
  };
  struct Line {
    Position pos;
    std::string_view function_label;  ///< into .debug_str; empty for the function's own lines
    std::uint64_t label_offset = 0;
    bool is_inlined = false;
    Position inlined_at;
  };

  /// Starts a function: until the first line its instructions have no position.
  void beginFunction(std::string_view mangled_name);
  void addLine(const Line& line);
  /// A provisional id of the current line, to be mapped by finish().
  LocId current() const { return current_; }

  void addFile(std::uint32_t index, std::string_view path);
  void beginString(std::string_view label);  ///< a label in .debug_str
  void addStringByte(std::uint8_t byte) { strings_.push_back(static_cast<char>(byte)); }

  /// Fills Module::files and Module::locations and gives every instruction its final LocId.
  void finish(Module& module);

 private:
  struct Node {
    Position pos;
    std::string_view function_label;
    std::uint64_t label_offset = 0;
    std::uint32_t function = 0;  ///< index into functions_
    LocId parent = 0;
    std::uint32_t depth = 1;
    friend bool operator==(const Node&, const Node&) = default;
  };
  struct NodeHash {
    std::size_t operator()(const Node& node) const;
  };
  struct PositionHash {
    std::size_t operator()(const Position& pos) const;
  };

  LocId intern(const Node& node);
  /// Index into names_ of the demangled function that the node's position lies in.
  std::uint32_t functionName(const Node& node);
  std::uint32_t internName(std::string mangled);
  SourceStack stackOf(LocId id, const std::vector<std::string>& files);

  std::vector<Node> nodes_ = {Node{}};
  std::unordered_map<Node, LocId, NodeHash> ids_;
  std::unordered_map<Position, LocId, PositionHash> latest_;
  std::vector<std::string_view> functions_;
  LocId current_ = 0;
  std::vector<std::string> files_;
  std::string strings_;
  std::unordered_map<std::string_view, std::size_t> string_labels_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> name_ids_;             // by demangled name
  std::unordered_map<std::string_view, std::uint32_t> names_by_label_;  // for labels without offset
  std::vector<std::uint32_t> names_by_function_;
};

}  // namespace handoff::ptx
