//===- Import.h - Models from configurations ------------------ -*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `config.json` as model hubs have them becomes the text of a model that is
// composed of the library's blocks. Nothing here knows a family: what is known
// of them is in tables (stg/Import/Family.h).
//
//===----------------------------------------------------------------------===//

#ifndef STG_IMPORT_IMPORT_H
#define STG_IMPORT_IMPORT_H

#include "stg/Support/Messages.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <set>
#include <string>

namespace stg {
namespace importer {
class FamilyLibrary;
}

struct ImportOptions {
  /// What messages call the file, and what the model is called after.
  std::string file;
  /// The text is the table of a family, and the configuration that of this
  /// name among its sizes.
  std::string size;
  /// A quantized configuration is that of the model before.
  bool ignoresQuantization = false;
  /// Parameters of the strategy that are given, such as `mtp`: what they add to
  /// the model is not told as left out.
  std::set<std::string> given;
};

struct ImportedModel {
  std::string name, family;
  std::string text; ///< That of a `.mlir` file with one configuration.
};

using MessageHandler = llvm::function_ref<void(const ToolMessage &)>;

/// True if a file of this name is read as a configuration, not as a model.
bool isConfigFile(llvm::StringRef path);

/// Makes a model. Each thing that is wrong is told once, with its place, and
/// so is what the model leaves out.
std::optional<ImportedModel> importConfig(llvm::StringRef text,
                                          const ImportOptions &options,
                                          importer::FamilyLibrary &families,
                                          MessageHandler tell);

} // namespace stg

#endif // STG_IMPORT_IMPORT_H
