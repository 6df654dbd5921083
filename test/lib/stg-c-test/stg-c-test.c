/*===- stg-c-test.c - The C interface, from C
------------------------------===*\
|*                                                                            *|
|* Part of the STG project, under the Apache License v2.0 with LLVM           *|
|* Exceptions. See the LICENSE file for license information.                  *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|*   stg-c-test manifest MODEL [NAME=VALUE...]   what stg-compile --json says *|
|*   stg-c-test totals MODEL [NAME=VALUE...]     the same, of structs         *|
|*   stg-c-test nodes MODEL RANK [NAME=VALUE...] sums over nodes of a rank    *|
|*   stg-c-test threads MODEL [NAME=VALUE...]    eight at once                *|
|*   stg-c-test text FILE [NAME=VALUE...]        a model that is not a file   *|
|*   stg-c-test passes FILE PIPELINE             what stg-opt says            *|
|*   stg-c-test requests                         what is wrong with requests  *|
|*   stg-c-test fields                           names of all fields          *|
|*   stg-c-test stop MODEL N [NAME=VALUE...]     ends at the step N           *|
|*   stg-c-test costs MODEL [NAME=VALUE...]      totals with symbols          *|
|*   stg-c-test simplify TEXT                    an expression                *|
|*   stg-c-test trace FILE                       nodes of any producer        *|
|*   stg-c-test validate INPUT                   what is wrong with a trace   *|
|*   stg-c-test estimate MODEL MACHINE [KEY:VALUE|NAME=VALUE...]              *|
|*                                               what stg-estimate --json says*|
|*   stg-c-test estimate-bundle FILE MACHINE     the same of a bundle         *|
|*   stg-c-test parts MODEL MACHINE [...]        the same, of structs         *|
|*   stg-c-test search MODEL MACHINE RANKS [FLAG:VALUES|{...}|NAME=VALUE...]  *|
|*                                               what stg-search --json says, *|
|*                                               with values that are varied  *|
|*   stg-c-test found MODEL MACHINE RANKS [...]  the same, of structs         *|
|*   stg-c-test among MODEL MACHINE 0 [...]      the same, of a list          *|
|*   stg-c-test found-until MODEL MACHINE RANKS N [...]  ends at the N-th report
*|
|*   stg-c-test config FILE                      what a config.json becomes   *|
|*   stg-c-test linalg FILE PARAMETERS           what a program becomes       *|
|*   stg-c-test models FOLDER                    names of models              *|
|*                                                                            *|
|* NAME=VALUE is a field of the strategy, a text that begins with '{' is one  *|
|* as JSON, and @FILE is a file with that.                                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include "stg-c/Estimate.h"
#include "stg-c/Models.h"
#include "stg-c/Search.h"
#include "stg-c/Trace.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void printText(const char *label, StgText text) {
  printf("%s%.*s", label, (int)text.size, text.data);
}

/** Prints an error in its parts, and destroys it. */
static int fail(StgError *error) {
  for (size_t i = 0; i < stgErrorGetNumMessages(error); ++i) {
    StgMessage message = stgErrorGetMessage(error, i);
    printf("%d", message.severity);
    printText(" '", message.file);
    printf("':%" PRId64 ":%" PRId64, message.line, message.column);
    printText(": ", message.text);
    printf("\n");
  }
  stgErrorDestroy(error);
  return 1;
}

static void printExact(const char *label, StgExact value) {
  if (value.high != 0)
    printf("%s%" PRId64 "*2^64+%" PRIu64, label, value.high, value.low);
  else
    printf("%s%" PRIu64, label, value.low);
}

static char *readAll(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    exit(1);
  }
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  char *text = malloc((size_t)size + 1);
  if (!text || fread(text, 1, (size_t)size, file) != (size_t)size)
    abort();
  text[size] = '\0';
  fclose(file);
  return text;
}

static StgError *makeStrategy(char **words, int count, StgStrategy *strategy) {
  for (int i = 0; i < count; ++i) {
    StgError *error = NULL;
    char *equals = strchr(words[i], '=');
    if (words[i][0] == '@') {
      char *text = readAll(words[i] + 1);
      error = stgStrategyReadJSON(strategy, text, words[i] + 1);
      free(text);
    } else if (words[i][0] == '{') {
      error = stgStrategyReadJSON(strategy, words[i], NULL);
    } else if (equals) {
      *equals = '\0';
      error = stgStrategySet(strategy, words[i], equals + 1);
      *equals = '=';
    } else {
      error = stgStrategySet(strategy, words[i], "true");
    }
    if (error)
      return error;
  }
  return NULL;
}

static StgError *compileWords(StgCompileRequest *request, char **words,
                              int count, StgCompilation **compilation) {
  StgStrategy *strategy = stgStrategyCreate();
  StgError *error = makeStrategy(words, count, strategy);
  request->strategy = strategy;
  if (!error)
    error = stgCompile(request, compilation);
  stgStrategyDestroy(strategy);
  return error;
}

static void printManifest(const StgCompilation *compilation) {
  printText("", stgCompilationGetManifest(compilation));
}

static void printTotals(const StgCompilation *compilation) {
  printExact("parameters ", stgCompilationGetParameters(compilation));
  printf("\nranks %" PRId64 "\n", stgCompilationGetNumRanks(compilation));
  for (size_t i = 0; i < stgCompilationGetNumClasses(compilation); ++i) {
    const StgRankClass *ranks = stgCompilationGetClass(compilation, i);
    printText("class ", ranks->name);
    printf(" ranks %" PRId64 " from %" PRId64 " nodes %" PRIu64 "+%" PRIu64
           "+%" PRIu64 "+%" PRIu64 "\n",
           ranks->numRanks, ranks->firstRank, ranks->numCompNodes,
           ranks->numCollNodes, ranks->numSendNodes, ranks->numRecvNodes);
    printExact("  operations ", ranks->operations);
    printExact(" traffic ", ranks->memoryTraffic);
    printExact(" peak ", ranks->peakMemory);
    printText(" at ", ranks->peakNode);
    printf("\n");
    for (size_t k = 0; k < ranks->numPhases; ++k) {
      printText("  ", ranks->phases[k].phase);
      printExact(" operations ", ranks->phases[k].operations);
      printExact(" products ", ranks->phases[k].productOperations);
      printf("\n");
    }
    for (size_t k = 0; k < ranks->numCollectives; ++k) {
      const StgCollectiveTotals *coll = &ranks->collectives[k];
      printText("  ", coll->axes);
      printf(" kind %d of %" PRId64, coll->kind, coll->groupSize);
      printText(" ", coll->phase);
      printf(" count %" PRIu64, coll->count);
      printExact(" bytes ", coll->bytes);
      printf("\n");
    }
    for (size_t k = 0; k < ranks->numMessages; ++k) {
      const StgMessageTotals *message = &ranks->messages[k];
      printText(message->isSend ? "  send " : "  receive ", message->axis);
      printf(" shift %" PRId64, message->shift);
      printText(" ", message->phase);
      printf(" count %" PRIu64, message->count);
      printExact(" bytes ", message->bytes);
      printf("\n");
    }
    for (size_t k = 0; k < ranks->numTransfers; ++k) {
      const StgTransferTotals *transfer = &ranks->transfers[k];
      printText(transfer->isLoad ? "  load " : "  store ", transfer->phase);
      printf(" count %" PRIu64, transfer->count);
      printExact(" bytes ", transfer->bytes);
      printf("\n");
    }
    for (size_t k = 0; k < ranks->numCategories; ++k) {
      printText("  ", ranks->memory[k].category);
      printExact(" persistent ", ranks->memory[k].persistent);
      printExact(" peak ", ranks->memory[k].peak);
      printExact(" largest ", ranks->memory[k].largest);
      printf("\n");
    }
  }
}

static void printWarning(StgMessage message) {
  printText("warning: ", message.text);
  printf("\n");
}

static int runCompile(const char *model, const char *text, char **words,
                      int count, void (*print)(const StgCompilation *)) {
  StgCompileRequest request = {0};
  request.model = model;
  request.modelText = text;
  StgCompilation *compilation = NULL;
  StgError *error = compileWords(&request, words, count, &compilation);
  if (error)
    return fail(error);
  for (size_t i = 0; i < stgCompilationGetNumMessages(compilation); ++i)
    printWarning(stgCompilationGetMessage(compilation, i));
  print(compilation);
  stgCompilationDestroy(compilation);
  return 0;
}

static int runNodes(const char *model, int64_t rank, char **words, int count) {
  StgCompileRequest request = {0};
  request.model = model;
  request.output = STG_OUTPUT_MEMORY;
  StgCompilation *compilation = NULL;
  StgError *error = compileWords(&request, words, count, &compilation);
  if (error)
    return fail(error);
  const StgTraceBundle *bundle = stgCompilationGetBundle(compilation);
  StgNodeStream *stream = stgNodeStreamOpen(bundle, rank);
  if (!stream) {
    printf("no rank %" PRId64 " of %" PRId64 "\n", rank,
           stgTraceBundleGetNumRanks(bundle));
    stgCompilationDestroy(compilation);
    return 1;
  }
  StgNode node;
  uint64_t nodes = 0;
  int64_t operations = 0, payload = 0;
  for (; stgNodeStreamNext(stream, &node); ++nodes) {
    if (node.type == STG_COMP_NODE)
      operations += node.numOps;
    else if (node.type == STG_COMM_COLL_NODE)
      payload += node.payloadBytes;
  }
  printf("nodes %" PRIu64 " of %" PRIu64 ", operations %" PRId64
         ", payloads %" PRId64 "\n",
         nodes, stgTraceBundleGetNumNodes(bundle, rank), operations, payload);
  stgNodeStreamClose(stream);
  stgCompilationDestroy(compilation);
  return 0;
}

typedef struct Task {
  const char *model;
  const StgStrategy *strategy;
  char *manifest;
} Task;

static void *compileTask(void *argument) {
  Task *task = argument;
  StgCompileRequest request = {0};
  request.model = task->model;
  request.strategy = task->strategy;
  for (int i = 0; i < 4; ++i) {
    StgCompilation *compilation = NULL;
    StgError *error = stgCompile(&request, &compilation);
    if (error) {
      fail(error);
      return NULL;
    }
    StgText manifest = stgCompilationGetManifest(compilation);
    free(task->manifest);
    task->manifest = strndup(manifest.data, manifest.size);
    stgCompilationDestroy(compilation);
  }
  return NULL;
}

/** Several threads share a strategy, and say the same. */
static int runThreads(const char *model, char **words, int count) {
  enum { kThreads = 8 };
  StgStrategy *strategy = stgStrategyCreate();
  StgError *error = makeStrategy(words, count, strategy);
  if (error)
    return fail(error);
  pthread_t threads[kThreads];
  Task tasks[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    tasks[i] = (Task){model, strategy, NULL};
    if (pthread_create(&threads[i], NULL, compileTask, &tasks[i]) != 0)
      abort();
  }
  int same = 0;
  for (int i = 0; i < kThreads; ++i)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < kThreads; ++i)
    same += tasks[i].manifest && tasks[0].manifest &&
            strcmp(tasks[i].manifest, tasks[0].manifest) == 0;
  printf("%d of %d threads say the same\n", same, kThreads);
  for (int i = 0; i < kThreads; ++i)
    free(tasks[i].manifest);
  stgStrategyDestroy(strategy);
  return same != kThreads;
}

static int runPasses(const char *path, const char *pipeline) {
  char *text = readAll(path), *result = NULL;
  StgError *error = stgRunPasses(text, "text", pipeline, &result);
  free(text);
  if (error)
    return fail(error);
  fputs(result, stdout);
  stgTextFree(result);
  return 0;
}

/** What no file and no flag can say. */
static int runRequests(void) {
  StgCompilation *compilation = NULL;
  StgCompileRequest requests[9];
  memset(requests, 0, sizeof(requests));
  for (int i = 1; i < 9; ++i)
    requests[i].model = "llama3-8b";
  requests[1].output = STG_OUTPUT_FILES;
  requests[2].folder = "somewhere";
  requests[3].output = STG_OUTPUT_FILES;
  requests[3].folder = "somewhere";
  requests[3].firstRank = 4;
  requests[3].endRank = 4;
  requests[4].endRank = 1;
  requests[5].output = (StgOutput)9;
  requests[6].model = "no-such-model.mlir";
  requests[7].program = "decode";
  requests[8].prefix = "a/b";
  int failed = 0;
  for (int i = 0; i < 9; ++i) {
    printf("%d: ", i);
    failed += fail(stgCompile(&requests[i], &compilation));
    if (compilation)
      abort();
  }
  StgMachine machine = {"h100-80gb-dgx", NULL, 0};
  StgSearchOptions searches[3];
  memset(searches, 0, sizeof(searches));
  searches[0].goal = (StgSearchGoal)3;
  searches[1].front = 1 << 3 | STG_FRONT_MEMORY;
  const int64_t ranks = 1;
  searches[2].ranks = &ranks;
  searches[2].numRanks = 1;
  searches[2].memoryLimit = INFINITY;
  StgCompileRequest model = {0};
  model.model = "llama3-8b";
  for (int i = 0; i < 3; ++i) {
    StgSearch *search = NULL;
    printf("search %d: ", i);
    failed += fail(stgSearch(&model, &machine, &searches[i], &search));
    if (search)
      abort();
  }
  /* What there is not. */
  StgCompileRequest small = {0};
  StgStrategy *strategy = stgStrategyCreate();
  stgErrorDestroy(
      stgStrategyReadJSON(strategy, "{\"batch\": 1, \"set\": {\"L\": 1}}", NULL));
  small.model = "llama3-8b";
  small.strategy = strategy;
  small.output = STG_OUTPUT_MEMORY;
  if (stgCompile(&small, &compilation))
    abort();
  const StgTraceBundle *bundle = stgCompilationGetBundle(compilation);
  size_t axes = stgTraceBundleGetNumAxes(bundle);
  if (stgTraceBundleGetAxisName(bundle, axes).size != 0 ||
      stgTraceBundleGetAxisSize(bundle, axes) != 0 ||
      stgTraceBundleGetNumNodes(bundle, 1) != 0 ||
      stgNodeStreamOpen(bundle, 1) ||
      stgTraceBundleGetGroup(bundle, 1, NULL, 0) != 0 ||
      stgCompilationGetClass(compilation, 1))
    abort();
  StgValidationOptions groups = {0};
  groups.commGroups = "elsewhere.json";
  StgValidation *validation = NULL;
  printf("bundle: ");
  failed += fail(stgTraceBundleValidate(bundle, &groups, &validation));
  if (validation)
    abort();
  stgCompilationDestroy(compilation);
  stgStrategyDestroy(strategy);
  /* What may be null. */
  stgErrorDestroy(NULL);
  stgCompilationDestroy(NULL);
  stgStrategyDestroy(NULL);
  stgTraceBundleClose(NULL);
  stgTextFree(NULL);
  stgCostsDestroy(NULL);
  stgTraceFileClose(NULL);
  stgValidationDestroy(NULL);
  stgEstimateDestroy(NULL);
  stgSearchDestroy(NULL);
  stgModelsDestroy(NULL);
  stgImportedModelDestroy(NULL);
  if (stgErrorIsInterruption(NULL))
    abort();
  printf("%d failed, '%s', %zu\n", failed, stgErrorGetText(NULL),
         stgErrorGetNumMessages(NULL));
  return 0;
}

typedef struct Steps {
  int left, asked;
} Steps;

static bool countDown(StgText step, void *data) {
  Steps *steps = data;
  if (step.size == 0)
    abort();
  ++steps->asked;
  return --steps->left > 0;
}

/** The call ends with its N-th step, and asks no more. */
static int runStop(const char *model, int steps, char **words, int count) {
  Steps state = {steps, 0};
  StgCompileRequest request = {0};
  request.model = model;
  request.goOn = countDown;
  request.goOnData = &state;
  StgCompilation *compilation = NULL;
  StgError *error = compileWords(&request, words, count, &compilation);
  printf("asked %d times, %s\n", state.asked,
         stgErrorIsInterruption(error) ? "interrupted" : "went on");
  if (error)
    return fail(error);
  stgCompilationDestroy(compilation);
  return 0;
}

static int runCosts(const char *model, char **words, int count) {
  StgStrategy *strategy = stgStrategyCreate();
  StgError *error = makeStrategy(words, count, strategy);
  StgCompileRequest request = {0};
  request.model = model;
  request.strategy = strategy;
  StgCosts *costs = NULL;
  if (!error)
    error = stgComputeCosts(&request, &costs);
  stgStrategyDestroy(strategy);
  if (error)
    return fail(error);
  for (size_t i = 0; i < stgCostsGetNumMessages(costs); ++i)
    printWarning(stgCostsGetMessage(costs, i));
  for (size_t i = 0; i < stgCostsGetNum(costs); ++i) {
    StgCost cost = stgCostsGet(costs, i);
    printText("", cost.quantity);
    printText(" '", cost.phase);
    printText("' '", cost.kind);
    printText("' '", cost.axes);
    printText("': ", cost.expression);
    printf("\n");
  }
  for (size_t i = 0; i < stgCostsGetNumSymbols(costs); ++i) {
    StgSymbol symbol = stgCostsGetSymbol(costs, i);
    printText("", symbol.name);
    printf(" = %" PRId64 "\n", symbol.value);
  }
  stgCostsDestroy(costs);
  return 0;
}

static int runSimplify(const char *text) {
  char *result = NULL;
  StgError *error = stgExpressionSimplify(text, &result);
  if (error)
    return fail(error);
  puts(result);
  stgTextFree(result);
  return 0;
}

static void printAttribute(const StgAttribute *attribute) {
  printText("  ", attribute->name);
  printf(" kind %d%s:", attribute->kind, attribute->isList ? " list" : "");
  for (size_t i = 0; i < attribute->numValues; ++i) {
    const StgValue *value = &attribute->values[i];
    if (attribute->kind == STG_VALUE_SIGNED)
      printf(" %" PRId64, value->integer);
    else if (attribute->kind == STG_VALUE_DOUBLE)
      printf(" %g", value->real);
    else if (attribute->kind == STG_VALUE_TEXT ||
             attribute->kind == STG_VALUE_BYTES)
      printText(" ", value->text);
    else
      printf(" %" PRIu64, value->natural);
  }
  printf("\n");
}

static int runTrace(const char *path) {
  StgTraceFile *file = NULL;
  StgError *error = stgTraceFileOpen(path, &file);
  if (error)
    return fail(error);
  printText("version ", stgTraceFileGetVersion(file));
  printf("\n");
  const StgAttribute *attributes = NULL;
  size_t count = stgTraceFileGetAttributes(file, &attributes);
  for (size_t i = 0; i < count; ++i)
    printAttribute(&attributes[i]);
  StgTraceNode node;
  bool hasNode = false;
  while (!(error = stgTraceFileNext(file, &node, &hasNode)) && hasNode) {
    printf("node %" PRIu64, node.id);
    printText(" ", node.name);
    printf(" type %d, %zu and %zu dependencies, %" PRIu64 "+%" PRIu64 "\n",
           node.type, node.numDataDeps, node.numCtrlDeps, node.startMicros,
           node.durationMicros);
    for (size_t i = 0; i < node.numAttributes; ++i)
      printAttribute(&node.attributes[i]);
  }
  stgTraceFileClose(file);
  return error ? fail(error) : 0;
}

static int runValidate(const char *input) {
  StgValidation *validation = NULL;
  StgError *error = stgValidate(input, NULL, &validation);
  if (error)
    return fail(error);
  printf("%" PRIu64 " ranks, %" PRIu64 " nodes, %" PRIu64 " violations\n",
         stgValidationGetNumRanks(validation),
         stgValidationGetNumNodes(validation),
         stgValidationGetTotal(validation));
  for (size_t i = 0; i < stgValidationGetNumShown(validation); ++i) {
    StgViolation violation = stgValidationGetViolation(validation, i);
    printText("", violation.rule);
    printText(" (", violation.ruleText);
    if (violation.hasNode)
      printf("): node %" PRIu64, violation.id);
    else
      printf("): file");
    printText(" '", violation.name);
    printText("': ", violation.message);
    printf("\n");
  }
  int status = stgValidationGetTotal(validation) != 0;
  stgValidationDestroy(validation);
  return status;
}

static int runFields(void) {
  for (size_t i = 0; i < stgGetNumFields(); ++i) {
    StgField field = stgGetField(i);
    printText("", field.name);
    printText(" ", field.jsonName);
    printText(": ", field.expectation);
    printf("\n");
  }
  return 0;
}

static void printParts(const StgEstimate *estimate) {
  const StgEstimateTotals *totals = stgEstimateGetTotals(estimate);
  double sum = 0;
  for (size_t i = 0; i < totals->numParts; ++i)
    sum += totals->parts[i].seconds;
  printf("step %g parts %g ranks %" PRId64, totals->stepSeconds, sum,
         totals->numRanks);
  printText(" on ", totals->machine);
  printText(", last ", totals->lastClass);
  printf(" of %zu, %s\n", totals->numClasses,
         totals->neededBytes <= totals->availableBytes ? "fits"
                                                       : "does not fit");
}

static int runEstimate(const char *model, const char *name, char **words,
                       int count, bool isBundle, bool hasParts) {
  const char *changes[16];
  StgMachine machine = {name, changes, 0};
  for (; count > 0 && strchr(words[0], ':') && machine.numChanges < 16;
       ++words, --count) {
    *strchr(words[0], ':') = '=';
    changes[machine.numChanges++] = words[0];
  }
  StgEstimate *estimate = NULL;
  StgError *error = NULL;
  if (isBundle) {
    StgTraceBundle *bundle = NULL;
    error = stgTraceBundleOpen(model, &bundle);
    if (!error)
      error = stgEstimateBundle(bundle, &machine, &estimate);
    stgTraceBundleClose(bundle);
  } else {
    StgStrategy *strategy = stgStrategyCreate();
    error = makeStrategy(words, count, strategy);
    StgCompileRequest request = {0};
    request.model = model;
    request.strategy = strategy;
    if (!error)
      error = stgEstimate(&request, &machine, &estimate);
    stgStrategyDestroy(strategy);
  }
  if (error)
    return fail(error);
  for (size_t i = 0; hasParts && i < stgEstimateGetNumMessages(estimate); ++i)
    printWarning(stgEstimateGetMessage(estimate, i));
  if (hasParts)
    printParts(estimate);
  else
    printText("", stgEstimateGetJSON(estimate));
  stgEstimateDestroy(estimate);
  return 0;
}

typedef struct Reports {
  int left; /**< 0: no end. */
  int count;
  uint64_t done;
} Reports;

static bool takeReport(StgSearchProgress progress, void *data) {
  Reports *reports = data;
  if (progress.step.size == 0 ||
      (progress.total && progress.done > progress.total))
    abort();
  ++reports->count;
  return reports->left == 0 || --reports->left > 0;
}

static void printFound(const StgSearch *search) {
  StgSearchCounts counts = stgSearchGetCounts(search);
  printf("all %" PRIu64 " estimated %" PRIu64 " cut %" PRIu64 "+%" PRIu64
         " large %" PRIu64 " refused %" PRIu64 ", %s\n",
         counts.all, counts.estimated, counts.cutByTime, counts.cutByMemory,
         counts.tooLarge, counts.refused,
         stgSearchIsComplete(search) ? "complete" : "not complete");
  for (size_t i = 0; i < stgSearchGetNumEntries(search); ++i) {
    const StgSearchEntry *entry = stgSearchGetEntry(search, i);
    double sum = 0;
    for (size_t k = 0; k < entry->numParts; ++k)
      sum += entry->parts[k].seconds;
    printf("%s %.17g s parts %.9g of %.9g, %.17g B, %" PRId64
           " ranks, use %.17g %.17g, rate %.17g: ",
           i < stgSearchGetNumBest(search) ? "best" : "also",
           entry->stepSeconds, sum, entry->stepSeconds, entry->neededBytes,
           entry->numRanks, entry->modelUse, entry->hardwareUse,
           entry->tokenRate);
    printText("", entry->command);
    printText(" ", entry->strategy);
    printf("\n");
  }
  printf("goal %d, front of %u\n", (int)stgSearchGetGoal(search),
         stgSearchGetCriteria(search));
  for (size_t i = 0; i < stgSearchGetNumFront(search); ++i)
    printf("front %zu\n", stgSearchGetFront(search, i));
  for (size_t i = 0; i < stgSearchGetNumValues(search); ++i) {
    StgSearchValue value = stgSearchGetValue(search, i);
    printText("", value.flag);
    printText(" ", value.value);
    printf(": %.17g, at least %.17g\n", value.cost, value.atLeast);
  }
  if (stgSearchGetEntry(search, stgSearchGetNumEntries(search)) ||
      stgSearchGetFront(search, stgSearchGetNumFront(search)) != SIZE_MAX ||
      stgSearchGetValue(search, stgSearchGetNumValues(search)).flag.size)
    abort();
}

static int runSearch(const char *command, const char *model, const char *name,
                     int64_t numRanks, char **words, int count) {
  enum { kMost = 16 };
  const char *vary[kMost];
  StgStrategy *among[kMost];
  Reports reports = {0, 0, 0};
  StgMachine machine = {name, NULL, 0};
  StgSearchOptions options = {0};
  StgSearch *search = NULL;
  StgError *error = NULL;
  if (strcmp(command, "found-until") == 0 && count > 0) {
    reports.left = atoi(words[0]);
    ++words, --count;
  }
  for (; !error && count > 0 && words[0][0] == '{' && options.numAmong < kMost;
       ++words, --count) {
    among[options.numAmong] = stgStrategyCreate();
    error = stgStrategyReadJSON(among[options.numAmong++], words[0], NULL);
  }
  for (; count > 0 && strchr(words[0], ':') && options.numVary < kMost;
       ++words, --count) {
    *strchr(words[0], ':') = '=';
    vary[options.numVary++] = words[0];
  }
  options.ranks = &numRanks;
  options.numRanks = numRanks ? 1 : 0;
  options.vary = vary;
  options.among = (const StgStrategy *const *)among;
  options.numThreads = 1;
  options.progress = takeReport;
  options.progressData = &reports;
  StgStrategy *strategy = stgStrategyCreate();
  if (!error)
    error = makeStrategy(words, count, strategy);
  StgCompileRequest request = {0};
  request.model = model;
  request.strategy = strategy;
  if (!error)
    error = stgSearch(&request, &machine, &options, &search);
  stgStrategyDestroy(strategy);
  for (size_t i = 0; i < options.numAmong; ++i)
    stgStrategyDestroy(among[i]);
  if (error) {
    printf("%s", stgErrorIsInterruption(error) ? "interrupted\n" : "");
    return fail(error);
  }
  if (reports.count == 0)
    abort();
  if (strcmp(command, "search") == 0)
    printText("", stgSearchGetJSON(search));
  else
    printFound(search);
  stgSearchDestroy(search);
  return 0;
}

static int printModel(StgError *error, StgImportedModel *model) {
  if (error)
    return fail(error);
  for (size_t i = 0; i < stgImportedModelGetNumMessages(model); ++i) {
    printText("// ", stgImportedModelGetMessage(model, i).text);
    printf("\n");
  }
  printText("", stgImportedModelGetText(model));
  stgImportedModelDestroy(model);
  return 0;
}

static int runConfig(const char *file) {
  StgConfigRequest request = {0};
  request.file = file;
  StgImportedModel *model = NULL;
  StgError *error = stgImportConfig(&request, &model);
  return printModel(error, model);
}

static int runLinalg(const char *file, const char *parameters) {
  StgLinalgRequest request = {file, NULL, true, &parameters, 1};
  StgImportedModel *model = NULL;
  StgError *error = stgImportLinalg(&request, &model);
  return printModel(error, model);
}

static int runModels(const char *folder) {
  StgModels *models = NULL;
  StgError *error = stgListModels(&folder, 1, &models);
  if (error)
    return fail(error);
  for (size_t i = 0; i < stgModelsGetNum(models); ++i) {
    StgModel model = stgModelsGet(models, i);
    printText("", model.name);
    printText(" (", model.family);
    printExact(") ", model.parameters);
    printf("\n");
  }
  stgModelsDestroy(models);
  return 0;
}

int main(int argc, char **argv) {
  const char *command = argc > 1 ? argv[1] : "";
  if (strcmp(command, "requests") == 0)
    return runRequests();
  if (strcmp(command, "fields") == 0)
    return runFields();
  if (argc < 3)
    return 2;
  char **words = argv + 3;
  int count = argc - 3;
  if (strcmp(command, "manifest") == 0)
    return runCompile(argv[2], NULL, words, count, printManifest);
  if (strcmp(command, "totals") == 0)
    return runCompile(argv[2], NULL, words, count, printTotals);
  if (strcmp(command, "threads") == 0)
    return runThreads(argv[2], words, count);
  if (strcmp(command, "text") == 0) {
    char *text = readAll(argv[2]);
    int status = runCompile("text", text, words, count, printTotals);
    free(text);
    return status;
  }
  if (strcmp(command, "costs") == 0)
    return runCosts(argv[2], words, count);
  if (strcmp(command, "stop") == 0 && count > 0)
    return runStop(argv[2], atoi(words[0]), words + 1, count - 1);
  if (strcmp(command, "simplify") == 0)
    return runSimplify(argv[2]);
  if (strcmp(command, "trace") == 0)
    return runTrace(argv[2]);
  if (strcmp(command, "validate") == 0)
    return runValidate(argv[2]);
  if (strcmp(command, "config") == 0)
    return runConfig(argv[2]);
  if (strcmp(command, "linalg") == 0 && count == 1)
    return runLinalg(argv[2], words[0]);
  if (strcmp(command, "models") == 0)
    return runModels(argv[2]);
  bool isBundle = strcmp(command, "estimate-bundle") == 0;
  bool hasParts = strcmp(command, "parts") == 0;
  if ((isBundle || hasParts || strcmp(command, "estimate") == 0) && count > 0)
    return runEstimate(argv[2], words[0], words + 1, count - 1, isBundle,
                       hasParts);
  if ((strcmp(command, "search") == 0 || strcmp(command, "among") == 0 ||
       strncmp(command, "found", 5) == 0) &&
      count > 1)
    return runSearch(command, argv[2], words[0], strtoll(words[1], NULL, 10),
                     words + 2, count - 2);
  if (strcmp(command, "nodes") == 0 && count > 0)
    return runNodes(argv[2], strtoll(words[0], NULL, 10), words + 1, count - 1);
  if (strcmp(command, "passes") == 0 && count == 1)
    return runPasses(argv[2], words[0]);
  return 2;
}
