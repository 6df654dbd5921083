/*===- stg-c/Estimate.h - How long a step takes -------------------*- C -*-===*\
|*                                                                            *|
|* Part of the STG project, under the Apache License v2.0 with LLVM           *|
|* Exceptions. See the LICENSE file for license information.                  *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* What `stg-estimate` does:                                                  *|
|*                                                                            *|
|*   StgMachine machine = {0};                                                *|
|*   machine.name = "h100-80gb-dgx";                                          *|
|*   StgEstimate *estimate = NULL;                                            *|
|*   StgError *error = stgEstimate(&request, &machine, &estimate);            *|
|*   if (!error)                                                              *|
|*     printf("%g s\n", stgEstimateGetTotals(estimate)->stepSeconds);         *|
|*   stgErrorDestroy(error);                                                  *|
|*   stgEstimateDestroy(estimate);                                            *|
|*                                                                            *|
|* Calls share nothing: several threads may estimate at once.                 *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef STG_C_ESTIMATE_H
#define STG_C_ESTIMATE_H

#include "stg-c/Compile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Where a step is executed. All zeros but the name is a machine as it is. */
typedef struct StgMachine {
  const char *name; /**< Of a machine of the library, or a .json file. */
  /** Numbers that are others, as `KEY=VALUE`: "device.memory.capacity=40 GB".
   */
  const char *const *changes;
  size_t numChanges;
} StgMachine;

typedef struct StgEstimate StgEstimate;

/** What the time of a rank is spent on, the mean of all. All parts together are
 *  the step. */
typedef struct StgTimePart {
  StgText name; /**< "products", "exposed tp", "bubble", ... */
  double seconds;
} StgTimePart;

typedef struct StgClassTime {
  StgText name; /**< Of the class of ranks. */
  int64_t numRanks;
  double endSeconds; /**< When it is done. */
} StgClassTime;

typedef struct StgEstimateTotals {
  double stepSeconds;
  StgText machine;
  int64_t numRanks;
  /** Operations of products and attention over what the devices could do: as
   *  the program counts them, without those that are done again (MFU), and as
   *  kernels execute them (HFU), which is at most 1. */
  double modelUse, hardwareUse;
  /** Where a step of decoding has stages, so that several follow one another in
   *  them: from one to the next, and what tokenRate is of. Else 0. */
  double intervalSeconds;
  double tokenRate; /**< Per second and device; 0 if the step has no tokens. */
  double neededBytes, availableBytes; /**< Memory of a device. */
  /** Of steps of this machine that no constant was fitted on; negative: it is
   *  not known. A fraction. */
  double meanError;
  const StgTimePart *parts;
  size_t numParts;
  const StgClassTime *classes;
  size_t numClasses;
  StgText lastClass; /**< The class that is done last. */
} StgEstimateTotals;

/** Compiles, and executes what came of it on the machine. The output of the
 *  request is STG_OUTPUT_NONE; it is an error if traces are asked for. */
STG_C_EXPORT StgError *stgEstimate(const StgCompileRequest *request,
                                   const StgMachine *machine,
                                   StgEstimate **estimate);
/** The same of a bundle, as the preset that it was made with executes it. */
STG_C_EXPORT StgError *stgEstimateBundle(const StgTraceBundle *bundle,
                                         const StgMachine *machine,
                                         StgEstimate **estimate);
STG_C_EXPORT void stgEstimateDestroy(StgEstimate *estimate);
/** Lives as long as the estimate. */
STG_C_EXPORT const StgEstimateTotals *
stgEstimateGetTotals(const StgEstimate *estimate);
/** What `stg-estimate --json` prints. */
STG_C_EXPORT StgText stgEstimateGetJSON(const StgEstimate *estimate);
/** Warnings and remarks of compiling; none of a bundle. */
STG_C_EXPORT size_t stgEstimateGetNumMessages(const StgEstimate *estimate);
STG_C_EXPORT StgMessage stgEstimateGetMessage(const StgEstimate *estimate,
                                              size_t index);

#ifdef __cplusplus
}
#endif

#endif /* STG_C_ESTIMATE_H */
