//===- STGInterfaces.td - What passes ask of an op ---------*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes know interfaces, not ops. What computes, costs and has a backward pass goes
// all the way from a model to traces, and so does what communicates; interfaces can
// be attached to ops of other dialects as external models.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_STGINTERFACES
#define STG_DIALECT_STG_IR_STGINTERFACES

include "mlir/IR/OpBase.td"

def ShardableOpInterface : OpInterface<"ShardableOpInterface"> {
  let cppNamespace = "::stg";
  let description = [{
    How the dimensions of an op's operands and results relate, as factors (see
    `ShardingRule`). Propagation, collective insertion and gradient reduction are
    all derived from this rule.
  }];
  let methods = [
    InterfaceMethod<
      /*desc=*/[{
        The op's factors. Called at any level; must depend only on the op's
        attributes and on the ranks of its tensors, never on whether their shapes
        are global or local.
      }],
      "::stg::ShardingRule", "getShardingRule">,
    InterfaceMethod<
      /*desc=*/[{
        True if the op is linear jointly in all of its tensor operands:
        f(a1 + a2, b1 + b2) = f(a1, b1) + f(a2, b2). Partial sums may then pass
        through it unreduced.
      }],
      "bool", "isLinear", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return false;">,
    InterfaceMethod<
      /*desc=*/[{
        True if the op is linear in each of its tensor operands while the others stay, as a
        product is: f(a1 + a2, b) = f(a1, b) + f(a2, b). One operand may then be a partial
        sum, and the result is one.
      }],
      "bool", "isMultilinear", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return false;">,
    InterfaceMethod<
      /*desc=*/[{
        True if all results are linear in this tensor operand while the others stay. It may
        then be a partial sum where the others are the same on all devices, and so are the
        results: what backward makes of a gradient and of parameters is reduced behind it.
        By default what the trait `STG_LinearIn` says, or else what follows from the two
        methods above.
      }],
      "bool", "isLinearIn", (ins "unsigned":$operand), /*methodBody=*/"",
      /*defaultImplementation=*/[{
        if (auto declared = ::stg::detail::isDeclaredLinear($_op, operand))
          return *declared;
        // By the interface: what it says of an op may be said outside of the op.
        auto own = ::llvm::cast<::stg::ShardableOpInterface>($_op.getOperation());
        return own.isMultilinear() ||
               (own.isLinear() && $_op->getNumOperands() == 1);
      }]>,
    InterfaceMethod<
      /*desc=*/[{
        Called when the op becomes that of one device, with the axes over which it
        computes each factor: it records in attributes what it must know of its shard
        beyond the shapes.
      }],
      "::llvm::LogicalResult", "becomeLocal",
      (ins "::llvm::function_ref<::mlir::ArrayAttr(::llvm::StringRef)>":$getAxes),
      /*methodBody=*/"",
      /*defaultImplementation=*/"return ::mlir::success();">,
    InterfaceMethod<
      /*desc=*/[{
        The mesh axes over which the op computes its factors; null if none are sharded.
        By default the discardable attribute `stg.factors`.
      }],
      "::stg::FactorsAttr", "getFactorsAttr", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return ::stg::detail::getFactors($_op);">,
    InterfaceMethod<
      "Sets these axes; null removes them.", "void", "setFactorsAttr",
      (ins "::stg::FactorsAttr":$factors), /*methodBody=*/"",
      /*defaultImplementation=*/"::stg::detail::setFactors($_op, factors);">,
    InterfaceMethod<
      /*desc=*/[{
        Replaces the op by ops that can compute with the factor sharded, for a rule
        that marks the factor `FactorKind::Decomposed`. The rules of the new ops
        name the same factors. Results are replaced through the rewriter.
      }],
      "::llvm::LogicalResult", "decompose",
      (ins "::mlir::RewriterBase &":$rewriter), /*methodBody=*/"",
      /*defaultImplementation=*/"return ::mlir::failure();">,
  ];
}

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::stg";
  let description = [{
    What the op costs on one device, as expressions of the shapes that its
    operands and results have at the current level.
  }];
  let methods = [
    InterfaceMethod<
      /*desc=*/[{
        Operations executed (a multiply-add is 2) and bytes of device memory read
        plus written.
      }],
      "::stg::OpCost", "getCost">,
    InterfaceMethod<
      /*desc=*/[{
        True if the op moves and computes nothing: its results are its operands
        under another shape. A view becomes no node.
      }],
      "bool", "isView", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return false;">,
    InterfaceMethod<
      /*desc=*/[{
        Persistent buffers that the op reads or updates in place beside its
        operands, such as optimizer moments.
      }],
      "::llvm::SmallVector<::stg::StateBuffer>", "getStateBuffers", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return {};">,
    InterfaceMethod<
      /*desc=*/[{
        The number of the state buffer that the result is, after the op has updated it;
        nullopt if a result is a value of its own.
      }],
      "std::optional<unsigned>", "getResultState", (ins "unsigned":$result),
      /*methodBody=*/"", /*defaultImplementation=*/"return std::nullopt;">,
    InterfaceMethod<
      /*desc=*/[{
        Called when the batch is cut into so many parts, which the op is executed for one
        after the other: what it keeps of each of them has a place of its own.
      }],
      "void", "splitStates", (ins "::stg::SymExpr":$parts), /*methodBody=*/"",
      /*defaultImplementation=*/"(void)parts;">,
    InterfaceMethod<
      /*desc=*/[{
        Called on the op of one of several parts that the batch is cut into, each of which
        has ops of its own: what it keeps has that before its name.
      }],
      "void", "prefixStates", (ins "::llvm::StringRef":$prefix), /*methodBody=*/"",
      /*defaultImplementation=*/"(void)prefix;">,
    InterfaceMethod<
      /*desc=*/[{
        The operand whose buffer the op may write the result into, if nobody else
        reads that operand; nullopt if a result always needs a buffer of its own.
      }],
      "std::optional<unsigned>", "getReusableOperand", (ins "unsigned":$result),
      /*methodBody=*/"", /*defaultImplementation=*/"return std::nullopt;">,
    InterfaceMethod<
      /*desc=*/[{
        True if the op changes this operand in place instead of reading it, as an
        optimizer step does its parameter.
      }],
      "bool", "updatesOperand", (ins "unsigned":$operand), /*methodBody=*/"",
      /*defaultImplementation=*/"return false;">,
    InterfaceMethod<
      /*desc=*/[{
        True if the result that may reuse this operand's buffer always does, because nobody
        may read the operand afterwards.
      }],
      "bool", "destroysOperand", (ins "unsigned":$operand), /*methodBody=*/"",
      /*defaultImplementation=*/"return false;">,
    InterfaceMethod<
      /*desc=*/[{
        True for a result that is not computed where nobody reads it: it has no buffer
        then, and the cost is without it.
      }],
      "bool", "isMadeIfRead", (ins "unsigned":$result), /*methodBody=*/"",
      /*defaultImplementation=*/"(void)result; return false;">,
    InterfaceMethod<
      /*desc=*/[{
        The pass that replaces the op by what a device executes, such as
        `stg-lower-context-parallel`; empty if the op is a node as it is.
      }],
      "::llvm::StringRef", "getLoweringPass", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return {};">,
  ];
}

def AttentionOpInterface : OpInterface<"AttentionOpInterface"> {
  let cppNamespace = "::stg";
  let description = [{
    Attention or its gradient: queries, keys and values are the first operands.
  }];
  let methods = [
    InterfaceMethod<"Which keys a query sees.", "::stg::AttentionMask",
                    "getMask">,
    InterfaceMethod<"True if masked pairs are counted, too.", "bool",
                    "getFullCount">,
    InterfaceMethod<"Says whether masked pairs are counted.", "void",
                    "setFullCount", (ins "bool":$full)>,
    InterfaceMethod<"How many keys a query sees at most; null if there is no bound.",
                    "::stg::SymExpr", "getWindowAttr">,
    InterfaceMethod<"Tokens of a chunk that sees no other; null if there are no chunks.",
                    "::stg::SymExpr", "getChunkAttr">,
    InterfaceMethod<"How many tokens of a causal mask see each other; null: none do.",
                    "::stg::SymExpr", "getPrefixAttr">,
    InterfaceMethod<"The numbers of the keys that each query sees; null: all that are left.",
                    "::mlir::Value", "getSelected">,
    InterfaceMethod<"Tokens of a block that has a key of its own; null if there are no such keys.",
                    "::stg::SymExpr", "getCompressedAttr">,
    InterfaceMethod<"The keys of blocks; null if there are none.", "::mlir::Value",
                    "getCompressedKey", (ins), "", "return {};">,
    InterfaceMethod<"Tokens of a row before those of the step; null: none, or what keys say.",
                    "::stg::SymExpr", "getPastAttr", (ins), "", "return {};">,
    InterfaceMethod<"What is added to the scores; null: nothing.", "::mlir::Value", "getBias">,
    InterfaceMethod<"Of whose tokens a query sees those of its own; null: there is one.",
                    "::stg::RequestsAttr", "getRequestsAttr">,
    InterfaceMethod<"Says whose tokens they are.", "void", "setRequestsAttr",
                    (ins "::stg::RequestsAttr":$requests)>,
    InterfaceMethod<"Says how many tokens of a causal mask see each other.", "void",
                    "setPrefixAttr", (ins "::stg::SymExpr":$prefix)>,
    InterfaceMethod<"How tokens are divided; null by default.",
                    "::stg::ContextAttr", "getContextAttr">,
    InterfaceMethod<"Says how tokens are divided.", "void", "setContextAttr",
                    (ins "::stg::ContextAttr":$context)>,
    InterfaceMethod<[{
        Makes what a device computes for so many pairs of queries and keys: the op's
        operands with those keys and values, and, where earlier blocks have been computed,
        their results. `seen`, if it is not null, is 0 where all of the pairs are masked; `into`,
        if it is not null, is the element type in which blocks add up.
      }],
      "::mlir::Operation *", "createBlock",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
           "::mlir::ValueRange":$partial, "::stg::SymExpr":$pairs,
           "::stg::SymExpr":$seen, "::mlir::TypeAttr":$into)>,
  ];
}

def ContextOpInterface : OpInterface<"ContextOpInterface"> {
  let cppNamespace = "::stg";
  let description = [{
    An op of which devices that divide tokens may take something else apart instead, when
    all-to-alls have exchanged the tokens for it.
  }];
  let methods = [
    InterfaceMethod<
      "The factor of the op's sharding rule that is divided instead of tokens.",
      "::llvm::StringRef", "getContextFactor">,
  ];
}

def RecurrentOpInterface : OpInterface<"RecurrentOpInterface"> {
  let cppNamespace = "::stg";
  let description = [{
    An op that goes over all tokens of a sequence in order, such as a scan or a causal
    convolution. Where tokens are divided among devices they take something else apart
    instead, by all-to-alls (`ContextOpInterface`), or each device goes over its own tokens, `along` an axis, from
    what the device with the tokens before them hands on (`--stg-pass-states`).
  }];
  let methods = [
    InterfaceMethod<
      "The axes of the devices that each have some of the tokens; null: one has all.",
      "::mlir::ArrayAttr", "getAlongAttr">,
    InterfaceMethod<
      /*desc=*/[{
        Says so; before the op is that of a device there are no axes. The op may be replaced
        by one with another result.
      }],
      "void", "passStates", (ins "::mlir::RewriterBase &":$rewriter)>,
    InterfaceMethod<
      "What a device with some of the tokens computes, at the local level.",
      "::stg::RecurrenceParts", "getDeviceParts">,
  ];
}

def MessageOpInterface : OpInterface<"MessageOpInterface"> {
  let cppNamespace = "::stg";
  let description = [{
    A message to or from a neighbour along a mesh axis, or both.
  }];
  let methods = [
    InterfaceMethod<"The axis of the mesh.", "::mlir::StringAttr",
                    "getAxisAttr">,
    InterfaceMethod<"How much further the peer is along the axis.", "uint64_t",
                    "getShift">,
    InterfaceMethod<"The messages that this one is numbered among.",
                    "uint64_t", "getChannel">,
    InterfaceMethod<
      "In a schedule, how far the channels of its turns are apart; null elsewhere.",
      "::mlir::IntegerAttr", "getStrideAttr", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return {};">,
    InterfaceMethod<"The types of what travels.", "::mlir::TypeRange",
                    "getMessageTypes">,
  ];
  let verify = "return ::stg::detail::verifyMessage($_op);";
}

def StepOpInterface : OpInterface<"StepOpInterface"> {
  let cppNamespace = "::stg";
  let description = [{
    An op of a step: it knows the op of the model that it comes from, the phase and its
    role. All ops over tensors of this dialect do; one of another dialect that does not
    carries the discardable attribute `stg.origin` instead.
  }];
  let methods = [
    InterfaceMethod<"The op's origin; null if nothing is known of it.",
                    "::stg::OriginAttr", "getOriginAttr">,
    InterfaceMethod<"Sets the op's origin; null removes it.", "void",
                    "setOriginAttr", (ins "::stg::OriginAttr":$origin)>,
  ];
}

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::stg";
  let description = [{
    The op's backward pass. The values of the forward pass that the backward ops
    use become the saved activations; nothing else is saved.
  }];
  let methods = [
    InterfaceMethod<
      /*desc=*/[{
        Builds the ops that compute the gradients of the operands for which
        `GradientBuilder::needsGradient` holds from those of the results, and hands
        them to `GradientBuilder::addGradient`. At least one result has a gradient;
        one without is zero.
      }],
      "::llvm::LogicalResult", "buildGradient",
      (ins "::stg::GradientBuilder &":$gradient)>,
  ];
}

def IncrementalOpInterface : OpInterface<"IncrementalOpInterface"> {
  let cppNamespace = "::stg";
  let description = [{
    An op that looks at other tokens than the one whose row it computes. In a step of
    inference only the new tokens are there, so it says what is kept of the earlier ones,
    and how it goes on from that. What does not look at other tokens needs no interface:
    its sharding rule says so.
  }];
  let methods = [
    InterfaceMethod<
      /*desc=*/[{
        Makes the op what a step executes for the new tokens: what it reads of them is kept
        by `IncrementBuilder::keep`, and what that gives, which has the earlier tokens too,
        takes its place.
      }],
      "::llvm::LogicalResult", "buildIncrement",
      (ins "::stg::IncrementBuilder &":$increment)>,
  ];
}

def OptimizerOpInterface : OpInterface<"OptimizerOpInterface"> {
  let cppNamespace = "::stg";
  let description = [{
    A step of a parameter, in place, each element by itself with that of its gradient: a
    device may step a flat shard. What it keeps from step to step are the states of
    `CostOpInterface`. The verifier of the interface checks that the gradient has the shape of
    the parameter, or that one of them is a shard.
  }];
  let verify = "return ::stg::detail::verifyOptimizer($_op);";
  let methods = [
    InterfaceMethod<"The parameter that is updated.", "::mlir::Value", "getParam">,
    InterfaceMethod<"Its gradient.", "::mlir::Value", "getGradient">,
    InterfaceMethod<"The parameter after the step.", "::mlir::Value", "getUpdated">,
  ];
}

def ClippedOpInterface : OpInterface<"ClippedOpInterface"> {
  let cppNamespace = "::stg";
  let description = [{
    An op of the optimizer that can scale the gradient that it reads, so that the norm of all
    gradients is no larger than some number. The verifier of the interface checks that the norm
    is one float.
  }];
  let verify = "return ::stg::detail::verifyNorm($_op);";
  let methods = [
    InterfaceMethod<"The norm, an operand that may be there.",
                    "::mlir::MutableOperandRange", "getNormMutable">,
  ];
}

def LossOpInterface : OpInterface<"LossOpInterface"> {
  let cppNamespace = "::stg";
  let description = [{
    An op that compares what a model says of each token with what is right. In a step of
    inference there is nothing to compare with: tokens are sampled instead.
  }];
  let methods = [
    InterfaceMethod<
      "The operand that the model says: logits, whose last dimension is the vocabulary.",
      "::mlir::Value", "getPredictions">,
  ];
}

def CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::stg";
  let description = [{
    An op of a group of devices: those that differ only in their coordinates on the axes.
    What it does to each operand is its kind, result `i` is made of operand `i`. One without
    results completes its operands in place. `local_slice` communicates nothing; it is what
    the others are undone by, and is simplified with them.

    The verifier of the interface checks that there is an operand and that the axes are
    distinct, `detail::verifyGroup`, which looks up symbols, that they are axes of the mesh,
    and that shapes are those of the kind.
  }];
  let methods = [
    InterfaceMethod<"What it does.", "::stg::CollectiveKind",
                    "getCollectiveKind">,
    InterfaceMethod<"The mesh axes of the group.", "::mlir::ArrayAttr",
                    "getAxes">,
    InterfaceMethod<
      /*desc=*/[{
        The coordinates on the only axis that the group is restricted to; null if it is
        not.
      }],
      "::mlir::DenseI64ArrayAttr", "getAmongAttr", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return {};">,
    InterfaceMethod<
      "How partial values combine; nullopt if operands are not partial.",
      "std::optional<::stg::ReduceKind>", "getReduction", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return std::nullopt;">,
    InterfaceMethod<
      /*desc=*/[{
        The dimension of which each device has a shard before; nullopt if there is
        none, or shards are flat.
      }],
      "std::optional<int64_t>", "getDividedBefore", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return std::nullopt;">,
    InterfaceMethod<
      "The dimension of which each device has a shard after; likewise.",
      "std::optional<int64_t>", "getDividedAfter", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return std::nullopt;">,
    InterfaceMethod<
      /*desc=*/[{
        True if shards are flat: the elements of a tensor, as they lie in memory,
        divided evenly and padded.
      }],
      "bool", "isFlat", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return false;">,
    InterfaceMethod<
      /*desc=*/[{
        True if operands have nothing to do with each other: several such collectives
        may become one, and each device may execute one on the operands that it holds.
      }],
      "bool", "isCoalescable", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return false;">,
    InterfaceMethod<
      /*desc=*/[{
        Called on a copy whose operands are those of several collectives: takes over
        what they say of single operands.
      }],
      "void", "takeOperandsOf",
      (ins "::llvm::ArrayRef<::mlir::OpOperand *>":$operands),
      /*methodBody=*/"", /*defaultImplementation=*/"(void)operands;">,
    InterfaceMethod<
      /*desc=*/[{
        What two collectives of one operand have in common if they are the same: all
        they say but their origin and what they say of single operands.
      }],
      "::mlir::Attribute", "getIdentity", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/[{
        return ::stg::detail::getCollectiveIdentity($_op, {});
      }]>,
    InterfaceMethod<
      /*desc=*/[{
        The bytes that a device brings where they are not those of its operands, as of
        padded or compressed shards; null where they are.
      }],
      "::stg::SymExpr", "getExactBytes", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return {};">,
    InterfaceMethod<
      /*desc=*/[{
        The bytes that all devices of the group say where they bring different ones, at
        least as many as each of them brings; null where they bring equally many.
      }],
      "::stg::SymExpr", "getPaddedBytes", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return {};">,
    InterfaceMethod<
      "In a repeat, how many iterations ahead it may start; null: none.",
      "::mlir::IntegerAttr", "getAheadAttr", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return {};">,
  ];
  let extraSharedClassDeclaration = [{
    bool isKind(::stg::CollectiveKind kind) {
      return $_op.getCollectiveKind() == kind;
    }
    /// False for what a device does with its own values.
    bool communicates() { return !isKind(::stg::CollectiveKind::LocalSlice); }
    /// True for a reduction that may wait and be done with others, as those of
    /// gradients are.
    bool isCoalescableReduction() {
      return $_op.isCoalescable() && $_op.getReduction();
    }
  }];
  let verify = "return ::stg::detail::verifyCollective($_op);";
}

def ScanOpInterface : OpInterface<"ScanOpInterface"> {
  let cppNamespace = "::stg";
  let description = [{
    A loop of one block that is a scan: its iterations are counted by an expression,
    read one slice each of the stacks that it is given, and may stack what they yield.
    They are a scope: each iteration has parameters of its own.

    The operands are what the loop starts with, then the stacks. The arguments of the
    body are what it carries, then the slices. Its terminator's operands and the results
    are what it carries, then what is stacked.

    `LoopLikeOpInterface` knows what a loop carries, but wants one type for it. At the
    plan level the value that a scan starts with may be sharded otherwise than what it
    carries. Passes ask the functions of `Loops.h`, which know both.
  }];
  let methods = [
    InterfaceMethod<
      /*desc=*/[{
        The scope of what is inside: what parameters of the body are called by, and the
        leading dimension of stacks.
      }],
      "::mlir::StringAttr", "getScopeName">,
    InterfaceMethod<"The number of iterations.", "::stg::SymExpr", "getCount">,
    InterfaceMethod<
      "The number of the first iteration; none: 0.",
      "std::optional<::stg::SymExpr>", "getFirst", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return std::nullopt;">,
    InterfaceMethod<
      "True if the last iteration is executed first.", "bool", "getReverse", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return false;">,
    InterfaceMethod<
      "What backward replays of it; none: what the pass is told.",
      "std::optional<::stg::RecomputePolicy>", "getRecompute", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return std::nullopt;">,
    InterfaceMethod<"How many values are carried.", "unsigned", "getNumCarried">,
    InterfaceMethod<
      "Makes the loop execute `count` iterations from the one numbered `first`.",
      "void", "setRange", (ins "::stg::SymExpr":$first, "::stg::SymExpr":$count)>,
    InterfaceMethod<
      "Adds a stack and returns the argument that is its slice.",
      "::mlir::BlockArgument", "addSlice", (ins "::mlir::Value":$stack)>,
    InterfaceMethod<
      /*desc=*/[{
        Replaces the loop by one that also stacks `values` of its body, and returns it.
        The old one is erased; the first results are those it had.
      }],
      "::stg::ScanOpInterface", "withStacked",
      (ins "::mlir::RewriterBase &":$rewriter, "::mlir::ValueRange":$values)>,
    InterfaceMethod<
      /*desc=*/[{
        Drops slices that nobody reads, and results that nobody uses of what is stacked
        or summed up. Fails if there are none; otherwise the loop may have been replaced.
      }],
      "::llvm::LogicalResult", "dropUnusedStacks",
      (ins "::mlir::RewriterBase &":$rewriter), /*methodBody=*/"",
      /*defaultImplementation=*/"return ::mlir::failure();">,
  ];
  let verifyWithRegions = 1;
  let verify = "return ::stg::detail::verifyScan($_op);";
  let extraSharedClassDeclaration = [{
    ::mlir::Block &getLoopBlock() { return $_op->getRegion(0).front(); }
    ::mlir::OperandRange getCarriedInits() {
      return $_op->getOperands().take_front($_op.getNumCarried());
    }
    ::mlir::OperandRange getStacks() {
      return $_op->getOperands().drop_front($_op.getNumCarried());
    }
    ::mlir::Block::BlockArgListType getCarriedArgs() {
      return getLoopBlock().getArguments().take_front($_op.getNumCarried());
    }
    ::mlir::Block::BlockArgListType getSliceArgs() {
      return getLoopBlock().getArguments().drop_front($_op.getNumCarried());
    }
    ::mlir::MutableArrayRef<::mlir::OpOperand> getYieldedOperands() {
      return getLoopBlock().getTerminator()->getOpOperands();
    }
    ::mlir::OperandRange getYielded() {
      return getLoopBlock().getTerminator()->getOperands();
    }
    ::mlir::ResultRange getCarriedResults() {
      return $_op->getResults().take_front($_op.getNumCarried());
    }
    ::mlir::ResultRange getStackedResults() {
      return $_op->getResults().drop_front($_op.getNumCarried());
    }
  }];
}

#endif // STG_DIALECT_STG_IR_STGINTERFACES
