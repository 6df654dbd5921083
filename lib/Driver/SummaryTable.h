//===- SummaryTable.h - Classes of ranks as one table -----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_DRIVER_SUMMARYTABLE_H
#define STG_LIB_DRIVER_SUMMARYTABLE_H

#include "stg/Target/Chakra/Export.h"

namespace stg {

/// 1610612736 as "1.50 GiB": units of 1024, two digits.
std::string asBytes(__int128 value);
/// 433910000000000 as "433.91 T": units of 1000, two digits.
std::string asOperations(__int128 value);

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

/// True if the peak of every class is within so many bytes.
bool fitsMemory(const chakra::ExportSummary &summary, __int128 limit);
/// Says whether the peak of every class is within so many bytes, and of which
/// it is not.
void printMemoryLimit(const chakra::ExportSummary &summary, __int128 limit,
                      llvm::raw_ostream &os);

} // namespace stg

#endif // STG_LIB_DRIVER_SUMMARYTABLE_H
