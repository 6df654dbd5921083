//===- Values.cpp - Names, types and buffers of values --------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphBuilder.h"

using namespace mlir;
using namespace stg;
using chakra::Category;

StringRef stg::getPhaseName(Operation *op) {
  return stringifyPhase(getPhase(op));
}

/// A part of a decomposed op is told from the others by what it is, and what
/// moves or combines its values by that part.
static StringRef getRoleName(Operation *op, Role role) {
  auto isPart = [](Operation *other) {
    return other && getOrigin(other).role == Role::Part;
  };
  if (role != Role::Part)
    return stringifyRole(role);
  auto next = [](Operation *other, bool isUp) -> Operation * {
    if (isUp)
      return other->getOperand(0).getDefiningOp();
    return other->use_empty() ? nullptr : *other->user_begin();
  };
  for (bool isUp : {true, false}) {
    Operation *part = op;
    while (isPart(part) && !isa<CostOpInterface>(part))
      part = next(part, isUp);
    if (isPart(part))
      return part->getName().stripDialect();
  }
  return op->getName().stripDialect();
}

/// How often the name has been used before. The variants of a task have the
/// same numbers, which no other task has.
unsigned GraphBuilder::takeNumber(StringRef name) {
  unsigned use = names[scopePath][name]++;
  if (!variant)
    return use;
  StringRef inner = StringRef(scopePath).drop_front(variant->path.size());
  SmallVector<unsigned> &taken = (*variant->numbers)[inner][name];
  if (use == taken.size())
    taken.push_back(names[(variant->outerPath + inner).str()][name]++);
  return taken[use];
}

/// `NAME.PHASE[.ROLE][.SUFFIX]`, unique in its scope.
std::string GraphBuilder::makeName(Operation *op, StringRef suffix) {
  StringAttr own = getOrigin(op).name;
  auto scan = dyn_cast<ScanOpInterface>(op);
  std::string name = (own    ? own.getValue()
                      : scan ? scan.getScopeName().getValue()
                             : op->getName().stripDialect())
                         .str();
  name += ("." + getPhaseName(op)).str();
  if (std::optional<Role> role = getOrigin(op).role)
    name += ("." + getRoleName(op, *role)).str();
  if (!suffix.empty())
    name += ("." + suffix).str();
  if (unsigned number = takeNumber(name))
    name += "." + std::to_string(number);
  return name;
}

/// The buffer of a value; a stack for what a repeat stacks.
Type GraphBuilder::getType(Value value, SymTensorType type) {
  return getTensorType(type, getCategories().get(value));
}

/// The buffers that a node writes for a result: one, or its parts where it is
/// split. Splits in different ways cannot both be views.
SmallVector<Type> GraphBuilder::getResultTypes(Value result) {
  for (Operation *user : result.getUsers())
    if (auto split = dyn_cast<SplitOp>(user)) {
      SmallVector<Type> types;
      for (Value part : split.getResults())
        types.push_back(getType(part, cast<SymTensorType>(part.getType())));
      return types;
    }
  return {getType(result, cast<SymTensorType>(result.getType()))};
}

/// `value` as one buffer of its own size, of category `category`, for `op`:
/// constants are filled in, joined values and views of a larger buffer copied.
/// Tokens that are all new need not be read from the cache that they went into.
Value GraphBuilder::toOneBuffer(Operation *op, Value value, Category category) {
  if (auto cache = value.getDefiningOp<CacheOp>();
      cache && cache.getType() == cache.getInput().getType())
    value = cache.getInput();
  auto type = cast<SymTensorType>(value.getType());
  Pieces pieces = map[value];
  auto tensor = pieces.size() == 1
                    ? dyn_cast<chakra::TensorType>(pieces[0].getType())
                    : chakra::TensorType();
  if (tensor && tensor.getBytes() == type.getNumBytes())
    return pieces[0];
  SymExpr zero = SymExpr::get(builder.getContext(), 0);
  SymExpr bytes = type.getNumBytes() * (pieces.empty() ? 1 : 2);
  // Messages have names of stages, which loops of a model may have, too.
  std::string suffix = isa<SendOp>(op) ? "send." : "";
  suffix += pieces.empty() ? "fill" : "copy";
  auto comp = chakra::CompOp::create(
      builder, op->getLoc(), makeName(op, suffix), pieces, zero, bytes,
      TypeRange(getTensorType(type, category)), getPhaseName(op), ValueRange());
  return comp.getNewResults().front();
}
