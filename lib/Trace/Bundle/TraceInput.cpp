//===- TraceInput.cpp - A trace of several ranks, by its name -------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Bundle/TraceInput.h"
#include "stg/Support/Files.h"
#include "stg/Trace/Bundle/BundleValidator.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace stg::trace;

/// True if the file begins like a bundle.
static bool isBundle(const Twine &path) {
  if (!stg::isRegularFile(path))
    return false;
  auto begin = MemoryBuffer::getFileSlice(path, /*MapSize=*/4, /*Offset=*/0);
  return begin && TraceBundle::isBundle((*begin)->getBuffer());
}

Expected<std::unique_ptr<TraceBundle>>
stg::trace::findBundle(StringRef input, bool besideFiles) {
  if (input == "-" || input.empty())
    return nullptr;
  if (!sys::fs::is_directory(input)) {
    if (!isBundle(input))
      return nullptr;
    return TraceBundle::open(input);
  }
  std::optional<std::string> path = TraceBundle::findIn(input);
  if (!path)
    return nullptr;
  if (besideFiles)
    return TraceBundle::open(*path);
  Expected<TraceSet> files = findTraces(input);
  if (files)
    return nullptr;
  consumeError(files.takeError());
  return TraceBundle::open(*path);
}

static Expected<CommGroups> loadGroups(const TraceSet &set, StringRef path) {
  if (!path.empty())
    return CommGroups::load(path);
  if (std::optional<std::string> beside = findCommGroupFile(set))
    return CommGroups::load(*beside);
  return CommGroups();
}

Expected<TraceInput> stg::trace::openTrace(StringRef input,
                                           StringRef groupFile) {
  Expected<std::unique_ptr<TraceBundle>> bundle = findBundle(input);
  if (!bundle)
    return bundle.takeError();
  if (*bundle && !groupFile.empty())
    return createStringError(input + ": a bundle has its own groups, remove " +
                             "--comm-groups");
  if (*bundle)
    return TraceInput{std::move(*bundle), {}, {}};
  Expected<TraceSet> files = findTraces(input);
  if (!files)
    return files.takeError();
  Expected<CommGroups> groups = loadGroups(*files, groupFile);
  if (!groups)
    return groups.takeError();
  return TraceInput{nullptr, std::move(*files), std::move(*groups)};
}

ValidationReport stg::trace::validateTrace(const TraceInput &trace,
                                           StringRef name,
                                           const ValidatorOptions &options) {
  if (trace.bundle)
    return validateBundle(*trace.bundle, name, options);
  return validateTrace(trace.files, trace.groups, options);
}
