//===- BodyConversion.cpp - Ops for the bodies of linalg ------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each scalar op of a body becomes an op over tensors, sums of products an
// einsum.
//
//===----------------------------------------------------------------------===//

#include "FunctionConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

using namespace mlir;
using namespace stg;

static SymTensorType tensorOf(Value value) {
  return cast<SymTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// A letter for each dimension, some of which are over no letter, `()`.
static std::string getPattern(ArrayRef<unsigned> slots,
                              ArrayRef<unsigned> order) {
  std::string pattern;
  for (unsigned slot : order)
    pattern +=
        llvm::is_contained(slots, slot)
            ? std::string(1, 'a' + (llvm::find(slots, slot) - slots.begin()))
            : "()";
  return pattern;
}

View FunctionConverter::reorder(Location loc, View view,
                                ArrayRef<unsigned> order) {
  if (ArrayRef(view.slots) == order)
    return view;
  return expand(loc, view, order);
}

View FunctionConverter::expand(Location loc, View view,
                               ArrayRef<unsigned> order) {
  SymTensorType type = tensorOf(view.value);
  SmallVector<DimAttr> dims;
  DimAttr one = DimAttr::get(function.getContext(), ArrayRef<StringAttr>(),
                             SymExpr::get(function.getContext(), 1));
  for (unsigned slot : order) {
    auto *found = llvm::find(view.slots, slot);
    dims.push_back(found == view.slots.end()
                       ? one
                       : type.getDim(found - view.slots.begin()));
  }
  std::string pattern =
      getPattern(view.slots, view.slots) + "->" + getPattern(view.slots, order);
  Value result = RearrangeOp::create(
      builder, loc,
      SymTensorType::get(function.getContext(), dims, type.getElementType()),
      view.value, pattern);
  return {result, SmallVector<unsigned>(order)};
}

View FunctionConverter::materialize(Location loc, View view,
                                    ArrayRef<unsigned> order,
                                    ArrayRef<DimAttr> dims) {
  // A dimension at a time, where it belongs among those that are there.
  for (auto [slot, dim] : llvm::zip_equal(order, dims)) {
    if (llvm::is_contained(view.slots, slot))
      continue;
    SymTensorType type = tensorOf(view.value);
    // Behind the last one that comes before it.
    ArrayRef<unsigned> later(llvm::find(order, slot), order.end());
    unsigned place = view.slots.size();
    while (place > 0 && llvm::is_contained(later, view.slots[place - 1]))
      --place;
    SmallVector<DimAttr> longer(type.getDims());
    longer.insert(longer.begin() + place, dim);
    view.value =
        BroadcastOp::create(builder, loc,
                            SymTensorType::get(function.getContext(), longer,
                                               type.getElementType()),
                            view.value, place);
    view.slots.insert(view.slots.begin() + place, slot);
  }
  return reorder(loc, view, order);
}

View FunctionConverter::castTo(Location loc, View view, Type element) {
  SymTensorType type = tensorOf(view.value);
  if (type.getElementType() == element)
    return view;
  Value result =
      CastOp::create(builder, loc, type.withElementType(element), view.value);
  return {result, view.slots};
}

View FunctionConverter::reduceDim(Location loc, View view, unsigned place,
                                  ReduceKind kind) {
  unsigned slot = view.slots[place];
  SmallVector<unsigned> rest(view.slots);
  llvm::erase(rest, slot);
  if (kind == ReduceKind::Sum)
    return {SumOp::create(builder, loc, view.value, place), rest};
  // A maximum is along the last dimension.
  SmallVector<unsigned> order(rest);
  order.push_back(slot);
  view = reorder(loc, view, order);
  return {ReduceOp::create(builder, loc, view.value, ReduceKind::Max), rest};
}

View FunctionConverter::applyUnary(Location loc, ElementwiseKind kind,
                                   View view) {
  Value result = ElementwiseOp::create(builder, loc, view.value, Value(), kind);
  return {result, view.slots};
}

/// The fraction with a small denominator that is closest to a number; what a
/// constant is changes no cost.
static Rational toRational(double value) {
  double rest = std::abs(value);
  int64_t num = 1, den = 0, lastNum = 0, lastDen = 1;
  for (int i = 0; i < 24 && rest < 1e9; ++i) {
    auto whole = static_cast<int64_t>(rest);
    int64_t nextNum = whole * num + lastNum, nextDen = whole * den + lastDen;
    if (nextDen > 1000000000 || nextNum > 1000000000000)
      break;
    lastNum = std::exchange(num, nextNum);
    lastDen = std::exchange(den, nextDen);
    if (std::abs(static_cast<double>(num) / static_cast<double>(den) -
                 std::abs(value)) <= 1e-7 * std::abs(value))
      break;
    rest = 1 / (rest - static_cast<double>(whole));
  }
  if (den == 0)
    return Rational(value < 0 ? -1000000000 : 1000000000);
  Rational result = Rational(num) / Rational(den);
  return value < 0 ? Rational(0) - result : result;
}

Value FunctionConverter::makeSplat(Location loc, double value,
                                   SymTensorType like) {
  return SplatOp::create(
      builder, loc, like,
      SymExpr::get(function.getContext(), toRational(value)));
}

View FunctionConverter::applyBinary(Location loc, Binary kind, View lhs,
                                    View rhs) {
  bool commutes = kind == Binary::Add || kind == Binary::Mul ||
                  kind == Binary::Max || kind == Binary::Min;
  auto contains = [](const View &whole, const View &part) {
    return llvm::all_of(part.slots, [&](unsigned slot) {
      return llvm::is_contained(whole.slots, slot);
    });
  };
  if (commutes && !contains(lhs, rhs) && contains(rhs, lhs))
    std::swap(lhs, rhs);
  SmallVector<unsigned> order(lhs.slots);
  if (!contains(lhs, rhs)) {
    if (contains(rhs, lhs)) {
      order = rhs.slots;
    } else {
      for (unsigned slot : rhs.slots)
        if (!llvm::is_contained(order, slot))
          order.push_back(slot);
      llvm::sort(order);
    }
  } else if (rhs.slots.size() < lhs.slots.size() &&
             (kind == Binary::Add || kind == Binary::Mul)) {
    // A bias, or a scale of rows or columns.
    SmallVector<unsigned> own;
    SmallVector<int64_t> dims;
    for (auto [dim, slot] : llvm::enumerate(lhs.slots))
      if (llvm::is_contained(rhs.slots, slot)) {
        own.push_back(slot);
        dims.push_back(dim);
      }
    rhs = reorder(loc, rhs, own);
    auto places = builder.getDenseI64ArrayAttr(dims);
    Value result;
    if (kind == Binary::Mul) {
      result = MulAlongOp::create(builder, loc, lhs.value, rhs.value, places);
    } else {
      bool areLast =
          dims.empty() || dims.front() + dims.size() == lhs.slots.size();
      result = BiasAddOp::create(builder, loc, lhs.value, rhs.value,
                                 areLast ? DenseI64ArrayAttr() : places,
                                 DrawsAttr(), SymExpr());
    }
    return {result, lhs.slots};
  }
  lhs = reorder(loc, lhs, order);
  rhs = reorder(loc, rhs, order);
  Value result;
  switch (kind) {
  case Binary::Add:
    result = AddOp::create(builder, loc, lhs.value, rhs.value);
    break;
  case Binary::Mul:
    result = MulOp::create(builder, loc, lhs.value, rhs.value);
    break;
  case Binary::Sub:
  case Binary::Div:
  case Binary::Max:
  case Binary::Min:
  case Binary::Pow:
    result =
        ElementwiseOp::create(builder, loc, lhs.value, rhs.value,
                              kind == Binary::Sub   ? ElementwiseKind::Sub
                              : kind == Binary::Div ? ElementwiseKind::Div
                              : kind == Binary::Max ? ElementwiseKind::Max
                              : kind == Binary::Min ? ElementwiseKind::Min
                                                    : ElementwiseKind::Pow);
    break;
  }
  return {result, order};
}

View FunctionConverter::applyConstant(Location loc, Binary kind, View view,
                                      double value) {
  // Nothing is computed where nothing changes.
  if ((kind == Binary::Add && value == 0) ||
      (kind == Binary::Mul && value == 1))
    return view;
  return applyBinary(loc, kind, view,
                     {makeSplat(loc, value, tensorOf(view.value)), view.slots});
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

bool FunctionConverter::isPositionTerm(Value scalar, linalg::LinalgOp op) {
  if (auto arg = dyn_cast<BlockArgument>(scalar))
    return arg.getOwner() == op.getBlock() &&
           positions.isPosition(op.getMatchingOpOperand(arg)->get());
  Operation *body = scalar.getDefiningOp();
  if (body->getBlock() != op.getBlock())
    return positions.isPosition(scalar);
  if (isa<tensor::ExtractOp>(body))
    return false;
  if (isa<tensor::DimOp>(body))
    return true;
  return llvm::all_of(body->getOperands(), [&](Value operand) {
    return isPositionTerm(operand, op);
  });
}

void FunctionConverter::collectLoops(Value scalar, linalg::LinalgOp op,
                                     llvm::SmallSetVector<unsigned, 4> &loops) {
  if (auto arg = dyn_cast<BlockArgument>(scalar)) {
    if (arg.getOwner() != op.getBlock())
      return;
    OpOperand *operand = op.getMatchingOpOperand(arg);
    if (positions.getSplat(operand->get()))
      return;
    AffineMap map = op.getMatchingIndexingMap(operand);
    for (AffineExpr expr : map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        loops.insert(dim.getPosition());
    return;
  }
  Operation *body = scalar.getDefiningOp();
  if (auto index = dyn_cast<linalg::IndexOp>(body))
    loops.insert(index.getDim());
  if (body->getBlock() == op.getBlock())
    for (Value operand : body->getOperands())
      collectLoops(operand, op, loops);
}

FailureOr<FunctionConverter::Term> FunctionConverter::mask(
    Operation *body, const View &scores, linalg::LinalgOp op,
    ArrayRef<Value> scalars,
    llvm::function_ref<std::optional<bool>(ArrayRef<int64_t>)> isHidden) {
  llvm::SmallSetVector<unsigned, 4> loops;
  for (Value scalar : scalars)
    collectLoops(scalar, op, loops);
  // Loops of one iteration are none.
  loops.remove_if([&](unsigned loop) { return opLoops[op][loop].empty(); });
  SmallVector<unsigned> places(loops.begin(), loops.end());
  llvm::sort(places);
  auto fail = [&](const Twine &what) -> FailureOr<Term> {
    return body->emitOpError("hides elements by their positions, ") << what;
  };
  // Rows that are not known are longer than any window.
  for (Value scalar : scalars)
    positions.noteConstants(scalar, op);
  auto getCount = [&](unsigned loop) {
    int64_t extent = factors.getExtent(factors.resolve(opLoops[op][loop]));
    return ShapedType::isDynamic(extent) ? positions.getSampleExtent() : extent;
  };
  SmallVector<int64_t> iteration(op.getNumLoops(), 0);
  if (places.size() < 2) {
    // Everything is seen, or nothing is known of who sees it.
    int64_t count = places.empty() ? 1 : getCount(places[0]);
    for (int64_t i = 0; i < count; ++i) {
      if (!places.empty())
        iteration[places[0]] = i;
      if (isHidden(iteration) != std::optional<bool>(false))
        return fail("but not keys from queries");
    }
    return Term{Term::Data, 0, scores};
  }
  unsigned query = places[places.size() - 2], key = places.back();
  int64_t queries = getCount(query), keys = getCount(key);
  auto isSeen = [&](int64_t i, int64_t j) -> std::optional<bool> {
    iteration[query] = i;
    iteration[key] = j;
    if (std::optional<bool> hidden = isHidden(iteration))
      return !*hidden;
    return std::nullopt;
  };
  // Rows of a batch, and heads, hide alike.
  for (unsigned other : ArrayRef(places).drop_back(2)) {
    int64_t last = getCount(other) - 1;
    for (int64_t i = 0; i < queries; i += std::max<int64_t>(1, queries / 16))
      for (int64_t j = 0; j < keys; j += std::max<int64_t>(1, keys / 16)) {
        iteration[other] = 0;
        std::optional<bool> first = isSeen(i, j);
        for (int64_t place : {last / 2, last}) {
          iteration[other] = place;
          if (!first || isSeen(i, j) != first)
            return fail("and not alike along all other dimensions");
        }
      }
    iteration[other] = 0;
  }
  // The last query sees its window, or everything.
  int64_t window = 0;
  for (int64_t j = 0; j < keys; ++j) {
    std::optional<bool> seen = isSeen(queries - 1, j);
    if (!seen)
      return fail("which cannot be told here");
    window += *seen;
  }
  // All pairs of short rows; of long ones some from each part.
  int64_t stepI = std::max<int64_t>(1, queries / 64);
  int64_t stepJ = std::max<int64_t>(1, keys / 64);
  bool isCausal = true, isFull = true;
  for (int64_t i = 0; i < queries; i += stepI)
    for (int64_t j = 0; j < keys; j += stepJ) {
      std::optional<bool> seen = isSeen(i, j);
      if (!seen)
        return fail("which cannot be told here");
      int64_t own = i + keys - queries;
      isCausal &= *seen == (j <= own && j > own - window);
      isFull &= *seen;
    }
  // Those next to the edges.
  for (int64_t i = 0; i < queries; i += stepI)
    for (int64_t j :
         {i + keys - queries, i + keys - queries + 1,
          i + keys - queries - window, i + keys - queries - window + 1}) {
      if (j < 0 || j >= keys)
        continue;
      int64_t own = i + keys - queries;
      isCausal &=
          isSeen(i, j) == std::optional<bool>(j <= own && j > own - window);
    }
  if (isFull)
    return Term{Term::Data, 0, scores};
  if (!isCausal)
    return fail("and is no causal mask, with a window or without");
  SmallVector<unsigned> order(scores.slots), last;
  for (unsigned loop : {query, key}) {
    List list = factors.resolve(opLoops[op][loop]);
    unsigned slot = getFirstSlot(op, loop);
    if (list.size() != 1 || !llvm::is_contained(scores.slots, slot))
      return fail("of which what it hides has none");
    llvm::erase(order, slot);
    last.push_back(slot);
  }
  order.append(last);
  View rows = reorder(body->getLoc(), scores, order);
  SymExpr seen;
  if (window < keys)
    seen = SymExpr::get(function.getContext(), window);
  Value result = MaskScoresOp::create(builder, body->getLoc(), rows.value,
                                      AttentionMask::Causal, seen);
  return Term{Term::Data, 0, {result, rows.slots}};
}

FailureOr<FunctionConverter::Term>
FunctionConverter::getTerm(Value scalar, linalg::LinalgOp op) {
  auto it = terms.find(scalar);
  if (it != terms.end())
    return it->second;
  Term term = {};
  if (auto arg = dyn_cast<BlockArgument>(scalar)) {
    if (arg.getOwner() != op.getBlock())
      return op.emitOpError("reads a scalar that is no constant");
    OpOperand *operand = op.getMatchingOpOperand(arg);
    Attribute value;
    if (!isa<RankedTensorType>(operand->get().getType())) {
      if (!matchPattern(operand->get(), m_Constant(&value)) ||
          !isa<FloatAttr>(value))
        return op.emitOpError("reads a scalar that is no constant");
      term.kind = Term::Constant;
      term.constant = cast<FloatAttr>(value).getValueAsDouble();
    } else if (std::optional<double> splat =
                   positions.getSplat(operand->get())) {
      term.kind = Term::Constant;
      term.constant = *splat;
    } else if (positions.isPosition(operand->get())) {
      term.kind = Term::Position;
      // One number, such as a scale that the program computes.
      llvm::SmallSetVector<unsigned, 4> loops;
      collectLoops(arg, op, loops);
      if (llvm::all_of(loops, [&](unsigned loop) {
            return factors.resolve(opLoops[op][loop]).empty();
          }))
        if (std::optional<double> value = positions.getScalar(
                arg, op, SmallVector<int64_t>(op.getNumLoops(), 0))) {
          term.kind = Term::Constant;
          term.constant = *value;
        }
    } else {
      FailureOr<View> view = getView(op, operand);
      if (failed(view))
        return failure();
      term.kind = Term::Data;
      term.view = *view;
    }
    return terms[scalar] = term;
  }
  Operation *body = scalar.getDefiningOp();
  Attribute value;
  if (matchPattern(scalar, m_Constant(&value)) &&
      isa<FloatAttr, IntegerAttr>(value)) {
    term.kind = Term::Constant;
    auto number = dyn_cast<FloatAttr>(value);
    term.constant =
        number ? number.getValueAsDouble()
               : static_cast<double>(cast<IntegerAttr>(value).getInt());
  } else if (isPositionTerm(scalar, op)) {
    term.kind = Term::Position;
    // A constant that is cast in the body is the same everywhere.
    llvm::SmallSetVector<unsigned, 4> loops;
    collectLoops(scalar, op, loops);
    if (loops.empty())
      if (std::optional<double> value = positions.getScalar(
              scalar, op, SmallVector<int64_t>(op.getNumLoops(), 0))) {
        term.kind = Term::Constant;
        term.constant = *value;
      }
  } else {
    FailureOr<Term> converted = convertScalar(body, op);
    if (failed(converted))
      return failure();
    term = *converted;
  }
  return terms[scalar] = term;
}

FailureOr<FunctionConverter::Term>
FunctionConverter::convertLookup(tensor::ExtractOp extract,
                                 linalg::LinalgOp op) {
  FailureOr<View> table = getView(extract, extract.getTensor());
  if (failed(table))
    return failure();
  // Slots of the table are loops, but for those that are looked up.
  const Lists lists = getDims(extract.getTensor());
  SmallVector<std::optional<unsigned>> slots;
  View ids;
  std::optional<unsigned> lookedUp;
  for (auto [list, index] : llvm::zip_equal(lists, extract.getIndices())) {
    unsigned count = factors.resolve(list).size();
    if (auto loop = index.getDefiningOp<linalg::IndexOp>()) {
      unsigned first = getFirstSlot(op, loop.getDim());
      for (unsigned i = 0; i < count; ++i)
        slots.push_back(first + i);
      continue;
    }
    BlockArgument arg = getIndexSource(index);
    if (!arg || count != 1) {
      if (count == 0)
        continue;
      return extract.emitOpError("looks up a dimension of several factors");
    }
    FailureOr<View> view = getView(op, op.getMatchingOpOperand(arg));
    if (failed(view))
      return failure();
    ids = *view;
    lookedUp = slots.size();
    slots.push_back(std::nullopt);
  }
  if (!lookedUp || table->slots.size() != slots.size())
    return extract.emitOpError("reads a table that repeats itself");
  // The rows come first.
  SmallVector<unsigned> order = {*lookedUp}, rest;
  for (unsigned i = 0, e = slots.size(); i < e; ++i)
    if (i != *lookedUp) {
      order.push_back(i);
      rest.push_back(*slots[i]);
    }
  // Several tables are no lookup of each row's own: ids have none of theirs.
  for (unsigned slot : rest)
    if (llvm::is_contained(ids.slots, slot))
      return extract.emitOpError("looks up other rows for each column");
  View rows = reorder(extract.getLoc(), *table, order);
  Value result = EmbeddingOp::create(
      builder, extract.getLoc(), rows.value, ids.value, IntegerAttr(),
      DenseI64ArrayAttr(), ArrayAttr(), ArrayAttr());
  View view = {result, ids.slots};
  view.slots.append(rest);
  return Term{Term::Data, 0, view};
}

FailureOr<FunctionConverter::Term>
FunctionConverter::convertSelect(arith::SelectOp select, linalg::LinalgOp op) {
  Value condition = select.getCondition();
  if (isPositionTerm(condition, op)) {
    // Scores, or what hides them.
    for (bool hidden : {false, true}) {
      Value seen = hidden ? select.getTrueValue() : select.getFalseValue();
      Value other = hidden ? select.getFalseValue() : select.getTrueValue();
      FailureOr<Term> hiding = getTerm(seen, op);
      if (failed(hiding))
        return failure();
      if (hiding->kind != Term::Constant || !hides(hiding->constant))
        continue;
      FailureOr<Term> scores = getTerm(other, op);
      if (failed(scores))
        return failure();
      if (scores->kind != Term::Data)
        break;
      return mask(select, scores->view, op, {condition},
                  [&](ArrayRef<int64_t> iteration) -> std::optional<bool> {
                    if (auto value =
                            positions.getScalar(condition, op, iteration))
                      return (*value != 0) == hidden;
                    return std::nullopt;
                  });
    }
    return select.emitOpError("selects by position, which is neither a mask of "
                              "scores nor known");
  }
  FailureOr<Term> term = getTerm(condition, op);
  FailureOr<Term> lhs = getTerm(select.getTrueValue(), op);
  FailureOr<Term> rhs = getTerm(select.getFalseValue(), op);
  if (failed(term) || failed(lhs) || failed(rhs))
    return failure();
  // What is above zero, and zero elsewhere.
  if (term->kind == Term::Comparison && term->constant == 0) {
    bool isAbove = term->compares == arith::CmpFPredicate::OGT ||
                   term->compares == arith::CmpFPredicate::UGT ||
                   term->compares == arith::CmpFPredicate::OGE ||
                   term->compares == arith::CmpFPredicate::UGE;
    bool isBelow = term->compares == arith::CmpFPredicate::OLT ||
                   term->compares == arith::CmpFPredicate::ULT ||
                   term->compares == arith::CmpFPredicate::OLE ||
                   term->compares == arith::CmpFPredicate::ULE;
    const Term &kept = isAbove ? *lhs : *rhs, &zero = isAbove ? *rhs : *lhs;
    if ((isAbove || isBelow) && kept.kind == Term::Data &&
        kept.view.value == term->view.value && zero.kind == Term::Constant &&
        zero.constant == 0) {
      Value result = ActivationOp::create(builder, select.getLoc(),
                                          kept.view.value, Activation::Relu);
      return Term{Term::Data, 0, {result, kept.view.slots}};
    }
  }
  return select.emitOpError("selects by data, which is no op of a model but "
                            "for relu");
}

FailureOr<FunctionConverter::Term>
FunctionConverter::convertPower(Operation *body, Term base, Term exponent) {
  Location loc = body->getLoc();
  if (base.kind != Term::Data)
    return body->emitOpError("raises a constant to a power");
  if (exponent.kind == Term::Constant) {
    double value = exponent.constant;
    if (value == 1)
      return base;
    std::optional<ElementwiseKind> kind;
    if (value == 2 || value == 3)
      kind = ElementwiseKind::Square;
    else if (value == 0.5)
      kind = ElementwiseKind::Sqrt;
    else if (value == -0.5)
      kind = ElementwiseKind::Rsqrt;
    else if (value == -1)
      kind = ElementwiseKind::Reciprocal;
    if (!kind)
      return Term{Term::Data, 0,
                  applyConstant(loc, Binary::Pow, base.view, value)};
    View result = applyUnary(loc, *kind, base.view);
    if (value == 3)
      result = applyBinary(loc, Binary::Mul, result, base.view);
    return Term{Term::Data, 0, result};
  }
  if (exponent.kind != Term::Data ||
      tensorOf(exponent.view.value).getElementType() !=
          tensorOf(base.view.value).getElementType())
    return body->emitOpError("raises to a power that is no float");
  return Term{Term::Data, 0,
              applyBinary(loc, Binary::Pow, base.view, exponent.view)};
}

FailureOr<FunctionConverter::Term>
FunctionConverter::combine(Operation *body, Term lhs, Term rhs) {
  Location loc = body->getLoc();
  bool isFirst = lhs.kind == Term::Constant;
  const View &data = isFirst ? rhs.view : lhs.view;
  double value = isFirst ? lhs.constant : rhs.constant;
  bool hasConstant = isFirst || rhs.kind == Term::Constant;
  if (lhs.kind == Term::Comparison || rhs.kind == Term::Comparison ||
      (isFirst && rhs.kind == Term::Constant))
    return body->emitOpError("combines what is no tensor");
  auto make = [&](Binary kind) {
    return Term{Term::Data, 0,
                hasConstant ? applyConstant(loc, kind, data, value)
                            : applyBinary(loc, kind, lhs.view, rhs.view)};
  };
  if (isa<arith::AddFOp>(body))
    return make(Binary::Add);
  if (isa<arith::MulFOp>(body))
    return make(Binary::Mul);
  if (isa<arith::SubFOp>(body)) {
    if (!hasConstant)
      return make(Binary::Sub);
    if (!isFirst)
      return Term{Term::Data, 0, applyConstant(loc, Binary::Add, data, -value)};
    View negative = applyUnary(loc, ElementwiseKind::Neg, data);
    return Term{Term::Data, 0,
                applyConstant(loc, Binary::Add, negative, value)};
  }
  if (isa<arith::DivFOp>(body)) {
    if (!hasConstant)
      return make(Binary::Div);
    if (!isFirst)
      return Term{Term::Data, 0,
                  applyConstant(loc, Binary::Mul, data, 1 / value)};
    View inverse = applyUnary(loc, ElementwiseKind::Reciprocal, data);
    return Term{Term::Data, 0, applyConstant(loc, Binary::Mul, inverse, value)};
  }
  bool isMax = isa<arith::MaximumFOp, arith::MaxNumFOp>(body);
  if (isMax && hasConstant && value == 0) {
    Value result =
        ActivationOp::create(builder, loc, data.value, Activation::Relu);
    return Term{Term::Data, 0, {result, data.slots}};
  }
  if (isMax)
    return make(Binary::Max);
  if (isa<arith::MinimumFOp, arith::MinNumFOp>(body))
    return make(Binary::Min);
  return body->emitOpError("has no counterpart in a model");
}

static std::optional<ElementwiseKind> getUnaryKind(Operation *body) {
  if (isa<math::ExpOp>(body))
    return ElementwiseKind::Exp;
  if (isa<math::LogOp>(body))
    return ElementwiseKind::Log;
  if (isa<math::AbsFOp>(body))
    return ElementwiseKind::Abs;
  if (isa<arith::NegFOp>(body))
    return ElementwiseKind::Neg;
  if (isa<math::SqrtOp>(body))
    return ElementwiseKind::Sqrt;
  if (isa<math::RsqrtOp>(body))
    return ElementwiseKind::Rsqrt;
  if (isa<math::ErfOp>(body))
    return ElementwiseKind::Erf;
  if (isa<math::SinOp>(body))
    return ElementwiseKind::Sin;
  if (isa<math::CosOp>(body))
    return ElementwiseKind::Cos;
  return std::nullopt;
}

FailureOr<FunctionConverter::Term>
FunctionConverter::convertScalar(Operation *body, linalg::LinalgOp op) {
  if (auto extract = dyn_cast<tensor::ExtractOp>(body))
    return convertLookup(extract, op);
  if (auto select = dyn_cast<arith::SelectOp>(body))
    return convertSelect(select, op);
  SmallVector<Term, 2> operands;
  for (Value operand : body->getOperands()) {
    FailureOr<Term> term = getTerm(operand, op);
    if (failed(term))
      return failure();
    operands.push_back(*term);
  }
  // Positions hide scores, or are an input.
  for (unsigned i = 0, e = operands.size(); i < e; ++i) {
    if (operands[i].kind != Term::Position)
      continue;
    Value scalar = body->getOperand(i);
    if (isa<arith::AddFOp>(body) && operands[1 - i].kind == Term::Data) {
      // A mask is zero, or hides.
      bool isMask = true;
      auto isHidden = [&](ArrayRef<int64_t> iteration) -> std::optional<bool> {
        std::optional<double> value =
            positions.getScalar(scalar, op, iteration);
        if (value && (*value == 0 || hides(*value)))
          return *value != 0;
        return std::nullopt;
      };
      SmallVector<int64_t> first(op.getNumLoops(), 0);
      isMask = isHidden(first).has_value();
      if (isMask)
        return mask(body, operands[1 - i].view, op, {scalar}, isHidden);
    }
    auto arg = dyn_cast<BlockArgument>(scalar);
    if (!arg)
      return body->emitOpError("computes with positions; have them in a tensor "
                               "of their own, which becomes an input");
    FailureOr<View> view = getView(op, op.getMatchingOpOperand(arg));
    if (failed(view))
      return failure();
    operands[i] = Term{Term::Data, 0, *view};
  }
  Location loc = body->getLoc();
  if (auto compare = dyn_cast<arith::CmpFOp>(body)) {
    if (operands[0].kind == Term::Data && operands[1].kind == Term::Constant)
      return Term{Term::Comparison, operands[1].constant, operands[0].view,
                  compare.getPredicate()};
    return body->emitOpError("compares data, which is no op of a model");
  }
  if (operands.size() == 2) {
    if (isa<math::PowFOp, math::FPowIOp>(body))
      return convertPower(body, operands[0], operands[1]);
    if (operands[0].kind != Term::Data && operands[1].kind != Term::Data)
      return body->emitOpError("has no counterpart in a model");
    return combine(body, operands[0], operands[1]);
  }
  if (operands.size() != 1 || operands[0].kind != Term::Data)
    return body->emitOpError("has no counterpart in a model");
  View view = operands[0].view;
  if (isa<arith::ExtFOp, arith::TruncFOp>(body))
    return Term{Term::Data, 0, castTo(loc, view, body->getResult(0).getType())};
  if (isa<math::TanhOp>(body)) {
    Value result =
        ActivationOp::create(builder, loc, view.value, Activation::Tanh);
    return Term{Term::Data, 0, {result, view.slots}};
  }
  if (std::optional<ElementwiseKind> kind = getUnaryKind(body))
    return Term{Term::Data, 0, applyUnary(loc, *kind, view)};
  return body->emitOpError("has no counterpart in a model");
}

//===----------------------------------------------------------------------===//
// Ops of linalg
//===----------------------------------------------------------------------===//

/// The tensors whose elements are multiplied with each other, and the
/// constants.
bool FunctionConverter::collectProduct(Value scalar, linalg::LinalgOp op,
                                       SmallVectorImpl<View> &operands,
                                       double &scale) {
  if (auto arg = dyn_cast<BlockArgument>(scalar)) {
    FailureOr<Term> term = getTerm(arg, op);
    if (failed(term))
      return false;
    if (term->kind == Term::Constant) {
      scale *= term->constant;
      return true;
    }
    if (term->kind != Term::Data)
      return false;
    operands.push_back(term->view);
    return true;
  }
  Operation *body = scalar.getDefiningOp();
  Attribute value;
  if (matchPattern(scalar, m_Constant(&value)) && isa<FloatAttr>(value)) {
    scale *= cast<FloatAttr>(value).getValueAsDouble();
    return true;
  }
  if (isa<arith::MulFOp>(body))
    return collectProduct(body->getOperand(0), op, operands, scale) &&
           collectProduct(body->getOperand(1), op, operands, scale);
  // Products accumulate in wider types than their operands have.
  if (isa<arith::ExtFOp, arith::TruncFOp>(body))
    return collectProduct(body->getOperand(0), op, operands, scale);
  // What the body computes before it multiplies.
  FailureOr<Term> term = getTerm(scalar, op);
  if (failed(term) || term->kind != Term::Data)
    return false;
  operands.push_back(term->view);
  return true;
}

LogicalResult FunctionConverter::convertReduction(linalg::LinalgOp op,
                                                  unsigned result) {
  Location loc = op.getLoc();
  Operation *yield = op.getBlock()->getTerminator();
  Operation *body = yield->getOperand(result).getDefiningOp();
  OpOperand *init = op.getDpsInitOperand(result);
  Value carried = op.getMatchingBlockArgument(init);
  bool isSum = body && isa<arith::AddFOp>(body);
  bool isMax = body && isa<arith::MaximumFOp, arith::MaxNumFOp>(body);
  if (body && isa<arith::AddIOp>(body))
    return op.emitOpError("adds up integers, which no op of a model does");
  if ((!isSum && !isMax) || !llvm::is_contained(body->getOperands(), carried))
    return op.emitOpError("reduces by what is neither a sum nor a maximum");
  Value element = body->getOperand(body->getOperand(0) == carried ? 1 : 0);
  SmallVector<unsigned> order = getSlots(op, op.getMatchingIndexingMap(init));
  FailureOr<Type> type = getElementType(op, op->getResult(result));
  if (failed(type))
    return failure();

  View view;
  SmallVector<View> operands;
  double scale = 1;
  bool isProduct = isSum && collectProduct(element, op, operands, scale) &&
                   operands.size() > 1;
  // A sum of squares is no product of matrices.
  bool isSquare = isProduct && operands.size() == 2 && scale == 1 &&
                  operands[0].value == operands[1].value &&
                  operands[0].slots == operands[1].slots;
  if (isSquare) {
    View square = applyUnary(loc, ElementwiseKind::Square,
                             castTo(loc, operands[0], element.getType()));
    terms[element] = Term{Term::Data, 0, square};
  }
  if (isProduct && !isSquare) {
    unsigned slots = getFirstSlot(op, op.getNumLoops());
    if (slots > 26)
      return op.emitOpError("runs over ")
             << slots << " dimensions, expected at most 26";
    std::string equation;
    SmallVector<Value> inputs;
    for (const View &operand : operands) {
      equation += inputs.empty() ? "" : ",";
      for (unsigned slot : operand.slots)
        equation += static_cast<char>('a' + slot);
      inputs.push_back(operand.value);
    }
    equation += "->";
    for (unsigned slot : order)
      if (llvm::any_of(operands, [&](const View &operand) {
            return llvm::is_contained(operand.slots, slot);
          })) {
        equation += static_cast<char>('a' + slot);
        view.slots.push_back(slot);
      }
    // Operands of several types are of the widest.
    Type first = tensorOf(inputs[0]).getElementType();
    for (Value input : inputs)
      if (Type other = tensorOf(input).getElementType();
          other.getIntOrFloatBitWidth() > first.getIntOrFloatBitWidth())
        first = other;
    for (Value &input : inputs)
      input = castTo(loc, {input, {}}, first).value;
    view.value =
        EinsumOp::create(builder, loc, inputs, builder.getStringAttr(equation),
                         *type == first ? TypeAttr() : TypeAttr::get(*type),
                         DrawsAttr(), SymExpr());
    if (scale != 1)
      view = applyConstant(loc, Binary::Mul, view, scale);
  } else {
    FailureOr<Term> term = getTerm(element, op);
    if (failed(term))
      return failure();
    if (term->kind == Term::Position) {
      auto arg = dyn_cast<BlockArgument>(element);
      FailureOr<View> read =
          arg ? getView(op, op.getMatchingOpOperand(arg)) : FailureOr<View>();
      if (failed(read))
        return op.emitOpError("reduces what is computed of positions");
      term->view = *read;
    } else if (term->kind != Term::Data) {
      return op.emitOpError("reduces what is no tensor");
    }
    view = term->view;
    // From the last one on, as places behind a dimension move.
    for (unsigned place = view.slots.size(); place-- > 0;) {
      if (llvm::is_contained(order, view.slots[place]))
        continue;
      view = reduceDim(loc, view, place,
                       isSum ? ReduceKind::Sum : ReduceKind::Max);
      if (isMax)
        view = castTo(loc, view, *type);
    }
    view = castTo(loc, view, *type);
  }
  // What a reduction starts from.
  std::optional<double> start = positions.getSplat(init->get());
  bool isNeutral = start && (isSum ? *start == 0 : hides(*start));
  if (!isNeutral && !start) {
    FailureOr<View> added = getView(op, init);
    if (failed(added))
      return failure();
    view = applyBinary(loc, isSum ? Binary::Add : Binary::Max, view, *added);
  } else if (!isNeutral) {
    view = applyConstant(loc, isSum ? Binary::Add : Binary::Max, view, *start);
  }
  terms[yield->getOperand(result)] = Term{Term::Data, 0, view};
  return success();
}

LogicalResult FunctionConverter::convertStructured(linalg::LinalgOp op) {
  if (windowOps.contains(op))
    return convertWindows(op);
  terms.clear();
  Operation *yield = op.getBlock()->getTerminator();
  for (OpResult result : op->getResults()) {
    unsigned number = result.getResultNumber();
    // Nobody reads where a maximum is.
    if (positions.isPosition(result) || result.use_empty())
      continue;
    if (op.getNumReductionLoops() > 0 && failed(convertReduction(op, number)))
      return failure();
    FailureOr<Term> term = getTerm(yield->getOperand(number), op);
    if (failed(term))
      return failure();
    SmallVector<unsigned> order =
        getSlots(op, op.getIndexingMapMatchingResult(result));
    if (term->kind == Term::Position)
      return op.emitOpError("yields what depends on positions beside data");
    if (term->kind == Term::Comparison)
      return op.emitOpError("yields booleans of data, which no model has");
    View view = term->view;
    if (term->kind == Term::Constant) {
      FailureOr<Type> element = getElementType(op, result);
      if (failed(element))
        return failure();
      List list = getFactors(result);
      views[result] = {
          makeSplat(op.getLoc(), term->constant, getType(list, *element)),
          llvm::to_vector(llvm::seq<unsigned>(0, list.size()))};
      continue;
    }
    // From loops to the result's own dimensions.
    View own = {view.value, {}};
    for (unsigned slot : view.slots) {
      auto *found = llvm::find(order, slot);
      if (found == order.end())
        return op.emitOpError("yields more dimensions than its result has");
      own.slots.push_back(found - order.begin());
    }
    views[result] = own;
  }
  return success();
}
