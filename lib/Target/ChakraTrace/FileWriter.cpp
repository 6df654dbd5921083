//===- FileWriter.cpp - Files that appear when they are complete ----------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FileWriter.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"

using namespace stg::chakra;
using llvm::StringRef;

static std::string join(StringRef directory, const llvm::Twine &name) {
  llvm::SmallString<128> path(directory);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

static llvm::Error makeError(StringRef what, StringRef path,
                             std::error_code error) {
  return llvm::createStringError(error, "cannot %s '%s': %s",
                                 what.str().c_str(), path.str().c_str(),
                                 error.message().c_str());
}

FileWriter::FileWriter(StringRef directory, unsigned worker)
    : directory(directory),
      temporary(join(directory, ".stg-write-" + llvm::Twine(worker) + ".tmp")) {
  llvm::sys::RemoveFileOnSignal(temporary);
}

FileWriter::~FileWriter() { llvm::sys::DontRemoveFileOnSignal(temporary); }

llvm::Error
FileWriter::writeTemporary(llvm::function_ref<void(llvm::raw_ostream &)> fill) {
  std::error_code error;
  llvm::raw_fd_ostream os(temporary, error);
  if (error)
    return makeError("create", temporary, error);
  // Large writes bypass the buffer; it gathers what lies between them.
  os.SetBufferSize(1 << 18);
  fill(os);
  os.flush();
  uint64_t size = os.tell();
  os.close();
  error = os.error();
  os.clear_error();
  if (error)
    return makeError("write", temporary, error);
  bytesWritten += size;
  return llvm::Error::success();
}

llvm::Error
FileWriter::write(StringRef name,
                  llvm::function_ref<void(llvm::raw_ostream &)> fill) {
  llvm::Error error = writeTemporary(fill);
  if (!error) {
    std::string path = join(directory, name);
    if (std::error_code code = llvm::sys::fs::rename(temporary, path))
      error = makeError("create", path, code);
  }
  if (error)
    llvm::sys::fs::remove(temporary);
  return error;
}
