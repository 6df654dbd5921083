//===- AttentionPlaces.h - Keys that depend on places -----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DIALECT_STG_IR_ATTENTIONPLACES_H
#define STG_DIALECT_STG_IR_ATTENTIONPLACES_H

#include "stg/Dialect/STG/IR/STG.h"

namespace stg {

/// True if more than the causal mask says which keys a query sees, so that it
/// matters which tokens of a row a device has. Of a square that is counted in
/// full it is its document alone.
bool dependsOnPlace(AttentionOpInterface op);

} // namespace stg

#endif // STG_DIALECT_STG_IR_ATTENTIONPLACES_H
