//===- StageMessages.h - What stages send to each other ---------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage hands on the residual stream. Engines whose norms add to it send its
// two summands instead, and where all devices of a group have what is sent,
// each sends a slice of it.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DIALECT_STG_TRANSFORMS_SCHEDULE_STAGEMESSAGES_H
#define STG_LIB_DIALECT_STG_TRANSFORMS_SCHEDULE_STAGEMESSAGES_H

#include "StageSplitter.h"

namespace stg {

/// Makes forward tasks send the summands of what their last layer adds up: the
/// last iteration is a repeat of its own, and the next stage adds. Messages
/// between stages of one device stay as they are.
llvm::LogicalResult sendSummands(StageSplitter &splitter,
                                 llvm::ArrayRef<unsigned> deviceOf);

/// Makes forward tasks send slices of what all devices along axes of tensors
/// have, which the next stage gathers. What has no dimension that divides
/// evenly is sent whole.
void sendSlices(StageSplitter &splitter, llvm::ArrayRef<unsigned> deviceOf,
                MeshAttr mesh);

} // namespace stg

#endif // STG_LIB_DIALECT_STG_TRANSFORMS_SCHEDULE_STAGEMESSAGES_H
