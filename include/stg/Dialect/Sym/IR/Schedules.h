//===- Schedules.h - Schedules of both dialects -----------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What schedules of the stg and the chakra dialect have in common: an order of
// the ops of a body, and what is added up. The ops with one number call a
// function for what comes first, for what comes last and for what is in
// between, and each takes what the one before has returned.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_SYM_IR_SCHEDULES_H
#define STG_DIALECT_SYM_IR_SCHEDULES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "stg/Dialect/Sym/IR/Sym.h"
#include <map>

namespace stg::detail {

/// Checks how many turns a schedule has, and that each argument of its body has
/// an input for each of them; `isSame(type, type)` says whether one can be the
/// other's.
template <typename ScheduleOpTy, typename IsSame>
llvm::LogicalResult verifyTurns(ScheduleOpTy schedule, IsSame isSame) {
  uint64_t count = schedule.getCount();
  auto shown = static_cast<int64_t>(count);
  if (shown < 2 || shown > INT32_MAX)
    return schedule.emitOpError("has ")
           << shown << " turns, expected 2 to 2^31 - 1";
  mlir::Block &body = schedule.getBody().front();
  if (schedule.getInputs().size() != body.getNumArguments() * count)
    return schedule.emitOpError("has ")
           << schedule.getInputs().size() << " inputs, expected " << shown
           << " for each of " << body.getNumArguments()
           << " arguments of its body";
  for (auto [number, arg] : llvm::enumerate(body.getArguments()))
    for (uint64_t turn = 0; turn < count; ++turn)
      if (mlir::Type type = schedule.getInput(number, turn).getType();
          !isSame(type, arg.getType()))
        return schedule.emitOpError("has an input of type ")
               << type << " for argument #" << number << " of type "
               << arg.getType();
  return llvm::success();
}

/// Checks that a schedule executes each op of its body at most once in each of
/// so many turns, after those whose results it reads.
llvm::LogicalResult verifyOrder(mlir::Operation *schedule, OrderAttr order,
                                uint64_t count, mlir::Block &body);

/// Checks that the axes at which what is side by side switches are axes of the
/// mesh; null if none are given, or if there is no mesh.
llvm::LogicalResult verifySwitchAxes(mlir::Operation *schedule,
                                     mlir::ArrayAttr axes, MeshAttr mesh);

/// Checks that the channels of a message are `stride` apart in a schedule of so
/// many turns, and that there is no stride elsewhere, where `turns` is nullopt.
llvm::LogicalResult verifyStride(mlir::Operation *message, int64_t channel,
                                 mlir::IntegerAttr stride,
                                 std::optional<uint64_t> turns);

/// The types of a function.
struct CalleeTypes {
  llvm::SmallVector<mlir::Type> arguments, results;
};

/// One execution of an op of a schedule.
template <typename TurnCallOpTy> struct Execution {
  mlir::Operation *op;
  uint32_t number; ///< Of the op in the body.
  uint32_t turn;
  bool isBeside; ///< The execution before it.
  /// Null for an op that adds nothing up.
  TurnCallOpTy adder;
  bool isFirst = false, isLast = false; ///< Of those that add to the total.

  /// The function that the adder calls.
  mlir::FlatSymbolRefAttr getCallee() {
    return isFirst  ? adder.getFirstAttr()
           : isLast ? adder.getLastAttr()
                    : adder.getNextAttr();
  }
};

/// Calls `visit(execution)` for what a schedule executes, in order, until one
/// fails. Where only functions are asked for, not turns, what a run does
/// between its second and its last time is what it does the second time.
template <typename TurnCallOpTy, typename ScheduleOpTy, typename Fn>
llvm::LogicalResult walkSchedule(ScheduleOpTy schedule, Fn visit,
                                 bool allTurns = false) {
  struct Count {
    uint64_t size = 0, done = 0;
  };
  struct Entry {
    mlir::Operation *op;
    TurnCallOpTy adder;
    Count *count = nullptr;
  };
  std::map<uint64_t, Count> counts;
  llvm::SmallVector<Entry> entries;
  for (mlir::Operation &op : schedule.getBody().front()) {
    auto adder = llvm::dyn_cast<TurnCallOpTy>(op);
    entries.push_back(
        {&op, adder, adder ? &counts[adder.getTotal()] : nullptr});
  }
  ExecutionOrder order = schedule.getOrder().getOrder();
  for (const ExecutionOrder::Run &run : order.runs)
    for (const ExecutionOrder::Item &item : run.items)
      if (Count *count = entries[item.step].count)
        count->size += run.times;
  for (const ExecutionOrder::Run &run : order.runs)
    for (uint32_t i = 0; i < run.times; ++i) {
      if (i == 2 && !allTurns && run.times > 3) {
        for (const ExecutionOrder::Item &item : run.items)
          if (Count *count = entries[item.step].count)
            count->done += run.times - 3;
        i = run.times - 1;
      }
      for (const ExecutionOrder::Item &item : run.items) {
        const Entry &entry = entries[item.step];
        Execution<TurnCallOpTy> execution = {
            entry.op, item.step, ExecutionOrder::getEntry(item, i).turn,
            item.isBeside, entry.adder};
        if (Count *count = entry.count) {
          execution.isFirst = count->done++ == 0;
          execution.isLast = count->done == count->size;
        }
        if (llvm::failed(visit(execution)))
          return llvm::failure();
      }
    }
  return llvm::success();
}

/// `getCallee(op, name)` gives the types of a function, if there is one;
/// `isSame(type, type)` says whether values of the types can be each other's.
template <typename TurnCallOpTy, typename ScheduleOpTy, typename GetCallee,
          typename IsSame>
class TotalVerifier {
public:
  TotalVerifier(ScheduleOpTy schedule, GetCallee getCallee, IsSame isSame)
      : schedule(schedule), getCallee(getCallee), isSame(isSame) {}

  llvm::LogicalResult verify() {
    if (llvm::failed(walkSchedule<TurnCallOpTy>(
            schedule,
            [&](Execution<TurnCallOpTy> &execution) -> llvm::LogicalResult {
              TurnCallOpTy first = execution.isBeside ? before : TurnCallOpTy();
              before = execution.adder;
              if (!execution.adder)
                return llvm::success();
              if (first && first.getTotal() == execution.adder.getTotal())
                return schedule.emitOpError("adds to total ")
                       << first.getTotal() << " twice side by side";
              return execute(execution);
            })) ||
        llvm::failed(verifyAllCalled()))
      return llvm::failure();
    llvm::SmallVector<mlir::Type> expected;
    for (auto &[number, total] : totals)
      llvm::append_range(expected, total.results);
    if (areSame(schedule->getResultTypes(), expected)) // schedule_c5
      return llvm::success();
    return schedule->emitOpError("has ")
           << schedule->getNumResults() << " results, expected the "
           << expected.size() << " values that are added up, of their types";
  }

private:
  using Types = llvm::ArrayRef<mlir::Type>;

  struct Total {
    std::optional<llvm::SmallVector<mlir::Type>> types; ///< Before the last.
    llvm::SmallVector<mlir::Type> results;
  };

  bool areSame(mlir::TypeRange lhs, mlir::TypeRange rhs) {
    return lhs.size() == rhs.size() && llvm::all_of_zip(lhs, rhs, isSame);
  }

  llvm::LogicalResult verifyAllCalled() {
    for (auto call : schedule.getBody().template getOps<TurnCallOpTy>())
      if (seen[call] != (call.getFirst() ? 1u : 0u) +
                            (call.getNext() ? 2u : 0u) +
                            (call.getLast() ? 4u : 0u)) // turn_call_c2
        return call.emitOpError("has a function that its schedule never calls");
    return llvm::success();
  }

  llvm::LogicalResult execute(Execution<TurnCallOpTy> &execution) {
    auto [op, number, turn, isBeside, call, isFirst, isLast] = execution;
    if (isFirst && isLast)
      return call.emitOpError("is the only one that adds to total ")
             << call.getTotal() << ", in one turn; use a call";
    unsigned bit = isFirst ? 1 : isLast ? 4 : 2;
    unsigned &bits = seen[call];
    if (bits & bit)
      return llvm::success();
    bits |= bit;
    mlir::FlatSymbolRefAttr name = execution.getCallee();
    if (!name) // turn_call_c2
      return call.emitOpError("has no function for what it adds ")
             << (isFirst  ? "first"
                 : isLast ? "last"
                          : "next");
    return verifyCallee(call, name, isFirst, isLast);
  }

  llvm::LogicalResult verifyCallee(TurnCallOpTy call,
                                   mlir::FlatSymbolRefAttr name, bool isFirst,
                                   bool isLast) {
    std::optional<CalleeTypes> callee = getCallee(call, name);
    if (!callee) // turn_call_c1
      return call.emitOpError("calls '")
             << name.getValue() << "', which is no function before it";
    Total &total = totals[call.getTotal()];
    llvm::SmallVector<mlir::Type> arguments(call->getOperandTypes());
    if (!isFirst)
      llvm::append_range(arguments, *total.types);
    Types results = callee->results;
    size_t own = call->getNumResults();
    if (!areSame(callee->arguments, arguments) || results.size() < own ||
        !areSame(results.take_front(own), call->getResultTypes()))
      return call.emitOpError("calls '")
             << name.getValue() << "', whose " << callee->arguments.size()
             << " arguments and " << results.size() << " results are not the "
             << arguments.size()
             << " operands and values that have been added up, and the " << own
             << " results and what is added up";
    llvm::SmallVector<mlir::Type> types(results.drop_front(own));
    if (isLast)
      total.results = std::move(types);
    else if (!total.types)
      total.types = std::move(types);
    else if (!areSame(*total.types, types))
      return call.emitOpError("calls '")
             << name.getValue()
             << "', which adds up values of other types than "
             << "what was called before";
    return llvm::success();
  }

  ScheduleOpTy schedule;
  GetCallee getCallee;
  IsSame isSame;
  std::map<uint64_t, Total> totals; ///< By number.
  TurnCallOpTy before; ///< What is executed before; null if it adds nothing up.
  /// By op: which of first, next and last have been executed.
  llvm::DenseMap<mlir::Operation *, unsigned> seen;
};

template <typename TurnCallOpTy, typename ScheduleOpTy, typename GetCallee,
          typename IsSame>
llvm::LogicalResult verifyTotals(ScheduleOpTy schedule, GetCallee getCallee,
                                 IsSame isSame) {
  return TotalVerifier<TurnCallOpTy, ScheduleOpTy, GetCallee, IsSame>(
             schedule, getCallee, isSame)
      .verify();
}

} // namespace stg::detail

#endif // STG_DIALECT_SYM_IR_SCHEDULES_H
