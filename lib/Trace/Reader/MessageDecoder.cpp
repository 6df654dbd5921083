//===- MessageDecoder.cpp - Wire format of one trace message --------------===//
//
// One function per message of the schema. Repeated occurrences follow the
// rules of the wire format: the last scalar wins, lists and sub-messages
// merge, and repeated numbers may be packed or not.
//
//===----------------------------------------------------------------------===//

#include "MessageDecoder.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Endian.h"

using namespace llvm;

namespace stg::trace {

namespace {

enum WireType : unsigned { Varint = 0, Fixed64 = 1, Length = 2, Fixed32 = 5 };

/// Wire type that an element of `kind` has outside a packed list.
unsigned getWireType(AttrKind kind) {
  switch (kind) {
  case AttrKind::Double:
  case AttrKind::Fixed64:
  case AttrKind::Sfixed64:
    return WireType::Fixed64;
  case AttrKind::Float:
  case AttrKind::Fixed32:
  case AttrKind::Sfixed32:
    return WireType::Fixed32;
  case AttrKind::String:
  case AttrKind::Bytes:
    return WireType::Length;
  default:
    return WireType::Varint;
  }
}

bool isText(AttrKind kind) {
  return kind == AttrKind::String || kind == AttrKind::Bytes;
}

/// What the wire value `raw` means for an element of `kind`.
uint64_t interpret(AttrKind kind, uint64_t raw) {
  uint32_t low = static_cast<uint32_t>(raw);
  switch (kind) {
  case AttrKind::Int32:
  case AttrKind::Sfixed32:
    return static_cast<uint64_t>(
        static_cast<int64_t>(static_cast<int32_t>(low)));
  case AttrKind::Uint32:
    return low;
  case AttrKind::Sint32: {
    uint32_t value = (low >> 1) ^ (~(low & 1) + 1);
    return static_cast<uint64_t>(
        static_cast<int64_t>(static_cast<int32_t>(value)));
  }
  case AttrKind::Sint64:
    return (raw >> 1) ^ (~(raw & 1) + 1);
  case AttrKind::Bool:
    return raw != 0;
  default:
    return raw;
  }
}

bool isValidUTF8(StringRef text) {
  // Mostly all of it is ASCII, which is told without a branch for each byte.
  unsigned char bits = 0;
  for (unsigned char c : text)
    bits |= c;
  if (bits < 0x80)
    return true;
  const UTF8 *first = text.bytes_begin();
  return isLegalUTF8String(&first, text.bytes_end());
}

} // namespace

bool consumeVarint(StringRef &bytes, uint64_t &value) {
  uint64_t result = 0;
  for (unsigned i = 0; i < 10 && i < bytes.size(); ++i) {
    uint8_t byte = static_cast<uint8_t>(bytes[i]);
    // The tenth byte holds bit 63 alone.
    if (i == 9 && byte > 1)
      return false;
    result |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte & 0x80)
      continue;
    value = result;
    bytes = bytes.drop_front(i + 1);
    return true;
  }
  return false;
}

bool MessageDecoder::fail(const char *where, const Twine &message) {
  error = message.str();
  errorPosition = static_cast<uint64_t>(where - bytes.data());
  return false;
}

bool MessageDecoder::consumeFixed(StringRef &rest, unsigned width,
                                  Field &field) {
  if (rest.size() < width)
    return fail(field.start, "field " + Twine(field.number) +
                                 " is cut off by the end of its message");
  field.value = width == 8 ? support::endian::read64le(rest.data())
                           : support::endian::read32le(rest.data());
  rest = rest.drop_front(width);
  return true;
}

bool MessageDecoder::consumeField(StringRef &rest, Field &field) {
  field.start = rest.data();
  uint64_t tag = 0;
  if (!consumeVarint(rest, tag) || tag > UINT32_MAX)
    return fail(field.start, "field tag is not a valid varint");
  field.number = tag >> 3;
  field.wireType = tag & 7;
  if (field.number == 0)
    return fail(field.start, "field number is 0");

  switch (field.wireType) {
  case WireType::Varint:
    if (!consumeVarint(rest, field.value))
      return fail(field.start, "value of field " + Twine(field.number) +
                                   " is not a valid varint");
    return true;
  case WireType::Fixed64:
    return consumeFixed(rest, 8, field);
  case WireType::Fixed32:
    return consumeFixed(rest, 4, field);
  case WireType::Length: {
    uint64_t length = 0;
    if (!consumeVarint(rest, length))
      return fail(field.start, "length of field " + Twine(field.number) +
                                   " is not a valid varint");
    if (length > rest.size())
      return fail(field.start, "field " + Twine(field.number) + " claims " +
                                   Twine(length) + " bytes, but only " +
                                   Twine(rest.size()) +
                                   " are left in its message");
    field.payload = rest.take_front(length);
    rest = rest.drop_front(length);
    return true;
  }
  default:
    return fail(field.start, "field " + Twine(field.number) +
                                 " has unsupported wire type " +
                                 Twine(field.wireType));
  }
}

bool MessageDecoder::expect(const Field &field, unsigned wireType,
                            StringRef name) {
  if (field.wireType == wireType)
    return true;
  return fail(field.start, "field '" + name + "' has wire type " +
                               Twine(field.wireType) + ", expected " +
                               Twine(wireType));
}

void MessageDecoder::noteText(StringRef name, StringRef text) {
  if (!invalidText && !isValidUTF8(text))
    invalidText = name;
}

bool MessageDecoder::getText(const Field &field, StringRef name,
                             StringRef &result) {
  if (!expect(field, WireType::Length, name))
    return false;
  noteText(name, field.payload);
  result = field.payload;
  return true;
}

bool MessageDecoder::getDeps(const Field &field, StringRef name,
                             SmallVectorImpl<uint64_t> &deps) {
  if (field.wireType == WireType::Varint) {
    deps.push_back(field.value);
    return true;
  }
  if (!expect(field, WireType::Length, name))
    return false;
  StringRef rest = field.payload;
  while (!rest.empty()) {
    uint64_t dep = 0;
    const char *where = rest.data();
    if (!consumeVarint(rest, dep))
      return fail(where, "element of '" + name + "' is not a valid varint");
    deps.push_back(dep);
  }
  return true;
}

bool MessageDecoder::decodeIOInfo(const Field &field, StringRef name,
                                  IOInfo &info) {
  if (!expect(field, WireType::Length, name))
    return false;
  info.present = true;
  return forEachField(field.payload, [&](const Field &part) {
    if (part.number == 1)
      return getText(part, "values", info.values);
    if (part.number == 2)
      return getText(part, "shapes", info.shapes);
    if (part.number == 3)
      return getText(part, "types", info.types);
    return true;
  });
}

bool MessageDecoder::decodePacked(const Field &list, Attribute &attr,
                                  AttributeSet &attrs) {
  AttrKind element = getElementKind(attr.kind);
  unsigned wireType = getWireType(element);
  StringRef rest = list.payload;
  while (!rest.empty()) {
    Field value;
    value.number = 1;
    value.start = rest.data();
    bool ok =
        wireType == WireType::Varint
            ? consumeVarint(rest, value.value)
            : consumeFixed(rest, wireType == WireType::Fixed64 ? 8 : 4, value);
    if (!ok)
      return fail(value.start,
                  "element of " + getAttrKindName(attr.kind) + " is malformed");
    attrs.numbers.push_back(interpret(element, value.value));
    ++attr.size;
  }
  return true;
}

bool MessageDecoder::decodeList(StringRef list, Attribute &attr,
                                AttributeSet &attrs) {
  AttrKind element = getElementKind(attr.kind);
  return forEachField(list, [&](const Field &field) {
    if (field.number != 1)
      return true;
    if (field.wireType == WireType::Length && !isText(element))
      return decodePacked(field, attr, attrs);
    if (!expect(field, getWireType(element), "values"))
      return false;
    if (element == AttrKind::String)
      noteText("values", field.payload);
    if (isText(element))
      attrs.strings.push_back(field.payload);
    else
      attrs.numbers.push_back(interpret(element, field.value));
    ++attr.size;
    return true;
  });
}

bool MessageDecoder::decodeValue(const Field &field, Attribute &attr,
                                 AttributeSet &attrs) {
  AttrKind kind = AttrKind(field.number);
  std::string name = getAttrKindName(kind);
  if (!isList(kind)) {
    if (!expect(field, getWireType(kind), name))
      return false;
    if (kind == AttrKind::String)
      noteText("string_val", field.payload);
    attr.kind = kind;
    attr.text = field.payload;
    attr.number = interpret(kind, field.value);
    return true;
  }
  if (!expect(field, WireType::Length, name))
    return false;
  if (attr.kind != kind) {
    attr.kind = kind;
    attr.begin = isText(getElementKind(kind)) ? attrs.strings.size()
                                              : attrs.numbers.size();
    attr.size = 0;
  }
  return decodeList(field.payload, attr, attrs);
}

bool MessageDecoder::decodeAttribute(const Field &field, AttributeSet &attrs) {
  if (!expect(field, WireType::Length, "attr"))
    return false;
  Attribute attr;
  if (!forEachField(field.payload, [&](const Field &part) {
        if (part.number == 1)
          return getText(part, "name", attr.name);
        if (part.number == 2)
          return getText(part, "doc_string", attr.docString);
        if (part.number <= static_cast<uint64_t>(AttrKind::BytesList))
          return decodeValue(part, attr, attrs);
        return true;
      }))
    return false;
  attrs.attributes.push_back(attr);
  return true;
}

bool MessageDecoder::decodeNodeField(const Field &field, Node &node) {
  switch (field.number) {
  case 1:
    node.id = field.value;
    return expect(field, WireType::Varint, "id");
  case 2:
    return getText(field, "name", node.name);
  case 3:
    node.type = static_cast<int32_t>(field.value);
    return expect(field, WireType::Varint, "type");
  case 4:
    return getDeps(field, "ctrl_deps", node.ctrlDeps);
  case 5:
    return getDeps(field, "data_deps", node.dataDeps);
  case 6:
    node.startTimeMicros = field.value;
    return expect(field, WireType::Varint, "start_time_micros");
  case 7:
    node.durationMicros = field.value;
    return expect(field, WireType::Varint, "duration_micros");
  case 8:
    return decodeIOInfo(field, "inputs", node.inputs);
  case 9:
    return decodeIOInfo(field, "outputs", node.outputs);
  case 10:
    return decodeAttribute(field, node.attrs);
  default:
    return true;
  }
}

bool MessageDecoder::decode(Node &node) {
  node.clear();
  if (!forEachField(bytes, [&](const Field &field) {
        return decodeNodeField(field, node);
      }))
    return false;
  node.invalidText = invalidText;
  return true;
}

bool MessageDecoder::decode(Metadata &metadata) {
  metadata.clear();
  if (!forEachField(bytes, [&](const Field &field) {
        if (field.number == 1)
          return getText(field, "version", metadata.version);
        if (field.number == 2)
          return decodeAttribute(field, metadata.attrs);
        // Numbers that a Node uses: a node stands where metadata belongs.
        if (field.number <= 10)
          return fail(field.start,
                      "GlobalMetadata has no field " + Twine(field.number));
        return true;
      }))
    return false;
  metadata.invalidText = invalidText;
  return true;
}

} // namespace stg::trace
