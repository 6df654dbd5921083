//===- bundle-fuzzer.cpp - Any bytes as a bundle --------------------------===//
//
// Takes the input for a bundle whose sums are right. What is accepted is run:
// ranks make as many nodes as their program says, which protobuf reads and
// writes as they are, all are counted and validated, and written again they are
// the same set.
//
//===----------------------------------------------------------------------===//

#include "ProtobufComparison.h"
#include "stg/Trace/Bundle/BundleValidator.h"
#include "stg/Trace/Bundle/TraceBundle.h"
#include "stg/Trace/Program/ProgramRunner.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace stg::trace;

static void require(bool condition, const char *message) {
  if (!condition)
    report_fatal_error(message);
}

/// Programs may be long and ranks many, which takes its time but finds nothing.
static bool isSmall(const TraceBundle &bundle) {
  uint64_t numNodes = 0, numTensors = 0;
  for (const TraceBundle::Class &entry : bundle.getClasses()) {
    numNodes += entry.program.getNumNodes();
    numTensors += entry.program.bodies.front().numTensors;
  }
  return numNodes < 20000 && numTensors < 200000 &&
         bundle.getSpace().getNumRanks() <= 256;
}

static void runRank(const TraceBundle &bundle, int64_t rank) {
  const TraceProgram &program = bundle.getClass(rank).program;
  ProgramRunner runner(program);
  FlatNode node;
  uint64_t numNodes = 0;
  while (runner.next(node))
    ++numNodes;
  require(numNodes == program.getNumNodes(), "a program is longer or shorter");
  std::string trace;
  raw_string_ostream os(trace);
  bundle.writeRank(rank, os);
  require(compareEncoding(trace).empty(), "protobuf writes it otherwise");
}

static void writeAgain(const TraceBundle &bundle) {
  std::string bytes;
  raw_string_ostream os(bytes);
  bundle.write(os);
  auto again = TraceBundle::parseUnchecked(
      MemoryBuffer::getMemBufferCopy(bytes, "fuzz"));
  if (!again)
    report_fatal_error(again.takeError());
  std::string repeated;
  raw_string_ostream repeatedOs(repeated);
  (*again)->write(repeatedOs);
  require(bytes == repeated, "a bundle changes when it is read and written");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  constexpr size_t kSizeOfHeader = 24;
  if (size < kSizeOfHeader)
    return 0;
  auto bundle = TraceBundle::parseUnchecked(MemoryBuffer::getMemBufferCopy(
      StringRef(reinterpret_cast<const char *>(data), size), "fuzz"));
  if (!bundle) {
    consumeError(bundle.takeError());
    return 0;
  }
  writeAgain(**bundle);
  if (!isSmall(**bundle))
    return 0;
  runRank(**bundle, 0);
  runRank(**bundle, (*bundle)->getSpace().getNumRanks() - 1);
  ValidatorOptions options;
  options.threads = 1;
  options.quiet = true;
  raw_null_ostream os;
  (*bundle)->writeGroups(os);
  printReport(validateBundle(**bundle, "fuzz", options), os);
  return 0;
}
