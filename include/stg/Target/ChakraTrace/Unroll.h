//===- Unroll.h - From a graph to the nodes of a rank -----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chakra.graph is compiled once into arrays of numbers; running the compiled
// program then produces the nodes of a rank in program order, one at a time,
// without building IR. What depends on the iteration is only which tensors and
// nodes are meant, so everything else (sizes, counts, errors about them) is
// settled when the graph is compiled, at a cost that does not grow with the
// number of iterations.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TARGET_CHAKRATRACE_UNROLL_H
#define STG_TARGET_CHAKRATRACE_UNROLL_H

#include "stg/Target/ChakraTrace/RankSpace.h"
#include <tuple>

namespace stg::chakra {

/// No node, no tensor.
constexpr uint32_t kNone = UINT32_MAX;

enum class NodeKind : uint8_t { Comp, Coll, Send, Recv };

/// What all executions of one comp or coll op have in common.
struct NodeTemplate {
  mlir::Operation *op;
  llvm::StringRef name;
  llvm::StringRef phase; ///< Empty if there is none.
  NodeKind kind;
  bool isMatrix = false;  ///< Compute nodes only.
  CollKind collKind;      ///< Collectives only.
  AxisMask axes = 0;      ///< Collectives only; never empty.
  int64_t operations = 0; ///< Compute nodes only; exact, may be 0.
  /// Compute nodes: bytes read and written. Collectives: bytes of the operands.
  int64_t bytes = 0;
  /// Collectives: `bytes` made acceptable to simulators, see UnrollOptions.
  int64_t commSize = 0;
  /// How often the op is executed.
  uint64_t executions = 0;
  /// Messages only: the number of their channel in the program, the axis and
  /// the direction of the peer.
  uint32_t channel = kNone;
  uint32_t axis = 0;
  int64_t shift = 0;

  bool isComp() const { return kind == NodeKind::Comp; }
  bool isColl() const { return kind == NodeKind::Coll; }
  bool isMessage() const {
    return kind == NodeKind::Send || kind == NodeKind::Recv;
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
  int64_t messageBytes;   ///< Of the first message.
  bool hasOneSize = true; ///< All messages are as large as the first.
  uint64_t executions = 0;
  __int128 bytes = 0;    ///< Of all messages.
  uint32_t firstTag = 0; ///< Set before the program is run.
};

/// What all tensors that come from one state op or one result have in common.
struct TensorTemplate {
  int64_t bytes;
  Category category;
  llvm::StringRef stateName; ///< Empty if a node writes the tensor.
};

/// One tensor of a rank.
struct TensorInstance {
  uint32_t tensorTemplate;
  uint32_t writer; ///< A node, or kNone for a state.
};

/// One node of a rank. The arrays live until the callback returns.
struct FlatNode {
  uint32_t id; ///< 0, 1, 2, ... in program order.
  const NodeTemplate *common;
  /// The repeats around the op: `layers.3.`; the path is this and the name.
  llvm::StringRef prefix;
  /// Nodes that must be complete; ascending, no duplicates.
  llvm::ArrayRef<uint32_t> dataDeps;
  /// Further nodes that must be complete, for the order of streams; ascending.
  llvm::ArrayRef<uint32_t> ctrlDeps;
  /// The tensors read or changed, in order of their first use as operand.
  llvm::ArrayRef<uint32_t> inputs;
  /// The tensors written are this one and the ones after it.
  uint32_t firstOutput;
  uint32_t numOutputs;
  /// Messages only.
  uint32_t tag = 0;
};

/// Receives the nodes of a rank.
class NodeSink {
public:
  virtual ~NodeSink();
  /// A persistent tensor comes into being; `prefix` as in FlatNode.
  virtual void handleState(uint32_t tensor, llvm::StringRef prefix) {}
  virtual void handleNode(const FlatNode &node) = 0;
};

struct UnrollOptions {
  /// Simulators cut a collective into this many chunks. A payload that does not
  /// split evenly over chunks and ranks is padded until it does.
  unsigned splits = 4;
};

/// A graph compiled for unrolling. It refers to the IR, which must outlive it.
class GraphProgram {
public:
  /// Emits an error at the op that has no number where one is needed, a number
  /// that does not fit, or more nodes than consumers can address.
  static mlir::FailureOr<GraphProgram> compile(GraphOp graph, RankSpace &space,
                                               const UnrollOptions &options);

  GraphOp getGraph() const { return graph; }
  llvm::ArrayRef<NodeTemplate> getNodes() const { return nodes; }
  llvm::ArrayRef<TensorTemplate> getTensors() const { return tensors; }
  llvm::MutableArrayRef<Channel> getChannels() { return channels; }
  llvm::ArrayRef<Channel> getChannels() const { return channels; }
  uint64_t getNumNodes() const { return bodies.front().numNodes; }

  /// Calls `sink` for every node of a rank. `instances` is the table that
  /// tensor numbers index; it grows while the program runs.
  void run(NodeSink &sink, std::vector<TensorInstance> &instances) const;

  /// The path of node `id`, computed without running the program.
  std::string getPath(uint32_t id) const;

private:
  friend class GraphCompiler;
  friend class GraphRunner;

  struct Repeat;
  bool find(uint32_t body, uint64_t &position, std::string &path) const;
  bool findInRepeat(const Repeat &repeat, uint64_t &position,
                    std::string &path) const;

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

    /// The number in names of the iteration that is executed as number `turn`.
    int64_t getNumber(int64_t turn) const { return first + getIndex(turn); }
    /// The position in stacks of that iteration.
    int64_t getIndex(int64_t turn) const {
      return reverse ? count - 1 - turn : turn;
    }
    /// Calls `visit(node, turn)` for the nodes that are emitted at the start of
    /// a turn for this or a later one.
    template <typename Fn> void forEachAhead(int64_t turn, Fn visit) const {
      for (int64_t target = turn; target < count; ++target) {
        bool any = false;
        for (const Ahead &entry : ahead) {
          if (std::max<int64_t>(target - entry.distance, 0) == turn)
            visit(entry.node, target);
          any |= target - entry.distance <= turn;
        }
        if (!any)
          break;
      }
    }
  };
  struct Call {
    llvm::StringRef scope;
    uint32_t body;
    llvm::SmallVector<Alias, 0> args, results;
  };
  struct Step {
    enum Kind : uint8_t { State, Node, Alias, Repeat, Call } kind;
    uint32_t index;
  };
  struct Body {
    std::vector<Step> steps;
    uint64_t numNodes = 0;   ///< Of one execution of the body.
    uint64_t numTensors = 0; ///< Likewise.
  };

  GraphOp graph;
  std::vector<NodeTemplate> nodes;
  std::vector<NodeWiring> wiring; ///< Parallel to `nodes`.
  std::vector<TensorTemplate> tensors;
  std::vector<State> states;
  std::vector<Alias> aliases;
  std::vector<Repeat> repeats;
  std::vector<Call> calls;
  std::vector<Channel> channels;
  std::vector<Body> bodies; ///< The graph's own is the first.
  uint32_t numSlots = 0;
};

} // namespace stg::chakra

#endif // STG_TARGET_CHAKRATRACE_UNROLL_H
