//===- ChakraGraphVerifier.cpp - What must hold in a whole graph ----------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Facts that tie the ops of a chakra.graph together: unique paths, and reads of
// buffers that were changed in place.
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/Chakra/IR/ChakraOps.h"
#include "stg/Dialect/Sym/IR/Schedules.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <set>

using namespace mlir;
using namespace stg::chakra;
using stg::MeshAttr;
using stg::SymExpr;

//===----------------------------------------------------------------------===//
// Names (C4, C5)
//===----------------------------------------------------------------------===//

namespace {
/// The names that can occur behind one prefix: those of one block, or of the
/// bodies of all repeats of one name in the same scope.
class NameScope {
public:
  LogicalResult add(Block &block);
  LogicalResult add(Operation &op);
  LogicalResult verify();

  /// The names of this scope in order.
  SmallVector<StringRef> getSortedNames() const;
  /// An op of this scope, whose names in order are `sorted`, that can have the
  /// path of an op of `inner` when that is called with a scope.
  Operation *findClash(ArrayRef<StringRef> sorted, StringRef callScope,
                       const NameScope &inner) const;
  /// True if the name of an op begins with `prefix` and a dot.
  bool continues(StringRef prefix) const;

private:
  bool canHavePath(StringRef path) const;
  LogicalResult insert(Operation &op, StringAttr name);
  static LogicalResult verifyRepeats(ArrayRef<RepeatOp> ops);

  llvm::MapVector<StringRef, Operation *> names;
  llvm::MapVector<StringRef, SmallVector<RepeatOp>> repeats;
};
} // namespace

LogicalResult NameScope::insert(Operation &op, StringAttr name) {
  auto [it, inserted] = names.insert({name.strref(), &op});
  if (inserted)
    return success();
  if (isa<RepeatOp>(op) && isa<RepeatOp>(it->second))
    return success();
  InFlightDiagnostic diag = op.emitOpError("has the name '")
                            << name.strref()
                            << "', which is taken in this scope";
  diag.attachNote(it->second->getLoc()) << "first used here";
  return diag;
}

LogicalResult NameScope::add(Operation &op) {
  auto named = dyn_cast<NamedOpInterface>(op);
  if (!named)
    return success();
  StringAttr name = named.getNameAttr();
  if (failed(insert(op, name)))
    return failure();
  if (auto repeat = dyn_cast<RepeatOp>(op))
    repeats[name.strref()].push_back(repeat);
  return success();
}

LogicalResult NameScope::add(Block &block) {
  for (Operation &op : block)
    if (failed(add(op)))
      return failure();
  return success();
}

SmallVector<StringRef> NameScope::getSortedNames() const {
  SmallVector<StringRef> sorted;
  for (auto &entry : names)
    sorted.push_back(entry.first);
  llvm::sort(sorted);
  return sorted;
}

/// True if `path` is the name of a repeat followed by a dot and a digit.
static bool continuesRepeat(StringRef path, StringRef repeat) {
  return path.consume_front(repeat) && path.consume_front(".") &&
         !path.empty() && llvm::isDigit(path.front());
}

bool NameScope::canHavePath(StringRef path) const {
  return names.contains(path) || llvm::any_of(repeats, [&](auto &entry) {
           return continuesRepeat(path, entry.first);
         });
}

bool NameScope::continues(StringRef prefix) const {
  return llvm::any_of(names, [&](auto &entry) {
    StringRef name = entry.first;
    return name.consume_front(prefix) && name.starts_with(".");
  });
}

Operation *NameScope::findClash(ArrayRef<StringRef> sorted, StringRef callScope,
                                const NameScope &inner) const {
  for (auto &[name, ops] : repeats)
    if (continuesRepeat(callScope, name))
      return ops.front();
  std::string prefix = (callScope + ".").str();
  const auto *it = llvm::lower_bound(sorted, StringRef(prefix));
  for (; it != sorted.end() && it->starts_with(prefix); ++it) {
    StringRef rest = it->drop_front(prefix.size());
    if (inner.canHavePath(rest) ||
        (repeats.contains(*it) && inner.continues(rest)))
      return names.find(*it)->second;
  }
  return nullptr;
}

LogicalResult NameScope::verify() {
  // A path is a name, or the name of a repeat followed by a dot, digits, a dot
  // and the rest. So two paths of different names can only meet if one of the
  // names continues the name of a repeat by a dot and a digit.
  SmallVector<StringRef> sorted = getSortedNames();
  for (auto &[name, ops] : repeats) {
    std::string first = (name + ".0").str(), limit = (name + ".:").str();
    auto it = llvm::lower_bound(sorted, StringRef(first));
    if (it == sorted.end() || *it >= StringRef(limit))
      continue;
    InFlightDiagnostic diag =
        names.find(*it)->second->emitOpError("has the name '")
        << *it << "', which can be the path of an op in "
        << "repeat '" << name << "'";
    diag.attachNote(ops.front().getLoc()) << "the repeat is here";
    return diag;
  }
  for (auto &[name, ops] : repeats)
    if (failed(verifyRepeats(ops)))
      return failure();
  return success();
}

/// The iterations that a repeat has for certain, as a half-open range.
static std::optional<std::pair<int64_t, int64_t>> getRange(RepeatOp repeat) {
  std::optional<int64_t> count = repeat.getCount().getInt64();
  std::optional<int64_t> first =
      repeat.getFirst() ? repeat.getFirst()->getInt64() : 0;
  int64_t end = 0;
  if (!count || !first || llvm::AddOverflow(*first, *count, end))
    return std::nullopt;
  return std::pair(*first, end);
}

/// Repeats of one name share a scope, unless no iteration of one has the number
/// of an iteration of another.
LogicalResult NameScope::verifyRepeats(ArrayRef<RepeatOp> ops) {
  SmallVector<std::pair<std::optional<std::pair<int64_t, int64_t>>,
                        SmallVector<RepeatOp>>>
      groups;
  for (RepeatOp repeat : ops) {
    auto range = getRange(repeat);
    SmallVector<RepeatOp> members{repeat};
    // Joins all groups that it may meet.
    for (size_t i = groups.size(); i-- > 0;) {
      auto &[other, others] = groups[i];
      if (range && other &&
          (range->second <= other->first || other->second <= range->first))
        continue;
      members.insert(members.begin(), others.begin(), others.end());
      if (range && other)
        range = {std::min(range->first, other->first),
                 std::max(range->second, other->second)};
      else
        range.reset();
      groups.erase(groups.begin() + i);
    }
    groups.push_back({range, members});
  }
  for (auto &[range, members] : groups) {
    NameScope inner;
    for (RepeatOp repeat : members)
      if (failed(inner.add(repeat.getBody().front())))
        return failure();
    if (failed(inner.verify()))
      return failure();
  }
  return success();
}

/// Persistent tensors are named `<category>/<path>`; keeps these names free.
static LogicalResult verifyTopLevelNames(Block &block) {
  for (Operation &op : block) {
    auto named = dyn_cast<NamedOpInterface>(op);
    if (!named || isa<StateOp>(op))
      continue;
    StringRef name = named.getNameAttr();
    StringRef prefix = name.split('/').first;
    if (prefix.size() != name.size() && symbolizeCategory(prefix))
      return op.emitOpError("has the name '")
             << name << "', but '" << prefix
             << "/' is the prefix of persistent tensors";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Changes in place (C6)
//===----------------------------------------------------------------------===//

/// True if the operand only orders its op and is not read.
static bool isAfterOperand(OpOperand &use) {
  auto node = dyn_cast<NodeOpInterface>(use.getOwner());
  return node && use.getOperandNumber() >= node.getBuffers().size();
}

static LogicalResult verifyReadsAfterChange(Operation *change, Value value) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    Operation *beside = change->getBlock()->findAncestorOpInBlock(*user);
    if (!beside || beside == change || !change->isBeforeInBlock(beside) ||
        isAfterOperand(use))
      continue;
    InFlightDiagnostic diag = user->emitOpError(
        "uses a buffer after it was changed in place; use the result of the "
        "op that changed it");
    diag.attachNote(change->getLoc()) << "changed here";
    return diag;
  }
  return success();
}

/// What is on the host is loaded before it is read (C7). Changes of the node's
/// own are those of `chakra.store`.
static LogicalResult verifyReadsDevice(NodeOpInterface node) {
  if (isa<LoadOp, StoreOp>(*node))
    return success();
  for (Value buffer : node.getBuffers())
    if (isOnHost(buffer.getType()))
      return node.emitOpError("reads a buffer of the host; use the result of a "
                              "chakra.load");
  for (Value result : node->getResults())
    if (isOnHost(result.getType()))
      return node.emitOpError("makes a buffer of the host; chakra.store does");
  return success();
}

//===----------------------------------------------------------------------===//
// Names behind the scopes of calls (C4)
//===----------------------------------------------------------------------===//

namespace {
/// The names that calls of a block bring, which are those of functions behind
/// scopes. The block is that of a graph, or of a loop over its steps.
class CallNames {
public:
  CallNames(GraphOp graph, Block &block) : block(block), symbolTable(graph) {
    for (auto call : block.getOps<CallOp>())
      calls[call.getScope()].push_back(call);
  }
  LogicalResult verify();

private:
  LogicalResult add(ArrayRef<CallOp> ops, NameScope &scope);
  LogicalResult addBodies(ArrayRef<StringAttr> callees, StringRef scopeName,
                          NameScope &scope);
  FailureOr<const NameScope *> getNames(ArrayRef<CallOp> ops);
  LogicalResult verifySchedule(ScheduleOp schedule, const NameScope &top,
                               ArrayRef<StringRef> sorted);
  LogicalResult verifyBesideGraph();
  LogicalResult verifyBesideEachOther();

  Block &block;
  SymbolTable symbolTable;
  std::map<StringRef, SmallVector<CallOp>> calls; ///< By scope.
  /// Several scopes call the same functions: they share the names.
  std::map<std::vector<StringRef>, NameScope> scopes;
};
} // namespace

LogicalResult CallNames::addBodies(ArrayRef<StringAttr> callees,
                                   StringRef scopeName, NameScope &scope) {
  llvm::SmallDenseSet<StringAttr> called;
  for (StringAttr callee : callees) {
    auto function = symbolTable.lookup<FuncOp>(callee);
    if (!function) // The call says so itself.
      continue;
    Block &body = function.getBody().front();
    if (!called.insert(callee).second && !body.without_terminator().empty())
      return function.emitOpError("is called more than once with the scope '")
             << scopeName << "', so that names of nodes are not unique";
    if (failed(scope.add(body)))
      return failure();
  }
  return scope.verify();
}

LogicalResult CallNames::add(ArrayRef<CallOp> ops, NameScope &scope) {
  SmallVector<StringAttr> callees;
  StringRef scopeName;
  for (CallOp call : ops) {
    callees.push_back(call.getCalleeAttr().getAttr());
    scopeName = call.getScope();
  }
  return addBodies(callees, scopeName, scope);
}

FailureOr<const NameScope *> CallNames::getNames(ArrayRef<CallOp> ops) {
  std::vector<StringRef> key;
  for (CallOp call : ops)
    key.push_back(call.getCallee());
  llvm::sort(key);
  auto [it, isNew] = scopes.try_emplace(std::move(key));
  if (isNew && failed(add(ops, it->second)))
    return failure();
  return &it->second;
}

static LogicalResult emitClash(CallOp call, Operation *other) {
  InFlightDiagnostic diag = call.emitOpError("has the scope '")
                            << call.getScope()
                            << "', behind which another op can have the path "
                               "of an op of '"
                            << call.getCallee() << "'";
  diag.attachNote(other->getLoc()) << "the other op is here";
  return diag;
}

/// Names at the top, and those of functions that are called without a scope.
LogicalResult CallNames::verifyBesideGraph() {
  NameScope top;
  if (failed(top.add(block)))
    return failure();
  auto plain = calls.find("");
  if (plain != calls.end() && failed(add(plain->second, top)))
    return failure();
  SmallVector<StringRef> sorted = top.getSortedNames();
  for (auto &[scope, ops] : calls) {
    if (scope.empty())
      continue;
    FailureOr<const NameScope *> names = getNames(ops);
    if (failed(names))
      return failure();
    if (Operation *other = top.findClash(sorted, scope, **names))
      return emitClash(ops.front(), other);
  }
  for (auto schedule : block.getOps<ScheduleOp>())
    if (failed(verifySchedule(schedule, top, sorted)))
      return failure();
  return success();
}

namespace {
/// What is executed in one turn.
struct TurnContents {
  SmallVector<Operation *> ops;
  SmallVector<StringAttr> callees;
};
} // namespace

/// What is executed in a turn, of all turns for which it differs.
static SmallVector<TurnContents> getTurnContents(ScheduleOp schedule) {
  using Execution = stg::detail::Execution<TurnCallOp>;
  // What is called where a total begins and where it ends.
  std::map<std::pair<uint32_t, uint32_t>, FlatSymbolRefAttr> ends;
  SmallVector<uint32_t> alone;
  (void)stg::detail::walkSchedule<TurnCallOp>(
      schedule, [&](Execution &execution) {
        if (execution.isFirst || execution.isLast) {
          ends[{execution.number, execution.turn}] = execution.getCallee();
          alone.push_back(execution.turn);
        }
        return success();
      });
  auto getCallee = [&](Operation *op, uint32_t number, uint32_t turn) {
    if (auto call = dyn_cast<CallOp>(op))
      return call.getCalleeAttr();
    auto call = dyn_cast<TurnCallOp>(op);
    auto end = ends.find({number, turn});
    if (call && end == ends.end())
      return call.getNextAttr();
    return call ? end->second : FlatSymbolRefAttr();
  };
  auto ops = llvm::map_to_vector(schedule.getBody().front(),
                                 [](Operation &op) { return &op; });
  stg::TurnRanges ranges(schedule.getOrder().getOrder(), ops.size(),
                         schedule.getCount(), alone);
  SmallVector<TurnContents> contents;
  std::set<std::vector<const void *>> seen;
  for (size_t range = 0; range < ranges.size(); ++range) {
    TurnContents &own = contents.emplace_back();
    std::vector<const void *> key;
    for (auto [number, op] : llvm::enumerate(ops)) {
      if (!ranges.get(number, range).areThere())
        continue;
      own.ops.push_back(op);
      key.push_back(op);
      FlatSymbolRefAttr callee =
          getCallee(op, number, ranges.getFirstTurn(range));
      if (!callee)
        continue;
      own.callees.push_back(callee.getAttr());
      key.push_back(callee.getAsOpaquePointer());
    }
    if (!seen.insert(std::move(key)).second)
      contents.pop_back();
  }
  return contents;
}

/// True for the prefix of a turn without its dot, `mb3`.
static bool isTurn(ScheduleOp schedule, StringRef scope) {
  uint64_t turn;
  return scope.consume_front(schedule.getName()) &&
         !scope.getAsInteger(10, turn) && turn < schedule.getCount() &&
         scope == std::to_string(turn);
}

/// Names in a turn, and whether something beside the schedule can have the path
/// of an op in one.
LogicalResult CallNames::verifySchedule(ScheduleOp schedule,
                                        const NameScope &top,
                                        ArrayRef<StringRef> sorted) {
  llvm::SmallSetVector<StringRef, 4> scopes; // Of names at the top.
  for (StringRef name : sorted)
    if (StringRef scope = name.split('.').first;
        scope != name && isTurn(schedule, scope))
      scopes.insert(scope);
  for (const TurnContents &contents : getTurnContents(schedule)) {
    NameScope names;
    for (Operation *op : contents.ops)
      if (failed(names.add(*op)))
        return failure();
    if (failed(addBodies(contents.callees, schedule.getName(), names)))
      return failure();
    for (StringRef scope : scopes)
      if (Operation *other = top.findClash(sorted, scope, names)) {
        InFlightDiagnostic diag =
            schedule.emitOpError("has the turn '")
            << scope << "', in which an op can have the path of another one";
        diag.attachNote(other->getLoc()) << "the other op is here";
        return diag;
      }
  }
  for (auto &[scope, ops] : calls)
    if (isTurn(schedule, scope.split('.').first))
      return ops.front().emitOpError("has the scope '")
             << scope << "', which is that of a turn of schedule '"
             << schedule.getName() << "'";
  for (auto other : block.getOps<ScheduleOp>())
    if (other != schedule && other.getName() == schedule.getName())
      return schedule.emitOpError("has the name of another schedule, '")
             << schedule.getName() << "'";
  return success();
}

/// A scope may continue another one: `mb1` and `mb1.last`.
LogicalResult CallNames::verifyBesideEachOther() {
  for (auto &[scope, ops] : calls) {
    std::string prefix = (scope + ".").str();
    for (auto it = calls.lower_bound(prefix);
         it != calls.end() && !scope.empty() && it->first.starts_with(prefix);
         ++it) {
      FailureOr<const NameScope *> names = getNames(ops);
      if (failed(names))
        return failure();
      if ((*names)->continues(it->first.drop_front(prefix.size())))
        return emitClash(ops.front(), it->second.front());
    }
  }
  return success();
}

LogicalResult CallNames::verify() {
  if (calls.empty() && block.getOps<ScheduleOp>().empty())
    return success();
  return failure(failed(verifyBesideGraph()) ||
                 failed(verifyBesideEachOther()));
}

//===----------------------------------------------------------------------===//
// GraphOp
//===----------------------------------------------------------------------===//

LogicalResult GraphOp::verifyRegions() {
  NameScope scope;
  if (failed(scope.add(getBody().front())) || failed(scope.verify()) ||
      failed(CallNames(*this, getBody().front()).verify()) ||
      failed(verifyTopLevelNames(getBody().front())))
    return failure();
  for (auto repeat : getBody().getOps<RepeatOp>())
    if (repeat.getIndexAttr() &&
        failed(CallNames(*this, repeat.getBody().front()).verify()))
      return failure();
  WalkResult result = walk([&](NodeOpInterface node) -> WalkResult {
    if (failed(node.verifyInGraph(getMesh(), getCoordinatesAttr())) ||
        failed(verifyReadsDevice(node)))
      return failure();
    for (unsigned i = 0, e = node->getNumResults(); i < e; ++i)
      if (Value buffer = node.getChangedBuffer(i))
        if (failed(verifyReadsAfterChange(node, buffer)))
          return failure();
    return success();
  });
  return failure(result.wasInterrupted());
}
