/*===- stg-c/Compile.h - From a model to what each rank does ------*- C -*-===*\
|*                                                                            *|
|* Part of the STG project, under the Apache License v2.0 with LLVM           *|
|* Exceptions. See the LICENSE file for license information.                  *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* What `stg-compile` does:                                                   *|
|*                                                                            *|
|*   StgStrategy *strategy = stgStrategyCreate();                             *|
|*   StgError *error = stgStrategySet(strategy, "tp", "8");                   *|
|*   StgCompileRequest request = {0};                                         *|
|*   request.model = "llama3-8b";                                             *|
|*   request.strategy = strategy;                                             *|
|*   StgCompilation *compilation = NULL;                                      *|
|*   if (!error)                                                              *|
|*     error = stgCompile(&request, &compilation);                            *|
|*   if (error)                                                               *|
|*     fputs(stgErrorGetText(error), stderr);                                 *|
|*   stgErrorDestroy(error);                                                  *|
|*   stgCompilationDestroy(compilation);                                      *|
|*   stgStrategyDestroy(strategy);                                            *|
|*                                                                            *|
|* Calls share nothing: several threads may compile at once. A strategy must  *|
|* not be changed while another thread uses it.                               *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef STG_C_COMPILE_H
#define STG_C_COMPILE_H

#include "stg-c/Support.h"
#include "stg-c/TraceBundle.h"

#ifdef __cplusplus
extern "C" {
#endif

/*===----------------------------------------------------------------------===*\
|* Strategies                                                                 *|
\*===----------------------------------------------------------------------===*/

/** How a model is distributed and executed: the fields of
 *  docs/reference/Strategy.md. */
typedef struct StgStrategy StgStrategy;

/** The strategy that gives no field. */
STG_C_EXPORT StgStrategy *stgStrategyCreate(void);
STG_C_EXPORT StgStrategy *stgStrategyClone(const StgStrategy *strategy);
STG_C_EXPORT void stgStrategyDestroy(StgStrategy *strategy);

/** Gives a field a value, as the flag `--NAME VALUE` does: "tp", "8". A list
 *  gets one more value. */
STG_C_EXPORT StgError *stgStrategySet(StgStrategy *strategy, const char *name,
                                      const char *value);
/** Gives the fields of a JSON object, or of the strategy in a manifest. `name`
 *  is what messages call the text; null: "strategy". */
STG_C_EXPORT StgError *stgStrategyReadJSON(StgStrategy *strategy,
                                           const char *text, const char *name);

/** What can be given, in the order of the reference. */
typedef struct StgField {
  StgText name;     /**< As a flag: "cp-comm-type". */
  StgText jsonName; /**< "cp_comm_type". */
  StgText help;
  StgText expectation; /**< "an integer of at least 1". */
} StgField;

STG_C_EXPORT size_t stgGetNumFields(void);
STG_C_EXPORT StgField stgGetField(size_t index);

/*===----------------------------------------------------------------------===*\
|* Compilation                                                                *|
\*===----------------------------------------------------------------------===*/

typedef enum StgOutput {
  STG_OUTPUT_NONE = 0,   /**< Totals only. */
  STG_OUTPUT_FILES = 1,  /**< A trace for each rank, in a folder. */
  STG_OUTPUT_BUNDLE = 2, /**< One file in a folder. */
  STG_OUTPUT_MEMORY = 3  /**< A bundle: `stgCompilationGetBundle`. */
} StgOutput;

/** Says whether to go on. It is called with the name of each pass before it
 *  runs, such as "stg-autodiff", and with "write" before each file of a rank,
 *  then from several threads. After false the call ends soon, with an error
 * that is an interruption. */
typedef bool (*StgGoOn)(StgText step, void *data);

/** What is asked for. All zeros is the default of everything but the model. */
typedef struct StgCompileRequest {
  /** A .mlir file, a config.json, or the name of a library model. */
  const char *model;
  /** The text of the model; `model` is then what messages call it. */
  const char *modelText;
  const char *config;  /**< Of a file with several. */
  const char *program; /**< Of a file with several. */
  const StgStrategy *strategy;
  /** Folders that are searched for models before those of the library. */
  const char *const *modelFolders;
  size_t numModelFolders;

  StgOutput output;
  const char *folder; /**< For files and bundles. */
  const char *prefix; /**< Of the names of files; null: "workload". */
  /** Ranks firstRank to endRank - 1 get files; both 0: all. */
  int64_t firstRank, endRank;
  unsigned numThreads; /**< That write files; 0: one for each processor. */
  bool resume;         /**< Keep files that are complete. */
  /** Files `<this>.<class>.csv` get the memory of each class over the step: a
   *  line for each node at which the total changes. Null: none. */
  const char *memoryTimeline;
  StgGoOn goOn; /**< May be null. */
  void *goOnData;
  /** A quantized configuration is that of the model before. */
  bool ignoreQuantization;
} StgCompileRequest;

typedef struct StgCompilation StgCompilation;

/** Compiles. Warnings are in the result. */
STG_C_EXPORT StgError *stgCompile(const StgCompileRequest *request,
                                  StgCompilation **compilation);
STG_C_EXPORT void stgCompilationDestroy(StgCompilation *compilation);

/*===----------------------------------------------------------------------===*\
|* Totals. What is pointed to lives as long as the compilation.               *|
\*===----------------------------------------------------------------------===*/

typedef struct StgPhaseTotals {
  StgText phase; /**< "fwd", "bwd", "opt", ... */
  StgExact operations;
  StgExact productOperations; /**< Those in matrix products. */
} StgPhaseTotals;

typedef struct StgCollectiveTotals {
  StgCollective kind;
  StgText axes; /**< "tp", or several joined by '+'. */
  int64_t groupSize;
  StgText phase;
  uint64_t count;
  StgExact bytes; /**< Of the payloads of all of them, exact. */
} StgCollectiveTotals;

typedef struct StgMessageTotals {
  bool isSend;
  StgText axis;
  int64_t shift; /**< From the rank to its peer, along the axis. */
  StgText phase;
  uint64_t count;
  StgExact bytes;
} StgMessageTotals;

typedef struct StgTransferTotals {
  bool isLoad; /**< From the host, else to it. */
  StgText phase;
  uint64_t count;
  StgExact bytes;
} StgTransferTotals;

/** The category "host" is of buffers that are not in the rank's memory; no
 *  total contains it. */
typedef struct StgMemoryTotals {
  StgText category;    /**< "parameter", "activation", ... */
  StgExact persistent; /**< Bytes of states, over the whole step. */
  StgExact peak;       /**< Bytes when the sum of all is largest. */
  StgExact largest;    /**< Bytes when those of the category are most. */
} StgMemoryTotals;

/** Ranks that do the same. All numbers are those of one rank. */
typedef struct StgRankClass {
  StgText name;
  int64_t numRanks, firstRank;
  uint64_t numCompNodes, numCollNodes, numSendNodes, numRecvNodes;
  StgExact operations;
  StgExact memoryTraffic; /**< Bytes that compute nodes read and write. */
  StgExact peakMemory;    /**< Bytes. */
  StgText peakNode;       /**< The first node that runs at the peak. */
  const StgPhaseTotals *phases;
  size_t numPhases;
  const StgCollectiveTotals *collectives;
  size_t numCollectives;
  const StgMessageTotals *messages;
  size_t numMessages;
  const StgMemoryTotals *memory; /**< One for each category. */
  size_t numCategories;
  const StgTransferTotals *transfers;
  size_t numTransfers;
} StgRankClass;

/** Parameters of the whole model. */
STG_C_EXPORT StgExact
stgCompilationGetParameters(const StgCompilation *compilation);
/** Of them, those that a token goes through: not of all experts. */
STG_C_EXPORT StgExact
stgCompilationGetActiveParameters(const StgCompilation *compilation);
/** Of them, those of tables that tokens are looked up in. */
STG_C_EXPORT StgExact
stgCompilationGetEmbeddingParameters(const StgCompilation *compilation);
STG_C_EXPORT int64_t
stgCompilationGetNumRanks(const StgCompilation *compilation);
STG_C_EXPORT size_t
stgCompilationGetNumClasses(const StgCompilation *compilation);
STG_C_EXPORT const StgRankClass *
stgCompilationGetClass(const StgCompilation *compilation, size_t index);
/** The bytes of `manifest.json`: all of the above and what was compiled. Made
 *  when it is asked for first. */
STG_C_EXPORT StgText
stgCompilationGetManifest(const StgCompilation *compilation);
/** Warnings and remarks. */
STG_C_EXPORT size_t
stgCompilationGetNumMessages(const StgCompilation *compilation);
STG_C_EXPORT StgMessage
stgCompilationGetMessage(const StgCompilation *compilation, size_t index);
/** The bundle of STG_OUTPUT_MEMORY; null for other outputs. It lives as long as
 *  the compilation, and is not closed. */
STG_C_EXPORT const StgTraceBundle *
stgCompilationGetBundle(const StgCompilation *compilation);

/*===----------------------------------------------------------------------===*\
|* Costs with symbols                                                         *|
\*===----------------------------------------------------------------------===*/

/** Totals of one rank as expressions over the symbols of the model. */
typedef struct StgCosts StgCosts;

typedef struct StgCost {
  /** "operations", "product_operations" (those of them in matrix products),
   *  "memory_traffic", "collective" or "state". */
  StgText quantity;
  StgText phase; /**< Empty for states. */
  StgText kind;  /**< Of a collective its kind, of a state its category. */
  StgText axes;  /**< Of a collective, joined by '+'. */
  /** Operations, or bytes, such as "2*B*S*D/tp + ceildiv(V, 3)": sums, products
   *  and quotients of integers, symbols, `ceildiv`, `min`, `max` and `hits`
   * (how many experts rows hit, as docs/Language.md defines it). */
  StgText expression;
} StgCost;

typedef struct StgSymbol {
  StgText name;
  /** That the model and the strategy give. Where ranks differ, the coordinate
   * of a rank along an axis is the symbol AXIS_index, here 0. */
  int64_t value;
} StgSymbol;

/** Compiles so that the symbols of the model stay in the totals; each needs a
 *  value all the same. There must be one pipeline stage, one micro-batch and
 * one step. The output of the request is not looked at. */
STG_C_EXPORT StgError *stgComputeCosts(const StgCompileRequest *request,
                                       StgCosts **costs);
STG_C_EXPORT void stgCostsDestroy(StgCosts *costs);
STG_C_EXPORT size_t stgCostsGetNum(const StgCosts *costs);
STG_C_EXPORT StgCost stgCostsGet(const StgCosts *costs, size_t index);
STG_C_EXPORT size_t stgCostsGetNumSymbols(const StgCosts *costs);
STG_C_EXPORT StgSymbol stgCostsGetSymbol(const StgCosts *costs, size_t index);
/** Warnings and remarks. */
STG_C_EXPORT size_t stgCostsGetNumMessages(const StgCosts *costs);
STG_C_EXPORT StgMessage stgCostsGetMessage(const StgCosts *costs, size_t index);

/** Brings an expression into its one canonical form: equal expressions have
 *  equal texts. The result is freed by `stgTextFree`. */
STG_C_EXPORT StgError *stgExpressionSimplify(const char *text, char **result);

/*===----------------------------------------------------------------------===*\
|* Passes                                                                     *|
\*===----------------------------------------------------------------------===*/

/** Runs a pipeline, such as "builtin.module(stg-name-ops,stg-autodiff)", or the
 *  flags of `stg-opt` without dashes ("stg-name-ops"), on the text of a module;
 *  null or empty: only checks it. `name` is what messages call the text; null:
 *  "module". The result, with a zero at its end, is freed by `stgTextFree`. */
STG_C_EXPORT StgError *stgRunPasses(const char *text, const char *name,
                                    const char *pipeline, char **result);
STG_C_EXPORT void stgTextFree(char *text);

#ifdef __cplusplus
}
#endif

#endif /* STG_C_COMPILE_H */
