//===- STGMixers.cpp - Ops that go over tokens in order -------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types of causal convolutions, scans, delta rules, the matrix memory and the
// gated norm, and what of them is well-formed. STGMixerCosts.cpp has their
// costs, STGMixerRules.cpp sharding rules and gradients.
//
//===----------------------------------------------------------------------===//

#include "MixerStates.h"
#include "mlir/IR/Builders.h"
#include "stg/Dialect/STG/IR/Mixers.h"
#include "llvm/ADT/SmallString.h"

using namespace mlir;
using namespace stg;
using namespace stg::detail;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

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

#define GET_OP_CLASSES
#include "stg/Dialect/STG/IR/STGMixerOps.cpp.inc"
