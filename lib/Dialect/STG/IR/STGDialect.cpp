//===- STGDialect.cpp - The stg dialect -----------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "STGAssembly.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace stg;

#include "stg/Dialect/STG/IR/STGDialect.cpp.inc"
#include "stg/Dialect/STG/IR/STGInterfaces.cpp.inc"

namespace {
/// Every stg op may be inlined: a block of a model is a private function.
struct STGInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void STGDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "stg/Dialect/STG/IR/STGOps.cpp.inc"
      >();
  addInterfaces<STGInlinerInterface>();
}

//===----------------------------------------------------------------------===//
// Discardable attributes
//===----------------------------------------------------------------------===//

static LogicalResult verifyPhase(Operation *op, Attribute value) {
  auto phase = dyn_cast<StringAttr>(value);
  if (phase &&
      llvm::is_contained({"fwd", "recompute", "bwd", "grad_sync", "opt"},
                         phase.getValue()))
    return success();
  return op->emitOpError("has 'stg.phase' ")
         << value
         << ", expected \"fwd\", \"recompute\", \"bwd\", "
            "\"grad_sync\" or \"opt\"";
}

static LogicalResult verifyRecompute(Operation *op, Attribute value) {
  auto policy = dyn_cast<StringAttr>(value);
  if (policy && isa<RepeatOp>(op) &&
      llvm::is_contained({"none", "selective", "full"}, policy.getValue()))
    return success();
  return op->emitOpError("has 'stg.recompute' ")
         << value
         << ", expected \"none\", \"selective\" or \"full\" at a 'stg.repeat'";
}

/// A dictionary of lists of mesh axes.
static LogicalResult verifyFactors(Operation *op, Attribute value) {
  auto factors = dyn_cast<DictionaryAttr>(value);
  auto isAxes = [](NamedAttribute factor) {
    auto axes = dyn_cast<ArrayAttr>(factor.getValue());
    return axes && llvm::all_of(axes, llvm::IsaPred<StringAttr>);
  };
  if (!factors || !llvm::all_of(factors, isAxes))
    return op->emitOpError("has 'stg.factors' ")
           << value << ", expected the mesh axes of each factor, such as "
           << "{d = [\"tp\"]}";
  MeshOp mesh = MeshOp::lookup(op);
  if (!mesh)
    return op->emitOpError(
        "has 'stg.factors', but there is no mesh; declare one with 'stg.mesh'");
  for (NamedAttribute factor : factors)
    if (failed(stg::detail::verifyMeshAxes(op, mesh,
                                           cast<ArrayAttr>(factor.getValue()))))
      return failure();
  return success();
}

static LogicalResult verifyText(Operation *op, NamedAttribute attribute) {
  auto text = dyn_cast<StringAttr>(attribute.getValue());
  if (text && !text.getValue().empty())
    return success();
  return op->emitOpError("has '")
         << attribute.getName().getValue() << "' " << attribute.getValue()
         << ", expected a text that is not empty";
}

LogicalResult STGDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attribute) {
  if (attribute.getName() == kPhaseAttr)
    return verifyPhase(op, attribute.getValue());
  if (attribute.getName() == kRecomputeAttr)
    return verifyRecompute(op, attribute.getValue());
  if (attribute.getName() == kFactorsAttr)
    return verifyFactors(op, attribute.getValue());
  if (attribute.getName() == kNameAttr || attribute.getName() == kRoleAttr)
    return verifyText(op, attribute);
  return success();
}

LogicalResult STGDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                   unsigned,
                                                   NamedAttribute attribute) {
  return attribute.getName() == kNameAttr ? verifyText(op, attribute)
                                          : success();
}

LogicalResult
STGDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                        NamedAttribute attribute) {
  if (attribute.getName() != kGradientAttr)
    return success();
  auto path = dyn_cast<ArrayAttr>(attribute.getValue());
  if (path && !path.empty() && llvm::all_of(path, llvm::IsaPred<StringAttr>))
    return success();
  return op->emitOpError("has 'stg.gradient' ")
         << attribute.getValue()
         << ", expected the repeats around a parameter and its name, such as "
         << "[\"layers\", \"q_proj\"]";
}

StringRef stg::getPhase(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto phase = op->getAttrOfType<StringAttr>(STGDialect::kPhaseAttr))
      return phase.getValue();
  return "fwd";
}

FloatType stg::getFloatType(MLIRContext *context, StringRef name) {
  return llvm::StringSwitch<FloatType>(name)
      .Case("bf16", BFloat16Type::get(context))
      .Case("f16", Float16Type::get(context))
      .Case("f32", Float32Type::get(context))
      .Case("f64", Float64Type::get(context))
      .Case("f8E4M3FN", Float8E4M3FNType::get(context))
      .Case("f8E5M2", Float8E5M2Type::get(context))
      .Default(FloatType());
}

func::FuncOp stg::getProgram(ModuleOp module) {
  func::FuncOp program;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isPrivate() || function.isExternal())
      continue;
    if (program) {
      InFlightDiagnostic diag = function.emitOpError(
          "is a second public function; exactly one "
          "function is the program, make the others private");
      diag.attachNote(program.getLoc()) << "the first is here";
      return {};
    }
    program = function;
  }
  if (!program)
    module.emitError("expects a public function: the program to compile");
  return program;
}
