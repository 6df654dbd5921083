//===- Schedules.cpp - Schedules of both dialects -------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/Sym/IR/Schedules.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace stg;

namespace {
/// Checks an order of the ops of a block.
class OrderVerifier {
public:
  OrderVerifier(Operation *schedule, const ExecutionOrder &order,
                uint64_t count, Block &body);
  LogicalResult verify();

private:
  LogicalResult verifyNumbers();
  LogicalResult verifyPair(const ExecutionOrder::Item &first,
                           const ExecutionOrder::Item &second, uint32_t times);
  LogicalResult verifyReads(const TurnRanges &ranges, uint32_t op,
                            uint32_t source);

  Operation *schedule;
  const ExecutionOrder &order;
  uint64_t count;
  SmallVector<Operation *> ops;
  SmallVector<SmallVector<uint32_t, 4>> sources; ///< By op.
};
} // namespace

OrderVerifier::OrderVerifier(Operation *schedule, const ExecutionOrder &order,
                             uint64_t count, Block &body)
    : schedule(schedule), order(order), count(count) {
  DenseMap<Operation *, uint32_t> numbers;
  for (Operation &op : body) {
    SmallVector<uint32_t, 4> &own = sources.emplace_back();
    for (Value operand : op.getOperands())
      if (auto it = numbers.find(operand.getDefiningOp());
          it != numbers.end() && !llvm::is_contained(own, it->second))
        own.push_back(it->second);
    numbers[&op] = ops.size();
    ops.push_back(&op);
  }
}

/// The turn in which both are executed at once; none if there is none.
static std::optional<uint32_t> findCommonTurn(const ExecutionOrder::Item &lhs,
                                              const ExecutionOrder::Item &rhs,
                                              uint32_t times) {
  int64_t apart = int64_t(rhs.turn) - lhs.turn;
  int64_t nearer = int64_t(lhs.stride) - rhs.stride; // Each time.
  if (nearer == 0 ? apart != 0 : apart % nearer != 0)
    return std::nullopt;
  int64_t time = nearer == 0 ? 0 : apart / nearer;
  if (time < 0 || time >= times)
    return std::nullopt;
  return ExecutionOrder::getEntry(lhs, static_cast<uint32_t>(time)).turn;
}

/// Nothing of a turn waits for another turn, so that both can be under way.
LogicalResult OrderVerifier::verifyPair(const ExecutionOrder::Item &first,
                                        const ExecutionOrder::Item &second,
                                        uint32_t times) {
  for (uint32_t step : {first.step, second.step})
    if (!isa<CallOpInterface>(ops[step]))
      return ops[step]->emitOpError(
          "is executed side by side with another op; only calls can be");
  std::optional<uint32_t> turn = findCommonTurn(first, second, times);
  if (turn)
    return schedule->emitOpError("executes ops #")
           << first.step << " and #" << second.step
           << " of its body side by side in turn " << *turn
           << ", expected two turns";
  return success();
}

LogicalResult OrderVerifier::verifyNumbers() {
  for (const ExecutionOrder::Run &run : order.runs)
    for (const auto &[number, item] : llvm::enumerate(run.items)) {
      if (item.step >= ops.size())
        return schedule->emitOpError("executes op #")
               << item.step << " of its body, which has " << ops.size();
      uint32_t last = ExecutionOrder::getEntry(item, run.times - 1).turn;
      if (std::max(item.turn, last) >= count)
        return schedule->emitOpError("has turn ")
               << std::max(item.turn, last) << " in its order, but " << count
               << " turns";
      if (item.isBeside &&
          failed(verifyPair(run.items[number - 1], item, run.times)))
        return failure();
    }
  if (order.size() > ops.size() * count)
    return schedule->emitOpError("executes ")
           << order.size() << " ops, but has " << ops.size() << " in each of "
           << count << " turns";
  return success();
}

/// Places move on evenly, so that the ends of a range are enough.
LogicalResult OrderVerifier::verifyReads(const TurnRanges &ranges, uint32_t op,
                                         uint32_t source) {
  for (size_t range = 0; range < ranges.size(); ++range) {
    TurnRanges::Places own = ranges.get(op, range);
    TurnRanges::Places before = ranges.get(source, range);
    if (!own.areThere())
      continue;
    bool isFirstGood = before.areThere() && before.first < own.first;
    if (isFirstGood && before.last < own.last)
      continue;
    return ops[op]->emitOpError("is executed in turn ")
           << (isFirstGood ? ranges.getLastTurn(range)
                           : ranges.getFirstTurn(range))
           << " before op #" << source
           << " of the schedule, whose result it reads";
  }
  return success();
}

LogicalResult OrderVerifier::verify() {
  if (failed(verifyNumbers()))
    return failure();
  TurnRanges ranges(order, ops.size(), count);
  if (std::optional<OrderEntry> repeated = ranges.getRepeated())
    return ops[repeated->step]->emitOpError(
               "is executed more than once in turn ")
           << repeated->turn;
  for (auto [op, own] : llvm::enumerate(sources))
    for (uint32_t source : own)
      if (failed(verifyReads(ranges, op, source)))
        return failure();
  return success();
}

LogicalResult stg::detail::verifyOrder(Operation *schedule, OrderAttr order,
                                       uint64_t count, Block &body) {
  return OrderVerifier(schedule, order.getOrder(), count, body).verify();
}

LogicalResult stg::detail::verifySwitchAxes(Operation *schedule, ArrayAttr axes,
                                            MeshAttr mesh) {
  if (!axes)
    return success();
  if (axes.empty())
    return schedule->emitOpError("switches at no axes; leave them out to "
                                 "switch behind all collectives");
  if (!mesh)
    return schedule->emitOpError("switches at axes, but there is no mesh");
  llvm::SmallDenseSet<Attribute, 4> seen;
  for (auto axis : axes.getAsRange<StringAttr>()) {
    if (!mesh.getAxisIndex(axis))
      return schedule->emitOpError("switches at axis ")
             << axis << ", which the mesh does not have";
    if (!seen.insert(axis).second)
      return schedule->emitOpError("switches at axis ") << axis << " twice";
  }
  return success();
}

LogicalResult stg::detail::verifyStride(Operation *message, int64_t channel,
                                        IntegerAttr stride,
                                        std::optional<uint64_t> turns) {
  if (static_cast<bool>(stride) != turns.has_value())
    return message->emitOpError(
        "expects channels that are so far apart in a schedule, and only there");
  if (!stride)
    return success();
  if (stride.getInt() < 1)
    return message->emitOpError("has channels that are ")
           << stride.getInt() << " apart, expected at least 1";
  uint64_t last =
      llvm::SaturatingMultiplyAdd<uint64_t>(stride.getInt(), *turns, channel);
  if (last > INT64_MAX)
    return message->emitOpError("has channels that are ")
           << stride.getInt() << " apart in " << *turns
           << " turns, expected numbers of 63 bits";
  return success();
}
