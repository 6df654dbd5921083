//===- Trace.cpp - Traces of any producer from C --------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg-c/Trace.h"
#include "CAPI.h"
#include "stg/Trace/Bundle/BundleValidator.h"
#include "stg/Trace/Bundle/TraceInput.h"
#include "llvm/ADT/bit.h"

using namespace llvm;
using namespace stg::capi;
using namespace stg::trace;

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

namespace {
/// Attributes as C has them.
struct AttributeViews {
  void fill(const AttributeSet &from);

  std::vector<StgAttribute> views;
  std::vector<StgValue> values;
};
} // namespace

struct StgTraceFile {
  TraceReader reader;
  Metadata metadata = {};
  AttributeViews metadataAttributes = {};
  Node node = {};
  AttributeViews attributes = {};
};

static StgValueKind getValueKind(AttrKind kind) {
  switch (getElementKind(kind)) {
  case AttrKind::Double:
  case AttrKind::Float:
    return STG_VALUE_DOUBLE;
  case AttrKind::Int32:
  case AttrKind::Int64:
  case AttrKind::Sint32:
  case AttrKind::Sint64:
  case AttrKind::Sfixed32:
  case AttrKind::Sfixed64:
    return STG_VALUE_SIGNED;
  case AttrKind::Uint32:
  case AttrKind::Uint64:
  case AttrKind::Fixed32:
  case AttrKind::Fixed64:
    return STG_VALUE_UNSIGNED;
  case AttrKind::Bool:
    return STG_VALUE_BOOL;
  case AttrKind::String:
    return STG_VALUE_TEXT;
  case AttrKind::Bytes:
    return STG_VALUE_BYTES;
  default:
    return STG_VALUE_NONE;
  }
}

static StgValue makeNumber(AttrKind kind, uint64_t bits) {
  StgValue value = {};
  value.integer = static_cast<int64_t>(bits);
  value.natural = bits;
  AttrKind element = getElementKind(kind);
  if (element == AttrKind::Double)
    value.real = bit_cast<double>(bits);
  else if (element == AttrKind::Float)
    value.real = bit_cast<float>(static_cast<uint32_t>(bits));
  return value;
}

static StgValue makeText(StringRef text) {
  StgValue value = {};
  value.text = toText(text);
  return value;
}

void AttributeViews::fill(const AttributeSet &from) {
  views.clear();
  values.clear();
  for (const Attribute &attribute : from.attributes) {
    StgValueKind kind = getValueKind(attribute.kind);
    bool isText = kind == STG_VALUE_TEXT || kind == STG_VALUE_BYTES;
    size_t begin = values.size();
    if (isList(attribute.kind) && isText)
      for (StringRef text : from.getStrings(attribute))
        values.push_back(makeText(text));
    else if (isList(attribute.kind))
      for (uint64_t bits : from.getNumbers(attribute))
        values.push_back(makeNumber(attribute.kind, bits));
    else if (kind != STG_VALUE_NONE)
      values.push_back(isText ? makeText(attribute.text)
                              : makeNumber(attribute.kind, attribute.number));
    views.push_back({toText(attribute.name), kind, isList(attribute.kind),
                     nullptr, values.size() - begin});
  }
  // Now that the values do not move any more.
  const StgValue *next = values.data();
  for (StgAttribute &view : views) {
    view.values = next;
    next += view.numValues;
  }
}

StgError *stgTraceFileOpen(const char *path, StgTraceFile **result) {
  *result = nullptr;
  Expected<TraceReader> reader = TraceReader::open(toStringRef(path));
  if (!reader)
    return toStgError(reader.takeError());
  auto file =
      std::unique_ptr<StgTraceFile>(new StgTraceFile{std::move(*reader)});
  if (Error error = file->reader.readMetadata(file->metadata))
    return toStgError(std::move(error));
  file->metadataAttributes.fill(file->metadata.attrs);
  *result = file.release();
  return nullptr;
}

void stgTraceFileClose(StgTraceFile *file) { delete file; }

StgText stgTraceFileGetVersion(const StgTraceFile *file) {
  return toText(file->metadata.version);
}

size_t stgTraceFileGetAttributes(const StgTraceFile *file,
                                 const StgAttribute **attributes) {
  *attributes = file->metadataAttributes.views.data();
  return file->metadataAttributes.views.size();
}

StgError *stgTraceFileNext(StgTraceFile *file, StgTraceNode *node,
                           bool *hasNode) {
  *hasNode = false;
  const Node &from = file->node;
  Expected<bool> more = file->reader.readNode(file->node);
  if (!more)
    return toStgError(more.takeError());
  if (!*more)
    return nullptr;
  *hasNode = true;
  file->attributes.fill(from.attrs);
  *node = {};
  node->id = from.id;
  node->name = toText(from.name);
  node->type = from.type;
  node->dataDeps = from.dataDeps.data();
  node->numDataDeps = from.dataDeps.size();
  node->ctrlDeps = from.ctrlDeps.data();
  node->numCtrlDeps = from.ctrlDeps.size();
  node->startMicros = from.startTimeMicros;
  node->durationMicros = from.durationMicros;
  node->attributes = file->attributes.views.data();
  node->numAttributes = file->attributes.views.size();
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Validation
//===----------------------------------------------------------------------===//

struct StgValidation {
  ValidationReport report;
};

static Expected<ValidatorOptions> toOptions(const StgValidationOptions &from) {
  auto fail = [](const char *message) {
    return createStringError(inconvertibleErrorCode(), message);
  };
  ValidatorOptions options;
  options.quiet = true;
  // Comparisons are written so that NaN fails them.
  if (!(from.peakTflops >= 0))
    return fail("the peak of the compute rate must be greater than 0");
  if (!(from.memoryBandwidth >= 0))
    return fail("the memory bandwidth must be greater than 0");
  if (from.splits > UINT32_MAX)
    return fail("splits must be in 1 ... 4294967295");
  if (from.numNpus > INT32_MAX)
    return fail("the number of NPUs must be in 1 ... 2147483647");
  if (from.peakTflops > 0)
    options.peakTflops = from.peakTflops;
  if (from.memoryBandwidth > 0)
    options.memBandwidth = from.memoryBandwidth;
  if (from.splits)
    options.splits = from.splits;
  if (from.numNpus)
    options.numNpus = from.numNpus;
  options.strictMemory = from.strictMemory;
  options.eagerSends = from.eagerSends;
  if (from.maxShown)
    // 0 is all.
    options.maxErrors =
        from.maxShown > UINT32_MAX ? 0 : static_cast<unsigned>(from.maxShown);
  options.threads = from.numThreads;
  return options;
}

StgError *stgValidate(const char *input, const StgValidationOptions *from,
                      StgValidation **result) {
  *result = nullptr;
  static const StgValidationOptions defaults = {};
  const StgValidationOptions &given = from ? *from : defaults;
  Expected<ValidatorOptions> options = toOptions(given);
  if (!options)
    return toStgError(options.takeError());
  StringRef name = toStringRef(input);
  Expected<TraceInput> trace = openTrace(name, toStringRef(given.commGroups));
  if (!trace)
    return toStgError(trace.takeError());
  *result = new StgValidation{validateTrace(*trace, name, *options)};
  return nullptr;
}

StgError *stgTraceBundleValidate(const StgTraceBundle *bundle,
                                 const StgValidationOptions *from,
                                 StgValidation **result) {
  *result = nullptr;
  static const StgValidationOptions defaults = {};
  const StgValidationOptions &given = from ? *from : defaults;
  Expected<ValidatorOptions> options = toOptions(given);
  if (!options)
    return toStgError(options.takeError());
  if (StringRef groups = toStringRef(given.commGroups); !groups.empty())
    return toStgError(createStringError(
        "a bundle has its own groups, remove the file of groups '" + groups +
        "'"));
  *result =
      new StgValidation{validateBundle(*bundle->bundle, "bundle", *options)};
  return nullptr;
}

void stgValidationDestroy(StgValidation *validation) { delete validation; }

uint64_t stgValidationGetNumRanks(const StgValidation *validation) {
  return validation->report.numRanks;
}

uint64_t stgValidationGetNumNodes(const StgValidation *validation) {
  return validation->report.numNodes;
}

uint64_t stgValidationGetTotal(const StgValidation *validation) {
  return validation->report.violations.getTotal();
}

size_t stgValidationGetNumShown(const StgValidation *validation) {
  return validation->report.violations.getKept().size();
}

StgViolation stgValidationGetViolation(const StgValidation *validation,
                                       size_t index) {
  ArrayRef<Violation> kept = validation->report.violations.getKept();
  if (index >= kept.size())
    return {};
  const Violation &violation = kept[index];
  StgViolation view = {};
  view.rule = toText(getRuleNumber(violation.rule));
  view.ruleText = toText(getRuleText(violation.rule));
  view.file = toText(violation.file);
  view.hasNode = violation.node.has_value();
  if (violation.node) {
    view.id = violation.node->first;
    view.name = toText(violation.node->second);
  }
  view.message = toText(violation.message);
  return view;
}
