//===- TraceNode.cpp - Decoded messages of a Chakra trace -----------------===//
//
// Names of the schema's numbers and the lookups that every consumer of nodes
// needs.
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Reader/TraceNode.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <limits>

using namespace llvm;

namespace stg::trace {

std::string toString(Int128 value) {
  bool negative = value < 0;
  // The magnitude of the smallest value fits the unsigned type only.
  __extension__ typedef unsigned __int128 UInt128;
  UInt128 magnitude = negative ? -static_cast<UInt128>(value) : value;
  std::string digits;
  do {
    digits.push_back(static_cast<char>('0' + static_cast<int>(magnitude % 10)));
    magnitude /= 10;
  } while (magnitude != 0);
  if (negative)
    digits.push_back('-');
  std::reverse(digits.begin(), digits.end());
  return digits;
}

int64_t clampToInt64(Int128 value) {
  using Limits = std::numeric_limits<int64_t>;
  return static_cast<int64_t>(
      std::clamp<Int128>(value, Limits::min(), Limits::max()));
}

std::string getNodeTypeName(int64_t type) {
  static const char *const names[] = {"INVALID",   "METADATA", "MEM_LOAD",
                                      "MEM_STORE", "COMP",     "COMM_SEND",
                                      "COMM_RECV", "COMM_COLL"};
  if (type >= 0 && type < static_cast<int64_t>(std::size(names)))
    return names[type];
  return "TYPE_" + std::to_string(type);
}

std::string getCollectiveName(int64_t type) {
  static const char *const names[] = {
      "ALL_REDUCE", "REDUCE",         "ALL_GATHER",
      "GATHER",     "SCATTER",        "BROADCAST",
      "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK",
      "BARRIER"};
  if (type >= 0 && type < static_cast<int64_t>(std::size(names)))
    return names[type];
  return "TYPE_" + std::to_string(type);
}

std::string getAttrKindName(AttrKind kind) {
  static const char *const names[] = {
      "double",   "float",    "int32",  "int64",   "uint32",
      "uint64",   "sint32",   "sint64", "fixed32", "fixed64",
      "sfixed32", "sfixed64", "bool",   "string",  "bytes"};
  if (kind == AttrKind::None)
    return "no value";
  unsigned element = (static_cast<unsigned>(getElementKind(kind)) - 3) / 2;
  return std::string(names[element]) + (isList(kind) ? "_list" : "_val");
}

std::optional<Int128> Attribute::getInteger() const {
  switch (kind) {
  case AttrKind::Int32:
  case AttrKind::Int64:
  case AttrKind::Sint32:
  case AttrKind::Sint64:
  case AttrKind::Sfixed32:
  case AttrKind::Sfixed64:
    return static_cast<int64_t>(number);
  case AttrKind::Uint32:
  case AttrKind::Uint64:
  case AttrKind::Fixed32:
  case AttrKind::Fixed64:
  case AttrKind::Bool:
    return number;
  default:
    return std::nullopt;
  }
}

void AttributeSet::clear() {
  attributes.clear();
  numbers.clear();
  strings.clear();
}

const Attribute *AttributeSet::find(StringRef name) const {
  const Attribute *found = llvm::find_if(
      attributes, [&](const Attribute &attr) { return attr.name == name; });
  return found == attributes.end() ? nullptr : found;
}

std::optional<Int128> AttributeSet::getInteger(StringRef name) const {
  const Attribute *attr = find(name);
  return attr ? attr->getInteger() : std::nullopt;
}

void Metadata::clear() {
  attrs.clear();
  invalidText.reset();
  version = {};
}

void Node::clear() {
  attrs.clear();
  invalidText.reset();
  id = startTimeMicros = durationMicros = 0;
  type = 0;
  name = {};
  ctrlDeps.clear();
  dataDeps.clear();
  inputs = outputs = IOInfo();
}

std::string getGroupName(const Node &node) {
  const Attribute *attr = node.attrs.find("pg_name");
  if (!attr)
    return "";
  std::string name;
  if (attr->kind == AttrKind::String)
    name = attr->text.str();
  else if (std::optional<Int128> number = attr->getInteger())
    name = toString(*number);
  return name == "0" ? "" : name;
}

} // namespace stg::trace
