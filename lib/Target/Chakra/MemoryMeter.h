//===- MemoryMeter.h - Memory of a rank over a step -------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The peak of what LiveTensors.h counts, and all of it as CSV.
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
  void writeHeader(llvm::raw_ostream &os) const;
  void writeLine(uint32_t node, const CategoryBytes &live,
                 llvm::raw_ostream &os) const;

  const trace::TraceProgram &program;
  const trace::ProgramRunner &runner;
};

} // namespace stg::chakra

#endif // STG_LIB_TARGET_CHAKRA_MEMORYMETER_H
