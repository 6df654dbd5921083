/*===- stg-c/Search.h - Which strategy is the best ----------------*- C -*-===*\
|*                                                                            *|
|* Part of the STG project, under the Apache License v2.0 with LLVM           *|
|* Exceptions. See the LICENSE file for license information.                  *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* What `stg-search` does:                                                    *|
|*                                                                            *|
|*   int64_t ranks = 64;                                                      *|
|*   StgSearchOptions options = {0};                                          *|
|*   options.ranks = &ranks;                                                  *|
|*   options.numRanks = 1;                                                    *|
|*   StgSearch *search = NULL;                                                *|
|*   StgError *error = stgSearch(&request, &machine, &options, &search);      *|
|*   if (!error)                                                              *|
|*     printf("%g s\n", stgSearchGetEntry(search, 0)->stepSeconds);           *|
|*   stgErrorDestroy(error);                                                  *|
|*   stgSearchDestroy(search);                                                *|
|*                                                                            *|
|* Calls share nothing: several threads may search at once.                   *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef STG_C_SEARCH_H
#define STG_C_SEARCH_H

#include "stg-c/Estimate.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How far a search is. */
typedef struct StgSearchProgress {
  StgText step;       /**< "listing", "measuring tasks", "estimating". */
  uint64_t done;      /**< Of this step, */
  uint64_t total;     /**< of so many; 0: that is not known yet. */
  double bestSeconds; /**< 0: nothing has been found yet. */
} StgSearchProgress;

/** Says whether to go on. It is called from one thread at a time, which need
 *  not be that of the call. After false the search ends soon, and has what was
 *  found by then. */
typedef bool (*StgSearchGoOn)(StgSearchProgress progress, void *data);

/** What the best have. */
typedef enum StgSearchGoal {
  STG_GOAL_AUTO = 0,   /**< Throughput if steps have different numbers of
                            tokens, else time. */
  STG_GOAL_TIME,       /**< The shortest step. */
  STG_GOAL_THROUGHPUT, /**< The most tokens per second and device. */
} StgSearchGoal;

/** What a front compares beside the time of a step. */
typedef enum StgFrontCriterion {
  STG_FRONT_MEMORY = 1 << 0,     /**< Of the device that needs most. */
  STG_FRONT_DEVICES = 1 << 1,    /**< How many there are. */
  STG_FRONT_THROUGHPUT = 1 << 2, /**< Tokens per second and device. */
} StgFrontCriterion;

/** What is searched. All zeros is the default of everything but the numbers
 *  of ranks, or the list. */
typedef struct StgSearchOptions {
  const int64_t
      *ranks;      /**< Numbers of devices, all of which a strategy uses. */
  size_t numRanks; /**< How many numbers there are. */
  /** Values that are tried, as `FLAG=VALUE,VALUE,...`, or with `;` where values
   *  have commas: "zero=1,3". */
  const char *const *vary;
  size_t numVary;
  /** Instead of both: strategies to choose from. What the request gives takes
   *  the place of their fields. */
  const StgStrategy *const *among;
  size_t numAmong;
  double memoryLimit; /**< Bytes of a device; 0: those of the machine. */
  size_t numBest;     /**< The best so many are found; 0: 10. */
  StgSearchGoal goal;
  unsigned front; /**< Of StgFrontCriterion: what is compared beside time; 0: it
                       follows from the strategies, as of `stg-search`. */
  double within;  /**< The front has no longer steps than so many times the best
                       with as many devices and tokens; 0: 1.1. */
  unsigned numThreads;    /**< 0: one for each processor. */
  StgSearchGoOn progress; /**< May be null. */
  void *progressData;
} StgSearchOptions;

typedef struct StgSearch StgSearch;

/** A strategy that was estimated and fits. */
typedef struct StgSearchEntry {
  size_t number; /**< In the space, or in the list: of no meaning elsewhere. */
  double stepSeconds;
  double neededBytes; /**< Memory of the device that needs most. */
  int64_t numRanks;
  double modelUse, hardwareUse; /**< As of an estimate. */
  double intervalSeconds; /**< As of an estimate; 0 if steps do not overlap. */
  double tokenRate; /**< Per second and device; 0 if the step has no tokens. */
  const StgTimePart *parts; /**< Together the step. */
  size_t numParts;
  StgText strategy; /**< With all that follows from it, as JSON. */
  StgText command;  /**< Of a shell, that compiles it. */
} StgSearchEntry;

/** The best with a value of a field that was varied. Costs are seconds of a
 *  step, or of a device for each token where the goal is throughput. */
typedef struct StgSearchValue {
  StgText flag; /**< "zero"; "ranks" of several numbers of devices. */
  StgText value;
  double cost; /**< Of the best that was estimated; 0: none was. */
  /** None costs less than that; 0: nothing that was not estimated is better
   *  than the best that was, or nothing with the value fits. */
  double atLeast;
} StgSearchValue;

/** Where strategies have gone. */
typedef struct StgSearchCounts {
  uint64_t all;
  uint64_t estimated;
  uint64_t cutByTime, cutByMemory; /**< By bounds, without an estimate. */
  uint64_t tooLarge;               /**< Estimated, and do not fit. */
  uint64_t refused;                /**< There is no such program. */
} StgSearchCounts;

/** Searches. The output of the request is STG_OUTPUT_NONE; it is an error if
 *  traces are asked for, and if nothing is found. After `goOn` of the
 *  request says no, the error is an interruption, and what was found is lost;
 *  it is called with "search". */
STG_C_EXPORT StgError *stgSearch(const StgCompileRequest *request,
                                 const StgMachine *machine,
                                 const StgSearchOptions *options,
                                 StgSearch **search);
STG_C_EXPORT void stgSearchDestroy(StgSearch *search);

/** All that were estimated and fit, the best first. What is returned
 *  lives as long as the search; null: there are not so many. */
STG_C_EXPORT size_t stgSearchGetNumEntries(const StgSearch *search);
STG_C_EXPORT const StgSearchEntry *stgSearchGetEntry(const StgSearch *search,
                                                     size_t index);
/** The first so many entries are the best. */
STG_C_EXPORT size_t stgSearchGetNumBest(const StgSearch *search);
/** What the best have: STG_GOAL_TIME or STG_GOAL_THROUGHPUT. */
STG_C_EXPORT StgSearchGoal stgSearchGetGoal(const StgSearch *search);
/** Of StgFrontCriterion: what the front compares beside time. */
STG_C_EXPORT unsigned stgSearchGetCriteria(const StgSearch *search);
/** Entries than which no other is as good in all that is compared, the shortest
 *  step first: the index of an entry. SIZE_MAX: there are not so many. */
STG_C_EXPORT size_t stgSearchGetNumFront(const StgSearch *search);
STG_C_EXPORT size_t stgSearchGetFront(const StgSearch *search, size_t index);
STG_C_EXPORT size_t stgSearchGetNumValues(const StgSearch *search);
/** All zeros: there are not so many. */
STG_C_EXPORT StgSearchValue stgSearchGetValue(const StgSearch *search,
                                              size_t index);
STG_C_EXPORT StgSearchCounts stgSearchGetCounts(const StgSearch *search);
/** Warnings. */
STG_C_EXPORT size_t stgSearchGetNumMessages(const StgSearch *search);
STG_C_EXPORT StgMessage stgSearchGetMessage(const StgSearch *search,
                                            size_t index);
/** False if it ended because `progress` said so. */
STG_C_EXPORT bool stgSearchIsComplete(const StgSearch *search);
/** What `stg-search --json` prints. */
STG_C_EXPORT StgText stgSearchGetJSON(const StgSearch *search);

#ifdef __cplusplus
}
#endif

#endif /* STG_C_SEARCH_H */
