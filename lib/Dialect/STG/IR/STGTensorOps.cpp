//===- STGTensorOps.cpp - Shapes, convolutions, positions -----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types, costs, sharding rules and gradients of the ops of STGTensorOps.td.
//
//===----------------------------------------------------------------------===//

#include "STGVerification.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace stg;
using namespace stg::detail;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

static OpCost makeMove(Operation *op) { return makeCost(op, constant(op, 0)); }

/// Checks that the value has these dimensions.
static LogicalResult checkDims(std::optional<Location> loc, StringRef what,
                               ArrayRef<DimAttr> expected, Value value,
                               Value expectedOf = {}) {
  return checkSameShape(loc, what, expected, tensorOf(value).getDims(),
                        expectedOf, expectedOf ? value : Value());
}

static LogicalResult checkElementType(Operation *op, Value value, Value like) {
  Type expected = tensorOf(like).getElementType();
  Type found = tensorOf(value).getElementType();
  if (found == expected)
    return success();
  return op->emitOpError("has element types ")
         << expected << " and " << found << ", expected one";
}

static LogicalResult checkDim(std::optional<Location> loc, SymTensorType type,
                              uint64_t dim) {
  if (dim < static_cast<uint64_t>(type.getRank()))
    return success();
  return emitOptionalError(loc, "has dimension ", dim, ", the tensor has rank ",
                           type.getRank());
}

/// All dimensions but one.
static SmallVector<DimAttr> without(ArrayRef<DimAttr> dims, uint64_t dim) {
  SmallVector<DimAttr> rest(dims);
  rest.erase(rest.begin() + dim);
  return rest;
}

//===----------------------------------------------------------------------===//
// RearrangeOp
//===----------------------------------------------------------------------===//

namespace {
/// The two sides of a pattern: the letters of each dimension.
struct Rearrangement {
  using Side = SmallVector<std::string, 4>;
  Side input, output;

  static llvm::Expected<Rearrangement> parse(StringRef text);

  static std::string getLetters(const Side &side) {
    std::string letters;
    for (const std::string &dim : side)
      letters += dim;
    return letters;
  }
  bool keepsOrder() const { return getLetters(input) == getLetters(output); }
};
} // namespace

static llvm::Expected<Rearrangement::Side> parseSide(StringRef text) {
  Rearrangement::Side side;
  bool isInside = false;
  std::string seen;
  for (char c : text) {
    if (c == '(' && !isInside) {
      side.emplace_back();
      isInside = true;
    } else if (c == ')' && isInside) {
      isInside = false;
    } else if (c >= 'a' && c <= 'z') {
      if (StringRef(seen).contains(c))
        return llvm::createStringError("has '" + Twine(c) +
                                       "' twice on one side");
      seen += c;
      if (!isInside)
        side.emplace_back();
      side.back().push_back(c);
    } else {
      return llvm::createStringError(
          "has '" + Twine(c) +
          "', expected lower-case letters, pairs of parentheses and '->'");
    }
  }
  if (isInside)
    return llvm::createStringError("has a '(' without its ')'");
  return side;
}

llvm::Expected<Rearrangement> Rearrangement::parse(StringRef text) {
  auto [left, right] = text.split("->");
  if (!text.contains("->"))
    return llvm::createStringError("has no '->'");
  llvm::Expected<Side> input = parseSide(left);
  if (!input)
    return input.takeError();
  llvm::Expected<Side> output = parseSide(right);
  if (!output)
    return output.takeError();
  std::string before = getLetters(*input), after = getLetters(*output);
  llvm::sort(before);
  llvm::sort(after);
  if (before != after)
    return llvm::createStringError("has other letters on its left than on its "
                                   "right");
  return Rearrangement{std::move(*input), std::move(*output)};
}

static Rearrangement parsePattern(RearrangeOp op) {
  return llvm::cantFail(Rearrangement::parse(op.getPattern()));
}

LogicalResult RearrangeOp::verify() {
  llvm::Expected<Rearrangement> pattern = Rearrangement::parse(getPattern());
  if (!pattern) // rearrange_c1
    return emitOpError("pattern '")
           << getPattern() << "' " << llvm::toString(pattern.takeError());
  llvm::SmallDenseMap<char, DimAttr> dims;
  for (auto [what, side, value] :
       {std::tuple("operand", &pattern->input, Value(getInput())),
        {"result", &pattern->output, Value(getResult())}}) {
    ArrayRef<DimAttr> own = tensorOf(value).getDims();
    if (own.size() != side->size()) // rearrange_c2
      return emitOpError("has ")
             << (StringRef(what) == "operand" ? "an " : "a ") << what
             << " of rank " << own.size() << ", the pattern has "
             << side->size() << " dimensions";
    for (auto [letters, dim] : llvm::zip_equal(*side, own)) {
      if (letters.empty() && !dim.getExtent().isOne())
        return emitOpError("has extent ")
               << dim.getExtent() << " where the pattern has '()', expected 1";
      if (letters.size() != 1)
        continue;
      auto [it, isNew] = dims.try_emplace(letters.front(), dim);
      if (isNew || it->second == dim)
        continue;
      return emitOpError("has dimension '") // rearrange_c3
             << Twine(letters.front()) << "' as " << it->second.str()
             << " and as " << dim.str();
    }
  }
  SymExpr before = elements(getInput()), after = elements(getResult());
  if (before.isConstant() && after.isConstant() && before != after)
    return emitOpError("makes ") // rearrange_c4
           << after << " elements of " << before;
  return checkElementType(*this, getResult(), getInput());
}

bool RearrangeOp::isView() { return parsePattern(*this).keepsOrder(); }

OpCost RearrangeOp::getCost() {
  SymExpr zero = constant(*this, 0);
  return isView() ? OpCost{zero, zero, false} : makeMove(*this);
}

ShardingRule RearrangeOp::getShardingRule() {
  Rearrangement pattern = parsePattern(*this);
  ShardingRule rule;
  auto addSide = [&](const Rearrangement::Side &side) {
    TensorFactors tensor;
    for (const auto &letters : side) {
      tensor.emplace_back();
      for (char letter : letters) {
        std::string name(1, letter);
        std::optional<unsigned> factor = rule.getFactor(name);
        tensor.back().push_back(factor ? *factor : rule.addFactor(name));
      }
    }
    return tensor;
  };
  rule.operands = {addSide(pattern.input)};
  rule.results = {addSide(pattern.output)};
  return rule;
}
bool RearrangeOp::isLinear() { return true; }

LogicalResult RearrangeOp::buildGradient(GradientBuilder &gradient) {
  auto [left, right] = getPattern().split("->");
  gradient.addGradient(
      0, gradient.create<RearrangeOp>(
             std::nullopt,
             getInput().getType().withoutSharding().withElementType(
                 getType().getElementType()),
             gradient.getResultGradient(0), (right + "->" + left).str()));
  return success();
}

//===----------------------------------------------------------------------===//
// SliceOp, PadOp
//===----------------------------------------------------------------------===//

/// Checks that `part` is `whole` with another extent at `dim`.
static LogicalResult verifyPart(Operation *op, Value whole, Value part,
                                uint64_t dim, SymExpr from) {
  SymTensorType wholeType = tensorOf(whole), partType = tensorOf(part);
  if (failed(checkDim(op->getLoc(), wholeType, dim)) ||
      failed(checkElementType(op, part, whole)))
    return failure();
  SmallVector<DimAttr> expected(wholeType.getDims());
  if (partType.getRank() == wholeType.getRank()) // slice_c1
    expected[dim] = partType.getDims()[dim];
  if (failed(checkDims(op->getLoc(), "part", expected, part)))
    return failure();
  SymExpr end = from + expected[dim].getExtent();
  std::optional<Rational> first = from.getConstant(), last = end.getConstant();
  std::optional<Rational> all = wholeType.getShape()[dim].getConstant();
  if ((first && *first < 0) || (last && all && *all < *last)) // slice_c2
    return op->emitOpError("has a part from ")
           << from << " to " << end << " of a dimension of "
           << wholeType.getShape()[dim] << " elements";
  return success();
}

LogicalResult SliceOp::verify() {
  return verifyPart(*this, getInput(), getResult(), getDim(), getFrom());
}
LogicalResult PadOp::verify() {
  return verifyPart(*this, getResult(), getInput(), getDim(), getFrom());
}

OpCost SliceOp::getCost() {
  return {constant(*this, 0), getType().getNumBytes() * 2, false};
}
OpCost PadOp::getCost() { return makeMove(*this); }

/// The dimension is whole on both sides, and there are two of it.
static ShardingRule makePart(unsigned rank, uint64_t dim) {
  ShardingRule rule;
  TensorFactors before = rule.addFactors("d", rank);
  rule.factors[dim].kind = FactorKind::Whole;
  TensorFactors after = before;
  after[dim] = {rule.addFactor("part", FactorKind::Whole)};
  rule.operands = {before};
  rule.results = {after};
  return rule;
}
ShardingRule SliceOp::getShardingRule() {
  return makePart(getType().getRank(), getDim());
}
ShardingRule PadOp::getShardingRule() {
  return makePart(getType().getRank(), getDim());
}
bool SliceOp::isLinear() { return true; }
bool PadOp::isLinear() { return true; }

LogicalResult SliceOp::buildGradient(GradientBuilder &gradient) {
  gradient.addGradient(0,
                       gradient.create<PadOp>(
                           std::nullopt, getInput().getType().withoutSharding(),
                           gradient.getResultGradient(0), getDim(), getFrom()));
  return success();
}
LogicalResult PadOp::buildGradient(GradientBuilder &gradient) {
  gradient.addGradient(0,
                       gradient.create<SliceOp>(
                           std::nullopt, getInput().getType().withoutSharding(),
                           gradient.getResultGradient(0), getDim(), getFrom()));
  return success();
}

//===----------------------------------------------------------------------===//
// SumOp, MeanOp
//===----------------------------------------------------------------------===//

template <typename Adaptor>
static LogicalResult inferReduced(std::optional<Location> loc, Adaptor adaptor,
                                  SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  if (failed(checkDim(loc, input, adaptor.getDim()))) // sum_c1
    return failure();
  types.push_back(SymTensorType::get(input.getContext(),
                                     without(input.getDims(), adaptor.getDim()),
                                     input.getElementType()));
  return success();
}

LogicalResult SumOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  return inferReduced(loc, adaptor, types);
}
LogicalResult MeanOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  return inferReduced(loc, adaptor, types);
}

OpCost SumOp::getCost() { return makeCost(*this, elements(getInput())); }
OpCost MeanOp::getCost() {
  return makeCost(*this, elements(getInput()) + elements(getResult()));
}

static ShardingRule makeReduced(unsigned rank, uint64_t dim, FactorKind kind) {
  ShardingRule rule;
  TensorFactors all = rule.addFactors("d", rank);
  rule.factors[dim].kind = kind;
  TensorFactors rest = all;
  rest.erase(rest.begin() + dim);
  rule.operands = {all};
  rule.results = {rest};
  return rule;
}
ShardingRule SumOp::getShardingRule() {
  return makeReduced(getInput().getType().getRank(), getDim(),
                     FactorKind::Shardable);
}
bool SumOp::isLinear() { return true; }
ShardingRule MeanOp::getShardingRule() {
  return makeReduced(getInput().getType().getRank(), getDim(),
                     FactorKind::Whole);
}

template <typename OpTy>
static LogicalResult buildReducedGradient(OpTy op, GradientBuilder &gradient) {
  gradient.addGradient(0, gradient.create<BroadcastOp>(
                              std::nullopt,
                              tensorOf(op.getInput()).withoutSharding(),
                              gradient.getResultGradient(0), op.getDim()));
  return success();
}
LogicalResult SumOp::buildGradient(GradientBuilder &gradient) {
  return buildReducedGradient(*this, gradient);
}
LogicalResult MeanOp::buildGradient(GradientBuilder &gradient) {
  return buildReducedGradient(*this, gradient);
}

//===----------------------------------------------------------------------===//
// MulAlongOp
//===----------------------------------------------------------------------===//

/// The dimensions of a tensor with these numbers.
static FailureOr<SmallVector<DimAttr>> getDimsAlong(std::optional<Location> loc,
                                                    SymTensorType type,
                                                    ArrayRef<int64_t> dims) {
  SmallVector<DimAttr> along;
  int64_t least = 0;
  for (int64_t dim : dims) {
    if (dim < least || dim >= type.getRank()) // mul_along_c1
      return emitOptionalError(loc, "has dimension ", dim,
                               ", expected ascending ones of a tensor of rank ",
                               type.getRank());
    along.push_back(type.getDims()[dim]);
    least = dim + 1;
  }
  return along;
}

template <typename Adaptor>
static LogicalResult inferAlong(std::optional<Location> loc, Adaptor adaptor,
                                SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  // Types are inferred before attributes are verified.
  if (!adaptor.getDimsAttr())
    return emitOptionalError(loc, "requires attribute 'dims'");
  FailureOr<SmallVector<DimAttr>> along =
      getDimsAlong(loc, input, adaptor.getDims());
  if (failed(along) ||
      failed(checkDims(loc, "operand #1", *along, adaptor.getVector(),
                       adaptor.getInput()))) // mul_along_c2
    return failure();
  Type element = tensorOf(adaptor.getVector()).getElementType();
  if (element != input.getElementType())
    return emitOptionalError(loc, "operand #1 has element type ", element,
                             ", expected ", input.getElementType());
  types.push_back(input.withoutSharding());
  return success();
}

LogicalResult MulAlongOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> loc,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  return inferAlong(loc, adaptor, types);
}

static LogicalResult verifyAlongGrad(Operation *op, Value dy, Value result,
                                     ArrayRef<int64_t> dims) {
  FailureOr<SmallVector<DimAttr>> along =
      getDimsAlong(op->getLoc(), tensorOf(dy), dims);
  return failure(failed(along) ||
                 failed(checkDims(op->getLoc(), "result", *along, result, dy)));
}
LogicalResult MulAlongGradOp::verify() {
  if (failed(checkDims(getLoc(), "gradient", getInput().getType().getDims(),
                       getDy(), getInput()))) // mul_along_grad_c3
    return failure();
  return verifyAlongGrad(*this, getDy(), getResult(), getDims());
}

OpCost MulAlongOp::getCost() { return makeCost(*this, elements(getResult())); }
OpCost MulAlongGradOp::getCost() {
  return makeCost(*this, elements(getDy()) * 2);
}

namespace {
/// The tensors of an op along dimensions: the whole one and the other one.
struct AlongFactors {
  ShardingRule rule;
  TensorFactors whole, part;

  AlongFactors(unsigned rank, ArrayRef<int64_t> dims) {
    whole = rule.addFactors("d", rank);
    for (int64_t dim : dims)
      part.push_back(whole[dim]);
  }
};
} // namespace

static ShardingRule makeAlong(unsigned rank, ArrayRef<int64_t> dims) {
  AlongFactors f(rank, dims);
  f.rule.operands = {f.whole, f.part};
  f.rule.results = {f.whole};
  return f.rule;
}
ShardingRule MulAlongOp::getShardingRule() {
  return makeAlong(getType().getRank(), getDims());
}
ShardingRule MulAlongGradOp::getShardingRule() {
  AlongFactors f(getDy().getType().getRank(), getDims());
  f.rule.operands = {f.whole, f.whole};
  f.rule.results = {f.part};
  return f.rule;
}
LogicalResult MulAlongOp::buildGradient(GradientBuilder &gradient) {
  Value dy = gradient.getResultGradient(0);
  if (gradient.needsGradient(0))
    gradient.addGradient(
        0, gradient.create<MulAlongOp>(Role::Dlhs, dy, getVector(), getDims()));
  if (gradient.needsGradient(1))
    gradient.addGradient(1, gradient.create<MulAlongGradOp>(
                                Role::Drhs,
                                gradient.getGradientType(1).withoutSharding(),
                                getInput(), dy, getDims()));
  return success();
}

//===----------------------------------------------------------------------===//
// Windows: convolution and pooling
//===----------------------------------------------------------------------===//

namespace {
/// The windows that an op moves over positions.
struct Windows {
  SmallVector<SymExpr> sizes;
  ArrayRef<int64_t> strides, padding;
};
} // namespace

/// Input and result are [batch, positions ..., channels]; checks that there are
/// as many positions as the windows have places.
static LogicalResult verifyWindows(Operation *op, Value input, Value result,
                                   const Windows &windows) {
  SymTensorType from = tensorOf(input), to = tensorOf(result);
  int64_t rank = from.getRank();
  if (rank < 3 || to.getRank() != rank)
    return op->emitOpError("has an input of rank ")
           << rank << " and a result of rank " << to.getRank()
           << ", expected one rank of at least 3: batch, positions, channels";
  size_t positions = rank - 2;
  if (windows.sizes.size() != positions ||
      windows.strides.size() != positions ||
      windows.padding.size() != positions)
    return op->emitOpError("has ")
           << windows.sizes.size() << " extents of a window, "
           << windows.strides.size() << " strides and "
           << windows.padding.size() << " paddings for " << positions
           << " dimensions of positions";
  if (failed(checkSameShape(op->getLoc(), "result", from.getDims().take_front(),
                            to.getDims().take_front(), input, result)))
    return failure();
  for (size_t i = 0; i < positions; ++i) {
    int64_t stride = windows.strides[i], padding = windows.padding[i];
    std::optional<int64_t> size = windows.sizes[i].getInt64();
    if (stride < 1 || padding < 0 || (size && *size < 1))
      return op->emitOpError("has a window of ")
             << windows.sizes[i] << ", a stride of " << stride
             << " and a padding of " << padding
             << ", expected at least 1, 1 and 0";
    std::optional<int64_t> all = from.getShape()[i + 1].getInt64();
    std::optional<int64_t> found = to.getShape()[i + 1].getInt64();
    if (!all || !found || !size)
      continue;
    int64_t room = 0;
    if (llvm::MulOverflow<int64_t>(2, padding, room) ||
        llvm::AddOverflow(*all, room, room))
      return op->emitOpError("has a padding of ")
             << padding << ", which no number of 64 bits holds";
    room -= *size;
    int64_t expected = room < 0 ? 0 : room / stride + 1;
    if (*found != expected)
      return op->emitOpError("has ")
             << *found << " positions in dimension " << i + 1 << ", expected "
             << expected << " of " << *all << " with a window of " << *size
             << ", stride " << stride << " and padding " << padding;
  }
  return success();
}

/// Checks the tensors of a convolution; those of a gradient may have another
/// element type.
static LogicalResult verifyConv(Operation *op, Value input, Value weight,
                                Value result, ArrayRef<int64_t> strides,
                                ArrayRef<int64_t> padding, bool isGrouped) {
  SymTensorType from = tensorOf(input), w = tensorOf(weight),
                to = tensorOf(result);
  if (w.getRank() != from.getRank()) // conv_c1
    return op->emitOpError("has a weight of rank ")
           << w.getRank() << " for an input of rank " << from.getRank()
           << ", expected one rank: window, channels, outputs";
  Windows windows;
  if (w.getRank() > 2)
    windows.sizes = llvm::to_vector(llvm::map_range(
        w.getDims().drop_back(2), [](DimAttr dim) { return dim.getExtent(); }));
  windows.strides = strides;
  windows.padding = padding;
  if (failed(verifyWindows(op, input, result, windows)) ||
      failed(checkSameShape(op->getLoc(), "output", w.getDims().take_back(),
                            to.getDims().take_back(), weight, result)))
    return failure();
  SymExpr channels = from.getShape().back();
  SymExpr own = w.getShape()[w.getRank() - 2];
  SymExpr groups = channels.exactDiv(own);
  std::optional<Rational> number = groups ? groups.getConstant() : std::nullopt;
  if (!isGrouped && channels != own) // conv_c2
    return op->emitOpError("has a weight for ")
           << own << " channels, the input has " << channels;
  if (isGrouped && number && (!number->isInteger() || *number < 1))
    return op->emitOpError("has groups of ")
           << own << " channels, which do not divide the " << channels
           << " of the input";
  return success();
}

LogicalResult ConvOp::verify() {
  if (failed(verifyConv(*this, getInput(), getWeight(), getResult(),
                        getStrides(), getPadding(), getGrouped())) ||
      failed(checkElementType(*this, getWeight(), getInput())))
    return failure();
  return checkElementType(*this, getResult(), getInput()); // conv_c5
}
LogicalResult ConvInputGradOp::verify() {
  return verifyConv(*this, getResult(), getWeight(), getDy(), getStrides(),
                    getPadding(), getGrouped());
}
LogicalResult ConvWeightGradOp::verify() {
  return verifyConv(*this, getInput(), getResult(), getDy(), getStrides(),
                    getPadding(), getGrouped());
}

/// Each element of the result is a sum over its window.
static OpCost getConvCost(Operation *op, Value weight, Value result) {
  SymExpr operations = elements(result) * 2;
  for (DimAttr dim : tensorOf(weight).getDims().drop_back())
    operations = operations * dim.getExtent();
  return makeCost(op, operations, /*isMatrix=*/true);
}
OpCost ConvOp::getCost() {
  return getConvCost(*this, getWeight(), getResult());
}
OpCost ConvInputGradOp::getCost() {
  return getConvCost(*this, getWeight(), getDy());
}
OpCost ConvWeightGradOp::getCost() {
  return getConvCost(*this, getResult(), getDy());
}

namespace {
/// The tensors of a convolution. Positions are whole; groups are divided with
/// their channels and outputs.
struct ConvFactors {
  ShardingRule rule;
  TensorFactors input, weight, result;

  ConvFactors(unsigned rank, bool isGrouped) {
    unsigned batch = rule.addFactor("b");
    unsigned channels = rule.addFactor("c");
    unsigned outputs = isGrouped ? channels : rule.addFactor("o");
    unsigned own =
        isGrouped ? rule.addFactor("own", FactorKind::Whole) : channels;
    TensorFactors from = rule.addFactors("from", rank - 2, FactorKind::Whole);
    TensorFactors to = rule.addFactors("to", rank - 2, FactorKind::Whole);
    weight = rule.addFactors("w", rank - 2, FactorKind::Whole);
    input = result = {{batch}};
    llvm::append_range(input, from);
    llvm::append_range(result, to);
    input.push_back({channels});
    weight.push_back({own});
    weight.push_back({outputs});
    result.push_back({outputs});
  }
};
} // namespace

ShardingRule ConvOp::getShardingRule() {
  ConvFactors f(getInput().getType().getRank(), getGrouped());
  f.rule.operands = {f.input, f.weight};
  f.rule.results = {f.result};
  return f.rule;
}
ShardingRule ConvInputGradOp::getShardingRule() {
  ConvFactors f(getDy().getType().getRank(), getGrouped());
  f.rule.operands = {f.weight, f.result};
  f.rule.results = {f.input};
  return f.rule;
}
ShardingRule ConvWeightGradOp::getShardingRule() {
  ConvFactors f(getDy().getType().getRank(), getGrouped());
  f.rule.operands = {f.input, f.result};
  f.rule.results = {f.weight};
  return f.rule;
}

LogicalResult ConvOp::buildGradient(GradientBuilder &gradient) {
  Value dy = gradient.getResultGradient(0);
  if (gradient.needsGradient(0))
    gradient.addGradient(0, gradient.create<ConvInputGradOp>(
                                gradient.getRole(0),
                                gradient.getGradientType(0).withoutSharding(),
                                getWeight(), dy, getStrides(), getPadding(),
                                getGrouped()));
  if (gradient.needsGradient(1))
    gradient.addGradient(1, gradient.create<ConvWeightGradOp>(
                                gradient.getRole(1),
                                gradient.getGradientType(1).withoutSharding(),
                                getInput(), dy, getStrides(), getPadding(),
                                getGrouped()));
  return success();
}

static LogicalResult verifyPool(Operation *op, Value input, Value result,
                                ArrayRef<int64_t> window,
                                ArrayRef<int64_t> strides,
                                ArrayRef<int64_t> padding) {
  Windows windows;
  for (int64_t size : window)
    windows.sizes.push_back(constant(op, size));
  windows.strides = strides;
  windows.padding = padding;
  if (failed(verifyWindows(op, input, result, windows)))
    return failure();
  return checkSameShape(op->getLoc(), "result", // pool_c1
                        tensorOf(input).getDims().take_back(),
                        tensorOf(result).getDims().take_back(), input, result);
}

LogicalResult PoolOp::verify() {
  if (failed(checkElementType(*this, getResult(), getInput())))
    return failure();
  return verifyPool(*this, getInput(), getResult(), getWindow(), getStrides(),
                    getPadding());
}
LogicalResult PoolGradOp::verify() {
  bool isMax = getKind() == Pooling::Max;
  if (isMax != static_cast<bool>(getInput())) // pool_grad_c2
    return emitOpError("of a ")
           << stringifyEnum(getKind())
           << (isMax ? " needs the input" : " has an input, expected none");
  if (getInput() &&
      failed(checkDims(getLoc(), "input", getType().getDims(), getInput())))
    return failure();
  return verifyPool(*this, getResult(), getDy(), getWindow(), getStrides(),
                    getPadding());
}

static OpCost getPoolCost(Operation *op, Value result,
                          ArrayRef<int64_t> window) {
  SymExpr operations = elements(result);
  for (int64_t size : window)
    operations = operations * size;
  return makeCost(op, operations);
}
OpCost PoolOp::getCost() {
  return getPoolCost(*this, getResult(), getWindow());
}
OpCost PoolGradOp::getCost() {
  return getPoolCost(*this, getDy(), getWindow());
}

namespace {
struct PoolFactors {
  ShardingRule rule;
  TensorFactors input, result;

  explicit PoolFactors(unsigned rank) {
    unsigned batch = rule.addFactor("b"), channels = rule.addFactor("c");
    input = result = {{batch}};
    llvm::append_range(input,
                       rule.addFactors("from", rank - 2, FactorKind::Whole));
    llvm::append_range(result,
                       rule.addFactors("to", rank - 2, FactorKind::Whole));
    input.push_back({channels});
    result.push_back({channels});
  }
};
} // namespace

ShardingRule PoolOp::getShardingRule() {
  PoolFactors f(getType().getRank());
  f.rule.operands = {f.input};
  f.rule.results = {f.result};
  return f.rule;
}
ShardingRule PoolGradOp::getShardingRule() {
  PoolFactors f(getType().getRank());
  f.rule.operands = {f.result};
  if (getInput())
    f.rule.operands.push_back(f.input);
  f.rule.results = {f.input};
  return f.rule;
}

LogicalResult PoolOp::buildGradient(GradientBuilder &gradient) {
  Value saved = getKind() == Pooling::Max ? Value(getInput()) : Value();
  gradient.addGradient(0, gradient.create<PoolGradOp>(
                              std::nullopt,
                              gradient.getGradientType(0).withoutSharding(),
                              gradient.getResultGradient(0), saved, getKind(),
                              getWindow(), getStrides(), getPadding()));
  return success();
}

//===----------------------------------------------------------------------===//
// ResizeOp
//===----------------------------------------------------------------------===//

static LogicalResult verifyResize(Operation *op, Value input, Value result) {
  SymTensorType from = tensorOf(input), to = tensorOf(result);
  if (from.getRank() < 3 || to.getRank() != from.getRank()) // resize_c1
    return op->emitOpError("has an input of rank ")
           << from.getRank() << " and a result of rank " << to.getRank()
           << ", expected one rank of at least 3: batch, positions, channels";
  if (failed(checkSameShape(op->getLoc(), "result", from.getDims().take_front(),
                            to.getDims().take_front(), input, result)) ||
      failed(checkSameShape(op->getLoc(), "result", from.getDims().take_back(),
                            to.getDims().take_back(), input, result)))
    return failure();
  for (SymTensorType type : {from, to})
    for (DimAttr dim : type.getDims().drop_front().drop_back())
      if (isNoCount(dim.getExtent())) // resize_c2
        return op->emitOpError("has ")
               << dim.getExtent() << " positions, expected at least 1";
  return success();
}

LogicalResult ResizeOp::verify() {
  if (failed(verifyResize(*this, getInput(), getResult())))
    return failure();
  return checkElementType(*this, getResult(), getInput());
}
LogicalResult ResizeGradOp::verify() {
  return verifyResize(*this, getResult(), getDy());
}

/// How many elements of the smaller map are one of the other: two in each
/// dimension whose extent changes.
static int64_t countNeighbours(Value input, Value result) {
  int64_t count = 1;
  for (auto [from, to] :
       llvm::zip_equal(tensorOf(input).getShape(), tensorOf(result).getShape()))
    if (from != to)
      count *= 2;
  return count;
}

OpCost ResizeOp::getCost() {
  if (getKind() == Resizing::Nearest)
    return {constant(*this, 0), getType().getNumBytes() * 2, false};
  return makeCost(*this, elements(getResult()) * 3 *
                             (countNeighbours(getInput(), getResult()) - 1));
}
OpCost ResizeGradOp::getCost() {
  if (getKind() == Resizing::Nearest)
    return makeCost(*this, elements(getDy()));
  return makeCost(*this, elements(getDy()) *
                             (3 * countNeighbours(getResult(), getDy()) - 2));
}

ShardingRule ResizeOp::getShardingRule() {
  PoolFactors f(getType().getRank());
  f.rule.operands = {f.input};
  f.rule.results = {f.result};
  return f.rule;
}
ShardingRule ResizeGradOp::getShardingRule() {
  PoolFactors f(getType().getRank());
  f.rule.operands = {f.result};
  f.rule.results = {f.input};
  return f.rule;
}

LogicalResult ResizeOp::buildGradient(GradientBuilder &gradient) {
  gradient.addGradient(0, gradient.create<ResizeGradOp>(
                              std::nullopt,
                              gradient.getGradientType(0).withoutSharding(),
                              gradient.getResultGradient(0), getKind()));
  return success();
}

//===----------------------------------------------------------------------===//
// BatchNormOp
//===----------------------------------------------------------------------===//

/// Checks that each of the values is a vector of the tensor's channels.
static LogicalResult
checkChannels(std::optional<Location> loc, Value input,
              ArrayRef<std::pair<StringRef, Value>> vectors) {
  SymTensorType type = tensorOf(input);
  if (type.getRank() < 2) // batch_norm_c1
    return emitOptionalError(loc, "operand has rank ", type.getRank(),
                             ", expected at least 2: a batch and channels");
  for (auto [what, vector] : vectors) // batch_norm_c2
    if (failed(checkDims(loc, what, type.getDims().take_back(), vector, input)))
      return failure();
  return success();
}

LogicalResult BatchNormOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  types.push_back(tensorOf(adaptor.getInput()).withoutSharding());
  return checkChannels(
      loc, adaptor.getInput(),
      {{"weight", adaptor.getWeight()}, {"bias", adaptor.getBias()}});
}

LogicalResult BatchNormGradOp::verify() {
  ArrayRef<DimAttr> full = getInput().getType().getDims();
  return failure(
      failed(checkChannels(getLoc(), getInput(),
                           {{"weight", getWeight()},
                            {"result #1", getDw()},
                            {"result #2", getDb()}})) ||
      failed(checkDims(getLoc(), "gradient", full, getDy(), getInput())) ||
      failed(checkDims(getLoc(), "result #0", full, getDx(), getInput())));
}

/// Per element: sum, difference, square, sum, scale, weight, bias. Per channel:
/// two means, epsilon, root.
OpCost BatchNormOp::getCost() {
  return makeCost(*this, elements(getResult()) * 7 + elements(getWeight()) * 4);
}

/// Per element: the normalized value (sum, difference, square, sum, scale); dy
/// times it and the sum of that; the sum of dy; dy*w, its sum, its product with
/// the normalized value and that sum, the two corrections and the scale. Per
/// channel: the statistics, and two means.
OpCost BatchNormGradOp::getCost() {
  bool hasDx = isMade(getDx()), hasDw = isMade(getDw());
  int64_t perElement = (hasDw ? 2 : 0) + (isMade(getDb()) ? 1 : 0) +
                       (hasDx ? 7 : 0) + (hasDx || hasDw ? 5 : 0);
  int64_t perChannel = (hasDx ? 2 : 0) + (hasDx || hasDw ? 4 : 0);
  return makeCost(*this, elements(getInput()) * perElement +
                             elements(getWeight()) * perChannel);
}
bool BatchNormGradOp::isMadeIfRead(unsigned) { return true; }

namespace {
struct BatchNormFactors {
  ShardingRule rule;
  TensorFactors full, vector;

  explicit BatchNormFactors(unsigned rank) {
    full = {{rule.addFactor("b")}};
    llvm::append_range(full,
                       rule.addFactors("at", rank - 2, FactorKind::Whole));
    vector = {{rule.addFactor("c")}};
    llvm::append_range(full, vector);
  }
};
} // namespace

ShardingRule BatchNormOp::getShardingRule() {
  BatchNormFactors f(getType().getRank());
  f.rule.operands = {f.full, f.vector, f.vector};
  f.rule.results = {f.full};
  return f.rule;
}
ShardingRule BatchNormGradOp::getShardingRule() {
  BatchNormFactors f(getInput().getType().getRank());
  f.rule.operands = {f.full, f.vector, f.full};
  f.rule.results = {f.full, f.vector, f.vector};
  return f.rule;
}

LogicalResult BatchNormOp::buildGradient(GradientBuilder &gradient) {
  auto op = gradient.create<BatchNormGradOp>(
      std::nullopt, gradient.getGradientType(0).withoutSharding(),
      gradient.getGradientType(1).withoutSharding(),
      gradient.getGradientType(2).withoutSharding(), getInput(), getWeight(),
      gradient.getResultGradient(0));
  for (unsigned i = 0, e = getNumOperands(); i != e; ++i)
    if (gradient.needsGradient(i))
      gradient.addGradient(i, op->getResult(i));
  return success();
}

//===----------------------------------------------------------------------===//
// GroupNormOp
//===----------------------------------------------------------------------===//

/// A number in fp32 for each sample and group.
static SymTensorType getGroupsType(SymTensorType input, SymExpr groups) {
  MLIRContext *context = input.getContext();
  DimAttr unnamed = DimAttr::get(context, {}, groups);
  return SymTensorType::get(context, {input.getDims().front(), unnamed},
                            Float32Type::get(context));
}

static LogicalResult checkGroups(std::optional<Location> loc,
                                 SymTensorType input, SymExpr groups) {
  SymExpr channels = input.getShape().back();
  std::optional<int64_t> all = channels.getInt64(), some = groups.getInt64();
  if (isNoCount(groups) || (all && some && *all % *some)) // group_norm_c3
    return emitOptionalError(loc, "has ", groups, " groups of ", channels,
                             " channels, expected a number that divides them");
  return success();
}

LogicalResult GroupNormOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  if (failed(checkChannels(
          loc, adaptor.getInput(),
          {{"weight", adaptor.getWeight()}, {"bias", adaptor.getBias()}})) ||
      failed(checkGroups(loc, input, adaptor.getGroups())))
    return failure();
  SymTensorType groups =
      getGroupsType(input.withoutSharding(), adaptor.getGroups());
  types.append({input.withoutSharding(), groups, groups});
  return success();
}

LogicalResult GroupNormGradOp::verify() {
  SymTensorType input = getInput().getType();
  ArrayRef<DimAttr> full = input.getDims();
  if (failed(checkChannels(getLoc(), getInput(),
                           {{"weight", getWeight()},
                            {"result #1", getDw()},
                            {"result #2", getDb()}})) ||
      failed(checkGroups(getLoc(), input, getGroups())))
    return failure();
  ArrayRef<DimAttr> groups = getGroupsType(input, getGroups()).getDims();
  return failure(
      failed(checkDims(getLoc(), "mean", groups, getMean())) ||
      failed(checkDims(getLoc(), "rstd", groups, getRstd())) ||
      failed(checkDims(getLoc(), "gradient", full, getDy(), getInput())) ||
      failed(checkDims(getLoc(), "result #0", full, getDx(), getInput())));
}

/// As of a LayerNorm, whose rows are groups of a sample.
OpCost GroupNormOp::getCost() {
  return makeCost(*this, elements(getResult()) * 7 + elements(getRstd()) * 4);
}
OpCost GroupNormGradOp::getCost() {
  bool hasDx = isMade(getDx()), hasDw = isMade(getDw());
  int64_t perElement = (hasDw ? 2 : 0) + (isMade(getDb()) ? 1 : 0) +
                       (hasDx ? 7 : 0) + (hasDx || hasDw ? 2 : 0);
  return makeCost(*this, elements(getInput()) * perElement +
                             elements(getRstd()) * (hasDx ? 2 : 0));
}
bool GroupNormGradOp::isMadeIfRead(unsigned) { return true; }

namespace {
struct GroupNormFactors {
  ShardingRule rule;
  TensorFactors full, vector, groups;

  explicit GroupNormFactors(unsigned rank) {
    full = groups = {{rule.addFactor("b")}};
    llvm::append_range(full,
                       rule.addFactors("at", rank - 2, FactorKind::Whole));
    vector = {{rule.addFactor("c", FactorKind::Whole)}};
    llvm::append_range(full, vector);
    groups.push_back({rule.addFactor("g", FactorKind::Whole)});
  }
};
} // namespace

ShardingRule GroupNormOp::getShardingRule() {
  GroupNormFactors f(getInput().getType().getRank());
  f.rule.operands = {f.full, f.vector, f.vector};
  f.rule.results = {f.full, f.groups, f.groups};
  return f.rule;
}
ShardingRule GroupNormGradOp::getShardingRule() {
  GroupNormFactors f(getInput().getType().getRank());
  f.rule.operands = {f.full, f.vector, f.groups, f.groups, f.full};
  f.rule.results = {f.full, f.vector, f.vector};
  return f.rule;
}

LogicalResult GroupNormOp::buildGradient(GradientBuilder &gradient) {
  if (gradient.getResultGradient(1) || gradient.getResultGradient(2))
    return emitOpError(
        "cannot be differentiated through its mean and rstd results");
  auto op = gradient.create<GroupNormGradOp>(
      std::nullopt, gradient.getGradientType(0).withoutSharding(),
      gradient.getGradientType(1).withoutSharding(),
      gradient.getGradientType(2).withoutSharding(), getInput(), getWeight(),
      getMean(), getRstd(), gradient.getResultGradient(0), getGroups());
  for (unsigned i = 0, e = getNumOperands(); i != e; ++i)
    if (gradient.needsGradient(i))
      gradient.addGradient(i, op->getResult(i));
  return success();
}

//===----------------------------------------------------------------------===//
// RelativeBiasOp
//===----------------------------------------------------------------------===//

static LogicalResult verifyRelativeBias(Operation *op, Value table,
                                        Value bias) {
  SymTensorType tableType = tensorOf(table), biasType = tensorOf(bias);
  if (tableType.getRank() != 2 || biasType.getRank() != 3) // relative_bias_c1
    return op->emitOpError("has a table of rank ")
           << tableType.getRank() << " and a bias of rank "
           << biasType.getRank()
           << ", expected [buckets, heads] and [heads, queries, keys]";
  return checkSameShape(op->getLoc(), "bias", // relative_bias_c2
                        tableType.getDims().take_back(),
                        biasType.getDims().take_front(), table, bias);
}
LogicalResult RelativeBiasOp::verify() {
  if (failed(verifyRelativeBias(*this, getTable(), getResult())))
    return failure();
  return checkElementType(*this, getResult(), getTable());
}
LogicalResult RelativeBiasGradOp::verify() {
  return verifyRelativeBias(*this, getResult(), getDy());
}

/// Reads one element for each that it writes.
OpCost RelativeBiasOp::getCost() {
  return {constant(*this, 0), getType().getNumBytes() * 2, false};
}
OpCost RelativeBiasGradOp::getCost() {
  return makeCost(*this, elements(getDy()));
}

namespace {
struct RelativeBiasFactors {
  ShardingRule rule;
  TensorFactors table, bias;

  RelativeBiasFactors() {
    unsigned heads = rule.addFactor("h");
    table = {{rule.addFactor("n", FactorKind::Whole)}, {heads}};
    bias = {{heads}, {rule.addFactor("q")}, {rule.addFactor("k")}};
  }
};
} // namespace

ShardingRule RelativeBiasOp::getShardingRule() {
  RelativeBiasFactors f;
  f.rule.operands = {f.table};
  f.rule.results = {f.bias};
  return f.rule;
}
ShardingRule RelativeBiasGradOp::getShardingRule() {
  RelativeBiasFactors f;
  f.rule.operands = {f.bias};
  f.rule.results = {f.table};
  return f.rule;
}
bool RelativeBiasOp::isLinear() { return true; }
bool RelativeBiasGradOp::isLinear() { return true; }

LogicalResult RelativeBiasOp::buildGradient(GradientBuilder &gradient) {
  gradient.addGradient(0, gradient.create<RelativeBiasGradOp>(
                              Role::Dw,
                              gradient.getGradientType(0).withoutSharding(),
                              gradient.getResultGradient(0)));
  return success();
}

//===----------------------------------------------------------------------===//
// RelativeScoresOp
//===----------------------------------------------------------------------===//

/// Checks that `scores` [..., queries, keys] may be those of `input` [...,
/// tokens, buckets].
static LogicalResult verifyRelativeScores(Operation *op, Value input,
                                          Value scores, bool ofKeys) {
  ArrayRef<DimAttr> from = tensorOf(input).getDims(),
                    to = tensorOf(scores).getDims();
  if (from.size() != to.size() || from.size() < 2) // relative_scores_c1
    return op->emitOpError("has ranks ")
           << from.size() << " and " << to.size()
           << ", expected one rank, at least 2: [..., tokens, buckets] and "
              "[..., queries, keys]";
  if (failed(checkSameShape(op->getLoc(), "scores", // relative_scores_c2
                            from.drop_back(2), to.drop_back(2), input, scores)))
    return failure();
  SymExpr tokens = from[from.size() - 2].getExtent();
  SymExpr own = (ofKeys ? to.back() : to[to.size() - 2]).getExtent();
  if (tokens != own) // relative_scores_c3
    return op->emitOpError("has ")
           << own << (ofKeys ? " keys" : " queries") << ", expected " << tokens;
  return checkElementType(op, scores, input);
}
LogicalResult RelativeScoresOp::verify() {
  return verifyRelativeScores(*this, getInput(), getResult(), getOfKeys());
}
LogicalResult RelativeScoresGradOp::verify() {
  return verifyRelativeScores(*this, getResult(), getDy(), getOfKeys());
}

/// Reads one element for each that it writes.
OpCost RelativeScoresOp::getCost() {
  return {constant(*this, 0), getType().getNumBytes() * 2, false};
}
OpCost RelativeScoresGradOp::getCost() {
  return makeCost(*this, elements(getDy()));
}

namespace {
/// The side that tokens are not on is whole: how far apart a query and a key
/// are is known where each device has all of it.
struct RelativeScoresFactors {
  ShardingRule rule;
  TensorFactors input, scores;

  RelativeScoresFactors(unsigned rank, bool ofKeys) {
    input = scores = rule.addFactors("d", rank - 2);
    unsigned tokens = rule.addFactor("tokens", FactorKind::Whole);
    unsigned others = rule.addFactor("others", FactorKind::Whole);
    input.push_back({tokens});
    input.push_back({rule.addFactor("n", FactorKind::Whole)});
    scores.push_back({ofKeys ? others : tokens});
    scores.push_back({ofKeys ? tokens : others});
  }
};
} // namespace

ShardingRule RelativeScoresOp::getShardingRule() {
  RelativeScoresFactors f(getType().getRank(), getOfKeys());
  f.rule.operands = {f.input};
  f.rule.results = {f.scores};
  return f.rule;
}
ShardingRule RelativeScoresGradOp::getShardingRule() {
  RelativeScoresFactors f(getDy().getType().getRank(), getOfKeys());
  f.rule.operands = {f.scores};
  f.rule.results = {f.input};
  return f.rule;
}
bool RelativeScoresOp::isLinear() { return true; }
bool RelativeScoresGradOp::isLinear() { return true; }

LogicalResult RelativeScoresOp::buildGradient(GradientBuilder &gradient) {
  gradient.addGradient(0, gradient.create<RelativeScoresGradOp>(
                              std::nullopt,
                              gradient.getGradientType(0).withoutSharding(),
                              gradient.getResultGradient(0), getOfKeys()));
  return success();
}
