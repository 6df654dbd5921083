//===- TraceValidator.cpp - Checks of a whole trace -----------------------===//
//
// Puts the checks together and bounds what is reported.
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/TraceValidator.h"

#include "CrossRankChecks.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/raw_ostream.h"
#include <numeric>

using namespace llvm;

namespace stg::trace {

//===----------------------------------------------------------------------===//
// ViolationList
//===----------------------------------------------------------------------===//

bool ViolationList::isFull(Rule rule) const {
  return maxErrors != 0 && numKept[static_cast<unsigned>(rule)] >= maxErrors;
}

void ViolationList::keep(Violation violation) {
  ++numKept[static_cast<unsigned>(violation.rule)];
  kept.push_back(std::move(violation));
}

void ViolationList::add(Rule rule, StringRef file, const Twine &message) {
  ++counts[static_cast<unsigned>(rule)];
  if (!isFull(rule))
    keep({rule, file.str(), "", message.str()});
}

void ViolationList::add(Rule rule, StringRef file, uint64_t id, StringRef name,
                        const Twine &message) {
  ++counts[static_cast<unsigned>(rule)];
  if (!isFull(rule))
    keep({rule, file.str(),
          "node " + std::to_string(id) + " '" + escapeText(name) + "'",
          message.str()});
}

void ViolationList::append(ViolationList &&other) {
  for (Violation &violation : other.kept)
    if (!isFull(violation.rule))
      keep(std::move(violation));
  for (unsigned i = 0; i < numRules; ++i)
    counts[i] += other.counts[i];
  other = ViolationList(other.maxErrors);
}

uint64_t ViolationList::getTotal() const {
  return std::accumulate(counts.begin(), counts.end(), uint64_t(0));
}

//===----------------------------------------------------------------------===//
// Validation
//===----------------------------------------------------------------------===//

/// Members beyond this are taken for mistakes rather than for ranks.
static constexpr uint64_t maxPlausibleRanks = 1 << 20;

/// The number of ranks that the files and groups speak of. A single file says
/// nothing about it.
static std::optional<uint64_t> countNpus(ArrayRef<RankInput> inputs,
                                         const CommGroups &groups,
                                         bool acrossRanks,
                                         const ValidatorOptions &options) {
  if (options.numNpus)
    return options.numNpus;
  uint64_t count = 0;
  for (const auto &[name, members] : groups.members)
    for (int64_t member : members)
      if (member >= 0 && static_cast<uint64_t>(member) < maxPlausibleRanks)
        count = std::max(count, static_cast<uint64_t>(member) + 1);
  if (!acrossRanks && count == 0)
    return std::nullopt;
  for (const RankInput &input : inputs)
    count = std::max(count, input.rank + 1);
  return count;
}

static std::vector<RankResult> checkRanks(ArrayRef<RankInput> inputs,
                                          const CommGroups &groups,
                                          std::optional<uint64_t> numNpus,
                                          const ValidatorOptions &options) {
  std::vector<RankResult> results(inputs.size());
  if (inputs.size() == 1) {
    results[0] = checkRank(inputs[0], groups, numNpus, options);
    return results;
  }
  DefaultThreadPool pool(hardware_concurrency(options.threads));
  for (size_t i = 0; i < inputs.size(); ++i)
    pool.async([&, i] {
      results[i] = checkRank(inputs[i], groups, numNpus, options);
    });
  pool.wait();
  return results;
}

ValidationReport validateRanks(ArrayRef<RankInput> inputs,
                               const CommGroups &groups, bool acrossRanks,
                               const ValidatorOptions &options) {
  ValidationReport report;
  report.violations = ViolationList(options.maxErrors);
  report.numRanks = inputs.size();
  report.checkedAcrossRanks = acrossRanks;
  std::optional<uint64_t> numNpus =
      countNpus(inputs, groups, acrossRanks, options);
  std::vector<RankResult> results =
      checkRanks(inputs, groups, numNpus, options);
  for (RankResult &result : results) {
    report.numNodes += result.graph.getNumNodes();
    report.violations.append(std::move(result.violations));
  }
  checkGroupDefinitions(groups, numNpus, report.violations);
  if (acrossRanks) {
    checkSequences(results, groups, report.violations);
    MessageMatching matching = checkMessages(results, report.violations);
    checkDeadlock(results, matching, !options.eagerSends, report.violations);
  }
  return report;
}

/// Reports the ranks from `first` up to `end` that have no file.
static void reportMissing(const TraceSet &set, uint64_t first, uint64_t end,
                          ViolationList &violations) {
  if (first >= end)
    return;
  std::string ranks = "rank " + std::to_string(first) + " has";
  if (end - first > 1)
    ranks = "ranks " + std::to_string(first) + " to " +
            std::to_string(end - 1) + " have";
  violations.add(Rule::AllRanks, set.prefix, ranks + " no trace file");
}

static void checkFiles(const TraceSet &set, uint64_t numNpus,
                       ViolationList &violations) {
  for (const std::string &path : set.misnamed)
    violations.add(Rule::AllRanks, path,
                   "file name has leading zeros in its rank, the simulator "
                   "will not find it");
  uint64_t next = 0;
  for (const RankFile &file : set.files) {
    if (file.rank >= numNpus) {
      violations.add(Rule::AllRanks, file.path,
                     "rank is not less than the number of NPUs, " +
                         Twine(numNpus));
      continue;
    }
    reportMissing(set, next, file.rank, violations);
    next = file.rank + 1;
  }
  reportMissing(set, next, numNpus, violations);
}

ValidationReport validateTrace(const TraceSet &set, const CommGroups &groups,
                               const ValidatorOptions &options) {
  std::vector<RankInput> inputs;
  for (const RankFile &file : set.files)
    inputs.push_back({file.rank, file.path, std::nullopt});
  bool acrossRanks = !set.isSingleFile;
  ValidationReport ranks = validateRanks(inputs, groups, acrossRanks, options);
  if (!acrossRanks)
    return ranks;
  ViolationList violations(options.maxErrors);
  checkFiles(set, *countNpus(inputs, groups, acrossRanks, options), violations);
  violations.append(std::move(ranks.violations));
  ranks.violations = std::move(violations);
  return ranks;
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

static void printHidden(const ViolationList &violations, raw_ostream &os) {
  std::array<uint64_t, numRules> shown = {};
  for (const Violation &violation : violations.getKept())
    ++shown[static_cast<unsigned>(violation.rule)];
  for (unsigned i = 0; i < numRules; ++i) {
    Rule rule = static_cast<Rule>(i);
    uint64_t hidden = violations.getCount(rule) - shown[i];
    if (hidden)
      os << "[rule " << getRuleNumber(rule) << "] " << hidden
         << " more not shown\n";
  }
}

void printReport(const ValidationReport &report, raw_ostream &os) {
  for (const Violation &violation : report.violations.getKept()) {
    os << violation.file << ": ";
    if (!violation.node.empty())
      os << violation.node << ": ";
    os << "[rule " << getRuleNumber(violation.rule) << "] " << violation.message
       << '\n';
  }
  printHidden(report.violations, os);
  if (uint64_t total = report.violations.getTotal())
    os << total << (total == 1 ? " violation" : " violations");
  else
    os << "no violations";
  os << " in " << report.numRanks
     << (report.numRanks == 1 ? " rank, " : " ranks, ") << report.numNodes
     << (report.numNodes == 1 ? " node" : " nodes");
  if (!report.checkedAcrossRanks)
    os << " (one file: rules across ranks not checked)";
  os << '\n';
}

} // namespace stg::trace
