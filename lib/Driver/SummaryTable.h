//===- SummaryTable.h - Classes of ranks as one table -----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DRIVER_SUMMARYTABLE_H
#define STG_LIB_DRIVER_SUMMARYTABLE_H

#include "stg/Support/Units.h"
#include "stg/Target/Chakra/Export.h"

namespace stg {

/// What a class is called in summaries: "stage 3", or its coordinates on all
/// axes that tell classes apart, "stage 3, cp 1".
std::string describeClass(const chakra::ExportSummary &summary,
                          const chakra::ClassSummary &entry);

/// A coordinate on an axis: "stage 3" on the one that messages are sent along,
/// else "cp 3".
std::string describePlace(const chakra::ExportSummary &summary,
                          llvm::StringRef axis, int64_t coordinate);

/// One row for each class of ranks, with what one of its ranks does:
/// operations, payloads of collectives by axes, messages, memory at its peak by
/// category. Neighbours with equal rows share one.
void printClassTable(const chakra::ExportSummary &summary,
                     llvm::raw_ostream &os);

/// What the ranks of each class need at their peak.
std::vector<MemoryNeed> getMemoryNeeds(const chakra::ExportSummary &summary);

} // namespace stg

#endif // STG_LIB_DRIVER_SUMMARYTABLE_H
