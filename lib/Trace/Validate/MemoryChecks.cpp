//===- MemoryChecks.cpp - Rules for the tensors of one rank ---------------===//
//
// Most writers are direct dependencies of their readers; the others are looked
// up together by areAncestors().
//
//===----------------------------------------------------------------------===//

#include "MemoryChecks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"
#include <limits>

using namespace llvm;

namespace stg::trace {

void MemoryChecker::report(Rule rule, const Node &node, const Twine &message) {
  violations.add(rule, context.file, node.id, node.name, message);
}

void MemoryChecker::addMetadata(const Metadata &metadata) {
  usesHost = metadata.attrs.getInteger(kHostAttr).value_or(0) != 0;
  const Attribute *attr = metadata.attrs.find("persistent_tensors");
  if (!attr || attr->kind != AttrKind::StringList)
    return;
  listsPersistent = true;
  for (StringRef name : metadata.attrs.getStrings(*attr))
    if (name.consume_back("*"))
      persistentPrefixes.push_back(name);
    else
      persistentNames.insert(name);
}

bool MemoryChecker::isPersistent(StringRef name) const {
  return persistentNames.contains(name) ||
         llvm::any_of(persistentPrefixes, [&](StringRef prefix) {
           return name.starts_with(prefix);
         });
}

/// The list behind `attribute`; empty if the node has none.
ArrayRef<StringRef> MemoryChecker::getNames(const Node &node,
                                            StringRef attribute) {
  const Attribute *attr = node.attrs.find(attribute);
  if (!attr) {
    report(Rule::MemoryLists, node, "attribute '" + attribute + "' is missing");
    return {};
  }
  if (attr->kind != AttrKind::StringList) {
    report(Rule::MemoryLists, node,
           "attribute '" + attribute + "' is " + getAttrKindName(attr->kind) +
               ", expected string_list");
    return {};
  }
  ArrayRef<StringRef> list = node.attrs.getStrings(*attr);
  if (list.size() % 2 != 0)
    report(Rule::MemoryPairs, node,
           "attribute '" + attribute + "' has " + Twine(list.size()) +
               " elements, expected pairs of name and size");
  checkSizes(node, attribute, list);
  return list;
}

void MemoryChecker::checkSizes(const Node &node, StringRef attribute,
                               ArrayRef<StringRef> list) {
  for (size_t i = 1; i < list.size(); i += 2) {
    uint64_t bytes = 0;
    if (list[i].empty() || !llvm::all_of(list[i], isDigit) ||
        list[i].getAsInteger(10, bytes))
      report(Rule::MemorySizes, node,
             "size '" + shortenText(list[i]) + "' of tensor '" +
                 shortenText(list[i - 1]) + "' in '" + attribute +
                 "' is not a decimal number of bytes");
  }
}

MemoryChecker::TensorKey MemoryChecker::getKey(StringRef name) {
  XXH128_hash_t hash = xxh3_128bits(arrayRefFromStringRef(name));
  return {hash.low64, hash.high64};
}

/// A size that is no number, or not there, is reported elsewhere.
static constexpr uint64_t kNoSize = std::numeric_limits<uint64_t>::max();

static uint64_t getBytes(ArrayRef<StringRef> list, size_t name) {
  uint64_t bytes = 0;
  return name + 1 < list.size() && !list[name + 1].getAsInteger(10, bytes)
             ? bytes
             : kNoSize;
}

/// What is wrong with the bytes of a read; empty if nothing is.
static std::string compareBytes(uint64_t read, uint64_t written,
                                uint64_t writer) {
  if (read == written || read == kNoSize || written == kNoSize)
    return "";
  return " is read with " + std::to_string(read) + " bytes, but node " +
         std::to_string(writer) + " writes " + std::to_string(written);
}

/// Notes a read, unless a direct dependency is the writer.
void MemoryChecker::addRead(const Node &node, uint32_t index, StringRef name,
                            uint64_t bytes) {
  Read read = {getKey(name), bytes, index, false};
  if (auto changed = changes.find(read.tensor); changed != changes.end())
    for (uint32_t change : changed->second)
      if (!llvm::binary_search(directDeps, graph.ids[change]))
        changedReads.push_back({change, read});
  auto it = writers.find(read.tensor);
  if (it != writers.end() &&
      llvm::binary_search(directDeps, graph.ids[it->second.node])) {
    std::string wrong =
        compareBytes(bytes, it->second.bytes, graph.ids[it->second.node]);
    if (!wrong.empty())
      report(Rule::SameSize, node,
             "tensor '" + shortenText(name) + "'" + wrong);
    return;
  }
  read.isPersistent = isPersistent(name);
  reads.push_back(read);
}

void MemoryChecker::addWrite(const Node &node, const Write &write,
                             StringRef name) {
  auto [it, isNew] = writers.try_emplace(getKey(name), write);
  uint32_t known = it->second.node;
  if (!isNew)
    report(Rule::WrittenOnce, node,
           "tensor '" + shortenText(name) + "' is already written by node " +
               Twine(known == write.node ? node.id : graph.ids[known]));
  if (isPersistent(name))
    report(Rule::PersistentNotWritten, node,
           "tensor '" + shortenText(name) +
               "' is written, but listed in persistent_tensors");
}

void MemoryChecker::addReads(const Node &node, uint32_t index,
                             StringRef attribute) {
  ArrayRef<StringRef> list = getNames(node, attribute);
  for (size_t i = 0; i < list.size(); i += 2)
    addRead(node, index, list[i], getBytes(list, i));
}

void MemoryChecker::addWrites(const Node &node, uint32_t index,
                              StringRef attribute) {
  ArrayRef<StringRef> list = getNames(node, attribute);
  for (size_t i = 0; i < list.size(); i += 2)
    addWrite(node, {getBytes(list, i), index}, list[i]);
}

void MemoryChecker::addNode(const Node &node, uint32_t index, bool distinct) {
  directDeps.clear();
  if (distinct)
    directDeps.assign(node.dataDeps.begin(), node.dataDeps.end());
  if (!llvm::is_sorted(directDeps))
    llvm::sort(directDeps);
  addReads(node, index, "inputs");
  addWrites(node, index, "outputs");
  // An all-reduce without outputs leaves its result where its inputs were; what
  // others make is nowhere then, and nobody reads it.
  if (node.is(NodeType::Coll) && node.attrs.find("outputs") &&
      getNames(node, "outputs").empty() &&
      node.attrs.getInteger("comm_type") ==
          static_cast<int64_t>(CollectiveType::AllReduce)) {
    ArrayRef<StringRef> list = getNames(node, "inputs");
    for (size_t i = 0; i < list.size(); i += 2)
      changes[getKey(list[i])].push_back(index);
  }
  bool isTransfer = node.is(NodeType::MemLoad) || node.is(NodeType::MemStore);
  if (!usesHost || !isTransfer)
    return;
  // Buffers of the host are written and read like others.
  addReads(node, index, "host_inputs");
  addWrites(node, index, "host_outputs");
}

void MemoryChecker::finish(ArrayRef<uint32_t> order, bool isComplete,
                           NodeReader readNode, Reporter report) {
  // Names are looked up for messages.
  auto describe = [&](const Read &read) -> std::string {
    Node node;
    readNode(read.node, node);
    for (StringRef attribute : {"inputs", "host_inputs"})
      if (const Attribute *list = node.attrs.find(attribute))
        for (StringRef name : node.attrs.getStrings(*list))
          if (getKey(name) == read.tensor)
            return "tensor '" + shortenText(name) + "'";
    return "a tensor";
  };
  std::vector<AncestorQuery> queries;
  std::vector<const Read *> readOf;
  DenseMap<TensorKey, const Read *> unwritten; // The first read of each.
  for (const Read &read : reads) {
    auto it = writers.find(read.tensor);
    if (it == writers.end()) {
      const Read *first =
          unwritten.try_emplace(read.tensor, &read).first->second;
      if (first->bytes != read.bytes && first->bytes != kNoSize &&
          read.bytes != kNoSize)
        report(Rule::SameSize, read.node,
               describe(read) + " is read with " + Twine(read.bytes) +
                   " bytes, but node " + Twine(graph.ids[first->node]) +
                   " reads it with " + Twine(first->bytes));
      if (isComplete && mustBePersistent() && !read.isPersistent)
        report(Rule::Persistent, read.node,
               describe(read) + " is read, but neither written nor persistent");
    } else if (it->second.node == read.node) {
      report(Rule::NotInPlace, read.node,
             describe(read) + " is both input and output");
    } else {
      uint32_t writer = it->second.node;
      std::string wrong =
          compareBytes(read.bytes, it->second.bytes, graph.ids[writer]);
      if (!wrong.empty())
        report(Rule::SameSize, read.node, describe(read) + wrong);
      queries.push_back({writer, read.node});
      readOf.push_back(&read);
    }
  }
  for (const ChangedRead &changed : changedReads) {
    queries.push_back({changed.change, changed.read.node});
    readOf.push_back(&changed.read);
  }

  BitVector byData = areAncestors(graph, order, /*dataOnly=*/true, queries);
  if (byData.all())
    return;
  BitVector byAny = areAncestors(graph, order, /*dataOnly=*/false, queries);
  for (size_t i = 0; i < queries.size(); ++i) {
    if (byData.test(i))
      continue;
    std::string tensor = describe(*readOf[i]) + " of node " +
                         std::to_string(graph.ids[queries[i].ancestor]);
    if (byAny.test(i))
      report(Rule::DataDeps, queries[i].descendant,
             tensor + " is ordered before this reader by control "
                      "dependencies only");
    else
      report(Rule::WriterUpstream, queries[i].descendant,
             tensor + " is read, but that node is not upstream");
  }
}

} // namespace stg::trace
