// SPDX-License-Identifier: Apache-2.0
// Names of kernels against globs.
#include "analyzer/explore/configured.h"

#include "analyzer/support/text.h"

namespace handoff::explore {
namespace {

/// Without the group in brackets that ends the text, if one does: "k<3>(int)" -> "k<3>" -> "k".
std::string_view withoutLastGroup(std::string_view text, char open, char close) {
  if (!text.ends_with(close)) return text;
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == close) ++depth;
    if (text[i] == open && --depth == 0) return text.substr(0, i);
  }
  return text;
}

}  // namespace

bool isKernelCalled(std::string_view glob, std::string_view mangled, std::string_view pretty) {
  constexpr std::string_view kResult = "void ";  // demanglers put it in front of templates
  if (pretty.starts_with(kResult)) pretty.remove_prefix(kResult.size());
  const std::string_view without_parameters = withoutLastGroup(pretty, '(', ')');
  const std::string_view base = withoutLastGroup(without_parameters, '<', '>');
  return matchesGlob(mangled, glob) || matchesGlob(pretty, glob) || matchesGlob(without_parameters, glob) ||
         matchesGlob(base, glob);
}

std::vector<const ConfiguredLaunch*> configuredFor(const Options& options, std::string_view mangled,
                                                   std::string_view pretty) {
  std::vector<const ConfiguredLaunch*> found;
  for (const ConfiguredLaunch& launch : options.configured)
    if (isKernelCalled(launch.kernel_glob, mangled, pretty)) found.push_back(&launch);
  return found;
}

}  // namespace handoff::explore
