//===- BundleFormat.cpp - Bundles as bytes --------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/Bundle.md is the description of what is written and read here.
//
//===----------------------------------------------------------------------===//

#include "stg/Support/Error.h"
#include "stg/Support/Files.h"
#include "stg/Trace/Bundle/TraceBundle.h"
#include "stg/Trace/Reader/TraceReader.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;
using namespace stg;
using namespace stg::trace;

static constexpr uint32_t kVersion = 3;
/// Of a bundle with transfers, which readers of the other versions do not know.
static constexpr uint32_t kWithTransfers = 4;
/// Of a bundle with steps of inference, likewise.
static constexpr uint32_t kWithSteps = 5;
/// Of one with collectives whose ranks bring different bytes; steps may be
/// there.
static constexpr uint32_t kWithLargest = 6;
/// Of one with repeats that are linked; any of the above may be there.
static constexpr uint32_t kWithLinks = 7;
/// Of one with steps of schedules side by side, likewise.
static constexpr uint32_t kWithPairs = 8;
/// Of one with such steps and delayed nodes, likewise.
static constexpr uint32_t kWithDelayed = 9;
static constexpr uint32_t kNewest = kWithDelayed;
/// The last one in which programs have no kernels. It is still read.
static constexpr uint32_t kWithoutKernels = 2;
/// Magic, version, size and checksum.
static constexpr size_t kHeaderSize = 24;
/// How programs become bytes of traces. To be counted up with every change that
/// makes other files of the same bundle, so that no two versions write parts of
/// one set.
static constexpr uint64_t kConventions = 1;
/// Kinds of nodes behind the first four of NodeKind.
static constexpr uint64_t kMatrix = 4, kLoad = 5, kStore = 6;
/// Those of delayed nodes.
static constexpr uint64_t kDelayed = 7, kDelayedMatrix = 8;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {
/// Encodes programs; their names go into a table.
class Encoder {
public:
  /// `format`: the version of the bundle.
  Encoder(std::string &bytes, uint32_t format)
      : bytes(&bytes), format(format) {}

  /// As ULEB128. Most numbers are one byte, of which a stream would make much.
  void putUint(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      bytes->push_back(static_cast<char>(value | 0x80));
    bytes->push_back(static_cast<char>(value));
  }
  void putString(StringRef text) {
    putUint(text.size());
    bytes->append(text.data(), text.size());
  }
  void putName(StringRef name) { putUint(getNumber(name)); }
  /// 0 for no name.
  void putOptionalName(StringRef name) {
    putUint(name.empty() ? 0 : getNumber(name) + 1);
  }
  template <typename Range, typename Fn>
  void putList(const Range &elements, Fn put) {
    putUint(elements.size());
    for (const auto &element : elements)
      put(element);
  }

  void putClasses(ArrayRef<TraceBundle::Class> classes);
  void putKernels(ArrayRef<TraceBundle::Class> classes);
  ArrayRef<std::pair<StringRef, uint32_t>> getNames() const {
    return names.getArrayRef();
  }

private:
  uint32_t getNumber(StringRef name) {
    return names.try_emplace(name, names.size()).first->second;
  }
  void putSlot(TraceProgram::Slot slot) {
    putUint(slot.index);
    putUint(slot.count);
  }
  void putAlias(TraceProgram::Alias alias) {
    putUint(alias.from);
    putUint(alias.to);
  }
  void putStack(TraceProgram::Stack stack) {
    putUint(stack.inner);
    putUint(stack.outer);
    putUint(stack.count);
  }
  void putNode(const NodeTemplate &node,
               const TraceProgram::NodeWiring &wiring);
  void putRepeat(const TraceProgram::Repeat &repeat);
  void putCall(const TraceProgram::Call &call);
  void putSchedule(const TraceProgram::Schedule &schedule);
  void putChannel(const Channel &channel);
  void putSequence(ArrayRef<int64_t> values);
  void putSeries(const TraceProgram &program,
                 const TraceProgram::Series &series);
  void putSeriesKernel(const TraceProgram &program,
                       const TraceProgram::Series &series);
  void putProgram(const TraceProgram &program);
  void putKernels(const TraceProgram &program);
  void putLargest(const TraceProgram &program);
  std::string encodeProgram(const TraceProgram &program);

  std::string *bytes;
  uint32_t format;
  MapVector<StringRef, uint32_t> names;
};
} // namespace

/// The number of a kind of node; matrix products are one of their own.
static uint64_t encodeKind(const NodeTemplate &node, uint32_t format) {
  if (node.isTransfer())
    return node.kind == NodeKind::Load ? kLoad : kStore;
  if (node.isDelayed && format >= kWithDelayed)
    return node.isMatrix ? kDelayedMatrix : kDelayed;
  return node.isMatrix ? kMatrix : static_cast<uint64_t>(node.kind);
}

void Encoder::putNode(const NodeTemplate &node,
                      const TraceProgram::NodeWiring &wiring) {
  putName(node.name);
  putName(node.phase);
  putUint(encodeKind(node, format));
  switch (node.kind) {
  case NodeKind::Comp:
    putUint(node.operations);
    putUint(node.bytes);
    break;
  case NodeKind::Coll:
    putUint(static_cast<uint64_t>(node.collective));
    putUint(node.bytes);
    putUint(node.commSize);
    putUint(node.axes & kAxesOfMask);
    putUint(node.axes >> kMaxAxes);
    break;
  case NodeKind::Send:
  case NodeKind::Recv:
    putUint(node.bytes);
    putUint(node.channel);
    break;
  case NodeKind::Load:
  case NodeKind::Store:
    putUint(node.bytes);
    break;
  }
  putList(wiring.reads, [&](TraceProgram::Slot slot) { putSlot(slot); });
  putList(wiring.after, [&](TraceProgram::Slot slot) { putSlot(slot); });
  putList(wiring.outputs, [&](const TraceProgram::Output &output) {
    putUint(output.kind);
    putSlot(output.slot);
    putUint(output.kind == TraceProgram::Output::New ? output.tensorTemplate
                                                     : output.source);
  });
}

void Encoder::putRepeat(const TraceProgram::Repeat &repeat) {
  putName(repeat.name);
  putUint(repeat.count);
  putUint(repeat.first);
  putUint(repeat.reverse);
  putUint(repeat.body);
  putList(repeat.carries, [&](TraceProgram::Carry carry) {
    for (uint32_t slot : {carry.init, carry.arg, carry.yielded, carry.result})
      putUint(slot);
  });
  putList(repeat.slices, [&](TraceProgram::Stack stack) { putStack(stack); });
  putList(repeat.stacks, [&](TraceProgram::Stack stack) { putStack(stack); });
  putList(repeat.ahead, [&](TraceProgram::Ahead ahead) {
    putUint(ahead.node);
    putUint(ahead.distance);
  });
  if (format >= kWithLinks)
    putUint(repeat.group);
}

void Encoder::putCall(const TraceProgram::Call &call) {
  putOptionalName(call.scope);
  putUint(call.body);
  putList(call.args, [&](TraceProgram::Alias alias) { putAlias(alias); });
  putList(call.results, [&](TraceProgram::Alias alias) { putAlias(alias); });
}

void Encoder::putSchedule(const TraceProgram::Schedule &schedule) {
  putName(schedule.name);
  putUint(schedule.count);
  putUint(schedule.body);
  putList(schedule.lanes, [&](const TraceProgram::Lane &lane) {
    putUint(lane.slot);
    putList(lane.inits, [&](uint32_t slot) { putUint(slot); });
  });
  putList(schedule.order.runs, [&](const ExecutionOrder::Run &run) {
    putUint(run.times);
    putList(run.items, [&](const ExecutionOrder::Item &item) {
      putUint(item.step);
      if (format >= kWithPairs)
        putUint(item.isBeside);
      putUint(item.turn);
      // Small ones of both signs are small numbers.
      putUint(item.stride >= 0 ? uint64_t(item.stride) * 2
                               : uint64_t(-(int64_t(item.stride) + 1)) * 2 + 1);
    });
  });
  if (format >= kWithPairs)
    putUint(schedule.switchAxes ? *schedule.switchAxes + 1 : 0);
}

void Encoder::putChannel(const Channel &channel) {
  putUint(channel.key.axis);
  putUint(channel.key.direction);
  putUint(channel.key.channel);
  putUint(channel.isSend);
  putUint(channel.firstTag);
  putUint(channel.turns);
  if (channel.turns) {
    putUint(channel.stride);
    putUint(channel.tagStride);
  }
}

/// Numbers that grow evenly are a run: a context grows by as much in each step.
void Encoder::putSequence(ArrayRef<int64_t> values) {
  struct Run {
    uint64_t times;
    int64_t first, stride;
  };
  SmallVector<Run, 1> runs;
  for (size_t i = 0; i < values.size();) {
    size_t end = i + 1;
    // Both are in 63 bits, so that the difference fits.
    int64_t stride = end < values.size() ? values[end] - values[i] : 0;
    while (end < values.size() && values[end] - values[end - 1] == stride)
      ++end;
    runs.push_back({end - i, values[i], end - i == 1 ? 0 : stride});
    i = end;
  }
  putList(runs, [&](Run run) {
    putUint(run.times);
    putUint(run.first);
    putUint(run.stride >= 0 ? uint64_t(run.stride) * 2
                            : uint64_t(-(run.stride + 1)) * 2 + 1);
  });
}

/// The numbers of a node that can differ between iterations, in the order of
/// the format.
static SmallVector<int64_t NodeTemplate::*, 2>
getSizes(const NodeTemplate &node) {
  if (node.isComp())
    return {&NodeTemplate::operations, &NodeTemplate::bytes};
  if (node.isColl())
    return {&NodeTemplate::bytes, &NodeTemplate::commSize};
  return {&NodeTemplate::bytes};
}

/// Calls `visit` for the outputs of a series whose tensors differ between
/// iterations.
template <typename Fn>
static void forEachOwnOutput(const TraceProgram &program,
                             const TraceProgram::Series &series, Fn visit) {
  if (program.repeats[series.repeat].count < 2)
    return;
  const auto &first = program.wiring[series.node].outputs;
  const auto &second = program.wiring[series.rest].outputs;
  for (auto [number, output] : llvm::enumerate(first))
    if (output.kind == TraceProgram::Output::New &&
        output.tensorTemplate != second[number].tensorTemplate)
      visit(number);
}

void Encoder::putSeries(const TraceProgram &program,
                        const TraceProgram::Series &series) {
  putUint(series.repeat);
  putUint(series.node);
  int64_t count = program.repeats[series.repeat].count;
  auto put = [&](function_ref<int64_t(uint32_t)> get) {
    SmallVector<int64_t, 0> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(get(series.getNode(i)));
    putSequence(values);
  };
  for (int64_t NodeTemplate::*size : getSizes(program.nodes[series.node]))
    put([&](uint32_t node) { return program.nodes[node].*size; });
  SmallVector<size_t> outputs;
  forEachOwnOutput(program, series,
                   [&](size_t number) { outputs.push_back(number); });
  putUint(outputs.size());
  for (size_t number : outputs) {
    putUint(number);
    put([&](uint32_t node) {
      return program
          .tensors[program.wiring[node].outputs[number].tensorTemplate]
          .bytes;
    });
  }
}

/// The tensors that only series have stand behind all others.
static size_t countOwnTensors(const TraceProgram &program) {
  size_t count = program.tensors.size();
  for (const TraceProgram::Series &series : program.series)
    forEachOwnOutput(program, series, [&](size_t) {
      count -= program.repeats[series.repeat].count - 1;
    });
  return count;
}

void Encoder::putProgram(const TraceProgram &program) {
  putUint(program.numSlots);
  putList(ArrayRef(program.tensors).take_front(countOwnTensors(program)),
          [&](const TensorTemplate &tensor) {
            putUint(tensor.bytes);
            putUint(static_cast<unsigned>(tensor.category));
            putOptionalName(tensor.stateName);
          });
  putUint(program.getNumOwnNodes());
  for (uint32_t i = 0; i < program.getNumOwnNodes(); ++i)
    putNode(program.nodes[i], program.wiring[i]);
  putList(program.states, [&](TraceProgram::State state) {
    putUint(state.tensorTemplate);
    putUint(state.slot);
  });
  putList(program.aliases, [&](TraceProgram::Alias alias) { putAlias(alias); });
  putList(program.repeats,
          [&](const TraceProgram::Repeat &repeat) { putRepeat(repeat); });
  putList(program.calls,
          [&](const TraceProgram::Call &call) { putCall(call); });
  putList(program.schedules, [&](const TraceProgram::Schedule &schedule) {
    putSchedule(schedule);
  });
  putList(program.channels,
          [&](const Channel &channel) { putChannel(channel); });
  putList(program.bodies, [&](const TraceProgram::Body &body) {
    putList(body.steps, [&](TraceProgram::Step step) {
      putUint(uint64_t(step.index) * 8 + step.kind);
    });
  });
  if (format < kWithSteps)
    return;
  SmallVector<uint32_t> loops;
  for (auto [number, repeat] : llvm::enumerate(program.repeats))
    if (repeat.isStep)
      loops.push_back(number);
  putList(loops, [&](uint32_t number) { putUint(number); });
  putList(program.series, [&](const TraceProgram::Series &series) {
    putSeries(program, series);
  });
}

std::string Encoder::encodeProgram(const TraceProgram &program) {
  std::string own;
  std::string *outer = std::exchange(bytes, &own);
  putProgram(program);
  bytes = outer;
  return own;
}

/// Programs, each once, and the classes that run them.
void Encoder::putClasses(ArrayRef<TraceBundle::Class> classes) {
  StringMap<uint32_t> numberOf;
  SmallVector<uint32_t> numbers;
  SmallVector<StringRef> programs;
  for (const TraceBundle::Class &entry : classes) {
    auto [it, isNew] =
        numberOf.try_emplace(encodeProgram(entry.program), programs.size());
    if (isNew)
      programs.push_back(it->getKey());
    numbers.push_back(it->second);
  }
  putList(ArrayRef<StringRef>(programs),
          [&](StringRef program) { putString(program); });
  putUint(classes.size());
  for (auto [entry, number] : llvm::zip_equal(classes, numbers)) {
    putName(entry.name);
    putList(entry.ranks.getCoordinates(), [&](RankClass::Coordinate fixed) {
      putUint(fixed.axis);
      putUint(fixed.value);
    });
    putUint(number);
  }
}

/// True if the kernel differs between iterations.
static bool hasOwnKernels(const TraceProgram &program,
                          const TraceProgram::Series &series) {
  return program.repeats[series.repeat].count > 1 &&
         program.nodes[series.node].kernel != program.nodes[series.rest].kernel;
}

/// The sizes of its kernel by iteration, or nothing.
void Encoder::putSeriesKernel(const TraceProgram &program,
                              const TraceProgram::Series &series) {
  bool differs = hasOwnKernels(program, series);
  putUint(differs);
  if (!differs)
    return;
  auto getSize = [&](int64_t index, size_t number) {
    return program.kernels[program.nodes[series.getNode(index)].kernel]
        .sizes[number];
  };
  size_t numSizes =
      program.kernels[program.nodes[series.node].kernel].sizes.size();
  for (size_t number = 0; number < numSizes; ++number) {
    SmallVector<int64_t, 0> values;
    for (int64_t i = 0; i < program.repeats[series.repeat].count; ++i)
      values.push_back(getSize(i, number));
    putSequence(values);
  }
}

/// The kernels that only series have stand behind all others.
static size_t countOwnKernels(const TraceProgram &program) {
  size_t count = program.kernels.size();
  for (const TraceProgram::Series &series : program.series)
    if (hasOwnKernels(program, series))
      count -= program.repeats[series.repeat].count - 1;
  return count;
}

void Encoder::putKernels(const TraceProgram &program) {
  auto own = ArrayRef(program.kernels).take_front(countOwnKernels(program));
  putList(own, [&](const Kernel &kernel) {
    putName(kernel.op);
    putName(kernel.operandType);
    putName(kernel.resultType);
    putUint(kernel.accumulates);
    putList(kernel.sizes, [&](int64_t size) { putUint(size); });
  });
  // Of each compute node.
  for (const NodeTemplate &node :
       ArrayRef(program.nodes).take_front(program.getNumOwnNodes()))
    if (node.isComp())
      putUint(node.kernel == kNone ? 0 : uint64_t(node.kernel) + 1);
  for (const TraceProgram::Series &series : program.series)
    putSeriesKernel(program, series);
}

/// True if what its largest rank brings differs between iterations.
static bool hasOwnLargest(const TraceProgram &program,
                          const TraceProgram::Series &series) {
  int64_t most = program.nodes[series.node].mostBytes;
  for (int64_t i = 1; i < program.repeats[series.repeat].count; ++i)
    if (program.nodes[series.getNode(i)].mostBytes != most)
      return true;
  return false;
}

/// What the largest rank of a group brings, where its ranks bring different
/// bytes; and by iteration.
void Encoder::putLargest(const TraceProgram &program) {
  SmallVector<uint32_t> numbers;
  for (uint32_t i = 0; i < program.getNumOwnNodes(); ++i)
    if (program.nodes[i].mostBytes)
      numbers.push_back(i);
  putList(numbers, [&](uint32_t number) {
    putUint(number);
    putUint(program.nodes[number].mostBytes);
  });
  for (const TraceProgram::Series &series : program.series) {
    bool differs = hasOwnLargest(program, series);
    putUint(differs);
    if (!differs)
      continue;
    SmallVector<int64_t, 0> values;
    for (int64_t i = 0; i < program.repeats[series.repeat].count; ++i)
      values.push_back(program.nodes[series.getNode(i)].mostBytes);
    putSequence(values);
  }
}

/// Of each class, with a table of names. No trace depends on them, so they are
/// not part of the core.
void Encoder::putKernels(ArrayRef<TraceBundle::Class> classes) {
  std::string own;
  Encoder encoder(own, format);
  for (const TraceBundle::Class &entry : classes) {
    encoder.putKernels(entry.program);
    if (format >= kWithLargest)
      encoder.putLargest(entry.program);
  }
  putList(encoder.getNames(), [&](const std::pair<StringRef, uint32_t> &entry) {
    putString(entry.first);
  });
  *bytes += own;
}

/// The first version that has all of a program; each has what those before
/// have.
static uint32_t getFirstFormat(const TraceProgram &program) {
  auto hasRepeat = [&](auto isOne) {
    return llvm::any_of(program.repeats, isOne);
  };
  auto hasNode = [&](auto isOne) { return llvm::any_of(program.nodes, isOne); };
  if (program.hasPairs())
    return hasNode([](const NodeTemplate &node) { return node.isDelayed; })
               ? kWithDelayed
               : kWithPairs;
  if (hasRepeat(
          [](const TraceProgram::Repeat &repeat) { return repeat.group != 0; }))
    return kWithLinks;
  if (hasNode([](const NodeTemplate &node) { return node.mostBytes != 0; }))
    return kWithLargest;
  if (hasRepeat(
          [](const TraceProgram::Repeat &repeat) { return repeat.isStep; }))
    return kWithSteps;
  return program.usesHost() ? kWithTransfers : kVersion;
}

uint32_t TraceBundle::getFormat(ArrayRef<Class> classes) {
  uint32_t format = kVersion;
  for (const Class &entry : classes)
    format = std::max(format, getFirstFormat(entry.program));
  return format;
}

/// What the fingerprint covers.
std::string TraceBundle::encodeCore() const {
  // The table of names stands before the classes, which fill it.
  std::string classBytes, core;
  uint32_t format = getFormat(classes);
  Encoder classEncoder(classBytes, format), encoder(core, format);
  classEncoder.putClasses(classes);
  encoder.putUint(kConventions);
  encoder.putString(version);
  encoder.putString(prefix);
  encoder.putList(space.getAxes(), [&](const RankSpace::Axis &axis) {
    encoder.putString(axis.name);
    encoder.putUint(axis.size);
  });
  encoder.putList(space.getSubsets(), [&](const std::vector<int64_t> &subset) {
    encoder.putList(subset,
                    [&](int64_t coordinate) { encoder.putUint(coordinate); });
  });
  encoder.putList(classEncoder.getNames(),
                  [&](const std::pair<StringRef, uint32_t> &entry) {
                    encoder.putString(entry.first);
                  });
  core += classBytes;
  return core;
}

static void putFixed(raw_ostream &os, uint64_t value, unsigned size) {
  char bytes[8];
  support::endian::write64le(bytes, value);
  os.write(bytes, size);
}

void TraceBundle::write(raw_ostream &os) const {
  std::string content, core = encodeCore();
  raw_string_ostream stream(content);
  putFixed(stream, fingerprint, 8);
  putFixed(stream, core.size(), 8);
  stream << core;
  uint32_t format = getFormat(classes);
  Encoder encoder(content, format);
  encoder.putString(getManifest(0, space.getNumRanks()));
  encoder.putUint(manifestBefore.size());
  encoder.putUint(manifestAfter.size());
  encoder.putKernels(classes);
  os << kBundleMagic;
  putFixed(os, format, 4);
  putFixed(os, kHeaderSize + content.size(), 8);
  putFixed(os, xxh3_64bits(content), 8);
  os << content;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// Decodes what Encoder has written. A mistake is remembered, and all that
/// follows reads as 0; callers check once, after each list at the latest.
class Decoder {
public:
  explicit Decoder(StringRef bytes) : rest(bytes) {}

  bool isGood() const { return !error; }
  bool isAtEnd() const { return rest.empty(); }
  const char *getError() const { return error; }
  void fail(const char *message) {
    if (!error)
      error = message;
    rest = "";
  }

  uint64_t getUint() {
    unsigned size = 0;
    const char *problem = nullptr;
    // 64 bits are 10 bytes; of more, LLVM would shift too far.
    StringRef bytes = rest.take_front(10);
    const auto *begin = bytes.bytes_begin();
    uint64_t value = decodeULEB128(begin, &size, bytes.bytes_end(), &problem);
    if (problem || (size > 1 && begin[size - 1] == 0)) {
      fail("a number is cut off, too large, or padded");
      return 0;
    }
    rest = rest.drop_front(size);
    return value;
  }
  /// A number that is at most `limit`.
  uint64_t getUint(uint64_t limit) {
    uint64_t value = getUint();
    if (value <= limit)
      return value;
    fail("a number is out of range");
    return 0;
  }
  uint32_t getIndex() { return static_cast<uint32_t>(getUint(UINT32_MAX)); }
  int64_t getSize() { return static_cast<int64_t>(getUint(INT64_MAX)); }
  bool getBool() { return getUint(1) != 0; }
  StringRef getString() { return getBytes(getUint()); }
  uint64_t getFixed64() {
    if (rest.size() < 8) {
      fail("the file is cut off");
      return 0;
    }
    uint64_t value = support::endian::read64le(rest.data());
    rest = rest.drop_front(8);
    return value;
  }
  /// Calls `get` for each element. An element takes at least a byte, so that a
  /// count can be checked before anything is made.
  template <typename Fn> void getList(Fn get) {
    uint64_t count = getUint();
    if (count > rest.size())
      return fail("a list is cut off");
    for (uint64_t i = 0; i < count && isGood(); ++i)
      get();
  }
  /// The next `size` bytes.
  StringRef getBytes(uint64_t size) {
    if (size > rest.size()) {
      fail("the file is cut off");
      return "";
    }
    StringRef bytes = rest.take_front(size);
    rest = rest.drop_front(size);
    return bytes;
  }
  StringRef getRest() const { return rest; }

private:
  StringRef rest;
  const char *error = nullptr;
};

/// Decodes programs with a table of names.
class ProgramDecoder {
public:
  ProgramDecoder(Decoder &in, ArrayRef<StringRef> names, uint32_t format)
      : in(in), names(names), format(format) {}

  TraceProgram getProgram();
  void getKernels(TraceProgram &program);
  void getLargest(TraceProgram &program);
  StringRef getName() { return getName(in.getUint()); }

private:
  StringRef getName(uint64_t number) {
    if (number < names.size())
      return names[number];
    in.fail("a name does not exist");
    return "";
  }
  StringRef getOptionalName() {
    uint64_t number = in.getUint();
    return number == 0 ? StringRef() : getName(number - 1);
  }
  TraceProgram::Slot getSlot() {
    uint32_t index = in.getIndex();
    return {index, in.getIndex()};
  }
  TraceProgram::Alias getAlias() {
    uint32_t from = in.getIndex();
    return {from, in.getIndex()};
  }
  TraceProgram::Stack getStack() {
    uint32_t inner = in.getIndex(), outer = in.getIndex();
    return {inner, outer, in.getIndex()};
  }
  void getNode(TraceProgram &program);
  void getPayload(NodeTemplate &node);
  TraceProgram::Output getOutput();
  TraceProgram::Repeat getRepeat();
  TraceProgram::Call getCall();
  TraceProgram::Schedule getSchedule();
  ExecutionOrder::Item getItem();
  void setPeers(TraceProgram &program);
  Channel getChannel();
  TensorTemplate getTensor();
  TraceProgram::Step getStep();
  SmallVector<int64_t, 0> getSequence(int64_t count);
  void getSteps(TraceProgram &program);
  void getSeries(TraceProgram &program);
  void getSeriesKernel(TraceProgram &program,
                       const TraceProgram::Series &series);

  Decoder &in;
  ArrayRef<StringRef> names;
  uint32_t format;        ///< The version of the bundle.
  uint64_t numSeries = 0; ///< Of all iterations of series so far.
};
} // namespace

TensorTemplate ProgramDecoder::getTensor() {
  int64_t bytes = in.getSize();
  auto category =
      static_cast<TensorCategory>(in.getUint(kNumTensorCategories - 1));
  return {bytes, category, getOptionalName()};
}

/// Reads what depends on the kind.
void ProgramDecoder::getPayload(NodeTemplate &node) {
  switch (node.kind) {
  case NodeKind::Comp:
    node.operations = in.getSize();
    node.bytes = in.getSize();
    return;
  case NodeKind::Coll: {
    node.collective = static_cast<CollectiveType>(in.getUint(INT32_MAX));
    node.bytes = in.getSize();
    node.commSize = in.getSize();
    node.axes = in.getUint(kAxesOfMask);
    node.axes |= in.getUint(UINT16_MAX) << kMaxAxes;
    return;
  }
  case NodeKind::Send:
  case NodeKind::Recv:
    node.bytes = node.commSize = in.getSize();
    node.channel = in.getIndex();
    return;
  case NodeKind::Load:
  case NodeKind::Store:
    node.bytes = in.getSize();
    return;
  }
}

TraceProgram::Output ProgramDecoder::getOutput() {
  TraceProgram::Output output = {};
  output.kind = static_cast<TraceProgram::Output::Kind>(
      in.getUint(TraceProgram::Output::Token));
  output.slot = getSlot();
  uint32_t what = in.getIndex();
  (output.kind == TraceProgram::Output::New ? output.tensorTemplate
                                            : output.source) = what;
  return output;
}

void ProgramDecoder::getNode(TraceProgram &program) {
  NodeTemplate node;
  node.name = getName();
  node.phase = getName();
  uint64_t kind = in.getUint(format >= kWithDelayed ? kDelayedMatrix : kStore);
  node.isMatrix = kind == kMatrix || kind == kDelayedMatrix;
  node.isDelayed = kind >= kDelayed;
  if (kind < kMatrix)
    node.kind = static_cast<NodeKind>(kind);
  else if (kind == kLoad || kind == kStore)
    node.kind = kind == kLoad ? NodeKind::Load : NodeKind::Store;
  getPayload(node);
  TraceProgram::NodeWiring wiring;
  in.getList([&] { wiring.reads.push_back(getSlot()); });
  in.getList([&] { wiring.after.push_back(getSlot()); });
  in.getList([&] { wiring.outputs.push_back(getOutput()); });
  program.nodes.push_back(node);
  program.wiring.push_back(std::move(wiring));
}

TraceProgram::Repeat ProgramDecoder::getRepeat() {
  TraceProgram::Repeat repeat = {};
  repeat.name = getName();
  repeat.count = in.getSize();
  repeat.first = in.getSize();
  repeat.reverse = in.getBool();
  repeat.body = in.getIndex();
  in.getList([&] {
    TraceProgram::Carry carry = {};
    for (uint32_t *slot :
         {&carry.init, &carry.arg, &carry.yielded, &carry.result})
      *slot = in.getIndex();
    repeat.carries.push_back(carry);
  });
  in.getList([&] { repeat.slices.push_back(getStack()); });
  in.getList([&] { repeat.stacks.push_back(getStack()); });
  in.getList([&] {
    uint32_t node = in.getIndex();
    repeat.ahead.push_back({node, static_cast<int64_t>(in.getIndex())});
  });
  if (format >= kWithLinks)
    repeat.group = in.getIndex();
  return repeat;
}

TraceProgram::Call ProgramDecoder::getCall() {
  TraceProgram::Call call = {};
  call.scope = getOptionalName();
  call.body = in.getIndex();
  in.getList([&] { call.args.push_back(getAlias()); });
  in.getList([&] { call.results.push_back(getAlias()); });
  return call;
}

ExecutionOrder::Item ProgramDecoder::getItem() {
  ExecutionOrder::Item item = {};
  item.step = in.getIndex();
  item.isBeside = format >= kWithPairs && in.getBool();
  item.turn = in.getIndex();
  auto stride = static_cast<int64_t>(in.getUint(UINT32_MAX));
  item.stride =
      static_cast<int32_t>(stride % 2 ? -(stride / 2) - 1 : stride / 2);
  return item;
}

TraceProgram::Schedule ProgramDecoder::getSchedule() {
  TraceProgram::Schedule schedule = {};
  schedule.name = getName();
  schedule.count = static_cast<uint32_t>(in.getUint(INT32_MAX));
  schedule.body = in.getIndex();
  in.getList([&] {
    TraceProgram::Lane &lane = schedule.lanes.emplace_back();
    lane.slot = in.getIndex();
    in.getList([&] { lane.inits.push_back(in.getIndex()); });
  });
  in.getList([&] {
    ExecutionOrder::Run &run = schedule.order.runs.emplace_back();
    run.times = static_cast<uint32_t>(in.getUint(INT32_MAX));
    in.getList([&] { run.items.push_back(getItem()); });
  });
  if (format >= kWithPairs)
    if (uint64_t axes = in.getUint(kAxesOfMask + 1))
      schedule.switchAxes = axes - 1;
  return schedule;
}

Channel ProgramDecoder::getChannel() {
  Channel channel = {};
  channel.key.axis = in.getIndex();
  channel.key.direction = static_cast<int64_t>(in.getUint(INT32_MAX));
  channel.key.channel = in.getSize();
  channel.isSend = in.getBool();
  channel.firstTag = in.getIndex();
  channel.turns = static_cast<uint32_t>(in.getUint(INT32_MAX));
  if (channel.turns) {
    channel.stride = in.getSize();
    channel.tagStride = static_cast<uint32_t>(in.getUint(INT32_MAX));
  }
  return channel;
}

TraceProgram::Step ProgramDecoder::getStep() {
  uint64_t step = in.getUint(uint64_t(UINT32_MAX) * 8 + 7);
  if (step % 8 > (format >= kWithSteps ? TraceProgram::Step::Series
                                       : TraceProgram::Step::Schedule))
    in.fail("a step is of no known kind");
  return {static_cast<TraceProgram::Step::Kind>(step % 8),
          static_cast<uint32_t>(step / 8)};
}

/// The peer of a message is where its channel leads to or comes from.
void ProgramDecoder::setPeers(TraceProgram &program) {
  for (NodeTemplate &node : program.nodes) {
    if (!node.isMessage())
      continue;
    if (node.channel >= program.channels.size())
      return in.fail("a message has no channel");
    const ChannelKey &key = program.channels[node.channel].key;
    node.axis = key.axis;
    node.shift = node.kind == NodeKind::Send ? key.direction : -key.direction;
  }
}

/// As many numbers as `count`, none of them negative.
SmallVector<int64_t, 0> ProgramDecoder::getSequence(int64_t count) {
  SmallVector<int64_t, 0> values;
  in.getList([&] {
    uint64_t times = in.getUint(count - values.size());
    __int128 first = in.getSize();
    uint64_t code = in.getUint();
    __int128 stride = code / 2;
    if (code % 2)
      stride = -stride - 1;
    __int128 last = times ? first + stride * __int128(times - 1) : -1;
    if (last < 0 || last > INT64_MAX)
      return in.fail("a number of a series is out of range");
    for (uint64_t i = 0; i < times; ++i)
      values.push_back(static_cast<int64_t>(first + stride * __int128(i)));
  });
  if (in.isGood() && values.size() != static_cast<size_t>(count))
    in.fail("a series has no number for each iteration");
  if (!in.isGood())
    values.assign(count, 0);
  return values;
}

/// Makes the nodes and the tensors that only a series has.
void ProgramDecoder::getSeries(TraceProgram &program) {
  TraceProgram::Series series = {};
  series.repeat = in.getIndex();
  series.node = in.getIndex();
  series.rest = program.nodes.size();
  if (series.repeat >= program.repeats.size() ||
      series.node >= program.getNumOwnNodes())
    return in.fail("a series has no repeat or no node");
  int64_t count = program.repeats[series.repeat].count;
  numSeries += count;
  if (count < 1 || numSeries > kMaxSeries)
    return in.fail("a series is empty or too long");
  NodeTemplate node = program.nodes[series.node];
  TraceProgram::NodeWiring wiring = program.wiring[series.node];
  for (int64_t i = 1; i < count; ++i) {
    program.nodes.push_back(node);
    program.wiring.push_back(wiring);
  }
  program.series.push_back(series);
  for (int64_t NodeTemplate::*size : getSizes(node))
    for (auto [index, value] : llvm::enumerate(getSequence(count)))
      program.nodes[series.getNode(index)].*size = value;
  if (node.isMessage())
    for (int64_t i = 0; i < count; ++i) {
      NodeTemplate &own = program.nodes[series.getNode(i)];
      own.commSize = own.bytes;
    }
  // By output; those of an iteration stand together.
  SmallVector<std::pair<size_t, SmallVector<int64_t, 0>>, 1> outputs;
  size_t next = 0;
  in.getList([&] {
    size_t number = in.getIndex();
    if (number < next || number >= wiring.outputs.size() ||
        wiring.outputs[number].kind != TraceProgram::Output::New ||
        wiring.outputs[number].tensorTemplate >= program.tensors.size())
      return in.fail("a series makes a tensor that does not exist");
    next = number + 1;
    outputs.push_back({number, getSequence(count)});
  });
  if (!in.isGood())
    return;
  for (auto &[number, bytes] : outputs)
    program.tensors[wiring.outputs[number].tensorTemplate].bytes = bytes[0];
  for (int64_t i = 1; i < count; ++i)
    for (auto &[number, bytes] : outputs) {
      TraceProgram::Output &output =
          program.wiring[series.getNode(i)].outputs[number];
      TensorTemplate tensor = program.tensors[output.tensorTemplate];
      tensor.bytes = bytes[i];
      output.tensorTemplate = program.tensors.size();
      program.tensors.push_back(tensor);
    }
}

/// Which repeats are those of steps, and what is different in each.
void ProgramDecoder::getSteps(TraceProgram &program) {
  in.getList([&] {
    uint32_t number = in.getIndex();
    if (number >= program.repeats.size())
      return in.fail("a loop over steps does not exist");
    program.repeats[number].isStep = true;
  });
  in.getList([&] { getSeries(program); });
}

TraceProgram ProgramDecoder::getProgram() {
  TraceProgram program;
  // Each is set by something that takes bytes.
  program.numSlots = static_cast<uint32_t>(
      in.getUint(std::min<uint64_t>(in.getRest().size(), UINT32_MAX)));
  in.getList([&] { program.tensors.push_back(getTensor()); });
  in.getList([&] { getNode(program); });
  in.getList([&] {
    uint32_t tensor = in.getIndex();
    program.states.push_back({tensor, in.getIndex()});
  });
  in.getList([&] { program.aliases.push_back(getAlias()); });
  in.getList([&] { program.repeats.push_back(getRepeat()); });
  in.getList([&] { program.calls.push_back(getCall()); });
  in.getList([&] { program.schedules.push_back(getSchedule()); });
  in.getList([&] { program.channels.push_back(getChannel()); });
  in.getList([&] {
    TraceProgram::Body &body = program.bodies.emplace_back();
    in.getList([&] { body.steps.push_back(getStep()); });
  });
  if (format >= kWithSteps && in.isGood())
    getSteps(program);
  setPeers(program);
  return program;
}

void ProgramDecoder::getKernels(TraceProgram &program) {
  in.getList([&] {
    Kernel &kernel = program.kernels.emplace_back();
    kernel.op = getName();
    kernel.operandType = getName();
    kernel.resultType = getName();
    kernel.accumulates = in.getBool();
    in.getList([&] { kernel.sizes.push_back(in.getSize()); });
  });
  for (NodeTemplate &node :
       MutableArrayRef(program.nodes).take_front(program.getNumOwnNodes()))
    if (node.isComp())
      if (uint64_t number = in.getUint(program.kernels.size()))
        node.kernel = static_cast<uint32_t>(number - 1);
  for (const TraceProgram::Series &series : program.series)
    if (in.isGood())
      getSeriesKernel(program, series);
}

/// Makes the kernels that only a series has.
void ProgramDecoder::getSeriesKernel(TraceProgram &program,
                                     const TraceProgram::Series &series) {
  int64_t count = program.repeats[series.repeat].count;
  uint32_t kernel = program.nodes[series.node].kernel;
  auto differs = in.getBool();
  if (differs && (kernel == kNone || count < 2))
    return in.fail("a series has no kernel");
  for (int64_t i = 1; i < count; ++i) {
    if (differs)
      program.kernels.push_back(program.kernels[kernel]);
    program.nodes[series.getNode(i)].kernel =
        differs ? program.kernels.size() - 1 : kernel;
  }
  if (!differs)
    return;
  for (size_t number = 0; number < program.kernels[kernel].sizes.size();
       ++number)
    for (auto [index, value] : llvm::enumerate(getSequence(count)))
      program.kernels[program.nodes[series.getNode(index)].kernel]
          .sizes[number] = value;
}

void ProgramDecoder::getLargest(TraceProgram &program) {
  in.getList([&] {
    uint32_t number = in.getIndex();
    int64_t most = in.getSize();
    if (number >= program.getNumOwnNodes() || !program.nodes[number].isColl())
      return in.fail("a node that is no collective has a largest rank");
    program.nodes[number].mostBytes = most;
  });
  for (const TraceProgram::Series &series : program.series) {
    if (!in.isGood())
      return;
    int64_t count = program.repeats[series.repeat].count;
    if (!in.getBool()) {
      for (int64_t i = 1; i < count; ++i)
        program.nodes[series.getNode(i)].mostBytes =
            program.nodes[series.node].mostBytes;
      continue;
    }
    if (!program.nodes[series.node].isColl())
      return in.fail("a node that is no collective has a largest rank");
    for (auto [index, most] : llvm::enumerate(getSequence(count)))
      program.nodes[series.getNode(index)].mostBytes = most;
  }
}

static void decodeKernels(Decoder &in, uint32_t format,
                          std::vector<TraceBundle::Class> &classes) {
  std::vector<StringRef> names;
  in.getList([&] { names.push_back(in.getString()); });
  for (TraceBundle::Class &entry : classes) {
    ProgramDecoder decoder(in, names, format);
    if (in.isGood())
      decoder.getKernels(entry.program);
    if (in.isGood() && format >= kWithLargest)
      decoder.getLargest(entry.program);
  }
}

static std::optional<RankSpace> decodeSpace(Decoder &in) {
  SmallVector<std::pair<std::string, int64_t>> axes;
  in.getList([&] {
    std::string name = in.getString().str();
    axes.push_back({std::move(name), in.getSize()});
  });
  std::optional<RankSpace> space = RankSpace::create(axes);
  if (!space) {
    in.fail("the mesh is too large");
    return space;
  }
  in.getList([&] {
    SmallVector<int64_t> subset;
    in.getList([&] { subset.push_back(in.getSize()); });
    bool isAscending =
        llvm::adjacent_find(subset, std::greater_equal<>()) == subset.end();
    size_t numSubsets = space->getSubsets().size();
    if (numSubsets == kMaxSubsets)
      return in.fail("there are too many subsets");
    space->restrict(0, subset);
    if (subset.empty() || !isAscending ||
        space->getSubsets().size() == numSubsets)
      in.fail("subsets are not ascending and distinct");
  });
  return space;
}

/// The coordinates of a class.
static std::optional<RankClass> decodeRanks(Decoder &in,
                                            const RankSpace &space) {
  SmallVector<RankClass::Coordinate> coordinates;
  AxisMask seen = 0;
  in.getList([&] {
    uint32_t axis = in.getIndex();
    int64_t value = in.getSize();
    if (axis >= space.getAxes().size() || value >= space.getAxes()[axis].size ||
        seen >> axis & 1)
      return in.fail("a class has a coordinate that does not exist");
    seen |= AxisMask(1) << axis;
    coordinates.push_back({axis, value});
  });
  if (!in.isGood())
    return std::nullopt;
  return RankClass(space, coordinates);
}

static std::vector<TraceProgram>
decodePrograms(Decoder &in, ArrayRef<StringRef> names, uint32_t format) {
  std::vector<TraceProgram> programs;
  in.getList([&] {
    Decoder inner(in.getString());
    programs.push_back(ProgramDecoder(inner, names, format).getProgram());
    if (inner.isGood() && !inner.isAtEnd())
      inner.fail("a program is longer than it should be");
    if (!inner.isGood())
      in.fail(inner.getError());
  });
  return programs;
}

static std::vector<TraceBundle::Class> decodeClasses(Decoder &in,
                                                     const RankSpace &space,
                                                     ArrayRef<StringRef> names,
                                                     uint32_t format) {
  std::vector<TraceProgram> programs = decodePrograms(in, names, format);
  std::vector<TraceBundle::Class> classes;
  in.getList([&] {
    StringRef name = ProgramDecoder(in, names, format).getName();
    std::optional<RankClass> ranks = decodeRanks(in, space);
    uint32_t program = in.getIndex();
    if (program >= programs.size())
      return in.fail("a class has no program");
    if (ranks)
      classes.push_back({name, std::move(*ranks), programs[program]});
  });
  return classes;
}

/// Checks programs and classes, which were decoded on their own.
static Error verify(const RankSpace &space,
                    std::vector<TraceBundle::Class> &classes) {
  SmallVector<const RankClass *> ranks;
  for (TraceBundle::Class &entry : classes) {
    ranks.push_back(&entry.ranks);
    if (Error error = entry.program.verify(space))
      return error;
    for (AxisMask mask : entry.program.getMasks())
      if (!entry.ranks.isWithin(mask, space))
        return createStringError(inconvertibleErrorCode(),
                                 "a collective is among ranks that its class "
                                 "does not belong to");
  }
  // A class of each rank of a large mesh is no use to anybody.
  constexpr int64_t kMaxCells = 1 << 24;
  AxisMask fixed = 0;
  for (const RankClass *entry : ranks)
    fixed |= entry->getFixedAxes();
  if (space.getNumPositions(fixed) > kMaxCells)
    return createStringError(inconvertibleErrorCode(), "too many classes");
  RankPartition::Conflict conflict;
  if (!RankPartition::create(space, ranks, conflict))
    return createStringError(inconvertibleErrorCode(),
                             "rank %s is not in exactly one class",
                             std::to_string(conflict.rank).c_str());
  return Error::success();
}

static uint32_t readVersion(StringRef bytes) {
  return support::endian::read32le(bytes.data() + 4);
}

/// Checks the header; what follows is as it was written.
static Error checkHeader(StringRef file, StringRef bytes) {
  if (!TraceBundle::isBundle(bytes))
    return makeError(file, "is not a bundle of traces (it does not begin with "
                           "STGB)");
  if (bytes.size() < kHeaderSize)
    return makeError(file, "the bundle is cut off");
  uint32_t version = readVersion(bytes);
  if (version < kWithoutKernels || version > kNewest)
    return makeError(file, "is a bundle of version " + Twine(version) +
                               "; this program reads versions " +
                               Twine(kWithoutKernels) + " to " +
                               Twine(kNewest));
  uint64_t size = support::endian::read64le(bytes.data() + 8);
  if (size != bytes.size())
    return makeError(file, "the bundle should have " + Twine(size) +
                               " bytes, but has " + Twine(bytes.size()));
  uint64_t checksum = support::endian::read64le(bytes.data() + 16);
  if (checksum != xxh3_64bits(bytes.drop_front(kHeaderSize)))
    return makeError(file, "the bundle is damaged: its checksum is wrong");
  return Error::success();
}

Expected<std::unique_ptr<TraceBundle>>
TraceBundle::parse(std::unique_ptr<MemoryBuffer> buffer) {
  StringRef bytes = buffer->getBuffer();
  std::string file = buffer->getBufferIdentifier().str();
  if (Error error = checkHeader(file, bytes))
    return std::move(error);
  Decoder in(bytes.drop_front(kHeaderSize));
  uint64_t fingerprint = in.getFixed64(), size = in.getFixed64();
  if (size > in.getRest().size() ||
      fingerprint != xxh3_64bits(in.getRest().take_front(size)))
    return makeError(file, "the bundle is damaged: its fingerprint is wrong");
  return parseUnchecked(std::move(buffer));
}

Expected<std::unique_ptr<TraceBundle>>
TraceBundle::parseUnchecked(std::unique_ptr<MemoryBuffer> buffer) {
  std::string file = buffer->getBufferIdentifier().str();
  uint32_t format = readVersion(buffer->getBuffer());
  Decoder all(buffer->getBuffer().drop_front(kHeaderSize));
  uint64_t fingerprint = all.getFixed64();
  Decoder in(all.getBytes(all.getFixed64()));
  if (in.getUint() != kConventions)
    return makeError(file, "the bundle was written by a version of stg that "
                           "makes other files of it; use that version");
  StringRef version = in.getString(), prefix = in.getString();
  if (!isPrefix(prefix))
    in.fail("the prefix cannot be the first part of a file name");
  std::optional<RankSpace> space = decodeSpace(in);
  std::vector<StringRef> names;
  in.getList([&] { names.push_back(in.getString()); });
  std::vector<Class> classes;
  if (in.isGood())
    classes = decodeClasses(in, *space, names, format);
  StringRef manifest = all.getString();
  uint64_t before = all.getUint(), after = all.getUint();
  if (before > manifest.size() || after > manifest.size() - before)
    all.fail("the manifest is cut off");
  if (format != kWithoutKernels)
    decodeKernels(all, format, classes);
  for (Decoder *part : {&in, &all}) {
    if (part->isGood() && !part->isAtEnd())
      part->fail("there are bytes after the end");
    if (!part->isGood())
      return makeError(file, part->getError());
  }
  if (Error error = verify(*space, classes))
    return makeError(file, toString(std::move(error)));
  std::unique_ptr<TraceBundle> bundle(
      new TraceBundle(version.str(), prefix.str(), std::move(*space),
                      std::move(classes), fingerprint));
  bundle->setManifest(manifest.take_front(before).str(),
                      manifest.take_back(after).str());
  bundle->buffer = std::move(buffer);
  return std::move(bundle);
}

std::optional<std::string> TraceBundle::findIn(StringRef directory) {
  SmallString<128> path(directory);
  sys::path::append(path, kFileName);
  if (!sys::fs::exists(path))
    return std::nullopt;
  return path.str().str();
}

Expected<std::unique_ptr<TraceBundle>> TraceBundle::open(StringRef path) {
  ReadOptions options;
  options.isNullTerminated = false;
  options.isCopied = true;
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readFile(path, options);
  if (!buffer)
    return makeError(path, toString(buffer.takeError()));
  return parse(std::move(*buffer));
}
