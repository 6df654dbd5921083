//===- SetParameterType.cpp - Element type of stored parameters -----------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/Transforms/Passes.h"

namespace stg {
#define GEN_PASS_DEF_SETPARAMETERTYPE
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct SetParameterType : stg::impl::SetParameterTypeBase<SetParameterType> {
  using SetParameterTypeBase::SetParameterTypeBase;
  void runOnOperation() override;
};
} // namespace

/// The cast that the readers of a parameter share, right before the first one:
/// in its pipeline stage.
static Value createCast(ParamOp param, Type type, Operation *first) {
  OpBuilder builder(first);
  auto cast = CastOp::create(builder, param.getLoc(),
                             param.getType().withElementType(type), param);
  if (StringAttr name = getOrigin(first).name)
    setName(cast, name);
  setRole(cast, Role::CastParameter);
  return cast;
}

static void store(ParamOp param, FloatType type) {
  Type readType = param.getType().getElementType();
  if (readType == type)
    return;
  param.getResult().setType(param.getType().withElementType(type));
  Operation *first = nullptr;
  for (Operation *user : param->getUsers()) {
    Operation *reader = param->getBlock()->findAncestorOpInBlock(*user);
    if (!first || reader->isBeforeInBlock(first))
      first = reader;
  }
  if (!first)
    return;
  Value cast = createCast(param, readType, first);
  param.getResult().replaceAllUsesExcept(cast, cast.getDefiningOp());
}

void SetParameterType::runOnOperation() {
  FloatType type = getFloatType(&getContext(), to);
  if (!type) {
    getOperation().emitError("option 'to' has the value '")
        << to << "', expected a float type such as bf16, f16 or f32";
    return signalPassFailure();
  }
  SmallVector<ParamOp> params;
  getOperation().walk([&](ParamOp param) { params.push_back(param); });
  for (ParamOp param : params)
    store(param, type);
}
