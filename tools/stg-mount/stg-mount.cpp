//===- stg-mount.cpp - A bundle as a folder of files ----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file system for FUSE. The root is inode 1, and file i inode i + 2. Nothing
// ever changes, so the kernel may keep what it was told and the pages that it
// read. Files can be opened for writing, as Chakra's feeder does; whoever
// writes is told that the file system is read-only.
//
//===----------------------------------------------------------------------===//

#include "stg/Support/Error.h"
#include "stg/Support/Messages.h"
#include "stg/Trace/Bundle/BundleFolder.h"
#include "stg/Trace/Bundle/TraceInput.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"

#define FUSE_USE_VERSION 314
#include <csignal>
#include <fuse_lowlevel.h>

using namespace llvm;
using namespace stg;
using namespace stg::trace;

static cl::OptionCategory category("stg-mount options");
static cl::opt<std::string> input(cl::Positional, cl::Required,
                                  cl::desc("<bundle>"), cl::cat(category));
static cl::opt<std::string> folder(cl::Positional, cl::Required,
                                   cl::desc("<folder>"), cl::cat(category));
static cl::opt<bool> foreground(
    "foreground",
    cl::desc("Stay in the foreground (default: return when it is mounted)"),
    cl::cat(category));
static cl::opt<bool> allowOther("allow-other",
                                cl::desc("Let other users read the files"),
                                cl::cat(category));
static cl::opt<unsigned>
    cacheMebibytes("cache", cl::init(256), cl::value_desc("MiB"),
                   cl::desc("Memory for what is read again (256)"),
                   cl::cat(category));
static cl::opt<unsigned> threads("threads", cl::init(4), cl::value_desc("n"),
                                 cl::desc("Threads that serve files (4)"),
                                 cl::cat(category));

//===----------------------------------------------------------------------===//
// File system
//===----------------------------------------------------------------------===//

namespace {
struct FileSystem {
  FileSystem(const TraceBundle &bundle, uint64_t cacheBytes)
      : files(bundle, cacheBytes) {}

  /// What the kernel asks of an inode.
  struct stat getAttributes(fuse_ino_t inode);
  /// What it asks of a name in the folder.
  struct fuse_entry_param getEntry(uint64_t file);

  BundleFolder files;
  timespec time = {};
};
} // namespace

/// A year, in seconds: nothing changes.
static constexpr double kForever = 365 * 24 * 3600.;
static constexpr fuse_ino_t kFirst = FUSE_ROOT_ID + 1;

static FileSystem &get(fuse_req_t request) {
  return *static_cast<FileSystem *>(fuse_req_userdata(request));
}

static bool isFile(FileSystem &system, fuse_ino_t inode) {
  return inode >= kFirst && inode - kFirst < system.files.getNumFiles();
}

struct stat FileSystem::getAttributes(fuse_ino_t inode) {
  struct stat attributes = {};
  bool isRoot = inode == FUSE_ROOT_ID;
  attributes.st_ino = inode;
  // Opening for writing is allowed.
  attributes.st_mode = isRoot ? S_IFDIR | 0755 : S_IFREG | 0644;
  attributes.st_nlink = isRoot ? 2 : 1;
  attributes.st_uid = getuid();
  attributes.st_gid = getgid();
  if (!isRoot)
    attributes.st_size = static_cast<off_t>(files.getSize(inode - kFirst));
  attributes.st_blksize = 4096;
  attributes.st_blocks = (attributes.st_size + 511) / 512;
  attributes.st_atim = attributes.st_mtim = attributes.st_ctim = time;
  return attributes;
}

struct fuse_entry_param FileSystem::getEntry(uint64_t file) {
  fuse_entry_param entry = {};
  entry.ino = file + kFirst;
  entry.attr = getAttributes(entry.ino);
  entry.attr_timeout = entry.entry_timeout = kForever;
  return entry;
}

static void lookUp(fuse_req_t request, fuse_ino_t parent, const char *name) {
  FileSystem &system = get(request);
  std::optional<uint64_t> file = system.files.find(name);
  if (parent != FUSE_ROOT_ID || !file) {
    fuse_reply_err(request, ENOENT);
    return;
  }
  fuse_entry_param entry = system.getEntry(*file);
  fuse_reply_entry(request, &entry);
}

static void getAttributes(fuse_req_t request, fuse_ino_t inode,
                          fuse_file_info *) {
  FileSystem &system = get(request);
  if (inode != FUSE_ROOT_ID && !isFile(system, inode)) {
    fuse_reply_err(request, ENOENT);
    return;
  }
  struct stat attributes = system.getAttributes(inode);
  fuse_reply_attr(request, &attributes, kForever);
}

static void openFile(fuse_req_t request, fuse_ino_t inode,
                     fuse_file_info *info) {
  if (!isFile(get(request), inode)) {
    fuse_reply_err(request, inode == FUSE_ROOT_ID ? EISDIR : ENOENT);
    return;
  }
  // That would be a write.
  if (info->flags & O_TRUNC) {
    fuse_reply_err(request, EROFS);
    return;
  }
  info->keep_cache = true;
  fuse_reply_open(request, info);
}

static void readFile(fuse_req_t request, fuse_ino_t inode, size_t size,
                     off_t offset, fuse_file_info *) {
  std::shared_ptr<const std::string> bytes =
      get(request).files.read(inode - kFirst);
  StringRef part = StringRef(*bytes).substr(static_cast<size_t>(offset), size);
  fuse_reply_buf(request, part.data(), part.size());
}

/// Entries are numbered: the folder and its parent, then files.
static void readFolder(fuse_req_t request, fuse_ino_t inode, size_t size,
                       off_t offset, fuse_file_info *) {
  if (inode != FUSE_ROOT_ID) {
    fuse_reply_err(request, ENOTDIR);
    return;
  }
  BundleFolder &files = get(request).files;
  std::vector<char> buffer(size);
  size_t used = 0;
  for (uint64_t i = static_cast<uint64_t>(offset); i < files.getNumFiles() + 2;
       ++i) {
    std::string name = i == 0 ? "." : i == 1 ? ".." : files.getName(i - 2);
    struct stat attributes = {};
    attributes.st_ino = i < 2 ? FUSE_ROOT_ID : i - 2 + kFirst;
    attributes.st_mode = i < 2 ? S_IFDIR : S_IFREG;
    size_t needed =
        fuse_add_direntry(request, buffer.data() + used, size - used,
                          name.c_str(), &attributes, static_cast<off_t>(i + 1));
    if (needed > size - used)
      break;
    used += needed;
  }
  fuse_reply_buf(request, buffer.data(), used);
}

/// Answers a request that would change something.
template <typename... Args> static void refuse(fuse_req_t request, Args...) {
  fuse_reply_err(request, EROFS);
}

static fuse_lowlevel_ops getOperations() {
  fuse_lowlevel_ops operations = {};
  operations.lookup = lookUp;
  operations.getattr = getAttributes;
  operations.open = openFile;
  operations.read = readFile;
  operations.readdir = readFolder;
  operations.setattr = refuse;
  operations.write = refuse;
  operations.create = refuse;
  operations.mknod = refuse;
  operations.mkdir = refuse;
  operations.symlink = refuse;
  operations.link = refuse;
  operations.unlink = refuse;
  operations.rmdir = refuse;
  operations.rename = refuse;
  operations.setxattr = refuse;
  operations.removexattr = refuse;
  operations.fallocate = refuse;
  return operations;
}

//===----------------------------------------------------------------------===//
// Mounting
//===----------------------------------------------------------------------===//

static Error checkArguments() {
  if (!sys::fs::is_directory(folder))
    return makeError("'" + folder + "' is not a directory to mount on");
  if (cacheMebibytes == 0 || threads == 0)
    return makeError("--cache and --threads must be at least 1");
  return Error::success();
}

/// Says what libfuse says.
static stg::MessagePrinter *fusePrinter = nullptr;
static void logMessage(fuse_log_level, const char *format, va_list arguments) {
  char text[512];
  vsnprintf(text, sizeof(text), format, arguments);
  StringRef message = StringRef(text).trim();
  message.consume_front("fuse: ");
  fusePrinter->warning("FUSE: " + message);
}

/// libfuse only takes signals that nobody has taken, and LLVM has.
static void freeSignals() {
  for (int number : {SIGHUP, SIGINT, SIGTERM})
    ::signal(number, SIG_DFL);
}

/// Serves files until the folder is unmounted, or a signal ends the process.
static Error serve(fuse_session *session) {
  // In the background, the current folder is another one.
  SmallString<128> path;
  if (std::error_code error = sys::fs::real_path(folder, path))
    return makeError("cannot find '" + folder + "': " + error.message());
  freeSignals();
  if (fuse_set_signal_handlers(session) != 0)
    return makeError("cannot handle signals");
  if (fuse_session_mount(session, path.c_str()) != 0) {
    fuse_remove_signal_handlers(session);
    return makeError("cannot mount on '" + folder +
                     "'; is there a /dev/fuse, and may this user mount?");
  }
  // The parent ends here, with the folder mounted.
  int status = fuse_daemonize(foreground);
  if (status == 0) {
    fuse_loop_config *config = fuse_loop_cfg_create();
    fuse_loop_cfg_set_max_threads(config, threads);
    status = fuse_session_loop_mt(session, config);
    fuse_loop_cfg_destroy(config);
  }
  fuse_session_unmount(session);
  fuse_remove_signal_handlers(session);
  // The number of the signal.
  return status >= 0 ? Error::success() : makeError("the mount failed");
}

static Error mount(const char *program) {
  if (Error error = checkArguments())
    return error;
  Expected<std::unique_ptr<TraceBundle>> bundle =
      findBundle(input, /*besideFiles=*/true);
  if (!bundle)
    return bundle.takeError();
  if (!*bundle)
    return makeError("'" + input + "' is not a bundle; stg-compile --bundle " +
                     "writes one");
  FileSystem system(**bundle, static_cast<uint64_t>(cacheMebibytes) << 20);
  sys::fs::file_status status;
  if (!sys::fs::status(input, status))
    system.time.tv_sec = sys::toTimeT(status.getLastModificationTime());
  std::string options = "fsname=stg-mount,subtype=stg";
  if (allowOther)
    options += ",allow_other";
  std::array<char *, 3> words = {const_cast<char *>(program),
                                 const_cast<char *>("-o"), options.data()};
  fuse_args arguments = FUSE_ARGS_INIT(words.size(), words.data());
  fuse_lowlevel_ops operations = getOperations();
  fuse_session *session =
      fuse_session_new(&arguments, &operations, sizeof(operations), &system);
  // The copy that it has made.
  fuse_opt_free_args(&arguments);
  if (!session)
    return makeError("cannot use FUSE");
  Error error = serve(session);
  fuse_session_destroy(session);
  return error;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  stg::MessagePrinter &printer = stg::guardStandardStreams("stg-mount");
  cl::HideUnrelatedOptions(category);
  if (!stg::parseCommandLine(argc, argv,
                             "Serves a bundle of traces as a folder of files\n",
                             printer))
    return 1;
  fusePrinter = &printer;
  fuse_set_log_func(logMessage);
  Error error = mount(argv[0]);
  if (!error)
    return 0;
  printer.error(std::move(error));
  return 1;
}
