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
#include "stg/Support/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <numeric>

using namespace mlir;
using namespace stg;
using llvm::Error;
using llvm::Expected;

static Error makeError(const Twine &message) {
  return makeStrategyError(message);
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

template <typename OpTy> static std::string listNames(ModuleOp module) {
  SmallVector<StringRef> names;
  for (auto op : module.getOps<OpTy>())
    names.push_back(op.getSymName());
  return llvm::join(names, ", ");
}

/// Sets a symbol that must exist.
static Error setSymbol(ModuleOp module, StringRef name, int64_t value,
                       std::string source, SymbolValues &values) {
  if (!module.lookupSymbol<SymbolOp>(name)) {
    std::string symbols = listNames<SymbolOp>(module);
    std::string options = listNames<OptionOp>(module);
    return makeError(
        source + ": the model has no symbol '" + name + "'; " +
        (symbols.empty() ? "it declares none" : "its symbols are " + symbols) +
        (options.empty() ? "" : ", its options " + options));
  }
  values[name.str()] = {value, std::move(source)};
  return Error::success();
}

/// What the strategy says: batch, seq and set.
static Error setFromStrategy(ModuleOp module, const StrategyInput &strategy,
                             SymbolValues &values) {
  for (const Field &field : getFields()) {
    int64_t value = 0;
    if (field.symbolName.empty() || !strategy.isGiven(field.id) ||
        StringRef(field.print(strategy.values)).getAsInteger(10, value))
      continue;
    if (Error error = setSymbol(module, field.symbolName, value,
                                strategy.spell(field), values))
      return error;
  }
  for (const auto &[name, setting] : strategy.values.set) {
    if (module.lookupSymbol<OptionOp>(name))
      continue;
    std::string source = strategy.spellSetting(name);
    if (!setting.number && module.lookupSymbol<SymbolOp>(name))
      return makeError(source + ": expected an integer of at least 1");
    if (Error error = setSymbol(module, name, setting.number, source, values))
      return error;
  }
  return Error::success();
}

/// Gives an option of the model the value.
static Error setOption(OptionOp option, StringRef value, StringRef source) {
  if (!option.accepts(value))
    return makeError(source + ": option '" + option.getSymName() +
                     "' is to be '" + value + "', expected " +
                     option.getExpected());
  option.setValue(value);
  return Error::success();
}

Error stg::setOptions(const Model &model, const StrategyInput &strategy) {
  ModuleOp module = *model.module;
  if (ConfigOp config = model.config)
    for (NamedAttribute entry : config.getBindings())
      if (StringAttr value = getOptionValue(entry.getValue()))
        // The configuration has been verified.
        module.lookupSymbol<OptionOp>(entry.getName()).setValueAttr(value);
  for (const auto &[name, setting] : strategy.values.set)
    if (auto option = module.lookupSymbol<OptionOp>(name))
      if (Error error =
              setOption(option, setting.str(), strategy.spellSetting(name)))
        return error;
  for (auto option : module.getOps<OptionOp>())
    if (!option.getValue())
      return makeError("option '" + option.getSymName() + "' (" +
                       option.getDescription().value_or("of the model") +
                       ") has no value, expected " + option.getExpected() +
                       "; give it with --set " + option.getSymName() +
                       "=VALUE");
  return Error::success();
}

/// The tokens of a row are those of all documents.
static Error setDocuments(ModuleOp module, const StrategyInput &strategy,
                          SymbolValues &values) {
  const std::vector<int64_t> &documents = strategy.values.documents;
  if (documents.empty())
    return Error::success();
  std::string source = strategy.spell(getField(FieldId::documents));
  StringRef tokens = getField(FieldId::seq).symbolName;
  if (strategy.values.set.count(tokens.str()))
    return makeError(source + ": symbol '" + tokens +
                     "' has a value already; it is that of all documents");
  int64_t sum = 0;
  for (int64_t length : documents)
    if (llvm::AddOverflow(sum, length, sum) || sum > kMostRanks)
      return makeError(source + ": more than " + Twine(kMostRanks) +
                       " tokens in a row");
  return setSymbol(module, tokens, sum, source, values);
}

/// The new tokens of a row in a step of inference: where nobody says them, one
/// in decoding, and those of all requests. In training those of all documents.
static Error setStep(ModuleOp module, const StrategyInput &strategy,
                     SymbolValues &values) {
  if (!strategy.values.inference)
    return setDocuments(module, strategy, values);
  StringRef tokens = getField(FieldId::seq).symbolName;
  StringRef batch = getField(FieldId::batch).symbolName;
  const Requests &requests = strategy.values.requests;
  bool isSaid =
      strategy.isGiven(FieldId::seq) || strategy.values.set.count(tokens.str());
  if (!requests.empty()) {
    std::string source = strategy.spell(getField(FieldId::requests));
    if (isSaid)
      return makeError(source + ": symbol '" + tokens +
                       "' has a value already; it is that of all requests");
    // A row for each data-parallel rank.
    if (!values.count(batch.str()) && module.lookupSymbol<SymbolOp>(batch))
      values[batch.str()] = {
          requests.areOfRanks()
              ? static_cast<int64_t>(requests.getLists().size())
              : std::max<int64_t>(strategy.values.dp.number, 1),
          source};
    // What ranks have of their own takes its place later.
    int64_t most = 0;
    for (const Requests &own : requests.getLists())
      most = std::max(most, own.countNew());
    return setSymbol(module, tokens, most, source, values);
  }
  bool isDecode = strategy.getMode() == Mode::Decode;
  if (isDecode && !strategy.values.kvLen)
    return makeError("decoding needs tokens that are cached; give them with "
                     "--kv-len or --requests");
  if (!isDecode || isSaid)
    return Error::success();
  const Field &source = getField(
      strategy.isGiven(FieldId::mode) ? FieldId::mode : FieldId::kvLen);
  return setSymbol(module, tokens, 1, strategy.spell(source), values);
}

/// Symbols that are declared with a value, which may depend on others.
static Error setDefaults(ModuleOp module, SymbolValues &values) {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto symbol : module.getOps<SymbolOp>()) {
      if (!symbol.getValue() || values.count(symbol.getSymName().str()))
        continue;
      SymBinding binding;
      for (auto &[name, value] : values)
        binding[StringAttr::get(symbol.getContext(), name)] =
            SymExpr::get(symbol.getContext(), value.value);
      SymExpr result = symbol.getValue()->substitute(binding);
      if (!result || !result.isConstant())
        continue;
      std::optional<int64_t> value = result.getInt64();
      if (!value || *value < 1)
        return makeError("symbol '" + symbol.getSymName() +
                         "' = " + symbol.getValue()->str() + " is " +
                         result.str() + ", expected an integer of at least 1");
      values[symbol.getSymName().str()] = {*value, "the model"};
      changed = true;
    }
  }
  return Error::success();
}

/// The field that is short for giving the symbol a value, or null.
static const Field *findShorthand(StringRef symbol) {
  for (const Field &field : getFields())
    if (field.symbolName == symbol)
      return &field;
  return nullptr;
}

/// The flags that give values to symbols: `--batch or --set B=VALUE`.
static std::string listFlags(ArrayRef<SymbolOp> symbols) {
  std::string flags;
  for (SymbolOp symbol : symbols)
    if (const Field *field = findShorthand(symbol.getSymName()))
      flags += "--" + field->name.str() + " or ";
  SymbolOp first = symbols.front();
  return flags + "--set " +
         (symbols.size() == 1 ? first.getSymName() : "SYMBOL").str() + "=VALUE";
}

/// Says which symbols have no value, and what would give them one.
static Error makeMissing(const Model &model, ArrayRef<SymbolOp> missing) {
  SmallVector<std::string> names;
  for (SymbolOp symbol : missing) {
    names.push_back("'" + symbol.getSymName().str() + "'");
    if (symbol.getDescription())
      names.back() += " (" + symbol.getDescription()->str() + ")";
  }
  std::string text = (missing.size() == 1 ? "symbol " : "symbols ") +
                     llvm::join(names, ", ") +
                     (missing.size() == 1 ? " has no value; give it with "
                                          : " have no value; give them with ") +
                     listFlags(missing);
  if (model.config)
    return makeError(text);
  SmallVector<StringRef> configs;
  ModuleOp module = *model.module;
  for (auto config : module.getOps<ConfigOp>())
    configs.push_back(config.getSymName());
  if (!configs.empty())
    text += ", or choose a configuration with --config: " +
            llvm::join(configs, ", ");
  return makeError(text);
}

Expected<SymbolValues> stg::collectSymbols(const Model &model,
                                           const StrategyInput &strategy) {
  ModuleOp module = *model.module;
  SymbolValues values;
  if (ConfigOp config = model.config)
    for (NamedAttribute entry : config.getBindings())
      if (!getOptionValue(entry.getValue()))
        values[entry.getName().str()] = {
            cast<IntegerAttr>(entry.getValue()).getInt(),
            "configuration " + config.getSymName().str()};
  if (Error error = setFromStrategy(module, strategy, values))
    return error;
  if (Error error = setStep(module, strategy, values))
    return error;
  if (Error error = setDefaults(module, values))
    return error;
  SmallVector<SymbolOp> missing;
  for (auto symbol : module.getOps<SymbolOp>())
    if (!values.count(symbol.getSymName().str()) && !symbol.getCoordinate())
      missing.push_back(symbol);
  if (missing.empty())
    return values;
  // What follows from others gets a value with them, unless in a circle.
  SmallVector<SymbolOp> free = llvm::filter_to_vector(
      missing, [](SymbolOp symbol) { return !symbol.getValue(); });
  return makeMissing(model, free.empty() ? missing : free);
}

/// None if a symbol has no value.
static std::optional<CompiledExprs::Result>
compute(SymExpr expr, const SymbolValues &symbols) {
  bool isKnown = true;
  expr.walkSymbols(
      [&](StringAttr symbol) { isKnown &= symbols.count(symbol.str()) != 0; });
  if (!isKnown)
    return std::nullopt;
  SmallVector<StringAttr> names;
  SmallVector<int64_t> values;
  for (auto &[name, value] : symbols) {
    names.push_back(StringAttr::get(expr.getContext(), name));
    values.push_back(value.value);
  }
  return CompiledExprs(expr, names).evaluate(0, values);
}

std::optional<Exact> stg::evaluate(SymExpr expr, const SymbolValues &symbols) {
  auto result = compute(expr, symbols);
  if (!result || result->status != CompiledExprs::Status::Ok)
    return std::nullopt;
  return result->value;
}

static bool isFraction(SymExpr expr, const SymbolValues &symbols) {
  auto result = compute(expr, symbols);
  return result && result->status == CompiledExprs::Status::NotIntegral;
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// The dimension of learned positions.
static constexpr StringLiteral kPositionDim = "P";

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

Error stg::checkPositions(ModuleOp module, const StrategyInput &strategy,
                          const SymbolValues &values) {
  auto positions = values.find(kPositionDim.str()),
       tokens = values.find(getField(FieldId::seq).symbolName.str());
  if (strategy.values.training || positions == values.end() ||
      tokens == values.end())
    return Error::success();
  bool areLearned =
      module
          .walk([](ParamOp param) {
            ArrayRef<DimAttr> dims = param.getType().getDims();
            return !dims.empty() && dims.front().hasName(StringAttr::get(
                                        param.getContext(), kPositionDim))
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          })
          .wasInterrupted();
  auto [longest, source] = getContext(strategy, tokens->second.value);
  if (!areLearned || longest <= positions->second.value)
    return Error::success();
  return makeError(strategy.spell(getField(source)) + ": a request has " +
                   chakra::toDecimal(longest) + " tokens in the end, and " +
                   kPositionDim + " = " + Twine(positions->second.value) +
                   " positions are learned, from " + positions->second.source +
                   "; use fewer tokens or steps, or --set " + kPositionDim +
                   "=VALUE");
}

/// Whether earlier steps have kept tokens of a request.
static bool hasCachedTokens(const Strategy &values) {
  return values.kvLen.value_or(0) > 0 || values.requests.countCached() > 0;
}

Error stg::checkJoinedTokens(ModuleOp module, const StrategyInput &strategy,
                             const SymbolValues &values) {
  StringRef name = getField(FieldId::seq).symbolName;
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
  auto tokens = StringAttr::get(module.getContext(),
                                getField(FieldId::seq).symbolName.str());
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
// What follows from the model
//===----------------------------------------------------------------------===//

/// What divides `number` and is possible otherwise, the smallest first.
static std::string listDivisors(
    int64_t number, llvm::function_ref<bool(int64_t)> isPossible = [](int64_t) {
      return true;
    }) {
  SmallVector<std::string> divisors;
  for (int64_t i = 1; i <= number && divisors.size() < 12; ++i)
    if (number % i == 0 && isPossible(i))
      divisors.push_back(std::to_string(i));
  return llvm::join(divisors, ", ");
}

/// The micro-batches of a data-parallel rank.
static Expected<int64_t> countMicroBatches(const StrategyInput &strategy,
                                           const SymbolValues &values) {
  std::optional<int64_t> size = strategy.values.microBatch;
  if (!size)
    return 1;
  std::string flag = strategy.spell(getField(FieldId::microBatch));
  StringRef symbol = getField(FieldId::batch).symbolName;
  auto batch = values.find(symbol.str());
  if (batch == values.end())
    return makeError(flag + ": the model has no symbol '" + symbol +
                     "', the batch");
  int64_t all = batch->second.value, ranks = strategy.values.batchRanks.number;
  std::string degrees = strategy.spellSources(FieldId::batchRanks, " times ");
  std::string extent =
      (symbol + " = " + Twine(all) + ", from ").str() + batch->second.source;
  if (all % ranks != 0)
    return makeError(degrees + " does not divide " + extent +
                     "; degrees that do: " + listDivisors(all));
  int64_t share = all / ranks;
  std::string with = degrees.empty() ? "" : "with " + degrees + " ";
  if (share % *size != 0)
    return makeError(flag + ": " + with + "it does not divide " + extent +
                     "; micro-batches that do: " + listDivisors(share));
  if (share / *size > kMostRanks)
    return makeError(flag + ": makes " + Twine(share / *size) +
                     " micro-batches, expected at most " + Twine(kMostRanks));
  return share / *size;
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
  auto batch = values.find(getField(FieldId::batch).symbolName.str());
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
  strategy.values.latents = hasLatents(
      module, StringAttr::get(module.getContext(),
                              getField(FieldId::seq).symbolName.str()));
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

/// The symbol, and the dimension, of a vocabulary.
static constexpr StringLiteral kVocabularyDim = "V";

Error stg::padVocabulary(const StrategyInput &strategy, const PresetPlan &plan,
                         SymbolValues &values) {
  bool isOfRanks = strategy.values.padVocabulary != 0;
  FieldId id = isOfRanks ? FieldId::padVocabulary : FieldId::vocabularyMultiple;
  int64_t multiple = isOfRanks ? strategy.values.padVocabulary
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
    for (const PresetPlan::Rule &rule : plan.rules)
      for (const PresetPlan::Axis &axis : plan.axes)
        if (rule.rule.getDim().getValue() == kVocabularyDim &&
            rule.rule.getAxis() == axis.name)
          multiple *= axis.size.getInt64().value_or(1);
  SymbolValue &rows = vocabulary->second;
  int64_t padded = llvm::divideCeil(rows.value, multiple) * multiple;
  if (padded != rows.value)
    rows = {padded, flag + " and " + rows.source};
  return Error::success();
}

bool stg::padTokens(const StrategyInput &strategy, const PresetPlan &plan,
                    SymbolValues &values) {
  const Strategy &own = strategy.values;
  auto tokens = values.find(getField(FieldId::seq).symbolName.str());
  if (!own.inference || own.requests.empty() || own.rankLists ||
      tokens == values.end())
    return false;
  int64_t multiple = 1;
  for (const PresetPlan::Rule &rule : plan.rules)
    for (const PresetPlan::Axis &axis : plan.axes)
      if (rule.rule.getDim().getValue() == tokens->first &&
          rule.rule.getScope() == RuleScope::Stream &&
          rule.rule.getAxis() == axis.name)
        multiple *= axis.size.getInt64().value_or(1);
  int64_t before = tokens->second.value;
  tokens->second.value = llvm::divideCeil(before, multiple) * multiple;
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
  if (Error error = checkRankLists(strategy, values))
    return error;
  return checkLoads(strategy, values);
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
    total += static_cast<int64_t>(*count * *each);
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

/// Likewise of convolutions.
static Error checkConvolutions(func::FuncOp program,
                               const StrategyInput &input) {
  if (!input.values.replayConvolutions ||
      !input.isGiven(FieldId::replayConvolutions))
    return Error::success();
  WalkResult found = program.walk([](ScanOpInterface scan) {
    return scan->walk([](CausalConvOp conv) {
      return getMadeAgain(conv).empty() ? WalkResult::advance()
                                        : WalkResult::interrupt();
    });
  });
  if (found.wasInterrupted())
    return Error::success();
  return makeError(input.spell(getField(FieldId::replayConvolutions)) +
                   " has no effect: needs layers with a causal convolution "
                   "and an activation behind it");
}

Error stg::checkRecompute(func::FuncOp program, const StrategyInput &input,
                          const SymbolValues &values) {
  if (Error error = checkReplayed(program, input))
    return error;
  if (Error error = checkConvolutions(program, input))
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
  std::vector<std::string> sizes;
  for (int64_t layers = 1; layers <= *total; ++layers)
    if (isGroup(layers))
      sizes.push_back(std::to_string(layers));
  return makeError(
      flag + ": groups of so many layers do not divide the " + Twine(*total) +
      " layers" +
      (stages > 1 ? " of the model and those of each pipeline stage" : "") +
      "; sizes that do: " + llvm::join(sizes, ", "));
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
  auto tokens = values.find(getField(FieldId::seq).symbolName.str());
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
    bool isTokens = dim.name == getField(FieldId::seq).symbolName;
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
