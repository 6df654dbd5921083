//===- ChromeTrace.cpp - Timelines that viewers open ----------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Estimate/ChromeTrace.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace stg;
using trace::CollectiveType;

std::pair<StringRef, StringRef> stg::getProfilerNames(CollectiveType type) {
  switch (type) {
  case CollectiveType::AllReduce:
    return {"allreduce", "ncclDevKernel_AllReduce"};
  case CollectiveType::AllGather:
    return {"_allgather_base", "ncclDevKernel_AllGather"};
  case CollectiveType::AllToAll:
    return {"all_to_allv", "ncclDevKernel_AllToAll"};
  case CollectiveType::ReduceScatter:
    return {"_reduce_scatter_base", "ncclDevKernel_ReduceScatter"};
  case CollectiveType::Broadcast:
    return {"broadcast", "ncclDevKernel_Broadcast"};
  }
  llvm_unreachable("unknown collective");
}

StringRef stg::getProfilerName(bool isLoad) {
  return isLoad ? "Memcpy HtoD (Pinned -> Device)"
                : "Memcpy DtoH (Device -> Pinned)";
}

std::string stg::formatMicroseconds(Ticks time) {
  constexpr Ticks one = 1000000;
  return formatv("{0}.{1,0+6}", time / one, time % one).str();
}

ChromeTrace::ChromeTrace(raw_ostream &os, int64_t rank, int64_t numRanks)
    : json(os) {
  json.objectBegin();
  json.attribute("schemaVersion", 1);
  json.attributeObject("distributedInfo", [&] {
    json.attribute("backend", "nccl");
    json.attribute("rank", rank);
    json.attribute("world_size", numRanks);
  });
  json.attributeBegin("traceEvents");
  json.arrayBegin();
}

ChromeTrace::~ChromeTrace() {
  json.arrayEnd();
  json.attributeEnd();
  json.attribute("displayTimeUnit", "ms");
  json.objectEnd();
}

void ChromeTrace::begin(StringRef phase, int64_t process, StringRef name) {
  json.objectBegin();
  json.attribute("ph", phase);
  json.attribute("pid", process);
  json.attribute("name", name);
}

void ChromeTrace::setTime(StringRef key, Ticks time) {
  json.attributeBegin(key);
  json.rawValue(formatMicroseconds(time));
  json.attributeEnd();
}

void ChromeTrace::addName(StringRef kind, int64_t process,
                          std::optional<int64_t> thread, Arguments arguments) {
  begin("M", process, kind);
  if (thread)
    json.attribute("tid", *thread);
  json.attributeObject("args", [&] { arguments(json); });
  json.objectEnd();
}

void ChromeTrace::nameProcess(int64_t process, StringRef name, int64_t order) {
  addName("process_name", process, std::nullopt,
          [&](json::OStream &args) { args.attribute("name", name); });
  addName("process_sort_index", process, std::nullopt,
          [&](json::OStream &args) { args.attribute("sort_index", order); });
}

void ChromeTrace::nameThread(int64_t process, int64_t thread, StringRef name) {
  addName("thread_name", process, thread,
          [&](json::OStream &args) { args.attribute("name", name); });
  addName("thread_sort_index", process, thread,
          [&](json::OStream &args) { args.attribute("sort_index", thread); });
}

void ChromeTrace::addSpan(int64_t process, int64_t thread, StringRef category,
                          StringRef name, Ticks start, Ticks end,
                          Arguments arguments) {
  begin("X", process, name);
  json.attribute("tid", thread);
  json.attribute("cat", category);
  setTime("ts", start);
  setTime("dur", end - start);
  json.attributeObject("args", [&] { arguments(json); });
  json.objectEnd();
}

void ChromeTrace::addFlow(bool isBegin, int64_t process, int64_t thread,
                          uint64_t id, Ticks time) {
  begin(isBegin ? "s" : "f", process, "message");
  json.attribute("tid", thread);
  json.attribute("cat", "message");
  json.attribute("id", static_cast<int64_t>(id));
  setTime("ts", time);
  if (!isBegin)
    json.attribute("bp", "e");
  json.objectEnd();
}

void ChromeTrace::addCounter(int64_t process, StringRef name, Ticks time,
                             Arguments values) {
  begin("C", process, name);
  setTime("ts", time);
  json.attributeObject("args", [&] { values(json); });
  json.objectEnd();
}
