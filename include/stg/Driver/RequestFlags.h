//===- RequestFlags.h - Flags that say what is compiled ---------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DRIVER_REQUESTFLAGS_H
#define STG_DRIVER_REQUESTFLAGS_H

#include "stg/Driver/Compile.h"
#include "stg/Strategy/StrategyFlags.h"
#include "llvm/Support/CommandLine.h"

namespace stg {

/// The flags of all tools that compile a model: which one, and the strategy.
struct RequestFlags {
  /// `modelHelp` describes the positional argument.
  explicit RequestFlags(llvm::StringRef modelHelp) {
    model.setDescription(modelHelp);
  }

  CompileRequest request;

  StrategyFlags strategy;
  llvm::cl::OptionCategory modelCategory{"Model"};

  llvm::cl::opt<std::string, true> model{llvm::cl::Positional,
                                         llvm::cl::location(request.model),
                                         llvm::cl::cat(modelCategory)};
  llvm::cl::opt<std::string, true> config{
      "config", llvm::cl::location(request.config),
      llvm::cl::value_desc("NAME"),
      llvm::cl::desc("Configuration of a model file"),
      llvm::cl::cat(modelCategory)};
  llvm::cl::opt<std::string, true> program{
      "program", llvm::cl::location(request.program),
      llvm::cl::value_desc("NAME"),
      llvm::cl::desc("Program of a model file that has several"),
      llvm::cl::cat(modelCategory)};
  llvm::cl::list<std::string, std::vector<std::string>> modelPath{
      "models", llvm::cl::location(request.modelPath),
      llvm::cl::value_desc("DIR"),
      llvm::cl::desc("Folder with further library models"),
      llvm::cl::cat(modelCategory)};
  llvm::cl::opt<bool, true> ignoreQuantizationFlag{
      "ignore-quantization", llvm::cl::location(request.ignoresQuantization),
      llvm::cl::desc("Of a quantized config.json take the model without "
                     "quantization"),
      llvm::cl::cat(modelCategory)};

  /// Those of the strategy, and that of the model.
  std::vector<const llvm::cl::OptionCategory *> getRequestCategories() const;

  /// Reads the strategy into the request. Errors: it is none, or a folder of
  /// models is none.
  llvm::Error finishRequest();
};

/// The same, where prefill and decoding may have plans of their own.
struct TwoPlanFlags : RequestFlags {
  using RequestFlags::RequestFlags;

  llvm::cl::opt<std::string> prefillStrategy{
      "prefill-strategy", llvm::cl::value_desc("FILE.json"),
      llvm::cl::desc("Plan of the ranks that read the prompts; those of "
                     "--decode-strategy follow, and get the caches. Flags "
                     "override both"),
      llvm::cl::cat(modelCategory)};
  llvm::cl::opt<std::string> decodeStrategy{
      "decode-strategy", llvm::cl::value_desc("FILE.json"),
      llvm::cl::desc("Plan of the ranks that make a further token of each "
                     "prompt"),
      llvm::cl::cat(modelCategory)};

  /// Reads one strategy into the request, or two.
  llvm::Error finishPlans();
};

} // namespace stg

#endif // STG_DRIVER_REQUESTFLAGS_H
