//===- STGMixerOps.td - Ops that go over tokens in order ---*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// State spaces and linear attention: causal convolutions of a few tokens, the
// selective scan of Mamba, the chunked scan of Mamba-2, delta rules, the matrix
// memory of xLSTM, and the gated norm behind them. All go over the tokens of a
// sequence in order: one device has them all, and channels or heads are what is
// divided, or states go from device to device. The C++ classes are in
// stg/Dialect/STG/IR/Mixers.h.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_STGMIXEROPS
#define STG_DIALECT_STG_IR_STGMIXEROPS

include "stg/Dialect/STG/IR/STGOpBase.td"

/// What an op keeps from step to step of inference: its name, and how many parts
/// there are of it. `requests` are those whose tokens are packed into a row.
/// `rollback` tokens of a step may be taken back: there is a state before each of them, too.
defvar STG_State = (ins OptionalAttr<StrAttr>:$state,
                        OptionalAttr<Sym_ExprAttr>:$parts,
                        OptionalAttr<STG_RequestsAttr>:$requests,
                        OptionalAttr<Sym_ExprAttr>:$rollback);

def STG_Recurrent : TraitList<[
    DeclareOpInterfaceMethods<ContextOpInterface>,
    DeclareOpInterfaceMethods<RecurrentOpInterface>]>;

/// The axes along which devices have tokens one after the other, and hand on states.
defvar STG_Along = (ins OptionalAttr<StrArrayAttr>:$along);

/// An op with a state; tokens are the second dimension of its operands.
class STG_ScanOp<string mnemonic>
    : STG_InferredOp<mnemonic, [STG_Differentiable, STG_Recurrent,
        DeclareOpInterfaceMethods<IncrementalOpInterface>,
        DeclareOpInterfaceMethods<ShardableOpInterface, ["becomeLocal"]>,
        DeclareOpInterfaceMethods<CostOpInterface, ["getStateBuffers",
                                                    "splitStates",
                                                    "prefixStates",
                                                    "getLoweringPass"]>]> {
  let useCustomPropertiesEncoding = 1;
  let moreDefinitions = [{
    void $cppClass::splitStates(::stg::SymExpr parts) {
      if (!getState())
        return;
      ::stg::SymExpr before = getPartsAttr();
      setPartsAttr(before ? before * parts : parts);
    }
    void $cppClass::prefixStates(::llvm::StringRef prefix) {
      if (std::optional<::llvm::StringRef> name = getState())
        setState((prefix + *name).str());
    }
  }];
}

class STG_ScanGradOp<string mnemonic>
    : STG_ExplicitOp<mnemonic, [STG_Recurrent,
        DeclareOpInterfaceMethods<ShardableOpInterface, ["becomeLocal"]>,
        DeclareOpInterfaceMethods<CostOpInterface, ["getLoweringPass"]>]> {
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Causal convolution
//===----------------------------------------------------------------------===//

def CausalConvOp : STG_ScanOp<"causal_conv"> {
  let summary = "a convolution of each channel with the tokens before it";
  let description = [{
    Of each channel (the dimensions behind batch and tokens) the sum of the last tokens, its
    own the last one, each times a weight: the last dimension of the weight. Before the first
    token there are zeros. With `reversed` it is the tokens behind that are summed, which is
    the gradient of the input. The gradient of the weight is `stg.causal_conv_weight_grad`.

    Operations: 2 per element and weight of its channel. They are not those of a matrix
    product.

    In a step of inference the op keeps, as its `state`, one token less of each sequence than
    the convolution is wide, and with `rollback` as many more as may be taken back. As many as
    it keeps otherwise, the last ones of a device (the first ones if `reversed`), are what the
    next device needs where tokens are divided `along` an axis.

    ```mlir
    %y = stg.causal_conv %x, %w : !stg.tensor<[B, S, C], bf16>, !stg.tensor<[C, 4], bf16>
    ```
    Constraints: (C1) the rank of the input is at least 3; (C2) the weight has the dimensions
    of the input behind the tokens, and one more; (C3) one that is reversed has no state; (C4)
    with `along` there is no state.
  }];
  let args = !con((ins STG_Tensor:$input, STG_Tensor:$weight, UnitAttr:$reversed),
                  STG_State, STG_Along);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
}

def CausalConvWeightGradOp : STG_ScanGradOp<"causal_conv_weight_grad"> {
  let summary = "gradient of stg.causal_conv with respect to the weight";
  let description = [{
    From the input and the gradient of the result. Operations: 2 per element and weight of its
    channel. Where tokens are divided `along` an axis a device needs the first gradients of the
    next one, which the gradient of the input does, too.

    Constraints: (C1) the gradient has the shape of the input, the result is as of the weight.
  }];
  let args = !con((ins STG_Tensor:$input, STG_Tensor:$dy), STG_Along);
  let results = (outs STG_Tensor:$dw);
}

//===----------------------------------------------------------------------===//
// Selective scan
//===----------------------------------------------------------------------===//

def SelectiveScanOp : STG_ScanOp<"selective_scan"> {
  let summary = "the selective scan of Mamba";
  let description = [{
    Each channel of `x` has a state of N numbers. A token multiplies it with the exponential of
    `dt` times -exp(`a`), adds `dt` times `x` times `b` to it, and reads it with `c`; `d` times
    `x` is added to what is read. `b` and `c` are those of a token, the same for all channels,
    or of a token and head, the same for all channels of the head.

    Operations: 7 per token, channel and element of the state, a convention that counts the
    scan alone. They are not those of a matrix product. Backward saves the operands, computes
    states again, which is not counted, and executes twice as many.

    In a step of inference the op keeps the states in fp32, with `rollback` so many more of each
    sequence: the last one is read, and one is written for each new token that leaves one.

    With `along` a device has some of the tokens, and `start` is the state before the first of
    them, in fp32, which backward reads.

    ```mlir
    %y = stg.selective_scan %x, %dt, %a, %b, %c, %d
      : !x, !x, !stg.tensor<[C, N], bf16>, !n, !n, !stg.tensor<[C], bf16>
    ```
    Constraints: (C1) `x` and `dt` are batch, tokens, channels, or batch, tokens, heads, channels;
    (C2) `a` is channels, state, behind heads where there are some; (C3) `b` and `c` are batch,
    tokens, heads if there are some, state; (C4) `d` is channels, behind heads; (C5) with `along`
    there is no `state`.
  }];
  let args = !con((ins STG_Tensor:$x, STG_Tensor:$dt, STG_Tensor:$a, STG_Tensor:$b,
                       STG_Tensor:$c, STG_Tensor:$d), STG_State, STG_Along);
  let results = (outs STG_Tensor:$result, Optional<STG_Tensor>:$start);
  let hasVerifier = 1;
}

def SelectiveScanGradOp : STG_ScanGradOp<"selective_scan_grad"> {
  let summary = "gradient of stg.selective_scan";
  let description = [{
    Operations: 14 per token, channel and element of the state.

    Constraints: those of `stg.selective_scan`; (C5) results have the shapes of its operands; (C6)
    with `along`, and only then, there is the `start` of the scan.
  }];
  let args = !con((ins STG_Tensor:$x, STG_Tensor:$dt, STG_Tensor:$a, STG_Tensor:$b,
                       STG_Tensor:$c, STG_Tensor:$d, STG_Tensor:$dy,
                       Optional<STG_Tensor>:$start), STG_Along);
  let results = (outs STG_Tensor:$dx, STG_Tensor:$ddt, STG_Tensor:$da,
                      STG_Tensor:$db, STG_Tensor:$dc, STG_Tensor:$dd);
}

//===----------------------------------------------------------------------===//
// Linear recurrence
//===----------------------------------------------------------------------===//

def LinearScanOp : STG_ScanOp<"linear_scan"> {
  let summary = "a state for each channel, that decays by what a token says";
  let description = [{
    Each channel (the dimensions behind batch and tokens) has a state of one number. A token
    multiplies it with its `decay` and adds its `x`, and the result is the state behind it, as in
    the recurrence of Griffin.

    Operations: 2 per element. They are not those of a matrix product. Backward reads the decays
    and the result.

    In a step of inference the op keeps the states in fp32, with `rollback` so many more of each
    sequence: the last one is read, and one is written for each new token that leaves one.

    With `along` a device has some of the tokens, and `start` is the state before the first of
    them, in fp32, which backward reads.

    ```mlir
    %y = stg.linear_scan %x, %decay : !stg.tensor<[B, S, C], bf16>, !stg.tensor<[B, S, C], bf16>
    ```
    Constraints: (C1) the rank of `x` is at least 3; (C2) `decay` has its shape; (C3) with `along`
    there is no `state`.
  }];
  let args = !con((ins STG_Tensor:$x, STG_Tensor:$decay), STG_State, STG_Along);
  let results = (outs STG_Tensor:$result, Optional<STG_Tensor>:$start);
  let hasVerifier = 1;
  let useCustomPropertiesEncoding = 0;
}

def LinearScanGradOp : STG_ScanGradOp<"linear_scan_grad"> {
  let summary = "gradient of stg.linear_scan";
  let description = [{
    Goes over the tokens from the last one: the gradient of `x` is that of the state, and that of
    `decay` is it times the state before the token, which is a result of the scan. Operations: 3
    per element.

    Constraints: (C1) all but `start` have the shape of `decay`; (C2) with `along`, and only then,
    there is the `start` of the scan.
  }];
  let args = !con((ins STG_Tensor:$decay, STG_Tensor:$y, STG_Tensor:$dy,
                       Optional<STG_Tensor>:$start), STG_Along);
  let results = (outs STG_Tensor:$dx, STG_Tensor:$ddecay);
}

//===----------------------------------------------------------------------===//
// Weighted means that decay
//===----------------------------------------------------------------------===//

def DecayingMeanOp : STG_ScanOp<"decaying_mean"> {
  let summary = "of each channel the mean of values, weighted by keys, that fades";
  let description = [{
    The WKV of RWKV 4. Of each channel a token gives the mean of the values so far, each weighted
    by the exponential of its key; what is older weighs less by the exponential of -exp(`decay`) for
    each token, and the token's own key has `bonus` added to it. The state of a channel is a numerator, a
    denominator and the largest exponent.

    Operations: 23 per element, a convention that counts each of the four exponentials as one. They
    are not those of a matrix product. Backward saves the operands, computes states again, which is
    not counted, and executes twice as many.

    In a step of inference the op keeps the states in fp32, with `rollback` so many more of each
    sequence: the last one is read, and one is written for each new token that leaves one.

    With `along` a device has some of the tokens, and `start` is the state before the first of
    them, in fp32, which backward reads.

    ```mlir
    %y = stg.decaying_mean %k, %v, %decay, %bonus
      : !stg.tensor<[B, S, C], bf16>, !stg.tensor<[B, S, C], bf16>, !c, !c
    ```
    Constraints: (C1) `k` is batch, tokens, channels, and `v` is like it; (C2) `decay` and `bonus`
    are channels; (C3) with `along` there is no `state`.
  }];
  let args = !con((ins STG_Tensor:$k, STG_Tensor:$v, STG_Tensor:$decay, STG_Tensor:$bonus),
                  STG_State, STG_Along);
  let results = (outs STG_Tensor:$result, Optional<STG_Tensor>:$start);
  let hasVerifier = 1;
  let useCustomPropertiesEncoding = 0;
}

def DecayingMeanGradOp : STG_ScanGradOp<"decaying_mean_grad"> {
  let summary = "gradient of stg.decaying_mean";
  let description = [{
    Operations: 46 per element.

    Constraints: those of `stg.decaying_mean`; (C3) results have the shapes of its operands; (C4)
    with `along`, and only then, there is the `start` of the scan.
  }];
  let args = !con((ins STG_Tensor:$k, STG_Tensor:$v, STG_Tensor:$decay, STG_Tensor:$bonus,
                       STG_Tensor:$dy, Optional<STG_Tensor>:$start), STG_Along);
  let results = (outs STG_Tensor:$dk, STG_Tensor:$dv, STG_Tensor:$ddecay, STG_Tensor:$dbonus);
}

//===----------------------------------------------------------------------===//
// Chunked state-space duality
//===----------------------------------------------------------------------===//

def SsdOp : STG_ScanOp<"ssd"> {
  let summary = "the scan of Mamba-2, in chunks";
  let description = [{
    Each head of `x` has a state of head size times N numbers. As in `stg.selective_scan`, but
    `dt`, `a` and `d` are one number for a head, and `b` and `c` are those of a group of heads,
    or of all of them. In chunks of tokens, which are matrix products: C B^T of each group, it
    times `x`, the state of each chunk, and what is read of the state before it.

    Operations: for a chunk of so many tokens 2 x tokens^2 x (N x groups + heads x head size)
    and 4 x tokens x heads x head size x N, all of them those of matrix products; tokens that
    are left over are a shorter chunk. Backward saves the operands, computes states and
    C B^T again, which is not counted, and executes twice as many.

    In a step of inference the op keeps the states in fp32, with `rollback` so many more of each
    sequence: the last one is read, and one is written for each new token that leaves one. Of a
    sequence with one new token it updates and reads the state: 4 x heads x head size x N
    operations.

    With `along` a device has some of the tokens, and `start` is the state before the first of
    them, in fp32, which backward reads.

    ```mlir
    %y = stg.ssd 128 %x, %dt, %a, %b, %c, %d
      : !stg.tensor<[B, S, H, P], bf16>, !stg.tensor<[B, S, H], bf16>, !h,
        !stg.tensor<[B, S, G, N], bf16>, !stg.tensor<[B, S, G, N], bf16>, !h
    ```
    Where `b` and `c` have groups, these are divided with the heads; without, all heads read
    all of them.
    Constraints: (C1) `x` is batch, tokens, heads, head size, and `dt` without the head size;
    (C2) `a` and `d` are heads; (C3) `b` and `c` are alike: batch, tokens, groups, state, or
    without groups; (C4) a number of groups divides that of the heads; (C5) the chunk is at
    least 1; (C6) with `along` there is no `state`.
  }];
  let args = !con((ins STG_Tensor:$x, STG_Tensor:$dt, STG_Tensor:$a, STG_Tensor:$b,
                       STG_Tensor:$c, STG_Tensor:$d, Sym_ExprAttr:$chunk), STG_State,
                  STG_Along);
  let results = (outs STG_Tensor:$result, Optional<STG_Tensor>:$start);
  let hasVerifier = 1;
  let leading = [STG_Leading<"Expr", "chunk">];
}

def SsdGradOp : STG_ScanGradOp<"ssd_grad"> {
  let summary = "gradient of stg.ssd";
  let description = [{
    Two products for each of the forward pass.

    Constraints: those of `stg.ssd`; (C6) results have the shapes of its operands; (C7) with
    `along`, and only then, there is the `start` of the scan.
  }];
  let args = !con((ins STG_Tensor:$x, STG_Tensor:$dt, STG_Tensor:$a, STG_Tensor:$b,
                       STG_Tensor:$c, STG_Tensor:$d, STG_Tensor:$dy,
                       Optional<STG_Tensor>:$start, Sym_ExprAttr:$chunk), STG_Along);
  let results = (outs STG_Tensor:$dx, STG_Tensor:$ddt, STG_Tensor:$da,
                      STG_Tensor:$db, STG_Tensor:$dc, STG_Tensor:$dd);
  let leading = [STG_Leading<"Expr", "chunk">];
}

//===----------------------------------------------------------------------===//
// Gated delta rule
//===----------------------------------------------------------------------===//

def GatedDeltaRuleOp : STG_ScanOp<"gated_delta_rule"> {
  let summary = "linear attention whose state forgets, and is corrected by what it predicts";
  let description = [{
    Each head has a state of key size times value size. A token multiplies it with the
    exponential of `dt` times -exp(`a`), replaces a part, `beta`, of what the state has for its
    key by its value, and reads it with its query. `dt` is one number for a head, as in Gated
    DeltaNet, or one for each row of its state, as in Kimi Delta Attention. Queries and keys are
    normalized; several value heads may share a key head. In chunks of tokens, as both are
    executed.

    Operations, all of them counted as those of matrix products: for a chunk of so many tokens
    and each value head tokens^2 x (6 x key size + 4 x value size), 6 x tokens x key size x
    value size, and tokens (tokens - 1)(2 x tokens - 1)/3 to solve for the corrections; tokens
    that are left over are a shorter chunk. Backward saves the operands and executes twice as
    many.

    In a step of inference the op keeps the states in fp32, with `rollback` so many more of each
    sequence: the last one is read, and one is written for each new token that leaves one. Of a
    sequence with one new token it executes 6 x key size x value size operations for each value
    head.

    With `along` a device has some of the tokens, and `start` is the state before the first of
    them, in fp32, which backward reads.

    ```mlir
    %y = stg.gated_delta_rule 64 %q, %k, %v, %dt, %a, %beta
      : !stg.tensor<[B, S, K, E], bf16>, !stg.tensor<[B, S, K, E], bf16>,
        !stg.tensor<[B, S, H, V], bf16>, !stg.tensor<[B, S, H], bf16>, !h,
        !stg.tensor<[B, S, H], bf16>
    ```
    Constraints: (C1) `q` and `k` are batch, tokens, key heads, key size; (C2) `v` is batch, tokens,
    value heads, value size, `beta` is without the value size, and so is `dt`, or it has the key
    size in its place; (C3) `a` is value heads; (C4) a number of key heads divides that of the value
    heads; (C5) the chunk is at least 1; (C6) with `along` there is no `state`.
  }];
  let args = !con((ins STG_Tensor:$q, STG_Tensor:$k, STG_Tensor:$v, STG_Tensor:$dt,
                       STG_Tensor:$a, STG_Tensor:$beta, Sym_ExprAttr:$chunk),
                  STG_State, STG_Along);
  let results = (outs STG_Tensor:$result, Optional<STG_Tensor>:$start);
  let hasVerifier = 1;
  let leading = [STG_Leading<"Expr", "chunk">];
}

def GatedDeltaRuleGradOp : STG_ScanGradOp<"gated_delta_rule_grad"> {
  let summary = "gradient of stg.gated_delta_rule";
  let description = [{
    Twice the operations of the forward pass.

    Constraints: those of `stg.gated_delta_rule`; (C6) results have the shapes of its operands;
    (C7) with `along`, and only then, there is the `start` of the rule.
  }];
  let args = !con((ins STG_Tensor:$q, STG_Tensor:$k, STG_Tensor:$v, STG_Tensor:$dt,
                       STG_Tensor:$a, STG_Tensor:$beta, STG_Tensor:$dy,
                       Optional<STG_Tensor>:$start, Sym_ExprAttr:$chunk), STG_Along);
  let results = (outs STG_Tensor:$dq, STG_Tensor:$dk, STG_Tensor:$dv, STG_Tensor:$ddt,
                      STG_Tensor:$da, STG_Tensor:$dbeta);
  let leading = [STG_Leading<"Expr", "chunk">];
}

//===----------------------------------------------------------------------===//
// General delta rule
//===----------------------------------------------------------------------===//

def GeneralDeltaRuleOp : STG_ScanOp<"general_delta_rule"> {
  let summary = "linear attention whose state is multiplied with a diagonal and a product of vectors";
  let description = [{
    The rule of RWKV-7. Each head has a state of key size times value size. A token multiplies
    each row of it with the exponential of `decay`, adds `b` times what the state before had for
    `a`, and its key times its value, and reads the state with its query. Where `b` is -`a` times
    a number and `a` is the key, it is the rule of `stg.gated_delta_rule`. Nothing is normalized.
    In chunks of tokens.

    Operations, all of them counted as those of matrix products: for a chunk of so many tokens
    and each head tokens^2 x (10 x key size + 8 x value size), 8 x tokens x key size x value
    size, and tokens (tokens - 1)(2 x tokens - 1)/3 to solve for what is found; tokens that are
    left over are a shorter chunk. Backward saves the operands and executes twice as many.

    In a step of inference the op keeps the states in fp32, with `rollback` so many more of each
    sequence: the last one is read, and one is written for each new token that leaves one. Of a
    sequence with one new token it executes 8 x key size x value size operations for each head.

    With `along` a device has some of the tokens, and `start` is the state before the first of
    them, in fp32, which backward reads.

    ```mlir
    %y = stg.general_delta_rule 64 %q, %k, %v, %decay, %a, %b
      : !keys, !keys, !stg.tensor<[B, S, H, V], bf16>, !keys, !keys, !keys
    ```
    Constraints: (C1) `q` is batch, tokens, heads, key size, and `k`, `decay`, `a` and `b` are
    like it; (C2) `v` has the value size in the place of the key size; (C3) the chunk is at
    least 1; (C4) with `along` there is no `state`.
  }];
  let args = !con((ins STG_Tensor:$q, STG_Tensor:$k, STG_Tensor:$v, STG_Tensor:$decay,
                       STG_Tensor:$a, STG_Tensor:$b, Sym_ExprAttr:$chunk),
                  STG_State, STG_Along);
  let results = (outs STG_Tensor:$result, Optional<STG_Tensor>:$start);
  let hasVerifier = 1;
  let leading = [STG_Leading<"Expr", "chunk">];
  let useCustomPropertiesEncoding = 0;
}

def GeneralDeltaRuleGradOp : STG_ScanGradOp<"general_delta_rule_grad"> {
  let summary = "gradient of stg.general_delta_rule";
  let description = [{
    Twice the operations of the forward pass.

    Constraints: those of `stg.general_delta_rule`; (C4) results have the shapes of its operands;
    (C5) with `along`, and only then, there is the `start` of the rule.
  }];
  let args = !con((ins STG_Tensor:$q, STG_Tensor:$k, STG_Tensor:$v, STG_Tensor:$decay,
                       STG_Tensor:$a, STG_Tensor:$b, STG_Tensor:$dy,
                       Optional<STG_Tensor>:$start, Sym_ExprAttr:$chunk), STG_Along);
  let results = (outs STG_Tensor:$dq, STG_Tensor:$dk, STG_Tensor:$dv, STG_Tensor:$ddecay,
                      STG_Tensor:$da, STG_Tensor:$db);
  let leading = [STG_Leading<"Expr", "chunk">];
}

//===----------------------------------------------------------------------===//
// Matrix memory
//===----------------------------------------------------------------------===//

def MatrixMemoryOp : STG_ScanOp<"matrix_memory"> {
  let summary = "linear attention with gates of heads, divided by what it reads of the keys alone";
  let description = [{
    The mLSTM of xLSTM. Each head has a state of key size times value size, a number for each key
    that its values are divided by, and the largest exponent. A token multiplies the state with
    the sigmoid of `forget`, adds its key times its value times the exponential of `input`, and
    reads it with its query. In chunks of tokens, whose numbers are one more value of each.

    Operations, all of them counted as those of matrix products: for a chunk of so many tokens
    and each head 2 x tokens^2 x (key size + value size + 1) and 4 x tokens x key size x (value
    size + 1); tokens that are left over are a shorter chunk. Backward saves the operands,
    computes states and products of queries and keys again, which is not counted, and executes
    twice as many.

    In a step of inference the op keeps the states in fp32, with `rollback` so many more of each
    sequence: the last one is read, and one is written for each new token that leaves one. Of a
    sequence with one new token it executes 4 x key size x (value size + 1) operations for each
    head.

    With `along` a device has some of the tokens, and `start` is the state before the first of
    them, in fp32, which backward reads.

    ```mlir
    %y = stg.matrix_memory 64 %q, %k, %v, %input, %forget
      : !keys, !keys, !stg.tensor<[B, S, H, V], bf16>, !gates, !gates
    ```
    Constraints: (C1) `q` is batch, tokens, heads, key size, and `k` is like it; (C2) `v` has
    the value size in the place of the key size; (C3) `input` and `forget` are without a size;
    (C4) the chunk is at least 1; (C5) with `along` there is no `state`.
  }];
  let args = !con((ins STG_Tensor:$q, STG_Tensor:$k, STG_Tensor:$v, STG_Tensor:$input,
                       STG_Tensor:$forget, Sym_ExprAttr:$chunk), STG_State, STG_Along);
  let results = (outs STG_Tensor:$result, Optional<STG_Tensor>:$start);
  let hasVerifier = 1;
  let leading = [STG_Leading<"Expr", "chunk">];
  let useCustomPropertiesEncoding = 0;
}

def MatrixMemoryGradOp : STG_ScanGradOp<"matrix_memory_grad"> {
  let summary = "gradient of stg.matrix_memory";
  let description = [{
    Two products for each of the forward pass.

    Constraints: those of `stg.matrix_memory`; (C5) results have the shapes of its operands;
    (C6) with `along`, and only then, there is the `start` of the memory.
  }];
  let args = !con((ins STG_Tensor:$q, STG_Tensor:$k, STG_Tensor:$v, STG_Tensor:$input,
                       STG_Tensor:$forget, STG_Tensor:$dy, Optional<STG_Tensor>:$start,
                       Sym_ExprAttr:$chunk), STG_Along);
  let results = (outs STG_Tensor:$dq, STG_Tensor:$dk, STG_Tensor:$dv, STG_Tensor:$dinput,
                      STG_Tensor:$dforget);
  let leading = [STG_Leading<"Expr", "chunk">];
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

def RecurrencePartOp : STG_TensorOp<"recurrence_part", [Pure,
    DeclareOpInterfaceMethods<CostOpInterface, ["getReusableOperand",
                                                "destroysOperand"]>]> {
  let summary = "a part of what a device computes of a recurrent op";
  let description = [{
    So many `operations`, of matrix products with `matrix`, of a scan or a convolution whose
    tokens are divided. The first operands, `completed` of them, are what an earlier part has
    left unfinished: the first results take their places. At the local level only.

    ```mlir
    %state = stg.recurrence_part 2*B*H*N*P %own, %before {completed = 1 : i64} : !s, !s -> !s
    ```
    Constraints: (C1) there is a result; (C2) what is completed is an operand and a result of
    one type, and nobody reads the operand afterwards.
  }];
  let args = (ins Variadic<STG_Tensor>:$inputs, Sym_ExprAttr:$operations,
                  UnitAttr:$matrix, DefaultValuedAttr<I64Attr, "0">:$completed);
  let results = (outs Variadic<STG_Tensor>:$results);
  let leading = [STG_Leading<"Expr", "operations">];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Gated norm
//===----------------------------------------------------------------------===//

def GatedNormOp : STG_ExplicitOp<"gated_norm", [STG_Differentiable,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["decompose"]>]> {
  let summary = "RMSNorm of what a gate lets through, of groups of heads";
  let description = [{
    The input times silu of the gate, normalized over the heads of each group and their size,
    times a weight for each element; without groups over all heads. Gives the result and the
    fp32 reciprocal root per token and group. Operations: 9 per element (silu 4, product,
    square, sum, scale, weight) and 3 per root.

    Groups are divided with their heads. Without groups the norm of heads that are divided is
    one of all of them: the op decomposes into `stg.gated_norm_squares`, whose partial results
    are a number per token, `stg.norm_root` and `stg.gated_norm_apply`. So it does where groups
    are `cut`: their numbers and the heads of one group are then two factors, `g` and `h`, and
    the partial results are a number per token and group of the device.

    Groups that are cut may be `gathered` instead: `stg.gated_values`, of which all devices get
    all, `stg.grouped_norm` of all groups on each device, and `stg.grouped_norm_apply` of its own
    heads.

    ```mlir
    %n, %rstd = stg.gated_norm %y, %z, %w : !y, !y, !stg.tensor<[H, P], bf16>
      -> !y, !stg.tensor<[B, S, G], f32>
    ```
    Constraints: (C1) input, gate and result are batch, tokens, heads, head size; (C2) the
    weight is heads, head size; (C3) the roots are batch, tokens and groups, whose number
    divides that of the heads, or batch and tokens; (C4) what is cut are groups, and what is
    gathered is cut.
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$gate, STG_Tensor:$weight,
                  UnitAttr:$cut, UnitAttr:$gathered);
  let results = (outs STG_Tensor:$result, STG_Tensor:$rstd);
  let hasVerifier = 1;
}

def GatedNormGradOp : STG_ExplicitOp<"gated_norm_grad", [
    DeclareOpInterfaceMethods<ShardableOpInterface, ["decompose"]>]> {
  let summary = "gradient of stg.gated_norm";
  let description = [{
    From input, gate, weight, the reciprocal roots and the gradient of the result. Operations:
    23 per element (silu and its gradient 11, the gated value, 9 as of `stg.rms_norm_grad`,
    the products with the gate and the input) and 1 per root.

    Where heads of one norm are divided it decomposes: `stg.gated_norm_dot` makes a device's
    part of the product of the gradient with gated values, and `dot` is what this op then
    reads.

    Constraints: (C1) to (C4) of `stg.gated_norm`; (C5) the results have the shapes of input,
    gate and weight; (C6) `dot` has the shape of the roots, whose groups are cut.
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$gate, STG_Tensor:$weight,
                  STG_Tensor:$rstd, STG_Tensor:$dy, Optional<STG_Tensor>:$dot,
                  UnitAttr:$cut);
  let results = (outs STG_Tensor:$dx, STG_Tensor:$dgate, STG_Tensor:$dw);
  let hasVerifier = 1;
}

def GatedNormSquaresOp : STG_ExplicitOp<"gated_norm_squares"> {
  let summary = "the sum of squares of what a gate lets through, of groups of heads or all";
  let description = [{
    Per token, or token and group, and in fp32. Operations: 7 per element (silu 4, product,
    square, sum). A part of `stg.gated_norm`.

    Constraints: (C1) input and gate are batch, tokens, heads, head size; (C2) the result is as
    the roots of the norm.
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$gate);
  let results = (outs STG_Tensor:$squares);
  let hasVerifier = 1;
}

def NormRootOp : STG_PointwiseOp<"norm_root", "3"> {
  let summary = "the reciprocal root of a mean of squares, from their sum";
  let description = [{
    Operations: 3 per element (mean, epsilon, root).
  }];
  let args = (ins STG_Tensor:$squares);
}

def GatedNormApplyOp : STG_InferredOp<"gated_norm_apply"> {
  let summary = "gates, scales and weights with roots that are known";
  let description = [{
    Operations: 7 per element (silu 4, product, scale, weight). A part of `stg.gated_norm`.

    Constraints: (C1) to (C3) of `stg.gated_norm`.
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$gate, STG_Tensor:$weight,
                  STG_Tensor:$rstd);
  let results = (outs STG_Tensor:$result);
}

def GatedValuesOp : STG_ExplicitOp<"gated_values"> {
  let summary = "what a gate lets through, in fp32";
  let description = [{
    Operations: 5 per element (silu 4, product). A part of `stg.gated_norm`.

    Constraints: (C1) input and gate are batch, tokens, heads, head size, and so is the result.
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$gate);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
}

def GroupedNormOp : STG_ExplicitOp<"grouped_norm"> {
  let summary = "RMSNorm without weights of groups of heads";
  let description = [{
    Heads are not divided. Operations: 3 per element (square, sum, scale) and 3 per root (mean,
    epsilon, root). A part of `stg.gated_norm`.

    Constraints: (C1) the input is batch, tokens, heads, head size, and so is the result; (C2)
    the roots are those of `stg.gated_norm`.
  }];
  let args = (ins STG_Tensor:$input);
  let results = (outs STG_Tensor:$result, STG_Tensor:$rstd);
  let hasVerifier = 1;
}

def GroupedNormApplyOp : STG_ExplicitOp<"grouped_norm_apply"> {
  let summary = "casts and weights what stg.grouped_norm gives";
  let description = [{
    Operations: 2 per element (cast, weight). A part of `stg.gated_norm`.

    Constraints: (C1) the input is batch, tokens, heads, head size, and so is the result; (C2) the
    weight is heads, head size.
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$weight);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
}

def GatedNormDotOp : STG_ExplicitOp<"gated_norm_dot"> {
  let summary = "the product of gated values with the gradient of their norm";
  let description = [{
    Per token, or token and group, and in fp32. Operations: 8 per element (silu 4, gated value,
    weight, product, sum). A part of `stg.gated_norm_grad`.

    Constraints: (C1) and (C2) of `stg.gated_norm`; (C3) the gradient has the shape of the input;
    (C4) the result is as the roots of the norm.
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$gate, STG_Tensor:$weight,
                  STG_Tensor:$dy);
  let results = (outs STG_Tensor:$dot);
  let hasVerifier = 1;
}

#endif // STG_DIALECT_STG_IR_STGMIXEROPS
