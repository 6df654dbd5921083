//===- ChakraInterfaces.td - What is asked of chakra's ops -*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_CHAKRA_IR_CHAKRAINTERFACES
#define STG_DIALECT_CHAKRA_IR_CHAKRAINTERFACES

include "mlir/IR/OpBase.td"

def NamedOpInterface : OpInterface<"NamedOpInterface"> {
  let cppNamespace = "::stg::chakra";
  let description = [{
    An op whose name is part of paths in a trace: a state, a node, a repeat.
  }];
  let methods = [
    InterfaceMethod<"The name, unique in its scope.", "::mlir::StringAttr",
                    "getNameAttr">,
  ];
  let verify = [{
    return ::stg::chakra::detail::verifyName(
        $_op, ::mlir::cast<ConcreteOp>($_op).getNameAttr().strref());
  }];
}

def NodeOpInterface
    : OpInterface<"NodeOpInterface", [NamedOpInterface]> {
  let cppNamespace = "::stg::chakra";
  let description = [{
    A node of the trace. Its operands are the buffers that it reads, also those that it
    changes in place, and then the values that it only comes after.
  }];
  let methods = [
    InterfaceMethod<"The phase of the step, or null.", "::mlir::StringAttr",
                    "getPhaseAttr">,
    InterfaceMethod<"The values whose nodes it comes after.",
                    "::mlir::OperandRange", "getAfter">,
    InterfaceMethod<"The buffers that it reads or changes.",
      "::mlir::OperandRange", "getBuffers", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/[{
        return $_op->getOperands().drop_back($_op.getAfter().size());
      }]>,
    InterfaceMethod<[{
        The buffer that the result is after the node has changed it in place; null if the
        result is a new buffer or a token.
      }],
      "::mlir::Value", "getChangedBuffer", (ins "unsigned":$result),
      /*methodBody=*/"", /*defaultImplementation=*/"return {};">,
    InterfaceMethod<[{
        Verifies what ties the node to the class of ranks that execute it: axes of the mesh,
        coordinates (null if there are none), sizes of groups.
      }],
      "::llvm::LogicalResult", "verifyInGraph",
      (ins "::stg::MeshAttr":$mesh, "::mlir::DictionaryAttr":$coordinates), /*methodBody=*/"",
      /*defaultImplementation=*/"return ::mlir::success();">,
  ];
}

def MessageOpInterface
    : OpInterface<"MessageOpInterface", [NodeOpInterface]> {
  let cppNamespace = "::stg::chakra";
  let description = [{
    One end of a message between neighbours along a mesh axis.
  }];
  let methods = [
    InterfaceMethod<"The axis of the mesh.", "::llvm::StringRef", "getAxis">,
    InterfaceMethod<"How much further the peer is along the axis.", "uint64_t",
                    "getShift">,
    InterfaceMethod<"The messages that this one is numbered among.",
                    "uint64_t", "getChannel">,
    InterfaceMethod<
      "In a schedule, how far the channels of its turns are apart; null elsewhere.",
      "::mlir::IntegerAttr", "getStrideAttr">,
    InterfaceMethod<"True at the end that sends.", "bool", "isSend">,
    InterfaceMethod<"Of the buffers that travel.", "::mlir::TypeRange",
                    "getMessageTypes">,
  ];
}

#endif // STG_DIALECT_CHAKRA_IR_CHAKRAINTERFACES
