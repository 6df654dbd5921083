//===- TraceValidator.cpp - Checks of a whole trace -----------------------===//
//
// Puts the checks together and bounds what is reported.
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Validate/TraceValidator.h"

#include "CrossRankChecks.h"
#include "RankChecks.h"
#include "stg/Trace/Reader/Progress.h"
#include "llvm/Support/JSON.h"
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
    keep({rule, file.str(), std::nullopt, message.str()});
}

void ViolationList::add(Rule rule, StringRef file, uint64_t id, StringRef name,
                        const Twine &message) {
  ++counts[static_cast<unsigned>(rule)];
  if (!isFull(rule))
    keep({rule, file.str(), std::pair(id, shortenText(name)), message.str()});
}

void ViolationList::append(ViolationList &&other, StringRef suffix) {
  for (Violation &violation : other.kept) {
    if (isFull(violation.rule))
      continue;
    violation.message += suffix;
    keep(std::move(violation));
  }
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

/// The number of ranks that the trace and its groups speak of. A single file
/// says nothing about it.
static std::optional<uint64_t> countNpus(const RankSource &source,
                                         bool acrossRanks,
                                         const ValidatorOptions &options) {
  if (options.numNpus)
    return options.numNpus;
  uint64_t count = 0;
  for (const auto &[name, members] : source.getDefinitions().members)
    for (int64_t member : members)
      if (member >= 0 && static_cast<uint64_t>(member) < maxPlausibleRanks)
        count = std::max(count, static_cast<uint64_t>(member) + 1);
  if (!acrossRanks && count == 0)
    return std::nullopt;
  if (uint32_t numRanks = source.getNumRanks())
    count = std::max(count, source.getRank(numRanks - 1) + 1);
  return count;
}

namespace {

/// Reads and checks all models, and keeps what is needed of them.
class ModelChecks {
public:
  ModelChecks(RankSource &source, std::optional<uint64_t> numNpus,
              const ValidatorOptions &options, ValidationReport &report);

  void run();
  /// The table of all ranks.
  RankTable makeTable() const;

private:
  struct Model {
    uint32_t position = 0;
    uint32_t numRanks = 0;
    uint32_t graph = 0;
    Bindings bindings;
    /// Until those of all models before are told.
    std::optional<ViolationList> violations;
  };
  void check(Model &model);

  RankSource &source;
  std::optional<uint64_t> numNpus;
  const ValidatorOptions &options;
  ValidationReport &report;
  Progress progress;
  GraphTable graphs;
  std::vector<Model> models;
  /// For each rank, the index of its model.
  std::vector<uint32_t> modelOf;
  std::mutex mutex;
  size_t numTold = 0;
};

} // namespace

ModelChecks::ModelChecks(RankSource &source, std::optional<uint64_t> numNpus,
                         const ValidatorOptions &options,
                         ValidationReport &report)
    : source(source), numNpus(numNpus), options(options), report(report),
      progress("checked", source.getNumRanks(), options.quiet) {
  modelOf.reserve(source.getNumRanks());
  for (uint32_t rank = 0; rank < source.getNumRanks(); ++rank) {
    uint32_t model = source.getModel(rank);
    if (model == rank) {
      modelOf.push_back(static_cast<uint32_t>(models.size()));
      models.emplace_back().position = rank;
    } else {
      modelOf.push_back(modelOf[model]);
    }
    ++models[modelOf.back()].numRanks;
  }
}

void ModelChecks::check(Model &model) {
  RankResult result = checkRank(source, model.position, numNpus, options);
  uint64_t numNodes = result.graph.getNumNodes();
  model.bindings = std::move(result.bindings);
  model.graph = graphs.add(std::move(result.graph));
  progress.add(model.numRanks, 0);

  std::lock_guard<std::mutex> lock(mutex);
  report.numNodes += numNodes * model.numRanks;
  model.violations = std::move(result.violations);
  for (; numTold < models.size() && models[numTold].violations; ++numTold) {
    Model &next = models[numTold];
    report.violations.append(std::move(*next.violations),
                             describeOthers(next.numRanks));
    next.violations.reset();
  }
}

void ModelChecks::run() {
  if (models.size() == 1)
    return check(models.front());
  DefaultThreadPool pool(hardware_concurrency(options.threads));
  for (Model &model : models)
    pool.async([&] { check(model); });
  pool.wait();
}

RankTable ModelChecks::makeTable() const {
  RankTable table(source, graphs);
  Bindings own;
  for (uint32_t rank = 0; rank < modelOf.size(); ++rank) {
    const Model &model = models[modelOf[rank]];
    if (model.position == rank) {
      table.add(model.graph, model.bindings);
      continue;
    }
    own = model.bindings;
    source.bind(rank, model.bindings, own);
    table.add(model.graph, own);
  }
  table.finish();
  return table;
}

ValidationReport validateRanks(RankSource &source, bool acrossRanks,
                               const ValidatorOptions &options) {
  ValidationReport report;
  report.violations = ViolationList(options.maxErrors);
  report.numRanks = source.getNumRanks();
  report.checkedAcrossRanks = acrossRanks;
  std::optional<uint64_t> numNpus = countNpus(source, acrossRanks, options);
  ModelChecks models(source, numNpus, options, report);
  models.run();
  checkGroupDefinitions(source.getDefinitions(), numNpus, report.violations);
  if (!acrossRanks)
    return report;
  RankTable ranks = models.makeTable();
  RankClasses classes(ranks, /*merge=*/ranks.size() > options.maxSingleRanks);
  report.numGraphs = ranks.getGraphs().size();
  report.numClasses = classes.size();
  CrossRankContext context(classes, report.violations);
  checkSequences(context);
  MessageMatching matching = checkMessages(context);
  checkDeadlock(context, matching, !options.eagerSends);
  return report;
}

ValidationReport validateRanks(ArrayRef<RankInput> inputs,
                               const CommGroups &groups, bool acrossRanks,
                               const ValidatorOptions &options) {
  FileRanks source(inputs, groups);
  return validateRanks(source, acrossRanks, options);
}

/// Reports the ranks from `first` up to `end` that have no file.
static void reportMissing(StringRef trace, uint64_t first, uint64_t end,
                          ViolationList &violations) {
  if (first >= end)
    return;
  std::string ranks = "rank " + std::to_string(first) + " has";
  if (end - first > 1)
    ranks = "ranks " + std::to_string(first) + " to " +
            std::to_string(end - 1) + " have";
  violations.add(Rule::AllRanks, trace, ranks + " no trace file");
}

static void checkNumbers(const RankSource &source, StringRef trace,
                         uint64_t numNpus, ViolationList &violations) {
  uint64_t next = 0;
  for (uint32_t position = 0; position < source.getNumRanks(); ++position) {
    uint64_t rank = source.getRank(position);
    if (rank >= numNpus) {
      violations.add(Rule::AllRanks, source.getFile(position),
                     "rank is not less than the number of NPUs, " +
                         Twine(numNpus));
      continue;
    }
    reportMissing(trace, next, rank, violations);
    next = rank + 1;
  }
  reportMissing(trace, next, numNpus, violations);
}

/// Validates all ranks, and says first what is wrong with their files' names.
static ValidationReport validateAll(RankSource &source, StringRef trace,
                                    ArrayRef<std::string> misnamed,
                                    const ValidatorOptions &options) {
  ViolationList violations(options.maxErrors);
  for (const std::string &path : misnamed)
    violations.add(Rule::AllRanks, path,
                   "file name has leading zeros in its rank, the simulator "
                   "will not find it");
  checkNumbers(source, trace, *countNpus(source, /*acrossRanks=*/true, options),
               violations);
  ValidationReport report =
      validateRanks(source, /*acrossRanks=*/true, options);
  violations.append(std::move(report.violations));
  report.violations = std::move(violations);
  return report;
}

ValidationReport validateTrace(RankSource &source, StringRef trace,
                               const ValidatorOptions &options) {
  return validateAll(source, trace, /*misnamed=*/{}, options);
}

ValidationReport validateTrace(const TraceSet &set, const CommGroups &groups,
                               const ValidatorOptions &options) {
  std::vector<RankInput> inputs;
  for (const RankFile &file : set.files)
    inputs.push_back({file.rank, file.path, std::nullopt});
  FileRanks source(inputs, groups);
  if (set.isSingleFile)
    return validateRanks(source, /*acrossRanks=*/false, options);
  return validateAll(source, set.prefix, set.misnamed, options);
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
    if (violation.node)
      os << "node " << violation.node->first << " '" << violation.node->second
         << "': ";
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

void printReportJSON(const ValidationReport &report, raw_ostream &os) {
  const ViolationList &violations = report.violations;
  json::OStream json(os, /*IndentSize=*/1);
  json.object([&] {
    json.attribute("schema", "stg-trace-validate");
    json.attribute("version", 1);
    json.attribute("num_ranks", report.numRanks);
    json.attribute("num_nodes", report.numNodes);
    json.attribute("checked_across_ranks", report.checkedAcrossRanks);
    json.attribute("num_violations", violations.getTotal());
    json.attributeObject("violations_by_rule", [&] {
      for (unsigned i = 0; i < numRules; ++i)
        if (uint64_t count = violations.getCount(static_cast<Rule>(i)))
          json.attribute(getRuleNumber(static_cast<Rule>(i)), count);
    });
    json.attributeArray("violations", [&] {
      for (const Violation &violation : violations.getKept())
        json.object([&] {
          json.attribute("rule", getRuleNumber(violation.rule));
          json.attribute("file", escapeText(violation.file));
          if (violation.node)
            json.attributeObject("node", [&] {
              json.attribute("id", violation.node->first);
              json.attribute("name", violation.node->second);
            });
          else
            json.attribute("node", nullptr);
          json.attribute("message", escapeText(violation.message));
        });
    });
  });
  os << '\n';
}

} // namespace stg::trace
