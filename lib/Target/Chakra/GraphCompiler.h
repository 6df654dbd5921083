//===- GraphCompiler.h - Programs from graphs -------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TARGET_CHAKRA_GRAPHCOMPILER_H
#define STG_LIB_TARGET_CHAKRA_GRAPHCOMPILER_H

#include "mlir/Support/LLVM.h"
#include "stg/Dialect/Chakra/IR/ChakraOps.h"
#include "stg/Trace/Program/TraceProgram.h"

namespace stg::chakra {

/// The ranks of a graph's mesh. Emits an error at `graph` if a size is no
/// number, or the mesh is too large.
mlir::FailureOr<trace::RankSpace> getRankSpace(GraphOp graph);

/// The ranks that execute `graph`; emits an error if a coordinate lies outside
/// of `space`.
mlir::FailureOr<trace::RankClass> getRankClass(GraphOp graph,
                                               const trace::RankSpace &space);

/// The axes of these names that have more than one rank. The names exist.
trace::AxisMask getMask(const trace::RankSpace &space, mlir::ArrayAttr names);

/// The program of a graph; names in it are those of the IR, which must outlive
/// it. Simulators cut a collective into `splits` chunks: a payload that does
/// not split evenly over chunks and ranks is padded until it does. Subsets of
/// axes are added to `space`. Emits an error at the op that has no number where
/// one is needed, a number that does not fit, or more nodes than consumers can
/// address.
mlir::FailureOr<trace::TraceProgram>
compileGraph(GraphOp graph, trace::RankSpace &space, unsigned splits);

} // namespace stg::chakra

#endif // STG_LIB_TARGET_CHAKRA_GRAPHCOMPILER_H
