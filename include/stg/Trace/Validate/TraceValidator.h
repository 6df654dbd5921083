//===- TraceValidator.h - Checks of a whole trace ---------------*- C++ -*-===//
//
// Checks a trace against the rules of TraceRules.h. Ranks are read and checked
// on their own, in parallel, and leave a compact graph behind, which equal
// ranks share; the rules that span ranks then work on those graphs. So memory
// grows with the number of different ranks and by some hundred bytes for each
// rank, and not with the size of the trace. Violations come in a fixed order:
// by rank, then those of the whole trace.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TRACE_VALIDATE_TRACEVALIDATOR_H
#define STG_TRACE_VALIDATE_TRACEVALIDATOR_H

#include "stg/Trace/Reader/RankSource.h"
#include "stg/Trace/Reader/TraceSet.h"
#include "stg/Trace/Validate/TraceRules.h"
#include "llvm/ADT/Twine.h"
#include <array>
#include <optional>

namespace stg::trace {

/// The machine and the simulator settings that a trace is meant for.
struct ValidatorOptions {
  /// Peak compute rate in 10^12 operations a second.
  double peakTflops = 900;
  /// Memory bandwidth in 10^9 bytes a second.
  double memBandwidth = 3350;
  /// Pieces that the simulator cuts a collective into.
  uint64_t splits = 4;
  /// Number of ranks; nothing: as many as files and groups speak of.
  std::optional<uint64_t> numNpus;
  /// Apply rule 8.7 also to traces that do not name their persistent tensors.
  bool strictMemory = false;
  /// Leave out rule 6.4: sends never wait for their receive.
  bool eagerSends = false;
  /// Violations kept for each rule; the others are counted. 0: all.
  unsigned maxErrors = 20;
  /// Threads that read ranks; 0: one per core.
  unsigned threads = 0;
  /// In traces of more ranks than this, those that the rules across ranks
  /// cannot tell apart are checked as one, and told of as one.
  unsigned maxSingleRanks = 64;
  /// No progress on a terminal.
  bool quiet = false;
};

/// One violation of a rule.
struct Violation {
  Rule rule = Rule::Framing;
  std::string file;
  /// A node, by its id and its name; none for violations of a file as a whole.
  std::optional<std::pair<uint64_t, std::string>> node;
  std::string message;
};

/// Collects violations and bounds how many are kept.
class ViolationList {
public:
  explicit ViolationList(unsigned maxErrors = 0) : maxErrors(maxErrors) {}

  /// Adds a violation of a file as a whole.
  void add(Rule rule, llvm::StringRef file, const llvm::Twine &message);

  /// Adds a violation at a node.
  void add(Rule rule, llvm::StringRef file, uint64_t id, llvm::StringRef name,
           const llvm::Twine &message);

  /// Appends all of `other`, each with `suffix` after its message.
  void append(ViolationList &&other, llvm::StringRef suffix = "");

  llvm::ArrayRef<Violation> getKept() const { return kept; }
  uint64_t getCount(Rule rule) const {
    return counts[static_cast<unsigned>(rule)];
  }
  uint64_t getTotal() const;

  /// True if a further violation of `rule` would only be counted.
  bool isFull(Rule rule) const;

private:
  void keep(Violation violation);

  unsigned maxErrors;
  std::vector<Violation> kept;
  std::array<uint64_t, numRules> counts = {};
  std::array<uint64_t, numRules> numKept = {};
};

/// What a validation found.
struct ValidationReport {
  ViolationList violations;
  uint64_t numRanks = 0;
  uint64_t numNodes = 0;
  /// How many ranks differ in what they do, whatever the groups and peers; and
  /// for how many each rule across ranks was decided.
  uint64_t numGraphs = 0, numClasses = 0;
  /// Rules that need all ranks were applied.
  bool checkedAcrossRanks = false;
};

/// Validates the ranks of `source`. With `acrossRanks` unset, rules that need
/// all ranks of a trace are left out.
ValidationReport validateRanks(RankSource &source, bool acrossRanks,
                               const ValidatorOptions &options);

/// Validates all ranks of a trace, which messages call `trace`. They should be
/// those from 0 on.
ValidationReport validateTrace(RankSource &source, llvm::StringRef trace,
                               const ValidatorOptions &options);

/// Validates ranks that have a file each.
ValidationReport validateRanks(llvm::ArrayRef<RankInput> inputs,
                               const CommGroups &groups, bool acrossRanks,
                               const ValidatorOptions &options);

/// Validates a trace in files. A single file is checked without the rules that
/// need all ranks.
ValidationReport validateTrace(const TraceSet &set, const CommGroups &groups,
                               const ValidatorOptions &options);

/// Writes the violations, one a line, and a summary line.
void printReport(const ValidationReport &report, llvm::raw_ostream &os);
/// Writes the JSON object that docs/Formats.md describes.
void printReportJSON(const ValidationReport &report, llvm::raw_ostream &os);

} // namespace stg::trace

#endif // STG_TRACE_VALIDATE_TRACEVALIDATOR_H
