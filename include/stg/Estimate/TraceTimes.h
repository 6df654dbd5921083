//===- TraceTimes.h - Executes traces ---------------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// By the rules of simulators of traces: a rank executes one compute node at a
// time, and beside it one collective, send or transfer; receives wait on their
// own. Of the nodes whose dependencies are done, the one with the least id
// comes first. A collective holds its place from when it is issued, and begins
// when its last member comes; a send holds it until the message is there.
//
//===----------------------------------------------------------------------===//

#ifndef STG_ESTIMATE_TRACETIMES_H
#define STG_ESTIMATE_TRACETIMES_H

#include "stg/Estimate/NodeTimes.h"
#include "stg/Estimate/TraceGraphs.h"
#include <functional>

namespace stg {

/// How long nodes take.
struct TraceCosts {
  std::function<Ticks(const TracedNode &)> compute;
  /// From when the last member has come; one time for each member, or one for
  /// all.
  std::function<std::vector<Ticks>(const TracedNode &,
                                   llvm::ArrayRef<int64_t> members)>
      collective;
  std::function<Ticks(int64_t from, int64_t to, int64_t bytes)> message;
  /// From or to the memory of the host; empty if there is no link to it, for
  /// the reason that `missingLink` is.
  std::function<Ticks(int64_t bytes)> transfer;
  std::string missingLink;
};

/// Costs on a machine. Compute nodes take the larger of operations at the peak
/// of bf16 and of bytes at the bandwidth of memory if `isRoofline`; else
/// products, as far as sizes of tensors tell them, and other kernels take what
/// they take in estimates. A job of so many ranks has a torus of its own, where
/// machines have one. The machine must outlive the costs.
llvm::Expected<TraceCosts> getMachineCosts(const Machine &machine,
                                           bool isRoofline, int64_t ranks);

struct TraceTimes {
  struct Span {
    Ticks issue = -1; ///< Less than 0: never.
    Ticks begin = 0;  ///< Of a collective, when its last member has come.
    Ticks end = 0;
  };
  /// By position of the rank and of the node.
  std::vector<std::vector<Span>> ranks;
  std::vector<Ticks> ends; ///< By position of the rank.
  Ticks total = 0;
};

/// Executes all ranks. Members of groups and partners of messages that are not
/// there are taken to come in time. Ranks that wait for each other are an
/// error.
llvm::Expected<TraceTimes> executeTraces(const TraceGraphs &graphs,
                                         const TraceCosts &costs);

/// Where the time of a rank goes. Together the time of all.
struct TraceSpending {
  Ticks compute = 0; ///< Compute nodes, communication beside them or not.
  Ticks exposed = 0; ///< Communication alone, and waiting for it.
  Ticks idle = 0;
  Ticks overlapped = 0; ///< Communication beside compute nodes.
};
TraceSpending getSpending(const TraceGraph &graph, const TraceTimes &times,
                          size_t position);

} // namespace stg

#endif // STG_ESTIMATE_TRACETIMES_H
