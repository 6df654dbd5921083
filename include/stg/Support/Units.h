//===- Units.h - Bytes and operations for a person --------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_SUPPORT_UNITS_H
#define STG_SUPPORT_UNITS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace stg {

/// The names of a unit and of its multiples, each `factor` times the one
/// before.
struct UnitScale {
  double factor;
  llvm::ArrayRef<llvm::StringLiteral> names;

  /// The largest unit of which `value` has at least one.
  unsigned getUnit(__int128 value) const;
  /// `value` in that unit.
  double scale(__int128 value, unsigned unit) const;
};

/// B, KiB, MiB, ...
const UnitScale &getByteScale();
/// 1, k, M, ...
const UnitScale &getOperationScale();

/// 1610612736 as "1.50 GiB": units of 1024, two digits.
std::string asBytes(__int128 value);
/// 433910000000000 as "433.91 T": units of 1000, two digits.
std::string asOperations(__int128 value);

/// "15e12", "15T", "300 B": a number of things, with a suffix for thousands
/// (K), millions (M), billions (B) or trillions (T). None if it is no number,
/// or less than one.
std::optional<double> parseCount(llvm::StringRef text);

//===----------------------------------------------------------------------===//
// --memory-limit
//===----------------------------------------------------------------------===//

/// The bytes that `--memory-limit` of a tool says, in GiB.
llvm::Expected<int64_t> getMemoryLimit(double gibibytes);

/// What ranks that do the same work need.
struct MemoryNeed {
  std::string name; ///< Of the ranks.
  int64_t numRanks;
  __int128 peak; ///< Of each of them.
};

bool fitsMemory(llvm::ArrayRef<MemoryNeed> needs, __int128 limit);
/// "80.00 GiB: fits", or which ranks it is that need more.
std::string describeMemoryLimit(llvm::ArrayRef<MemoryNeed> needs,
                                __int128 limit);

} // namespace stg

#endif // STG_SUPPORT_UNITS_H
