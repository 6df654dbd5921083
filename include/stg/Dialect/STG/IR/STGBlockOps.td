//===- STGBlockOps.td - Blocks of models -------------------*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parts of models that stand once: blocks with their symbols and options, calls,
// variants and imports. `--stg-inline-blocks` resolves them all.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_STGBLOCKOPS
#define STG_DIALECT_STG_IR_STGBLOCKOPS

include "stg/Dialect/STG/IR/STGOpBase.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"

def ImportOp : STG_Op<"import"> {
  let summary = "uses the blocks of another file";
  let description = [{
    The file is looked for beside the one in which this stands, then in the folders of
    models. Its blocks, and those that it imports, become blocks of this module, with the
    symbols and options of their file as their own. Nothing else of the file is used. A
    file that is imported several times is there once.

    ```mlir
    stg.import "blocks/attention.mlir"
    ```
    `stg-compile` imports when it has read a model, `stg-opt` with `--stg-inline-blocks`
    or `--stg-resolve-imports`. Until then calls of blocks that are not there are not
    checked.
  }];
  let arguments = (ins StrAttr:$file);
  let assemblyFormat = "$file attr-dict";
}

def OptionOp : STG_Op<"option", [Symbol]> {
  let summary = "declares a choice between variants of a block or a model";
  let description = [{
    An option is `bool`, one of a list of texts, or any text (`string`). What stands behind
    `=` is its default. Options of a block get values where it is called, those of a module
    from a `stg.config` or from `stg-compile --set`. They choose the regions of `stg.if`,
    stand in names as `{name}`, and give values to attributes of ops (`stg.options`).

    ```mlir
    stg.option @bias : bool = false "biases of the projections"
    stg.option @norm : "rms" | "layer" = "rms" "what normalizes"
    stg.option @name : string
    ```
    Constraints: (C1) the texts of a list are distinct; (C2) the default is one of them.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       OptionalAttr<StrArrayAttr>:$cases,
                       OptionalAttr<StrAttr>:$value,
                       OptionalAttr<StrAttr>:$description);
  let assemblyFormat = [{
    $sym_name `:` custom<OptionType>($cases)
    (`=` custom<OptionValue>($value)^)? ($description^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isBool();
    /// True for a value that the option may have.
    bool accepts(::llvm::StringRef value);
    /// `true or false`, `one of 'rms', 'layer'`: what it may be.
    std::string getExpected();
  }];
}

def BlockOp : STG_Op<"block", [IsolatedFromAbove, SymbolTable,
    FunctionOpInterface]> {
  let summary = "a part of models, written once";
  let description = [{
    A block is a function over tensors that each `stg.call` puts in its place. It may
    declare symbols and options of its own. The symbols and options that it sees, its own
    and those of the module, are its parameters: a call says what stands for them.

    ```mlir
    stg.block @feed_forward(%x: !stream) -> !stream {
      stg.symbol @F "feed-forward size"
      stg.option @activation : "silu" | "gelu" = "silu"
      %w = stg.param "gate_up_proj" : !stg.tensor<[D, 2, F], bf16>
      %p = stg.einsum "bsd,dgf->bsgf" %x, %w : !stream, !stg.tensor<[D, 2, F], bf16>
      %h = stg.glu silu %p {stg.options = {function = "activation"}} : !stg.tensor<[B, S, 2, F], bf16>
      ...
      stg.return %y : !stream
    }
    ```
    Constraints: (C1) it has a body of one MLIR block that ends with `stg.return`, whose
    operands have the types of the results.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() {
      return getFunctionType().getInputs();
    }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() {
      return getFunctionType().getResults();
    }
  }];
}

def BlockReturnOp : STG_Op<"return", [Pure, Terminator, HasParent<"BlockOp">]> {
  let summary = "ends a stg.block";
  let arguments = (ins Variadic<STG_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def BlockCallOp : STG_Op<"call", [CallOpInterface,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "puts a block in this place";
  let description = [{
    What stands for the symbols of the block is found in this order: what the call says,
    the dimensions of its operands, the symbol of that name here, the symbol's default.
    `H = Hv` makes `Hv` the extent of what the block calls `H`, and it is still called `H`:
    rules for heads are for these heads, too. `K as H` makes it another dimension, with the
    names of that one. A dimension of an operand is what it is, names and extent.

    An option is what the call says, what an outer call says or has by that name, the option
    of that name of the module, or its default. So a call may also give values to options of
    what the block calls. The value is a text, `true` or `false`, or an option that is seen
    here.

    A name in `<"...">` is a scope: it stands before the names of the parameters and ops of
    the block, with a dot. Without one the names are those of the block. So two calls in one
    scope, both without a name or both with the same, share parameters; with names of their
    own they have parameters of their own.

    All parameters of a `frozen` call are frozen, also those of what the block calls.

    Parameters of a `shared` call, and of what the block calls, are those of the scope around
    the repeats that the call is in: all iterations have the same ones.

    ```mlir
    %a = stg.call @attention(%x) : (!stream) -> !stream
    %b = stg.call @attention(%y) {H = Hv, K as H, bias = true, norm = "layer"} <"image"> : (!patches) -> !patches
    %c = stg.call @image_tower(%z) <"image"> frozen : (!pixels) -> !patches
    %d = stg.call @feed_forward_layer(%x) shared : (!stream) -> !stream
    ```
    Constraints: (C1) what is said is an expression, a dimension or a text; (C2) the block is
    there, unless files are still to be imported; (C3) it has the symbols, and it or what it calls the options, that
    are given values; (C4) operands and results have the types of the block, with what
    stands for its symbols.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<STG_Tensor>:$inputs,
                       OptionalAttr<DictionaryAttr>:$values,
                       OptionalAttr<StrAttr>:$scope,
                       UnitAttr:$frozen,
                       UnitAttr:$shared,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let results = (outs Variadic<STG_Tensor>:$results);
  let assemblyFormat = [{
    $callee `(` $inputs `)` custom<CallValues>($values) (`<` $scope^ `>`)?
    (`frozen` $frozen^)? (`shared` $shared^)?
    attr-dict-with-keyword `:` functional-type($inputs, $results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::CallInterfaceCallable getCallableForCallee() { return getCalleeAttr(); }
    void setCalleeFromCallable(::mlir::CallInterfaceCallable callee) {
      setCalleeAttr(::llvm::cast<::mlir::FlatSymbolRefAttr>(
          ::llvm::cast<::mlir::SymbolRefAttr>(callee)));
    }
    ::mlir::Operation::operand_range getArgOperands() { return getInputs(); }
    ::mlir::MutableOperandRange getArgOperandsMutable() {
      return getInputsMutable();
    }
    /// Blocks are at the top of the module, calls may be in other blocks.
    ::mlir::Operation *resolveCallable();
    ::mlir::Operation *resolveCallableInTable(
        ::mlir::SymbolTableCollection *symbolTable);
  }];
}

def IfOp : STG_Op<"if", [SingleBlockImplicitTerminator<"::stg::YieldOp">,
    RecursiveMemoryEffects, RecursivelySpeculatable, NoRegionArguments,
    DeclareOpInterfaceMethods<RegionBranchOpInterface>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one of two variants, by an option";
  let description = [{
    Leaves the first region where the option has one of the values, `true` if none is
    written, and the second one elsewhere. It is decided when blocks are inlined: there is
    nothing left of the other region, its parameters included.

    ```mlir
    %y = stg.if @bias -> !stream {
      %b = stg.param "o_bias" : !vector
      %z = stg.bias_add %o, %b : !stream, !vector
      stg.yield %z : !stream
    } else {
      stg.yield %o : !stream
    }
    %n = stg.if @norm = "rms" | "unit" -> !stream { ... } else { ... }
    ```
    Constraints: (C1) the option is declared and may have the values.
  }];
  let arguments = (ins FlatSymbolRefAttr:$option, OptionalAttr<StrArrayAttr>:$cases);
  let results = (outs Variadic<STG_Tensor>:$results);
  let regions = (region SizedRegion<1>:$thenRegion, SizedRegion<1>:$elseRegion);
  let assemblyFormat = [{
    $option (`=` custom<Cases>($cases)^)? (`->` type($results)^)?
    attr-dict-with-keyword $thenRegion `else` $elseRegion
  }];
  let extraClassDeclaration = [{
    /// True for a value with which the first region is left.
    bool isChosen(::llvm::StringRef value);
  }];
}

#endif // STG_DIALECT_STG_IR_STGBLOCKOPS
