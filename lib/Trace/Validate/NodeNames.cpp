//===- NodeNames.cpp - Names of a rank's nodes ----------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds nodes again for the sake of messages.
//
//===----------------------------------------------------------------------===//

#include "NodeNames.h"

using namespace llvm;

namespace stg::trace {

//===----------------------------------------------------------------------===//
// NodeNames
//===----------------------------------------------------------------------===//

void NodeNames::readAll() {
  Metadata metadata;
  if (Error error = reader.readMetadata(metadata))
    return consumeError(std::move(error));
  Node node;
  while (true) {
    Expected<bool> more = reader.readNode(node);
    if (!more) {
      // What cannot be read has no index in the graph, either.
      consumeError(more.takeError());
      continue;
    }
    if (!*more)
      return;
    add(node);
  }
}

std::string NodeNames::describe(uint32_t node) const {
  Node decoded;
  read(node, decoded);
  return "node " + std::to_string(decoded.id) + " '" +
         shortenText(decoded.name) + "'";
}

void NodeNames::report(ViolationList &list, Rule rule, StringRef file,
                       uint32_t node, const Twine &message) const {
  // Decoding is worth it only for a violation that will be shown.
  Node decoded;
  if (!list.isFull(rule))
    read(node, decoded);
  list.add(rule, file, decoded.id, decoded.name, message);
}

//===----------------------------------------------------------------------===//
// AllNodeNames
//===----------------------------------------------------------------------===//

const NodeNames *AllNodeNames::get(uint32_t position, uint32_t node) {
  constexpr size_t maxOpen = 16;
  auto it = open.find(position);
  if (it == open.end()) {
    if (open.size() == maxOpen)
      open.clear();
    it = open.try_emplace(position).first;
    if (Expected<TraceReader> reader = source.open(position)) {
      it->second.emplace(std::move(*reader));
      it->second->readAll();
    } else {
      consumeError(reader.takeError());
    }
  }
  // A file may have changed since it was checked.
  return it->second && it->second->has(node) ? &*it->second : nullptr;
}

std::string AllNodeNames::describe(uint32_t position, uint32_t node) {
  const NodeNames *names = get(position, node);
  return names ? names->describe(node) : "a node that is no longer there";
}

void AllNodeNames::report(ViolationList &list, Rule rule, uint32_t position,
                          uint32_t node, const Twine &message) {
  std::string file = source.getFile(position);
  // Reading is worth it only for a violation that will be shown.
  const NodeNames *names = list.isFull(rule) ? nullptr : get(position, node);
  if (names)
    names->report(list, rule, file, node, message);
  else
    list.add(rule, file, message);
}

} // namespace stg::trace
