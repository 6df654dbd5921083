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

using namespace stg::trace;
using llvm::StringRef;

static std::string join(StringRef directory, const llvm::Twine &name) {
  llvm::SmallString<128> path(directory);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

static constexpr llvm::StringLiteral kTemporary = ".stg-write-";

FileWriter::FileWriter(StringRef directory, StringRef tag)
    : directory(directory), temporary(join(directory, getTemporaryName(tag))) {
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
  std::string path = join(directory, name);
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
