//===- RequestFlags.cpp - Flags that say what is compiled -----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Driver/RequestFlags.h"
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
  for (const std::string &folder : request.modelPath)
    if (!sys::fs::is_directory(folder))
      return makeStrategyError("--models " + folder + ": is not a folder");
  return Error::success();
}
