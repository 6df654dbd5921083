//===- STGMixers.cpp - Ops that go over tokens in order -------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types, costs, states, sharding rules and gradients of causal convolutions,
// scans, delta rules, the matrix memory and the gated norm.
//
//===----------------------------------------------------------------------===//

#include "STGVerification.h"
#include "mlir/IR/Builders.h"
#include "stg/Dialect/STG/IR/Mixers.h"
#include "llvm/ADT/SmallString.h"

using namespace mlir;
using namespace stg;
using namespace stg::detail;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static Type f32(MLIRContext *context) { return Float32Type::get(context); }

namespace {
/// What a value is called in messages and the dimensions that it must have.
struct Expected {
  StringRef what;
  SmallVector<DimAttr> dims;
  Value value;
};
} // namespace

/// What differs first is an error; what is expected follows from `source`.
static LogicalResult checkAll(std::optional<Location> loc, Value source,
                              ArrayRef<Expected> expected) {
  return success(llvm::all_of(expected, [&](const Expected &entry) {
    return succeeded(checkSameShape(loc, entry.what, entry.dims,
                                    tensorOf(entry.value).getDims(), source,
                                    entry.value));
  }));
}

static LogicalResult checkRank(std::optional<Location> loc, StringRef what,
                               Value value, int64_t rank, StringRef dims) {
  if (tensorOf(value).getRank() == rank)
    return success();
  return emitOptionalError(loc, what, " has rank ", tensorOf(value).getRank(),
                           ", expected ", rank, ": ", dims);
}

static LogicalResult checkChunk(std::optional<Location> loc, SymExpr chunk) {
  std::optional<Rational> tokens = chunk.getConstant();
  if (!tokens || (tokens->isInteger() && !(*tokens < 1)))
    return success();
  return emitOptionalError(loc, "has chunks of ", chunk.str(),
                           " tokens, expected at least 1");
}

/// A number of the groups, or key heads, that each have equally many heads.
static LogicalResult checkDivides(std::optional<Location> loc, StringRef what,
                                  SymExpr groups, SymExpr heads) {
  SymExpr each = heads.exactDiv(groups);
  std::optional<Rational> size = each ? each.getConstant() : std::nullopt;
  if (!size || size->isInteger())
    return success();
  return emitOptionalError(loc, "has ", heads.str(), " heads, which the ",
                           groups.str(), ' ', what, " do not divide");
}

/// The results of a gradient have the shapes of what they are gradients of.
static LogicalResult checkGradients(Operation *op, unsigned number) {
  for (unsigned i = 0; i != number; ++i) {
    llvm::SmallString<16> what("result #");
    what += std::to_string(i);
    if (failed(checkSameShape(op->getLoc(), what,
                              tensorOf(op->getOperand(i)).getDims(),
                              tensorOf(op->getResult(i)).getDims())))
      return failure();
  }
  return success();
}

template <typename Adaptor>
static LogicalResult checkSelectiveScan(std::optional<Location> loc,
                                        Adaptor adaptor) {
  ArrayRef<DimAttr> x = tensorOf(adaptor.getX()).getDims();
  if (x.size() != 3 && x.size() != 4) // selective_scan_c1
    return emitOptionalError(loc, "x has rank ", x.size(),
                             ", expected 3 or 4: batch, tokens, heads or "
                             "none, channels");
  bool hasHeads = x.size() == 4;
  if (failed(checkRank(loc, "a", adaptor.getA(), hasHeads ? 3 : 2,
                       hasHeads ? "heads, channels, state"
                                : "channels, state"))) // selective_scan_c2
    return failure();
  DimAttr state = tensorOf(adaptor.getA()).getDims().back();
  SmallVector<DimAttr> channels(x.drop_front(2)), perChannel(channels),
      perHead(x.drop_back());
  perChannel.push_back(state);
  perHead.push_back(state);
  return checkAll(loc, adaptor.getX(),
                  {{"dt", SmallVector<DimAttr>(x), adaptor.getDt()},
                   {"a", perChannel, adaptor.getA()},
                   {"b", perHead, adaptor.getB()}, // selective_scan_c3
                   {"c", perHead, adaptor.getC()},
                   {"d", channels, adaptor.getD()}}); // selective_scan_c4
}

/// Channels are all dimensions behind the tokens.
static LogicalResult checkLinearScan(std::optional<Location> loc, Value x,
                                     ArrayRef<Expected> alike) {
  if (failed(checkMinRank(loc, "operand", tensorOf(x), 3))) // linear_scan_c1
    return failure();
  return checkAll(loc, x, alike); // linear_scan_c2
}

template <typename Adaptor>
static LogicalResult checkDecayingMean(std::optional<Location> loc,
                                       Adaptor adaptor) {
  if (failed(checkRank(loc, "k", adaptor.getK(), 3,
                       "batch, tokens, channels"))) // decaying_mean_c1
    return failure();
  ArrayRef<DimAttr> k = tensorOf(adaptor.getK()).getDims();
  return checkAll(loc, adaptor.getK(),
                  {{"v", SmallVector<DimAttr>(k), adaptor.getV()},
                   {"decay", {k[2]}, adaptor.getDecay()}, // decaying_mean_c2
                   {"bonus", {k[2]}, adaptor.getBonus()}});
}

template <typename Adaptor>
static LogicalResult checkSsd(std::optional<Location> loc, Adaptor adaptor) {
  if (failed(checkRank(loc, "x", adaptor.getX(), 4,
                       "batch, tokens, heads, head size"))) // ssd_c1
    return failure();
  ArrayRef<DimAttr> x = tensorOf(adaptor.getX()).getDims();
  ArrayRef<DimAttr> b = tensorOf(adaptor.getB()).getDims();
  if (b.size() != 3 && b.size() != 4) // ssd_c3
    return emitOptionalError(loc, "b has rank ", b.size(),
                             ", expected 3 or 4: batch, tokens, groups or "
                             "none, state");
  SmallVector<DimAttr> perGroup{x[0], x[1]};
  llvm::append_range(perGroup, b.drop_front(2));
  if (failed(checkAll(loc, adaptor.getX(),
                      {{"dt", {x[0], x[1], x[2]}, adaptor.getDt()},
                       {"a", {x[2]}, adaptor.getA()}, // ssd_c2
                       {"b", perGroup, adaptor.getB()},
                       {"c", perGroup, adaptor.getC()},
                       {"d", {x[2]}, adaptor.getD()}})) ||
      failed(checkChunk(loc, adaptor.getChunkAttr()))) // ssd_c5
    return failure();
  return b.size() == 3 ? success()
                       : checkDivides(loc, "groups", b[2].getExtent(),
                                      x[2].getExtent()); // ssd_c4
}

template <typename Adaptor>
static LogicalResult checkDeltaRule(std::optional<Location> loc,
                                    Adaptor adaptor) {
  if (failed(checkRank(loc, "q", adaptor.getQ(), 4,
                       "batch, tokens, key heads, key size")) || // _c1
      failed(checkRank(loc, "v", adaptor.getV(), 4,
                       "batch, tokens, value heads, value size"))) // _c2
    return failure();
  ArrayRef<DimAttr> q = tensorOf(adaptor.getQ()).getDims();
  ArrayRef<DimAttr> v = tensorOf(adaptor.getV()).getDims();
  SmallVector<DimAttr> perHead(v.drop_back()), decay(perHead);
  if (tensorOf(adaptor.getDt()).getRank() == 4)
    decay.push_back(q[3]);
  if (failed(checkAll(loc, adaptor.getQ(),
                      {{"k", SmallVector<DimAttr>(q), adaptor.getK()},
                       {"v", {q[0], q[1], v[2], v[3]}, adaptor.getV()},
                       {"dt", decay, adaptor.getDt()},
                       {"beta", perHead, adaptor.getBeta()},
                       {"a", {v[2]}, adaptor.getA()}})) || // _c3
      failed(checkDivides(loc, "key heads", q[2].getExtent(),
                          v[2].getExtent()))) // _c4
    return failure();
  return checkChunk(loc, adaptor.getChunkAttr()); // _c5
}

template <typename Adaptor>
static LogicalResult checkGeneralRule(std::optional<Location> loc,
                                      Adaptor adaptor) {
  if (failed(checkRank(loc, "q", adaptor.getQ(), 4,
                       "batch, tokens, heads, key size")) || // _c1
      failed(checkRank(loc, "v", adaptor.getV(), 4,
                       "batch, tokens, heads, value size"))) // _c2
    return failure();
  SmallVector<DimAttr> q(tensorOf(adaptor.getQ()).getDims()), v(q);
  v.back() = tensorOf(adaptor.getV()).getDim(3);
  if (failed(checkAll(loc, adaptor.getQ(),
                      {{"k", q, adaptor.getK()},
                       {"v", v, adaptor.getV()},
                       {"decay", q, adaptor.getDecay()},
                       {"a", q, adaptor.getA()},
                       {"b", q, adaptor.getB()}})))
    return failure();
  return checkChunk(loc, adaptor.getChunkAttr()); // _c3
}

template <typename Adaptor>
static LogicalResult checkMatrixMemory(std::optional<Location> loc,
                                       Adaptor adaptor) {
  if (failed(checkRank(loc, "q", adaptor.getQ(), 4,
                       "batch, tokens, heads, key size")) || // _c1
      failed(checkRank(loc, "v", adaptor.getV(), 4,
                       "batch, tokens, heads, value size"))) // _c2
    return failure();
  SmallVector<DimAttr> q(tensorOf(adaptor.getQ()).getDims()), v(q), gate(q);
  v.back() = tensorOf(adaptor.getV()).getDim(3);
  gate.pop_back();
  if (failed(checkAll(loc, adaptor.getQ(),
                      {{"k", q, adaptor.getK()},
                       {"v", v, adaptor.getV()},
                       {"input", gate, adaptor.getInput()}, // _c3
                       {"forget", gate, adaptor.getForget()}})))
    return failure();
  return checkChunk(loc, adaptor.getChunkAttr()); // _c4
}

/// The state of each sequence, in fp32.
static SymTensorType getStateType(DimAttr batch, ArrayRef<DimAttr> dims) {
  SmallVector<DimAttr> all{batch};
  llvm::append_range(all, dims);
  MLIRContext *context = batch.getContext();
  return SymTensorType::get(context, all, f32(context));
}

/// Of Mamba each channel has one, of Mamba-2 and the delta rule each head.
static SymTensorType getScanState(Value x, Value a) {
  return getStateType(tensorOf(x).getDim(0), tensorOf(a).getDims());
}
static SymTensorType getLinearState(Value x) {
  ArrayRef<DimAttr> dims = tensorOf(x).getDims();
  return getStateType(dims[0], dims.drop_front(2));
}
/// A numerator, a denominator and the largest exponent.
static DimAttr getMeanParts(Value k) {
  return DimAttr::get(SymExpr::get(k.getContext(), 3));
}
static SymTensorType getMeanState(Value k) {
  ArrayRef<DimAttr> dims = tensorOf(k).getDims();
  return getStateType(dims[0], {dims[2], getMeanParts(k)});
}
static SymTensorType getSsdState(Value x, Value b) {
  ArrayRef<DimAttr> dims = tensorOf(x).getDims();
  return getStateType(dims[0],
                      {dims[2], dims[3], tensorOf(b).getDims().back()});
}
static SymTensorType getDeltaState(Value q, Value v) {
  ArrayRef<DimAttr> dims = tensorOf(v).getDims();
  return getStateType(dims[0], {dims[2], tensorOf(q).getDim(3), dims[3]});
}
/// Of each key a value and a number that it is divided by, and of a head the
/// largest exponent.
static DimAttr getMemorySize(Value q, Value v) {
  DimAttr key = tensorOf(q).getDim(3);
  SymExpr value = tensorOf(v).getShape()[3];
  return key.withExtent(key.getExtent() * (value + 1) + 1);
}
static SymTensorType getMemoryState(Value q, Value v) {
  ArrayRef<DimAttr> dims = tensorOf(v).getDims();
  return getStateType(dims[0], {dims[2], getMemorySize(q, v)});
}

/// A scan gives a tensor like that of its values, and what it starts from where
/// tokens are divided.
template <typename Adaptor>
static LogicalResult inferScan(Adaptor adaptor, Value values,
                               SymTensorType state,
                               SmallVectorImpl<Type> &types) {
  types.push_back(tensorOf(values).withoutSharding());
  if (adaptor.getAlongAttr())
    types.push_back(state);
  return success();
}

/// What earlier steps have kept is not divided.
template <typename OpTy> static LogicalResult checkAlong(OpTy op) {
  if (op.getAlong() && op.getState())
    return op.emitOpError("has tokens that are divided, and a state that it "
                          "keeps for the next step");
  return success();
}

template <typename OpTy>
static LogicalResult checkStart(OpTy op, SymTensorType state) {
  Value start = op.getStart();
  if (static_cast<bool>(start) != static_cast<bool>(op.getAlong()))
    return op.emitOpError(start ? "has a state that its scan starts from, but "
                                  "has all tokens"
                                : "has some of the tokens, but no state that "
                                  "its scan starts from");
  if (!start)
    return success();
  return checkSameShape(op.getLoc(), "start", state.getDims(),
                        tensorOf(start).getDims());
}

/// The gradient that a scan's backward pass reads is like the tensor of its
/// values, and those that it makes, which come first, like its operands.
template <typename OpTy>
static LogicalResult checkScanGrad(OpTy op, Value values, unsigned numGradients,
                                   SymTensorType state) {
  return failure(failed(checkSameShape(
                     op.getLoc(), "gradient", tensorOf(values).getDims(),
                     op.getDy().getType().getDims(), values, op.getDy())) ||
                 failed(checkGradients(op, numGradients)) ||
                 failed(checkStart(op, state)));
}

LogicalResult CausalConvOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> loc,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  SymTensorType input = tensorOf(adaptor.getInput());
  SymTensorType weight = tensorOf(adaptor.getWeight());
  if (failed(checkMinRank(loc, "operand", input, 3)) || // causal_conv_c1
      failed(checkMinRank(loc, "weight", weight, 1)) || // causal_conv_c2
      failed(checkSameShape(loc, "weight without its last dimension",
                            input.getDims().drop_front(2),
                            weight.getDims().drop_back(), adaptor.getInput(),
                            adaptor.getWeight())))
    return failure();
  types.push_back(input.withoutSharding());
  return success();
}

LogicalResult CausalConvOp::verify() {
  if (getReversed() && getState()) // causal_conv_c3
    return emitOpError("is reversed and has a state");
  return checkAlong(*this); // causal_conv_c4
}

LogicalResult CausalConvWeightGradOp::verify() {
  SymTensorType input = getInput().getType(), weight = getType();
  if (failed(checkMinRank(getLoc(), "operand", input, 3)) ||
      failed(checkMinRank(getLoc(), "result", weight, 1)))
    return failure();
  SmallVector<DimAttr> channels(input.getDims().drop_front(2));
  channels.push_back(weight.getDims().back());
  return checkAll(getLoc(), getInput(), // causal_conv_weight_grad_c1
                  {{"gradient", SmallVector<DimAttr>(input.getDims()), getDy()},
                   {"result", channels, getDw()}});
}

LogicalResult SelectiveScanOp::inferReturnTypes(MLIRContext *,
                                                std::optional<Location> loc,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  if (failed(checkSelectiveScan(loc, adaptor)))
    return failure();
  return inferScan(adaptor, adaptor.getX(),
                   getScanState(adaptor.getX(), adaptor.getA()), types);
}

LogicalResult SelectiveScanOp::verify() {
  return checkAlong(*this); // selective_scan_c5
}

LogicalResult SelectiveScanGradOp::verify() {
  return failure(
      failed(checkSelectiveScan(getLoc(), *this)) ||
      failed(checkScanGrad(*this, getX(), 6, // selective_scan_grad_c5, c6
                           getScanState(getX(), getA()))));
}

LogicalResult LinearScanOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> loc,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  SymTensorType x = tensorOf(adaptor.getX());
  if (failed(checkLinearScan(
          loc, adaptor.getX(),
          {{"decay", SmallVector<DimAttr>(x.getDims()), adaptor.getDecay()}})))
    return failure();
  return inferScan(adaptor, adaptor.getX(), getLinearState(adaptor.getX()),
                   types);
}

LogicalResult LinearScanOp::verify() {
  return checkAlong(*this); // linear_scan_c3
}

LogicalResult LinearScanGradOp::verify() {
  SmallVector<DimAttr> dims(getDecay().getType().getDims());
  if (failed(checkLinearScan(getLoc(), getDecay(), // linear_scan_grad_c1
                             {{"y", dims, getY()},
                              {"gradient", dims, getDy()},
                              {"result #0", dims, getDx()},
                              {"result #1", dims, getDdecay()}})))
    return failure();
  return checkStart(*this, getLinearState(getDecay())); // _c2
}

LogicalResult DecayingMeanOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> loc,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  if (failed(checkDecayingMean(loc, adaptor)))
    return failure();
  return inferScan(adaptor, adaptor.getV(), getMeanState(adaptor.getK()),
                   types);
}

LogicalResult DecayingMeanOp::verify() {
  return checkAlong(*this); // decaying_mean_c3
}

LogicalResult DecayingMeanGradOp::verify() {
  return failure(
      failed(checkDecayingMean(getLoc(), *this)) ||
      failed(checkScanGrad(*this, getV(), 4, // decaying_mean_grad_c3, c4
                           getMeanState(getK()))));
}

LogicalResult SsdOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  if (failed(checkSsd(loc, adaptor)))
    return failure();
  return inferScan(adaptor, adaptor.getX(),
                   getSsdState(adaptor.getX(), adaptor.getB()), types);
}

LogicalResult SsdOp::verify() { return checkAlong(*this); } // ssd_c6

LogicalResult SsdGradOp::verify() {
  return failure(
      failed(checkSsd(getLoc(), *this)) ||
      failed(checkScanGrad(*this, getX(), 6, // ssd_grad_c6, ssd_grad_c7
                           getSsdState(getX(), getB()))));
}

LogicalResult GatedDeltaRuleOp::inferReturnTypes(MLIRContext *,
                                                 std::optional<Location> loc,
                                                 Adaptor adaptor,
                                                 SmallVectorImpl<Type> &types) {
  if (failed(checkDeltaRule(loc, adaptor)))
    return failure();
  return inferScan(adaptor, adaptor.getV(),
                   getDeltaState(adaptor.getQ(), adaptor.getV()), types);
}

LogicalResult GatedDeltaRuleOp::verify() {
  return checkAlong(*this); // gated_delta_rule_c6
}

LogicalResult GatedDeltaRuleGradOp::verify() {
  return failure(
      failed(checkDeltaRule(getLoc(), *this)) ||
      failed(checkScanGrad(*this, getV(), 6, // gated_delta_rule_grad_c6, c7
                           getDeltaState(getQ(), getV()))));
}

LogicalResult
GeneralDeltaRuleOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                     Adaptor adaptor,
                                     SmallVectorImpl<Type> &types) {
  if (failed(checkGeneralRule(loc, adaptor)))
    return failure();
  return inferScan(adaptor, adaptor.getV(),
                   getDeltaState(adaptor.getQ(), adaptor.getV()), types);
}

LogicalResult GeneralDeltaRuleOp::verify() {
  return checkAlong(*this); // general_delta_rule_c4
}

LogicalResult GeneralDeltaRuleGradOp::verify() {
  return failure(
      failed(checkGeneralRule(getLoc(), *this)) ||
      failed(checkScanGrad(*this, getV(), 6, // general_delta_rule_grad_c4, c5
                           getDeltaState(getQ(), getV()))));
}

LogicalResult MatrixMemoryOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> loc,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  if (failed(checkMatrixMemory(loc, adaptor)))
    return failure();
  return inferScan(adaptor, adaptor.getV(),
                   getMemoryState(adaptor.getQ(), adaptor.getV()), types);
}

LogicalResult MatrixMemoryOp::verify() {
  return checkAlong(*this); // matrix_memory_c5
}

LogicalResult MatrixMemoryGradOp::verify() {
  return failure(
      failed(checkMatrixMemory(getLoc(), *this)) ||
      failed(checkScanGrad(*this, getV(), 5, // matrix_memory_grad_c5, c6
                           getMemoryState(getQ(), getV()))));
}

LogicalResult RecurrencePartOp::verify() {
  unsigned completed = getCompleted();
  if (getNumResults() == 0) // recurrence_part_c1
    return emitOpError("has no result");
  if (completed > getNumOperands() || completed > getNumResults())
    return emitOpError("completes ")
           << completed << " values, but has " << getNumOperands()
           << " operands and " << getNumResults() << " results";
  for (unsigned i = 0; i != completed; ++i) // recurrence_part_c2
    if (getOperand(i).getType() != getResult(i).getType())
      return emitOpError("completes a value of type ")
             << getOperand(i).getType() << ", but result #" << i << " has type "
             << getResult(i).getType();
  return success();
}

/// Input, gate and weight of a gated norm.
static LogicalResult checkGated(std::optional<Location> loc, Value input,
                                Value gate, Value weight) {
  if (failed(checkRank(loc, "operand", input, 4,
                       "batch, tokens, heads, head size"))) // gated_norm_c1
    return failure();
  ArrayRef<DimAttr> dims = tensorOf(input).getDims();
  if (failed(
          checkAll(loc, input, {{"gate", SmallVector<DimAttr>(dims), gate}})))
    return failure();
  if (!weight)
    return success();
  return checkAll(loc, input, // gated_norm_c2
                  {{"weight", {dims[2], dims[3]}, weight}});
}

/// One number for each token and group, or for each token.
static LogicalResult checkRoots(std::optional<Location> loc, Value input,
                                Value roots,
                                StringRef what = "reciprocal root") {
  ArrayRef<DimAttr> dims = tensorOf(input).getDims();
  ArrayRef<DimAttr> found = tensorOf(roots).getDims();
  if (found.size() != 2 && found.size() != 3)
    return emitOptionalError(loc, what, " has rank ", found.size(),
                             ", expected 2 or 3: batch, tokens, groups or "
                             "none");
  if (failed(checkSameShape(loc, what, dims.take_front(2), found.take_front(2),
                            input, roots)))
    return failure();
  return found.size() == 2 ? success()
                           : checkDivides(loc, "groups", found[2].getExtent(),
                                          dims[2].getExtent());
}

/// True if the roots are those of groups, not of all heads.
static bool hasGroups(Value roots) { return tensorOf(roots).getRank() == 3; }

/// All heads are one group, which needs no word to be cut.
template <typename OpTy> static LogicalResult checkCut(OpTy op) {
  if (op.getCut() && !hasGroups(op.getRstd()))
    return op.emitOpError("has groups that are cut, and no groups");
  return success();
}

LogicalResult GatedNormOp::verify() {
  if (getGathered() && !getCut()) // gated_norm_c4
    return emitOpError("has groups that are gathered, but not cut");
  if (failed(checkGated(getLoc(), getInput(), getGate(), getWeight())) ||
      failed(checkSameShape(getLoc(), "result", getInput().getType().getDims(),
                            getResult().getType().getDims())) ||
      failed(checkCut(*this))) // gated_norm_c4
    return failure();
  return checkRoots(getLoc(), getInput(), getRstd()); // gated_norm_c3
}

LogicalResult GatedNormGradOp::verify() {
  if (failed(checkGated(getLoc(), getInput(), getGate(), getWeight())) ||
      failed(checkRoots(getLoc(), getInput(), getRstd())) ||
      failed(checkCut(*this)) ||
      failed(checkSameShape(getLoc(), "gradient",
                            getInput().getType().getDims(),
                            getDy().getType().getDims())))
    return failure();
  if (getDot() && hasGroups(getRstd()) && !getCut()) // gated_norm_grad_c6
    return emitOpError("has a product of its own, and groups that are not cut");
  if (getDot() &&
      failed(checkSameShape(getLoc(), "product", getRstd().getType().getDims(),
                            tensorOf(getDot()).getDims())))
    return failure();
  return checkGradients(*this, 3); // gated_norm_grad_c5
}

LogicalResult GatedNormSquaresOp::verify() {
  if (failed(checkGated(getLoc(), getInput(), getGate(), Value())))
    return failure();
  return checkRoots(getLoc(), getInput(), getSquares(), "result"); // _c2
}

LogicalResult GatedNormApplyOp::inferReturnTypes(MLIRContext *,
                                                 std::optional<Location> loc,
                                                 Adaptor adaptor,
                                                 SmallVectorImpl<Type> &types) {
  if (failed(checkGated(loc, adaptor.getInput(), adaptor.getGate(),
                        adaptor.getWeight())) ||
      failed(checkRoots(loc, adaptor.getInput(), adaptor.getRstd())))
    return failure();
  types.push_back(tensorOf(adaptor.getInput()).withoutSharding());
  return success();
}

LogicalResult GatedValuesOp::verify() {
  return failure(
      failed(checkGated(getLoc(), getInput(), getGate(), Value())) ||
      failed(checkSameShape(getLoc(), "result", getInput().getType().getDims(),
                            getResult().getType().getDims())));
}

LogicalResult GroupedNormOp::verify() {
  return failure(
      failed(checkRank(getLoc(), "operand", getInput(), 4,
                       "batch, tokens, heads, head size")) ||
      failed(checkSameShape(getLoc(), "result", getInput().getType().getDims(),
                            getResult().getType().getDims())) ||
      failed(checkRoots(getLoc(), getInput(), getRstd())));
}

LogicalResult GroupedNormApplyOp::verify() {
  return failure(
      failed(checkGated(getLoc(), getInput(), getInput(), getWeight())) ||
      failed(checkSameShape(getLoc(), "result", getInput().getType().getDims(),
                            getResult().getType().getDims())));
}

LogicalResult GatedNormDotOp::verify() {
  if (failed(checkGated(getLoc(), getInput(), getGate(), getWeight())) ||
      failed(checkSameShape(getLoc(), "gradient", // gated_norm_dot_c3
                            getInput().getType().getDims(),
                            getDy().getType().getDims())))
    return failure();
  return checkRoots(getLoc(), getInput(), getDot(), "result"); // _c4
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

static SymExpr elements(Value value) {
  return tensorOf(value).getNumElements();
}

static SymExpr constant(Operation *op, int64_t value) {
  return SymExpr::get(op->getContext(), value);
}

static OpCost makeCost(Operation *op, SymExpr operations,
                       bool isMatrix = false) {
  return {operations, getOperandAndResultBytes(op), isMatrix};
}

/// The sum of `get` of the tokens of each chunk: whole ones, and what is left.
static SymExpr sumOverChunks(SymExpr tokens, SymExpr chunk,
                             function_ref<SymExpr(SymExpr)> get) {
  SymExpr whole =
      SymExpr::getFunction(SymFunc::CeilDiv, {tokens + 1, chunk}) - 1;
  return whole * get(chunk) + get(tokens - whole * chunk);
}

/// The sum over the sequences of a row of what `get` makes of their tokens.
static SymExpr sumOverSequences(RequestsAttr requests, SymExpr tokens,
                                function_ref<SymExpr(SymExpr)> get) {
  if (!requests)
    return get(tokens);
  return requests.getSum([&](SymExpr fresh, SymExpr) { return get(fresh); });
}

/// How many tokens may be taken back.
template <typename OpTy> static SymExpr getRollbackOrZero(OpTy op) {
  SymExpr tokens = op.getRollbackAttr();
  return tokens ? tokens : constant(op, 0);
}

namespace {
/// What an op keeps of each sequence: states, or inputs of a convolution.
struct KeptStates {
  SmallVector<DimAttr> dims; ///< Of one of them, of a sequence of each row.
  unsigned number;           ///< The dimension along which there are several.
  Type elementType;
  SymExpr read; ///< How many are what was there before the new tokens.

  SymExpr getBytes(SymExpr times) const {
    return SymTensorType::get(elementType.getContext(), dims, elementType)
               .getNumBytes() *
           times;
  }
};
} // namespace

/// Of a scan the last state is read.
template <typename OpTy>
static KeptStates makeScanStates(OpTy op, DimAttr batch,
                                 ArrayRef<DimAttr> dims) {
  KeptStates states{{batch}, 0, f32(op.getContext()), constant(op, 1)};
  llvm::append_range(states.dims, dims);
  return states;
}

static KeptStates getKeptStates(SelectiveScanOp op) {
  return makeScanStates(op, op.getX().getType().getDim(0),
                        op.getA().getType().getDims());
}

static KeptStates getKeptStates(LinearScanOp op) {
  ArrayRef<DimAttr> x = op.getX().getType().getDims();
  return makeScanStates(op, x[0], x.drop_front(2));
}

static KeptStates getKeptStates(DecayingMeanOp op) {
  ArrayRef<DimAttr> k = op.getK().getType().getDims();
  return makeScanStates(op, k[0], {k[2], getMeanParts(op.getK())});
}

static KeptStates getKeptStates(SsdOp op) {
  ArrayRef<DimAttr> x = op.getX().getType().getDims();
  return makeScanStates(op, x[0],
                        {x[2], x[3], op.getB().getType().getDims().back()});
}

static KeptStates getKeptStates(GatedDeltaRuleOp op) {
  ArrayRef<DimAttr> v = op.getV().getType().getDims();
  return makeScanStates(op, v[0], {v[2], op.getQ().getType().getDim(3), v[3]});
}

static KeptStates getKeptStates(GeneralDeltaRuleOp op) {
  ArrayRef<DimAttr> v = op.getV().getType().getDims();
  return makeScanStates(op, v[0], {v[2], op.getQ().getType().getDim(3), v[3]});
}

static KeptStates getKeptStates(MatrixMemoryOp op) {
  ArrayRef<DimAttr> v = op.getV().getType().getDims();
  return makeScanStates(op, v[0], {v[2], getMemorySize(op.getQ(), op.getV())});
}

/// What comes before a token overlaps with what comes before the next one.
static KeptStates getKeptStates(CausalConvOp op) {
  SymTensorType input = op.getInput().getType();
  KeptStates states{{input.getDim(0), DimAttr::get(constant(op, 1))},
                    1,
                    input.getElementType(),
                    op.getWeight().getType().getShape().back() - 1};
  llvm::append_range(states.dims, input.getDims().drop_front(2));
  return states;
}

/// What is there before the new tokens is read, and as much is written for each
/// token of which a state is kept. Where more tokens may be taken back than are
/// new, earlier steps have written the other states.
template <typename OpTy> static OpCost addStates(OpTy op, OpCost cost) {
  if (!op.getState())
    return cost;
  KeptStates states = getKeptStates(op);
  SymExpr more = getRollbackOrZero(op);
  SymExpr tokens = tensorOf(op->getOperand(0)).getShape()[1];
  SymExpr times =
      sumOverSequences(op.getRequestsAttr(), tokens, [&](SymExpr fresh) {
        SymExpr written = states.read;
        if (!more.isZero())
          written =
              written + SymExpr::getFunction(SymFunc::Min, {fresh - 1, more});
        return states.read + written;
      });
  cost.bytes = cost.bytes + states.getBytes(times);
  return cost;
}

/// There is room for what the last token leaves, and for as much before each
/// that may be taken back.
template <typename OpTy> static SmallVector<StateBuffer> makeStates(OpTy op) {
  if (!op.getState())
    return {};
  KeptStates states = getKeptStates(op);
  SymExpr sequences =
      sumOverSequences(op.getRequestsAttr(), constant(op, 1),
                       [&](SymExpr) { return constant(op, 1); });
  SymExpr times = states.read + getRollbackOrZero(op);
  DimAttr &batch = states.dims.front(), &number = states.dims[states.number];
  batch = batch.withExtent(batch.getExtent() * sequences);
  number = number.withExtent(number.getExtent() * times);
  auto type =
      SymTensorType::get(op.getContext(), states.dims, states.elementType);
  if (SymExpr parts = op.getPartsAttr())
    type = type.getStacked(DimAttr::get(parts));
  return {{op.getState()->str(), type, StateBuffer::Cache}};
}

OpCost CausalConvOp::getCost() {
  SymExpr width = getWeight().getType().getShape().back();
  return addStates(*this, makeCost(*this, elements(getResult()) * width * 2));
}

SmallVector<StateBuffer> CausalConvOp::getStateBuffers() {
  return makeStates(*this);
}

OpCost CausalConvWeightGradOp::getCost() {
  SymExpr width = getType().getShape().back();
  return makeCost(*this, elements(getInput()) * width * 2);
}

/// Per token, channel and element of the state.
template <typename OpTy>
static SymExpr getScanOperations(OpTy op, int64_t perElement) {
  return elements(op.getX()) * op.getA().getType().getShape().back() *
         perElement;
}

OpCost SelectiveScanOp::getCost() {
  return addStates(*this, makeCost(*this, getScanOperations(*this, 7)));
}

SmallVector<StateBuffer> SelectiveScanOp::getStateBuffers() {
  return makeStates(*this);
}

OpCost SelectiveScanGradOp::getCost() {
  return makeCost(*this, getScanOperations(*this, 14));
}

/// Of the mean and of the state that it leaves: two sums, two maxima, four
/// differences, four exponentials, two sums of two products each, and as many
/// with one product; a quotient.
constexpr int64_t kMeanOperations = 23;

OpCost LinearScanOp::getCost() {
  return addStates(*this, makeCost(*this, elements(getX()) * 2));
}

SmallVector<StateBuffer> LinearScanOp::getStateBuffers() {
  return makeStates(*this);
}

OpCost LinearScanGradOp::getCost() {
  return makeCost(*this, elements(getDecay()) * 3);
}

OpCost DecayingMeanOp::getCost() {
  return addStates(*this, makeCost(*this, elements(getK()) * kMeanOperations));
}

SmallVector<StateBuffer> DecayingMeanOp::getStateBuffers() {
  return makeStates(*this);
}

OpCost DecayingMeanGradOp::getCost() {
  return makeCost(*this, elements(getK()) * 2 * kMeanOperations);
}

/// The products of a row of so many tokens: C B^T and what is read of it in
/// each chunk, states and what is read of them.
template <typename OpTy>
static SymExpr getSsdOperations(OpTy op, SymExpr tokens) {
  ExtentRange x = op.getX().getType().getShape();
  ArrayRef<DimAttr> b = op.getB().getType().getDims();
  SymExpr channels = x[2] * x[3], state = b.back().getExtent();
  SymExpr groups = b.size() == 4 ? b[2].getExtent() : constant(op, 1);
  SymExpr squares =
      sumOverChunks(tokens, op.getChunkAttr(), [](SymExpr n) { return n * n; });
  return squares * (state * groups + channels) * 2 +
         tokens * channels * state * 4;
}

OpCost SsdOp::getCost() {
  ExtentRange x = getX().getType().getShape();
  SymExpr state = getB().getType().getShape().back();
  SymExpr row = sumOverSequences(getRequestsAttr(), x[1], [&](SymExpr tokens) {
    if (getState() && tokens.isOne())
      return x[2] * x[3] * state * 4;
    return getSsdOperations(*this, tokens);
  });
  return addStates(*this, makeCost(*this, x[0] * row, /*isMatrix=*/true));
}

SmallVector<StateBuffer> SsdOp::getStateBuffers() { return makeStates(*this); }

OpCost SsdGradOp::getCost() {
  ExtentRange x = getX().getType().getShape();
  return makeCost(*this, x[0] * getSsdOperations(*this, x[1]) * 2,
                  /*isMatrix=*/true);
}

namespace {
/// The products of a delta rule: so many operations for each pair of tokens of
/// a chunk, by the sizes of keys and values, and for each token and element of
/// the state.
struct DeltaProducts {
  int64_t perKey, perValue, perState;
};
} // namespace

/// Queries and keys, keys and keys, and corrections of keys; corrections of
/// values, and what is read of them. States, what keys find and what queries
/// read.
static DeltaProducts getProducts(GatedDeltaRuleOp) { return {6, 4, 6}; }
static DeltaProducts getProducts(GatedDeltaRuleGradOp) { return {6, 4, 6}; }
/// What is looked for, and queries, are multiplied with keys and with what is
/// written. Values and what is found are two of what states are made of, and of
/// what is read and corrected.
static DeltaProducts getProducts(GeneralDeltaRuleOp) { return {10, 8, 8}; }
static DeltaProducts getProducts(GeneralDeltaRuleGradOp) { return {10, 8, 8}; }

/// The products of a row of so many tokens, and solving for its corrections.
template <typename OpTy>
static SymExpr getDeltaRuleOperations(OpTy op, SymExpr tokens) {
  SymExpr key = op.getQ().getType().getShape()[3];
  ExtentRange v = op.getV().getType().getShape();
  DeltaProducts products = getProducts(op);
  SymExpr row = sumOverChunks(tokens, op.getChunkAttr(), [&](SymExpr n) {
    return n * n * (key * products.perKey + v[3] * products.perValue) +
           ((n - 1) * n * (n * 2 - 1)).exactDiv(3);
  });
  return v[2] * (row + tokens * key * v[3] * products.perState);
}

template <typename OpTy> static OpCost getDeltaRuleCost(OpTy op) {
  SymExpr key = op.getQ().getType().getShape()[3];
  ExtentRange v = op.getV().getType().getShape();
  SymExpr row =
      sumOverSequences(op.getRequestsAttr(), v[1], [&](SymExpr tokens) {
        if (op.getState() && tokens.isOne())
          return v[2] * key * v[3] * getProducts(op).perState;
        return getDeltaRuleOperations(op, tokens);
      });
  return addStates(op, makeCost(op, v[0] * row, /*isMatrix=*/true));
}

/// Backward executes twice as many.
template <typename OpTy> static OpCost getDeltaRuleGradCost(OpTy op) {
  ExtentRange v = op.getV().getType().getShape();
  return makeCost(op, v[0] * getDeltaRuleOperations(op, v[1]) * 2,
                  /*isMatrix=*/true);
}

OpCost GatedDeltaRuleOp::getCost() { return getDeltaRuleCost(*this); }

SmallVector<StateBuffer> GatedDeltaRuleOp::getStateBuffers() {
  return makeStates(*this);
}

OpCost GatedDeltaRuleGradOp::getCost() { return getDeltaRuleGradCost(*this); }

OpCost GeneralDeltaRuleOp::getCost() { return getDeltaRuleCost(*this); }

SmallVector<StateBuffer> GeneralDeltaRuleOp::getStateBuffers() {
  return makeStates(*this);
}

OpCost GeneralDeltaRuleGradOp::getCost() { return getDeltaRuleGradCost(*this); }

/// So many operations for each token and element of the state, in which each
/// key has a number beside its value.
template <typename OpTy>
static SymExpr getMemoryStates(OpTy op, SymExpr tokens, int64_t perElement) {
  ExtentRange v = op.getV().getType().getShape();
  SymExpr key = op.getQ().getType().getShape()[3];
  return v[2] * tokens * key * (v[3] + 1) * perElement;
}

/// The products of a row of so many tokens: queries with keys, what is read of
/// a chunk, states and what is read of them.
template <typename OpTy>
static SymExpr getMemoryOperations(OpTy op, SymExpr tokens) {
  ExtentRange v = op.getV().getType().getShape();
  SymExpr key = op.getQ().getType().getShape()[3];
  SymExpr squares =
      sumOverChunks(tokens, op.getChunkAttr(), [](SymExpr n) { return n * n; });
  return v[2] * squares * (key + v[3] + 1) * 2 + getMemoryStates(op, tokens, 4);
}

OpCost MatrixMemoryOp::getCost() {
  ExtentRange v = getV().getType().getShape();
  SymExpr row = sumOverSequences(getRequestsAttr(), v[1], [&](SymExpr tokens) {
    if (getState() && tokens.isOne())
      return getMemoryStates(*this, tokens, 4);
    return getMemoryOperations(*this, tokens);
  });
  return addStates(*this, makeCost(*this, v[0] * row, /*isMatrix=*/true));
}

SmallVector<StateBuffer> MatrixMemoryOp::getStateBuffers() {
  return makeStates(*this);
}

OpCost MatrixMemoryGradOp::getCost() {
  ExtentRange v = getV().getType().getShape();
  return makeCost(*this, v[0] * getMemoryOperations(*this, v[1]) * 2,
                  /*isMatrix=*/true);
}

OpCost RecurrencePartOp::getCost() {
  return makeCost(*this, getOperations(), getMatrix());
}
std::optional<unsigned> RecurrencePartOp::getReusableOperand(unsigned result) {
  if (result < getCompleted())
    return result;
  return std::nullopt;
}
bool RecurrencePartOp::destroysOperand(unsigned operand) {
  return operand < getCompleted();
}

//===----------------------------------------------------------------------===//
// Parts of recurrent ops
//===----------------------------------------------------------------------===//

/// So many tokens of the operand that the convolution goes over, and all that
/// it computes.
static RecurrenceParts getConvParts(CostOpInterface op, unsigned operand,
                                    SymExpr width, bool isBackward) {
  SymTensorType type = tensorOf(op->getOperand(operand));
  SmallVector<DimAttr> dims(type.getDims());
  dims[1] = dims[1].withExtent(width - 1);
  RecurrenceParts parts;
  parts.state = type.withDims(dims);
  parts.isBackward = isBackward;
  parts.tail = operand;
  parts.rest = op.getCost().operations;
  return parts;
}

RecurrenceParts CausalConvOp::getDeviceParts() {
  return getConvParts(*this, 0, getWeight().getType().getShape().back(),
                      getReversed());
}

/// A product of a token with a gradient of the next device is made where the
/// token is.
RecurrenceParts CausalConvWeightGradOp::getDeviceParts() {
  return getConvParts(*this, 1, getDw().getType().getShape().back(),
                      /*isBackward=*/true);
}

/// A kernel that goes over all tokens makes the state at the end.
static RecurrenceParts getScanParts(SymTensorType state, SymExpr operations,
                                    bool isBackward) {
  RecurrenceParts parts;
  parts.state = state;
  parts.passing = operations;
  parts.isBackward = isBackward;
  return parts;
}

RecurrenceParts SelectiveScanOp::getDeviceParts() {
  return getScanParts(getScanState(getX(), getA()), getScanOperations(*this, 7),
                      /*isBackward=*/false);
}

RecurrenceParts SelectiveScanGradOp::getDeviceParts() {
  return getScanParts(getScanState(getX(), getA()),
                      getScanOperations(*this, 14), /*isBackward=*/true);
}

RecurrenceParts LinearScanOp::getDeviceParts() {
  return getScanParts(getLinearState(getX()), elements(getX()) * 2,
                      /*isBackward=*/false);
}

RecurrenceParts LinearScanGradOp::getDeviceParts() {
  return getScanParts(getLinearState(getDecay()), elements(getDecay()) * 3,
                      /*isBackward=*/true);
}

RecurrenceParts DecayingMeanOp::getDeviceParts() {
  return getScanParts(getMeanState(getK()), elements(getK()) * kMeanOperations,
                      /*isBackward=*/false);
}

RecurrenceParts DecayingMeanGradOp::getDeviceParts() {
  return getScanParts(getMeanState(getK()),
                      elements(getK()) * 2 * kMeanOperations,
                      /*isBackward=*/true);
}

/// States of chunks are made as if the first one were zero. The state that is
/// given, times how much of it is left at the end, is added to the last one.
/// What tokens read of the states before their chunks is the rest; backward,
/// the gradients of what made those states.
static RecurrenceParts getAddedParts(SymTensorType state, SymExpr operations,
                                     SymExpr read) {
  RecurrenceParts parts;
  parts.state = state;
  parts.own = operations - read;
  parts.passing = state.getNumElements() * 2;
  parts.rest = read;
  parts.isMatrix = parts.isAdded = true;
  return parts;
}

template <typename OpTy>
static RecurrenceParts getSsdParts(OpTy op, int64_t times) {
  ExtentRange x = op.getX().getType().getShape();
  SymExpr read = x[0] * x[1] * x[2] * x[3] *
                 op.getB().getType().getShape().back() * 2 * times;
  return getAddedParts(getSsdState(op.getX(), op.getB()),
                       x[0] * getSsdOperations(op, x[1]) * times, read);
}

RecurrenceParts SsdOp::getDeviceParts() {
  return getSsdParts(*this, /*times=*/1);
}

RecurrenceParts SsdGradOp::getDeviceParts() {
  RecurrenceParts parts = getSsdParts(*this, /*times=*/2);
  parts.isBackward = true;
  return parts;
}

/// So many operations for each pair of tokens of a chunk, by the sizes of keys
/// and values.
template <typename OpTy>
static SymExpr getDeltaPairs(OpTy op, int64_t perKey, int64_t perValue) {
  ExtentRange v = op.getV().getType().getShape();
  SymExpr key = op.getQ().getType().getShape()[3];
  SymExpr squares =
      sumOverChunks(v[1], op.getChunkAttr(), [](SymExpr n) { return n * n; });
  return v[0] * v[2] * squares * (key * perKey + v[3] * perValue);
}

/// So many operations for each token and element of the state.
template <typename OpTy>
static SymExpr getDeltaStates(OpTy op, int64_t perElement) {
  ExtentRange v = op.getV().getType().getShape();
  SymExpr key = op.getQ().getType().getShape()[3];
  return v[0] * v[1] * v[2] * key * v[3] * perElement;
}

/// What a chunk writes depends on the state before it: the products of its
/// keys with that and with what is written (W S and K^T U) go from chunk to
/// chunk. What queries read (Q S and A U) is the rest.
template <typename OpTy> static RecurrenceParts getDeltaParts(OpTy op) {
  ExtentRange v = op.getV().getType().getShape();
  SymExpr all = v[0] * getDeltaRuleOperations(op, v[1]);
  RecurrenceParts parts;
  parts.state = getDeltaState(op.getQ(), op.getV());
  parts.passing = getDeltaStates(op, 4);
  parts.rest = getDeltaStates(op, 2) + getDeltaPairs(op, 0, 2);
  parts.own = all - parts.passing - parts.rest;
  parts.isMatrix = true;
  return parts;
}

/// First what the gradient of the result alone says, of queries, states and
/// of `products` of pairs (A U and Q K^T); then, from chunk to chunk, two
/// products for the gradient of what is written and of the state; then all that
/// follows from these.
template <typename OpTy>
static RecurrenceParts getDeltaGradParts(OpTy op, int64_t products) {
  ExtentRange v = op.getV().getType().getShape();
  SymExpr all = v[0] * getDeltaRuleOperations(op, v[1]) * 2;
  RecurrenceParts parts;
  parts.state = getDeltaState(op.getQ(), op.getV());
  parts.isBackward = true;
  parts.own =
      getDeltaStates(op, 4) + getDeltaPairs(op, 2 * products, 2 * products);
  parts.passing = getDeltaStates(op, 4);
  parts.rest = all - parts.own - parts.passing;
  parts.isMatrix = true;
  return parts;
}

RecurrenceParts GatedDeltaRuleOp::getDeviceParts() {
  return getDeltaParts(*this);
}

RecurrenceParts GatedDeltaRuleGradOp::getDeviceParts() {
  return getDeltaGradParts(*this, /*products=*/2);
}

/// States have values, too, which nothing has to wait for.
RecurrenceParts GeneralDeltaRuleOp::getDeviceParts() {
  return getDeltaParts(*this);
}

/// Queries read values and what was found: twice as many products.
RecurrenceParts GeneralDeltaRuleGradOp::getDeviceParts() {
  return getDeltaGradParts(*this, /*products=*/4);
}

template <typename OpTy>
static RecurrenceParts getMemoryParts(OpTy op, int64_t times) {
  ExtentRange v = op.getV().getType().getShape();
  return getAddedParts(getMemoryState(op.getQ(), op.getV()),
                       v[0] * getMemoryOperations(op, v[1]) * times,
                       v[0] * getMemoryStates(op, v[1], 2) * times);
}

RecurrenceParts MatrixMemoryOp::getDeviceParts() {
  return getMemoryParts(*this, /*times=*/1);
}

RecurrenceParts MatrixMemoryGradOp::getDeviceParts() {
  RecurrenceParts parts = getMemoryParts(*this, /*times=*/2);
  parts.isBackward = true;
  return parts;
}

OpCost GatedNormOp::getCost() {
  return makeCost(*this, elements(getInput()) * 9 + elements(getRstd()) * 3);
}
OpCost GatedNormGradOp::getCost() {
  return makeCost(*this, elements(getInput()) * 23 + elements(getRstd()));
}
OpCost GatedNormSquaresOp::getCost() {
  return makeCost(*this, elements(getInput()) * 7);
}
OpCost GatedNormApplyOp::getCost() {
  return makeCost(*this, elements(getInput()) * 7);
}
OpCost GatedValuesOp::getCost() {
  return makeCost(*this, elements(getInput()) * 5);
}
OpCost GroupedNormOp::getCost() {
  return makeCost(*this, elements(getInput()) * 3 + elements(getRstd()) * 3);
}
OpCost GroupedNormApplyOp::getCost() {
  return makeCost(*this, elements(getResult()) * 2);
}
OpCost GatedNormDotOp::getCost() {
  return makeCost(*this, elements(getInput()) * 8);
}

//===----------------------------------------------------------------------===//
// Sharding rules
//===----------------------------------------------------------------------===//

namespace {
/// The factors of batch and tokens, all of which have to be here.
struct TokenFactors {
  ShardingRule rule;
  unsigned batch, tokens;

  explicit TokenFactors(ArrayAttr along)
      : batch(rule.addFactor("b")),
        tokens(rule.addFactor("s", along ? FactorKind::Shardable
                                         : FactorKind::Whole)) {}

  /// A tensor of tokens, whose other dimensions run over these factors.
  TensorFactors of(ArrayRef<unsigned> factors) const {
    TensorFactors tensor{{batch}, {tokens}};
    for (unsigned factor : factors)
      tensor.push_back({factor});
    return tensor;
  }
};

/// Of a convolution: channels c0, c1, ... and the weights of one.
struct ConvFactors : TokenFactors {
  TensorFactors input, weight;

  ConvFactors(SymTensorType type, ArrayAttr along) : TokenFactors(along) {
    for (int64_t i = 0, e = type.getRank() - 2; i != e; ++i)
      weight.push_back({rule.addFactor("c" + std::to_string(i))});
    input = {{batch}, {tokens}};
    llvm::append_range(input, weight);
    weight.push_back({rule.addFactor("w", FactorKind::Whole)});
  }
};

/// Heads, where there are some, have channels each.
struct SelectiveScanFactors : TokenFactors {
  TensorFactors x, a, b, d, start;

  SelectiveScanFactors(SymTensorType type, ArrayAttr along)
      : TokenFactors(along) {
    SmallVector<unsigned> channels{rule.addFactor("c")};
    unsigned state = rule.addFactor("n", FactorKind::Whole);
    SmallVector<unsigned> read{state};
    start = {{batch}};
    if (type.getRank() == 4) {
      unsigned heads = rule.addFactor("h");
      channels.insert(channels.begin(), heads);
      read.insert(read.begin(), heads);
    }
    x = of(channels);
    b = of(read);
    for (unsigned factor : channels) {
      a.push_back({factor});
      d.push_back({factor});
      start.push_back({factor});
    }
    a.push_back({state});
    start.push_back({state});
  }
  SmallVector<TensorFactors, 8> getOperands() { return {x, x, a, b, b, d}; }
};

/// All that tokens have is alike.
struct LinearScanFactors : TokenFactors {
  TensorFactors x, start;

  LinearScanFactors(SymTensorType type, ArrayAttr along) : TokenFactors(along) {
    x = {{batch}, {tokens}};
    start = {{batch}};
    for (int64_t i = 0, e = type.getRank() - 2; i != e; ++i) {
      unsigned channels = rule.addFactor("c" + std::to_string(i));
      x.push_back({channels});
      start.push_back({channels});
    }
  }
  SmallVector<TensorFactors, 8> getOperands() { return {x, x}; }
};

struct DecayingMeanFactors : TokenFactors {
  TensorFactors k, decay, start;

  explicit DecayingMeanFactors(ArrayAttr along) : TokenFactors(along) {
    unsigned channels = rule.addFactor("c");
    k = of({channels});
    decay = {{channels}};
    start = {{batch}, {channels}, {rule.addFactor("n", FactorKind::Whole)}};
  }
  SmallVector<TensorFactors, 8> getOperands() { return {k, k, decay, decay}; }
};

/// Groups, where there are some, are one factor with their heads: a device has
/// whole groups.
struct SsdFactors : TokenFactors {
  TensorFactors x, dt, a, b, start;

  SsdFactors(SymTensorType perGroup, ArrayAttr along) : TokenFactors(along) {
    unsigned heads = rule.addFactor("h");
    unsigned size = rule.addFactor("p", FactorKind::Whole);
    unsigned state = rule.addFactor("n", FactorKind::Whole);
    x = of({heads, size});
    dt = of({heads});
    a = {{heads}};
    b = perGroup.getRank() == 4 ? of({heads, state}) : of({state});
    start = {{batch}, {heads}, {size}, {state}};
  }
  SmallVector<TensorFactors, 8> getOperands() { return {x, dt, a, b, b, a}; }
};

/// Key heads are one factor with the value heads that share them.
struct DeltaRuleFactors : TokenFactors {
  TensorFactors q, v, dt, a, beta, start;

  DeltaRuleFactors(SymTensorType dtType, ArrayAttr along)
      : TokenFactors(along) {
    unsigned heads = rule.addFactor("h");
    unsigned key = rule.addFactor("k", FactorKind::Whole);
    unsigned value = rule.addFactor("v", FactorKind::Whole);
    q = of({heads, key});
    v = of({heads, value});
    beta = of({heads});
    dt = dtType.getRank() == 4 ? of({heads, key}) : beta;
    a = {{heads}};
    start = {{batch}, {heads}, {key}, {value}};
  }
  SmallVector<TensorFactors, 8> getOperands() { return {q, q, v, dt, a, beta}; }
};

/// All but values have the size of keys.
struct GeneralRuleFactors : TokenFactors {
  TensorFactors q, v, start;

  explicit GeneralRuleFactors(ArrayAttr along) : TokenFactors(along) {
    unsigned heads = rule.addFactor("h");
    unsigned key = rule.addFactor("k", FactorKind::Whole);
    unsigned value = rule.addFactor("v", FactorKind::Whole);
    q = of({heads, key});
    v = of({heads, value});
    start = {{batch}, {heads}, {key}, {value}};
  }
  SmallVector<TensorFactors, 8> getOperands() { return {q, q, v, q, q, q}; }
};

/// Gates are numbers of heads.
struct MemoryFactors : TokenFactors {
  TensorFactors q, v, gate, start;

  explicit MemoryFactors(ArrayAttr along) : TokenFactors(along) {
    unsigned heads = rule.addFactor("h");
    q = of({heads, rule.addFactor("k", FactorKind::Whole)});
    v = of({heads, rule.addFactor("v", FactorKind::Whole)});
    gate = of({heads});
    start = {{batch}, {heads}, {rule.addFactor("n", FactorKind::Whole)}};
  }
  SmallVector<TensorFactors, 8> getOperands() { return {q, q, v, gate, gate}; }
};

/// Tokens are one by one. Heads that have a norm of their own may be divided;
/// those of one norm only once the sums are apart.
struct GatedNormFactors {
  ShardingRule rule;
  TensorFactors input, weight, roots;

  GatedNormFactors(bool hasGroups, bool isCut, bool isDecomposed) {
    unsigned batch = rule.addFactor("b"), tokens = rule.addFactor("s");
    bool isOne = !hasGroups || isCut;
    TensorFactors::value_type all;
    if (isCut)
      all.push_back(rule.addFactor("g"));
    all.push_back(rule.addFactor("h", isOne && !isDecomposed
                                          ? FactorKind::Decomposed
                                          : FactorKind::Shardable));
    unsigned size = rule.addFactor("p", FactorKind::Whole);
    input = {{batch}, {tokens}, all, {size}};
    weight = {all, {size}};
    roots = {{batch}, {tokens}};
    if (hasGroups)
      roots.push_back({all.front()});
  }

  /// Of the ops into which a norm decomposes, which are there only if it is cut
  /// or has no groups.
  static GatedNormFactors ofPart(Value roots) {
    return {hasGroups(roots), /*isCut=*/hasGroups(roots),
            /*isDecomposed=*/true};
  }
};
} // namespace

/// What devices start from is each one's own.
template <typename Factors>
static ShardingRule makeRule(Factors factors, const TensorFactors &result,
                             ArrayAttr along) {
  llvm::append_range(factors.rule.operands, factors.getOperands());
  factors.rule.results = {result};
  if (along) {
    factors.rule.factors[factors.tokens].kind = FactorKind::Separate;
    factors.rule.results.push_back(factors.start);
  }
  return factors.rule;
}

/// The gradient reads that of the result, too, and makes those of the operands.
template <typename Factors>
static ShardingRule makeGradRule(Factors factors, const TensorFactors &dy,
                                 ArrayAttr along) {
  llvm::append_range(factors.rule.operands, factors.getOperands());
  llvm::append_range(factors.rule.results, factors.getOperands());
  factors.rule.operands.push_back(dy);
  if (along)
    factors.rule.operands.push_back(factors.start);
  return factors.rule;
}

ShardingRule CausalConvOp::getShardingRule() {
  ConvFactors f(getInput().getType(), getAlongAttr());
  f.rule.operands = {f.input, f.weight};
  f.rule.results = {f.input};
  return f.rule;
}

ShardingRule CausalConvWeightGradOp::getShardingRule() {
  ConvFactors f(getInput().getType(), getAlongAttr());
  f.rule.operands = {f.input, f.input};
  f.rule.results = {f.weight};
  return f.rule;
}

ShardingRule SelectiveScanOp::getShardingRule() {
  SelectiveScanFactors f(getX().getType(), getAlongAttr());
  return makeRule(f, f.x, getAlongAttr());
}
ShardingRule SelectiveScanGradOp::getShardingRule() {
  SelectiveScanFactors f(getX().getType(), getAlongAttr());
  return makeGradRule(f, f.x, getAlongAttr());
}
ShardingRule LinearScanOp::getShardingRule() {
  LinearScanFactors f(getX().getType(), getAlongAttr());
  return makeRule(f, f.x, getAlongAttr());
}
ShardingRule LinearScanGradOp::getShardingRule() {
  LinearScanFactors f(getDecay().getType(), getAlongAttr());
  return makeGradRule(f, f.x, getAlongAttr());
}
ShardingRule DecayingMeanOp::getShardingRule() {
  DecayingMeanFactors f(getAlongAttr());
  return makeRule(f, f.k, getAlongAttr());
}
ShardingRule DecayingMeanGradOp::getShardingRule() {
  DecayingMeanFactors f(getAlongAttr());
  return makeGradRule(f, f.k, getAlongAttr());
}
ShardingRule SsdOp::getShardingRule() {
  SsdFactors f(getB().getType(), getAlongAttr());
  return makeRule(f, f.x, getAlongAttr());
}
ShardingRule SsdGradOp::getShardingRule() {
  SsdFactors f(getB().getType(), getAlongAttr());
  return makeGradRule(f, f.x, getAlongAttr());
}
ShardingRule GatedDeltaRuleOp::getShardingRule() {
  DeltaRuleFactors f(getDt().getType(), getAlongAttr());
  return makeRule(f, f.v, getAlongAttr());
}
ShardingRule GatedDeltaRuleGradOp::getShardingRule() {
  DeltaRuleFactors f(getDt().getType(), getAlongAttr());
  return makeGradRule(f, f.v, getAlongAttr());
}

ShardingRule GeneralDeltaRuleOp::getShardingRule() {
  GeneralRuleFactors f(getAlongAttr());
  return makeRule(f, f.v, getAlongAttr());
}
ShardingRule GeneralDeltaRuleGradOp::getShardingRule() {
  GeneralRuleFactors f(getAlongAttr());
  return makeGradRule(f, f.v, getAlongAttr());
}
ShardingRule MatrixMemoryOp::getShardingRule() {
  MemoryFactors f(getAlongAttr());
  return makeRule(f, f.v, getAlongAttr());
}
ShardingRule MatrixMemoryGradOp::getShardingRule() {
  MemoryFactors f(getAlongAttr());
  return makeGradRule(f, f.v, getAlongAttr());
}

/// The axes of a device's tokens; none if it has all of them.
template <typename OpTy>
static LogicalResult
becomeLocalRecurrence(OpTy op, function_ref<ArrayAttr(StringRef)> getAxes) {
  if (op.getAlongAttr())
    op.setAlongAttr(getAxes("s"));
  return success();
}
template <typename OpTy> static StringRef getRecurrenceLowering(OpTy op) {
  return op.getAlongAttr() ? "stg-lower-recurrence" : "";
}

/// A scan gets another result, what it starts from.
template <typename OpTy>
static void passStatesOf(OpTy op, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  SmallVector<NamedAttribute> attributes(op->getAttrs());
  attributes.emplace_back(op.getAlongAttrName(), rewriter.getArrayAttr({}));
  auto made =
      OpTy::create(rewriter, op.getLoc(), op->getOperands(), attributes);
  rewriter.replaceOp(op, made.getResult());
}

#define STG_RECURRENT(OpTy)                                                    \
  LogicalResult OpTy::becomeLocal(                                             \
      function_ref<ArrayAttr(StringRef)> getAxes) {                            \
    return becomeLocalRecurrence(*this, getAxes);                              \
  }                                                                            \
  StringRef OpTy::getLoweringPass() { return getRecurrenceLowering(*this); }
STG_RECURRENT(CausalConvOp)
STG_RECURRENT(CausalConvWeightGradOp)
STG_RECURRENT(SelectiveScanOp)
STG_RECURRENT(SelectiveScanGradOp)
STG_RECURRENT(LinearScanOp)
STG_RECURRENT(LinearScanGradOp)
STG_RECURRENT(DecayingMeanOp)
STG_RECURRENT(DecayingMeanGradOp)
STG_RECURRENT(SsdOp)
STG_RECURRENT(SsdGradOp)
STG_RECURRENT(GatedDeltaRuleOp)
STG_RECURRENT(GatedDeltaRuleGradOp)
STG_RECURRENT(GeneralDeltaRuleOp)
STG_RECURRENT(GeneralDeltaRuleGradOp)
STG_RECURRENT(MatrixMemoryOp)
STG_RECURRENT(MatrixMemoryGradOp)
#undef STG_RECURRENT

void CausalConvOp::passStates(RewriterBase &rewriter) {
  setAlongAttr(rewriter.getArrayAttr({}));
}
void CausalConvWeightGradOp::passStates(RewriterBase &rewriter) {
  setAlongAttr(rewriter.getArrayAttr({}));
}
void SelectiveScanOp::passStates(RewriterBase &rewriter) {
  passStatesOf(*this, rewriter);
}
void LinearScanOp::passStates(RewriterBase &rewriter) {
  passStatesOf(*this, rewriter);
}
void DecayingMeanOp::passStates(RewriterBase &rewriter) {
  passStatesOf(*this, rewriter);
}
void SsdOp::passStates(RewriterBase &rewriter) {
  passStatesOf(*this, rewriter);
}
void GatedDeltaRuleOp::passStates(RewriterBase &rewriter) {
  passStatesOf(*this, rewriter);
}
void GeneralDeltaRuleOp::passStates(RewriterBase &rewriter) {
  passStatesOf(*this, rewriter);
}
void MatrixMemoryOp::passStates(RewriterBase &rewriter) {
  passStatesOf(*this, rewriter);
}
// Autodiff makes gradients that know what their scan starts from.
void SelectiveScanGradOp::passStates(RewriterBase &) {}
void LinearScanGradOp::passStates(RewriterBase &) {}
void DecayingMeanGradOp::passStates(RewriterBase &) {}
void SsdGradOp::passStates(RewriterBase &) {}
void GatedDeltaRuleGradOp::passStates(RewriterBase &) {}
void GeneralDeltaRuleGradOp::passStates(RewriterBase &) {}
void MatrixMemoryGradOp::passStates(RewriterBase &) {}

StringRef CausalConvOp::getContextFactor() { return "c0"; }
StringRef CausalConvWeightGradOp::getContextFactor() { return "c0"; }
StringRef SelectiveScanOp::getContextFactor() { return "c"; }
StringRef SelectiveScanGradOp::getContextFactor() { return "c"; }
StringRef LinearScanOp::getContextFactor() { return "c0"; }
StringRef LinearScanGradOp::getContextFactor() { return "c0"; }
StringRef DecayingMeanOp::getContextFactor() { return "c"; }
StringRef DecayingMeanGradOp::getContextFactor() { return "c"; }
StringRef SsdOp::getContextFactor() { return "h"; }
StringRef SsdGradOp::getContextFactor() { return "h"; }
StringRef GatedDeltaRuleOp::getContextFactor() { return "h"; }
StringRef GatedDeltaRuleGradOp::getContextFactor() { return "h"; }
StringRef GeneralDeltaRuleOp::getContextFactor() { return "h"; }
StringRef GeneralDeltaRuleGradOp::getContextFactor() { return "h"; }
StringRef MatrixMemoryOp::getContextFactor() { return "h"; }
StringRef MatrixMemoryGradOp::getContextFactor() { return "h"; }

ShardingRule GatedNormOp::getShardingRule() {
  GatedNormFactors f(hasGroups(getRstd()), getCut(), /*isDecomposed=*/false);
  f.rule.operands = {f.input, f.input, f.weight};
  f.rule.results = {f.input, f.roots};
  return f.rule;
}

/// Each device makes the norms of all groups, of which it keeps its own heads.
static void decomposeGathered(GatedNormOp norm, RewriterBase &rewriter) {
  Location loc = norm.getLoc();
  SymTensorType type = norm.getResult().getType().withoutSharding();
  SymTensorType wide = type.withElementType(rewriter.getF32Type());
  Value values = GatedValuesOp::create(rewriter, loc, wide, norm.getInput(),
                                       norm.getGate());
  auto all = GroupedNormOp::create(
      rewriter, loc, wide, norm.getRstd().getType().withoutSharding(), values);
  Value result = GroupedNormApplyOp::create(rewriter, loc, type,
                                            all.getResult(), norm.getWeight());
  rewriter.replaceOp(norm, {result, all.getRstd()});
}

LogicalResult GatedNormOp::decompose(RewriterBase &rewriter) {
  Location loc = getLoc();
  if (getGathered()) {
    decomposeGathered(*this, rewriter);
    return success();
  }
  Value squares = GatedNormSquaresOp::create(
      rewriter, loc, getRstd().getType().withoutSharding(), getInput(),
      getGate());
  Value rstd = NormRootOp::create(rewriter, loc, squares);
  Value result = GatedNormApplyOp::create(rewriter, loc, getInput(), getGate(),
                                          getWeight(), rstd);
  rewriter.replaceOp(*this, {result, rstd});
  return success();
}

ShardingRule GatedNormGradOp::getShardingRule() {
  bool isDecomposed = static_cast<bool>(getDot());
  GatedNormFactors f(hasGroups(getRstd()), getCut(), isDecomposed);
  f.rule.operands = {f.input, f.input, f.weight, f.roots, f.input};
  if (isDecomposed)
    f.rule.operands.push_back(f.roots);
  f.rule.results = {f.input, f.input, f.weight};
  return f.rule;
}

LogicalResult GatedNormGradOp::decompose(RewriterBase &rewriter) {
  Value dot = GatedNormDotOp::create(
      rewriter, getLoc(), getRstd().getType().withoutSharding(), getInput(),
      getGate(), getWeight(), getDy());
  auto op = GatedNormGradOp::create(rewriter, getLoc(), getResultTypes(),
                                    getInput(), getGate(), getWeight(),
                                    getRstd(), getDy(), dot, getCut());
  rewriter.replaceOp(*this, op);
  return success();
}

ShardingRule GatedNormSquaresOp::getShardingRule() {
  auto f = GatedNormFactors::ofPart(getSquares());
  f.rule.operands = {f.input, f.input};
  f.rule.results = {f.roots};
  return f.rule;
}

ShardingRule GatedValuesOp::getShardingRule() {
  GatedNormFactors f(/*hasGroups=*/true, /*isCut=*/true,
                     /*isDecomposed=*/true);
  f.rule.operands = {f.input, f.input};
  f.rule.results = {f.input};
  return f.rule;
}

ShardingRule GroupedNormApplyOp::getShardingRule() {
  GatedNormFactors f(/*hasGroups=*/true, /*isCut=*/true,
                     /*isDecomposed=*/true);
  f.rule.operands = {f.input, f.weight};
  f.rule.results = {f.input};
  return f.rule;
}

ShardingRule GroupedNormOp::getShardingRule() {
  ShardingRule rule;
  unsigned batch = rule.addFactor("b"), tokens = rule.addFactor("s");
  unsigned heads = rule.addFactor("heads", FactorKind::Whole);
  unsigned groups = rule.addFactor("groups", FactorKind::Whole);
  unsigned size = rule.addFactor("p", FactorKind::Whole);
  TensorFactors input = {{batch}, {tokens}, {heads}, {size}};
  TensorFactors roots = {{batch}, {tokens}};
  if (hasGroups(getRstd()))
    roots.push_back({groups});
  rule.operands = {input};
  rule.results = {input, roots};
  return rule;
}

ShardingRule GatedNormApplyOp::getShardingRule() {
  auto f = GatedNormFactors::ofPart(getRstd());
  f.rule.operands = {f.input, f.input, f.weight, f.roots};
  f.rule.results = {f.input};
  return f.rule;
}

ShardingRule GatedNormDotOp::getShardingRule() {
  auto f = GatedNormFactors::ofPart(getDot());
  f.rule.operands = {f.input, f.input, f.weight, f.input};
  f.rule.results = {f.roots};
  return f.rule;
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

LogicalResult CausalConvOp::buildGradient(GradientBuilder &gradient) {
  Value dy = gradient.getResultGradient(0);
  if (gradient.needsGradient(0))
    gradient.addGradient(0, gradient.create<CausalConvOp>(
                                Role::Dx, dy, getWeight(), !getReversed(),
                                StringAttr(), SymExpr(), RequestsAttr(),
                                SymExpr(), getAlongAttr()));
  if (gradient.needsGradient(1))
    gradient.addGradient(1, gradient.create<CausalConvWeightGradOp>(
                                Role::Dw, gradient.getGradientType(1),
                                getInput(), dy, getAlongAttr()));
  return success();
}

/// One op makes the gradients of all operands.
template <typename GradOp, typename OpTy, typename... Attributes>
static LogicalResult buildScanGradient(OpTy op, GradientBuilder &gradient,
                                       Attributes... attributes) {
  SmallVector<Type> types;
  SmallVector<Value> operands(op->getOperands());
  for (unsigned i = 0, e = operands.size(); i != e; ++i)
    types.push_back(gradient.getGradientType(i));
  operands.push_back(gradient.getResultGradient(0));
  auto made = gradient.create<GradOp>(
      std::nullopt, types, operands[0], operands[1], operands[2], operands[3],
      operands[4], operands[5], operands[6], op.getStart(), attributes...,
      op.getAlongAttr());
  for (unsigned i = 0, e = op->getNumOperands(); i != e; ++i)
    if (gradient.needsGradient(i))
      gradient.addGradient(i, made->getResult(i));
  return success();
}

LogicalResult SelectiveScanOp::buildGradient(GradientBuilder &gradient) {
  return buildScanGradient<SelectiveScanGradOp>(*this, gradient);
}
/// The states are what the scan gives.
LogicalResult LinearScanOp::buildGradient(GradientBuilder &gradient) {
  auto made = gradient.create<LinearScanGradOp>(
      std::nullopt,
      SmallVector<Type>{gradient.getGradientType(0),
                        gradient.getGradientType(1)},
      getDecay(), getResult(), gradient.getResultGradient(0), getStart(),
      getAlongAttr());
  for (unsigned i : {0u, 1u})
    if (gradient.needsGradient(i))
      gradient.addGradient(i, made->getResult(i));
  return success();
}
LogicalResult DecayingMeanOp::buildGradient(GradientBuilder &gradient) {
  SmallVector<Type> types;
  for (unsigned i : {0u, 1u, 2u, 3u})
    types.push_back(gradient.getGradientType(i));
  auto made = gradient.create<DecayingMeanGradOp>(
      std::nullopt, types, getK(), getV(), getDecay(), getBonus(),
      gradient.getResultGradient(0), getStart(), getAlongAttr());
  for (unsigned i : {0u, 1u, 2u, 3u})
    if (gradient.needsGradient(i))
      gradient.addGradient(i, made->getResult(i));
  return success();
}
LogicalResult SsdOp::buildGradient(GradientBuilder &gradient) {
  return buildScanGradient<SsdGradOp>(*this, gradient, getChunkAttr());
}
LogicalResult GatedDeltaRuleOp::buildGradient(GradientBuilder &gradient) {
  return buildScanGradient<GatedDeltaRuleGradOp>(*this, gradient,
                                                 getChunkAttr());
}
LogicalResult GeneralDeltaRuleOp::buildGradient(GradientBuilder &gradient) {
  return buildScanGradient<GeneralDeltaRuleGradOp>(*this, gradient,
                                                   getChunkAttr());
}
LogicalResult MatrixMemoryOp::buildGradient(GradientBuilder &gradient) {
  SmallVector<Type> types;
  for (unsigned i : {0u, 1u, 2u, 3u, 4u})
    types.push_back(gradient.getGradientType(i));
  auto made = gradient.create<MatrixMemoryGradOp>(
      std::nullopt, types, getQ(), getK(), getV(), getInput(), getForget(),
      gradient.getResultGradient(0), getStart(), getChunkAttr(),
      getAlongAttr());
  for (unsigned i : {0u, 1u, 2u, 3u, 4u})
    if (gradient.needsGradient(i))
      gradient.addGradient(i, made->getResult(i));
  return success();
}

LogicalResult GatedNormOp::buildGradient(GradientBuilder &gradient) {
  if (gradient.getResultGradient(1))
    return emitOpError("cannot be differentiated through its reciprocal roots");
  SmallVector<Type> types;
  for (unsigned i : {0u, 1u, 2u})
    types.push_back(gradient.getGradientType(i));
  auto op = gradient.create<GatedNormGradOp>(
      std::nullopt, types, getInput(), getGate(), getWeight(), getRstd(),
      gradient.getResultGradient(0), Value(), getCut());
  for (unsigned i : {0u, 1u, 2u})
    if (gradient.needsGradient(i))
      gradient.addGradient(i, op->getResult(i));
  return success();
}

/// What reads results of the op, if that is one op, but for what a loop stacks.
static Operation *getReader(Operation *op) {
  Operation *reader = nullptr;
  for (Operation *user : op->getUsers()) {
    if (user->hasTrait<OpTrait::IsTerminator>() || user == reader)
      continue;
    if (reader)
      return nullptr;
    reader = user;
  }
  return reader;
}

SmallVector<Operation *> stg::getMadeAgain(CausalConvOp conv) {
  SmallVector<Operation *> ops{conv};
  Operation *reader = getReader(conv);
  if (isa_and_nonnull<BiasAddOp>(reader)) {
    ops.push_back(reader);
    reader = getReader(reader);
  }
  auto activation = dyn_cast_or_null<ActivationOp>(reader);
  if (!activation)
    return {};
  SmallVector<Operation *> behind{activation};
  auto isScan = llvm::IsaPred<SsdOp, SelectiveScanOp>;
  for (Operation *user : activation->getUsers())
    if (isa<SplitOp>(user))
      behind.push_back(user);
  if (llvm::any_of(behind, [&](Operation *op) {
        return llvm::any_of(op->getUsers(), isScan);
      }))
    llvm::append_range(ops, behind);
  return ops;
}

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

/// The op keeps its state if it goes over the tokens of a step.
template <typename OpTy>
static LogicalResult keepState(OpTy op, IncrementBuilder &increment) {
  if (!increment.isTokens(tensorOf(op->getOperand(0)).getDim(1)))
    return success();
  op.setStateAttr(increment.nameState("state"));
  if (RequestsAttr requests = increment.getRequests())
    op.setRequestsAttr(requests);
  if (int64_t tokens = increment.getRollback())
    op.setRollbackAttr(constant(op, tokens));
  return success();
}

LogicalResult CausalConvOp::buildIncrement(IncrementBuilder &increment) {
  return keepState(*this, increment);
}
LogicalResult SelectiveScanOp::buildIncrement(IncrementBuilder &increment) {
  return keepState(*this, increment);
}
LogicalResult LinearScanOp::buildIncrement(IncrementBuilder &increment) {
  return keepState(*this, increment);
}
LogicalResult DecayingMeanOp::buildIncrement(IncrementBuilder &increment) {
  return keepState(*this, increment);
}
LogicalResult SsdOp::buildIncrement(IncrementBuilder &increment) {
  return keepState(*this, increment);
}
LogicalResult GatedDeltaRuleOp::buildIncrement(IncrementBuilder &increment) {
  return keepState(*this, increment);
}
LogicalResult GeneralDeltaRuleOp::buildIncrement(IncrementBuilder &increment) {
  return keepState(*this, increment);
}
LogicalResult MatrixMemoryOp::buildIncrement(IncrementBuilder &increment) {
  return keepState(*this, increment);
}

#define GET_OP_CLASSES
#include "stg/Dialect/STG/IR/STGMixerOps.cpp.inc"
