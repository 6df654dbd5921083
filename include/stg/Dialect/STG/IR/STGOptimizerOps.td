//===- STGOptimizerOps.td - Steps of optimizers ------------*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One op is one step of one parameter, as a fused kernel does it. Passes know
// OptimizerOpInterface, not these ops (docs/Rationale/Optimizers.md).
// This file is part of STGOps.td, which includes it.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_STGOPTIMIZEROPS
#define STG_DIALECT_STG_IR_STGOPTIMIZEROPS

/// A step of a parameter by its elements, with so many operations for each. `states`
/// are the names of its moments, whose type is the attribute `moments`, if there is one.
class STG_OptimizerOp<string mnemonic, list<string> states, int operations>
    : STG_TensorOp<mnemonic, [
        MemoryEffects<[MemWrite<STG_Parameters>]>, STG_Destroys<0>,
        InferTypeOpAdaptor, OptimizerOpInterface, ClippedOpInterface,
        DeclareOpInterfaceMethods<ShardableOpInterface>,
        DeclareOpInterfaceMethods<CostOpInterface, ["getStateBuffers", "updatesOperand"]>]> {
  string momentType = !if(!empty(states), "::mlir::Type()", "getMoments()");
  let plan = STG_Plan;
  let results = (outs STG_Tensor:$updated);
  let hasVerifier = !not(!empty(states));
  let extraClassDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange lhs,
                                        ::mlir::TypeRange rhs) {
      return ::stg::detail::equalUpToSharding(lhs, rhs);
    }
  }];
  let moreDefinitions = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, std::optional<::mlir::Location>,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      types.push_back(adaptor.getParam().getType());
      return ::mlir::success();
    }
    ::stg::ShardingRule $cppClass::getShardingRule() {
      return ::stg::detail::makeOptimizerRule(*this);
    }
    bool $cppClass::updatesOperand(unsigned operand) { return operand == 0; }
    ::llvm::SmallVector<::stg::StateBuffer> $cppClass::getStateBuffers() {
      return ::stg::detail::getOptimizerStates(*this, {}]
        # !interleave(!foreach(state, states, "\"" # state # "\""), ", ")
        # [{}, }] # momentType # [{);
    }
    ::stg::OpCost $cppClass::getCost() {
      return ::stg::detail::getOptimizerCost(*this, }] # operations # [{);
    }
  }];
}

def AdamOp : STG_OptimizerOp<"adam", ["exp_avg", "exp_avg_sq"], 14> {
  let summary = "one Adam step of a parameter, in place";
  let description = [{
    Updates the parameter that the first operand reads, with the gradient that the
    second one is; the result is the parameter's buffer after the step. Keeps two
    moments of type `moments`, and an fp32 master copy where the parameter is narrower
    than fp32. Operations: 14 per element (moments 7, bias corrections 2, root, epsilon,
    quotient, step 2). Reads the gradient, reads and writes the states, writes the
    parameter, which it reads as well where there is no master copy. With a gradient that
    is a flat shard (`stg.flat_reduce_scatter`) all of that is done for the shard.

    With a third operand, a norm (`stg.gradient_norm`), the gradient is clipped: the kernel
    reads the norm and multiplies each element of the gradient as it reads it, which is one
    operation more for each.

    ```mlir
    %w1 = stg.adam f32 %w, %dw : !w, !dw
    %w1 = stg.adam f32 %w, %dw, %norm : !w, !dw, !stg.tensor<[], f32>
    ```
    Constraints: (C1) the gradient has the parameter's shape, or one dimension: a flat
    shard; (C2) the moments are floats of whole bytes;
    (C3) nobody reads the first operand afterwards; (C4) a norm is one float.
  }];
  let args = (ins STG_Tensor:$param, STG_Tensor:$gradient, Optional<STG_Tensor>:$norm,
                  TypeAttr:$moments);
  let leading = [STG_Leading<"Type", "moments">];
}

def MomentumOp : STG_OptimizerOp<"momentum", ["momentum"], 4> {
  let summary = "one step of a parameter along a running sum of gradients, in place";
  let description = [{
    SGD with momentum, and Lion, whose moment has the same size. As `stg.adam`, with one
    moment. Operations: 4 per element (the sum 2, step 2).

    ```mlir
    %w1 = stg.momentum f32 %w, %dw : !w, !dw
    ```
    Constraints: (C1) to (C4) as of `stg.adam`.
  }];
  let args = (ins STG_Tensor:$param, STG_Tensor:$gradient, Optional<STG_Tensor>:$norm,
                  TypeAttr:$moments);
  let leading = [STG_Leading<"Type", "moments">];
}

def SgdOp : STG_OptimizerOp<"sgd", [], 2> {
  let summary = "one step of a parameter against its gradient, in place";
  let description = [{
    As `stg.adam`, without moments. Operations: 2 per element.

    ```mlir
    %w1 = stg.sgd %w, %dw : !w, !dw
    ```
    Constraints: (C1), (C3) and (C4) as of `stg.adam`.
  }];
  let args = (ins STG_Tensor:$param, STG_Tensor:$gradient, Optional<STG_Tensor>:$norm);
}

def MomentOp : STG_TensorOp<"moment", [
    MemoryEffects<[MemWrite<STG_Parameters>]>, InferTypeOpAdaptor, ClippedOpInterface,
    DeclareOpInterfaceMethods<ShardableOpInterface>,
    DeclareOpInterfaceMethods<CostOpInterface, ["getStateBuffers"]>]> {
  let summary = "the running sum of a gradient";
  let description = [{
    Adds the gradient to a buffer of type `moments` that stays from step to step, and gives
    what is there then. Operations: 2 per element. Reads the gradient, reads and writes the
    buffer, writes the result. The gradient may be a flat shard, and with a second operand
    it is clipped as that of `stg.adam`.

    ```mlir
    %m = stg.moment f32 %dw <"w" opt> : !dw
    ```
    Constraints: (C1) the moment is a float of whole bytes; (C2) a norm is one float.
  }];
  let args = (ins STG_Tensor:$gradient, Optional<STG_Tensor>:$norm, TypeAttr:$moments);
  let plan = STG_Plan;
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
  let leading = [STG_Leading<"Type", "moments">];
  let extraClassDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange lhs,
                                        ::mlir::TypeRange rhs) {
      return ::stg::detail::equalUpToSharding(lhs, rhs);
    }
  }];
}

def OrthogonalizeOp : STG_TensorOp<"orthogonalize", [Pure,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["becomeLocal"]>,
    DeclareOpInterfaceMethods<CostOpInterface>]> {
  let summary = "the matrix with orthogonal rows, or columns, that is nearest";
  let description = [{
    What Muon steps along: `iterations` of a Newton-Schulz iteration in 16 bits. The operand is
    a matrix, whose rows are the dimensions `rows` and whose columns are the dimensions
    `columns`, or several of them, one for each place along its other dimensions, as experts
    have. Each device of a tensor axis does so for the block that it has, without
    communication; that is `blockwise` of Megatron-Core. With a flat shard as result it is
    all that a device keeps.

    Operations: for each matrix and iteration 4 r r c + 2 r r r, where r is the number of
    rows or of columns, whichever is smaller, and c the other one: two products with the
    matrix, and one of r rows and columns.

    ```mlir
    %o = stg.orthogonalize %m {rows = array<i64: 0>, columns = array<i64: 1>, iterations = 5}
        : !dw -> !dw
    ```
    Constraints: (C1) the result has the shape of the operand, or one dimension: a flat
    shard; (C2) each dimension is in one of `rows` and `columns` at most, and both have
    one; (C3) there is an iteration.
  }];
  let args = (ins STG_Tensor:$input, DenseI64ArrayAttr:$rows,
                  DenseI64ArrayAttr:$columns, I64Attr:$iterations);
  let plan = STG_Plan;
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Of the block that a device has: the shorter and the longer side of a
    /// matrix, and how many of them there are.
    struct Matrices {
      ::stg::SymExpr shorter, longer, count;
    };
    Matrices getMatrices();
  }];
}

def GradientNormOp : STG_TensorOp<"gradient_norm", [Pure, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<CostOpInterface>]> {
  let summary = "the norm of all gradients of a device";
  let description = [{
    What frameworks clip gradients by, in one kernel over all of them (`multi_tensor_l2norm`).
    Each element counts once among all devices: those that several devices have are weighed.
    A sum over the devices makes it that of the whole model. Operations: 2 per element. Reads
    the gradients, writes one number, which is zero where a device trains nothing. At the
    local and the schedule level only.

    ```mlir
    %n = stg.gradient_norm %dw0, %dw1 <"gradient_norm" opt> : !dw0, !dw1
    ```
  }];
  let args = (ins Variadic<STG_Tensor>:$gradients);
  let results = (outs STG_Tensor:$result);
}

#endif // STG_DIALECT_STG_IR_STGOPTIMIZEROPS
