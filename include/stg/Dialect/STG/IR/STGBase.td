//===- STGBase.td - The stg dialect ------------------------*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_STGBASE
#define STG_DIALECT_STG_IR_STGBASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def STG_Dialect : Dialect {
  let name = "stg";
  let cppNamespace = "::stg";
  let summary = "Symbolic tensor graphs of training and inference steps";
  let description = [{
    The `stg` dialect describes what a machine-learning step computes, moves and
    stores, with symbolic shapes, from the model as written by a person down to
    what one device of a mesh executes. A model is a `func.func` over
    `!stg.tensor` values. The same ops serve at every level: the *model* level
    has global shapes; the *plan* level adds to each tensor type the mesh axes
    that its dimensions are sharded over (`!stg.tensor<[B : dp, S, D], bf16>`) and
    to each op the factors it computes sharded (`#stg.factors`); the *local* level
    has the shapes of one device and explicit collectives.

    Discardable attributes that the passes maintain:

    | attribute | on | meaning |
    |---|---|---|
    | `stg.name` | function arguments | stable name of the input |
    | `stg.layout` | function arguments (local level) | `#stg.layout`: what devices have of the input |
    | `stg.origin` | ops of other dialects that do not implement `StepOpInterface` | `#stg.origin`: name, phase and role |
    | `stg.factors` | ops with a sharding rule that do not declare `factors` | `#stg.factors`: mesh axes of each sharded factor |
    | `stg.gradient` | function results | `#stg.gradient`: the parameter that this is the gradient of |
    | `stg.task` | functions that devices call | `#stg.task`: kind, sends, saves |
    | `stg.coordinates` | public functions | `#stg.coordinates`: the devices that execute it |
    | `stg.program` | functions of a module with several programs | `#stg.program`: the program and its mesh |
    | `stg.module_layers` | programs | names of an `stg.repeat`: the layers that a module for further tokens has |
    | `stg.loss` | results of programs | `#sym.expr`: the weight of the loss that the result is; without any the first result is the loss |
    | `stg.options` | ops of blocks and models | attributes that options give values to, such as `{function = "activation"}` |
    | `stg.scope` | calls of tasks | what is before the names of their nodes, a text |
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::stg::SymDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral kNameAttr = "stg.name";
    /// Of arguments of functions of linalg (`--convert-linalg-to-stg`): the
    /// names of the dimensions, the name of the parameter that it is, and what
    /// it hides as a mask.
    static constexpr ::llvm::StringLiteral kDimsAttr = "stg.dims";
    static constexpr ::llvm::StringLiteral kParamAttr = "stg.param";
    static constexpr ::llvm::StringLiteral kMaskAttr = "stg.mask";
    static constexpr ::llvm::StringLiteral kLayoutAttr = "stg.layout";
    static constexpr ::llvm::StringLiteral kOriginAttr = "stg.origin";
    /// What ops of this dialect call the same.
    static constexpr ::llvm::StringLiteral kOriginName = "origin";
    static constexpr ::llvm::StringLiteral kFactorsAttr = "stg.factors";
    /// What ops of this dialect call the same.
    static constexpr ::llvm::StringLiteral kFactorsName = "factors";
    static constexpr ::llvm::StringLiteral kGradientAttr = "stg.gradient";
    static constexpr ::llvm::StringLiteral kLossAttr = "stg.loss";
    static constexpr ::llvm::StringLiteral kScopeAttr = "stg.scope";
    static constexpr ::llvm::StringLiteral kOptionsAttr = "stg.options";
    static constexpr ::llvm::StringLiteral kTaskAttr = "stg.task";
    static constexpr ::llvm::StringLiteral kCoordinatesAttr = "stg.coordinates";
    static constexpr ::llvm::StringLiteral kProgramAttr = "stg.program";
    /// Names of the repeats whose layers a module for further tokens has.
    static constexpr ::llvm::StringLiteral kModuleLayersAttr =
        "stg.module_layers";

    void registerAttributes();
    void registerTypes();
  }];
}

#endif // STG_DIALECT_STG_IR_STGBASE
