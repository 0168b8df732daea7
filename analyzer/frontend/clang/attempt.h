// SPDX-License-Identifier: Apache-2.0
// State of one parse, shared by the hooks that watch it, and the repairs that one parse asks the next for.
#pragma once

#include <map>
#include <set>

#include "analyzer/frontend/clang/compile.h"
#include "analyzer/frontend/clang/pch.h"

namespace handoff::frontend {

/// What Clang refuses although nvcc takes it, found by one parse and applied by the next.
struct Repairs {
  std::set<std::string> shared_records;  ///< user classes with a constructor that stand in __shared__ memory
  /// Missing "typename"/"template" by file and offset in the file as it is on disk.
  std::map<std::pair<std::string, unsigned>, std::string> keywords;
  std::set<std::pair<std::string, unsigned>> restricts;  ///< "__restrict__" where no pointer is: file and offset
  bool relocatable = false;  ///< "extern __shared__ Struct s;", launches from the device
  bool wide_shim = false;    ///< the standard headers that nvcc includes by itself

  friend bool operator==(const Repairs&, const Repairs&) = default;
};

/// An error as the parser reported it.
struct ParseError {
  Error error;
  clang::SourceLocation loc;
  bool is_missing_header = false;
};

struct Attempt {
  Attempt(const PathMap& map, const Repairs& repairs) : paths(map), applied(repairs), wanted(repairs) {}

  const PathMap& paths;
  const Repairs& applied;
  Repairs wanted;  ///< starts as a copy of `applied`
  clang::Sema* sema = nullptr;

  std::vector<ParseError> errors;
  /// Errors by the functions around them: lambdas and their enclosing functions, instantiations.
  llvm::DenseMap<const clang::FunctionDecl*, llvm::SmallVector<clang::SourceLocation, 2>> errored_functions;
  llvm::DenseSet<const clang::Decl*> errored_records;
  std::vector<clang::SourceLocation> outside_errors;  ///< in no function: judged by place at the end

  std::vector<clang::SourceLocation> global_keywords;  ///< every "__global__" in a user file
  std::vector<SourceComment> comments;
  std::unique_ptr<clang::CommentHandler> comment_handler;
  ClangOutput output;

  const CancelToken* cancel = nullptr;
  bool is_last = false;  ///< no further parse will follow: make the best of this one
  bool wantsRetry() const { return !is_last && !(wanted == applied); }
};

/// In the user's terms; a position inside a macro is where the macro is used.
inline SourcePos positionOf(const clang::SourceManager& sources, const PathMap& paths,
                            clang::SourceLocation loc) {
  const clang::PresumedLoc presumed = sources.getPresumedLoc(sources.getExpansionLoc(loc));
  if (presumed.isInvalid()) return {};
  return {paths.display(presumed.getFilename()), presumed.getLine(), presumed.getColumn()};
}

inline bool isUserCode(const clang::SourceManager& sources, clang::SourceLocation loc) {
  return loc.isValid() && !sources.isInSystemHeader(sources.getExpansionLoc(loc)) &&
         !sources.isWrittenInBuiltinFile(loc) && !sources.isWrittenInCommandLineFile(loc);
}

}  // namespace handoff::frontend
