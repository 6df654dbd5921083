//===- BundleStats.h - Totals of a bundle -----------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_TRACE_BUNDLE_BUNDLESTATS_H
#define STG_TRACE_BUNDLE_BUNDLESTATS_H

#include "stg/Trace/Bundle/TraceBundle.h"
#include "stg/Trace/Stats/TraceStats.h"

namespace stg::trace {

/// Totals of the ranks of a bundle, as `computeStats` would find them in their
/// files. One rank of each class is decoded; what differs on the others is
/// computed.
class BundleStats : public TraceStats {
public:
  /// The bundle must outlive the object.
  BundleStats(const TraceBundle &bundle, llvm::StringRef file);

  std::string getName() const override { return file; }
  uint64_t getNumRanks() const override {
    return bundle.getSpace().getNumRanks();
  }
  void forEachClass(
      llvm::function_ref<void(const ClassStats &)> visit) const override;
  void
  forEachRank(uint64_t first, uint64_t end,
              llvm::function_ref<void(const RankStats &)> visit) const override;
  std::optional<uint64_t> getGroupSize(llvm::StringRef group) const override;
  std::vector<int64_t> getMembers(llvm::StringRef group) const override;

private:
  RankStats getRank(int64_t rank) const;
  std::optional<int64_t> findGroup(llvm::StringRef group) const;

  const TraceBundle &bundle;
  std::string file;
  std::vector<RankStats> first; ///< Of each class.
};

} // namespace stg::trace

#endif // STG_TRACE_BUNDLE_BUNDLESTATS_H
