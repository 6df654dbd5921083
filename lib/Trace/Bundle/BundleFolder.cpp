//===- BundleFolder.cpp - The files that a bundle stands for --------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Bundle/BundleFolder.h"

using namespace llvm;
using namespace stg::trace;

static constexpr StringLiteral kGroups = "comm_group.json";
static constexpr StringLiteral kManifest = "manifest.json";

BundleFolder::BundleFolder(const TraceBundle &bundle, uint64_t cacheBytes)
    : bundle(bundle),
      numRanks(static_cast<uint64_t>(bundle.getSpace().getNumRanks())),
      classes(cacheBytes / 2), files(cacheBytes / 2), sizes(numRanks + 2) {}

std::string BundleFolder::getName(uint64_t file) const {
  if (file < numRanks)
    return bundle.getFileName(static_cast<int64_t>(file));
  return (file == numRanks ? kGroups : kManifest).str();
}

std::optional<uint64_t> BundleFolder::find(StringRef name) const {
  if (name == kGroups)
    return numRanks;
  if (name == kManifest)
    return numRanks + 1;
  uint64_t rank;
  StringRef number = name;
  if (!number.consume_front(bundle.getPrefix()) || !number.consume_front(".") ||
      !number.consume_back(".et") || number.getAsInteger(10, rank) ||
      rank >= numRanks || getName(rank) != name)
    return std::nullopt;
  return rank;
}

std::shared_ptr<const BundleFolder::Encoded>
BundleFolder::getEncoded(uint64_t rank) {
  size_t number = bundle.getPartition().getClass(static_cast<int64_t>(rank));
  auto make = [&] {
    const TraceProgram &program = bundle.getClasses()[number].program;
    ProgramRunner runner(program);
    TraceEncoder encoder(program, runner, bundle.getVersion());
    FlatNode node;
    while (runner.next(node))
      encoder.encode(node);
    auto encoded = std::make_shared<Encoded>();
    encoded->image = std::move(encoder.getImage());
    encoded->fields = encoder.getFields().vec();
    return std::shared_ptr<const Encoded>(std::move(encoded));
  };
  return classes.get(number, make, [](const Encoded &encoded) {
    return encoded.image.bytes.size() +
           encoded.image.patches.size() * sizeof(ClassImage::Patch);
  });
}

std::vector<std::string> BundleFolder::getFields(const Encoded &encoded,
                                                 uint64_t rank) const {
  return encodeFields(encoded.fields, bundle.getSpace(), bundle.getGroups(),
                      static_cast<int64_t>(rank));
}

uint64_t BundleFolder::getSize(uint64_t file) {
  // No file is empty.
  if (uint64_t size = sizes[file])
    return size;
  uint64_t size;
  if (file < numRanks) {
    std::shared_ptr<const Encoded> encoded = getEncoded(file);
    size = trace::getSize(encoded->image, getFields(*encoded, file));
  } else {
    size = read(file)->size();
  }
  sizes[file] = size;
  return size;
}

std::shared_ptr<const std::string> BundleFolder::make(uint64_t file) {
  if (file < numRanks) {
    std::shared_ptr<const Encoded> encoded = getEncoded(file);
    RankImage image;
    return std::make_shared<std::string>(
        image.fill(encoded->image, getFields(*encoded, file)));
  }
  if (file > numRanks)
    return std::make_shared<std::string>(
        bundle.getManifest(0, static_cast<int64_t>(numRanks)));
  std::string text;
  raw_string_ostream os(text);
  bundle.writeGroups(os);
  os.flush();
  return std::make_shared<std::string>(std::move(text));
}

std::shared_ptr<const std::string> BundleFolder::read(uint64_t file) {
  return files.get(
      file, [&] { return make(file); },
      [](const std::string &bytes) { return bytes.size(); });
}
