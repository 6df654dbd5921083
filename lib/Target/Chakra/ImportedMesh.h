//===- ImportedMesh.h - The mesh that a trace was made for ------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TARGET_CHAKRA_IMPORTEDMESH_H
#define STG_LIB_TARGET_CHAKRA_IMPORTEDMESH_H

#include "ImportedTrace.h"
#include "stg/Dialect/Chakra/IR/ChakraOps.h"
#include "stg/Target/Chakra/Import.h"
#include "stg/Trace/Program/RankSpace.h"
#include <map>

namespace stg::chakra {

/// The group of a rank.
struct ImportedGroup {
  mlir::ArrayAttr axes;
  mlir::DenseI64ArrayAttr among; ///< Null if it has all ranks along the axes.
  SymExpr size;
};

/// The way from a rank to another along an axis.
struct ImportedHop {
  std::string axis;
  int64_t shift;
};

/// What surrounds the nodes of a rank.
struct ImportedMesh {
  std::string graphName;
  MeshAttr mesh;
  mlir::DictionaryAttr coordinates;            ///< Null if there are none.
  std::map<std::string, ImportedGroup> groups; ///< By name.
  /// By the rank of a peer that messages come from or go to.
  std::map<int64_t, ImportedHop> hops;
};

/// Finds the mesh for the groups and peers that `nodes` communicate with: from
/// the manifest of an export, or, failing that, one axis per group, and one of
/// all ranks for messages.
mlir::FailureOr<ImportedMesh> findMesh(llvm::ArrayRef<ImportedNode> nodes,
                                       llvm::StringRef file,
                                       const ImportOptions &options,
                                       mlir::Location loc);

} // namespace stg::chakra

#endif // STG_LIB_TARGET_CHAKRA_IMPORTEDMESH_H
