//===- Translation.cpp - Command line of the trace translations -----------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Target/ChakraTrace/Translation.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "stg/Dialect/Chakra/IR/ChakraDialect.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "stg/Target/ChakraTrace/Export.h"
#include "stg/Target/ChakraTrace/Import.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace stg::chakra;

namespace {
/// The options of `--chakra-to-traces`.
struct ExportFlags {
  llvm::cl::OptionCategory category{"Writing traces (--chakra-to-traces)"};
  llvm::cl::opt<std::string> directory{
      "trace-dir", llvm::cl::desc("Write the traces to this directory"),
      llvm::cl::value_desc("directory"), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> prefix{
      "trace-prefix",
      llvm::cl::desc("First part of the names of trace files "
                     "(default: workload)"),
      llvm::cl::value_desc("name"), llvm::cl::init("workload"),
      llvm::cl::cat(category)};
  llvm::cl::opt<unsigned> threads{
      "trace-threads",
      llvm::cl::desc("Number of threads (default: 0, all of the machine)"),
      llvm::cl::value_desc("n"), llvm::cl::init(0), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> ranks{
      "trace-ranks",
      llvm::cl::desc("Write only the ranks LO to HI - 1 (default: all)"),
      llvm::cl::value_desc("LO:HI"), llvm::cl::cat(category)};
  llvm::cl::opt<unsigned> splits{
      "trace-splits",
      llvm::cl::desc("Chunks that the simulator splits a collective into "
                     "(default: 4)"),
      llvm::cl::value_desc("n"), llvm::cl::init(4), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> memory{
      "trace-memory",
      llvm::cl::desc("Write the memory of each class over the step to "
                     "PREFIX.<graph>.csv"),
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

static LogicalResult parseRanks(ModuleOp module, StringRef text,
                                ExportOptions &options) {
  auto [low, high] = text.split(':');
  std::pair<int64_t, int64_t> range;
  if (low.getAsInteger(10, range.first) || high.getAsInteger(10, range.second))
    return emitError(module.getLoc(),
                     "--trace-ranks expects LO:HI, two numbers, found '")
           << text << "'";
  options.ranks = range;
  return success();
}

static LogicalResult exportModule(ModuleOp module, const ExportFlags &flags,
                                  raw_ostream &os) {
  ExportOptions options;
  options.directory = flags.directory;
  options.prefix = flags.prefix;
  options.threads = flags.threads;
  options.splits = flags.splits;
  options.memoryTimeline = flags.memory;
  if (options.directory.empty())
    return emitError(module.getLoc(),
                     "--chakra-to-traces needs --trace-dir=<directory>");
  if (!flags.ranks.empty() && failed(parseRanks(module, flags.ranks, options)))
    return failure();
  FailureOr<ExportSummary> summary = exportTraces(module, options);
  if (failed(summary))
    return failure();
  __int128 nodes = 0;
  for (const ClassSummary &entry : summary->classes)
    nodes += static_cast<__int128>(entry.numRanks) *
             (entry.totals.compNodes + entry.totals.collNodes +
              entry.totals.sendNodes + entry.totals.recvNodes);
  os << options.directory << ": " << summary->endRank - summary->firstRank
     << " of " << summary->numRanks << " ranks, " << summary->classes.size()
     << (summary->classes.size() == 1 ? " class, " : " classes, ")
     << summary->numGroups << " communication groups, " << toDecimal(nodes)
     << " nodes on all ranks, " << summary->bytesWritten
     << " bytes of traces\n";
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
  TranslateToMLIRRegistration(
      "traces-to-chakra", "Read the execution trace of one rank as a graph",
      [](llvm::SourceMgr &sources, MLIRContext *context) {
        return importFile(sources, importFlags, context);
      },
      registerDialects);
}
