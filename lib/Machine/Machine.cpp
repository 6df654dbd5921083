//===- Machine.cpp - What a machine can do, with sources ------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Machine/Machine.h"
#include "stg/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;
using namespace stg;

const Quantity *Machine::find(StringRef key) const {
  auto it = quantities.find(key);
  return it == quantities.end() ? nullptr : &it->second;
}

std::optional<double> Machine::get(StringRef key) const {
  const Quantity *quantity = find(key);
  return quantity ? std::optional(quantity->value) : std::nullopt;
}

const PeakType &Machine::getReferenceType() const {
  for (const PeakType &type : getPeakTypes())
    if (find(("device.peak." + type.name).str()))
      return type;
  llvm_unreachable("a machine that has been read has one");
}

const NetworkTier *Machine::findTier(StringRef name) const {
  auto it = llvm::find_if(
      tiers, [&](const NetworkTier &tier) { return tier.name == name; });
  return it == tiers.end() ? nullptr : &*it;
}

NetworkTier *Machine::findTier(StringRef name) {
  return const_cast<NetworkTier *>(std::as_const(*this).findTier(name));
}

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

Error Machine::checkTiers() const {
  if (tiers.empty())
    return createStringError("network: expected at least one tier");
  int64_t before = 1;
  for (const NetworkTier &tier : tiers) {
    std::string key = "network." + tier.name;
    if (!find(key + ".bandwidth"))
      return createStringError(key + ".bandwidth: is missing");
    if (tier.topology == Topology::Torus && !tier.dimensions)
      return createStringError(key + ".dimensions: a torus needs it");
    if (!tier.ranks) {
      if (&tier != &tiers.back())
        return createStringError(
            key + ".ranks: is missing; only the last tier joins all ranks");
      continue;
    }
    if (*tier.ranks <= before || *tier.ranks % before != 0)
      return createStringError(key + ".ranks: expected a multiple of the " +
                               Twine(before) + " ranks inside, and more");
    before = *tier.ranks;
  }
  return Error::success();
}

Error Machine::check() const {
  for (StringRef key : {"device.memory.capacity", "device.memory.bandwidth"})
    if (!find(key))
      return createStringError(key + ": is missing");
  std::vector<std::string> types;
  for (const PeakType &type : getPeakTypes())
    types.push_back(type.name.str());
  bool hasPeak = llvm::any_of(types, [&](const std::string &type) {
    return find("device.peak." + type);
  });
  if (!hasPeak)
    return createStringError("device.peak: expected a rate of products of " +
                             joinWords(types, "or"));
  if (get("device.memory.reserved").value_or(0) >=
      *get("device.memory.capacity"))
    return createStringError("device.memory.reserved: leaves nothing of "
                             "device.memory.capacity, expected less");
  return checkTiers();
}

//===----------------------------------------------------------------------===//
// Changing
//===----------------------------------------------------------------------===//

/// The least is latency, what a message takes more is bandwidth.
void NetworkTier::scaleTimes(StringRef member, double factor) {
  if (member != "bandwidth" && member != "latency")
    return;
  for (auto &entry : times)
    for (CollectiveTimes &times : entry.second) {
      double latency =
          llvm::min_element(times.points, llvm::less_second())->second;
      for (auto &point : times.points) {
        double rest = point.second - latency;
        point.second = member == "latency" ? latency * factor + rest
                                           : latency + rest / factor;
      }
    }
}

Error Machine::setRanks(StringRef key, StringRef text) {
  auto [tierName, member] = key.drop_front(strlen("network.")).rsplit('.');
  NetworkTier *tier = findTier(tierName);
  if (!tier)
    return createStringError(shortenText(key) +
                             ": the machine has no such tier");
  int64_t count = 0;
  if (text.getAsInteger(10, count) || count < 2 || count > 1 << 30)
    return createStringError(shortenText(key) +
                             ": expected an integer from 2 to 1073741824");
  std::optional<int64_t> before = tier->ranks;
  tier->ranks = count;
  Error error = checkTiers();
  if (error)
    tier->ranks = before;
  else
    forgetErrors();
  return error;
}

void Machine::forgetErrors() {
  for (const char *key : {"estimate.error", "estimate.inference_error"})
    quantities.erase(key);
}

/// Whether steps take another time if it is changed.
static bool changesTimes(StringRef key) {
  return !key.starts_with("estimate.") && key != "device.memory.capacity" &&
         key != "device.memory.reserved";
}

/// "4.8 TB/s", or "4.8" in the unit that the number had before.
static Expected<Quantity> parseNumber(const MachineKey &key, StringRef text,
                                      const Quantity *before) {
  size_t end = text.find_first_not_of("+-.0123456789eE");
  Quantity quantity;
  std::string units = listMachineUnits(key.dimension);
  if (text.take_front(end).trim().getAsDouble(quantity.given))
    return createStringError(
        "'" + shortenText(text) + "': expected a number" +
        (key.dimension == Dimension::Number
             ? ""
             : " and a unit, such as '2 " +
                   units.substr(0, units.find_first_of(", ")) + "'"));
  StringRef name = end == StringRef::npos ? "" : text.drop_front(end).trim();
  if (name.empty() && (before || key.dimension == Dimension::Number))
    name = before ? StringRef(before->unit) : "1";
  const MachineUnit *unit = findMachineUnit(name);
  if (!unit)
    return createStringError("expected a number in " + units);
  if (Error error = checkMachineNumber(key, *unit, quantity.given))
    return error;
  quantity.value = quantity.given * unit->factor;
  quantity.unit = unit->name.str();
  quantity.source = "given";
  return quantity;
}

/// The names in a key are those of what the machine has.
Error Machine::checkNames(StringRef key) const {
  StringRef rest = key;
  if (rest.consume_front("network.") && !findTier(rest.split('.').first))
    return createStringError("the machine has no such tier");
  for (StringRef kind : {"device.attention.", "device.scan."}) {
    if (!rest.consume_front(kind))
      continue;
    std::string stem = (kind + rest.split('.').first + ".").str();
    std::vector<std::string> kernels;
    for (const auto &entry : quantities) {
      StringRef name = entry.first;
      if (name.starts_with(stem))
        return Error::success();
      if (name.consume_front(kind))
        kernels.push_back(name.split('.').first.str());
    }
    llvm::sort(kernels);
    kernels.erase(llvm::unique(kernels), kernels.end());
    return createStringError(
        "the machine has no such kernel" +
        (kernels.empty() ? "" : "; it has " + joinWords(kernels, "and")));
  }
  if (StringRef stem = key;
      stem.consume_back(".offset") && !find((stem + ".scalar").str()))
    return createStringError("has no effect: needs " + stem + ".scalar");
  return Error::success();
}

Error Machine::set(StringRef assignment) {
  auto [key, text] = assignment.split('=');
  auto fail = [key = key](const Twine &message) {
    return createStringError(shortenText(key) + ": " + message);
  };
  if (key.empty() || text.empty())
    return createStringError("'" + shortenText(assignment) +
                             "': expected KEY=VALUE");
  if (key.starts_with("network.") && key.ends_with(".ranks"))
    return setRanks(key, text);
  const MachineKey *known = findMachineKey(key);
  if (!known)
    return fail(describeUnknownKey(key));
  const Quantity *before = find(key);
  if (Error error = before ? Error::success() : checkNames(key))
    return fail(toString(std::move(error)));
  Expected<Quantity> quantity = parseNumber(*known, text.trim(), before);
  if (!quantity)
    return fail(toString(quantity.takeError()));
  if (StringRef rest = key; rest.consume_front("network.")) {
    auto [name, member] = rest.split('.');
    NetworkTier *tier = findTier(name);
    if (before && before->value > 0)
      tier->scaleTimes(member, quantity->value / before->value);
    // What is said takes the place of what was measured.
    if (member.consume_front("collectives.") && member.consume_back(".scalar"))
      tier->times.erase(member.str());
  }
  if (changesTimes(key))
    forgetErrors();
  quantities[key.str()] = std::move(*quantity);
  return Error::success();
}
