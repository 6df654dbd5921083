//===- CommandLine.cpp - Command line of stg-trace ------------------------===//
//
// What the subcommands have in common: parsing, the choice of a subcommand, and
// how an input is found.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "stg/Support/Files.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace stg::trace {

static cl::OptionCategory category("stg-trace options");
static cl::opt<std::string> outputFile("o", cl::init("-"),
                                       cl::value_desc("file"),
                                       cl::desc("Output file (default: -)"),
                                       cl::cat(category),
                                       cl::sub(cl::SubCommand::getAll()));

std::string getOutputFile() { return outputFile; }

bool parseCommandLine(int argc, char **argv, MessagePrinter &printer) {
  // LLVM's libraries bring options of their own.
  cl::HideUnrelatedOptions(category);
  return stg::parseCommandLine(argc, argv, "Looks at Chakra execution traces\n",
                               printer);
}

Expected<bool> runCommand(raw_ostream &os) {
  if (getStatsCommand())
    return runStats(os);
  if (getValidateCommand())
    return runValidate(os);
  if (getPrintCommand())
    return runPrint(os);
  return createStringError(inconvertibleErrorCode(),
                           "expected a subcommand: stats, validate or print");
}

/// True if the file begins like a bundle.
static bool isBundle(const Twine &path) {
  if (!stg::isRegularFile(path))
    return false;
  auto begin = MemoryBuffer::getFileSlice(path, /*MapSize=*/4, /*Offset=*/0);
  return begin && TraceBundle::isBundle((*begin)->getBuffer());
}

Expected<std::unique_ptr<TraceBundle>> findBundle(StringRef input) {
  if (input == "-" || input.empty())
    return nullptr;
  if (!sys::fs::is_directory(input)) {
    if (!isBundle(input))
      return nullptr;
    return TraceBundle::open(input);
  }
  SmallString<128> path(input);
  sys::path::append(path, TraceBundle::kFileName);
  if (!sys::fs::exists(path))
    return nullptr;
  Expected<TraceSet> files = findTraces(input);
  if (files)
    return nullptr;
  consumeError(files.takeError());
  return TraceBundle::open(path);
}

static Expected<CommGroups> loadGroups(const TraceSet &set, StringRef path) {
  if (!path.empty())
    return CommGroups::load(path);
  if (std::optional<std::string> beside = findCommGroupFile(set))
    return CommGroups::load(*beside);
  return CommGroups();
}

Expected<TraceInput> openTrace(StringRef input, StringRef groupFile) {
  Expected<std::unique_ptr<TraceBundle>> bundle = findBundle(input);
  if (!bundle)
    return bundle.takeError();
  if (*bundle && !groupFile.empty())
    return createStringError(input + ": a bundle has its own groups, remove " +
                             "--comm-groups");
  if (*bundle)
    return TraceInput{std::move(*bundle), {}, {}};
  Expected<TraceSet> files = findTraces(input);
  if (!files)
    return files.takeError();
  Expected<CommGroups> groups = loadGroups(*files, groupFile);
  if (!groups)
    return groups.takeError();
  return TraceInput{nullptr, std::move(*files), std::move(*groups)};
}

} // namespace stg::trace
