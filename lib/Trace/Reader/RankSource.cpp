//===- RankSource.cpp - Where the ranks of a trace come from --------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks from files.
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Reader/RankSource.h"

#include "llvm/Support/ErrorHandling.h"

using namespace llvm;

namespace stg::trace {

RankSource::~RankSource() = default;

void RankSource::bind(uint32_t, const Bindings &, Bindings &) const {
  llvm_unreachable("every rank is its own model");
}

FileRanks::FileRanks(ArrayRef<RankInput> inputs, const CommGroups &definitions)
    : inputs(inputs), definitions(definitions) {
  getGroup(""); // Becomes number 0.
}

std::optional<std::string> FileRanks::getPath(uint32_t position) const {
  const RankInput &input = inputs[position];
  if (input.buffer || input.path == "-")
    return std::nullopt;
  return input.path;
}

Expected<TraceReader> FileRanks::open(uint32_t position) const {
  const RankInput &input = inputs[position];
  if (input.buffer)
    return TraceReader(*input.buffer);
  return TraceReader::open(input.path);
}

uint32_t FileRanks::getGroup(StringRef name) {
  std::lock_guard<std::mutex> lock(mutex);
  auto [it, isNew] =
      numbers.try_emplace(name, static_cast<uint32_t>(names.size()));
  if (isNew)
    names.push_back(it->getKey());
  return it->second;
}

std::optional<uint64_t> FileRanks::getGroupSize(uint32_t group) const {
  if (group == allRanks)
    return inputs.size();
  const std::vector<int64_t> *members = definitions.find(names[group]);
  if (!members)
    return std::nullopt;
  return members->size();
}

std::vector<int64_t> FileRanks::getMembers(uint32_t group) const {
  if (const std::vector<int64_t> *members = definitions.find(names[group]))
    return *members;
  std::vector<int64_t> all;
  if (group == allRanks)
    for (const RankInput &input : inputs)
      all.push_back(static_cast<int64_t>(input.rank));
  return all;
}

} // namespace stg::trace
