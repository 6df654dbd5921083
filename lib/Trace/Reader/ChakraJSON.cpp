//===- ChakraJSON.cpp - Traces in Chakra's own JSON forms -----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages are described by tables of their fields, from which both directions
// follow. Attributes are apart: which member of the oneof is set is the kind of
// the value.
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Reader/ChakraJSON.h"
#include "stg/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;
using namespace stg;
using namespace stg::trace;

/// `int64_val` as `int64Val`.
static std::string toCamelCase(StringRef name) {
  std::string text;
  bool isUpper = false;
  for (char c : name) {
    if (c == '_') {
      isUpper = true;
      continue;
    }
    text += std::exchange(isUpper, false) ? toUpper(c) : c;
  }
  return text;
}

static constexpr AttrKind kScalars[] = {
    AttrKind::Double,  AttrKind::Float,    AttrKind::Int32,
    AttrKind::Int64,   AttrKind::Uint32,   AttrKind::Uint64,
    AttrKind::Sint32,  AttrKind::Sint64,   AttrKind::Fixed32,
    AttrKind::Fixed64, AttrKind::Sfixed32, AttrKind::Sfixed64,
    AttrKind::Bool,    AttrKind::String,   AttrKind::Bytes};

static bool isText(AttrKind element) {
  return element == AttrKind::String || element == AttrKind::Bytes;
}

/// Integers of 64 bits are strings, as JSON's numbers may have fewer.
static bool isWide(AttrKind element) {
  switch (element) {
  case AttrKind::Int64:
  case AttrKind::Uint64:
  case AttrKind::Sint64:
  case AttrKind::Fixed64:
  case AttrKind::Sfixed64:
    return true;
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static void writeWide(json::OStream &json, uint64_t value) {
  json.value(std::to_string(value));
}

static void writeScalar(json::OStream &json, AttrKind kind, uint64_t bits) {
  if (kind == AttrKind::Bool)
    return json.value(bits != 0);
  if (kind == AttrKind::Double || kind == AttrKind::Float) {
    double value = kind == AttrKind::Double
                       ? bit_cast<double>(bits)
                       : bit_cast<float>(static_cast<uint32_t>(bits));
    if (std::isnan(value))
      return json.value("NaN");
    if (std::isinf(value))
      return json.value(value > 0 ? "Infinity" : "-Infinity");
    return json.value(value);
  }
  Attribute attr;
  attr.kind = kind;
  attr.number = bits;
  std::string digits = toString(attr.getInteger().value_or(0));
  if (isWide(kind))
    json.value(digits);
  else
    json.rawValue(digits);
}

static void writeText(json::OStream &json, AttrKind kind, StringRef text) {
  json.value(kind == AttrKind::Bytes ? encodeBase64(text) : text.str());
}

static void writeValue(json::OStream &json, const Attribute &attr,
                       const AttributeSet &attrs) {
  AttrKind element = getElementKind(attr.kind);
  if (!isList(attr.kind))
    return isText(element) ? writeText(json, element, attr.text)
                           : writeScalar(json, element, attr.number);
  json.object([&] {
    if (attr.size == 0)
      return;
    json.attributeArray("values", [&] {
      if (isText(element))
        for (StringRef text : attrs.getStrings(attr))
          writeText(json, element, text);
      else
        for (uint64_t number : attrs.getNumbers(attr))
          writeScalar(json, element, number);
    });
  });
}

static void writeTextField(json::OStream &json, StringRef name,
                           StringRef text) {
  if (!text.empty())
    json.attribute(name, text);
}

static void writeAttributes(json::OStream &json, const AttributeSet &attrs) {
  if (attrs.attributes.empty())
    return;
  json.attributeArray("attr", [&] {
    for (const Attribute &attr : attrs.attributes)
      json.object([&] {
        writeTextField(json, "name", attr.name);
        writeTextField(json, "docString", attr.docString);
        if (attr.kind == AttrKind::None)
          return;
        json.attributeBegin(toCamelCase(getAttrKindName(attr.kind)));
        writeValue(json, attr, attrs);
        json.attributeEnd();
      });
  });
}

static void writeDeps(json::OStream &json, StringRef name,
                      ArrayRef<uint64_t> deps) {
  if (deps.empty())
    return;
  json.attributeArray(name, [&] {
    for (uint64_t dep : deps)
      writeWide(json, dep);
  });
}

static void writeIOInfo(json::OStream &json, StringRef name,
                        const IOInfo &info) {
  if (!info.present)
    return;
  json.attributeObject(name, [&] {
    writeTextField(json, "values", info.values);
    writeTextField(json, "shapes", info.shapes);
    writeTextField(json, "types", info.types);
  });
}

static constexpr int32_t kNumNodeTypes = 8;

static void writeNode(json::OStream &json, const Node &node) {
  auto writeNumber = [&](StringRef name, uint64_t value) {
    if (value == 0)
      return;
    json.attributeBegin(name);
    writeWide(json, value);
    json.attributeEnd();
  };
  json.object([&] {
    writeNumber("id", node.id);
    writeTextField(json, "name", node.name);
    if (node.type > 0 && node.type < kNumNodeTypes)
      json.attribute("type", getNodeTypeName(node.type) + "_NODE");
    else if (node.type != 0)
      json.attribute("type", node.type);
    writeDeps(json, "ctrlDeps", node.ctrlDeps);
    writeDeps(json, "dataDeps", node.dataDeps);
    writeNumber("startTimeMicros", node.startTimeMicros);
    writeNumber("durationMicros", node.durationMicros);
    writeIOInfo(json, "inputs", node.inputs);
    writeIOInfo(json, "outputs", node.outputs);
    writeAttributes(json, node.attrs);
  });
}

static Error checkText(const Message &message, StringRef file,
                       const Twine &what) {
  if (!message.invalidText)
    return Error::success();
  return makeError(file, "field '" + *message.invalidText + "' of " + what +
                             " is not valid UTF-8, which JSON cannot hold");
}

/// Calls `visit` for each node, whose texts are valid.
static Error forEachNode(TraceReader &reader,
                         function_ref<Error(const Node &)> visit) {
  return reader.forEachNode([&](const Node &node) -> Error {
    if (Error error =
            checkText(node, reader.getFile(), "node " + Twine(node.id)))
      return error;
    return visit(node);
  });
}

Error stg::trace::printMessages(TraceReader &reader, raw_ostream &os) {
  Metadata metadata;
  if (Error error = reader.readMetadata(metadata))
    return error;
  if (Error error = checkText(metadata, reader.getFile(), "the metadata"))
    return error;
  auto write = [&](function_ref<void(json::OStream &)> fill) {
    json::OStream json(os, /*IndentSize=*/2);
    fill(json);
    json.flush();
    os << '\n';
  };
  write([&](json::OStream &json) {
    json.object([&] {
      writeTextField(json, "version", metadata.version);
      writeAttributes(json, metadata.attrs);
    });
  });
  return forEachNode(reader, [&](const Node &node) {
    write([&](json::OStream &json) { writeNode(json, node); });
    return Error::success();
  });
}

Error stg::trace::printFeederGraph(TraceReader &reader, raw_ostream &os) {
  Metadata metadata;
  if (Error error = reader.readMetadata(metadata))
    return error;
  Error failed = Error::success();
  json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attributeArray("workload_graph", [&] {
      failed = joinErrors(
          std::move(failed), forEachNode(reader, [&](const Node &node) {
            json.object([&] {
              json.attribute("Id", node.id);
              json.attribute("Name", node.name);
              json.attribute("NodeType", node.type);
              json.attribute("is_cpu_op",
                             node.attrs.getInteger("is_cpu_op").value_or(0) !=
                                 0);
              json.attribute("runtime", node.durationMicros);
              // The feeder knows one kind of dependency.
              json.attributeArray("data_deps", [&] {
                SmallVector<uint64_t, 8> deps(node.dataDeps);
                llvm::append_range(deps, node.ctrlDeps);
                llvm::sort(deps);
                deps.erase(llvm::unique(deps), deps.end());
                for (uint64_t dep : deps)
                  json.value(dep);
              });
              for (StringRef name :
                   {"num_ops", "tensor_size", "comm_type", "comm_priority",
                    "comm_size", "comm_src", "comm_dst", "comm_tag"})
                if (std::optional<Int128> value = node.attrs.getInteger(name)) {
                  json.attributeBegin(name);
                  json.rawValue(toString(*value));
                  json.attributeEnd();
                }
            });
            return Error::success();
          }));
    });
  });
  json.flush();
  os << '\n';
  return failed;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// Bytes of a message.
class Wire {
public:
  void putVarint(uint64_t value) {
    raw_string_ostream os(bytes);
    encodeULEB128(value, os);
  }
  void putKey(unsigned field, unsigned type) { putVarint(field * 8 + type); }
  void putFixed(uint64_t value, unsigned size) {
    char buffer[8];
    support::endian::write64le(buffer, value);
    bytes.append(buffer, size);
  }
  void putBytes(unsigned field, StringRef value) {
    putKey(field, 2);
    putVarint(value.size());
    bytes += value;
  }
  /// A scalar as it stands in the message, or in a packed list.
  void putScalar(AttrKind kind, uint64_t bits) {
    switch (kind) {
    case AttrKind::Double:
    case AttrKind::Fixed64:
    case AttrKind::Sfixed64:
      return putFixed(bits, 8);
    case AttrKind::Float:
    case AttrKind::Fixed32:
    case AttrKind::Sfixed32:
      return putFixed(bits, 4);
    case AttrKind::Sint32:
    case AttrKind::Sint64:
      return putVarint((bits << 1) ^ -(bits >> 63));
    default:
      return putVarint(bits);
    }
  }
  static unsigned getWireType(AttrKind kind) {
    switch (kind) {
    case AttrKind::Double:
    case AttrKind::Fixed64:
    case AttrKind::Sfixed64:
      return 1;
    case AttrKind::Float:
    case AttrKind::Fixed32:
    case AttrKind::Sfixed32:
      return 5;
    default:
      return 0;
    }
  }

  std::string bytes;
};

/// Reads one object of the text.
class MessageEncoder {
public:
  explicit MessageEncoder(const json::Object &object) : object(object) {}

  Expected<std::string> encodeMetadata();
  Expected<std::string> encodeNode();

private:
  /// A field by its name in the mapping or in the schema; null if it is not
  /// there.
  const json::Value *take(StringRef name);
  Error finish(StringRef what);
  void fail(const Twine &message) {
    if (problem.empty())
      problem = message.str();
  }
  std::optional<uint64_t> getNumber(AttrKind kind, const json::Value &value,
                                    StringRef name);
  std::string getText(const json::Value &value, StringRef name);
  void putText(Wire &wire, unsigned field, StringRef name);
  void putNumber(Wire &wire, unsigned field, StringRef name);
  void putDeps(Wire &wire, unsigned field, StringRef name);
  void putIOInfo(Wire &wire, unsigned field, StringRef name);
  void putAttributes(Wire &wire, unsigned field);
  void putValue(Wire &wire);
  void putList(Wire &wire, AttrKind element, const json::Value &value);
  void putType(Wire &wire);
  void adopt(MessageEncoder &inner, StringRef what) {
    // The outer message is named by what is inside of it.
    if (Error error = inner.finish(what); error && problem.empty())
      problem = "has " + toString(std::move(error));
    else
      consumeError(std::move(error));
  }

  const json::Object &object;
  SmallVector<StringRef> taken;
  std::string problem;
};
} // namespace

const json::Value *MessageEncoder::take(StringRef name) {
  for (const auto &[key, value] : object)
    if (StringRef(key) == name || StringRef(key) == toCamelCase(name)) {
      taken.push_back(StringRef(key));
      return &value;
    }
  return nullptr;
}

Error MessageEncoder::finish(StringRef what) {
  for (const auto &[key, value] : object)
    if (!is_contained(taken, StringRef(key)))
      fail("has the field '" + StringRef(key) + "', which the schema does not");
  if (problem.empty())
    return Error::success();
  return createStringError(inconvertibleErrorCode(), what + " " + problem);
}

/// What is not finite has a name; a number that would become infinite is none.
static std::optional<double> getDouble(const json::Value &value,
                                       AttrKind kind) {
  std::optional<StringRef> text = value.getAsString();
  if (text && *text == "NaN")
    return NAN;
  if (text && *text == "Infinity")
    return INFINITY;
  if (text && *text == "-Infinity")
    return -INFINITY;
  std::optional<double> number = value.getAsNumber();
  double parsed = 0;
  if (text && !text->getAsDouble(parsed))
    number = parsed;
  if (!number || !std::isfinite(*number) ||
      (kind == AttrKind::Float && !std::isfinite(static_cast<float>(*number))))
    return std::nullopt;
  return number;
}

/// A number as it is, or as a string; within the range of its kind.
std::optional<uint64_t> MessageEncoder::getNumber(AttrKind kind,
                                                  const json::Value &value,
                                                  StringRef name) {
  std::optional<StringRef> text = value.getAsString();
  if (kind == AttrKind::Bool) {
    if (std::optional<bool> boolean = value.getAsBoolean())
      return *boolean;
  } else if (kind == AttrKind::Double || kind == AttrKind::Float) {
    if (std::optional<double> number = getDouble(value, kind))
      return kind == AttrKind::Double
                 ? bit_cast<uint64_t>(*number)
                 : bit_cast<uint32_t>(static_cast<float>(*number));
  } else {
    std::optional<Int128> number;
    int64_t low = 0;
    uint64_t high = 0;
    if (std::optional<int64_t> integer = value.getAsInteger())
      number = *integer;
    else if (std::optional<uint64_t> integer = value.getAsUINT64())
      number = *integer;
    else if (text && !text->getAsInteger(10, low))
      number = low;
    else if (text && !text->getAsInteger(10, high))
      number = high;
    bool isSigned = kind == AttrKind::Int32 || kind == AttrKind::Int64 ||
                    kind == AttrKind::Sint32 || kind == AttrKind::Sint64 ||
                    kind == AttrKind::Sfixed32 || kind == AttrKind::Sfixed64;
    unsigned bits = isWide(kind) ? 64 : 32;
    Int128 least = isSigned ? -(Int128(1) << (bits - 1)) : 0;
    Int128 limit = Int128(1) << (isSigned ? bits - 1 : bits);
    if (number && *number >= least && *number < limit)
      return static_cast<uint64_t>(*number);
  }
  std::string kindName = getAttrKindName(kind);
  fail("has a '" + name + "' that is no " +
       StringRef(kindName).drop_back(StringRef("_val").size()));
  return std::nullopt;
}

std::string MessageEncoder::getText(const json::Value &value, StringRef name) {
  if (std::optional<StringRef> text = value.getAsString())
    return text->str();
  fail("has a '" + name + "' that is no string");
  return {};
}

void MessageEncoder::putText(Wire &wire, unsigned field, StringRef name) {
  if (const json::Value *value = take(name))
    if (std::string text = getText(*value, name); !text.empty())
      wire.putBytes(field, text);
}

void MessageEncoder::putNumber(Wire &wire, unsigned field, StringRef name) {
  const json::Value *value = take(name);
  std::optional<uint64_t> number =
      value ? getNumber(AttrKind::Uint64, *value, name) : std::nullopt;
  if (!number.value_or(0))
    return;
  wire.putKey(field, 0);
  wire.putVarint(*number);
}

void MessageEncoder::putDeps(Wire &wire, unsigned field, StringRef name) {
  const json::Value *value = take(name);
  if (!value)
    return;
  const json::Array *array = value->getAsArray();
  if (!array)
    return fail("has a '" + name + "' that is no list");
  Wire list;
  for (const json::Value &entry : *array)
    if (auto number = getNumber(AttrKind::Uint64, entry, name))
      list.putVarint(*number);
  if (!array->empty())
    wire.putBytes(field, list.bytes);
}

void MessageEncoder::putIOInfo(Wire &wire, unsigned field, StringRef name) {
  const json::Value *value = take(name);
  if (!value)
    return;
  const json::Object *inner = value->getAsObject();
  if (!inner)
    return fail("has a '" + name + "' that is no object");
  MessageEncoder encoder(*inner);
  Wire info;
  encoder.putText(info, 1, "values");
  encoder.putText(info, 2, "shapes");
  encoder.putText(info, 3, "types");
  adopt(encoder, ("'" + name + "' that").str());
  wire.putBytes(field, info.bytes);
}

void MessageEncoder::putList(Wire &wire, AttrKind element,
                             const json::Value &value) {
  const json::Object *list = value.getAsObject();
  if (!list)
    return fail("has a list that is no object with 'values'");
  MessageEncoder inner(*list);
  Wire packed;
  const json::Value *values = inner.take("values");
  const json::Array *array = values ? values->getAsArray() : nullptr;
  if (values && !array)
    return fail("has 'values' that are no list");
  Wire message;
  if (array)
    for (const json::Value &entry : *array) {
      if (isText(element)) {
        std::string text = getText(entry, "values");
        std::vector<char> decoded;
        if (element == AttrKind::Bytes) {
          if (Error error = decodeBase64(text, decoded))
            return fail("has bytes that are no base64: " +
                        toString(std::move(error)));
          text.assign(decoded.begin(), decoded.end());
        }
        message.putBytes(1, text);
      } else if (auto number = getNumber(element, entry, "values")) {
        packed.putScalar(element, *number);
      }
    }
  if (!packed.bytes.empty())
    message.putBytes(1, packed.bytes);
  adopt(inner, "a list that");
  wire.putBytes(static_cast<unsigned>(element) + 1, message.bytes);
}

/// The member of the oneof that is there; there is at most one.
void MessageEncoder::putValue(Wire &wire) {
  bool isSet = false;
  for (AttrKind scalar : kScalars) {
    auto list = static_cast<AttrKind>(static_cast<unsigned>(scalar) + 1);
    auto field = static_cast<unsigned>(scalar);
    for (AttrKind kind : {scalar, list}) {
      std::string name = getAttrKindName(kind);
      const json::Value *value = take(name);
      if (!value)
        continue;
      if (std::exchange(isSet, true))
        return fail("has more than one value");
      if (kind == list) {
        putList(wire, scalar, *value);
      } else if (isText(scalar)) {
        std::string text = getText(*value, name);
        std::vector<char> decoded;
        if (scalar == AttrKind::Bytes) {
          if (Error error = decodeBase64(text, decoded))
            return fail("has bytes that are no base64: " +
                        toString(std::move(error)));
          text.assign(decoded.begin(), decoded.end());
        }
        wire.putBytes(field, text);
      } else if (auto number = getNumber(scalar, *value, name)) {
        wire.putKey(field, Wire::getWireType(scalar));
        wire.putScalar(scalar, *number);
      }
    }
  }
}

void MessageEncoder::putAttributes(Wire &wire, unsigned field) {
  const json::Value *value = take("attr");
  if (!value)
    return;
  const json::Array *array = value->getAsArray();
  if (!array)
    return fail("has an 'attr' that is no list");
  for (const json::Value &entry : *array) {
    const json::Object *inner = entry.getAsObject();
    if (!inner)
      return fail("has an attribute that is no object");
    MessageEncoder encoder(*inner);
    Wire attribute;
    encoder.putText(attribute, 1, "name");
    encoder.putText(attribute, 2, "doc_string");
    encoder.putValue(attribute);
    adopt(encoder, "an attribute that");
    wire.putBytes(field, attribute.bytes);
  }
}

/// By name, or as a number.
void MessageEncoder::putType(Wire &wire) {
  const json::Value *value = take("type");
  if (!value)
    return;
  std::optional<uint64_t> number;
  if (std::optional<StringRef> text = value->getAsString()) {
    for (int32_t type = 0; type < kNumNodeTypes; ++type)
      if (*text == getNodeTypeName(type) + "_NODE")
        number = type;
    if (!number)
      return fail("has the unknown type '" + *text + "'");
  } else {
    number = getNumber(AttrKind::Int32, *value, "type");
  }
  if (!number.value_or(0))
    return;
  wire.putKey(3, 0);
  wire.putVarint(*number);
}

Expected<std::string> MessageEncoder::encodeMetadata() {
  Wire wire;
  putText(wire, 1, "version");
  putAttributes(wire, 2);
  if (Error error = finish("the metadata"))
    return std::move(error);
  return wire.bytes;
}

Expected<std::string> MessageEncoder::encodeNode() {
  Wire wire;
  putNumber(wire, 1, "id");
  putText(wire, 2, "name");
  putType(wire);
  putDeps(wire, 4, "ctrl_deps");
  putDeps(wire, 5, "data_deps");
  putNumber(wire, 6, "start_time_micros");
  putNumber(wire, 7, "duration_micros");
  putIOInfo(wire, 8, "inputs");
  putIOInfo(wire, 9, "outputs");
  putAttributes(wire, 10);
  if (Error error = finish("the node"))
    return std::move(error);
  return wire.bytes;
}

/// The end of the object that begins at `begin`, or npos.
static size_t findEnd(StringRef text, size_t begin) {
  unsigned depth = 0;
  bool isString = false;
  for (size_t i = begin; i < text.size(); ++i) {
    char c = text[i];
    if (isString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        isString = false;
      continue;
    }
    if (c == '"')
      isString = true;
    else if (c == '{')
      ++depth;
    else if (c == '}' && --depth == 0)
      return i + 1;
  }
  return StringRef::npos;
}

Error stg::trace::encodeMessages(StringRef text, StringRef file,
                                 raw_ostream &os) {
  size_t number = 0;
  for (size_t next = 0;; ++number) {
    next = text.find_first_not_of(" \t\r\n", next);
    if (next == StringRef::npos)
      break;
    // Lines are counted for an error alone.
    auto fail = [&](const Twine &message) {
      size_t line = text.take_front(next).count('\n') + 1;
      return makeError(file, "line " + Twine(line) + ": " + message);
    };
    size_t end = text[next] == '{' ? findEnd(text, next) : StringRef::npos;
    if (end == StringRef::npos)
      return fail("expected a JSON object that is whole");
    Expected<json::Value> value = json::parse(text.slice(next, end));
    if (!value)
      return fail(toString(value.takeError()));
    MessageEncoder encoder(*value->getAsObject());
    Expected<std::string> bytes =
        number == 0 ? encoder.encodeMetadata() : encoder.encodeNode();
    if (!bytes)
      return fail(toString(bytes.takeError()));
    encodeULEB128(bytes->size(), os);
    os << *bytes;
    next = end;
  }
  if (number == 0)
    return makeError(file, "there is no object, expected the metadata");
  return Error::success();
}
