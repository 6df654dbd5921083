/*===- rank-times.c - The step of some ranks of a bundle -------------------===*\
|*                                                                            *|
|* Part of the STG project, under the Apache License v2.0 with LLVM           *|
|* Exceptions. See the LICENSE file for license information.                  *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* An example of a program that takes nodes from a bundle: how long a rank    *|
|* would be at work if no other one kept it waiting. A node begins when all   *|
|* that it depends on is done; compute takes the longer of its operations and *|
|* its bytes, communication its bytes over one link, whatever its kind.       *|
|*                                                                            *|
|*   cc -I include examples/bundle/rank-times.c -L build/lib -lSTGTraceBundle *|
|*   ./a.out run/traces.stgb 0 70000                                          *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include "stg-c/TraceBundle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const double operationsPerSecond = 900e12;
static const double memoryBytesPerSecond = 3.35e12;
static const double linkBytesPerSecond = 50e9;

static double max(double lhs, double rhs) { return lhs > rhs ? lhs : rhs; }

static double getDuration(const StgNode *node) {
  if (node->type == STG_COMP_NODE)
    return max((double)node->numOps / operationsPerSecond,
               (double)node->tensorSize / memoryBytesPerSecond);
  return (double)node->commSize / linkBytesPerSecond;
}

/** When the last of these nodes is done. */
static double getLatest(const double *ends, const uint32_t *ids, size_t count) {
  double latest = 0;
  for (size_t i = 0; i < count; ++i)
    latest = max(latest, ends[ids[i]]);
  return latest;
}

static int printRank(const StgTraceBundle *bundle, int64_t rank) {
  StgNodeStream *stream = stgNodeStreamOpen(bundle, rank);
  if (!stream) {
    fprintf(stderr, "rank-times: no rank %" PRId64 "; there are %" PRId64 "\n",
            rank, stgTraceBundleGetNumRanks(bundle));
    return 1;
  }
  double *ends = malloc(stgTraceBundleGetNumNodes(bundle, rank) *
                        sizeof(double));
  if (!ends)
    abort();
  StgNode node;
  double end = 0, compute = 0;
  int64_t operations = 0, received = 0;
  uint64_t numNodes = 0;
  for (; stgNodeStreamNext(stream, &node); ++numNodes) {
    double start = max(getLatest(ends, node.dataDeps, node.numDataDeps),
                       getLatest(ends, node.ctrlDeps, node.numCtrlDeps));
    ends[node.id] = start + getDuration(&node);
    end = max(end, ends[node.id]);
    if (node.type == STG_COMP_NODE) {
      compute += getDuration(&node);
      operations += node.numOps;
    } else if (node.type == STG_COMM_RECV_NODE) {
      received += node.commSize;
    }
  }
  printf("rank %" PRId64 ": %" PRIu64 " nodes, %" PRId64 " operations, %" PRId64
         " bytes received, %.6f s, %.6f s of them computing\n",
         rank, numNodes, operations, received, end, compute);
  free(ends);
  stgNodeStreamClose(stream);
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: rank-times BUNDLE RANK...\n");
    return 1;
  }
  StgTraceBundle *bundle = NULL;
  StgError *error = stgTraceBundleOpen(argv[1], &bundle);
  if (error) {
    fprintf(stderr, "rank-times: %s", stgErrorGetText(error));
    stgErrorDestroy(error);
    return 1;
  }
  int status = 0;
  for (int i = 2; i < argc && status == 0; ++i) {
    char *rest = NULL;
    long long rank = strtoll(argv[i], &rest, 10);
    if (rest == argv[i] || *rest) {
      fprintf(stderr, "rank-times: '%s' is not a rank, expected a number\n",
              argv[i]);
      status = 1;
      break;
    }
    status = printRank(bundle, rank);
  }
  stgTraceBundleClose(bundle);
  return status;
}
