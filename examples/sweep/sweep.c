/*===- sweep.c - Many strategies of one model in one process ---------------===*\
|*                                                                            *|
|* Part of the STG project, under the Apache License v2.0 with LLVM           *|
|* Exceptions. See the LICENSE file for license information.                  *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* An example of a program that compiles: all ways to divide a number of      *|
|* ranks among tensor, pipeline and data parallelism, with ZeRO 0 to 3. For   *|
|* each it prints, as CSV, what the busiest rank computes, what it sends      *|
|* in collectives, and the most memory that a rank needs. Strategies that     *|
|* cannot be are told on standard error.                                      *|
|*                                                                            *|
|*   cc -I include examples/sweep/sweep.c -L build/lib -lSTG                  *|
|*   ./a.out llama3-8b 16 64                                                  *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include "stg-c/Compile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/** One point of the sweep. */
typedef struct Point {
  int64_t tp, pp, dp, zero, batch;
} Point;

static double toDouble(StgExact value) {
  return (double)value.high * 18446744073709551616.0 + (double)value.low;
}

static StgError *setNumber(StgStrategy *strategy, const char *name,
                           int64_t value) {
  char text[32];
  snprintf(text, sizeof(text), "%" PRId64, value);
  return stgStrategySet(strategy, name, text);
}

/** Fields without effect are errors: only what says something is given. */
static StgError *setPoint(StgStrategy *strategy, const Point *point) {
  struct {
    const char *name;
    int64_t value;
    bool given;
  } fields[] = {{"batch", point->batch, true},
                {"tp", point->tp, true},
                {"pp", point->pp, true},
                {"dp", point->dp, true},
                {"micro-batch", 1, true},
                {"zero", point->zero, point->zero > 0}};
  for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); ++i) {
    if (!fields[i].given)
      continue;
    StgError *error = setNumber(strategy, fields[i].name, fields[i].value);
    if (error)
      return error;
  }
  return NULL;
}

static void printRow(const Point *point, const StgCompilation *compilation) {
  double operations = 0, collectives = 0, memory = 0;
  for (size_t i = 0; i < stgCompilationGetNumClasses(compilation); ++i) {
    const StgRankClass *ranks = stgCompilationGetClass(compilation, i);
    double bytes = 0;
    for (size_t k = 0; k < ranks->numCollectives; ++k)
      bytes += toDouble(ranks->collectives[k].bytes);
    if (toDouble(ranks->operations) > operations)
      operations = toDouble(ranks->operations);
    if (bytes > collectives)
      collectives = bytes;
    if (toDouble(ranks->peakMemory) > memory)
      memory = toDouble(ranks->peakMemory);
  }
  printf("%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%.0f,%.0f,%.0f\n",
         point->tp, point->pp, point->dp, point->zero, operations, collectives,
         memory);
}

static StgError *compile(const char *model, const Point *point,
                         StgCompilation **compilation) {
  StgStrategy *strategy = stgStrategyCreate();
  StgError *error = setPoint(strategy, point);
  if (!error) {
    StgCompileRequest request = {0};
    request.model = model;
    request.strategy = strategy;
    error = stgCompile(&request, compilation);
  }
  stgStrategyDestroy(strategy);
  return error;
}

static void compilePoint(const char *model, const Point *point) {
  StgCompilation *compilation = NULL;
  StgError *error = compile(model, point, &compilation);
  if (error)
    fprintf(stderr,
            "tp %" PRId64 ", pp %" PRId64 ", dp %" PRId64 ", ZeRO %" PRId64
            ": %s",
            point->tp, point->pp, point->dp, point->zero,
            stgErrorGetText(error));
  else
    printRow(point, compilation);
  stgErrorDestroy(error);
  stgCompilationDestroy(compilation);
}

/** What is wrong on one rank is wrong with the model, and so in all points. */
static int checkModel(const char *model, int64_t batch) {
  Point point = {1, 1, 1, 0, batch};
  StgCompilation *compilation = NULL;
  StgError *error = compile(model, &point, &compilation);
  int failed = error != NULL;
  if (failed)
    fprintf(stderr, "sweep: %s", stgErrorGetText(error));
  stgErrorDestroy(error);
  stgCompilationDestroy(compilation);
  return failed;
}

int main(int argc, char **argv) {
  int64_t ranks = argc == 4 ? strtoll(argv[2], NULL, 10) : 0;
  int64_t batch = argc == 4 ? strtoll(argv[3], NULL, 10) : 0;
  if (ranks < 1 || batch < 1) {
    fprintf(stderr, "usage: sweep MODEL RANKS BATCH\n");
    return 1;
  }
  if (checkModel(argv[1], batch))
    return 1;
  printf("tp,pp,dp,zero,operations,collective_bytes,peak_bytes\n");
  for (int64_t tp = 1; tp <= ranks; ++tp)
    for (int64_t pp = 1; tp * pp <= ranks; ++pp) {
      if (ranks % (tp * pp) != 0)
        continue;
      Point point = {tp, pp, ranks / (tp * pp), 0, batch};
      /* Where there is one replica, ZeRO has nothing to divide. */
      int64_t levels = point.dp > 1 ? 4 : 1;
      for (; point.zero < levels; ++point.zero)
        compilePoint(argv[1], &point);
    }
  return 0;
}
