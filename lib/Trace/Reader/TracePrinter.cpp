//===- TracePrinter.cpp - Trace messages as JSON --------------------------===//
//
// One function per message of the schema.
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Reader/TracePrinter.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;

namespace stg::trace {

/// Escapes only what is not UTF-8: JSON has its own form of control
/// characters.
static std::string toJSONText(StringRef text) {
  return json::isUTF8(text) ? text.str() : escapeText(text);
}

static void writeFloat(json::OStream &json, double value) {
  if (std::isnan(value))
    json.value("NaN");
  else if (std::isinf(value))
    json.value(value > 0 ? "Infinity" : "-Infinity");
  else
    json.value(value);
}

static void writeNumber(json::OStream &json, AttrKind kind, uint64_t bits) {
  switch (kind) {
  case AttrKind::Double:
    return writeFloat(json, llvm::bit_cast<double>(bits));
  case AttrKind::Float:
    return writeFloat(json, static_cast<double>(llvm::bit_cast<float>(
                                static_cast<uint32_t>(bits))));
  case AttrKind::Bool:
    return json.value(bits != 0);
  default: {
    Attribute attr;
    attr.kind = kind;
    attr.number = bits;
    return json.rawValue(toString(attr.getInteger().value_or(0)));
  }
  }
}

static void writeString(json::OStream &json, AttrKind kind, StringRef text) {
  json.value(kind == AttrKind::Bytes ? encodeBase64(text) : toJSONText(text));
}

static void writeValue(json::OStream &json, const Attribute &attr,
                       const AttributeSet &attrs) {
  AttrKind element = getElementKind(attr.kind);
  bool isText = element == AttrKind::String || element == AttrKind::Bytes;
  if (!isList(attr.kind)) {
    if (isText)
      return writeString(json, element, attr.text);
    return writeNumber(json, element, attr.number);
  }
  json.array([&] {
    if (isText)
      for (StringRef text : attrs.getStrings(attr))
        writeString(json, element, text);
    else
      for (uint64_t number : attrs.getNumbers(attr))
        writeNumber(json, element, number);
  });
}

static void writeAttributes(json::OStream &json, const AttributeSet &attrs) {
  json.attributeArray("attr", [&] {
    for (const Attribute &attr : attrs.attributes) {
      json.object([&] {
        json.attribute("name", toJSONText(attr.name));
        if (!attr.docString.empty())
          json.attribute("doc_string", toJSONText(attr.docString));
        if (attr.kind == AttrKind::None)
          return;
        json.attributeBegin(getAttrKindName(attr.kind));
        writeValue(json, attr, attrs);
        json.attributeEnd();
      });
    }
  });
}

static void writeDeps(json::OStream &json, StringRef name,
                      ArrayRef<uint64_t> deps) {
  if (deps.empty())
    return;
  json.attributeArray(name, [&] {
    for (uint64_t dep : deps)
      json.value(dep);
  });
}

static void writeIOInfo(json::OStream &json, StringRef name,
                        const IOInfo &info) {
  if (!info.present)
    return;
  json.attributeObject(name, [&] {
    json.attribute("values", toJSONText(info.values));
    json.attribute("shapes", toJSONText(info.shapes));
    json.attribute("types", toJSONText(info.types));
  });
}

void printMetadata(const Metadata &metadata, raw_ostream &os) {
  json::OStream json(os);
  json.object([&] {
    json.attribute("schema", "stg-trace-print");
    json.attribute("version", 1);
    json.attributeObject("metadata", [&] {
      json.attribute("version", toJSONText(metadata.version));
      writeAttributes(json, metadata.attrs);
    });
  });
  os << '\n';
}

void printNode(const Node &node, raw_ostream &os) {
  json::OStream json(os);
  json.object([&] {
    json.attribute("id", node.id);
    json.attribute("name", toJSONText(node.name));
    json.attribute("type", getNodeTypeName(node.type));
    writeDeps(json, "ctrl_deps", node.ctrlDeps);
    writeDeps(json, "data_deps", node.dataDeps);
    if (node.startTimeMicros)
      json.attribute("start_time_micros", node.startTimeMicros);
    if (node.durationMicros)
      json.attribute("duration_micros", node.durationMicros);
    writeIOInfo(json, "inputs", node.inputs);
    writeIOInfo(json, "outputs", node.outputs);
    writeAttributes(json, node.attrs);
  });
  os << '\n';
}

Error printTrace(TraceReader &reader, raw_ostream &os) {
  Metadata metadata;
  if (Error error = reader.readMetadata(metadata))
    return error;
  printMetadata(metadata, os);
  return reader.forEachNode([&](const Node &node) {
    printNode(node, os);
    return Error::success();
  });
}

} // namespace stg::trace
