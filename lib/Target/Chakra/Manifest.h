//===- Manifest.h - The description of an export ----------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TARGET_CHAKRA_MANIFEST_H
#define STG_LIB_TARGET_CHAKRA_MANIFEST_H

#include "stg/Target/Chakra/Export.h"

namespace stg::chakra {

/// The version of Chakra's schema that we write.
constexpr llvm::StringLiteral kSchemaVersion = "0.0.4";

/// The text of `manifest.json` before and after the value of `ranks_written`.
std::pair<std::string, std::string> makeManifest(const ExportSummary &summary,
                                                 const ExportOptions &options);

} // namespace stg::chakra

#endif // STG_LIB_TARGET_CHAKRA_MANIFEST_H
