//===- TraceProtobufTest.cpp - Our decoder beside protobuf's --------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the fuzzer of traces compares, on messages that are made at random but
// always the same: what protobuf writes, and such messages damaged.
//
//===----------------------------------------------------------------------===//

#include "ProtobufComparison.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"
#include <map>
#include <random>

using namespace llvm;
using namespace stg::trace;
using google::protobuf::FieldDescriptor;
using google::protobuf::Reflection;

namespace {
/// Fills messages with values of all kinds, preferring those at limits.
class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {}

  uint64_t below(uint64_t limit) { return random() % limit; }

  uint64_t number() {
    constexpr uint64_t limits[] = {0,          1,           127,
                                   128,        0x7fffffff,  0x80000000,
                                   0xffffffff, 0x100000000, ~0ull >> 1,
                                   1ull << 63, ~0ull,       0xffffffff80000000};
    return below(2) ? limits[below(std::size(limits))] : random();
  }

  std::string text() {
    std::string result;
    for (uint64_t i = below(4); i > 0; --i)
      result += below(8) ? "layers." : "\xc3\xa9";
    return result;
  }

  /// Sets each field or not; of a oneof, one.
  void fill(google::protobuf::Message &message) {
    const auto *descriptor = message.GetDescriptor();
    for (int i = 0; i < descriptor->field_count(); ++i) {
      const FieldDescriptor *field = descriptor->field(i);
      if (field->containing_oneof())
        continue;
      for (uint64_t n = below(field->is_repeated() ? 4 : 2); n > 0; --n)
        set(message, field);
    }
    for (int i = 0; i < descriptor->oneof_decl_count(); ++i) {
      const auto *oneof = descriptor->oneof_decl(i);
      int which = static_cast<int>(
          below(1u + static_cast<uint64_t>(oneof->field_count())));
      if (which < oneof->field_count())
        set(message, oneof->field(which));
    }
  }

private:
  void set(google::protobuf::Message &message, const FieldDescriptor *field) {
    const Reflection *r = message.GetReflection();
    bool many = field->is_repeated();
    auto put = [&](auto one, auto add, auto value) {
      many ? (r->*add)(&message, field, value)
           : (r->*one)(&message, field, value);
    };
    using R = Reflection;
    switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return put(&R::SetInt32, &R::AddInt32, static_cast<int32_t>(number()));
    case FieldDescriptor::CPPTYPE_INT64:
      return put(&R::SetInt64, &R::AddInt64, static_cast<int64_t>(number()));
    case FieldDescriptor::CPPTYPE_UINT32:
      return put(&R::SetUInt32, &R::AddUInt32, static_cast<uint32_t>(number()));
    case FieldDescriptor::CPPTYPE_UINT64:
      return put(&R::SetUInt64, &R::AddUInt64, number());
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return put(&R::SetDouble, &R::AddDouble, bit_cast<double>(number()));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return put(&R::SetFloat, &R::AddFloat,
                 bit_cast<float>(static_cast<uint32_t>(number())));
    case FieldDescriptor::CPPTYPE_BOOL:
      return put(&R::SetBool, &R::AddBool, below(2) == 1);
    case FieldDescriptor::CPPTYPE_ENUM:
      return put(&R::SetEnumValue, &R::AddEnumValue,
                 static_cast<int>(below(10)));
    case FieldDescriptor::CPPTYPE_STRING:
      return many ? r->AddString(&message, field, text())
                  : r->SetString(&message, field, text());
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return fill(many ? *r->AddMessage(&message, field)
                       : *r->MutableMessage(&message, field));
    }
  }

  std::mt19937_64 random;
};

/// What our decoder makes of a file that has metadata and one message.
class Decoded {
public:
  explicit Decoded(StringRef message) {
    file.push_back(0);
    uint64_t size = message.size();
    for (; size >= 128; size >>= 7)
      file.push_back(static_cast<char>(size | 128));
    file.push_back(static_cast<char>(size));
    file += message;
    TraceReader reader{MemoryBufferRef(file, "test")};
    Metadata metadata;
    if (Error failure = reader.readMetadata(metadata)) {
      error = toString(std::move(failure));
      return;
    }
    Expected<bool> more = reader.readNode(node);
    if (!more)
      error = toString(more.takeError());
    else if (!*more)
      error = "there is no message";
  }

  Node node;
  std::string error;

private:
  std::string file;
};
} // namespace

TEST(TraceProtobuf, WhatProtobufWritesIsRead) {
  Generator generator(1);
  std::map<AttrKind, unsigned> kinds;
  for (unsigned i = 0; i < 2000; ++i) {
    stg::proto::Node message;
    generator.fill(message);
    std::string bytes = message.SerializeAsString();
    if (bytes.empty())
      continue;
    Decoded decoded(bytes);
    ASSERT_EQ(decoded.error, "") << message.ShortDebugString();
    ASSERT_EQ(compareWithProtobuf(decoded.node, message).str(), "")
        << message.ShortDebugString();
    for (const Attribute &attr : decoded.node.attrs.attributes)
      ++kinds[attr.kind];
  }
  // All of them, and attributes without a value.
  EXPECT_EQ(kinds.size(), 31u);
}

/// The kind of an error: without numbers and names.
static std::string getKind(StringRef error) {
  error = error.rsplit(": ").second;
  std::string kind;
  bool isQuoted = false;
  for (char c : error) {
    if (c == '\'')
      isQuoted = !isQuoted;
    else if (!isQuoted)
      kind += llvm::isDigit(c) ? '#' : c;
  }
  return kind;
}

/// Damages a message in one place.
static void damage(std::string &bytes, Generator &generator) {
  size_t at = generator.below(bytes.size());
  switch (generator.below(4)) {
  case 0:
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << generator.below(8)));
    return;
  case 1:
    bytes[at] = static_cast<char>(generator.below(256));
    return;
  case 2:
    bytes.erase(at, 1 + generator.below(3));
    return;
  default:
    bytes.insert(at, bytes.substr(generator.below(bytes.size()), 3));
    return;
  }
}

TEST(TraceProtobuf, DamagedMessages) {
  // Protobuf says on the terminal what is wrong with text.
  google::protobuf::LogHandler *old = google::protobuf::SetLogHandler(nullptr);
  Generator generator(2);
  unsigned both = 0, neither = 0, onlyOurs = 0;
  std::map<std::string, unsigned> onlyProtobuf;
  for (unsigned i = 0; i < 20000; ++i) {
    stg::proto::Node message;
    generator.fill(message);
    std::string bytes = message.SerializeAsString();
    for (uint64_t n = generator.below(3) + 1; n > 0 && !bytes.empty(); --n)
      damage(bytes, generator);
    if (bytes.empty())
      continue;
    Decoded decoded(bytes);
    bool isParsed = message.ParseFromString(bytes);
    if (decoded.error.empty() && isParsed) {
      ASSERT_EQ(compareWithProtobuf(decoded.node, message).str(), "")
          << message.ShortDebugString();
      ++both;
    } else if (decoded.error.empty()) {
      // The only thing that protobuf refuses and we do not: text that is not
      // UTF-8. We say so, and the validator calls it a violation.
      ASSERT_TRUE(decoded.node.invalidText.has_value());
      ++onlyOurs;
    } else if (isParsed) {
      ++onlyProtobuf[getKind(decoded.error)];
    } else {
      ++neither;
    }
  }
  google::protobuf::SetLogHandler(old);
  std::string text;
  for (auto &[kind, count] : onlyProtobuf)
    text += kind + ": " + std::to_string(count) + "\n";
  EXPECT_EQ(both, 3832u);
  EXPECT_EQ(neither, 14948u);
  EXPECT_EQ(onlyOurs, 832u);
  // Protobuf keeps a field of another type as one that it does not know, and
  // cuts numbers off.
  EXPECT_EQ(text, "element of  is not a valid varint: 77\n"
                  "element of int##_list is malformed: 3\n"
                  "element of sint##_list is malformed: 2\n"
                  "element of uint##_list is malformed: 2\n"
                  "field  has wire type #, expected #: 257\n"
                  "field tag is not a valid varint: 2\n"
                  "value of field # is not a valid varint: 38\n"
                  "value of field ## is not a valid varint: 2\n");
}
