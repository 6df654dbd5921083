//===- GraphBuilder.h - A local program to a graph --------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value of the local program is one buffer or, where views cut and join it,
// several: each value maps to a list of chakra values, its pieces. The producer
// of a value that is split writes the parts; the readers of a joined value read
// them all. So views cost nothing, and a part can be kept while the rest is
// freed.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_CONVERSION_STGTOCHAKRA_GRAPHBUILDER_H
#define STG_LIB_CONVERSION_STGTOCHAKRA_GRAPHBUILDER_H

#include "MemoryCategories.h"
#include "stg/Conversion/STGToChakra/STGToChakra.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace stg {

/// The phase of an op as nodes spell it.
llvm::StringRef getPhaseName(mlir::Operation *op);

/// What the node of an op computes. `accumulates`: it adds the result to what
/// is in a buffer.
chakra::KernelAttr getKernel(CostOpInterface op, bool isMatrix,
                             bool accumulates);

using Pieces = llvm::SmallVector<mlir::Value, 1>;

/// The persistent buffers of a scope and of the repeats in it.
struct StateScope {
  struct State {
    chakra::TensorType type;
    mlir::Location loc; ///< Of the first op that has it.
  };

  llvm::StringRef name; ///< Of the repeat.
  SymExpr count;        ///< Null at the top.
  SymExpr first;        ///< The number of its first iteration; null: 0.
  llvm::MapVector<llvm::StringRef, State> states;
  /// By name and first iteration: the layers of several stages are apart.
  llvm::MapVector<mlir::StringAttr, std::unique_ptr<StateScope>> repeats;
};

/// Buffers that are visible in a scope: those of the scope by name, those of a
/// repeat as stacks, by `repeat@first/name`.
using StateEnv = llvm::MapVector<mlir::StringAttr, mlir::Value>;

/// What the programs of one module share.
struct SharedTables {
  explicit SharedTables(mlir::ModuleOp module) : owners(module) {}

  mlir::SymbolTableCollection symbols;
  BufferOwners owners;
  /// The buffers of types, whose bytes are products.
  llvm::DenseMap<std::pair<SymTensorType, unsigned>, chakra::TensorType>
      buffers;
};

/// Makes the graph of one program: declares its persistent buffers, then
/// converts op by op.
class GraphBuilder {
public:
  GraphBuilder(mlir::func::FuncOp function, MeshAttr mesh, SharedTables &tables)
      : function(function), mesh(mesh), tables(tables),
        builder(function.getContext()) {
    categories.push_back(
        std::make_unique<MemoryCategories>(function, tables.owners));
  }

  llvm::LogicalResult run();

private:
  // States.
  llvm::LogicalResult collectStates(mlir::Block &block, StateScope &scope);
  llvm::LogicalResult collectStates(ScheduleOp schedule, StateScope &scope);
  llvm::LogicalResult collectStates(mlir::Operation *call,
                                    mlir::FlatSymbolRefAttr name,
                                    StateScope &scope);
  llvm::LogicalResult addState(mlir::Operation *op, StateScope &scope,
                               llvm::StringRef name, SymTensorType type,
                               chakra::Category category);
  StateEnv declareStates(StateScope &scope);
  void collectUsedStates(mlir::Block &block, const llvm::Twine &prefix,
                         llvm::DenseSet<mlir::StringAttr> &used);
  llvm::SmallVector<std::pair<mlir::StringAttr, mlir::Value>>
  getUsedStates(mlir::Block &block, const llvm::Twine &prefix,
                const StateEnv &env);
  mlir::StringAttr getStateName(mlir::Operation *op, const StateBuffer &state);

  // Ops.
  llvm::LogicalResult convertBlock(mlir::Block &block, const StateEnv &env);
  llvm::LogicalResult convertOp(mlir::Operation *op, const StateEnv &env);
  llvm::LogicalResult convertCompute(CostOpInterface op, const StateEnv &env);
  llvm::LogicalResult convertView(mlir::Operation *op);
  llvm::LogicalResult convertCollective(CollectiveOpInterface op);
  llvm::LogicalResult convertPieces(CollectiveOpInterface op);
  llvm::LogicalResult convertFlat(CollectiveOpInterface op);
  llvm::LogicalResult convertCompletion(CollectiveOpInterface op);
  chakra::CollOp createCollective(CollectiveOpInterface op,
                                  mlir::ValueRange inputs,
                                  mlir::TypeRange types, bool inPlace,
                                  SymExpr payload);
  mlir::Type getStackedType(mlir::Value result, mlir::Type operand);
  bool isShardOfBuffer(mlir::Value value);
  struct LoopParts;
  llvm::LogicalResult convertLoop(mlir::LoopLikeOpInterface loop,
                                  const StateEnv &env);
  llvm::LogicalResult readSlices(ScanOpInterface scan, const StateEnv &env,
                                 LoopParts &parts,
                                 llvm::SmallVectorImpl<mlir::Value> &slices,
                                 StateEnv &inner);
  llvm::LogicalResult convertBody(mlir::LoopLikeOpInterface loop,
                                  const StateEnv &inner, LoopParts &parts);
  llvm::LogicalResult convertCall(mlir::func::CallOp call, const StateEnv &env);
  llvm::LogicalResult
  convertCallee(mlir::func::FuncOp callee,
                llvm::ArrayRef<llvm::SmallVector<mlir::Type>> operands,
                const StateEnv &env);
  mlir::func::FuncOp getCallee(mlir::Operation *call,
                               mlir::FlatSymbolRefAttr name);
  void createCall(mlir::func::CallOp call, mlir::func::FuncOp callee);
  class ScheduleConverter;
  llvm::LogicalResult convertSchedule(ScheduleOp schedule, const StateEnv &env);
  llvm::SmallVector<llvm::SmallVector<mlir::Type>>
  getPieceTypes(mlir::ValueRange values);
  llvm::LogicalResult convertSend(SendOp op);
  llvm::LogicalResult convertRecv(RecvOp op);
  llvm::LogicalResult convertExchange(ExchangeOp op);
  chakra::SendOp makeSend(MessageOpInterface op, mlir::ValueRange values,
                          int64_t shift, SymExpr payload = {});
  chakra::RecvOp makeRecv(MessageOpInterface op, mlir::TypeRange types,
                          int64_t shift, mlir::Value into = {},
                          SymExpr payload = {});
  Pieces getSentPieces(mlir::Operation *op, mlir::Value value);
  bool isFused(AccumulateOp op);
  mlir::StringAttr getScopeKey(ScanOpInterface scan) {
    std::string key = scan.getScopeName().str();
    if (scan.getFirst())
      key += "@" + scan.getFirst()->str();
    return builder.getStringAttr(key);
  }
  const MemoryCategories &getCategories() { return *categories.back(); }
  mlir::Value toOneBuffer(mlir::Operation *op, mlir::Value value,
                          chakra::Category category);

  llvm::SmallVector<mlir::Type> getResultTypes(mlir::Value result);
  mlir::Type getType(mlir::Value value, SymTensorType type);
  chakra::TensorType getTensorType(SymTensorType type,
                                   chakra::Category category) {
    chakra::TensorType &buffer =
        tables.buffers[{type, static_cast<unsigned>(category)}];
    if (!buffer)
      buffer = chakra::TensorType::get(builder.getContext(), type.getNumBytes(),
                                       category);
    return buffer;
  }
  void appendPieces(mlir::Value value,
                    llvm::SmallVectorImpl<mlir::Value> &pieces) {
    llvm::append_range(pieces, map[value]);
  }
  std::string makeName(mlir::Operation *op, llvm::StringRef suffix);

  mlir::func::FuncOp function;
  MeshAttr mesh;
  SharedTables &tables;
  /// Of the function and of the one that is being called.
  llvm::SmallVector<std::unique_ptr<MemoryCategories>, 2> categories;
  mlir::OpBuilder builder;
  llvm::DenseMap<mlir::Value, Pieces> map;
  std::string scopePath;
  /// How often names are used, by scope.
  llvm::StringMap<llvm::StringMap<unsigned>> names;
  unsigned takeNumber(llvm::StringRef name);
  /// The numbers of each name in a task that has variants, by scope.
  using TaskNumbers =
      llvm::StringMap<llvm::StringMap<llvm::SmallVector<unsigned>>>;
  llvm::StringMap<TaskNumbers> numbersOfTasks;
  /// The variant that is being converted.
  struct Variant {
    std::string outerPath, path;
    TaskNumbers *numbers;
  };
  std::optional<Variant> variant;

  /// Of a function that has been converted, the pieces of each of its results.
  struct Callee {
    llvm::SmallVector<llvm::SmallVector<mlir::Type>> results;
  };
  llvm::DenseMap<mlir::Operation *, Callee> callees;
  llvm::DenseSet<mlir::Operation *>
      statesOf; ///< Functions whose states are collected.
};

} // namespace stg

#endif // STG_LIB_CONVERSION_STGTOCHAKRA_GRAPHBUILDER_H
