//===- EstimateFlags.cpp - The flags of stg-estimate ----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EstimateFlags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace stg;

std::vector<const cl::OptionCategory *> EstimateFlags::getCategories() const {
  auto categories = getRequestCategories();
  categories.push_back(&machineCategory);
  categories.push_back(&outputCategory);
  return categories;
}

Error EstimateFlags::finish() {
  request.dryRun = true;
  return finishRequest();
}

/// A bundle has its strategy.
Error EstimateFlags::checkBundle() const {
  auto categories = getRequestCategories();
  for (const auto &[name, option] : cl::getRegisteredOptions())
    if (option->getNumOccurrences() && option != &model &&
        any_of(categories, [&, &option = option](const auto *category) {
          return is_contained(option->Categories, category);
        }))
      return createStringError("--" + name +
                               " has no effect: a bundle is of a model with a "
                               "strategy");
  return Error::success();
}

Expected<Machine> EstimateFlags::loadMachine() const {
  Expected<Machine> machine = Machine::load(this->machine);
  if (!machine)
    return machine;
  for (const std::string &change : changes)
    if (Error error = machine->set(change))
      return createStringError("--machine-set " + change + ": " +
                               toString(std::move(error)));
  return machine;
}

Expected<std::vector<std::string>> EstimateFlags::getPoints() const {
  std::vector<std::string> points;
  if (sweep.empty()) {
    points.emplace_back();
    return points;
  }
  auto [key, values] = StringRef(sweep).split('=');
  for (StringRef value : split(values, ','))
    if (!value.trim().empty())
      points.push_back((key + "=" + value.trim()).str());
  if (key.empty() || points.empty())
    return createStringError("--sweep-machine " + sweep +
                             ": expected KEY=VALUE,VALUE,...");
  return points;
}
