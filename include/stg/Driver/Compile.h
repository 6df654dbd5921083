//===- Compile.h - From a model to traces -----------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `stg-compile` does, as a library: find the model, run the pipeline, bind
// the symbols, write traces, and say what came of it.
//
//===----------------------------------------------------------------------===//

#ifndef STG_DRIVER_COMPILE_H
#define STG_DRIVER_COMPILE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "stg/Import/Import.h"
#include "stg/Machine/Execution.h"
#include "stg/Strategy/StepPlan.h"
#include "stg/Strategy/StrategyInput.h"
#include "stg/Support/Messages.h"
#include "stg/Target/Chakra/Export.h"
#include "llvm/Support/SourceMgr.h"
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace stg {

/// What the user asks for.
struct CompileRequest {
  /// A .mlir file, a configuration (.json), or the name of a library model.
  std::string model;
  /// The text of the model; `model` is then what messages call it.
  std::optional<std::string> modelText;
  std::string config; ///< Of the file; chosen by `model` if that is a name.
  /// The program of the file; may be empty where there is one.
  std::string program;
  StrategyInput strategy;
  /// What the strategy file alone says, for messages.
  StrategyInput strategyFile;
  /// The plan of decoding, on ranks behind those of `strategy`, which is then
  /// that of prefill.
  std::optional<StrategyInput> decodeStrategy;
  /// The file of that plan alone, as `strategyFile` is of the other.
  StrategyInput decodeStrategyFile;
  /// The strategy is that of another model.
  bool isDraft = false;
  /// What is given and has no effect is left out, not refused.
  bool dropsWithoutEffect = false;
  bool dryRun = false;
  /// What passes have made is checked. Who only wants to know what a step takes
  /// at least need not: what is wrong is found when it is compiled to be used.
  bool verifies = true;
  bool verbose = false; ///< The summary has all of each class.
  /// Bytes of memory of a device, which the summary compares peaks with.
  std::optional<int64_t> memoryLimit;
  chakra::ExportOptions exportOptions;
  /// A quantized configuration is that of the model before.
  bool ignoresQuantization = false;
  /// Folders that are searched for library models.
  std::vector<std::string> modelPath;
  /// Called for each pass manager before it runs; may be empty.
  std::function<mlir::LogicalResult(mlir::PassManager &)> configurePasses;
  /// Called with the flag of each pass before it runs, and with "write" before
  /// each file of a rank, then from several threads; false: stop, which is an
  /// error. May be empty.
  std::function<bool(llvm::StringRef step)> goOn;
};

/// Bytes or operations of one device, exact.
using Exact = __int128;

/// What came of it.
struct CompileResult {
  std::string model, description;
  std::map<std::string, int64_t> symbols;     ///< All bound ones.
  std::map<std::string, std::string> options; ///< Of the model.
  /// As it was compiled: resolved, with what follows from the model.
  StrategyInput strategy;
  /// The steps of inference, in order; of rows that are requests, one of each.
  /// Empty: a step of training, or one of inference.
  std::vector<StepLoop> loops;
  Exact parameters = 0; ///< Of the whole model.
  /// Without those of the experts that a token does not go through.
  Exact activeParameters = 0;
  /// Of the tables that have a row for each word of the vocabulary.
  Exact embeddingParameters = 0;
  /// Those that are not trained.
  Exact frozenParameters = 0;
  /// What a rank of a step of inference has of the experts of a layer, and how
  /// many of these it is expected to read; of all layers that differ.
  std::set<std::pair<Exact, Exact>> expertsRead;
  std::string dtype;   ///< Element types of the parameters.
  Execution execution; ///< Of the preset.
  chakra::ExportSummary summary;
  /// The other program, where there are two; of the mesh of each the axes.
  std::shared_ptr<CompileResult> decode;
  int64_t firstRank = 0; ///< Of that one.
  /// The model that drafts tokens, where there is one.
  std::shared_ptr<CompileResult> draft;
  std::string mesh;
  double compileSeconds = 0, writeSeconds = 0;
};

/// A context with all of our dialects, for one compilation: what is interned
/// ends with it.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// Runs everything. What is wrong, with flags or in a file, goes to `printer`.
mlir::FailureOr<CompileResult> compile(mlir::MLIRContext &context,
                                       const CompileRequest &request,
                                       const MessagePrinter &printer);

/// Compiles requests that differ in the strategy only, one after the other. The
/// model is read once for many of them: what is said of it, but for errors, is
/// said once. The results are those of `compile`.
class Compiler {
public:
  Compiler();
  ~Compiler();

  mlir::FailureOr<CompileResult> compile(const CompileRequest &request,
                                         const MessagePrinter &printer);

private:
  struct Session;
  std::unique_ptr<Session> session;
};

/// Writes the schedule that would be compiled, in its JSON form.
mlir::LogicalResult printSchedule(mlir::MLIRContext &context,
                                  const CompileRequest &request,
                                  llvm::raw_ostream &os,
                                  const MessagePrinter &printer);

/// What the configuration that is asked for becomes.
llvm::Expected<ImportedModel> importModel(const CompileRequest &request,
                                          const MessagePrinter &printer);

/// How a bundle is executed: as the preset that it was made with says.
llvm::Expected<Execution> findExecution(const trace::TraceBundle &programs);

/// A model of the library.
struct LibraryModel {
  std::string name, family;
  Exact parameters = 0;
};

/// All models of the library, by their names, read by as many threads as there
/// are processors. What is wrong with one of them is an error.
mlir::FailureOr<std::vector<LibraryModel>>
listModels(llvm::ArrayRef<std::string> modelPath,
           const MessagePrinter &printer);

/// Prints them for a person, or for a program.
void printModels(llvm::ArrayRef<LibraryModel> models, bool asJSON,
                 llvm::raw_ostream &os);

/// What the manifest says of a compilation: model, symbols, strategy,
/// parameters.
llvm::json::Object getManifestEntries(const CompileRequest &request,
                                      const CompileResult &result);

/// The summary for a person.
void printSummary(const CompileRequest &request, const CompileResult &result,
                  llvm::raw_ostream &os);
/// The summary for a program: what `manifest.json` contains.
void printJSON(const CompileRequest &request, const CompileResult &result,
               llvm::raw_ostream &os);

} // namespace stg

#endif // STG_DRIVER_COMPILE_H
