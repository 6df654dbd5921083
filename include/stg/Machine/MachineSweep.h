//===- MachineSweep.h - Machines that differ in a number --------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_MACHINE_MACHINESWEEP_H
#define STG_MACHINE_MACHINESWEEP_H

#include "stg/Machine/Machine.h"

namespace stg {

/// The sweep of --sweep-machine, which is `given` as often as that is: a sweep
/// is of one number. Empty without one.
llvm::Expected<std::string> getSweep(llvm::ArrayRef<std::string> given);

/// `KEY=VALUE` for each value of `KEY=VALUE,VALUE,...`, what --sweep-machine
/// is; one that is empty if that is empty.
llvm::Expected<std::vector<std::string>> listSweepPoints(llvm::StringRef sweep);

/// The machine with what --machine-set changes, and a point of the sweep.
llvm::Expected<Machine> loadMachine(llvm::StringRef name,
                                    llvm::ArrayRef<std::string> changes,
                                    llvm::StringRef sweep = "",
                                    llvm::StringRef point = "");

} // namespace stg

#endif // STG_MACHINE_MACHINESWEEP_H
