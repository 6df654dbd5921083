//===- Installation.h - Where the files that belong to us lie ---*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Models, presets and machines come with the tools. No path is compiled into a
// tool: they are found from where the tool is, or the library or plugin with
// this code, in an installation and in a build folder alike, and wherever it is
// moved.
//
//===----------------------------------------------------------------------===//

#ifndef STG_SUPPORT_INSTALLATION_H
#define STG_SUPPORT_INSTALLATION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace stg {

/// The folder `share/stg/NAME` in the nearest folder above the file that this
/// code was loaded from, e.g. /usr/share/stg/models for /usr/bin/stg-compile.
/// Empty if there is none.
std::string getShippedFolder(llvm::StringRef name);

/// The folders that the environment variable lists, then the shipped one.
std::vector<std::string> getSearchPath(const char *variable,
                                       llvm::StringRef name);

/// Folders of models, and of the blocks that they import: those given, then
/// $STG_MODELS_PATH, then the shipped one.
std::vector<std::string> getModelPath(llvm::ArrayRef<std::string> extra = {});

} // namespace stg

#endif // STG_SUPPORT_INSTALLATION_H
