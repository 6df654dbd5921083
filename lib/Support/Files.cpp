//===- Files.cpp - Files that tools read and write ------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Support/Files.h"
#include "stg/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include <map>
#include <mutex>
#include <set>
#include <system_error>

using namespace llvm;
using namespace stg;
namespace fs = llvm::sys::fs;

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// What comes through a pipe is kept in memory; a file is not.
static constexpr uint64_t kMaxPiped = uint64_t(1) << 30;

namespace {
/// What this process reads and writes: no file is both, and none is written
/// twice at a time.
class UsedFiles {
public:
  bool isReplaced(fs::UniqueID id) {
    std::lock_guard<std::mutex> lock(mutex);
    return llvm::is_contained(replaced, id);
  }
  /// `path` is empty for standard input.
  void addRead(fs::UniqueID id, StringRef path) {
    std::lock_guard<std::mutex> lock(mutex);
    read[id] = path.str();
  }
  bool isRead(fs::UniqueID id);
  /// False if another output has the name.
  bool claim(const std::string &target, std::optional<fs::UniqueID> id);
  void release(const std::string &target, std::optional<fs::UniqueID> id);

private:
  std::mutex mutex;
  /// By what they are, with the names under which they were read.
  std::map<fs::UniqueID, std::string> read;
  SmallVector<fs::UniqueID> replaced; ///< The files that outputs replace.
  std::set<std::string> targets;      ///< The names of outputs.
};
} // namespace

bool UsedFiles::isRead(fs::UniqueID id) {
  std::lock_guard<std::mutex> lock(mutex);
  auto it = read.find(id);
  if (it == read.end() || it->second.empty())
    return it != read.end();
  // A new file may be what one was that is gone.
  fs::file_status status;
  return !fs::status(it->second, status) && status.getUniqueID() == id;
}

bool UsedFiles::claim(const std::string &target,
                      std::optional<fs::UniqueID> id) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!targets.insert(target).second)
    return false;
  if (id)
    replaced.push_back(*id);
  return true;
}

void UsedFiles::release(const std::string &target,
                        std::optional<fs::UniqueID> id) {
  std::lock_guard<std::mutex> lock(mutex);
  targets.erase(target);
  if (id)
    replaced.erase(llvm::find(replaced, *id));
}

static UsedFiles &getUsedFiles() {
  static UsedFiles files;
  return files;
}

/// Why a file is no input; empty if it is one.
static std::string findObstacle(const fs::file_status &status,
                                const ReadOptions &options) {
  if (fs::is_directory(status))
    return std::make_error_code(std::errc::is_a_directory).message();
  if (!fs::is_regular_file(status))
    return "it is not a regular file";
  if (getUsedFiles().isReplaced(status.getUniqueID()))
    return "it is the output, too";
  if (status.getSize() > options.maxBytes)
    return ("it has " + Twine(status.getSize()) + " bytes, expected at most " +
            Twine(options.maxBytes))
        .str();
  return "";
}

bool stg::isRegularFile(const Twine &path) {
  fs::file_status status;
  return !fs::status(path, status) && fs::is_regular_file(status);
}

Expected<std::unique_ptr<MemoryBuffer>>
stg::readFile(StringRef path, const ReadOptions &options) {
  auto fail = [](const Twine &reason) {
    return makeError("cannot read the file: " + reason);
  };
  // Before it is opened: that of a pipe waits for a writer.
  fs::file_status status;
  if (std::error_code error = fs::status(path, status))
    return fail(error.message());
  std::string obstacle = findObstacle(status, options);
  if (!obstacle.empty())
    return fail(obstacle);
  auto buffer =
      MemoryBuffer::getFile(path, /*IsText=*/false, options.isNullTerminated,
                            /*IsVolatile=*/options.isCopied);
  if (!buffer)
    return fail(buffer.getError().message());
  getUsedFiles().addRead(status.getUniqueID(), path);
  return std::move(*buffer);
}

/// Reads to the end, which a device such as /dev/zero does not have.
static Expected<std::unique_ptr<MemoryBuffer>>
readStandardInput(const ReadOptions &options) {
  auto fail = [](const Twine &reason) {
    return makeError("cannot read standard input: " + reason);
  };
  sys::fs::file_t input = fs::getStdinHandle();
  fs::file_status status;
  uint64_t maxBytes = std::min(options.maxBytes, kMaxPiped);
  bool isDevice = false;
  if (!fs::status(input, status)) {
    isDevice = status.type() == fs::file_type::character_file &&
               !sys::Process::StandardInIsUserInput();
    if (fs::is_regular_file(status)) {
      std::string obstacle = findObstacle(status, options);
      if (!obstacle.empty())
        return fail(obstacle);
      getUsedFiles().addRead(status.getUniqueID(), /*path=*/"");
      maxBytes = options.maxBytes;
    }
  }
  SmallString<0> bytes;
  constexpr size_t kChunk = 1 << 20;
  while (true) {
    size_t size = bytes.size();
    bytes.resize_for_overwrite(size + kChunk);
    Expected<size_t> count =
        fs::readNativeFile(input, MutableArrayRef(bytes.data() + size, kChunk));
    if (!count)
      return fail(toString(count.takeError()));
    bytes.truncate(size + *count);
    if (*count == 0)
      break;
    if (isDevice)
      return fail("it is a device");
    if (bytes.size() > maxBytes)
      return fail("it has more than " + Twine(maxBytes) + " bytes; use a file");
  }
  return std::make_unique<SmallVectorMemoryBuffer>(std::move(bytes),
                                                   StringRef("<stdin>"));
}

Expected<std::unique_ptr<MemoryBuffer>>
stg::readInput(StringRef path, const ReadOptions &options) {
  return path == "-" ? readStandardInput(options) : readFile(path, options);
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// Makes a new file beside another one. To LLVM's own function each '%' of the
/// folder is a digit to choose.
static std::error_code createBeside(StringRef target, unsigned mode,
                                    int &descriptor, SmallString<128> &path) {
  constexpr unsigned kTries = 128;
  std::error_code error;
  for (unsigned i = 0; i < kTries; ++i) {
    path = sys::path::parent_path(target);
    sys::path::append(path, ".stg-write-" +
                                utohexstr(sys::Process::GetRandomNumber()));
    error = fs::openFile(path, descriptor, fs::CD_CreateNew, fs::FA_Write,
                         fs::OF_None, mode);
    if (error != std::errc::file_exists)
      break;
  }
  return error;
}

/// The name of a file that is not there yet, however its folder is spelled.
static std::string getFullName(StringRef path) {
  StringRef parent = sys::path::parent_path(path);
  SmallString<128> target;
  // In a folder that is not there yet it stays as it is.
  if (fs::real_path(parent.empty() ? "." : parent, target))
    return path.str();
  sys::path::append(target, sys::path::filename(path));
  return target.str().str();
}

Error OutputFile::fail(const Twine &reason) const {
  return makeError("cannot write '" + path + "': " + reason);
}

Expected<std::unique_ptr<OutputFile>> OutputFile::reserve(StringRef path) {
  std::unique_ptr<OutputFile> file(new OutputFile(path));
  if (path == "-")
    return std::move(file);
  fs::file_status status;
  bool exists = !fs::status(path, status);
  if (exists && fs::is_directory(status))
    return file->fail(
        std::make_error_code(std::errc::is_a_directory).message());
  if (exists && !fs::is_regular_file(status))
    return std::move(file);
  std::string target = getFullName(path);
  std::optional<fs::UniqueID> replaced;
  if (exists) {
    SmallString<128> real;
    std::error_code error = fs::real_path(path, real);
    if (!error)
      error = fs::access(real, fs::AccessMode::Write);
    if (error)
      return file->fail(error.message());
    target = real.str().str();
    replaced = status.getUniqueID();
    if (getUsedFiles().isRead(*replaced))
      return file->fail("it is an input, too");
    file->mode = status.permissions();
  }
  if (!getUsedFiles().claim(target, replaced))
    return file->fail("it is another output, too");
  file->target = target;
  file->replaced = replaced;
  return std::move(file);
}

Error OutputFile::start() {
  if (path == "-")
    return Error::success();
  std::error_code error;
  if (target.empty()) {
    stream.emplace(path, error);
    return error ? fail(error.message()) : Error::success();
  }
  SmallString<128> created;
  int descriptor;
  error = createBeside(target, mode, descriptor, created);
  if (error)
    return fail(error.message());
  temporary = created.str().str();
  sys::RemoveFileOnSignal(temporary);
  stream.emplace(descriptor, /*shouldClose=*/true);
  return Error::success();
}

Expected<std::unique_ptr<OutputFile>> OutputFile::open(StringRef path) {
  Expected<std::unique_ptr<OutputFile>> file = reserve(path);
  if (!file)
    return file.takeError();
  if (Error error = (*file)->start())
    return std::move(error);
  return file;
}

OutputFile::~OutputFile() {
  if (stream) {
    stream->close();
    stream->clear_error();
  }
  if (!target.empty())
    getUsedFiles().release(target, replaced);
  if (temporary.empty())
    return;
  fs::remove(temporary);
  sys::DontRemoveFileOnSignal(temporary);
}

Error OutputFile::keep() {
  raw_fd_ostream &os = stream ? *stream : outs();
  os.flush();
  if (stream)
    stream->close();
  std::error_code error = os.error();
  os.clear_error();
  if (!error && !temporary.empty())
    error = fs::rename(temporary, target);
  if (!error)
    return Error::success();
  if (!stream)
    return makeError("cannot write to standard output: " + error.message());
  return fail(error.message());
}
