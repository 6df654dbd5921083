//===- Schedules.cpp - Schedules of both dialects
//--------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/Sym/IR/Schedules.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace stg;

namespace {
/// Checks an order of the ops of a block.
class OrderVerifier {
public:
  OrderVerifier(Operation *schedule, uint64_t count, Block &body);
  LogicalResult verify(const ExecutionOrder &order);

private:
  LogicalResult execute(OrderEntry entry);

  Operation *schedule;
  uint64_t count;
  SmallVector<Operation *> ops;
  SmallVector<SmallVector<uint32_t, 4>> sources; ///< By op.
  std::vector<char> isDone;                      ///< By op and turn.
};
} // namespace

OrderVerifier::OrderVerifier(Operation *schedule, uint64_t count, Block &body)
    : schedule(schedule), count(count) {
  DenseMap<Operation *, uint32_t> numbers;
  for (Operation &op : body) {
    SmallVector<uint32_t, 4> &own = sources.emplace_back();
    for (Value operand : op.getOperands())
      if (auto it = numbers.find(operand.getDefiningOp()); it != numbers.end())
        own.push_back(it->second);
    numbers[&op] = ops.size();
    ops.push_back(&op);
  }
}

LogicalResult OrderVerifier::execute(OrderEntry entry) {
  if (entry.step >= ops.size())
    return schedule->emitOpError("executes op #")
           << entry.step << " of its body, which has " << ops.size();
  if (entry.turn >= count)
    return schedule->emitOpError("has turn ")
           << entry.turn << " in its order, but " << count << " turns";
  for (uint32_t source : sources[entry.step])
    if (!isDone[source * count + entry.turn])
      return ops[entry.step]->emitOpError("is executed in turn ")
             << entry.turn << " before op #" << source
             << " of the schedule, whose result it reads";
  char &isOwnDone = isDone[entry.step * count + entry.turn];
  if (isOwnDone)
    return ops[entry.step]->emitOpError("is executed more than once in turn ")
           << entry.turn;
  isOwnDone = true;
  return success();
}

LogicalResult OrderVerifier::verify(const ExecutionOrder &order) {
  uint64_t most = ops.size() * count;
  if (order.size() > most)
    return schedule->emitOpError("executes ")
           << order.size() << " ops, but has " << ops.size() << " in each of "
           << count << " turns";
  isDone.resize(most);
  for (const ExecutionOrder::Run &run : order.runs)
    for (uint32_t i = 0; i < run.times; ++i)
      for (const ExecutionOrder::Item &item : run.items)
        if (failed(execute(ExecutionOrder::getEntry(item, i))))
          return failure();
  return success();
}

LogicalResult stg::detail::verifyOrder(Operation *schedule, OrderAttr order,
                                       uint64_t count, Block &body) {
  return OrderVerifier(schedule, count, body).verify(order.getOrder());
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
