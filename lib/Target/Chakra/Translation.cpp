//===- Translation.cpp - Command line of the trace translations -----------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Target/Chakra/Translation.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "stg/Dialect/Chakra/IR/ChakraDialect.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "stg/Target/Chakra/Export.h"
#include "stg/Target/Chakra/Import.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace stg::chakra;

namespace {
/// The options of `--chakra-to-traces` and `--unbundle`.
struct ExportFlags {
  llvm::cl::OptionCategory category{
      "Writing traces (--chakra-to-traces, --unbundle)"};
  llvm::cl::opt<std::string> directory{
      "trace-dir", llvm::cl::desc("Write the traces to this directory"),
      llvm::cl::value_desc("directory"), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> prefix{
      "trace-prefix",
      llvm::cl::desc("First part of the names of trace files "
                     "(default: workload); not with --unbundle"),
      llvm::cl::value_desc("name"), llvm::cl::init("workload"),
      llvm::cl::cat(category)};
  llvm::cl::opt<std::string> program{
      "trace-program",
      llvm::cl::desc("Write the traces of this program (default: a folder for "
                     "each, where there are several); not with --unbundle"),
      llvm::cl::value_desc("name"), llvm::cl::cat(category)};
  llvm::cl::opt<unsigned> threads{
      "trace-threads",
      llvm::cl::desc("Number of threads (default: 0, all of the machine)"),
      llvm::cl::value_desc("n"), llvm::cl::init(0), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> ranks{
      "trace-ranks",
      llvm::cl::desc("Write only the ranks LO to HI - 1 (default: all)"),
      llvm::cl::value_desc("LO:HI"), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> part{
      "trace-part",
      llvm::cl::desc("Write only part I of N, counted from 1 (default: all)"),
      llvm::cl::value_desc("I/N"), llvm::cl::cat(category)};
  llvm::cl::opt<bool> resume{
      "trace-resume",
      llvm::cl::desc("Keep traces of an interrupted run that are complete"),
      llvm::cl::cat(category)};
  llvm::cl::opt<bool> quiet{"trace-quiet", llvm::cl::desc("Show no progress"),
                            llvm::cl::cat(category)};
  llvm::cl::alias ranksAlias{"ranks", llvm::cl::desc("Same as --trace-ranks"),
                             llvm::cl::aliasopt(ranks),
                             llvm::cl::cat(category)};
  llvm::cl::alias partAlias{"part", llvm::cl::desc("Same as --trace-part"),
                            llvm::cl::aliasopt(part), llvm::cl::cat(category)};
  llvm::cl::alias resumeAlias{
      "resume", llvm::cl::desc("Same as --trace-resume"),
      llvm::cl::aliasopt(resume), llvm::cl::cat(category)};
  llvm::cl::alias quietAlias{"quiet", llvm::cl::desc("Same as --trace-quiet"),
                             llvm::cl::aliasopt(quiet),
                             llvm::cl::cat(category)};
  llvm::cl::opt<bool> bundle{
      "trace-bundle",
      llvm::cl::desc("Write one file, traces.stgb, that any trace can be made "
                     "from, instead of the traces; not with --unbundle"),
      llvm::cl::cat(category)};
  llvm::cl::opt<unsigned> splits{
      "trace-splits",
      llvm::cl::desc("Chunks that the simulator splits a collective into "
                     "(default: 4); not with --unbundle"),
      llvm::cl::value_desc("n"), llvm::cl::init(4), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> memory{
      "trace-memory",
      llvm::cl::desc("Write the memory of each class over the step to "
                     "PREFIX.<graph>.csv; not with --unbundle"),
      llvm::cl::value_desc("PREFIX"), llvm::cl::cat(category)};
};

/// The options of `--traces-to-chakra`.
struct ImportFlags {
  llvm::cl::OptionCategory category{"Reading traces (--traces-to-chakra)"};
  llvm::cl::opt<int64_t> rank{
      "trace-rank",
      llvm::cl::desc("Rank of the trace (default: from the file's name)"),
      llvm::cl::value_desc("n"), llvm::cl::init(-1), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> groups{
      "trace-groups",
      llvm::cl::desc("File of the communication groups (default: the one "
                     "beside the trace)"),
      llvm::cl::value_desc("file"), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> manifest{
      "trace-manifest",
      llvm::cl::desc("Manifest of the export, for the mesh (default: the one "
                     "beside the trace)"),
      llvm::cl::value_desc("file"), llvm::cl::cat(category)};
};
} // namespace

/// Reads the two numbers of a flag, which has the form `form`.
static LogicalResult parsePair(Location loc, const Twine &flag, StringRef text,
                               char separator, StringRef form,
                               std::pair<int64_t, int64_t> &pair) {
  auto [first, second] = text.split(separator);
  if (!first.getAsInteger(10, pair.first) &&
      !second.getAsInteger(10, pair.second))
    return success();
  return emitError(loc) << flag << " expects " << form
                        << ", two numbers, found '" << text << "'";
}

/// Reads the flags that say which files are written, and where. `dashes` is
/// what their names begin with where they are commonly used.
static LogicalResult parseFlags(Location loc, const ExportFlags &flags,
                                StringRef dashes,
                                stg::trace::WriteOptions &files,
                                std::optional<stg::trace::RankRange> &part) {
  files.directory = flags.directory;
  files.threads = flags.threads;
  files.resume = flags.resume;
  files.quiet = flags.quiet;
  if (!flags.ranks.empty() && !flags.part.empty())
    return emitError(loc) << dashes << "ranks and " << dashes
                          << "part exclude each other";
  std::pair<int64_t, int64_t> pair = {0, 0};
  if (!flags.ranks.empty()) {
    if (failed(
            parsePair(loc, dashes + "ranks", flags.ranks, ':', "LO:HI", pair)))
      return failure();
    files.ranks = pair;
  }
  if (!flags.part.empty()) {
    if (failed(parsePair(loc, dashes + "part", flags.part, '/', "I/N", pair)))
      return failure();
    if (pair.first < 1 || pair.first > pair.second)
      return emitError(loc)
             << dashes << "part " << flags.part << ": parts are 1/N to N/N";
    part = pair;
  }
  return success();
}

/// Writes the traces of one program.
static LogicalResult exportProgram(ModuleOp module, const ExportFlags &flags,
                                   const ExportOptions &options,
                                   raw_ostream &os) {
  FailureOr<ExportSummary> summary = exportTraces(module, options);
  if (failed(summary))
    return failure();
  __int128 nodes = 0;
  for (const ClassSummary &entry : summary->classes)
    nodes += static_cast<__int128>(entry.numRanks) *
             (entry.totals.compNodes + entry.totals.collNodes +
              entry.totals.sendNodes + entry.totals.recvNodes +
              entry.totals.countTransfers());
  os << options.files.directory << ": "
     << summary->ranks.second - summary->ranks.first << " of "
     << summary->numRanks << " ranks, " << summary->classes.size()
     << (summary->classes.size() == 1 ? " class, " : " classes, ")
     << summary->numGroups << " communication groups, " << toDecimal(nodes)
     << " nodes on all ranks, " << summary->bytesWritten
     << (flags.bundle ? " bytes in a bundle\n" : " bytes of traces\n");
  return success();
}

static LogicalResult exportModule(ModuleOp module, const ExportFlags &flags,
                                  raw_ostream &os) {
  ExportOptions options;
  options.prefix = flags.prefix;
  options.splits = flags.splits;
  options.memoryTimeline = flags.memory;
  if (flags.directory.empty())
    return emitError(module.getLoc(),
                     "--chakra-to-traces needs --trace-dir=<directory>");
  if (failed(parseFlags(module.getLoc(), flags, "--trace-", options.files,
                        options.part)))
    return failure();
  if (flags.bundle) {
    options.output = ExportOptions::Output::Bundle;
    if (options.files.ranks || options.part || options.files.resume)
      return emitError(module.getLoc(), "--trace-bundle is of all ranks; it "
                                        "takes no --trace-ranks, --trace-part "
                                        "or --trace-resume");
  }
  options.program = flags.program;
  std::vector<std::string> programs = listPrograms(module);
  if (!options.program.empty() || programs.size() <= 1)
    return exportProgram(module, flags, options, os);
  for (const std::string &program : programs) {
    ExportOptions own = options;
    own.program = program;
    own.files.directory += "/" + program;
    if (!own.memoryTimeline.empty())
      own.memoryTimeline += "." + program;
    if (failed(exportProgram(module, flags, own, os)))
      return failure();
  }
  return success();
}

/// Makes files of a bundle.
static LogicalResult unbundle(llvm::SourceMgr &sources,
                              const ExportFlags &flags, raw_ostream &os,
                              MLIRContext *context) {
  const llvm::MemoryBuffer *buffer =
      sources.getMemoryBuffer(sources.getMainFileID());
  Location loc =
      FileLineColLoc::get(context, buffer->getBufferIdentifier(), 0, 0);
  if (flags.directory.empty())
    return emitError(loc, "--unbundle needs --trace-dir=<directory>");
  stg::trace::WriteOptions files;
  std::optional<stg::trace::RankRange> part;
  if (failed(parseFlags(loc, flags, "--", files, part)))
    return failure();
  auto bundle = stg::trace::TraceBundle::parse(llvm::MemoryBuffer::getMemBuffer(
      *buffer, /*RequiresNullTerminator=*/false));
  if (!bundle) {
    // The location names the file already.
    std::string message = llvm::toString(bundle.takeError());
    StringRef text = message;
    if (text.consume_front(buffer->getBufferIdentifier()))
      text.consume_front(": ");
    return emitError(loc) << text;
  }
  int64_t numRanks = (*bundle)->getSpace().getNumRanks();
  llvm::Expected<std::optional<stg::trace::RankRange>> ranks =
      stg::trace::chooseRanks(numRanks, files.ranks, part);
  if (!ranks)
    return emitError(loc) << llvm::toString(ranks.takeError());
  files.ranks = *ranks;
  llvm::Expected<stg::trace::WriteResult> result =
      stg::trace::writeTraces(**bundle, files);
  if (!result)
    return emitError(loc) << llvm::toString(result.takeError());
  os << flags.directory << ": " << result->ranks.second - result->ranks.first
     << " of " << numRanks << " ranks, " << result->bytesWritten
     << " bytes of traces";
  if (result->filesKept)
    os << ", " << result->filesKept << " were complete";
  os << '\n';
  return success();
}

static OwningOpRef<Operation *> importFile(llvm::SourceMgr &sources,
                                           const ImportFlags &flags,
                                           MLIRContext *context) {
  ImportOptions options;
  if (flags.rank >= 0)
    options.rank = flags.rank;
  options.groupsFile = flags.groups;
  options.manifestFile = flags.manifest;
  const llvm::MemoryBuffer *buffer =
      sources.getMemoryBuffer(sources.getMainFileID());
  return importTrace(buffer->getMemBufferRef(), options, context);
}

/// Symbols and configurations may still stand beside the graphs.
static void registerDialects(DialectRegistry &registry) {
  registry.insert<ChakraDialect, stg::STGDialect>();
}

void stg::chakra::registerChakraTraceTranslations() {
  static ExportFlags flags;
  static ImportFlags importFlags;
  TranslateFromMLIRRegistration(
      "chakra-to-traces",
      "Write the execution trace of every rank to a directory",
      [](ModuleOp module, raw_ostream &os) {
        return exportModule(module, flags, os);
      },
      registerDialects);
  TranslateRegistration("unbundle",
                        "Write the execution traces of a bundle to a directory",
                        [](const std::shared_ptr<llvm::SourceMgr> &sources,
                           raw_ostream &os, MLIRContext *context) {
                          return unbundle(*sources, flags, os, context);
                        });
  TranslateToMLIRRegistration(
      "traces-to-chakra", "Read the execution trace of one rank as a graph",
      [](llvm::SourceMgr &sources, MLIRContext *context) {
        return importFile(sources, importFlags, context);
      },
      registerDialects);
}
