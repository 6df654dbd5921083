//===- Installation.cpp - Where the files that belong to us lie -----------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Support/Installation.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <dlfcn.h>
#include <link.h>

using namespace llvm;
using namespace stg;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// The executable, shared library or plugin that has this function.
static std::string getOwnFile() {
  Dl_info info;
  link_map *map = nullptr;
  // An executable has no name there, and only the kernel knows its path.
  if (dladdr1(reinterpret_cast<void *>(&getOwnFile), &info,
              reinterpret_cast<void **>(&map), RTLD_DL_LINKMAP) &&
      map && map->l_name && *map->l_name)
    return map->l_name;
  return fs::getMainExecutable(nullptr, nullptr);
}

std::string stg::getShippedFolder(StringRef name) {
  SmallString<128> file;
  if (fs::real_path(getOwnFile(), file))
    return "";
  for (StringRef folder = path::parent_path(file); !folder.empty();
       folder = path::parent_path(folder)) {
    SmallString<128> candidate(folder), found;
    path::append(candidate, "share", "stg", name);
    if (fs::is_directory(candidate) && !fs::real_path(candidate, found))
      return found.str().str();
  }
  return "";
}

std::vector<std::string> stg::getSearchPath(const char *variable,
                                            StringRef name) {
  std::vector<std::string> folders;
  if (std::optional<std::string> value = sys::Process::GetEnv(variable))
    for (StringRef folder : split(*value, sys::EnvPathSeparator))
      if (!folder.empty())
        folders.push_back(folder.str());
  std::string shipped = getShippedFolder(name);
  if (!shipped.empty())
    folders.push_back(shipped);
  return folders;
}

std::vector<std::string> stg::getModelPath(llvm::ArrayRef<std::string> extra) {
  std::vector<std::string> folders(extra.begin(), extra.end());
  llvm::append_range(folders, getSearchPath("STG_MODELS_PATH", "models"));
  return folders;
}
