//===- Totals.cpp - What one rank of a class does in total ----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Totals.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace stg::chakra;
using namespace stg::trace;

__int128 CategoryBytes::getTotal() const {
  __int128 total = 0;
  for (__int128 value : bytes)
    total += value;
  return total - (*this)[Category::Host];
}

std::string stg::chakra::toDecimal(__int128 value) {
  bool negative = value < 0;
  auto rest = static_cast<unsigned __int128>(value);
  if (negative)
    rest = -rest;
  std::string digits;
  do
    digits.push_back('0' + static_cast<int>(rest % 10));
  while (rest /= 10);
  if (negative)
    digits.push_back('-');
  return {digits.rbegin(), digits.rend()};
}

using PhaseOperations = std::vector<std::pair<std::string, __int128>>;

static void addToPhase(PhaseOperations &phases, StringRef phase,
                       __int128 operations) {
  auto it = llvm::find_if(
      phases, [&](const auto &entry) { return entry.first == phase; });
  if (it == phases.end())
    phases.push_back({phase.str(), operations});
  else
    it->second += operations;
}

static void addComp(const NodeTemplate &node, ClassTotals &totals) {
  __int128 operations = static_cast<__int128>(node.operations) *
                        static_cast<__int128>(node.executions);
  totals.compNodes += node.executions;
  totals.operations += operations;
  totals.memoryTraffic += static_cast<__int128>(node.bytes) *
                          static_cast<__int128>(node.executions);
  addToPhase(totals.operationsByPhase, node.phase, operations);
  if (node.isMatrix)
    addToPhase(totals.matrixOperationsByPhase, node.phase, operations);
}

static void addColl(const NodeTemplate &node, const RankSpace &space,
                    ClassTotals &totals) {
  totals.collNodes += node.executions;
  SmallVector<std::string> axes = space.getNames(node.axes);
  int64_t groupSize = space.getGroupSize(node.axes);
  auto it = llvm::find_if(totals.collectives, [&](const CollTotals &entry) {
    return entry.kind == static_cast<CollKind>(node.collective) &&
           entry.phase == node.phase && entry.groupSize == groupSize &&
           llvm::equal(entry.axes, axes);
  });
  if (it == totals.collectives.end()) {
    totals.collectives.push_back({static_cast<CollKind>(node.collective),
                                  {axes.begin(), axes.end()},
                                  groupSize,
                                  node.phase.str()});
    it = std::prev(totals.collectives.end());
  }
  it->count += node.executions;
  it->bytes += static_cast<__int128>(node.bytes) *
               static_cast<__int128>(node.executions);
}

static void addMessage(const NodeTemplate &node, const RankSpace &space,
                       ClassTotals &totals) {
  bool isSend = node.kind == NodeKind::Send;
  (isSend ? totals.sendNodes : totals.recvNodes) += node.executions;
  StringRef axis = space.getAxes()[node.axis].name;
  auto it = llvm::find_if(totals.messages, [&](const MessageTotals &entry) {
    return entry.isSend == isSend && entry.axis == axis &&
           entry.shift == node.shift && entry.phase == node.phase;
  });
  if (it == totals.messages.end()) {
    totals.messages.push_back(
        {isSend, axis.str(), node.shift, node.phase.str()});
    it = std::prev(totals.messages.end());
  }
  it->count += node.executions;
  it->bytes += static_cast<__int128>(node.bytes) *
               static_cast<__int128>(node.executions);
}

static void addTransfer(const NodeTemplate &node, ClassTotals &totals) {
  bool isLoad = node.kind == NodeKind::Load;
  auto it = llvm::find_if(totals.transfers, [&](const TransferTotals &entry) {
    return entry.isLoad == isLoad && entry.phase == node.phase;
  });
  if (it == totals.transfers.end()) {
    totals.transfers.push_back({isLoad, node.phase.str()});
    it = std::prev(totals.transfers.end());
  }
  it->count += node.executions;
  it->bytes += static_cast<__int128>(node.bytes) *
               static_cast<__int128>(node.executions);
}

ClassTotals stg::chakra::computeTotals(const TraceProgram &program,
                                       const RankSpace &space) {
  ClassTotals totals;
  for (const NodeTemplate &node : program.nodes) {
    if (node.executions == 0)
      continue;
    if (node.isColl())
      addColl(node, space, totals);
    else if (node.isMessage())
      addMessage(node, space, totals);
    else if (node.isTransfer())
      addTransfer(node, totals);
    else
      addComp(node, totals);
  }
  return totals;
}
