//===- CompileFlags.h - The flags of stg-compile ----------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_TOOLS_STG_COMPILE_COMPILEFLAGS_H
#define STG_TOOLS_STG_COMPILE_COMPILEFLAGS_H

#include "stg/Driver/Compile.h"
#include "llvm/Support/CommandLine.h"

namespace stg {

/// What `--help` lists; the options that libLLVM registers are not in it.
llvm::cl::OptionCategory &getCompileCategory();

/// The command line; every flag fills a field of the request.
struct CompileFlags {
  CompileRequest request;
  int64_t batch = 0, seq = 0, microBatch = 0;
  std::string ranks, part;
  bool json = false, bundle = false;

  llvm::cl::opt<std::string, true> model{
      llvm::cl::Positional, llvm::cl::Required,
      llvm::cl::location(request.model),
      llvm::cl::desc("MODEL (a .mlir file or the name of a library model)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<std::string, true> config{
      "config", llvm::cl::location(request.config),
      llvm::cl::value_desc("NAME"),
      llvm::cl::desc("Configuration of a model file"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<int64_t, true> dp{
      "dp", llvm::cl::location(request.dp),
      llvm::cl::desc("Data-parallel degree (default 1)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<int64_t, true> tp{
      "tp", llvm::cl::location(request.tp),
      llvm::cl::desc("Tensor-parallel degree (default 1); a multiple of the "
                     "key/value heads replicates them"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<int64_t, true> cp{
      "cp", llvm::cl::location(request.cp),
      llvm::cl::desc("Context-parallel degree (default 1)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<std::string, true> cpCommType{
      "cp-comm-type", llvm::cl::location(request.cpCommType),
      llvm::cl::value_desc("all_gather|a2a|p2p"),
      llvm::cl::desc(
          "How attention sees the tokens of other ranks of cp: "
          "gathered keys and values, all-to-alls (Ulysses) or a ring "
          "(default all_gather)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<std::string, true> cpBalance{
      "cp-balance", llvm::cl::location(request.cpBalance),
      llvm::cl::value_desc("zigzag|none"),
      llvm::cl::desc("Tokens of a rank of cp under a causal mask: two chunks "
                     "that balance the work, or one range (default zigzag)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<int64_t, true> ep{
      "ep", llvm::cl::location(request.ep),
      llvm::cl::desc("Expert-parallel degree, a part of dp (default 1)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<int64_t> etpFlag{
      "etp",
      llvm::cl::desc("Tensor parallelism of experts: that of tp (default), or "
                     "1: experts are whole, and --ep divides them over tp, "
                     "then cp, then a part of dp"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<std::string, true> expertHistogram{
      "expert-histogram", llvm::cl::location(request.expertHistogram),
      llvm::cl::value_desc("LOAD,...|FILE.json"),
      llvm::cl::desc("Relative loads of experts, one for each; ranks of ep "
                     "then differ (default: all equal)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<int64_t, true> pp{"pp", llvm::cl::location(request.pp),
                                  llvm::cl::desc("Pipeline stages (default 1)"),
                                  llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<int64_t, true> dpReplicate{
      "dp-replicate", llvm::cl::location(request.dpReplicate),
      llvm::cl::desc("Replicas of hybrid sharding, a part of dp (default 1)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<int64_t, true> microBatchFlag{
      "micro-batch", llvm::cl::location(microBatch),
      llvm::cl::desc("Sequences of a data-parallel rank in one micro-batch "
                     "(default: its whole share of the batch)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<std::string, true> schedule{
      "schedule", llvm::cl::location(request.schedule),
      llvm::cl::value_desc("NAME|FILE.json"),
      llvm::cl::desc("Order of micro-batches and stages: gpipe, 1f1b, "
                     "interleaved, zb-h1, ... or a file (default 1f1b, with "
                     "virtual stages interleaved)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<unsigned, true> virtualStages{
      "virtual-stages", llvm::cl::location(request.virtualStages),
      llvm::cl::desc("Virtual pipeline stages of each device (default 1)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::list<int64_t, std::vector<int64_t>> layersPerStage{
      "layers-per-stage",
      llvm::cl::location(request.layersPerStage),
      llvm::cl::CommaSeparated,
      llvm::cl::value_desc("N,N,..."),
      llvm::cl::desc("Layers of each virtual stage (default: as many in each)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<bool, true> sequenceParallel{
      "sequence-parallel", llvm::cl::location(request.sequenceParallel),
      llvm::cl::desc("Shard the residual stream by tokens over tp"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<int64_t, true> batchFlag{
      "batch", llvm::cl::location(batch),
      llvm::cl::desc("Sequences in the global batch"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<int64_t, true> seqFlag{"seq", llvm::cl::location(seq),
                                       llvm::cl::desc("Tokens per sequence"),
                                       llvm::cl::cat(getCompileCategory())};
  llvm::cl::list<std::string, std::vector<std::string>> set{
      "set", llvm::cl::location(request.set),
      llvm::cl::value_desc("SYMBOL=VALUE"),
      llvm::cl::desc("Value of any symbol of the model"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::list<std::string, std::vector<std::string>> rules{
      "rules",
      llvm::cl::location(request.rules),
      llvm::cl::CommaSeparated,
      llvm::cl::value_desc("DIM:AXIS,..."),
      llvm::cl::desc(
          "Sharding rules instead of the default ones for these dimensions"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<std::string, true> dtype{
      "dtype", llvm::cl::location(request.dtype), llvm::cl::value_desc("TYPE"),
      llvm::cl::desc(
          "Element type of parameters and activations (default: as the model "
          "is written)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<std::string, true> paramDtype{
      "param-dtype", llvm::cl::location(request.paramDtype),
      llvm::cl::value_desc("TYPE"),
      llvm::cl::desc("Element type in which parameters are stored, cast where "
                     "they are read (default: that of activations)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<std::string, true> gradDtype{
      "grad-dtype", llvm::cl::location(request.gradDtype),
      llvm::cl::value_desc("TYPE"),
      llvm::cl::desc("Element type of gradients (default f32)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<std::string, true> optimizerDtype{
      "optimizer-dtype", llvm::cl::location(request.optimizerDtype),
      llvm::cl::value_desc("TYPE"),
      llvm::cl::desc("Element type of the optimizer's moments (default f32)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<std::string, true> attentionCount{
      "attention-count", llvm::cl::location(request.attentionCount),
      llvm::cl::value_desc("executed|full"),
      llvm::cl::desc("Pairs that a masked attention counts (default executed)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<std::string, true> gradientReduction{
      "gradient-reduction", llvm::cl::location(request.gradientReduction),
      llvm::cl::value_desc("flat|per-parameter|per-layer"),
      llvm::cl::desc("Collectives that reduce gradients (default flat)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<bool, true> fp8{
      "fp8", llvm::cl::location(request.fp8),
      llvm::cl::desc("8-bit operands of the products in layers (f8E4M3FN, "
                     "gradients f8E5M2)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<bool, true> fp8Gather{
      "fp8-gather", llvm::cl::location(request.fp8Gather),
      llvm::cl::desc(
          "Gather the 8-bit operands of --fp8 with --zero 3, instead "
          "of what they are cast from"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<unsigned, true> zero{
      "zero", llvm::cl::location(request.zero), llvm::cl::value_desc("0|1|2|3"),
      llvm::cl::desc("ZeRO: 1 shards optimizer states over the data axes, 2 "
                     "gradients, too, 3 parameters, too (FSDP) (default 0)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<std::string, true> zeroRoot{
      "zero-root", llvm::cl::location(request.zeroRoot),
      llvm::cl::value_desc("kept|units"),
      llvm::cl::desc("Parameters outside of layers with --zero 3: kept after "
                     "they are gathered, or units like layers (default kept)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<bool, true> reshardAfterForward{
      "reshard-after-forward", llvm::cl::location(request.reshardAfterForward),
      llvm::cl::desc("Gather parameters again in backward with --zero 3 "
                     "(default true)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<unsigned, true> prefetch{
      "prefetch", llvm::cl::location(request.prefetch),
      llvm::cl::value_desc("LAYERS"),
      llvm::cl::desc("Layers that parameters are gathered ahead with --zero 3 "
                     "(default 1)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<uint64_t, true> bucketSize{
      "bucket-size", llvm::cl::location(request.bucketSize),
      llvm::cl::value_desc("BYTES"),
      llvm::cl::desc("Close a bucket of gradients when it has this size "
                     "(default: one bucket)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<std::string, true> recompute{
      "recompute", llvm::cl::location(request.recompute),
      llvm::cl::value_desc("none|selective|full"),
      llvm::cl::desc(
          "What backward replays instead of having it saved (default "
          "none); selective: core attention"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<std::string, true> recomputeMethod{
      "recompute-method", llvm::cl::location(request.recomputeMethod),
      llvm::cl::value_desc("uniform|block"),
      llvm::cl::desc(
          "Layers that --recompute=full replays: all, in groups of which the "
          "input is saved (uniform, the default), or the first of each virtual "
          "pipeline stage (block)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<unsigned, true> recomputeLayers{
      "recompute-layers", llvm::cl::location(request.recomputeLayers),
      llvm::cl::value_desc("N"),
      llvm::cl::desc("Layers of a group, or of a stage that are replayed "
                     "(default 1)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<bool, true> keepGathered{
      "keep-gathered", llvm::cl::location(request.keepGathered),
      llvm::cl::desc(
          "Keep what forward gathered for backward instead of gathering again"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<std::string, true> rankOrder{
      "rank-order", llvm::cl::location(request.rankOrder),
      llvm::cl::value_desc("AXIS-AXIS"),
      llvm::cl::desc("Axes from the fastest to the slowest (default "
                     "tp-cp-dp-pp)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<unsigned, true> threads{
      "threads", llvm::cl::location(request.exportOptions.files.threads),
      llvm::cl::desc("Threads that write files (default: all cores)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<unsigned, true> splits{
      "splits", llvm::cl::location(request.exportOptions.splits),
      llvm::cl::desc(
          "Chunks into which the simulator splits a collective; payloads "
          "are padded to fit (default 4)"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<std::string, true> memoryTimeline{
      "memory-timeline",
      llvm::cl::location(request.exportOptions.memoryTimeline),
      llvm::cl::value_desc("PREFIX"),
      llvm::cl::desc("Write the live bytes by category over the step of each "
                     "class of ranks to PREFIX.<class>.csv"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<std::string, true> rankRange{
      "ranks", llvm::cl::location(ranks), llvm::cl::value_desc("LO:HI"),
      llvm::cl::desc("Write only the traces of ranks LO to HI-1"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<std::string, true> partFlag{
      "part", llvm::cl::location(part), llvm::cl::value_desc("I/N"),
      llvm::cl::desc("Write only the traces of part I of N, counted from 1"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<bool, true> bundleFlag{
      "bundle", llvm::cl::location(bundle),
      llvm::cl::desc("Write one file, DIR/traces.stgb, that any trace can be "
                     "made from, instead of the traces"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<bool, true> resume{
      "resume", llvm::cl::location(request.exportOptions.files.resume),
      llvm::cl::desc("Keep traces of an interrupted run of the same command "
                     "that are complete"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<bool, true> quiet{
      "quiet", llvm::cl::location(request.exportOptions.files.quiet),
      llvm::cl::desc("Show no progress"), llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<bool, true> dryRun{
      "dry-run", llvm::cl::location(request.dryRun),
      llvm::cl::desc("Print the summary, write nothing"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<bool, true> jsonFlag{
      "json", llvm::cl::location(json),
      llvm::cl::desc("Print the summary as JSON"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::opt<std::string, true> output{
      "o", llvm::cl::location(request.exportOptions.files.directory),
      llvm::cl::value_desc("DIR"), llvm::cl::desc("Folder for the traces"),
      llvm::cl::cat(getCompileCategory())};
  llvm::cl::list<std::string, std::vector<std::string>> modelPath{
      "models", llvm::cl::location(request.modelPath),
      llvm::cl::value_desc("DIR"),
      llvm::cl::desc("Folder with further library models"),
      llvm::cl::cat(getCompileCategory())};

  /// Checks what llvm::cl::opt cannot; returns an error or nothing.
  std::string finish();

private:
  std::string finishOutput();
  std::string finishPart();
  std::string finishRanks();
};
} // namespace stg

#endif // STG_TOOLS_STG_COMPILE_COMPILEFLAGS_H
