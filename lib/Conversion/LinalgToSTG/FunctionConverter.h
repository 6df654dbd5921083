//===- FunctionConverter.h - From linalg to a program -----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function is converted in two passes over its ops. The first says which
// dimensions are one (DimensionFactors). The second makes ops of the stg
// dialect, whose tensors have a dimension for each factor. So reshapes are
// nothing, and transpositions and repetitions along a dimension are left to
// those that read (View).
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_CONVERSION_LINALGTOSTG_FUNCTIONCONVERTER_H
#define STG_LIB_CONVERSION_LINALGTOSTG_FUNCTIONCONVERTER_H

#include "DimensionFactors.h"
#include "PositionValues.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace stg {

/// A tensor as somebody reads it, who has numbered the factors of its
/// dimensions, its slots: dimension i of the value is slot `slots[i]`. Along
/// slots that are not there the tensor repeats itself.
struct View {
  mlir::Value value;
  llvm::SmallVector<unsigned> slots;
};

/// What the functions of a module share.
struct ModelSymbols {
  mlir::ModuleOp module;
  DimensionFactors factors;
  /// Factors that have a name.
  llvm::DenseMap<mlir::StringAttr, DimensionFactors::Factor> named;
  llvm::StringSet<> taken;    ///< Names of symbols.
  llvm::StringSet<> declared; ///< Those that are declared here.
  llvm::DenseMap<DimensionFactors::Factor, SymExpr> extents;
  mlir::Operation *lastDeclaration = nullptr;
};

class FunctionConverter {
public:
  using Factor = DimensionFactors::Factor;
  using List = DimensionFactors::List;
  using Lists = llvm::SmallVector<List>;

  /// Slots that are one dimension of a value; none: its extent is 1.
  using Group = llvm::SmallVector<unsigned, 2>;
  using Groups = llvm::SmallVector<Group, 4>;

  FunctionConverter(mlir::func::FuncOp function, ModelSymbols &symbols)
      : function(function), symbols(symbols), factors(symbols.factors),
        builder(function) {}

  /// Says which dimensions are one.
  llvm::LogicalResult analyze(const llvm::DenseSet<unsigned> &parameters);
  /// Replaces the function.
  llvm::LogicalResult convert(bool loss);

private:
  /// A part of a dimension: of a slice, or an operand of a concatenation.
  struct Part {
    mlir::Value tensor;
    int64_t offset, extent;
  };
  /// The parts of dimension `dim` of a tensor.
  struct Parts {
    mlir::Value whole;
    unsigned dim;
    llvm::SmallVector<Part> parts;
    bool tiles = true;
    bool isConcat = false;
  };
  /// A scalar of a body.
  struct Term {
    enum Kind {
      Constant,
      Data,      ///< `view`, over the slots of the loops.
      Position,  ///< Known by where it is.
      Comparison ///< Of `view` with the constant, by `compares`.
    } kind;
    double constant = 0;
    View view = {};
    mlir::arith::CmpFPredicate compares = {};
  };

  /// A dimension `dim` of an input that is read at `stride * position + place`.
  struct Window {
    unsigned dim;
    std::optional<unsigned> position, inside; ///< Loops; `inside` of the place.
    int64_t size = 1, stride = 1, dilation = 1, padding = 0;
  };
  /// A convolution, or a pooling, which has no weight; and its loops.
  struct WindowOp {
    mlir::OpOperand *input = nullptr, *weight = nullptr;
    bool isMaximum = false;
    llvm::SmallVector<Window, 2> windows;
    llvm::SmallVector<unsigned> batch;    ///< Of input and result.
    llvm::SmallVector<unsigned> groups;   ///< Of the weight, too.
    llvm::SmallVector<unsigned> channels; ///< That are summed.
    llvm::SmallVector<unsigned> outputs;  ///< Of weight and result.
  };
  using Loops = llvm::SmallSetVector<unsigned, 4>;
  /// `to` has `(from + rest)/stride + 1` elements, rounded down.
  struct Span {
    List to, from;
    int64_t rest, stride;
  };

  //===--- Which dimensions are one ---------------------------------------===//

  const Lists &getDims(mlir::Value tensor);
  Lists makeDims(mlir::RankedTensorType type);
  llvm::LogicalResult readArgument(unsigned number, bool isParameter);
  llvm::LogicalResult analyze(mlir::Operation *op);
  llvm::LogicalResult analyzeStructured(mlir::linalg::LinalgOp op);
  llvm::LogicalResult analyzeLookups(mlir::linalg::LinalgOp op, Lists &loops,
                                     llvm::SmallVectorImpl<bool> &isBound);
  llvm::LogicalResult bindLoops(mlir::Operation *op, mlir::Value tensor,
                                mlir::AffineMap map, Lists &loops,
                                llvm::SmallVectorImpl<bool> &isBound);
  /// The tensor that an index is an element of, through casts, and what wraps
  /// or clamps it, or null.
  static mlir::BlockArgument getIndexSource(mlir::Value scalar);
  llvm::LogicalResult bindResults(mlir::linalg::LinalgOp op, Lists &loops,
                                  llvm::SmallVectorImpl<bool> &isBound);
  llvm::LogicalResult analyzeReshape(mlir::Operation *op);
  llvm::LogicalResult analyzeSlice(mlir::tensor::ExtractSliceOp op);
  llvm::LogicalResult analyzeConcat(mlir::tensor::ConcatOp op);
  llvm::LogicalResult analyzeParts();
  void orderParts();
  std::optional<Factor> findHead(const Parts &entry);
  mlir::FailureOr<bool> divideInHeads(const Parts &entry);
  llvm::LogicalResult unifyParts();
  /// The factors that a part has of the dimension.
  List getPartFactors(const Parts &parts, const Part &part);
  static mlir::Operation *getPartsOp(const Parts &parts) {
    return parts.isConcat ? parts.whole.getDefiningOp()
                          : parts.parts.front().tensor.getDefiningOp();
  }
  void collectSums();
  bool isGiven(Factor factor);
  bool isOfInput(SymExpr extent);
  llvm::LogicalResult nameFactors(mlir::BlockArgument arg, llvm::StringRef text,
                                  List &list);
  llvm::LogicalResult unify(mlir::Operation *op, llvm::ArrayRef<Factor> lhs,
                            llvm::ArrayRef<Factor> rhs);

  //===--- Windows (WindowConversion.cpp) ---------------------------------===//

  /// True if the first input is read at computed places.
  static bool hasWindows(mlir::linalg::LinalgOp op);
  static mlir::FailureOr<WindowOp> readWindows(mlir::linalg::LinalgOp op);
  static llvm::LogicalResult readTerm(mlir::linalg::LinalgOp op,
                                      WindowOp &found);
  static llvm::LogicalResult readPlaces(mlir::linalg::LinalgOp op,
                                        WindowOp &found, Loops &plain);
  static llvm::LogicalResult sortLoops(mlir::linalg::LinalgOp op,
                                       const Loops &plain, WindowOp &found);
  static bool padsWindows(mlir::tensor::PadOp pad);
  static bool keepsFactors(mlir::Operation *op);
  /// What a tensor is through such ops.
  static mlir::Value getOrigin(mlir::Value tensor);
  llvm::LogicalResult analyzeWindows(mlir::linalg::LinalgOp op);
  llvm::LogicalResult analyzePad(mlir::tensor::PadOp op);
  void collectSpans();
  /// The dimensions that the stg dialect has for an operand.
  Groups getGroups(mlir::linalg::LinalgOp op, const WindowOp &windows,
                   mlir::OpOperand *operand);
  /// Those that all who read a tensor want, if they are such ops and agree.
  std::optional<Groups> getWindowLayout(mlir::Value tensor);
  SymTensorType getType(llvm::ArrayRef<Factor> list, const Groups &groups,
                        mlir::Type element);
  /// The type of an input or a parameter, in that layout if there is one.
  SymTensorType getDeclaredType(mlir::Value tensor, mlir::Type element,
                                const std::optional<Groups> &layout);
  /// Says that the tensor has become an input or a parameter.
  void declare(mlir::Value tensor, mlir::Value made,
               const std::optional<Groups> &layout);
  /// The tensor with these dimensions.
  mlir::FailureOr<mlir::Value> group(mlir::Operation *user, mlir::Value tensor,
                                     const Groups &groups);
  llvm::LogicalResult convertWindows(mlir::linalg::LinalgOp op);
  mlir::FailureOr<View> addStart(mlir::linalg::LinalgOp op, View view,
                                 bool isMaximum);
  View ungroup(mlir::Location loc, mlir::Value value, const Groups &groups,
               llvm::ArrayRef<Factor> list);
  llvm::LogicalResult convertPad(mlir::tensor::PadOp op);

  //===--- Types ----------------------------------------------------------===//

  List getFactors(mlir::Value tensor);
  SymExpr getExtent(Factor factor);
  SymExpr getExtent(llvm::ArrayRef<Factor> list);
  /// The dimension that is the product of these, of extent 1 for none.
  DimAttr getDim(llvm::ArrayRef<Factor> list);
  SymTensorType getType(llvm::ArrayRef<Factor> list, mlir::Type element);
  mlir::FailureOr<mlir::Type> getElementType(mlir::Operation *op,
                                             mlir::Value tensor);

  //===--- Ops ------------------------------------------------------------===//

  llvm::LogicalResult convert(mlir::Operation *op);
  llvm::LogicalResult convertParameter(mlir::Operation *op);
  llvm::LogicalResult convertStructured(mlir::linalg::LinalgOp op);
  llvm::LogicalResult convertSoftmax(mlir::linalg::SoftmaxOp op);
  Parts *findParts(mlir::tensor::ExtractSliceOp op);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  cutParts(mlir::tensor::ExtractSliceOp op, const Parts &entry,
           llvm::ArrayRef<List> rows, mlir::Value source, unsigned dim);
  mlir::Value separateRows(mlir::Location loc, mlir::Value part, unsigned dim,
                           const List &rows);
  llvm::LogicalResult convertSlice(mlir::tensor::ExtractSliceOp op);
  llvm::LogicalResult convertConcat(mlir::tensor::ConcatOp op);
  llvm::LogicalResult convertReturn(mlir::func::ReturnOp op, bool loss);

  /// The tensor over its own slots; what depends on positions alone becomes an
  /// input.
  mlir::FailureOr<View> getView(mlir::Operation *user, mlir::Value tensor);
  /// As it is over the loops of an op.
  mlir::FailureOr<View> getView(mlir::linalg::LinalgOp op,
                                mlir::OpOperand *operand);
  /// The slots of the loops that an indexing map gives, in its order.
  llvm::SmallVector<unsigned> getSlots(mlir::linalg::LinalgOp op,
                                       mlir::AffineMap map);
  unsigned getFirstSlot(mlir::linalg::LinalgOp op, unsigned loop);
  /// Of dimension `dim`, or loop, of those that have these lists.
  unsigned getFirstSlot(llvm::ArrayRef<List> lists, unsigned dim) const;
  /// The slots of some of them, one after the other.
  Group getGroup(llvm::ArrayRef<List> lists,
                 llvm::ArrayRef<unsigned> dims) const;

  //===--- Bodies (BodyConversion.cpp) ------------------------------------===//

  mlir::FailureOr<Term> getTerm(mlir::Value scalar, mlir::linalg::LinalgOp op);
  mlir::FailureOr<Term> convertScalar(mlir::Operation *body,
                                      mlir::linalg::LinalgOp op);
  mlir::FailureOr<Term> convertLookup(mlir::tensor::ExtractOp extract,
                                      mlir::linalg::LinalgOp op);
  mlir::FailureOr<Term> convertSelect(mlir::arith::SelectOp select,
                                      mlir::linalg::LinalgOp op);
  mlir::FailureOr<Term> convertPower(mlir::Operation *body, Term base,
                                     Term exponent);
  /// What a scalar op with two operands makes of terms that are no positions.
  mlir::FailureOr<Term> combine(mlir::Operation *body, Term lhs, Term rhs);
  /// Where positions say of each key of each query whether it is hidden.
  mlir::FailureOr<Term>
  mask(mlir::Operation *body, const View &scores, mlir::linalg::LinalgOp op,
       llvm::ArrayRef<mlir::Value> positions,
       llvm::function_ref<std::optional<bool>(llvm::ArrayRef<int64_t>)>
           isHidden);
  /// The loops that scalars depend on.
  void collectLoops(mlir::Value scalar, mlir::linalg::LinalgOp op,
                    llvm::SmallSetVector<unsigned, 4> &loops);
  bool isPositionTerm(mlir::Value scalar, mlir::linalg::LinalgOp op);
  llvm::LogicalResult convertReduction(mlir::linalg::LinalgOp op,
                                       unsigned result);
  /// True for what added to a score hides it, or what no maximum is.
  static bool hides(double value) { return value <= -1e4; }
  bool collectProduct(mlir::Value scalar, mlir::linalg::LinalgOp op,
                      llvm::SmallVectorImpl<View> &operands, double &scale);

  //===--- Views ----------------------------------------------------------===//

  /// The dimensions in this order.
  View reorder(mlir::Location loc, View view, llvm::ArrayRef<unsigned> order);
  /// With an extent of 1 for each slot of `order` that is not there.
  View expand(mlir::Location loc, View view, llvm::ArrayRef<unsigned> order);
  /// With all slots, in this order; `like` gives their dimensions.
  View materialize(mlir::Location loc, View view,
                   llvm::ArrayRef<unsigned> order,
                   llvm::ArrayRef<DimAttr> dims);
  View castTo(mlir::Location loc, View view, mlir::Type element);
  /// The sum or the maximum along dimension `place` of the value.
  View reduceDim(mlir::Location loc, View view, unsigned place,
                 ReduceKind kind);
  View applyUnary(mlir::Location loc, ElementwiseKind kind, View view);
  enum class Binary { Add, Mul, Sub, Div, Max, Min, Pow };
  View applyBinary(mlir::Location loc, Binary kind, View lhs, View rhs);
  View applyConstant(mlir::Location loc, Binary kind, View view, double value);
  mlir::Value makeSplat(mlir::Location loc, double value, SymTensorType like);

  mlir::func::FuncOp function;
  ModelSymbols &symbols;
  DimensionFactors &factors;
  PositionValues positions;
  mlir::OpBuilder builder;
  mlir::func::FuncOp model; ///< What the function becomes.

  llvm::DenseMap<mlir::Value, Lists> dims;
  llvm::DenseMap<mlir::Operation *, Lists> opLoops;
  llvm::SmallVector<Span> spans;
  Lists windowSizes;
  /// By the whole, and twice the dimension, and 1 more for a concatenation.
  llvm::MapVector<std::pair<mlir::Value, unsigned>, Parts> parts;
  llvm::DenseMap<mlir::Value, std::string> parameterNames;
  /// Factors that are sums of parts, each of which is a product.
  llvm::DenseMap<Factor, llvm::SmallVector<List>> sums;
  /// Factors of so many `from` and `rest`, divided by `stride`.
  llvm::DenseMap<Factor, Span> derived;
  llvm::DenseMap<mlir::Operation *, WindowOp> windowOps;
  /// Those that are made as windows are read, which have no view.
  llvm::DenseMap<mlir::Value, mlir::Value> laidOut;
  llvm::StringSet<> inputSymbols; ///< Of the arguments that are inputs.
  /// Factors that are a part of others, and how many such there are.
  llvm::DenseMap<Factor, std::pair<Factor, int64_t>> quotients;
  llvm::DenseMap<mlir::Value, View> views;
  llvm::DenseMap<mlir::Value, Term> terms; ///< Of one body.
  llvm::StringSet<> parameterTaken;
};

} // namespace stg

#endif // STG_LIB_CONVERSION_LINALGTOSTG_FUNCTIONCONVERTER_H
