//===- CheckCalls.cpp - Bounds what inlining makes ------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function that calls another one twice, which calls a third one twice, and
// so on, is short and makes a program that nothing can hold. So the ops that
// each call comes to are counted before anything is inlined: each function is
// looked at once.
//
//===----------------------------------------------------------------------===//

#include "mlir/Analysis/CallGraph.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Support/MathExtras.h"

namespace stg {
#define GEN_PASS_DEF_CHECKCALLS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
/// Counts the ops of functions.
class CallCounter {
public:
  explicit CallCounter(const CallGraph &calls);
  /// Reports the call that brings a program over the limit.
  LogicalResult check(func::FuncOp program, uint64_t maxOps);

private:
  uint64_t count(CallOpInterface call);

  SymbolTableCollection symbolTables;
  /// Ops of each function when its calls are inlined.
  DenseMap<Operation *, uint64_t> sizes;
};

struct CheckCalls : stg::impl::CheckCallsBase<CheckCalls> {
  using CheckCallsBase::CheckCallsBase;
  void runOnOperation() override;
};
} // namespace

/// Ops in place of a call, of whose callee the ops are known: one that calls
/// itself, over whatever others, is not inlined there.
uint64_t CallCounter::count(CallOpInterface call) {
  Operation *callee = call.resolveCallableInTable(&symbolTables);
  auto size = sizes.find(callee);
  return size != sizes.end() ? size->second : 1;
}

/// Callees before their callers.
CallCounter::CallCounter(const CallGraph &calls) {
  for (auto scc = llvm::scc_begin(&calls); !scc.isAtEnd(); ++scc)
    for (CallGraphNode *node : *scc) {
      if (node->isExternal())
        continue;
      uint64_t size = 0;
      node->getCallableRegion()->walk([&](Operation *op) {
        auto call = dyn_cast<CallOpInterface>(op);
        size = llvm::SaturatingAdd<uint64_t>(size, call ? count(call) : 1);
      });
      sizes[node->getCallableRegion()->getParentOp()] = size;
    }
}

LogicalResult CallCounter::check(func::FuncOp program, uint64_t maxOps) {
  uint64_t total = 0;
  WalkResult result = program.walk([&](Operation *op) {
    auto call = dyn_cast<CallOpInterface>(op);
    if (!call) {
      ++total;
      return WalkResult::advance();
    }
    uint64_t size = count(call);
    total = llvm::SaturatingAdd(total, size);
    if (total <= maxOps)
      return WalkResult::advance();
    auto callee = cast<SymbolRefAttr>(call.getCallableForCallee());
    InFlightDiagnostic diag = call->emitOpError("calls '")
                              << callee.getLeafReference().getValue()
                              << "', which makes ";
    if (size == UINT64_MAX)
      diag << "more than 2^64 ops";
    else
      diag << size << " ops";
    diag << " of the program when all calls are inlined; with those before it "
         << "that is more than the " << maxOps
         << " that a program may have: put what is there many times into an "
            "stg.repeat, or call fewer functions from one another";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

void CheckCalls::runOnOperation() {
  markAllAnalysesPreserved();
  CallCounter counter(getAnalysis<CallGraph>());
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (!function.isPrivate() && failed(counter.check(function, maxOps)))
      return signalPassFailure();
}
