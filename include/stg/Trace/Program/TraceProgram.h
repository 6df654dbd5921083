//===- TraceProgram.h - What makes the nodes of a rank ----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The trace of a class of ranks as arrays of numbers in which loops are still
// loops. Running a program (ProgramRunner.h) makes the nodes of a rank one at a
// time. What depends on the iteration is only which tensors and nodes are
// meant; everything else (sizes, counts, errors about them) is settled when the
// program is made, at a cost that does not grow with the number of iterations.
// The exception are series: nodes that have other sizes in each turn of a
// repeat, as attention has where a context grows from step to step.
//
// docs/Bundle.md describes the same as a file format.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TRACE_PROGRAM_TRACEPROGRAM_H
#define STG_TRACE_PROGRAM_TRACEPROGRAM_H

#include "stg/Support/ExecutionOrder.h"
#include "stg/Trace/Program/RankSpace.h"
#include "stg/Trace/Reader/TraceNode.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"
#include <tuple>

namespace stg::trace {

/// Templates beyond the first of all series of a program: each takes memory.
constexpr uint64_t kMaxSeries = uint64_t(1) << 20;

/// No node, no tensor.
constexpr uint32_t kNone = UINT32_MAX;

/// Loads and stores are transfers from and to the memory of the host.
enum class NodeKind : uint8_t { Comp, Coll, Send, Recv, Load, Store };

/// What `Node.name` ends in, by which other tools recognize the kind of a node.
constexpr llvm::StringLiteral kCompSuffix = "/COMP_NODE";
constexpr llvm::StringLiteral kCollSuffix = "/COMM_COLL_NODE";
constexpr llvm::StringLiteral kSendSuffix = "/COMM_SEND_NODE";
constexpr llvm::StringLiteral kRecvSuffix = "/COMM_RECV_NODE";
constexpr llvm::StringLiteral kLoadSuffix = "/REMOTE_MEMORY/MEM_LOAD_NODE";
constexpr llvm::StringLiteral kStoreSuffix = "/REMOTE_MEMORY/MEM_STORE_NODE";

/// What a tensor holds; the values are those of a bundle.
enum class TensorCategory : uint8_t {
  Parameter,
  Gradient,
  Optimizer,
  Activation,
  Temporary,
  Communication,
  Input,
  KVCache,
  Host, ///< Not in the memory of the rank.
};
constexpr unsigned kNumTensorCategories = 9;
/// "parameter", "kv_cache", ...
llvm::StringRef getCategoryName(TensorCategory category);

/// What a compute node computes. Traces do not say it; how long a node takes
/// follows from it.
struct Kernel {
  llvm::StringRef op; ///< The mnemonic of an op of the stg dialect.
  /// Element types of the first operand and of the first result.
  llvm::StringRef operandType, resultType;
  /// What they are depends on the op: `chakra.kernel` has the table.
  llvm::SmallVector<int64_t, 4> sizes;
  bool accumulates = false; ///< The result is added to what is in its buffer.

  bool operator==(const Kernel &other) const {
    return op == other.op && operandType == other.operandType &&
           resultType == other.resultType && sizes == other.sizes &&
           accumulates == other.accumulates;
  }
};

/// What all executions of one node of a program have in common.
struct NodeTemplate {
  llvm::StringRef name;
  llvm::StringRef phase; ///< Empty if there is none.
  NodeKind kind = NodeKind::Comp;
  bool isMatrix = false; ///< Compute nodes only: a matrix product.
  /// Compute nodes only: what is side by side with another step does not give
  /// way before it. In bundles only where there are such steps.
  bool isDelayed = false;
  CollectiveType collective = CollectiveType::AllReduce; ///< Collectives only.
  AxisMask axes = 0;      ///< Collectives only; never empty.
  int64_t operations = 0; ///< Compute nodes only; exact, may be 0.
  /// Compute nodes: bytes read and written. Collectives: bytes of the operands.
  /// Messages and transfers: their size.
  int64_t bytes = 0;
  /// Collectives: `bytes` made acceptable to simulators. Messages: `bytes`.
  int64_t commSize = 0;
  /// Collectives whose ranks bring different bytes: those of the rank that
  /// brings most, else 0. No trace depends on it.
  int64_t mostBytes = 0;
  /// How often the node is executed; not in bundles.
  uint64_t executions = 0;
  /// Messages only: the number of their channel in the program, the axis and
  /// the direction of the peer.
  uint32_t channel = kNone;
  uint32_t axis = 0;
  int64_t shift = 0;
  /// Compute nodes only: index into the kernels of the program, or kNone.
  uint32_t kernel = kNone;

  bool isComp() const { return kind == NodeKind::Comp; }
  bool isColl() const { return kind == NodeKind::Coll; }
  bool isMessage() const {
    return kind == NodeKind::Send || kind == NodeKind::Recv;
  }
  bool isTransfer() const {
    return kind == NodeKind::Load || kind == NodeKind::Store;
  }
};

/// What makes a send and a receive meet: the axis, the way that the message
/// goes along it, and the channel.
struct ChannelKey {
  uint32_t axis;
  /// Of the sender, from 1 to the size of the axis - 1: shifts that lead to the
  /// same peer are one direction.
  int64_t direction;
  int64_t channel;

  bool operator<(const ChannelKey &other) const {
    return std::tie(axis, direction, channel) <
           std::tie(other.axis, other.direction, other.channel);
  }
};

/// The messages of a rank over a channel, sent or received.
struct Channel {
  ChannelKey key;
  bool isSend;
  int64_t messageBytes = 0; ///< Of the first message.
  bool hasOneSize = true;   ///< All messages are as large as the first.
  uint64_t executions = 0;
  __int128 bytes = 0;    ///< Of all messages.
  uint32_t firstTag = 0; ///< Set before the program is run.
  /// In a schedule: one channel for each turn, with numbers that are `stride`
  /// apart and tags that are `tagStride` apart. 0: a channel of its own.
  uint32_t turns = 0;
  /// In a schedule: messages of a turn at most, one each time that a schedule
  /// is executed; they have consecutive tags. Not in bundles.
  uint64_t rounds = 0;
  int64_t stride = 0;
  uint32_t tagStride = 0;
};

/// What all tensors that one state or one output stands for have in common.
struct TensorTemplate {
  int64_t bytes;
  TensorCategory category;
  llvm::StringRef stateName; ///< Empty if a node writes the tensor.
};

/// The trace of a class of ranks. Names point into memory that must outlive the
/// program: attributes of the IR that it was compiled from, or a bundle.
class TraceProgram {
public:
  /// `count` consecutive references that a value stands for.
  struct Slot {
    uint32_t index;
    uint32_t count;
  };
  struct Output {
    enum Kind : uint8_t { New, InPlace, Token } kind;
    Slot slot;
    uint32_t tensorTemplate; ///< New
    uint32_t source;         ///< InPlace: the slot that is changed.
  };
  struct NodeWiring {
    llvm::SmallVector<Slot, 4> reads;
    llvm::SmallVector<Slot, 0> after;
    llvm::SmallVector<Output, 2> outputs;
  };
  struct State {
    uint32_t tensorTemplate;
    uint32_t slot;
  };
  struct Alias {
    uint32_t from, to;
  };
  struct Carry {
    uint32_t init, arg, yielded, result;
  };
  struct Stack {
    uint32_t inner, outer; ///< The slots of one tensor and of the stack.
    uint32_t count;        ///< References per iteration.
  };
  /// A node that is emitted `distance` iterations ahead.
  struct Ahead {
    uint32_t node;
    int64_t distance;
  };
  struct Repeat {
    llvm::StringRef name;
    int64_t count;
    int64_t first; ///< The number of iteration 0 in names.
    bool reverse;
    uint32_t body;
    llvm::SmallVector<Carry, 2> carries;
    llvm::SmallVector<Stack, 2> slices, stacks;
    llvm::SmallVector<Ahead, 0> ahead;
    /// An iteration is a step of inference; at the top, and carries nothing.
    bool isStep = false;
    /// Repeats of one body with the same number, but for 0, are linked: nodes
    /// of the next one are emitted ahead in the last turns of one, and those of
    /// the first one where the repeat around is linked and has a further turn.
    /// What is linked makes nodes ahead, or has repeats in its body that are
    /// linked.
    uint32_t group = 0;

    /// The number in names of the iteration that is executed as number `turn`.
    int64_t getNumber(int64_t turn) const { return first + getIndex(turn); }
    /// The position in stacks of that iteration.
    int64_t getIndex(int64_t turn) const {
      return reverse ? count - 1 - turn : turn;
    }
  };
  /// A turn of a repeat, behind those of the linked repeats around it, the
  /// outermost one first.
  struct Place {
    uint32_t repeat;
    llvm::SmallVector<int64_t, 4> turns;
  };
  /// What links say of a repeat.
  struct Link {
    /// The linked repeats around one that is linked, the outermost one first.
    llvm::SmallVector<uint32_t, 2> around;
    uint32_t next = kNone;       ///< In the same body.
    uint32_t firstInner = kNone; ///< The first linked repeat of its body.
    bool isFirst = true; ///< Nothing that is linked with it comes before it.
    /// How far ahead nodes of what is linked with it are emitted, at most.
    int64_t reach = 0;
  };
  /// A node that has other numbers in each iteration of a repeat around it: a
  /// template for each. They read the same slots, and set the same ones.
  struct Series {
    uint32_t repeat;
    uint32_t node; ///< Of index 0.
    uint32_t rest; ///< That of index 1; those of further ones follow.

    uint32_t getNode(int64_t index) const {
      return index == 0 ? node : rest + static_cast<uint32_t>(index - 1);
    }
  };
  struct Call {
    llvm::StringRef scope;
    uint32_t body;
    llvm::SmallVector<Alias, 0> args, results;
  };
  /// A slot of which each turn of a schedule has its own.
  struct Lane {
    uint32_t slot;
    /// By turn, the slots that it begins as; empty if a step sets it.
    std::vector<uint32_t> inits;
  };
  /// The steps of a body, each executed in each turn, in any order: what a
  /// pipeline device does for its micro-batches. Slots that are not in lanes
  /// are those of all turns.
  struct Schedule {
    llvm::StringRef name; ///< Turn 3 of `mb` is `mb3` in paths.
    uint32_t count;       ///< Turns.
    uint32_t body;        ///< Its steps are nodes, series, aliases and calls.
    std::vector<Lane> lanes;
    ExecutionOrder order;
    /// Steps side by side are executed by turns, which change behind
    /// exchanges over just these axes; nullopt: behind all collectives.
    std::optional<AxisMask> switchAxes;

    bool switchesBehind(const NodeTemplate &node) const {
      return node.isColl() &&
             (!switchAxes || (node.collective == CollectiveType::AllToAll &&
                              node.axes == *switchAxes));
    }
  };
  /// One of two bodies that are executed by turns: behind a collective at which
  /// they change it goes on until its next kernel that is not delayed.
  class Relay {
  public:
    /// True, once, if the other one goes on before that node. Not to be asked
    /// where the other one has been executed.
    bool givesWay(const NodeTemplate &next) {
      return next.isComp() && !next.isDelayed && std::exchange(isDue, false);
    }
    void note(const Schedule &schedule, const NodeTemplate &node) {
      isDue &= !node.isComp() || node.isDelayed;
      isDue |= schedule.switchesBehind(node);
    }

  private:
    bool isDue = false;
  };
  struct Step {
    enum Kind : uint8_t {
      State,
      Node,
      Alias,
      Repeat,
      Call,
      Schedule,
      Series
    } kind;
    uint32_t index;
  };
  struct Body {
    std::vector<Step> steps;
    /// Of one execution of the body; of that of a schedule, of all turns.
    uint64_t numNodes = 0;
    uint64_t numTensors = 0; ///< Likewise.
  };

  std::vector<NodeTemplate> nodes;
  std::vector<NodeWiring> wiring; ///< Parallel to `nodes`.
  std::vector<Kernel> kernels;    ///< Each once.
  std::vector<TensorTemplate> tensors;
  std::vector<State> states;
  std::vector<Alias> aliases;
  std::vector<Repeat> repeats;
  std::vector<Series> series;
  std::vector<Call> calls;
  /// Steps of the first body, and of those of loops over steps.
  std::vector<Schedule> schedules;
  std::vector<Channel> channels;
  /// The first one is run. A body runs only bodies of larger numbers.
  std::vector<Body> bodies;
  uint32_t numSlots = 0;
  /// By slot, its references; only where a program is made, not in bundles.
  std::vector<uint32_t> slotCounts;

  /// True if there are transfers, or buffers of the host.
  bool usesHost() const;
  /// True if steps of a schedule are side by side.
  bool hasPairs() const;

  uint64_t getNumNodes() const { return bodies.front().numNodes; }
  /// The nodes before those that only series have.
  uint32_t getNumOwnNodes() const {
    return series.empty() ? static_cast<uint32_t>(nodes.size())
                          : series.front().rest;
  }
  /// The nodes that one execution of a step makes.
  uint64_t getNumNodes(Step step) const;

  /// The path of node `id`, computed without running the program, but for
  /// programs with repeats that are linked, or with steps side by side.
  std::string getPath(uint32_t id) const;

  /// Finds out what groups of repeats say together. With a repeat only for what
  /// is in it: who runs it alone has nothing around it, and nothing next to it.
  void linkRepeats(uint32_t alone = kNone);

  const Link &getLink(uint32_t repeat) const { return links[repeat]; }

  /// The number of a repeat of this program.
  uint32_t getIndex(const Repeat &repeat) const {
    return static_cast<uint32_t>(&repeat - repeats.data());
  }

  /// The place behind another one; false if that is the last.
  bool goOn(Place &place) const;

  /// Calls `visit(node, place)` for the nodes that are emitted at the start of
  /// a turn for this or a later one. The first turn has those of all that have
  /// no turn as far ahead.
  template <typename Fn> void forEachAhead(const Place &from, Fn visit) const {
    const Link &link = links[from.repeat];
    bool isFirst = link.isFirst && llvm::all_of(from.turns, [](int64_t turn) {
                     return turn == 0;
                   });
    Place place = from;
    for (int64_t distance = 0; distance <= link.reach; ++distance) {
      for (const Ahead &entry : repeats[place.repeat].ahead)
        if (entry.distance == distance ||
            (isFirst && entry.distance > distance))
          visit(entry.node, place);
      if (!goOn(place))
        break;
    }
  }

  /// The phase of the first node of a step that has one, of those of which
  /// `isMeant` is true; empty if there is none.
  llvm::StringRef
  findPhase(Step step,
            llvm::function_ref<bool(const NodeTemplate &)> isMeant) const;

  /// The node that a step makes, which is a node or a series; with an index of
  /// its repeat.
  uint32_t getNode(Step step, int64_t index = 0) const {
    return step.kind == Step::Series ? series[step.index].getNode(index)
                                     : step.index;
  }

  /// The masks of all collectives that are executed, each once.
  llvm::SmallVector<AxisMask> getMasks() const;

  /// Fills the numbers of nodes and tensors of bodies and of executions from
  /// the steps, and checks that running the program stays within its arrays:
  /// for programs that come from a file.
  llvm::Error verify(const RankSpace &space);

private:
  std::vector<Link> links; ///< By repeat.

  bool find(uint32_t body, uint64_t &position, std::string &path) const;
  bool findInRepeat(const Repeat &repeat, uint64_t &position,
                    std::string &path) const;
  bool findInSchedule(const Schedule &schedule, uint64_t &position,
                      std::string &path) const;
  bool findInStep(Step step, uint64_t &position, std::string &path) const;
};

} // namespace stg::trace

#endif // STG_TRACE_PROGRAM_TRACEPROGRAM_H
