//===- StepMessages.cpp - Messages between classes ------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepSimulation.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;
using namespace stg;
using namespace stg::trace;

/// The classes that have the other ends of the messages of a class.
SmallVector<uint32_t> StepSimulation::getPeers(uint32_t index,
                                               const NodeTemplate &node) const {
  const RankPartition &partition = programs.getPartition();
  SmallVector<uint32_t> peers;
  for (int64_t cell : cells[index]) {
    uint32_t peer = partition.getClass(programs.getSpace().getNeighbour(
        partition.getFirstRank(cell), node.axis, node.shift));
    if (!is_contained(peers, peer))
      peers.push_back(peer);
  }
  return peers;
}

bool StepSimulation::isBetweenClasses(const ClassRun &run,
                                      Program::Step step) const {
  if (step.kind != Program::Step::Node && step.kind != Program::Step::Series)
    return false;
  const NodeTemplate &node =
      run.source->program.nodes[run.source->program.getNode(step)];
  return node.isMessage() &&
         (programs.getPartition().getAxes() >> node.axis & 1);
}

void StepSimulation::enqueue(uint32_t index) {
  if (runs[index].isQueued)
    return;
  runs[index].isQueued = true;
  queue.push_back(index);
}

MailKey StepSimulation::getKey(const ClassRun &run, uint32_t sender,
                               uint32_t number, uint32_t turn) const {
  const NodeTemplate &node = run.source->program.nodes[number];
  const Channel &channel = run.source->program.channels[node.channel];
  uint64_t way = (uint64_t(channel.key.axis) << 32) | channel.key.direction;
  return {uint64_t(sender) << kSenderShift | way,
          channel.key.channel + int64_t(turn) * channel.stride};
}

uint32_t StepSimulation::getMailbox(MailKey key) {
  auto [it, isNew] =
      mailNumbers.try_emplace(key, static_cast<uint32_t>(mail.size()));
  if (isNew)
    mail.push_back({static_cast<uint32_t>(key.first >> kSenderShift), {}, {}});
  return it->second;
}

/// The classes that have the other ends of a message and are executed.
ArrayRef<uint32_t> StepSimulation::getPresentPeers(ClassRun &run,
                                                   uint32_t number) {
  const NodeTemplate &node = run.source->program.nodes[number];
  auto &peers = run.peers[node.channel];
  if (!peers) {
    peers.emplace(getPeers(run.index, node));
    llvm::erase_if(*peers, [&](uint32_t peer) { return runs[peer].isLeftOut; });
  }
  return *peers;
}

/// A receive only asks for its message: it is posted before it is needed, and
/// who reads it waits. What is queued is sent behind what was sent before.
void StepSimulation::runMessage(ClassRun &run, uint32_t number, uint32_t turn,
                                bool isQueued) {
  const NodeTemplate &node = run.source->program.nodes[number];
  ArrayRef<uint32_t> peers = getPresentPeers(run, number);
  if (peers.empty())
    return run.times->setOutputs(number, {});
  ProgramTimes &times = *run.times;
  const NodeTime &time = times.getTime(number);
  auto cause = static_cast<uint8_t>(ProgramTimes::kMessage + time.group);
  Ticks issue = times.getClock().compute;
  if (node.kind != NodeKind::Send) {
    auto &asked = run.asked.emplace_back();
    for (uint32_t peer : peers) {
      uint32_t box = getMailbox(getKey(run, peer, number, turn));
      if (box >= run.numAsked.size())
        run.numAsked.resize(mail.size());
      asked.push_back({box, run.numAsked[box]++});
    }
    if (recording) {
      run.askedEvents.push_back(times.getRecording()->size());
      times.getRecording()->add({RecordedEvent::Receive, time.group, number,
                                 turn, kNone, peers.front(), issue, issue,
                                 issue});
    }
    run.received.push_back({0, cause, static_cast<uint32_t>(run.asked.size())});
    times.setOutputs(number, run.received.back());
    return;
  }
  Mailbox &box = mail[getMailbox(getKey(run, run.index, number, turn))];
  Ticks start = std::max(times.getClock().compute, times.getInput(number).time);
  if (isQueued) {
    start = std::max(start, times.getClock().message);
    times.getClock().message = start + time.time;
  }
  box.arrivals.push_back(start + time.time);
  if (recording) {
    box.sends.push_back(times.getRecording()->size());
    times.getRecording()->add({RecordedEvent::Send, time.group, number, turn,
                               kNone, peers.front(), issue, start,
                               start + time.time});
  }
  times.setOutputs(number, {start + time.time, cause});
  if (execution.blockingMessages)
    times.waitFor({start + time.time, cause});
  llvm::for_each(peers, [&](uint32_t peer) { enqueue(peer); });
}

/// False if it is a message that has not been sent.
bool StepSimulation::isThere(ClassRun &run, ProgramTimes::Value &value) {
  if (!value.pending)
    return true;
  Ticks last = 0;
  for (auto [box, number] : run.asked[value.pending - 1]) {
    ArrayRef<Ticks> arrivals = mail[box].arrivals;
    if (number >= arrivals.size())
      return false;
    last = std::max(last, arrivals[number]);
  }
  value = {last, value.cause};
  return true;
}

/// The same of all that a step of the first body reads.
bool StepSimulation::areInputsThere(ClassRun &run, Program::Step step) {
  const Program &program = run.source->program;
  SmallVector<uint32_t> slots;
  if (step.kind == Program::Step::Node || step.kind == Program::Step::Series) {
    const Program::NodeWiring &wiring = program.wiring[program.getNode(step)];
    for (Program::Slot slot :
         llvm::concat<const Program::Slot>(wiring.reads, wiring.after))
      slots.push_back(slot.index);
  } else if (step.kind == Program::Step::Call) {
    for (Program::Alias alias : program.calls[step.index].args)
      slots.push_back(alias.from);
    append_range(slots,
                 run.times->getExternals(program.calls[step.index].body));
  } else if (step.kind == Program::Step::Repeat) {
    for (Program::Carry carry : program.repeats[step.index].carries)
      slots.push_back(carry.init);
    append_range(slots,
                 run.times->getExternals(program.repeats[step.index].body));
  }
  return areThere(run, slots);
}

bool StepSimulation::areThere(ClassRun &run, ArrayRef<uint32_t> slots) {
  return llvm::all_of(slots, [&](uint32_t slot) {
    return isThere(run, run.times->getValue(slot));
  });
}

/// True for a repeat in which nothing waits for what is received.
bool StepSimulation::hasOnlyMessages(const Program &program,
                                     Program::Step step) const {
  if (step.kind == Program::Step::Node)
    return program.nodes[step.index].isMessage() &&
           (programs.getPartition().getAxes() >>
                program.nodes[step.index].axis &
            1);
  return step.kind == Program::Step::Repeat &&
         llvm::all_of(program.bodies[program.repeats[step.index].body].steps,
                      [&](Program::Step inner) {
                        return hasOnlyMessages(program, inner);
                      });
}

/// The receives of such a repeat, and the senders that they wait for.
void StepSimulation::collectReceives(const ClassRun &run, Program::Step step,
                                     std::vector<bool> &isBetween,
                                     DenseSet<MailKey> &keys) {
  const Program &program = run.source->program;
  if (step.kind == Program::Step::Repeat) {
    for (Program::Step inner :
         program.bodies[program.repeats[step.index].body].steps)
      collectReceives(run, inner, isBetween, keys);
  } else if (program.nodes[step.index].kind == NodeKind::Recv) {
    isBetween[step.index] = true;
    for (uint32_t peer : getPeers(run.index, program.nodes[step.index]))
      keys.insert(getKey(run, peer, step.index, 0));
  }
}

/// Messages in repeats and calls of which the other class has to know: those
/// that are received before anything else is executed.
void StepSimulation::findMessages() {
  std::vector<std::vector<bool>> isBetween;
  DenseSet<MailKey> keys;
  for (ClassRun &run : runs) {
    const Program &program = run.source->program;
    auto &own = isBetween.emplace_back(program.nodes.size(), false);
    for (Program::Step step : program.bodies.front().steps)
      if (hasOnlyMessages(program, step))
        collectReceives(run, step, own, keys);
  }
  if (keys.empty())
    return;
  for (auto [run, own] : llvm::zip_equal(runs, isBetween)) {
    const Program &program = run.source->program;
    for (auto [number, node] : llvm::enumerate(program.nodes))
      if (node.kind == NodeKind::Send &&
          keys.contains(getKey(run, run.index, number, 0)))
        own[number] = true;
    run.times->setMessaging(std::move(own), [this, &run = run](uint32_t node) {
      runMessage(run, node, 0, /*isQueued=*/true);
    });
  }
}
