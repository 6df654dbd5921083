//===- STGShardingRules.cpp - Sharding rules of the stg ops ---------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each op says which factors its dimensions run over; everything that passes do
// about sharding follows from that.
//
//===----------------------------------------------------------------------===//

#include "STGVerification.h"
#include "mlir/IR/PatternMatch.h"
#include "stg/Dialect/STG/IR/AttentionPlaces.h"
#include "stg/Dialect/STG/IR/STG.h"

using namespace mlir;
using namespace stg;

/// All operands and results are `tensor`.
static ShardingRule makePointwise(unsigned rank, unsigned operands,
                                  unsigned results = 1) {
  ShardingRule rule;
  TensorFactors tensor = rule.addFactors("d", rank);
  rule.operands.assign(operands, tensor);
  rule.results.assign(results, tensor);
  return rule;
}

/// Adds factors d0, d1, ... for the rows of `type` (all but the last
/// dimension).
static TensorFactors addRows(ShardingRule &rule, SymTensorType type) {
  return rule.addFactors("d", type.getRank() - 1);
}

/// `rows` with one more dimension.
static TensorFactors append(TensorFactors rows, unsigned factor) {
  rows.push_back({factor});
  return rows;
}

ShardingRule EinsumOp::getShardingRule() {
  auto equation = llvm::cantFail(EinsumEquation::parse(getEquation()));
  ShardingRule rule;
  auto addTerm = [&](StringRef term) {
    TensorFactors tensor;
    for (char letter : term) {
      std::string name(1, letter);
      std::optional<unsigned> factor = rule.getFactor(name);
      tensor.push_back({factor ? *factor : rule.addFactor(name)});
    }
    return tensor;
  };
  for (StringRef term : equation.inputs)
    rule.operands.push_back(addTerm(term));
  rule.results.push_back(addTerm(equation.output));
  return rule;
}

bool EinsumOp::isMultilinear() { return true; }

bool MulOp::isMultilinear() { return true; }

bool AddOp::isLinear() { return true; }

bool AccumulateOp::isLinear() { return true; }

/// Factors of a gated unit: d0 ... f for the result, with the pair dimension,
/// which is whole, before the last for the input.
static std::pair<TensorFactors, TensorFactors> addGlu(ShardingRule &rule,
                                                      unsigned resultRank) {
  TensorFactors result = rule.addFactors("d", resultRank);
  TensorFactors input = result;
  unsigned pair = rule.addFactor("pair", FactorKind::Whole);
  input.insert(input.end() - 1, {pair});
  return {input, result};
}

ShardingRule GluOp::getShardingRule() {
  ShardingRule rule;
  auto [input, result] = addGlu(rule, getType().getRank());
  rule.operands = {input};
  rule.results = {result};
  return rule;
}

ShardingRule GluGradOp::getShardingRule() {
  ShardingRule rule;
  auto [input, result] = addGlu(rule, getDy().getType().getRank());
  rule.operands = {input, result};
  rule.results = {input};
  return rule;
}

namespace {
/// The factors of a norm over the dimensions that its weight has.
struct NormFactors {
  TensorFactors rows, weight, full;
};
} // namespace

static NormFactors addNorm(ShardingRule &rule, SymTensorType input,
                           Value weight) {
  NormFactors factors;
  unsigned width = getNormWidth(input, weight);
  factors.rows = rule.addFactors("d", input.getRank() - width);
  factors.full = factors.rows;
  for (unsigned i = 0; i < width; ++i) {
    std::string name = "width" + (i == 0 ? "" : std::to_string(i));
    factors.weight.push_back({rule.addFactor(name, FactorKind::Whole)});
  }
  llvm::append_range(factors.full, factors.weight);
  return factors;
}

/// Every device has the numbers, whose gradient is a partial sum.
static ShardingRule makeLearned(SymTensorType input, bool isGradient) {
  ShardingRule rule;
  TensorFactors full = rule.addFactors("d", input.getRank());
  TensorFactors numbers = {{rule.addFactor("numbers", FactorKind::Whole)}};
  rule.operands = {full, numbers};
  rule.results = {full};
  if (isGradient) {
    rule.operands.push_back(full);
    rule.results.push_back(numbers);
  }
  return rule;
}
ShardingRule LearnedActivationOp::getShardingRule() {
  return makeLearned(getInput().getType(), /*isGradient=*/false);
}
ShardingRule LearnedActivationGradOp::getShardingRule() {
  return makeLearned(getInput().getType(), /*isGradient=*/true);
}

ShardingRule RmsNormOp::getShardingRule() {
  ShardingRule rule;
  auto [rows, weight, full] = addNorm(rule, getInput().getType(), getWeight());
  rule.operands = {full};
  if (getWeight())
    rule.operands.push_back(weight);
  rule.results = {full, rows};
  return rule;
}

ShardingRule RmsNormGradOp::getShardingRule() {
  ShardingRule rule;
  auto [rows, weight, full] = addNorm(rule, getInput().getType(), getWeight());
  rule.operands = {full};
  rule.results = {full};
  if (getWeight()) {
    rule.operands.push_back(weight);
    rule.results.push_back(weight);
  }
  rule.operands.append({rows, full});
  return rule;
}

ShardingRule LayerNormOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors rows = addRows(rule, getInput().getType());
  unsigned width = rule.addFactor("width", FactorKind::Whole);
  TensorFactors full = append(rows, width), weight = {{width}};
  rule.operands = {full};
  rule.operands.append(getParameters().size(), weight);
  rule.results = {full, rows, rows};
  return rule;
}

ShardingRule LayerNormGradOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors rows = addRows(rule, getInput().getType());
  unsigned width = rule.addFactor("width", FactorKind::Whole);
  TensorFactors full = append(rows, width), weight = {{width}};
  rule.operands = {full};
  if (getWeight())
    rule.operands.push_back(weight);
  rule.operands.append({rows, rows, full});
  rule.results = {full};
  rule.results.append(getDparameters().size(), weight);
  return rule;
}

/// The factors of a bias, of those of the tensor that it is added to.
static TensorFactors getBiasFactors(const TensorFactors &tensor,
                                    ArrayRef<unsigned> dims) {
  TensorFactors bias;
  for (unsigned dim : dims)
    bias.push_back(tensor[dim]);
  return bias;
}

bool BiasAddOp::isLinear() { return true; }

ShardingRule BiasAddOp::getShardingRule() {
  ShardingRule rule = makePointwise(getType().getRank(), 1);
  rule.operands.push_back(getBiasFactors(
      rule.operands[0],
      getBiasDims(getType(), getBias().getType(), getDimsAttr())));
  return rule;
}

ShardingRule BiasGradOp::getShardingRule() {
  SymTensorType dy = getDy().getType();
  ShardingRule rule = makePointwise(dy.getRank(), 1, 0);
  rule.results.push_back(getBiasFactors(
      rule.operands[0], getBiasDims(dy, getType(), getDimsAttr())));
  return rule;
}

ShardingRule DequantizeOp::getShardingRule() {
  return makePointwise(getType().getRank(), 1);
}

ShardingRule RopeOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors rows = addRows(rule, getType());
  TensorFactors tensor = append(rows, rule.addFactor("e", FactorKind::Whole));
  rule.operands = {tensor};
  rule.results = {tensor};
  return rule;
}
bool RopeOp::isLinear() { return true; }

static bool hasCachedTokens(RequestsAttr requests) {
  return requests && !requests.getNumCached().isZero();
}

namespace {
/// Tensors of an attention op as factors. Query heads and key/value heads are
/// one factor: a shard holds whole groups. One head of keys without a name is
/// for all query heads, and every device has it.
struct AttentionFactors {
  ShardingRule rule;
  TensorFactors query, key, value, output, lse, bias;
  TensorFactors compressedKey, compressedValue; ///< Of blocks of tokens.

  /// How a device sees the keys of others decides what may be divided: with
  /// all-to-alls only heads, with a ring queries and keys together. What is
  /// packed into a row is not divided where some of it is cached, and nobody
  /// says how its tokens are dealt out.
  AttentionFactors(ContextAttr context, SymTensorType keys,
                   bool isPacked = false) {
    KeyExchange exchange =
        context ? context.getExchange() : KeyExchange::AllGather;
    bool isRing = goesRound(exchange);
    unsigned batch = rule.addFactor("b");
    unsigned queries = rule.addFactor("s", exchange == KeyExchange::AllToAll ||
                                                   (isPacked && !context)
                                               ? FactorKind::Whole
                                               : FactorKind::Shardable);
    unsigned heads = rule.addFactor("h");
    unsigned tokens = isRing ? queries : rule.addFactor("t", FactorKind::Whole);
    unsigned keySize = rule.addFactor("e", FactorKind::Whole);
    unsigned valueSize = rule.addFactor("v", FactorKind::Whole);
    query = {{batch}, {queries}, {heads}, {keySize}};
    DimAttr own = keys.getDim(2);
    SmallVector<unsigned, 1> keyHeads;
    if (!own.getExtent().isOne() || !own.getNames().empty())
      keyHeads = {heads};
    key = {{batch}, {tokens}, keyHeads, {keySize}};
    value = {{batch}, {tokens}, keyHeads, {valueSize}};
    output = {{batch}, {queries}, {heads}, {valueSize}};
    lse = {{batch}, {queries}, {heads}};
    unsigned blocks = rule.addFactor("blocks", FactorKind::Whole);
    compressedKey = {{batch}, {blocks}, keyHeads, {keySize}};
    compressedValue = {{batch}, {blocks}, keyHeads, {valueSize}};
    bias = {{heads}, {queries}, {tokens}};
    if (isRing) // Of which each device needs all.
      bias[2] = {rule.addFactor("all", FactorKind::Whole)};
  }

  /// A bias of each sequence is divided with the batch.
  TensorFactors getBias(Value term) const {
    TensorFactors factors = bias;
    if (cast<SymTensorType>(term.getType()).getRank() == 4)
      factors.insert(factors.begin(), query[0]);
    return factors;
  }

  template <typename OpTy> void addTerms(OpTy op) {
    ValueRange terms = op.getTerms();
    if (op.getCompressedAttr()) {
      rule.operands.append({compressedKey, compressedValue});
      terms = terms.drop_front(2);
    }
    for (Value term : terms)
      if (term == op.getSelected())
        rule.operands.push_back(
            {query[0], query[1], {rule.addFactor("n", FactorKind::Whole)}});
      else
        rule.operands.push_back(term == op.getBias() ? getBias(term)
                                                     : TensorFactors{query[2]});
  }
};
} // namespace

bool stg::dependsOnPlace(AttentionOpInterface op) {
  bool hasSpan = op.getWindowAttr() || op.getChunkAttr() || op.getPrefixAttr();
  return op.getRequestsAttr() || (hasSpan && !op.getFullCount());
}

/// What a local attention must know of its shard of the queries: how tokens are
/// divided, unless all pairs of a row are counted and all keys are here.
template <typename OpTy>
static LogicalResult
becomeLocalAttention(OpTy op, function_ref<ArrayAttr(StringRef)> getAxes) {
  ArrayAttr axes = getAxes("s");
  if (!axes.empty() &&
      (op.getBias() || op.getSelected() || op.getCompressedAttr()))
    return op.emitOpError("has ")
           << (op.getBias()             ? "a bias of its scores"
               : op.getCompressedAttr() ? "keys of blocks of tokens"
                                        : "selected keys")
           << ", and its tokens are divided over " << axes
           << ": what each device sees of it is not known; exchange tokens by "
              "a2a, which divides heads";
  ContextAttr context = op.getContextAttr();
  KeyExchange exchange =
      context ? context.getExchange() : KeyExchange::AllGather;
  TokenShare tokens = context ? context.getTokens() : TokenShare::ZigZag;
  op.removeContextAttr();
  bool skipsMasked =
      op.getMask() == AttentionMask::Causal && !op.getFullCount();
  if (!axes.empty() &&
      (goesRound(exchange) || skipsMasked || dependsOnPlace(op)))
    op.setContextAttr(
        ContextAttr::get(op->getContext(), exchange, tokens, axes));
  return success();
}

ShardingRule AttentionOp::getShardingRule() {
  AttentionFactors f(getContextAttr(), getKey().getType(),
                     hasCachedTokens(getRequestsAttr()));
  f.rule.operands = {f.query, f.key, f.value};
  f.addTerms(*this);
  f.rule.results = {f.output, f.lse};
  return f.rule;
}

StringRef AttentionOp::getContextFactor() { return "h"; }
StringRef AttentionGradOp::getContextFactor() { return "h"; }
StringRef AttentionSinksGradOp::getContextFactor() { return "h"; }

/// A device that has some tokens, or heads, selects the keys of all of them.
ShardingRule SelectKeysOp::getShardingRule() {
  ShardingRule rule;
  unsigned batch = rule.addFactor("b");
  auto addWhole = [&](const char *name) {
    return rule.addFactor(name, FactorKind::Whole);
  };
  unsigned queries = addWhole("s"), heads = addWhole("h"), size = addWhole("e"),
           keys = addWhole("t"), selected = addWhole("n");
  rule.operands = {{{batch}, {queries}, {heads}, {size}},
                   {{batch}, {keys}, {size}},
                   {{batch}, {queries}, {heads}}};
  rule.results = {{{batch}, {queries}, {selected}}};
  return rule;
}

/// A block is of tokens of one device, and channels are pairs where blocks
/// overlap.
static ShardingRule getCompressRule(bool isGradient) {
  ShardingRule rule;
  unsigned batch = rule.addFactor("b");
  auto addWhole = [&](const char *name) {
    return rule.addFactor(name, FactorKind::Whole);
  };
  TensorFactors tokens{{batch}, {addWhole("s")}, {addWhole("e")}};
  TensorFactors bias{{addWhole("place")}, tokens[2]};
  TensorFactors blocks{{batch}, {addWhole("blocks")}, {addWhole("made")}};
  rule.operands = {tokens, tokens, bias};
  if (isGradient) {
    rule.operands.push_back(blocks);
    rule.results = {tokens, tokens, bias};
  } else {
    rule.results = {blocks};
  }
  return rule;
}
ShardingRule CompressOp::getShardingRule() {
  return getCompressRule(/*isGradient=*/false);
}
ShardingRule CompressGradOp::getShardingRule() {
  return getCompressRule(/*isGradient=*/true);
}

/// Every query has a part of the gradient of its head's sink.
ShardingRule AttentionSinksGradOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors rows = append(rule.addFactors("d", 2), rule.addFactor("h")),
                heads = {rows[2]};
  TensorFactors output = append(rows, rule.addFactor("v"));
  rule.operands = {heads, output, rows, output};
  rule.results = {heads};
  return rule;
}

LogicalResult
AttentionOp::becomeLocal(function_ref<ArrayAttr(StringRef)> getAxes) {
  return becomeLocalAttention(*this, getAxes);
}

ShardingRule AttentionGradOp::getShardingRule() {
  AttentionFactors f(getContextAttr(), getKey().getType(),
                     hasCachedTokens(getRequestsAttr()));
  f.rule.operands = {f.query, f.key, f.value, f.output, f.lse, f.output};
  f.addTerms(*this);
  f.rule.results = {f.query, f.key, f.value};
  if (getCompressedAttr())
    f.rule.results.append({f.compressedKey, f.compressedValue});
  if (Value bias = getBias())
    f.rule.results.push_back(f.getBias(bias));
  return f.rule;
}

LogicalResult
AttentionGradOp::becomeLocal(function_ref<ArrayAttr(StringRef)> getAxes) {
  return becomeLocalAttention(*this, getAxes);
}

namespace {
/// Of a lookup: ids and what is found run over the same, but for what is
/// pooled, a table over the last factors of the ids where there are several.
/// Tables of different sizes may be joined: one dimension is tables and rows.
struct LookupFactors {
  ShardingRule rule;
  TensorFactors ids, table, rows;

  LookupFactors(SymTensorType idsType, SymTensorType tableType,
                std::optional<uint64_t> pooled, bool areListed,
                FactorKind ofSamples = FactorKind::Shardable) {
    unsigned numTables = areListed ? 1 : tableType.getRank() - 2;
    for (int64_t i = 0, e = idsType.getRank(); i != e; ++i)
      ids.push_back({rule.addFactor(
          "d" + std::to_string(i),
          i < e - numTables ? ofSamples : FactorKind::Shardable)});
    unsigned vocabulary = rule.addFactor("v"), width = rule.addFactor("width");
    table.assign(ids.end() - numTables, ids.end());
    if (areListed && tableType.getRank() == 2)
      table.back().push_back(vocabulary);
    else
      table.push_back({vocabulary});
    table.push_back({width});
    rows = append(ids, width);
    if (pooled)
      rows.erase(rows.begin() + *pooled);
  }
};
} // namespace

/// Over how many devices the axes go.
static SymExpr getNumDevices(Operation *op, ArrayAttr axes) {
  MeshAttr mesh = MeshOp::lookup(op).getMesh();
  SymExpr number = SymExpr::get(op->getContext(), 1);
  for (auto axis : axes.getAsRange<StringAttr>())
    number = number * mesh.getAxisSize(axis);
  return number;
}

/// What a local lookup in tables of different sizes must know of how they are
/// divided.
template <typename OpTy>
static LogicalResult
becomeLocalLookup(OpTy op, SymTensorType ids,
                  function_ref<ArrayAttr(StringRef)> getAxes) {
  if (!op.getRows())
    return success();
  if (ArrayAttr tables = getAxes("d" + std::to_string(ids.getRank() - 1));
      !tables.empty())
    op.setOverAttr(tables);
  if (ArrayAttr rows = getAxes("v"); !rows.empty())
    op.setRowsOverAttr(rows);
  return success();
}

ShardingRule EmbeddingOp::getShardingRule() {
  LookupFactors f(getIds().getType(), getTable().getType(), getPooled(),
                  getRows().has_value());
  f.rule.operands = {f.table, f.ids};
  f.rule.results = {f.rows};
  return f.rule;
}

LogicalResult
EmbeddingOp::becomeLocal(function_ref<ArrayAttr(StringRef)> getAxes) {
  return becomeLocalLookup(*this, getIds().getType(), getAxes);
}

ShardingRule EmbeddingGradOp::getShardingRule() {
  LookupFactors f(getIds().getType(), getResult().getType(), getPooled(),
                  getRows().has_value());
  f.rule.operands = {f.ids, f.rows};
  f.rule.results = {f.table};
  return f.rule;
}

LogicalResult
EmbeddingGradOp::becomeLocal(function_ref<ArrayAttr(StringRef)> getAxes) {
  return becomeLocalLookup(*this, getIds().getType(), getAxes);
}

namespace {
/// Of ids that are sent to the device with their rows: a bucket goes to the
/// device with that part of the rows.
struct BagFactors {
  ShardingRule rule;
  unsigned rows = rule.addFactor("v"), samples = rule.addFactor("samples"),
           tables = rule.addFactor("tables"), width = rule.addFactor("width"),
           number = rule.addFactor("ids");
  TensorFactors table = {{rows}, {width}}, ids = {{rows}, {number}},
                lengths = {{rows}, {samples}, {tables}},
                found = {{samples}, {tables}, {width}};
};
} // namespace

ShardingRule EmbeddingBagOp::getShardingRule() {
  BagFactors f;
  f.rule.operands = {f.table, f.ids, f.lengths};
  f.rule.results = {f.found};
  return f.rule;
}

ShardingRule EmbeddingBagGradOp::getShardingRule() {
  BagFactors f;
  f.rule.operands = {f.ids, f.lengths, f.found};
  f.rule.results = {f.table};
  return f.rule;
}

ShardingRule BucketizeOp::getShardingRule() {
  BagFactors f;
  f.rule.operands = {{{f.samples}, {f.number}, {f.tables}}};
  f.rule.results = {f.lengths, {{f.rows}, {f.samples, f.number, f.tables}}};
  return f.rule;
}

/// All devices with the same rows must know all that changes them.
ShardingRule RowAdagradOp::getShardingRule() {
  if (!getLengths().empty()) {
    BagFactors f;
    f.rule.operands = {f.table, f.ids, f.found, f.lengths};
    f.rule.results = {f.table};
    return f.rule;
  }
  LookupFactors f(getIds().getType(), getParam().getType(), getPooled(),
                  getRows().has_value(), FactorKind::Whole);
  f.rule.operands = {f.table, f.ids, f.rows};
  f.rule.results = {f.table};
  return f.rule;
}

LogicalResult
RowAdagradOp::becomeLocal(function_ref<ArrayAttr(StringRef)> getAxes) {
  if (ArrayAttr rows = getAxes("v"); !rows.empty())
    setAmongAttr(getNumDevices(*this, rows));
  return becomeLocalLookup(*this, getIds().getType(), getAxes);
}

namespace {
/// Factors of the numbers of slices, of what has all slices, and of those.
struct GatherFactors {
  ShardingRule rule;
  TensorFactors ids, whole, slices;

  GatherFactors(SymTensorType idsType, SymTensorType wholeType, int64_t dim) {
    ids = rule.addFactors("i", idsType.getRank());
    whole = rule.addFactors("d", wholeType.getRank());
    slices = whole;
    slices.erase(slices.begin() + dim);
    slices.insert(slices.begin() + dim, ids.begin(), ids.end());
  }
};
} // namespace

ShardingRule GatherOp::getShardingRule() {
  GatherFactors f(getIds().getType(), getInput().getType(), getDim());
  f.rule.operands = {f.whole, f.ids};
  f.rule.results = {f.slices};
  return f.rule;
}

ShardingRule GatherGradOp::getShardingRule() {
  GatherFactors f(getIds().getType(), getResult().getType(), getDim());
  f.rule.operands = {f.ids, f.slices};
  f.rule.results = {f.whole};
  return f.rule;
}

ShardingRule CrossEntropyOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors rows = addRows(rule, getLogits().getType());
  TensorFactors full =
      append(rows, rule.addFactor("v", FactorKind::Decomposed));
  rule.operands = {full, rows};
  rule.results = {rows, full};
  return rule;
}

LogicalResult CrossEntropyOp::decompose(RewriterBase &rewriter) {
  Location loc = getLoc();
  Value max = ReduceOp::create(rewriter, loc, getLogits(), ReduceKind::Max);
  auto exp = ExpSumOp::create(rewriter, loc, getLogits(), max);
  Value target = PickOp::create(rewriter, loc, getLogits(), getLabels());
  Value loss = NllOp::create(rewriter, loc, exp.getSum(), max, target);
  Value probs = NormalizeOp::create(rewriter, loc, exp.getExp(), exp.getSum());
  rewriter.replaceOp(*this, {loss, probs});
  return success();
}

ShardingRule CrossEntropyGradOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors rows = addRows(rule, getProbs().getType());
  TensorFactors full = append(rows, rule.addFactor("v"));
  rule.operands = {full, rows, rows};
  rule.results = {full};
  return rule;
}

/// Rows and the reduced dimension `v` of a per-row op.
static std::pair<TensorFactors, TensorFactors>
addRowsAndFull(ShardingRule &rule, SymTensorType type) {
  TensorFactors rows = addRows(rule, type);
  return {rows, append(rows, rule.addFactor("v"))};
}

ShardingRule ReduceOp::getShardingRule() {
  ShardingRule rule;
  auto [rows, full] = addRowsAndFull(rule, getInput().getType());
  rule.operands = {full};
  rule.results = {rows};
  if (getKind() == ReduceKind::Max)
    rule.reduceKinds = {ReduceKind::Max};
  return rule;
}
bool ReduceOp::isLinear() { return getKind() == ReduceKind::Sum; }

ShardingRule ExpSumOp::getShardingRule() {
  ShardingRule rule;
  auto [rows, full] = addRowsAndFull(rule, getInput().getType());
  rule.operands = {full, rows};
  rule.results = {full, rows};
  return rule;
}

ShardingRule PickOp::getShardingRule() {
  ShardingRule rule;
  auto [rows, full] = addRowsAndFull(rule, getInput().getType());
  rule.operands = {full, rows};
  rule.results = {rows};
  return rule;
}

ShardingRule NormalizeOp::getShardingRule() {
  ShardingRule rule;
  auto [rows, full] = addRowsAndFull(rule, getInput().getType());
  rule.operands = {full, rows};
  rule.results = {full};
  return rule;
}

/// The dimension that is cut or joined is whole where its order matters.
static ShardingRule makeCut(unsigned rank, unsigned operands, unsigned results,
                            uint64_t dim, bool ordered) {
  ShardingRule rule = makePointwise(rank, operands, results);
  if (ordered)
    rule.factors[dim].kind = FactorKind::Whole;
  return rule;
}

ShardingRule SplitOp::getShardingRule() {
  return makeCut(getInput().getType().getRank(), 1, getNumResults(), getDim(),
                 getOrdered());
}
bool SplitOp::isLinear() { return true; }

ShardingRule ConcatOp::getShardingRule() {
  return makeCut(getType().getRank(), getInputs().size(), 1, getDim(),
                 getOrdered());
}
bool ConcatOp::isLinear() { return true; }

/// A tensor, and the same with a dimension that also runs over replicas, unless
/// these are where their slice is.
static std::pair<TensorFactors, TensorFactors>
addReplicas(ShardingRule &rule, unsigned rank, uint64_t dim, bool together) {
  TensorFactors single = rule.addFactors("d", rank);
  TensorFactors replicated = single;
  if (!together)
    replicated[dim].push_back(rule.addFactor("replica"));
  return {single, replicated};
}

/// The dimensions of a tensor, and of the same without the one at `dim`.
static std::pair<TensorFactors, TensorFactors>
addWithout(ShardingRule &rule, unsigned rank, uint64_t dim) {
  TensorFactors whole = rule.addFactors("d", rank);
  TensorFactors part = whole;
  part.erase(part.begin() + dim);
  return {whole, part};
}

ShardingRule BroadcastOp::getShardingRule() {
  ShardingRule rule;
  auto [whole, part] = addWithout(rule, getType().getRank(), getDim());
  rule.operands = {part};
  rule.results = {whole};
  return rule;
}
bool BroadcastOp::isLinear() { return true; }

ShardingRule BroadcastGradOp::getShardingRule() {
  ShardingRule rule;
  auto [whole, part] =
      addWithout(rule, getInput().getType().getRank(), getDim());
  rule.operands = {whole};
  rule.results = {part};
  return rule;
}
bool BroadcastGradOp::isLinear() { return true; }

ShardingRule ReplicateOp::getShardingRule() {
  ShardingRule rule;
  auto [single, replicated] =
      addReplicas(rule, getType().getRank(), getDim(), getTogether());
  rule.operands = {single};
  rule.results = {replicated};
  return rule;
}
bool ReplicateOp::isLinear() { return true; }

ShardingRule ReplicateGradOp::getShardingRule() {
  ShardingRule rule;
  auto [single, replicated] =
      addReplicas(rule, getType().getRank(), getDim(), getTogether());
  rule.operands = {replicated};
  rule.results = {single};
  return rule;
}
bool ReplicateGradOp::isLinear() { return true; }

ShardingRule KeepOp::getShardingRule() {
  return makePointwise(getValue().getType().getRank(), getNumOperands(), 0);
}
