//===- DirectoryLock.cpp - One writer at a time ---------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DirectoryLock.h"
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

using namespace stg::trace;

DirectoryLock::~DirectoryLock() {
  if (descriptor >= 0)
    ::close(descriptor);
}

bool DirectoryLock::acquire(llvm::StringRef directory, Kind kind) {
  if (descriptor < 0)
    descriptor =
        ::open(directory.str().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return true; // Whoever writes there will be told why.
  int operation = (kind == Kind::Shared ? LOCK_SH : LOCK_EX) | LOCK_NB;
  int result;
  do {
    result = ::flock(descriptor, operation);
  } while (result != 0 && errno == EINTR);
  return result == 0 || errno != EWOULDBLOCK;
}
