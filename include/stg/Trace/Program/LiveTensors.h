//===- LiveTensors.h - Memory of a rank node by node ------------*- C++ -*-===//
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

#ifndef STG_TRACE_PROGRAM_LIVETENSORS_H
#define STG_TRACE_PROGRAM_LIVETENSORS_H

#include "stg/Trace/Program/ProgramRunner.h"
#include <array>

namespace stg::trace {

class LiveTensors {
public:
  using Bytes = std::array<__int128, kNumTensorCategories>;

  /// The runner has run the program; both must outlive this.
  LiveTensors(const TraceProgram &program, const ProgramRunner &runner);

  /// What the states of the rank take, by category.
  const Bytes &getStates() const { return states; }
  /// What lives while the next node runs.
  const Bytes &next();
  /// The sum over categories of what next() has returned, but for what is on
  /// the host.
  __int128 getTotal() const { return total; }

private:
  const TensorTemplate &getTemplate(uint32_t tensor) const {
    return program.tensors[runner.getInstances()[tensor].tensorTemplate];
  }
  void change(uint32_t tensor, int sign);

  const TraceProgram &program;
  const ProgramRunner &runner;
  Bytes states = {}, live = {};
  __int128 total = 0;
  uint32_t node = 0, tensor = 0;
  /// Tensors in lists by the node that reads them last.
  std::vector<uint32_t> firstFreed, nextFreed;
};

} // namespace stg::trace

#endif // STG_TRACE_PROGRAM_LIVETENSORS_H
