//===- LiveTensors.cpp - Memory of a rank node by node --------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Program/LiveTensors.h"

using namespace stg::trace;

/// Lists are made so that one sweep over the nodes sees tensors appear (in
/// order of tensors) and disappear.
LiveTensors::LiveTensors(const TraceProgram &program,
                         const ProgramRunner &runner)
    : program(program), runner(runner),
      firstFreed(program.getNumNodes(), kNone),
      nextFreed(runner.getInstances().size(), kNone) {
  llvm::ArrayRef<TensorInstance> instances = runner.getInstances();
  for (uint32_t i = 0; i < instances.size(); ++i) {
    uint32_t writer = instances[i].writer;
    if (writer == kNone) {
      change(i, 1);
      continue;
    }
    uint32_t reader = runner.getLastReaders()[i];
    uint32_t last = reader == kNone ? writer : reader;
    nextFreed[i] = firstFreed[last];
    firstFreed[last] = i;
  }
  states = live;
}

void LiveTensors::change(uint32_t index, int sign) {
  const TensorTemplate &common = getTemplate(index);
  live[static_cast<unsigned>(common.category)] += sign * common.bytes;
  if (common.category != TensorCategory::Host)
    total += sign * common.bytes;
}

const LiveTensors::Bytes &LiveTensors::next() {
  if (node > 0)
    for (uint32_t freed = firstFreed[node - 1]; freed != kNone;
         freed = nextFreed[freed])
      change(freed, -1);
  llvm::ArrayRef<TensorInstance> instances = runner.getInstances();
  for (; tensor < instances.size() && (instances[tensor].writer == kNone ||
                                       instances[tensor].writer == node);
       ++tensor)
    if (instances[tensor].writer != kNone)
      change(tensor, 1);
  ++node;
  return live;
}
