//===- ChakraGraphVerifier.cpp - What must hold in a whole graph ----------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Facts that tie the ops of a chakra.graph together: unique paths, collectives
// against the mesh, and reads of buffers that were changed in place.
//
//===----------------------------------------------------------------------===//

#include "stg/Dialect/Chakra/IR/ChakraOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include <set>

using namespace mlir;
using namespace stg::chakra;
using stg::MeshAttr;
using stg::SymExpr;

/// The name of a node, state or repeat, else null.
static StringAttr getNodeName(Operation &op) {
  if (auto repeat = dyn_cast<RepeatOp>(op))
    return repeat.getNameAttr();
  if (auto comp = dyn_cast<CompOp>(op))
    return comp.getNameAttr();
  if (auto coll = dyn_cast<CollOp>(op))
    return coll.getNameAttr();
  if (auto send = dyn_cast<SendOp>(op))
    return send.getNameAttr();
  if (auto recv = dyn_cast<RecvOp>(op))
    return recv.getNameAttr();
  if (auto state = dyn_cast<StateOp>(op))
    return state.getNameAttr();
  return {};
}

//===----------------------------------------------------------------------===//
// Names (C4, C5)
//===----------------------------------------------------------------------===//

namespace {
/// The names that can occur behind one prefix: those of one block, or of the
/// bodies of all repeats of one name in the same scope.
class NameScope {
public:
  LogicalResult add(Block &block);
  LogicalResult verify();

private:
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

LogicalResult NameScope::add(Block &block) {
  for (Operation &op : block) {
    StringAttr name = getNodeName(op);
    if (!name)
      continue;
    if (failed(insert(op, name)))
      return failure();
    if (auto repeat = dyn_cast<RepeatOp>(op))
      repeats[name.strref()].push_back(repeat);
  }
  return success();
}

LogicalResult NameScope::verify() {
  // A path is a name, or the name of a repeat followed by a dot, digits, a dot
  // and the rest. So two paths of different names can only meet if one of the
  // names continues the name of a repeat by a dot and a digit.
  SmallVector<StringRef> sorted;
  for (auto &entry : names)
    sorted.push_back(entry.first);
  llvm::sort(sorted);
  for (auto &[name, ops] : repeats) {
    std::string first = (name + ".0").str(), limit = (name + ".:").str();
    auto it = llvm::lower_bound(sorted, StringRef(first));
    if (it == sorted.end() || *it >= StringRef(limit))
      continue;
    InFlightDiagnostic diag = names[*it]->emitOpError("has the name '")
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
  if (!count || !first)
    return std::nullopt;
  return std::pair(*first, *first + *count);
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
    StringAttr name = getNodeName(op);
    if (!name || isa<StateOp>(op))
      continue;
    StringRef prefix = name.strref().split('/').first;
    if (prefix.size() != name.size() && symbolizeCategory(prefix))
      return op.emitOpError("has the name '")
             << name.strref() << "', but '" << prefix
             << "/' is the prefix of persistent tensors";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Collectives (C2, C3)
//===----------------------------------------------------------------------===//

/// True if two different canonical forms may still have equal values, because
/// something in `expr` stays opaque until symbols are bound.
static bool hasOpaqueTerms(SymExpr expr) {
  return llvm::any_of(expr.getTerms(), [](const SymExpr::Term &term) {
    return llvm::any_of(term.factors, [](const SymExpr::Factor &factor) {
      return isa<SymExpr>(factor.atom);
    });
  });
}

static SymExpr getTensorBytes(Type type) {
  if (auto stack = dyn_cast<StackType>(type))
    return stack.getTensorType().getBytes();
  return cast<stg::chakra::TensorType>(type).getBytes();
}

static LogicalResult verifyCollSizes(CollOp op, SymExpr groupSize) {
  if (op.getKind() == CollKind::AllToAll || op.getPayloadAttr() ||
      op.getAmong())
    return success();
  for (auto [operand, result] :
       llvm::zip_equal(op.getInputs(), op.getResults())) {
    SymExpr in = getTensorBytes(operand.getType());
    SymExpr out = getTensorBytes(result.getType());
    if (hasOpaqueTerms(in) || hasOpaqueTerms(out) || hasOpaqueTerms(groupSize))
      continue;
    SymExpr large = op.getKind() == CollKind::AllGather ? in * groupSize : in;
    SymExpr small =
        op.getKind() == CollKind::ReduceScatter ? out * groupSize : out;
    if (large == small)
      continue;
    return op.emitOpError("over ")
           << op.getOver() << ", a group of " << groupSize
           << " ranks, cannot make " << out << " bytes of " << in;
  }
  return success();
}

static LogicalResult verifyColl(CollOp op, MeshAttr mesh) {
  for (auto axis : op.getOver().getAsRange<StringAttr>())
    if (!mesh.getAxisIndex(axis))
      return op.emitOpError("is over axis ")
             << axis << ", which the mesh does not have";
  return verifyCollSizes(op, mesh.getGroupSize(op.getOver()));
}

//===----------------------------------------------------------------------===//
// Changes in place (C6)
//===----------------------------------------------------------------------===//

/// True if the operand only orders its op and is not read.
static bool isAfterOperand(OpOperand &use) {
  OperandRange after(nullptr, 0);
  if (auto comp = dyn_cast<CompOp>(use.getOwner()))
    after = comp.getAfter();
  else if (auto coll = dyn_cast<CollOp>(use.getOwner()))
    after = coll.getAfter();
  else if (auto send = dyn_cast<SendOp>(use.getOwner()))
    after = send.getAfter();
  else if (auto recv = dyn_cast<RecvOp>(use.getOwner()))
    after = recv.getAfter();
  return !after.empty() &&
         use.getOperandNumber() >= after.getBeginOperandIndex() &&
         use.getOperandNumber() < after.getBeginOperandIndex() + after.size();
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

/// The names behind each call scope: those of all functions called with it.
static LogicalResult verifyCallNames(GraphOp graph) {
  llvm::MapVector<StringRef, llvm::MapVector<StringRef, unsigned>> scopes;
  for (auto call : graph.getBody().getOps<CallOp>())
    ++scopes[call.getScope()][call.getCallee()];
  llvm::StringMap<FuncOp> functions;
  for (auto function : graph.getBody().getOps<FuncOp>())
    functions[function.getSymName()] = function;
  // Several scopes call the same functions: one check for each such set.
  std::set<std::vector<StringRef>> seen;
  for (auto &[scope, calls] : scopes) {
    std::vector<StringRef> names;
    for (auto &[name, count] : calls)
      names.push_back(name);
    llvm::sort(names);
    bool isNew = seen.insert(names).second;
    NameScope all;
    if (scope.empty() && failed(all.add(graph.getBody().front())))
      return failure();
    for (auto &[name, count] : calls) {
      FuncOp function = functions.lookup(name);
      if (!function)
        continue;
      if (count > 1 && !function.getBody().front().without_terminator().empty())
        return function.emitOpError("is called ")
               << count << " times with the scope '" << scope
               << "', so that names of nodes are not unique";
      if ((isNew || scope.empty()) &&
          failed(all.add(function.getBody().front())))
        return failure();
    }
    if (failed(all.verify()))
      return failure();
  }
  return success();
}

LogicalResult GraphOp::verifyRegions() {
  NameScope scope;
  if (failed(scope.add(getBody().front())) || failed(scope.verify()) ||
      failed(verifyCallNames(*this)) ||
      failed(verifyTopLevelNames(getBody().front())))
    return failure();
  WalkResult result = walk([&](Operation *op) {
    ValueRange changed;
    if (auto coll = dyn_cast<CollOp>(op)) {
      if (failed(verifyColl(coll, getMesh())))
        return WalkResult::interrupt();
      if (coll.getInPlace())
        changed = coll.getInputs();
    } else if (auto comp = dyn_cast<CompOp>(op)) {
      changed = comp.getUpdates();
    }
    for (Value value : changed)
      if (failed(verifyReadsAfterChange(op, value)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
