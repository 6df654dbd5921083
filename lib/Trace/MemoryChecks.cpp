//===- MemoryChecks.cpp - Rules for the tensors of one rank ---------------===//
//
// Most writers are direct dependencies of their readers; the others are looked
// up together by areAncestors().
//
//===----------------------------------------------------------------------===//

#include "MemoryChecks.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace stg::trace {

void MemoryChecker::report(Rule rule, const Node &node, const Twine &message) {
  violations.add(rule, context.file, node.id, node.name, message);
}

void MemoryChecker::addMetadata(const Metadata &metadata) {
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
             "size '" + escapeText(list[i]) + "' of tensor '" +
                 escapeText(list[i - 1]) + "' in '" + attribute +
                 "' is not a decimal number of bytes");
  }
}

void MemoryChecker::addWrite(const Node &node, uint32_t index, StringRef name) {
  auto [it, isNew] = writers.try_emplace(name, Writer{index, node.id});
  if (!isNew)
    report(Rule::WrittenOnce, node,
           "tensor '" + escapeText(name) + "' is already written by node " +
               Twine(it->second.id));
  if (isPersistent(name))
    report(Rule::PersistentNotWritten, node,
           "tensor '" + escapeText(name) +
               "' is written, but listed in persistent_tensors");
}

void MemoryChecker::addNode(const Node &node, uint32_t index) {
  ArrayRef<StringRef> inputs = getNames(node, "inputs");
  for (size_t i = 0; i < inputs.size(); i += 2)
    reads.push_back({index, inputs[i]});
  ArrayRef<StringRef> outputs = getNames(node, "outputs");
  for (size_t i = 0; i < outputs.size(); i += 2)
    addWrite(node, index, outputs[i]);
}

void MemoryChecker::finish(const RankGraph &graph, ArrayRef<uint32_t> order,
                           bool isComplete, Reporter report) {
  std::vector<AncestorQuery> queries;
  std::vector<StringRef> names;
  for (const Read &read : reads) {
    auto it = writers.find(read.name);
    if (it == writers.end()) {
      if (isComplete && mustBePersistent() && !isPersistent(read.name))
        report(Rule::Persistent, read.node,
               "tensor '" + escapeText(read.name) +
                   "' is read, but neither written nor persistent");
    } else if (it->second.node == read.node) {
      report(Rule::NotInPlace, read.node,
             "tensor '" + escapeText(read.name) + "' is both input and output");
    } else {
      queries.push_back({it->second.node, read.node});
      names.push_back(read.name);
    }
  }

  BitVector byData = areAncestors(graph, order, /*dataOnly=*/true, queries);
  if (byData.all())
    return;
  BitVector byAny = areAncestors(graph, order, /*dataOnly=*/false, queries);
  for (size_t i = 0; i < queries.size(); ++i) {
    if (byData.test(i))
      continue;
    std::string tensor = "tensor '" + escapeText(names[i]) + "' of node " +
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
