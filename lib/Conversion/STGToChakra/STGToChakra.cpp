//===- STGToChakra.cpp - From local programs to graphs --------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphBuilder.h"

namespace stg {
#define GEN_PASS_DEF_CONVERTSTGTOCHAKRA
#include "stg/Conversion/STGToChakra/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;
using chakra::Category;

namespace {
struct ConvertSTGToChakra
    : stg::impl::ConvertSTGToChakraBase<ConvertSTGToChakra> {
  using ConvertSTGToChakraBase::ConvertSTGToChakraBase;
  void runOnOperation() override;
};
} // namespace

LogicalResult GraphBuilder::convertOp(Operation *op, const StateEnv &env) {
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
    return convertLoop(loop, env);
  if (auto param = dyn_cast<ParamOp>(op)) {
    map[param] = {env.lookup(param.getParamNameAttr())};
    return success();
  }
  if (isa<SplatOp>(op)) {
    map[op->getResult(0)] = {};
    return success();
  }
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    return convertCollective(collective);
  if (auto pack = dyn_cast<PackOp>(op)) {
    map[pack] = {toOneBuffer(op, pack.getInput(), Category::Temporary)};
    return success();
  }
  if (auto call = dyn_cast<func::CallOp>(op))
    return convertCall(call, env);
  if (auto schedule = dyn_cast<ScheduleOp>(op))
    return convertSchedule(schedule, env);
  if (auto send = dyn_cast<SendOp>(op))
    return convertSend(send);
  if (auto recv = dyn_cast<RecvOp>(op))
    return convertRecv(recv);
  if (auto exchange = dyn_cast<ExchangeOp>(op))
    return convertExchange(exchange);
  if (auto cost = dyn_cast<CostOpInterface>(op))
    return cost.isView() ? convertView(op) : convertCompute(cost, env);
  if (op->hasTrait<OpTrait::IsTerminator>())
    return success();
  return op->emitOpError("has no cost; implement CostOpInterface");
}

LogicalResult GraphBuilder::convertBlock(Block &block, const StateEnv &env) {
  for (Operation &op : block)
    if (failed(convertOp(&op, env)))
      return failure();
  return success();
}

/// The program must be that of one device.
static LogicalResult checkLocal(func::FuncOp function) {
  WalkResult result = function.walk([&](Operation *op) {
    for (Value value :
         llvm::concat<Value>(SmallVector<Value>(op->getResults()),
                             SmallVector<Value>(op->getOperands()))) {
      auto type = dyn_cast<SymTensorType>(value.getType());
      if (type && !type.getSharding())
        continue;
      if (type)
        op->emitOpError("has a sharded value of type ")
            << type << "; run --stg-insert-collectives first";
      else
        op->emitOpError("has a value of type ")
            << value.getType() << ", expected !stg.tensor";
      return WalkResult::interrupt();
    }
    if (isa<func::CallOp>(op) &&
        !isa<func::FuncOp, ScheduleOp>(op->getParentOp())) {
      op->emitOpError("is a call inside of a repeat; run --inline first");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult GraphBuilder::run() {
  if (failed(checkLocal(function)))
    return failure();
  Block &body = function.getBody().front();
  StateScope states;
  if (failed(collectStates(body, states)))
    return failure();
  builder.setInsertionPoint(function);
  auto coordinates =
      function->getAttrOfType<CoordinatesAttr>(STGDialect::kCoordinatesAttr);
  auto graph = chakra::GraphOp::create(
      builder, function.getLoc(), function.getSymName(), mesh,
      coordinates ? coordinates.getDictionary() : DictionaryAttr());
  if (ProgramAttr program = getProgramAttr(function))
    graph.setProgramAttr(program.getProgram());
  builder.setInsertionPointToStart(&graph.getBody().front());
  for (auto [number, arg] : llvm::enumerate(function.getArguments())) {
    auto type = dyn_cast<SymTensorType>(arg.getType());
    if (!type)
      return function.emitOpError("has an argument of type ")
             << arg.getType() << ", expected !stg.tensor";
    if (arg.use_empty())
      continue;
    auto own =
        function.getArgAttrOfType<StringAttr>(number, STGDialect::kNameAttr);
    std::string name = own ? own.str() : "arg" + std::to_string(number);
    map[arg] = {chakra::StateOp::create(
        builder, arg.getLoc(), getTensorType(type, Category::Input), name)};
  }
  StateEnv env = declareStates(states);
  return convertBlock(body, env);
}

/// One program for all ranks, or one for each coordinate; those of several
/// programs say which they are of.
static SmallVector<func::FuncOp> collectPrograms(ModuleOp module) {
  SmallVector<func::FuncOp> programs;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isPrivate() && !function.isExternal() &&
        function->hasAttr(STGDialect::kCoordinatesAttr))
      programs.push_back(function);
  bool haveMeshes = !programs.empty() && !getProgramAttr(programs.front());
  return haveMeshes ? programs : getPrograms(module);
}

void ConvertSTGToChakra::runOnOperation() {
  ModuleOp module = getOperation();
  SmallVector<func::FuncOp> programs = collectPrograms(module);
  if (programs.empty())
    return signalPassFailure();
  SharedTables tables(module);
  for (func::FuncOp function : programs) {
    MeshOp mesh = MeshOp::lookup(function);
    MeshAttr meshAttr =
        mesh ? mesh.getMesh() : MeshAttr::get(&getContext(), {}, {});
    if (failed(GraphBuilder(function, meshAttr, tables).run()))
      return signalPassFailure();
  }
  // The graphs have the functions' names.
  for (auto other : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    other.erase();
  for (auto mesh : llvm::make_early_inc_range(module.getOps<MeshOp>()))
    mesh.erase();
}
