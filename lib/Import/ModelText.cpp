//===- ModelText.cpp - The text of a model from a configuration===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layers of a stack are what the table makes of each; those that come to
// the same text are of one kind, and the list of kinds becomes loops.
//
//===----------------------------------------------------------------------===//

#include "Config.h"
#include "stg/Import/LayerList.h"
#include "stg/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace stg;
using namespace stg::importer;

namespace {

/// A call with everything that the configuration says of it.
struct Call {
  std::vector<std::string> results;
  std::string callee, scope, entries;
  std::vector<std::string> arguments;
  bool isShared = false; ///< With the same parameters in all iterations.
};

/// The layers of a stack.
struct Layers {
  std::vector<std::vector<Call>> kinds;
  std::vector<std::string> names; ///< Of the kinds.
  std::vector<bool> apart;        ///< The kinds that are in no loop.
  std::vector<unsigned> order;    ///< The kind of each layer.
  /// The kind of the layer that would come next, if modules have that one.
  std::optional<unsigned> next;

  /// Modules have a kind of layer that is none of the stack.
  bool hasOwnNext() const { return next && !llvm::is_contained(order, *next); }
};

class ModelPrinter {
public:
  ModelPrinter(const Family &family, Config &config, StringRef name)
      : family(family), config(config), name(name), os(body) {}

  std::optional<std::string> print();

private:
  using Values = StringMap<std::string>;

  std::optional<std::string> resolve(const Variable &variable);
  std::optional<Call> resolve(const Statement &statement);
  std::optional<std::vector<Call>> resolveAll(ArrayRef<Statement> statements);
  std::optional<Layers> collectLayers(StringRef name,
                                      const Family::Stack &stack);
  /// The layers of a stack, which are collected once; null if that fails.
  const Layers *getLayers(const std::string &name);
  bool collectInputs();
  bool collectSymbols();
  bool collectLeftOut();

  bool printModuleLayers();
  bool printFunction();
  bool printStack(const Call &call, Values &values);
  void printCall(const Call &call, Values &values, unsigned indent);
  void printLoops(ArrayRef<LayerLoop> loops, const Layers &layers,
                  const Call &call, ArrayRef<std::string> counts,
                  Values &values, StringMap<unsigned> &names, unsigned indent);
  std::vector<std::string> getCounts(ArrayRef<LayerLoop> loops, int64_t layers,
                                     StringRef symbol);
  std::string makeValue(StringRef variable);
  std::string getValue(const Values &values, StringRef variable);
  StringRef getType(StringRef variable);
  void printHead(raw_ostream &os);

  const Family &family;
  Config &config;
  StringRef name;
  std::string body;
  raw_string_ostream os;
  std::vector<std::string> inputs, leftOut;
  std::string symbols, values;
  StringSet<> usedTypes, usedFiles;
  std::map<std::string, Layers> layersOf; ///< By stack.
  StringMap<unsigned> numbers;            ///< Of the values of a variable.
  StringMap<std::string> numberedTypes;   ///< Of variables with numbers.
  StringSet<> taken;                      ///< Names of values.
  StringMap<unsigned> loopNames; ///< How many loops outside others have a name.
  std::string unmade; ///< The first variable that is read and has no value.
};
} // namespace

//===----------------------------------------------------------------------===//
// What is in the model
//===----------------------------------------------------------------------===//

/// A number or symbol, an option, or nothing: false and null are not written.
static std::string printEntry(const Statement::Entry &entry,
                              const Value &value) {
  if (value.isNull() || (value.kind == Value::Bool && !value.flag))
    return "";
  // A text that is a flag says that it is off where it is on by default.
  std::string text =
      value == Value::getText("false") ? value.text : value.str();
  return entry.name + (entry.isDimension ? " as " : " = ") + text;
}

/// The name of a variable, and of one with a number the type, too.
std::optional<std::string> ModelPrinter::resolve(const Variable &variable) {
  if (!variable.number)
    return variable.name;
  std::optional<Value> number = config.evaluate(*variable.number);
  if (!number)
    return std::nullopt;
  auto type = family.numberedValues.find(variable.name);
  if (number->kind != Value::Int || number->number < 0 ||
      type == family.numberedValues.end()) {
    config.error(Place(), "family '" + family.name + "': '" + variable.name +
                              "[" + number->str() +
                              "]' has no type, or no number from 0 on");
    return std::nullopt;
  }
  std::string name = variable.name + number->str();
  if (numberedTypes.contains(name))
    return name;
  std::optional<int64_t> layer = config.layer;
  config.layer = number->number;
  std::optional<Value> found = config.evaluate(type->second);
  config.layer = layer;
  if (!found)
    return std::nullopt;
  numberedTypes[name] = found->text;
  return name;
}

std::optional<Call> ModelPrinter::resolve(const Statement &statement) {
  Call call;
  call.callee = statement.callee;
  for (const Variable &variable : statement.results) {
    std::optional<std::string> result = resolve(variable);
    if (!result)
      return std::nullopt;
    call.results.push_back(std::move(*result));
  }
  for (const Variable &variable : statement.arguments) {
    std::optional<std::string> argument = resolve(variable);
    if (!argument)
      return std::nullopt;
    call.arguments.push_back(std::move(*argument));
  }
  if (statement.scope) {
    std::optional<Value> scope = config.evaluate(*statement.scope);
    if (!scope)
      return std::nullopt;
    call.scope = scope->text;
  }
  for (const Statement::Entry &entry : statement.entries) {
    std::optional<Value> value = config.evaluate(entry.value);
    if (!value)
      return std::nullopt;
    std::string text = printEntry(entry, *value);
    if (!text.empty())
      call.entries += (call.entries.empty() ? "" : ", ") + text;
  }
  return call;
}

std::optional<std::vector<Call>>
ModelPrinter::resolveAll(ArrayRef<Statement> statements) {
  std::vector<Call> calls;
  for (const Statement &statement : statements) {
    std::optional<bool> isThere = config.holds(statement.condition);
    if (!isThere)
      return std::nullopt;
    if (!*isThere)
      continue;
    std::optional<Call> call = resolve(statement);
    if (!call)
      return std::nullopt;
    calls.push_back(std::move(*call));
  }
  return calls;
}

static std::string getKey(ArrayRef<Call> calls, StringRef name) {
  std::string key = name.str();
  for (const Call &call : calls)
    key += "\n" + llvm::join(call.results, ",") + "=" + call.callee + "<" +
           call.scope + ">(" + llvm::join(call.arguments, ",") + "){" +
           call.entries + "}" + (call.isShared ? " shared" : "");
  return key;
}

std::optional<Layers> ModelPrinter::collectLayers(StringRef name,
                                                  const Family::Stack &stack) {
  constexpr int64_t kMaxLayers = 10000;
  std::optional<Value> count = config.evaluate(stack.count);
  if (!count)
    return std::nullopt;
  if (count->kind != Value::Int || count->number < 1 ||
      count->number > kMaxLayers) {
    config.error(config.getPlace(stack.count),
                 "has " + count->str() + " layers in '" + name +
                     "', expected 1 to " + Twine(kMaxLayers));
    return std::nullopt;
  }
  // What modules have is in the text where there are modules.
  std::optional<bool> hasNext =
      stack.next && config.isGiven("mtp") ? config.holds(*stack.next) : false;
  if (!hasNext)
    return std::nullopt;
  Layers layers;
  StringMap<unsigned> numbers;
  for (int64_t layer = 0; layer < count->number + *hasNext; ++layer) {
    config.layer = layer;
    if (!config.check(stack.checks))
      return std::nullopt;
    std::optional<std::vector<Call>> calls = resolveAll(stack.layer);
    std::optional<Value> kind =
        stack.name ? config.evaluate(*stack.name) : Value::getText(name);
    std::optional<bool> isApart =
        stack.apart ? config.holds(*stack.apart) : false;
    std::optional<bool> isShared =
        stack.shared ? config.holds(*stack.shared) : false;
    config.layer.reset();
    if (!calls || !kind || !isApart || !isShared)
      return std::nullopt;
    for (Call &call : *calls)
      call.isShared = *isShared;
    auto [it, isNew] =
        numbers.try_emplace(getKey(*calls, kind->text), numbers.size());
    if (layer == count->number)
      layers.next = it->second;
    else
      layers.order.push_back(it->second);
    if (!isNew)
      continue;
    layers.kinds.push_back(std::move(*calls));
    layers.names.push_back(kind->text);
    layers.apart.push_back(*isApart);
  }
  // One kind needs no name of its own, in the program or beside it.
  if (layers.kinds.size() == 1)
    layers.names.front() = name.str();
  return layers;
}

const Layers *ModelPrinter::getLayers(const std::string &name) {
  auto it = layersOf.find(name);
  if (it == layersOf.end()) {
    std::optional<Layers> layers = collectLayers(name, family.stacks.at(name));
    if (!layers)
      return nullptr;
    it = layersOf.emplace(name, std::move(*layers)).first;
  }
  return &it->second;
}

bool ModelPrinter::collectInputs() {
  for (const Family::Input &input : family.inputs) {
    std::optional<bool> isThere = config.holds(input.condition);
    if (!isThere)
      return false;
    if (*isThere)
      inputs.push_back(input.name);
  }
  return true;
}

bool ModelPrinter::collectSymbols() {
  raw_string_ostream declarations(symbols), entries(values);
  for (const Family::Symbol &symbol : family.symbols) {
    // What follows from other symbols does so where these get other values.
    std::string definition;
    if (symbol.value) {
      std::optional<Value> value = config.evaluate(*symbol.value);
      if (!value)
        return false;
      if (value->isNull())
        continue;
      if (value->kind == Value::Symbol)
        definition = " = " + value->text;
      else
        entries << (values.empty() ? "" : ", ") << symbol.name << " = "
                << value->str();
    }
    declarations << "stg.symbol @" << symbol.name << definition << " \""
                 << symbol.help << "\"\n";
  }
  return true;
}

/// 8030261248 as 8,030,261,248.
static std::string withCommas(int64_t number) {
  std::string digits = std::to_string(number), text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0)
      text += ',';
    text += digits[i];
  }
  return text;
}

bool ModelPrinter::collectLeftOut() {
  for (const Family::LeftOut &part : family.leftOut) {
    std::optional<bool> isThere = config.holds(part.condition);
    if (!isThere)
      return false;
    if (!*isThere)
      continue;
    std::optional<std::string> what = config.fillIn(part.what);
    std::optional<Value> parameters = config.evaluate(part.parameters);
    if (!what || !parameters)
      return false;
    leftOut.push_back(*what);
    if (parameters->number)
      leftOut.back() += " (" + withCommas(parameters->number) + " parameters)";
    if (!config.isGiven(part.addedBy))
      config.remark("the model leaves out " + leftOut.back());
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// `%x`, `%x1`, ..., of a variable with a number `%x3`, `%x3_1`, ..., but for
/// those that other variables are called.
std::string ModelPrinter::makeValue(StringRef variable) {
  std::string name;
  do {
    name = ("%" + variable).str();
    if (unsigned number = numbers[variable]++)
      name += (numberedTypes.contains(variable) ? "_" : "") +
              std::to_string(number);
  } while (!taken.insert(name).second);
  return name;
}

std::string ModelPrinter::getValue(const Values &values, StringRef variable) {
  auto it = values.find(variable);
  if (it != values.end())
    return it->second;
  if (unmade.empty())
    unmade = variable.str();
  return "";
}

StringRef ModelPrinter::getType(StringRef variable) {
  auto it = family.values.find(variable.str());
  StringRef type = it != family.values.end() ? StringRef(it->second) : variable;
  if (auto own = numberedTypes.find(variable); own != numberedTypes.end())
    type = own->second;
  usedTypes.insert(type);
  return type;
}

void ModelPrinter::printCall(const Call &call, Values &values,
                             unsigned indent) {
  if (call.callee.empty()) {
    for (const std::string &result : call.results)
      values[result] = getValue(values, call.arguments.front());
    return;
  }
  if (auto file = family.blocks.find(call.callee); file != family.blocks.end())
    usedFiles.insert(file->second);
  std::vector<std::string> operands, types;
  for (const std::string &argument : call.arguments) {
    operands.push_back(getValue(values, argument));
    types.push_back(("!" + getType(argument)).str());
  }
  std::vector<std::string> results, made;
  for (const std::string &result : call.results) {
    results.push_back(makeValue(result));
    made.push_back(("!" + getType(result)).str());
  }
  os.indent(indent) << llvm::join(results, ", ") << " = stg.call @"
                    << call.callee << "(" << llvm::join(operands, ", ") << ")";
  if (!call.entries.empty())
    os << " {" << call.entries << "}";
  if (!call.scope.empty())
    os << " <\"" << call.scope << "\">";
  if (call.isShared)
    os << " shared";
  os << " : (" << llvm::join(types, ", ") << ") -> "
     << (made.size() == 1 ? made.front() : "(" + llvm::join(made, ", ") + ")")
     << "\n";
  for (auto [variable, result] : llvm::zip_equal(call.results, results))
    values[variable] = result;
}

static int64_t countLayers(const LayerLoop &loop) {
  int64_t inside = loop.isLeaf() ? 1 : 0;
  for (const LayerLoop &inner : loop.body)
    inside += countLayers(inner);
  return loop.count * inside;
}

/// How often the loops are run: the one with the most layers takes as many as
/// the symbol leaves over, so that another number of layers can be asked for.
std::vector<std::string> ModelPrinter::getCounts(ArrayRef<LayerLoop> loops,
                                                 int64_t layers,
                                                 StringRef symbol) {
  std::vector<std::string> counts;
  for (const LayerLoop &loop : loops)
    counts.push_back(std::to_string(loop.count));
  if (symbol.empty())
    return counts;
  auto largest =
      llvm::max_element(loops, [](const LayerLoop &a, const LayerLoop &b) {
        return countLayers(a) < countLayers(b);
      });
  int64_t own = countLayers(*largest), rest = layers - own;
  int64_t period = own / largest->count;
  std::string text = symbol.str();
  if (rest > 0)
    text += " - " + std::to_string(rest);
  if (period > 1)
    text = (rest > 0 ? "(" + text + ")" : text) + "/" + std::to_string(period);
  counts[largest - loops.begin()] = text;
  return counts;
}

void ModelPrinter::printLoops(ArrayRef<LayerLoop> loops, const Layers &layers,
                              const Call &call, ArrayRef<std::string> counts,
                              Values &values, StringMap<unsigned> &names,
                              unsigned indent) {
  for (auto [index, loop] : enumerate(loops)) {
    std::string loopName =
        loop.isLeaf() ? layers.names[loop.kind] : std::string("periods");
    if (unsigned number = names[loopName]++)
      loopName += "_" + std::to_string(number + 1);
    Values inside = values;
    std::vector<std::string> results, carried, types;
    for (auto [result, variable] : llvm::zip(call.results, call.arguments)) {
      results.push_back(makeValue(result));
      std::string inner = makeValue(variable);
      types.push_back(("!" + getType(variable)).str());
      carried.push_back(inner + " = " + getValue(values, variable) + " : " +
                        types.back());
      inside[variable] = inner;
    }
    os.indent(indent) << llvm::join(results, ", ") << " = stg.repeat \""
                      << loopName << "\" * "
                      << (counts.empty() ? std::to_string(loop.count)
                                         : counts[index])
                      << " carry(" << llvm::join(carried, ", ") << ") {\n";
    for (const Call &one :
         loop.isLeaf() ? ArrayRef(layers.kinds[loop.kind]) : ArrayRef<Call>())
      printCall(one, inside, indent + 2);
    StringMap<unsigned> innerNames;
    printLoops(loop.body, layers, call, {}, inside, innerNames, indent + 2);
    std::vector<std::string> yielded;
    for (auto [_, variable] : llvm::zip(call.results, call.arguments))
      yielded.push_back(inside[variable]);
    os.indent(indent + 2) << "stg.yield " << llvm::join(yielded, ", ") << " : "
                          << llvm::join(types, ", ") << "\n";
    os.indent(indent) << "}\n";
    for (auto [variable, result] : llvm::zip(call.results, results))
      values[variable] = result;
  }
}

bool ModelPrinter::printStack(const Call &call, Values &values) {
  const Family::Stack &stack = family.stacks.at(call.callee);
  const Layers *layers = getLayers(call.callee);
  if (!layers)
    return false;
  ArrayRef<unsigned> order(layers->order);
  bool isWhole = llvm::none_of(layers->apart, [](bool apart) { return apart; });
  auto isApart = [&](unsigned kind) { return layers->apart[kind]; };
  while (!order.empty()) {
    if (isApart(order.front())) {
      for (const Call &one : layers->kinds[order.front()])
        printCall(one, values, 2);
      order = order.drop_front();
      continue;
    }
    ArrayRef<unsigned> run =
        order.take_until([&](unsigned kind) { return isApart(kind); });
    std::vector<LayerLoop> loops = findLoops(run);
    // Where layers stand apart, another number of them is another program.
    printLoops(loops, *layers, call,
               getCounts(loops, static_cast<int64_t>(run.size()),
                         isWhole ? StringRef(stack.symbol) : StringRef()),
               values, loopNames, 2);
    order = order.drop_front(run.size());
  }
  if (layers->hasOwnNext()) {
    // Nobody reads what it makes.
    Values before = values;
    LayerLoop next;
    next.kind = *layers->next;
    printLoops(next, *layers, call, {}, values, loopNames, 2);
    for (const std::string &result : call.results)
      os << "  stg.keep " << values[result] << " : !" << getType(result)
         << "\n";
    values = before;
  }
  return true;
}

/// What a module for further tokens has in place of the last layer.
bool ModelPrinter::printModuleLayers() {
  std::vector<std::string> names;
  if (family.moduleLayers) {
    std::optional<Value> layers = config.evaluate(*family.moduleLayers);
    if (!layers)
      return false;
    for (const Value &layer : layers->list)
      names.push_back('"' + layer.text + '"');
  }
  for (const auto &[stackName, stack] : family.stacks) {
    if (!stack.next)
      continue;
    const Layers *layers = getLayers(stackName);
    if (!layers)
      return false;
    if (layers->next && *layers->next != layers->order.back())
      names.push_back('"' + layers->names[*layers->next] + '"');
  }
  if (names.empty())
    return true;
  os << " attributes {stg.module_layers = [" << llvm::join(names, ", ") << "]}";
  return true;
}

bool ModelPrinter::printFunction() {
  Values values;
  std::vector<std::string> arguments;
  for (const std::string &input : inputs) {
    values[input] = makeValue(input);
    arguments.push_back((values[input] + ": !" + getType(input) +
                         " {stg.name = \"" + input + "\"}")
                            .str());
  }
  // Configurations and functions are both symbols of a module.
  std::optional<Value> result = config.evaluate(family.result);
  if (!result)
    return false;
  os << "func.func @" << family.name << (name == family.name ? "_model" : "")
     << "(" << llvm::join(arguments, ", ") << ") -> !" << getType(result->text);
  if (!printModuleLayers())
    return false;
  os << " {\n";
  std::optional<std::vector<Call>> calls = resolveAll(family.program);
  if (!calls)
    return false;
  for (const Call &call : *calls) {
    if (!family.stacks.count(call.callee))
      printCall(call, values, 2);
    else if (!printStack(call, values))
      return false;
  }
  os << "  return " << getValue(values, result->text) << " : !"
     << getType(result->text) << "\n}\n";
  if (unmade.empty())
    return true;
  config.error(Place(), "family '" + family.name + "': program: reads '" +
                            unmade +
                            "', which nothing before makes in "
                            "this configuration");
  return false;
}

void ModelPrinter::printHead(raw_ostream &out) {
  out << "// " << name << ": " << family.description << "\n";
  for (const std::string &part : leftOut)
    out << "// Left out: " << part << ".\n";
  out << "\n";
  std::vector<StringRef> files(usedFiles.keys().begin(),
                               usedFiles.keys().end());
  llvm::sort(files);
  for (StringRef file : files)
    out << "stg.import \"" << file << "\"\n";
  out << "\n"
      << symbols << "\nstg.config @\"" << name << "\" {" << this->values
      << "}\n\n";
  for (const auto &[alias, type] : family.types)
    if (usedTypes.contains(alias))
      out << "!" << alias << " = " << type << "\n";
  out << "\n";
}

std::optional<std::string> ModelPrinter::print() {
  if (!collectInputs() || !collectSymbols() || !collectLeftOut() ||
      !printFunction())
    return std::nullopt;
  std::string text;
  raw_string_ostream out(text);
  printHead(out);
  out << body;
  return text;
}

std::optional<std::string> stg::importer::printModel(const Family &family,
                                                     Config &config,
                                                     StringRef name) {
  return ModelPrinter(family, config, name).print();
}
