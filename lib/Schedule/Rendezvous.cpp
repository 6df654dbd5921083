//===- Rendezvous.cpp - How early messages must be posted -----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a send waits until its receive has been posted, and a device sends one
// message at a time, a schedule can block although its actions could be
// executed. Posting receives earlier helps, at the cost of a buffer for each.
//
//===----------------------------------------------------------------------===//

#include "stg/Schedule/PipelineSchedule.h"
#include "stg/Support/ExecutionOrder.h"
#include "llvm/ADT/ArrayRef.h"
#include <algorithm>

using namespace stg;

namespace {
/// The messages of a schedule.
struct MessageTable {
  struct Message {
    size_t afterAction; ///< Of the sender, by position.
    unsigned target;    ///< Device.
    size_t neededBy;    ///< Position of the action that reads it.
  };
  explicit MessageTable(const PipelineSchedule &schedule);

  std::vector<std::vector<Message>> sent; ///< By device, in order.
  /// By device and action, how many messages it waits for. What is side by side
  /// is the first of the two.
  std::vector<std::vector<unsigned>> awaited;
};

/// Runs a schedule with sends that wait for their receives.
class RendezvousRun {
public:
  RendezvousRun(const MessageTable &table, unsigned ahead);
  bool completes();

private:
  struct Device {
    size_t done = 0; ///< Actions.
    size_t sent = 0; ///< Messages.
    llvm::ArrayRef<MessageTable::Message> messages;
    std::vector<unsigned> missing; ///< Messages that an action waits for.
  };

  bool advance(Device &device);

  size_t ahead;
  std::vector<Device> devices;
};
} // namespace

static bool isBackward(const PipelineAction &action) {
  return action.kind == PipelineAction::Backward ||
         action.kind == PipelineAction::BackwardInput;
}

MessageTable::MessageTable(const PipelineSchedule &schedule)
    : sent(schedule.numDevices), awaited(schedule.numDevices) {
  // Positions of forwards and of what makes input gradients.
  std::vector<uint32_t> positions(2 * size_t(schedule.numVirtualStages) *
                                  schedule.numMicroBatches);
  auto getPosition = [&](bool back, unsigned stage,
                         unsigned microBatch) -> uint32_t & {
    return positions[(size_t(stage) * schedule.numMicroBatches + microBatch) *
                         2 +
                     back];
  };
  for (const auto &actions : schedule.actions)
    for (size_t i = 0; i < actions.size(); ++i)
      if (actions[i].kind != PipelineAction::BackwardWeight)
        getPosition(isBackward(actions[i]), actions[i].stage,
                    actions[i].microBatch) = i - actions[i].isBeside;
  for (unsigned d = 0; d < schedule.numDevices; ++d)
    awaited[d].resize(schedule.actions[d].size());
  for (unsigned d = 0; d < schedule.numDevices; ++d)
    for (size_t i = 0; i < schedule.actions[d].size(); ++i) {
      const PipelineAction &action = schedule.actions[d][i];
      bool back = isBackward(action);
      if (action.kind == PipelineAction::BackwardWeight ||
          (back ? action.stage == 0
                : action.stage + 1 == schedule.numVirtualStages))
        continue;
      unsigned stage = back ? action.stage - 1 : action.stage + 1;
      unsigned target = schedule.deviceOf[stage];
      if (target == d)
        continue;
      size_t neededBy = getPosition(back, stage, action.microBatch);
      sent[d].push_back(
          {i + isNextBeside(schedule.actions[d], i), target, neededBy});
      ++awaited[target][neededBy];
    }
}

RendezvousRun::RendezvousRun(const MessageTable &table, unsigned ahead)
    : ahead(ahead), devices(table.sent.size()) {
  for (size_t d = 0; d < devices.size(); ++d) {
    devices[d].messages = table.sent[d];
    devices[d].missing = table.awaited[d];
  }
}

/// The next action and the next message, if they can be. A message that waits
/// holds up the collectives of actions behind it.
bool RendezvousRun::advance(Device &device) {
  bool changed = false;
  auto isHeldUp = [&] {
    return device.sent < device.messages.size() &&
           device.messages[device.sent].afterAction < device.done;
  };
  while (device.done < device.missing.size() &&
         device.missing[device.done] == 0 && !isHeldUp()) {
    ++device.done;
    changed = true;
  }
  while (device.sent < device.messages.size()) {
    const MessageTable::Message &message = device.messages[device.sent];
    Device &target = devices[message.target];
    if (message.afterAction >= device.done ||
        target.done + ahead < message.neededBy)
      break;
    --target.missing[message.neededBy];
    ++device.sent;
    changed = true;
  }
  return changed;
}

bool RendezvousRun::completes() {
  for (bool changed = true; changed;) {
    changed = false;
    for (Device &device : devices)
      changed |= advance(device);
  }
  for (const Device &device : devices)
    if (device.done < device.missing.size())
      return false;
  return true;
}

unsigned stg::getReceiveAhead(const PipelineSchedule &schedule) {
  size_t longest = 1;
  for (const auto &actions : schedule.actions)
    longest = std::max(longest, actions.size());
  MessageTable messages(schedule);
  for (unsigned ahead = 1; ahead < longest; ahead *= 2)
    if (RendezvousRun(messages, ahead).completes())
      return ahead;
  return longest;
}
