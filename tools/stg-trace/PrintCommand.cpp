//===- PrintCommand.cpp - stg-trace print ---------------------------------===//
//
// The messages of one file as JSON: one a line, or in a form of Chakra's.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "stg/Trace/Reader/ChakraJSON.h"
#include "stg/Trace/Reader/TracePrinter.h"

using namespace llvm;

namespace stg::trace {

static cl::SubCommand command("print",
                              "Write one rank as JSON, one node a line");
static cl::opt<std::string> input(cl::Positional, cl::Required,
                                  cl::desc("<file, prefix, directory or ->"),
                                  cl::sub(command));
static cl::opt<uint64_t> rank("rank", cl::desc("Rank to print"),
                              cl::value_desc("r"), cl::sub(command));

namespace {
enum class Form { Lines, Messages, Feeder };
} // namespace
static cl::opt<Form>
    form("form", cl::desc("How it is written"), cl::init(Form::Lines),
         cl::sub(command),
         cl::values(clEnumValN(Form::Lines, "lines", "one node a line"),
                    clEnumValN(Form::Messages, "messages",
                               "as chakra_jsonizer does; stg-trace encode "
                               "reads it"),
                    clEnumValN(Form::Feeder, "feeder",
                               "for the feeder of Chakra, in place of a "
                               "trace")));

static Error printAs(TraceReader &reader, raw_ostream &os) {
  switch (form) {
  case Form::Lines:
    return printTrace(reader, os);
  case Form::Messages:
    return printMessages(reader, os);
  case Form::Feeder:
    return printFeederGraph(reader, os);
  }
  llvm_unreachable("all forms are above");
}

cl::SubCommand &getPrintCommand() { return command; }

/// The file that the options choose from `set`.
static Expected<const RankFile *> chooseFile(const TraceSet &set) {
  if (!rank.getNumOccurrences()) {
    if (set.files.size() == 1)
      return &set.files.front();
    return createStringError(inconvertibleErrorCode(),
                             "%s: trace has %zu ranks, choose one with --rank",
                             input.c_str(), set.files.size());
  }
  if (const RankFile *file = set.find(rank))
    return file;
  return createStringError(inconvertibleErrorCode(), "%s: trace has no rank %s",
                           input.c_str(), std::to_string(rank).c_str());
}

/// Makes the trace of a rank and prints it.
static Error printFromBundle(const TraceBundle &bundle, raw_ostream &os) {
  int64_t numRanks = bundle.getSpace().getNumRanks();
  if (!rank.getNumOccurrences() && numRanks > 1)
    return createStringError(inconvertibleErrorCode(),
                             "%s: trace has %s ranks, choose one with --rank",
                             input.c_str(), std::to_string(numRanks).c_str());
  if (rank >= static_cast<uint64_t>(numRanks))
    return createStringError(inconvertibleErrorCode(),
                             "%s: trace has no rank %s", input.c_str(),
                             std::to_string(rank).c_str());
  std::string trace;
  raw_string_ostream stream(trace);
  bundle.writeRank(static_cast<int64_t>(rank.getValue()), stream);
  TraceReader reader(MemoryBufferRef(trace, input));
  return printAs(reader, os);
}

static Error print(raw_ostream &os) {
  Expected<std::unique_ptr<TraceBundle>> bundle = findBundle(input);
  if (!bundle)
    return bundle.takeError();
  if (*bundle)
    return printFromBundle(**bundle, os);
  Expected<TraceSet> set = findTraces(input);
  if (!set)
    return set.takeError();
  Expected<const RankFile *> file = chooseFile(*set);
  if (!file)
    return file.takeError();
  Expected<TraceReader> reader = TraceReader::open((*file)->path);
  if (!reader)
    return reader.takeError();
  return printAs(*reader, os);
}

Expected<bool> runPrint(raw_ostream &os) {
  if (Error error = print(os))
    return std::move(error);
  return true;
}

} // namespace stg::trace
