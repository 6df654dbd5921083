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
#include "stg/Target/ChakraTrace/Export.h"
#include "llvm/Support/SourceMgr.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace stg {

struct PipelineOptions;

/// What the user asks for; the field names are those of the flags.
struct CompileRequest {
  std::string model;  ///< A .mlir file, or the name of a library model.
  std::string config; ///< Of the file; chosen by `model` if that is a name.
  int64_t dp = 1, tp = 1, cp = 1, ep = 1, pp = 1, dpReplicate = 1;
  std::optional<int64_t> etp; ///< 1: experts are whole; none: as tp.
  std::string cpCommType = "all_gather", cpBalance = "zigzag";
  bool sequenceParallel = false;
  std::string expertHistogram; ///< Loads, or a .json file; empty: uniform.
  /// Sequences of a data-parallel rank in one micro-batch; none: its whole
  /// share of the batch.
  std::optional<int64_t> microBatch;
  std::string schedule; ///< Empty: 1f1b, or interleaved with virtual stages.
  unsigned virtualStages = 1;
  std::vector<int64_t> layersPerStage; ///< Empty: as many in each.
  std::optional<int64_t> batch, seq;
  std::string dtype;      ///< Empty: as the model is written.
  std::string paramDtype; ///< Empty: as they are read.
  std::string gradDtype = "f32", optimizerDtype = "f32";
  std::string attentionCount = "executed";
  std::string gradientReduction = "flat";
  bool fp8 = false;
  bool fp8Gather = false;
  unsigned zero = 0;
  std::string zeroRoot = "kept";
  bool reshardAfterForward = true;
  unsigned prefetch = 1;
  uint64_t bucketSize = 0;
  std::string recompute = "none", recomputeMethod = "uniform";
  unsigned recomputeLayers = 1;
  bool keepGathered = false;
  std::string rankOrder = "tp-cp-dp-pp";
  std::vector<std::string> set; ///< SYMBOL=VALUE
  std::vector<std::string> rules;
  bool dryRun = false;
  chakra::ExportOptions exportOptions;
  /// Folders that are searched for library models.
  std::vector<std::string> modelPath;
};

/// Bytes or operations of one device, exact.
using Exact = __int128;

/// What came of it.
struct CompileResult {
  std::string model, description;
  std::map<std::string, int64_t> symbols; ///< All bound ones.
  int64_t microBatches = 1;               ///< Of a data-parallel rank.
  Exact parameters = 0;                   ///< Of the whole model.
  std::string dtype;                      ///< Element types of the parameters.
  chakra::ExportSummary summary;
  double compileSeconds = 0, writeSeconds = 0;
};

/// Runs everything. Diagnostics go to the context's handler or, for what
/// concerns flags, to `errs`, each prefixed by "stg-compile: error: ".
mlir::FailureOr<CompileResult> compile(mlir::MLIRContext &context,
                                       const CompileRequest &request,
                                       llvm::raw_ostream &errs);

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
