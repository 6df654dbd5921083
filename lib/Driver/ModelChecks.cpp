//===- ModelChecks.cpp - Whether a strategy fits a model ------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelChecks.h"
#include "stg/Dialect/STG/IR/Blocks.h"
#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/IR/Mixers.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "stg/Strategy/Speculation.h"
#include "stg/Support/Error.h"
#include "stg/Support/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <numeric>

using namespace mlir;
using namespace stg;
using llvm::Error;
using llvm::Expected;

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// The dimension of learned positions.
static constexpr StringLiteral kPositionDim = "P";

namespace {
/// So many tokens of one text have positions, and what says so.
struct PlacedTokens {
  Exact number = 0;
  std::string source;
  StringRef text = "sequence";
};
} // namespace

/// The most tokens of a request after the steps, and where they are said.
static std::pair<Exact, FieldId> getContext(const StrategyInput &strategy,
                                            Exact tokens) {
  const Strategy &values = strategy.values;
  Exact steps = values.steps;
  // Rounds add what is expected of them.
  if (!values.advance.empty()) {
    llvm::Expected<TokenRate> rate = readTokenRate(values.advance);
    Exact added = rate ? rate->getTotal(values.steps - 1) : 0;
    if (!rate)
      llvm::consumeError(rate.takeError());
    Exact longest = values.kvLen.value_or(0) + tokens;
    for (const Request &request : values.requests.list)
      longest =
          std::max<Exact>(longest, request.cachedTokens + request.newTokens);
    return {longest + added,
            values.requests.empty() ? FieldId::kvLen : FieldId::requests};
  }
  if (values.requests.empty())
    return {values.kvLen.value_or(0) + steps * tokens,
            values.kvLen ? FieldId::kvLen : FieldId::seq};
  Exact longest = 0;
  for (const Request &request : values.requests.list)
    longest = std::max<Exact>(longest,
                              request.cachedTokens + steps * request.newTokens);
  return {longest, FieldId::requests};
}

/// The tokens of a dimension of ids. Those of a step are some of a request's,
/// which may begin with others, and those of a row are several documents.
static std::optional<PlacedTokens> getPlaced(DimAttr dim,
                                             const StrategyInput &strategy,
                                             const SymbolValues &values) {
  std::optional<Exact> extent = evaluate(dim.getExtent(), values);
  if (!extent)
    return std::nullopt;
  auto row = values.find(kTokenDim.str());
  const Strategy &given = strategy.values;
  bool isOfRow = row != values.end() &&
                 dim.hasName(StringAttr::get(dim.getContext(), kTokenDim));
  if (isOfRow && given.inference) {
    auto [longest, field] = getContext(strategy, row->second.value);
    return PlacedTokens{longest + *extent - row->second.value,
                        strategy.spell(getField(field)), "request"};
  }
  if (isOfRow && !given.documents.empty())
    return PlacedTokens{*llvm::max_element(given.documents),
                        strategy.spell(getField(FieldId::documents)),
                        "document"};
  StringAttr symbol = dim.getExtent().getAsSymbol();
  if (!symbol && dim.getNames().size() == 1)
    symbol = dim.getNames().front();
  auto value = symbol ? values.find(symbol.str()) : values.end();
  return PlacedTokens{*extent, value == values.end() ? dim.getExtent().str()
                                                     : value->second.source};
}

Error stg::checkPositions(ModuleOp module, const StrategyInput &strategy,
                          const SymbolValues &values) {
  auto positions = values.find(kPositionDim.str());
  if (positions == values.end())
    return Error::success();
  auto name = StringAttr::get(module.getContext(), kPositionDim);
  std::optional<PlacedTokens> wrong;
  // A table may have rows that are of no position.
  module.walk([&](EmbeddingOp op) {
    if (!op.getTable().getType().getDims().front().hasName(name))
      return WalkResult::advance();
    DimAttr ids = cast<SymTensorType>(op.getIds().getType()).getDims().back();
    wrong = getPlaced(ids, strategy, values);
    if (wrong && wrong->number > positions->second.value)
      return WalkResult::interrupt();
    wrong.reset();
    return WalkResult::advance();
  });
  if (!wrong)
    return Error::success();
  // Steps add tokens to a request.
  bool grows = wrong->text == "request";
  return makeError(wrong->source + ": a " + wrong->text + " has " +
                   chakra::toDecimal(wrong->number) + " tokens" +
                   (grows ? " in the end" : "") + ", and " + kPositionDim +
                   " = " + Twine(positions->second.value) +
                   " positions are learned, from " + positions->second.source +
                   "; use fewer tokens" + (grows ? " or steps" : "") +
                   ", or --set " + kPositionDim + "=VALUE");
}

/// Whether earlier steps have kept tokens of a request.
static bool hasCachedTokens(const Strategy &values) {
  return values.kvLen.value_or(0) > 0 || values.requests.countCached() > 0;
}

Error stg::checkRollback(const StrategyInput &strategy,
                         const SymbolValues &values) {
  const Strategy &given = strategy.values;
  auto row = values.find(kTokenDim.str());
  if (!strategy.isGiven(FieldId::rollback) || row == values.end())
    return Error::success();
  int64_t most = given.kvLen.value_or(0) + row->second.value;
  if (!given.requests.empty())
    most = 0;
  for (const Request &request : given.requests.list)
    most = std::max(most, request.cachedTokens + request.newTokens);
  if (given.rollback <= most)
    return Error::success();
  return makeError(strategy.spell(getField(FieldId::rollback)) +
                   ": a request has " + Twine(most) +
                   " tokens with those that are cached, and no more of them "
                   "can be taken back");
}

Error stg::checkJoinedTokens(ModuleOp module, const StrategyInput &strategy,
                             const SymbolValues &values) {
  StringRef name = kTokenDim;
  auto row = values.find(name.str());
  // Rows that go on have tokens of the text only.
  if (row == values.end() || hasCachedTokens(strategy.values))
    return Error::success();
  auto tokens = StringAttr::get(module.getContext(), name);
  std::optional<Exact> others;
  module.walk([&](ConcatOp op) {
    for (Value operand : op->getOperands())
      for (DimAttr dim : cast<SymTensorType>(operand.getType()).getDims()) {
        if (!dim.hasName(tokens))
          continue;
        std::optional<Exact> extent = evaluate(dim.getExtent(), values);
        if (extent && *extent <= 0)
          others = row->second.value - *extent;
      }
    return others ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!others)
    return Error::success();
  return makeError(name + " = " + Twine(row->second.value) +
                   " (tokens per sequence), from " + row->second.source +
                   ": a row has " + chakra::toDecimal(*others) +
                   " tokens of images, and others behind them; give it more "
                   "than these");
}

bool stg::hasJoinedTokens(ModuleOp module) {
  auto tokens = StringAttr::get(module.getContext(), kTokenDim.str());
  return module
      .walk([&](Operation *op) {
        return joinsTokens(op, tokens) ? WalkResult::interrupt()
                                       : WalkResult::advance();
      })
      .wasInterrupted();
}

Error stg::checkPrediction(ModuleOp module, const StrategyInput &strategy) {
  if (strategy.values.mtp == 0 || !hasJoinedTokens(module))
    return Error::success();
  // With drafts of the model itself nobody has given it.
  std::string flag = strategy.isGiven(FieldId::mtp)
                         ? strategy.spell(getField(FieldId::mtp)) + ": "
                         : "";
  return makeError(
      flag +
      "modules that predict further tokens look up all tokens of a row, and "
      "those of images are in no table; use a model of text alone");
}

/// True if the field has a value of its own, which no manifest says of a model
/// that keeps nothing.
static bool isAsked(const StrategyInput &strategy, FieldId id) {
  const Field &field = getField(id);
  return strategy.isGiven(id) &&
         (strategy.getGivenBy(id) != GivenBy::File ||
          field.print(strategy.values) != field.print(Strategy()));
}

Error stg::checkKept(ModuleOp module, const StrategyInput &strategy) {
  if (!strategy.values.inference)
    return Error::success();
  auto tokens = StringAttr::get(module.getContext(), kTokenDim);
  bool hasCaches = false, hasWindows = false, hasStates = false;
  module.walk([&](Operation *op) {
    hasStates |= isa<RecurrentOpInterface>(op);
    auto attention = dyn_cast<AttentionOp>(op);
    hasWindows |=
        attention && (attention.getWindowAttr() || attention.getChunkAttr());
    if (!attention || !attention.getQuery().getType().getDim(1).hasName(tokens))
      return;
    // Keys of the tokens before, or of an encoder's.
    hasCaches |= attention.getMask() != AttentionMask::None ||
                 !attention.getKey().getType().getDim(1).hasName(tokens);
  });
  auto refuse = [&](FieldId id, const Twine &needed) {
    return makeError(strategy.spell(getField(id)) + " has no effect: needs " +
                     needed);
  };
  StringRef attention = "a model with causal attention, or with an encoder";
  for (FieldId id :
       {FieldId::kvDtype, FieldId::kvScaleBlock, FieldId::kvKeep,
        FieldId::kvBlockSize, FieldId::kvWindowRoom, FieldId::cacheAxes})
    if (!hasCaches && isAsked(strategy, id))
      return refuse(id, attention);
  // Everything else is there until a token takes its place.
  if (!hasWindows && !hasStates && isAsked(strategy, FieldId::rollback))
    return refuse(FieldId::rollback, "a model with attention under a window, "
                                     "or with recurrent layers");
  const Strategy &values = strategy.values;
  if (values.kvScaleBlock > 0 && values.kvDtype != ElementType::F8E4M3FN &&
      values.kvDtype != ElementType::F8E5M2)
    return refuse(FieldId::kvScaleBlock,
                  "--kv-dtype f8E4M3FN or --kv-dtype f8E5M2");
  return Error::success();
}

Error stg::checkPredicted(func::FuncOp program, const StrategyInput &strategy) {
  const Strategy &values = strategy.values;
  bool isWhole = values.requests.empty() && values.steps == 1 &&
                 values.kvLen.value_or(0) == 0;
  if (!values.inference || isWhole)
    return Error::success();
  auto tokens = StringAttr::get(program.getContext(), kTokenDim);
  LossOpInterface found;
  program.walk([&](LossOpInterface loss) {
    auto type = cast<SymTensorType>(loss.getPredictions().getType());
    if (llvm::any_of(type.getDims(),
                     [&](DimAttr dim) { return dim.hasName(tokens); }))
      return WalkResult::advance();
    found = loss;
    return WalkResult::interrupt();
  });
  if (!found)
    return Error::success();
  StringAttr name = getOrigin(found).name;
  FieldId field = !values.requests.empty()       ? FieldId::requests
                  : values.kvLen.value_or(0) > 0 ? FieldId::kvLen
                                                 : FieldId::steps;
  return makeError(
      strategy.spell(getField(field)) +
      ": the model has no steps that go on from others: '" +
      (name ? name.getValue() : found->getName().getStringRef()) +
      "' predicts nothing for each token of a sequence; give whole sequences, "
      "with --mode prefill and --batch");
}

Error stg::checkCacheAxes(const StrategyInput &strategy) {
  const Strategy &values = strategy.values;
  // Later ones of several steps have what the first one has kept.
  if (values.cacheAxes.empty() || values.steps > 1 || hasCachedTokens(values))
    return Error::success();
  const Field &field = getField(FieldId::cacheAxes);
  if (!strategy.isGiven(field.id))
    return makeError("preset '" + values.preset.str() +
                     "' divides the tokens of caches; it is for steps with "
                     "cached tokens, give them with --kv-len or --requests");
  return makeError(strategy.spell(field) +
                   " has no effect in a step without cached tokens; give them "
                   "with --kv-len or --requests");
}

/// The tokens of a row that earlier steps have kept.
static int64_t countCached(const Strategy &values) {
  return values.requests.empty() ? values.kvLen.value_or(0)
                                 : values.requests.countCached();
}

Error stg::checkCachedTokens(ModuleOp module, const StrategyInput &input,
                             const SymbolValues &values) {
  const Strategy &strategy = input.values;
  int64_t ranks = strategy.contextRanks.number, cached = countCached(strategy);
  if (ranks <= 1 || cached % ranks == 0)
    return Error::success();
  // Some plans keep all tokens on each rank.
  bool isWhole = true;
  module.walk([&](CacheOp op) {
    for (DimAttr dim : cast<SymTensorType>(op.getResult().getType()).getDims())
      isWhole &= !isFraction(dim.getExtent(), values);
  });
  if (isWhole)
    return Error::success();
  FieldId source =
      strategy.requests.empty() ? FieldId::kvLen : FieldId::requests;
  return makeError(input.spellSources(FieldId::contextRanks, " times ") +
                   " does not divide the " + Twine(cached) +
                   " tokens of a row that are cached, from " +
                   input.spell(getField(source)) + "; use a multiple of " +
                   Twine(ranks));
}

//===----------------------------------------------------------------------===//
// Whether degrees divide
//===----------------------------------------------------------------------===//

std::optional<int64_t> stg::countLayers(func::FuncOp program,
                                        const SymbolValues &values) {
  int64_t total = 0;
  for (auto scan : program.getBody().getOps<ScanOpInterface>()) {
    std::optional<Exact> count = evaluate(scan.getCount(), values);
    std::optional<Exact> each = evaluate(getLayersOfIteration(scan), values);
    if (!count || !each)
      return std::nullopt;
    // What does not fit is an error of binding.
    Exact layers = 0;
    if (__builtin_mul_overflow(*count, *each, &layers) ||
        layers > INT64_MAX - total)
      return std::nullopt;
    total += static_cast<int64_t>(layers);
  }
  return total;
}

Error stg::checkStages(func::FuncOp program, const StrategyInput &input,
                       const SymbolValues &values, bool isDraft) {
  const Strategy &strategy = input.values;
  int64_t devices = strategy.pipelineRanks.number;
  int64_t perDevice = strategy.virtualStages, stages = devices * perDevice;
  std::optional<int64_t> total = countLayers(program, values);
  if (!total || devices <= 1 || strategy.predictOnly)
    return Error::success();
  if (!strategy.layersPerStage.empty()) {
    int64_t sum = 0;
    for (int64_t layers : strategy.layersPerStage)
      sum += layers;
    if (sum == *total)
      return Error::success();
    return makeError(input.spell(getField(FieldId::layersPerStage)) +
                     ": adds up to " + Twine(sum) + " layers, expected the " +
                     Twine(*total) + " of the model");
  }
  if (*total % stages == 0)
    return Error::success();
  std::string flags = input.spellSources(FieldId::pipelineRanks, " times ");
  if (perDevice > 1)
    flags += " with " + input.spell(getField(FieldId::virtualStages));
  std::string advice;
  if (*total % perDevice == 0)
    advice = "; degrees that do: " + listDivisors(*total / perDevice);
  if (!isDraft)
    advice += std::string(advice.empty() ? "; " : "; or ") +
              "give the layers of each with --layers-per-stage";
  return makeError(flags + ": " + Twine(stages) + " stages do not divide the " +
                   Twine(*total) + " layers of the model" + advice);
}

/// The layers of an iteration of a repeat whose symbols have values.
static int64_t countLayersOfIteration(ScanOpInterface scan,
                                      const SymbolValues &values) {
  std::optional<Exact> each = evaluate(getLayersOfIteration(scan), values);
  return each ? static_cast<int64_t>(*each) : 1;
}

/// Refuses what is to be replayed and is nowhere.
static Error checkReplayed(func::FuncOp program, const StrategyInput &input) {
  const Strategy &strategy = input.values;
  if (strategy.recompute == RecomputeChoice::None ||
      !input.isGiven(FieldId::recompute))
    return Error::success();
  std::string flag = input.spell(getField(FieldId::recompute));
  bool hasLayers = false, hasAttention = false;
  program.walk([&](ScanOpInterface scan) {
    hasLayers = true;
    scan->walk([&](AttentionOp) { hasAttention = true; });
  });
  if (!hasLayers)
    return makeError(flag + " has no effect: needs a model whose layers are "
                            "a loop (stg.repeat)");
  // `all` are those that there are.
  const RecomputeModules &modules = strategy.recomputeModules;
  if (strategy.recompute != RecomputeChoice::Selective || hasAttention ||
      !modules.count(RecomputeModule::CoreAttn) ||
      modules == parseRecomputeModules(StringRef("all")))
    return Error::success();
  if (input.isGiven(FieldId::recomputeModules))
    flag = input.spell(getField(FieldId::recomputeModules));
  return makeError(flag + (modules.size() == 1 ? " has no effect" : "") +
                   ": no layer has core attention, which is to be replayed; "
                   "name other parts of layers with --recompute-modules, or "
                   "use --recompute full");
}

static bool hasConvolutions(func::FuncOp program) {
  return program
      .walk([](ScanOpInterface scan) {
        return scan->walk([](CausalConvOp conv) {
          return getMadeAgain(conv).empty() ? WalkResult::advance()
                                            : WalkResult::interrupt();
        });
      })
      .wasInterrupted();
}

/// Likewise of convolutions. That a preset replays them is for models that have
/// some.
static Error settleConvolutions(func::FuncOp program, StrategyInput &input) {
  if (!input.values.replayConvolutions || hasConvolutions(program))
    return Error::success();
  if (!input.isGiven(FieldId::replayConvolutions)) {
    input.reset(FieldId::replayConvolutions);
    return Error::success();
  }
  return makeError(input.spell(getField(FieldId::replayConvolutions)) +
                   " has no effect: needs layers with a causal convolution "
                   "and an activation behind it");
}

Error stg::settleRecompute(func::FuncOp program, StrategyInput &input,
                           const SymbolValues &values) {
  if (Error error = checkReplayed(program, input))
    return error;
  if (Error error = settleConvolutions(program, input))
    return error;
  const Strategy &strategy = input.values;
  int64_t size = strategy.recomputeLayers;
  bool isBlock = strategy.recomputeMethod == RecomputeMethod::Block;
  if (!isBlock && size == 1)
    return Error::success();
  std::string flag = input.spell(getField(FieldId::recomputeLayers));
  int64_t stages = strategy.pipelineRanks.number * strategy.virtualStages;
  if (!strategy.reshardAfterForward && (!isBlock || stages > 1))
    return makeError(flag + ": with " +
                     input.spell(getField(FieldId::reshardAfterForward)) +
                     ", parameters of groups of layers are not kept; use "
                     "groups of one layer");
  auto repeats = program.getBody().getOps<ScanOpInterface>();
  if (isBlock && llvm::range_size(repeats) > 1)
    return makeError(
        input.spell(getField(FieldId::recomputeMethod)) +
        ": the first layers of a stage are replayed where all layers are one "
        "stg.repeat; this model has several, of layers that differ or are "
        "frozen; use uniform");
  std::optional<int64_t> total = countLayers(program, values);
  if (!total)
    return Error::success();
  std::vector<int64_t> ofStages = strategy.layersPerStage;
  if (ofStages.empty() && *total % stages == 0)
    ofStages = {*total / stages};
  // A group has whole iterations, of one layer or of a period of them.
  auto areWhole = [&](int64_t layers) {
    return llvm::all_of(repeats, [&](ScanOpInterface scan) {
      int64_t each = countLayersOfIteration(scan, values);
      return layers % each == 0;
    });
  };
  if (isBlock) {
    if (*total % stages != 0 || repeats.empty())
      return Error::success();
    int64_t ofStage = *total / stages;
    if (size >= ofStage)
      return makeError(flag + ": a stage has " + Twine(ofStage) +
                       " layers; with --recompute-method block some of them "
                       "are not replayed, replay all with uniform");
    if (areWhole(size))
      return Error::success();
    int64_t period = countLayersOfIteration(*repeats.begin(), values);
    return makeError(
        flag + ": layers differ by a pattern of " + Twine(period) +
        ", whose first layers cannot be replayed without the others; " +
        (period < ofStage ? "give a multiple of it" : "use uniform"));
  }
  // A stage that ends inside of a period has its layers one by one.
  bool isCut = !llvm::all_of(ofStages, areWhole);
  auto isGroup = [&](int64_t layers) {
    return layers == 1 ||
           (!isCut && areWhole(layers) &&
            llvm::all_of(ofStages,
                         [&](int64_t own) { return own % layers == 0; }) &&
            llvm::all_of(repeats, [&](ScanOpInterface scan) {
              int64_t own =
                  countLayersOfIteration(scan, values) *
                  static_cast<int64_t>(*evaluate(scan.getCount(), values));
              return own % layers == 0;
            }));
  };
  if (isGroup(size))
    return Error::success();
  return makeError(
      flag + ": groups of so many layers do not divide the " + Twine(*total) +
      " layers" +
      (stages > 1 ? " of the model and those of each pipeline stage" : "") +
      "; sizes that do: " + listDivisors(*total, isGroup));
}

static bool hasCausalAttention(func::FuncOp program) {
  return program
      .walk([](AttentionOpInterface op) {
        return op.getMask() == AttentionMask::Causal ? WalkResult::interrupt()
                                                     : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Each rank has one chunk of tokens from the start and one from the end. Where
/// all see all there is nothing to balance, and each has one range.
static Error checkChunks(func::FuncOp program, const StrategyInput &input,
                         const SymbolValues &values) {
  const Strategy &strategy = input.values;
  auto tokens = values.find(kTokenDim.str());
  if (tokens == values.end() ||
      strategy.attentionCount != AttentionCount::Executed ||
      strategy.cpBalance != ContextBalance::ZigZag ||
      tokens->second.value % (2 * strategy.contextRanks.number) == 0 ||
      !hasCausalAttention(program))
    return Error::success();
  int64_t extent = tokens->second.value;
  return makeError(input.spellSources(FieldId::contextRanks, " times ") +
                   ": twice that does not divide " + tokens->first + " = " +
                   Twine(extent) + ", from " + tokens->second.source +
                   ", into the 2 x " + Twine(strategy.contextRanks.number) +
                   " chunks that balance a causal mask; degrees that do: " +
                   (extent % 2 ? "1" : listDivisors(extent / 2)) +
                   "; with --cp-balance none each rank has one chunk");
}

/// The degrees whose product divides heads.
static std::string spellHeadDegrees(const StrategyInput &input) {
  std::string degrees = input.spellSources(FieldId::tensorRanks, " times ");
  return degrees + (degrees.empty() ? "" : " times ") +
         input.spellSources(FieldId::contextRanks, " times ");
}

/// The ranks that a dimension is divided among where tokens are whole: those of
/// context parallelism, and those that rules shard it over.
static int64_t countHeadParts(MeshOp op, DimAttr dim) {
  MeshAttr mesh = op.getMesh();
  int64_t parts = 1;
  auto divide = [&](StringAttr axis) {
    parts *= mesh.getAxisSize(axis).getInt64().value_or(1);
  };
  llvm::for_each(mesh.getAxes(AxisRole::Context), divide);
  if (ArrayAttr rules = op.getRulesAttr())
    for (auto rule : rules.getAsRange<RuleAttr>())
      if (llvm::is_contained(dim.getNames(), rule.getDim()) &&
          mesh.getAxisRole(rule.getAxis()) == AxisRole::Tensor)
        divide(rule.getAxis());
  return parts;
}

/// What goes over all tokens divides something else, whatever attention does.
static Error checkRecurrent(func::FuncOp program, const StrategyInput &input,
                            const Preset &preset, const SymbolValues &values) {
  if (input.values.cpScanType != StateExchange::AllToAll)
    return Error::success();
  MeshOp mesh = MeshOp::lookup(program);
  std::string message;
  auto isDivided = [&](Operation *op, DimAttr dim) {
    int64_t parts = countHeadParts(mesh, dim);
    std::optional<Exact> extent = evaluate(dim.getExtent(), values);
    if (!extent || *extent % parts == 0)
      return true;
    auto whole = static_cast<int64_t>(*extent);
    bool mayExceed = llvm::any_of(dim.getNames(), [&](StringAttr name) {
      return findReplicas(preset, input.values, name) != nullptr;
    });
    message = (spellHeadDegrees(input) + " is " + Twine(parts) +
               ", which does not divide " + dim.getExtent().str() + " = " +
               Twine(whole) + ", that '" + op->getName().getStringRef() +
               "' divides in place of tokens; use " +
               (input.values.training ? "--cp-scan-type p2p, or " : "") +
               "degrees whose product is one of " + listDivisors(whole) +
               (mayExceed ? ", or a multiple of it" : ""))
                  .str();
    return false;
  };
  program.walk([&](RecurrentOpInterface op) {
    ShardingRule rule = cast<ShardableOpInterface>(*op).getShardingRule();
    StringRef name = cast<ContextOpInterface>(*op).getContextFactor();
    unsigned factor = *rule.getFactor(name);
    for (auto [operand, dims] :
         llvm::zip_equal(op->getOperandTypes(), rule.operands))
      for (auto [dim, factors] :
           llvm::zip_equal(cast<SymTensorType>(operand).getDims(), dims))
        if (llvm::is_contained(factors, factor) && !isDivided(op, dim))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return message.empty() ? Error::success() : makeError(message);
}

/// Heads of attention take the place of tokens; those of keys and values may be
/// fewer than ranks, but for layers that have a number of their own.
static Error checkExchangedHeads(func::FuncOp program,
                                 const StrategyInput &input,
                                 const Preset &preset,
                                 const SymbolValues &values) {
  const Strategy &strategy = input.values;
  int64_t parts = strategy.tensorRanks.number * strategy.contextRanks.number;
  auto check = [&](StringRef name, int64_t heads, bool mayExceed) -> Error {
    if (heads % parts == 0 || (mayExceed && parts % heads == 0))
      return Error::success();
    return makeError(input.spell(getField(FieldId::cpCommType)) + ": " +
                     spellHeadDegrees(input) + " is " + Twine(parts) +
                     ", which does not divide " + name + " = " + Twine(heads) +
                     ", the heads that take the place of tokens; use "
                     "all_gather or p2p, or degrees whose product is one of " +
                     listDivisors(heads) +
                     (mayExceed ? ", or a multiple of it" : ""));
  };
  for (StringRef name : {"K", "KG", "H"})
    if (auto heads = values.find(name.str()); heads != values.end())
      if (Error error = check(name, heads->second.value,
                              findReplicas(preset, strategy, name) != nullptr))
        return error;
  Error wrong = Error::success();
  program.walk([&](AttentionOp op) {
    for (Value heads : {op.getQuery(), op.getKey()}) {
      DimAttr dim = cast<SymTensorType>(heads.getType()).getDim(2);
      std::optional<int64_t> extent = dim.getExtent().getInt64();
      if (wrong || !extent || dim.getNames().size() != 1)
        continue;
      wrong = check(dim.getNames().front().getValue(), *extent,
                    /*mayExceed=*/false);
    }
  });
  return wrong;
}

/// Keys that go round a ring are divided as queries are, which are checked with
/// the rules of the plan. Those of other tokens have extents of their own. What
/// is not divided, as the few queries of a window, goes round no ring.
static Error checkRing(func::FuncOp program, const StrategyInput &input,
                       const SymbolValues &values) {
  const int64_t ranks = input.values.contextRanks.number;
  auto tokens = StringAttr::get(program.getContext(), kTokenDim);
  std::optional<std::pair<DimAttr, Exact>> wrong;
  program.walk([&](AttentionOpInterface op) {
    ContextAttr context = op.getContextAttr();
    if (!context || !goesRound(context.getExchange()))
      return WalkResult::advance();
    ShardingAttr queries =
        cast<SymTensorType>(op->getOperand(0).getType()).getSharding();
    if (!queries || queries.getDimAxes()[1].empty())
      return WalkResult::advance();
    DimAttr keys = cast<SymTensorType>(op->getOperand(1).getType()).getDim(1);
    std::optional<Exact> extent = evaluate(keys.getExtent(), values);
    if (!extent || *extent % ranks == 0 || keys.hasName(tokens))
      return WalkResult::advance();
    wrong = {keys, *extent};
    return WalkResult::interrupt();
  });
  if (!wrong)
    return Error::success();
  std::string name = wrong->first.getExtent().str();
  std::string number = chakra::toDecimal(wrong->second);
  auto symbol = values.find(name);
  std::string source, advice;
  if (symbol != values.end()) {
    source = ", from " + symbol->second.source + ",";
    advice = ", or --set " + name + "=VALUE";
  }
  return makeError(input.spell(getField(FieldId::cpCommType)) + ": " +
                   input.spellSources(FieldId::contextRanks, " times ") +
                   " does not divide " + name +
                   (name == number ? "" : " = " + number) + source +
                   " keys that would go round a ring; use --cp-comm-type "
                   "all_gather or a2a, which do not divide them, or degrees "
                   "that do: " +
                   listDivisors(static_cast<int64_t>(wrong->second)) + advice);
}

Error stg::checkContext(func::FuncOp program, const StrategyInput &input,
                        const Preset &preset, const SymbolValues &values) {
  const Strategy &strategy = input.values;
  if (strategy.contextRanks.isOne())
    return Error::success();
  if (Error error = checkChunks(program, input, values))
    return error;
  if (strategy.cpCommType == ContextExchange::AllToAll)
    if (Error error = checkExchangedHeads(program, input, preset, values))
      return error;
  if (Error error = checkRing(program, input, values))
    return error;
  return checkRecurrent(program, input, preset, values);
}

namespace {
/// A dimension and the degrees that it is divided by.
struct DividedDim {
  std::string name;
  const SymbolValue *value;
  bool isNumber;  ///< Not the value of a symbol: nothing can be replicated.
  ArrayAttr axes; ///< Those of values; null for what rules say of a symbol.
  SmallVector<std::pair<std::string, int64_t>> degrees;
  SmallVector<StringRef> counted; ///< The axes that the degrees have.

  bool isDivisible(int64_t parts) const { return value->value % parts == 0; }
  /// Multiplies axes that are parts of one degree.
  void divideBy(StringRef name, int64_t parts) {
    for (auto &[known, degree] : degrees)
      if (known == name) {
        degree *= parts;
        return;
      }
    degrees.emplace_back(name.str(), parts);
  }
};

/// Whether the degrees of a plan divide what its rules shard.
class DegreeChecker {
public:
  DegreeChecker(const StrategyInput &input, ModuleOp module,
                const Preset &preset, const PresetPlan &plan,
                const SymbolValues &values)
      : input(input), module(module), preset(preset), plan(plan),
        values(values) {}

  Error run();

private:
  StringRef getDegree(const PresetPlan::Rule &rule,
                      const PresetPlan::Axis &axis);
  void divide(const PresetPlan::Rule &rule);
  void divide(const PresetPlan::Rule &rule, const SymbolValue &value,
              StringRef name, bool isNumber = false, ArrayAttr axes = {});
  void divideDerived(const llvm::StringSet<> &uneven);
  void divideDerived(DimAttr dim, ArrayAttr axes, bool isOfLayer);
  std::string describeDegrees(StringRef name);
  Error check(const DividedDim &dim);

  const StrategyInput &input;
  ModuleOp module;
  const Preset &preset;
  const PresetPlan &plan;
  const SymbolValues &values;
  SmallVector<DividedDim> dims;
  /// Extents of dimensions that are no symbols: all tokens but the first one,
  /// or the heads of a layer that has a number of its own.
  SymbolValues derived;
  /// What values of layers, and others, have that has been looked at.
  llvm::DenseSet<std::pair<DimAttr, ArrayAttr>> seen[2];
};
} // namespace

/// The degree that the rule is written with, or that makes its axis.
StringRef DegreeChecker::getDegree(const PresetPlan::Rule &rule,
                                   const PresetPlan::Axis &axis) {
  for (const Preset::Degree &degree : preset.degrees)
    if (degree.name == rule.written)
      return degree.name;
  return axis.degree;
}

/// Dimensions count as far as they have values.
void DegreeChecker::divide(const PresetPlan::Rule &rule) {
  auto value = values.find(rule.rule.getDim().str());
  if (value != values.end())
    divide(rule, value->second, value->first);
}

void DegreeChecker::divide(const PresetPlan::Rule &rule,
                           const SymbolValue &value, StringRef name,
                           bool isNumber, ArrayAttr axes) {
  for (const PresetPlan::Axis &axis : plan.axes) {
    std::optional<int64_t> size = axis.size.getInt64();
    if (!size || axis.name != rule.rule.getAxis().getValue())
      continue;
    auto it = llvm::find_if(dims, [&](const DividedDim &dim) {
      return dim.value == &value && dim.axes == axes;
    });
    if (it == dims.end())
      it = dims.insert(it, {name.str(), &value, isNumber, axes, {}, {}});
    if (llvm::is_contained(it->counted, StringRef(axis.name)))
      continue;
    it->counted.push_back(axis.name);
    it->divideBy(getDegree(rule, axis), *size);
  }
}

/// A dimension that is sharded and has another extent than the symbol that it
/// is named after. Replicas follow from the degree, but for a number that is of
/// a layer's own. What is kept has a message of its own. Values of one extent
/// may be divided by different axes, or by none.
void DegreeChecker::divideDerived(DimAttr dim, ArrayAttr axes, bool isOfLayer) {
  if (axes.empty() || !seen[isOfLayer].insert({dim, axes}).second)
    return;
  std::optional<Exact> number = evaluate(dim.getExtent(), values);
  if (dim.getNames().size() != 1 || !number)
    return;
  StringAttr name = dim.getNames().front();
  std::string extent = dim.getExtent().str();
  const bool isNumber = isOfLayer && dim.getExtent().getInt64();
  if (name == extent ||
      (!isNumber && (hasCachedTokens(input.values) ||
                     findReplicas(preset, input.values, name))))
    return;
  auto own = derived.try_emplace(
      isNumber ? name.str() + " = " + extent : extent,
      SymbolValue{int64_t(*number),
                  isNumber ? "a layer of its own size" : "the model"});
  auto symbol = values.find(extent);
  const SymbolValue &value =
      symbol == values.end() ? own.first->second : symbol->second;
  for (const PresetPlan::Rule &rule : plan.rules)
    if (rule.rule.getDim() == name &&
        llvm::is_contained(axes, rule.rule.getAxis()))
      divide(rule, value, isNumber ? name.getValue() : StringRef(extent),
             isNumber, axes);
}

/// The plan says what is sharded. Sizes of layers are those of parameters and
/// of heads, which may be of one parameter.
void DegreeChecker::divideDerived(const llvm::StringSet<> &uneven) {
  auto divideDim = [&](SymTensorType type, unsigned number, bool isOfLayer) {
    DimAttr dim = type.getDim(number);
    if (llvm::none_of(dim.getNames(),
                      [&](StringAttr name) { return uneven.contains(name); }))
      divideDerived(dim, type.getSharding().getDimAxes()[number], isOfLayer);
  };
  auto divideAll = [&](TypeRange types, bool isOfLayer) {
    for (Type type : types)
      if (auto tensor = dyn_cast<SymTensorType>(type);
          tensor && tensor.getSharding())
        for (unsigned number = 0; number < tensor.getRank(); ++number)
          divideDim(tensor, number, isOfLayer);
  };
  module.walk([&](Operation *op) {
    divideAll(op->getResultTypes(), isa<ParamOp>(op));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        divideAll(block.getArgumentTypes(), /*isOfLayer=*/false);
    if (auto attention = dyn_cast<AttentionOp>(op))
      for (Value heads : {attention.getQuery(), attention.getKey()})
        if (auto type = cast<SymTensorType>(heads.getType());
            type.getSharding())
          divideDim(type, 2, /*isOfLayer=*/true);
  });
}

/// Says which values the degree can have, which divides some of the dimensions.
std::string DegreeChecker::describeDegrees(StringRef name) {
  int64_t common = 0, most = 1;
  SmallVector<int64_t> extents; ///< Of what is replicated.
  std::vector<std::string> names;
  for (const DividedDim &dim : dims) {
    if (llvm::none_of(dim.degrees,
                      [&](auto &degree) { return degree.first == name; }))
      continue;
    const Preset::Replicas *replicas =
        findReplicas(preset, input.values, dim.name);
    if (replicas && replicas->degree == name && !dim.isNumber) {
      extents.push_back(dim.value->value);
      names.push_back(dim.name);
      most = std::max(most, dim.value->value);
    } else {
      common = std::gcd(common, dim.value->value);
    }
  }
  auto isPossible = [&](int64_t degree) {
    return llvm::all_of(extents, [&](int64_t extent) {
      return extent % degree == 0 || degree % extent == 0;
    });
  };
  std::string text =
      "degrees that divide all that is sharded over " + name.str();
  if (!names.empty())
    text += ", or are multiples of " + joinWords(names, "and");
  return text + ": " + listDivisors(common ? common : most, isPossible);
}

/// Says what is wrong with the dimension, if one of the degrees does not divide
/// it.
Error DegreeChecker::check(const DividedDim &dim) {
  int64_t product = 1;
  std::string degrees;
  for (auto &[name, degree] : dim.degrees) {
    product *= degree;
    std::string own = input.spellDegree(name, std::to_string(degree));
    degrees += (degrees.empty() ? "" : " and ") + own;
    if (dim.isDivisible(product))
      continue;
    std::string extent = dim.name + " = " + std::to_string(dim.value->value);
    if (dim.isDivisible(degree))
      return makeError(degrees + " together do not divide " + extent +
                       ", from " + dim.value->source);
    auto symbol = module.lookupSymbol<SymbolOp>(dim.name);
    if (symbol && symbol.getDescription())
      extent += " (" + symbol.getDescription()->str() + ")";
    // Rows of a vocabulary can be added, and tokens of a list of requests are
    // where tensor parallelism divides them.
    const Strategy &values = input.values;
    bool isTokens = dim.name == kTokenDim;
    StringRef advice =
        dim.name == kVocabularyDim && values.vocabularyMultiple
            ? "; or give another --vocabulary-multiple, or ranks unequal parts "
              "with --uneven V"
        : dim.name == kVocabularyDim
            ? "; or add rows with --pad-vocabulary 1, or give ranks unequal "
              "parts with --uneven V"
        : isTokens && values.inference && values.requests.empty() &&
                values.contextRanks.isOne()
            ? "; or give a list with --requests, whose tokens are one row "
              "that is padded"
        : isTokens && values.inference && !values.contextRanks.isOne() &&
                dim.value->value == 1
            ? "; compile steps of decoding by themselves, without context "
              "parallelism"
            : "";
    return makeError(own + " does not divide " + extent + ", from " +
                     dim.value->source + "; " + describeDegrees(name) + advice);
  }
  return Error::success();
}

/// Names of dimensions of tables of different sizes, and of their rows, of
/// which some ranks may have more than others.
static llvm::StringSet<> collectPlaced(ModuleOp module) {
  llvm::StringSet<> names;
  module.walk([&](EmbeddingOp op) {
    if (SymTensorType table = op.getTable().getType();
        op.getRows() && table.getRank() == 3)
      for (DimAttr dim : table.getDims().drop_back())
        for (StringAttr name : dim.getNames())
          names.insert(name.getValue());
  });
  return names;
}

Error DegreeChecker::run() {
  llvm::StringSet<> uneven = collectPlaced(module);
  for (const std::string &name : input.values.uneven) {
    bool isDivided = llvm::any_of(plan.rules, [&](const auto &rule) {
      return rule.rule.getDim() == name;
    });
    // A file has what its preset says, whatever the degrees are.
    const llvm::json::Array *own = preset.defaults.getArray("uneven");
    bool isOwn = own && llvm::is_contained(*own, llvm::json::Value(name));
    if (!isDivided && !isOwn && input.isGiven(FieldId::uneven))
      return makeError(input.spell(getField(FieldId::uneven)) +
                       " has no effect: no rule divides a dimension '" + name +
                       "' of the model; see --rules");
    uneven.insert(name);
  }
  for (const PresetPlan::Rule &rule : plan.rules)
    if (!uneven.contains(rule.rule.getDim()))
      divide(rule);
  divideDerived(uneven);
  for (const DividedDim &dim : dims)
    if (Error error = check(dim))
      return error;
  return Error::success();
}

Error stg::checkDegrees(const StrategyInput &strategy, ModuleOp module,
                        const Preset &preset, const PresetPlan &plan,
                        const SymbolValues &values) {
  return DegreeChecker(strategy, module, preset, plan, values).run();
}
