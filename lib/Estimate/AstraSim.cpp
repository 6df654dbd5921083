//===- AstraSim.cpp - Machines and times as ASTRA-sim has them ------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Estimate/AstraSim.h"
#include "stg/Support/Files.h"
#include "stg/Support/JSON.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace llvm;
using namespace stg;
using namespace stg::trace;

/// ns that a rank takes for each message of a collective, and of the last.
static constexpr double kEndpointDelay = 10;

static constexpr double kGiB = 1 << 30;

/// Transfers are impossible, or each rank has a link of its own.
static constexpr StringLiteral kNoMemory = "NO_MEMORY_EXPANSION",
                               kMemoryOfEach = "PER_NPU_MEMORY_EXPANSION";

int64_t AstraConfiguration::getNumRanks() const {
  int64_t ranks = 1;
  for (const Dimension &dimension : network)
    ranks *= dimension.ranks;
  return ranks;
}

//===----------------------------------------------------------------------===//
// From a machine
//===----------------------------------------------------------------------===//

static StringRef getTopology(Topology topology) {
  switch (topology) {
  case Topology::Switch:
  case Topology::Rails:
    return "Switch";
  case Topology::Torus:
  case Topology::Ring:
    return "Ring";
  case Topology::FullyConnected:
    return "FullyConnected";
  }
  llvm_unreachable("unknown topology");
}

/// The tier has so many ranks, of which `inside` are in the tier before.
static Error makeFillError(const NetworkTier &tier, int64_t inside,
                           int64_t numRanks) {
  std::string message;
  raw_string_ostream os(message);
  os << numRanks << " ranks do not fill tier '" << tier.name << "' of "
     << *tier.ranks << ": ASTRA-sim has whole ones only; give a multiple of "
     << *tier.ranks << " ranks";
  int64_t size = *tier.ranks;
  while (size > inside && (numRanks % size != 0 || size % inside != 0))
    --size;
  if (size > inside)
    os << ", or --machine-set network." << tier.name << ".ranks=" << size;
  return createStringError(message);
}

Expected<AstraConfiguration> AstraConfiguration::get(const Machine &machine,
                                                     int64_t numRanks) {
  AstraConfiguration result;
  // Of elements of 16 bits.
  const PeakType &type = machine.getReferenceType();
  result.peak = *machine.get(("device.peak." + type.name).str()) *
                std::min(1., type.bytes / 2) / 1e12;
  result.memoryBandwidth = *machine.get("device.memory.bandwidth") / 1e9;
  if (std::optional<double> link =
          machine.get("device.second_memory.bandwidth")) {
    double share = machine.get("device.second_memory.share").value_or(1);
    double latency = machine.get("device.second_memory.latency").value_or(0);
    result.hostBandwidth =
        std::max<int64_t>(1, std::llround(*link * share / 1e9));
    result.hostLatency = std::llround(latency * 1e9);
  }
  if (numRanks < 2)
    return createStringError("ASTRA-sim has networks of two ranks or more");
  int64_t inside = 1;
  for (const NetworkTier &tier : machine.getTiers()) {
    int64_t joined = std::min(tier.ranks.value_or(numRanks), numRanks);
    if (joined == inside)
      continue;
    if (joined % inside != 0 || numRanks % joined != 0)
      return makeFillError(tier, inside, numRanks);
    std::string key = "network." + tier.name;
    bool isSwitch = getTopology(tier.topology) == "Switch";
    result.network.push_back(
        {getTopology(tier.topology).str(), joined / inside,
         machine.get(key + ".bandwidth").value_or(0) *
             machine.get(key + ".share").value_or(1) / kGiB,
         machine.get(key + ".latency").value_or(0) * 1e9 / (isSwitch ? 2 : 1)});
    inside = joined;
  }
  if (inside != numRanks)
    return createStringError(Twine(numRanks) + " ranks are more than the " +
                             Twine(inside) + " of machine '" +
                             machine.getName() + "'");
  return result;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static Error writeFile(StringRef folder, StringRef name, StringRef text) {
  SmallString<128> path(folder);
  sys::path::append(path, name);
  auto file = OutputFile::open(path);
  if (!file)
    return file.takeError();
  (*file)->os() << text;
  return (*file)->keep();
}

Error AstraConfiguration::write(StringRef folder) const {
  auto list = [&](auto get) {
    std::string text;
    for (const Dimension &dimension : network)
      text += (text.empty() ? "" : ", ") + get(dimension);
    return "[ " + text + " ]\n";
  };
  std::string text =
      "topology: " + list([](const Dimension &d) { return d.topology; }) +
      "npus_count: " +
      list([](const Dimension &d) { return itostr(d.ranks); }) +
      "bandwidth: " + list([](const Dimension &d) {
        return formatv("{0:f9}", d.bandwidth).str();
      }) +
      "latency: " + list([](const Dimension &d) {
        return formatv("{0:f3}", d.latency).str();
      });
  if (Error error = writeFile(folder, kNetworkFile, text))
    return error;
  auto perDimension = [&](StringRef name) {
    json::Array array;
    for (size_t i = 0; i < network.size(); ++i)
      array.push_back(name);
    return array;
  };
  json::Value system =
      json::Object{{"scheduling-policy", "FIFO"},
                   {"endpoint-delay", static_cast<int64_t>(kEndpointDelay)},
                   {"active-chunks-per-dimension", 1},
                   {"preferred-dataset-splits", 1},
                   {"all-reduce-implementation", perDimension("ring")},
                   {"all-gather-implementation", perDimension("ring")},
                   {"reduce-scatter-implementation", perDimension("ring")},
                   {"all-to-all-implementation", perDimension("direct1")},
                   {"collective-optimization", "localBWAware"},
                   {"local-mem-bw", memoryBandwidth},
                   {"peak-perf", peak},
                   {"roofline-enabled", 1}};
  if (Error error =
          writeFile(folder, kSystemFile, formatv("{0:2}\n", system).str()))
    return error;
  json::Object memory{{"memory-type", kNoMemory}};
  if (hostBandwidth > 0)
    memory = json::Object{{"memory-type", kMemoryOfEach},
                          {"remote-mem-latency", hostLatency},
                          {"remote-mem-bw", hostBandwidth}};
  return writeFile(folder, kMemoryFile,
                   formatv("{0:2}\n", json::Value(std::move(memory))).str());
}

/// The elements of `key: [ a, b ]`.
static SmallVector<StringRef> findList(StringRef text, StringRef key) {
  SmallVector<StringRef> elements;
  for (StringRef line : split(text, '\n')) {
    if (!line.consume_front(key) || !line.consume_front(":"))
      continue;
    line = line.take_until([](char c) { return c == '#'; }).trim(" []\r");
    for (StringRef element : split(line, ','))
      elements.push_back(element.trim());
  }
  return elements;
}

Expected<AstraConfiguration> AstraConfiguration::read(StringRef folder) {
  AstraConfiguration result;
  SmallString<128> path(folder);
  sys::path::append(path, kNetworkFile);
  auto fail = [&](const Twine &what) {
    return createStringError(Twine(path) + ": " + what);
  };
  auto network = readFile(path);
  if (!network)
    return fail(toString(network.takeError()) +
                "; 'stg-compile --astra-sim' writes it");
  StringRef text = (*network)->getBuffer();
  auto topologies = findList(text, "topology"),
       counts = findList(text, "npus_count"),
       bandwidths = findList(text, "bandwidth"),
       latencies = findList(text, "latency");
  if (topologies.empty() || counts.size() != topologies.size() ||
      bandwidths.size() != topologies.size() ||
      latencies.size() != topologies.size())
    return fail("expected lists 'topology', 'npus_count', 'bandwidth' and "
                "'latency' of one length");
  for (size_t i = 0; i < topologies.size(); ++i) {
    Dimension &dimension = result.network.emplace_back();
    dimension.topology = topologies[i].str();
    if (counts[i].getAsInteger(10, dimension.ranks) || dimension.ranks < 2 ||
        bandwidths[i].getAsDouble(dimension.bandwidth) ||
        dimension.bandwidth <= 0 ||
        latencies[i].getAsDouble(dimension.latency) || dimension.latency < 0)
      return fail("dimension " + Twine(i) +
                  " is not of 2 ranks or more with a bandwidth and a latency");
  }
  path = folder;
  sys::path::append(path, kSystemFile);
  Expected<json::Value> system = readJSON(path);
  if (!system)
    return fail(toString(system.takeError()));
  const json::Object *object = system->getAsObject();
  std::optional<double> peak = object ? object->getNumber("peak-perf")
                                      : std::nullopt,
                        bandwidth = object ? object->getNumber("local-mem-bw")
                                           : std::nullopt;
  if (!peak || !bandwidth || *peak <= 0 || *bandwidth <= 0)
    return fail("expected numbers 'peak-perf' and 'local-mem-bw'");
  result.peak = *peak;
  result.memoryBandwidth = *bandwidth;
  path = folder;
  sys::path::append(path, kMemoryFile);
  if (!sys::fs::exists(path))
    return result;
  Expected<json::Value> memory = readJSON(path);
  if (!memory)
    return fail(toString(memory.takeError()));
  object = memory->getAsObject();
  if (object && object->getString("memory-type") == kMemoryOfEach) {
    result.hostBandwidth = object->getInteger("remote-mem-bw").value_or(0);
    result.hostLatency = object->getInteger("remote-mem-latency").value_or(0);
    if (result.hostBandwidth < 1 || result.hostLatency < 0)
      return fail("expected whole numbers 'remote-mem-bw' of at least 1 and "
                  "'remote-mem-latency'");
  }
  return result;
}

std::vector<std::string> stg::getAstraArguments(StringRef folder,
                                                StringRef prefix) {
  auto path = [&](StringRef name) {
    SmallString<128> result(folder);
    sys::path::append(result, name);
    return result.str().str();
  };
  return {"--workload-configuration=" + path(prefix),
          "--comm-group-configuration=" + path("comm_group.json"),
          "--system-configuration=" + path(AstraConfiguration::kSystemFile),
          "--network-configuration=" + path(AstraConfiguration::kNetworkFile),
          "--remote-memory-configuration=" +
              path(AstraConfiguration::kMemoryFile)};
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

/// ns of a message: a link of the first dimension on which two ranks differ.
double AstraConfiguration::getLink(int64_t from, int64_t to,
                                   double bytes) const {
  for (const Dimension &dimension : network) {
    int64_t a = from % dimension.ranks, b = to % dimension.ranks;
    from /= dimension.ranks;
    to /= dimension.ranks;
    if (a == b)
      continue;
    int64_t hops = 2;
    if (dimension.topology == "Ring")
      hops = std::min((a - b + dimension.ranks) % dimension.ranks,
                      (b - a + dimension.ranks) % dimension.ranks);
    else if (dimension.topology == "FullyConnected")
      hops = 1;
    return double(hops) * dimension.latency +
           bytes / (dimension.bandwidth * kGiB / 1e9);
  }
  return 0;
}

/// A part goes around the ring, so a member is done when what has begun some
/// members before it has come to it. Reductions read two parts and write one.
/// A part of an exchange goes as far as its receiver is away: half of the
/// ring, on average.
std::vector<double> AstraConfiguration::getRing(CollectiveType type,
                                                ArrayRef<int64_t> members,
                                                double bytes) const {
  const size_t count = members.size();
  size_t steps = count - 1;
  if (type == CollectiveType::AllReduce)
    steps *= 2;
  else if (type == CollectiveType::AllToAll)
    steps = steps * count / 2;
  double part =
      type == CollectiveType::AllGather ? bytes : bytes / double(count);
  bool reduces = type == CollectiveType::AllReduce ||
                 type == CollectiveType::ReduceScatter;
  double common = double(steps + 1) * kEndpointDelay;
  if (reduces)
    common += double(count - 1) * 3 * std::floor(part / memoryBandwidth);
  std::vector<double> times(count, common);
  for (size_t member = 0; member < count; ++member)
    for (size_t step = 0; step < steps; ++step) {
      size_t to = (member + 2 * count - step % count) % count;
      size_t from = (to + count - 1) % count;
      times[member] += getLink(members[from], members[to], part);
    }
  return times;
}

/// Groups of all ranks go through the dimensions one after the other, others
/// are one ring, whatever algorithm the dimensions have. With one dimension
/// an exchange is direct in any group.
std::vector<double> AstraConfiguration::getCollective(CollectiveType type,
                                                      ArrayRef<int64_t> members,
                                                      double bytes) const {
  const bool isAll = int64_t(members.size()) == getNumRanks();
  if (type == CollectiveType::AllToAll && network.size() == 1) {
    // One message after the other.
    std::vector<double> times;
    for (size_t i = 0; i < members.size(); ++i) {
      double time = double(members.size()) * kEndpointDelay;
      for (size_t k = 1; k < members.size(); ++k)
        time += getLink(members[(i + members.size() - k) % members.size()],
                        members[i], bytes / double(members.size()));
      times.push_back(time);
    }
    return times;
  }
  if (!isAll || network.size() == 1)
    return getRing(type, members, bytes);
  double total = 0, size = bytes;
  auto add = [&](CollectiveType phase, size_t number, double input) {
    int64_t stride = 1;
    for (size_t i = 0; i < number; ++i)
      stride *= network[i].ranks;
    std::vector<int64_t> ring;
    for (int64_t i = 0; i < network[number].ranks; ++i)
      ring.push_back(i * stride);
    total += getRing(phase, ring, input).front();
  };
  const size_t last = network.size() - 1;
  switch (type) {
  case CollectiveType::AllReduce:
    for (size_t i = 0; i < last; ++i) {
      add(CollectiveType::ReduceScatter, i, size);
      size /= double(network[i].ranks);
    }
    add(CollectiveType::AllReduce, last, size);
    for (size_t i = last; i-- > 0;) {
      add(CollectiveType::AllGather, i, size);
      size *= double(network[i].ranks);
    }
    break;
  case CollectiveType::ReduceScatter:
    for (size_t i = 0; i <= last; ++i) {
      add(type, i, size);
      size /= double(network[i].ranks);
    }
    break;
  case CollectiveType::AllGather:
    for (size_t i = last + 1; i-- > 0;) {
      add(type, i, size);
      size *= double(network[i].ranks);
    }
    break;
  default: {
    int64_t stride = 1;
    for (const Dimension &dimension : network) {
      total += double(dimension.ranks) * kEndpointDelay;
      for (int64_t k = 1; k < dimension.ranks; ++k)
        total += getLink(0, k * stride, bytes / double(dimension.ranks));
      stride *= dimension.ranks;
    }
  }
  }
  return {total};
}

TraceCosts AstraConfiguration::getCosts() const {
  constexpr double kTicks = 1000; // Of a ns.
  auto toTime = [](double ns) {
    return static_cast<Ticks>(std::llround(ns * kTicks));
  };
  TraceCosts costs;
  // Whole ns.
  costs.compute = [this](const TracedNode &node) {
    double ns = std::floor(
        1e9 * std::max(double(node.operations) / (peak * 1e12),
                       double(node.bytes) / (memoryBandwidth * 1e9)));
    return static_cast<Ticks>(ns * kTicks);
  };
  costs.collective = [this, toTime](const TracedNode &node,
                                    ArrayRef<int64_t> members) {
    std::vector<Ticks> times;
    for (double ns :
         getCollective(node.collective, members, double(node.bytes)))
      times.push_back(toTime(ns));
    return times;
  };
  costs.message = [this, toTime](int64_t from, int64_t to, int64_t bytes) {
    return toTime(getLink(from, to, double(bytes)));
  };
  // Whole ns, too.
  if (hostBandwidth > 0)
    costs.transfer = [this](int64_t bytes) {
      return static_cast<Ticks>(double(hostLatency + bytes / hostBandwidth) *
                                kTicks);
    };
  else
    costs.missingLink =
        (kMemoryFile + " has no memory of type " + kMemoryOfEach).str();
  return costs;
}
