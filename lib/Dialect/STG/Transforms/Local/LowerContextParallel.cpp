//===- LowerContextParallel.cpp - Attention to the tokens of others -------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What one device computes and sends for an attention whose tokens are divided
// among devices: one block of queries and keys where keys have been gathered,
// or a ring of keys or of queries.
//
//===----------------------------------------------------------------------===//

#include "Channels.h"
#include "PartialAttention.h"
#include "ShardingRules.h"
#include "stg/Analysis/AttentionPairs.h"
#include "stg/Dialect/STG/IR/AttentionPlaces.h"
#include "stg/Dialect/STG/Transforms/Passes.h"

namespace stg {
#define GEN_PASS_DEF_LOWERCONTEXTPARALLEL
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
/// The channels of the rings along an axis, from the first one on.
enum RingChannel : int64_t { Keys, KeysBack, Gradients, NumRingChannels };

/// What goes round in a ring, while the other is where it is computed with.
enum class Passed { Keys, Queries };

/// A document of a row: keys of earlier steps, which devices have shares of,
/// and behind them tokens of the row.
struct PlacedDocument {
  int64_t kept = 0, fresh = 0;
};

/// Where tokens are, if the pairs of a device depend on it.
struct TokenPlaces {
  AttentionPattern pattern; ///< What is seen in each document.
  std::vector<PlacedDocument> documents;
  int64_t row = 0; ///< New tokens, and what fills them up.
  int64_t devices = 1;
  bool zigzag = false;
  SymExpr index; ///< The number of a device.

  /// The pairs of a device with the keys of that device, or with all.
  int64_t countPairs(int64_t own, std::optional<int64_t> other) const;
  /// The pairs of a device with all keys, as an expression of its number.
  SymExpr getAllPairs() const;
  /// Those of its queries with the keys of the device so many before it, or,
  /// where queries go round, of its keys with the queries of that device.
  SymExpr getPairs(int64_t before, Passed passed = Passed::Keys) const;
  /// 1 where there are such pairs, else 0.
  SymExpr getSeen(int64_t before, Passed passed = Passed::Keys) const;

private:
  int64_t countPairsInStep(int64_t device, int64_t before, Passed passed) const;
  SymExpr tabulate(function_ref<int64_t(int64_t device)> get) const;
};

/// One attention or gradient of one, as blocks.
///
/// In each step of a ring keys and values go on to the next device while the
/// block of those that are here is computed. Forward begins with the device's
/// own block and then has those of the devices before it, the nearest first.
/// Backward goes the other way, begins with the block that forward ended with
/// and ends with the own one; the gradients of keys and values follow one step
/// behind.
///
/// Where keys and values have been gathered for a ring of gradients, all begins
/// with the own block, and goes on as forward does. Gradients of keys and
/// values follow the keys that they are of, and go home in the end.
///
/// Where queries are those of one range, a causal mask hides the blocks of
/// later ranges. They are passed on all the same, but not computed. The same
/// holds for what windows, chunks and documents hide: each step of a ring has
/// then pairs of its own.
///
/// Where queries go round, keys stay, and each block is by itself: what it has
/// made of another device's queries goes home in one all-to-all, and is merged
/// there.
class AttentionLowering {
public:
  AttentionLowering(AttentionOpInterface op, SymExpr group, SymExpr size,
                    SymExpr range, const std::optional<TokenPlaces> &places,
                    bool passesQueries, int64_t firstChannel, TypeAttr sums)
      : op(op), builder(op), group(group), size(size), range(range),
        places(places), passesQueries(passesQueries),
        firstChannel(firstChannel),
        sums(size && !passesQueries ? sums : TypeAttr()) {}

  /// False where a number is too large.
  bool hasPairs() {
    if (places)
      return true;
    return isRing() ? getOwnPairs() && getOtherPairs()
                    : static_cast<bool>(getGatheredPairs());
  }
  void lower();

private:
  using Values = SmallVector<Value, 5>;

  Values buildForward();
  Values buildBackward();
  Values buildPlacedForward();
  Values buildPlacedBackward();
  Values buildGathered();
  Values buildPassed();

  Values gather(ArrayRef<Value> keys);
  Values cutBlock(ArrayRef<Value> gathered);
  Values narrow(Values made);
  Values exchange(ArrayRef<Value> values, Role role, RingChannel channel);
  Values passKeys(ArrayRef<Value> keys, Role role);
  Values passGradients(ArrayRef<Value> made, Role role);
  Values compute(ArrayRef<Value> keys, ArrayRef<Value> partial, SymExpr pairs,
                 std::optional<Role> role, SymExpr seen = {});
  void repeat(StringRef suffix, SymExpr count, Values &keys, Values &made,
              function_ref<void(Values &, Values &)> buildStep);
  void repeatMiddle(bool isHidden, Values &keys, Values &made);
  void computePlaced(int64_t before, const Values &keys, Values &made,
                     Role role);
  void repeatGathered(bool isHidden, ArrayRef<Value> gathered, Values &made);
  Value joinTokens(ArrayRef<Value> parts);
  Value mergePassed(Value outputs, Value lses);

  Origin getOrigin(std::optional<Role> role);
  SymExpr getTokens(unsigned operand) {
    return cast<SymTensorType>(op->getOperand(operand).getType()).getShape()[1];
  }
  bool isRing() { return static_cast<bool>(size); }
  /// True if the ring is one of gradients.
  bool isGathered() {
    return op.getContextAttr().getExchange() == KeyExchange::GatheredRing;
  }
  bool isBackward() { return isa<AttentionGradOp>(*op); }
  /// True if masked pairs cost nothing, so that places matter.
  bool skipsMasked() {
    return op.getMask() == AttentionMask::Causal && !op.getFullCount();
  }
  bool isBalanced() { return skipsMasked() && !range; }
  SymExpr getCached();
  SymExpr getGatheredPairs();
  SymExpr getOwnPairs();
  SymExpr getOtherPairs();
  SymExpr getNumVisible();
  SymExpr seesFarthest();

  AttentionOpInterface op;
  OpBuilder builder;
  SymExpr group; ///< The devices that divide the queries.
  SymExpr size;  ///< Of the ring; null if keys have been gathered.
  SymExpr range; ///< The number of the queries' range; null: none.
  const std::optional<TokenPlaces> &places; ///< None: places do not matter.
  bool passesQueries; ///< True if queries go round a ring, not keys.
  int64_t firstChannel;
  TypeAttr sums; ///< Element type in which blocks of a ring add up, or null.
  SmallVector<Value> operands; ///< Queries, keys, values, others.
};

struct LowerContextParallel
    : stg::impl::LowerContextParallelBase<LowerContextParallel> {
  using LowerContextParallelBase::LowerContextParallelBase;
  void runOnOperation() override;

private:
  LogicalResult lower(AttentionOpInterface op, MeshAttr mesh);
  FailureOr<SymExpr> getDeviceNumber(AttentionOpInterface op, MeshAttr mesh);
  FailureOr<SymExpr> getRange(AttentionOpInterface op, MeshAttr mesh);
  FailureOr<bool> passesQueries(AttentionOpInterface op, MeshAttr mesh);
  LogicalResult place(AttentionOpInterface op, MeshAttr mesh,
                      bool passesQueries, std::optional<TokenPlaces> &places);
  LogicalResult placeDocuments(AttentionOpInterface op, SymExpr devices,
                               SymExpr row, SymExpr kept, TokenPlaces &places);

  std::optional<Channels> channels;
  DenseMap<StringAttr, int64_t> firstChannels; ///< Of rings, by axis.
  TypeAttr sums;
};
} // namespace

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

/// Keys that are here and of no token of the step: what earlier steps have
/// kept, which all queries see.
SymExpr AttentionLowering::getCached() {
  SymExpr queries = getTokens(0), keys = getTokens(2);
  return keys - (isRing() ? queries : queries * group);
}

/// The parts of these ranges of a row that are in the document whose new tokens
/// begin there, as places in it.
static void addPlaces(ArrayRef<TokenRange> ranges, PlacedDocument document,
                      int64_t begin, SmallVectorImpl<TokenRange> &places) {
  int64_t shift = document.kept - begin, end = begin + document.fresh;
  for (TokenRange range : ranges) {
    TokenRange own = {std::max(range.begin, begin), std::min(range.end, end)};
    if (own.begin < own.end)
      places.push_back({own.begin + shift, own.end + shift});
  }
}

/// The row of new tokens is divided as one, and so is what has been kept of
/// each document.
int64_t TokenPlaces::countPairs(int64_t own,
                                std::optional<int64_t> other) const {
  auto getShare = [&](int64_t tokens) -> std::vector<TokenRange> {
    if (!other)
      return {{0, tokens}};
    return getTokensOf(*other, devices, tokens, zigzag);
  };
  std::vector<TokenRange> queries = getTokensOf(own, devices, row, zigzag),
                          keys = getShare(row);
  AttentionPattern inside = pattern;
  int64_t pairs = 0, begin = 0;
  for (PlacedDocument document : documents) {
    SmallVector<TokenRange> seeing, seen;
    addPlaces(queries, document, begin, seeing);
    if (!seeing.empty()) {
      if (document.kept > 0)
        llvm::append_range(seen, getShare(document.kept));
      addPlaces(keys, document, begin, seen);
      inside.documents = {document.kept + document.fresh};
      pairs += inside.countPairs(seeing, seen);
    }
    begin += document.fresh;
  }
  return pairs;
}

/// A step where a device has another number than the one before it.
SymExpr TokenPlaces::tabulate(function_ref<int64_t(int64_t device)> get) const {
  MLIRContext *context = index.getContext();
  SymExpr zero = SymExpr::get(context, 0), one = SymExpr::get(context, 1);
  int64_t last = get(0);
  SymExpr sum = SymExpr::get(context, last);
  for (int64_t device = 1; device < devices; ++device) {
    int64_t number = get(device);
    if (number == last)
      continue;
    SymExpr isFrom = SymExpr::getFunction(
        SymFunc::Max, {zero, SymExpr::getFunction(
                                 SymFunc::Min, {one, index - (device - 1)})});
    sum = sum + isFrom * (number - last);
    last = number;
  }
  return sum;
}

SymExpr TokenPlaces::getAllPairs() const {
  return tabulate(
      [&](int64_t device) { return countPairs(device, std::nullopt); });
}

int64_t TokenPlaces::countPairsInStep(int64_t device, int64_t before,
                                      Passed passed) const {
  int64_t other = (device + devices - before) % devices;
  return passed == Passed::Keys ? countPairs(device, other)
                                : countPairs(other, device);
}

SymExpr TokenPlaces::getPairs(int64_t before, Passed passed) const {
  return tabulate(
      [&](int64_t device) { return countPairsInStep(device, before, passed); });
}

SymExpr TokenPlaces::getSeen(int64_t before, Passed passed) const {
  return tabulate([&](int64_t device) -> int64_t {
    return countPairsInStep(device, before, passed) != 0;
  });
}

/// All keys are here. Of those of the step balanced queries see half, those of
/// a range all of the ranges before it and half of their own.
SymExpr AttentionLowering::getGatheredPairs() {
  SymExpr queries = getTokens(0), keys = getTokens(2);
  if (places)
    return places->getAllPairs();
  if (!skipsMasked())
    return queries * keys;
  SymExpr cached = queries * getCached();
  if (range)
    return cached + queries * queries * range +
           (queries * (queries + 1)).exactDiv(2);
  return cached + (queries * (queries * group + 1)).exactDiv(2);
}

/// Those with the device's own keys, half of which a causal mask hides but for
/// the diagonal.
SymExpr AttentionLowering::getOwnPairs() {
  SymExpr queries = getTokens(0);
  SymExpr own =
      skipsMasked() ? (queries * (queries + 1)).exactDiv(2) : queries * queries;
  return queries * getCached() + own;
}

/// Those with another device's keys, of which balanced queries see half.
SymExpr AttentionLowering::getOtherPairs() {
  SymExpr queries = getTokens(0);
  SymExpr other =
      isBalanced() ? (queries * queries).exactDiv(2) : queries * queries;
  return queries * getCached() + other;
}

/// Of the steps between the first and the last, those whose block is seen: as
/// many as there are ranges before the own one.
SymExpr AttentionLowering::getNumVisible() {
  if (!range)
    return size - 2;
  return SymExpr::getFunction(SymFunc::Min, {range, size - 2});
}

/// 1 if the block that goes the longest way is seen, as all are by the last
/// range, else 0.
SymExpr AttentionLowering::seesFarthest() {
  SymExpr one = SymExpr::get(op->getContext(), 1);
  return SymExpr::getFunction(SymFunc::Max, {range - size + 2, one - 1});
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// What an op is made for, which names its node.
Origin AttentionLowering::getOrigin(std::optional<Role> role) {
  Origin origin = stg::getOrigin(op);
  if (!origin.name)
    origin.name =
        StringAttr::get(op->getContext(), op->getName().stripDialect());
  origin.role = role;
  return origin;
}

AttentionLowering::Values AttentionLowering::exchange(ArrayRef<Value> values,
                                                      Role role,
                                                      RingChannel channel) {
  // Backward turns the ring around, unless there is none in forward.
  auto context = op.getContextAttr();
  auto made = ExchangeOp::create(
      builder, op.getLoc(), values, cast<StringAttr>(context.getAxes()[0]),
      /*shift=*/isBackward() && !isGathered() ? -1 : 1, firstChannel + channel);
  setOrigin(made, getOrigin(role));
  return Values(made.getResults());
}

AttentionLowering::Values AttentionLowering::passKeys(ArrayRef<Value> keys,
                                                      Role role) {
  return exchange(keys, role, isBackward() ? KeysBack : Keys);
}

/// In backward gradients of keys and values travel; those of queries stay.
AttentionLowering::Values AttentionLowering::passGradients(ArrayRef<Value> made,
                                                           Role role) {
  Values result(made);
  llvm::copy(exchange(made.drop_front(), role, Gradients), result.begin() + 1);
  return result;
}

AttentionLowering::Values AttentionLowering::compute(ArrayRef<Value> keys,
                                                     ArrayRef<Value> partial,
                                                     SymExpr pairs,
                                                     std::optional<Role> role,
                                                     SymExpr seen) {
  Values inputs(operands.begin(), operands.end());
  llvm::copy(keys, inputs.begin() + 1);
  // Gradients of keys and values come while the block is computed, which waits
  // for the queries' alone.
  bool isTravelling = isBackward() && !partial.empty();
  Operation *block = op.createBlock(
      builder, inputs, isTravelling ? partial.take_front() : partial, pairs,
      seen, sums);
  setOrigin(block, getOrigin(role));
  Values made(block->getResults());
  if (!isTravelling)
    return made;
  for (auto [sum, come] : llvm::drop_begin(llvm::zip_equal(made, partial))) {
    auto add = AddOp::create(builder, op.getLoc(), come, sum);
    setOrigin(add, getOrigin(Role::Add));
    sum = add;
  }
  return made;
}

/// So many steps, which replace `keys` and `made`.
void AttentionLowering::repeat(
    StringRef suffix, SymExpr count, Values &keys, Values &made,
    function_ref<void(Values &, Values &)> buildStep) {
  if (count.isZero())
    return;
  Origin origin = getOrigin(/*role=*/std::nullopt);
  std::string name =
      (origin.name.getValue() + "." + stringifyPhase(getPhase(op)) + suffix)
          .str();
  size_t numKeys = keys.size();
  Values carried(keys);
  llvm::append_range(carried, made);
  auto loop =
      RepeatOp::create(builder, op.getLoc(), name, count,
                       /*reverse=*/false, carried, ValueRange(), TypeRange());
  setOrigin(loop, origin);
  auto split = [&](ValueRange values) {
    keys = Values(values.take_front(numKeys));
    made = Values(values.drop_front(numKeys));
  };
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&loop.getBody().front());
    split(loop.getCarriedArgs());
    buildStep(keys, made);
    llvm::append_range(keys, made);
    YieldOp::create(builder, op.getLoc(), keys);
  }
  split(loop.getResults());
}

/// The steps between the first and the last whose block is hidden, or seen.
void AttentionLowering::repeatMiddle(bool isHidden, Values &keys,
                                     Values &made) {
  SymExpr visible = getNumVisible();
  repeat(isHidden ? ".hidden" : ".ring",
         isHidden ? size - 2 - visible : visible, keys, made,
         [&](Values &keys, Values &made) {
           Values here = keys;
           keys = passKeys(here, Role::Keys);
           if (isBackward())
             made = passGradients(made, Role::Gradients);
           if (!isHidden)
             made = compute(here, made, getOtherPairs(), Role::Block);
         });
}

AttentionLowering::Values AttentionLowering::buildForward() {
  Values here{operands[1], operands[2]};
  Values keys = passKeys(here, Role::First);
  Values made = compute(here, {}, getOwnPairs(), Role::Own);
  repeatMiddle(/*isHidden=*/false, keys, made);
  if (range)
    repeatMiddle(/*isHidden=*/true, keys, made);
  auto computeLast = [&](Values &keys, Values &made) {
    made = compute(keys, made, getOtherPairs(), Role::Last);
  };
  if (range)
    repeat(".farthest", seesFarthest(), keys, made, computeLast);
  else
    computeLast(keys, made);
  return made;
}

AttentionLowering::Values AttentionLowering::buildBackward() {
  Values here{operands[1], operands[2]};
  Values keys = passKeys(here, Role::First);
  Values made = compute(here, {}, getOtherPairs(), Role::Farthest,
                        range ? seesFarthest() : SymExpr());
  if (range)
    repeatMiddle(/*isHidden=*/true, keys, made);
  repeatMiddle(/*isHidden=*/false, keys, made);
  made = passGradients(made, Role::Last);
  return compute(keys, made, getOwnPairs(), Role::Own);
}

/// The block of a step, where anything of it is seen.
void AttentionLowering::computePlaced(int64_t before, const Values &keys,
                                      Values &made, Role role) {
  SymExpr pairs = places->getPairs(before);
  auto build = [&](Values &here, Values &made) {
    made = compute(isGathered() ? cutBlock(keys) : here, made, pairs, role);
  };
  // What has been gathered is cut where it is read.
  Values here = isGathered() ? Values() : keys;
  SymExpr seen = places->getSeen(before);
  if (seen.isOne())
    build(here, made);
  else
    repeat(".before" + std::to_string(before), seen, here, made, build);
}

AttentionLowering::Values AttentionLowering::buildPlacedForward() {
  Values keys{operands[1], operands[2]};
  Values here = keys;
  keys = passKeys(here, Role::First);
  Values made = compute(here, {}, places->getPairs(0), Role::Own);
  for (int64_t before = 1; before < places->devices; ++before) {
    here = keys;
    bool isLast = before + 1 == places->devices;
    if (!isLast)
      keys = passKeys(here, Role::Keys);
    computePlaced(before, here, made, isLast ? Role::Last : Role::Block);
  }
  return made;
}

AttentionLowering::Values AttentionLowering::buildPlacedBackward() {
  Values here{operands[1], operands[2]};
  int64_t before = places->devices - 1;
  Values keys = passKeys(here, Role::First);
  SymExpr seen = places->getSeen(before);
  Values made = compute(here, {}, places->getPairs(before), Role::Farthest,
                        seen.isOne() ? SymExpr() : seen);
  while (--before > 0) {
    here = keys;
    keys = passKeys(here, Role::Keys);
    made = passGradients(made, Role::Gradients);
    computePlaced(before, here, made, Role::Block);
  }
  made = passGradients(made, Role::Last);
  return compute(keys, made, places->getPairs(0), Role::Own);
}

/// Keys and values of all devices, in one collective where they have one shape.
AttentionLowering::Values AttentionLowering::gather(ArrayRef<Value> keys) {
  ArrayAttr axes = op.getContextAttr().getAxes();
  auto build = [&](Value value) -> Value {
    auto type = cast<SymTensorType>(value.getType());
    SmallVector<DimAttr> dims(type.getDims());
    dims[1] = dims[1].withExtent(dims[1].getExtent() * size);
    auto gathered =
        AllGatherOp::create(builder, op.getLoc(), type.withDims(dims), value,
                            /*dim=*/1, axes, SymExpr(), SymExpr());
    setOrigin(gathered, getOrigin(Role::Keys));
    return gathered;
  };
  if (keys[0].getType() != keys[1].getType())
    return {build(keys[0]), build(keys[1])};
  auto own = cast<SymTensorType>(keys[0].getType());
  SmallVector<DimAttr> dims(own.getDims());
  dims[0] = dims[0].withExtent(dims[0].getExtent() * 2);
  auto both = ConcatOp::create(builder, op.getLoc(), own.withDims(dims), keys,
                               /*dim=*/0, /*ordered=*/true);
  setOrigin(both, getOrigin(Role::First));
  Value gathered = build(both);
  SmallVector<DimAttr> half(cast<SymTensorType>(gathered.getType()).getDims());
  half[0] = own.getDim(0);
  Type part = own.withDims(half);
  auto parts = SplitOp::create(builder, op.getLoc(), TypeRange{part, part},
                               gathered, /*dim=*/0, /*ordered=*/true);
  setOrigin(parts, getOrigin(Role::Block));
  return Values(parts.getResults());
}

/// What one device has brought. Which one it is changes nothing of the cost.
AttentionLowering::Values
AttentionLowering::cutBlock(ArrayRef<Value> gathered) {
  Values keys;
  for (auto [value, own] :
       llvm::zip_equal(gathered, ArrayRef(operands).slice(1, 2))) {
    auto slice =
        LocalSliceOp::create(builder, op.getLoc(), own.getType(), value,
                             /*dim=*/1, op.getContextAttr().getAxes(),
                             /*peer=*/true);
    setOrigin(slice, getOrigin(Role::Block));
    keys.push_back(slice);
  }
  return keys;
}

/// Steps behind the own block: those whose block is hidden, which pass on what
/// they have of gradients, or the others.
void AttentionLowering::repeatGathered(bool isHidden, ArrayRef<Value> gathered,
                                       Values &made) {
  SymExpr visible = range ? range : size - 1;
  Values none;
  repeat(isHidden ? ".hidden" : ".ring",
         isHidden ? size - 1 - visible : visible, none, made,
         [&](Values &, Values &made) {
           if (isBackward())
             made = passGradients(made, Role::Gradients);
           if (!isHidden)
             made = compute(cutBlock(gathered), made, getOtherPairs(),
                            Role::Block);
         });
}

AttentionLowering::Values AttentionLowering::buildGathered() {
  Values own{operands[1], operands[2]};
  Values gathered = gather(own);
  Values made =
      compute(own, {}, places ? places->getPairs(0) : getOwnPairs(), Role::Own);
  for (int64_t before = 1; places && before < places->devices; ++before) {
    if (isBackward())
      made = passGradients(made, Role::Gradients);
    computePlaced(before, gathered, made, Role::Block);
  }
  if (!places) {
    repeatGathered(/*isHidden=*/false, gathered, made);
    if (range && isBackward())
      repeatGathered(/*isHidden=*/true, gathered, made);
  }
  return isBackward() ? passGradients(made, Role::Last) : made;
}

//===----------------------------------------------------------------------===//
// Queries that go round
//===----------------------------------------------------------------------===//

/// What blocks have made, as of one row with the queries of all devices.
Value AttentionLowering::joinTokens(ArrayRef<Value> parts) {
  auto own = cast<SymTensorType>(parts.front().getType());
  SmallVector<DimAttr> dims(own.getDims());
  dims[1] = dims[1].withExtent(dims[1].getExtent() *
                               static_cast<int64_t>(parts.size()));
  auto joined = ConcatOp::create(builder, op.getLoc(), own.withDims(dims),
                                 parts, /*dim=*/1, /*ordered=*/true);
  setOrigin(joined, getOrigin(Role::Part));
  return joined;
}

/// Each device gets what has been made of its queries, and merges it.
Value AttentionLowering::mergePassed(Value outputs, Value lses) {
  return exchangeParts(builder, op.getLoc(), outputs, lses,
                       cast<SymTensorType>(op->getResult(0).getType()),
                       /*dim=*/1, size, op.getContextAttr().getAxes(),
                       [&](Operation *made, StringRef suffix) {
                         Origin origin = getOrigin(/*role=*/std::nullopt);
                         origin.name = builder.getStringAttr(
                             origin.name.getValue() + suffix);
                         setOrigin(made, origin);
                       })
      .merged;
}

/// Blocks of all queries with the device's own keys, the nearest first.
AttentionLowering::Values AttentionLowering::buildPassed() {
  int64_t devices = *size.getInt64();
  Values inputs(operands.begin(), operands.end());
  SmallVector<Value> outputs, lses;
  for (int64_t before = 0; before < devices; ++before) {
    Value here = inputs.front();
    if (before + 1 < devices)
      inputs[0] =
          exchange(here, before == 0 ? Role::First : Role::Queries, Keys)
              .front();
    SymExpr seen =
        places ? places->getSeen(before, Passed::Queries) : SymExpr();
    SymExpr pairs = places        ? places->getPairs(before, Passed::Queries)
                    : before == 0 ? getOwnPairs()
                                  : getOtherPairs();
    Values block(inputs);
    block[0] = here;
    // Sinks are in one of the sums.
    if (before > 0)
      block.truncate(3);
    Operation *made = op.createBlock(builder, block, /*partial=*/{}, pairs,
                                     seen && !seen.isOne() ? seen : SymExpr(),
                                     /*into=*/TypeAttr());
    setOrigin(made, getOrigin(before == 0 ? Role::Own : Role::Block));
    outputs.push_back(made->getResult(0));
    lses.push_back(made->getResult(1));
  }
  Value all = joinTokens(outputs);
  return {mergePassed(all, joinTokens(lses)), lses.front()};
}

/// What is read has the element types of the op.
AttentionLowering::Values AttentionLowering::narrow(Values made) {
  for (auto [value, result] : llvm::zip(made, op->getResults()))
    if (value.getType() != result.getType()) {
      auto cast = CastOp::create(builder, op.getLoc(), result.getType(), value);
      setOrigin(cast, getOrigin(Role::Cast));
      value = cast;
    }
  return made;
}

void AttentionLowering::lower() {
  operands = llvm::to_vector(op->getOperands());
  Values made;
  if (isRing()) {
    // What goes around, or is read by many blocks, is in one piece.
    for (Value &operand : operands) {
      auto pack = PackOp::create(builder, op.getLoc(), operand);
      setOrigin(pack, getOrigin(/*role=*/std::nullopt));
      operand = pack;
    }
    if (passesQueries)
      made = buildPassed();
    else if (isGathered())
      made = buildGathered();
    else if (places)
      made = isBackward() ? buildPlacedBackward() : buildPlacedForward();
    else
      made = isBackward() ? buildBackward() : buildForward();
  } else {
    made = compute({operands[1], operands[2]}, {}, getGatheredPairs(),
                   stg::getOrigin(op).role);
  }
  op->replaceAllUsesWith(narrow(made));
  op->erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// The number of a device among those that divide the tokens. The first axis is
/// the fastest.
FailureOr<SymExpr>
LowerContextParallel::getDeviceNumber(AttentionOpInterface op, MeshAttr mesh) {
  ContextAttr context = op.getContextAttr();
  SymExpr range = SymExpr::get(&getContext(), 0);
  SymExpr stride = SymExpr::get(&getContext(), 1);
  for (auto axis : context.getAxes().getAsRange<StringAttr>()) {
    SymbolOp coordinate =
        SymbolOp::lookupCoordinate(getOperation(), axis.getValue());
    if (!coordinate)
      return op->emitOpError("has ")
             << (dependsOnPlace(op) ? "places" : "ranges")
             << " of tokens over mesh axis '" << axis.getValue()
             << "', whose coordinate is not a symbol, as "
             << "--stg-context-parallel=\"balance=none\" declares it for axes "
                "with the role context";
    range = range + SymExpr::getSymbol(coordinate.getSymNameAttr()) * stride;
    stride = stride * mesh.getAxisSize(axis);
  }
  return range;
}

/// Which of the ranges of queries a device has. Null if places do not matter,
/// as nothing is masked or all have equally many pairs.
FailureOr<SymExpr> LowerContextParallel::getRange(AttentionOpInterface op,
                                                  MeshAttr mesh) {
  if (op.getContextAttr().getTokens() != TokenShare::Range ||
      op.getMask() != AttentionMask::Causal || op.getFullCount())
    return SymExpr();
  return getDeviceNumber(op, mesh);
}

/// The number that an expression is; false if it is another.
static bool readNumber(SymExpr expr, std::optional<int64_t> &number) {
  number = expr ? expr.getInt64() : std::nullopt;
  return number || !expr;
}

/// What is seen in each document of a row. None if something of it is no
/// number.
static std::optional<AttentionPattern> getPattern(AttentionOpInterface op) {
  AttentionPattern pattern;
  if (op.getFullCount()) {
    pattern.isCausal = false;
    return pattern;
  }
  std::optional<int64_t> prefix;
  pattern.isCausal = op.getMask() == AttentionMask::Causal;
  if (!readNumber(op.getWindowAttr(), pattern.window) ||
      !readNumber(op.getChunkAttr(), pattern.chunk) ||
      !readNumber(op.getPrefixAttr(), prefix))
    return std::nullopt;
  pattern.prefix = prefix.value_or(0);
  return pattern;
}

/// True if queries go round a ring: if somebody says so, or if they are fewer
/// bytes than keys and values.
FailureOr<bool> LowerContextParallel::passesQueries(AttentionOpInterface op,
                                                    MeshAttr mesh) {
  ContextAttr context = op.getContextAttr();
  KeyExchange exchange = context.getExchange();
  if (exchange != KeyExchange::QueryRing && exchange != KeyExchange::AutoRing)
    return false;
  if (isa<AttentionGradOp>(*op) || !op->getResult(1).use_empty())
    return op->emitOpError("has the context exchange '")
           << stringifyKeyExchange(exchange)
           << "', which has no backward pass, and no log-sum-exps for one; use "
              "p2p";
  auto getBytes = [&](unsigned operand) {
    return cast<SymTensorType>(op->getOperand(operand).getType()).getNumBytes();
  };
  std::optional<int64_t> queries = getBytes(0).getInt64(),
                         keys = (getBytes(1) + getBytes(2)).getInt64();
  bool isKnown = mesh.getGroupSize(context.getAxes()).getInt64() &&
                 (exchange == KeyExchange::QueryRing || (queries && keys));
  if (!isKnown)
    return op->emitOpError("has the context exchange '")
           << stringifyKeyExchange(exchange)
           << "', and how many blocks it has, and which of them are fewer "
              "bytes, is known for numbers only; give symbols their values "
              "first (--stg-bind)";
  return exchange == KeyExchange::QueryRing || *queries < *keys;
}

/// The requests of a row, with what so many shares have kept of each that is
/// seen. None if something of it is no number.
static std::optional<std::vector<PlacedDocument>>
getRequests(AttentionOpInterface op, int64_t shares) {
  RequestsAttr requests = op.getRequestsAttr();
  TokenSpan span{op.getWindowAttr(), op.getChunkAttr()};
  std::vector<PlacedDocument> documents;
  for (auto [count, fresh, cached] :
       llvm::zip_equal(requests.getCounts(), requests.getNewTokens(),
                       requests.getCachedTokens())) {
    std::optional<int64_t> times = count.getInt64(), tokens = fresh.getInt64(),
                           kept = span.getVisible(cached, shares).getInt64();
    if (!times || !tokens || !kept)
      return std::nullopt;
    documents.insert(documents.end(), *times, {*kept, *tokens});
  }
  return documents;
}

/// The documents of a row, or the row as one, whose tokens divide into the
/// shares of the devices. Fails if they do not.
LogicalResult LowerContextParallel::placeDocuments(AttentionOpInterface op,
                                                   SymExpr devices, SymExpr row,
                                                   SymExpr kept,
                                                   TokenPlaces &places) {
  std::optional<int64_t> fresh = row.getInt64(), cached = kept.getInt64();
  places.devices = devices.getInt64().value_or(0);
  const int64_t shares = places.devices * (places.zigzag ? 2 : 1);
  std::optional<std::vector<PlacedDocument>> documents;
  if (fresh && cached && shares && op.getRequestsAttr())
    documents = getRequests(op, shares);
  else if (fresh && cached && shares)
    documents = {{*cached, *fresh}};
  std::optional<AttentionPattern> pattern = getPattern(op);
  if (!documents || !pattern)
    return op->emitOpError("has tokens that are divided over ")
           << op.getContextAttr().getAxes()
           << ", and how many keys each device sees is known for numbers only; "
              "give symbols their values, and several steps one by one";
  SmallVector<std::pair<int64_t, StringRef>> divided{{*fresh, " tokens"}};
  int64_t all = 0, own = 0;
  for (PlacedDocument document : *documents) {
    all += document.kept;
    own += document.fresh;
    if (goesRound(op.getContextAttr().getExchange()))
      divided.push_back({document.kept, " keys of earlier steps"});
  }
  for (auto [number, what] : divided)
    if (number % shares != 0)
      return op->emitOpError("has ")
             << number << what << ", which are divided into " << shares
             << " parts; expected a multiple of that";
  // Of tokens that fill up a row there may be no keys.
  if (all != *cached && all + own != *cached + *fresh)
    return op->emitOpError("has ")
           << *cached << " keys of earlier steps, and its requests see " << all
           << " of them; expected as many";
  places.pattern = std::move(*pattern);
  places.documents = std::move(*documents);
  places.row = *fresh;
  return success();
}

/// Tells pairs of devices apart that see more or less.
LogicalResult LowerContextParallel::place(AttentionOpInterface op,
                                          MeshAttr mesh, bool passesQueries,
                                          std::optional<TokenPlaces> &places) {
  ContextAttr context = op.getContextAttr();
  SymExpr group = mesh.getGroupSize(context.getAxes());
  SymExpr queries =
      cast<SymTensorType>(op->getOperand(0).getType()).getShape()[1];
  bool isRing = goesRound(context.getExchange());
  SymExpr keys = cast<SymTensorType>(op->getOperand(2).getType()).getShape()[1];
  SymExpr kept = isRing ? (keys - queries) * group : keys - queries * group;
  // What is kept is seen in blocks of a ring whose new tokens are not. Which
  // queries see a device's keys is the other way round.
  bool isPartlyHidden = isRing && (passesQueries || !kept.isZero()) &&
                        op.getMask() == AttentionMask::Causal &&
                        !op.getFullCount() &&
                        context.getTokens() == TokenShare::Range;
  if (!dependsOnPlace(op) && !isPartlyHidden)
    return success();
  bool hasPrefix = op.getPrefixAttr() && !op.getFullCount();
  if (!kept.isZero() && hasPrefix)
    return op->emitOpError("has keys of earlier steps, and its tokens are "
                           "divided over ")
           << context.getAxes()
           << ": how many of them each device sees is not known; exchange "
              "tokens by a2a, which divides heads";
  TokenPlaces placed;
  placed.zigzag = context.getTokens() == TokenShare::ZigZag;
  if (failed(placeDocuments(op, group, queries * group, kept, placed)))
    return failure();
  FailureOr<SymExpr> index = getDeviceNumber(op, mesh);
  if (failed(index))
    return failure();
  placed.index = *index;
  places = std::move(placed);
  return success();
}

LogicalResult LowerContextParallel::lower(AttentionOpInterface op,
                                          MeshAttr mesh) {
  ContextAttr context = op.getContextAttr();
  ArrayAttr axes = context.getAxes();
  if (!axes)
    return op->emitOpError("does not say over which axes its tokens are; run "
                           "--stg-insert-collectives first");
  for (auto axis : axes.getAsRange<StringAttr>())
    if (!mesh.getAxisIndex(axis))
      return op->emitOpError("has tokens over '")
             << axis.getValue() << "', which is not an axis of the mesh";
  bool isRing = goesRound(context.getExchange());
  if (isRing && axes.size() != 1)
    return op->emitOpError("goes around the axes ") << axes << ", expected one";
  FailureOr<SymExpr> range = getRange(op, mesh);
  FailureOr<bool> passed = passesQueries(op, mesh);
  std::optional<TokenPlaces> places;
  if (failed(range) || failed(passed) ||
      failed(place(op, mesh, *passed, places)))
    return failure();
  SymExpr size;
  int64_t firstChannel = 0;
  if (isRing && !mesh.getGroupSize(axes).isOne()) {
    size = mesh.getGroupSize(axes);
    auto axis = cast<StringAttr>(axes[0]);
    if (!channels)
      channels.emplace(getOperation());
    auto [it, isNew] = firstChannels.try_emplace(axis);
    if (isNew)
      it->second = channels->take(axis, NumRingChannels);
    firstChannel = it->second;
  }
  AttentionLowering lowering(op, mesh.getGroupSize(axes), size, *range, places,
                             *passed, firstChannel, sums);
  if (!lowering.hasPairs())
    return op->emitOpError("has a cost that is too large to be expressed");
  lowering.lower();
  return success();
}

/// The attention whose tokens are divided.
static SmallVector<AttentionOpInterface> collectDivided(Operation *root) {
  SmallVector<AttentionOpInterface> ops;
  root->walk([&](AttentionOpInterface op) {
    if (op.getContextAttr())
      ops.push_back(op);
  });
  return ops;
}

void LowerContextParallel::runOnOperation() {
  channels.reset();
  firstChannels.clear();
  sums = TypeAttr();
  if (!sumType.empty()) {
    FloatType type = getFloatType(&getContext(), sumType);
    if (!type) {
      getOperation().emitError("option 'sum-type' has the value '")
          << sumType << "', expected a float type such as bf16, f16 or f32";
      return signalPassFailure();
    }
    sums = TypeAttr::get(type);
  }
  if (collectDivided(getOperation()).empty())
    return markAllAnalysesPreserved();
  auto run = [&](func::FuncOp function, MeshOp mesh) -> LogicalResult {
    for (AttentionOpInterface op : collectDivided(function))
      if (failed(lower(op, mesh.getMesh())))
        return failure();
    return success();
  };
  if (failed(forEachProgram(getOperation(), run)))
    signalPassFailure();
}
