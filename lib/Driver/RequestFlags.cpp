//===- RequestFlags.cpp - Flags that say what is compiled -----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Driver/RequestFlags.h"
#include "stg/Support/Files.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace stg;

std::vector<const cl::OptionCategory *>
RequestFlags::getRequestCategories() const {
  auto categories = strategy.getCategories();
  categories.push_back(&modelCategory);
  return categories;
}

Error RequestFlags::finishRequest() {
  Expected<StrategyInput> input = strategy.read(request.strategyFile);
  if (!input)
    return input.takeError();
  request.strategy = std::move(*input);
  // It is read once, and compiled any number of times.
  if (request.model == "-") {
    auto text = readInput(request.model);
    if (!text)
      return createStringError("-: " + toString(text.takeError()));
    request.modelText = (*text)->getBuffer().str();
  }
  for (const std::string &folder : request.modelPath)
    if (!sys::fs::is_directory(folder))
      return makeError("--models " + folder + ": is not a folder");
  return Error::success();
}

/// Two plans take the place of one; the manifest of two has both.
Error TwoPlanFlags::finishPlans() {
  if (Error error = finishRequest())
    return error;
  bool isOfTwo = request.strategyFile.hasDecodePlan() &&
                 prefillStrategy.empty() && decodeStrategy.empty();
  if (isOfTwo)
    for (llvm::cl::opt<std::string> *file : {&prefillStrategy, &decodeStrategy})
      file->setValue(strategy.getFile().str());
  if (prefillStrategy.empty() && decodeStrategy.empty())
    return Error::success();
  if (prefillStrategy.empty() || decodeStrategy.empty())
    return makeError(
        prefillStrategy.empty()
            ? "--decode-strategy needs --prefill-strategy, the plan of the "
              "ranks that read the prompts"
            : "--prefill-strategy needs --decode-strategy, the plan of the "
              "ranks that go on with them");
  if (strategy.hasFile() && !isOfTwo)
    return makeError("--strategy with --prefill-strategy: give each "
                     "plan in a file of its own");
  request.strategyFile = StrategyInput();
  auto prefill = strategy.read(request.strategyFile, prefillStrategy);
  if (!prefill)
    return prefill.takeError();
  request.decodeStrategyFile = StrategyInput();
  auto decode = strategy.read(request.decodeStrategyFile, decodeStrategy,
                              StrategyInput::kDecodePlan);
  if (!decode)
    return decode.takeError();
  request.strategy = std::move(*prefill);
  request.decodeStrategy = std::move(*decode);
  return Error::success();
}
