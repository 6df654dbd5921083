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
  void roll(Runs &runs);
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

LogicalResult LayerRoller::match(Runs &runs) {
  SmallVector<std::pair<Type, Type>> types;
  for (unsigned run = 1; run < runs.count; ++run)
    for (unsigned i = 0; i < runs.period; ++i) {
      Operation *op = ops[runs.start + run * runs.period + i];
      Operation *first = ops[runs.start + i];
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
  if (failed(matchSymbols(types, runs)))
    return failure();
  // A symbol that is there outside of the runs stays what it is.
  SymbolUses kept(module);
  for (Type type : function.getArgumentTypes())
    kept.add(type);
  for (auto [number, op] : llvm::enumerate(ops))
    if (number < runs.start || number >= runs.start + runs.count * runs.period)
      for (Type type : op->getResultTypes())
        kept.add(type);
  for (auto &[symbol, extent] : runs.symbols)
    if (kept.contains(symbol) && extent.getAsSymbol() != symbol)
      return failure();
  // What is read behind the runs is of the last one, and carried.
  for (unsigned run = 0; run < runs.count; ++run)
    for (unsigned i = 0; i < runs.period; ++i)
      for (OpResult result :
           ops[runs.start + run * runs.period + i]->getResults())
        for (Operation *user : result.getUsers()) {
          auto it = numbers.find(user);
          unsigned number = it == numbers.end() ? ops.size() : it->second;
          if (number < runs.start + runs.count * runs.period)
            continue;
          Place place = {i, result.getResultNumber()};
          if (run + 1 != runs.count ||
              llvm::none_of(runs.carried,
                            [&](auto &known) { return known.first == place; }))
            return failure();
        }
  // What is carried has one type.
  for (auto &[place, init] : runs.carried) {
    Value last = ops[runs.start + place.op]->getResult(place.result);
    if (last.getType() != init.getType())
      return failure();
  }
  return success(!runs.carried.empty());
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

void LayerRoller::roll(Runs &runs) {
  auto getRun = [&](unsigned run) {
    return ArrayRef(ops).slice(runs.start + run * runs.period, runs.period);
  };
  // Symbols: how many runs there are, and one set for all of them.
  auto getFree = [&](StringRef base, auto isTaken) {
    std::string name = base.str();
    for (unsigned i = 1; isTaken(name); ++i)
      name = (base + Twine(i)).str();
    return name;
  };
  std::string symbol = getFree("L", [&](StringRef name) {
    return module.lookupSymbol(name) != nullptr;
  });
  OpBuilder declarations(context);
  for (auto declaration : module.getOps<SymbolOp>())
    declarations.setInsertionPointAfter(declaration);
  SymbolOp::create(declarations, function.getLoc(), symbol,
                   SymExpr::get(context, runs.count), StringAttr(),
                   StringAttr());
  std::string scope = getFree("layers", [&](StringRef name) {
    return llvm::any_of(function.getOps<RepeatOp>(), [&](RepeatOp repeat) {
      return repeat.getRepeatName() == name;
    });
  });

  Operation *last = getRun(runs.count - 1).back();
  OpBuilder builder(last);
  builder.setInsertionPointAfter(last);
  SmallVector<Value> inits;
  for (auto &[place, init] : runs.carried)
    inits.push_back(init);
  auto repeat =
      RepeatOp::create(builder, getRun(0).front()->getLoc(), scope,
                       SymExpr::getSymbol(context, symbol),
                       /*reverse=*/false, inits, ValueRange(), TypeRange());
  Block &body = repeat.getBody().front();
  IRMapping map;
  builder.setInsertionPointToStart(&body);
  llvm::StringSet<> taken;
  llvm::DenseMap<Value, Value> read; // Parameters and constants in the body.
  for (auto [op, next] : llvm::zip_equal(getRun(0), getRun(1))) {
    IRMapping own = map;
    SmallVector<Value> places; ///< Of operands: the argument that it is.
    for (auto [operand, other] :
         llvm::zip_equal(op->getOperands(), next->getOperands())) {
      Operation *producer = operand.getDefiningOp();
      // What the next run reads of this one is carried, whoever else reads
      // what the first run starts with.
      if (std::optional<Place> place = getPlace(other, 0, runs)) {
        auto *found = llvm::find_if(runs.carried, [&](auto &carried) {
          return carried.first == *place;
        });
        places.push_back(body.getArgument(found - runs.carried.begin()));
        continue;
      }
      places.push_back({});
      if (!producer || !standsWhereRead(producer))
        continue;
      auto param = dyn_cast<ParamOp>(producer);
      if (param && operand == other) // All layers share it.
        continue;
      Value &copy = read[operand];
      if (!copy) {
        copy = builder.clone(*producer)->getResult(0);
        if (param)
          copy.getDefiningOp<ParamOp>().setParamName(
              getParameterName(param, other.getDefiningOp<ParamOp>(), taken));
      }
      own.map(operand, copy);
    }
    Operation *copy = builder.clone(*op, own);
    for (auto [operand, place] : llvm::zip_equal(copy->getOpOperands(), places))
      if (place)
        operand.set(place);
    map.map(op->getResults(), copy->getResults());
  }
  SmallVector<Value> yielded;
  for (auto &[place, init] : runs.carried)
    yielded.push_back(map.lookup(getRun(0)[place.op]->getResult(place.result)));
  YieldOp::create(builder, repeat.getLoc(), yielded);
  for (auto [number, carried] : llvm::enumerate(runs.carried)) {
    auto [place, init] = carried;
    getRun(runs.count - 1)[place.op]
        ->getResult(place.result)
        .replaceUsesWithIf(repeat.getResult(number), [&](OpOperand &use) {
          Operation *user = use.getOwner();
          auto it = numbers.find(user);
          return !repeat->isAncestor(user) &&
                 (it == numbers.end() ||
                  it->second >= runs.start + runs.count * runs.period);
        });
  }
  llvm::DenseSet<Operation *> readers;
  for (unsigned run = runs.count; run-- > 0;)
    for (Operation *op : llvm::reverse(getRun(run))) {
      for (Value operand : op->getOperands())
        if (Operation *producer = operand.getDefiningOp();
            producer && standsWhereRead(producer))
          readers.insert(producer);
      op->erase();
    }
  for (Operation *producer : readers)
    if (producer->use_empty())
      producer->erase();
  // Symbols of later runs are gone.
  SymbolUses used(module);
  for (auto other : module.getOps<func::FuncOp>())
    used.addAll(other);
  for (auto &[name, extent] : runs.symbols)
    if (extent.getAsSymbol() != name && !used.contains(name))
      if (auto declaration = module.lookupSymbol<SymbolOp>(name))
        declaration.erase();
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
