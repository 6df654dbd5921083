//===- TensorMemory.cpp - Memory that the tensors of a rank take ----------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Stats/TensorMemory.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace stg::trace {

/// What is no pair of a name and a number is a violation of rules 8.1 to 8.3,
/// and counts as nothing here.
void TensorMemory::addList(const Node &node, StringRef attribute,
                           bool isWrite) {
  const Attribute *attr = node.attrs.find(attribute);
  if (!attr || attr->kind != AttrKind::StringList)
    return;
  auto index = static_cast<uint32_t>(frames.size() - 1);
  ArrayRef<StringRef> list = node.attrs.getStrings(*attr);
  for (size_t i = 0; i + 1 < list.size(); i += 2) {
    uint64_t bytes = 0;
    if (list[i + 1].getAsInteger(10, bytes))
      continue;
    XXH128_hash_t hash = xxh3_128bits(arrayRefFromStringRef(list[i]));
    auto [it, isNew] = tensors.try_emplace({hash.low64, hash.high64});
    Tensor &tensor = it->second;
    if (isNew)
      tensor = {bytes, index, index, false};
    tensor.last = index;
    tensor.isWritten |= isWrite;
  }
}

void TensorMemory::addNode(const Node &node) {
  frames.push_back(node.frame);
  addList(node, "inputs", /*isWrite=*/false);
  addList(node, "outputs", /*isWrite=*/true);
}

std::optional<MemoryStats>
TensorMemory::finish(function_ref<std::string(uint64_t)> getName) const {
  if (tensors.empty())
    return std::nullopt;
  MemoryStats stats;
  // What comes with a node, and what went after the node before.
  std::vector<Int128> changes(frames.size() + 1);
  for (const auto &[key, tensor] : tensors) {
    if (!tensor.isWritten) {
      stats.persistent += tensor.bytes;
      continue;
    }
    changes[tensor.first] += tensor.bytes;
    changes[tensor.last + 1] -= tensor.bytes;
  }
  Int128 live = stats.persistent;
  size_t peakIndex = 0;
  for (size_t i = 0; i < frames.size(); ++i) {
    live += changes[i];
    if (live <= stats.peak)
      continue;
    stats.peak = live;
    peakIndex = i;
  }
  stats.peakNode = getName(frames[peakIndex]);
  return stats;
}

} // namespace stg::trace
