//===- CutRepeats.cpp - Parts of repeats ----------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/Transforms/CutRepeats.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "stg/Dialect/STG/IR/STG.h"
#include <map>
#include <set>

using namespace mlir;
using namespace stg;

namespace {
/// Iterations, without the one at `end`, by the numbers in names.
struct Iterations {
  int64_t begin = 0, end = 0;
};
} // namespace

/// Nothing where it is no number.
static Iterations findIterations(RepeatOp repeat) {
  SymExpr first = repeat.getFirst().value_or(SymExpr());
  int64_t begin = first ? first.getInt64().value_or(0) : 0;
  return {begin, begin + repeat.getCount().getInt64().value_or(0)};
}

/// Makes parts of it between these iterations, one behind the other.
static void cutAt(RepeatOp repeat, const std::set<int64_t> &places) {
  Iterations own = findIterations(repeat);
  SmallVector<int64_t> begins{own.begin};
  for (int64_t place : places)
    if (place > own.begin && place < own.end)
      begins.push_back(place);
  bool isPlain = repeat.getStacks().empty() && !repeat.getReverse() &&
                 repeat.getNumResults() == repeat.getNumCarried();
  if (begins.size() == 1 || !isPlain)
    return;
  OpBuilder builder(repeat);
  auto number = [&](int64_t value) {
    return SymExpr::get(builder.getContext(), value);
  };
  SmallVector<Value> carried(repeat.getCarriedInits());
  for (auto [i, begin] : llvm::enumerate(begins)) {
    int64_t end = i + 1 < begins.size() ? begins[i + 1] : own.end;
    auto part = cast<RepeatOp>(builder.clone(*repeat));
    part->setOperands(carried);
    part.setRange(number(begin), number(end - begin));
    carried.assign(part->result_begin(), part->result_end());
  }
  repeat->replaceAllUsesWith(carried);
  repeat->erase();
}

/// Those that are in no other one.
static SmallVector<RepeatOp> getRepeats(ModuleOp module) {
  SmallVector<RepeatOp> repeats;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      llvm::append_range(repeats, function.getBody().getOps<RepeatOp>());
  return repeats;
}

void stg::cutRepeatsLike(ModuleOp module, ModuleOp other) {
  std::map<StringRef, std::set<int64_t>> places;
  for (RepeatOp repeat : getRepeats(other)) {
    Iterations theirs = findIterations(repeat);
    places[repeat.getRepeatName()].insert({theirs.begin, theirs.end});
  }
  for (RepeatOp repeat : getRepeats(module))
    cutAt(repeat, places[repeat.getRepeatName()]);
}
