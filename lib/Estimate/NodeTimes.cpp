//===- NodeTimes.cpp - How long the nodes of a program take ---------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Estimate/NodeTimes.h"
#include "ProgramFacts.h"
#include "stg/Support/KernelSizes.h"
#include "stg/Support/Phases.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace stg;
using namespace stg::trace;

Ticks stg::toTicks(double seconds) {
  double ticks = seconds * kTicksPerSecond;
  // Also for what is no number, as infinity over infinity.
  return ticks < double(kMostTicks) ? std::llround(ticks) : kMostTicks;
}

double stg::getSum(const TraceProgram &program, ArrayRef<NodeTime> times) {
  double sum = 0;
  for (auto [node, time] : llvm::zip_equal(program.nodes, times))
    sum += (double(time.time) + double(time.launch)) * double(node.executions);
  return sum;
}

Error stg::checkSum(double ticks) {
  if (ticks < double(kMostTicks))
    return Error::success();
  return createStringError(
      "the step takes too long: kernels and communication of all classes of "
      "ranks are more than %.3g s, and estimates go up to %.3g s",
      ticks / kTicksPerSecond, kMostTicks / kTicksPerSecond);
}

struct NodeTimes::Facts {
  ProgramFacts program;
  /// There are several micro-batches.
  bool accumulates = false;
  /// Attention counts pairs that a mask hides.
  bool countsMasked = false;
  /// Whose copies all-to-alls send of each token.
  ExpertChoice choice;

  Facts(const TraceProgram &program, const Execution &execution)
      : program(program) {
    for (const Kernel &kernel : program.kernels) {
      accumulates |= kernel.accumulates || kernel.op == "accumulate";
      // From tokens, and which experts they choose, to rows of experts.
      if (needsChoice(execution) && kernel.op == "dispatch")
        choice.chosen =
            std::max(choice.chosen, double(kernel.sizes.back()) /
                                        double(kernel.sizes.front()));
    }
    if (needsChoice(execution))
      for (const Kernel &kernel : program.kernels)
        if (kernel.op == "top_k")
          readRouter(kernel);
    for (const NodeTemplate &node : program.nodes)
      if (node.kernel != kNone)
        countsMasked |= hasMaskedPairs(node, program.kernels[node.kernel]);
  }

  /// Whether times depend on which experts have copies of one token.
  static bool needsChoice(const Execution &execution) {
    return execution.exchangeOnce || execution.forwardedExchange;
  }

  /// Forward attention has as many operations as pairs that are counted.
  static bool hasMaskedPairs(const NodeTemplate &node, const Kernel &kernel);

  void readRouter(const Kernel &router) {
    using Sizes = ChoiceSizes<int64_t>;
    if (router.sizes.size() < Sizes::kFewest)
      return;
    const Sizes sizes(router.sizes);
    choice.experts =
        choice.chosen * double(sizes.scores) / double(sizes.chosen);
    if (!sizes.groups)
      return;
    choice.groups = double(sizes.groups->all);
    choice.limit = double(sizes.groups->chosen);
  }
};

/// A step of inference has no backward pass, whatever else it has: ranks that
/// read prompts send their caches.
static bool isTraining(const TraceBundle &programs) {
  return llvm::any_of(programs.getClasses(), [](const auto &entry) {
    return llvm::any_of(entry.program.nodes, [](const NodeTemplate &node) {
      return node.phase == kBackwardPhase;
    });
  });
}

NodeTimes::NodeTimes(const Machine &machine, const Execution &execution,
                     const TraceBundle &programs, KernelTimes kernels)
    : machine(&machine), execution(&execution), programs(&programs),
      space(&programs.getSpace()), kernels(std::move(kernels)),
      costs(machine, execution.directAllReduce, space->getNumRanks()),
      launch(execution.hostOperation.value_or(get("host.operation", 0))),
      collectiveLaunch(get("host.collective", 0)), skew(get("host.skew", 0)),
      slowdown(get("overlap.collective_slowdown", 1)),
      tensorHidden(
          execution.tensorHidden.value_or(get("overlap.tensor_hidden", 0))),
      gatherHidden(get("overlap.tensor_gather_hidden", 0)),
      bandwidth(get("device.memory.bandwidth", 0) *
                get("device.kernel.memory_share", 1)),
      trains(isTraining(programs)) {}

Error stg::checkHostLink(const Machine &machine) {
  if (machine.find("device.second_memory.bandwidth"))
    return Error::success();
  return createStringError(
      "machine '" + machine.getName() +
      "' does not say how fast the memory of the host is, which a program with "
      "--offload needs: give --machine-set "
      "\"device.second_memory.bandwidth=63 GB/s\"");
}

double stg::getTransferSeconds(const Machine &machine, double bytes) {
  auto get = [&](StringRef key, double missing) {
    return machine.get(key).value_or(missing);
  };
  double bandwidth = get("device.second_memory.bandwidth", 0) *
                     get("device.second_memory.share", 1);
  return bandwidth > 0
             ? get("device.second_memory.latency", 0) + bytes / bandwidth
             : 0;
}

Expected<NodeTimes> NodeTimes::get(const Machine &machine,
                                   const Execution &execution,
                                   const TraceBundle &programs) {
  const double cores = machine.get("device.cores").value_or(1);
  if (execution.exchangeCores > 0 && double(execution.exchangeCores) >= cores)
    return createStringError(
        "the preset's kernels that exchange rows of experts take %lld cores "
        "('exchange_cores'), and machine '%s' has %g; take another preset",
        static_cast<long long>(execution.exchangeCores),
        machine.getName().str().c_str(), cores);
  // Without fused attention any kernel that the machine has will do.
  Expected<KernelTimes> kernels = KernelTimes::get(
      machine, execution.scores ? "flash" : execution.attention,
      execution.scan);
  if (!kernels)
    return kernels.takeError();
  return NodeTimes(machine, execution, programs, std::move(*kernels));
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

static double getBytes(StringRef elementType) {
  return StringSwitch<double>(elementType)
      .StartsWith("f8", 1)
      .Cases({"bf16", "f16", "i16"}, 2)
      .Cases({"f64", "i64"}, 8)
      .StartsWith("f4", 0.5)
      .Case("i8", 1)
      .Default(4);
}

/// What machines call it.
static StringRef getPeakName(StringRef elementType) {
  return StringSwitch<StringRef>(elementType)
      .StartsWith("f8", "fp8")
      .StartsWith("f4", "fp4")
      .Case("i8", "int8")
      .Default(elementType);
}

const ProductRates &NodeTimes::getRates(StringRef elementType) {
  auto [it, isNew] = rates.try_emplace(elementType);
  if (!isNew)
    return it->second;
  if (const ProductRates *known = kernels.findRates(getPeakName(elementType)))
    return it->second = *known;
  return it->second = kernels.getOtherRates(getBytes(elementType));
}

//===----------------------------------------------------------------------===//
// Compute nodes
//===----------------------------------------------------------------------===//

NodeTime NodeTimes::getElementWise(double bytes, int64_t count) {
  NodeTime time;
  time.time = toTicks(kernels.getFixed() * count + bytes / bandwidth);
  time.launch = toTicks(launch * count);
  return time;
}

/// True for kernels whose sizes are those of a product.
static bool isProduct(const NodeTemplate &node, const Kernel &kernel) {
  return node.isMatrix &&
         kernel.sizes.size() >= ProductSizes<int64_t>::kFewest &&
         (kernel.op == "einsum" || kernel.op.starts_with("conv"));
}

NodeTime NodeTimes::getProduct(const NodeTemplate &node, const Kernel &kernel) {
  const bool isConv = kernel.op != "einsum";
  const ProductSizes<int64_t> sizes(kernel.sizes);
  // Of depthwise ones no product is made.
  if (isConv && sizes.n == 1)
    return getOtherProduct(node, kernel);
  NodeTime time;
  time.kind = TimeKind::Product;
  ProductShape shape{sizes.m,
                     sizes.n,
                     sizes.k,
                     sizes.batch,
                     getBytes(kernel.operandType),
                     getBytes(kernel.resultType)};
  if (isConv)
    shape.bytes = double(node.bytes);
  else if (sizes.rightBytes)
    shape.rightBytes = *sizes.rightBytes;
  const ProductRates &rate = getRates(kernel.operandType);
  productPeak = std::max(productPeak, rate.peak);
  time.time = toTicks(kernels.getProduct(rate, shape) + kernels.getFixed());
  time.launch = toTicks(launch);
  return time;
}

/// Of scans of which a kernel says how many chunks wait for one another.
static int64_t getNumChunks(const Kernel &kernel) {
  bool isScan =
      StringSwitch<bool>(StringRef(kernel.op))
          .Cases({"ssd", "ssd_grad"}, true)
          .Cases({"gated_delta_rule", "gated_delta_rule_grad"}, true)
          .Cases({"general_delta_rule", "general_delta_rule_grad"}, true)
          .Cases({"matrix_memory", "matrix_memory_grad"}, true)
          .Default(false);
  return isScan && !kernel.sizes.empty() ? kernel.sizes.front() : 1;
}

/// What has the operations of products, and no shape: scans by chunks, and
/// convolutions of each channel by itself, which no tensor core does. Where a
/// machine does not say what else does them, these have the best rate, too.
NodeTime NodeTimes::getOtherProduct(const NodeTemplate &node,
                                    const Kernel &kernel) {
  const ProductRates &products = getRates(kernel.operandType);
  const ProductRates *vector = kernels.findRates("vector");
  const bool isDepthwise = isProduct(node, kernel);
  productPeak = std::max(productPeak, products.peak);
  NodeTime time = getElementWise(
      double(node.bytes) * (isDepthwise ? 1 : execution->elementWiseTraffic));
  time.kind = TimeKind::Product;
  bool isVector = isDepthwise && vector && vector->peak < products.peak;
  auto operations = static_cast<double>(node.operations);
  double seconds =
      isDepthwise
          ? kernels.getFixed() +
                kernels.getOperations(isVector ? *vector : products, operations)
          : kernels.getScan(products, operations, getNumChunks(kernel),
                            StringRef(kernel.op).ends_with("_grad"));
  time.time = std::max(time.time, toTicks(seconds));
  return time;
}

using Attention = AttentionSizes<int64_t>;

static bool isAttention(const Kernel &kernel) {
  return kernel.op.starts_with("attention") &&
         kernel.sizes.size() >= Attention::kFewest;
}

/// Of both products of forward attention, for so many pairs of a sequence and a
/// head.
static double getPairOperations(const Attention &sizes, double pairs) {
  return 2. * double(sizes.batch) * double(sizes.heads) * pairs *
         double(sizes.keySize + sizes.valueSize);
}

/// Pairs of a query and a key of the same sequence, masked or not.
static double getAllPairs(const Attention &sizes) {
  if (sizes.requests.empty())
    return double(sizes.queries) * double(sizes.keys);
  double pairs = 0;
  for (const Attention::Requests &own : sizes.requests)
    pairs += double(own.newTokens) * double(own.keys);
  return pairs;
}

bool NodeTimes::Facts::hasMaskedPairs(const NodeTemplate &node,
                                      const Kernel &kernel) {
  if (kernel.op != "attention" || !isAttention(kernel))
    return false;
  const Attention sizes(kernel.sizes);
  return double(node.operations) >
         (1 + 1e-9) * getPairOperations(sizes, double(sizes.pairs));
}

/// Kernels skip pairs that a mask hides, whatever is counted; those between
/// which scores are in memory compute all. What fused attention computes again
/// in backward does not count.
double NodeTimes::getExecuted(const NodeTemplate &node, const Kernel &kernel,
                              const Facts &facts) const {
  auto counted = static_cast<double>(node.operations);
  if (!isAttention(kernel))
    return counted;
  const Attention sizes(kernel.sizes);
  const double passes = kernel.op.ends_with("_grad") ? 2 : 1;
  if (execution->scores)
    return passes *
           getPairOperations(sizes, double(sizes.queries) * double(sizes.keys));
  auto pairs = static_cast<double>(sizes.pairs);
  // Some gradients of queries, keys and values may not be made.
  if (facts.countsMasked && kernel.op == "attention_grad")
    return counted * pairs / std::max(1., getAllPairs(sizes));
  return std::min(counted, passes * getPairOperations(sizes, pairs));
}

/// What kernels move that join the results of blocks which add up in another
/// type than they read: the output, or gradients of queries, keys and values.
double NodeTimes::getJoinedBytes(const Kernel &kernel, bool isBackward) const {
  if (kernel.operandType == kernel.resultType)
    return 0;
  const Attention sizes(kernel.sizes);
  double rows = double(sizes.batch) * sizes.heads * sizes.queries;
  if (!isBackward)
    return execution->blockForwardBytes * rows * sizes.valueSize;
  double keys = double(sizes.batch) * sizes.keyHeads * sizes.keys;
  return execution->blockBackwardBytes *
         (rows * sizes.keySize + keys * (sizes.keySize + sizes.valueSize));
}

NodeTime NodeTimes::getAttention(const NodeTemplate &node, const Kernel &kernel,
                                 bool isBackward) {
  const Attention sizes(kernel.sizes);
  NodeTime time;
  time.kind = TimeKind::Attention;
  AttentionShape shape{sizes.heads,
                       sizes.keyHeads,
                       sizes.keySize,
                       sizes.valueSize,
                       isBackward,
                       {},
                       getBytes(kernel.operandType)};
  // Blocks write what others add to, which is counted below.
  if (kernel.op == "attention")
    shape.bytes = double(node.bytes);
  if (sizes.requests.empty())
    shape.sequences.push_back(
        {sizes.batch, sizes.queries, double(sizes.keys), double(sizes.pairs)});
  for (const Attention::Requests &own : sizes.requests)
    if (double count = double(own.count); count > 0)
      shape.sequences.push_back({sizes.batch * own.count, own.newTokens,
                                 own.keys / count, own.pairs / count});
  if (sizes.pairs > 0)
    time.time = toTicks(
        kernels.getAttention(getRates(kernel.operandType), shape) +
        kernels.getFixed() + getJoinedBytes(kernel, isBackward) / bandwidth);
  time.launch = toTicks(launch);
  return time;
}

/// Products of all pairs, masked or not, and kernels between them.
NodeTime NodeTimes::getScores(const Kernel &kernel, bool isBackward) {
  const Execution::Scores &scores = *execution->scores;
  const Attention sizes(kernel.sizes);
  const int64_t batch = sizes.batch * sizes.heads, queries = sizes.queries,
                keys = sizes.keys;
  const ProductRates &rate = getRates(kernel.operandType);
  double bytes = getBytes(kernel.operandType);
  double products =
      kernels.getProduct(rate,
                         {queries, keys, sizes.keySize, batch, bytes, bytes}) +
      kernels.getProduct(rate,
                         {queries, sizes.valueSize, keys, batch, bytes, bytes});
  double perScore = isBackward ? scores.backwardBytes : scores.forwardBytes;
  int64_t count = isBackward ? scores.backwardKernels : scores.forwardKernels;
  if (batch % scores.headMultiple) {
    perScore += scores.moreBytes;
    count += scores.moreKernels;
  }
  double moved = perScore * batch * queries * keys;
  // Operands and results, which gradients have twice.
  moved += (isBackward ? 16. : 8.) * batch * queries * sizes.keySize;
  NodeTime time = getElementWise(moved, count);
  time.kind = TimeKind::Attention;
  time.time += toTicks(products * (isBackward ? 2 : 1));
  return time;
}

/// What kernels of their own move that limit gate and up of a clamped unit.
double NodeTimes::getClampedBytes(const Kernel &kernel) const {
  // Operands and results, and what is limited.
  if (kernel.op == "glu" && kernel.sizes.size() > 2)
    return execution->clampForwardBytes * kernel.sizes.back();
  if (kernel.op == "glu_grad" && kernel.sizes.size() > 3)
    return execution->clampBackwardBytes * kernel.sizes.back();
  return 0;
}

/// What kernels of their own move that add a bias to rows of experts.
NodeTime NodeTimes::getRowBias(const NodeTemplate &node, const Kernel &kernel) {
  const bool isForward = kernel.op == "bias_add";
  double perElement = isForward ? execution->rowBiasForwardBytes
                                : execution->rowBiasBackwardBytes;
  NodeTime time = getKernel(node, kernel);
  if (perElement > 0) {
    NodeTime more = getElementWise(perElement * kernel.sizes.front(),
                                   isForward && time.time == 0);
    time.time += more.time;
    time.launch += more.launch;
  }
  return time;
}

/// How much of the traffic of a loss, and of its kernels, is forward.
static constexpr double kForwardLoss = 0.6;

bool stg::isLossKernel(StringRef op) {
  return StringSwitch<bool>(op)
      .Cases({"cross_entropy", "cross_entropy_grad", "exp_sum", "reduce",
              "pick", "nll", "normalize"},
             true)
      .Default(false);
}

/// The kernels of the loss count once: forward with the one that has the
/// exponentials, backward with its gradient.
NodeTime NodeTimes::getLoss(const NodeTemplate &node, const Kernel &kernel) {
  if (!execution->lossBytes)
    return getElementWise(node.bytes);
  bool isForward = kernel.op == "cross_entropy" || kernel.op == "exp_sum";
  if (!isForward && kernel.op != "cross_entropy_grad")
    return {};
  double share = isForward ? kForwardLoss : 1 - kForwardLoss;
  return getElementWise(*execution->lossBytes * share * kernel.sizes[0],
                        std::llround(execution->lossKernels * share));
}

/// How many moments of a parameter a step keeps.
static int countMoments(StringRef op) {
  return StringSwitch<int>(op).Case("adam", 2).Case("momentum", 1).Default(0);
}

bool stg::isOptimizerStep(StringRef op) {
  return StringSwitch<bool>(op)
      .Cases({"adam", "momentum", "sgd"}, true)
      .Default(false);
}

/// One kernel works on many parameters, and moves what the framework says of
/// Adam, less the moments that another optimizer has not: 4 bytes each, which
/// are read and written.
NodeTime NodeTimes::getOptimizerStep(const NodeTemplate &node,
                                     const Kernel &kernel) {
  const double missing = 8. * (2 - countMoments(kernel.op));
  // The gradient is the second operand.
  const bool isKnown = execution->optimizerBytes && kernel.sizes.size() > 1;
  NodeTime time = getElementWise(
      isKnown ? std::max(0., *execution->optimizerBytes - missing) *
                    double(kernel.sizes[1])
              : double(node.bytes));
  time.launch = 0;
  return time;
}

/// Three products for each iteration, in 16 bits.
NodeTime NodeTimes::getOrthogonalize(const Kernel &kernel) {
  auto [shorter, longer, count, iterations] =
      MatrixStepSizes<int64_t>(kernel.sizes);
  NodeTime time;
  const ProductRates &rate = getRates("bf16");
  const double bytes = getBytes("bf16");
  double seconds = 3 * kernels.getFixed();
  for (const ProductShape &shape :
       {ProductShape{shorter, shorter, longer, count, bytes, bytes},
        ProductShape{shorter, shorter, shorter, count, bytes, bytes},
        ProductShape{shorter, longer, shorter, count, bytes, bytes}})
    seconds += kernels.getProduct(rate, shape);
  time.kind = TimeKind::Product;
  time.time = toTicks(double(iterations) * seconds);
  time.launch = toTicks(launch * 3. * double(iterations));
  return time;
}

NodeTime NodeTimes::getKernel(const NodeTemplate &node, const Kernel &kernel) {
  StringRef op = kernel.op;
  bool isBackward = op.ends_with("_grad");
  if (isAttention(kernel))
    return execution->scores ? getScores(kernel, isBackward)
                             : getAttention(node, kernel, isBackward);
  if (isProduct(node, kernel))
    return getProduct(node, kernel);
  if (op == "orthogonalize" &&
      kernel.sizes.size() >= MatrixStepSizes<int64_t>::kFewest)
    return getOrthogonalize(kernel);
  if (node.isMatrix)
    return getOtherProduct(node, kernel);
  // A part of the product that reads the weight.
  if (op == "dequantize")
    return {};
  if (isLossKernel(op))
    return getLoss(node, kernel);
  if (is_contained(execution->fused, op))
    return {};
  // Rows are read and written, unless they are summed.
  if (op == "embedding" && node.operations == 0)
    return getElementWise(2. * kernel.sizes.back() *
                          getBytes(kernel.resultType));
  if (isOptimizerStep(op))
    return getOptimizerStep(node, kernel);
  if (op == "moment") { // As a step, of many parameters.
    NodeTime time = getElementWise(node.bytes);
    time.launch = 0;
    return time;
  }
  double bytes = node.bytes + getClampedBytes(kernel);
  if (op == "cast" && getBytes(kernel.resultType) == 1)
    bytes += double(execution->narrowLayouts - 1) * kernel.sizes.back();
  return getElementWise(bytes * execution->elementWiseTraffic);
}

/// One of the sizes of a product grows. What is rounded up grows less than in
/// proportion: by no more than the last element of each.
NodeTime NodeTimes::getGrown(const NodeTemplate &node, const Kernel &kernel,
                             int64_t growingBytes) {
  NodeTemplate grownNode = node;
  grownNode.bytes += (growth - 1) * growingBytes;
  grownNode.operations *= growth;
  Kernel grown = kernel;
  using Product = ProductSizes<int64_t>;
  if (!isProduct(node, kernel) || kernel.sizes.size() != Product::kFewest) {
    // Attention: sequences; losses: logits; embeddings: elements of results.
    int64_t &size =
        kernel.op == "embedding" ? grown.sizes.back() : grown.sizes.front();
    size *= growth;
    return getKernel(grownNode, grown);
  }
  // Places of tokens at experts are rows; products of a batch are whole.
  const Product original(kernel.sizes);
  std::optional<NodeTime> least;
  for (int64_t Product::*size :
       {&Product::m, &Product::n, &Product::k, &Product::batch}) {
    SmallVector<int64_t, 2> values = {growth * original.*size};
    // Multiples of 8 may take less than what is a little less.
    const int64_t fewest = growth * (original.*size - 1) + 1;
    const bool isRow = size != &Product::batch;
    if (isRow && fewest < 8)
      values = {fewest, 8};
    else if (isRow)
      values = {fewest / 8 * 8};
    for (int64_t value : values) {
      Product sizes = original;
      sizes.*size = value;
      grown.sizes = sizes.getList();
      NodeTime time = getKernel(grownNode, grown);
      if (!least || time.time < least->time)
        least = time;
    }
  }
  return *least;
}

/// A node without a kernel moves bytes and executes operations.
NodeTime NodeTimes::getCompute(const TraceProgram &program, uint32_t number,
                               const Facts &facts) {
  const NodeTemplate &node = program.nodes[number];
  NodeTime time;
  const bool castsParameter = facts.program.castsParameter(number);
  // The optimizer writes it.
  if (castsParameter && trains && execution->weightsCastOnce)
    return time;
  if (execution->fusedConvolutions && facts.program.isOfConvolution(number))
    return time;
  if (castsParameter && !trains) {
    // No kernel makes a parameter, so that none can cast it as well, and no
    // backward reads another layout of it.
    time = getElementWise(node.bytes * execution->elementWiseTraffic);
  } else if (node.kernel != kNone) {
    const Kernel &kernel = program.kernels[node.kernel];
    bool isGrown =
        growth > 1 && facts.program.grows(number) && !kernel.sizes.empty();
    if (isGrown)
      time = getGrown(node, kernel, facts.program.getGrowingBytes(number));
    else if (facts.program.addsToRows(number))
      time = getRowBias(node, kernel);
    else
      time = getKernel(node, kernel);
    if (facts.accumulates && isProduct(node, kernel) && kernel.op == "einsum" &&
        facts.program.makesGradient(number)) {
      const ProductSizes<int64_t> sizes(kernel.sizes);
      time.time +=
          toTicks(execution->gradientBytes * (getBytes(kernel.resultType) / 4) *
                  sizes.m * sizes.n * sizes.batch / bandwidth);
    }
  } else {
    time = getElementWise(node.bytes);
    if (node.isMatrix) {
      time.kind = TimeKind::Product;
      time.time =
          std::max(time.time, toTicks(node.operations / getRates("bf16").peak));
    }
  }
  if (node.isMatrix) {
    // What an optimizer computes is none of the model.
    if (node.phase != kOptimizerPhase)
      time.operations = node.operations;
    time.executed =
        node.kernel == kNone
            ? double(node.operations)
            : getExecuted(node, program.kernels[node.kernel], facts);
  }
  time.isRecompute = node.phase == kRecomputePhase;
  time.isForward = node.phase == kForwardPhase;
  time.isBehind = facts.program.addsReduced(number);
  return time;
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

/// Axes of a mask with a subset have the ranks of that, as far apart as these
/// are at least.
GroupPlace NodeTimes::getPlace(AxisMask mask) const {
  GroupPlace place;
  const std::vector<int64_t> *subset =
      mask >> kMaxAxes ? &space->getSubsets()[(mask >> kMaxAxes) - 1] : nullptr;
  for (auto [i, axis] : llvm::enumerate(space->getAxes())) {
    if (!(mask >> i & 1))
      continue;
    int64_t ranks = axis.size, distance = 1;
    if (subset) {
      ranks = subset->size();
      distance =
          ranks > 1 ? (subset->back() - subset->front()) / (ranks - 1) : 1;
    }
    place.add(ranks, axis.stride * distance);
  }
  return place;
}

uint8_t NodeTimes::getGroup(AxisMask mask) {
  return getGroup(join(space->getNames(mask), "+"));
}

uint8_t NodeTimes::getGroup(StringRef name) {
  auto it = llvm::find(groups, name);
  size_t index = it - groups.begin();
  // More than anybody has; the rest is with the last.
  constexpr size_t most = 16;
  if (it == groups.end() && groups.size() < most)
    groups.push_back(name.str());
  return static_cast<uint8_t>(std::min(index, most - 1));
}

StringRef stg::getMachineName(CollectiveType type) {
  switch (type) {
  case CollectiveType::AllReduce:
    return "all_reduce";
  case CollectiveType::AllGather:
  case CollectiveType::Broadcast:
    return "all_gather";
  case CollectiveType::AllToAll:
    return "all_to_all";
  case CollectiveType::ReduceScatter:
    return "reduce_scatter";
  }
  llvm_unreachable("unknown collective");
}

NodeTime NodeTimes::getCollective(const TraceProgram &program, uint32_t number,
                                  const Facts &facts) {
  const NodeTemplate &node = program.nodes[number];
  bool isState =
      facts.program.isOfState(number) || facts.program.reducesGradients(number);
  NodeTime time;
  time.kind = TimeKind::Communication;
  time.group = getGroup(node.axes);
  time.launch = toTicks(collectiveLaunch);
  time.isForward = node.phase == kForwardPhase;
  time.isTail = isState && !isOfMicroBatch(node.phase);
  StringRef name = getMachineName(node.collective);
  GroupPlace place = getPlace(node.axes);
  // A rank brings a shard of what is gathered. All wait for the largest.
  double bytes = double(std::max(node.bytes, node.mostBytes)) *
                 (name == "all_gather" ? double(place.getRanks()) : 1.) *
                 (facts.program.grows(number) ? double(growth) : 1.);
  bool isExchange = name == "all_to_all";
  const bool feedsGradients = facts.program.feedsGradients(number);
  const bool sendsRows = isExchange && facts.program.exchangesRows(number);
  const bool isDirect = sendsRows && execution->directExchange;
  double seconds =
      slowdown *
      (isDirect ? costs.getExchange(
                      place, bytes,
                      Facts::needsChoice(*execution) ? &facts.choice : nullptr,
                      execution->forwardedExchange)
                : costs.getCollective(name, place, bytes,
                                      sendsRows && execution->exchangeOnce
                                          ? facts.choice
                                          : ExpertChoice()));
  time.occupiesCores = isDirect && execution->exchangeCores > 0;
  time.isBlocking =
      (execution->blockingKeys && name == "all_gather" &&
       facts.program.feedsAttention(number)) ||
      (execution->blockingCollectives && !isState && !feedsGradients);
  // Products hide what is sent of activations but exchanges, which they need as
  // a whole.
  if (!isExchange && !isState && !time.isBlocking)
    seconds *= 1 - std::max(tensorHidden, feedsGradients ? gatherHidden : 0);
  // Hosts launch the kernels before it at their own pace.
  if (!isState && !feedsGradients)
    seconds += skew * std::log2(double(place.getRanks()));
  time.time = toTicks(seconds);
  return time;
}

/// Ranks that differ on other axes send at the same time, and the slowest of
/// them counts: the ranks from the lower coordinate on to those that are as far
/// along the axes inside as there are.
NodeTime NodeTimes::getMessage(uint32_t axis, int64_t from, int64_t to,
                               double bytes) {
  NodeTime time;
  time.kind = TimeKind::Communication;
  time.group = getGroup(AxisMask(1) << axis);
  const int64_t stride = space->getAxes()[axis].stride;
  auto [low, high] = std::minmax(from, to);
  time.time = toTicks(
      costs.getMessage(low * stride, high * stride + stride - 1, bytes));
  return time;
}

/// Of a program whose ranks have several places on the axis, that of the rank
/// for which it takes longest: the others wait for it, as those of a ring do.
NodeTime NodeTimes::getMessage(const NodeTemplate &node,
                               ArrayRef<int64_t> places) {
  NodeTime longest;
  for (int64_t from : places) {
    const int64_t sender = from * space->getAxes()[node.axis].stride;
    const int64_t to = space->getCoordinate(
        space->getNeighbour(sender, node.axis, node.shift), node.axis);
    NodeTime time = getMessage(node.axis, from, to, double(node.bytes));
    if (longest.time <= time.time)
      longest = time;
  }
  longest.isForward = node.phase == kForwardPhase;
  return longest;
}

/// The coordinates on an axis of the ranks that run a program.
SmallVector<int64_t> NodeTimes::getPlaces(const TraceProgram &program,
                                          uint32_t axis) const {
  const RankPartition &partition = programs->getPartition();
  const int64_t size = space->getAxes()[axis].size;
  SmallVector<int64_t> places;
  if (partition.getAxes() >> axis & 1)
    for (int64_t cell = 0; cell < partition.getNumCells(); ++cell) {
      const TraceBundle::Class &own =
          programs->getClasses()[partition.getClassOfCell(cell)];
      int64_t place = space->getCoordinate(partition.getFirstRank(cell), axis);
      if (&own.program == &program && !llvm::is_contained(places, place))
        places.push_back(place);
    }
  if (places.empty())
    llvm::append_range(places, llvm::seq<int64_t>(0, size));
  return places;
}

/// Copy engines move it: kernels beside it are as fast as alone.
NodeTime NodeTimes::getTransfer(const NodeTemplate &node) {
  NodeTime time;
  time.kind = TimeKind::Communication;
  time.group = getGroup("host");
  time.launch = toTicks(launch);
  time.time = toTicks(getTransferSeconds(*machine, double(node.bytes)));
  time.isForward = node.phase == kForwardPhase;
  return time;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

const NodeTimes::Facts &NodeTimes::getFacts(const TraceProgram &program) {
  std::shared_ptr<const Facts> &facts = known[&program];
  if (!facts)
    facts = std::make_shared<Facts>(program, *execution);
  return *facts;
}

std::vector<NodeTime> NodeTimes::getTimes(const TraceProgram &program) {
  const Facts &facts = getFacts(program);
  std::vector<NodeTime> times;
  std::map<uint32_t, SmallVector<int64_t>> places; // By axis of a message.
  for (auto [i, node] : llvm::enumerate(program.nodes)) {
    if (node.isComp())
      times.push_back(getCompute(program, i, facts));
    else if (node.isColl())
      times.push_back(getCollective(program, i, facts));
    else if (node.isMessage()) {
      SmallVector<int64_t> &own = places[node.axis];
      if (own.empty())
        own = getPlaces(program, node.axis);
      times.push_back(getMessage(node, own));
    } else
      times.push_back(getTransfer(node));
  }
  return times;
}

std::vector<NodeTime> NodeTimes::getLeastTimes(const TraceProgram &program,
                                               int64_t growth) {
  this->growth = growth;
  std::vector<NodeTime> times = getTimes(program);
  this->growth = 1;
  return times;
}
