//===- TraceBundleTest.cpp - Tests of bundles and groups ------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg-c/TraceBundle.h"
#include "et_def.pb.h"
#include "stg/Dialect/Chakra/IR/ChakraDialect.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "stg/Proto/et_def.pb.h"
#include "stg/Target/Chakra/Export.h"
#include "stg/Trace/Bundle/BundleFolder.h"
#include "stg/Trace/Bundle/BundleValidator.h"
#include "stg/Trace/Bundle/MessageStream.h"
#include "stg/Trace/Reader/TraceReader.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"
#include "gtest/gtest.h"

#include <map>
#include <random>
#include <set>

using namespace llvm;
using namespace stg::trace;

//===----------------------------------------------------------------------===//
// Ranks and groups
//===----------------------------------------------------------------------===//

namespace {

/// tp 2, cp 3, dp 2, pp 4, where classes are fixed on pp and some also on cp.
class RankSpaceTest : public ::testing::Test {
protected:
  RankSpaceTest()
      : space(
            *RankSpace::create({{"tp", 2}, {"cp", 3}, {"dp", 2}, {"pp", 4}})) {
    for (int64_t stage = 0; stage < 3; ++stage)
      classes.push_back(RankClass(space, {{3, stage}}));
    for (int64_t context = 0; context < 3; ++context)
      classes.push_back(RankClass(space, {{3, 3}, {1, context}}));
    for (const RankClass &ranks : classes)
      pointers.push_back(&ranks);
  }

  RankSpace space;
  std::vector<RankClass> classes;
  std::vector<const RankClass *> pointers;
};

TEST_F(RankSpaceTest, ClassesArePartition) {
  RankPartition::Conflict conflict;
  std::optional<RankPartition> partition =
      RankPartition::create(space, pointers, conflict);
  ASSERT_TRUE(partition);
  EXPECT_EQ(partition->getNumCells(), 12);
  std::vector<int> seen(space.getNumRanks());
  for (uint32_t i = 0; i < classes.size(); ++i) {
    for (int64_t position = 0; position < classes[i].size(); ++position) {
      int64_t rank = classes[i][position];
      ++seen[rank];
      EXPECT_EQ(partition->getClass(rank), i);
      EXPECT_EQ(classes[i].countBelow(rank), position);
    }
  }
  EXPECT_EQ(seen, std::vector<int>(space.getNumRanks(), 1));
}

TEST_F(RankSpaceTest, ConflictsAreFound) {
  RankPartition::Conflict conflict;
  pointers.pop_back();
  EXPECT_FALSE(RankPartition::create(space, pointers, conflict));
  EXPECT_FALSE(conflict.first);
  EXPECT_EQ(space.getCoordinate(conflict.rank, 1), 2);
  EXPECT_EQ(space.getCoordinate(conflict.rank, 3), 3);
  RankClass all(space, {{3, 3}});
  pointers.push_back(&all);
  EXPECT_FALSE(RankPartition::create(space, pointers, conflict));
  EXPECT_EQ(conflict.first, 3u);
  EXPECT_EQ(conflict.second, 5u);
}

/// Groups against their definition: ranks that differ on axes of the mask only.
TEST_F(RankSpaceTest, GroupsAreAsDefined) {
  RankPartition::Conflict conflict;
  RankPartition partition = *RankPartition::create(space, pointers, conflict);
  AxisMask ends = space.restrict(8, {0, 3});
  // By class: all of them use tp, the stages cp + dp, the ends pp.
  std::vector<SmallVector<AxisMask>> masks(classes.size(), {1});
  for (unsigned i : {0, 1, 2})
    masks[i].push_back(6);
  for (unsigned i : {0, 3, 4, 5})
    masks[i].push_back(ends);
  GroupTable groups(space, partition, masks);
  std::map<int64_t, std::set<int64_t>> members;
  std::map<int64_t, AxisMask> kinds;
  for (int64_t rank = 0; rank < space.getNumRanks(); ++rank) {
    for (AxisMask mask : masks[partition.getClass(rank)]) {
      int64_t id = groups.getId(mask, rank);
      members[id].insert(rank);
      auto [it, isNew] = kinds.try_emplace(id, mask);
      EXPECT_EQ(it->second, mask);
    }
  }
  // 24 of tp; 2 of each of three stages; 2 * 3 * 2 of the ends.
  EXPECT_EQ(groups.getNumGroups(), 24 + 6 + 12);
  EXPECT_EQ(members.size(), 42u);
  EXPECT_EQ(members.begin()->first, 1);
  int64_t calls = 0;
  groups.forEach([&](int64_t id, ArrayRef<int64_t> listed) {
    ++calls;
    EXPECT_EQ(std::vector<int64_t>(members[id].begin(), members[id].end()),
              listed.vec());
    AxisMask axes = kinds[id] & kAxesOfMask;
    for (int64_t rank : listed) {
      for (unsigned axis = 0; axis < 4; ++axis) {
        if (!(axes >> axis & 1)) {
          EXPECT_EQ(space.getCoordinate(rank, axis),
                    space.getCoordinate(listed.front(), axis));
        }
      }
    }
    EXPECT_EQ(static_cast<int64_t>(listed.size()),
              space.getGroupSize(kinds[id]));
  });
  EXPECT_EQ(calls, groups.getNumGroups());
}

TEST(PartTest, PartsAreAllRanks) {
  for (int64_t count : {1, 2, 7, 16, 20}) {
    int64_t next = 0;
    for (int64_t part = 1; part <= count; ++part) {
      RankRange ranks = getPart(16, part, count);
      EXPECT_EQ(ranks.first, next);
      EXPECT_LE(ranks.second - ranks.first, 16 / count + 1);
      next = ranks.second;
    }
    EXPECT_EQ(next, 16);
  }
}

//===----------------------------------------------------------------------===//
// Bundles
//===----------------------------------------------------------------------===//

/// The graphs of a test of the exporter, as a bundle.
class BundleTest : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    EXPECT_FALSE(sys::fs::createUniqueDirectory("stg-bundle", directory));
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    context.loadDialect<stg::chakra::ChakraDialect, stg::STGDialect>();
    auto source =
        MemoryBuffer::getFile(std::string(STG_GRAPHS_DIR "/") + GetParam());
    ASSERT_TRUE(!!source);
    // Of a file of several modules the first.
    StringRef first = (*source)->getBuffer();
    if (first.contains("\n//--- "))
      first = first.split("\n//--- ").second.split('\n').second;
    first = first.split("\n//--- ").first;
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::parseSourceString<mlir::ModuleOp>(first, &context);
    ASSERT_TRUE(module);
    stg::chakra::ExportOptions options;
    options.files.directory = directory.str().str();
    options.output = stg::chakra::ExportOptions::Output::Bundle;
    ASSERT_TRUE(succeeded(stg::chakra::exportTraces(*module, options)));
    path = (directory + "/" + TraceBundle::kFileName).str();
    auto buffer = MemoryBuffer::getFile(path);
    ASSERT_TRUE(!!buffer);
    bytes = (*buffer)->getBuffer().str();
  }
  void TearDown() override { sys::fs::remove_directories(directory); }

  static Expected<std::unique_ptr<TraceBundle>> parse(StringRef bytes) {
    return TraceBundle::parse(MemoryBuffer::getMemBufferCopy(bytes, "x.stgb"));
  }
  static std::string getError(StringRef bytes) {
    Expected<std::unique_ptr<TraceBundle>> bundle = parse(bytes);
    return bundle ? "" : toString(bundle.takeError());
  }
  /// Makes the header fit the rest.
  static void seal(std::string &file) {
    support::endian::write64le(&file[8], file.size());
    support::endian::write64le(&file[16],
                               xxh3_64bits(StringRef(file).drop_front(24)));
  }

  SmallString<128> directory;
  std::string path, bytes;
};

TEST_P(BundleTest, ReadsWhatItWrites) {
  auto bundle = parse(bytes);
  ASSERT_TRUE(!!bundle) << toString(bundle.takeError());
  std::string again;
  raw_string_ostream os(again);
  (*bundle)->write(os);
  EXPECT_EQ(again, bytes);
}

static std::string getText(StgText text) { return {text.data, text.size}; }

static void compareTensors(const Node &node, StringRef attribute,
                           const StgTensor *tensors, size_t count) {
  const Attribute *list = node.attrs.find(attribute);
  ASSERT_TRUE(list);
  ArrayRef<StringRef> strings = node.attrs.getStrings(*list);
  ASSERT_EQ(strings.size(), 2 * count);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(strings[2 * i], getText(tensors[i].name));
    EXPECT_EQ(strings[2 * i + 1], std::to_string(tensors[i].bytes));
  }
}

static int64_t getInteger(const Node &node, StringRef name,
                          int64_t otherwise = -1) {
  std::optional<Int128> value = node.attrs.getInteger(name);
  return value ? clampToInt64(*value) : otherwise;
}

static void compareNodes(const Node &node, const StgNode &other) {
  EXPECT_EQ(node.id, other.id);
  EXPECT_EQ(node.name, getText(other.name));
  EXPECT_EQ(node.type, static_cast<int32_t>(other.type));
  EXPECT_TRUE(
      llvm::equal(node.dataDeps, ArrayRef(other.dataDeps, other.numDataDeps)));
  EXPECT_TRUE(
      llvm::equal(node.ctrlDeps, ArrayRef(other.ctrlDeps, other.numCtrlDeps)));
  compareTensors(node, "inputs", other.inputs, other.numInputs);
  compareTensors(node, "outputs", other.outputs, other.numOutputs);
  if (other.type == STG_COMP_NODE) {
    EXPECT_EQ(getInteger(node, "num_ops"), other.numOps);
    EXPECT_EQ(getInteger(node, "tensor_size"), other.tensorSize);
    return;
  }
  EXPECT_EQ(getInteger(node, "comm_size"), other.commSize);
  EXPECT_EQ(getInteger(node, "payload_bytes", other.commSize),
            other.payloadBytes);
  if (other.type == STG_COMM_COLL_NODE) {
    EXPECT_EQ(getInteger(node, "comm_type"),
              static_cast<int64_t>(other.collective));
    EXPECT_EQ(getGroupName(node), std::to_string(other.group));
    return;
  }
  EXPECT_EQ(getInteger(node, "comm_src"), other.source);
  EXPECT_EQ(getInteger(node, "comm_dst"), other.target);
  EXPECT_EQ(getInteger(node, "comm_tag"), other.tag);
}

/// A stream of nodes says what the file of the rank says.
TEST_P(BundleTest, StreamsAreFiles) {
  auto bundle = parse(bytes);
  ASSERT_TRUE(!!bundle) << toString(bundle.takeError());
  StgTraceBundle *other = nullptr;
  StgError *error = stgTraceBundleOpen(path.c_str(), &other);
  ASSERT_FALSE(error) << stgErrorGetText(error);
  int64_t numRanks = stgTraceBundleGetNumRanks(other);
  EXPECT_EQ(numRanks, (*bundle)->getSpace().getNumRanks());
  for (int64_t rank = 0; rank < numRanks; ++rank) {
    std::string file;
    raw_string_ostream os(file);
    (*bundle)->writeRank(rank, os);
    TraceReader reader(MemoryBufferRef(file, "rank"));
    Metadata metadata;
    EXPECT_FALSE(!!reader.readMetadata(metadata));
    StgNodeStream *stream = stgNodeStreamOpen(other, rank);
    ASSERT_TRUE(stream);
    Node node;
    StgNode streamed;
    while (stgNodeStreamNext(stream, &streamed)) {
      ASSERT_TRUE(cantFail(reader.readNode(node)));
      compareNodes(node, streamed);
    }
    EXPECT_FALSE(cantFail(reader.readNode(node)));
    EXPECT_EQ(reader.getNumNodes(), stgTraceBundleGetNumNodes(other, rank));
    stgNodeStreamClose(stream);
  }
  EXPECT_FALSE(stgNodeStreamOpen(other, numRanks));
  EXPECT_FALSE(stgNodeStreamOpen(other, -1));
  stgTraceBundleClose(other);
}

/// The trace of a rank from what protobuf's classes have read of it.
template <typename Metadata, typename Node>
static std::string readMessages(const TraceBundle &bundle, int64_t rank) {
  std::string file;
  raw_string_ostream os(file);
  auto write = [&](const google::protobuf::Message &message) {
    EXPECT_TRUE(message.GetReflection()->GetUnknownFields(message).empty());
    encodeULEB128(message.ByteSizeLong(), os);
    os << message.SerializeAsString();
  };
  MessageStream stream(bundle, rank);
  Metadata metadata;
  EXPECT_TRUE(stream.read(metadata));
  write(metadata);
  Node node;
  uint64_t numNodes = 0;
  for (; stream.read(node); ++numNodes) {
    EXPECT_EQ(node.id(), numNodes);
    EXPECT_EQ(node.attr(0).name(), "is_cpu_op");
    EXPECT_TRUE(node.attr(0).has_bool_val());
    write(node);
  }
  EXPECT_FALSE(stream.read(node));
  EXPECT_EQ(node.id(), numNodes - 1);
  return file;
}

/// Our protobuf classes, and those that a simulator has in the same process,
/// read what the file of the rank says.
TEST_P(BundleTest, MessagesAreFiles) {
  auto bundle = parse(bytes);
  ASSERT_TRUE(!!bundle) << toString(bundle.takeError());
  for (int64_t rank = 0, e = (*bundle)->getSpace().getNumRanks(); rank < e;
       ++rank) {
    std::string file;
    raw_string_ostream os(file);
    (*bundle)->writeRank(rank, os);
    std::string ours =
        readMessages<stg::proto::GlobalMetadata, stg::proto::Node>(**bundle,
                                                                   rank);
    EXPECT_EQ(ours, file);
    std::string theirs =
        readMessages<ChakraProtoMsg::GlobalMetadata, ChakraProtoMsg::Node>(
            **bundle, rank);
    EXPECT_EQ(theirs, file);
  }
}

/// Whatever is kept: nothing, some files, or all of them.
TEST_P(BundleTest, FolderHasFiles) {
  Expected<std::unique_ptr<TraceBundle>> bundle = parse(bytes);
  ASSERT_TRUE(!!bundle);
  int64_t numRanks = (*bundle)->getSpace().getNumRanks();
  std::vector<std::string> expected(numRanks + 1);
  for (int64_t rank = 0; rank < numRanks; ++rank) {
    raw_string_ostream os(expected[rank]);
    (*bundle)->writeRank(rank, os);
  }
  raw_string_ostream groups(expected[numRanks]);
  (*bundle)->writeGroups(groups);
  groups.flush();
  expected.push_back((*bundle)->getManifest(0, numRanks));
  for (uint64_t cacheBytes : {uint64_t(0), uint64_t(20000), UINT64_MAX}) {
    BundleFolder folder(**bundle, cacheBytes);
    ASSERT_EQ(folder.getNumFiles(), expected.size());
    for (uint64_t file = folder.getNumFiles(); file-- > 0;) {
      EXPECT_EQ(folder.find(folder.getName(file)), file);
      EXPECT_EQ(folder.getSize(file), expected[file].size());
      std::shared_ptr<const std::string> first = folder.read(file);
      EXPECT_EQ(*first, expected[file]);
      // The last file is kept in any case.
      EXPECT_EQ(folder.read(file), first);
    }
    EXPECT_EQ(folder.getName(0), (*bundle)->getFileName(0));
    std::string past = (*bundle)->getFileName(numRanks);
    for (StringRef name : {"", "x", "0.et", ".et", "workload.00.et",
                           "workload.-1.et", "workload.0.et.et", past.c_str()})
      EXPECT_EQ(folder.find(name), std::nullopt);
  }
}

TEST_P(BundleTest, DamageIsFound) {
  for (size_t i = 0; i < bytes.size(); i += 7) {
    std::string damaged = bytes;
    damaged[i] ^= 0x10;
    EXPECT_NE(getError(damaged), "") << "at byte " << i;
    EXPECT_NE(getError(StringRef(bytes).take_front(i)), "");
  }
  EXPECT_EQ(getError("not"), "x.stgb: is not a bundle of traces (it does not "
                             "begin with STGB)");
  EXPECT_EQ(getError("STGB"), "x.stgb: the bundle is cut off");
  std::string newer = bytes;
  newer[4] = 10;
  EXPECT_EQ(getError(newer), "x.stgb: is a bundle of version 10; this program "
                             "reads versions 2 to 9");
  EXPECT_EQ(getError(bytes + "x"),
            "x.stgb: the bundle should have " + std::to_string(bytes.size()) +
                " bytes, but has " + std::to_string(bytes.size() + 1));
}

/// A file that somebody has changed and sealed again is refused, or it can be
/// run: nothing outside of it is read, and it ends.
TEST_P(BundleTest, ForgeriesDoNoHarm) {
  std::mt19937 random(20260101);
  unsigned numAccepted = 0;
  for (unsigned i = 0; i < 3000; ++i) {
    std::string forged = bytes;
    for (unsigned k = 0, e = 1 + random() % 3; k < e; ++k)
      forged[32 + random() % (forged.size() - 32)] =
          static_cast<char>(random() % 4 ? random() % 16 : random());
    seal(forged);
    auto bundle = TraceBundle::parseUnchecked(
        MemoryBuffer::getMemBufferCopy(forged, "x.stgb"));
    if (!bundle) {
      consumeError(bundle.takeError());
      continue;
    }
    ++numAccepted;
    const TraceBundle::Class &entry = (*bundle)->getClasses().front();
    if (entry.program.getNumNodes() > 100000)
      continue;
    raw_null_ostream os;
    (*bundle)->writeRank(entry.ranks[0], os);
  }
  EXPECT_GT(numAccepted, 0u);
}

/// The rules that a report has violations of.
static std::set<Rule> getRules(const ValidationReport &report) {
  std::set<Rule> rules;
  for (const Violation &violation : report.violations.getKept())
    rules.insert(violation.rule);
  return rules;
}

/// All ranks of a bundle as if they were files.
static ValidationReport validateAllRanks(const TraceBundle &bundle) {
  const RankSpace &space = bundle.getSpace();
  std::string groups;
  raw_string_ostream groupStream(groups);
  bundle.writeGroups(groupStream);
  std::vector<std::string> traces(space.getNumRanks());
  std::vector<RankInput> inputs;
  for (int64_t rank = 0; rank < space.getNumRanks(); ++rank) {
    raw_string_ostream os(traces[rank]);
    bundle.writeRank(rank, os);
    inputs.push_back({static_cast<uint64_t>(rank), "rank",
                      MemoryBufferRef(traces[rank], "rank")});
  }
  ValidatorOptions options;
  options.threads = 1;
  options.maxErrors = 0;
  options.maxSingleRanks = UINT32_MAX;
  return validateRanks(inputs, cantFail(CommGroups::parse(groups, "groups")),
                       /*acrossRanks=*/true, options);
}

/// Changes something in a program, or nothing.
static void mutate(TraceProgram &program, unsigned change, unsigned where) {
  std::vector<NodeTemplate *> colls, messages;
  for (NodeTemplate &node : program.nodes) {
    if (node.isColl())
      colls.push_back(&node);
    if (node.isMessage())
      messages.push_back(&node);
  }
  std::vector<TraceProgram::Step> &steps = program.bodies.front().steps;
  switch (change) {
  case 0:
    if (!colls.empty())
      colls[where % colls.size()]->collective = CollectiveType::AllToAll;
    return;
  case 1:
    if (!colls.empty())
      colls[where % colls.size()]->commSize *= 2;
    return;
  case 2:
    if (!messages.empty())
      messages[where % messages.size()]->commSize += 8;
    return;
  case 3:
    if (!messages.empty())
      messages[where % messages.size()]->shift *= -1;
    return;
  case 4:
    if (!program.channels.empty())
      program.channels[where % program.channels.size()].firstTag += 1000;
    return;
  case 5: // Two steps change places: order, or a deadlock.
    if (steps.size() > 1)
      std::swap(steps[where % (steps.size() - 1)],
                steps[where % (steps.size() - 1) + 1]);
    return;
  case 6: // A step is missing.
    steps.erase(steps.begin() + where % steps.size());
    return;
  }
}

/// The rules that the check of a bundle finds, with its ranks apart and as
/// classes, which must be the same.
static std::set<Rule> validateBothWays(const TraceBundle &bundle) {
  ValidatorOptions options;
  options.threads = 1;
  options.maxErrors = 0;
  options.maxSingleRanks = UINT32_MAX;
  std::set<Rule> apart = getRules(validateBundle(bundle, "x", options));
  options.maxSingleRanks = 0;
  EXPECT_EQ(getRules(validateBundle(bundle, "x", options)), apart);
  return apart;
}

/// Whatever is wrong with the trace of a class, the check of a bundle finds the
/// rules that the check of its files finds.
TEST_P(BundleTest, IsValidatedLikeItsFiles) {
  auto bundle = cantFail(parse(bytes));
  EXPECT_EQ(validateBothWays(*bundle), std::set<Rule>());
  EXPECT_EQ(getRules(validateAllRanks(*bundle)), std::set<Rule>());
  unsigned numBad = 0;
  for (unsigned change = 0; change < 7; ++change) {
    for (unsigned where = 0; where < 6; ++where) {
      std::vector<TraceBundle::Class> classes = bundle->getClasses().vec();
      TraceProgram &program = classes[where % classes.size()].program;
      mutate(program, change, where);
      if (Error error = program.verify(bundle->getSpace())) {
        consumeError(std::move(error));
        continue;
      }
      TraceBundle changed("v", "x", bundle->getSpace(), std::move(classes));
      std::set<Rule> expected = getRules(validateAllRanks(changed));
      EXPECT_EQ(validateBothWays(changed), expected)
          << "change " << change << " at " << where;
      numBad += !expected.empty();
    }
  }
  // What ranks do alike is often right whatever it is, but not messages.
  bool hasMessages =
      llvm::any_of(bundle->getClasses(), [](const TraceBundle::Class &entry) {
        return !entry.program.channels.empty();
      });
  if (hasMessages) {
    EXPECT_GT(numBad, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, BundleTest,
    ::testing::Values("ahead.mlir", "ahead-linked.mlir", "among.mlir",
                      "collectives.mlir", "files.mlir", "gather-in-place.mlir",
                      "groups.mlir", "largest-ranks.mlir", "memory.mlir",
                      "nested.mlir", "pipeline.mlir", "repeat.mlir",
                      "ring.mlir", "schedule.mlir", "schedule-pairs.mlir",
                      "steps.mlir"));

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// A product with a kernel and a node without, as a bundle.
static std::string makeBundle(StringRef kernel) {
  std::string text = (R"(chakra.graph @all mesh = #sym.mesh<dp = 2> {
    %x = chakra.state "x" : !chakra.tensor<64, input>
    %y = chakra.comp "y"(%x) ops(0) bytes(128)
      : (!chakra.tensor<64, input>) -> !chakra.tensor<64, activation>
    %z = chakra.comp "z"(%y) ops(4096) matrix bytes(256)
      : (!chakra.tensor<64, activation>) -> !chakra.tensor<64, gradient>
  )" + kernel + "}")
                         .str();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<stg::chakra::ChakraDialect, stg::STGDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  EXPECT_TRUE(module);
  stg::chakra::ExportOptions options;
  options.output = stg::chakra::ExportOptions::Output::Memory;
  auto summary = stg::chakra::exportTraces(*module, options);
  EXPECT_TRUE(succeeded(summary));
  return summary->bundle;
}

// Rows are rounded up.
constexpr StringLiteral kProduct =
    "kernel <einsum bf16 -> f32, [31/2, 8, 32, 2], accumulates>";

TEST(KernelTest, KernelsAreInBundles) {
  auto bundle = TraceBundle::parse(
      MemoryBuffer::getMemBufferCopy(makeBundle(kProduct), "x.stgb"));
  ASSERT_TRUE(!!bundle) << toString(bundle.takeError());
  const TraceProgram &program = (*bundle)->getClasses()[0].program;
  Kernel product = {"einsum", "bf16", "f32", {16, 8, 32, 2}, true};
  EXPECT_EQ(program.kernels, std::vector<Kernel>{product});
  ASSERT_EQ(program.nodes.size(), 2u);
  EXPECT_EQ(program.nodes[0].kernel, kNone);
  EXPECT_EQ(program.nodes[1].kernel, 0u);
}

/// Which kernels nodes have is no part of what traces are.
TEST(KernelTest, FingerprintsAreThoseOfTraces) {
  auto with = TraceBundle::parse(
      MemoryBuffer::getMemBufferCopy(makeBundle(kProduct), "x.stgb"));
  auto without = TraceBundle::parse(
      MemoryBuffer::getMemBufferCopy(makeBundle(""), "x.stgb"));
  ASSERT_TRUE(with && without);
  EXPECT_EQ((*with)->getFingerprint(), (*without)->getFingerprint());
}

/// Files of version 2 end where kernels begin.
TEST(KernelTest, VersionWithoutKernelsIsRead) {
  std::string bytes = makeBundle("");
  // No names, no kernels, and two nodes that have none.
  constexpr size_t size = 4;
  EXPECT_EQ(StringRef(bytes).take_back(size), StringRef("\0\0\0\0", size));
  bytes.resize(bytes.size() - size);
  bytes[4] = 2;
  support::endian::write64le(&bytes[8], bytes.size());
  support::endian::write64le(&bytes[16],
                             xxh3_64bits(StringRef(bytes).drop_front(24)));
  auto bundle =
      TraceBundle::parse(MemoryBuffer::getMemBufferCopy(bytes, "x.stgb"));
  ASSERT_TRUE(!!bundle) << toString(bundle.takeError());
  EXPECT_EQ((*bundle)->getClasses()[0].program.nodes[1].kernel, kNone);
  bytes[4] = 3;
  EXPECT_EQ(toString(TraceBundle::parse(
                         MemoryBuffer::getMemBufferCopy(bytes, "x.stgb"))
                         .takeError()),
            "x.stgb: a number is cut off, too large, or padded");
}

} // namespace
