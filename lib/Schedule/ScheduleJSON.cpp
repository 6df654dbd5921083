//===- ScheduleJSON.cpp - Schedules as text -------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleDetail.h"
#include "stg/Support/JSON.h"
#include "stg/Support/Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include <limits>
#include <optional>

using namespace llvm;

namespace stg {

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Reads `KIND STAGE . MICROBATCH` without the spaces.
static std::optional<PipelineAction> parseAction(StringRef text) {
  constexpr StringLiteral kinds = "FBIW";
  if (text.empty() || !kinds.contains(text.front()))
    return std::nullopt;
  PipelineAction action;
  action.kind = static_cast<PipelineAction::Kind>(kinds.find(text.front()));
  text = text.drop_front();
  if (text.consumeInteger(10, action.stage) || !text.consume_front(".") ||
      text.consumeInteger(10, action.microBatch) || !text.empty())
    return std::nullopt;
  return action;
}

static std::optional<unsigned> getUnsigned(const json::Value &value) {
  std::optional<int64_t> number = value.getAsInteger();
  if (!number || *number < 0 || *number > std::numeric_limits<unsigned>::max())
    return std::nullopt;
  return static_cast<unsigned>(*number);
}

namespace {

/// Reads the fields of one object.
class ScheduleReader {
public:
  explicit ScheduleReader(const json::Object &object) : object(object) {}

  Expected<PipelineSchedule> run();

private:
  Error checkKeys() const;
  Error readNumber(StringRef key, unsigned &number) const;
  Error readPlacement();
  Error readActions();
  Error readDevice(size_t device, const json::Array &list);

  const json::Object &object;
  PipelineSchedule schedule;
};

} // namespace

Error ScheduleReader::checkKeys() const {
  constexpr StringLiteral keys[] = {"name",           "devices",
                                    "virtual_stages", "micro_batches",
                                    "device_of",      "actions"};
  for (StringRef key : keys)
    if (!object.get(key))
      return makeError("'" + key + "' is missing");
  for (const auto &entry : object)
    if (!llvm::is_contained(keys, StringRef(entry.first)))
      return makeError("'" + shortenText(entry.first) +
                       "' is unknown: a schedule has " +
                       llvm::join(std::begin(keys), std::end(keys), ", "));
  return Error::success();
}

Error ScheduleReader::readNumber(StringRef key, unsigned &number) const {
  std::optional<unsigned> value = getUnsigned(*object.get(key));
  if (!value)
    return makeError("'" + key + "' is not a number from 0 to 4294967295");
  number = *value;
  return Error::success();
}

Error ScheduleReader::readPlacement() {
  const json::Array *list = object.getArray("device_of");
  if (!list)
    return makeError("'device_of' is not a list of devices");
  for (const json::Value &value : *list) {
    std::optional<unsigned> device = getUnsigned(value);
    if (!device)
      return makeError("'device_of' is not a list of devices");
    schedule.deviceOf.push_back(*device);
  }
  return Error::success();
}

/// An action, or two side by side: `B0.1|F0.4`.
Error ScheduleReader::readDevice(size_t device, const json::Array &list) {
  std::vector<PipelineAction> &actions = schedule.actions.emplace_back();
  for (const auto &[i, value] : llvm::enumerate(list)) {
    StringRef text = value.getAsString().value_or("");
    SmallVector<StringRef, 2> parts;
    text.split(parts, '|');
    for (auto [place, part] : llvm::enumerate(parts)) {
      std::optional<PipelineAction> action = parseAction(part);
      if (action) {
        action->isBeside = place > 0;
        actions.push_back(*action);
        continue;
      }
      return makeError("action " + Twine(i) + " of device " + Twine(device) +
                       ", '" + shortenText(text) +
                       "', is not written KIND STAGE . MICROBATCH with the "
                       "kind F, B, I or W, such as \"F0.3\", nor are two side "
                       "by side, such as \"B0.1|F0.4\"");
    }
  }
  return Error::success();
}

Error ScheduleReader::readActions() {
  const json::Array *lists = object.getArray("actions");
  if (!lists)
    return makeError("'actions' is not a list with a list for each device");
  for (const auto &[device, value] : llvm::enumerate(*lists)) {
    const json::Array *list = value.getAsArray();
    if (!list)
      return makeError("'actions' is not a list with a list for each device");
    if (Error error = readDevice(device, *list))
      return error;
  }
  return Error::success();
}

Expected<PipelineSchedule> ScheduleReader::run() {
  if (Error error = checkKeys())
    return error;
  std::optional<StringRef> name = object.getString("name");
  if (!name)
    return makeError("'name' is not a string");
  schedule.name = name->str();
  if (Error error = readNumber("devices", schedule.numDevices))
    return error;
  if (Error error = readNumber("virtual_stages", schedule.numVirtualStages))
    return error;
  if (Error error = readNumber("micro_batches", schedule.numMicroBatches))
    return error;
  if (Error error = readPlacement())
    return error;
  if (Error error = readActions())
    return error;
  return std::move(schedule);
}

static Expected<PipelineSchedule> getSchedule(Expected<json::Value> value) {
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  if (!object)
    return makeError("a schedule is a JSON object");
  return ScheduleReader(*object).run();
}

Expected<PipelineSchedule> parseSchedule(StringRef text) {
  return getSchedule(parseJSON(text));
}

Expected<PipelineSchedule> readSchedule(StringRef path) {
  return getSchedule(readJSON(path));
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void writeSchedule(const PipelineSchedule &schedule, raw_ostream &os) {
  os << "{\"name\": " << json::Value(json::fixUTF8(schedule.name))
     << ", \"devices\": " << schedule.numDevices
     << ", \"virtual_stages\": " << schedule.numVirtualStages
     << ", \"micro_batches\": " << schedule.numMicroBatches
     << ",\n \"device_of\": [";
  llvm::interleaveComma(schedule.deviceOf, os);
  os << "],\n \"actions\": [";
  llvm::interleave(
      schedule.actions, os,
      [&](const std::vector<PipelineAction> &list) {
        os << "\n  [";
        for (auto [i, action] : llvm::enumerate(list)) {
          if (i > 0)
            os << (action.isBeside ? "|" : "\", ");
          if (!action.isBeside)
            os << '"';
          os << action;
        }
        os << (list.empty() ? "]" : "\"]");
      },
      ",");
  os << "]}\n";
}

} // namespace stg
