//===- ModelLibrary.h - Finds models ----------------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DRIVER_MODELLIBRARY_H
#define STG_LIB_DRIVER_MODELLIBRARY_H

#include "mlir/IR/OwningOpRef.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "stg/Driver/Compile.h"
#include "stg/Import/Family.h"
#include "stg/Support/Error.h"
#include "llvm/Support/SourceMgr.h"

namespace stg {

/// What the handler of diagnostics has been told.
inline llvm::Error makeDiagnosed() { return makeError(""); }

/// A model file in memory and the configuration chosen in it.
struct Model {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string file;
  std::string family; ///< What the file, or the configuration, says it is.
  ConfigOp
      config; ///< Null if the file has none, or several and none was chosen.
};

/// The models in the folders of models. What has been read of them is kept for
/// the next model: a library is for one call of a user, and for one thread.
class ModelLibrary {
public:
  explicit ModelLibrary(std::vector<std::string> path)
      : path(std::move(path)), families(this->path) {}

  /// The file with a configuration of that name, or that is one.
  std::optional<std::string> find(llvm::StringRef name);
  /// The names of all models, sorted.
  std::vector<std::string> list();

  llvm::ArrayRef<std::string> getPath() const { return path; }
  importer::FamilyLibrary &getFamilies() { return families; }

private:
  llvm::ArrayRef<std::string> getConfigs(llvm::StringRef file);

  std::vector<std::string> path;
  importer::FamilyLibrary families;
  /// The names of the configurations in files of models.
  std::map<std::string, std::vector<std::string>> configs;
};

/// Parses the text of the request, or its file, or the library file that has a
/// configuration of that name. A file that is a configuration itself is made a
/// model first. Errors in it go to the context's handler, and an
/// error without a message is returned. The library is that of the request's
/// path.
llvm::Expected<Model> loadModel(mlir::MLIRContext &context,
                                const CompileRequest &request,
                                ModelLibrary &library, llvm::SourceMgr &sources,
                                const MessagePrinter &printer);
llvm::Expected<Model> loadModel(mlir::MLIRContext &context,
                                const CompileRequest &request,
                                llvm::SourceMgr &sources,
                                const MessagePrinter &printer);

/// Puts blocks in the place of their calls. What follows from a model follows
/// from what is there with its options, which have their values.
/// Parameters of the blocks of `frozen`, patterns of names, are not trained.
llvm::Error inlineBlocks(mlir::ModuleOp module,
                         llvm::ArrayRef<std::string> frozen = {});

} // namespace stg

#endif // STG_LIB_DRIVER_MODELLIBRARY_H
