//===- STGAllOps.td - All operations of the stg dialect ----*- tablegen -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the reference of the dialect is generated from. The C++ classes of the
// mixers are apart from the others.
//
//===----------------------------------------------------------------------===//

include "stg/Dialect/STG/IR/STGOps.td"
include "stg/Dialect/STG/IR/STGMixerOps.td"
