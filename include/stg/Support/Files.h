//===- Files.h - Files that tools read and write ----------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever a command line names is read and written here, so that every tool
// keeps the same rules: an input is a regular file, or standard input where
// that is `-`; an output appears under its name when it is complete, and never
// in place of an input; what cannot be written is an error like any other.
//
//===----------------------------------------------------------------------===//

#ifndef STG_SUPPORT_FILES_H
#define STG_SUPPORT_FILES_H

#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <optional>
#include <string>

namespace stg {

/// How a file is read.
struct ReadOptions {
  /// A file with more bytes is an error.
  uint64_t maxBytes = UINT64_MAX;
  /// The byte behind the text is 0, as parsers of MLIR want it.
  bool isNullTerminated = true;
  /// The file is copied: it may change while the buffer lives.
  bool isCopied = false;
};

/// True if there is a file of this name that can be read: a regular one.
bool isRegularFile(const llvm::Twine &path);

/// Reads a file. The error does not name it: "cannot read the file: ...".
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readFile(llvm::StringRef path, const ReadOptions &options = {});

/// Reads a file, or standard input if `path` is `-`.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readInput(llvm::StringRef path, const ReadOptions &options = {});

/// The file that a tool's `-o` names, or standard output. As long as it lives,
/// readFile() and readInput() refuse the file that it would replace, and no
/// other output gets its name; a file that they have read becomes no output.
class OutputFile {
public:
  static llvm::Expected<std::unique_ptr<OutputFile>> open(llvm::StringRef path);
  /// What open() does first: only the name is taken, so that a wrong one is
  /// found before long work. Its folder may appear later; start() then opens
  /// it.
  static llvm::Expected<std::unique_ptr<OutputFile>>
  reserve(llvm::StringRef path);
  llvm::Error start();
  /// What was written is lost, unless keep() was called.
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  llvm::raw_ostream &os() { return stream ? *stream : llvm::outs(); }
  /// Gives what was written the name of the file. To be called once.
  llvm::Error keep();

private:
  explicit OutputFile(llvm::StringRef path) : path(path.str()) {}
  llvm::Error fail(const llvm::Twine &reason) const;

  std::string path;
  /// What is replaced in the end: `path` with links followed. Empty for what is
  /// no file: a device, say.
  std::string target;
  /// Empty if bytes go straight to where they belong: to a device, say.
  std::string temporary;
  unsigned mode = llvm::sys::fs::all_read | llvm::sys::fs::all_write;
  /// The file that has the name now.
  std::optional<llvm::sys::fs::UniqueID> replaced;
  /// None for standard output.
  std::optional<llvm::raw_fd_ostream> stream;
};

} // namespace stg

#endif // STG_SUPPORT_FILES_H
