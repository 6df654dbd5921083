//===- NameOps.cpp - Stable names for ops ---------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Node names tell which layer, op and pass a node belongs to. They start here:
// an op is known by its parameter or by its mnemonic, unique in its scope (the
// function or the body of a repeat).
//
//===----------------------------------------------------------------------===//

#include "Model/Blocks.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/StringMap.h"

namespace stg {
#define GEN_PASS_DEF_NAMEOPS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

ParamOp stg::getNamingParameter(Operation *op) {
  ParamOp param;
  for (Value operand : op->getOperands())
    if (auto read = operand.getDefiningOp<ParamOp>()) {
      if (param)
        return {};
      param = read;
    }
  return param;
}

/// The name of an op that has none: that of the parameter that it is called by,
/// else its mnemonic.
static StringRef getDefaultName(Operation *op) {
  ParamOp param = getNamingParameter(op);
  return param ? param.getParamName() : op->getName().stripDialect();
}

namespace {
struct NameOps : stg::impl::NameOpsBase<NameOps> {
  using NameOpsBase::NameOpsBase;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    if (failed(nameBlock(getOperation().getBody().front())))
      signalPassFailure();
  }

  LogicalResult nameBlock(Block &block);
};
} // namespace

/// One parameter has one type.
static LogicalResult checkParam(ParamOp param,
                                llvm::StringMap<ParamOp> &params) {
  auto [it, isNew] = params.try_emplace(param.getParamName(), param);
  if (isNew || it->second.getType() == param.getType())
    return success();
  InFlightDiagnostic diag = param.emitOpError("reads parameter '")
                            << param.getParamName() << "' with type "
                            << param.getType();
  diag.attachNote(it->second.getLoc())
      << "here it has type " << it->second.getType();
  return diag;
}

LogicalResult NameOps::nameBlock(Block &block) {
  llvm::StringMap<unsigned> uses;
  llvm::StringMap<ParamOp> params;
  for (Operation &op : block) {
    if (auto scan = dyn_cast<ScanOpInterface>(op)) {
      StringRef name = scan.getScopeName();
      if (uses[name]++)
        return scan->emitOpError("is a second repeat named '")
               << name
               << "' in its scope; its parameters need a scope of their own";
      if (failed(nameBlock(scan.getLoopBlock())))
        return failure();
      continue;
    }
    if (auto param = dyn_cast<ParamOp>(op)) {
      if (failed(checkParam(param, params)))
        return failure();
      continue;
    }
    if (!isa<CostOpInterface>(op))
      continue;
    StringAttr own = getOrigin(&op).name;
    std::string base = (own ? own.getValue() : getDefaultName(&op)).str();
    std::string name = base;
    // What this makes may be the name of another op: `x`, `x`, `x.1`.
    while (unsigned number = uses[name]++)
      name = base + "." + std::to_string(number);
    setName(&op, StringAttr::get(&getContext(), name));
  }
  return success();
}
