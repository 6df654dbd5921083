//===- ExpertChoice.cpp - Where the experts of a token are ----------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Analysis/ExpertChoice.h"

#include <algorithm>
#include <cmath>

using namespace stg;

/// How likely none of so many experts is among those that are chosen of all.
static double getMissed(double own, double experts, double chosen) {
  double missed = 1;
  for (double i = 0; i < chosen; ++i)
    missed *= std::max(experts - own - i, 0.) / (experts - i);
  return missed;
}

/// How many ways there are to choose so many of so many.
static double countChoices(double all, double chosen) {
  double ways = 1;
  for (double i = 0; i < chosen; ++i)
    ways *= (all - i) / (chosen - i);
  return ways;
}

double ExpertChoice::countPlaces(double places) const {
  if (experts < chosen)
    return places * (1 - std::pow(1 - 1 / places, chosen));
  double own = experts / places, ofGroup = experts / groups;
  double open = ofGroup * limit;
  // A place is in a group, or has several whole ones.
  if (open < chosen || limit >= groups ||
      (std::fmod(places, groups) != 0 && std::fmod(groups, places) != 0))
    return places * (1 - getMissed(own, experts, chosen));
  if (places >= groups)
    return places * limit / groups * (1 - getMissed(own, open, chosen));
  double here = groups / places, hit = 0;
  for (double i = 1; i <= std::min(here, limit); ++i)
    hit += countChoices(here, i) * countChoices(groups - here, limit - i) /
           countChoices(groups, limit) *
           (1 - getMissed(i * ofGroup, open, chosen));
  return places * hit;
}

double ExpertChoice::getDistinct(double places) const {
  return chosen <= 1 ? 1 : countPlaces(places) / chosen;
}
