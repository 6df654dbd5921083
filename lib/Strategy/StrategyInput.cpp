//===- StrategyInput.cpp - Strategies as users give them ------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Strategy/StrategyInput.h"
#include "Condition.h"
#include "FieldTypes.h"
#include "stg/Support/Files.h"
#include "stg/Support/JSON.h"
#include "stg/Support/Text.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace stg;

//===----------------------------------------------------------------------===//
// How messages call a field
//===----------------------------------------------------------------------===//

/// `--zero 3`, `zero=3` or `"zero": 3`.
static std::string spellAs(GivenBy by, const Field &field, StringRef value) {
  bool isSwitch = field.kind == Field::Kind::Bool && value == "true";
  std::string name = field.name.str(), text = shortenText(value);
  if (by == GivenBy::Option)
    return isSwitch ? name : name + "=" + text;
  // A switch takes no word of its own.
  if (by != GivenBy::File)
    return "--" + (isSwitch                          ? name
                   : field.kind == Field::Kind::Bool ? name + "=" + text
                                                     : name + " " + text);
  bool isBare = field.kind == Field::Kind::Bool ||
                field.kind == Field::Kind::Integer ||
                StringRef(text).starts_with("{");
  if (field.isList || field.kind == Field::Kind::Loads ||
      field.kind == Field::Kind::Words)
    text = "[" + text + "]";
  else if (!isBare)
    text = "\"" + text + "\"";
  return "\"" + field.jsonName + "\": " + text;
}

std::string StrategyInput::spell(const Field &field, StringRef value,
                                 GivenBy by) const {
  std::string prefix = by == GivenBy::File && !file.empty() ? file + ": " : "";
  return prefix + spellAs(by, field, value);
}

std::string StrategyInput::spell(const Field &field) const {
  auto words = wordsOf.find(field.id);
  if (words != wordsOf.end())
    return words->second;
  return spell(field, field.print(values), getGivenBy(field.id));
}

std::string StrategyInput::spellSetting(StringRef name) const {
  // Without a model that drafts these are the settings of one.
  bool isOfDraft = !values.draft && values.draftSet.count(name.str());
  const Field &field = getField(isOfDraft ? FieldId::draftSet : FieldId::set);
  auto setting = values.set.find(name.str());
  assert(setting != values.set.end() && "there is such a setting");
  return spell(field, (name + "=" + setting->second.str()).str(),
               getGivenBy(field.id));
}

/// `--zero`, `zero` or `"zero"`.
static std::string spellName(const Field &field, GivenBy by) {
  return by == GivenBy::Option ? field.name.str()
         : by == GivenBy::File ? "\"" + field.jsonName + "\""
                               : "--" + field.name.str();
}

ArrayRef<std::string> StrategyInput::getSources(FieldId id) const {
  auto it = sourcesOf.find(id);
  if (it == sourcesOf.end())
    return {};
  return it->second;
}

std::optional<std::string> StrategyInput::getDegree(StringRef name) const {
  const Field *field = findFieldOf(name);
  if (field && (isGiven(field->id) || !field->isDegree))
    return field->print(values);
  for (StringRef degree : reverse(values.degrees)) {
    auto [key, value] = degree.split('=');
    if (key == name)
      return value.str();
  }
  return std::nullopt;
}

GivenBy StrategyInput::getStyle(FieldId id) const {
  if (isGiven(id))
    return getGivenBy(id);
  return is_contained(givenBy, GivenBy::Option) ? GivenBy::Option
                                                : GivenBy::Flag;
}

std::string StrategyInput::spellDegree(StringRef name, StringRef value) const {
  if (const Field *field = findFieldOf(name))
    return spell(*field, value, getStyle(field->id));
  return (name + "=" + value).str();
}

/// An option is spelled as it is set.
std::string StrategyInput::spellDegree(StringRef name) const {
  const Field *field = findFieldOf(name);
  if (field && field->kind == Field::Kind::Bool)
    return spellDegree(name, "true");
  return spellDegree(name, getDegree(name).value_or("1"));
}

std::string StrategyInput::spellDegreeName(StringRef name) const {
  const Field *field = findFieldOf(name);
  return field ? spellName(*field, getStyle(field->id)) : name.str();
}

/// A field as it was given by `by`, if the degree has one.
static std::string spellLargerDegree(const Field *field, StringRef name,
                                     GivenBy by) {
  return (field ? spellName(*field, by) : "degree '" + name.str() + "'") +
         " above 1";
}

std::string StrategyInput::spellLargerDegree(StringRef name) const {
  const Field *field = findFieldOf(name);
  return ::spellLargerDegree(field, name,
                             field ? getStyle(field->id) : GivenBy());
}

std::string StrategyInput::spellSources(FieldId id, StringRef separator) const {
  std::string text;
  for (const std::string &name : getSources(id))
    if (std::string value = getDegree(name).value_or("1"); value != "1")
      text += (text.empty() ? "" : separator.str()) + spellDegree(name);
  return text;
}

/// What would make a derived field larger than 1, in the words in which
/// something else was given: not what is larger than 1 already, unless it is
/// that of data ranks, all of which are replicas.
static void spellSources(const StrategyInput &input, FieldId id, GivenBy by,
                         std::vector<std::string> &words) {
  ArrayRef<std::string> sources = input.getSources(id);
  auto isLarge = [&](const std::string &name) {
    const Field *field = findFieldOf(name);
    return field && field->isDegree &&
           input.getDegree(name).value_or("1") != "1";
  };
  const bool areReplicas =
      id == FieldId::dataRanks && llvm::all_of(sources, isLarge);
  for (const std::string &name : sources) {
    const Field *field = findFieldOf(name);
    if (isLarge(name)) {
      if (areReplicas)
        words.push_back(spellName(*field, by) + " above " +
                        *input.getDegree(name));
      continue;
    }
    std::string word = field && !field->isDegree
                           ? spellAs(by, *field, "true")
                           : ::spellLargerDegree(field, name, by);
    if (!is_contained(words, word))
      words.push_back(word);
  }
}

/// What a message asks for, in the words in which something else was given.
static std::string spellTerm(const Term &term, GivenBy by) {
  const Field &field = *term.field;
  if (!field.knownAs.empty())
    return field.knownAs.str();
  std::string name = spellName(field, by);
  switch (term.kind) {
  case Term::IsSet:
    return field.kind == Field::Kind::Bool ? spellAs(by, field, "true") : name;
  case Term::Equal:
    return spellAs(by, field, term.value);
  case Term::NotEqual:
    return name + " other than " + term.value.str();
  case Term::Above:
    return name + " above " + term.value.str();
  }
  llvm_unreachable("all kinds are above");
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Error StrategyInput::set(const Field &field, StringRef text, GivenBy by) {
  auto fail = [&](Error error) {
    return makeError(spell(field, text, by) + ": " +
                     toString(std::move(error)));
  };
  // Only a pipeline is built before the program's symbols have values.
  bool isSymbol = !text.empty() && (isAlpha(text[0]) || text[0] == '_');
  if (by == GivenBy::Flag && field.kind == Field::Kind::Integer && isSymbol)
    return fail(expected(field));
  bool add = getGivenBy(field.id) == by;
  if (Error error = field.parse(field, text, add, values))
    return fail(std::move(error));
  givenBy[static_cast<int>(field.id)] = by;
  return Error::success();
}

void StrategyInput::reset(FieldId id) {
  getField(id).copy(Strategy(), values);
  givenBy[static_cast<int>(id)] = GivenBy::Default;
  wordsOf.erase(id);
}

/// The field of a key of a strategy file.
static Expected<const Field *> findByJSONName(StringRef key) {
  const Field *nearest = nullptr;
  unsigned distance = 4;
  std::string known;
  for (const Field &field : getFields()) {
    if (!(field.scopes & Field::File))
      continue;
    if (key == field.jsonName)
      return &field;
    known += (known.empty() ? "" : ", ") + field.jsonName;
    unsigned other = key.edit_distance(field.jsonName, true, distance);
    if (other < distance)
      nearest = &field, distance = other;
  }
  std::string message = "\"" + shortenText(key) + "\": no such field";
  return makeError(nearest ? message + ", did you mean \"" + nearest->jsonName +
                                 "\"?"
                           : message + "; fields are " + known);
}

Error StrategyInput::readJSON(StringRef text, StringRef path, StringRef plan) {
  file = path.str();
  auto fail = [&](Error error) {
    return makeError(path + ": " + toString(std::move(error)));
  };
  Expected<json::Value> value = parseJSON(text);
  if (!value)
    return fail(value.takeError());
  const json::Object *object = value->getAsObject();
  fileHasDecodePlan = object && object->getObject(kDecodePlan);
  for (StringRef name : {plan, StringRef(kPlan)})
    if (object && object->getObject(name)) {
      object = object->getObject(name);
      break;
    }
  if (!object)
    return fail(makeError("expected an object: a strategy, or a "
                          "manifest, which has one"));
  if (Error error = readFields(*object, GivenBy::File))
    return fail(std::move(error));
  return Error::success();
}

/// Reads each field that is there and that nobody has given.
Error StrategyInput::readFields(const json::Object &object, GivenBy by) {
  // In the order of the description: the first error is the same each time.
  for (const auto &entry : object)
    if (Expected<const Field *> field = findByJSONName(entry.first); !field)
      return field.takeError();
  for (const Field &field : getFields()) {
    const json::Value *entry = object.get(field.jsonName);
    if (!entry || !(field.scopes & Field::File) || isGiven(field.id))
      continue;
    if (Error error = field.parseJSON(field, *entry, values)) {
      std::string shown;
      raw_string_ostream(shown) << *entry;
      return makeError("\"" + field.jsonName + "\": " + shortenText(shown) +
                       ": " + toString(std::move(error)));
    }
    givenBy[static_cast<int>(field.id)] = by;
  }
  return Error::success();
}

Error StrategyInput::setDefaults(const json::Object &object) {
  return readFields(object, GivenBy::Preset);
}

Error StrategyInput::readFile(StringRef path, StringRef plan) {
  ReadOptions options;
  options.maxBytes = kMaxJSONBytes;
  Expected<std::unique_ptr<MemoryBuffer>> buffer = stg::readFile(path, options);
  if (!buffer)
    return makeError("strategy " + path + ": " + toString(buffer.takeError()));
  return readJSON((*buffer)->getBuffer(), path, plan);
}

void StrategyInput::override(const StrategyInput &other) {
  for (const Field &field : getFields()) {
    if (!other.isGiven(field.id))
      continue;
    // A symbol that is given by one flag is not taken from another field of
    // the file.
    if (!field.symbolName.empty())
      values.set.erase(field.symbolName.str());
    if (field.id == FieldId::set) {
      for (const Field &shorthand : getFields())
        if (!shorthand.symbolName.empty() &&
            other.values.set.count(shorthand.symbolName.str())) {
          shorthand.copy(Strategy(), values);
          givenBy[static_cast<int>(shorthand.id)] = GivenBy::Default;
        }
      for (const auto &[name, value] : other.values.set)
        values.set[name] = value;
    } else {
      field.copy(other.values, values);
    }
    givenBy[static_cast<int>(field.id)] = other.getGivenBy(field.id);
  }
  if (file.empty())
    file = other.file;
}

Expected<StrategyInput> StrategyInput::combine(const StrategyInput &file,
                                               const StrategyInput &flags) {
  StrategyInput all = file;
  all.override(flags);
  for (const StrategyInput *input : {&file, &flags})
    if (Error error = input->checkSymbols())
      return error;
  if (Error error = all.check())
    return error;
  return all;
}

void StrategyInput::deriveStep() {
  bool isCached = values.kvLen || !values.requests.empty();
  Mode mode = values.mode.value_or(isCached ? Mode::Decode : Mode::Train);
  values.training = mode == Mode::Train;
  values.inference = !values.training;
  values.rankLists = values.requests.areOfRanks();
  // A budget is for those that come first.
  if (values.tokenBudget == 0)
    values.requests.joinEqual();
  // Layouts are the same; kernels are those of serving engines.
  if (getGivenBy(FieldId::preset) == GivenBy::Default)
    values.preset =
        values.inference ? PresetName("inference-engine") : Strategy().preset;
  setDerived(FieldId::training);
  setDerived(FieldId::inference);
  setDerived(FieldId::rankLists);
}

Mode StrategyInput::getMode() const {
  return values.mode.value_or(values.inference ? Mode::Decode : Mode::Train);
}

void StrategyInput::resolve() {
  for (const Field &field : getFields()) {
    GivenBy &by = givenBy[static_cast<int>(field.id)];
    if (by == GivenBy::Preset && !hasEffect(field)) {
      field.copy(Strategy(), values);
      by = GivenBy::Default;
    }
    if (field.fallback.empty() || by != GivenBy::Default)
      continue;
    auto [condition, choice] = field.fallback.split(" ? ");
    auto [first, second] = choice.split(" : ");
    StringRef text = Condition::parse(condition).holds(*this) ? first : second;
    cantFail(field.parse(field, text, /*add=*/false, values));
  }
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Two fields that give a value to one symbol.
Error StrategyInput::checkSymbols() const {
  for (const Field &field : getFields()) {
    auto it = values.set.find(field.symbolName.str());
    if (field.symbolName.empty() || !isGiven(field.id) ||
        it == values.set.end())
      continue;
    return makeError(spellSetting(it->first) + ": symbol '" + it->first +
                     "' has a value from " + spell(field) +
                     " already; give one of them");
  }
  return Error::success();
}

static Error checkStages(const StrategyInput &input) {
  const Strategy &values = input.values;
  int64_t stages = values.pipelineRanks.number * values.virtualStages;
  int64_t listed = values.layersPerStage.size();
  bool isKnown = input.isGiven(FieldId::pipelineRanks) && stages;
  if (!listed || !isKnown || listed == stages)
    return Error::success();
  std::string devices;
  for (const std::string &name : input.getSources(FieldId::pipelineRanks))
    devices += (devices.empty() ? "" : " times ") + input.spellDegreeName(name);
  return makeError("--layers-per-stage lists " + Twine(listed) +
                   " stages, expected " + Twine(stages) + ", one for each of " +
                   devices + " times --virtual-stages");
}

Error StrategyInput::check() const {
  if (Error error = checkSymbols())
    return error;
  for (const Conflict &conflict : getConflicts()) {
    Condition first = Condition::parse(conflict.first),
              second = Condition::parse(conflict.second);
    if (first.holds(*this) && second.holds(*this))
      return makeError(spell(*first.clauses[0][0].field) + " with " +
                       spell(*second.clauses[0][0].field) + ": " +
                       conflict.reason);
  }
  return checkStages(*this);
}

bool StrategyInput::hasEffect(const Field &field) const {
  // Searches ask for thousands of strategies.
  static const std::vector<Condition> conditions = [] {
    std::vector<Condition> all;
    for (const Field &field : getFields())
      all.push_back(Condition::parse(field.condition));
    return all;
  }();
  return conditions[static_cast<size_t>(field.id)].holds(*this);
}

/// True for what no degree of the preset makes larger.
static bool isFact(const Field &field) {
  return field.group == FieldGroup::Facts && field.isDegree;
}

/// The clause that does not hold, in words.
static std::string describeNeeds(const StrategyInput &input,
                                 const Field &field) {
  std::vector<std::string> clauses;
  for (const auto &clause : Condition::parse(field.condition).clauses) {
    bool holds =
        any_of(clause, [&](const Term &term) { return term.holds(input); });
    std::vector<std::string> words;
    for (const Term &term : clause) {
      if (!input.getSources(term.field->id).empty())
        spellSources(input, term.field->id, input.getGivenBy(field.id), words);
      else if (term.field->id != field.id && !isFact(*term.field))
        words.push_back(spellTerm(term, input.getGivenBy(field.id)));
    }
    // No degree of the preset would do.
    for (const Term &term : clause)
      if (words.empty() && isFact(*term.field))
        words.push_back(term.field->knownAs.str());
    if (!holds)
      clauses.push_back(joinWords(words, "or"));
  }
  return joinWords(clauses, "and");
}

Error StrategyInput::checkEffects(
    function_ref<bool(const Field &)> hasEffectInFile) {
  static const Strategy defaults;
  for (const Field &field : getFields()) {
    if (!isGiven(field.id) || hasEffect(field))
      continue;
    bool isLost = hasEffectInFile && getGivenBy(field.id) == GivenBy::File &&
                  hasEffectInFile(field);
    if (!isLost)
      return makeError(spell(field) + " has no effect: needs " +
                       describeNeeds(*this, field));
    field.copy(defaults, values);
    givenBy[static_cast<int>(field.id)] = GivenBy::Default;
  }
  return Error::success();
}

void StrategyInput::dropWithoutEffect() {
  for (const Field &field : getFields())
    if (isGiven(field.id) && !hasEffect(field))
      reset(field.id);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

json::Object stg::toJSON(const StrategyInput &input) {
  json::Object object;
  for (const Field &field : getFields()) {
    bool hasValue = !field.isOptional || !field.print(input.values).empty();
    if ((field.scopes & Field::File) && hasValue && input.hasEffect(field))
      object[field.jsonName] = field.toJSON(input.values);
  }
  return object;
}
