//===- Recording.cpp - What ranks did when --------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Estimate/Recording.h"

using namespace stg;

void Recording::repeat(uint32_t first, uint32_t last, Ticks shift) {
  const uint32_t distance = size() - first;
  events.reserve(events.size() + (last - first));
  for (uint32_t i = first; i < last; ++i) {
    RecordedEvent event = events[i];
    event.issue += shift;
    event.start += shift;
    event.end += shift;
    if (event.link != trace::kNone && event.link >= first)
      event.link += distance;
    events.push_back(event);
  }
}
