//===- SearchSpace.cpp - The strategies that a search looks at ------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Search/SearchSpace.h"
#include "stg/Schedule/PipelineSchedule.h"
#include "stg/Support/Divisors.h"
#include "stg/Support/Error.h"
#include "stg/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <numeric>
#include <set>

using namespace llvm;
using namespace stg;

StrategyInput SearchSpace::getStrategy(size_t point,
                                       const StrategyInput &fixed) const {
  StrategyInput strategy = fixed;
  for (auto [axis, choice] : zip_equal(axes, getChoices(point)))
    if (choice != kUnset)
      cantFail(strategy.set(*axis.field, axis.values[choice], GivenBy::Flag));
  return strategy;
}

//===----------------------------------------------------------------------===//
// Jobs
//===----------------------------------------------------------------------===//

std::vector<int64_t> stg::listRanks(ArrayRef<SearchJob> jobs) {
  std::vector<int64_t> ranks;
  for (const SearchJob &job : jobs)
    ranks.push_back(job.ranks);
  llvm::sort(ranks);
  ranks.erase(llvm::unique(ranks), ranks.end());
  return ranks;
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

namespace stg {
/// Enumerates in two steps: meshes, which the model and the preset look at one
/// by one, and for each of them all that does not change the mesh.
class SpaceBuilder {
public:
  SpaceBuilder(const SpaceRequest &request, StrategySettler &settler)
      : request(request), settler(settler), fixed(request.request->strategy) {}

  Expected<SearchSpace> run();

private:
  /// What follows from the mesh, the micro-batches and earlier choices.
  struct State {
    StrategyInput strategy;
    Strategy settled; ///< What fields are where nothing is chosen.
    uint32_t shards = 1;
    int64_t share = 1; ///< Sequences of a rank that divides the batch.
    /// Ranks of data parallelism where they divide layers; else 0.
    int64_t dataInLayers = 0;
    bool mayHavePairs = false;
    uint32_t job = 0;
  };

  Error checkRequest();
  bool isOfMesh(const Field &field) const;
  bool mayLackEffect(const SearchAxis &axis) const;
  Error readVaried();
  Error giveVaried(StrategyInput &trial);
  Error loadModel();
  void addDefaultDegrees();
  void addDefaultWords(FieldId id, ArrayRef<StringRef> but = {});
  Error addDefaults();
  Error checkDefaults();
  void addDefault(FieldId id, std::vector<std::string> values);
  std::vector<std::string> listDivisors(ArrayRef<int64_t> numbers) const;
  std::vector<std::string> listPowers(int64_t most) const;
  int64_t getLargestBatch() const;

  Expected<int64_t> getRanksLeft(int64_t ranks) const;
  void enterMesh(size_t axis, int64_t ranksLeft);
  void refuse(std::string message);
  void giveFixed(bool ofMesh, StrategyInput &strategy);
  std::optional<StrategyInput> settleChoices();
  void settleMesh();
  void enterRest(size_t axis, State &state);
  void addPoint(State &state);
  uint32_t findJob(const Strategy &values);
  bool mayHave(const State &state, const SearchAxis &axis, StringRef value);
  void setShape(const State &state, TaskShape &shape, bool isInside);
  uint32_t findShape(const State &state);
  uint32_t findInside(const State &state, uint32_t shape, bool isSplit);
  bool splits(uint32_t schedule);
  uint32_t findSchedule(const StrategyInput &strategy);
  bool isDefaultAxis(FieldId id) const { return defaults.count(id); }
  /// Values of axes that are not of the mesh are not given to a strategy.
  bool isGivenOrChosen(const StrategyInput &strategy, FieldId id) const {
    return strategy.isGiven(id) ||
           any_of(zip_equal(space.axes, current), [&](const auto &choice) {
             const auto &[axis, value] = choice;
             return axis.field->id == id && value != SearchSpace::kUnset;
           });
  }
  bool hasAxis(FieldId id) const {
    return any_of(space.axes,
                  [&](const SearchAxis &axis) { return axis.field->id == id; });
  }

  const SpaceRequest &request;
  StrategySettler &settler;
  const StrategyInput &fixed;
  SearchSpace space;
  std::set<FieldId> defaults;
  /// Degrees whose product is the number of ranks.
  std::vector<size_t> meshAxes, restAxes;
  std::vector<uint8_t> current;
  int64_t currentRanks = 1;
  std::map<std::vector<int64_t>, uint32_t> shapeOf, familyOf;
  std::map<std::vector<uint32_t>, uint32_t> insideOf;
  std::vector<bool> splitsOf; ///< By schedule of the space.
  /// A schedule of one device that splits backward; empty: there is none.
  std::string splitSchedule;
  bool isStopped = false;
};
} // namespace stg

static int64_t toNumber(StringRef text) {
  int64_t number = 0;
  return text.getAsInteger(10, number) ? 0 : number;
}

/// Degrees that are not parts of others.
static bool isWhole(FieldId id) {
  return id == FieldId::dp || id == FieldId::tp || id == FieldId::cp ||
         id == FieldId::pp;
}

/// What a step computes follows from these.
static bool isOfStep(FieldId id) {
  return id == FieldId::preset || id == FieldId::set || id == FieldId::seq ||
         id == FieldId::batch || id == FieldId::mode || id == FieldId::kvLen ||
         id == FieldId::requests;
}

/// What the mesh, and with it the facts of a strategy, follow from.
bool SpaceBuilder::isOfMesh(const Field &field) const {
  // Replicas are of what ZeRO divides.
  if (field.id == FieldId::zero)
    return fixed.isGiven(FieldId::dpReplicate) || hasAxis(FieldId::dpReplicate);
  return field.isDegree || field.id == FieldId::sequenceParallel ||
         field.id == FieldId::degrees || field.id == FieldId::rules ||
         field.id == FieldId::rankOrder || isOfStep(field.id);
}

/// A value with which nothing is divided, so that it is as if it were not
/// given.
static bool saysNothing(const Field &field, StringRef value) {
  return (field.isDegree && value == "1" && field.id != FieldId::etp) ||
         value == "false";
}

/// What somebody varies and may have no effect with some degrees.
bool SpaceBuilder::mayLackEffect(const SearchAxis &axis) const {
  const Field &field = *axis.field;
  return !isDefaultAxis(field.id) && ((field.isDegree && !isWhole(field.id)) ||
                                      field.id == FieldId::sequenceParallel ||
                                      field.id == FieldId::rankOrder);
}

/// What adds collectives to tasks, and changes none of their kernels.
static bool isInsideOfTasks(FieldId id) {
  switch (id) {
  case FieldId::zero:
  case FieldId::zeroRoot:
  case FieldId::reshardAfterForward:
  case FieldId::prefetch:
  case FieldId::gradientReduction:
  case FieldId::bucketSize:
  case FieldId::fp8Gather:
  case FieldId::dpReplicate:
    return true;
  default:
    return false;
  }
}

/// What does not change the kernels of a task, or adds to them.
static bool isOutsideOfTasks(FieldId id) {
  switch (id) {
  case FieldId::dp:
  case FieldId::pp:
  case FieldId::batch:
  case FieldId::virtualStages:
  case FieldId::layersPerStage:
  case FieldId::schedule:
  case FieldId::overlapMoeExpertParallelComm:
    return true;
  default:
    return isInsideOfTasks(id);
  }
}

/// What divides one of them.
std::vector<std::string>
SpaceBuilder::listDivisors(ArrayRef<int64_t> numbers) const {
  std::set<int64_t> all;
  for (int64_t number : numbers)
    for (int64_t divisor : collectDivisors(number))
      all.insert(divisor);
  std::vector<std::string> divisors;
  for (int64_t divisor : all)
    divisors.push_back(std::to_string(divisor));
  return divisors;
}

std::vector<std::string> SpaceBuilder::listPowers(int64_t most) const {
  std::vector<std::string> powers;
  for (unsigned shift = 0; shift < 63 && most >> shift > 0; ++shift)
    powers.push_back(std::to_string(int64_t(1) << shift));
  return powers;
}

void SpaceBuilder::addDefault(FieldId id, std::vector<std::string> values) {
  if (fixed.isGiven(id) || hasAxis(id))
    return;
  space.axes.push_back({&getField(id), std::move(values)});
  defaults.insert(id);
}

/// The flag that varies `name` over the values of both.
static std::string spellVaried(StringRef name, ArrayRef<std::string> values,
                               ArrayRef<std::string> others) {
  SmallVector<StringRef> all(values.begin(), values.end());
  for (StringRef value : others)
    if (!is_contained(all, value))
      all.push_back(value);
  bool isOfLists =
      any_of(all, [](StringRef value) { return value.contains(','); });
  return ("--vary " + name + "=" + join(all, isOfLists ? ";" : ",")).str();
}

/// The fields of --vary.
Error SpaceBuilder::readVaried() {
  for (StringRef text : request.vary) {
    auto fail = [&](const Twine &message) {
      return makeError("--vary " + text + ": " + message);
    };
    auto [name, list] = text.split('=');
    name = name.trim();
    name.consume_front("--");
    const Field *field = findField(name);
    if (!field || !(field->scopes & Field::Flags))
      return fail("there is no flag --" + name +
                  " of a strategy; expected FLAG=VALUE,VALUE,...");
    if (fixed.isGiven(field->id))
      return fail(fixed.spell(*field) + " is given as well; give one of them");
    SearchAxis axis = {field, {}};
    if (list.trim().empty())
      return fail("expected FLAG=VALUE,VALUE,...");
    for (StringRef value : split(list, list.contains(';') ? ';' : ',')) {
      value = value.trim();
      if (value.empty())
        return fail("expected FLAG=VALUE,VALUE,...");
      StrategyInput trial;
      if (Error error = trial.set(*field, value, GivenBy::Flag))
        return fail(toString(std::move(error)));
      if (!is_contained(axis.values, value))
        axis.values.push_back(value.str());
    }
    if (axis.values.size() >= SearchSpace::kUnset)
      return fail("has " + Twine(axis.values.size()) +
                  " values, expected at most " +
                  Twine(SearchSpace::kUnset - 1));
    for (const SearchAxis &other : space.axes)
      if (other.field == field)
        return fail("--" + name +
                    " is varied twice; give all values at once: " +
                    spellVaried(name, other.values, axis.values));
    space.axes.push_back(std::move(axis));
  }
  return Error::success();
}

/// After settling anything.
int64_t SpaceBuilder::getLargestBatch() const {
  const Field &field = getField(FieldId::batch);
  for (const SearchAxis &axis : space.axes)
    if (axis.field == &field)
      return toNumber(*llvm::max_element(
          axis.values, [](const std::string &lhs, const std::string &rhs) {
            return toNumber(lhs) < toNumber(rhs);
          }));
  return settler.getSymbol(field.symbolName).value_or(1);
}

std::vector<std::string> stg::listFlagValues(const Field &field,
                                             const Strategy &strategy) {
  if (field.id != FieldId::set && field.id != FieldId::draftSet) {
    std::string text = field.print(strategy);
    return text.empty() ? std::vector<std::string>() : std::vector{text};
  }
  std::vector<std::string> values;
  for (const auto &[name, value] :
       field.id == FieldId::set ? strategy.set : strategy.draftSet)
    values.push_back(name + "=" + value.str());
  return values;
}

static void give(const Field &field, const Strategy &from, StrategyInput &to) {
  for (const std::string &value : listFlagValues(field, from))
    cantFail(to.set(field, value, GivenBy::Flag));
}

/// Of what is varied and is of the mesh, but no degree, the first value.
Error SpaceBuilder::giveVaried(StrategyInput &trial) {
  for (const SearchAxis &axis : space.axes)
    if (isOfMesh(*axis.field) && !axis.field->isDegree)
      if (Error error =
              trial.set(*axis.field, axis.values.front(), GivenBy::Flag))
        return error;
  return Error::success();
}

/// Settling anything tells what the model and the preset have. What is fixed
/// may need degrees that are not: then what a step computes is settled alone.
Error SpaceBuilder::loadModel() {
  StrategyInput trial = fixed;
  if (Error error = giveVaried(trial))
    return error;
  Expected<StrategyInput> settled = settler.settle(trial);
  if (!settled && settler.isLoaded()) {
    consumeError(settled.takeError());
    trial = StrategyInput();
    for (const Field &field : getFields())
      if (fixed.isGiven(field.id) && isOfStep(field.id))
        give(field, fixed.values, trial);
    if (Error error = giveVaried(trial))
      return error;
    settled = settler.settle(trial);
  }
  trial.deriveStep();
  space.isTraining = trial.values.training;
  if (settled)
    return Error::success();
  if (!settler.isLoaded())
    return settled.takeError();
  consumeError(settled.takeError());
  return Error::success();
}

void SpaceBuilder::addDefaultDegrees() {
  for (FieldId id : {FieldId::dp, FieldId::tp, FieldId::cp, FieldId::pp})
    if (settler.hasDegree(getField(id).jsonName))
      addDefault(id, listDivisors(request.ranks));
  if (std::optional<int64_t> experts = settler.getSymbol(kExpertDim)) {
    if (settler.hasDegree(getField(FieldId::ep).jsonName))
      addDefault(FieldId::ep, listDivisors(*experts));
    if (settler.hasDegree(getField(FieldId::etp).jsonName) &&
        !fixed.isGiven(FieldId::etp))
      addDefault(FieldId::etp, {"1"});
  }
  if (settler.hasOption(getField(FieldId::sequenceParallel).jsonName))
    addDefault(FieldId::sequenceParallel, {"false", "true"});
}

/// All words of a field but some.
void SpaceBuilder::addDefaultWords(FieldId id, ArrayRef<StringRef> but) {
  std::vector<std::string> words;
  for (const NamedValue &value : getField(id).values)
    if (!llvm::is_contained(but, StringRef(value.name)))
      words.push_back(value.name);
  addDefault(id, std::move(words));
}

/// What is tried where nobody says it.
Error SpaceBuilder::addDefaults() {
  if (Error error = loadModel())
    return error;
  addDefaultDegrees();
  // One framework alone gathers for a ring. Queries go round in inference, and
  // what chooses between two rings is none of its own.
  SmallVector<StringRef> untried{stringify(ContextExchange::GatheredRing),
                                 stringify(ContextExchange::AutoRing)};
  if (space.isTraining)
    untried.push_back(stringify(ContextExchange::QueryRing));
  if (settler.hasDegree(getField(FieldId::cp).jsonName))
    addDefaultWords(FieldId::cpCommType, untried);
  addDefault(FieldId::microBatch, listPowers(getLargestBatch()));
  if (!space.isTraining)
    return Error::success();
  std::vector<std::string> names;
  for (auto &[name, meaning] : listSchedules())
    names.push_back(name);
  addDefault(FieldId::schedule, std::move(names));
  addDefault(FieldId::virtualStages,
             listDivisors(settler.countLayers().value_or(1)));
  addDefaultWords(FieldId::zero);
  // It replays a product less than all layers, with the same memory, and so is
  // better wherever these are tried; frameworks that have it name what is
  // saved.
  addDefaultWords(FieldId::recompute, stringify(RecomputeChoice::Needed));
  return Error::success();
}

/// What makes several steps of one.
static bool isOfSteps(StringRef text) {
  text.consume_front("--");
  StringRef name = text.split('=').first;
  return name == getField(FieldId::steps).name ||
         name == getField(FieldId::chunk).name ||
         name == getField(FieldId::draft).name ||
         name == getField(FieldId::tokenBudget).name;
}

/// A choice has a byte. Numbers with as many divisors hardly are of machines.
Error SpaceBuilder::checkDefaults() {
  for (const SearchAxis &axis : space.axes)
    if (axis.values.size() >= SearchSpace::kUnset)
      return makeError(
          "--" + axis.field->name + " would have " + Twine(axis.values.size()) +
          " values, expected at most " + Twine(SearchSpace::kUnset - 1) +
          "; give those to try with --vary " + axis.field->name + "=" +
          axis.values[0] + "," + axis.values[1]);
  return Error::success();
}

Error SpaceBuilder::checkRequest() {
  for (FieldId id :
       {FieldId::steps, FieldId::chunk, FieldId::tokenBudget, FieldId::draft})
    if (fixed.isGiven(id))
      return makeError(fixed.spell(getField(id)) +
                       ": strategies are searched for one step; give the "
                       "requests of one");
  if (any_of(request.vary, isOfSteps) || fixed.values.requests.change())
    return makeError("strategies are searched for one step; give the requests "
                     "of one, and vary something else");
  if (!fixed.isGiven(FieldId::batch) &&
      none_of(request.vary,
              [](StringRef text) {
                return text.starts_with("batch=") ||
                       text.starts_with("--batch=");
              }) &&
      !fixed.isGiven(FieldId::requests))
    return makeError("the batch is not given: --batch is the sequences of a "
                     "step, which all strategies have in common");
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

/// `ranksLeft` is what whole degrees are still to make; 0 where a degree of the
/// preset has no field, whose mesh is counted when it is there.
void SpaceBuilder::enterMesh(size_t number, int64_t ranksLeft) {
  if (isStopped)
    return;
  if (number == meshAxes.size()) {
    if (ranksLeft <= 1)
      settleMesh();
    return;
  }
  const SearchAxis &axis = space.axes[meshAxes[number]];
  uint8_t &choice = current[meshAxes[number]];
  bool isOptional =
      axis.field->id == FieldId::etp && isDefaultAxis(FieldId::etp);
  if (isOptional) {
    choice = SearchSpace::kUnset;
    enterMesh(number + 1, ranksLeft);
  }
  for (size_t i = 0; i < axis.values.size(); ++i) {
    int64_t left = ranksLeft;
    if (isWhole(axis.field->id) && ranksLeft) {
      int64_t degree = toNumber(axis.values[i]);
      if (!degree || ranksLeft % degree)
        continue;
      left = ranksLeft / degree;
    }
    choice = static_cast<uint8_t>(i);
    enterMesh(number + 1, left);
  }
  choice = SearchSpace::kUnset;
}

void SpaceBuilder::refuse(std::string message) {
  if (!space.refused.count++)
    space.refused.example = std::move(message);
}

/// Gives what is fixed and of the mesh, or what is fixed and not of it.
void SpaceBuilder::giveFixed(bool ofMesh, StrategyInput &strategy) {
  for (const Field &field : getFields())
    if (fixed.isGiven(field.id) && (field.scopes & Field::Flags) &&
        isOfMesh(field) == ofMesh)
      give(field, fixed.values, strategy);
}

/// A strategy of what is chosen for the mesh. Nothing if it is refused, or if
/// another choice makes the same one.
std::optional<StrategyInput> SpaceBuilder::settleChoices() {
  StrategyInput strategy;
  giveFixed(/*ofMesh=*/true, strategy);
  SmallVector<size_t> uncertain;
  for (size_t number : meshAxes) {
    const SearchAxis &axis = space.axes[number];
    if (current[number] == SearchSpace::kUnset)
      continue;
    StringRef value = axis.values[current[number]];
    if (saysNothing(*axis.field, value))
      continue;
    if (mayLackEffect(axis))
      uncertain.push_back(number);
    else
      cantFail(strategy.set(*axis.field, value, GivenBy::Flag));
  }
  auto choose = [&](size_t number, StrategyInput &input) {
    const SearchAxis &axis = space.axes[number];
    cantFail(
        input.set(*axis.field, axis.values[current[number]], GivenBy::Flag));
  };
  // What is not uncertain may need it: experts over tp need a divided stream.
  // Nothing that is without effect can be settled.
  if (!uncertain.empty()) {
    StrategyInput all = strategy;
    for (size_t number : uncertain)
      choose(number, all);
    Expected<StrategyInput> settled = settler.settle(all);
    if (settled)
      return std::move(*settled);
    consumeError(settled.takeError());
  }
  Expected<StrategyInput> settled = settler.settle(strategy);
  for (size_t number : uncertain) {
    if (!settled)
      break;
    const SearchAxis &axis = space.axes[number];
    uint8_t &choice = current[number];
    StrategyInput with = strategy, trial = *settled;
    choose(number, with);
    choose(number, trial);
    // What the effect depends on may follow from the value itself.
    Expected<StrategyInput> settledWith = settler.settle(with);
    if (!settledWith && !trial.hasEffect(*axis.field)) {
      consumeError(settledWith.takeError());
      // The strategy is there once, without it.
      if (choice == 0 && none_of(axis.values, [&](StringRef value) {
            return saysNothing(*axis.field, value);
          })) {
        choice = SearchSpace::kUnset;
        settleMesh();
        choice = 0;
      }
      return std::nullopt;
    }
    strategy = std::move(with);
    settled = std::move(settledWith);
  }
  if (settled)
    return std::move(*settled);
  refuse(toString(settled.takeError()));
  return std::nullopt;
}

/// What is not of the mesh waits.
void SpaceBuilder::settleMesh() {
  isStopped = request.isInterrupted && request.isInterrupted();
  if (isStopped)
    return;
  std::optional<StrategyInput> settled = settleChoices();
  if (!settled)
    return;
  const Strategy &facts = settled->values;
  // Where experts are divided over nothing, that is so with each way.
  if (isDefaultAxis(FieldId::etp) && settled->isGiven(FieldId::etp) &&
      facts.tp.isOne() && facts.ep.isOne())
    return;
  int64_t ranks = facts.dataRanks.number * facts.replicaRanks.number *
                  facts.contextRanks.number * facts.tensorRanks.number *
                  facts.pipelineRanks.number;
  if (ranks != currentRanks)
    return;
  State state;
  state.strategy = std::move(*settled);
  state.shards =
      static_cast<uint32_t>(facts.dataRanks.number * facts.replicaRanks.number *
                            facts.contextRanks.number);
  int64_t batch =
      settler.getSymbol(kBatchDim).value_or(facts.batchRanks.number);
  if (batch % facts.batchRanks.number)
    return refuse(state.strategy.spellSources(FieldId::batchRanks, " times ") +
                  " does not divide the batch");
  state.share = batch / facts.batchRanks.number;
  state.job = findJob(facts);
  if (settler.dividesLayersByData())
    state.dataInLayers = facts.dp.number;
  state.mayHavePairs = settler.mayHavePairs() && !facts.ep.isOne();
  giveFixed(/*ofMesh=*/false, state.strategy);
  Strategy &values = state.strategy.values;
  if (!fixed.isGiven(FieldId::schedule))
    values.schedule = {}; // It follows from what is chosen.
  if (fixed.isGiven(FieldId::microBatch)) {
    if (state.share % *values.microBatch)
      return refuse(fixed.spell(getField(FieldId::microBatch)) +
                    " does not divide the sequences of a rank");
    values.microBatches = state.share / *values.microBatch;
  }
  if (!hasAxis(FieldId::layersPerStage))
    if (Error error = settler.checkStages(state.strategy))
      return refuse(toString(std::move(error)));
  state.settled = values;
  enterRest(0, state);
}

//===----------------------------------------------------------------------===//
// Strategies
//===----------------------------------------------------------------------===//

/// True if the value can be there after the choices so far. What cannot be
/// told from these is found when the strategy is looked at.
bool SpaceBuilder::mayHave(const State &state, const SearchAxis &axis,
                           StringRef value) {
  const Strategy &values = state.strategy.values;
  switch (axis.field->id) {
  case FieldId::microBatch:
    // In inference they are for stages that would wait.
    if (!values.training && values.pipelineRanks.number == 1 &&
        isDefaultAxis(FieldId::microBatch))
      return state.share == toNumber(value);
    return state.share % toNumber(value) == 0;
  case FieldId::schedule:
    // Without a pipeline the order of micro-batches makes no difference.
    if (!isDefaultAxis(FieldId::schedule))
      break;
    return values.pipelineRanks.number > 1;
  case FieldId::virtualStages: {
    if (!isDefaultAxis(FieldId::virtualStages))
      break;
    if (values.pipelineRanks.number <= 1)
      return false;
    std::optional<int64_t> layers = settler.countLayers();
    return !layers ||
           *layers % (values.pipelineRanks.number * toNumber(value)) == 0;
  }
  default:
    break;
  }
  return state.strategy.hasEffect(*axis.field);
}

/// The job of the mesh that was settled last.
uint32_t SpaceBuilder::findJob(const Strategy &values) {
  SearchJob job = {currentRanks, 0};
  // Ranks or micro-batches with lists of their own have other tokens each.
  auto getSymbol = [&](FieldId id) -> double {
    return settler.getSymbol(getField(id).symbolName).value_or(0);
  };
  if (!values.requests.areOfRanks() && !values.requests.areOfMicroBatches())
    job.tokens = getSymbol(FieldId::batch) * getSymbol(FieldId::seq);
  auto it = llvm::find(space.jobs, job);
  size_t index = it - space.jobs.begin();
  if (it == space.jobs.end())
    space.jobs.push_back(job);
  return static_cast<uint32_t>(index);
}

void SpaceBuilder::enterRest(size_t number, State &state) {
  if (number == restAxes.size())
    return addPoint(state);
  const SearchAxis &axis = space.axes[restAxes[number]];
  uint8_t &choice = current[restAxes[number]];
  Strategy &values = state.strategy.values;
  bool any = false;
  for (size_t i = 0; i < axis.values.size(); ++i) {
    cantFail(
        axis.field->parse(*axis.field, axis.values[i], /*add=*/false, values));
    if (!mayHave(state, axis, axis.values[i]))
      continue;
    if (axis.field->id == FieldId::microBatch)
      values.microBatches = state.share / toNumber(axis.values[i]);
    any = true;
    choice = static_cast<uint8_t>(i);
    enterRest(number + 1, state);
  }
  axis.field->copy(state.settled, values);
  choice = SearchSpace::kUnset;
  if (axis.field->id == FieldId::microBatch)
    values.microBatches = 1;
  if (any)
    return;
  // A size that cannot be is not the same as one that nobody has asked for.
  if (axis.field->id == FieldId::microBatch &&
      !isDefaultAxis(FieldId::microBatch) && values.training)
    return refuse(("--micro-batch " + join(axis.values, ", ") +
                   ": none divides the " + Twine(state.share) +
                   " sequences of a rank")
                      .str());
  enterRest(number + 1, state);
}

uint32_t SpaceBuilder::findSchedule(const StrategyInput &strategy) {
  std::string name = strategy.values.schedule.text;
  if (name.empty()) {
    StrategyInput copy = strategy;
    copy.resolve();
    name = copy.values.schedule.text;
  }
  auto it = llvm::find(space.schedules, name);
  size_t index = it - space.schedules.begin();
  if (it == space.schedules.end())
    space.schedules.push_back(name);
  return static_cast<uint32_t>(index);
}

/// A strategy with the same tasks and as little else as possible; `isInside`:
/// with the collectives that data parallelism adds to tasks.
void SpaceBuilder::setShape(const State &state, TaskShape &shape,
                            bool isInside) {
  const Strategy &values = state.strategy.values;
  const int64_t count = values.microBatches;
  shape.firstPoint = space.points.size();
  shape.hasMicroBatches = count > 1;
  shape.sequences = state.share / count;
  shape.data = static_cast<uint32_t>(values.dp.number);
  shape.strategy = {};
  auto isKept = [&](const Field &field) {
    return (field.scopes & Field::Flags) &&
           (field.id == FieldId::dp || !isOutsideOfTasks(field.id) ||
            (isInside && isInsideOfTasks(field.id)));
  };
  for (const Field &field : getFields())
    if (fixed.isGiven(field.id) && isKept(field))
      give(field, fixed.values, shape.strategy);
  for (auto [axis, choice] : zip_equal(space.axes, current))
    if (choice != SearchSpace::kUnset && isKept(*axis.field) &&
        !axis.values[choice].empty())
      cantFail(
          shape.strategy.set(*axis.field, axis.values[choice], GivenBy::Flag));
  int64_t batch =
      std::min<int64_t>(count, 2) * shape.sequences * values.batchRanks.number;
  if (!fixed.isGiven(FieldId::requests))
    cantFail(shape.strategy.set(getField(FieldId::batch), std::to_string(batch),
                                GivenBy::Flag));
  // Not what the preset does if nothing is said.
  for (auto [id, text] :
       {std::pair(FieldId::zero, "0"), {FieldId::gradientReduction, "flat"}})
    if (values.training && !isInside)
      cantFail(shape.strategy.set(getField(id), text, GivenBy::Flag));
}

/// True if ranks of other axes of a task are the further apart the more data
/// parallelism there is.
static bool isAroundData(StringRef rankOrder) {
  StringRef data = getField(FieldId::dp).name,
            stages = getField(FieldId::pp).name;
  SmallVector<StringRef> groups;
  rankOrder.split(groups, '-');
  auto outer = llvm::find(groups, data);
  return outer != groups.end() &&
         any_of(make_range(outer + 1, groups.end()),
                [&](StringRef group) { return group != stages; });
}

/// That with the most data parallelism stands for a shape: it says over which
/// ranks gradients are reduced.
uint32_t SpaceBuilder::findShape(const State &state) {
  std::vector<int64_t> familyKey;
  for (auto [axis, choice] : zip_equal(space.axes, current))
    if (!isOutsideOfTasks(axis.field->id) &&
        axis.field->id != FieldId::microBatch)
      familyKey.push_back(choice);
  const Strategy &values = state.strategy.values;
  familyKey.push_back(state.dataInLayers);
  familyKey.push_back(isAroundData(values.rankOrder) ? values.dp.number : 0);
  familyKey.push_back(values.microBatches > 1);
  std::vector<int64_t> key = familyKey;
  key.push_back(state.share / values.microBatches);
  auto [it, isNew] = shapeOf.try_emplace(std::move(key), space.shapes.size());
  if (isNew) {
    space.shapes.emplace_back();
    uint32_t family =
        familyOf.try_emplace(std::move(familyKey), space.families.size())
            .first->second;
    if (family == space.families.size())
      space.families.emplace_back();
    space.families[family].push_back(it->second);
  }
  TaskShape &shape = space.shapes[it->second];
  if (values.dp.number > shape.data)
    setShape(state, shape, /*isInside=*/false);
  return it->second;
}

/// True if backward is in two halves in a schedule of that name. One that is
/// for other sizes only is told when it is looked at.
static bool splitsBackward(StringRef name, unsigned devices,
                           unsigned virtualStages) {
  Expected<PipelineSchedule> schedule =
      makeSchedule(name, {devices, virtualStages, 2 * devices});
  if (schedule)
    return schedule->splitsBackward();
  consumeError(schedule.takeError());
  return false;
}

bool SpaceBuilder::splits(uint32_t schedule) {
  for (size_t i = splitsOf.size(); i < space.schedules.size(); ++i)
    splitsOf.push_back(splitsBackward(space.schedules[i], 2, 1) ||
                       splitsBackward(space.schedules[i], 2, 2));
  return splitsOf[schedule];
}

/// How long the collectives of data parallelism take depends on its ranks.
uint32_t SpaceBuilder::findInside(const State &state, uint32_t shape,
                                  bool isSplit) {
  const Strategy &values = state.strategy.values;
  std::vector<uint32_t> key = {shape, isSplit};
  bool reduces = values.zero >= ZeroLevel::Gradients ||
                 values.gradientReduction != GradientReduction::Flat;
  if (reduces) {
    key.push_back(static_cast<uint32_t>(values.dp.number));
    for (auto [axis, choice] : zip_equal(space.axes, current))
      if (isInsideOfTasks(axis.field->id))
        key.push_back(choice);
  }
  auto [it, isNew] = insideOf.try_emplace(std::move(key), space.insides.size());
  if (isNew) {
    TaskShape &inside = space.insides.emplace_back();
    setShape(state, inside, reduces);
    if (isSplit)
      cantFail(inside.strategy.set(getField(FieldId::schedule), splitSchedule,
                                   GivenBy::Flag));
  }
  return it->second;
}

void SpaceBuilder::addPoint(State &state) {
  const StrategyInput &strategy = state.strategy;
  const Strategy &values = strategy.values;
  if (values.microBatches > static_cast<int64_t>(maxScheduleCells))
    return refuse((Twine(values.microBatches) +
                   " micro-batches are too many: there can be " +
                   Twine(maxScheduleCells))
                      .str());
  PointFacts facts;
  facts.shape = findShape(state);
  facts.microBatches = static_cast<uint32_t>(values.microBatches);
  facts.stages = static_cast<uint32_t>(values.pipelineRanks.number);
  facts.virtualStages = static_cast<uint32_t>(values.virtualStages);
  facts.schedule = findSchedule(strategy);
  facts.shards = state.shards;
  // Replicas reduce what is left of a gradient, of which nothing is counted.
  facts.data =
      static_cast<uint32_t>(values.dp.number / values.replicaRanks.number);
  facts.job = state.job;
  facts.ranks = static_cast<uint32_t>(currentRanks);
  facts.zero = static_cast<uint8_t>(values.zero);
  facts.reducesInside = values.zero >= ZeroLevel::Gradients ||
                        values.gradientReduction != GradientReduction::Flat;
  facts.listsLayers = !values.layersPerStage.empty();
  facts.isDecode = strategy.getMode() == Mode::Decode;
  if (!isGivenOrChosen(strategy, FieldId::overlapMoeExpertParallelComm))
    facts.pairs =
        state.mayHavePairs ? PairRequest::WherePossible : PairRequest::None;
  else if (values.overlapMoeExpertParallelComm)
    facts.pairs = PairRequest::Always;
  if (values.training) {
    if (facts.reducesInside)
      facts.inside = findInside(state, facts.shape, /*isSplit=*/false);
    if (facts.stages > 1 && facts.microBatches > 1 && !splitSchedule.empty() &&
        splits(facts.schedule))
      facts.split = findInside(state, facts.shape, /*isSplit=*/true);
  }
  space.points.push_back(facts);
  append_range(space.choices, current);
}

/// What degrees that are not fixed are to make of so many ranks; 0 where that
/// is not known before.
Expected<int64_t> SpaceBuilder::getRanksLeft(int64_t ranks) const {
  int64_t left = ranks;
  for (FieldId id : {FieldId::dp, FieldId::tp, FieldId::cp, FieldId::pp}) {
    if (!fixed.isGiven(id))
      continue;
    int64_t degree = toNumber(getField(id).print(fixed.values));
    if (!degree || left % degree)
      return makeError("--ranks " + Twine(ranks) + ": is not divisible by " +
                       fixed.spell(getField(id)));
    left /= degree;
  }
  // Other degrees of the preset make ranks, too.
  bool hasOthers = fixed.isGiven(FieldId::degrees) || hasAxis(FieldId::degrees);
  return hasOthers ? 0 : left;
}

Expected<SearchSpace> SpaceBuilder::run() {
  if (Error error = checkRequest())
    return std::move(error);
  if (Error error = readVaried())
    return std::move(error);
  if (Error error = addDefaults())
    return std::move(error);
  if (Error error = checkDefaults())
    return std::move(error);
  llvm::sort(space.axes, [](const SearchAxis &lhs, const SearchAxis &rhs) {
    return lhs.field->id < rhs.field->id;
  });
  for (auto &[name, meaning] : listSchedules())
    if (splitSchedule.empty() && splitsBackward(name, 1, 1))
      splitSchedule = name;
  for (auto [i, axis] : enumerate(space.axes))
    (isOfMesh(*axis.field) ? meshAxes : restAxes).push_back(i);
  current.assign(space.axes.size(), SearchSpace::kUnset);
  for (int64_t ranks : request.ranks) {
    Expected<int64_t> ranksLeft = getRanksLeft(ranks);
    if (!ranksLeft)
      return ranksLeft.takeError();
    currentRanks = ranks;
    enterMesh(0, *ranksLeft);
  }
  if (isStopped) {
    // A part of a list would pass for the whole of it.
    SearchSpace none;
    none.isTraining = space.isTraining;
    return none;
  }
  for (std::vector<uint32_t> &family : space.families)
    llvm::sort(family, [&](uint32_t lhs, uint32_t rhs) {
      return std::pair(space.shapes[lhs].sequences, lhs) <
             std::pair(space.shapes[rhs].sequences, rhs);
    });
  return std::move(space);
}

Expected<SearchSpace> stg::makeSearchSpace(const SpaceRequest &request,
                                           StrategySettler &settler) {
  return SpaceBuilder(request, settler).run();
}
