//===- PathReport.cpp - What a critical path is made of -------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Estimate/PathReport.h"
#include "stg/Estimate/Timeline.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <map>
#include <tuple>

using namespace llvm;
using namespace stg;

PathReport::PathReport(const CriticalPath &path,
                       const trace::TraceBundle &programs,
                       const StepTimes &step, const StepRecording &recording) {
  std::map<std::string, Ticks> byKind, byClass;
  for (const CriticalPath::Part &part : path.parts) {
    StringRef name = programs.getClasses()[part.classIndex].name;
    Ticks time = part.end - part.start;
    byKind[describePart(part, programs, step, recording)] += time;
    byClass[name.str()] += time;
    total += time;
    if (legs.empty() || legs.back().name != name)
      legs.push_back({name, part.start, part.end});
    legs.back().end = part.end;
  }
  auto sort = [](const std::map<std::string, Ticks> &times) {
    Parts parts(times.begin(), times.end());
    llvm::sort(parts, [](const auto &a, const auto &b) {
      return std::tie(b.second, a.first) < std::tie(a.second, b.first);
    });
    return parts;
  };
  kinds = sort(byKind);
  classes = sort(byClass);
}

void PathReport::printText(raw_ostream &os) const {
  os << format("critical path   %.6g s, ", total / kTicksPerSecond)
     << legs.size() << (legs.size() == 1 ? " leg\n" : " legs\n");
  auto print = [&](StringRef before, const Parts &parts) {
    for (const auto &[name, time] : parts)
      os << "  " << left_justify((before + name).str(), 20)
         << format("%12.6f s  %5.1f %%\n", time / kTicksPerSecond,
                   100. * time / total);
  };
  print("", kinds);
  if (classes.size() > 1)
    print("on ", classes);
}

json::Object PathReport::getJSON() const {
  auto list = [](const Parts &parts) {
    json::Object object;
    for (const auto &[name, time] : parts)
      object[name] = time / kTicksPerSecond;
    return object;
  };
  json::Array all;
  for (const Leg &leg : legs)
    all.push_back(json::Object{{"class", leg.name},
                               {"start_seconds", leg.start / kTicksPerSecond},
                               {"end_seconds", leg.end / kTicksPerSecond}});
  return json::Object{{"seconds", total / kTicksPerSecond},
                      {"kinds", list(kinds)},
                      {"classes", list(classes)},
                      {"legs", std::move(all)}};
}
