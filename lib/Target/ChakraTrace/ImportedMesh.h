//===- ImportedMesh.h - The mesh that a trace was made for ------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TARGET_CHAKRATRACE_IMPORTEDMESH_H
#define STG_LIB_TARGET_CHAKRATRACE_IMPORTEDMESH_H

#include "ImportedTrace.h"
#include "stg/Dialect/Chakra/IR/ChakraOps.h"
#include "stg/Target/ChakraTrace/Import.h"
#include "stg/TraceProgram/RankSpace.h"
#include <map>

namespace stg::chakra {

/// What surrounds the nodes of a rank.
struct ImportedMesh {
  std::string graphName;
  MeshAttr mesh;
  mlir::DictionaryAttr coordinates; ///< Null if there are none.
  /// By the name of a communication group, its axes.
  std::map<std::string, mlir::ArrayAttr> axes;
};

/// Finds the mesh for the groups that `nodes` use: from the manifest of an
/// export, or, failing that, one axis per group.
mlir::FailureOr<ImportedMesh> findMesh(llvm::ArrayRef<ImportedNode> nodes,
                                       llvm::StringRef file,
                                       const ImportOptions &options,
                                       mlir::Location loc);

} // namespace stg::chakra

#endif // STG_LIB_TARGET_CHAKRATRACE_IMPORTEDMESH_H
