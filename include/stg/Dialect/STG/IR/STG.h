//===- STG.h - The stg dialect ----------------------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_STG_H
#define STG_DIALECT_STG_IR_STG_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "stg/Dialect/STG/IR/STGAttrs.h"
#include "stg/Dialect/STG/IR/STGInterfaces.h"

#include "stg/Dialect/STG/IR/STGDialect.h.inc"

namespace stg {
namespace detail {
/// Refuses reads of the operand that can happen after the op.
llvm::LogicalResult verifyDestroyed(mlir::Operation *op, unsigned operand);

/// Refuses attributes that the op does not declare and that no dialect claims.
llvm::LogicalResult verifyDeclaredAttributes(mlir::Operation *op);

/// True if the types agree pairwise in everything but sharding.
bool equalUpToSharding(mlir::TypeRange lhs, mlir::TypeRange rhs);
} // namespace detail

/// What `stg.param` reads and the optimizer writes.
struct ParameterResource
    : public mlir::SideEffects::Resource::Base<ParameterResource> {
  llvm::StringRef getName() final { return "parameters"; }
};

/// What `stg.cache` keeps from one step of inference to the next.
struct CacheResource : public mlir::SideEffects::Resource::Base<CacheResource> {
  llvm::StringRef getName() final { return "caches"; }
};

/// The op writes its result, or what it does, over the buffer of an operand.
template <unsigned Operand> struct DestroysOperand {
  template <typename ConcreteType>
  class Impl : public mlir::OpTrait::TraitBase<ConcreteType,
                                               DestroysOperand<Operand>::Impl> {
  public:
    static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
      return detail::verifyDestroyed(op, Operand);
    }
  };
};

/// The op is linear in each of these operands, as numbered in its definition,
/// while the others stay; see `ShardableOpInterface::isLinearIn`.
template <unsigned... Operands> struct LinearIn {
  template <typename ConcreteType>
  class Impl : public mlir::OpTrait::TraitBase<ConcreteType,
                                               LinearIn<Operands...>::Impl> {
  public:
    static constexpr unsigned kLinearOperands[] = {Operands...};
  };
};

/// A misspelled attribute is an error, not an attribute that nobody reads.
template <typename ConcreteType>
class DeclaredAttributes
    : public mlir::OpTrait::TraitBase<ConcreteType, DeclaredAttributes> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    return detail::verifyDeclaredAttributes(op);
  }
};

/// The indices of an einsum, parsed: `inputs[i]` and `output` are strings of
/// letters. The error says why a text is not an equation.
struct EinsumEquation {
  llvm::SmallVector<llvm::StringRef> inputs;
  llvm::StringRef output;

  static llvm::Expected<EinsumEquation> parse(llvm::StringRef text);
};

/// The function of `module` that is the program: the only public one. Emits an
/// error and returns null if there is none or more than one.
mlir::func::FuncOp getProgram(mlir::ModuleOp module);

/// The public functions of the module. There are several if each says which
/// program it is of; otherwise that is an error, and none are returned.
llvm::SmallVector<mlir::func::FuncOp> getPrograms(mlir::ModuleOp module);

/// What the function around `op` says of its program, or null.
ProgramAttr getProgramAttr(mlir::Operation *op);

/// Makes a function part of the program that another one is part of.
void copyProgram(mlir::func::FuncOp from, mlir::func::FuncOp to);

/// The float type of that name (bf16, f16, f32, f64, f8E4M3FN, f8E5M2), or
/// null.
mlir::FloatType getFloatType(mlir::MLIRContext *context, llvm::StringRef name);

/// True if ranks along axes of that role hold the same parameters, but those of
/// experts.
inline bool holdsSameParameters(AxisRole role) {
  return role == AxisRole::Data || role == AxisRole::Replica ||
         role == AxisRole::Context || role == AxisRole::Expert;
}

/// Where an op comes from: that of a `StepOpInterface`, or the discardable
/// attribute that other ops carry.
Origin getOrigin(mlir::Operation *op);
void setOrigin(mlir::Operation *op, const Origin &origin);
/// Says of `to` what is known of `from` and leaves the rest as it is.
void copyOrigin(mlir::Operation *from, mlir::Operation *to);
void setName(mlir::Operation *op, mlir::StringAttr name);
void setPhase(mlir::Operation *op, Phase phase);
void setRole(mlir::Operation *op, std::optional<Role> role);

/// Marks what computes in a function, and has no phase, as the forward pass.
void markForward(mlir::func::FuncOp function);

/// The phase of an op or of the next one around it that has one, or forward.
Phase getPhase(mlir::Operation *op);
} // namespace stg

#define GET_OP_CLASSES
#include "stg/Dialect/STG/IR/STGOps.h.inc"

namespace stg {
/// The parameter that the value is a read of, cast or replicated or not, or
/// null: what is read again rather than saved.
ParamOp getReadParameter(mlir::Value value);

/// Clones the ops that read a parameter, and cast and replicate it, to `value`,
/// or that make an immediate.
mlir::Value readAgain(mlir::OpBuilder &builder, mlir::Value value, Phase phase);

/// The flat shard of a tensor among `group` devices: its elements, but for the
/// `leading` dimensions of stacks around it, divided evenly and padded.
SymTensorType getFlatShard(SymTensorType whole, unsigned leading,
                           SymExpr group);

/// What a parameter is known by in its function: the names of the repeats
/// around the read, outermost first, and its own, joined by '/'.
std::string getParameterPath(ParamOp param);
} // namespace stg

#endif // STG_DIALECT_STG_IR_STG_H
