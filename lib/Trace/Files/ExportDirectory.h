//===- ExportDirectory.h - Whose traces a directory holds -------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// While a set is written, `.stg-export` has its fingerprint; when it is
// complete, `manifest.json` has. So a process that finds its own fingerprint
// knows that each trace under its final name is one of its set. Processes on
// different machines share nothing but the directory, and all that they do in
// it is to make files appear: that is atomic on all file systems.
//
// What is removed, or changes hands, is not: it takes an exclusive lock, which
// those who fill in a set share.
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TRACE_FILES_EXPORTDIRECTORY_H
#define STG_LIB_TRACE_FILES_EXPORTDIRECTORY_H

#include "DirectoryLock.h"
#include "FileWriter.h"
#include "stg/Trace/Files/TraceWriter.h"

namespace stg::trace {

class ExportDirectory {
public:
  ExportDirectory(const TraceBundle &bundle, llvm::StringRef directory)
      : bundle(bundle), directory(directory),
        fingerprint(bundle.getFingerprintText()) {}

  /// Makes the directory ready for a whole set: what another export left goes.
  llvm::Error replace();
  /// Makes it ready for the rest of a whole set.
  llvm::Error resume();
  /// Makes it ready for a part of a set.
  llvm::Error join();
  /// Makes it ready for the bundle of a set, which claims nothing.
  llvm::Error prepareBundle();
  /// To be called when all files of `ranks` are there.
  llvm::Error finishPart(RankRange ranks);
  llvm::Error finishWhole();

  /// True if there is a file of this name and size.
  bool hasFile(llvm::StringRef name, uint64_t size) const;

private:
  llvm::Error create();
  llvm::Error lock(DirectoryLock::Kind kind);
  llvm::Error checkOwner() const;
  llvm::Expected<bool> isJoined();
  std::string getPath(const llvm::Twine &name) const;
  llvm::Error remove(llvm::StringRef name);
  llvm::Expected<std::vector<std::string>> list() const;
  std::optional<int64_t> getRank(llvm::StringRef name) const;
  std::optional<std::string> getOwner() const;
  bool isOwnBundle() const;
  std::error_code setOwner(llvm::StringRef text, bool replace);
  llvm::Error claim();
  llvm::Error writeManifest(llvm::StringRef name, RankRange ranks);
  llvm::Error clean();
  llvm::Error cleanRest();

  const TraceBundle &bundle;
  std::string directory, fingerprint;
  DirectoryLock writers;
};

} // namespace stg::trace

#endif // STG_LIB_TRACE_FILES_EXPORTDIRECTORY_H
