//===- ProtobufComparison.h - Our decoder and protobuf's --------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the fuzzers of traces and the test that runs without libFuzzer compare.
// All functions return what differs first, or nothing.
//
//===----------------------------------------------------------------------===//

#ifndef STG_FUZZ_PROTOBUFCOMPARISON_H
#define STG_FUZZ_PROTOBUFCOMPARISON_H

#include "stg/Proto/et_def.pb.h"
#include "stg/Trace/Reader/TraceReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"

namespace stg::trace {

using Difference = llvm::StringRef;

/// Element `index` of a field in the form of Attribute::number; for a field
/// that is not repeated `index` is 0.
inline uint64_t getNumber(const google::protobuf::Message &message,
                          const google::protobuf::FieldDescriptor *field,
                          int index) {
  using google::protobuf::FieldDescriptor;
  using R = google::protobuf::Reflection;
  const R *reflection = message.GetReflection();
  auto get = [&](auto one, auto many) {
    return field->is_repeated() ? (reflection->*many)(message, field, index)
                                : (reflection->*one)(message, field);
  };
  switch (field->cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT32:
    return static_cast<uint64_t>(
        static_cast<int64_t>(get(&R::GetInt32, &R::GetRepeatedInt32)));
  case FieldDescriptor::CPPTYPE_INT64:
    return static_cast<uint64_t>(get(&R::GetInt64, &R::GetRepeatedInt64));
  case FieldDescriptor::CPPTYPE_UINT32:
    return get(&R::GetUInt32, &R::GetRepeatedUInt32);
  case FieldDescriptor::CPPTYPE_UINT64:
    return get(&R::GetUInt64, &R::GetRepeatedUInt64);
  case FieldDescriptor::CPPTYPE_BOOL:
    return get(&R::GetBool, &R::GetRepeatedBool);
  case FieldDescriptor::CPPTYPE_DOUBLE:
    return llvm::bit_cast<uint64_t>(get(&R::GetDouble, &R::GetRepeatedDouble));
  case FieldDescriptor::CPPTYPE_FLOAT:
    return llvm::bit_cast<uint32_t>(get(&R::GetFloat, &R::GetRepeatedFloat));
  default:
    llvm::report_fatal_error("no numeric field");
  }
}

inline Difference compareList(const Attribute &attr, const AttributeSet &attrs,
                              const google::protobuf::Message &list) {
  using google::protobuf::FieldDescriptor;
  const FieldDescriptor *field =
      list.GetDescriptor()->FindFieldByName("values");
  const google::protobuf::Reflection *reflection = list.GetReflection();
  if (static_cast<int>(attr.size) != reflection->FieldSize(list, field))
    return "length of list";
  bool isText = field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
  for (int i = 0; i < static_cast<int>(attr.size); ++i) {
    size_t index = static_cast<size_t>(i);
    if (isText
            ? attrs.getStrings(attr)[index] !=
                  llvm::StringRef(reflection->GetRepeatedString(list, field, i))
            : attrs.getNumbers(attr)[index] != getNumber(list, field, i))
      return "element of list";
  }
  return {};
}

inline Difference compareAttribute(const Attribute &attr,
                                   const AttributeSet &attrs,
                                   const proto::AttributeProto &other) {
  if (attr.name != llvm::StringRef(other.name()) ||
      attr.docString != llvm::StringRef(other.doc_string()))
    return "name of attribute";
  if (static_cast<int>(attr.kind) != static_cast<int>(other.value_case()))
    return "kind of attribute";
  if (attr.kind == AttrKind::None)
    return {};
  const google::protobuf::FieldDescriptor *field =
      other.GetDescriptor()->FindFieldByNumber(static_cast<int>(attr.kind));
  const google::protobuf::Reflection *reflection = other.GetReflection();
  if (isList(attr.kind))
    return compareList(attr, attrs, reflection->GetMessage(other, field));
  bool isText = attr.kind == AttrKind::String || attr.kind == AttrKind::Bytes;
  if (isText ? attr.text != llvm::StringRef(reflection->GetString(other, field))
             : attr.number != getNumber(other, field, 0))
    return "value of attribute";
  return {};
}

template <typename MessageTy>
Difference compareAttributes(const Message &message, const MessageTy &other) {
  llvm::ArrayRef<Attribute> attributes = message.attrs.attributes;
  if (attributes.size() != static_cast<size_t>(other.attr_size()))
    return "number of attributes";
  for (int i = 0; i < other.attr_size(); ++i) {
    Difference difference = compareAttribute(attributes[static_cast<size_t>(i)],
                                             message.attrs, other.attr(i));
    if (!difference.empty())
      return difference;
  }
  return {};
}

inline bool isSame(const IOInfo &info, bool isPresent,
                   const proto::IOInfo &other) {
  return info.present == isPresent &&
         info.values == llvm::StringRef(other.values()) &&
         info.shapes == llvm::StringRef(other.shapes()) &&
         info.types == llvm::StringRef(other.types());
}

inline Difference compareWithProtobuf(const Node &node,
                                      const proto::Node &other) {
  if (node.id != other.id() || node.name != llvm::StringRef(other.name()) ||
      node.type != static_cast<int>(other.type()))
    return "id, name or type";
  if (!llvm::equal(node.dataDeps, other.data_deps()) ||
      !llvm::equal(node.ctrlDeps, other.ctrl_deps()))
    return "dependencies";
  if (node.startTimeMicros != other.start_time_micros() ||
      node.durationMicros != other.duration_micros())
    return "times";
  if (!isSame(node.inputs, other.has_inputs(), other.inputs()) ||
      !isSame(node.outputs, other.has_outputs(), other.outputs()))
    return "inputs or outputs";
  return compareAttributes(node, other);
}

/// That protobuf writes each message of the trace of a rank as it is there.
inline Difference compareEncoding(llvm::StringRef bytes) {
  TraceReader reader(llvm::MemoryBufferRef(bytes, "trace"));
  auto isCanonical = [&](const Message &message, auto other) {
    llvm::StringRef own = bytes.substr(message.offset, message.size);
    return other.ParseFromArray(own.data(), static_cast<int>(own.size())) &&
           llvm::StringRef(other.SerializeAsString()) == own;
  };
  Metadata metadata;
  if (llvm::Error error = reader.readMetadata(metadata)) {
    llvm::consumeError(std::move(error));
    return "metadata is malformed";
  }
  if (!isCanonical(metadata, proto::GlobalMetadata()))
    return "metadata";
  Node node;
  while (true) {
    llvm::Expected<bool> more = reader.readNode(node);
    if (!more) {
      llvm::consumeError(more.takeError());
      return "node is malformed";
    }
    if (!*more)
      return {};
    if (!isCanonical(node, proto::Node()))
      return "node";
  }
}

} // namespace stg::trace

#endif // STG_FUZZ_PROTOBUFCOMPARISON_H
