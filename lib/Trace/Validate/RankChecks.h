//===- RankChecks.h - Rules within one rank ---------------------*- C++ -*-===//
//
// Reads one rank and applies the rules that concern it alone. What the rules
// across ranks need stays in the result.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TRACE_VALIDATE_RANKCHECKS_H
#define STG_LIB_TRACE_VALIDATE_RANKCHECKS_H

#include "NodeNames.h"
#include "RankGraph.h"

namespace stg::trace {

/// A rank after its own checks.
struct RankResult {
  ViolationList violations;
  RankGraph graph;
  Bindings bindings;
};

/// Reads and checks the rank at a position. Nothing of its trace stays in
/// memory but the result.
RankResult checkRank(RankSource &source, uint32_t position,
                     std::optional<uint64_t> numNpus,
                     const ValidatorOptions &options);

} // namespace stg::trace

#endif // STG_LIB_TRACE_VALIDATE_RANKCHECKS_H
