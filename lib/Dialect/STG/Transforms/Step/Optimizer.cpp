//===- Optimizer.cpp - Adds the optimizer step ----------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One step of an optimizer per parameter. Gradients of repeated parameters come
// as stacks; a repeat of the same name reads them slice by slice, so that each
// step updates the parameter of its own iteration.
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace stg {
#define GEN_PASS_DEF_OPTIMIZER
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct GradientOf {
  ArrayRef<StringRef> path; ///< Repeats still to enter, then the name.
  Value value;
  SymTensorType paramType;
  std::string parameter; ///< Its whole path.
};

/// Which dimensions of a parameter are rows of a matrix, and which are columns;
/// there is a matrix for each place along the others.
struct MatrixDims {
  SmallVector<int64_t> rows, columns;
};

struct Optimizer : stg::impl::OptimizerBase<Optimizer> {
  using OptimizerBase::OptimizerBase;
  void runOnOperation() override;

private:
  void collectParamTypes(func::FuncOp function);
  void collectMatrices(func::FuncOp function);
  Operation *createStep(OpBuilder &builder, Value param, Value gradient,
                        StringRef path);
  LogicalResult optimize(func::FuncOp function);
  void buildSteps(OpBuilder &builder, ArrayRef<GradientOf> gradients);
  void buildStep(OpBuilder &builder, const GradientOf &gradient);
  bool buildSparseStep(const GradientOf &gradient);

  llvm::StringMap<SymTensorType> paramTypes; ///< By joined path.
  llvm::StringMap<MatrixDims> matrices;      ///< Likewise.
  llvm::StringMap<SymExpr> firsts;           ///< Iterations, by repeat.
  Type moments;
  bool isSparse = false; ///< Some table has no gradient.
};
} // namespace

void Optimizer::collectParamTypes(func::FuncOp function) {
  function.walk([&](ParamOp param) {
    paramTypes.try_emplace(getParameterPath(param), param.getType());
  });
  function.walk([&](RepeatOp repeat) {
    if (std::optional<SymExpr> first = repeat.getFirst())
      firsts.try_emplace(getScopePath(repeat) + repeat.getRepeatName().str(),
                         *first);
  });
}

/// The path of the repeat that is entered next. Steps have the numbers of the
/// iterations that read their parameters.
static StringRef getRepeatPath(const GradientOf &gradient) {
  size_t inside = 0;
  for (StringRef name : gradient.path.drop_front())
    inside += name.size() + 1;
  return StringRef(gradient.parameter).drop_back(inside);
}

/// The matrix that a parameter is in a product: what it sums over are rows, and
/// what the result has of this operand alone are columns.
static std::optional<MatrixDims> getMatrix(OpOperand &use) {
  auto product = dyn_cast<EinsumOp>(use.getOwner());
  if (!product || product.getInputs().size() != 2)
    return std::nullopt;
  auto equation = llvm::cantFail(EinsumEquation::parse(product.getEquation()));
  StringRef own = equation.inputs[use.getOperandNumber()],
            other = equation.inputs[1 - use.getOperandNumber()];
  MatrixDims dims;
  for (auto [dim, letter] : llvm::enumerate(own)) {
    if (!equation.output.contains(letter))
      dims.rows.push_back(static_cast<int64_t>(dim));
    else if (!other.contains(letter))
      dims.columns.push_back(static_cast<int64_t>(dim));
  }
  if (dims.rows.empty() || dims.columns.empty())
    return std::nullopt;
  return dims;
}

/// What a product of the forward pass is that reads a value, or what it is cast
/// to.
static std::optional<MatrixDims> findMatrix(Value value) {
  for (OpOperand &use : value.getUses()) {
    if (getPhase(use.getOwner()) == Phase::Backward)
      continue;
    auto cast = dyn_cast<CastOp>(use.getOwner());
    if (std::optional<MatrixDims> dims =
            cast ? findMatrix(cast.getResult()) : getMatrix(use))
      return dims;
  }
  return std::nullopt;
}

/// Of parameters that products read, but for those that have a dimension of the
/// vocabulary.
void Optimizer::collectMatrices(func::FuncOp function) {
  llvm::DenseSet<StringAttr> vocabulary;
  function.walk([&](LossOpInterface loss) {
    auto logits = cast<SymTensorType>(loss.getPredictions().getType());
    vocabulary.insert_range(logits.getDims().back().getNames());
  });
  auto isOfVocabulary = [&](DimAttr dim) {
    return llvm::any_of(dim.getNames(), [&](StringAttr name) {
      return vocabulary.contains(name);
    });
  };
  function.walk([&](ParamOp param) {
    if (llvm::any_of(param.getType().getDims(), isOfVocabulary))
      return;
    if (std::optional<MatrixDims> dims = findMatrix(param))
      matrices.try_emplace(getParameterPath(param), std::move(*dims));
  });
}

/// A step of the parameter with this path.
Operation *Optimizer::createStep(OpBuilder &builder, Value param,
                                 Value gradient, StringRef path) {
  // The default of PyTorch and of Megatron-Core.
  constexpr int64_t kIterations = 5;
  Location loc = gradient.getLoc();
  switch (kind) {
  case OptimizerKind::Momentum:
    return MomentumOp::create(builder, loc, param, gradient, Value(), moments);
  case OptimizerKind::Sgd:
    return SgdOp::create(builder, loc, param, gradient, Value());
  case OptimizerKind::Muon:
    if (auto it = matrices.find(path); it != matrices.end()) {
      StringAttr name =
          builder.getStringAttr(param.getDefiningOp<ParamOp>().getParamName());
      auto moment = MomentOp::create(builder, loc, gradient, Value(), moments);
      auto direction = OrthogonalizeOp::create(builder, loc, moment.getType(),
                                               moment, it->second.rows,
                                               it->second.columns, kIterations);
      for (Operation *op : {moment.getOperation(), direction.getOperation()}) {
        setName(op, name);
        setPhase(op, Phase::Optimizer);
      }
      return SgdOp::create(builder, loc, param, direction, Value());
    }
    [[fallthrough]];
  case OptimizerKind::Adam:
    return AdamOp::create(builder, loc, param, gradient, Value(), moments);
  }
  llvm_unreachable("unknown optimizer");
}

void Optimizer::buildStep(OpBuilder &builder, const GradientOf &gradient) {
  Location loc = gradient.value.getLoc();
  StringRef name = gradient.path.back();
  auto param = ParamOp::create(builder, loc, gradient.paramType,
                               builder.getStringAttr(name));
  Operation *step =
      createStep(builder, param, gradient.value, gradient.parameter);
  setName(step, builder.getStringAttr(name));
  setPhase(step, Phase::Optimizer);
}

/// Updates the rows that were looked up where the gradient of the table would
/// be made, if that is all that the gradient is.
bool Optimizer::buildSparseStep(const GradientOf &gradient) {
  auto made = gradient.value.getDefiningOp<EmbeddingGradOp>();
  if (!made || gradient.path.size() != 1 || !made.getResult().hasOneUse())
    return false;
  OpBuilder builder(made);
  auto param = ParamOp::create(builder, made.getLoc(), gradient.paramType,
                               builder.getStringAttr(gradient.path.back()));
  auto step = RowAdagradOp::create(
      builder, made.getLoc(), param, made.getIds(), made.getDy(), ValueRange(),
      made.getPooledAttr(), made.getRowsAttr(), made.getOverAttr(),
      made.getRowsOverAttr(), SymExpr());
  setOrigin(step, getOrigin(made));
  return true;
}

/// Steps for gradients of one scope; those of an inner repeat are one repeat.
void Optimizer::buildSteps(OpBuilder &builder, ArrayRef<GradientOf> gradients) {
  llvm::MapVector<StringRef, SmallVector<GradientOf>> scopes;
  for (const GradientOf &gradient : gradients) {
    if (gradient.path.size() == 1)
      buildStep(builder, gradient);
    else
      scopes[gradient.path.front()].push_back(gradient);
  }
  for (auto &[name, members] : scopes) {
    SmallVector<Value> stacks;
    for (const GradientOf &member : members)
      stacks.push_back(member.value);
    SymExpr count = cast<SymTensorType>(stacks[0].getType()).getShape()[0];
    auto repeat =
        RepeatOp::create(builder, stacks[0].getLoc(), name, count,
                         /*reverse=*/false, ValueRange(), stacks, TypeRange());
    if (SymExpr first = firsts.lookup(getRepeatPath(members.front())))
      repeat.setFirstAttr(first);
    setPhase(repeat, Phase::Optimizer);
    SmallVector<GradientOf> inner;
    for (auto [member, slice] : llvm::zip_equal(members, repeat.getSliceArgs()))
      inner.push_back({member.path.drop_front(), slice, member.paramType,
                       member.parameter});
    OpBuilder body = OpBuilder::atBlockEnd(&repeat.getBody().front());
    buildSteps(body, inner);
    YieldOp::create(body, repeat.getLoc(), ValueRange());
  }
}

LogicalResult Optimizer::optimize(func::FuncOp function) {
  Operation *terminator = function.getBody().front().getTerminator();
  SmallVector<SmallVector<StringRef>> paths;
  SmallVector<GradientOf> gradients;
  llvm::BitVector isGradient(function.getNumResults());
  for (unsigned i = 0, e = function.getNumResults(); i != e; ++i) {
    auto attr = function.getResultAttrOfType<GradientAttr>(
        i, STGDialect::kGradientAttr);
    if (!attr)
      continue;
    isGradient.set(i);
    paths.emplace_back();
    for (StringAttr name : attr.getPath())
      paths.back().push_back(name.getValue());
    std::string path = llvm::join(paths.back(), "/");
    SymTensorType type = paramTypes.lookup(path);
    if (!type)
      return function.emitOpError("returns the gradient of parameter '")
             << path << "', which it does not read";
    auto gradient =
        dyn_cast<SymTensorType>(terminator->getOperand(i).getType());
    int64_t rank = type.getRank() + paths.back().size() - 1;
    if (!gradient || gradient.getRank() != rank)
      return function.emitOpError("returns the gradient of parameter '")
             << path << "' with type " << terminator->getOperand(i).getType()
             << ", expected a tensor of rank " << rank
             << ": the parameter, stacked by its repeats";
    gradients.push_back({{}, terminator->getOperand(i), type, path});
  }
  if (gradients.empty())
    return function.emitOpError(
        "returns no gradients; run --stg-autodiff first");
  for (auto [gradient, path] : llvm::zip_equal(gradients, paths))
    gradient.path = path;
  SmallVector<Operation *> unused;
  if (sparse)
    llvm::erase_if(gradients, [&](const GradientOf &gradient) {
      if (!buildSparseStep(gradient))
        return false;
      unused.push_back(gradient.value.getDefiningOp());
      return true;
    });
  isSparse |= !unused.empty();
  OpBuilder builder(terminator);
  buildSteps(builder, gradients);
  terminator->eraseOperands(isGradient);
  for (Operation *op : unused)
    op->erase();
  return function.eraseResults(isGradient);
}

void Optimizer::runOnOperation() {
  func::FuncOp function = getOperation();
  if (function.isExternal() || function.isPrivate())
    return;
  moments = getFloatType(&getContext(), momentType);
  if (!moments) {
    function.emitError("moment-type '")
        << momentType << "' is not a float type such as f32 or bf16";
    return signalPassFailure();
  }
  paramTypes.clear(); // The pass may have run on another function.
  matrices.clear();
  firsts.clear();
  isSparse = false;
  collectParamTypes(function);
  if (kind == OptimizerKind::Muon)
    collectMatrices(function);
  if (failed(optimize(function)))
    return signalPassFailure();
  if (!sparse || isSparse)
    return;
  function.emitError("sparse gradients have no effect: no parameter at the top "
                     "of the program is a table whose rows are looked up once "
                     "and that nothing else reads");
  signalPassFailure();
}
