//===- BundleValidator.cpp - Checks of all ranks of a bundle --------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Bundle/BundleValidator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"

using namespace llvm;
using namespace stg::trace;

namespace {

/// The ranks of a bundle. The first rank of a class is the model of the others.
class BundleRanks : public RankSource {
public:
  BundleRanks(const TraceBundle &bundle, StringRef file);

  uint32_t getNumRanks() const override {
    return static_cast<uint32_t>(space.getNumRanks());
  }
  uint64_t getRank(uint32_t position) const override { return position; }
  std::string getFile(uint32_t position) const override {
    return definitions.file + ": rank " + std::to_string(position);
  }
  std::optional<std::string> getPath(uint32_t) const override {
    return std::nullopt;
  }
  Expected<TraceReader> open(uint32_t position) const override;

  uint32_t getGroup(StringRef name) override;
  uint32_t getNumGroups() const override {
    return static_cast<uint32_t>(table.getNumGroups()) + 1;
  }
  std::string getGroupName(uint32_t group) const override {
    return group == allRanks ? "" : std::to_string(group);
  }
  std::optional<uint64_t> getGroupSize(uint32_t group) const override {
    return space.getGroupSize(getMask(group));
  }
  std::vector<int64_t> getMembers(uint32_t group) const override;
  const CommGroups &getDefinitions() const override { return definitions; }

  uint32_t getModel(uint32_t position) const override {
    return static_cast<uint32_t>(bundle.getClass(position).ranks[0]);
  }
  void bind(uint32_t position, const Bindings &ofModel,
            Bindings &bindings) const override;

private:
  AxisMask getMask(uint32_t group) const {
    return group == allRanks ? space.getAllAxes() : table.getGroup(group).first;
  }

  const TraceBundle &bundle;
  const RankSpace &space;
  const GroupTable &table;
  CommGroups definitions;
};

} // namespace

BundleRanks::BundleRanks(const TraceBundle &bundle, StringRef file)
    : bundle(bundle), space(bundle.getSpace()), table(bundle.getGroups()) {
  definitions.file = file.str();
  for (const TraceBundle::Class &entry : bundle.getClasses()) {
    int64_t model = entry.ranks[0];
    for (AxisMask mask : entry.program.getMasks())
      definitions.members[std::to_string(table.getId(mask, model))] =
          space.getMembers(mask, model);
  }
}

Expected<TraceReader> BundleRanks::open(uint32_t position) const {
  SmallVector<char, 0> trace;
  raw_svector_ostream os(trace);
  bundle.writeRank(position, os);
  return TraceReader(std::make_unique<SmallVectorMemoryBuffer>(
      std::move(trace), getFile(position), /*RequiresNullTerminator=*/false));
}

uint32_t BundleRanks::getGroup(StringRef name) {
  uint32_t group = allRanks;
  // The traces of a bundle name no others.
  bool isNumber = name.empty() || to_integer(name, group, 10);
  assert(isNumber && group < getNumGroups() && "no group of the bundle");
  (void)isNumber;
  return group;
}

std::vector<int64_t> BundleRanks::getMembers(uint32_t group) const {
  if (group == allRanks)
    return space.getMembers(getMask(group), /*rank=*/0);
  auto [mask, rank] = table.getGroup(group);
  return space.getMembers(mask, rank);
}

/// A group spans the same axes. A peer is as far from the rank as that of the
/// model is from the model, whichever way leads there.
void BundleRanks::bind(uint32_t position, const Bindings &ofModel,
                       Bindings &bindings) const {
  for (auto [own, model] : llvm::zip_equal(bindings.groups, ofModel.groups))
    own = model == allRanks
              ? allRanks
              : static_cast<uint32_t>(table.getId(getMask(model), position));
  bindings.peers = ofModel.peers;
  space.translate(bindings.peers, getModel(position), position);
}

ValidationReport stg::trace::validateBundle(const TraceBundle &bundle,
                                            StringRef file,
                                            const ValidatorOptions &options) {
  BundleRanks ranks(bundle, file);
  return validateTrace(ranks, file, options);
}
