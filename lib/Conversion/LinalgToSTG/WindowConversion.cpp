//===- WindowConversion.cpp - Convolutions and pooling --------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op whose input is read at `stride*position + place in a window`, by its
// indexing map, is a convolution if it sums products with a weight, else a
// pooling. Which name it has, and in which order its tensors have dimensions,
// does not matter. Tensors of the stg dialect have positions between batch and
// channels; parameters and inputs that only such ops read are made that way.
//
//===----------------------------------------------------------------------===//

#include "FunctionConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "stg/Conversion/LinalgToSTG/LinalgToSTG.h"

using namespace mlir;
using namespace stg;

//===----------------------------------------------------------------------===//
// What an op slides over what
//===----------------------------------------------------------------------===//

/// Adds `factor` times each loop of a sum.
static bool
collectLoopFactors(AffineExpr expr, int64_t factor,
                   SmallVectorImpl<std::pair<unsigned, int64_t>> &terms) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    terms.emplace_back(dim.getPosition(), factor);
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return collectLoopFactors(binary.getLHS(), factor, terms) &&
           collectLoopFactors(binary.getRHS(), factor, terms);
  auto number = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return binary.getKind() == AffineExprKind::Mul && number &&
         collectLoopFactors(binary.getLHS(), factor * number.getValue(), terms);
}

bool FunctionConverter::hasWindows(linalg::LinalgOp op) {
  return op.getNumDpsInputs() > 0 &&
         llvm::any_of(
             op.getMatchingIndexingMap(op.getDpsInputOperand(0)).getResults(),
             llvm::IsaPred<AffineBinaryOpExpr>);
}

/// Through casts.
static Value peelScalarCasts(Value scalar) {
  while (Operation *op = scalar.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
      break;
    scalar = op->getOperand(0);
  }
  return scalar;
}

static InFlightDiagnostic failWindows(linalg::LinalgOp op, const Twine &what) {
  return op.emitOpError("reads windows of a tensor, ") << what;
}

/// A sum of products, or a sum or a maximum.
LogicalResult FunctionConverter::readTerm(linalg::LinalgOp op,
                                          WindowOp &found) {
  Value carried = op.getMatchingBlockArgument(op.getDpsInitOperand(0));
  Operation *body =
      op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  Value term;
  if (body && body->getNumOperands() == 2)
    for (unsigned i : {0u, 1u})
      if (body->getOperand(i) == carried)
        term = peelScalarCasts(body->getOperand(1 - i));
  found.isMaximum = isa_and_nonnull<arith::MaximumFOp, arith::MaxNumFOp>(body);
  if (!term || (!found.isMaximum && !isa<arith::AddFOp>(body)))
    return failWindows(
        op, "which it does not sum, and of which it takes no maximum");
  Value value = op.getMatchingBlockArgument(found.input);
  if (term == value)
    return success();
  Operation *product = term.getDefiningOp();
  if (isa_and_nonnull<arith::MulFOp>(product) && op.getNumDpsInputs() == 2 &&
      !found.isMaximum) {
    OpOperand *other = op.getDpsInputOperand(1);
    Value lhs = peelScalarCasts(product->getOperand(0)),
          rhs = peelScalarCasts(product->getOperand(1)),
          weight = op.getMatchingBlockArgument(other);
    if ((lhs == value && rhs == weight) || (lhs == weight && rhs == value)) {
      found.weight = other;
      return success();
    }
  }
  return failWindows(op,
                     "and computes more than products with a weight of them");
}

/// The windows, and the loops of dimensions that have none.
LogicalResult FunctionConverter::readPlaces(linalg::LinalgOp op,
                                            WindowOp &found, Loops &plain) {
  auto fail = [&](const Twine &what) { return failWindows(op, what); };
  auto kinds = op.getIteratorTypesArray();
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  AffineMap map = op.getMatchingIndexingMap(found.input);
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
      plain.insert(loop.getPosition());
      continue;
    }
    SmallVector<std::pair<unsigned, int64_t>> terms;
    Window window;
    window.dim = dim;
    if (!collectLoopFactors(expr, 1, terms))
      return fail("whose places are no sums of loops");
    for (auto [loop, factor] : terms) {
      bool isPosition = kinds[loop] == utils::IteratorType::parallel;
      std::optional<unsigned> &place =
          isPosition ? window.position : window.inside;
      if (place || factor < 1)
        return fail("whose places are no sums of a position and a place");
      place = loop;
      if (isPosition)
        window.stride = factor;
      else
        window.dilation = factor;
    }
    if (!window.position)
      return fail("whose places are no sums of a position and a place");
    if (window.inside)
      window.size = extents[*window.inside];
    if (ShapedType::isDynamic(window.size))
      return fail("whose size is not known");
    if (window.size > 1 && window.dilation != 1)
      return fail("whose elements are apart, and no op of a model has such");
    found.windows.push_back(window);
  }
  return success();
}

/// What each loop is that no window has.
LogicalResult FunctionConverter::sortLoops(linalg::LinalgOp op,
                                           const Loops &plain,
                                           WindowOp &found) {
  auto fail = [&](const Twine &what) { return failWindows(op, what); };
  auto isOfResult = [&](unsigned loop) {
    return op.getMatchingIndexingMap(op.getDpsInitOperand(0))
        .isFunctionOfDim(loop);
  };
  Loops ofWeight;
  if (found.weight) {
    AffineMap own = op.getMatchingIndexingMap(found.weight);
    for (AffineExpr expr : own.getResults())
      if (auto loop = dyn_cast<AffineDimExpr>(expr))
        ofWeight.insert(loop.getPosition());
      else
        return fail("with a weight that it reads at computed places");
  }
  for (unsigned loop : plain) {
    if (ofWeight.contains(loop))
      (isOfResult(loop) ? found.groups : found.channels).push_back(loop);
    else if (found.weight || found.batch.empty())
      found.batch.push_back(loop);
    else
      found.groups.push_back(loop);
    if (!isOfResult(loop) && !ofWeight.contains(loop))
      return fail("along with a dimension that it sums");
  }
  for (unsigned loop : ofWeight) {
    bool isInside = llvm::any_of(
        found.windows, [&](const Window &w) { return w.inside == loop; });
    if (isInside || plain.contains(loop))
      continue;
    if (!isOfResult(loop))
      return fail("with a weight that it sums by itself");
    found.outputs.push_back(loop);
  }
  return success();
}

FailureOr<FunctionConverter::WindowOp>
FunctionConverter::readWindows(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() > 2 || op.getNumDpsInits() != 1)
    return failWindows(op, "and is neither a convolution nor a pooling");
  WindowOp found;
  found.input = op.getDpsInputOperand(0);
  Loops plain;
  if (failed(readTerm(op, found)) || failed(readPlaces(op, found, plain)) ||
      failed(sortLoops(op, plain, found)))
    return failure();
  if (auto pad = found.input->get().getDefiningOp<tensor::PadOp>();
      pad && padsWindows(pad))
    for (Window &window : found.windows)
      window.padding = pad.getStaticLow()[window.dim];
  return found;
}

/// True if all that read the padded tensor slide over what is padded, which is
/// as much on both sides.
bool FunctionConverter::padsWindows(tensor::PadOp pad) {
  for (auto [low, high] :
       llvm::zip_equal(pad.getStaticLow(), pad.getStaticHigh()))
    if (low != high || ShapedType::isDynamic(low) || low < 0)
      return false;
  return llvm::all_of(pad->getUses(), [&](OpOperand &use) {
    auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
    if (!op || !hasWindows(op) || op.getDpsInputOperand(0) != &use)
      return false;
    AffineMap map = op.getMatchingIndexingMap(&use);
    for (auto [expr, low] :
         llvm::zip_equal(map.getResults(), pad.getStaticLow()))
      if (low != 0 && isa<AffineDimExpr>(expr))
        return false;
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Which dimensions are one
//===----------------------------------------------------------------------===//

LogicalResult FunctionConverter::analyzeWindows(linalg::LinalgOp op) {
  FailureOr<WindowOp> found = readWindows(op);
  if (failed(found))
    return failure();
  windowOps[op] = *found;
  Lists loops(op.getNumLoops());
  SmallVector<bool> isBound(op.getNumLoops(), false);
  const Lists lists = getDims(found->input->get());
  AffineMap map = op.getMatchingIndexingMap(found->input);
  for (auto [list, expr] : llvm::zip_equal(lists, map.getResults()))
    if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
      loops[loop.getPosition()] = list;
      isBound[loop.getPosition()] = true;
    }
  if (found->weight &&
      failed(bindLoops(op, found->weight->get(),
                       op.getMatchingIndexingMap(found->weight), loops,
                       isBound)))
    return failure();
  OpOperand *init = op.getDpsInitOperand(0);
  if (!positions.getSplat(init->get()) &&
      !PositionValues::isUndefined(init->get()) &&
      failed(bindLoops(op, init->get(), op.getMatchingIndexingMap(init), loops,
                       isBound)))
    return failure();
  if (failed(bindResults(op, loops, isBound)))
    return failure();
  for (const Window &window : found->windows) {
    const List &from = lists[window.dim], &to = loops[*window.position];
    if (window.inside)
      windowSizes.push_back(loops[*window.inside]);
    if (factors.resolve(from).size() > 1)
      return op.emitOpError("slides over ")
             << factors.str(factors.resolve(from))
             << ", expected one dimension";
    if (window.stride == 1 && 2 * window.padding == window.size - 1) {
      if (failed(unify(op, from, to)))
        return failure();
    } else if (!from.empty() && !to.empty()) {
      spans.push_back(
          {to, from, 2 * window.padding - window.size, window.stride});
    }
  }
  opLoops[op] = std::move(loops);
  return success();
}

LogicalResult FunctionConverter::analyzePad(tensor::PadOp op) {
  const Lists from = getDims(op.getSource());
  if (!op.getConstantPaddingValue())
    return op.emitOpError("fills with what is no constant");
  if (padsWindows(op)) {
    dims[op.getResult()] = from;
    return success();
  }
  Lists lists;
  for (unsigned dim = 0, e = from.size(); dim < e; ++dim) {
    int64_t low = op.getStaticLow()[dim], high = op.getStaticHigh()[dim];
    if (low == 0 && high == 0) {
      lists.push_back(from[dim]);
      continue;
    }
    if (ShapedType::isDynamic(low) || ShapedType::isDynamic(high) || low < 0 ||
        high < 0)
      return op.emitOpError("pads by what is no number of at least 0");
    if (from[dim].empty())
      return op.emitOpError("pads a dimension of extent 1, which is none of "
                            "the model");
    lists.push_back({factors.add(op.getResultType().getDimSize(dim))});
    spans.push_back({lists.back(), from[dim], low + high - 1, 1});
  }
  dims[op.getResult()] = std::move(lists);
  return success();
}

/// Of `(extent + rest)/stride + 1` positions, rounded down.
void FunctionConverter::collectSpans() {
  // A window is a number, as strides and padding are.
  for (const List &size : windowSizes)
    for (Factor factor : factors.resolve(size))
      if (!factors.getName(factor))
        symbols.extents.try_emplace(
            factor,
            SymExpr::get(function.getContext(), factors.getExtent(factor)));
  for (const Span &span : spans) {
    List to = factors.resolve(span.to), from = factors.resolve(span.from);
    if (to.size() != 1 || to == from || factors.getName(to[0]))
      continue;
    int64_t extent = factors.getExtent(from), rest = span.rest + span.stride;
    bool isKnown = !ShapedType::isDynamic(extent);
    // Windows that lose nothing are so many per stride.
    if (0 <= rest && rest < span.stride &&
        (!isKnown || extent % span.stride == 0))
      rest = 0;
    else if (isKnown && (extent + rest) % span.stride != 0)
      continue;
    derived.try_emplace(to[0], Span{to, from, rest, span.stride});
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

FunctionConverter::Groups FunctionConverter::getGroups(linalg::LinalgOp op,
                                                       const WindowOp &windows,
                                                       OpOperand *operand) {
  AffineMap map = op.getMatchingIndexingMap(operand);
  const Lists lists = getDims(operand->get());
  auto find = [&](ArrayRef<unsigned> loops) {
    SmallVector<unsigned> places;
    for (unsigned loop : loops)
      for (auto [dim, expr] : llvm::enumerate(map.getResults()))
        if (auto own = dyn_cast<AffineDimExpr>(expr);
            own && own.getPosition() == loop)
          places.push_back(dim);
    return getGroup(lists, places);
  };
  bool isWeight = operand == windows.weight;
  Groups groups;
  if (!isWeight)
    groups.push_back(find(windows.batch));
  for (const Window &window : windows.windows)
    if (operand == windows.input)
      groups.push_back(getGroup(lists, window.dim));
    else if (!isWeight)
      groups.push_back(find(*window.position));
    else
      groups.push_back(window.inside ? find(*window.inside) : Group());
  if (isWeight)
    groups.push_back(find(windows.channels));
  SmallVector<unsigned> last(windows.groups);
  llvm::append_range(last, operand == windows.input ? windows.channels
                                                    : windows.outputs);
  groups.push_back(find(last));
  return groups;
}

SymTensorType FunctionConverter::getType(ArrayRef<Factor> list,
                                         const Groups &groups, Type element) {
  SmallVector<DimAttr> dims;
  for (const Group &group : groups) {
    List own;
    for (unsigned slot : group)
      own.push_back(list[slot]);
    dims.push_back(getDim(own));
  }
  return SymTensorType::get(function.getContext(), dims, element);
}

/// `bc(de)`, with a letter for each slot in the order of `slots`.
static std::string getLetters(const FunctionConverter::Groups &groups,
                              ArrayRef<unsigned> slots) {
  std::string text;
  for (const FunctionConverter::Group &group : groups) {
    std::string letters;
    for (unsigned slot : group)
      letters +=
          static_cast<char>('a' + (llvm::find(slots, slot) - slots.begin()));
    text += group.size() == 1 ? letters : "(" + letters + ")";
  }
  return text;
}

/// True for what gives a tensor the same factors: a reshape, or a pad that is
/// part of the windows.
bool FunctionConverter::keepsFactors(Operation *op) {
  if (auto pad = dyn_cast_or_null<tensor::PadOp>(op))
    return padsWindows(pad);
  return isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                         tensor::CastOp>(op);
}

Value FunctionConverter::getOrigin(Value tensor) {
  while (keepsFactors(tensor.getDefiningOp()))
    tensor = tensor.getDefiningOp()->getOperand(0);
  return tensor;
}

std::optional<FunctionConverter::Groups>
FunctionConverter::getWindowLayout(Value tensor) {
  std::optional<Groups> layout;
  SmallVector<OpOperand *> uses;
  SmallVector<Value> worklist = {tensor};
  while (!worklist.empty())
    for (OpOperand &use : worklist.pop_back_val().getUses()) {
      if (keepsFactors(use.getOwner()))
        worklist.push_back(use.getOwner()->getResult(0));
      else if (!isa<tensor::DimOp>(use.getOwner()))
        uses.push_back(&use);
    }
  for (OpOperand *use : uses) {
    auto found = windowOps.find(use->getOwner());
    if (found == windowOps.end() ||
        (use != found->second.input && use != found->second.weight))
      return std::nullopt;
    Groups groups =
        getGroups(cast<linalg::LinalgOp>(use->getOwner()), found->second, use);
    if (layout && *layout != groups)
      return std::nullopt;
    layout = groups;
  }
  return layout;
}

SymTensorType
FunctionConverter::getDeclaredType(Value tensor, Type element,
                                   const std::optional<Groups> &layout) {
  List list = getFactors(tensor);
  return layout ? getType(list, *layout, element) : getType(list, element);
}

void FunctionConverter::declare(Value tensor, Value made,
                                const std::optional<Groups> &layout) {
  if (layout) {
    laidOut[tensor] = made;
    return;
  }
  unsigned rank = cast<SymTensorType>(made.getType()).getRank();
  views[tensor] = {made, llvm::to_vector(llvm::seq<unsigned>(0, rank))};
}

FailureOr<Value> FunctionConverter::group(Operation *user, Value tensor,
                                          const Groups &groups) {
  if (Value made = laidOut.lookup(getOrigin(tensor))) // That way.
    return made;
  FailureOr<View> view = getView(user, tensor);
  if (failed(view))
    return failure();
  List list = getFactors(tensor);
  Type element = cast<SymTensorType>(view->value.getType()).getElementType();
  if (view->slots.size() != list.size())
    view = materialize(user->getLoc(), *view,
                       llvm::to_vector(llvm::seq<unsigned>(0, list.size())),
                       getType(list, element).getDims());
  std::string before;
  for (unsigned i = 0, e = view->slots.size(); i < e; ++i)
    before += static_cast<char>('a' + i);
  std::string after = getLetters(groups, view->slots);
  if (before == after)
    return view->value;
  return RearrangeOp::create(builder, user->getLoc(),
                             getType(list, groups, element), view->value,
                             before + "->" + after)
      .getResult();
}

/// What the op starts from, with what it has made.
FailureOr<View> FunctionConverter::addStart(linalg::LinalgOp op, View view,
                                            bool isMaximum) {
  Value init = op.getDpsInitOperand(0)->get();
  std::optional<double> start = positions.getSplat(init);
  Binary kind = isMaximum ? Binary::Max : Binary::Add;
  if (start && (isMaximum ? !hides(*start) : *start != 0))
    return applyConstant(op.getLoc(), kind, view, *start);
  if (start || PositionValues::isUndefined(init))
    return view;
  FailureOr<View> added = getView(op.getOperation(), init);
  if (failed(added))
    return failure();
  return applyBinary(op.getLoc(), kind, view, *added);
}

/// The value with a dimension for each of its factors again.
View FunctionConverter::ungroup(Location loc, Value value, const Groups &groups,
                                ArrayRef<Factor> list) {
  View view = {value, {}};
  for (const Group &group : groups)
    llvm::append_range(view.slots, group);
  std::string before = getLetters(groups, view.slots), after;
  SmallVector<DimAttr> dims;
  for (auto [place, slot] : llvm::enumerate(view.slots)) {
    after += static_cast<char>('a' + place);
    dims.push_back(DimAttr::get(getExtent(list[slot])));
  }
  Type element = cast<SymTensorType>(value.getType()).getElementType();
  if (before != after)
    view.value = RearrangeOp::create(
        builder, loc, SymTensorType::get(function.getContext(), dims, element),
        value, before + "->" + after);
  return view;
}

LogicalResult FunctionConverter::convertWindows(linalg::LinalgOp op) {
  const WindowOp &windows = windowOps.find(op)->second;
  FailureOr<Type> element = getElementType(op, op->getResult(0));
  if (failed(element))
    return failure();
  Location loc = op.getLoc();
  FailureOr<Value> input =
      group(op, windows.input->get(), getGroups(op, windows, windows.input));
  if (failed(input))
    return failure();
  Type own = cast<SymTensorType>(input->getType()).getElementType();
  OpOperand *init = op.getDpsInitOperand(0);
  // The result has the dimensions of the init, of which nothing else is known.
  Groups groups = getGroups(op, windows, init);
  List list = getFactors(op->getResult(0));
  SymTensorType type = getType(list, groups, own);
  SmallVector<int64_t> sizes, strides, padding;
  bool isWhole = !windows.weight;
  auto inputType = cast<RankedTensorType>(windows.input->get().getType());
  for (auto [number, window] : llvm::enumerate(windows.windows)) {
    sizes.push_back(window.size);
    strides.push_back(window.stride);
    padding.push_back(window.padding);
    isWhole &= groups[number + 1].empty() && window.padding == 0 &&
               inputType.getDimSize(window.dim) == window.size;
  }
  Value result;
  if (windows.weight) {
    FailureOr<Value> weight = group(op, windows.weight->get(),
                                    getGroups(op, windows, windows.weight));
    if (failed(weight))
      return failure();
    result = ConvOp::create(builder, loc, type, *input,
                            castTo(loc, {*weight, {}}, own).value, strides,
                            padding, !windows.groups.empty());
  } else if (isWhole) {
    // Whole dimensions are no windows.
    View rows = {*input,
                 llvm::to_vector(llvm::seq<unsigned>(0, type.getRank()))};
    for (size_t i = 0; i < windows.windows.size(); ++i) {
      rows = reduceDim(loc, rows, 1,
                       windows.isMaximum ? ReduceKind::Max : ReduceKind::Sum);
      rows = castTo(loc, rows, own);
      groups.erase(groups.begin() + 1);
    }
    result = rows.value;
  } else {
    result = PoolOp::create(builder, loc, type, *input,
                            windows.isMaximum ? Pooling::Max : Pooling::Mean,
                            sizes, strides, padding);
  }
  View view = castTo(loc, ungroup(loc, result, groups, list), *element);
  // A sum is so many times the mean.
  if (!windows.weight && !isWhole && !windows.isMaximum) {
    int64_t count = 1;
    for (int64_t size : sizes)
      count *= size;
    view = applyConstant(loc, Binary::Mul, view, static_cast<double>(count));
  }
  FailureOr<View> whole = addStart(op, view, windows.isMaximum);
  if (failed(whole))
    return failure();
  views[op->getResult(0)] = *whole;
  return success();
}

LogicalResult FunctionConverter::convertPad(tensor::PadOp op) {
  FailureOr<View> view = getView(op, op.getSource());
  if (failed(view))
    return failure();
  List from = getFactors(op.getSource()), to = getFactors(op.getResult());
  const Lists lists = getDims(op.getSource());
  View result = *view;
  for (unsigned dim = 0, e = lists.size(); dim < e; ++dim) {
    if (op.getStaticLow()[dim] == 0 && op.getStaticHigh()[dim] == 0)
      continue;
    unsigned slot = getFirstSlot(lists, dim);
    if (!llvm::is_contained(result.slots, slot)) {
      SmallVector<unsigned> order(result.slots);
      order.push_back(slot);
      SmallVector<DimAttr> dims(
          cast<SymTensorType>(result.value.getType()).getDims());
      dims.push_back(DimAttr::get(getExtent(from[slot])));
      result = materialize(op.getLoc(), result, order, dims);
    }
    SymTensorType type = cast<SymTensorType>(result.value.getType());
    unsigned place = llvm::find(result.slots, slot) - result.slots.begin();
    SmallVector<DimAttr> dims(type.getDims());
    dims[place] = DimAttr::get(getExtent(to[slot]));
    result.value = PadOp::create(
        builder, op.getLoc(),
        SymTensorType::get(function.getContext(), dims, type.getElementType()),
        result.value, place,
        SymExpr::get(function.getContext(), op.getStaticLow()[dim]));
  }
  views[op.getResult()] = result;
  return success();
}
