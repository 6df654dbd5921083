//===- FileWriter.h - Files that appear when they are complete --*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TRACE_FILES_FILEWRITER_H
#define STG_LIB_TRACE_FILES_FILEWRITER_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace stg::trace {

/// Writes files in one directory, one after the other, through one temporary
/// file there. It is removed when writing fails or a signal ends the process; a
/// process that is killed outright leaves it for the end of the set. Writers
/// that work in one directory at the same time have different tags.
class FileWriter {
public:
  FileWriter(llvm::StringRef directory, llvm::StringRef tag);
  ~FileWriter();
  FileWriter(const FileWriter &) = delete;
  FileWriter &operator=(const FileWriter &) = delete;

  /// Makes the file `name` of what `fill` writes, replacing a file of that
  /// name.
  llvm::Error write(llvm::StringRef name,
                    llvm::function_ref<void(llvm::raw_ostream &)> fill);

  /// Makes the file `name` of `bytes`, without copying them first.
  llvm::Error write(llvm::StringRef name, llvm::StringRef bytes);

  /// The name of a file that is being written.
  static std::string getTemporaryName(const llvm::Twine &tag);

  /// True for the name of a file that is, or was, being written.
  static bool isTemporary(llvm::StringRef name);

  uint64_t getBytesWritten() const { return bytesWritten; }

private:
  llvm::Error write(llvm::StringRef name, size_t bufferSize,
                    llvm::function_ref<void(llvm::raw_ostream &)> fill);
  std::error_code
  writeAndRename(llvm::StringRef path, size_t bufferSize,
                 llvm::function_ref<void(llvm::raw_ostream &)> fill);
  std::error_code
  writeTemporary(size_t bufferSize,
                 llvm::function_ref<void(llvm::raw_ostream &)> fill);

  std::string directory, temporary;
  uint64_t bytesWritten = 0;
};

} // namespace stg::trace

#endif // STG_LIB_TRACE_FILES_FILEWRITER_H
