//===- STGMixerRules.cpp - Sharding of ops over tokens -------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sharding rules and gradients of causal convolutions, scans, delta rules, the
// matrix memory and the gated norm, and what they keep in a step of inference.
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
    op.setRollbackAttr(SymExpr::get(op.getContext(), tokens));
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
