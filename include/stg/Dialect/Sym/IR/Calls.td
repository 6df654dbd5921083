//===- Calls.td - What calls of both dialects answer -------*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_SYM_IR_CALLS
#define STG_DIALECT_SYM_IR_CALLS

/// What a callable and a call have to answer: arguments and results have no attributes.
class Sym_NoArgAttrs {
  code methods = [{
    ::mlir::ArrayAttr getArgAttrsAttr() { return {}; }
    ::mlir::ArrayAttr getResAttrsAttr() { return {}; }
    void setArgAttrsAttr(::mlir::ArrayAttr) {}
    void setResAttrsAttr(::mlir::ArrayAttr) {}
    ::mlir::Attribute removeArgAttrsAttr() { return {}; }
    ::mlir::Attribute removeResAttrsAttr() { return {}; }
  }];
}

/// A call of `first`, `next` or `last`, by when it is executed. What it passes on is in no
/// operand and in no result, so that to MLIR it calls the first of them that is there.
class Sym_TurnCall {
  code methods = [{
    /// The functions that are there, in this order.
    ::llvm::SmallVector<::mlir::FlatSymbolRefAttr, 3> getCallees() {
      ::llvm::SmallVector<::mlir::FlatSymbolRefAttr, 3> callees;
      for (auto callee : {getFirstAttr(), getNextAttr(), getLastAttr()})
        if (callee)
          callees.push_back(callee);
      return callees;
    }
    ::mlir::CallInterfaceCallable getCallableForCallee() {
      return ::mlir::SymbolRefAttr(getCallees().front());
    }
    void setCalleeFromCallable(::mlir::CallInterfaceCallable callee) {
      auto name = ::mlir::cast<::mlir::FlatSymbolRefAttr>(
          ::mlir::cast<::mlir::SymbolRefAttr>(callee));
      if (getFirst())
        setFirstAttr(name);
      else if (getNext())
        setNextAttr(name);
      else
        setLastAttr(name);
    }
    ::mlir::Operation::operand_range getArgOperands() { return getOperands(); }
    ::mlir::MutableOperandRange getArgOperandsMutable() {
      return getOperandsMutable();
    }
  }] # Sym_NoArgAttrs<>.methods;
}

#endif // STG_DIALECT_SYM_IR_CALLS
