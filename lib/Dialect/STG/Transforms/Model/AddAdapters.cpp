//===- AddAdapters.cpp - Low-rank adapters beside frozen products ---------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product `x W` gets `x A B` beside it, where the rank lies between A and B.
// Its indices are those of the product: A has what is contracted, B what only
// the weight and the result have, both what runs through all three, such as
// experts. Of a joint projection each part has an adapter of its own, which is
// added where the parts have been split.
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/STG/IR/Loops.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/GlobPattern.h"

namespace stg {
#define GEN_PASS_DEF_ADDADAPTERS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {
/// A joint projection and what its parts are called, in their order.
struct JointProjection {
  StringLiteral name;
  ArrayRef<StringLiteral> parts;
};

/// What other programs call a projection.
struct Alias {
  StringLiteral name;
  StringLiteral meaning;
};
} // namespace

static constexpr StringLiteral kQKV[] = {"q_proj", "k_proj", "v_proj"};
static constexpr StringLiteral kGateUp[] = {"gate_proj", "up_proj"};
static const JointProjection kJointProjections[] = {
    {"qkv_proj", kQKV},
    {"gate_up_proj", kGateUp},
};

/// Names of modules in transformers' families, which PEFT's targets are, and in
/// Megatron-LM. A name may mean several projections.
static constexpr Alias kAliases[] = {
    {"c_attn", "qkv_proj"},
    {"query_key_value", "qkv_proj"},
    {"Wqkv", "qkv_proj"},
    {"linear_qkv", "qkv_proj"},
    {"q", "q_proj"},
    {"k", "k_proj"},
    {"v", "v_proj"},
    {"query", "q_proj"},
    {"key", "k_proj"},
    {"value", "v_proj"},
    {"o", "o_proj"},
    {"out_proj", "o_proj"},
    {"dense", "o_proj"},
    {"linear_proj", "o_proj"},
    {"c_proj", "o_proj"},
    {"c_proj", "fc2"},
    {"c_fc", "fc1"},
    {"fc_in", "fc1"},
    {"fc_out", "fc2"},
    {"dense_h_to_4h", "fc1"},
    {"dense_4h_to_h", "fc2"},
    {"linear_fc1", "gate_up_proj"},
    {"linear_fc1", "fc1"},
    {"linear_fc2", "down_proj"},
    {"linear_fc2", "fc2"},
    {"up_proj", "fc1"},
    {"down_proj", "fc2"},
    {"w1", "gate_proj"},
    {"w2", "down_proj"},
    {"w3", "up_proj"},
    {"kv_a_proj_with_mqa", "kv_a_proj"},
    {"lm_head", "output"},
    {"embed_out", "output"},
};

/// True if `pattern` is for a parameter of that name, or for the part of the
/// name behind a dot.
static bool isFor(const llvm::GlobPattern &pattern, StringRef name) {
  for (;;) {
    if (pattern.match(name))
      return true;
    auto [before, rest] = name.split('.');
    if (rest.empty())
      return false;
    name = rest;
  }
}

namespace {
/// A place where an adapter can be: a product, or a part of a joint one.
struct Site {
  EinsumOp product;
  unsigned weight;              ///< The operand that is the parameter.
  std::string name;             ///< Of the parameter, or of the part.
  std::optional<unsigned> part; ///< Of a joint projection.
  unsigned numParts = 0;
};

struct AddAdapters : stg::impl::AddAdaptersBase<AddAdapters> {
  using AddAdaptersBase::AddAdaptersBase;
  void runOnOperation() override;

private:
  LogicalResult checkOptions();
  FailureOr<llvm::SetVector<unsigned>> chooseSites(ArrayRef<Site> sites);
  LogicalResult reportMissing(StringRef target, ArrayRef<Site> sites);
};
} // namespace

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

/// The parameter that a product multiplies one other value with.
static std::optional<unsigned> getWeight(EinsumOp product) {
  if (product.getInputs().size() != 2)
    return std::nullopt;
  std::optional<unsigned> weight;
  for (unsigned i : {0u, 1u})
    if (product.getInputs()[i].getDefiningOp<ParamOp>()) {
      if (weight)
        return std::nullopt;
      weight = i;
    }
  return weight;
}

/// What is contracted, what only the weight and the result have, and what runs
/// through all: the indices of the two factors of an adapter.
struct AdapterIndices {
  std::string batch, contracted, made;
};

static AdapterIndices getIndices(const EinsumEquation &equation,
                                 unsigned weight) {
  AdapterIndices indices;
  StringRef input = equation.inputs[1 - weight];
  for (char index : equation.inputs[weight]) {
    bool isRead = input.contains(index);
    bool isMade = equation.output.contains(index);
    (isRead && isMade ? indices.batch
     : isRead         ? indices.contracted
                      : indices.made) += index;
  }
  return indices;
}

/// What reads the product after its bias.
static Value getBiased(EinsumOp product) {
  Value value = product.getResult();
  if (value.hasOneUse())
    if (auto bias = dyn_cast<BiasAddOp>(*value.user_begin());
        bias && bias.getInput() == value)
      return bias.getResult();
  return value;
}

/// The sites of a product, the whole first, then its parts.
static void addSites(EinsumOp product, SmallVectorImpl<Site> &sites) {
  std::optional<unsigned> weight = getWeight(product);
  if (!weight)
    return;
  auto equation = llvm::cantFail(EinsumEquation::parse(product.getEquation()));
  AdapterIndices indices = getIndices(equation, *weight);
  if (indices.contracted.empty() || indices.made.empty())
    return;
  auto param = product.getInputs()[*weight].getDefiningOp<ParamOp>();
  StringRef name = param.getParamName();
  sites.push_back({product, *weight, name.str(), std::nullopt});
  Value made = getBiased(product);
  for (const JointProjection &joint : kJointProjections) {
    if (!name.ends_with(joint.name) || !made.hasOneUse())
      continue;
    unsigned numParts = joint.parts.size();
    auto split = dyn_cast<SplitOp>(*made.user_begin());
    auto gated = dyn_cast<GluOp>(*made.user_begin());
    if (!(split && split.getNumResults() == numParts) &&
        !(gated && numParts == 2))
      continue;
    StringRef prefix = name.drop_back(joint.name.size());
    for (auto [number, part] : llvm::enumerate(joint.parts))
      sites.push_back({product, *weight, (prefix + part).str(),
                       static_cast<unsigned>(number), numParts});
    return;
  }
}

//===----------------------------------------------------------------------===//
// Adapters
//===----------------------------------------------------------------------===//

namespace {
/// Writes adapters into a program.
class AdapterBuilder {
public:
  AdapterBuilder(MLIRContext *context, int64_t rank, bool isScaled)
      : context(context), builder(context), rank(rank), isScaled(isScaled) {}

  void add(const Site &site);

private:
  Value makeProducts(const Site &site, Value target);
  Value getTarget(const Site &site, Operation *&after);
  ParamOp makeParam(const Site &site, StringRef suffix, ArrayRef<DimAttr> dims,
                    Type elementType);

  MLIRContext *context;
  OpBuilder builder;
  int64_t rank;
  bool isScaled;
};
} // namespace

/// The gate and the up half of what a gated unit reads, as two values that it
/// reads joined. They are there once.
static SplitOp splitGated(OpBuilder &builder, Value made) {
  if (made.hasOneUse())
    if (auto split = dyn_cast<SplitOp>(*made.user_begin()))
      return split;
  auto type = cast<SymTensorType>(made.getType());
  unsigned dim = type.getRank() - 2;
  SmallVector<DimAttr> dims(type.getDims());
  dims[dim] = DimAttr::get(SymExpr::get(builder.getContext(), 1));
  Type half =
      SymTensorType::get(builder.getContext(), dims, type.getElementType());
  builder.setInsertionPointAfterValue(made);
  auto split =
      SplitOp::create(builder, made.getLoc(), TypeRange{half, half}, made, dim);
  auto joined =
      ConcatOp::create(builder, made.getLoc(), type, split.getResults(), dim);
  made.replaceAllUsesExcept(joined, split);
  return split;
}

/// The value that the adapter adds to.
Value AdapterBuilder::getTarget(const Site &site, Operation *&after) {
  EinsumOp product = site.product;
  Value made = getBiased(product);
  if (!site.part) {
    after = made.getDefiningOp();
    return made;
  }
  auto split = dyn_cast<SplitOp>(*made.user_begin());
  if (!split)
    split = splitGated(builder, made);
  after = split;
  return split.getResult(*site.part);
}

ParamOp AdapterBuilder::makeParam(const Site &site, StringRef suffix,
                                  ArrayRef<DimAttr> dims, Type elementType) {
  return ParamOp::create(builder, site.product->getLoc(),
                         SymTensorType::get(context, dims, elementType),
                         builder.getStringAttr(site.name + suffix));
}

/// The product of the input with A and that of this with B, which has the type
/// of `target`.
Value AdapterBuilder::makeProducts(const Site &site, Value target) {
  EinsumOp product = site.product;
  Location loc = product->getLoc();
  auto equation = llvm::cantFail(EinsumEquation::parse(product.getEquation()));
  AdapterIndices indices = getIndices(equation, site.weight);
  auto targetType = cast<SymTensorType>(target.getType());
  Value input = product.getInputs()[1 - site.weight];
  Value weight = product.getInputs()[site.weight];
  Type elementType = cast<SymTensorType>(weight.getType()).getElementType();

  // Any letter that the equation does not use is the rank's.
  char r = 'a';
  while (StringRef(product.getEquation()).contains(r))
    ++r;
  DimAttr rankDim =
      DimAttr::get(builder.getStringAttr("rank"), SymExpr::get(context, rank));
  auto weightDims = cast<SymTensorType>(weight.getType()).getDims();
  StringRef weightTerm = equation.inputs[site.weight];
  auto getDims = [&](StringRef letters) {
    return llvm::map_to_vector(letters, [&](char index) {
      return weightDims[weightTerm.find(index)];
    });
  };
  SmallVector<DimAttr> down = getDims(indices.batch + indices.contracted);
  down.push_back(rankDim);
  SmallVector<DimAttr> up = getDims(indices.batch);
  up.push_back(rankDim);
  // Of a part, the result knows what it has of a dimension.
  for (char index : indices.made)
    up.push_back(targetType.getDim(equation.output.find(index)));

  std::string inputTerm = equation.inputs[1 - site.weight].str();
  std::string low;
  for (char index : inputTerm)
    if (!StringRef(indices.contracted).contains(index))
      low += index;
  low += r;
  std::string downTerm = indices.batch + indices.contracted + r;
  std::string upTerm = indices.batch + r + indices.made;

  auto a = makeParam(site, ".lora_A", down, elementType);
  auto narrow = EinsumOp::create(builder, loc, ValueRange{input, a},
                                 inputTerm + "," + downTerm + "->" + low,
                                 /*into=*/TypeAttr(), DrawsAttr(), SymExpr());
  auto b = makeParam(site, ".lora_B", up, elementType);
  return EinsumOp::create(builder, loc, ValueRange{narrow, b},
                          low + "," + upTerm + "->" + equation.output.str(),
                          /*into=*/TypeAttr(), DrawsAttr(), SymExpr());
}

void AdapterBuilder::add(const Site &site) {
  Location loc = site.product->getLoc();
  Operation *after = nullptr;
  Value target = getTarget(site, after);
  builder.setInsertionPointAfter(after);
  Value wide = makeProducts(site, target);
  auto setOwnName = [&](Value value, StringRef suffix) {
    setName(value.getDefiningOp(), builder.getStringAttr(site.name + suffix));
  };
  if (isScaled) {
    // No trace has the value of the constant.
    Value scale =
        SplatOp::create(builder, loc, cast<SymTensorType>(wide.getType()),
                        SymExpr::get(context, 1));
    wide = MulOp::create(builder, loc, wide, scale);
    setOwnName(wide, ".lora_scale");
  }
  Operation *last = wide.getDefiningOp();
  auto sum = AddOp::create(builder, loc, target, wide);
  setOwnName(sum, ".lora");
  target.replaceUsesWithIf(sum, [&](OpOperand &use) {
    Operation *user = use.getOwner();
    return user != sum && !(user->getBlock() == last->getBlock() &&
                            user->isBeforeInBlock(last));
  });
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

LogicalResult AddAdapters::checkOptions() {
  if (rank < 1)
    return getOperation().emitError("adapters have rank ")
           << rank.getValue() << ", expected an integer of at least 1";
  if (targets.empty())
    return getOperation().emitError(
        "adapters have no targets; name projections with targets");
  return success();
}

constexpr llvm::StringLiteral kAllLinear = "all-linear";

/// Says which projections there are.
LogicalResult AddAdapters::reportMissing(StringRef target,
                                         ArrayRef<Site> sites) {
  InFlightDiagnostic diag =
      getOperation().emitError("adapters have the target '") << target;
  if (sites.empty())
    return diag << "', but the model has no projection";
  SmallVector<StringRef> known;
  for (const Site &site : sites)
    known.push_back(site.name);
  llvm::sort(known, [&](StringRef lhs, StringRef rhs) {
    return std::make_pair(target.edit_distance(lhs), lhs) <
           std::make_pair(target.edit_distance(rhs), rhs);
  });
  known.erase(llvm::unique(known), known.end());
  diag << "', but "
       << (target == kAllLinear ? "no layer has a projection; outside of "
                                  "layers there are "
                                : "there is no projection of that name; "
                                  "there are ");
  constexpr size_t kMostNames = 12;
  llvm::interleaveComma(ArrayRef(known).take_front(kMostNames), diag);
  if (known.size() > kMostNames)
    diag << " and " << known.size() - kMostNames << " others";
  return diag;
}

/// The sites that the targets name. A name that nothing in the program has may
/// be what others call it.
FailureOr<llvm::SetVector<unsigned>>
AddAdapters::chooseSites(ArrayRef<Site> sites) {
  llvm::SetVector<unsigned> chosen;
  auto choose = [&](StringRef text) -> FailureOr<bool> {
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(text);
    if (!pattern)
      return getOperation().emitError("adapters have the target '")
             << text << "', which is no pattern: "
             << llvm::toString(pattern.takeError());
    bool isFound = false;
    for (auto [number, site] : llvm::enumerate(sites))
      if (isFor(*pattern, site.name)) {
        chosen.insert(number);
        isFound = true;
      }
    return isFound;
  };
  for (StringRef target : targets) {
    if (target == kAllLinear) {
      // All in layers, joint ones part by part.
      for (auto [number, site] : llvm::enumerate(sites)) {
        bool isJoint = number + 1 < sites.size() && !site.part &&
                       sites[number + 1].product == site.product;
        if (site.product->getParentOfType<RepeatOp>() && !isJoint)
          chosen.insert(number);
      }
      if (chosen.empty())
        return reportMissing(target, sites);
      continue;
    }
    FailureOr<bool> found = choose(target);
    if (failed(found))
      return failure();
    bool isFound = *found;
    for (const Alias &alias : kAliases)
      if (!*found && alias.name == target) {
        FailureOr<bool> other = choose(alias.meaning);
        if (failed(other))
          return failure();
        isFound |= *other;
      }
    if (!isFound)
      return reportMissing(target, sites);
  }
  return chosen;
}

void AddAdapters::runOnOperation() {
  if (failed(checkOptions()))
    return signalPassFailure();
  SmallVector<Site> sites;
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (!function.isExternal() && !function.isPrivate())
      function.walk([&](EinsumOp product) { addSites(product, sites); });
  FailureOr<llvm::SetVector<unsigned>> chosen = chooseSites(sites);
  if (failed(chosen))
    return signalPassFailure();
  // A joint projection and its parts would both be adapted.
  llvm::DenseMap<Operation *, std::string> whole;
  for (unsigned number : *chosen)
    if (!sites[number].part)
      whole[sites[number].product] = sites[number].name;
  for (unsigned number : *chosen)
    if (sites[number].part && whole.contains(sites[number].product)) {
      sites[number].product->emitOpError("would have adapters of '")
          << whole[sites[number].product] << "' and of its part '"
          << sites[number].name << "'; name one of them";
      return signalPassFailure();
    }
  getOperation().walk([](ParamOp param) { param.setFrozen(true); });
  AdapterBuilder adapters(&getContext(), rank, alpha != 0 && alpha != rank);
  for (unsigned number : *chosen)
    adapters.add(sites[number]);
}
