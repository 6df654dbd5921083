//===- Manifest.cpp - What a manifest says beside the traces --------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Driver/Compile.h"

using namespace stg;

llvm::json::Object stg::getManifestEntries(const CompileRequest &request,
                                           const CompileResult &result) {
  llvm::json::Object symbols;
  for (auto &[name, value] : result.symbols)
    symbols[name] = value;
  llvm::json::Object extra;
  extra["model"] = result.model;
  if (!request.config.empty())
    extra["config"] = request.config;
  if (!request.program.empty())
    extra["program"] = request.program;
  extra["description"] = result.description;
  extra["mode"] = stringify(result.strategy.getMode());
  extra["symbols"] = std::move(symbols);
  llvm::json::Object options;
  for (auto &[name, value] : result.options)
    options[name] = value;
  if (!options.empty())
    extra["options"] = std::move(options);
  extra[StrategyInput::kPlan] = toJSON(result.strategy);
  if (result.decode) {
    extra[StrategyInput::kDecodePlan] = toJSON(result.decode->strategy);
    extra["decode_first_rank"] = result.decode->firstRank;
  }
  extra["dtype"] = result.dtype;
  extra["micro_batches"] = result.strategy.values.microBatches;
  if (!result.loops.empty()) {
    llvm::json::Array loops;
    int64_t first = 0;
    for (const StepLoop &loop : result.loops) {
      loops.push_back(
          llvm::json::Object{{"first", first},
                             {"count", loop.count},
                             {"requests", writeRequests(loop.requests)}});
      if (loop.advance)
        (*loops.back().getAsObject())["advance"] = loop.advance->str();
      first += loop.count;
    }
    extra["steps"] = std::move(loops);
  }
  if (const auto &draft = result.draft) {
    llvm::json::Object symbols;
    for (auto &[name, value] : draft->symbols)
      symbols[name] = value;
    extra["draft"] = llvm::json::Object{
        {"model", draft->model},
        {"description", draft->description},
        {"symbols", std::move(symbols)},
        {"parameters", static_cast<int64_t>(draft->parameters)},
        {"active_parameters", static_cast<int64_t>(draft->activeParameters)},
        {"tokens_of_round", result.loops.front().advance->getValue()}};
  }
  llvm::json::Array experts;
  for (auto [held, read] : result.expertsRead)
    experts.push_back(llvm::json::Object{{"held", static_cast<int64_t>(held)},
                                         {"read", static_cast<int64_t>(read)}});
  if (!experts.empty())
    extra["experts_read"] = std::move(experts);
  extra["parameters"] = static_cast<int64_t>(result.parameters);
  extra["active_parameters"] = static_cast<int64_t>(result.activeParameters);
  extra["embedding_parameters"] =
      static_cast<int64_t>(result.embeddingParameters);
  extra["trainable_parameters"] =
      static_cast<int64_t>(result.parameters - result.frozenParameters);
  return extra;
}
