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
                                                "splitStates",
                                                "prefixStates"]>]> {
  let summary = "keeps what is made of new tokens, and gives what all steps have kept";
  let description = [{
    Writes the operand behind what earlier steps have kept under that name, and gives all of
    it: the same tensor with more tokens, in the element type of the result. The buffer is
    there throughout (category `kv_cache`). Inside `stg.repeat` every iteration has its own.

    Not all that is kept is as long as what is read: a window needs a ring of so many tokens,
    and a cache may be made of blocks of tokens. Then `capacity` is the extent of dimension
    `dim` of the buffer.

    With micro-batches the buffer has so many `parts`, one for the requests of each, which
    its op is executed for. With `divided_over` devices along these axes have different tokens
    of what is kept.

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
                  OptionalAttr<Sym_ExprAttr>:$capacity,
                  OptionalAttr<StrArrayAttr>:$divided_over);
  let plan = STG_Plan;
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
  let leading = [STG_Leading<"String", "cache_name">];
  let builders = [OpBuilder<(ins "::stg::SymTensorType":$type,
      "::mlir::Value":$input, "::mlir::StringAttr":$name), [{
    build($_builder, $_state, type, input, name, ::stg::SymExpr(),
          ::mlir::IntegerAttr(), ::stg::SymExpr(), ::mlir::ArrayAttr(),
          ::stg::OriginAttr(), ::stg::FactorsAttr());
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

def SamplePartOp : STG_InferredOp<"sample_part"> {
  let summary = "the best token of a part of the vocabulary";
  let description = [{
    For each row its largest logit and the index of that, as two fp32 numbers, which `stg.sample`
    compares with those of other parts. Operations: 1 per logit.

    ```mlir
    %p = stg.sample_part %logits : !stg.tensor<[B, S = 1, V/tp], bf16>
    ```
    Constraints: those of `stg.sample`.
  }];
  let args = (ins STG_Tensor:$logits);
  let results = (outs STG_Tensor:$best);
}

def PlaceRowsOp : STG_ExplicitOp<"place_rows"> {
  let summary = "the rows of a device among zeros for those of others";
  let description = [{
    The sum over devices has the rows of all. Executes no operations; reads the rows and writes
    the whole buffer.

    ```mlir
    %y = stg.place_rows %x : !stg.tensor<[B = 1, S = 3, D], bf16> -> !stg.tensor<[B = 1, S = 8, D], bf16>
    ```
    Constraints: (C1) operand and result have the same element type and dimensions, but for
    extents.
  }];
  let args = (ins STG_Tensor:$input);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
}

def MergePartialOp : STG_ExplicitOp<"merge_partial"> {
  let summary = "what a device adds to attention whose keys several devices have";
  let description = [{
    Each device has attended the keys that it has. With the log-sum-exps of all devices its
    output is scaled so that the sum over devices is attention with all keys. Operations: 1 per
    element of the output, 5 per log-sum-exp (a softmax over devices).

    ```mlir
    %p = stg.merge_partial %o, %lse : !stg.tensor<[B, S, H, E], bf16>, !stg.tensor<[B, S, H = 2*H], f32>
    ```
    Constraints: (C1) the output has rank 4, log-sum-exps rank 3, and they have the same first
    two extents; (C2) the result has the type of the output.
  }];
  let args = (ins STG_Tensor:$output, STG_Tensor:$lse);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
}

def PackPartialOp : STG_ExplicitOp<"pack_partial"> {
  let summary = "attention with the keys of one device, as it is sent to others";
  let description = [{
    For each row and head the output, and two fp32 numbers: the largest score and the sum of the
    weights, which the log-sum-exp stands for. They are bytes, in one buffer. The result has a
    dimension more, of devices: each has its own part of it. Executes no operations; reads what
    it packs and writes the buffer.

    ```mlir
    %p = stg.pack_partial %o, %lse : !stg.tensor<[B, S, H, 128], bf16>, !stg.tensor<[B, S, H], f32> -> !stg.tensor<[B, S, H, 1, 264], i8>
    ```
    Constraints: (C1) the output has rank 4, log-sum-exps its first three dimensions; (C2) the
    result has these, a dimension of extent 1, and one with the bytes of a head and 8 more.
  }];
  let args = (ins STG_Tensor:$output, STG_Tensor:$lse);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
}

def MergePartsOp : STG_ExplicitOp<"merge_parts"> {
  let summary = "attention with all keys, of what devices have made of theirs";
  let description = [{
    The parts are those of `stg.pack_partial`, of all devices. Operations: for each head of a
    row 2 per element and 5 per part, of each part.

    ```mlir
    %o = stg.merge_parts %p : !stg.tensor<[B, S, H, 4, 264], i8> -> !stg.tensor<[B, S, H, 128], bf16>
    ```
    Constraints: (C1) the parts have rank 5; (C2) the result has their first three dimensions, and
    a last one with 8 bytes less than a part.
  }];
  let args = (ins STG_Tensor:$parts);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
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
