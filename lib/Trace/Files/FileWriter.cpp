//===- FileWriter.cpp - Files that appear when they are complete ----------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FileWriter.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/xxhash.h"
#include <unistd.h>

using namespace stg::trace;
using llvm::StringRef;

static std::string joinPath(StringRef directory, const llvm::Twine &name) {
  llvm::SmallString<128> path(directory);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

static constexpr llvm::StringLiteral kTemporary = ".stg-write-";

/// Different for processes that share a directory, whatever machine they run
/// on: two may write the same file, to have what is missing.
static const std::string &getProcessName() {
  static const std::string name = [] {
    char host[256] = {};
    ::gethostname(host, sizeof(host) - 1);
    return llvm::utohexstr(llvm::xxh3_64bits(StringRef(host)),
                           /*LowerCase=*/true) +
           "-" + std::to_string(llvm::sys::Process::getProcessId());
  }();
  return name;
}

FileWriter::FileWriter(StringRef directory, StringRef tag)
    : directory(directory),
      temporary(joinPath(directory, getTemporaryName(getProcessName() + "-" +
                                                     llvm::Twine(tag)))) {
  llvm::sys::RemoveFileOnSignal(temporary);
}

FileWriter::~FileWriter() { llvm::sys::DontRemoveFileOnSignal(temporary); }

std::string FileWriter::getTemporaryName(const llvm::Twine &tag) {
  return (kTemporary + tag).str();
}

bool FileWriter::isTemporary(StringRef name) {
  return name.starts_with(kTemporary);
}

std::error_code
FileWriter::writeTemporary(size_t bufferSize,
                           llvm::function_ref<void(llvm::raw_ostream &)> fill) {
  std::error_code error;
  llvm::raw_fd_ostream os(temporary, error);
  if (error)
    return error;
  if (bufferSize)
    os.SetBufferSize(bufferSize);
  else
    os.SetUnbuffered();
  fill(os);
  os.flush();
  uint64_t size = os.tell();
  os.close();
  error = os.error();
  os.clear_error();
  if (!error)
    bytesWritten += size;
  return error;
}

std::error_code
FileWriter::writeAndRename(StringRef path, size_t bufferSize,
                           llvm::function_ref<void(llvm::raw_ostream &)> fill) {
  std::error_code error = writeTemporary(bufferSize, fill);
  return error ? error : llvm::sys::fs::rename(temporary, path);
}

llvm::Error
FileWriter::write(StringRef name, size_t bufferSize,
                  llvm::function_ref<void(llvm::raw_ostream &)> fill) {
  std::string path = joinPath(directory, name);
  std::error_code error = writeAndRename(path, bufferSize, fill);
  // Whoever finishes a set removes what killed processes were writing, and
  // cannot tell our file from those.
  if (error == std::errc::no_such_file_or_directory)
    error = writeAndRename(path, bufferSize, fill);
  if (!error)
    return llvm::Error::success();
  llvm::sys::fs::remove(temporary);
  return llvm::createStringError(error, "cannot write '%s': %s", path.c_str(),
                                 error.message().c_str());
}

llvm::Error
FileWriter::write(StringRef name,
                  llvm::function_ref<void(llvm::raw_ostream &)> fill) {
  return write(name, /*bufferSize=*/1 << 18, fill);
}

llvm::Error FileWriter::write(StringRef name, StringRef bytes) {
  return write(name, /*bufferSize=*/0,
               [&](llvm::raw_ostream &os) { os << bytes; });
}
