//===- Totals.h - What one rank of a class does in total --------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TARGET_CHAKRA_TOTALS_H
#define STG_LIB_TARGET_CHAKRA_TOTALS_H

#include "stg/Target/Chakra/Export.h"
#include "stg/Trace/Program/TraceProgram.h"

namespace stg::chakra {

/// All totals but those of memory, which need the program to be run.
ClassTotals computeTotals(const trace::TraceProgram &program,
                          const trace::RankSpace &space);

} // namespace stg::chakra

#endif // STG_LIB_TARGET_CHAKRA_TOTALS_H
