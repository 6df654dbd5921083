//===- SymbolValues.cpp - The numbers of a model --------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SymbolValues.h"
#include "stg/Dialect/STG/IR/Blocks.h"
#include "stg/Support/Divisors.h"
#include "stg/Support/Error.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace stg;
using llvm::Error;
using llvm::Expected;

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
  StringRef tokens = kTokenDim;
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
  StringRef tokens = kTokenDim;
  StringRef batch = kBatchDim;
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

Error stg::setDefinedSymbols(ModuleOp module, SymbolValues &values) {
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
  if (Error error = setDefinedSymbols(module, values))
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

bool stg::isFraction(SymExpr expr, const SymbolValues &symbols) {
  auto result = compute(expr, symbols);
  return result && result->status == CompiledExprs::Status::NotIntegral;
}

std::string stg::listDivisors(int64_t number,
                              llvm::function_ref<bool(int64_t)> isPossible) {
  constexpr size_t kMostListed = 12;
  // No degree is larger, and a search for more would take long.
  constexpr int64_t kMostDegree = 1 << 20;
  SmallVector<std::string> divisors;
  for (int64_t divisor : collectDivisors(number, kMostDegree))
    if (divisors.size() < kMostListed && isPossible(divisor))
      divisors.push_back(std::to_string(divisor));
  return llvm::join(divisors, ", ");
}
