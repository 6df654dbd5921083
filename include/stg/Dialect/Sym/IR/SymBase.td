//===- SymBase.td - The sym dialect ------------------------*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_SYM_IR_SYMBASE
#define STG_DIALECT_SYM_IR_SYMBASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Sym_Dialect : Dialect {
  let name = "sym";
  let cppNamespace = "::stg";
  let summary = "Symbolic expressions, device meshes and orders of execution";
  let description = [{
    What the `stg` and the `chakra` dialect both speak of: how large something is,
    on how many devices it is, and in which order a device executes it. It has attributes and no ops.

    `#sym.expr<2*B*S/(dp*cp)>` is an exact expression over symbols: sums of products
    with integer exponents and rational coefficients, with `ceildiv`, `min`, `max`
    and `hits` as opaque factors. It has one canonical form, so that equal expressions are
    one attribute. `hits(amount, buckets, chosen, draws)` is the part of an amount in evenly
    filled buckets that is expected in those that any of the draws has taken,
    `amount * (1 - (1 - chosen/buckets)^draws)` to the nearest integer. Types and ops of the other dialects print it bare.
  }];
  let extraClassDeclaration = [{
    /// `expr` is written by hand, the others are generated.
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attr,
                        ::mlir::DialectAsmPrinter &os) const override;
  }];
}

#endif // STG_DIALECT_SYM_IR_SYMBASE
