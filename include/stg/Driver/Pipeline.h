//===- Pipeline.h - The standard pass pipeline ------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_DRIVER_PIPELINE_H
#define STG_DRIVER_PIPELINE_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace stg {

/// Options of the pipeline, with the spelling of the flags of `stg-compile`.
struct PipelineOptions : mlir::PassPipelineOptions<PipelineOptions> {
  Option<std::string> dp{*this, "dp", llvm::cl::desc("Data-parallel degree"),
                         llvm::cl::init("1")};
  Option<std::string> tp{*this, "tp", llvm::cl::desc("Tensor-parallel degree"),
                         llvm::cl::init("1")};
  Option<std::string> tpReplicate{
      *this, "tp-replicate",
      llvm::cl::desc("Ranks that hold the same key/value heads, a part of tp"),
      llvm::cl::init("1")};
  Option<std::string> cp{*this, "cp", llvm::cl::desc("Context-parallel degree"),
                         llvm::cl::init("1")};
  Option<std::string> cpCommType{
      *this, "cp-comm-type",
      llvm::cl::desc("How attention sees the tokens of other devices of cp: "
                     "all_gather, a2a (Ulysses) or p2p (ring)"),
      llvm::cl::init("all_gather")};
  Option<std::string> cpBalance{
      *this, "cp-balance",
      llvm::cl::desc("Tokens of a device of cp under a causal mask: zigzag "
                     "(balanced) or none (one range)"),
      llvm::cl::init("zigzag")};
  Option<std::string> ep{*this, "ep",
                         llvm::cl::desc("Expert-parallel degree, a part of dp"),
                         llvm::cl::init("1")};
  Option<std::string> etp{
      *this, "etp",
      llvm::cl::desc("Tensor parallelism of experts: 1, or that of tp"),
      llvm::cl::init("")};
  ListOption<int64_t> expertLoads{
      *this, "expert-loads",
      llvm::cl::desc("Relative loads of experts (default: all equal)")};
  Option<bool> clipExperts{
      *this, "clip-experts",
      llvm::cl::desc("Drop what an expert's buffer has no room for"),
      llvm::cl::init(false)};
  Option<std::string> pp{*this, "pp", llvm::cl::desc("Pipeline stages"),
                         llvm::cl::init("1")};
  Option<std::string> dpReplicate{
      *this, "dp-replicate",
      llvm::cl::desc("Replicas of hybrid sharding, a part of dp"),
      llvm::cl::init("1")};
  Option<unsigned> microBatches{
      *this, "micro-batches",
      llvm::cl::desc("Micro-batches of a step and data-parallel rank"),
      llvm::cl::init(1)};
  Option<std::string> schedule{
      *this, "schedule",
      llvm::cl::desc("Order of micro-batches and stages: a name or a .json "
                     "file (default 1f1b, interleaved with virtual stages)"),
      llvm::cl::init("")};
  Option<unsigned> virtualStages{
      *this, "virtual-stages",
      llvm::cl::desc("Virtual pipeline stages of each device"),
      llvm::cl::init(1)};
  ListOption<int64_t> layersPerStage{
      *this, "layers-per-stage",
      llvm::cl::desc(
          "Layers of each virtual stage (default: as many in each)")};
  Option<bool> sequenceParallel{
      *this, "sequence-parallel",
      llvm::cl::desc("Shard the residual stream by tokens over tp"),
      llvm::cl::init(false)};
  ListOption<std::string> rules{
      *this, "rules",
      llvm::cl::desc("Sharding rules DIM:AXIS before the default ones")};
  Option<std::string> rankOrder{
      *this, "rank-order",
      llvm::cl::desc("Axes from the fastest to the slowest"),
      llvm::cl::init("tp-cp-dp-pp")};
  Option<std::string> dtype{
      *this, "dtype",
      llvm::cl::desc(
          "Element type of parameters and activations (default: as the "
          "model is written)"),
      llvm::cl::init("")};
  Option<std::string> paramDtype{
      *this, "param-dtype",
      llvm::cl::desc("Element type of stored parameters (default: that in "
                     "which they are read)"),
      llvm::cl::init("")};
  Option<bool> fp8Gather{
      *this, "fp8-gather",
      llvm::cl::desc("Gather parameters that are cast to 8 bits in 8 bits"),
      llvm::cl::init(false)};
  Option<std::string> gradDtype{*this, "grad-dtype",
                                llvm::cl::desc("Element type of gradients"),
                                llvm::cl::init("f32")};
  Option<std::string> optimizerDtype{
      *this, "optimizer-dtype",
      llvm::cl::desc("Element type of the optimizer's moments"),
      llvm::cl::init("f32")};
  Option<std::string> attentionCount{
      *this, "attention-count",
      llvm::cl::desc("Pairs that a masked attention counts: executed or full"),
      llvm::cl::init("executed")};
  Option<std::string> gradientReduction{
      *this, "gradient-reduction",
      llvm::cl::desc(
          "flat: one collective per group after backward; per-layer: one "
          "per layer, as soon as its backward is done, and one for the "
          "rest; per-parameter: one per parameter, as soon as its "
          "gradient is there"),
      llvm::cl::init("flat")};
  Option<bool> fp8{*this, "fp8",
                   llvm::cl::desc("8-bit operands of the products in layers"),
                   llvm::cl::init(false)};
  Option<unsigned> zero{
      *this, "zero",
      llvm::cl::desc("ZeRO: 1 shards optimizer states over the data axes, 2 "
                     "gradients, too, 3 parameters, too (FSDP)"),
      llvm::cl::init(0)};
  Option<std::string> zeroRoot{
      *this, "zero-root",
      llvm::cl::desc("Parameters outside of layers with zero=3: kept or units"),
      llvm::cl::init("kept")};
  Option<bool> reshardAfterForward{
      *this, "reshard-after-forward",
      llvm::cl::desc("Gather parameters again in backward with zero=3"),
      llvm::cl::init(true)};
  Option<unsigned> prefetch{
      *this, "prefetch",
      llvm::cl::desc("Layers that parameters are gathered ahead with zero=3"),
      llvm::cl::init(1)};
  Option<uint64_t> bucketSize{
      *this, "bucket-size",
      llvm::cl::desc("Bytes at which a bucket of gradients is closed (0: one)"),
      llvm::cl::init(0)};
  Option<std::string> recompute{
      *this, "recompute",
      llvm::cl::desc("What is replayed in backward: none, selective or full"),
      llvm::cl::init("none")};
  Option<std::string> recomputeMethod{
      *this, "recompute-method",
      llvm::cl::desc("uniform: groups of layers are replayed together; block: "
                     "the first layers of each pipeline stage are replayed"),
      llvm::cl::init("uniform")};
  Option<unsigned> recomputeLayers{
      *this, "recompute-layers",
      llvm::cl::desc("Layers of a group, or of a stage that are replayed"),
      llvm::cl::init(1)};
  Option<bool> keepGathered{
      *this, "keep-gathered",
      llvm::cl::desc("Keep what forward gathered instead of gathering again"),
      llvm::cl::init(false)};
  Option<std::string> bind{
      *this, "bind",
      llvm::cl::desc("What --stg-bind gets at the end, comma-separated: "
                     "config=NAME,SYMBOL=VALUE,..."),
      llvm::cl::init("")};
};

/// Blocks inlined, ops named, types chosen.
void buildModelPipeline(mlir::OpPassManager &pm,
                        const PipelineOptions &options);
/// From there to the plan: the training step, and the intended sharding.
void buildPlanPipeline(mlir::OpPassManager &pm, const PipelineOptions &options);
/// From there to the local level.
void buildLocalPipeline(mlir::OpPassManager &pm,
                        const PipelineOptions &options);
/// Binding and the conversion to the chakra level. `bind` has the assignments
/// of
/// --stg-bind, separated by spaces.
void buildChakraPipeline(mlir::OpPassManager &pm, llvm::StringRef bind,
                         const PipelineOptions &options);

/// Registers all of them, one after the other, as `--stg-pipeline`.
void registerPipelines();

} // namespace stg

#endif // STG_DRIVER_PIPELINE_H
