//===- STGAttrs.h - Attributes and types of the stg dialect -----*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_STGATTRS_H
#define STG_DIALECT_STG_IR_STGATTRS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/SymbolTable.h"
#include "stg/Dialect/Sym/IR/Sym.h"
#include "llvm/ADT/Hashing.h"
#include <optional>

#include "stg/Dialect/STG/IR/STGEnums.h.inc"

namespace stg {
/// What the devices along one mesh axis have of a value.
struct AxisState {
  enum Kind : uint8_t {
    Zero,     ///< All elements are 0: whole, divided and partial alike.
    Constant, ///< All elements are equal on all devices: whole and divided.
    Whole,    ///< All have the same.
    Divided,  ///< Each has a shard of dimension `dim`.
    Flat,     ///< Each has a flat shard.
    Partial,  ///< What they have is combined as `reduction` says.
    Unknown,
  };
  Kind kind = Unknown;
  int64_t dim = 0;
  ReduceKind reduction = ReduceKind::Sum;

  static AxisState getDivided(int64_t dim) { return {Divided, dim}; }
  static AxisState getPartial(ReduceKind kind) { return {Partial, 0, kind}; }

  bool operator==(const AxisState &other) const {
    return kind == other.kind && dim == other.dim &&
           reduction == other.reduction;
  }
  bool operator!=(const AxisState &other) const { return !(*this == other); }
};
inline llvm::hash_code hash_value(const AxisState &state) {
  return llvm::hash_combine(state.kind, state.dim,
                            static_cast<uint32_t>(state.reduction));
}
} // namespace stg

#define GET_ATTRDEF_CLASSES
#include "stg/Dialect/STG/IR/STGAttrs.h.inc"

namespace stg {
/// The parts of an OriginAttr, each of which may be missing.
struct Origin {
  mlir::StringAttr name;
  std::optional<Phase> phase;
  std::optional<Role> role;

  static Origin get(OriginAttr attr) {
    return attr ? Origin{attr.getName(), attr.getPhase(), attr.getRole()}
                : Origin();
  }
  /// Null if there is nothing to say.
  OriginAttr getAttr(mlir::MLIRContext *context) const;
};

/// True if blocks of queries and keys are taken one by one.
inline bool goesRound(KeyExchange exchange) {
  return exchange != KeyExchange::AllGather &&
         exchange != KeyExchange::AllToAll;
}

/// The extents of dimensions, without their names.
class ExtentRange {
public:
  ExtentRange(llvm::ArrayRef<DimAttr> dims) : dims(dims) {}

  auto begin() const { return llvm::map_iterator(dims.begin(), getExtent); }
  auto end() const { return llvm::map_iterator(dims.end(), getExtent); }
  size_t size() const { return dims.size(); }
  bool empty() const { return dims.empty(); }
  SymExpr operator[](size_t index) const { return dims[index].getExtent(); }
  SymExpr front() const { return dims.front().getExtent(); }
  SymExpr back() const { return dims.back().getExtent(); }

private:
  static SymExpr getExtent(DimAttr dim) { return dim.getExtent(); }

  llvm::ArrayRef<DimAttr> dims;
};
} // namespace stg

#define GET_TYPEDEF_CLASSES
#include "stg/Dialect/STG/IR/STGTypes.h.inc"

#endif // STG_DIALECT_STG_IR_STGATTRS_H
