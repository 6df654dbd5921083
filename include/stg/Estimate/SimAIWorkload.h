//===- SimAIWorkload.h - A step as a workload of SimAI ----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SimAI executes one text on all ranks: a list of layers, each with the time of
// its forward pass and of its gradients, and a collective behind each of them.
// Forward goes down the list; backward goes up, and in each layer does the
// gradient of the input, then that of the weights, whose collective nobody
// waits for.
//
// What is between two collectives here is a layer there. Those of backward
// stand first in the file, in reverse order, and have no forward part: so both
// passes execute what the program does, in its order.
//
//===----------------------------------------------------------------------===//

#ifndef STG_ESTIMATE_SIMAIWORKLOAD_H
#define STG_ESTIMATE_SIMAIWORKLOAD_H

#include "stg/Machine/Execution.h"
#include "stg/Machine/Machine.h"
#include "stg/Trace/Bundle/TraceBundle.h"

namespace stg {

/// Writes the step with times on the machine, in nanoseconds. Sizes are those
/// of whole tensors, as SimAI counts. Fails where SimAI cannot say it: ranks
/// that differ, messages, groups over other axes than tp, ep and dp, and
/// collectives of forward over dp.
llvm::Error writeSimAIWorkload(const trace::TraceBundle &programs,
                               const Machine &machine,
                               const Execution &execution,
                               llvm::raw_ostream &os);

} // namespace stg

#endif // STG_ESTIMATE_SIMAIWORKLOAD_H
