//===- BundleFolder.h - The files that a bundle stands for ------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The folder that `stg-compile` would have written, with files whose bytes are
// made when they are asked for. What ranks of a class have in common is made
// once and kept, and so are the files that were read last, both up to a number
// of bytes: a simulator that reads all ranks a piece at a time is served from
// them.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TRACE_BUNDLE_BUNDLEFOLDER_H
#define STG_TRACE_BUNDLE_BUNDLEFOLDER_H

#include "stg/Trace/Bundle/TraceBundle.h"
#include "stg/Trace/Program/TraceEncoder.h"
#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <unordered_map>

namespace stg::trace {

/// Values by number; those used last are kept, up to a number of bytes, and the
/// last one in any case. Several threads may use it.
template <typename T> class BoundedCache {
public:
  explicit BoundedCache(uint64_t maxBytes) : maxBytes(maxBytes) {}

  /// The value, made if it is not there. If two threads ask for it at once,
  /// both may make it.
  std::shared_ptr<const T>
  get(uint64_t key, llvm::function_ref<std::shared_ptr<const T>()> make,
      llvm::function_ref<uint64_t(const T &)> getBytes) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      auto found = entries.find(key);
      if (found != entries.end()) {
        uses.splice(uses.begin(), uses, found->second.use);
        return found->second.value;
      }
    }
    std::shared_ptr<const T> value = make();
    std::lock_guard<std::mutex> lock(mutex);
    insert(key, value, getBytes(*value));
    return value;
  }

  uint64_t getBytes() const {
    std::lock_guard<std::mutex> lock(mutex);
    return bytes;
  }

private:
  struct Entry {
    std::shared_ptr<const T> value;
    uint64_t bytes;
    std::list<uint64_t>::iterator use;
  };

  void insert(uint64_t key, std::shared_ptr<const T> value, uint64_t size) {
    if (entries.count(key))
      return;
    while (!uses.empty() && bytes + size > maxBytes) {
      auto last = entries.find(uses.back());
      bytes -= last->second.bytes;
      entries.erase(last);
      uses.pop_back();
    }
    uses.push_front(key);
    entries.insert({key, {std::move(value), size, uses.begin()}});
    bytes += size;
  }

  const uint64_t maxBytes;
  mutable std::mutex mutex;
  uint64_t bytes = 0;
  std::unordered_map<uint64_t, Entry> entries;
  std::list<uint64_t> uses; ///< The last one used is first.
};

/// Several threads may use it.
class BundleFolder {
public:
  /// The bundle must outlive it. Half of `cacheBytes` is for what classes have
  /// in common, half for files.
  BundleFolder(const TraceBundle &bundle, uint64_t cacheBytes);

  /// Files have numbers: traces those of their ranks, then `comm_group.json`
  /// and `manifest.json`.
  uint64_t getNumFiles() const { return numRanks + 2; }
  std::string getName(uint64_t file) const;
  std::optional<uint64_t> find(llvm::StringRef name) const;

  /// The size of a file, without making it if it is a trace.
  uint64_t getSize(uint64_t file);
  /// The bytes of a file, which live as long as the result.
  std::shared_ptr<const std::string> read(uint64_t file);

private:
  /// The traces of a class.
  struct Encoded {
    ClassImage image;
    std::vector<RankField> fields;
  };

  std::shared_ptr<const Encoded> getEncoded(uint64_t rank);
  std::vector<std::string> getFields(const Encoded &encoded,
                                     uint64_t rank) const;
  std::shared_ptr<const std::string> make(uint64_t file);

  const TraceBundle &bundle;
  const uint64_t numRanks;
  BoundedCache<Encoded> classes;
  BoundedCache<std::string> files;
  /// By file; 0: not known yet.
  std::vector<std::atomic<uint64_t>> sizes;
};

} // namespace stg::trace

#endif // STG_TRACE_BUNDLE_BUNDLEFOLDER_H
