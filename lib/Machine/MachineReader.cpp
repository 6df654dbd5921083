//===- MachineReader.cpp - Finds and reads machines -----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Machine/Machine.h"
#include "stg/Support/Installation.h"
#include "stg/Support/JSON.h"
#include "stg/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace stg;

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

static std::vector<std::string> getFolders() {
  return getSearchPath("STG_MACHINES_PATH", "machines");
}

static std::vector<std::string> listFiles() {
  std::vector<std::string> files;
  for (const std::string &folder : getFolders()) {
    std::error_code code;
    for (sys::fs::directory_iterator it(folder, code), end; it != end && !code;
         it.increment(code))
      if (StringRef(it->path()).ends_with(".json"))
        files.push_back(it->path());
  }
  llvm::sort(files);
  return files;
}

std::vector<std::string> Machine::listNames() {
  std::vector<std::string> names;
  for (const std::string &file : listFiles())
    names.push_back(sys::path::stem(file).str());
  llvm::sort(names);
  names.erase(llvm::unique(names), names.end());
  return names;
}

static bool isAlsoKnownAs(StringRef file, StringRef name) {
  Expected<json::Value> value = readJSON(file);
  if (!value) {
    consumeError(value.takeError());
    return false;
  }
  const json::Object *object = value->getAsObject();
  const json::Array *names =
      object ? object->getArray("also_known_as") : nullptr;
  return names && llvm::is_contained(*names, json::Value(name));
}

/// The file of a machine; `base` is the folder that files are relative to.
static Expected<std::string> findFile(StringRef name, StringRef base) {
  if (name.ends_with(".json")) {
    SmallString<128> file(name);
    if (!base.empty() && !sys::path::is_absolute(name)) {
      file = base;
      sys::path::append(file, name);
    }
    return file.str().str();
  }
  if (!name.contains('/'))
    for (const std::string &folder : getFolders()) {
      SmallString<128> file(folder);
      sys::path::append(file, name + ".json");
      if (sys::fs::exists(file))
        return file.str().str();
    }
  for (const std::string &file : listFiles())
    if (isAlsoKnownAs(file, name))
      return file;
  return createStringError("unknown machine '" + shortenText(name) +
                           "'; give a .json file or one of: " +
                           llvm::join(Machine::listNames(), ", "));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace stg {

/// Reads one file onto what the machine has from those that it is based on.
class MachineReader {
public:
  MachineReader(Machine &machine, StringRef file)
      : machine(machine), file(file) {}

  /// Reads a machine and, before it, what it is based on.
  static Error readChain(Machine &machine, StringRef name,
                         const MachineReader *asking,
                         std::vector<std::string> &chain);

private:
  Error read(const json::Object &object);
  Error readTexts(const json::Object &object);
  Error readSources(const json::Object &object);
  Error readTree(const json::Value &value, const std::string &key);
  Error readQuantity(const json::Object &object, const std::string &key);
  Error readNetwork(const json::Value &value);
  Error readTier(const json::Object &object,
                 const std::vector<NetworkTier> &old,
                 const std::map<std::string, Quantity, std::less<>> &numbers);
  Error readTopology(const json::Object &object, NetworkTier &tier);
  Error readCollectives(const json::Value &value, NetworkTier &tier);
  Error readTimes(const json::Value &value, const std::string &key,
                  std::vector<CollectiveTimes> &times);
  Error readPoints(const json::Object &object, const std::string &key,
                   CollectiveTimes &times);
  Expected<std::string> readSource(const json::Object &object,
                                   const std::string &key);
  Error checkMembers(const json::Object &object, StringRef key,
                     ArrayRef<StringLiteral> known);
  Error fail(StringRef key, const Twine &message) const;

  Machine &machine;
  StringRef file;
  std::map<std::string, std::string, std::less<>> sources;
};

} // namespace stg

/// In the order of their names, so that the first error is always the same.
static std::vector<StringRef> getMembers(const json::Object &object) {
  std::vector<StringRef> members;
  for (const auto &entry : object)
    members.push_back(entry.first);
  llvm::sort(members);
  return members;
}

static std::string append(StringRef key, StringRef member) {
  return key.empty() ? shortenText(member) : (key + "." + member).str();
}

Error MachineReader::fail(StringRef key, const Twine &message) const {
  return createStringError(
      "machine '" + file +
      "': " + (key.empty() ? "" : shortenText(key) + ": ") + message);
}

Error MachineReader::checkMembers(const json::Object &object, StringRef key,
                                  ArrayRef<StringLiteral> known) {
  for (StringRef member : getMembers(object))
    if (!llvm::is_contained(known, member))
      return fail(
          append(key, member),
          "is not known; expected " +
              joinWords(std::vector<std::string>(known.begin(), known.end()),
                        "or"));
  return Error::success();
}

Error MachineReader::readTexts(const json::Object &object) {
  std::optional<StringRef> text = object.getString("description");
  if (!text)
    return fail("description", "expected a text");
  machine.description = text->str();
  machine.aliases.clear();
  const json::Value *names = object.get("also_known_as");
  if (!names)
    return Error::success();
  const json::Array *list = names->getAsArray();
  if (!list)
    return fail("also_known_as", "expected a list of texts");
  for (const json::Value &value : *list) {
    std::optional<StringRef> alias = value.getAsString();
    if (!alias)
      return fail("also_known_as", "expected a list of texts");
    machine.aliases.push_back(alias->str());
  }
  return Error::success();
}

Error MachineReader::readSources(const json::Object &object) {
  const json::Value *value = object.get("sources");
  if (!value)
    return Error::success();
  const json::Object *table = value->getAsObject();
  if (!table)
    return fail("sources", "expected an object with a text for each source");
  for (StringRef member : getMembers(*table)) {
    std::optional<StringRef> text = table->getString(member);
    if (!text || text->empty())
      return fail(append("sources", member), "expected a text");
    sources[member.str()] = text->str();
  }
  return Error::success();
}

Expected<std::string> MachineReader::readSource(const json::Object &object,
                                                const std::string &key) {
  std::optional<StringRef> source = object.getString("source");
  if (!source)
    return fail(key, "'source' is missing; expected a name in 'sources'");
  auto it = sources.find(*source);
  if (it == sources.end())
    return fail(key, "source '" + shortenText(*source) +
                         "' is not in 'sources' of this file");
  return it->second;
}

Error MachineReader::readQuantity(const json::Object &object,
                                  const std::string &key) {
  if (Error error =
          checkMembers(object, key, {"value", "unit", "source", "fitted"}))
    return error;
  const MachineKey *known = findMachineKey(key);
  if (!known)
    return fail(key, describeUnknownKey(key));
  std::optional<double> given = object.getNumber("value");
  if (!given)
    return fail(key, "'value': expected a number");
  const MachineUnit *unit =
      findMachineUnit(object.getString("unit").value_or(""));
  if (!unit)
    return fail(key, "'unit': expected " + listMachineUnits(known->dimension));
  if (Error error = checkMachineNumber(*known, *unit, *given))
    return fail(key, toString(std::move(error)));
  Expected<std::string> source = readSource(object, key);
  if (!source)
    return source.takeError();
  std::optional<StringRef> fitted = object.getString("fitted");
  if (object.get("fitted") && !fitted)
    return fail(key, "'fitted': expected a text");
  machine.quantities[key] = {*given * unit->factor, *given, unit->name.str(),
                             *source, fitted.value_or("").str()};
  return Error::success();
}

Error MachineReader::readTree(const json::Value &value,
                              const std::string &key) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return fail(key, "expected an object");
  // One that has lost its value is no group of numbers.
  if (findMachineKey(key) || object->get("value") || object->get("unit"))
    return readQuantity(*object, key);
  for (StringRef member : getMembers(*object))
    if (Error error = readTree(*object->get(member), append(key, member)))
      return error;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Tiers
//===----------------------------------------------------------------------===//

Error MachineReader::readTopology(const json::Object &object,
                                  NetworkTier &tier) {
  std::string key = "network." + tier.name;
  if (const json::Value *value = object.get("topology")) {
    constexpr std::pair<StringLiteral, Topology> names[] = {
        {"switch", Topology::Switch},
        {"rails", Topology::Rails},
        {"torus", Topology::Torus},
        {"fully_connected", Topology::FullyConnected},
        {"ring", Topology::Ring}};
    const auto *it = llvm::find_if(names, [&](const auto &entry) {
      return value->getAsString() == StringRef(entry.first);
    });
    if (it == std::end(names))
      return fail(key + ".topology",
                  "expected switch, rails, torus, fully_connected or ring");
    tier.topology = it->second;
  }
  auto readCount = [&](StringLiteral member, int64_t least,
                       auto store) -> Error {
    const json::Value *value = object.get(member);
    std::optional<int64_t> count = value ? value->getAsInteger() : std::nullopt;
    if (value && (!count || *count < least || *count > 1 << 30))
      return fail(append(key, member), "expected an integer from " +
                                           Twine(least) + " to 1073741824");
    if (count)
      store(*count);
    return Error::success();
  };
  if (Error error =
          readCount("ranks", 2, [&](int64_t count) { tier.ranks = count; }))
    return error;
  if (Error error = readCount("dimensions", 1,
                              [&](int64_t count) { tier.dimensions = count; }))
    return error;
  return readCount("links", 1, [&](int64_t count) { tier.links = count; });
}

Error MachineReader::readPoints(const json::Object &object,
                                const std::string &key,
                                CollectiveTimes &times) {
  const json::Array *names = object.getArray("unit");
  const MachineUnit *units[2] = {nullptr, nullptr};
  if (names && names->size() == 2)
    for (unsigned i : {0, 1})
      units[i] = findMachineUnit((*names)[i].getAsString().value_or(""));
  if (!units[0] || units[0]->dimension != Dimension::Bytes || !units[1] ||
      units[1]->dimension != Dimension::Time)
    return fail(key, "'unit': expected a unit of bytes and one of time, such "
                     "as [\"B\", \"us\"]");
  const json::Array *points = object.getArray("points");
  if (!points || points->empty())
    return fail(key, "'points': expected a list of pairs of bytes and time");
  for (const auto &[i, value] : llvm::enumerate(*points)) {
    const json::Array *pair = value.getAsArray();
    std::optional<double> bytes, time;
    if (pair && pair->size() == 2) {
      bytes = (*pair)[0].getAsNumber();
      time = (*pair)[1].getAsNumber();
    }
    if (!bytes || !time || *bytes <= 0 || *time <= 0)
      return fail(key, "point " + Twine(i) +
                           ": expected a pair of bytes and time, both more "
                           "than 0");
    std::pair<double, double> point(*bytes * units[0]->factor,
                                    *time * units[1]->factor);
    if (!times.points.empty() && point.first <= times.points.back().first)
      return fail(key, "point " + Twine(i) +
                           ": expected more bytes than in the one before");
    times.points.push_back(point);
  }
  return Error::success();
}

Error MachineReader::readTimes(const json::Value &value, const std::string &key,
                               std::vector<CollectiveTimes> &times) {
  const json::Array *list = value.getAsArray();
  if (!list || list->empty())
    return fail(key, "expected a list with an object for each number of ranks");
  times.clear();
  for (const auto &[i, entry] : llvm::enumerate(*list)) {
    std::string where = key + "[" + std::to_string(i) + "]";
    const json::Object *object = entry.getAsObject();
    if (!object)
      return fail(where, "expected an object");
    if (Error error =
            checkMembers(*object, where, {"ranks", "source", "unit", "points"}))
      return error;
    std::optional<int64_t> ranks = object->getInteger("ranks");
    if (!ranks || *ranks < 2 ||
        (!times.empty() && *ranks <= times.back().ranks))
      return fail(where, "'ranks': expected an integer of at least 2 that is "
                         "larger than the one before");
    Expected<std::string> source = readSource(*object, where);
    if (!source)
      return source.takeError();
    times.push_back({*ranks, *source, {}});
    if (Error error = readPoints(*object, where, times.back()))
      return error;
  }
  return Error::success();
}

Error MachineReader::readCollectives(const json::Value &value,
                                     NetworkTier &tier) {
  std::string key = "network." + tier.name + ".collectives";
  const json::Object *object = value.getAsObject();
  if (!object)
    return fail(key, "expected an object");
  if (Error error = checkMembers(*object, key, getMachineCollectives()))
    return error;
  for (StringRef name : getMembers(*object)) {
    std::string where = append(key, name);
    const json::Object *collective = object->getObject(name);
    if (!collective)
      return fail(where, "expected an object");
    if (Error error =
            checkMembers(*collective, where, {"times", "scalar", "offset"}))
      return error;
    const bool hasTimes = collective->get("times") != nullptr;
    if (hasTimes && collective->get("scalar"))
      return fail(where, "has 'times' and 'scalar', which exclude each other");
    if (collective->get("scalar"))
      tier.times.erase(name.str());
    if (hasTimes)
      for (StringRef member : {"scalar", "offset"})
        machine.quantities.erase(append(where, member));
    for (StringRef member : getMembers(*collective)) {
      const json::Value &inner = *collective->get(member);
      Error error = member == "times" ? readTimes(inner, append(where, member),
                                                  tier.times[name.str()])
                                      : readTree(inner, append(where, member));
      if (error)
        return error;
    }
  }
  return Error::success();
}

Error MachineReader::readTier(
    const json::Object &object, const std::vector<NetworkTier> &old,
    const std::map<std::string, Quantity, std::less<>> &numbers) {
  NetworkTier tier;
  std::optional<StringRef> name = object.getString("name");
  if (!name || name->empty() || name->contains('.') || machine.findTier(*name))
    return fail("network", "tier " + Twine(machine.tiers.size()) +
                               ": expected a name of its own, without a dot");
  std::string key = "network." + name->str();
  if (Error error = checkMembers(object, key,
                                 {"name", "inherit", "topology", "ranks",
                                  "dimensions", "links", "bandwidth", "share",
                                  "partial_share", "latency", "collectives"}))
    return error;
  if (object.getBoolean("inherit").value_or(false)) {
    auto it = llvm::find_if(
        old, [&](const NetworkTier &before) { return before.name == *name; });
    if (it == old.end())
      return fail(key, "'inherit': there is no tier of this name before");
    tier = *it;
    for (const auto &[number, quantity] : numbers)
      if (StringRef(number).starts_with(key + "."))
        machine.quantities[number] = quantity;
  } else if (!object.get("topology")) {
    return fail(key, "'topology' is missing");
  }
  tier.name = name->str();
  if (Error error = readTopology(object, tier))
    return error;
  for (StringRef member : {"bandwidth", "share", "partial_share", "latency"}) {
    const json::Value *value = object.get(member);
    if (!value)
      continue;
    std::string number = append(key, member);
    std::optional<double> before = machine.get(number);
    if (Error error = readTree(*value, number))
      return error;
    if (before && *before > 0)
      tier.scaleTimes(member, *machine.get(number) / *before);
  }
  if (const json::Value *value = object.get("collectives"))
    if (Error error = readCollectives(*value, tier))
      return error;
  machine.tiers.push_back(std::move(tier));
  return Error::success();
}

Error MachineReader::readNetwork(const json::Value &value) {
  const json::Array *list = value.getAsArray();
  if (!list)
    return fail("network", "expected a list of tiers, the innermost first");
  std::vector<NetworkTier> old;
  old.swap(machine.tiers);
  std::map<std::string, Quantity, std::less<>> numbers;
  for (auto it = machine.quantities.begin(); it != machine.quantities.end();)
    if (StringRef(it->first).starts_with("network."))
      numbers.insert(machine.quantities.extract(it++));
    else
      ++it;
  for (const json::Value &entry : *list) {
    const json::Object *object = entry.getAsObject();
    if (!object)
      return fail("network", "expected a list of tiers, the innermost first");
    if (Error error = readTier(*object, old, numbers))
      return error;
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// A whole machine
//===----------------------------------------------------------------------===//

Error MachineReader::read(const json::Object &object) {
  if (Error error =
          checkMembers(object, "",
                       {"description", "based_on", "also_known_as", "sources",
                        "device", "host", "network", "overlap", "estimate"}))
    return error;
  machine.forgetErrors();
  if (Error error = readTexts(object))
    return error;
  if (Error error = readSources(object))
    return error;
  for (StringRef member : {"device", "host", "overlap", "estimate"})
    if (const json::Value *value = object.get(member))
      if (Error error = readTree(*value, member.str()))
        return error;
  const json::Value *network = object.get("network");
  return network ? readNetwork(*network) : Error::success();
}

/// `asking` is the machine that is based on this one; null: it is asked for.
Error MachineReader::readChain(Machine &machine, StringRef name,
                               const MachineReader *asking,
                               std::vector<std::string> &chain) {
  auto fail = [&](Error error) {
    return asking ? asking->fail("based_on", toString(std::move(error)))
                  : std::move(error);
  };
  Expected<std::string> file =
      findFile(name, asking ? sys::path::parent_path(asking->file) : "");
  if (!file)
    return fail(file.takeError());
  MachineReader reader(machine, *file);
  if (llvm::is_contained(chain, *file))
    return reader.fail("based_on", "the machine is based on itself");
  chain.push_back(*file);
  Expected<json::Value> value = readJSON(*file);
  if (!value)
    return fail(reader.fail("", toString(value.takeError())));
  const json::Object *object = value->getAsObject();
  if (!object)
    return reader.fail("", "expected an object");
  if (const json::Value *parent = object->get("based_on")) {
    std::optional<StringRef> text = parent->getAsString();
    if (!text)
      return reader.fail("based_on", "expected the name of a machine");
    if (Error error = readChain(machine, *text, &reader, chain))
      return error;
  }
  return reader.read(*object);
}

Expected<Machine> Machine::load(StringRef name) {
  Machine machine;
  std::vector<std::string> chain;
  if (Error error =
          MachineReader::readChain(machine, name, /*asking=*/nullptr, chain))
    return error;
  machine.name = sys::path::stem(chain.front()).str();
  machine.file = chain.front();
  if (Error error = machine.check())
    return createStringError("machine '" + chain.front() +
                             "': " + toString(std::move(error)));
  return machine;
}

Expected<Machine> Machine::load(StringRef name, ArrayRef<std::string> changes) {
  Expected<Machine> machine = load(name);
  if (!machine)
    return machine;
  for (const std::string &change : changes)
    if (Error error = machine->set(change))
      return createStringError("--machine-set " + change + ": " +
                               toString(std::move(error)));
  if (Error error = machine->check())
    return createStringError("--machine-set " + llvm::join(changes, ", ") +
                             ": " + toString(std::move(error)));
  return machine;
}
