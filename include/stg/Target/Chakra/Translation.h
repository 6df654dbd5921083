//===- Translation.h - Command line of the trace translations ---*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_TARGET_CHAKRA_TRANSLATION_H
#define STG_TARGET_CHAKRA_TRANSLATION_H

namespace stg::chakra {

/// Registers `--chakra-to-traces`, `--traces-to-chakra` and `--unbundle` with
/// their options.
void registerChakraTraceTranslations();

} // namespace stg::chakra

#endif // STG_TARGET_CHAKRA_TRANSLATION_H
