//===- STGInferenceOps.td - Ops of a step of inference -----*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `--stg-inference` puts into a program: tokens that earlier steps have kept
// (cache), the rows whose logits are wanted (select_rows), and new tokens (sample); and
// rows of experts as they are sent (encode_rows).
// This file is part of STGOps.td, which includes it.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_STGINFERENCEOPS
#define STG_DIALECT_STG_IR_STGINFERENCEOPS

def CacheOp : STG_TensorOp<"cache", [
    MemoryEffects<[MemRead<STG_Caches>, MemWrite<STG_Caches>]>,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["becomeLocal"]>,
    DeclareOpInterfaceMethods<CostOpInterface, ["getStateBuffers",
                                                "getResultState",
                                                "splitStates"]>]> {
  let summary = "keeps what is made of new tokens, and gives what all steps have kept";
  let description = [{
    Writes the operand behind what earlier steps have kept under that name, and gives all of
    it: the same tensor with more tokens, in the element type of the result. The buffer is
    there throughout (category `kv_cache`). Inside `stg.repeat` every iteration has its own.

    Not all that is kept is as long as what is read: a window needs a ring of so many tokens,
    and a cache may be made of blocks of tokens. Then `capacity` is the extent of dimension
    `dim` of the buffer.

    With micro-batches the buffer has so many `parts`, one for the requests of each, which
    its op is executed for.

    Operations: none, or 1 per new element where the element type changes. Bytes: the new
    rows are read and written. Whoever reads the result reads all rows.

    ```mlir
    %k1 = stg.cache "attention.k" %k
      : !stg.tensor<[B, S, K, E], bf16> -> !stg.tensor<[B, S = cached + S, K, E], bf16>
    %k2 = stg.cache "attention.k" %k {dim = 1, capacity = #sym.expr<min(cached + S, W)>}
      : !stg.tensor<[B, S, K, E], bf16> -> !stg.tensor<[B, S = min(cached, W - 1) + S, K, E], bf16>
    ```
    Constraints: (C1) operand and result have the same dimensions, but for the extent of at
    most one; (C2) the name is not empty; (C3) a capacity is of one of the dimensions, and
    where it is a number an integer of at least 1.
  }];
  let args = (ins STG_Tensor:$input, StrAttr:$cache_name,
                  OptionalAttr<Sym_ExprAttr>:$parts,
                  OptionalAttr<I64Attr>:$dim,
                  OptionalAttr<Sym_ExprAttr>:$capacity);
  let plan = STG_Plan;
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
  let leading = [STG_Leading<"String", "cache_name">];
  let builders = [OpBuilder<(ins "::stg::SymTensorType":$type,
      "::mlir::Value":$input, "::mlir::StringAttr":$name), [{
    build($_builder, $_state, type, input, name, ::stg::SymExpr(),
          ::mlir::IntegerAttr(), ::stg::SymExpr(), ::stg::OriginAttr(),
          ::stg::FactorsAttr());
  }]>];
}

def SelectRowsOp : STG_ExplicitOp<"select_rows", [
    DeclareOpInterfaceMethods<CostOpInterface, ["isView"]>,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["isLinear"]>]> {
  let summary = "some of the slices of a dimension";
  let description = [{
    Which ones is not said: those of the tokens whose logits are wanted. Executes no
    operations; reads and writes the slices. With all slices it is a view.

    ```mlir
    %y = stg.select_rows dim 1 %x : !stg.tensor<[B, S, D], bf16> -> !stg.tensor<[B, S = 1, D], bf16>
    ```
    Constraints: (C1) there is a dimension of that number; (C2) operand and result have the
    same element type and dimensions, but for the extent of that one.
  }];
  let args = (ins STG_Tensor:$input, I64Attr:$dim);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
  let leading = [STG_Leading<"Int", "dim">];
}

def SampleOp : STG_InferredOp<"sample"> {
  let summary = "a token for each row of logits";
  let description = [{
    Needs whole rows: the vocabulary is gathered where it is sharded. Operations: 1 per
    logit, as for the largest.

    ```mlir
    %t = stg.sample %logits : !stg.tensor<[B, S = 1, V], bf16>
    ```
    Constraints: (C1) the rank is at least 1; (C2) the logits are floats.
  }];
  let args = (ins STG_Tensor:$logits);
  let results = (outs STG_Tensor:$tokens);
}

def EncodeRowsOp : STG_ExplicitOp<"encode_rows"> {
  let summary = "rows as they are sent, and back";
  let description = [{
    Each row, a slice of the last dimension, is written in another way: its elements in few
    bits, with scales and a header, or the elements again. Operations: 1 per element of the
    longer row.

    ```mlir
    %y = stg.encode_rows %x : !stg.tensor<[X, R, 7168], bf16> -> !stg.tensor<[X, R, 7408], i8>
    ```
    Constraints: (C1) the rank is at least 1; (C2) operand and result have the same
    dimensions, but for the last one.
  }];
  let args = (ins STG_Tensor:$input);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
}

#endif // STG_DIALECT_STG_IR_STGINFERENCEOPS
