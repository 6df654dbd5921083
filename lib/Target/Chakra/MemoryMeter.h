//===- MemoryMeter.h - Memory of a rank over a step -------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor occupies memory from the node that writes it to the last node, in
// program order, that reads it (or only during the node that writes it, if none
// reads it); a state occupies it throughout. Inputs and outputs of a node are
// there together while it runs.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TARGET_CHAKRA_MEMORYMETER_H
#define STG_LIB_TARGET_CHAKRA_MEMORYMETER_H

#include "stg/Target/Chakra/Export.h"
#include "stg/Trace/Program/ProgramRunner.h"

namespace stg::chakra {

class MemoryMeter {
public:
  /// The runner has run the program; both must outlive the meter.
  MemoryMeter(const trace::TraceProgram &program,
              const trace::ProgramRunner &runner)
      : program(program), runner(runner) {}

  /// To be called once. Writes what is live while each node
  /// runs to `timeline`, if there is one, as CSV: a line for each node at which
  /// the total differs from the line before.
  MemoryTotals finish(llvm::raw_ostream *timeline = nullptr);

private:
  const trace::TensorTemplate &getTemplate(uint32_t tensor) const {
    return program.tensors[runner.getInstances()[tensor].tensorTemplate];
  }

  void addStates();
  void writeHeader(llvm::raw_ostream &os) const;
  void writeLine(uint32_t node, const CategoryBytes &live,
                 llvm::raw_ostream &os) const;

  const trace::TraceProgram &program;
  const trace::ProgramRunner &runner;
  MemoryTotals totals;
};

} // namespace stg::chakra

#endif // STG_LIB_TARGET_CHAKRA_MEMORYMETER_H
