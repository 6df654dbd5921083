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
#include <mutex>
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
/// The files that outputs replace.
class ReplacedFiles {
public:
  bool contains(fs::UniqueID id) {
    std::lock_guard<std::mutex> lock(mutex);
    return llvm::is_contained(ids, id);
  }
  void insert(fs::UniqueID id) {
    std::lock_guard<std::mutex> lock(mutex);
    ids.push_back(id);
  }
  void erase(fs::UniqueID id) {
    std::lock_guard<std::mutex> lock(mutex);
    ids.erase(llvm::find(ids, id));
  }

private:
  std::mutex mutex;
  SmallVector<fs::UniqueID> ids;
};
} // namespace

static ReplacedFiles &getReplacedFiles() {
  static ReplacedFiles files;
  return files;
}

/// Why a file is no input; empty if it is one.
static std::string findObstacle(const fs::file_status &status,
                                const ReadOptions &options) {
  if (fs::is_directory(status))
    return std::make_error_code(std::errc::is_a_directory).message();
  if (!fs::is_regular_file(status))
    return "it is not a regular file";
  if (getReplacedFiles().contains(status.getUniqueID()))
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

Expected<std::unique_ptr<OutputFile>> OutputFile::open(StringRef path) {
  auto fail = [&](const Twine &reason) {
    return makeError("cannot write '" + path + "': " + reason);
  };
  std::unique_ptr<OutputFile> file(new OutputFile(path));
  if (path == "-")
    return std::move(file);
  fs::file_status status;
  bool exists = !fs::status(path, status);
  std::error_code error;
  if (exists && !fs::is_regular_file(status)) {
    file->stream.emplace(path, error);
    if (error)
      return fail(error.message());
    return std::move(file);
  }
  SmallString<128> target(path);
  if (exists) {
    error = fs::real_path(path, target);
    if (!error)
      error = fs::access(target, fs::AccessMode::Write);
    if (error)
      return fail(error.message());
    file->replaced = status.getUniqueID();
    getReplacedFiles().insert(*file->replaced);
  }
  file->target = target.str().str();
  SmallString<128> temporary;
  int descriptor;
  error = createBeside(
      target, exists ? status.permissions() : fs::all_read | fs::all_write,
      descriptor, temporary);
  if (error)
    return fail(error.message());
  file->temporary = temporary.str().str();
  sys::RemoveFileOnSignal(file->temporary);
  file->stream.emplace(descriptor, /*shouldClose=*/true);
  return std::move(file);
}

OutputFile::~OutputFile() {
  if (stream) {
    stream->close();
    stream->clear_error();
  }
  if (replaced)
    getReplacedFiles().erase(*replaced);
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
  if (!error && !temporary.empty()) {
    error = fs::rename(temporary, target);
  }
  if (!error)
    return Error::success();
  if (!stream)
    return makeError("cannot write to standard output: " + error.message());
  return makeError("cannot write '" + path + "': " + error.message());
}
