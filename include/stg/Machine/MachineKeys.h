//===- MachineKeys.h - The numbers that a machine may have ------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_MACHINE_MACHINEKEYS_H
#define STG_MACHINE_MACHINEKEYS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace stg {

/// What a number counts.
enum class Dimension : uint8_t { Number, Time, Bytes, Bandwidth, Rate };

/// A unit and what one of it is in s, B, B/s or FLOP/s.
struct MachineUnit {
  llvm::StringLiteral name;
  Dimension dimension;
  double factor;
};

/// A key of a machine. A `*` in the pattern stands for one name: of an element
/// type, of a kernel, of a tier or of a collective.
struct MachineKey {
  llvm::StringLiteral pattern;
  Dimension dimension;
  double least, most; ///< In the units of MachineUnit::factor.
};

llvm::ArrayRef<MachineKey> getMachineKeys();
/// Null if no pattern fits.
const MachineKey *findMachineKey(llvm::StringRef key);
/// "is no number of a machine", and what may have been meant; or which name in
/// it is not known.
std::string describeUnknownKey(llvm::StringRef key);
/// Null if there is none of this name.
const MachineUnit *findMachineUnit(llvm::StringRef name);
/// "ns, us, ms or s".
std::string listMachineUnits(Dimension dimension);

/// The error does not name the key: "expected ...".
llvm::Error checkMachineNumber(const MachineKey &key, const MachineUnit &unit,
                               double given);

/// An element type of products, as machines call it.
struct PeakType {
  llvm::StringLiteral name;
  double bytes; ///< Of one element.
};
/// A machine has the peak of one of them at least. The first one that it has
/// stands for those that it does not have.
llvm::ArrayRef<PeakType> getPeakTypes();

/// The collectives that a tier may have times or factors of.
llvm::ArrayRef<llvm::StringLiteral> getMachineCollectives();

} // namespace stg

#endif // STG_MACHINE_MACHINEKEYS_H
