//===- NodeTimes.h - How long the nodes of a program take -------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The time of each node by itself, on a machine and as a framework executes it.
//
//===----------------------------------------------------------------------===//

#ifndef STG_ESTIMATE_NODETIMES_H
#define STG_ESTIMATE_NODETIMES_H

#include "stg/Estimate/CollectiveCosts.h"
#include "stg/Estimate/KernelTimes.h"
#include "stg/Machine/Execution.h"
#include "stg/Trace/Bundle/TraceBundle.h"

namespace stg {

/// In picoseconds: sums of them are exact, so that what repeats is seen to.
using Ticks = int64_t;
constexpr double kTicksPerSecond = 1e12;
/// 23 days. Sums of what takes no longer together are far from an overflow, and
/// what does is no step of anybody: it is an error before it is executed.
constexpr Ticks kMostTicks = 2'000'000'000'000'000'000;
/// No more than kMostTicks.
Ticks toTicks(double seconds);

/// True for the kernels of a loss, by the mnemonic of their op.
bool isLossKernel(llvm::StringRef op);
/// True for those that update parameters with their gradients.
bool isOptimizerStep(llvm::StringRef op);

/// What machines call a collective.
llvm::StringRef getMachineName(trace::CollectiveType type);

/// What time is spent on.
enum class TimeKind : uint8_t { Product, Attention, Other, Communication };

struct NodeTime {
  TimeKind kind = TimeKind::Other;
  Ticks time = 0;
  /// What the host takes to launch it.
  Ticks launch = 0;
  /// Which of getGroups() a collective or a message is over; that of a
  /// transfer is the host.
  uint8_t group = 0;
  /// A reduction of gradients or a gather of parameters after the last
  /// backward.
  bool isTail = false;
  /// Adds up what a collective has reduced, when that is done: frameworks do it
  /// behind the collective, and kernels that come next do not wait.
  bool isBehind = false;
  /// A collective that kernels wait for as soon as it has begun.
  bool isBlocking = false;
  /// A collective whose kernel takes cores from kernels beside it.
  bool occupiesCores = false;
  bool isForward = false;   ///< Its phase is that of forward.
  bool isRecompute = false; ///< It does again what forward has done.
  /// Of products and attention: as the program counts them, and as kernels
  /// execute them.
  double operations = 0, executed = 0;
};

/// Asks for the times of all nodes of the programs of a machine.
class NodeTimes {
public:
  /// Fails if the machine has no such attention kernel. All arguments must
  /// outlive this.
  static llvm::Expected<NodeTimes> get(const Machine &machine,
                                       const Execution &execution,
                                       const trace::TraceBundle &programs);

  /// Parallel to the nodes of the program, which must outlive this.
  std::vector<NodeTime> getTimes(const trace::TraceProgram &program);
  /// No node takes less in the program of a strategy that differs in the
  /// sequences of a micro-batch, of which it has `growth` times as many.
  std::vector<NodeTime> getLeastTimes(const trace::TraceProgram &program,
                                      int64_t growth);

  /// What a message between two coordinates on the axis with that number takes.
  NodeTime getMessage(uint32_t axis, int64_t from, int64_t to, double bytes);
  /// The names of the axes of each group: "tp", "cp+dp"; or "host".
  llvm::ArrayRef<std::string> getGroups() const { return groups; }
  const Machine &getMachine() const { return *machine; }
  /// The element types of products that have been asked for.
  double getProductPeak() const { return productPeak; }

private:
  NodeTimes(const Machine &machine, const Execution &execution,
            const trace::TraceBundle &programs, KernelTimes kernels);

  struct Facts;
  const Facts &getFacts(const trace::TraceProgram &program);
  const ProductRates &getRates(llvm::StringRef elementType);
  NodeTime getCompute(const trace::TraceProgram &program, uint32_t node,
                      const Facts &facts);
  NodeTime getKernel(const trace::NodeTemplate &node,
                     const trace::Kernel &kernel);
  NodeTime getProduct(const trace::NodeTemplate &node,
                      const trace::Kernel &kernel);
  NodeTime getOtherProduct(const trace::NodeTemplate &node,
                           const trace::Kernel &kernel);
  NodeTime getGrown(const trace::NodeTemplate &node,
                    const trace::Kernel &kernel, int64_t growingBytes);
  NodeTime getAttention(const trace::NodeTemplate &node,
                        const trace::Kernel &kernel, bool isBackward);
  NodeTime getScores(const trace::Kernel &kernel, bool isBackward);
  double getExecuted(const trace::NodeTemplate &node,
                     const trace::Kernel &kernel, const Facts &facts) const;
  NodeTime getLoss(const trace::NodeTemplate &node,
                   const trace::Kernel &kernel);
  double getClampedBytes(const trace::Kernel &kernel) const;
  NodeTime getOptimizerStep(const trace::NodeTemplate &node,
                            const trace::Kernel &kernel);
  NodeTime getOrthogonalize(const trace::Kernel &kernel);
  NodeTime getRowBias(const trace::NodeTemplate &node,
                      const trace::Kernel &kernel);
  double getJoinedBytes(const trace::Kernel &kernel, bool isBackward) const;
  NodeTime getElementWise(double bytes, int64_t kernels = 1);
  NodeTime getCollective(const trace::TraceProgram &program, uint32_t number,
                         const Facts &facts);
  NodeTime getMessage(const trace::NodeTemplate &node,
                      llvm::ArrayRef<int64_t> places);
  llvm::SmallVector<int64_t> getPlaces(const trace::TraceProgram &program,
                                       uint32_t axis) const;
  NodeTime getTransfer(const trace::NodeTemplate &node);
  GroupPlace getPlace(trace::AxisMask mask) const;
  uint8_t getGroup(trace::AxisMask mask);
  uint8_t getGroup(llvm::StringRef name);
  double get(llvm::StringRef key, double missing) const {
    return machine->get(key).value_or(missing);
  }

  const Machine *machine;
  const Execution *execution;
  const trace::TraceBundle *programs;
  const trace::RankSpace *space;
  KernelTimes kernels;
  CollectiveCosts costs;
  llvm::StringMap<ProductRates> rates;
  std::vector<std::string> groups;
  double launch, collectiveLaunch, skew, slowdown, tensorHidden, gatherHidden;
  double bandwidth, productPeak = 0;
  /// Of the programs that have been asked for.
  std::map<const trace::TraceProgram *, std::shared_ptr<const Facts>> known;
  int64_t growth = 1; ///< Of the sequences of a micro-batch.
  bool trains;        ///< The programs are not those of inference.
};

/// What all nodes of a program and their launches take one after the other, in
/// ticks.
double getSum(const trace::TraceProgram &program,
              llvm::ArrayRef<NodeTime> times);
/// An error if a sum of such sums is more than kMostTicks.
llvm::Error checkSum(double ticks);

/// An error, which says what would work, if the machine has no link to a memory
/// that programs with --offload need.
llvm::Error checkHostLink(const Machine &machine);
/// What a transfer takes by itself on a machine that has one.
double getTransferSeconds(const Machine &machine, double bytes);

} // namespace stg

#endif // STG_ESTIMATE_NODETIMES_H
