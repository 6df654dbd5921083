//===- DeriveStrategy.cpp - What follows from a model ---------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeriveStrategy.h"
#include "stg/Dialect/STG/IR/Blocks.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "stg/Support/Error.h"
#include "stg/Support/Text.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace stg;
using llvm::Error;
using llvm::Expected;

/// The rows of the batch that a data-parallel rank has.
static Expected<int64_t> countRows(const StrategyInput &strategy,
                                   const SymbolValues &values, StringRef flag) {
  StringRef symbol = kBatchDim;
  auto batch = values.find(symbol.str());
  if (batch == values.end())
    return makeError(flag + ": the model has no symbol '" + symbol +
                     "', the batch");
  int64_t all = batch->second.value, ranks = strategy.values.batchRanks.number;
  if (all % ranks != 0)
    return makeError(strategy.spellSources(FieldId::batchRanks, " times ") +
                     " does not divide " + symbol + " = " + Twine(all) +
                     ", from " + batch->second.source +
                     "; degrees that do: " + listDivisors(all));
  return all / ranks;
}

/// The micro-batches of a data-parallel rank.
static Expected<int64_t> countMicroBatches(const StrategyInput &strategy,
                                           const SymbolValues &values) {
  std::optional<int64_t> size = strategy.values.microBatch;
  if (!size)
    return 1;
  std::string flag = strategy.spell(getField(FieldId::microBatch));
  Expected<int64_t> share = countRows(strategy, values, flag);
  if (!share)
    return share.takeError();
  if (*share % *size != 0) {
    const SymbolValue &batch = values.at(kBatchDim.str());
    std::string degrees = strategy.spellSources(FieldId::batchRanks, " times ");
    return makeError(flag + ": " +
                     (degrees.empty() ? "" : "with " + degrees + " ") +
                     "it does not divide " + kBatchDim + " = " +
                     Twine(batch.value) + ", from " + batch.source +
                     "; micro-batches that do: " + listDivisors(*share));
  }
  if (*share / *size > kMostRanks)
    return makeError(flag + ": makes " + Twine(*share / *size) +
                     " micro-batches, expected at most " + Twine(kMostRanks));
  return *share / *size;
}

/// Each part of a micro-batch has equally many rows.
static Error checkOverlappedBatches(const StrategyInput &strategy,
                                    const SymbolValues &values) {
  const int64_t parts = strategy.values.overlappedBatches;
  if (parts == 1)
    return Error::success();
  std::string flag = strategy.spell(getField(FieldId::overlappedBatches));
  Expected<int64_t> share = countRows(strategy, values, flag);
  if (!share)
    return share.takeError();
  const int64_t rows = strategy.values.microBatch.value_or(*share);
  const bool handsOnTokens =
      strategy.values.receivedTokens > 0 || strategy.values.sentTokens > 0;
  if (strategy.values.pipelineRanks.number > 1 && handsOnTokens)
    return makeError(flag + ": stages hand on the tokens of a micro-batch, not "
                            "of its parts, from step to step; use one stage, "
                            "or --steps 1");
  if (rows % parts == 0)
    return Error::success();
  return makeError(flag + ": does not divide the " + Twine(rows) +
                   (rows == 1 ? " row" : " rows") +
                   " that a rank has of a micro-batch; numbers that do: " +
                   listDivisors(rows));
}

/// Loads are of as many experts as the model has, or of these with their
/// replicas.
static Error checkLoads(StrategyInput &strategy, const SymbolValues &values) {
  int64_t count = strategy.values.expertHistogram.values.size(),
          more = strategy.values.redundantExperts;
  auto experts = values.find(kExpertDim.str());
  strategy.values.placeReplicas = false;
  strategy.setDerived(FieldId::placeReplicas);
  if (count == 0 || experts == values.end())
    return Error::success();
  int64_t own = experts->second.value;
  strategy.values.placeReplicas = more > 0 && count == own;
  if (count == own || count == own + more)
    return Error::success();
  std::string replicas =
      more == 0 ? ""
                : ", or " + std::to_string(own + more) + " with " +
                      strategy.spell(getField(FieldId::redundantExperts));
  return makeError(strategy.spell(getField(FieldId::expertHistogram)) +
                   ": has " + Twine(count) + " loads, expected X = " +
                   Twine(own) + ", from " + experts->second.source + replicas);
}

/// What goes with data-parallel ranks that have requests of their own.
static Error checkRankLists(const StrategyInput &strategy,
                            const SymbolValues &values) {
  if (!strategy.values.rankLists)
    return Error::success();
  std::string source = strategy.spell(getField(FieldId::requests));
  int64_t lists = strategy.values.requests.getLists().size(),
          ranks = strategy.values.batchRanks.number;
  auto batch = values.find(kBatchDim.str());
  if (batch == values.end())
    return makeError(source + ": the model has no batch to give to ranks");
  if (lists != ranks) {
    std::string degrees = strategy.spellSources(FieldId::batchRanks, " times ");
    return makeError(source + ": has lists of " + Twine(lists) +
                     " data-parallel ranks, but the batch is divided over " +
                     Twine(ranks) +
                     (degrees.empty() ? "" : ", from " + degrees));
  }
  if (batch->second.value != lists)
    return makeError(source + ": has lists of " + Twine(lists) +
                     " data-parallel ranks, a row each, but there are " +
                     Twine(batch->second.value) + " rows, from " +
                     batch->second.source);
  if (strategy.values.contextRanks.number > 1)
    return makeError(source + ": data-parallel ranks with lists of their own "
                              "do not divide tokens; use one list, or no "
                              "context parallelism");
  int64_t parts = strategy.values.tensorRanks.number;
  if (strategy.values.sequenceParallel)
    for (const Requests &list : strategy.values.requests.getLists())
      if (list.countNew() % parts != 0)
        return makeError(source + ": " + list.str() + " has " +
                         Twine(list.countNew()) +
                         " new tokens, which --sequence-parallel divides "
                         "among " +
                         Twine(parts) +
                         " ranks; lists of data-parallel ranks are not filled "
                         "up: give each a multiple of these");
  if (strategy.values.expertRows == ExpertRows::Padded ||
      strategy.values.clipExperts)
    return makeError(
        source +
        ": with lists of data-parallel ranks experts get as many rows "
        "as their tokens choose; " +
        (strategy.values.clipExperts
             ? "use a model whose experts have no capacity"
             : "use --expert-rows=exact"));
  return Error::success();
}

/// Experts' buffers have the size of a capacity, which is not the mean.
static bool hasExpertCapacity(const SymbolValues &values) {
  auto numerator = values.find("CN"), denominator = values.find("CD");
  return numerator != values.end() && denominator != values.end() &&
         numerator->second.value != denominator->second.value;
}

/// Whether there are latents: looked for where somebody asks for a form.
static void deriveLatents(StrategyInput &strategy, ModuleOp module) {
  if (!strategy.isGiven(FieldId::mlaForm))
    return;
  strategy.values.latents =
      hasLatents(module, StringAttr::get(module.getContext(), kTokenDim.str()));
  strategy.setDerived(FieldId::latents);
}

void stg::deriveFromModel(StrategyInput &strategy, ModuleOp module,
                          const Preset &preset, const SymbolValues &values) {
  deriveLatents(strategy, module);
  Strategy &derived = strategy.values;
  auto getExtent = [&](StringRef dim) -> std::optional<int64_t> {
    auto it = values.find(dim.str());
    if (it == values.end())
      return std::nullopt;
    return it->second.value;
  };
  deriveReplicas(preset, getExtent, strategy);
  derived.clipExperts = hasExpertCapacity(values);
  derived.experts = values.count(kExpertDim.str());
  derived.bind.clear();
  for (auto &[name, value] : values)
    derived.bind += (derived.bind.empty() ? "" : ",") + name + "=" +
                    std::to_string(value.value);
  for (FieldId id : {FieldId::clipExperts, FieldId::experts, FieldId::bind})
    strategy.setDerived(id);
}

/// The replicas of a rank's slices of a dimension with which so many ranks of
/// context parallelism get one slice each: as many as the ranks are a multiple
/// of the slices.
static int64_t countExchanged(int64_t extent, int64_t degree, int64_t ranks) {
  bool isWhole = degree % extent == 0;
  if (!isWhole && extent % degree != 0)
    return 1;
  int64_t own = isWhole ? 1 : extent / degree;
  return ranks % own == 0 ? ranks / own : 1;
}

/// Ranks that exchange tokens for heads may be more than there are heads.
static void deriveExchanges(StrategyInput &strategy, const Preset &preset,
                            const SymbolValues &values) {
  Strategy &derived = strategy.values;
  strategy.setDerived(FieldId::exchangedReplicas);
  derived.exchangedReplicas.clear();
  if (derived.contextRanks.isOne() ||
      (derived.cpCommType != ContextExchange::AllToAll &&
       derived.cpScanType != StateExchange::AllToAll))
    return;
  for (const Preset::Replicas &replicas : preset.replicas) {
    auto it = values.find(replicas.dimension);
    std::string degree = strategy.getDegree(replicas.degree).value_or("1");
    int64_t ranks = 0;
    if (!findReplicas(preset, derived, replicas.dimension) ||
        it == values.end() || it->second.value < 1 ||
        StringRef(degree).getAsInteger(10, ranks) || ranks < 1)
      continue;
    int64_t times =
        countExchanged(it->second.value, ranks, derived.contextRanks.number);
    if (times > 1)
      derived.exchangedReplicas.push_back(replicas.dimension + "=" +
                                          std::to_string(times));
  }
}

/// The ranks that rules of the plan divide a dimension over.
static Exact countParts(const PresetPlan &plan, StringRef dim,
                        function_ref<bool(RuleScope)> isMeant) {
  Exact parts = 1;
  for (const PresetPlan::Rule &rule : plan.rules)
    for (const PresetPlan::Axis &axis : plan.axes)
      if (rule.rule.getDim().getValue() == dim &&
          isMeant(rule.rule.getScope()) && rule.rule.getAxis() == axis.name)
        parts *= axis.size.getInt64().value_or(1);
  return parts;
}

/// None if there is no such number.
static std::optional<int64_t> roundUp(int64_t number, Exact multiple) {
  Exact rounded = (number + multiple - 1) / multiple * multiple;
  if (rounded > INT64_MAX)
    return std::nullopt;
  return static_cast<int64_t>(rounded);
}

Error stg::padVocabulary(const StrategyInput &strategy, const PresetPlan &plan,
                         SymbolValues &values) {
  bool isOfRanks = strategy.values.padVocabulary != 0;
  FieldId id = isOfRanks ? FieldId::padVocabulary : FieldId::vocabularyMultiple;
  Exact multiple = isOfRanks ? strategy.values.padVocabulary
                             : strategy.values.vocabularyMultiple;
  std::string flag = strategy.spell(getField(id));
  if (isOfRanks && strategy.values.vocabularyMultiple)
    return makeError(flag + " with " +
                     strategy.spell(getField(FieldId::vocabularyMultiple)) +
                     ": both say how many rows are added; give one of them");
  auto vocabulary = values.find(kVocabularyDim.str());
  if (vocabulary == values.end()) {
    // That of a preset is for models that have one.
    if (!strategy.isGiven(id))
      return Error::success();
    return makeError(flag +
                     " has no effect: needs a model with a vocabulary "
                     "(a symbol '" +
                     kVocabularyDim + "')");
  }
  if (isOfRanks)
    multiple *=
        countParts(plan, kVocabularyDim, [](RuleScope) { return true; });
  SymbolValue &rows = vocabulary->second;
  std::optional<int64_t> padded = roundUp(rows.value, multiple);
  if (!padded)
    return makeError(flag + ": " + Twine(rows.value) + " rows, from " +
                     rows.source +
                     ", cannot be padded, as no number of 64 "
                     "bits is so large; give fewer rows");
  if (*padded != rows.value)
    rows = {*padded, flag + " and " + rows.source};
  return Error::success();
}

bool stg::padTokens(const StrategyInput &strategy, const PresetPlan &plan,
                    SymbolValues &values) {
  const Strategy &own = strategy.values;
  auto tokens = values.find(kTokenDim.str());
  if (!own.inference || own.requests.empty() || own.rankLists ||
      tokens == values.end())
    return false;
  Exact multiple = countParts(plan, tokens->first, [](RuleScope scope) {
    return scope == RuleScope::Stream;
  });
  // What is too large is an error of binding.
  int64_t before = tokens->second.value;
  tokens->second.value = roundUp(before, multiple).value_or(before);
  return tokens->second.value != before;
}

Error stg::deriveFromMesh(StrategyInput &strategy, const Preset &preset,
                          const SymbolValues &values) {
  deriveExchanges(strategy, preset, values);
  Expected<int64_t> microBatches = countMicroBatches(strategy, values);
  if (!microBatches)
    return microBatches.takeError();
  strategy.values.microBatches = *microBatches;
  strategy.setDerived(FieldId::microBatches);
  if (Error error = checkOverlappedBatches(strategy, values))
    return error;
  if (Error error = checkRankLists(strategy, values))
    return error;
  return checkLoads(strategy, values);
}
