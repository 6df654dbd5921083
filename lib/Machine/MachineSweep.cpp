//===- MachineSweep.cpp - Machines that differ in a number ----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Machine/MachineSweep.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace stg;

Expected<std::string> stg::getSweep(ArrayRef<std::string> given) {
  if (given.empty())
    return "";
  if (is_contained(given, ""))
    return createStringError(
        "--sweep-machine is empty: expected KEY=VALUE,VALUE,...");
  if (given.size() == 1)
    return given.front();
  for (StringRef sweep : given)
    if (Error error = listSweepPoints(sweep).takeError())
      return error;
  StringRef first = given[0], second = given[1];
  StringRef key = first.split('=').first;
  auto [other, more] = second.split('=');
  std::string problem = ("--sweep-machine " + second + ": ").str();
  if (key.trim() != other.trim())
    return createStringError(problem + key.trim() +
                             " is swept already, and a sweep is of one "
                             "number; give one of them a value with "
                             "--machine-set");
  return createStringError(problem + key.trim() +
                           " is swept twice; give all values at once: "
                           "--sweep-machine " +
                           first + "," + more);
}

Expected<std::vector<std::string>> stg::listSweepPoints(StringRef sweep) {
  std::vector<std::string> points;
  if (sweep.empty()) {
    points.emplace_back();
    return points;
  }
  auto [key, values] = sweep.split('=');
  bool isGood = !key.empty() && !values.empty();
  for (StringRef value : split(values, ',')) {
    isGood &= !value.trim().empty();
    points.push_back((key + "=" + value.trim()).str());
  }
  if (!isGood)
    return createStringError("--sweep-machine " + sweep +
                             ": expected KEY=VALUE,VALUE,...");
  return points;
}

Expected<Machine> stg::loadMachine(StringRef name,
                                   ArrayRef<std::string> changes,
                                   StringRef sweep, StringRef point) {
  if (name.empty())
    return createStringError("no machine; give --machine a .json file or one "
                             "of: " +
                             llvm::join(Machine::listNames(), ", "));
  Expected<Machine> machine = Machine::load(name, changes);
  if (!machine)
    return machine;
  if (point.empty())
    return machine;
  for (StringRef change : changes)
    if (change.split('=').first == point.split('=').first)
      return createStringError("--machine-set " + change +
                               " has no effect: --sweep-machine gives this "
                               "number its values");
  Error error = machine->set(point);
  if (!error)
    error = machine->check();
  if (error)
    return createStringError("--sweep-machine " + sweep + ": " +
                             toString(std::move(error)));
  return machine;
}
