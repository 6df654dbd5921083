//===- CompileCall.h - What calls that compile share ------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_CAPI_COMPILECALL_H
#define STG_LIB_CAPI_COMPILECALL_H

#include "CAPI.h"
#include "stg-c/Estimate.h"
#include "stg/Driver/Compile.h"
#include "stg/Machine/Machine.h"
#include <atomic>

/// What is kept of flags and of a file apart: flags override.
struct StgStrategy {
  stg::StrategyInput file, flags;
};

namespace stg::capi {

/// Folders that are searched for models, which are there.
llvm::Expected<std::vector<std::string>> toFolders(const char *const *folders,
                                                   size_t count);

/// What C asks for, checked as flags are.
llvm::Expected<CompileRequest> toRequest(const StgCompileRequest &from);

/// The machine that C names, with its changes.
llvm::Expected<Machine> loadMachine(const StgMachine &from);

/// One call: its request, what is said during it, and whether it was stopped.
struct CompileCall {
  explicit CompileCall(const StgCompileRequest &from)
      : printer([this](const ToolMessage &message) { messages.add(message); }) {
    if (from.goOn)
      goOn = [this, &from](llvm::StringRef step) {
        if (!isStopped && !from.goOn(toText(step), from.goOnData))
          isStopped = true;
        return !isStopped;
      };
  }

  StgError *fail() {
    return isStopped ? makeInterruption() : toStgError(std::move(messages));
  }

  MessageList messages;
  MessagePrinter printer;
  std::function<bool(llvm::StringRef)> goOn;
  std::atomic<bool> isStopped = false;
};

} // namespace stg::capi

#endif // STG_LIB_CAPI_COMPILECALL_H
