//===- ExportDirectory.cpp - Whose traces a directory holds ---------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExportDirectory.h"
#include "stg/Support/Error.h"
#include "stg/Support/Files.h"
#include "stg/Support/JSON.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace llvm;
using namespace stg;
using namespace stg::trace;

static constexpr StringLiteral kManifest = "manifest.json";
static constexpr StringLiteral kOwner = ".stg-export";
/// Instead of a fingerprint while what another export left is removed.
static constexpr StringLiteral kClearing = "clearing";

std::string ExportDirectory::getPath(const Twine &name) const {
  SmallString<128> path(directory);
  sys::path::append(path, name);
  return path.str().str();
}

Error ExportDirectory::create() {
  if (std::error_code error = sys::fs::create_directories(
          directory, /*IgnoreExisting=*/true, sys::fs::all_all))
    return makeError("cannot create directory '" + Twine(directory) +
                     "': " + error.message());
  if (!sys::fs::is_directory(directory))
    return makeError("'" + Twine(directory) + "' is not a directory");
  return Error::success();
}

/// Keeps others out: all, or those who want to be alone.
Error ExportDirectory::lock(DirectoryLock::Kind kind) {
  if (writers.acquire(directory, kind))
    return Error::success();
  return makeError("'" + Twine(directory) +
                   "' is being written by another process; wait until that "
                   "has ended, or choose another directory");
}

/// Fails if another set took our place, which only processes of other machines
/// can do.
Error ExportDirectory::checkOwner() const {
  if (getOwner() == fingerprint)
    return Error::success();
  return makeError("another set of traces was written to '" + Twine(directory) +
                   "' at the same time; write both again, to directories of "
                   "their own");
}

Error ExportDirectory::remove(StringRef name) {
  std::string path = getPath(name);
  if (std::error_code error = sys::fs::remove(path))
    return makeError("cannot remove '" + path +
                     "' of an earlier export: " + error.message());
  return Error::success();
}

/// The names of all files.
Expected<std::vector<std::string>> ExportDirectory::list() const {
  std::vector<std::string> names;
  std::error_code error;
  for (sys::fs::directory_iterator it(directory, error), end;
       it != end && !error; it.increment(error))
    names.push_back(sys::path::filename(it->path()).str());
  if (error)
    return makeError("cannot list '" + Twine(directory) +
                     "': " + error.message());
  return std::move(names);
}

/// The rank whose trace would have this name.
std::optional<int64_t> ExportDirectory::getRank(StringRef name) const {
  int64_t rank;
  if (!name.consume_front(bundle.getPrefix()) || !name.consume_front(".") ||
      !name.consume_back(".et") || name.getAsInteger(10, rank) || rank < 0)
    return std::nullopt;
  return rank;
}

/// The fingerprint of the set that the directory holds, or part of it; empty
/// for a manifest that has none.
std::optional<std::string> ExportDirectory::getOwner() const {
  ReadOptions options;
  options.maxBytes = 4096;
  if (auto buffer = readFile(getPath(kOwner), options))
    return (*buffer)->getBuffer().trim().str();
  else
    consumeError(buffer.takeError());
  if (!sys::fs::exists(getPath(kManifest)))
    return std::nullopt;
  Expected<json::Value> manifest = readJSON(getPath(kManifest));
  if (!manifest) {
    consumeError(manifest.takeError());
    return "";
  }
  const json::Object *object = manifest->getAsObject();
  return object ? object->getString("fingerprint").value_or("").str() : "";
}

/// True if the bundle in the directory, if any, is of this set.
bool ExportDirectory::isOwnBundle() const {
  if (!isRegularFile(getPath(TraceBundle::kFileName)))
    return true;
  auto buffer = MemoryBuffer::getFileSlice(getPath(TraceBundle::kFileName),
                                           /*MapSize=*/8, /*Offset=*/24);
  return !buffer || (*buffer)->getBufferSize() < 8 ||
         support::endian::read64le((*buffer)->getBufferStart()) ==
             bundle.getFingerprint();
}

/// Puts `text` under the name that says whose the directory is. Fails with
/// file_exists if there is such a file and it is not to be replaced.
std::error_code ExportDirectory::setOwner(StringRef text, bool replace) {
  std::string owner = getPath(kOwner);
  std::string temporary = getPath(FileWriter::getTemporaryName(
      "owner-" + Twine(sys::Process::getProcessId())));
  std::error_code error;
  {
    raw_fd_ostream os(temporary, error);
    if (!error) {
      os << text << '\n';
      os.close();
      error = os.error();
      os.clear_error();
    }
  }
  if (!error)
    error = replace ? sys::fs::rename(temporary, owner)
                    : sys::fs::create_hard_link(temporary, owner);
  sys::fs::remove(temporary);
  return error;
}

/// Says whose the directory is from now on. If two processes do that at once,
/// one of them is first and the other finds what it says.
Error ExportDirectory::claim() {
  std::error_code error = setOwner(fingerprint, /*replace=*/false);
  if (!error || (error == std::errc::file_exists && getOwner() == fingerprint))
    return Error::success();
  if (error == std::errc::file_exists)
    return makeError("'" + Twine(directory) +
                     "' is being filled with another set of traces");
  return makeError("cannot write '" + getPath(kOwner) +
                   "': " + error.message());
}

Error ExportDirectory::replace() {
  if (Error error = create())
    return error;
  if (Error error = lock(DirectoryLock::Kind::Exclusive))
    return error;
  Expected<std::vector<std::string>> names = list();
  if (!names)
    return names.takeError();
  bool isOurs = getOwner().has_value();
  // First what would call the rest complete.
  if (std::error_code error = setOwner(kClearing, /*replace=*/true))
    return makeError("cannot write '" + getPath(kOwner) +
                     "': " + error.message());
  if (Error error = remove(kManifest))
    return error;
  if (!isOwnBundle())
    if (Error error = remove(TraceBundle::kFileName))
      return error;
  for (StringRef name : *names) {
    if (sys::fs::is_directory(getPath(name)))
      continue; // Whatever that is, it is no trace.
    std::optional<int64_t> rank = getRank(name);
    bool isStale = rank && (isOurs || *rank < bundle.getSpace().getNumRanks());
    bool isPart = name.starts_with("manifest.") && name.contains('-') &&
                  name.ends_with(".json");
    if (isStale || (isPart && isOurs))
      if (Error error = remove(name))
        return error;
  }
  if (std::error_code error = setOwner(fingerprint, /*replace=*/true))
    return makeError("cannot write '" + getPath(kOwner) +
                     "': " + error.message());
  return Error::success();
}

Error ExportDirectory::resume() {
  return getOwner() == kClearing.str() ? replace() : join();
}

/// Fails if the directory holds traces of another set; the result says whether
/// it holds some of this one.
Expected<bool> ExportDirectory::isJoined() {
  std::optional<std::string> owner = getOwner();
  if (!owner) {
    Expected<std::vector<std::string>> names = list();
    if (!names)
      return names.takeError();
    if (llvm::none_of(*names, [&](StringRef name) { return getRank(name); }))
      return false;
    // Another process may have come in between; it said whose they are first.
    owner = getOwner();
  }
  if (owner == fingerprint)
    return true;
  return makeError("'" + Twine(directory) +
                   "' holds traces of another set; a part of a set, the rest "
                   "of one, or a bundle, needs a directory without traces or "
                   "with traces of the same set: remove it, or choose another");
}

Error ExportDirectory::join() {
  if (Error error = create())
    return error;
  if (Error error = lock(DirectoryLock::Kind::Shared))
    return error;
  Expected<bool> joined = isJoined();
  if (!joined)
    return joined.takeError();
  if (!isOwnBundle())
    return makeError("'" + Twine(directory) +
                     "' holds the bundle of another set; a part of a set, or "
                     "the rest of one, needs a directory without it: remove "
                     "it, or choose another");
  return *joined ? Error::success() : claim();
}

/// Two bundles are no mixture, but one of them would be lost. The bundle of the
/// set that others are writing may come beside it.
Error ExportDirectory::prepareBundle() {
  if (Error error = create())
    return error;
  bool isAlone = writers.acquire(directory, DirectoryLock::Kind::Exclusive);
  if (!isAlone && getOwner() != fingerprint)
    return lock(DirectoryLock::Kind::Exclusive);
  if (!isAlone)
    if (Error error = lock(DirectoryLock::Kind::Shared))
      return error;
  return isJoined().takeError();
}

bool ExportDirectory::hasFile(StringRef name, uint64_t size) const {
  sys::fs::file_status status;
  return !sys::fs::status(getPath(name), status) &&
         sys::fs::is_regular_file(status) && status.getSize() == size;
}

Error ExportDirectory::writeManifest(StringRef name, RankRange ranks) {
  FileWriter writer(directory, (Twine(ranks.first) + "-manifest").str());
  return writer.write(name, [&](raw_ostream &os) {
    os << bundle.getManifest(ranks.first, ranks.second);
  });
}

/// The ranks that `manifest.<first>-<end>.json` speaks of.
static std::optional<RankRange> parsePartName(StringRef name) {
  RankRange ranks;
  if (!name.consume_front("manifest.") || !name.consume_back(".json"))
    return std::nullopt;
  auto [first, end] = name.split('-');
  if (first.getAsInteger(10, ranks.first) || end.getAsInteger(10, ranks.second))
    return std::nullopt;
  return ranks;
}

/// Removes what only matters while a set is written. Last the name that says
/// whose it is: as long as that is there, something may be left to remove.
Error ExportDirectory::clean() {
  Expected<std::vector<std::string>> names = list();
  if (!names)
    return names.takeError();
  for (StringRef name : *names)
    if (parsePartName(name) || FileWriter::isTemporary(name))
      if (Error error = remove(name))
        return error;
  return remove(kOwner);
}

/// Goes on with what clean() did in a process that was killed, if need be.
Error ExportDirectory::cleanRest() {
  Expected<std::vector<std::string>> names = list();
  if (!names)
    return names.takeError();
  bool isClean = llvm::none_of(*names, [](StringRef name) {
    return name == kOwner || parsePartName(name);
  });
  // Of a process that was killed, unless one of this part or another is still
  // there to rename it.
  bool hasLeft = llvm::any_of(*names, FileWriter::isTemporary) &&
                 writers.acquire(directory, DirectoryLock::Kind::Exclusive);
  return isClean && !hasLeft ? Error::success() : clean();
}

Error ExportDirectory::finishWhole() {
  if (Error error = checkOwner())
    return error;
  if (Error error =
          writeManifest(kManifest, {0, bundle.getSpace().getNumRanks()}))
    return error;
  return clean();
}

Error ExportDirectory::finishPart(RankRange ranks) {
  if (Error error = checkOwner())
    return error;
  if (sys::fs::exists(getPath(kManifest)))
    return cleanRest();
  std::string name =
      ("manifest." + Twine(ranks.first) + "-" + Twine(ranks.second) + ".json")
          .str();
  if (ranks.first < ranks.second)
    if (Error error = writeManifest(name, ranks))
      return error;
  // Our own manifest is there before we look for the others: of those that
  // finish last at least one sees all.
  Expected<std::vector<std::string>> names = list();
  if (!names)
    return names.takeError();
  std::vector<RankRange> parts;
  for (StringRef other : *names)
    if (std::optional<RankRange> part = parsePartName(other))
      parts.push_back(*part);
  llvm::sort(parts);
  int64_t covered = 0;
  for (auto [first, end] : parts)
    if (first <= covered)
      covered = std::max(covered, end);
  if (covered >= bundle.getSpace().getNumRanks())
    return finishWhole();
  // Another process may have found this part's manifest of an earlier run,
  // finished the set and cleaned up before we wrote it again.
  return sys::fs::exists(getPath(kManifest)) ? remove(name) : Error::success();
}
