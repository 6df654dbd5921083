//===- Mixers.h - Ops that go over tokens in order --------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The classes of the ops of STGMixerOps.td: causal convolutions, scans,
// delta rules, the matrix memory and the gated norm.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_MIXERS_H
#define STG_DIALECT_STG_IR_MIXERS_H

#include "stg/Dialect/STG/IR/STG.h"
#include "stg/Dialect/STG/IR/STGOpBase.h"

#define GET_OP_CLASSES
#include "stg/Dialect/STG/IR/STGMixerOps.h.inc"

namespace stg {

/// The convolution and what is behind it, in order, as far as kernels do not
/// save what these give: backward makes it again. It is what an activation
/// reads, as causal_conv1d has it, and in front of a scan of Mamba or Mamba-2
/// the activation, too. Empty if no activation is behind the convolution, which
/// a bias may be before.
llvm::SmallVector<mlir::Operation *> getMadeAgain(CausalConvOp conv);

} // namespace stg

#endif // STG_DIALECT_STG_IR_MIXERS_H
