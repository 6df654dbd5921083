//===- trace-reader-fuzzer.cpp - Any bytes as a trace file ----------------===//
//
// Takes the input for a .et file: prints it, counts it, and validates it alone
// and as a trace of three equal ranks. Every node that our decoder accepts is
// also decoded by protobuf, which must find the same values.
//
//===----------------------------------------------------------------------===//

#include "ProtobufComparison.h"
#include "stg/Trace/Reader/TracePrinter.h"
#include "stg/Trace/Stats/TraceStats.h"
#include "stg/Trace/Validate/TraceValidator.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace stg::trace;

static void require(bool condition, const char *message) {
  if (!condition)
    report_fatal_error(message);
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
      require(compareWithProtobuf(node, other).empty(),
              "values differ from protobuf");
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
  StatsView view;
  view.quiet = true;
  printStatsTable(all, view, os);
  text.clear();
  printStatsJSON(all, view, os);
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
