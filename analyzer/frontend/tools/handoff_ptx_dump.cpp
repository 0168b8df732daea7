// SPDX-License-Identifier: Apache-2.0
// Developer's tool: prints what the front end makes of a file.
#include <cstring>
#include <iostream>

#include "analyzer/frontend/input.h"

using handoff::frontend::Folded;

namespace {

std::string show(const Folded& value) { return value ? std::to_string(*value) : "?"; }

std::string show(const std::array<Folded, 3>& dims) {
  return show(dims[0]) + "," + show(dims[1]) + "," + show(dims[2]);
}

std::string show(const handoff::SourcePos& pos) {
  return pos.file + ":" + std::to_string(pos.line) + ":" + std::to_string(pos.column);
}

void showKernels(const handoff::frontend::Unit& unit) {
  for (const auto& kernel : unit.kernels) {
    std::cout << "kernel " << kernel.pretty << " [" << kernel.name << "] " << show(kernel.pos)
              << " bounds=" << show(kernel.max_threads) << " cluster=" << show(kernel.cluster_dims) << "\n";
    if (kernel.untrusted) std::cout << "  UNTRUSTED " << handoff::toString(*kernel.untrusted) << "\n";
    for (const auto& field : kernel.fields)
      std::cout << "  field " << field.name << " param=" << field.param << "+" << field.offset
                << " size=" << field.size << " kind=" << static_cast<int>(field.kind)
                << (field.is_signed ? " signed" : "") << " pointee=" << field.pointee_size << "\n";
  }
}

void showUnit(const handoff::frontend::Unit& unit, bool shows_code) {
  std::cout << "producer " << toString(unit.producer) << " produce=" << unit.produce_seconds
            << "s parse=" << unit.parse_seconds << "s\n";
  showKernels(unit);
  for (const auto& launch : unit.launches) {
    std::cout << "launch " << launch.kernel << " " << show(launch.pos) << " grid=" << show(launch.grid)
              << " block=" << show(launch.block) << " cluster=" << show(launch.cluster)
              << " smem=" << show(launch.dynamic_smem) << " args";
    for (const auto& argument : launch.arguments)
      std::cout << " " << argument.param << "+" << argument.offset << ":" << argument.size << "="
                << argument.value;
    std::cout << "\n";
  }
  for (const auto& fact : unit.asm_facts)
    std::cout << "asm " << show(fact.pos) << (fact.is_volatile ? " volatile" : "")
              << (fact.has_memory_clobber ? " memory" : "") << " \"" << fact.text << "\"\n";
  for (const auto& comment : unit.comments)
    std::cout << "comment " << show(comment.pos) << " " << comment.text << "\n";
  for (const auto& note : unit.notes) std::cout << "note " << handoff::toString(note) << "\n";
  if (!shows_code) return;
  for (const auto& function : unit.module.functions) {
    std::cout << "function " << function.name << (function.is_kernel ? " kernel" : "") << "\n";
    for (const auto& instruction : function.instructions) {
      std::cout << "  " << instruction.opcode;
      for (const auto& frame : unit.module.locations[instruction.loc])
        std::cout << "  <- " << frame.function << " " << show(frame.pos);
      std::cout << "\n";
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  handoff::frontend::Options options;
  std::vector<std::string> files;
  bool shows_code = false;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--clang")
      options.frontend = handoff::frontend::Choice::kClang;
    else if (arg == "--nvcc")
      options.frontend = handoff::frontend::Choice::kNvcc;
    else if (arg == "--code")
      shows_code = true;
    else if (arg == "--no-toolkit")
      options.no_toolkit = true;
    else if (arg.starts_with("--arch="))
      options.arch = arg.substr(7);
    else if (arg == "--")
      options.has_fixed_flags = true;
    else if (options.has_fixed_flags)
      options.extra_args.push_back(arg);
    else
      files.push_back(arg);
  }
  int status = 0;
  for (const std::string& file : files) {
    const auto unit = handoff::frontend::load(file, options);
    if (unit)
      showUnit(*unit, shows_code);
    else
      std::cout << handoff::toString(unit.error()) << "\n", status = 1;
  }
  return status;
}
