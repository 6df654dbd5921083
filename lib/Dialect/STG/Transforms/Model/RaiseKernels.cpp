//===- RaiseKernels.cpp - Fused kernels in the place of their parts -------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs that come from elsewhere have a softmax as five ops and attention as
// ten. Each pattern starts at the last op of a kernel and follows operands.
// What is left without a reader is erased.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace stg {
#define GEN_PASS_DEF_RAISEKERNELS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
class KernelRaiser {
public:
  KernelRaiser(func::FuncOp function)
      : function(function), builder(function.getContext()) {}

  /// Kernels that others contain come first.
  void raise();

private:
  /// What takes the place of an op's first result; null: it is no such kernel.
  using Pattern = Value (KernelRaiser::*)(Operation *);
  void apply(Pattern pattern);
  void eraseUnread();

  Value foldCast(Operation *op);
  Value foldOrder(Operation *op);
  Value foldRoundTrip(Operation *op);
  Value raiseSigmoid(Operation *op);
  Value raiseActivation(Operation *op);
  Value raiseSoftmax(Operation *op);
  Value raiseScaledRmsNorm(Operation *op);
  Value raiseRmsNorm(Operation *op);
  Value raiseLayerNorm(Operation *op);
  Value raiseBatchNorm(Operation *op);
  Value raiseMean(Operation *op);
  Value foldScales(Operation *op);
  Value addNormWeight(Operation *op);
  Value addNormBias(Operation *op);
  Value raiseRope(Operation *op);
  Value raiseHalvedRope(Operation *op);
  Value raisePartialRope(Operation *op);
  Value raiseAttention(Operation *op);

  /// With the extents that symbols have where nothing says otherwise.
  std::optional<Rational> getDefault(SymExpr extent);
  /// True if an input has the dimension.
  bool isOfInput(DimAttr dim);
  Value makeRope(Value input, ArrayRef<int64_t> angleDims, Location loc);
  Value castTo(Value value, Type element);
  Value rearrange(Value value, StringRef before, StringRef after,
                  ArrayRef<DimAttr> dims);

  func::FuncOp function;
  OpBuilder builder;
};

struct RaiseKernels : stg::impl::RaiseKernelsBase<RaiseKernels> {
  using RaiseKernelsBase::RaiseKernelsBase;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    KernelRaiser(getOperation()).raise();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// What patterns see
//===----------------------------------------------------------------------===//

static SymTensorType tensorOf(Value value) {
  return cast<SymTensorType>(value.getType());
}

/// Through casts.
static Value peelCasts(Value value) {
  while (auto cast = value.getDefiningOp<CastOp>())
    value = cast.getInput();
  return value;
}

/// Through casts to wider types: what is computed in them is of the narrow one.
static Value peelWidening(Value value) {
  while (auto cast = value.getDefiningOp<CastOp>()) {
    if (tensorOf(cast.getInput()).getElementBytes() >
        tensorOf(cast.getResult()).getElementBytes())
      break;
    value = cast.getInput();
  }
  return value;
}

/// Through casts, and what adds dimensions of extent 1 at the end.
static Value peelUnits(Value value) {
  while (true) {
    value = peelCasts(value);
    auto rearrange = value.getDefiningOp<RearrangeOp>();
    if (!rearrange)
      return value;
    auto [before, after] = rearrange.getPattern().split("->");
    if (before.contains('(') || !after.consume_front(before))
      return value;
    while (after.consume_front("()"))
      ;
    if (!after.empty())
      return value;
    value = rearrange.getInput();
  }
}

/// Through casts, and what adds a dimension of extent 1 in the place of one
/// that has been reduced; at the end it may also be missing.
static Value peelUnitAt(Value value, unsigned dim, unsigned rank) {
  if (dim + 1 == rank)
    return peelUnits(value);
  value = peelCasts(value);
  auto rearrange = value.getDefiningOp<RearrangeOp>();
  if (!rearrange)
    return {};
  auto [before, after] = rearrange.getPattern().split("->");
  bool isThere = !before.contains('(') && before.size() + 1 == rank &&
                 after == before.take_front(dim).str() + "()" +
                              before.drop_front(dim).str();
  return isThere ? peelCasts(rearrange.getInput()) : Value();
}

static ElementwiseOp getElementwise(Value value, ElementwiseKind kind) {
  auto op = value.getDefiningOp<ElementwiseOp>();
  return op && op.getKind() == kind ? op : ElementwiseOp();
}

static bool isSplat(Value value) { return value.getDefiningOp<SplatOp>(); }

static bool isSplatOf(Value value, int64_t number) {
  auto splat = value.getDefiningOp<SplatOp>();
  return splat && splat.getValue().getConstant() == Rational(number);
}

/// The other operand of a sum or a product with a constant, or null.
template <typename OpTy> static Value getOtherThanSplat(Value value) {
  auto op = value.getDefiningOp<OpTy>();
  if (!op)
    return {};
  if (isSplat(op.getRhs()))
    return op.getLhs();
  return isSplat(op.getLhs()) ? op.getRhs() : Value();
}

/// The constant of a product with one, whose other operand is `rest`.
static std::optional<Rational> matchScale(Value value, Value &rest) {
  rest = getOtherThanSplat<MulOp>(value);
  if (!rest)
    return std::nullopt;
  auto product = value.getDefiningOp<MulOp>();
  Value splat = rest == product.getLhs() ? product.getRhs() : product.getLhs();
  return splat.getDefiningOp<SplatOp>().getValue().getConstant();
}

/// What is summed along the last `width` dimensions, and divided by something;
/// null otherwise.
static Value getMeanSource(Value value, unsigned width) {
  value = peelUnits(value);
  if (Value rest = getOtherThanSplat<MulOp>(value))
    value = peelUnits(rest);
  else if (auto mean = value.getDefiningOp<MeanOp>())
    return width == 1 && mean.getDim() + 1 ==
                             uint64_t(tensorOf(mean.getInput()).getRank())
               ? mean.getInput()
               : Value();
  else
    return {};
  // The innermost sum is over one of the last dimensions of the whole.
  for (unsigned i = 0; i < width; ++i) {
    auto sum = value.getDefiningOp<SumOp>();
    if (!sum || int64_t(sum.getDim()) != tensorOf(sum.getInput()).getRank() - 1)
      return {};
    value = sum.getInput();
  }
  return value;
}

/// What is squared, or null.
static Value getSquareSource(Value value) {
  value = peelCasts(value);
  if (auto square = getElementwise(value, ElementwiseKind::Square))
    return square.getLhs();
  if (auto product = value.getDefiningOp<MulOp>())
    if (product.getLhs() == product.getRhs())
      return product.getLhs();
  return {};
}

/// What the root of the mean of squares is over, where `value` is the
/// reciprocal of that; null otherwise.
static Value getNormSource(Value value, unsigned width) {
  value = peelUnits(value);
  Value sum;
  if (auto root = getElementwise(value, ElementwiseKind::Rsqrt))
    sum = root.getLhs();
  else if (auto inverse = getElementwise(value, ElementwiseKind::Reciprocal))
    if (auto root = getElementwise(inverse.getLhs(), ElementwiseKind::Sqrt))
      sum = root.getLhs();
  if (!sum)
    return {};
  sum = peelUnits(sum);
  if (Value rest = getOtherThanSplat<AddOp>(sum)) // What keeps it above zero.
    sum = rest;
  Value squares = getMeanSource(sum, width);
  return squares ? getSquareSource(squares) : Value();
}

/// Both operands of a product, one of which may have fewer dimensions: then it
/// comes second, and `dims` are those of the first that it has.
static bool matchProduct(Value value, Value &whole, Value &scale,
                         SmallVectorImpl<int64_t> &dims) {
  if (auto along = value.getDefiningOp<MulAlongOp>()) {
    whole = along.getInput();
    scale = along.getVector();
    dims.assign(along.getDims().begin(), along.getDims().end());
    return true;
  }
  auto product = value.getDefiningOp<MulOp>();
  if (!product)
    return false;
  whole = product.getLhs();
  scale = product.getRhs();
  // What repeats itself, or is made of that, is the scale.
  auto countDims = [](Value operand, SmallVectorImpl<int64_t> *own) {
    int64_t count = 0;
    for (auto [number, dim] : llvm::enumerate(tensorOf(operand).getDims()))
      if (!dim.getExtent().isOne() || !dim.getNames().empty()) {
        ++count;
        if (own)
          own->push_back(number);
      }
    return count;
  };
  if (countDims(whole, nullptr) < countDims(scale, nullptr))
    std::swap(whole, scale);
  dims.clear();
  countDims(scale, &dims);
  return true;
}

//===----------------------------------------------------------------------===//
// Helpers that build
//===----------------------------------------------------------------------===//

Value KernelRaiser::castTo(Value value, Type element) {
  SymTensorType type = tensorOf(value);
  if (type.getElementType() == element)
    return value;
  return CastOp::create(builder, value.getLoc(), type.withElementType(element),
                        value);
}

Value KernelRaiser::rearrange(Value value, StringRef before, StringRef after,
                              ArrayRef<DimAttr> dims) {
  if (before == after)
    return value;
  return RearrangeOp::create(
      builder, value.getLoc(),
      SymTensorType::get(value.getContext(), dims,
                         tensorOf(value).getElementType()),
      value, (before + "->" + after).str());
}

void KernelRaiser::apply(Pattern pattern) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (op->getNumResults() > 0 && op != function)
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    if (op->use_empty())
      continue;
    builder.setInsertionPoint(op);
    Value result = (this->*pattern)(op);
    if (!result)
      continue;
    op->getResult(0).replaceAllUsesWith(
        castTo(result, tensorOf(op->getResult(0)).getElementType()));
  }
  eraseUnread();
}

void KernelRaiser::eraseUnread() {
  // Readers come behind what they read.
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
}

void KernelRaiser::raise() {
  DominanceInfo dominance(function);
  IRRewriter rewriter(function.getContext());
  eliminateCommonSubExpressions(rewriter, dominance, function);
  for (Pattern pattern :
       {&KernelRaiser::foldCast, &KernelRaiser::raiseSigmoid,
        &KernelRaiser::raiseActivation, &KernelRaiser::raiseSoftmax,
        &KernelRaiser::raiseLayerNorm, &KernelRaiser::addNormWeight,
        &KernelRaiser::addNormBias, &KernelRaiser::raiseScaledRmsNorm,
        &KernelRaiser::raiseRmsNorm, &KernelRaiser::raiseBatchNorm,
        &KernelRaiser::raiseMean, &KernelRaiser::foldScales,
        &KernelRaiser::foldRoundTrip, &KernelRaiser::raiseRope,
        &KernelRaiser::raiseHalvedRope, &KernelRaiser::raisePartialRope,
        &KernelRaiser::raiseAttention, &KernelRaiser::foldOrder,
        &KernelRaiser::foldRoundTrip})
    apply(pattern);
  Operation *first = nullptr;
  unsigned count = 0;
  function.walk([&](Operation *op) {
    if (!isa<ElementwiseOp, MaskScoresOp>(op))
      return;
    ++count;
    if (!first)
      first = op;
  });
  if (first)
    first->emitRemark("is in no kernel that is known, and becomes one of its "
                      "own; there are ")
        << count << " such ops";
  // Angles and other constants that nobody reads any longer.
  if (!function.isPrivate())
    for (unsigned i = function.getNumArguments(); i-- > 0;)
      if (auto name =
              function.getArgAttrOfType<StringAttr>(i, STGDialect::kNameAttr);
          name && name.getValue().starts_with("constant") &&
          function.getArgument(i).use_empty())
        (void)function.eraseArgument(i);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Products accumulate in wide types anyway.
Value KernelRaiser::foldCast(Operation *op) {
  auto cast = dyn_cast<CastOp>(op);
  auto einsum = cast ? cast.getInput().getDefiningOp<EinsumOp>() : EinsumOp();
  if (!einsum || !einsum.getInto() || !einsum->hasOneUse() ||
      tensorOf(einsum.getInputs()[0]).getElementType() !=
          tensorOf(cast.getResult()).getElementType())
    return {};
  return EinsumOp::create(builder, einsum.getLoc(), einsum.getInputs(),
                          einsum.getEquationAttr(), TypeAttr(), DrawsAttr(),
                          SymExpr());
}

/// A cast back from a wider type.
Value KernelRaiser::foldRoundTrip(Operation *op) {
  if (!isa<CastOp>(op))
    return {};
  Value source = peelWidening(op->getOperand(0));
  return tensorOf(source).getElementType() ==
                 tensorOf(op->getResult(0)).getElementType()
             ? source
             : Value();
}

/// A product reads its operands in any order.
Value KernelRaiser::foldOrder(Operation *op) {
  auto einsum = dyn_cast<EinsumOp>(op);
  if (!einsum)
    return {};
  auto [terms, result] = einsum.getEquation().split("->");
  SmallVector<Value> inputs;
  std::string equation;
  bool changed = false;
  for (Value input : einsum.getInputs()) {
    auto [term, rest] = terms.split(',');
    terms = rest;
    std::string letters = term.str();
    if (auto rearrange = input.getDefiningOp<RearrangeOp>()) {
      auto [before, after] = rearrange.getPattern().split("->");
      std::string order;
      for (char c : before)
        if (c != '(' && c != ')')
          order += c;
      if (!after.contains('(') && order != after) {
        // Dimensions that are cut stay cut, in the order that is there.
        letters.clear();
        SmallVector<DimAttr> dims;
        for (char c : order) {
          size_t place = after.find(c);
          letters += term[place];
          dims.push_back(rearrange.getType().getDim(place));
        }
        builder.setInsertionPoint(op);
        input = this->rearrange(rearrange.getInput(), before, order, dims);
        changed = true;
      }
    }
    equation += (inputs.empty() ? "" : ",") + letters;
    inputs.push_back(input);
  }
  if (!changed)
    return {};
  return EinsumOp::create(builder, op->getLoc(), inputs,
                          builder.getStringAttr(equation + "->" + result),
                          einsum.getIntoAttr(), einsum.getDrawsAttr(),
                          einsum.getUsedAttr());
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// The x of 1 + exp(-x), or null.
static Value matchOnePlusExp(Value value) {
  auto sum = value.getDefiningOp<AddOp>();
  if (!sum)
    return {};
  bool isFirst = isSplatOf(sum.getLhs(), 1);
  if (!isFirst && !isSplatOf(sum.getRhs(), 1))
    return {};
  auto exp = getElementwise(isFirst ? sum.getRhs() : sum.getLhs(),
                            ElementwiseKind::Exp);
  auto negative = exp ? getElementwise(exp.getLhs(), ElementwiseKind::Neg)
                      : ElementwiseOp();
  return negative ? negative.getLhs() : Value();
}

/// 1/(1 + exp(-x)), and what multiplies x with it in one body.
Value KernelRaiser::raiseSigmoid(Operation *op) {
  auto quotient = dyn_cast<ElementwiseOp>(op);
  bool isInverse =
      quotient && quotient.getKind() == ElementwiseKind::Reciprocal;
  if (!isInverse && !(quotient && quotient.getKind() == ElementwiseKind::Div))
    return {};
  Value x = matchOnePlusExp(isInverse ? quotient.getLhs() : quotient.getRhs());
  if (!x)
    return {};
  Value dividend = quotient.getLhs();
  std::optional<Activation> function;
  if (isInverse || isSplatOf(dividend, 1))
    function = Activation::Sigmoid;
  else if (dividend == x)
    function = Activation::Silu;
  else if (getOtherThanSplat<MulOp>(x) == dividend)
    function = Activation::QuickGelu;
  if (!function)
    return {};
  return ActivationOp::create(builder, op->getLoc(),
                              function == Activation::QuickGelu ? dividend : x,
                              *function);
}

/// The factors of a product of whole tensors; true if one is 1/2.
static bool collectFactors(Value value, SmallVectorImpl<Value> &factors) {
  if (auto product = value.getDefiningOp<MulOp>();
      product && product->hasOneUse()) {
    bool lhs = collectFactors(product.getLhs(), factors);
    return collectFactors(product.getRhs(), factors) || lhs;
  }
  if (auto splat = value.getDefiningOp<SplatOp>())
    if (splat.getValue().getConstant() == Rational(1) / Rational(2))
      return true;
  factors.push_back(value);
  return false;
}

/// True for a polynomial of `x`, of few terms.
static bool isPolynomial(Value value, Value x, unsigned depth = 6) {
  if (value == x || isSplat(value))
    return true;
  Operation *op = value.getDefiningOp();
  auto function = dyn_cast_or_null<ElementwiseOp>(op);
  return op && depth > 0 &&
         (isa<AddOp, MulOp>(op) ||
          (function && (function.getKind() == ElementwiseKind::Square ||
                        function.getKind() == ElementwiseKind::Pow))) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isPolynomial(operand, x, depth - 1);
         });
}

/// Silu, quick GELU, and GELU by the error function or by tanh.
Value KernelRaiser::raiseActivation(Operation *op) {
  auto product = dyn_cast<MulOp>(op);
  if (!product)
    return {};
  auto make = [&](Value x, Activation function) {
    return ActivationOp::create(builder, op->getLoc(), x, function);
  };
  for (auto [x, gate] : {std::pair(product.getLhs(), product.getRhs()),
                         std::pair(product.getRhs(), product.getLhs())}) {
    auto sigmoid = gate.getDefiningOp<ActivationOp>();
    if (!sigmoid || sigmoid.getFunction() != Activation::Sigmoid)
      continue;
    if (sigmoid.getInput() == x)
      return make(x, Activation::Silu);
    if (getOtherThanSplat<MulOp>(sigmoid.getInput()) == x)
      return make(x, Activation::QuickGelu);
  }
  SmallVector<Value> factors;
  bool isHalved = collectFactors(product.getLhs(), factors);
  isHalved |= collectFactors(product.getRhs(), factors);
  if (!isHalved || factors.size() != 2)
    return {};
  for (unsigned i : {0u, 1u}) {
    Value x = factors[i];
    auto sum = factors[1 - i].getDefiningOp<AddOp>();
    if (!sum)
      continue;
    bool isFirst = isSplatOf(sum.getLhs(), 1);
    if (!isFirst && !isSplatOf(sum.getRhs(), 1))
      continue;
    Value inner = isFirst ? sum.getRhs() : sum.getLhs();
    Value argument;
    if (auto erf = getElementwise(inner, ElementwiseKind::Erf))
      argument = erf.getLhs();
    else if (auto tanh = inner.getDefiningOp<ActivationOp>();
             tanh && tanh.getFunction() == Activation::Tanh)
      argument = tanh.getInput();
    if (argument && isPolynomial(argument, x))
      return make(x, Activation::Gelu);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Softmax and norms
//===----------------------------------------------------------------------===//

/// The letters of a tensor's dimensions, and those with one of them at the end.
static std::pair<std::string, std::string> getOrders(unsigned rank,
                                                     unsigned last) {
  std::string letters;
  for (unsigned i = 0; i < rank; ++i)
    letters += static_cast<char>('a' + i);
  std::string moved = letters;
  moved.erase(last, 1);
  return {letters, moved + letters[last]};
}

/// exp(x - max(x))/sum(exp(x - max(x))). A maximum is along the last dimension,
/// to which another one has been moved.
Value KernelRaiser::raiseSoftmax(Operation *op) {
  Value exponential, divisor;
  SmallVector<int64_t> dims;
  if (auto quotient = dyn_cast<ElementwiseOp>(op);
      quotient && quotient.getKind() == ElementwiseKind::Div) {
    exponential = quotient.getLhs();
    divisor = quotient.getRhs();
  } else if (matchProduct(op->getResult(0), exponential, divisor, dims)) {
    auto inverse =
        getElementwise(peelUnits(divisor), ElementwiseKind::Reciprocal);
    if (!inverse)
      return {};
    divisor = inverse.getLhs();
  } else {
    return {};
  }
  auto exp = getElementwise(peelCasts(exponential), ElementwiseKind::Exp);
  if (!exp)
    return {};
  const unsigned rank = exp.getType().getRank();
  // The one along which the sum is.
  unsigned dim = 0;
  SumOp sum;
  for (; dim < rank && !sum; ++dim)
    if (Value total = peelUnitAt(divisor, dim, rank))
      if (sum = total.getDefiningOp<SumOp>(); sum && sum.getDim() != dim)
        sum = {};
  --dim;
  if (!sum || peelCasts(sum.getInput()) != exp.getResult())
    return {};
  auto difference = getElementwise(exp.getLhs(), ElementwiseKind::Sub);
  Value greatest =
      difference ? peelUnitAt(difference.getRhs(), dim, rank) : Value();
  auto maximum = greatest ? greatest.getDefiningOp<ReduceOp>() : ReduceOp();
  if (!maximum || maximum.getKind() != ReduceKind::Max)
    return {};
  auto [letters, moved] = getOrders(rank, dim);
  Value reduced = peelWidening(maximum.getInput());
  if (dim + 1 != rank) {
    auto move = reduced.getDefiningOp<RearrangeOp>();
    if (!move || move.getPattern() != letters + "->" + moved)
      return {};
    reduced = peelWidening(move.getInput());
  }
  // What is computed in fp32 need not be cast before.
  Value x = peelWidening(difference.getLhs());
  if (reduced != x)
    return {};
  if (dim + 1 == rank)
    return SoftmaxOp::create(builder, op->getLoc(), x);
  SmallVector<DimAttr> own(tensorOf(x).getDims()), others = own;
  std::rotate(others.begin() + dim, others.begin() + dim + 1, others.end());
  auto softmax = SoftmaxOp::create(builder, op->getLoc(),
                                   rearrange(x, letters, moved, others));
  return rearrange(softmax, moved, letters, own);
}

/// True if the scale has all dimensions of the whole but the last `width`.
static bool isOfRows(Value whole, ArrayRef<int64_t> dims, unsigned width) {
  return llvm::equal(dims,
                     llvm::seq<int64_t>(0, tensorOf(whole).getRank() - width));
}

/// True if it has the last ones alone.
static bool isOfColumns(Value whole, ArrayRef<int64_t> dims) {
  int64_t rank = tensorOf(whole).getRank();
  return llvm::equal(
      dims, llvm::seq<int64_t>(rank - static_cast<int64_t>(dims.size()), rank));
}

/// The normalized rows, where `value` is x/root(mean(x*x)): x, as it was
/// before casts.
static Value matchRmsNorm(Value value, unsigned width) {
  Value x, scale;
  SmallVector<int64_t> dims;
  if (!matchProduct(peelCasts(value), x, scale, dims) ||
      !isOfRows(x, dims, width))
    return {};
  Value source = getNormSource(scale, width);
  if (!source || peelWidening(source) != peelWidening(x))
    return {};
  return peelWidening(x);
}

/// With a weight, which may have several dimensions: heads that are normalized
/// together.
Value KernelRaiser::raiseScaledRmsNorm(Operation *op) {
  Value rows, weight;
  SmallVector<int64_t> dims;
  if (!matchProduct(op->getResult(0), rows, weight, dims) ||
      !isOfColumns(rows, dims) || dims.empty() || !isa<MulAlongOp>(op))
    return {};
  Value x = matchRmsNorm(rows, dims.size());
  if (!x || isa_and_nonnull<ElementwiseOp>(weight.getDefiningOp()))
    return {};
  weight = castTo(peelCasts(weight), tensorOf(x).getElementType());
  return RmsNormOp::create(builder, op->getLoc(), x, weight).getResult();
}

Value KernelRaiser::raiseRmsNorm(Operation *op) {
  Value x = matchRmsNorm(op->getResult(0), 1);
  if (!x)
    return {};
  return RmsNormOp::create(builder, op->getLoc(), x, Value()).getResult();
}

/// (x - mean(x))/deviation(x).
Value KernelRaiser::raiseLayerNorm(Operation *op) {
  Value centered, scale;
  SmallVector<int64_t> dims;
  if (!matchProduct(op->getResult(0), centered, scale, dims) ||
      !isOfRows(centered, dims, 1))
    return {};
  Value source = getNormSource(scale, 1);
  auto difference = getElementwise(peelCasts(centered), ElementwiseKind::Sub);
  if (!source || !difference || peelCasts(source) != difference.getResult())
    return {};
  Value summed = getMeanSource(difference.getRhs(), 1);
  if (!summed || peelWidening(summed) != peelWidening(difference.getLhs()))
    return {};
  return LayerNormOp::create(builder, op->getLoc(),
                             peelWidening(difference.getLhs()), ValueRange())
      .getResult();
}

Value KernelRaiser::addNormWeight(Operation *op) {
  auto along = dyn_cast<MulAlongOp>(op);
  auto norm = along ? peelCasts(along.getInput()).getDefiningOp<LayerNormOp>()
                    : LayerNormOp();
  if (!norm || !norm.getParameters().empty() || along.getDims().size() != 1 ||
      !isOfColumns(along.getInput(), along.getDims()))
    return {};
  Value weight = castTo(peelCasts(along.getVector()),
                        tensorOf(norm.getInput()).getElementType());
  return LayerNormOp::create(builder, op->getLoc(), norm.getInput(), weight)
      .getResult();
}

Value KernelRaiser::addNormBias(Operation *op) {
  auto sum = dyn_cast<BiasAddOp>(op);
  auto norm = sum ? peelCasts(sum.getInput()).getDefiningOp<LayerNormOp>()
                  : LayerNormOp();
  if (!norm || norm.getParameters().size() != 1 || sum.getDims() ||
      tensorOf(sum.getBias()).getRank() != 1)
    return {};
  SmallVector<Value> parameters(norm.getParameters());
  parameters.push_back(castTo(peelCasts(sum.getBias()),
                              tensorOf(norm.getInput()).getElementType()));
  return LayerNormOp::create(builder, op->getLoc(), norm.getInput(), parameters)
      .getResult();
}

/// A vector that has been given dimensions of extent 1, without those.
static Value peelVector(Value value) {
  value = peelCasts(value);
  if (auto rearrange = value.getDefiningOp<RearrangeOp>()) {
    std::string letters;
    auto [before, after] = rearrange.getPattern().split("->");
    for (char c : after)
      if (c != '(' && c != ')')
        letters += c;
    if (before.size() == 1 && before == letters)
      return peelCasts(rearrange.getInput());
  }
  return value;
}

static bool isVectorParameter(Value value) {
  value = peelVector(value);
  return value.getDefiningOp<ParamOp>() && tensorOf(value).getRank() == 1;
}

/// (x - mean)/root(variance)*weight + bias of the channels, all of which are
/// parameters: running averages, in the place of which training computes those
/// of the batch.
Value KernelRaiser::raiseBatchNorm(Operation *op) {
  auto sum = dyn_cast<BiasAddOp>(op);
  if (!sum || sum.getDims() || !isVectorParameter(sum.getBias()))
    return {};
  Value rest = peelCasts(sum.getInput()), weight;
  bool isScaled = false;
  for (int i = 0; i < 2; ++i) {
    auto along = rest.getDefiningOp<MulAlongOp>();
    if (!along || along.getDims().size() != 1 ||
        !isOfColumns(along.getInput(), along.getDims()))
      return {};
    Value scale = peelVector(along.getVector());
    auto root = getElementwise(scale, ElementwiseKind::Rsqrt);
    Value variance =
        root ? getOtherThanSplat<AddOp>(peelCasts(root.getLhs())) : Value();
    if (variance && isVectorParameter(variance) && !isScaled)
      isScaled = true;
    else if (isVectorParameter(scale) && !weight)
      weight = scale;
    else
      return {};
    rest = peelCasts(along.getInput());
  }
  auto centered = getElementwise(rest, ElementwiseKind::Sub);
  if (!centered || !isVectorParameter(centered.getRhs()))
    return {};
  Value x = peelWidening(centered.getLhs());
  Type element = tensorOf(x).getElementType();
  return BatchNormOp::create(builder, op->getLoc(), x, castTo(weight, element),
                             castTo(peelVector(sum.getBias()), element));
}

std::optional<Rational> KernelRaiser::getDefault(SymExpr extent) {
  // Values may be expressions themselves.
  for (int depth = 0; depth < 8 && !extent.getConstant(); ++depth) {
    SymBinding values;
    extent.walkSymbols([&](StringAttr name) {
      auto symbol =
          SymbolTable::lookupNearestSymbolFrom<SymbolOp>(function, name);
      if (symbol && symbol.getValueAttr())
        values[name] = symbol.getValueAttr();
    });
    extent = extent.substitute(values);
  }
  return extent.getConstant();
}

/// What constants are after they have been rounded to 8 bits.
static bool isAbout(Rational value, Rational expected) {
  Rational difference = value - expected;
  if (difference < Rational(0))
    difference = Rational(0) - difference;
  return difference * Rational(128) < expected;
}

/// Sums along neighbouring dimensions, divided by how many elements these have.
Value KernelRaiser::raiseMean(Operation *op) {
  Value value;
  std::optional<Rational> scale = matchScale(op->getResult(0), value);
  if (!scale)
    return {};
  SmallVector<SumOp> sums;
  while (auto sum = value.getDefiningOp<SumOp>()) {
    if (!sums.empty() && !sum->hasOneUse())
      break;
    sums.push_back(sum);
    value = sum.getInput();
  }
  if (sums.empty())
    return {};
  // Which dimensions of the value are summed: they are one row.
  auto left =
      llvm::to_vector(llvm::seq<unsigned>(0, tensorOf(value).getRank()));
  SmallVector<unsigned> summed;
  for (SumOp sum : llvm::reverse(sums)) {
    summed.push_back(left[sum.getDim()]);
    left.erase(left.begin() + sum.getDim());
  }
  llvm::sort(summed);
  unsigned first = summed.front();
  if (summed.back() - first + 1 != summed.size())
    return {};
  SymExpr count = SymExpr::get(op->getContext(), 1);
  SmallVector<DimAttr> dims;
  std::string before, after;
  for (auto [dim, attribute] : llvm::enumerate(tensorOf(value).getDims())) {
    bool isOne = llvm::is_contained(summed, dim);
    before += static_cast<char>('a' + dim);
    after += isOne && dim == first ? "(" : "";
    after += static_cast<char>('a' + dim);
    after += isOne && dim == summed.back() ? ")" : "";
    if (isOne)
      count = count * attribute.getExtent();
    if (!isOne)
      dims.push_back(attribute);
    else if (dim == summed.back())
      dims.push_back(DimAttr::get(count));
  }
  std::optional<Rational> number = getDefault(count);
  if (!number || !isAbout(*scale * *number, Rational(1)))
    return {};
  if (summed.size() > 1)
    value = rearrange(value, before, after, dims);
  return MeanOp::create(builder, op->getLoc(), value, first);
}

/// Two scales that cancel: a sum over windows is so many times their mean, and
/// the mean is what is asked for.
Value KernelRaiser::foldScales(Operation *op) {
  Value value, source;
  std::optional<Rational> outer = matchScale(op->getResult(0), value);
  if (!outer)
    return {};
  std::optional<Rational> inner = matchScale(peelCasts(value), source);
  return inner && isAbout(*inner * *outer, Rational(1)) ? source : Value();
}

//===----------------------------------------------------------------------===//
// Rotary positions
//===----------------------------------------------------------------------===//

/// True for what nothing is trained of: angles of positions.
static bool isConstant(Value value, unsigned depth = 16) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return isa<func::FuncOp>(
        cast<BlockArgument>(value).getOwner()->getParentOp());
  if (auto param = dyn_cast<ParamOp>(op))
    return param.getFrozen();
  return depth > 0 && isPure(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isConstant(operand, depth - 1);
         });
}

/// The rotation needs the position as its second dimension, and three of them.
Value KernelRaiser::makeRope(Value input, ArrayRef<int64_t> angleDims,
                             Location loc) {
  SymTensorType type = tensorOf(input);
  int64_t rank = type.getRank();
  // Angles are of a position and an element of the last dimension, and perhaps
  // of a row of the batch.
  if (rank < 3 || angleDims.size() < 2 || angleDims.back() != rank - 1)
    return {};
  int64_t position = angleDims[angleDims.size() - 2];
  if (angleDims.size() > 3 || (angleDims.size() == 3 && angleDims[0] != 0) ||
      position == rank - 1)
    return {};
  std::string letters, order;
  for (int64_t i = 0; i < rank; ++i)
    letters += static_cast<char>('a' + i);
  int64_t first = position == 0 ? 1 : 0;
  order = {letters[first], letters[position]};
  for (char c : letters)
    if (c != letters[first] && c != letters[position])
      order += c;
  SmallVector<DimAttr> dims;
  for (char c : order)
    dims.push_back(type.getDim(c - 'a'));
  Value rotated = RopeOp::create(
      builder, loc, rearrange(input, letters, order, dims), false, SymExpr());
  return rearrange(rotated, order, letters, type.getDims());
}

/// The two halves of the last dimension of a tensor that `lhs` and `rhs` are.
static Value matchHalves(Value lhs, Value rhs) {
  auto split = lhs.getDefiningOp<SplitOp>();
  if (!split || split.getNumResults() != 2 || lhs != split.getResult(0) ||
      rhs != split.getResult(1) ||
      int64_t(split.getDim()) + 1 != tensorOf(split.getInput()).getRank() ||
      tensorOf(lhs).getDims().back().getExtent() !=
          tensorOf(rhs).getDims().back().getExtent())
    return {};
  return split.getInput();
}

static Value getNegated(Value value) {
  if (auto negative = getElementwise(value, ElementwiseKind::Neg))
    return negative.getLhs();
  if (auto product = value.getDefiningOp<MulOp>()) {
    if (isSplatOf(product.getRhs(), -1))
      return product.getLhs();
    if (isSplatOf(product.getLhs(), -1))
      return product.getRhs();
  }
  return {};
}

/// x*cos + concat(-x2, x1)*sin.
Value KernelRaiser::raiseRope(Operation *op) {
  auto sum = dyn_cast<AddOp>(op);
  if (!sum)
    return {};
  for (auto [straight, turned] : {std::pair(sum.getLhs(), sum.getRhs()),
                                  std::pair(sum.getRhs(), sum.getLhs())}) {
    Value x, cos, rotated, sin;
    SmallVector<int64_t> cosDims, sinDims;
    if (!matchProduct(straight, x, cos, cosDims) ||
        !matchProduct(turned, rotated, sin, sinDims) || cosDims != sinDims ||
        !isConstant(cos) || !isConstant(sin))
      continue;
    auto concat = rotated.getDefiningOp<ConcatOp>();
    if (!concat || concat.getInputs().size() != 2)
      continue;
    Value second = getNegated(concat.getInputs()[0]);
    if (!second || matchHalves(concat.getInputs()[1], second) != x)
      continue;
    if (Value result = makeRope(x, cosDims, op->getLoc()))
      return result;
  }
  return {};
}

/// concat(x1*cos - x2*sin, x2*cos + x1*sin).
Value KernelRaiser::raiseHalvedRope(Operation *op) {
  auto concat = dyn_cast<ConcatOp>(op);
  if (!concat || concat.getInputs().size() != 2)
    return {};
  auto difference = getElementwise(concat.getInputs()[0], ElementwiseKind::Sub);
  auto sum = concat.getInputs()[1].getDefiningOp<AddOp>();
  if (!difference || !sum)
    return {};
  Value x1, cos, x2, sin, other, scale;
  SmallVector<int64_t> dims, otherDims;
  if (!matchProduct(difference.getLhs(), x1, cos, dims) ||
      !matchProduct(difference.getRhs(), x2, sin, otherDims) ||
      dims != otherDims || !isConstant(cos) || !isConstant(sin))
    return {};
  Value x = matchHalves(x1, x2);
  if (!x)
    return {};
  bool hasFirst = false, hasSecond = false;
  for (Value term : {sum.getLhs(), sum.getRhs()}) {
    if (!matchProduct(term, other, scale, otherDims) || dims != otherDims)
      return {};
    hasFirst |= other == x1 && scale == sin;
    hasSecond |= other == x2 && scale == cos;
  }
  return hasFirst && hasSecond ? makeRope(x, dims, op->getLoc()) : Value();
}

/// Of the first elements only.
Value KernelRaiser::raisePartialRope(Operation *op) {
  auto concat = dyn_cast<ConcatOp>(op);
  if (!concat || concat.getInputs().size() != 2)
    return {};
  auto rope = concat.getInputs()[0].getDefiningOp<RopeOp>();
  auto split = concat.getInputs()[1].getDefiningOp<SplitOp>();
  if (!rope || !split || split.getNumResults() != 2 || rope.getRotated() ||
      rope.getInput() != split.getResult(0) ||
      concat.getInputs()[1] != split.getResult(1) ||
      split.getDim() != concat.getDim() ||
      int64_t(split.getDim()) + 1 != split.getInput().getType().getRank())
    return {};
  return RopeOp::create(builder, op->getLoc(), split.getInput(), false,
                        tensorOf(rope.getInput()).getDims().back().getExtent());
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

namespace {
/// The letters of an equation of two operands.
struct Equation {
  std::string lhs, rhs, result;

  explicit Equation(EinsumOp op) {
    auto [operands, out] = op.getEquation().split("->");
    auto [first, second] = operands.split(",");
    lhs = first;
    rhs = second;
    result = out;
  }
};
} // namespace

bool KernelRaiser::isOfInput(DimAttr dim) {
  return llvm::any_of(function.getArguments(), [&](BlockArgument arg) {
    auto name = function.getArgAttrOfType<StringAttr>(arg.getArgNumber(),
                                                      STGDialect::kNameAttr);
    return !(name && name.getValue().starts_with("constant")) &&
           llvm::is_contained(tensorOf(arg).getDims(), dim);
  });
}

static bool has(StringRef letters, char c) { return letters.contains(c); }

namespace {
/// softmax(mask(scale * q k)) v. Dimensions of all of it have the letters of
/// the second product, and those that it does not have capital ones.
class MatchedAttention {
public:
  /// Whether a dimension is one of an input of the program.
  using IsOfInput = function_ref<bool(DimAttr)>;

  explicit MatchedAttention(EinsumOp mix) : mix(mix), second(mix) {}
  bool match(IsOfInput isOfInput) {
    if (!findWeights() || !findScores() || !nameOperands() || !findSizes() ||
        !findQuery(isOfInput))
      return false;
    findHeads(isOfInput);
    return true;
  }

  EinsumOp mix; ///< The second product.
  Equation second;
  Value q, k, v;
  std::string queries, keys, values; ///< The letters of their dimensions.
  MaskScoresOp mask;                 ///< Null: there is none.

  // What dimensions mean. Each but the query and the key may be of several.
  char query = 0, key = 0;
  std::string batch, heads;
  std::string group; ///< Of the heads of queries that share a key/value head.
  std::string size, valueSize;

private:
  bool findWeights();
  bool findScores();
  bool nameOperands();
  bool findSizes();
  bool findQuery(IsOfInput isOfInput);
  void findHeads(IsOfInput isOfInput);
  bool isGiven(char c, IsOfInput isOfInput) const {
    return isOfInput(tensorOf(q).getDim(queries.find(c)));
  }

  SoftmaxOp softmax;
  EinsumOp product;    ///< The first one.
  std::string letters; ///< Of the scores that it makes.
  char masked = 0;     ///< The dimension of the queries of the mask.
  std::string shared;  ///< The batch and the heads.
};
} // namespace

/// The softmax among the operands of the second product.
bool MatchedAttention::findWeights() {
  if (mix.getInputs().size() != 2)
    return false;
  unsigned place = 0;
  for (; place < 2 && !softmax; ++place)
    softmax = peelCasts(mix.getInputs()[place]).getDefiningOp<SoftmaxOp>();
  // What somebody else reads would be computed twice.
  auto isReadOnce = [](Value value, Value until) {
    for (; value != until; value = value.getDefiningOp()->getOperand(0))
      if (!value.hasOneUse())
        return false;
    return true;
  };
  if (!softmax || !softmax->hasOneUse() ||
      !isReadOnce(mix.getInputs()[place - 1], softmax))
    return false;
  letters = place == 1 ? second.lhs : second.rhs;
  values = place == 1 ? second.rhs : second.lhs;
  v = mix.getInputs()[place == 1 ? 1 : 0];
  key = letters.back();
  return true;
}

/// From the softmax back to the first product.
bool MatchedAttention::findScores() {
  Value scores = softmax.getInput();
  while (!product) {
    Operation *producer = scores.getDefiningOp();
    if (!producer || !scores.hasOneUse())
      return false;
    if (auto cast = dyn_cast<CastOp>(producer)) {
      scores = cast.getInput();
    } else if (auto found = dyn_cast<MaskScoresOp>(producer)) {
      if (mask || letters.back() != key)
        return false;
      mask = found;
      masked = letters[letters.size() - 2];
      scores = found.getInput();
    } else if (Value rest = getOtherThanSplat<MulOp>(scores)) {
      scores = rest;
    } else if (auto rearrange = dyn_cast<RearrangeOp>(producer)) {
      auto [before, after] = rearrange.getPattern().split("->");
      if (before.contains('(') || after.contains('('))
        return false;
      std::string earlier(letters.size(), ' ');
      for (auto [c, letter] : llvm::zip_equal(after, letters))
        earlier[before.find(c)] = letter;
      letters = earlier;
      scores = rearrange.getInput();
    } else if (!(product = dyn_cast<EinsumOp>(producer))) {
      return false;
    }
  }
  return product.getInputs().size() == 2;
}

/// The operand of the first product that has the keys is `k`.
bool MatchedAttention::nameOperands() {
  Equation first(product);
  std::string unused = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  llvm::SmallDenseMap<char, char> names;
  for (auto [own, letter] : llvm::zip_equal(first.result, letters))
    names[own] = letter;
  for (char c : first.lhs + first.rhs)
    if (names.try_emplace(c, unused.front()).second)
      unused.erase(0, 1);
  auto rename = [&](std::string text) {
    for (char &c : text)
      c = names[c];
    return text;
  };
  queries = rename(first.lhs);
  keys = rename(first.rhs);
  q = product.getInputs()[0];
  k = product.getInputs()[1];
  if (has(queries, key)) {
    std::swap(queries, keys);
    std::swap(q, k);
  }
  return !has(queries, key) && has(keys, key) && has(values, key) &&
         !has(second.result, key);
}

/// Batch and key/value heads are in all of them, queries and the heads of a
/// group in q alone, a size is summed.
bool MatchedAttention::findSizes() {
  for (char c : queries) {
    if (has(keys, c) && has(letters, c))
      shared += c;
    else if (has(keys, c))
      size += c;
    else
      group += c;
  }
  if (llvm::any_of(keys, [&](char c) {
        return c != key && !has(shared, c) && !has(size, c);
      }))
    return false;
  for (char c : values) {
    if (c == key || has(shared, c))
      continue;
    if (has(letters, c) || !has(second.result, c))
      return false;
    valueSize += c;
  }
  auto hasAll = [&](StringRef text) {
    return llvm::all_of(shared, [&](char c) { return has(text, c); });
  };
  return size.size() == 1 && valueSize.size() == 1 && shared.size() <= 2 &&
         !group.empty() && hasAll(values) && hasAll(second.result) &&
         second.result.size() == shared.size() + group.size() + 1;
}

/// The queries are those that the mask is for, or that are as keys are, or the
/// last ones of the scores. Positions and samples are what inputs have; heads
/// are what projections make.
bool MatchedAttention::findQuery(IsOfInput isOfInput) {
  SymTensorType type = tensorOf(q);
  DimAttr keyDim = tensorOf(k).getDim(keys.find(key));
  query = masked;
  if (!query)
    for (char c : group)
      if (type.getDim(queries.find(c)) == keyDim)
        query = c;
  auto isOne = [&](char c) { return isGiven(c, isOfInput); };
  if (!query && llvm::count_if(group, isOne) == 1)
    query = *llvm::find_if(group, isOne);
  for (char c : llvm::reverse(letters))
    if (!query && has(group, c))
      query = c;
  if (!has(group, query))
    return false;
  group.erase(group.find(query), 1);
  return true;
}

/// The batch comes before the queries, heads may be on either side.
void MatchedAttention::findHeads(IsOfInput isOfInput) {
  if (shared.size() == 2) {
    bool isSecond =
        isGiven(shared[1], isOfInput) && !isGiven(shared[0], isOfInput);
    batch = shared.substr(isSecond ? 1 : 0, 1);
    heads = shared.substr(isSecond ? 0 : 1, 1);
  } else if (!shared.empty() && !isGiven(shared[0], isOfInput)) {
    heads = shared;
  } else if (!shared.empty()) {
    bool isBefore = queries.find(shared[0]) < queries.find(query);
    bool isBatch = isBefore && (group.empty() ||
                                (!has(group, shared[0]) && group.size() == 1));
    (isBatch ? batch : heads) = shared;
  }
}

/// The dimension that those of a group make together.
static DimAttr joinDims(SymTensorType type, StringRef letters,
                        StringRef group) {
  if (group.size() == 1)
    return type.getDim(letters.find(group[0]));
  MLIRContext *context = type.getContext();
  SymExpr extent = SymExpr::get(context, 1);
  for (char c : group)
    extent = extent * type.getDim(letters.find(c)).getExtent();
  return group.empty() ? DimAttr::get(context, ArrayRef<StringAttr>(), extent)
                       : DimAttr::get(extent);
}

/// Of a group of dimensions, in a pattern.
static std::string writeGroup(StringRef group) {
  return group.size() == 1 ? group.str() : "(" + group.str() + ")";
}

/// Patterns have lower-case letters.
static std::string toPattern(std::string text, StringRef alphabet) {
  for (char &c : text)
    if (c != '(' && c != ')')
      c = 'a' + alphabet.find(c);
  return text;
}

/// In any order of heads and positions.
Value KernelRaiser::raiseAttention(Operation *op) {
  auto mix = dyn_cast<EinsumOp>(op);
  if (!mix)
    return {};
  MatchedAttention found(mix);
  if (!found.match([&](DimAttr dim) { return isOfInput(dim); }))
    return {};
  auto bring = [&](Value value, const std::string &text, StringRef rows,
                   StringRef heads, StringRef size) {
    SymTensorType type = tensorOf(value);
    std::string after = writeGroup(found.batch) + writeGroup(rows) +
                        writeGroup(heads) + writeGroup(size);
    return rearrange(value, toPattern(text, text), toPattern(after, text),
                     {joinDims(type, text, found.batch),
                      joinDims(type, text, rows), joinDims(type, text, heads),
                      joinDims(type, text, size)});
  };
  // A scale is part of the kernel.
  Value q = found.q, k = found.k, v = found.v;
  for (Value *operand : {&q, &k})
    while (Value rest = getOtherThanSplat<MulOp>(peelCasts(*operand)))
      *operand = rest;
  Type element = tensorOf(v).getElementType();
  q = castTo(q, element);
  k = castTo(k, element);
  const std::string query(1, found.query), key(1, found.key),
      allHeads = found.heads + found.group;
  MaskScoresOp mask = found.mask;
  auto attention = AttentionOp::create(
      builder, op->getLoc(),
      bring(q, found.queries, query, allHeads, found.size),
      bring(k, found.keys, key, found.heads, found.size),
      bring(v, found.values, key, found.heads, found.valueSize), ValueRange(),
      mask ? AttentionMask::Causal : AttentionMask::None,
      /*full_count=*/false, ContextAttr(), RequestsAttr(),
      mask ? mask.getWindowAttr() : SymExpr(), SymExpr(), /*capped=*/false,
      /*alibi=*/false, /*prefix=*/SymExpr(), /*pairs=*/SymExpr(),
      /*compressed=*/SymExpr(), /*past=*/SymExpr());
  // Back to the order and the heads of the second product.
  std::string order = found.batch + query + allHeads + found.valueSize;
  std::string before = writeGroup(found.batch) + writeGroup(query) +
                       writeGroup(allHeads) + writeGroup(found.valueSize);
  return rearrange(attention.getResult(), toPattern(before, order),
                   toPattern(found.second.result, order),
                   tensorOf(mix.getResult()).getDims());
}
