//===- Execution.h - How a framework executes a program ---------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program says what has to be computed. A framework does it by kernels of its
// own, which is a property of neither model nor machine. It is part of a preset
// (docs/Presets.md), and nothing but estimates of time and memory reads it.
//
//===----------------------------------------------------------------------===//

#ifndef STG_MACHINE_EXECUTION_H
#define STG_MACHINE_EXECUTION_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stg {

struct Execution {
  /// Attention by two products, and kernels between them that read and write
  /// the scores.
  struct Scores {
    /// Bytes moved for each score, and kernels, forward and backward.
    double forwardBytes = 0, backwardBytes = 0;
    int64_t forwardKernels = 0, backwardKernels = 0;
    /// Heads in all sequences that the softmax of scores is written for a
    /// multiple of; bytes and kernels more where there is another number.
    int64_t headMultiple = 1;
    double moreBytes = 0;
    int64_t moreKernels = 0;
  };

  /// A member as it is written.
  struct Constant {
    std::string name, value;
    std::string source; ///< Empty: what a kernel is, and no measurement.
  };

  /// A kernel of the machine; not used where there are scores.
  std::string attention = "flash";
  /// Kernels of scans by chunks. Where the machine has none of this name, such
  /// scans have the rate of the largest products.
  std::string scan = "triton";
  std::optional<Scores> scores;
  /// Ops, by mnemonic, that are done by the kernels around them.
  std::vector<std::string> fused;
  /// Kernels of causal convolutions have the activation behind them, and in
  /// backward what is made again for its gradient alone.
  bool fusedConvolutions = false;
  /// Bytes that element-wise kernels move, over those of operands and results.
  double elementWiseTraffic = 1;
  /// Bytes that all kernels of the loss move for each logit, and how many they
  /// are, forward and backward together; none: as the program says.
  std::optional<double> lossBytes;
  int64_t lossKernels = 0;
  /// Bytes that a step of the optimizer moves for each parameter; none: as the
  /// program says.
  std::optional<double> optimizerBytes;
  /// Bytes that adding to the gradient of a parameter moves for each element
  /// of 4 bytes, in each micro-batch where there are several.
  double gradientBytes = 0;
  /// Narrow operands of products are cast from parameters with the step of the
  /// optimizer, not where products read them.
  bool weightsCastOnce = false;
  /// Layouts in which a narrow operand is written: its products read it by rows
  /// and by columns.
  int64_t narrowLayouts = 1;
  /// Who sends a message to another stage waits until it is there.
  bool blockingMessages = false;
  /// No kernel runs beside a collective of activations, but for gathers that
  /// only gradients of parameters need.
  bool blockingCollectives = false;
  /// Seconds that launching the kernels of an operation takes; none: as the
  /// machine says.
  std::optional<double> hostOperation;
  /// Of the smaller of launching and execution, what is not behind the larger.
  double hostExposed = 0;
  /// A token of several experts of one rank, or of one node, is sent once.
  bool exchangeOnce = false;
  /// Rows of experts are exchanged by a kernel that sends within a domain and
  /// between domains at the same time.
  bool directExchange = false;
  /// A row that comes to a domain once is handed on to each rank there that has
  /// one of the token's experts.
  bool forwardedExchange = false;
  /// Cores that such a kernel takes from kernels beside it.
  int64_t exchangeCores = 0;
  /// Bytes that limiting gate and up of a clamped unit moves for each of their
  /// elements, by kernels before the unit's own and behind its gradient's.
  double clampForwardBytes = 0, clampBackwardBytes = 0;
  /// Bytes that kernels move for each element of what experts make to add a
  /// bias, weighted, behind their last product, and beside its gradient.
  double rowBiasForwardBytes = 0, rowBiasBackwardBytes = 0;
  /// Bytes that joining blocks of attention moves for each element of their
  /// results, where they add up in another type than that of operands.
  double blockForwardBytes = 0, blockBackwardBytes = 0;
  /// Kernels wait for keys and values of other ranks as soon as they ask for
  /// them: nothing hides their gather, and it takes memory of kernels.
  bool blockingKeys = false;
  /// Of tensor collectives, what products hide; none: as the machine says.
  std::optional<double> tensorHidden;
  /// An all-reduce is a direct one of the machine where that is faster.
  bool directAllReduce = false;
  /// Bytes of each copy of the logits that lives at the peak, where a rank has
  /// all of them and where it has a part; none: as the program says.
  std::vector<double> liveLogits, liveLogitsSharded;
  /// What one category of tensors has had, no other uses again.
  bool separatePools = false;
  /// What a stage sends, and what it receives in backward, lives until the step
  /// ends, for all micro-batches.
  bool stageBuffers = false;
  /// What the allocator has, over what lives.
  double reservedOverLive = 1;
  /// All members that the preset has, by name.
  std::vector<Constant> constants;
};

} // namespace stg

#endif // STG_MACHINE_EXECUTION_H
