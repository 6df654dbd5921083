//===- Compile.cpp - Compiling from C -------------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg-c/Compile.h"
#include "CompileCall.h"
#include "stg/Dialect/Sym/IR/Sym.h"
#include "stg/Driver/SymbolicCosts.h"
#include "stg/Strategy/Field.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include <cstring>
#include <list>
#include <mutex>

using namespace llvm;
using namespace stg;
using namespace stg::capi;

struct StgCompilation {
  struct Class {
    StgRankClass view;
    std::vector<StgPhaseTotals> phases;
    std::vector<StgCollectiveTotals> collectives;
    std::vector<StgMessageTotals> messages;
    std::vector<StgTransferTotals> transfers;
    std::vector<StgMemoryTotals> memory;
  };

  CompileRequest request;
  CompileResult result;
  mutable std::once_flag manifestMade;
  mutable std::string manifest;
  MessageList messages;
  std::list<std::string> texts; ///< Joined names that views point to.
  std::vector<Class> classes;
  std::unique_ptr<StgTraceBundle> bundle;
};

//===----------------------------------------------------------------------===//
// Strategies
//===----------------------------------------------------------------------===//

StgStrategy *stgStrategyCreate() { return new StgStrategy(); }

StgStrategy *stgStrategyClone(const StgStrategy *strategy) {
  return new StgStrategy(*strategy);
}

void stgStrategyDestroy(StgStrategy *strategy) { delete strategy; }

StgError *stgStrategySet(StgStrategy *strategy, const char *name,
                         const char *value) {
  const Field *field = findField(toStringRef(name));
  if (!field || !(field->scopes & Field::Flags))
    return toStgError(makeError("unknown field '" + toStringRef(name) +
                                "'; stgGetField has all of them"));
  return toStgError(
      strategy->flags.set(*field, toStringRef(value), GivenBy::Flag));
}

StgError *stgStrategyReadJSON(StgStrategy *strategy, const char *text,
                              const char *name) {
  StringRef called = name ? name : "strategy";
  if (Error error = strategy->file.readJSON(toStringRef(text), called))
    return toStgError(std::move(error));
  if (strategy->file.hasDecodePlan())
    return toStgError(makeError(
        called + ": has a plan of prefill and one of decoding, expected one"));
  return nullptr;
}

/// Fields that a user gives.
static ArrayRef<const Field *> getGivenFields() {
  static const std::vector<const Field *> fields = [] {
    std::vector<const Field *> given;
    for (const Field &field : getFields())
      if (field.scopes & (Field::Flags | Field::File))
        given.push_back(&field);
    return given;
  }();
  return fields;
}

size_t stgGetNumFields() { return getGivenFields().size(); }

StgField stgGetField(size_t index) {
  if (index >= getGivenFields().size())
    return {};
  const Field &field = *getGivenFields()[index];
  static const std::vector<std::string> expectations = [] {
    std::vector<std::string> all;
    for (const Field *field : getGivenFields())
      all.push_back(field->getExpectation());
    return all;
  }();
  return {toText(field.name), toText(field.jsonName), toText(field.helpText),
          toText(expectations[index])};
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

using Output = chakra::ExportOptions::Output;

/// C may have written any number, which as an enumeration is not to be read.
static Expected<Output> toOutput(const StgOutput &from) {
  unsigned output;
  static_assert(sizeof(output) == sizeof(from));
  std::memcpy(&output, &from, sizeof(output));
  switch (output) {
  case STG_OUTPUT_NONE:
    return Output::Nothing;
  case STG_OUTPUT_FILES:
    return Output::Files;
  case STG_OUTPUT_BUNDLE:
    return Output::Bundle;
  case STG_OUTPUT_MEMORY:
    return Output::Memory;
  }
  return makeError("unknown output " + Twine(output));
}

/// Checks what flags would be checked for.
static Error checkRequest(const StgCompileRequest &request, Output output) {
  if (toStringRef(request.model).empty())
    return makeError("the request names no model");
  bool writes = output == Output::Files || output == Output::Bundle;
  bool hasFolder = !toStringRef(request.folder).empty();
  if (writes && !hasFolder)
    return makeError("no folder for the traces");
  if (!writes && hasFolder)
    return makeError("the folder '" + toStringRef(request.folder) +
                     "' is given, but nothing is written");
  if (request.prefix && !trace::TraceBundle::isPrefix(request.prefix))
    return makeError("'" + toStringRef(request.prefix) +
                     "' cannot be the first part of a file name");
  bool hasRanks = request.firstRank || request.endRank;
  if (hasRanks &&
      (request.firstRank < 0 || request.firstRank >= request.endRank))
    return makeError("ranks " + Twine(request.firstRank) + " to " +
                     Twine(request.endRank) + ": expected 0 <= first < end");
  if (output != Output::Files && (hasRanks || request.resume))
    return makeError("ranks are chosen, and what is there is kept, "
                     "only where files are written");
  return Error::success();
}

Expected<std::vector<std::string>>
stg::capi::toFolders(const char *const *folders, size_t count) {
  std::vector<std::string> found(folders, folders + count);
  for (const std::string &folder : found)
    if (!sys::fs::is_directory(folder))
      return makeError("'" + folder +
                       "', to be searched for models, is not a folder");
  return found;
}

Expected<CompileRequest> stg::capi::toRequest(const StgCompileRequest &from) {
  Expected<Output> output = toOutput(from.output);
  if (!output)
    return output.takeError();
  if (Error error = checkRequest(from, *output))
    return std::move(error);
  CompileRequest request;
  request.model = from.model;
  if (from.modelText)
    request.modelText = from.modelText;
  request.config = toStringRef(from.config);
  request.program = toStringRef(from.program);
  static const StgStrategy none;
  const StgStrategy &strategy = from.strategy ? *from.strategy : none;
  Expected<StrategyInput> all =
      StrategyInput::combine(strategy.file, strategy.flags);
  if (!all)
    return all.takeError();
  request.strategy = std::move(*all);
  request.strategyFile = strategy.file;
  auto folders = toFolders(from.modelFolders, from.numModelFolders);
  if (!folders)
    return folders.takeError();
  request.modelPath = std::move(*folders);
  request.ignoresQuantization = from.ignoreQuantization;
  request.dryRun = *output == Output::Nothing;
  chakra::ExportOptions &options = request.exportOptions;
  options.output = *output;
  options.files.directory = toStringRef(from.folder);
  options.files.threads = from.numThreads;
  options.files.resume = from.resume;
  options.files.quiet = true;
  options.memoryTimeline = toStringRef(from.memoryTimeline);
  if (from.prefix)
    options.prefix = from.prefix;
  if (from.endRank)
    options.files.ranks = {from.firstRank, from.endRank};
  return request;
}

//===----------------------------------------------------------------------===//
// Totals
//===----------------------------------------------------------------------===//

static StgCollective toCollective(chakra::CollKind kind) {
  switch (kind) {
  case chakra::CollKind::AllReduce:
    return STG_ALL_REDUCE;
  case chakra::CollKind::AllGather:
    return STG_ALL_GATHER;
  case chakra::CollKind::ReduceScatter:
    return STG_REDUCE_SCATTER;
  case chakra::CollKind::AllToAll:
    return STG_ALL_TO_ALL;
  }
  llvm_unreachable("all kinds are above");
}

static void addPhases(const chakra::ClassTotals &totals,
                      std::vector<StgPhaseTotals> &phases) {
  for (auto &[phase, operations] : totals.operationsByPhase) {
    __int128 products = 0;
    for (auto &[other, count] : totals.matrixOperationsByPhase)
      if (other == phase)
        products += count;
    phases.push_back({toText(phase), toExact(operations), toExact(products)});
  }
}

static void addCommunication(const chakra::ClassTotals &totals,
                             StgCompilation &compilation,
                             StgCompilation::Class &entry) {
  for (const chakra::CollTotals &coll : totals.collectives) {
    compilation.texts.push_back(join(coll.axes, "+"));
    entry.collectives.push_back(
        {toCollective(coll.kind), toText(compilation.texts.back()),
         coll.groupSize, toText(coll.phase), coll.count, toExact(coll.bytes)});
  }
  for (const chakra::MessageTotals &message : totals.messages)
    entry.messages.push_back({message.isSend, toText(message.axis),
                              message.shift, toText(message.phase),
                              message.count, toExact(message.bytes)});
  for (const chakra::TransferTotals &transfer : totals.transfers)
    entry.transfers.push_back({transfer.isLoad, toText(transfer.phase),
                               transfer.count, toExact(transfer.bytes)});
}

static void addMemory(const chakra::MemoryTotals &memory,
                      std::vector<StgMemoryTotals> &categories) {
  for (unsigned i = 0; i < chakra::kNumCategories; ++i) {
    auto category = static_cast<chakra::Category>(i);
    categories.push_back({toText(chakra::stringifyCategory(category)),
                          toExact(memory.persistent[category]),
                          toExact(memory.peak[category]),
                          toExact(memory.largest[category])});
  }
}

static void fillView(const chakra::ClassSummary &summary,
                     StgCompilation::Class &entry) {
  const chakra::ClassTotals &totals = summary.totals;
  StgRankClass &view = entry.view;
  view = {};
  view.name = toText(summary.name);
  view.numRanks = summary.numRanks;
  view.firstRank = summary.firstRank;
  view.numCompNodes = totals.compNodes;
  view.numCollNodes = totals.collNodes;
  view.numSendNodes = totals.sendNodes;
  view.numRecvNodes = totals.recvNodes;
  view.operations = toExact(totals.operations);
  view.memoryTraffic = toExact(totals.memoryTraffic);
  view.peakMemory = toExact(totals.memory.peak.getTotal());
  view.peakNode = toText(totals.peakNode);
  view.phases = entry.phases.data();
  view.numPhases = entry.phases.size();
  view.collectives = entry.collectives.data();
  view.numCollectives = entry.collectives.size();
  view.messages = entry.messages.data();
  view.numMessages = entry.messages.size();
  view.transfers = entry.transfers.data();
  view.numTransfers = entry.transfers.size();
  view.memory = entry.memory.data();
  view.numCategories = entry.memory.size();
}

/// Makes what C sees of the totals, once they do not move any more.
static void addClasses(StgCompilation &compilation) {
  const auto &classes = compilation.result.summary.classes;
  compilation.classes.resize(classes.size());
  for (auto [summary, entry] : zip_equal(classes, compilation.classes)) {
    addPhases(summary.totals, entry.phases);
    addCommunication(summary.totals, compilation, entry);
    addMemory(summary.totals.memory, entry.memory);
    fillView(summary, entry);
  }
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

/// Reads the bundle from its bytes: names that it was made with end with the
/// context.
static Error takeBundle(StgCompilation &compilation) {
  std::string &bytes = compilation.result.summary.bundle;
  auto bundle = trace::TraceBundle::parse(
      MemoryBuffer::getMemBufferCopy(bytes, compilation.result.model));
  if (!bundle)
    return bundle.takeError();
  std::string().swap(bytes);
  compilation.bundle =
      std::make_unique<StgTraceBundle>(StgTraceBundle{std::move(*bundle)});
  return Error::success();
}

StgError *stgCompile(const StgCompileRequest *from, StgCompilation **result) {
  *result = nullptr;
  Expected<CompileRequest> request = toRequest(*from);
  if (!request)
    return toStgError(request.takeError());
  CompileCall call(*from);
  request->goOn = call.goOn;
  auto compilation = std::make_unique<StgCompilation>();
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  mlir::FailureOr<CompileResult> compiled =
      compile(*context, *request, call.printer);
  if (failed(compiled))
    return call.fail();
  compilation->result = std::move(*compiled);
  compilation->messages = std::move(call.messages);
  // The manifest needs the rest.
  request->modelText.reset();
  request->goOn = nullptr;
  compilation->request = std::move(*request);
  addClasses(*compilation);
  if (compilation->request.exportOptions.output == Output::Memory)
    if (Error error = takeBundle(*compilation))
      return toStgError(std::move(error));
  *result = compilation.release();
  return nullptr;
}

void stgCompilationDestroy(StgCompilation *compilation) { delete compilation; }

StgExact stgCompilationGetParameters(const StgCompilation *compilation) {
  return toExact(compilation->result.parameters);
}

StgExact stgCompilationGetActiveParameters(const StgCompilation *compilation) {
  return toExact(compilation->result.activeParameters);
}

StgExact
stgCompilationGetEmbeddingParameters(const StgCompilation *compilation) {
  return toExact(compilation->result.embeddingParameters);
}

int64_t stgCompilationGetNumRanks(const StgCompilation *compilation) {
  return compilation->result.summary.numRanks;
}

size_t stgCompilationGetNumClasses(const StgCompilation *compilation) {
  return compilation->classes.size();
}

const StgRankClass *stgCompilationGetClass(const StgCompilation *compilation,
                                           size_t index) {
  if (index >= compilation->classes.size())
    return nullptr;
  return &compilation->classes[index].view;
}

StgText stgCompilationGetManifest(const StgCompilation *compilation) {
  std::call_once(compilation->manifestMade, [&] {
    raw_string_ostream os(compilation->manifest);
    printJSON(compilation->request, compilation->result, os);
  });
  return toText(compilation->manifest);
}

size_t stgCompilationGetNumMessages(const StgCompilation *compilation) {
  return compilation->messages.size();
}

StgMessage stgCompilationGetMessage(const StgCompilation *compilation,
                                    size_t index) {
  return compilation->messages.get(index);
}

const StgTraceBundle *
stgCompilationGetBundle(const StgCompilation *compilation) {
  return compilation->bundle.get();
}

//===----------------------------------------------------------------------===//
// Costs with symbols
//===----------------------------------------------------------------------===//

struct StgCosts {
  std::vector<SymbolicCost> costs;
  std::vector<std::string> expressions; ///< The costs' own end with a context.
  std::vector<std::pair<std::string, int64_t>> symbols;
  MessageList messages;
};

StgError *stgComputeCosts(const StgCompileRequest *from, StgCosts **result) {
  *result = nullptr;
  Expected<CompileRequest> request = toRequest(*from);
  if (!request)
    return toStgError(request.takeError());
  CompileCall call(*from);
  request->goOn = call.goOn;
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  mlir::FailureOr<SymbolicCosts> computed =
      computeCosts(*context, *request, call.printer);
  if (failed(computed))
    return call.fail();
  auto costs = std::make_unique<StgCosts>();
  for (SymbolicCost &cost : computed->costs) {
    costs->expressions.push_back(cost.expression.str());
    cost.expression = {};
  }
  costs->costs = std::move(computed->costs);
  costs->symbols.assign(computed->symbols.begin(), computed->symbols.end());
  costs->messages = std::move(call.messages);
  *result = costs.release();
  return nullptr;
}

void stgCostsDestroy(StgCosts *costs) { delete costs; }

size_t stgCostsGetNum(const StgCosts *costs) { return costs->costs.size(); }

StgCost stgCostsGet(const StgCosts *costs, size_t index) {
  if (index >= costs->costs.size())
    return {};
  const SymbolicCost &cost = costs->costs[index];
  return {toText(cost.quantity), toText(cost.phase), toText(cost.kind),
          toText(cost.axes), toText(costs->expressions[index])};
}

StgError *stgExpressionSimplify(const char *text, char **result) {
  *result = nullptr;
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  context->loadDialect<SymDialect>();
  Expected<SymExpr> expression =
      SymExpr::parse(context.get(), toStringRef(text));
  if (!expression)
    return toStgError(expression.takeError());
  *result = strdup(expression->str().c_str());
  return nullptr;
}

size_t stgCostsGetNumSymbols(const StgCosts *costs) {
  return costs->symbols.size();
}

StgSymbol stgCostsGetSymbol(const StgCosts *costs, size_t index) {
  if (index >= costs->symbols.size())
    return {};
  const auto &[name, value] = costs->symbols[index];
  return {toText(name), value};
}

size_t stgCostsGetNumMessages(const StgCosts *costs) {
  return costs->messages.size();
}

StgMessage stgCostsGetMessage(const StgCosts *costs, size_t index) {
  return costs->messages.get(index);
}
