//===- STGMoEOps.td - Ops of mixtures of experts -----------*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A router chooses experts for each token (softmax, top_k), tokens are copied to
// the buffers of their experts (dispatch), and what the experts give is summed
// per token (combine). The experts themselves are einsums with one more index.
// Losses of the router keep it from choosing the same experts always.
// This file is part of STGOps.td, which includes it.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_STGMOEOPS
#define STG_DIALECT_STG_IR_STGMOEOPS

def SoftmaxOp : STG_InferredOp<"softmax", [STG_Differentiable]> {
  let summary = "softmax over the last dimension, in fp32";
  let description = [{
    The result is fp32, as routers need it. Operations: 5 per element (maximum,
    difference, exponential, sum, quotient).

    ```mlir
    %p = stg.softmax %logits : !stg.tensor<[B, S, X], bf16>
    ```
    Constraints: (C1) the rank is at least 1; (C2) the operand is a float.
  }];
  let args = (ins STG_Tensor:$input);
  let results = (outs STG_Tensor:$result);
}

def SoftmaxGradOp : STG_ExplicitOp<"softmax_grad", [STG_LinearIn<[1]>]> {
  let summary = "gradient of stg.softmax";
  let description = [{
    From the softmax and the gradient of it. Operations: 4 per element.

    Constraints: (C1) gradient and result have the shape of the softmax.
  }];
  let args = (ins STG_Tensor:$probs, STG_Tensor:$dprobs);
  let results = (outs STG_Tensor:$dx);
  let hasVerifier = 1;
}

def TopKOp : STG_InferredOp<"top_k", [STG_Differentiable]> {
  let summary = "the k largest elements of the last dimension";
  let description = [{
    Gives the values and their indices (i32). Operations: k per element of the operand.
    `k` is the dimension that takes the place of the last one (`A`, or `A = 2`).

    With `scores` these are compared, and the values are still those of the first operand:
    a router may correct what it compares by a bias. With `groups` the last dimension is so
    many groups, and the elements are those of the `limit` groups whose two largest elements
    have the largest sum: 2 operations more per element, and `limit` per group.

    ```mlir
    %w, %idx = stg.top_k A %p : !stg.tensor<[B, S, X], f32>
    %v, %jdx = stg.top_k A %p, %s {groups = #sym.expr<8>, limit = #sym.expr<4>} : !p, !p
    ```
    Constraints: (C1) the rank is at least 1; (C2) numbers of `k` and of the last
    extent agree with 1 <= k <= extent; (C3) the operand is a float; (C4) scores have the
    operand's type; (C5) groups and limit are both there or none, and their numbers agree
    with 1 <= limit <= groups.
  }];
  let hasVerifier = 1;
  let args = (ins STG_Tensor:$input, Optional<STG_Tensor>:$scores, STG_DimAttr:$k,
                  OptionalAttr<Sym_ExprAttr>:$groups,
                  OptionalAttr<Sym_ExprAttr>:$limit);
  let results = (outs STG_Tensor:$values, STG_Tensor:$indices);
  let leading = [STG_Leading<"Dimension", "k">];
}

def TopKGradOp : STG_ExplicitOp<"top_k_grad"> {
  let summary = "gradient of stg.top_k";
  let description = [{
    Writes the gradients of the values to where the values were, and zeros elsewhere. No
    operations.

    Constraints: (C1) the indices are integers; (C2) the gradient has the shape of the
    indices; (C3) the result has their rows.
  }];
  let args = (ins STG_Tensor:$indices, STG_Tensor:$dvalues);
  let results = (outs STG_Tensor:$dx);
  let hasVerifier = 1;
}

def TakeOp : STG_InferredOp<"take", [STG_Differentiable]> {
  let summary = "the elements of the last dimension that have these numbers";
  let description = [{
    Of each row those with the numbers of the row of `indices`: what a router says of experts
    that are chosen by something else. Its gradient is `stg.top_k_grad`. No operations.

    ```mlir
    %w = stg.take %p, %idx : !stg.tensor<[B, S, X], f32>, !stg.tensor<[B, S, A], i32>
    ```
    Constraints: (C1) the rank is at least 1; (C2) the indices are integers, of the same rows.
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$indices);
  let results = (outs STG_Tensor:$values);
}

def DivideBySumOp : STG_InferredOp<"divide_by_sum", [STG_Differentiable]> {
  let summary = "divides each row of the last dimension by its sum";
  let description = [{
    Weights of the experts of a token whose sum is to be one. Gives the sums, too, which the
    backward pass reads. Operations: 2 per element (sum, quotient).

    ```mlir
    %w, %sum = stg.divide_by_sum %v : !stg.tensor<[B, S, A], f32>
    ```
    Constraints: (C1) the rank is at least 1; (C2) the operand is a float.
  }];
  let args = (ins STG_Tensor:$input);
  let results = (outs STG_Tensor:$result, STG_Tensor:$sum);
}

def DivideBySumGradOp : STG_ExplicitOp<"divide_by_sum_grad", [STG_LinearIn<[2]>]> {
  let summary = "gradient of stg.divide_by_sum";
  let description = [{
    From the quotients, the sums and the gradient. Operations: 4 per element (product with
    the quotient, its sum, difference, quotient).

    Constraints: (C1) gradient and result have the shape of the quotients, and the sums that
    of their rows.
  }];
  let args = (ins STG_Tensor:$quotient, STG_Tensor:$sum, STG_Tensor:$dy);
  let results = (outs STG_Tensor:$dx);
  let hasVerifier = 1;
}

def BalanceOp : STG_InferredOp<"balance", [STG_Differentiable]> {
  let summary = "matrices whose rows and columns each sum up to one";
  let description = [{
    Of matrices of positive elements, the last two dimensions: columns are divided by their
    sums, then so many `iterations` less one rows and columns in turn (Sinkhorn and Knopp), as
    one kernel. So are the residual streams of manifold-constrained hyper-connections mixed.
    Operations: 2 per element (sum, quotient) of each of the 2 * `iterations` - 1 divisions.

    ```mlir
    %m = stg.balance 20 %p : !stg.tensor<[B, S, _ = 4, _ = 4], f32>
    ```
    Constraints: (C1) the rank is at least 2; (C2) the operand is a float; (C3) there is at
    least one iteration.
  }];
  let args = (ins STG_Tensor:$input, Sym_ExprAttr:$iterations);
  let results = (outs STG_Tensor:$result);
  let leading = [STG_Leading<"Expr", "iterations">];
}

def BalanceGradOp : STG_InferredOp<"balance_grad", [STG_LinearIn<[1]>]> {
  let summary = "gradient of stg.balance";
  let description = [{
    The divisions are computed again, and gone through backward: 2 and 4 operations per element
    of each (as of `stg.divide_by_sum`).

    Constraints: (C1) the gradient has the shape of the operand; (C2) there is at least one
    iteration.
  }];
  let args = (ins STG_Tensor:$input, STG_Tensor:$dy, Sym_ExprAttr:$iterations);
  let results = (outs STG_Tensor:$dx);
  let leading = [STG_Leading<"Expr", "iterations">];
}

def DispatchOp : STG_ExplicitOp<"dispatch", [STG_Differentiable,
    DeclareOpInterfaceMethods<ShardableOpInterface, ["becomeLocal"]>]> {
  let summary = "copies each token to the buffers of its experts";
  let description = [{
    The result is experts, rows, width. How many rows the buffer of an expert has is up
    to the program: `A*B*S/X` if no token is dropped and all experts get equally many, more
    or less with a capacity factor. No operations; reads a row for each row that it writes.

    The rows of a buffer come from all tokens: on a device they are those of its own
    tokens, for all experts. Where a plan shards experts, an all-to-all moves rows to their
    experts. Where devices have the same tokens each makes the rows of its own experts, which
    are `divided_over` these axes on the local level, and what `stg.combine` makes of them is a
    sum over devices.

    With `weights` each copy of a token is scaled with that of its expert, as in Llama 4: 1
    operation per element of the result.

    ```mlir
    %e = stg.dispatch %x, %idx : !stg.tensor<[B, S, D], bf16>, !stg.tensor<[B, S, A], i32>
        -> !stg.tensor<[X, A*B*S/X, D], bf16>
    ```
    Constraints: (C1) the indices are integers, one row for each row of the tokens; (C2) the
    result has rank 3, and width and element type of the tokens; (C3) the weights are floats
    of the shape of the indices.
  }];
  let args = (ins STG_Tensor:$tokens, STG_Tensor:$indices,
                  Optional<STG_Tensor>:$weights,
                  OptionalAttr<StrArrayAttr>:$divided_over);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
}

def DispatchGradOp : STG_ExplicitOp<"dispatch_grad"> {
  let summary = "gradient of stg.dispatch with respect to the tokens";
  let description = [{
    Sums the gradients of the copies of a token. Operations: 1 per token, expert of the token
    and element.

    Constraints: (C1) the gradient has rank 3; (C2) the indices are integers; (C3) the
    result has the rows of the indices and the width of the gradient.
  }];
  let args = (ins STG_Tensor:$dresult, STG_Tensor:$indices);
  let results = (outs STG_Tensor:$dtokens);
  let hasVerifier = 1;
}

def DispatchWeightsGradOp : STG_ExplicitOp<"dispatch_weights_grad"> {
  let summary = "gradient of stg.dispatch with respect to the weights";
  let description = [{
    For each token and expert of it the product of the token and of the gradient of its copy,
    summed: 2 operations per token, expert of the token and element.

    Constraints: (C1) the gradient has rank 3; (C2) the indices are integers; (C3) the tokens
    have the rows of the indices and the width of the gradient; (C4) the result has the shape
    of the indices.
  }];
  let args = (ins STG_Tensor:$dresult, STG_Tensor:$indices, STG_Tensor:$tokens);
  let results = (outs STG_Tensor:$dweights);
  let hasVerifier = 1;
}

def CombineOp : STG_InferredOp<"combine", [STG_Differentiable, STG_LinearIn<[0]>]> {
  let summary = "sums the outputs of each token's experts, weighted";
  let description = [{
    The inverse of `stg.dispatch`. Operations: 2 per token, expert of the token and element;
    without weights, which are then one, 1.

    ```mlir
    %y = stg.combine %h, %idx, %w : !stg.tensor<[X, A*B*S/X, D], bf16>,
        !stg.tensor<[B, S, A], i32>, !stg.tensor<[B, S, A], f32>
    ```
    Constraints: (C1) the first operand has rank 3: experts, rows, width; (C2) the indices
    are integers; (C3) the weights are floats of the same shape.
  }];
  let args = (ins STG_Tensor:$outputs, STG_Tensor:$indices,
                  Optional<STG_Tensor>:$weights);
  let results = (outs STG_Tensor:$result);
}

def CombineGradOp : STG_InferredOp<"combine_grad"> {
  let summary = "gradient of stg.combine with respect to expert outputs and weights";
  let description = [{
    Per token, expert of the token and element the product with the weight, and a product
    and a sum for the gradient of the weight: 3 operations.

    Constraints: those of `stg.combine`; (C4) the gradient has the shape of its result.
  }];
  let args = (ins STG_Tensor:$outputs, STG_Tensor:$indices,
                       STG_Tensor:$weights, STG_Tensor:$dy);
  let results = (outs STG_Tensor:$doutputs, STG_Tensor:$dweights);
}

//===----------------------------------------------------------------------===//
// Losses of the router
//===----------------------------------------------------------------------===//

def CountIndicesOp : STG_ExplicitOp<"count_indices"> {
  let summary = "how often each index is there";
  let description = [{
    Counts the indices, such as the choices of a router, by their value. The result has the
    first dimensions of the indices, which are counted apart, and behind them one for the
    values. Operations: 1 per index.

    A device counts its own indices, so over the axes of a dimension that is counted together
    the counts are partial sums. With `own` those of the first dimension, the batch, are not:
    a device has the counts of its own samples, as of a micro-batch, and nothing combines them.

    ```mlir
    %c = stg.count_indices %idx {own} : !stg.tensor<[B, S, A], i32> -> !stg.tensor<[X], f32>
    %d = stg.count_indices %idx : !stg.tensor<[B, S, A], i32> -> !stg.tensor<[B, X], f32>
    ```
    Constraints: (C1) the indices are integers; (C2) the result has the first dimensions of
    the indices, not all of them, and one more; (C3) with `own` it has that one alone.
  }];
  let args = (ins STG_Tensor:$indices, UnitAttr:$own);
  let results = (outs STG_Tensor:$result);
  let hasVerifier = 1;
}

def BalanceLossOp : STG_InferredOp<"balance_loss", [STG_Differentiable]> {
  let summary = "loss of a router that chooses some experts more often than others";
  let description = [{
    Of each token the sum of its experts' scores times how often the expert was chosen, times
    a constant: the loss of Switch Transformer, and, of counts of each sequence, that of
    DeepSeek. Nothing goes back through the counts. Operations: 2 per score.

    ```mlir
    %l = stg.balance_loss %p, %c : !stg.tensor<[B, S, X], f32>, !stg.tensor<[X], f32>
    ```
    Constraints: (C1) the scores are floats of at least rank 1; (C2) the counts have the first
    dimensions of the scores, not all of them, and the last one.
  }];
  let args = (ins STG_Tensor:$scores, STG_Tensor:$counts);
  let results = (outs STG_Tensor:$result);
}

def BalanceLossGradOp : STG_ExplicitOp<"balance_loss_grad"> {
  let summary = "gradient of stg.balance_loss with respect to the scores";
  let description = [{
    The counts, times the gradient of the token. Operations: 1 per score.

    Constraints: (C1) those of `stg.balance_loss` with the result as the scores; (C2) the
    gradient has the rows of the result.
  }];
  let args = (ins STG_Tensor:$counts, STG_Tensor:$dloss);
  let results = (outs STG_Tensor:$dscores);
  let hasVerifier = 1;
}

def ZLossOp : STG_InferredOp<"z_loss", [STG_Differentiable]> {
  let summary = "square of the log-sum-exp of each row, in fp32";
  let description = [{
    The loss of ST-MoE that keeps logits of a router small. Gives the log-sum-exp, too, which
    the backward pass reads. Operations: 4 per logit (maximum, difference, exponential, sum)
    and 3 per row (logarithm, sum, square).

    ```mlir
    %l, %lse = stg.z_loss %logits : !stg.tensor<[B, S, X], bf16>
    ```
    Constraints: (C1) the rank is at least 1; (C2) the operand is a float.
  }];
  let args = (ins STG_Tensor:$logits);
  let results = (outs STG_Tensor:$result, STG_Tensor:$lse);
}

def ZLossGradOp : STG_ExplicitOp<"z_loss_grad"> {
  let summary = "gradient of stg.z_loss";
  let description = [{
    The softmax, made again of logits and log-sum-exp, times twice the latter and the gradient
    of the row. Operations: 3 per logit (difference, exponential, product) and 2 per row.

    Constraints: (C1) the result has the shape of the logits; (C2) log-sum-exp and gradient
    have that of their rows.
  }];
  let args = (ins STG_Tensor:$logits, STG_Tensor:$lse, STG_Tensor:$dloss);
  let results = (outs STG_Tensor:$dlogits);
  let hasVerifier = 1;
}

def AuxiliaryLossOp : STG_TensorOp<"auxiliary_loss", [
    MemoryEffects<[MemWrite]>,
    DeclareOpInterfaceMethods<ShardableOpInterface>,
    DeclareOpInterfaceMethods<CostOpInterface, ["isView"]>]> {
  let summary = "makes a value a part of what training minimizes";
  let description = [{
    The mean of the value over its elements, times `weight`, is added to the objective, in
    each iteration of the repeats that the op is in. So a layer has a loss of its own, and
    nothing hands it to the end of the model, as frameworks do, too. Costs nothing and becomes
    no node. `--stg-autodiff` makes it a `stg.keep`, as the loss is computed even where
    nothing goes back through it; a step of inference is without it.

    ```mlir
    stg.auxiliary_loss 1/100 %l : !stg.tensor<[B, S], f32>
    ```
    Constraints: (C1) the value is a float; (C2) the weight is not zero.
  }];
  let args = (ins STG_Tensor:$value, Sym_ExprAttr:$weight);
  let plan = STG_Plan;
  let leading = [STG_Leading<"Expr", "weight">];
  let hasVerifier = 1;
}

#endif // STG_DIALECT_STG_IR_STGMOEOPS
