//===- DimensionFactors.cpp - What dimensions are products of -------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DimensionFactors.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace stg;

using Factor = DimensionFactors::Factor;

Factor DimensionFactors::add(int64_t extent, StringAttr name) {
  nodes.push_back({extent, name, {}});
  return nodes.size() - 1;
}

void DimensionFactors::resolve(Factor factor, List &list) const {
  if (nodes[factor].becomes.empty()) {
    list.push_back(factor);
    return;
  }
  for (Factor part : nodes[factor].becomes)
    resolve(part, list);
}

DimensionFactors::List DimensionFactors::resolve(ArrayRef<Factor> list) const {
  List resolved;
  for (Factor factor : list)
    resolve(factor, resolved);
  return resolved;
}

int64_t DimensionFactors::getExtent(ArrayRef<Factor> list) const {
  int64_t product = 1;
  for (Factor factor : list) {
    if (ShapedType::isDynamic(nodes[factor].extent))
      return ShapedType::kDynamic;
    product *= nodes[factor].extent;
  }
  return product;
}

std::string DimensionFactors::str(ArrayRef<Factor> list) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(list, os, [&](Factor factor) {
    const Node &node = nodes[factor];
    if (node.name)
      os << node.name.getValue() << " = ";
    if (ShapedType::isDynamic(node.extent))
      os << '?';
    else
      os << node.extent;
  });
  os << ']';
  return text;
}

LogicalResult DimensionFactors::merge(Factor from, Factor to,
                                      std::string &why) {
  Node &old = nodes[from], &kept = nodes[to];
  if (ShapedType::isDynamic(kept.extent))
    kept.extent = old.extent;
  else if (!ShapedType::isDynamic(old.extent) && old.extent != kept.extent) {
    why = str(from) + " and " + str(to) + " have different extents";
    return failure();
  }
  if (old.name && kept.name && old.name != kept.name) {
    why = "'" + old.name.str() + "' and '" + kept.name.str() +
          "' are one dimension";
    return failure();
  }
  if (!kept.name)
    kept.name = old.name;
  old.becomes = {to};
  return success();
}

LogicalResult DimensionFactors::cut(Factor factor, ArrayRef<Factor> parts,
                                    std::string &why) {
  int64_t extent = nodes[factor].extent, product = getExtent(parts);
  if (llvm::is_contained(parts, factor) ||
      (!ShapedType::isDynamic(extent) && !ShapedType::isDynamic(product) &&
       extent != product)) {
    why = str(factor) + " is not " + str(parts);
    return failure();
  }
  nodes[factor].becomes.assign(parts.begin(), parts.end());
  return success();
}

LogicalResult DimensionFactors::unify(ArrayRef<Factor> lhs,
                                      ArrayRef<Factor> rhs, std::string &why) {
  List left = resolve(lhs), right = resolve(rhs);
  while (!left.empty() && !right.empty()) {
    Factor x = left.front(), y = right.front();
    int64_t extentX = nodes[x].extent, extentY = nodes[y].extent;
    bool known =
        !ShapedType::isDynamic(extentX) && !ShapedType::isDynamic(extentY);
    List restX(ArrayRef(left).drop_front()),
        restY(ArrayRef(right).drop_front());
    if (x == y) {
      // It is the same already.
    } else if (restX.empty() && !restY.empty()) {
      if (failed(cut(x, right, why)))
        return failure();
      return success();
    } else if (restY.empty() && !restX.empty()) {
      if (failed(cut(y, left, why)))
        return failure();
      return success();
    } else if (!known || extentX == extentY ||
               (restX.empty() && restY.empty())) {
      if (failed(merge(y, x, why)))
        return failure();
    } else if (extentX < extentY && extentY % extentX == 0) {
      Factor rest = add(extentY / extentX);
      if (failed(cut(y, {x, rest}, why)))
        return failure();
      restY.insert(restY.begin(), rest);
    } else if (extentY < extentX && extentX % extentY == 0) {
      Factor rest = add(extentX / extentY);
      if (failed(cut(x, {y, rest}, why)))
        return failure();
      restX.insert(restX.begin(), rest);
    } else {
      why = "neither of " + str(left) + " and " + str(right) +
            " is cut as the other";
      return failure();
    }
    // A factor may be in a list several times.
    left = resolve(restX);
    right = resolve(restY);
  }
  if (left.empty() && right.empty())
    return success();
  const List &rest = left.empty() ? right : left;
  // What is left has an extent of 1, as far as that is known.
  int64_t extent = getExtent(rest);
  why = str(rest) + (ShapedType::isDynamic(extent)
                         ? " is a dimension here and none there"
                         : " has nothing to go with");
  return failure();
}
