//===- Machine.h - What a machine can do, with sources ----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A machine is a JSON file: numbers under dotted keys, each with a unit and a
// source, and tiers of network from the innermost one. docs/Machines.md says
// what the keys mean.
//
//===----------------------------------------------------------------------===//

#ifndef STG_MACHINE_MACHINE_H
#define STG_MACHINE_MACHINE_H

#include "stg/Machine/MachineKeys.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stg {

/// A number of a machine.
struct Quantity {
  double value = 0;   ///< In s, B, B/s or FLOP/s, whatever the file says.
  double given = 0;   ///< As the file says it,
  std::string unit;   ///< in this unit.
  std::string source; ///< Where it is from, in words.
  std::string fitted; ///< The runs that it was fitted on; empty if it was not.
};

enum class Topology : uint8_t { Switch, Rails, Torus, FullyConnected, Ring };

/// Measured times of a collective of so many ranks.
struct CollectiveTimes {
  int64_t ranks;
  std::string source;
  /// Bytes and seconds, both ascending.
  std::vector<std::pair<double, double>> points;
};

/// Ranks that reach each other in one way. Its numbers are quantities of the
/// machine, under `network.<name>.`.
struct NetworkTier {
  std::string name;
  Topology topology = Topology::Switch;
  /// Ranks that it joins; none if it joins all of them.
  std::optional<int64_t> ranks;
  /// Of a torus: dimensions, and links of a device.
  int64_t dimensions = 0, links = 0;
  /// By collective, and there by ranks.
  std::map<std::string, std::vector<CollectiveTimes>> times;

  /// Measured times follow a "bandwidth" or "latency" that is `factor` times
  /// the one that they were measured with; other members change nothing.
  void scaleTimes(llvm::StringRef member, double factor);
};

class Machine {
public:
  /// Reads a machine: a file, or one that comes with the tools, by its name or
  /// by a name that it is also known as.
  static llvm::Expected<Machine> load(llvm::StringRef name);
  /// The same with other numbers, each as `set` takes it.
  static llvm::Expected<Machine> load(llvm::StringRef name,
                                      llvm::ArrayRef<std::string> changes);
  /// The names of those that come with the tools, sorted.
  static std::vector<std::string> listNames();

  /// Fails if numbers are missing or exclude each other, as after changes.
  llvm::Error check() const;
  /// Changes one number, `KEY=VALUE`. A value has a unit, or is in that of the
  /// number that it replaces.
  llvm::Error set(llvm::StringRef assignment);

  llvm::StringRef getName() const { return name; }
  /// Where it was read.
  llvm::StringRef getFile() const { return file; }
  llvm::StringRef getDescription() const { return description; }
  llvm::ArrayRef<std::string> getAliases() const { return aliases; }
  /// From the innermost one. Each but the last has ranks.
  llvm::ArrayRef<NetworkTier> getTiers() const { return tiers; }

  /// Null if the machine does not say it.
  const Quantity *find(llvm::StringRef key) const;
  /// In s, B, B/s or FLOP/s.
  std::optional<double> get(llvm::StringRef key) const;
  /// The element type whose rates stand for those of products that the machine
  /// does not have: wider elements take as much longer as they are wider.
  const PeakType &getReferenceType() const;
  /// All numbers, by key.
  const std::map<std::string, Quantity, std::less<>> &getQuantities() const {
    return quantities;
  }

private:
  friend class MachineReader;

  const NetworkTier *findTier(llvm::StringRef name) const;
  NetworkTier *findTier(llvm::StringRef name);
  llvm::Error setRanks(llvm::StringRef key, llvm::StringRef text);
  llvm::Error checkNames(llvm::StringRef key) const;
  llvm::Error checkTiers() const;
  /// Nobody has compared steps of this machine with those of another.
  void forgetErrors();

  std::string name, file, description;
  std::vector<std::string> aliases;
  std::vector<NetworkTier> tiers;
  std::map<std::string, Quantity, std::less<>> quantities;
};

} // namespace stg

#endif // STG_MACHINE_MACHINE_H
