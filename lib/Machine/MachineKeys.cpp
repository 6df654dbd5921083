//===- MachineKeys.cpp - The numbers that a machine may have --------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Machine/MachineKeys.h"
#include "stg/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <limits>

using namespace llvm;
using namespace stg;

static constexpr double kAny = std::numeric_limits<double>::max();
/// The least of what something is divided by.
static constexpr double kLeast = std::numeric_limits<double>::min();

static constexpr MachineUnit kUnits[] = {
    {"1", Dimension::Number, 1},
    {"ns", Dimension::Time, 1e-9},
    {"us", Dimension::Time, 1e-6},
    {"ms", Dimension::Time, 1e-3},
    {"s", Dimension::Time, 1},
    {"B", Dimension::Bytes, 1},
    {"MB", Dimension::Bytes, 1e6},
    {"MiB", Dimension::Bytes, 1048576.},
    {"GB", Dimension::Bytes, 1e9},
    {"GiB", Dimension::Bytes, 1073741824.},
    {"TB", Dimension::Bytes, 1e12},
    {"GB/s", Dimension::Bandwidth, 1e9},
    {"TB/s", Dimension::Bandwidth, 1e12},
    {"GFLOP/s", Dimension::Rate, 1e9},
    {"TFLOP/s", Dimension::Rate, 1e12},
    {"PFLOP/s", Dimension::Rate, 1e15},
};

static constexpr MachineKey kKeys[] = {
    {"device.cores", Dimension::Number, 1, kAny},
    {"device.sustained", Dimension::Number, kLeast, 2},
    {"device.unaligned", Dimension::Number, kLeast, 1},
    {"device.peak.*", Dimension::Rate, kLeast, kAny},
    {"device.memory.capacity", Dimension::Bytes, 1, kAny},
    {"device.memory.reserved", Dimension::Bytes, 0, kAny},
    {"device.memory.bandwidth", Dimension::Bandwidth, kLeast, kAny},
    {"device.second_memory.capacity", Dimension::Bytes, 1, kAny},
    {"device.second_memory.bandwidth", Dimension::Bandwidth, kLeast, kAny},
    {"device.second_memory.share", Dimension::Number, kLeast, 1},
    {"device.second_memory.latency", Dimension::Time, 0, kAny},
    {"device.kernel.fixed", Dimension::Time, 0, kAny},
    {"device.kernel.memory_share", Dimension::Number, kLeast, 1},
    {"device.product.*.rate", Dimension::Number, kLeast, 1},
    {"device.product.*.tile_16384", Dimension::Number, kLeast, 1},
    {"device.product.*.tile_8192", Dimension::Number, kLeast, 1},
    {"device.product.*.tile_4096", Dimension::Number, kLeast, 1},
    {"device.product.*.prologue", Dimension::Number, 0, kAny},
    {"device.product.*.fixed", Dimension::Time, 0, kAny},
    {"device.product.*.memory_share", Dimension::Number, kLeast, 1},
    {"device.product.*.ceiling", Dimension::Number, kLeast, 1},
    {"device.attention.*.rate", Dimension::Number, kLeast, 1},
    {"device.attention.*.block_overhead", Dimension::Number, 0, kAny},
    {"device.attention.*.fixed", Dimension::Time, 0, kAny},
    {"device.attention.*.backward", Dimension::Number, kLeast, kAny},
    {"device.attention.*.softmax", Dimension::Number, 0, 1},
    {"device.attention.*.softmax_backward", Dimension::Number, 0, 1},
    {"device.scan.*.rate", Dimension::Number, kLeast, 1},
    {"device.scan.*.backward", Dimension::Number, kLeast, kAny},
    {"device.scan.*.step", Dimension::Time, 0, kAny},
    {"device.scan.*.fixed", Dimension::Time, 0, kAny},
    {"device.exchange.fixed", Dimension::Time, 0, kAny},
    {"host.operation", Dimension::Time, 0, kAny},
    {"host.collective", Dimension::Time, 0, kAny},
    {"host.step", Dimension::Time, 0, kAny},
    {"host.skew", Dimension::Time, 0, kAny},
    {"network.*.bandwidth", Dimension::Bandwidth, kLeast, kAny},
    {"network.*.share", Dimension::Number, kLeast, 1},
    {"network.*.partial_share", Dimension::Number, kLeast, 1},
    {"network.*.latency", Dimension::Time, 0, kAny},
    {"network.*.collectives.*.scalar", Dimension::Number, kLeast, kAny},
    {"network.*.collectives.*.offset", Dimension::Number, -1, kAny},
    {"overlap.interference", Dimension::Number, 0, 1},
    {"overlap.tensor_hidden", Dimension::Number, 0, 1},
    {"overlap.tensor_gather_hidden", Dimension::Number, 0, 1},
    {"overlap.data_hidden", Dimension::Number, 0, 1},
    {"overlap.collective_slowdown", Dimension::Number, kLeast, kAny},
    {"estimate.error", Dimension::Number, 0, kAny},
    {"estimate.inference_error", Dimension::Number, 0, kAny},
};

static constexpr StringLiteral kCollectives[] = {"all_reduce", "all_gather",
                                                 "reduce_scatter", "all_to_all",
                                                 "direct_all_reduce"};

ArrayRef<MachineKey> stg::getMachineKeys() { return kKeys; }

static constexpr PeakType kPeakTypes[] = {{"bf16", 2},  {"f16", 2}, {"tf32", 4},
                                          {"f32", 4},   {"fp8", 1}, {"int8", 1},
                                          {"fp4", 0.5}, {"f64", 8}};

ArrayRef<PeakType> stg::getPeakTypes() { return kPeakTypes; }

ArrayRef<StringLiteral> stg::getMachineCollectives() { return kCollectives; }

/// What `*` behind a part of a pattern stands for; empty where names are those
/// that a machine gives.
static std::vector<std::string> getNames(StringRef group) {
  std::vector<std::string> names;
  // Those of inference engines have times only.
  if (group == "collectives")
    for (StringRef name : kCollectives)
      if (name != "direct_all_reduce")
        names.push_back(name.str());
  if (group == "peak" || group == "product")
    for (const PeakType &type : kPeakTypes)
      names.push_back(type.name.str());
  if (group == "peak")
    names.push_back("vector");
  return names;
}

/// The parts of a key beside those of a pattern of the same form: where a `*`
/// stands, any name.
static bool hasForm(StringRef pattern, StringRef key) {
  SmallVector<StringRef> want, have;
  pattern.split(want, '.');
  key.split(have, '.');
  return want.size() == have.size() &&
         llvm::all_of(llvm::zip(want, have), [](auto pair) {
           auto [wanted, part] = pair;
           return wanted == "*" ? !part.empty() : wanted == part;
         });
}

/// Of a key that has the form of a pattern, why it is none: a name that is none
/// of those that there are.
static std::optional<std::string> findUnknownName(StringRef pattern,
                                                  StringRef key) {
  SmallVector<StringRef> want, have;
  pattern.split(want, '.');
  key.split(have, '.');
  for (size_t i = 1; i < want.size(); ++i) {
    if (want[i] != "*")
      continue;
    std::vector<std::string> names = getNames(want[i - 1]);
    if (!names.empty() && !is_contained(names, have[i]))
      return "'" + have[i].str() + "' is not known, expected " +
             joinWords(names, "or");
  }
  return std::nullopt;
}

const MachineKey *stg::findMachineKey(StringRef key) {
  const auto *it = llvm::find_if(kKeys, [&](const MachineKey &known) {
    return hasForm(known.pattern, key) && !findUnknownName(known.pattern, key);
  });
  return it == std::end(kKeys) ? nullptr : it;
}

std::string stg::describeUnknownKey(StringRef key) {
  for (const MachineKey &known : kKeys)
    if (hasForm(known.pattern, key))
      if (std::optional<std::string> why = findUnknownName(known.pattern, key))
        return *why;
  constexpr size_t count = 3;
  std::vector<std::pair<unsigned, const MachineKey *>> all;
  for (const MachineKey &known : kKeys)
    all.push_back({key.edit_distance(known.pattern), &known});
  llvm::sort(all);
  std::vector<std::string> nearest;
  for (const auto &[distance, known] : ArrayRef(all).take_front(count))
    nearest.push_back(known->pattern.str());
  return "is no number of a machine, such as " + joinWords(nearest, "or") +
         "; stg-estimate --list-constants prints all that a machine has";
}

const MachineUnit *stg::findMachineUnit(StringRef name) {
  const auto *it = llvm::find_if(
      kUnits, [&](const MachineUnit &unit) { return unit.name == name; });
  return it == std::end(kUnits) ? nullptr : it;
}

std::string stg::listMachineUnits(Dimension dimension) {
  std::vector<std::string> names;
  for (const MachineUnit &unit : kUnits)
    if (unit.dimension == dimension)
      names.push_back(unit.name.str());
  return joinWords(names, "or");
}

/// 1e9 as "1e+09".
static std::string printLimit(double limit, double factor) {
  std::string text;
  raw_string_ostream(text) << format("%g", limit / factor);
  return text;
}

/// Without the limits that are none.
static std::string describeRange(const MachineKey &key, double factor) {
  auto print = [&](double limit) { return printLimit(limit, factor); };
  if (key.least == kLeast)
    return key.most == kAny ? "more than 0"
                            : "more than 0 and at most " + print(key.most);
  return key.most == kAny
             ? "at least " + print(key.least)
             : "from " + print(key.least) + " to " + print(key.most);
}

Error stg::checkMachineNumber(const MachineKey &key, const MachineUnit &unit,
                              double given) {
  if (unit.dimension != key.dimension)
    return createStringError("expected a number in " +
                             listMachineUnits(key.dimension) + ", got one in " +
                             unit.name);
  double value = given * unit.factor;
  if (std::isinf(value) && value > 0 && key.most == kAny)
    return createStringError("expected a number of at most " +
                             printLimit(kAny, unit.factor));
  if (std::isfinite(value) && value >= key.least && value <= key.most)
    return Error::success();
  return createStringError("expected a number " +
                           describeRange(key, unit.factor));
}
