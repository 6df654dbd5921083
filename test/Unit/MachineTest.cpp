//===- MachineTest.cpp - Machines are read, and what is wrong with them ---===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Machine/Machine.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace stg;

namespace {
/// A file that is there as long as the object.
class File {
public:
  explicit File(StringRef text) : remover("") {
    int descriptor;
    sys::fs::createTemporaryFile("machine", "json", descriptor, path);
    raw_fd_ostream(descriptor, /*shouldClose=*/true) << text;
    remover.setFile(path, /*deleteIt=*/true);
  }
  SmallString<64> path;

private:
  FileRemover remover;
};
} // namespace

static constexpr StringLiteral kGood = R"({
  "description": "two tiers",
  "sources": {"made": "made up"},
  "device": {
    "peak": {"bf16": {"value": 100, "unit": "TFLOP/s", "source": "made"}},
    "memory": {"capacity": {"value": 2, "unit": "GiB", "source": "made"},
               "bandwidth": {"value": 1, "unit": "TB/s", "source": "made"}}},
  "network": [
    {"name": "in", "topology": "switch", "ranks": 8,
     "bandwidth": {"value": 10, "unit": "GB/s", "source": "made"},
     "latency": {"value": 2, "unit": "us", "source": "made", "fitted": "x"},
     "collectives": {"all_reduce": {"times": [
       {"ranks": 2, "source": "made", "unit": ["B", "us"],
        "points": [[1024, 2], [1048576, 10]]}]}}},
    {"name": "out", "topology": "rails",
     "bandwidth": {"value": 1, "unit": "GB/s", "source": "made"}}]
})";

/// The message for kGood with `from` replaced by `to`, without the file's name.
static std::string getError(StringRef from, StringRef to) {
  std::string text = kGood.str();
  size_t at = text.find(from.str());
  EXPECT_NE(at, std::string::npos) << from.str();
  File file(text.replace(at, from.size(), to.str()));
  Expected<Machine> machine = Machine::load(file.path);
  if (machine)
    return "";
  std::string message = toString(machine.takeError());
  StringRef rest = message;
  EXPECT_TRUE(rest.consume_front("machine '" + file.path.str().str() + "': "))
      << message;
  return rest.str();
}

TEST(Machine, Values) {
  File file(kGood);
  Expected<Machine> machine = Machine::load(file.path);
  ASSERT_TRUE(bool(machine)) << toString(machine.takeError());
  EXPECT_EQ(machine->getDescription(), "two tiers");
  EXPECT_EQ(machine->get("device.peak.bf16"), 1e14);
  EXPECT_EQ(machine->get("device.memory.capacity"), 2147483648.);
  EXPECT_EQ(machine->get("device.memory.reserved"), std::nullopt);
  const Quantity *latency = machine->find("network.in.latency");
  ASSERT_TRUE(latency);
  EXPECT_DOUBLE_EQ(latency->value, 2e-6);
  EXPECT_EQ(latency->given, 2);
  EXPECT_EQ(latency->unit, "us");
  EXPECT_EQ(latency->source, "made up");
  EXPECT_EQ(latency->fitted, "x");
  ASSERT_EQ(machine->getTiers().size(), 2u);
  EXPECT_EQ(machine->getTiers()[0].ranks, 8);
  EXPECT_EQ(machine->getTiers()[1].ranks, std::nullopt);
  EXPECT_EQ(machine->getTiers()[1].topology, Topology::Rails);
  const CollectiveTimes &times =
      machine->getTiers()[0].times.at("all_reduce").front();
  EXPECT_EQ(times.ranks, 2);
  ASSERT_EQ(times.points.size(), 2u);
  EXPECT_DOUBLE_EQ(times.points[1].first, 1048576);
  EXPECT_DOUBLE_EQ(times.points[1].second, 10e-6);
}

TEST(Machine, Errors) {
  EXPECT_EQ(getError("\"two tiers\"", "2"), "description: expected a text");
  EXPECT_EQ(getError("\"device\": {", "\"devices\": {}, \"device\": {"),
            "devices: is not known; expected description, based_on, "
            "also_known_as, sources, device, host, network, overlap or "
            "estimate");
  EXPECT_EQ(getError("\"capacity\"", "\"size\""),
            "device.memory.size: is no number of a machine, such as "
            "device.memory.reserved, device.memory.capacity or device.cores; "
            "stg-estimate --list-constants prints all that a machine has");
  EXPECT_EQ(getError("\"unit\": \"TB/s\"", "\"unit\": \"TB\""),
            "device.memory.bandwidth: expected a number in GB/s or TB/s, got "
            "one in TB");
  EXPECT_EQ(getError("\"unit\": \"TB/s\"", "\"unit\": \"furlong\""),
            "device.memory.bandwidth: 'unit': expected GB/s or TB/s");
  EXPECT_EQ(getError("\"value\": 100", "\"value\": 0"),
            "device.peak.bf16: expected a number more than 0");
  EXPECT_EQ(getError("\"value\": 100", "\"value\": \"fast\""),
            "device.peak.bf16: 'value': expected a number");
  EXPECT_EQ(getError("\"source\": \"made\"", "\"source\": \"heard\""),
            "device.peak.bf16: source 'heard' is not in 'sources' of this "
            "file");
  EXPECT_EQ(getError("\"made\": \"made up\"", "\"made\": \"\""),
            "sources.made: expected a text");
  EXPECT_EQ(getError("\"peak\": {\"bf16\": {\"value\": 100, \"unit\": "
                     "\"TFLOP/s\", \"source\": \"made\"}}",
                     "\"peak\": {}"),
            "device.peak: expected a rate of products of bf16, f16, tf32, "
            "f32, fp8, int8, fp4 or f64");
  EXPECT_EQ(getError("\"bf16\"", "\"vector\""),
            "device.peak: expected a rate of products of bf16, f16, tf32, "
            "f32, fp8, int8, fp4 or f64");
}

TEST(Machine, ErrorsOfTiers) {
  EXPECT_EQ(getError("\"ranks\": 8,", ""),
            "network.in.ranks: is missing; only the last tier joins all ranks");
  EXPECT_EQ(getError("\"topology\": \"rails\"",
                     "\"topology\": \"rails\", \"ranks\": 12"),
            "network.out.ranks: expected a multiple of the 8 ranks inside, and "
            "more");
  EXPECT_EQ(getError("\"rails\"", "\"torus\""),
            "network.out.dimensions: a torus needs it");
  EXPECT_EQ(getError("\"rails\"", "\"mesh\""),
            "network.out.topology: expected switch, rails, torus, "
            "fully_connected or ring");
  EXPECT_EQ(getError("\"out\"", "\"in\""),
            "network: tier 1: expected a name of its own, without a dot");
  EXPECT_EQ(getError("\"all_reduce\"", "\"all_together\""),
            "network.in.collectives.all_together: is not known; expected "
            "all_reduce, all_gather, reduce_scatter, all_to_all "
            "or direct_all_reduce");
  EXPECT_EQ(getError("[1048576, 10]", "[1024, 10]"),
            "network.in.collectives.all_reduce.times[0]: point 1: expected "
            "more bytes than in the one before");
  EXPECT_EQ(getError("[\"B\", \"us\"]", "[\"us\", \"B\"]"),
            "network.in.collectives.all_reduce.times[0]: 'unit': expected a "
            "unit of bytes and one of time, such as [\"B\", \"us\"]");
}

TEST(Machine, BasedOn) {
  File base(kGood);
  std::string head = "{\"description\": \"derived\", \"based_on\": \"" +
                     base.path.str().str() +
                     "\", \"sources\": {\"new\": \"news\"},";
  File derived(head + R"("device": {"memory": {"capacity":
      {"value": 3, "unit": "GiB", "source": "new"}}},
    "network": [{"name": "in", "inherit": true, "ranks": 4}]})");
  Expected<Machine> machine = Machine::load(derived.path);
  ASSERT_TRUE(bool(machine)) << toString(machine.takeError());
  EXPECT_EQ(machine->get("device.memory.capacity"), 3221225472.);
  EXPECT_EQ(machine->find("device.memory.capacity")->source, "news");
  EXPECT_EQ(machine->get("device.memory.bandwidth"), 1e12);
  ASSERT_EQ(machine->getTiers().size(), 1u);
  EXPECT_EQ(machine->getTiers()[0].ranks, 4);
  EXPECT_EQ(machine->getTiers()[0].times.size(), 1u);
  EXPECT_EQ(machine->get("network.in.bandwidth"), 1e10);
  EXPECT_EQ(machine->get("network.out.bandwidth"), std::nullopt);

  File stranger(head + "\"network\": [{\"name\": \"on\", \"inherit\": true}]}");
  EXPECT_EQ(toString(Machine::load(stranger.path).takeError()),
            "machine '" + stranger.path.str().str() +
                "': network.on: 'inherit': there is no tier of this name "
                "before");
}

TEST(Machine, Set) {
  File file(kGood);
  Expected<Machine> machine = Machine::load(file.path);
  ASSERT_TRUE(bool(machine)) << toString(machine.takeError());
  auto set = [&](StringRef text) { return toString(machine->set(text)); };
  EXPECT_EQ(set("device.peak.bf16=200"), "");
  EXPECT_EQ(machine->get("device.peak.bf16"), 2e14);
  EXPECT_EQ(machine->find("device.peak.bf16")->source, "given");
  EXPECT_EQ(set("device.memory.reserved=1.5 GiB"), "");
  EXPECT_EQ(machine->get("device.memory.reserved"), 1610612736.);
  EXPECT_EQ(set("overlap.interference=0.25"), "");
  EXPECT_EQ(machine->get("overlap.interference"), 0.25);
  EXPECT_EQ(set("network.in.ranks=64"), "");
  EXPECT_EQ(machine->getTiers()[0].ranks, 64);

  EXPECT_EQ(set("device"), "'device': expected KEY=VALUE");
  EXPECT_EQ(set("device.speed=1"),
            "device.speed: is no number of a machine, such as device.cores, "
            "device.peak.* or device.sustained; stg-estimate --list-constants "
            "prints all that a machine has");
  EXPECT_EQ(set("host.step=1"), "host.step: expected a number in ns, us, ms or "
                                "s");
  EXPECT_EQ(set("overlap.interference=2"),
            "overlap.interference: expected a number from 0 to 1");
  EXPECT_EQ(set("network.on.bandwidth=1 GB/s"),
            "network.on.bandwidth: the machine has no such tier");
  EXPECT_EQ(set("network.out.ranks=96"),
            "network.out.ranks: expected a multiple of the 64 ranks inside, "
            "and more");
  EXPECT_EQ(machine->getTiers()[1].ranks, std::nullopt);
  EXPECT_EQ(set("network.on.ranks=8"),
            "network.on.ranks: the machine has no such tier");
  EXPECT_EQ(set("network.in.ranks=all"),
            "network.in.ranks: expected an integer from 2 to 1073741824");
}

// Twice the bandwidth halves what a message takes more than the smallest one.
TEST(Machine, SetScalesTimes) {
  File file(kGood);
  Expected<Machine> machine = Machine::load(file.path);
  ASSERT_TRUE(bool(machine)) << toString(machine.takeError());
  auto time = [&](unsigned point) {
    return machine->getTiers()[0]
        .times.at("all_reduce")[0]
        .points[point]
        .second;
  };
  ASSERT_FALSE(errorToBool(machine->set("network.in.bandwidth=20 GB/s")));
  EXPECT_DOUBLE_EQ(time(0), 2e-6);
  EXPECT_DOUBLE_EQ(time(1), 6e-6);
  ASSERT_FALSE(errorToBool(machine->set("network.in.latency=1 us")));
  EXPECT_DOUBLE_EQ(time(0), 1e-6);
  EXPECT_DOUBLE_EQ(time(1), 5e-6);
}

TEST(Machine, ShippedOnesAreRead) {
  std::vector<std::string> names = Machine::listNames();
  EXPECT_EQ(names.size(), 30u);
  StringSet<> aliases;
  for (const std::string &name : names) {
    Expected<Machine> machine = Machine::load(name);
    ASSERT_TRUE(bool(machine)) << toString(machine.takeError());
    EXPECT_EQ(machine->getName(), name);
    for (StringRef alias : machine->getAliases())
      EXPECT_TRUE(aliases.insert(alias).second) << alias.str();
  }
  Expected<Machine> selene = Machine::load(
      "A100-80GB-SXM DGX (Selene), NVSwitch, 8x200Gb HDR IB/node");
  ASSERT_TRUE(bool(selene)) << toString(selene.takeError());
  EXPECT_EQ(selene->getName(), "a100-80gb-selene");
  EXPECT_EQ(selene->get("network.network.bandwidth"), 25e9);
}

TEST(Machine, UnknownNames) {
  EXPECT_EQ(toString(Machine::load("abacus").takeError()),
            "unknown machine 'abacus'; give a .json file or one of: " +
                join(Machine::listNames(), ", "));
}

/// The message names the file that asks for a machine.
TEST(Machine, UnknownBases) {
  SmallString<128> path;
  ASSERT_FALSE(sys::fs::createTemporaryFile("machine", "json", path));
  for (auto [base, message] :
       {std::pair("abacus", "unknown machine 'abacus'; give a .json file or "
                            "one of: " +
                                join(Machine::listNames(), ", ")),
        std::pair("abacus.json",
                  "machine '" +
                      (sys::path::parent_path(path) + "/abacus.json").str() +
                      "': cannot read the file: No such file or directory")}) {
    std::error_code error;
    raw_fd_ostream(path, error) << R"({"based_on": ")" << base << "\"}";
    ASSERT_FALSE(error);
    EXPECT_EQ(toString(Machine::load(path).takeError()),
              "machine '" + path.str().str() + "': based_on: " + message);
  }
  sys::fs::remove(path);
}
