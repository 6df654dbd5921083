//===- ChakraOps.td - Operations of the chakra dialect -----*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_CHAKRA_IR_CHAKRAOPS
#define STG_DIALECT_CHAKRA_IR_CHAKRAOPS

include "stg/Dialect/Chakra/IR/ChakraBase.td"
include "stg/Dialect/Chakra/IR/ChakraInterfaces.td"
include "stg/Dialect/Sym/IR/Calls.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"

class Chakra_Op<string mnemonic, list<Trait> traits = []>
    : Op<Chakra_Dialect, mnemonic, traits>;

class Chakra_BodyOp<string mnemonic, list<Trait> traits = []>
    : Chakra_Op<mnemonic, !listconcat(traits, [
        ParentOneOf<["GraphOp", "RepeatOp", "FuncOp", "ScheduleOp"]>])>;

/// Results are named after the op, which makes the text readable.
class Chakra_NamedOp<string mnemonic, list<Trait> traits = []>
    : Chakra_BodyOp<mnemonic, !listconcat(traits, [NamedOpInterface,
        DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>])> {
  let extraClassDefinition = [{
    void $cppClass::getAsmResultNames(::mlir::OpAsmSetValueNameFn setName) {
      if ((*this)->getNumResults())
        setName((*this)->getResult(0), getName());
    }
  }];
}

class Chakra_MessageOp<string mnemonic, list<Trait> traits = []>
    : Chakra_NamedOp<mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<NodeOpInterface, ["verifyInGraph"]>,
        DeclareOpInterfaceMethods<MessageOpInterface,
                                  ["isSend", "getMessageTypes"]>])>;

//===----------------------------------------------------------------------===//
// GraphOp
//===----------------------------------------------------------------------===//

def Chakra_GraphOp : Chakra_Op<"graph", [IsolatedFromAbove, NoRegionArguments,
    NoTerminator, SingleBlock, Symbol, SymbolTable, CallableOpInterface,
    ParentOneOf<["::mlir::ModuleOp"]>]> {
  let summary = "what each rank of one class executes";
  let description = [{
    The ranks of a mesh are numbered with the first axis fastest. `coordinates`
    restricts the class to the ranks that have these coordinates; without it all
    ranks execute this graph. Together, the graphs of a module cover every rank
    of the mesh exactly once (checked at export, where sizes are numbers). To
    MLIR it is a callable without arguments, which ranks call.

    ```mlir
    chakra.graph @first_stage mesh = #sym.mesh<tp = 8, pp = 2>
        coordinates = {pp = 0} {
      ...
    }
    ```

    The graphs of a module with several programs say which one they are of; those of each
    cover the ranks of its mesh.

    ```mlir
    chakra.graph @prefill of "prefill" mesh = #sym.mesh<tp = 8> { ... }
    chakra.graph @decode of "decode" mesh = #sym.mesh<dp = 4> { ... }
    ```

    Constraints: (C1) coordinates name axes of the mesh and lie within them;
    (C2) the axes of a collective are axes of the mesh; (C3) an `all_gather`
    makes its input larger by the number of ranks in the group, a
    `reduce_scatter` smaller (not checked with a `payload`, or where the sizes
    have opaque terms such as `ceildiv`); (C4) the paths of nodes and states are
    unique: a name occurs once in a scope, where repeats of one name share a
    scope, and no name continues the name of a repeat beside it by a dot and a
    digit; (C5) no name at the top begins with a memory category and a slash,
    which is how persistent tensors are named; (C6) a buffer is not read after
    an op beside the reader has changed it in place: readers take the result of
    that op (to be listed in `after` is not to be read); (C7) no node but
    `chakra.load` reads a buffer of the host.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Sym_MeshAttr:$mesh,
                       OptionalAttr<DictionaryAttr>:$coordinates,
                       OptionalAttr<StrAttr>:$program);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name (`of` $program^)? `mesh` `=` qualified($mesh)
    (`coordinates` `=` custom<Coordinates>($coordinates)^)?
    attr-dict-with-keyword $body
  }];
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name,
                                 "::stg::MeshAttr":$mesh,
      CArg<"::mlir::DictionaryAttr", "{}">:$coordinates)>];
  let skipDefaultBuilders = 1;
  let extraClassDeclaration = [{
    /// The coordinate that all ranks of the class have on the axis, if any.
    std::optional<int64_t> getCoordinate(::llvm::StringRef axis);

    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return {}; }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return {}; }
  }] # Sym_NoArgAttrs<>.methods;
  let hasRegionVerifier = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// StateOp
//===----------------------------------------------------------------------===//

def Chakra_StateOp : Chakra_NamedOp<"state"> {
  let summary = "a persistent buffer: a weight, optimizer state, an input";
  let description = [{
    The buffer exists before the step and after it. No node writes it as a
    whole; nodes may change it in place. In a repeat there is one per iteration.
    In the trace it is named by its category and path,
    `parameter/layers.3.qkv_proj`.

    ```mlir
    %w = chakra.state "qkv_proj" : !chakra.tensor<2*D*(H + 2*K)*E/tp, parameter>
    ```

    Constraints: (C1) the name is not empty and has no control characters,
    commas or equals signs.
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs Chakra_Tensor:$result);
  let assemblyFormat = "$name attr-dict `:` qualified(type($result))";
}

//===----------------------------------------------------------------------===//
// CompOp
//===----------------------------------------------------------------------===//

def Chakra_CompOp : Chakra_NamedOp<"comp", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<NodeOpInterface, ["getChangedBuffer"]>]> {
  let summary = "a compute node";
  let description = [{
    Executes `ops` operations (a multiply-add is two) and moves `bytes` bytes
    between device memory and the processor; `matrix` marks matrix products, the
    operations that model-FLOP formulas count. Its results are new buffers.
    `updates` lists buffers that it changes in place; for each of them the op
    has a further result, after those for new buffers, which is the same buffer
    after the change. `after` adds dependencies on the nodes that made these
    values, whose contents it does not read. `kernel` says what it computes.
    A call side by side with another one that is to give way at its next compute
    node executes those with `{chakra.delayed}` before.

    ```mlir
    %y = chakra.comp "ffn.fwd"(%x, %w)
      ops(2*B*S*D*F) bytes(2*B*S*(D + F) + 2*D*F) phase "fwd"
      : (...) -> !chakra.tensor<2*B*S*F, activation>
    %g = chakra.comp "ffn.dw"(%x, %dy)
      updates(%g0 : !chakra.tensor<4*D*F, gradient>)
      ops(2*B*S*D*F) bytes(...) : (...) -> !chakra.tensor<4*D*F, gradient>
    ```

    Constraints: (C1) the last results have the types of the `updates`; (C2) the
    name is not empty and has no control characters, commas or equals signs;
    (C3) constant `ops` and `bytes` are non-negative integers.
  }];
  let arguments = (ins StrAttr:$name, Variadic<Chakra_Buffer>:$inputs,
                       Variadic<Chakra_Buffer>:$updates,
                       Variadic<Chakra_AnyValue>:$after,
                       Sym_ExprAttr:$ops, Sym_ExprAttr:$bytes,
                       UnitAttr:$matrix, OptionalAttr<StrAttr>:$phase,
                       OptionalAttr<Chakra_KernelAttr>:$kernel);
  let results = (outs Variadic<Chakra_AnyValue>:$results);
  let assemblyFormat = [{
    $name `(` $inputs `)`
    (`updates` `(` $updates^ `:` qualified(type($updates)) `)`)?
    (`after` `(` $after^ `:` qualified(type($after)) `)`)?
    `ops` `(` custom<Expr>($ops) `)` (`matrix` $matrix^)?
    `bytes` `(` custom<Expr>($bytes) `)`
    (`phase` $phase^)? attr-dict `:` functional-type($inputs, $results)
    (`kernel` $kernel^)?
  }];
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name,
      "::mlir::ValueRange":$inputs, "::stg::SymExpr":$ops,
      "::stg::SymExpr":$bytes, "::mlir::TypeRange":$newTypes,
      CArg<"::llvm::StringRef", "{}">:$phase,
      CArg<"::mlir::ValueRange", "{}">:$updates,
      CArg<"::mlir::ValueRange", "{}">:$after)>];
  let extraClassDeclaration = [{
    /// The results that are new buffers (or tokens).
    ::mlir::ResultRange getNewResults();
    /// The results that are the `updates` after the change.
    ::mlir::ResultRange getUpdatedResults();
    /// True if what is side by side does not give way before the node.
    bool isDelayed() { return (*this)->hasAttr(ChakraDialect::kDelayedAttr); }
    void setDelayed() {
      (*this)->setAttr(ChakraDialect::kDelayedAttr,
                       ::mlir::UnitAttr::get(getContext()));
    }
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// CollOp
//===----------------------------------------------------------------------===//

def Chakra_CollOp : Chakra_NamedOp<"coll", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<NodeOpInterface, ["getChangedBuffer",
                                                       "verifyInGraph"]>]> {
  let summary = "a collective among the ranks of a group";
  let description = [{
    The group of a rank are the ranks whose coordinates differ from its own only
    on the axes `over`. The payload is what a rank brings: the bytes of all
    operands. Several operands, or all tensors of a stack, make one coalesced
    collective. Result i is operand i after the collective; with `in_place` it
    is the same buffer, else a new one.

    ```mlir
    %g = chakra.coll all_gather "qkv_proj.fwd.all_gather"(%x) over ["tp"]
      phase "fwd" : (!chakra.tensor<2*S*D/tp, activation>)
      -> !chakra.tensor<2*S*D, communication>
    %r:2 = chakra.coll all_reduce "grads.all_reduce"(%stack, %b)
      over ["dp", "cp"] in_place : (...) -> (...)
    ```

    A collective over a group of one rank is no node: its results are its
    operands.

    `among` restricts the group to the ranks with these coordinates on the only axis of
    `over`. `ahead` emits the node that many iterations of the repeat around it ahead: it
    is issued when the compute stream reaches the start of that earlier iteration, as
    parameters are gathered before the layer that uses them. Where that repeat has no such
    iteration, it is one of the repeat with such nodes of the same phase that comes before
    it: in the same body, or in the iteration before of a repeat around both.

    `payload` is for what operands and results cannot say, as in traces of other
    producers and for padded shards: it gives the bytes that a rank brings, and the results are new
    buffers or tokens that are not tied to the operands (unless in place). Where the ranks of
    a group bring different payloads, `padded` is what all of their traces say as the size,
    and the payload is told beside it.

    Constraints: (C1) there are as many results as operands, and at least one;
    stacks correspond to stacks of the same count (without `payload`); (C2)
    `over` names at least one axis and none twice; (C3) with `in_place` the
    results have the types of the operands; (C4) the name is not empty and has
    no control characters, commas or equals signs; (C5) an `all_gather` and a
    `reduce_scatter` are in place only with a `payload`: before the one and after the
    other each rank has its shard of the buffers up to date; (C6) a constant `payload` is a non-negative integer; (C7) `among` has at
    least two distinct coordinates on a single axis, and the graph's own is one of them
    (a graph without one is refused at export);
    (C8) an op that is `ahead` stands in the body of a repeat and reads slices of it,
    values from outside, or results of ops that are as far ahead; (C9) `padded` comes with
    a `payload`, which is not more.
  }];
  let arguments = (ins Chakra_CollKindAttr:$kind, StrAttr:$name,
                       Variadic<Chakra_Buffer>:$inputs,
                       Variadic<Chakra_AnyValue>:$after,
                       StrArrayAttr:$over, OptionalAttr<DenseI64ArrayAttr>:$among,
                       UnitAttr:$in_place,
                       OptionalAttr<Sym_ExprAttr>:$payload,
                       OptionalAttr<Sym_ExprAttr>:$padded,
                       OptionalAttr<I64Attr>:$ahead,
                       OptionalAttr<StrAttr>:$phase);
  let results = (outs Variadic<Chakra_AnyValue>:$results);
  let assemblyFormat = [{
    custom<CollKind>($kind) $name `(` $inputs `)` `over` $over
    (`among` $among^)? (`in_place` $in_place^)?
    (`payload` `(` custom<Expr>($payload)^ `)`)?
    (`padded` `(` custom<Expr>($padded)^ `)`)?
    (`ahead` $ahead^)?
    (`after` `(` $after^ `:` qualified(type($after)) `)`)?
    (`phase` $phase^)? attr-dict `:` functional-type($inputs, $results)
  }];
  let builders = [OpBuilder<(ins "::stg::chakra::CollKind":$kind,
      "::llvm::StringRef":$name, "::mlir::ValueRange":$inputs,
      "::mlir::ArrayAttr":$over, "::mlir::TypeRange":$resultTypes,
      CArg<"bool", "false">:$inPlace,
      CArg<"::llvm::StringRef", "{}">:$phase,
      CArg<"::mlir::ValueRange", "{}">:$after,
      CArg<"::stg::SymExpr", "{}">:$payload)>];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// SendOp, RecvOp
//===----------------------------------------------------------------------===//

def Chakra_SendOp : Chakra_MessageOp<"send", [AttrSizedOperandSegments]> {
  let summary = "a message to a neighbour along a mesh axis";
  let description = [{
    One message with the bytes of all operands, or with so many of them as `payload` says,
    to the rank whose coordinate on the axis
    is the own one plus `shift`, modulo the size of the axis, and whose other coordinates
    are the same. The k-th execution of the sends of a channel meets the k-th of the
    receives of that channel on the peer, which have the opposite shift. Shifts that are
    equal modulo the size of the axis are one: between two ranks, messages both ways
    around need channels of their own. In a `chakra.schedule` each turn has a channel: the
    one that is written is that of turn 0, and `by` says how far they are apart.

    ```mlir
    chakra.send "mb0.stage1.fwd"(%y) axis "pp" shift 1 channel 7 phase "fwd"
      : (!chakra.tensor<2*B*S*D, activation>)
    ```

    Constraints: (C1) the axis is one of the mesh; (C2) there is at least one buffer;
    (C3) the channel is not negative; (C4) the name is not empty and has no control
    characters, commas or equals signs; (C5) in a schedule, and only there, there is a
    `by`, which is positive; (C6) a constant payload is a non-negative integer. That the
    peer is another rank, and that it has as many receives, is checked at export, where
    sizes are numbers.
  }];
  let arguments = (ins StrAttr:$name, Variadic<Chakra_Buffer>:$inputs,
                       Variadic<Chakra_AnyValue>:$after, StrAttr:$axis,
                       I64Attr:$shift, I64Attr:$channel,
                       OptionalAttr<I64Attr>:$stride,
                       OptionalAttr<StrAttr>:$phase,
                       OptionalAttr<Sym_ExprAttr>:$payload);
  let assemblyFormat = [{
    $name `(` $inputs `)` `axis` $axis `shift` $shift `channel` $channel
    (`by` $stride^)? (`payload` `(` custom<Expr>($payload)^ `)`)?
    (`after` `(` $after^ `:` qualified(type($after)) `)`)?
    (`phase` $phase^)? attr-dict `:` `(` type($inputs) `)`
  }];
  let hasVerifier = 1;
}

def Chakra_RecvOp : Chakra_MessageOp<"recv", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<NodeOpInterface, ["getChangedBuffer"]>]> {
  let summary = "a message from a neighbour along a mesh axis";
  let description = [{
    The counterpart of `chakra.send`; the results are new buffers, or with `into` a buffer
    that is there, such as the tokens of a step, of which `payload` bytes come. A receive is
    issued when the compute stream reaches its place.

    ```mlir
    %x = chakra.recv "mb0.stage1.fwd" axis "pp" shift -1 channel 7 phase "fwd"
      : !chakra.tensor<2*B*S*D, activation>
    %t = chakra.recv "tokens" into(%tokens : !chakra.tensor<4*B*S, input>) payload(4*B)
      axis "pp" shift -1 channel 9 phase "fwd" : !chakra.tensor<4*B*S, input>
    ```

    Constraints: those of `chakra.send`, and (C6) what is received `into` has the type of
    the only result, and there is a `payload` with it, and only with it.
  }];
  let arguments = (ins StrAttr:$name, Optional<Chakra_Buffer>:$into,
                       Variadic<Chakra_AnyValue>:$after,
                       StrAttr:$axis, I64Attr:$shift, I64Attr:$channel,
                       OptionalAttr<I64Attr>:$stride,
                       OptionalAttr<StrAttr>:$phase,
                       OptionalAttr<Sym_ExprAttr>:$payload);
  let results = (outs Variadic<Chakra_Buffer>:$results);
  let assemblyFormat = [{
    $name (`into` `(` $into^ `:` qualified(type($into)) `)`)?
    (`payload` `(` custom<Expr>($payload)^ `)`)?
    `axis` $axis `shift` $shift `channel` $channel
    (`by` $stride^)? (`after` `(` $after^ `:` qualified(type($after)) `)`)?
    (`phase` $phase^)? attr-dict `:` type($results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// LoadOp, StoreOp
//===----------------------------------------------------------------------===//

def Chakra_LoadOp : Chakra_NamedOp<"load", [NodeOpInterface]> {
  let summary = "a transfer from the host's memory";
  let description = [{
    Copies a buffer of the host, or of a remote memory, into a new one of the rank. It is
    issued when the compute stream reaches its place, or, with `ahead`, that many
    iterations of the repeat around it earlier, and overlaps with what is computed.

    ```mlir
    %y = chakra.load "norm.fwd.load"(%h) ahead 1 phase "bwd"
      : (!chakra.tensor<2*B*S*D, host>) -> !chakra.tensor<2*B*S*D, activation>
    ```

    Constraints: (C1) the operand is a buffer of the host and the result, of as many
    bytes, is not; (C2) with `ahead` what `chakra.coll` says of it; (C3) the name is not
    empty and has no control characters, commas or equals signs.
  }];
  let arguments = (ins StrAttr:$name, Chakra_Tensor:$input,
                       Variadic<Chakra_AnyValue>:$after,
                       OptionalAttr<I64Attr>:$ahead,
                       OptionalAttr<StrAttr>:$phase);
  let results = (outs Chakra_Tensor:$result);
  let assemblyFormat = [{
    $name `(` $input `)` (`ahead` $ahead^)?
    (`after` `(` $after^ `:` qualified(type($after)) `)`)?
    (`phase` $phase^)? attr-dict
    `:` `(` qualified(type($input)) `)` `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Chakra_StoreOp : Chakra_NamedOp<"store", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<NodeOpInterface, ["getChangedBuffer"]>]> {
  let summary = "a transfer to the host's memory";
  let description = [{
    Copies a buffer into a new one of the host, or of a remote memory, or with `into` into
    one that is there, such as a state. It starts when the buffer has been written. So that
    not all buffers wait to be copied, the compute stream waits at the start of an iteration
    for the stores of the one before the last.

    ```mlir
    %h = chakra.store "norm.fwd.store"(%y) phase "fwd"
      : (!chakra.tensor<2*B*S*D, activation>) -> !chakra.tensor<2*B*S*D, host>
    %m1 = chakra.store "wq.moment1.store"(%new) into(%m : !chakra.tensor<4*D*D, host>)
      phase "opt" : (!chakra.tensor<4*D*D, optimizer>) -> !chakra.tensor<4*D*D, host>
    ```

    Constraints: (C1) the result is a buffer of the host and the operand, of as many bytes,
    is not; (C2) what it is copied `into` has the type of the result, which is that buffer
    after the transfer; (C3) the name is not empty and has no control characters, commas or
    equals signs.
  }];
  let arguments = (ins StrAttr:$name, Chakra_Tensor:$input,
                       Optional<Chakra_Tensor>:$into,
                       Variadic<Chakra_AnyValue>:$after,
                       OptionalAttr<StrAttr>:$phase);
  let results = (outs Chakra_Tensor:$result);
  let assemblyFormat = [{
    $name `(` $input `)` (`into` `(` $into^ `:` qualified(type($into)) `)`)?
    (`after` `(` $after^ `:` qualified(type($after)) `)`)?
    (`phase` $phase^)? attr-dict
    `:` `(` qualified(type($input)) `)` `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// FuncOp, CallOp
//===----------------------------------------------------------------------===//

def Chakra_FuncOp : Chakra_Op<"func", [FunctionOpInterface,
    HasParent<"GraphOp">, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "nodes that calls execute, with a prefix for their names";
  let description = [{
    What a graph executes several times: a pipeline stage, for each micro-batch. The body
    may use values that the graph defines before it, such as states. Nobody outside of the
    graph sees it: it is private, and `--symbol-dce` removes it where nothing calls it.

    ```mlir
    chakra.func @forward(%x : !T) -> (!T, !S) {
      ...
      chakra.return %y, %saved : !T, !S
    }
    ```

    Constraints: (C1) the body returns as many values as the function has results, of
    the same sizes.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name,
      "::mlir::TypeRange":$argTypes, "::mlir::TypeRange":$resultTypes)>];
  let extraClassDeclaration = [{
    ReturnOp getReturn();

    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() {
      return getFunctionType().getInputs();
    }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() {
      return getFunctionType().getResults();
    }
    ::mlir::SymbolTable::Visibility getVisibility() {
      return ::mlir::SymbolTable::Visibility::Private;
    }
  }] # Sym_NoArgAttrs<>.methods;
  let hasRegionVerifier = 1;
}

def Chakra_ReturnOp : Chakra_Op<"return", [Terminator, HasParent<"FuncOp">]> {
  let summary = "ends a function";
  let arguments = (ins Variadic<Chakra_AnyValue>:$values);
  let assemblyFormat = "($values^ `:` qualified(type($values)))? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

def Chakra_CallOp : Chakra_Op<"call", [CallOpInterface,
    ParentOneOf<["GraphOp", "RepeatOp", "ScheduleOp"]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "executes the body of a function once";
  let description = [{
    The nodes get the prefix `SCOPE.`, or none if the scope is empty, as it is in a
    schedule.

    ```mlir
    %y, %saved = chakra.call @forward(%x) scope "mb3" : (!T) -> (!T, !S)
    ```

    Constraints: (C1) the function exists in the graph, and stands before the call;
    (C2) operands and results have the sizes of its arguments and results (categories
    may differ); (C3) the scope has no control characters, commas or equals signs; in a
    schedule it is empty; (C4) a repeat around it has an index, so that its iterations are
    steps.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee,
                       Variadic<Chakra_AnyValue>:$operands, StrAttr:$scope);
  let results = (outs Variadic<Chakra_AnyValue>:$results);
  let assemblyFormat = [{
    $callee `(` $operands `)` `scope` $scope attr-dict
    `:` functional-type($operands, $results)
  }];
  let extraClassDeclaration = [{
    ::mlir::CallInterfaceCallable getCallableForCallee() {
      return ::mlir::SymbolRefAttr(getCalleeAttr());
    }
    void setCalleeFromCallable(::mlir::CallInterfaceCallable callee) {
      setCalleeAttr(::mlir::cast<::mlir::FlatSymbolRefAttr>(
          ::mlir::cast<::mlir::SymbolRefAttr>(callee)));
    }
    ::mlir::Operation::operand_range getArgOperands() { return getOperands(); }
    ::mlir::MutableOperandRange getArgOperandsMutable() {
      return getOperandsMutable();
    }
  }] # Sym_NoArgAttrs<>.methods;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// ScheduleOp, TurnCallOp
//===----------------------------------------------------------------------===//

def Chakra_ScheduleOp : Chakra_Op<"schedule", [NoTerminator, SingleBlock,
    ParentOneOf<["GraphOp", "RepeatOp"]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "what a pipeline device executes for all micro-batches, in order";
  let description = [{
    The body is one turn: what is executed for one micro-batch, which is so in up to `count`
    turns. `order` says which op is executed when, and in which turn, as that of
    `stg.schedule` does. In turn 3 of a schedule `mb` nodes have the prefix `mb3.`.

    An argument of the body is an input, which is another value in each turn: those of the
    first argument come first. What `chakra.turn_call`s add up over the turns are the
    results. In a loop over steps each step has all turns, and nodes have the prefix
    `step.17.mb3.`.

    Calls side by side are executed by turns, each until a compute node of its comes behind
    an all-to-all over just `switch_axes`, or behind any collective if there are none.

    ```mlir
    %g = chakra.schedule "mb" * 4 inputs(%x0, %x1, %x2, %x3 : !T, !T, !T, !T)
        order <[0 at 0], 3 * [0 at 1, 1 at 0], [1 at 3]> -> !G {
    ^bb0(%x: !T):
      %saved = chakra.call @forward(%x) scope "" : (!T) -> !S
      chakra.turn_call to 0 first @backward.first next @backward.next last @backward.last(%saved)
        : (!S) -> ()
    }
    ```

    Constraints: (C1) there are at least two turns; (C2) for each argument of the body there
    is an input of its size for each turn; (C3) the body has calls, messages and compute
    nodes; (C4) the order executes an op at most once in a turn, after those whose results it
    reads; (C5) the results are what is added up, in the order of the numbers of totals; (C6)
    the name is not empty and has no control characters, commas or equals signs; (C7) a
    repeat around it has an index, so that its iterations are steps; (C8) what is side by
    side are calls of different functions in different turns, which do not both add to one
    total; (C9) `switch_axes` are one or more axes of the mesh, each once.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$count,
                       Variadic<Chakra_AnyValue>:$inputs,
                       Sym_OrderAttr:$order,
                       OptionalAttr<StrArrayAttr>:$switch_axes);
  let results = (outs Variadic<Chakra_AnyValue>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name `*` $count
    (`inputs` `(` $inputs^ `:` qualified(type($inputs)) `)`)?
    `order` $order (`switching` `at` $switch_axes^)?
    (`->` qualified(type($results))^)?
    attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The value that an argument of the body has in a turn.
    ::mlir::Value getInput(unsigned argument, uint64_t turn) {
      return getInputs()[argument * getCount() + turn];
    }
  }];
}

def Chakra_TurnCallOp : Chakra_Op<"turn_call", [CallOpInterface,
    HasParent<"ScheduleOp">]> {
  let summary = "a call that adds something up over the turns of a schedule";
  let description = [{
    The ops with one number add up to one total. What of them is executed first calls
    `first`, what is executed last `last`, and what is in between `next`, whatever the turns
    are. What these functions return behind the results of the op is what has been added up:
    `next` and `last` take it as further arguments, and what `last` returns are results of
    the schedule. To MLIR it calls the first function that is there.

    ```mlir
    %dx = chakra.turn_call to 0 first @b.first next @b.next last @b.last(%dy, %saved)
      : (!T, !S) -> !T
    ```

    Constraints: (C1) the functions exist in the graph, before the schedule, and have the
    sizes of operands, results and of what is added up; (C2) those are there that the order
    of the schedule needs, and only those, at least one.
  }];
  let arguments = (ins I64Attr:$total, OptionalAttr<FlatSymbolRefAttr>:$first,
                       OptionalAttr<FlatSymbolRefAttr>:$next,
                       OptionalAttr<FlatSymbolRefAttr>:$last,
                       Variadic<Chakra_AnyValue>:$operands);
  let results = (outs Variadic<Chakra_AnyValue>:$results);
  let assemblyFormat = [{
    `to` $total (`first` $first^)? (`next` $next^)? (`last` $last^)?
    `(` $operands `)` attr-dict `:` functional-type($operands, $results)
  }];
  let extraClassDeclaration = Sym_TurnCall<>.methods;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// RepeatOp
//===----------------------------------------------------------------------===//

def Chakra_RepeatOp : Chakra_NamedOp<"repeat", [AttrSizedOperandSegments,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "the body, a symbolic number of times";
  let description = [{
    Scan semantics. A *carry* enters the first iteration as the init operand and
    every further one as what the iteration before yielded; what the last one
    yields is the result. A *slice* is one tensor of a stack: iteration i gets
    tensor i. What the body yields to `stack` is collected: tensor i of the
    resulting stack is what iteration i yielded. With `reverse` the iterations
    run from the last to the first. With a count of 0 the carries pass through:
    the op is removed by `--canonicalize` if nothing is stacked.

    ```mlir
    %y, %saved = chakra.repeat "layers" * L carry(%x = %h0 : !T)
        slices(%w = %ws : !Ws) -> (!T, !Saved) {
      %z, %s = chakra.comp "ffn.fwd"(%x, %w) ...
      chakra.yield carry(%z : !T) stack(%s : !S)
    }
    %d = chakra.repeat "layers" * L reverse carry(%dx = %dy : !T)
        slices(%s = %saved : !Saved) -> !T { ... }
    ```

    With an `index` the iterations are steps, and expressions in the body may mention that
    symbol, which is the number of the iteration, from 0: contexts grow from step to step.

    ```mlir
    chakra.repeat "step" * 256 index "step" {
      %y = chakra.comp "attention.fwd"(%q, %k) ops(4096*step + 8192) ...
    }
    ```

    The results are those of the carries, then the stacks; the arguments of the
    body are those of the carries, then the slices. Values from outside may be
    used in the body. A `chakra.yield` of nothing may be left out.

    Constraints: (C1) the init, the argument and the result of a carry have one
    type, and what is yielded for it has its size (the category may differ); (C2) a slice's argument has the element type of
    the stack, and the stack the count of the repeat; (C3) a resulting stack has
    the yielded type as element and the count of the repeat; (C4) a constant
    count is a non-negative integer; (C5) the name is not empty and has no
    control characters, commas or equals signs; (C6) a repeat with an index stands in a
    graph, carries, slices and stacks nothing, and is not reversed.
  }];
  let arguments = (ins StrAttr:$name, Sym_ExprAttr:$count,
                       OptionalAttr<Sym_ExprAttr>:$first,
                       OptionalAttr<StrAttr>:$index,
                       Variadic<Chakra_AnyValue>:$inits,
                       Variadic<Chakra_Stack>:$slices, UnitAttr:$reverse);
  let results = (outs Variadic<Chakra_AnyValue>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name,
      "::stg::SymExpr":$count, "::mlir::ValueRange":$inits,
      "::mlir::ValueRange":$slices, "::mlir::TypeRange":$stackedTypes,
      CArg<"bool", "false">:$reverse,
      CArg<"::stg::SymExpr", "{}">:$first)>];
  let skipDefaultBuilders = 1;
  let extraClassDeclaration = [{
    /// Arguments of the body for the carries and for the slices.
    ::mlir::Block::BlockArgListType getCarryArgs();
    ::mlir::Block::BlockArgListType getSliceArgs();
    /// Results of the carries and the stacks that are made.
    ::mlir::ResultRange getCarryResults();
    ::mlir::ResultRange getStackResults();
    /// The terminator of the body.
    YieldOp getYield();
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Chakra_YieldOp : Chakra_Op<"yield", [AttrSizedOperandSegments, Terminator,
    HasParent<"RepeatOp">]> {
  let summary = "ends an iteration of a repeat";
  let description = [{
    ```mlir
    chakra.yield carry(%z : !T) stack(%s, %t : !S, !S)
    ```
  }];
  let arguments = (ins Variadic<Chakra_AnyValue>:$carries,
                       Variadic<Chakra_Buffer>:$stacks);
  let assemblyFormat = [{
    (`carry` `(` $carries^ `:` qualified(type($carries)) `)`)?
    (`stack` `(` $stacks^ `:` qualified(type($stacks)) `)`)? attr-dict
  }];
  let builders = [OpBuilder<(ins), [{ 
    build($_builder, $_state, ::mlir::ValueRange(), ::mlir::ValueRange());
  }]>];
}

#endif // STG_DIALECT_CHAKRA_IR_CHAKRAOPS
