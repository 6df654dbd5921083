//===- TestOps.td - Ops that no pass knows -----------------*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dialect of somebody else. Its ops go from the model to traces through the
// interfaces of the stg dialect alone.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TEST_LIB_TESTOPS
#define STG_TEST_LIB_TESTOPS

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/LoopLikeInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "stg/Dialect/STG/IR/STGOpBase.td"

def Test_Dialect : Dialect {
  let name = "test";
  let cppNamespace = "::test";
  let dependentDialects = ["::stg::STGDialect"];
}

class Test_Op<string mnemonic, list<Trait> traits = []>
    : Op<Test_Dialect, mnemonic, !listconcat([Pure], traits)>;

def SoftcapOp : STG_PointwiseOp<"softcap", "6", "SoftcapGradOp", [],
                                Test_Dialect> {
  let summary = "limits values smoothly: cap * tanh(x / cap)";
  let description = [{
    Operations: 6 per element (two scalings, tanh 4).
  }];
  let args = (ins STG_Tensor:$input, F64Attr:$cap);
  let saved = "Result";
}

def SoftcapGradOp : STG_PointwiseOp<"softcap_grad", "4", "", [], Test_Dialect> {
  let summary = "gradient of softcap, from its result";
  let description = [{
    dy * (1 - (y / cap)^2). Operations: 4 per element.
  }];
  let args = (ins STG_Tensor:$output, STG_Tensor:$dy, F64Attr:$cap);
}

def SumFeaturesOp : Test_Op<"sum_features", [
    DeclareOpInterfaceMethods<ShardableOpInterface, ["isLinear"]>,
    DeclareOpInterfaceMethods<CostOpInterface>]> {
  let summary = "sum over the last dimension: partial where that is sharded";
  let arguments = (ins STG_Tensor:$input);
  let results = (outs STG_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

def AddPreviousOp : Test_Op<"add_previous", [
    DeclareOpInterfaceMethods<ShardableOpInterface>,
    DeclareOpInterfaceMethods<CostOpInterface>,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>,
    DeclareOpInterfaceMethods<IncrementalOpInterface>]> {
  let summary = "adds to each token the one before it: a convolution of two taps";
  let arguments = (ins STG_Tensor:$input);
  let results = (outs STG_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

def QuantizedAllReduceOp
    : STG_CollectiveOp<"quantized_all_reduce", "AllReduce", [Pure],
                       Test_Dialect> {
  let summary = "a sum over devices that exchanges fewer bits than the elements have";
  let args = (ins Variadic<STG_Tensor>:$inputs, StrArrayAttr:$axes,
                  I64Attr:$bits);
  let results = (outs Variadic<STG_Tensor>:$results);
  let reduction = "::stg::ReduceKind::Sum";
  let coalescable = 1;
  let moreDeclarations = "::stg::SymExpr getExactBytes();\n";
  let leading = [STG_Leading<"Int", "bits">, STG_Leading<"Axes", "axes">];
}

def PlainOp : Test_Op<"plain"> {
  let summary = "implements no interface: they are attached as external models";
  let arguments = (ins STG_Tensor:$input);
  let results = (outs STG_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

def OpaqueOp : Test_Op<"opaque"> {
  let summary = "implements no interface, and none is attached";
  let arguments = (ins STG_Tensor:$input);
  let results = (outs STG_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

def LoopOp : Op<Test_Dialect, "loop", [
    RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock,
    DeclareOpInterfaceMethods<LoopLikeOpInterface,
        ["getInitsMutable", "getRegionIterArgs", "getYieldedValuesMutable",
         "getLoopResults", "getStaticTripCount"]>,
    DeclareOpInterfaceMethods<RegionBranchOpInterface,
        ["getEntrySuccessorOperands"]>]> {
  let summary = "a loop that only MLIR's interfaces tell about: one type, no scope";
  let arguments = (ins I64Attr:$count, Variadic<STG_Tensor>:$starts);
  let results = (outs Variadic<STG_Tensor>:$ends);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $count `from` $starts `:` type($starts) `->` type($ends) $body attr-dict
  }];
}

def NextOp : Test_Op<"next", [ReturnLike, Terminator, HasParent<"LoopOp">]> {
  let summary = "ends one iteration of test.loop";
  let arguments = (ins Variadic<STG_Tensor>:$values);
  let assemblyFormat = "$values `:` type($values) attr-dict";
}

#endif // STG_TEST_LIB_TESTOPS
