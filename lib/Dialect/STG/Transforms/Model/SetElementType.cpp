//===- SetElementType.cpp - Replaces an element type ----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/AttrTypeSubElements.h"
#include "stg/Dialect/STG/Transforms/Passes.h"

namespace stg {
#define GEN_PASS_DEF_SETELEMENTTYPE
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct SetElementType : stg::impl::SetElementTypeBase<SetElementType> {
  using SetElementTypeBase::SetElementTypeBase;

  void runOnOperation() override {
    Type toType = parse(to, "to");
    Type fromType = from.empty() ? getParameterType() : parse(from, "from");
    if (!fromType || !toType)
      return signalPassFailure();
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](SymTensorType tensor) -> std::optional<Type> {
      if (tensor.getElementType() != fromType)
        return std::nullopt;
      return tensor.withElementType(toType);
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
  }

  /// The element type of all parameters, or null after an error.
  Type getParameterType() {
    ParamOp first;
    WalkResult result = getOperation().walk([&](ParamOp param) {
      if (!first)
        first = param;
      if (first.getType().getElementType() == param.getType().getElementType())
        return WalkResult::advance();
      InFlightDiagnostic diag =
          param.emitOpError("has element type ")
          << param.getType().getElementType()
          << "; say which one to replace with the option 'from'";
      diag.attachNote(first.getLoc())
          << "here it is " << first.getType().getElementType();
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return {};
    if (!first) {
      getOperation().emitError("has no parameter whose element type could be "
                               "replaced; give the option 'from'");
      return {};
    }
    return first.getType().getElementType();
  }

  /// A float type of whole bytes, or null after an error.
  Type parse(StringRef text, StringRef option) {
    FloatType type = getFloatType(&getContext(), text);
    if (!type) {
      getOperation().emitError("option '")
          << option << "' has the value '" << text
          << "', expected a float type such as bf16, f16 or f32";
      return {};
    }
    return type;
  }
};
} // namespace
