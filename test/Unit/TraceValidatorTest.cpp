//===- TraceValidatorTest.cpp - Ranks checked apart and as classes --------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Trace/Validate/TraceValidator.h"
#include "stg/Trace/Program/RankSpace.h"

#include "stg/Proto/et_def.pb.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <map>
#include <random>
#include <set>

using namespace llvm;
using namespace stg::trace;

namespace {

//===----------------------------------------------------------------------===//
// Traces
//===----------------------------------------------------------------------===//

/// A node of a rank.
struct Op {
  NodeType type = NodeType::Comp;
  int64_t group = 0, collective = 0;
  int64_t peer = 0, tag = 0;
  int64_t size = 0;
  std::vector<uint64_t> deps;
};
using Rank = std::vector<Op>;

/// Ranks in a mesh, and groups by number.
struct World {
  RankSpace space;
  std::vector<Rank> ranks;
  CommGroups groups;
};

void add(stg::proto::Node &node, const char *name,
         function_ref<void(stg::proto::AttributeProto &)> set) {
  stg::proto::AttributeProto *attribute = node.add_attr();
  attribute->set_name(name);
  set(*attribute);
}

void appendMessage(const google::protobuf::Message &message,
                   std::string &trace) {
  std::string bytes = message.SerializeAsString();
  for (size_t size = bytes.size(); true; size >>= 7) {
    trace += static_cast<char>((size & 127) | (size > 127 ? 128 : 0));
    if (size <= 127)
      break;
  }
  trace += bytes;
}

stg::proto::Node encodeNode(const Op &op, uint64_t id, int64_t rank) {
  using Attribute = stg::proto::AttributeProto;
  stg::proto::Node node;
  node.set_id(id);
  node.set_name("n" + std::to_string(id));
  node.set_type(static_cast<stg::proto::NodeType>(op.type));
  for (uint64_t dep : op.deps)
    node.add_data_deps(dep);
  add(node, "is_cpu_op", [](Attribute &a) { a.set_bool_val(false); });
  for (const char *name : {"inputs", "outputs"})
    add(node, name, [](Attribute &a) { a.mutable_string_list(); });
  if (op.type == NodeType::Comp) {
    add(node, "num_ops", [](Attribute &a) { a.set_int64_val(1000000000); });
    add(node, "tensor_size", [](Attribute &a) { a.set_uint64_val(1000000); });
    return node;
  }
  add(node, "comm_size", [&](Attribute &a) { a.set_int64_val(op.size); });
  if (op.type == NodeType::Coll) {
    add(node, "comm_type",
        [&](Attribute &a) { a.set_int64_val(op.collective); });
    add(node, "pg_name",
        [&](Attribute &a) { a.set_string_val(std::to_string(op.group)); });
    return node;
  }
  bool isSend = op.type == NodeType::Send;
  int64_t source = isSend ? rank : op.peer, target = isSend ? op.peer : rank;
  add(node, "comm_src", [&](Attribute &a) { a.set_int32_val(source); });
  add(node, "comm_dst", [&](Attribute &a) { a.set_int32_val(target); });
  add(node, "comm_tag", [&](Attribute &a) { a.set_int32_val(op.tag); });
  return node;
}

std::string encode(const Rank &ops, int64_t rank) {
  stg::proto::GlobalMetadata metadata;
  metadata.set_version("test");
  std::string trace;
  appendMessage(metadata, trace);
  for (size_t id = 0; id < ops.size(); ++id)
    appendMessage(encodeNode(ops[id], id, rank), trace);
  return trace;
}

ValidationReport validate(const World &world, unsigned maxSingleRanks) {
  std::vector<std::string> traces;
  for (size_t rank = 0; rank < world.ranks.size(); ++rank)
    traces.push_back(encode(world.ranks[rank], rank));
  std::vector<RankInput> inputs;
  for (size_t rank = 0; rank < traces.size(); ++rank)
    inputs.push_back({rank, "w", MemoryBufferRef(traces[rank], "w")});
  ValidatorOptions options;
  options.maxErrors = 0;
  options.threads = 2;
  options.maxSingleRanks = maxSingleRanks;
  return validateRanks(inputs, world.groups, /*acrossRanks=*/true, options);
}

//===----------------------------------------------------------------------===//
// Worlds
//===----------------------------------------------------------------------===//

/// Makes ranks of tp, dp and pp that do the same things in the same order.
class WorldBuilder {
public:
  explicit WorldBuilder(std::mt19937 &random)
      : random(random), world{makeSpace(random), {}, {}} {
    world.ranks.resize(world.space.getNumRanks());
    for (Rank &rank : world.ranks)
      rank.emplace_back(); // Computes.
  }

  World build(unsigned numEvents) {
    while (numEvents--) {
      switch (random() % 3) {
      case 0:
        addCollective();
        break;
      case 1:
        addRing();
        break;
      case 2:
        addHandOver();
        break;
      }
    }
    return std::move(world);
  }

private:
  static RankSpace makeSpace(std::mt19937 &random) {
    return *RankSpace::create({{"tp", 1 + random() % 3},
                               {"dp", 2 + random() % 3},
                               {"pp", 2 + random() % 3}});
  }

  int64_t getGroup(AxisMask mask, int64_t rank) {
    std::vector<int64_t> members = world.space.getMembers(mask, rank);
    auto [it, isNew] =
        groupNumbers.try_emplace(members, groupNumbers.size() + 1);
    world.groups.members[std::to_string(it->second)] = members;
    return it->second;
  }

  /// On all ranks, or on those of one stage.
  void addCollective() {
    AxisMask mask = 1 + random() % 7;
    if (world.space.getGroupSize(mask) < 2)
      return;
    int64_t onlyStage = mask & 4 || random() % 2 ? -1 : getRandomStage();
    Op op;
    op.type = NodeType::Coll;
    op.collective = random() % 2 ? 0 : 2;
    op.size = 4 * world.space.getNumRanks() * (1 + random() % 3);
    for (int64_t rank = 0; rank < world.space.getNumRanks(); ++rank) {
      if (onlyStage >= 0 && world.space.getCoordinate(rank, 2) != onlyStage)
        continue;
      op.group = getGroup(mask, rank);
      addChained(rank, op);
    }
  }

  /// Each rank sends to the next one along an axis.
  void addRing() {
    unsigned axis = random() % 3;
    if (world.space.getAxes()[axis].size < 2)
      return;
    Op op;
    op.size = 1 + random() % 100;
    op.tag = nextTag++;
    for (int64_t rank = 0; rank < world.space.getNumRanks(); ++rank) {
      Op recv = op, send = op;
      recv.type = NodeType::Recv;
      recv.peer = world.space.getNeighbour(rank, axis, -1);
      send.type = NodeType::Send;
      send.peer = world.space.getNeighbour(rank, axis, 1);
      Rank &ops = world.ranks[rank];
      uint64_t last = ops.size() - 1;
      recv.deps = send.deps = {last};
      ops.push_back(recv);
      ops.push_back(send);
      Op comp;
      comp.deps = {last + 1, last + 2};
      ops.push_back(comp);
    }
  }

  /// From the ranks of a stage to those of the next one.
  void addHandOver() {
    int64_t stage = random() % (world.space.getAxes()[2].size - 1);
    Op op;
    op.size = 1 + random() % 100;
    op.tag = nextTag++;
    for (int64_t rank = 0; rank < world.space.getNumRanks(); ++rank) {
      int64_t own = world.space.getCoordinate(rank, 2);
      if (own != stage && own != stage + 1)
        continue;
      op.type = own == stage ? NodeType::Send : NodeType::Recv;
      op.peer = world.space.getNeighbour(rank, 2, own == stage ? 1 : -1);
      addChained(rank, op);
    }
  }

  void addChained(int64_t rank, Op op) {
    Rank &ops = world.ranks[rank];
    op.deps = {ops.size() - 1};
    ops.push_back(op);
  }

  int64_t getRandomStage() { return random() % world.space.getAxes()[2].size; }

  std::mt19937 &random;
  World world;
  std::map<std::vector<int64_t>, int64_t> groupNumbers;
  int64_t nextTag = 0;
};

//===----------------------------------------------------------------------===//
// Mistakes
//===----------------------------------------------------------------------===//

enum class Mistake {
  NoNode,
  OtherSize,
  OtherType,
  OtherTag,
  WrongPeer,
  WrongGroup,
  Swapped,
  SendFirst,
  RecvFirst,
};
constexpr unsigned numMistakes = 9;

/// The number of the node after a random one that `isWanted`, or nothing.
std::optional<size_t> choose(const Rank &ops, size_t start,
                             function_ref<bool(const Op &)> isWanted) {
  for (size_t i = 0; i < ops.size(); ++i)
    if (size_t at = (start + i) % ops.size(); at > 0 && isWanted(ops[at]))
      return at;
  return std::nullopt;
}

bool isMessage(const Op &op) {
  return op.type == NodeType::Send || op.type == NodeType::Recv;
}

/// Exchanges what two nodes do, but not what they wait for.
void swapWork(Op &lhs, Op &rhs) {
  std::swap(lhs, rhs);
  std::swap(lhs.deps, rhs.deps);
}

/// Makes a mistake in one rank.
void make(Mistake mistake, size_t where, World &world, int64_t rank) {
  Rank &ops = world.ranks[rank];
  auto find = [&](function_ref<bool(const Op &)> isWanted) {
    std::optional<size_t> at = choose(ops, where, isWanted);
    return at ? &ops[*at] : nullptr;
  };
  auto isColl = [](const Op &op) { return op.type == NodeType::Coll; };
  auto isComm = [&](const Op &op) { return isColl(op) || isMessage(op); };
  switch (mistake) {
  case Mistake::NoNode:
    if (Op *op = find(isComm))
      op->type = NodeType::Comp;
    return;
  case Mistake::OtherSize:
    if (Op *op = find(isComm))
      op->size *= 2;
    return;
  case Mistake::OtherType:
    if (Op *op = find(isColl))
      op->collective = 2 - op->collective;
    return;
  case Mistake::OtherTag:
    if (Op *op = find(isMessage))
      op->tag += 1000;
    return;
  case Mistake::WrongPeer:
    if (Op *op = find(isMessage))
      op->peer = world.space.getNeighbour(op->peer, where % 3, 1);
    return;
  case Mistake::WrongGroup:
    if (Op *op = find(isColl))
      if (Op *other = find([&](const Op &candidate) {
            return isColl(candidate) && candidate.group != op->group;
          }))
        op->group = other->group;
    return;
  case Mistake::Swapped:
    if (std::optional<size_t> at = choose(ops, where, isComm))
      if (std::optional<size_t> other = choose(ops, *at + 1, isComm))
        swapWork(ops[*at], ops[*other]);
    return;
  case Mistake::SendFirst:
  case Mistake::RecvFirst:
    // Of the pairs in a ring, one waits for the other.
    for (size_t i = 0; i + 1 < ops.size(); ++i) {
      if (ops[i].type != NodeType::Recv || ops[i + 1].type != NodeType::Send ||
          ops[i].tag != ops[i + 1].tag)
        continue;
      if (mistake == Mistake::SendFirst)
        swapWork(ops[i], ops[i + 1]);
      ops[i + 1].deps = {i};
    }
    return;
  }
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

constexpr unsigned apart = UINT32_MAX, merged = 0;

/// How many ranks messages speak of: each of one, and what else it says.
uint64_t countRanks(const ValidationReport &report, Rule rule) {
  uint64_t count = 0;
  for (const Violation &violation : report.violations.getKept()) {
    if (violation.rule != rule)
      continue;
    ++count;
    StringRef others = StringRef(violation.message).rsplit(" (also on ").second;
    uint64_t number = 0;
    if (!others.consumeInteger(10, number))
      count += number;
  }
  return count;
}

using Rules = std::set<std::string>;

Rules getRules(const ValidationReport &report) {
  Rules rules;
  for (unsigned i = 0; i < numRules; ++i)
    if (report.violations.getCount(static_cast<Rule>(i)))
      rules.insert(getRuleNumber(static_cast<Rule>(i)).str());
  return rules;
}

/// The ranks together and apart have the same rules violated; and where a rule
/// is one of a rank and its peers, on as many ranks. Returns the rules.
Rules expectAgreement(const World &world, const std::string &what) {
  ValidationReport one = validate(world, apart), all = validate(world, merged);
  EXPECT_EQ(one.numClasses, world.ranks.size());
  EXPECT_LE(all.numClasses, one.numClasses);
  Rules rules = getRules(one);
  EXPECT_EQ(getRules(all), rules) << what;
  for (Rule rule : {Rule::SendMatched, Rule::RecvMatched, Rule::EqualSizes})
    EXPECT_EQ(countRanks(all, rule), countRanks(one, rule)) << what;
  return rules;
}

TEST(TraceValidatorTest, ValidRanksAreFewClasses) {
  std::mt19937 random(1);
  for (unsigned i = 0; i < 20; ++i) {
    World world = WorldBuilder(random).build(12);
    EXPECT_EQ(expectAgreement(world, std::to_string(i)), Rules());
    ValidationReport report = validate(world, merged);
    uint64_t numStages = world.space.getAxes()[2].size;
    EXPECT_LE(report.numGraphs, numStages);
    EXPECT_LE(report.numClasses, numStages);
  }
}

TEST(TraceValidatorTest, MistakesAreFoundInClasses) {
  std::mt19937 random(2);
  Rules found;
  for (unsigned i = 0; i < 300; ++i) {
    World world = WorldBuilder(random).build(3 + random() % 8);
    Mistake mistake = static_cast<Mistake>(i % numMistakes);
    size_t where = random() % 100;
    // On one rank, on all, or on those that have a coordinate in common.
    int64_t axis = random() % 5, numRanks = world.space.getNumRanks();
    int64_t chosen = random() % numRanks;
    for (int64_t rank = 0; rank < numRanks; ++rank)
      if (axis == 4 ||
          (axis == 3 ? rank == chosen
                     : world.space.getCoordinate(rank, axis) ==
                           world.space.getCoordinate(chosen, axis)))
        make(mistake, where, world, rank);
    Rules rules =
        expectAgreement(world, "mistake " + std::to_string(i % numMistakes) +
                                   " in world " + std::to_string(i));
    found.insert(rules.begin(), rules.end());
  }
  for (const char *rule : {"6.1", "6.2", "6.4", "7.1", "7.2", "7.3"})
    EXPECT_TRUE(found.count(rule)) << rule;
}

} // namespace
