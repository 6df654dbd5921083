//===- AstraSim.h - Machines and times as ASTRA-sim has them ----*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The files that ASTRA-sim (analytical, congestion unaware) reads beside
// traces, made of a machine, and what nodes take under its assumptions: compute
// nodes by a roofline, collectives by rings whose links share nothing.
//
//===----------------------------------------------------------------------===//

#ifndef STG_ESTIMATE_ASTRASIM_H
#define STG_ESTIMATE_ASTRASIM_H

#include "stg/Estimate/TraceTimes.h"

namespace stg {

struct AstraConfiguration {
  /// A dimension of the network, from the innermost one.
  struct Dimension {
    std::string topology; ///< Switch, Ring or FullyConnected.
    int64_t ranks = 1;
    double bandwidth = 0; ///< GiB/s of a link.
    double latency = 0;   ///< ns of a hop; a switch is two.
  };
  static constexpr llvm::StringLiteral kNetworkFile = "astra-network.yml",
                                       kSystemFile = "astra-system.json",
                                       kMemoryFile = "astra-memory.json";

  std::vector<Dimension> network;
  double peak = 0;            ///< TFLOP/s.
  double memoryBandwidth = 0; ///< GB/s.
  /// Of the link to the memory of the host, whole GB/s and ns; 0 without one.
  int64_t hostBandwidth = 0, hostLatency = 0;

  int64_t getNumRanks() const;

  /// Of the tiers that so many ranks are on. Fails if they do not fill them.
  static llvm::Expected<AstraConfiguration> get(const Machine &machine,
                                                int64_t numRanks);
  /// Reads the files that write() has made.
  static llvm::Expected<AstraConfiguration> read(llvm::StringRef folder);
  llvm::Error write(llvm::StringRef folder) const;

  /// What nodes take. This must outlive them.
  TraceCosts getCosts() const;

private:
  double getLink(int64_t from, int64_t to, double bytes) const;
  std::vector<double> getRing(trace::CollectiveType type,
                              llvm::ArrayRef<int64_t> members,
                              double bytes) const;
  std::vector<double> getCollective(trace::CollectiveType type,
                                    llvm::ArrayRef<int64_t> members,
                                    double bytes) const;
};

/// The arguments of the simulator for the traces `folder/prefix.<rank>.et`.
std::vector<std::string> getAstraArguments(llvm::StringRef folder,
                                           llvm::StringRef prefix);

} // namespace stg

#endif // STG_ESTIMATE_ASTRASIM_H
