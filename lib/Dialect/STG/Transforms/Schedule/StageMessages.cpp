//===- StageMessages.cpp - What stages send to each other -----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageMessages.h"
#include "Local/LocalLayouts.h"
#include "stg/Dialect/STG/IR/STG.h"

using namespace mlir;
using namespace stg;

namespace {
/// Two neighbouring stages on different devices.
class StagePair {
public:
  StagePair(Task &own, Task &next, unsigned stage)
      : own(own), next(next), stage(stage) {}

  LogicalResult sendSummands();
  void sendSlices(MeshAttr mesh);

private:
  LogicalResult sendSummandsOf(unsigned number);
  void sendSlicesOf(unsigned number, ArrayAttr axes, int64_t size,
                    MeshAttr mesh);
  unsigned getArg(unsigned number);
  void setTypes();

  Operation *getEnd() { return own.function.getBody().front().getTerminator(); }

  Task &own, &next;
  unsigned stage; ///< The one that sends.
};
} // namespace

/// The argument of the next stage that is what is sent as number `number`.
unsigned StagePair::getArg(unsigned number) {
  const auto *arg = llvm::find_if(next.args, [&](const Task::Arg &other) {
    return other.source == Task::Received && other.number == number;
  });
  assert(arg != next.args.end() && "what is sent is received");
  return arg - next.args.begin();
}

/// Arguments and results have changed.
void StagePair::setTypes() {
  for (Task *task : {&own, &next}) {
    Block &body = task->function.getBody().front();
    task->function.setType(
        FunctionType::get(task->function.getContext(), body.getArgumentTypes(),
                          body.getTerminator()->getOperandTypes()));
  }
  auto kind = own.function->getAttrOfType<TaskAttr>(STGDialect::kTaskAttr);
  own.function->setAttr(STGDialect::kTaskAttr,
                        TaskAttr::get(kind.getContext(), kind.getKind(),
                                      own.sends.size(), kind.getSaves(),
                                      kind.getVariant()));
}

//===----------------------------------------------------------------------===//
// Summands
//===----------------------------------------------------------------------===//

/// The addition whose sum a repeat carries out, if nothing else reads it.
static AddOp getLastAddition(OpResult result) {
  auto repeat = dyn_cast<RepeatOp>(result.getOwner());
  unsigned number = result.getResultNumber();
  if (!repeat || number >= repeat.getNumCarried() || !result.hasOneUse())
    return {};
  auto add = repeat.getYield().getOperand(number).getDefiningOp<AddOp>();
  bool isLast = add && add->getBlock() == &repeat.getBody().front() &&
                add->hasOneUse() && add->getNumOperands() == 2 &&
                llvm::all_of(add->getOperandTypes(), [&](Type type) {
                  return type == add->getResult(0).getType();
                });
  return isLast ? add : AddOp();
}

/// The last iteration of a repeat, as a repeat that hands out both operands of
/// `add` in place of its sum: the second one is what it carries last.
static RepeatOp peelLast(OpBuilder &builder, RepeatOp repeat, AddOp add) {
  auto number = [&](int64_t value) {
    return SymExpr::get(builder.getContext(), value);
  };
  int64_t count = *repeat.getCount().getInt64();
  SymExpr first = repeat.getFirst().value_or(number(0));
  SmallVector<Value> inits(repeat.getCarriedInits());
  if (count > 1) {
    auto rest = cast<RepeatOp>(builder.clone(*repeat));
    rest.setRange(first, number(count - 1));
    inits.assign(rest.result_begin(), rest.result_end());
  }
  unsigned place =
      llvm::find(repeat.getYield().getOperands(), add->getResult(0)) -
      repeat.getYield().getOperands().begin();
  inits.push_back(inits[place]);
  auto last = RepeatOp::create(builder, repeat.getLoc(), repeat.getRepeatName(),
                               number(1), /*reverse=*/false, inits,
                               /*stacks=*/ValueRange(),
                               /*stackedTypes=*/TypeRange());
  copyOrigin(repeat, last);
  last.setRange(first + number(count - 1), number(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&last.getBody().front());
  IRMapping map;
  for (auto [from, to] : llvm::zip(repeat.getCarriedArgs(),
                                   last.getBody().front().getArguments()))
    map.map(from, to);
  for (Operation &op : repeat.getBody().front().without_terminator())
    if (&op != add)
      builder.clone(op, map);
  SmallVector<Value> yielded;
  for (Value value : repeat.getYield().getOperands())
    yielded.push_back(map.lookupOrDefault(
        value == add->getResult(0) ? add->getOperand(0) : value));
  yielded.push_back(map.lookupOrDefault(add->getOperand(1)));
  YieldOp::create(builder, repeat.getLoc(), yielded);
  return last;
}

LogicalResult StagePair::sendSummandsOf(unsigned number) {
  auto result = dyn_cast<OpResult>(getEnd()->getOperand(number));
  AddOp add = result ? getLastAddition(result) : AddOp();
  if (!add)
    return success();
  auto repeat = cast<RepeatOp>(result.getOwner());
  if (!repeat.getStacks().empty() ||
      repeat.getNumResults() != repeat.getNumCarried())
    return repeat.emitOpError("stacks what its last iteration makes, so that "
                              "its summands cannot be sent by themselves");
  OpBuilder builder(repeat);
  RepeatOp last = peelLast(builder, repeat, add);
  Value summand = last.getResults().back();
  for (auto [old, made] : llvm::zip(repeat.getResults(), last.getResults()))
    old.replaceAllUsesWith(made);
  // The next stage adds.
  unsigned arg = getArg(number);
  Block &body = next.function.getBody().front();
  Value here = body.getArgument(arg);
  unsigned place = next.function.getNumArguments();
  (void)next.function.insertArgument(
      place, here.getType(), next.function.getArgAttrDict(arg), here.getLoc());
  Value more = body.getArgument(place);
  builder.setInsertionPointToStart(&body);
  IRMapping map;
  map.map(add->getOperand(0), here);
  map.map(add->getOperand(1), more);
  Operation *made = builder.clone(*add, map);
  if (StringAttr name = getOrigin(add).name)
    setName(made, builder.getStringAttr("stage" + Twine(stage + 1) + "." +
                                        name.getValue()));
  here.replaceAllUsesExcept(made->getResult(0), made);
  // What is sent is known by values of the program; this one stands for itself.
  next.args.push_back({Task::Received, stage + 1, summand,
                       static_cast<unsigned>(own.sends.size())});
  getEnd()->insertOperands(own.sends.size(), summand);
  own.sends.insert(summand);
  repeat.erase();
  setTypes();
  return success();
}

LogicalResult StagePair::sendSummands() {
  for (unsigned number = 0, e = own.sends.size(); number < e; ++number)
    if (failed(sendSummandsOf(number)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

void StagePair::sendSlicesOf(unsigned number, ArrayAttr axes, int64_t size,
                             MeshAttr mesh) {
  Operation *end = getEnd();
  Value value = end->getOperand(number);
  auto type = cast<SymTensorType>(value.getType());
  SmallVector<DimAttr> dims(type.getDims());
  std::optional<int64_t> extent =
      dims.empty() ? std::nullopt : dims.back().getExtent().getInt64();
  if (!extent || *extent % size != 0)
    return;
  dims.back() =
      dims.back().withExtent(SymExpr::get(type.getContext(), *extent / size));
  SymTensorType slice = type.withDims(dims);
  OpBuilder builder(end);
  auto cut = LocalSliceOp::create(builder, value.getLoc(), slice, value,
                                  dims.size() - 1, axes);
  std::string name =
      "stage" + std::to_string(stage + 1) + ".message" + std::to_string(number);
  setName(cut, builder.getStringAttr(name));
  setPhase(cut, Phase::Forward);
  end->setOperand(number, cut);
  Block &body = next.function.getBody().front();
  BlockArgument arg = body.getArgument(getArg(number));
  builder.setInsertionPointToStart(&body);
  auto whole = AllGatherOp::create(builder, arg.getLoc(), type, arg,
                                   dims.size() - 1, axes,
                                   /*payload=*/SymExpr(),
                                   /*padded=*/SymExpr());
  setName(whole, builder.getStringAttr(name));
  setPhase(whole, Phase::Forward);
  arg.replaceAllUsesExcept(whole.getResult(), whole);
  arg.setType(slice);
  setArgLayouts(next.function, arg.getArgNumber(),
                LocalLayouts(own.function, mesh).getAttr(cut));
}

void StagePair::sendSlices(MeshAttr mesh) {
  for (unsigned number = 0, e = own.sends.size(); number < e; ++number) {
    LocalLayouts layouts(own.function, mesh);
    Value value = getEnd()->getOperand(number);
    SmallVector<Attribute> axes;
    int64_t size = 1;
    for (AxisRole role : {AxisRole::Tensor, AxisRole::Replica})
      for (StringAttr axis : mesh.getAxes(role)) {
        std::optional<int64_t> ranks = mesh.getAxisSize(axis).getInt64();
        bool isWhole = layouts.get(value, axis).kind == AxisState::Whole;
        if (!ranks || *ranks == 1 || !isWhole)
          continue;
        axes.push_back(axis);
        size *= *ranks;
      }
    if (size > 1)
      sendSlicesOf(number, ArrayAttr::get(mesh.getContext(), axes), size, mesh);
  }
  setTypes();
}

//===----------------------------------------------------------------------===//
// All stages
//===----------------------------------------------------------------------===//

/// Neighbouring stages on different devices, in order, until one fails.
static LogicalResult
forEachPair(StageSplitter &splitter, ArrayRef<unsigned> deviceOf,
            function_ref<LogicalResult(StagePair pair)> visit) {
  for (unsigned stage = 0; stage + 1 < deviceOf.size(); ++stage)
    if (deviceOf[stage] != deviceOf[stage + 1] &&
        failed(visit({splitter.getForward(stage),
                      splitter.getForward(stage + 1), stage})))
      return failure();
  return success();
}

LogicalResult stg::sendSummands(StageSplitter &splitter,
                                ArrayRef<unsigned> deviceOf) {
  return forEachPair(splitter, deviceOf,
                     [](StagePair pair) { return pair.sendSummands(); });
}

void stg::sendSlices(StageSplitter &splitter, ArrayRef<unsigned> deviceOf,
                     MeshAttr mesh) {
  (void)forEachPair(splitter, deviceOf, [&](StagePair pair) {
    pair.sendSlices(mesh);
    return success();
  });
}
