//===- RollLayers.cpp - A repeat in the place of layers one by one --------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that follow one another several times become the body of a repeat. Two
// runs are alike if their ops are, up to the names of parameters and of symbols
// that have one default: each layer of a model from elsewhere has symbols of
// its own. What a run reads of the one before is carried.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "stg/Dialect/STG/IR/SymbolUses.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include <map>

namespace stg {
#define GEN_PASS_DEF_ROLLLAYERS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {

/// A value of a run: a result of one of its ops.
struct Place {
  unsigned op, result;
  bool operator==(const Place &other) const {
    return op == other.op && result == other.result;
  }
};

struct CompareParameters {
  using Key = std::pair<StringAttr, unsigned>;
  bool operator()(const Key &lhs, const Key &rhs) const {
    return std::pair(lhs.first.getValue(), lhs.second) <
           std::pair(rhs.first.getValue(), rhs.second);
  }
};

class LayerRoller {
public:
  explicit LayerRoller(func::FuncOp function)
      : function(function), module(function->getParentOfType<ModuleOp>()),
        context(function.getContext()) {}

  /// Rolls the longest row of runs; false if there is none.
  bool rollOnce();

private:
  /// `count` runs of `period` ops, from `start` on.
  struct Runs {
    unsigned start = 0, period = 0, count = 0;
    /// What each run hands on, and what the first one reads instead.
    SmallVector<std::pair<Place, Value>> carried;
    /// Symbols of later runs, and those of the first one that they are.
    SymBinding symbols;
    /// What stands in a run for a parameter of the first one.
    std::map<std::pair<mlir::StringAttr, unsigned>, mlir::StringAttr,
             CompareParameters>
        parameters;
    llvm::DenseMap<mlir::StringAttr, bool> isShared;

    /// The number of the first op behind the runs.
    unsigned getEnd() const { return start + count * period; }
  };

  /// What a body has of parameters and constants.
  struct Copies {
    llvm::DenseMap<Value, Value> read;
    llvm::StringSet<> names;
  };

  void collectOps();
  /// Fails where the runs are not alike.
  LogicalResult match(Runs &runs);
  LogicalResult matchSymbols(ArrayRef<std::pair<Type, Type>> types, Runs &runs);
  LogicalResult matchParameter(ParamOp own, ParamOp first, unsigned run,
                               Runs &runs);
  bool isReadIn(ParamOp param, unsigned run, const Runs &runs);
  LogicalResult matchOperand(Value own, Value first, unsigned run, Runs &runs);
  std::optional<Place> getPlace(Value value, unsigned run, const Runs &runs);
  /// True if several ops of a run read each value that it is handed.
  bool branchesOff(const Runs &runs) const;
  ArrayRef<Operation *> getRun(const Runs &runs, unsigned run) const {
    return ArrayRef(ops).slice(runs.start + run * runs.period, runs.period);
  }
  LogicalResult checkSymbols(const Runs &runs);
  LogicalResult checkReaders(const Runs &runs);
  LogicalResult checkCarried(const Runs &runs);
  void roll(const Runs &runs);
  SymExpr declareCount(const Runs &runs);
  RepeatOp createRepeat(const Runs &runs);
  Value copyRead(Value operand, Value next, OpBuilder &builder, Copies &copies);
  void copyFirstRun(const Runs &runs, RepeatOp repeat);
  void replaceLastRun(const Runs &runs, RepeatOp repeat);
  void eraseRuns(const Runs &runs);
  std::string getParameterName(ParamOp first, ParamOp second,
                               llvm::StringSet<> &taken);
  SymExpr getDefault(StringAttr symbol);

  func::FuncOp function;
  ModuleOp module;
  MLIRContext *context;
  /// All but parameters and constants, which stand where they are read.
  SmallVector<Operation *> ops;
  llvm::DenseMap<Operation *, unsigned> numbers;
};

struct RollLayers : stg::impl::RollLayersBase<RollLayers> {
  using RollLayersBase::RollLayersBase;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal()) {
        LayerRoller roller(function);
        while (roller.rollOnce())
          ;
      }
  }
};
} // namespace

static bool standsWhereRead(Operation *op) { return isa<ParamOp, SplatOp>(op); }

void LayerRoller::collectOps() {
  ops.clear();
  numbers.clear();
  for (Operation &op : function.getBody().front().without_terminator())
    if (!standsWhereRead(&op)) {
      numbers[&op] = ops.size();
      ops.push_back(&op);
    }
}

SymExpr LayerRoller::getDefault(StringAttr symbol) {
  auto declaration = module.lookupSymbol<SymbolOp>(symbol);
  return declaration ? declaration.getValueAttr() : SymExpr();
}

/// What two ops that are alike have in common.
static std::string getKey(Operation *op) {
  std::string key;
  llvm::raw_string_ostream os(key);
  os << op->getName();
  for (NamedAttribute attribute : op->getAttrs())
    if (attribute.getName() != STGDialect::kOriginAttr)
      os << ' ' << attribute.getName().getValue() << '='
         << attribute.getValue();
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<SymTensorType>(type))
      os << ' ' << tensor.getRank() << tensor.getElementType();
  // A repeat is alike only if it is the same text, which it is not here.
  if (op->getNumRegions() > 0)
    os << op;
  return key;
}

LogicalResult LayerRoller::matchSymbols(ArrayRef<std::pair<Type, Type>> types,
                                        Runs &runs) {
  // Symbols first: sums are made of them.
  for (bool sums : {false, true})
    for (auto [own, first] : types) {
      auto lhs = dyn_cast<SymTensorType>(own);
      auto rhs = dyn_cast<SymTensorType>(first);
      if (!lhs || !rhs || lhs.getRank() != rhs.getRank() ||
          lhs.getElementType() != rhs.getElementType() ||
          lhs.getSharding() != rhs.getSharding()) {
        if (own != first)
          return failure();
        continue;
      }
      for (auto [a, b] : llvm::zip_equal(lhs.getDims(), rhs.getDims())) {
        StringAttr x = a.getExtent().getAsSymbol();
        StringAttr y = b.getExtent().getAsSymbol();
        if (sums) {
          SymExpr renamed = a.getExtent().substitute(runs.symbols);
          if (renamed != b.getExtent())
            return failure();
          continue;
        }
        if (!x || !y)
          continue;
        auto [it, isNew] = runs.symbols.try_emplace(x, b.getExtent());
        if (it->second != b.getExtent() ||
            (x != y && getDefault(x) != getDefault(y)))
          return failure();
      }
    }
  return success();
}

std::optional<Place> LayerRoller::getPlace(Value value, unsigned run,
                                           const Runs &runs) {
  Operation *op = value.getDefiningOp();
  auto it = op ? numbers.find(op) : numbers.end();
  if (it == numbers.end())
    return std::nullopt;
  unsigned first = runs.start + run * runs.period;
  if (it->second < first || it->second >= first + runs.period)
    return std::nullopt;
  return Place{it->second - first,
               llvm::cast<OpResult>(value).getResultNumber()};
}

/// True if only ops of that run read the parameter.
bool LayerRoller::isReadIn(ParamOp param, unsigned run, const Runs &runs) {
  for (auto other : function.getOps<ParamOp>()) {
    if (other.getParamName() != param.getParamName())
      continue;
    for (Operation *user : other->getUsers()) {
      auto it = numbers.find(user);
      unsigned start = runs.start + run * runs.period;
      if (it == numbers.end() || it->second < start ||
          it->second >= start + runs.period)
        return false;
    }
  }
  return true;
}

/// A parameter is that of all runs, or each run has one of its own in its
/// place, which nobody else reads.
LogicalResult LayerRoller::matchParameter(ParamOp own, ParamOp first,
                                          unsigned run, Runs &runs) {
  if (own.getFrozen() != first.getFrozen())
    return failure();
  StringAttr name = own.getParamNameAttr(), original = first.getParamNameAttr();
  auto [it, isNew] = runs.parameters.try_emplace({original, run}, name);
  if (!isNew)
    return success(it->second == name);
  // Shared by one run and the first, it is shared by all.
  auto [shared, isFirst] =
      runs.isShared.try_emplace(original, name == original);
  if (shared->second != (name == original))
    return failure();
  return success(name == original ||
                 (isReadIn(own, run, runs) && isReadIn(first, 0, runs)));
}

/// An operand of a run, and that of the first run in its place.
LogicalResult LayerRoller::matchOperand(Value own, Value first, unsigned run,
                                        Runs &runs) {
  Operation *op = own.getDefiningOp(), *firstOp = first.getDefiningOp();
  if (op && standsWhereRead(op)) {
    if (!firstOp || op->getName() != firstOp->getName())
      return failure();
    if (auto splat = dyn_cast<SplatOp>(op))
      return success(splat.getValue().substitute(runs.symbols) ==
                     cast<SplatOp>(firstOp).getValue());
    return matchParameter(cast<ParamOp>(op), cast<ParamOp>(firstOp), run, runs);
  }
  if (std::optional<Place> place = getPlace(own, run, runs))
    return success(getPlace(first, 0, runs) == place);
  if (std::optional<Place> place = getPlace(own, run - 1, runs)) {
    // The first run reads what is there before.
    if (getPlace(first, 0, runs) || (firstOp && standsWhereRead(firstOp)))
      return failure();
    for (auto &[known, init] : runs.carried)
      if (known == *place)
        return success(init == first);
    runs.carried.emplace_back(*place, first);
    return success();
  }
  return success(own == first);
}

/// A symbol that is there outside of the runs stays what it is.
LogicalResult LayerRoller::checkSymbols(const Runs &runs) {
  SymbolUses kept(module);
  for (Type type : function.getArgumentTypes())
    kept.add(type);
  for (auto [number, op] : llvm::enumerate(ops))
    if (number < runs.start || number >= runs.getEnd())
      for (Type type : op->getResultTypes())
        kept.add(type);
  return success(llvm::none_of(runs.symbols, [&](auto &entry) {
    return kept.contains(entry.first) &&
           entry.second.getAsSymbol() != entry.first;
  }));
}

/// What is read behind the runs is of the last one, and carried.
LogicalResult LayerRoller::checkReaders(const Runs &runs) {
  for (unsigned number = runs.start; number < runs.getEnd(); ++number)
    for (OpResult result : ops[number]->getResults()) {
      Place place = {(number - runs.start) % runs.period,
                     result.getResultNumber()};
      bool isLast = number >= runs.getEnd() - runs.period;
      bool isHandedOn = isLast && llvm::any_of(runs.carried, [&](auto &known) {
                          return known.first == place;
                        });
      if (!isHandedOn && llvm::any_of(result.getUsers(), [&](Operation *user) {
            auto it = numbers.find(user);
            return it == numbers.end() || it->second >= runs.getEnd();
          }))
        return failure();
    }
  return success();
}

/// What is carried has one type.
LogicalResult LayerRoller::checkCarried(const Runs &runs) {
  return success(
      !runs.carried.empty() && llvm::all_of(runs.carried, [&](auto &entry) {
        auto &[place, init] = entry;
        Value made = ops[runs.start + place.op]->getResult(place.result);
        return made.getType() == init.getType();
      }));
}

LogicalResult LayerRoller::match(Runs &runs) {
  SmallVector<std::pair<Type, Type>> types;
  for (unsigned run = 1; run < runs.count; ++run)
    for (auto [op, first] :
         llvm::zip_equal(getRun(runs, run), getRun(runs, 0))) {
      if (op->getNumOperands() != first->getNumOperands() ||
          op->getNumResults() != first->getNumResults())
        return failure();
      for (auto [own, other] :
           llvm::zip_equal(op->getOperands(), first->getOperands())) {
        if (failed(matchOperand(own, other, run, runs)))
          return failure();
        types.emplace_back(own.getType(), other.getType());
      }
      for (auto [own, other] :
           llvm::zip_equal(op->getResultTypes(), first->getResultTypes()))
        types.emplace_back(own, other);
    }
  return success(
      succeeded(matchSymbols(types, runs)) && succeeded(checkSymbols(runs)) &&
      succeeded(checkReaders(runs)) && succeeded(checkCarried(runs)));
}

/// `q.weight` of `layers.0.q.weight` and `layers.1.q.weight`.
std::string LayerRoller::getParameterName(ParamOp first, ParamOp second,
                                          llvm::StringSet<> &taken) {
  StringRef x = first.getParamName(), y = second.getParamName();
  std::string name = x.str();
  size_t common = 0, end = std::min(x.size(), y.size());
  while (common < end && x[common] == y[common])
    ++common;
  // The first number in which they differ.
  while (common > 0 && llvm::isDigit(x[common - 1]))
    --common;
  StringRef before = x.take_front(common), after = x.drop_front(common);
  if (x != y && !after.empty() && llvm::isDigit(after.front())) {
    after = after.drop_while(llvm::isDigit).ltrim("._");
    before = before.rtrim("._");
    name = (after.empty() ? before : after).str();
    if (name.empty())
      name = "param";
  }
  std::string free = name;
  for (unsigned i = 1; !taken.insert(free).second; ++i)
    free = name + "." + std::to_string(i);
  return free;
}

/// `base`, or `base` and a number, whichever is the first that is not taken.
static std::string getFreeName(StringRef base,
                               llvm::function_ref<bool(StringRef)> isTaken) {
  std::string name = base.str();
  for (unsigned i = 1; isTaken(name); ++i)
    name = (base + Twine(i)).str();
  return name;
}

/// Declares how many runs there are.
SymExpr LayerRoller::declareCount(const Runs &runs) {
  std::string symbol = getFreeName("L", [&](StringRef name) {
    return module.lookupSymbol(name) != nullptr;
  });
  OpBuilder builder(context);
  for (auto declaration : module.getOps<SymbolOp>())
    builder.setInsertionPointAfter(declaration);
  SymbolOp::create(builder, function.getLoc(), symbol,
                   SymExpr::get(context, runs.count), StringAttr(),
                   StringAttr());
  return SymExpr::getSymbol(context, symbol);
}

/// An empty repeat behind the last run.
RepeatOp LayerRoller::createRepeat(const Runs &runs) {
  std::string scope = getFreeName("layers", [&](StringRef name) {
    return llvm::any_of(function.getOps<RepeatOp>(), [&](RepeatOp repeat) {
      return repeat.getRepeatName() == name;
    });
  });
  OpBuilder builder(context);
  builder.setInsertionPointAfter(getRun(runs, runs.count - 1).back());
  SmallVector<Value> inits;
  for (auto &[place, init] : runs.carried)
    inits.push_back(init);
  return RepeatOp::create(builder, getRun(runs, 0).front()->getLoc(), scope,
                          declareCount(runs), /*reverse=*/false, inits,
                          ValueRange(), TypeRange());
}

/// A copy in the body of what an operand of the first run is made by, a
/// parameter or a constant; the operand itself where something else makes it,
/// or all runs share it. `next` stands in its place in the second run.
Value LayerRoller::copyRead(Value operand, Value next, OpBuilder &builder,
                            Copies &copies) {
  Operation *producer = operand.getDefiningOp();
  if (!producer || !standsWhereRead(producer))
    return operand;
  auto param = dyn_cast<ParamOp>(producer);
  if (param && operand == next)
    return operand;
  Value &copy = copies.read[operand];
  if (!copy) {
    copy = builder.clone(*producer)->getResult(0);
    if (param)
      copy.getDefiningOp<ParamOp>().setParamName(
          getParameterName(param, next.getDefiningOp<ParamOp>(), copies.names));
  }
  return copy;
}

/// Makes the body of the repeat, which is the first run.
void LayerRoller::copyFirstRun(const Runs &runs, RepeatOp repeat) {
  Block &body = repeat.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  IRMapping map;
  Copies copies;
  for (auto [op, next] : llvm::zip_equal(getRun(runs, 0), getRun(runs, 1))) {
    SmallVector<Value> operands;
    for (auto [operand, other] :
         llvm::zip_equal(op->getOperands(), next->getOperands())) {
      // What the next run reads of this one is carried, whoever else reads
      // what the first run starts with.
      if (std::optional<Place> place = getPlace(other, 0, runs)) {
        auto *found = llvm::find_if(runs.carried, [&](auto &carried) {
          return carried.first == *place;
        });
        operands.push_back(body.getArgument(found - runs.carried.begin()));
      } else {
        operands.push_back(
            map.lookupOrDefault(copyRead(operand, other, builder, copies)));
      }
    }
    Operation *copy = builder.clone(*op, map);
    copy->setOperands(operands);
  }
  SmallVector<Value> yielded;
  for (auto &[place, init] : runs.carried)
    yielded.push_back(
        map.lookup(getRun(runs, 0)[place.op]->getResult(place.result)));
  YieldOp::create(builder, repeat.getLoc(), yielded);
}

/// What is read behind the runs is what the repeat hands on.
void LayerRoller::replaceLastRun(const Runs &runs, RepeatOp repeat) {
  for (auto [number, carried] : llvm::enumerate(runs.carried)) {
    const Place &place = carried.first;
    getRun(runs, runs.count - 1)[place.op]
        ->getResult(place.result)
        .replaceUsesWithIf(repeat.getResult(number), [&](OpOperand &use) {
          Operation *user = use.getOwner();
          auto it = numbers.find(user);
          return !repeat->isAncestor(user) &&
                 (it == numbers.end() || it->second >= runs.getEnd());
        });
  }
}

/// Erases the runs, what nothing else reads, and symbols that are gone.
void LayerRoller::eraseRuns(const Runs &runs) {
  llvm::DenseSet<Operation *> readers;
  for (unsigned run = runs.count; run-- > 0;)
    for (Operation *op : llvm::reverse(getRun(runs, run))) {
      for (Value operand : op->getOperands())
        if (Operation *producer = operand.getDefiningOp();
            producer && standsWhereRead(producer))
          readers.insert(producer);
      op->erase();
    }
  for (Operation *producer : readers)
    if (producer->use_empty())
      producer->erase();
  SymbolUses used(module);
  for (auto other : module.getOps<func::FuncOp>())
    used.addAll(other);
  for (auto &[name, extent] : runs.symbols)
    if (extent.getAsSymbol() != name && !used.contains(name))
      if (auto declaration = module.lookupSymbol<SymbolOp>(name))
        declaration.erase();
}

void LayerRoller::roll(const Runs &runs) {
  RepeatOp repeat = createRepeat(runs);
  copyFirstRun(runs, repeat);
  replaceLastRun(runs, repeat);
  eraseRuns(runs);
}

bool LayerRoller::branchesOff(const Runs &runs) const {
  ArrayRef<Operation *> first = ArrayRef(ops).slice(runs.start, runs.period);
  return llvm::all_of(runs.carried, [&](const auto &entry) {
    return llvm::count_if(first, [&](Operation *op) {
             return llvm::is_contained(op->getOperands(), entry.second);
           }) > 1;
  });
}

bool LayerRoller::rollOnce() {
  collectOps();
  llvm::StringMap<unsigned> known;
  SmallVector<unsigned> keys;
  for (Operation *op : ops)
    keys.push_back(known.try_emplace(getKey(op), known.size()).first->second);

  // Candidates: for each period the longest row of ops that are as those a
  // period before.
  struct Candidate {
    unsigned start, period, length; ///< Of the row, without its first run.
  };
  SmallVector<Candidate> candidates;
  for (unsigned period = 1, n = keys.size(); 2 * period <= n; ++period) {
    Candidate best = {0, period, 0};
    for (unsigned i = 0, length = 0; i + period < n; ++i) {
      length = keys[i] == keys[i + period] ? length + 1 : 0;
      if (length > best.length)
        best = {i + 1 - length, period, length};
    }
    if (best.length >= period)
      candidates.push_back(best);
  }
  auto getCovered = [](const Candidate &c) {
    return (c.length / c.period + 1) * c.period;
  };
  llvm::sort(candidates, [&](const Candidate &a, const Candidate &b) {
    return std::pair(getCovered(b), a.period) <
           std::pair(getCovered(a), b.period);
  });
  for (const Candidate &candidate : candidates) {
    // Runs may begin at any of the first ops; those that hand on least are
    // layers.
    Runs best;
    for (unsigned shift = 0;
         shift < candidate.period && shift <= candidate.length; ++shift) {
      Runs runs;
      runs.start = candidate.start + shift;
      runs.period = candidate.period;
      runs.count = (candidate.length - shift) / candidate.period + 1;
      if (runs.count < 2 || runs.count < best.count || failed(match(runs)))
        continue;
      // Of those that hand on as much, what several ops read is where residuals
      // branch off.
      auto getRank = [&](const Runs &r) {
        return std::tuple(r.count, -int64_t(r.carried.size()), branchesOff(r));
      };
      if (best.count == 0 || getRank(best) < getRank(runs))
        best = std::move(runs);
    }
    // A row of single ops is no row of layers.
    bool hasParameter = false;
    for (unsigned i = 0; i < best.period; ++i)
      hasParameter |=
          llvm::any_of(ops[best.start + i]->getOperands(), [](Value operand) {
            return operand.getDefiningOp<ParamOp>() != nullptr;
          });
    if (best.count == 0 || !hasParameter)
      continue;
    roll(best);
    return true;
  }
  return false;
}
