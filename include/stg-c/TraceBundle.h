/*===- stg-c/TraceBundle.h - Nodes of any rank out of a bundle ----*- C -*-===*\
|*                                                                            *|
|* Part of the STG project, under the Apache License v2.0 with LLVM           *|
|* Exceptions. See the LICENSE file for license information.                  *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* For simulators that take traces from a bundle (`stg-compile --bundle`)     *|
|* instead of files. Everything is as it would be in the file of the rank.    *|
|*                                                                            *|
|*   StgTraceBundle *bundle = NULL;                                           *|
|*   StgError *error = stgTraceBundleOpen("traces.stgb", &bundle);            *|
|*   StgNodeStream *stream = stgNodeStreamOpen(bundle, 7);                    *|
|*   StgNode node;                                                            *|
|*   while (stgNodeStreamNext(stream, &node))                                 *|
|*     ...                                                                    *|
|*   stgNodeStreamClose(stream);                                              *|
|*   stgTraceBundleClose(bundle);                                             *|
|*                                                                            *|
|* A bundle does not change after it is opened: several threads may use it at *|
|* once, each with streams of its own.                                        *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef STG_C_TRACEBUNDLE_H
#define STG_C_TRACEBUNDLE_H

#include "stg-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct StgTraceBundle StgTraceBundle;
typedef struct StgNodeStream StgNodeStream;

/** The numbers are those of Chakra's NodeType. */
typedef enum StgNodeType {
  STG_MEM_LOAD_NODE = 2,
  STG_MEM_STORE_NODE = 3,
  STG_COMP_NODE = 4,
  STG_COMM_SEND_NODE = 5,
  STG_COMM_RECV_NODE = 6,
  STG_COMM_COLL_NODE = 7
} StgNodeType;

/** The numbers are those of Chakra's CollectiveCommType. */
typedef enum StgCollective {
  STG_ALL_REDUCE = 0,
  STG_ALL_GATHER = 2,
  STG_ALL_TO_ALL = 6,
  STG_REDUCE_SCATTER = 7
} StgCollective;

/** A tensor that a node reads or writes. */
typedef struct StgTensor {
  StgText name;
  int64_t bytes;
} StgTensor;

/** One node of a rank. What it points to lives until the next node is asked
 *  for, or the stream is closed. */
typedef struct StgNode {
  uint64_t id; /**< 0, 1, 2, ...; later than all that it depends on. */
  StgText name;
  StgNodeType type;
  const uint32_t *dataDeps; /**< Ids, ascending. */
  size_t numDataDeps;
  const uint32_t *ctrlDeps;
  size_t numCtrlDeps;
  const StgTensor *inputs;
  size_t numInputs;
  const StgTensor *outputs;
  size_t numOutputs;

  /* Compute nodes. */
  int64_t numOps; /**< Operations, at least 1. */
  /** Bytes read and written, at least 1. Transfers: their size. One of their
   *  two tensors is on the host. */
  int64_t tensorSize;

  /* Communication. */
  int64_t commSize;     /**< Bytes; of collectives padded for simulators. */
  int64_t payloadBytes; /**< Bytes, exact. */
  StgCollective collective;
  int64_t group;          /**< Collectives: from 1. */
  int64_t source, target; /**< Messages: ranks. */
  int64_t tag;            /**< Messages. */
} StgNode;

/** Opens a bundle. */
STG_C_EXPORT StgError *stgTraceBundleOpen(const char *path,
                                          StgTraceBundle **bundle);
/** Streams of the bundle are closed first. Null is allowed. */
STG_C_EXPORT void stgTraceBundleClose(StgTraceBundle *bundle);

STG_C_EXPORT int64_t stgTraceBundleGetNumRanks(const StgTraceBundle *bundle);

/** The axes of the mesh, the fastest first:
 *  rank = c[0] + size[0] * (c[1] + size[1] * (c[2] + ...)). Of an axis that
 *  there is not, the name is empty, and the size 0. */
STG_C_EXPORT size_t stgTraceBundleGetNumAxes(const StgTraceBundle *bundle);
STG_C_EXPORT StgText stgTraceBundleGetAxisName(const StgTraceBundle *bundle,
                                               size_t axis);
STG_C_EXPORT int64_t stgTraceBundleGetAxisSize(const StgTraceBundle *bundle,
                                               size_t axis);

/** Communication groups are numbered from 1. Members are ascending; as many as
 *  fit are written to `members`, and the result is how many there are. */
STG_C_EXPORT int64_t stgTraceBundleGetNumGroups(const StgTraceBundle *bundle);
STG_C_EXPORT size_t stgTraceBundleGetGroup(const StgTraceBundle *bundle,
                                           int64_t group, int64_t *members,
                                           size_t capacity);

/** The number of nodes of a rank. Of ranks 0 to n - 1 only, as everywhere. */
STG_C_EXPORT uint64_t stgTraceBundleGetNumNodes(const StgTraceBundle *bundle,
                                                int64_t rank);

/** The nodes of a rank in their order; null if there is no such rank. */
STG_C_EXPORT StgNodeStream *stgNodeStreamOpen(const StgTraceBundle *bundle,
                                              int64_t rank);
/** Makes the next node; false at the end. */
STG_C_EXPORT bool stgNodeStreamNext(StgNodeStream *stream, StgNode *node);
STG_C_EXPORT void stgNodeStreamClose(StgNodeStream *stream);

#ifdef __cplusplus
}
#endif

#endif /* STG_C_TRACEBUNDLE_H */
