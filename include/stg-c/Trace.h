/*===- stg-c/Trace.h - Traces of any producer ---------------------*- C -*-===*\
|*                                                                            *|
|* Part of the STG project, under the Apache License v2.0 with LLVM           *|
|* Exceptions. See the LICENSE file for license information.                  *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Reads files of Chakra execution traces, whoever made them, and checks      *|
|* traces as `stg-trace validate` does.                                       *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef STG_C_TRACE_H
#define STG_C_TRACE_H

#include "stg-c/Support.h"
#include "stg-c/TraceBundle.h"

#ifdef __cplusplus
extern "C" {
#endif

/*===----------------------------------------------------------------------===*\
|* Files                                                                      *|
\*===----------------------------------------------------------------------===*/

/** The file of one rank, read node by node. */
typedef struct StgTraceFile StgTraceFile;

typedef enum StgValueKind {
  STG_VALUE_NONE = 0,
  STG_VALUE_SIGNED = 1,
  STG_VALUE_UNSIGNED = 2,
  STG_VALUE_DOUBLE = 3,
  STG_VALUE_BOOL = 4,
  STG_VALUE_TEXT = 5,
  STG_VALUE_BYTES = 6
} StgValueKind;

typedef struct StgValue {
  int64_t integer;  /**< Signed numbers. */
  uint64_t natural; /**< Unsigned numbers, and bools as 0 or 1. */
  double real;
  StgText text; /**< Texts and bytes. */
} StgValue;

/** An attribute: one value, or a list of any number of them. */
typedef struct StgAttribute {
  StgText name;
  StgValueKind kind;
  bool isList;
  const StgValue *values;
  size_t numValues;
} StgAttribute;

/** A node as it is in the file. What it points to lives until the next node is
 *  asked for, or the file is closed. */
typedef struct StgTraceNode {
  uint64_t id;
  StgText name;
  int32_t type; /**< Chakra's NodeType. */
  const uint64_t *dataDeps;
  size_t numDataDeps;
  const uint64_t *ctrlDeps;
  size_t numCtrlDeps;
  uint64_t startMicros, durationMicros; /**< 0 if the file has none. */
  const StgAttribute *attributes;
  size_t numAttributes;
} StgTraceNode;

/** Opens a file, and reads its metadata. */
STG_C_EXPORT StgError *stgTraceFileOpen(const char *path, StgTraceFile **file);
STG_C_EXPORT void stgTraceFileClose(StgTraceFile *file);
/** The version of the schema that the metadata have. */
STG_C_EXPORT StgText stgTraceFileGetVersion(const StgTraceFile *file);
/** The attributes of the metadata; the result is how many there are. */
STG_C_EXPORT size_t stgTraceFileGetAttributes(const StgTraceFile *file,
                                              const StgAttribute **attributes);
/** Reads the next node; `hasNode` is false at the end. After an error there are
 *  no more. */
STG_C_EXPORT StgError *stgTraceFileNext(StgTraceFile *file, StgTraceNode *node,
                                        bool *hasNode);

/*===----------------------------------------------------------------------===*\
|* Validation                                                                 *|
\*===----------------------------------------------------------------------===*/

/** What a trace is meant for. All zeros is the default of everything. */
typedef struct StgValidationOptions {
  const char *commGroups; /**< A file; null: the one beside the trace. A bundle
                               has its own groups. */
  double peakTflops;      /**< 10^12 operations a second; 0: 900. */
  double memoryBandwidth; /**< 10^9 bytes a second; 0: 3350. */
  uint64_t splits;        /**< Pieces of a collective; 0: 4. */
  uint64_t numNpus;       /**< 0: as many as files and groups say. */
  bool strictMemory;      /**< Rule 8.7 for traces that list no persistent
                               tensors. */
  bool eagerSends;        /**< Without rule 6.4. */
  uint64_t maxShown;      /**< Violations kept of each rule; 0: 20. */
  unsigned numThreads;    /**< 0: one for each processor. */
} StgValidationOptions;

typedef struct StgValidation StgValidation;

typedef struct StgViolation {
  StgText rule;     /**< Its number, such as "5.2". */
  StgText ruleText; /**< What it asks for. */
  StgText file;
  bool hasNode; /**< False for what is wrong with a whole file. */
  uint64_t id;
  StgText name;
  StgText message;
} StgViolation;

/** Checks a trace: a prefix, a directory, a file or a bundle. `options` may be
 *  null. Violations are no error: they are in the result. */
STG_C_EXPORT StgError *stgValidate(const char *input,
                                   const StgValidationOptions *options,
                                   StgValidation **validation);
/** Checks all ranks of a bundle. */
STG_C_EXPORT StgError *
stgTraceBundleValidate(const StgTraceBundle *bundle,
                       const StgValidationOptions *options,
                       StgValidation **validation);
STG_C_EXPORT void stgValidationDestroy(StgValidation *validation);
STG_C_EXPORT uint64_t stgValidationGetNumRanks(const StgValidation *validation);
STG_C_EXPORT uint64_t stgValidationGetNumNodes(const StgValidation *validation);
/** All violations, kept or not. */
STG_C_EXPORT uint64_t stgValidationGetTotal(const StgValidation *validation);
STG_C_EXPORT size_t stgValidationGetNumShown(const StgValidation *validation);
STG_C_EXPORT StgViolation
stgValidationGetViolation(const StgValidation *validation, size_t index);

#ifdef __cplusplus
}
#endif

#endif /* STG_C_TRACE_H */
