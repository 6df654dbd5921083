//===- DirectoryLock.h - One writer at a time -------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TRACE_FILES_DIRECTORYLOCK_H
#define STG_LIB_TRACE_FILES_DIRECTORYLOCK_H

#include "llvm/ADT/StringRef.h"

namespace stg::trace {

/// A lock on a directory itself, so that no file of it is left behind. The
/// kernel takes it back when the process ends, however it ends. It is between
/// the processes of one machine; what they have to agree on with others is in
/// files (ExportDirectory.h).
class DirectoryLock {
public:
  enum class Kind { Shared, Exclusive };

  DirectoryLock() = default;
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock &) = delete;
  DirectoryLock &operator=(const DirectoryLock &) = delete;

  /// False if somebody else has a lock that excludes this one. On a file system
  /// without locks nobody has.
  bool acquire(llvm::StringRef directory, Kind kind);

private:
  int descriptor = -1;
};

} // namespace stg::trace

#endif // STG_LIB_TRACE_FILES_DIRECTORYLOCK_H
