//===- TraceBundle.cpp - A trace set without its files --------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Bundle/TraceBundle.h"
#include "stg/Trace/Program/TraceEncoder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;
using namespace stg::trace;

TraceBundle::TraceBundle(std::string version, std::string prefix,
                         RankSpace ranks, std::vector<Class> members)
    : TraceBundle(std::move(version), std::move(prefix), std::move(ranks),
                  std::move(members), /*fingerprint=*/0) {
  fingerprint = xxh3_64bits(encodeCore());
}

TraceBundle::TraceBundle(std::string version, std::string prefix,
                         RankSpace ranks, std::vector<Class> members,
                         uint64_t fingerprint)
    : version(std::move(version)), prefix(std::move(prefix)),
      space(std::move(ranks)), classes(std::move(members)),
      fingerprint(fingerprint) {
  SmallVector<const RankClass *> rankClasses;
  SmallVector<SmallVector<AxisMask>, 0> masks;
  for (const Class &entry : classes) {
    rankClasses.push_back(&entry.ranks);
    masks.push_back(entry.program.getMasks());
  }
  RankPartition::Conflict conflict;
  partition = RankPartition::create(space, rankClasses, conflict);
  assert(partition && "classes are no partition");
  groups.emplace(space, *partition, masks);
}

std::string TraceBundle::getFingerprintText() const {
  std::string text;
  raw_string_ostream(text) << format_hex_no_prefix(fingerprint, 16);
  return text;
}

std::string TraceBundle::getFileName(int64_t rank) const {
  return (prefix + "." + Twine(rank) + ".et").str();
}

//===----------------------------------------------------------------------===//
// Manifest and groups
//===----------------------------------------------------------------------===//

void TraceBundle::setManifest(std::string before, std::string after) {
  manifestBefore = std::move(before);
  manifestAfter = std::move(after);
}

std::string TraceBundle::getManifest(int64_t first, int64_t end) const {
  return (manifestBefore + "[" + Twine(first) + ", " + Twine(end) + "]" +
          manifestAfter)
      .str();
}

void TraceBundle::writeGroups(raw_ostream &os) const {
  os << '{';
  groups->forEach([&](int64_t id, ArrayRef<int64_t> members) {
    os << (id == 1 ? "\n" : ",\n") << "  \"" << id << "\": [";
    interleaveComma(members, os);
    os << ']';
  });
  os << (groups->getNumGroups() ? "\n}\n" : "}\n");
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

void TraceBundle::writeRank(int64_t rank, raw_ostream &os) const {
  constexpr size_t kChunk = 1 << 20;
  const TraceProgram &program = getClass(rank).program;
  ProgramRunner runner(program);
  TraceEncoder encoder(program, runner, version);
  ClassImage &image = encoder.getImage();
  std::vector<std::string> fields =
      encodeFields(encoder.getFields(), space, *groups, rank);
  FlatNode node;
  while (runner.next(node)) {
    encoder.encode(node);
    if (image.bytes.size() < kChunk)
      continue;
    os << RankImage().fill(image, fields);
    image.clear();
  }
  os << RankImage().fill(image, fields);
}
