// SPDX-License-Identifier: Apache-2.0
// Pieces that the parts of the HTML report share.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/report/html.h"

namespace handoff::report {

/// `<name class="css">escaped text</name>`; no class if `css` is empty.
std::string htmlElement(std::string_view name, std::string_view css, std::string_view text);
/// A row of a list of facts; nothing if the value, which is HTML, is empty.
std::string htmlFact(std::string_view name, std::string_view value);
/// "file:line" in `<code>`, escaped; empty when the position is not known.
std::string htmlPlace(const SourcePos& pos, const Paths& paths);
std::string plural(std::uint64_t count, std::string_view noun);

/// One finding with its source, picture, steps, witness and repair. `elsewhere`: where else it occurs;
/// `number`: within the page.
std::string renderFindingHtml(const diagnose::Finding& finding, std::string_view elsewhere,
                              const std::string& id, const Paths& paths, SourceLines& sources);

/// A picture with its legend and notes.
std::string renderFigure(const diagnose::Picture& picture, std::string_view label, std::string_view caption);

}  // namespace handoff::report
