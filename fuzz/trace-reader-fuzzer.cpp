//===- trace-reader-fuzzer.cpp - Any bytes as a trace file ----------------===//
//
// Takes the input for a .et file: prints it, counts it, and validates it alone
// and as a trace of three equal ranks. Every node that our decoder accepts is
// also decoded by protobuf, which must find the same values.
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Reader/TracePrinter.h"
#include "stg/Trace/Stats/TraceStats.h"
#include "stg/Trace/Validate/TraceValidator.h"

#include "stg/Proto/et_def.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace stg::trace;

static void require(bool condition, const char *message) {
  if (!condition)
    report_fatal_error(message);
}

/// Element `index` of a field in the form of Attribute::number; for a field
/// that is not repeated `index` is 0.
static uint64_t getNumber(const google::protobuf::Message &message,
                          const google::protobuf::FieldDescriptor *field,
                          int index) {
  using google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection *reflection = message.GetReflection();
  bool repeated = field->is_repeated();
  auto get = [&](auto one, auto many) {
    return repeated ? (reflection->*many)(message, field, index)
                    : (reflection->*one)(message, field);
  };
  using R = google::protobuf::Reflection;
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
    return bit_cast<uint64_t>(get(&R::GetDouble, &R::GetRepeatedDouble));
  case FieldDescriptor::CPPTYPE_FLOAT:
    return bit_cast<uint32_t>(get(&R::GetFloat, &R::GetRepeatedFloat));
  default:
    report_fatal_error("no numeric field");
  }
}

static void compareList(const Attribute &attr, const AttributeSet &attrs,
                        const google::protobuf::Message &list) {
  const google::protobuf::FieldDescriptor *field =
      list.GetDescriptor()->FindFieldByName("values");
  const google::protobuf::Reflection *reflection = list.GetReflection();
  require(static_cast<int>(attr.size) == reflection->FieldSize(list, field),
          "length of list differs from protobuf");
  for (int i = 0; i < static_cast<int>(attr.size); ++i) {
    size_t index = static_cast<size_t>(i);
    bool same =
        field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_STRING
            ? attrs.getStrings(attr)[index] ==
                  StringRef(reflection->GetRepeatedString(list, field, i))
            : attrs.getNumbers(attr)[index] == getNumber(list, field, i);
    require(same, "element of list differs from protobuf");
  }
}

static void compareAttribute(const Attribute &attr, const AttributeSet &attrs,
                             const stg::proto::AttributeProto &other) {
  require(attr.name == StringRef(other.name()) &&
              attr.docString == StringRef(other.doc_string()) &&
              static_cast<int>(attr.kind) ==
                  static_cast<int>(other.value_case()),
          "attribute differs from protobuf");
  if (attr.kind == AttrKind::None)
    return;
  const google::protobuf::FieldDescriptor *field =
      other.GetDescriptor()->FindFieldByNumber(static_cast<int>(attr.kind));
  const google::protobuf::Reflection *reflection = other.GetReflection();
  if (isList(attr.kind))
    return compareList(attr, attrs, reflection->GetMessage(other, field));
  bool isText = attr.kind == AttrKind::String || attr.kind == AttrKind::Bytes;
  bool same = isText
                  ? attr.text == StringRef(reflection->GetString(other, field))
                  : attr.number == getNumber(other, field, 0);
  require(same, "value differs from protobuf");
}

static bool isSame(const IOInfo &info, bool isPresent,
                   const stg::proto::IOInfo &other) {
  return info.present == isPresent &&
         info.values == StringRef(other.values()) &&
         info.shapes == StringRef(other.shapes()) &&
         info.types == StringRef(other.types());
}

static void compare(const Node &node, const stg::proto::Node &other) {
  require(node.id == other.id() && node.name == StringRef(other.name()) &&
              node.type == static_cast<int>(other.type()),
          "id, name or type differs from protobuf");
  require(llvm::equal(node.dataDeps, other.data_deps()) &&
              llvm::equal(node.ctrlDeps, other.ctrl_deps()),
          "dependencies differ from protobuf");
  require(node.startTimeMicros == other.start_time_micros() &&
              node.durationMicros == other.duration_micros(),
          "times differ from protobuf");
  require(isSame(node.inputs, other.has_inputs(), other.inputs()) &&
              isSame(node.outputs, other.has_outputs(), other.outputs()),
          "inputs or outputs differ from protobuf");
  require(node.attrs.attributes.size() ==
              static_cast<size_t>(other.attr_size()),
          "number of attributes differs from protobuf");
  for (int i = 0; i < other.attr_size(); ++i)
    compareAttribute(node.attrs.attributes[static_cast<size_t>(i)], node.attrs,
                     other.attr(i));
}

/// Reads `buffer` to its end, over messages that are malformed.
static void readAll(MemoryBufferRef buffer) {
  TraceReader reader(buffer);
  Metadata metadata;
  if (Error error = reader.readMetadata(metadata)) {
    consumeError(std::move(error));
    return;
  }
  Node node;
  while (true) {
    Expected<bool> more = reader.readNode(node);
    if (!more) {
      consumeError(more.takeError());
      continue;
    }
    if (!*more)
      return;
    std::string line;
    raw_string_ostream os(line);
    printNode(node, os);
    Expected<json::Value> parsed = json::parse(line);
    require(static_cast<bool>(parsed), "printed node is not JSON");
    stg::proto::Node other;
    bool isParsed = other.ParseFromArray(buffer.getBufferStart() + node.offset,
                                         static_cast<int>(node.size));
    require(isParsed || node.invalidText, "protobuf refuses the message");
    if (isParsed)
      compare(node, other);
  }
}

static void runStats(MemoryBufferRef buffer) {
  TraceReader reader(buffer);
  Expected<RankStats> stats = computeRankStats(reader, 0);
  if (!stats) {
    require(!llvm::toString(stats.takeError()).empty(), "empty message");
    return;
  }
  FileStats all;
  all.prefix = "fuzz";
  all.ranks.assign(2, *stats);
  std::string text;
  raw_string_ostream os(text);
  printStatsTable(all, std::nullopt, os, /*isQuiet=*/true);
  text.clear();
  printStatsJSON(all, std::nullopt, os, /*isQuiet=*/true);
  Expected<json::Value> parsed = json::parse(text);
  require(static_cast<bool>(parsed), "statistics are not JSON");
}

static void validate(MemoryBufferRef buffer, unsigned numRanks) {
  CommGroups groups;
  groups.members["1"] = {0, 1, 2};
  groups.members["2"] = {0, 1};
  std::vector<RankInput> inputs;
  for (unsigned rank = 0; rank < numRanks; ++rank)
    inputs.push_back({rank, "fuzz", buffer});
  ValidatorOptions options;
  options.strictMemory = true;
  options.threads = 1;
  options.quiet = true;
  raw_null_ostream os;
  printReport(validateRanks(inputs, groups, numRanks > 1, options), os);
}

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  google::protobuf::SetLogHandler(nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef bytes(reinterpret_cast<const char *>(data), size);
  MemoryBufferRef buffer(bytes, "fuzz");
  readAll(buffer);
  runStats(buffer);
  validate(buffer, 1);
  validate(buffer, 3);
  return 0;
}
