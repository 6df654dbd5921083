//===- StrategyPreset.cpp - What a preset makes of a strategy -------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A strategy has degrees, options and rules of its preset. From the mesh that
// they make follows what its other fields are about: along which roles there
// are ranks, and what rules divide. These facts become fields of the strategy,
// and whoever asks knows no degree by its name.
//
//===----------------------------------------------------------------------===//

#include "stg/Presets/Preset.h"
#include "stg/Support/Text.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace stg;
using llvm::Error;
using llvm::Expected;

/// What the preset does in its own way is not for a user to choose.
static Error checkFixed(const Preset &preset, const StrategyInput &strategy) {
  static const Strategy defaults;
  for (const Preset::Fixed &fixed : preset.fixed)
    for (const Field &field : getFields())
      if (llvm::is_contained(fixed.fields, field.jsonName) &&
          strategy.isGiven(field.id) &&
          field.print(strategy.values) != field.print(defaults))
        return makeError(strategy.spell(field) +
                         " has no effect with preset '" + preset.name +
                         "': " + fixed.message);
  return Error::success();
}

/// A degree that has a flag, too, has one value.
static Error checkDegreesWithFlags(const StrategyInput &strategy) {
  for (StringRef degree : strategy.values.degrees) {
    auto [name, value] = degree.split('=');
    const Field *field = findFieldOf(name.trim());
    if (field && field->isDegree && strategy.isGiven(field->id) &&
        field->print(strategy.values) != value.trim())
      return makeError(strategy.spell(getField(FieldId::degrees)) + " with " +
                       strategy.spell(*field) +
                       ": two values of one degree; give one");
  }
  return Error::success();
}

static Expected<Preset> load(StringRef name, LoadedPresets *loaded) {
  if (!loaded)
    return Preset::load(name);
  auto it = loaded->find(name.str());
  if (it != loaded->end())
    return it->second;
  Expected<Preset> preset = Preset::load(name);
  if (preset)
    loaded->emplace(name.str(), *preset);
  return preset;
}

Expected<Preset> stg::loadPreset(StrategyInput &strategy,
                                 LoadedPresets *loaded) {
  PresetName &name = strategy.values.preset;
  Expected<Preset> preset = load(name.str(), loaded);
  if (!preset)
    return preset;
  if (!preset->isShipped)
    name.text = preset->text;
  if (Error error = strategy.setDefaults(preset->defaults))
    return makeError("preset '" + preset->name +
                     "': defaults: " + llvm::toString(std::move(error)));
  if (Error error = checkFixed(*preset, strategy))
    return std::move(error);
  if (Error error = checkDegreesWithFlags(strategy))
    return std::move(error);
  return preset;
}

/// A degree that is 1 says nothing, but one that may have no value.
static bool isSaid(const Field &field, StringRef value) {
  static const Strategy defaults;
  return !value.empty() && (value != "1" || field.print(defaults).empty());
}

/// What a strategy says to the preset.
static PresetRequest makeRequest(const Preset &preset,
                                 const StrategyInput &strategy) {
  PresetRequest request;
  const Strategy &values = strategy.values;
  for (const Field &field : getFields()) {
    std::string text = field.print(values);
    if (field.isDegree && field.scopes && isSaid(field, text))
      request.values.emplace_back(field.jsonName, text);
  }
  for (StringRef degree : values.degrees) {
    auto [name, value] = degree.split('=');
    request.values.emplace_back(name.trim().str(),
                                degree.contains('=') ? value.str() : "true");
  }
  if (values.sequenceParallel)
    request.values.emplace_back(getField(FieldId::sequenceParallel).jsonName,
                                "true");
  for (const Preset::Option &option : preset.options) {
    const Field *field = findFieldOf(option.name);
    if (field && field->id != FieldId::sequenceParallel &&
        field->print(values) == "true")
      request.values.emplace_back(option.name, "true");
  }
  for (const Preset::Replicas &replicas : preset.replicas)
    for (StringRef text : values.replicas)
      if (auto [dim, times] = text.split('='); dim == replicas.dimension)
        request.values.emplace_back(replicas.times, times.str());
  request.rules = values.rules;
  request.rankOrder = values.rankOrder;
  request.spell = [&](StringRef name) { return strategy.spellDegree(name); };
  return request;
}

const Preset::Replicas *stg::findReplicas(const Preset &preset,
                                          const Strategy &strategy,
                                          StringRef dim) {
  bool hasRule = llvm::any_of(strategy.rules, [&](StringRef rule) {
    return rule.split(':').first.trim() == dim;
  });
  auto it = llvm::find_if(preset.replicas, [&](const auto &replicas) {
    return replicas.dimension == dim;
  });
  return hasRule || it == preset.replicas.end() ? nullptr : &*it;
}

/// How often the dimension is to be replicated: a number or a symbol.
static std::string getTimes(const Preset::Replicas &replicas,
                            ExtentLookup getExtent,
                            const StrategyInput &strategy) {
  if (std::optional<std::string> given = strategy.getDegree(replicas.times))
    return *given;
  std::string degree = strategy.getDegree(replicas.degree).value_or("1");
  std::optional<int64_t> extent = getExtent(replicas.dimension);
  int64_t ranks = 0;
  if (!extent || *extent < 1 || StringRef(degree).getAsInteger(10, ranks) ||
      ranks % *extent != 0)
    return "1";
  return std::to_string(ranks / *extent);
}

void stg::deriveReplicas(const Preset &preset, ExtentLookup getExtent,
                         StrategyInput &strategy) {
  Strategy &values = strategy.values;
  strategy.setDerived(FieldId::replicas);
  values.replicas.clear();
  for (const Preset::Replicas &replicas : preset.replicas) {
    if (!findReplicas(preset, values, replicas.dimension))
      continue;
    if (std::string times = getTimes(replicas, getExtent, strategy);
        times != "1")
      values.replicas.push_back(replicas.dimension + "=" + times);
  }
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

static Degree asDegree(SymExpr expr) {
  Degree degree;
  if (std::optional<int64_t> number = expr.getInt64())
    degree.number = *number;
  else
    degree.symbol = expr.str();
  return degree;
}

namespace {
/// Puts facts into a strategy.
class Facts {
public:
  Facts(const Preset &preset, const PresetPlan &plan, MLIRContext *context,
        StrategyInput &strategy)
      : preset(preset), plan(plan), context(context), strategy(strategy) {}

  void run();

private:
  void setRole(FieldId id, Degree &place, ArrayRef<AxisRole> roles);
  void setDivided(FieldId id, Degree &place,
                  function_ref<bool(RuleAttr)> counts,
                  std::vector<std::string> sources);
  std::vector<std::string> getSources(StringRef dim);
  void countGroups();

  const Preset &preset;
  const PresetPlan &plan;
  MLIRContext *context;
  StrategyInput &strategy;
};
} // namespace

/// Messages name the degrees that make axes of the first role.
void Facts::setRole(FieldId id, Degree &place, ArrayRef<AxisRole> roles) {
  SymExpr ranks = SymExpr::get(context, 1);
  for (const PresetPlan::Axis &axis : plan.axes)
    if (llvm::is_contained(roles, axis.role))
      ranks = ranks * axis.size;
  place = asDegree(ranks);
  strategy.setDerived(id, preset.getDegrees(roles.front()));
}

/// An axis divides a value once, whatever further rules say.
void Facts::setDivided(FieldId id, Degree &place,
                       function_ref<bool(RuleAttr)> counts,
                       std::vector<std::string> sources) {
  SymExpr ranks = SymExpr::get(context, 1);
  DenseSet<StringAttr> used;
  for (const PresetPlan::Rule &rule : plan.rules)
    if (counts(rule.rule) && used.insert(rule.rule.getAxis()).second)
      for (const PresetPlan::Axis &axis : plan.axes)
        if (axis.name == rule.rule.getAxis().getValue())
          ranks = ranks * axis.size;
  place = asDegree(ranks);
  strategy.setDerived(id, std::move(sources));
}

/// The degrees that rules of the plan for the dimension were written with.
std::vector<std::string> Facts::getSources(StringRef dim) {
  std::vector<std::string> names;
  auto note = [&](StringRef name) {
    if (!llvm::is_contained(names, name))
      names.push_back(name.str());
  };
  for (const PresetPlan::Rule &rule : plan.rules) {
    if (rule.rule.getDim() != dim || !rule.rule.covers(RuleScope::Input))
      continue;
    auto isDegree = [&](const Preset::Degree &degree) {
      return degree.name == rule.written;
    };
    if (llvm::any_of(preset.degrees, isDegree))
      note(rule.written);
    else
      for (const PresetPlan::Axis &axis : plan.axes)
        if (axis.name == rule.rule.getAxis().getValue())
          note(axis.degree);
  }
  return names;
}

void Facts::countGroups() {
  llvm::SmallVector<StringRef> groups;
  for (const PresetPlan::Axis &axis : plan.axes)
    if (!llvm::is_contained(groups, axis.group))
      groups.push_back(axis.group);
  strategy.values.axisGroups = groups.size();
  strategy.setDerived(FieldId::axisGroups);
}

void Facts::run() {
  Strategy &values = strategy.values;
  setRole(FieldId::dataRanks, values.dataRanks,
          {AxisRole::Data, AxisRole::Expert});
  setRole(FieldId::replicaRanks, values.replicaRanks, AxisRole::Replica);
  setRole(FieldId::contextRanks, values.contextRanks, AxisRole::Context);
  setRole(FieldId::tensorRanks, values.tensorRanks, AxisRole::Tensor);
  setRole(FieldId::pipelineRanks, values.pipelineRanks, AxisRole::Pipeline);
  auto isStream = [](RuleAttr rule) {
    return rule.getScope() == RuleScope::Stream;
  };
  setDivided(FieldId::streamRanks, values.streamRanks, isStream,
             plan.streamSources);
  auto dividesExperts = [](RuleAttr rule) {
    return rule.getDim() == kExpertDim && rule.covers(RuleScope::Param);
  };
  setDivided(FieldId::expertRanks, values.expertRanks, dividesExperts,
             preset.getDegrees(AxisRole::Expert));
  StringRef batch = kBatchDim;
  auto dividesBatch = [&](RuleAttr rule) {
    return rule.getDim() == batch && rule.covers(RuleScope::Input);
  };
  setDivided(FieldId::batchRanks, values.batchRanks, dividesBatch,
             getSources(batch));
  countGroups();
}

std::optional<int64_t> stg::countRanks(const PresetPlan &plan) {
  __int128 ranks = 1;
  for (const PresetPlan::Axis &axis : plan.axes) {
    std::optional<int64_t> size = axis.size.getInt64();
    if (!size)
      return std::nullopt;
    ranks = std::min<__int128>(ranks * *size, __int128(kMostRanks) + 1);
  }
  return static_cast<int64_t>(ranks);
}

/// A message about several degrees calls each as it was given.
static Error refuseRanks(const PresetPlan &plan,
                         const StrategyInput &strategy) {
  std::vector<std::string> names, words;
  for (const PresetPlan::Axis &axis : plan.axes) {
    StringRef name = strategy.getDegree(axis.group) ? axis.group : axis.degree;
    if (!llvm::is_contained(names, name))
      names.push_back(name.str());
  }
  for (const std::string &name : names)
    words.push_back(strategy.spellDegree(name));
  return makeError(joinWords(words, "and") + " make more ranks than the " +
                   Twine(kMostRanks) + " that can be numbered");
}

/// Says why the plan has no ranks along the axis or the group.
static Error refuseCacheAxis(const Preset &preset, const PresetPlan &plan,
                             StringRef name, const StrategyInput &strategy) {
  std::string by = strategy.isGiven(FieldId::cacheAxes)
                       ? strategy.spell(getField(FieldId::cacheAxes))
                       : "preset '" + strategy.values.preset.str() + "'";
  for (const Preset::Group &group : preset.groups)
    for (const Preset::Axis &axis : group.axes) {
      if (name != axis.name && name != group.name)
        continue;
      return makeError(by + ": caches are divided over '" + name +
                       "', which needs " + strategy.spellLargerDegree(axis.of));
    }
  std::vector<StringRef> names;
  for (const PresetPlan::Axis &axis : plan.axes)
    names.push_back(axis.name);
  return makeError(by + ": the mesh has no axis '" + name +
                   "' over which caches could be divided; it has " +
                   (names.empty() ? "none" : llvm::join(names, ", ")));
}

Expected<PresetPlan> stg::planStrategy(const Preset &preset,
                                       MLIRContext *context,
                                       const DimensionNames &dimensions,
                                       StrategyInput &strategy) {
  Strategy &values = strategy.values;
  context->loadDialect<STGDialect>(); // A module may have no op of it.
  PresetRequest request = makeRequest(preset, strategy);
  values.presetValues.clear();
  for (const auto &[name, value] : request.values)
    values.presetValues.push_back(name + "=" + value);
  Expected<PresetPlan> plan =
      evaluatePreset(preset, request, context, dimensions);
  if (!plan)
    return plan;
  // A group stands for its axes.
  std::vector<std::string> cacheAxes;
  for (const std::string &name : values.cacheAxes) {
    bool isAxis = llvm::any_of(
        plan->axes, [&](const auto &axis) { return axis.name == name; });
    size_t before = cacheAxes.size();
    for (const PresetPlan::Axis &axis : plan->axes)
      if (!isAxis && axis.group == name)
        cacheAxes.push_back(axis.name);
    if (cacheAxes.size() > before)
      continue;
    if (!isAxis && !values.training)
      return refuseCacheAxis(preset, *plan, name, strategy);
    cacheAxes.push_back(name);
  }
  values.cacheAxes = cacheAxes;
  plan->late = std::move(cacheAxes);
  std::optional<int64_t> ranks = countRanks(*plan);
  if (ranks && *ranks > kMostRanks)
    return refuseRanks(*plan, strategy);
  Facts(preset, *plan, context, strategy).run();
  if (!strategy.isGiven(FieldId::rankOrder))
    values.rankOrder = llvm::join(plan->groups, "-");
  if (Error error = strategy.check())
    return std::move(error);
  return plan;
}
