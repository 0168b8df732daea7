// SPDX-License-Identifier: Apache-2.0
// Terms of values that depend on data which nobody knows before the launch: each such datum is a symbol of its own, and
// operations on it are followed as bit-vector terms, so that an address can be asked where it may lead.
//
// A term has one symbol for all lanes of a warp, though each lane has data of its own: questions are about one lane, or
// about two whose symbols are kept apart.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analyzer/symbolic/solver.h"
#include "analyzer/symbolic/term.h"

namespace handoff::machine {

/// The terms of one run.
class DataTerms {
 public:
  struct Origin {
    std::uint32_t instr = 0;        ///< that produced the datum
    bool is_input = false;          ///< not data, but an input of the kernel (path.h) ...
    std::uint64_t present = 0;      ///< ... that has this value in the run
  };

  symbolic::Terms& terms() { return terms_; }
  const symbolic::Terms& terms() const { return terms_; }
  /// A datum of which nothing is known but its width; kConcrete when there are too many to be followed.
  symbolic::TermId fresh(unsigned width, std::uint32_t instr);
  /// The term itself, or a fresh datum in place of one that has grown too large to ask about.
  symbolic::TermId orFresh(symbolic::TermId term, std::uint32_t instr);
  /// A term over the inputs, from another store; `present` gives the value of an input's symbol.
  symbolic::TermId import(const symbolic::Terms& from, symbolic::TermId id,
                          const std::function<std::uint64_t(symbolic::TermId)>& present);
  const Origin& originOf(symbolic::TermId symbol) const { return origins_[terms_[symbol].value]; }

 private:
  std::uint32_t weightOf(symbolic::TermId id);

  symbolic::Terms terms_;
  std::vector<Origin> origins_;                 ///< by symbol
  std::vector<std::uint32_t> weights_;          ///< by term: nodes, as a tree; 0: not counted yet
  symbolic::Terms::Substitution imported_;
};

/// Hashes of terms that do not depend on how their symbols are numbered: equal for the same computation on other data.
/// Symbols keep their identity from one term to the next, so that terms about one datum differ from those about two.
class ShapeHasher {
 public:
  explicit ShapeHasher(const DataTerms& data) : data_(data) {}
  std::uint64_t operator()(symbolic::TermId id);

 private:
  const DataTerms& data_;
  std::unordered_map<symbolic::TermId, std::uint64_t> known_;
  std::uint64_t symbols_ = 0;
};

/// First and last of the addresses at which an access may start.
struct StartRange { std::uint64_t first = 0, last = 0; };

/// Where one lane may access memory, as far as bounds and alignment tell.
struct Span {
  std::uint64_t low = 0, high = ~0ull;          ///< first and last address
  unsigned known_bits = 0;                      ///< so many low bits of the address are those of `residue`
  std::uint64_t residue = 0;

  /// An access of `bytes` may touch one of [address, address + size).
  bool mayMeet(std::uint64_t bytes, std::uint64_t address, std::uint64_t size) const;
  friend bool operator==(const Span&, const Span&) = default;
};
Span spanOf(const symbolic::Terms& terms, symbolic::TermId address);

/// Asks Z3 where data may lead. One for all runs of a kernel: the same question comes up in each of them.
class DataQuestions {
 public:
  using Answer = symbolic::Solver::Answer;
  struct Found {
    Answer answer = Answer::kUnknown;
    bool needs_other_inputs = false;            ///< kUnknown: it can be, but not with the inputs of this run
    std::uint64_t address = 0;                  ///< kYes: such an address (of the first access)
    std::vector<std::pair<symbolic::TermId, std::uint64_t>> values;  ///< kYes: of the data (symbols of the first access)
  };
  /// An access of one lane: where, and under which condition (kConcrete: none).
  struct Question {
    symbolic::TermId address = 0, condition = 0;
    unsigned lane = 0;
  };

  DataQuestions();
  ~DataQuestions();
  /// Some answer is not known for lack of time.
  bool wasCutShort() const;
  /// May it start within one of these ranges?
  Found meets(DataTerms& data, const Question& access, const std::vector<StartRange>& starts);
  /// Least and greatest value of a term under a condition, neither of which may differ by lane; as close as Z3 gets.
  StartRange bounds(DataTerms& data, symbolic::TermId term, symbolic::TermId condition);
  /// May two accesses by different threads, of so many bytes each, overlap within [low, high)?
  Found overlap(DataTerms& data, const Question& a, std::uint64_t a_bytes, const Question& b, std::uint64_t b_bytes,
                std::uint64_t low, std::uint64_t high);

 private:
  struct Copy;
  symbolic::TermId symbolFor(const symbolic::Symbol& symbol, bool is_input, std::size_t number);
  Found ask(DataTerms& data, symbolic::TermId predicate, symbolic::TermId address, const Copy& copy);

  symbolic::Terms terms_;
  std::unique_ptr<symbolic::Solver> solver_;    ///< made when first asked
  std::map<std::tuple<std::string, unsigned, std::uint64_t, std::uint64_t>, symbolic::TermId> symbols_;
  struct Known { Answer answer = Answer::kUnknown; symbolic::Model model; };
  std::unordered_map<symbolic::TermId, Known> known_;
  double seconds_ = 0;                          ///< spent so far
  std::map<std::pair<symbolic::TermId, symbolic::TermId>, StartRange> bounds_;
  Known solve(symbolic::TermId predicate);
};

}  // namespace handoff::machine
