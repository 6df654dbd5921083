//===- Channels.h - The numbers of messages between neighbours --*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_TRANSFORMS_CHANNELS_H
#define STG_LIB_DIALECT_STG_TRANSFORMS_CHANNELS_H

#include "stg/Dialect/STG/IR/STG.h"

namespace stg {

/// Gives out the channels of messages, which are numbered along each axis from
/// 0 on, so that no two passes use the same ones.
class Channels {
public:
  /// Those of the messages in the module are taken.
  explicit Channels(mlir::ModuleOp module) {
    module.walk([&](MessageOpInterface message) {
      int64_t &first = next[message.getAxisAttr()];
      first = std::max(first, getLast(message) + 1);
    });
  }

  /// The first of `count` channels along an axis that nobody else uses.
  int64_t take(mlir::StringAttr axis, int64_t count) {
    int64_t &first = next[axis];
    return std::exchange(first, first + count);
  }

private:
  /// The last of those of a message, which in a schedule has one in each turn.
  static int64_t getLast(MessageOpInterface message) {
    auto channel = static_cast<int64_t>(message.getChannel());
    mlir::IntegerAttr stride = message.getStrideAttr();
    auto schedule = llvm::dyn_cast<ScheduleOp>(message->getParentOp());
    if (!stride || !schedule)
      return channel;
    return channel + stride.getInt() * (int64_t(schedule.getCount()) - 1);
  }

  llvm::DenseMap<mlir::StringAttr, int64_t> next;
};

} // namespace stg

#endif // STG_LIB_DIALECT_STG_TRANSFORMS_CHANNELS_H
