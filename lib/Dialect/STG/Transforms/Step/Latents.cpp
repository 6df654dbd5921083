//===- Latents.cpp - Attention that keeps latents -------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keys and values of all heads may be products of one vector of each token, the
// latent. That is found, not written: going back from keys and values, latents
// are the first values without heads. They are kept in place of keys and values
// where they are made for these alone, by a product.
//
// What follows has two forms. Naive: the products are executed on all tokens,
// cached ones too. Absorbed: q (W c) is (q W) c, so that the products go to the
// queries and to the output, and all heads have the latents as their keys.
//
//===----------------------------------------------------------------------===//

#include "InferenceStep.h"
#include "ProductSplitter.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace stg;

namespace {
/// Requests that are executed in one form.
struct RequestGroup {
  RequestsAttr requests; ///< Null: each row is one.
  bool isAbsorbed;
};

/// A part of the elements of keys, or all elements of values: a product of a
/// latent with a parameter, or a latent that all heads share.
struct KeyPart {
  Value latent;
  EinsumOp product; ///< Null: shared.
};

/// Attention with latents.
class LatentAttention {
public:
  LatentAttention(AttentionOp op, const InferenceStep &step)
      : op(op), step(step), builder(op) {}

  bool find();
  LogicalResult build(DenseSet<Operation *> &done);

private:
  bool hasHeads(Value value);
  bool isOfTokens(Value value);
  bool isMadeByProduct(Value latent, const DenseSet<Operation *> &below);
  EinsumOp getExpansion(Value value);

  SymExpr countExpansion();
  bool isAbsorbed(SymExpr fresh, SymExpr cached);
  SmallVector<RequestGroup> getGroups();
  bool isAnyAbsorbed(ArrayRef<RequestGroup> groups);

  bool separateProducts();
  std::optional<KeyPart> getPart(Value value);
  bool matchParts();

  SmallVector<Value> splitTokens(Value value, ArrayRef<RequestGroup> groups,
                                 function_ref<SymExpr(RequestsAttr)> count);
  SymTensorType withTokens(Type type, SymExpr extent);
  Value create(StringRef suffix, Operation *made);
  Value multiply(Value input, EinsumOp product, bool isQuery);
  SmallVector<Value> buildNaive(Value query, const IRMapping &kept,
                                RequestsAttr requests);
  SmallVector<Value> buildAbsorbed(Value query, const IRMapping &kept,
                                   RequestsAttr requests);

  AttentionOp op;
  const InferenceStep &step;
  OpBuilder builder;
  SmallVector<Operation *> cone; ///< From latents to keys and values.
  SmallVector<Value> latents;
  SmallVector<KeyPart> keyParts; ///< Of the elements of a key, in order.
  KeyPart valuePart;
  bool isSplit = false; ///< Requests are executed in both forms.
};
} // namespace

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

/// Products of few bits read casts of what there is.
static Value getWide(Value value) {
  while (auto narrow = value.getDefiningOp<CastOp>())
    value = narrow.getInput();
  return value;
}

bool LatentAttention::hasHeads(Value value) {
  ArrayRef<StringAttr> heads = op.getKey().getType().getDim(2).getNames();
  return llvm::any_of(
      cast<SymTensorType>(value.getType()).getDims(), [&](DimAttr dim) {
        return llvm::any_of(heads,
                            [&](StringAttr n) { return dim.hasName(n); });
      });
}

bool LatentAttention::isOfTokens(Value value) {
  auto type = dyn_cast<SymTensorType>(value.getType());
  return type && llvm::any_of(type.getDims(),
                              [&](DimAttr d) { return step.isTokens(d); });
}

/// The product with a parameter that gives the value.
EinsumOp LatentAttention::getExpansion(Value value) {
  auto product = value.getDefiningOp<EinsumOp>();
  bool hasParam = product && product.getInputs().size() == 2 &&
                  llvm::count_if(product.getInputs(), [&](Value input) {
                    return isOfTokens(input);
                  }) == 1;
  return hasParam ? product : EinsumOp();
}

/// A latent is made by a product that is there for keys and values only.
/// Without it, it would be what the layer reads.
bool LatentAttention::isMadeByProduct(Value latent,
                                      const DenseSet<Operation *> &below) {
  for (Value value = latent;;) {
    Operation *made = value.getDefiningOp();
    if (!made || !below.contains(made))
      return false;
    if (getExpansion(value))
      return true;
    auto input = llvm::find_if(made->getOperands(),
                               [&](Value v) { return isOfTokens(v); });
    if (input == made->operand_end())
      return false;
    value = *input;
  }
}

bool LatentAttention::find() {
  cone.clear();
  latents.clear();
  if (op.getMask() == AttentionMask::None ||
      op.getKey().getType().getDim(2).getNames().empty())
    return false;
  // What only keys and values are made of.
  DenseSet<Operation *> below;
  auto isBelow = [&](OpOperand &use) {
    bool isKept = use.getOperandNumber() == 1 || use.getOperandNumber() == 2;
    return use.getOwner() == op ? isKept : below.contains(use.getOwner());
  };
  for (Operation *it = op->getPrevNode(); it; it = it->getPrevNode())
    if (!it->use_empty() && it->getNumRegions() == 0 &&
        llvm::all_of(it->getUses(), isBelow))
      below.insert(it);
  llvm::SetVector<Value> wanted;
  wanted.insert(op.getKey());
  wanted.insert(op.getValue());
  DenseSet<Operation *> found;
  for (size_t i = 0; i < wanted.size(); ++i) {
    Value value = wanted[i];
    Operation *made = value.getDefiningOp();
    if (!made || !below.contains(made))
      return false;
    // What products read in few bits is made of the latent that is kept.
    if (!hasHeads(value) && !isa<CastOp>(made)) {
      latents.push_back(value);
      continue;
    }
    if (found.insert(made).second)
      cone.push_back(made);
    for (Value operand : made->getOperands())
      if (isOfTokens(operand))
        wanted.insert(operand);
  }
  llvm::sort(cone, [](Operation *lhs, Operation *rhs) {
    return lhs->isBeforeInBlock(rhs);
  });
  return llvm::any_of(cone, [&](Operation *made) {
    EinsumOp product = getExpansion(made->getResult(0));
    return product && llvm::any_of(product.getInputs(), [&](Value input) {
             return llvm::is_contained(latents, getWide(input)) &&
                    isMadeByProduct(getWide(input), below);
           });
  });
}

//===----------------------------------------------------------------------===//
// Which form
//===----------------------------------------------------------------------===//

/// Operations of the products of one token of a row.
SymExpr LatentAttention::countExpansion() {
  SymExpr fresh = op.getQuery().getType().getShape()[1];
  SymExpr sum = SymExpr::get(builder.getContext(), 0);
  for (Operation *made : cone)
    if (EinsumOp product = getExpansion(made->getResult(0)))
      sum = sum + product.getCost().operations;
  return sum.exactDiv(fresh);
}

/// Whether a request of that kind is executed in the absorbed form.
bool LatentAttention::isAbsorbed(SymExpr fresh, SymExpr cached) {
  if (step.mlaForm == MlaForm::Naive || step.mlaForm == MlaForm::Absorbed)
    return step.mlaForm == MlaForm::Absorbed;
  std::optional<int64_t> tokens = step.evaluate(fresh);
  if (step.mlaForm == MlaForm::ByRequest)
    return tokens == 1;
  // The products of new tokens are as expensive in both forms. Every head sees
  // the same pairs; with latents a pair costs their sizes.
  cached = TokenSpan{op.getWindowAttr(), op.getChunkAttr()}.getVisible(cached);
  SymTensorType query = op.getQuery().getType();
  SymExpr pairs = fresh * (fresh + cached);
  if (!op.getFullCount())
    pairs = op.getSelected()
                ? getUnmaskedPairs(op, fresh, cached + fresh)
                : fresh * cached + (fresh * (fresh + 1)).exactDiv(2);
  SymExpr own = query.getShape()[3] + op.getValue().getType().getShape()[3];
  SymExpr absorbed = SymExpr::get(builder.getContext(), 0);
  // Keys are all latents, values those that products expand.
  for (Value latent : latents) {
    SymExpr size = cast<SymTensorType>(latent.getType()).getShape().back();
    bool isExpanded = llvm::any_of(latent.getUsers(), [](Operation *user) {
      return isa<EinsumOp, CastOp>(user);
    });
    absorbed = absorbed + size * (isExpanded ? 2 : 1);
  }
  SymExpr heads = query.getShape()[0] * query.getShape()[2];
  SymExpr more = pairs * heads * (absorbed - own) * 2;
  std::optional<int64_t> extra =
      step.evaluate(more - countExpansion() * cached);
  if (extra)
    return *extra < 0;
  return tokens == 1 && !cached.isZero();
}

/// The requests in groups of one form, absorbed ones first.
SmallVector<RequestGroup> LatentAttention::getGroups() {
  SmallVector<RequestGroup> groups;
  if (!step.requests) {
    SymExpr fresh = op.getQuery().getType().getShape()[1];
    groups.push_back({RequestsAttr(), isAbsorbed(fresh, step.cached)});
    return groups;
  }
  SmallVector<SymExpr> counts[2], numbers[2][3];
  for (auto [count, fresh, cached, logits] : llvm::zip_equal(
           step.requests.getCounts(), step.requests.getNewTokens(),
           step.requests.getCachedTokens(), step.requests.getLogits())) {
    bool form = isAbsorbed(fresh, cached);
    counts[form].push_back(count);
    numbers[form][0].push_back(fresh);
    numbers[form][1].push_back(cached);
    numbers[form][2].push_back(logits);
  }
  for (bool form : {true, false})
    if (!counts[form].empty())
      groups.push_back({RequestsAttr::get(builder.getContext(), counts[form],
                                          numbers[form][0], numbers[form][1],
                                          numbers[form][2]),
                        form});
  return groups;
}

/// Whether requests of this step are absorbed, or any that read the same
/// parameters.
bool LatentAttention::isAnyAbsorbed(ArrayRef<RequestGroup> groups) {
  auto isAnyOf = [&](RequestsAttr list) {
    for (auto [fresh, cached] :
         llvm::zip_equal(list.getNewTokens(), list.getCachedTokens()))
      if (isAbsorbed(fresh, cached))
        return true;
    return false;
  };
  return llvm::any_of(groups,
                      [](const RequestGroup &g) { return g.isAbsorbed; }) ||
         llvm::any_of(step.reserve, isAnyOf) ||
         llvm::any_of(step.beside, isAnyOf);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Each part of what a product gives becomes a product with a parameter of its
/// own.
bool LatentAttention::separateProducts() {
  bool hasChanged = false;
  SmallVector<SplitOp> splits;
  for (Operation *made : cone)
    if (auto split = dyn_cast<SplitOp>(made))
      if (!split.getOrdered() && getExpansion(split.getInput()))
        splits.push_back(split);
  for (SplitOp split : splits) {
    SmallVector<DimAttr> dims;
    llvm::SetVector<DimAttr> distinct;
    for (Value part : split.getResults()) {
      dims.push_back(
          cast<SymTensorType>(part.getType()).getDim(split.getDim()));
      distinct.insert(dims.back());
    }
    // Names of dimensions tell the parameters apart.
    if (distinct.size() != dims.size() ||
        llvm::any_of(dims, [](DimAttr dim) { return dim.getNames().empty(); }))
      continue;
    ProductSplitter splitter(dims);
    SmallVector<Value> parts = splitter.split(split.getInput(), split.getDim());
    if (parts.empty())
      continue;
    split.replaceAllUsesWith(parts);
    split.erase();
    splitter.eraseUnread();
    hasChanged = true;
  }
  return hasChanged;
}

std::optional<KeyPart> LatentAttention::getPart(Value value) {
  if (auto broadcast = value.getDefiningOp<BroadcastOp>())
    if (broadcast.getDim() == 2 &&
        llvm::is_contained(latents, broadcast.getInput()))
      return KeyPart{broadcast.getInput(), EinsumOp()};
  EinsumOp product = getExpansion(value);
  if (!product)
    return std::nullopt;
  for (Value input : product.getInputs())
    if (llvm::is_contained(latents, getWide(input)) &&
        cast<SymTensorType>(input.getType()).getRank() == 3)
      return KeyPart{getWide(input), product};
  return std::nullopt;
}

/// Finds what keys and values consist of; false if products with them cannot be
/// made in another order.
bool LatentAttention::matchParts() {
  keyParts.clear();
  SmallVector<Value> parts{op.getKey()};
  if (auto concat = op.getKey().getDefiningOp<ConcatOp>())
    if (concat.getDim() == 3)
      parts.assign(concat.getInputs().begin(), concat.getInputs().end());
  for (Value value : parts) {
    std::optional<KeyPart> part = getPart(value);
    if (!part)
      return false;
    keyParts.push_back(*part);
  }
  std::optional<KeyPart> part = getPart(op.getValue());
  if (!part || !part->product)
    return false;
  valuePart = *part;
  return true;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

SymTensorType LatentAttention::withTokens(Type type, SymExpr extent) {
  auto tensor = cast<SymTensorType>(type);
  SmallVector<DimAttr> dims(tensor.getDims());
  for (DimAttr &dim : dims)
    if (step.isTokens(dim))
      dim = dim.withExtent(extent);
  return tensor.withDims(dims);
}

/// What a value has for each group of requests, of whose tokens it has so many.
SmallVector<Value>
LatentAttention::splitTokens(Value value, ArrayRef<RequestGroup> groups,
                             function_ref<SymExpr(RequestsAttr)> count) {
  if (groups.size() == 1)
    return {value};
  // The tokens of a row may still be a symbol, so the last group has the rest.
  SymExpr rest;
  for (DimAttr dim : cast<SymTensorType>(value.getType()).getDims())
    if (step.isTokens(dim))
      rest = dim.getExtent();
  SmallVector<Type> types;
  for (const RequestGroup &group : groups.drop_back()) {
    SymExpr own = count(group.requests);
    types.push_back(withTokens(value.getType(), own));
    rest = rest - own;
  }
  types.push_back(withTokens(value.getType(), rest));
  auto split = SplitOp::create(builder, op.getLoc(), types, value, /*dim=*/1,
                               /*ordered=*/true);
  setForward(split, extendName(op, "requests"));
  return llvm::to_vector_of<Value>(split.getResults());
}

Value LatentAttention::create(StringRef suffix, Operation *made) {
  setForward(made, extendName(op, suffix));
  return made->getResult(0);
}

/// The products on all tokens, and attention as it was.
SmallVector<Value> LatentAttention::buildNaive(Value query,
                                               const IRMapping &kept,
                                               RequestsAttr requests) {
  IRMapping map = kept;
  SymExpr keys;
  for (Value latent : latents) {
    Value cached = kept.lookup(latent);
    auto type = cast<SymTensorType>(cached.getType());
    for (DimAttr dim : type.getDims())
      if (step.isTokens(dim))
        keys = dim.getExtent();
    // What is kept in few bits is widened before products read it.
    Type wide = cast<SymTensorType>(latent.getType()).getElementType();
    if (type.getElementType() != wide) {
      auto widened = CastOp::create(builder, op.getLoc(),
                                    type.withElementType(wide), cached);
      setForward(widened, extendName(cached.getDefiningOp(), "wide"));
      cached = widened.getResult();
    }
    map.map(latent, cached);
  }
  for (Operation *made : cone) {
    Operation *copy = builder.clone(*made, map);
    for (Value result : copy->getResults())
      if (isOfTokens(result))
        result.setType(withTokens(result.getType(), keys));
  }
  auto attention = cast<AttentionOp>(builder.clone(*op, map));
  attention.getQueryMutable().assign(query);
  if (requests)
    attention.setRequestsAttr(requests);
  for (Value result : attention->getResults())
    result.setType(withTokens(
        result.getType(), cast<SymTensorType>(query.getType()).getShape()[1]));
  return llvm::to_vector_of<Value>(attention->getResults());
}

/// The product of queries with what made keys of latents, or of what attention
/// gives of latents with what made values of them. It is one for each head, not
/// one of a linear layer, and engines execute it in the type of activations.
Value LatentAttention::multiply(Value input, EinsumOp product, bool isQuery) {
  auto equation = llvm::cantFail(EinsumEquation::parse(product.getEquation()));
  unsigned number = isOfTokens(product.getInputs()[0]) ? 0 : 1;
  std::string heads = equation.output.str();
  std::string ofLatents = heads;
  ofLatents.back() = equation.inputs[number].back();
  std::string param = equation.inputs[1 - number].str();
  std::string text = isQuery ? heads + "," + param + "->" + ofLatents
                             : ofLatents + "," + param + "->" + heads;
  return create(isQuery ? "absorb_q" : "absorb_v",
                EinsumOp::create(
                    builder, op.getLoc(),
                    ValueRange{input, getWide(product.getInputs()[1 - number])},
                    StringRef(text), TypeAttr(), DrawsAttr(), SymExpr()));
}

/// Several tensors as one along their last dimension.
static Value join(OpBuilder &builder, Location loc, ArrayRef<Value> parts,
                  function_ref<Value(Operation *)> finish) {
  if (parts.size() == 1)
    return parts.front();
  auto type = cast<SymTensorType>(parts.front().getType());
  SmallVector<DimAttr> dims(type.getDims()), joined;
  SymExpr extent = SymExpr::get(type.getContext(), 0);
  SmallVector<SymExpr> extents;
  SmallVector<Type> types;
  for (Value part : parts) {
    auto own = cast<SymTensorType>(part.getType());
    joined.push_back(own.getDims().back());
    extents.push_back(joined.back().getExtent());
    types.push_back(own.getElementType());
    extent = extent + extents.back();
  }
  dims.back() = DimAttr::getJoined(joined, extent);
  Type elementType = llvm::all_equal(types)
                         ? types.front()
                         : MixedType::get(builder.getContext(), extents, types);
  auto whole = SymTensorType::get(builder.getContext(), dims, elementType);
  return finish(ConcatOp::create(builder, loc, whole, parts, dims.size() - 1,
                                 /*ordered=*/false));
}

/// The products with queries and output, and attention with one head of keys.
SmallVector<Value> LatentAttention::buildAbsorbed(Value query,
                                                  const IRMapping &kept,
                                                  RequestsAttr requests) {
  Location loc = op.getLoc();
  auto named = [&](StringRef suffix) {
    return [this, suffix](Operation *made) { return create(suffix, made); };
  };
  SmallVector<Value> queries{query}, keys;
  if (keyParts.size() > 1) {
    SmallVector<Type> types;
    auto type = cast<SymTensorType>(query.getType());
    for (Value part : op.getKey().getDefiningOp<ConcatOp>().getInputs()) {
      SmallVector<DimAttr> dims(type.getDims());
      dims.back() = cast<SymTensorType>(part.getType()).getDims().back();
      types.push_back(type.withDims(dims));
    }
    auto split = SplitOp::create(builder, loc, types, query, /*dim=*/3,
                                 /*ordered=*/false);
    setForward(split, extendName(op, "query_parts"));
    queries.assign(split.getResults().begin(), split.getResults().end());
  }
  for (auto [own, part] : llvm::zip_equal(queries, keyParts)) {
    if (part.product)
      own = multiply(own, part.product, /*isQuery=*/true);
    keys.push_back(kept.lookup(part.latent));
  }
  // One head: a dimension of extent 1, which has no name.
  auto addHead = [&](Value value) {
    auto type = cast<SymTensorType>(value.getType());
    SmallVector<DimAttr> dims(type.getDims());
    dims.insert(dims.begin() + 2,
                DimAttr::get(SymExpr::get(builder.getContext(), 1)));
    return create("head", BroadcastOp::create(builder, loc, type.withDims(dims),
                                              value, /*dim=*/2));
  };
  Value newQuery = join(builder, loc, queries, named("absorbed_q"));
  Value newKey = addHead(join(builder, loc, keys, named("latents")));
  Value newValue = addHead(kept.lookup(valuePart.latent));
  auto attention = cast<AttentionOp>(builder.clone(*op));
  attention.getQueryMutable().assign(newQuery);
  attention.getKeyMutable().assign(newKey);
  attention.getValueMutable().assign(newValue);
  if (requests)
    attention.setRequestsAttr(requests);
  auto queryType = cast<SymTensorType>(newQuery.getType());
  SmallVector<DimAttr> dims(queryType.getDims());
  dims.back() = cast<SymTensorType>(newValue.getType()).getDims().back();
  attention.getResult().setType(queryType.withDims(dims));
  attention.getLse().setType(
      withTokens(attention.getLse().getType(), queryType.getShape()[1]));
  setForward(attention, isSplit ? extendName(op, "absorbed")
                                : builder.getStringAttr(getOwnName(op)));
  return {multiply(attention.getResult(), valuePart.product, /*isQuery=*/false),
          attention.getLse()};
}

LogicalResult LatentAttention::build(DenseSet<Operation *> &done) {
  SmallVector<RequestGroup> groups = getGroups();
  // A parameter is the same in all steps, whatever form these have.
  if (isAnyAbsorbed(groups)) {
    bool canAbsorb = (!separateProducts() || find()) && matchParts();
    if (!canAbsorb && step.mlaForm != MlaForm::Auto)
      return op.emitOpError("cannot be absorbed: its keys and values are not "
                            "products of latents with parameters alone; use "
                            "the form naive");
    if (!canAbsorb)
      groups.assign(1, RequestGroup{step.requests, false});
  }
  isSplit = groups.size() > 1;
  builder.setInsertionPoint(op);
  TokenSpan span{op.getWindowAttr(), op.getChunkAttr()};
  auto countKeys = [&](RequestsAttr requests) {
    return requests.getSum([&](SymExpr own, SymExpr cached) {
      return own + span.getVisible(cached, step.tokenParts);
    });
  };
  // A cache is one of all requests, each of which may change its form.
  SmallVector<IRMapping> kept(groups.size());
  for (Value latent : latents) {
    Value cache =
        keepTokens(builder, step, op.getLoc(), latent,
                   extendName(op, getOwnName(latent.getDefiningOp())), span);
    for (auto [map, own] :
         llvm::zip_equal(kept, splitTokens(cache, groups, countKeys)))
      map.map(latent, own);
  }
  auto countQueries = [](RequestsAttr requests) {
    return requests.getNumNew();
  };
  // Keys that are selected are those of the queries.
  SmallVector<Value> selected(groups.size());
  if (op.getSelected())
    selected = splitTokens(op.getSelected(), groups, countQueries);
  SmallVector<Value> results[2];
  for (auto [group, map, query, own] : llvm::zip_equal(
           groups, kept, splitTokens(op.getQuery(), groups, countQueries),
           selected)) {
    SmallVector<Value> made = group.isAbsorbed
                                  ? buildAbsorbed(query, map, group.requests)
                                  : buildNaive(query, map, group.requests);
    Operation *attention = made[1].getDefiningOp();
    if (own)
      attention->replaceUsesOfWith(op.getSelected(), own);
    done.insert(attention);
    for (auto [list, value] : llvm::zip_equal(results, made))
      list.push_back(value);
  }
  for (auto [old, parts] : llvm::zip_equal(op->getResults(), results)) {
    Value whole;
    for (Value part : parts)
      whole = part;
    if (isSplit && !old.use_empty())
      whole =
          create("requests", ConcatOp::create(builder, op.getLoc(),
                                              old.getType(), parts, /*dim=*/1,
                                              /*ordered=*/true));
    old.replaceAllUsesWith(whole);
  }
  op.erase();
  for (Operation *made : llvm::reverse(cone))
    if (made->use_empty())
      made->erase();
  return success();
}

bool stg::hasLatents(ModuleOp module, StringAttr tokens) {
  InferenceStep step;
  step.tokens = tokens;
  return module
      .walk([&](AttentionOp op) {
        return LatentAttention(op, step).find() ? WalkResult::interrupt()
                                                : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult stg::keepLatents(func::FuncOp function, const InferenceStep &step,
                               DenseSet<Operation *> &done) {
  SmallVector<AttentionOp> ops;
  function.walk([&](AttentionOp op) { ops.push_back(op); });
  bool hasLatents = false;
  for (AttentionOp op : ops) {
    LatentAttention latent(op, step);
    if (!latent.find())
      continue;
    hasLatents = true;
    if (failed(latent.build(done)))
      return failure();
  }
  if (!hasLatents && step.mlaForm != MlaForm::Auto)
    return function.emitOpError(
               "has no attention with latents, which mla-form ")
           << stringify(step.mlaForm) << " would be for";
  return success();
}
