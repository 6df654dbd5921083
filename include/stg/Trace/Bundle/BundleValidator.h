//===- BundleValidator.h - Checks of all ranks of a bundle ------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_TRACE_BUNDLE_BUNDLEVALIDATOR_H
#define STG_TRACE_BUNDLE_BUNDLEVALIDATOR_H

#include "stg/Trace/Bundle/TraceBundle.h"
#include "stg/Trace/Validate/TraceValidator.h"

namespace stg::trace {

/// Validates the traces of all ranks, as if they were files. One rank of each
/// class is decoded; the groups and peers of the others are computed. `file` is
/// the name of the bundle in messages.
ValidationReport validateBundle(const TraceBundle &bundle, llvm::StringRef file,
                                const ValidatorOptions &options);

} // namespace stg::trace

#endif // STG_TRACE_BUNDLE_BUNDLEVALIDATOR_H
