//===- RankChecks.h - Rules within one rank ---------------------*- C++ -*-===//
//
// Reads one rank and applies the rules that concern it alone. What the rules
// across ranks need stays in the result.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TRACE_RANKCHECKS_H
#define STG_LIB_TRACE_RANKCHECKS_H

#include "RankGraph.h"
#include "stg/Trace/TraceValidator.h"

namespace stg::trace {

/// A rank after its own checks.
struct RankResult {
  uint64_t rank = 0;
  std::string file;
  /// Keeps the file mapped, to look up names; unset if it cannot be read.
  std::optional<TraceReader> reader;
  ViolationList violations;
  RankGraph graph;
  /// All of the file was read and understood.
  bool isComplete = false;
  bool isAcyclic = false;

  /// The node in words, e.g. "node 3 'x'".
  std::string describe(uint32_t node) const;

  /// Adds a violation at a node to `list`.
  void report(ViolationList &list, Rule rule, uint32_t node,
              const llvm::Twine &message) const;
};

/// Reads and checks one rank.
RankResult checkRank(const RankInput &input, const CommGroups &groups,
                     std::optional<uint64_t> numNpus,
                     const ValidatorOptions &options);

} // namespace stg::trace

#endif // STG_LIB_TRACE_RANKCHECKS_H
