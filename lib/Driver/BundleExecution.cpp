//===- BundleExecution.cpp - How a bundle is executed ---------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Driver/Compile.h"
#include "stg/Presets/Preset.h"
#include "stg/Strategy/Strategy.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace stg;

Expected<Execution> stg::findExecution(const trace::TraceBundle &bundle) {
  Expected<json::Value> manifest =
      json::parse(bundle.getManifest(0, bundle.getSpace().getNumRanks()));
  if (!manifest)
    return manifest.takeError();
  const json::Object *object = manifest->getAsObject();
  const json::Object *strategy =
      object ? object->getObject("strategy") : nullptr;
  const json::Value *given = strategy ? strategy->get("preset") : nullptr;
  std::string name = Strategy().preset.str();
  if (given && given->getAsObject())
    name = formatv("{0}", *given).str();
  else if (given)
    name = given->getAsString().value_or(name).str();
  Expected<Preset> preset = Preset::load(name);
  if (!preset)
    return preset.takeError();
  return preset->execution;
}
