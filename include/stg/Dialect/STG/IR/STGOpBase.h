//===- STGOpBase.h - What ops over tensors share ----------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All ops over tensors read and print alike:
//
//   stg.name LEADING %operands {attributes} <origin>
//     : operand types [-> result types]
//
// Result types are printed only where they do not follow from the operands. The
// functions here are called by the code that TableGen makes of STGOpBase.td.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_STGOPBASE_H
#define STG_DIALECT_STG_IR_STGOPBASE_H

#include "stg/Dialect/STG/IR/STG.h"

namespace stg::detail {

using LeadingParser = llvm::function_ref<mlir::ParseResult(
    mlir::OpAsmParser &, mlir::NamedAttrList &)>;

/// Fills `types` with the result types that follow from what is in the state.
using ResultTypeInference = llvm::function_ref<llvm::LogicalResult(
    llvm::SmallVectorImpl<mlir::Type> &types)>;

/// What an op's class says of its operands and results.
struct TensorOpTraits {
  std::optional<unsigned> numOperands; ///< Unless variadic.
  unsigned leastOperands; ///< Those that are neither optional nor variadic.
  bool infersResults;
  bool hasResults;

  template <typename OpTy> static TensorOpTraits get() {
    using namespace mlir;
    return {getNumOperands<OpTy>(), getLeastOperands<OpTy>(),
            OpTy::template hasTrait<InferTypeOpInterface::Trait>(),
            !OpTy::template hasTrait<OpTrait::ZeroResults>()};
  }

private:
  template <typename OpTy> static std::optional<unsigned> getNumOperands() {
    using namespace mlir;
    if (OpTy::template hasTrait<OpTrait::ZeroOperands>())
      return 0;
    if (OpTy::template hasTrait<OpTrait::OneOperand>())
      return 1;
    return findNumOperands<OpTy>(std::make_integer_sequence<unsigned, 16>());
  }

  template <typename OpTy> static unsigned getLeastOperands() {
    return findLeastOperands<OpTy>(std::make_integer_sequence<unsigned, 16>());
  }

  template <typename OpTy, unsigned... N>
  static unsigned findLeastOperands(std::integer_sequence<unsigned, N...>) {
    using namespace mlir;
    unsigned number = 0;
    ((OpTy::template hasTrait<OpTrait::AtLeastNOperands<N + 1>::template Impl>()
          ? void(number = N + 1)
          : void()),
     ...);
    return number;
  }

  /// An op that is not variadic has the trait of one of these numbers.
  template <typename OpTy, unsigned... N>
  static std::optional<unsigned>
  findNumOperands(std::integer_sequence<unsigned, N...>) {
    using namespace mlir;
    std::optional<unsigned> number;
    ((OpTy::template hasTrait<OpTrait::NOperands<N + 2>::template Impl>()
          ? void(number = N + 2)
          : void()),
     ...);
    return number;
  }
};

/// The part of parsing that does not depend on the op's class. `infer` sets the
/// op's properties too; it is called once the operands are known to be tensors.
mlir::ParseResult parseTensorOpParts(mlir::OpAsmParser &parser,
                                     mlir::OperationState &result,
                                     const TensorOpTraits &traits,
                                     LeadingParser parseLeading,
                                     ResultTypeInference infer);
void printTensorOpParts(mlir::OpAsmPrinter &p, mlir::Operation *op,
                        llvm::SmallVectorImpl<llvm::StringRef> &leading,
                        bool printResultTypes);

/// `<"q_proj" bwd dw>`, or nothing.
mlir::ParseResult parseOrigin(mlir::OpAsmParser &parser, OriginAttr &origin);
void printOrigin(mlir::OpAsmPrinter &p, mlir::Operation *op, OriginAttr origin);

llvm::LogicalResult
verifyDeclaredSymbols(mlir::Operation *op,
                      mlir::SymbolTableCollection &symbolTable);

/// The same of a collective; checks its group and the shapes of its operands
/// and results.
llvm::LogicalResult verifyGroup(mlir::Operation *op,
                                mlir::SymbolTableCollection &symbolTable);

/// The same of a message; checks that its axis is one of the mesh.
llvm::LogicalResult verifyMessageAxis(mlir::Operation *op,
                                      mlir::SymbolTableCollection &symbolTable);

/// Checks that the axes are axes of the mesh.
llvm::LogicalResult verifyMeshAxes(mlir::Operation *op, MeshOp mesh,
                                   mlir::ArrayRef<mlir::StringAttr> axes);
llvm::LogicalResult verifyMeshAxes(mlir::Operation *op, MeshOp mesh,
                                   mlir::ArrayAttr axes);

/// Checks that the layout, if there is one, is one of a value of that type.
llvm::LogicalResult verifyLayout(mlir::Operation *op, LayoutAttr layout,
                                 mlir::Type type);
/// Checks that its axes are axes of the mesh.
llvm::LogicalResult verifyLayoutAxes(mlir::Operation *op, LayoutAttr layout,
                                     MeshOp mesh);

mlir::ParseResult parseStringLeading(mlir::OpAsmParser &parser,
                                     mlir::NamedAttrList &attrs,
                                     llvm::StringRef name);
mlir::ParseResult parseExprLeading(mlir::OpAsmParser &parser,
                                   mlir::NamedAttrList &attrs,
                                   llvm::StringRef name);
mlir::ParseResult parseDimensionLeading(mlir::OpAsmParser &parser,
                                        mlir::NamedAttrList &attrs,
                                        llvm::StringRef name);
mlir::ParseResult parseTypeLeading(mlir::OpAsmParser &parser,
                                   mlir::NamedAttrList &attrs,
                                   llvm::StringRef name);
/// `KEYWORD 3`, into the attribute named like the keyword.
mlir::ParseResult parseIntLeading(mlir::OpAsmParser &parser,
                                  mlir::NamedAttrList &attrs,
                                  llvm::StringRef keyword);
/// `KEYWORD`, or nothing, into the attribute named like the keyword.
mlir::ParseResult parseUnitLeading(mlir::OpAsmParser &parser,
                                   mlir::NamedAttrList &attrs,
                                   llvm::StringRef keyword);
/// `over ["tp"]`
mlir::ParseResult parseAxesLeading(mlir::OpAsmParser &parser,
                                   mlir::NamedAttrList &attrs,
                                   llvm::StringRef name);

void printStringLeading(mlir::OpAsmPrinter &p, mlir::Operation *op,
                        llvm::StringRef name);
void printExprLeading(mlir::OpAsmPrinter &p, mlir::Operation *op,
                      llvm::StringRef name);
void printDimensionLeading(mlir::OpAsmPrinter &p, mlir::Operation *op,
                           llvm::StringRef name);
void printTypeLeading(mlir::OpAsmPrinter &p, mlir::Operation *op,
                      llvm::StringRef name);
void printIntLeading(mlir::OpAsmPrinter &p, mlir::Operation *op,
                     llvm::StringRef keyword);
void printUnitLeading(mlir::OpAsmPrinter &p, mlir::Operation *op,
                      llvm::StringRef keyword);
void printAxesLeading(mlir::OpAsmPrinter &p, mlir::Operation *op,
                      llvm::StringRef name);

template <typename AttrTy>
void printEnumLeading(mlir::OpAsmPrinter &p, mlir::Operation *op,
                      llvm::StringRef name) {
  auto attr = llvm::cast<AttrTy>(*op->getInherentAttr(name));
  p << ' ' << stringifyEnum(attr.getValue());
}

template <typename AttrTy, typename EnumTy>
mlir::ParseResult
parseEnumLeading(mlir::OpAsmParser &parser, mlir::NamedAttrList &attrs,
                 llvm::StringRef name,
                 std::optional<EnumTy> (*symbolize)(llvm::StringRef)) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  llvm::StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return mlir::failure();
  std::optional<EnumTy> value = symbolize(keyword);
  if (!value) {
    mlir::InFlightDiagnostic diag = parser.emitError(loc);
    diag << "unknown " << name << " '" << keyword << "', expected one of ";
    // Cases are numbered from 0; what is none has no text.
    for (uint32_t i = 0; !stringifyEnum(static_cast<EnumTy>(i)).empty(); ++i)
      diag << (i ? ", " : "") << stringifyEnum(static_cast<EnumTy>(i));
    return diag;
  }
  attrs.set(name, AttrTy::get(parser.getContext(), *value));
  return mlir::success();
}

/// Moves the op's inherent attributes from the list into its properties.
template <typename OpTy>
llvm::LogicalResult setProperties(mlir::OpAsmParser &parser, llvm::SMLoc loc,
                                  mlir::OperationState &result) {
  using Properties = typename OpTy::Properties;
  if constexpr (!std::is_same_v<Properties, mlir::EmptyProperties>) {
    auto dictionary = result.attributes.getDictionary(parser.getContext());
    auto emitError = [&] { return parser.emitError(loc); };
    if (failed(OpTy::verifyInherentAttrs(result.name, result.attributes,
                                         emitError)) ||
        failed(OpTy::setPropertiesFromAttr(
            result.getOrAddProperties<Properties>(), dictionary, emitError)))
      return mlir::failure();
    for (llvm::StringRef name : OpTy::getAttributeNames())
      result.attributes.erase(name);
  }
  return mlir::success();
}

template <typename OpTy>
mlir::ParseResult parseTensorOp(mlir::OpAsmParser &parser,
                                mlir::OperationState &result,
                                LeadingParser parseLeading) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  auto infer = [&](llvm::SmallVectorImpl<mlir::Type> &types) {
    if (failed(setProperties<OpTy>(parser, loc, result)))
      return mlir::failure();
    if constexpr (OpTy::template hasTrait<
                      mlir::InferTypeOpInterface::Trait>()) {
      return OpTy::inferReturnTypes(
          parser.getContext(), parser.getEncodedSourceLoc(loc), result.operands,
          result.attributes.getDictionary(parser.getContext()),
          result.getRawProperties(), {}, types);
    }
    return mlir::success();
  };
  return parseTensorOpParts(parser, result, TensorOpTraits::get<OpTy>(),
                            parseLeading, infer);
}

template <typename OpTy>
void printTensorOp(mlir::OpAsmPrinter &p, OpTy op,
                   llvm::SmallVectorImpl<llvm::StringRef> &leading) {
  bool printResultTypes = op->getNumResults() > 0;
  if constexpr (OpTy::template hasTrait<mlir::InferTypeOpInterface::Trait>()) {
    llvm::SmallVector<mlir::Type> inferred;
    if (succeeded(OpTy::inferReturnTypes(
            op->getContext(), std::nullopt, op->getOperands(),
            op->getDiscardableAttrDictionary(), op->getPropertiesStorage(), {},
            inferred)))
      printResultTypes = mlir::TypeRange(inferred) != op->getResultTypes();
  }
  printTensorOpParts(p, op, leading, printResultTypes);
}

//===----------------------------------------------------------------------===//
// Pointwise ops
//===----------------------------------------------------------------------===//

/// True for a dimension along which an operand of a pointwise op may repeat
/// itself: of extent 1, and without a name, as a share that is 1 has one.
bool repeatsItself(DimAttr dim);

/// The type of the operands without sharding. All have the same, but for
/// dimensions along which they repeat themselves if the op `broadcasts`.
llvm::LogicalResult inferPointwise(std::optional<mlir::Location> loc,
                                   mlir::ValueRange operands, bool broadcasts,
                                   llvm::SmallVectorImpl<mlir::Type> &types);

/// What the ops of optimizers have in common: one factor for each dimension of
/// the parameter; a moment of that type for each name, and the master copy of a
/// narrow parameter; so many operations per element.
ShardingRule makeOptimizerRule(OptimizerOpInterface op);
llvm::SmallVector<StateBuffer>
getOptimizerStates(OptimizerOpInterface op,
                   llvm::ArrayRef<llvm::StringRef> moments, mlir::Type type);
OpCost getOptimizerCost(OptimizerOpInterface op, int64_t perElement);

/// One factor for each dimension of all operands and results; none where an
/// operand repeats itself.
ShardingRule makePointwiseRule(mlir::Operation *op);

/// So many operations for each element of the result.
OpCost makePointwiseCost(mlir::Operation *op, int64_t count);

/// The attributes that `op` declares, but for its origin and its plan.
llvm::SmallVector<mlir::NamedAttribute>
getDeclaredAttributes(mlir::Operation *op);

/// Hands on the gradient that a `GradOp` computes from `saved` and the gradient
/// of the result.
template <typename GradOp>
llvm::LogicalResult buildPointwiseGradient(mlir::Operation *op,
                                           mlir::Value saved,
                                           GradientBuilder &gradient) {
  gradient.addGradient(
      0,
      gradient.create<GradOp>(
          std::nullopt, mlir::ValueRange{saved, gradient.getResultGradient(0)},
          getDeclaredAttributes(op)));
  return mlir::success();
}

} // namespace stg::detail

#endif // STG_DIALECT_STG_IR_STGOPBASE_H
