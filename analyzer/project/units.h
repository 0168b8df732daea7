// SPDX-License-Identifier: Apache-2.0
// From files, folders and globs to what is checked: a file with one of its compile commands.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/frontend/database.h"
#include "analyzer/frontend/input.h"
#include "analyzer/support/result.h"

namespace handoff::project {

struct TranslationUnit {
  std::string file;  ///< as the user named it, or as the database does
  /// The command of the file; null: none is known, or it could not be read.
  std::shared_ptr<const frontend::Database> database;
  std::optional<std::size_t> entry;
  std::string variant;  ///< "2 of 3: -DN=4" where a file is compiled several times; else empty
};

/// `options` with the command of the unit.
frontend::Options optionsOf(const TranslationUnit& unit, frontend::Options options);

/// Without a build folder: files as given, folders as the .cu and .ptx files below them, by name. With one,
/// folders and globs stand for the CUDA files of its database, and no input for all of them, in its order.
/// Each file once for each of its commands that differ. Errors: an input that stands for nothing, a database
/// that cannot be read.
Result<std::vector<TranslationUnit>> selectUnits(const std::vector<std::string>& inputs,
                                                 const frontend::Options& options);

}  // namespace handoff::project
