//===- StrategyFlags.h - The command line of a strategy ---------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_STRATEGY_STRATEGYFLAGS_H
#define STG_STRATEGY_STRATEGYFLAGS_H

#include "stg/Strategy/StrategyInput.h"
#include "llvm/Support/CommandLine.h"
#include <memory>
#include <vector>

namespace stg {

/// A flag for each field, registered while this lives, and `--strategy`. `-h`
/// lists them by group, with all values of a field that has a few.
class StrategyFlags {
public:
  StrategyFlags();
  ~StrategyFlags();

  /// What was given; to be asked after the command line is parsed. `file` is
  /// what the file alone says.
  llvm::Expected<StrategyInput> read(StrategyInput &file) const;

  /// The same with another file, or with that of its plans.
  llvm::Expected<StrategyInput>
  read(StrategyInput &file, llvm::StringRef path,
       llvm::StringRef plan = StrategyInput::kPlan) const;
  /// True if `--strategy` was given.
  bool hasFile() const;
  llvm::StringRef getFile() const;

  /// For `llvm::cl::HideUnrelatedOptions`.
  std::vector<const llvm::cl::OptionCategory *> getCategories() const;

private:
  std::vector<std::unique_ptr<llvm::cl::OptionCategory>> categories;
  std::vector<std::unique_ptr<llvm::cl::Option>> flags;
  std::unique_ptr<llvm::cl::opt<std::string>> file;
  std::unique_ptr<llvm::cl::opt<bool>> schema, reference;
};

} // namespace stg

#endif // STG_STRATEGY_STRATEGYFLAGS_H
