//===- PresetReader.cpp - Finds and reads presets -------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Presets/Preset.h"
#include "stg/Support/Files.h"
#include "stg/Support/Installation.h"
#include "stg/Support/JSON.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <map>

using namespace stg;
using llvm::Expected;
using llvm::StringRef;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace stg {
static bool fromJSON(const json::Value &value, json::Object &object,
                     json::Path path) {
  const json::Object *given = value.getAsObject();
  if (given)
    object = *given;
  else
    path.report("expected an object");
  return given != nullptr;
}
} // namespace stg

namespace {
/// The fields of an object; those that nothing asks for are errors.
class Fields {
public:
  Fields(const json::Value &value, json::Path path)
      : object(value.getAsObject()), path(path) {
    if (!object)
      fail(path, "expected an object");
  }

  template <typename T> void require(llvm::StringLiteral name, T &out) {
    if (!optional(name, out))
      fail(path.field(name), "is missing");
  }

  /// True if the field is there.
  template <typename T> bool optional(llvm::StringLiteral name, T &out) {
    known.push_back(name);
    const json::Value *value = object ? object->get(name) : nullptr;
    if (!value)
      return false;
    isGood &= fromJSON(*value, out, path.field(name));
    return true;
  }

  bool finish() {
    if (isGood && object)
      for (auto &entry : *object)
        if (!llvm::is_contained(known, StringRef(entry.first)))
          fail(path.field(entry.first), "is not a field of a preset");
    return isGood;
  }

private:
  void fail(json::Path where, llvm::StringLiteral message) {
    if (isGood)
      where.report(message);
    isGood = false;
  }

  const json::Object *object;
  json::Path path;
  llvm::SmallVector<StringRef> known;
  bool isGood = true;
};
} // namespace

namespace stg {
static bool fromJSON(const json::Value &value, AxisRole &role,
                     json::Path path) {
  std::optional<StringRef> text = value.getAsString();
  std::optional<AxisRole> known =
      text ? symbolizeAxisRole(*text) : std::nullopt;
  if (known)
    role = *known;
  else
    path.report("expected data, replica, context, expert, tensor, pipeline or "
                "none");
  return known.has_value();
}

/// The fields of each type. `fromJSON` of a list asks that of its elements,
/// which asks these.
static void readFields(Fields &fields, Preset::Guard &guard) {
  fields.optional("if", guard.conditions);
  fields.optional("unless", guard.unless);
}

static void readFields(Fields &fields, Preset::Degree &degree) {
  fields.require("name", degree.name);
  fields.optional("help", degree.help);
  fields.optional("optional", degree.isOptional);
}

static void readFields(Fields &fields, Preset::Option &option) {
  fields.require("name", option.name);
  fields.optional("help", option.help);
}

static void readFields(Fields &fields, Preset::Case &single) {
  readFields(fields, single.guard);
  fields.require("is", single.value);
}

static void readFields(Fields &fields, Preset::Definition &definition) {
  fields.require("name", definition.name);
  fields.require("is", definition.cases);
}

static void readFields(Fields &fields, Preset::Requirement &requirement) {
  readFields(fields, requirement.guard);
  fields.require("that", requirement.that);
  fields.require("message", requirement.message);
}

static void readFields(Fields &fields, Preset::Part &part) {
  fields.require("name", part.name);
  fields.optional("from", part.from);
  fields.require("to", part.to);
}

static void readFields(Fields &fields, Preset::Axis &axis) {
  readFields(fields, axis.guard);
  fields.require("name", axis.name);
  fields.require("size", axis.size);
  fields.optional("role", axis.role);
  fields.optional("of", axis.of);
  fields.optional("parts", axis.parts);
}

static void readFields(Fields &fields, Preset::Group &group) {
  fields.require("name", group.name);
  fields.require("axes", group.axes);
}

static void readFields(Fields &fields, Preset::Rule &rule) {
  readFields(fields, rule.guard);
  fields.require("rule", rule.text);
}

static void readFields(Fields &fields, Preset::Claim &claim) {
  readFields(fields, claim.guard);
  fields.require("op", claim.op);
  fields.require("factor", claim.factor);
  fields.require("axis", claim.axis);
  fields.optional("dimension", claim.dimension);
  fields.optional("behind", claim.isBehind);
}

static void readFields(Fields &fields, Preset::Replicas &replicas) {
  fields.require("dimension", replicas.dimension);
  fields.require("degree", replicas.degree);
  fields.require("times", replicas.times);
}

static void readFields(Fields &fields, Preset::Fixed &fixed) {
  fields.require("fields", fixed.fields);
  fields.require("message", fixed.message);
}

static void readFields(Fields &fields, Execution::Scores &scores) {
  fields.require("forward_bytes", scores.forwardBytes);
  fields.require("backward_bytes", scores.backwardBytes);
  fields.require("forward_kernels", scores.forwardKernels);
  fields.require("backward_kernels", scores.backwardKernels);
  fields.optional("head_multiple", scores.headMultiple);
  fields.optional("more_bytes", scores.moreBytes);
  fields.optional("more_kernels", scores.moreKernels);
}

static void readFields(Fields &fields, Execution &execution) {
  fields.optional("attention", execution.attention);
  fields.optional("scan", execution.scan);
  fields.optional("scores", execution.scores);
  fields.optional("fused", execution.fused);
  fields.optional("fused_convolutions", execution.fusedConvolutions);
  fields.optional("element_wise_traffic", execution.elementWiseTraffic);
  fields.optional("loss_bytes", execution.lossBytes);
  fields.optional("loss_kernels", execution.lossKernels);
  fields.optional("optimizer_bytes", execution.optimizerBytes);
  fields.optional("gradient_bytes", execution.gradientBytes);
  fields.optional("weights_cast_once", execution.weightsCastOnce);
  fields.optional("narrow_layouts", execution.narrowLayouts);
  fields.optional("blocking_messages", execution.blockingMessages);
  fields.optional("blocking_collectives", execution.blockingCollectives);
  fields.optional("host_operation", execution.hostOperation);
  fields.optional("host_exposed", execution.hostExposed);
  fields.optional("exchange_once", execution.exchangeOnce);
  fields.optional("direct_exchange", execution.directExchange);
  fields.optional("forwarded_exchange", execution.forwardedExchange);
  fields.optional("exchange_cores", execution.exchangeCores);
  fields.optional("clamp_forward_bytes", execution.clampForwardBytes);
  fields.optional("clamp_backward_bytes", execution.clampBackwardBytes);
  fields.optional("row_bias_forward_bytes", execution.rowBiasForwardBytes);
  fields.optional("row_bias_backward_bytes", execution.rowBiasBackwardBytes);
  fields.optional("block_forward_bytes", execution.blockForwardBytes);
  fields.optional("block_backward_bytes", execution.blockBackwardBytes);
  fields.optional("blocking_keys", execution.blockingKeys);
  fields.optional("tensor_hidden", execution.tensorHidden);
  fields.optional("direct_all_reduce", execution.directAllReduce);
  fields.optional("live_logits", execution.liveLogits);
  fields.optional("live_logits_sharded", execution.liveLogitsSharded);
  fields.optional("separate_pools", execution.separatePools);
  fields.optional("stage_buffers", execution.stageBuffers);
  fields.optional("reserved_over_live", execution.reservedOverLive);
  std::map<std::string, std::string> sources; // See listConstants().
  fields.optional("sources", sources);
}

template <typename T, typename = decltype(readFields(std::declval<Fields &>(),
                                                     std::declval<T &>()))>
static bool fromJSON(const json::Value &value, T &object, json::Path path);

/// One dimension is as good as a list of one.
static bool fromJSON(const json::Value &value,
                     std::vector<Preset::Replicas> &all, json::Path path) {
  if (!value.getAsObject())
    return json::fromJSON(value, all, path);
  return fromJSON(value, all.emplace_back(), path);
}

static void readFields(Fields &fields, Preset &preset) {
  fields.optional("name", preset.name);
  fields.require("description", preset.description);
  fields.require("degrees", preset.degrees);
  fields.optional("options", preset.options);
  fields.optional("let", preset.definitions);
  fields.optional("require", preset.requirements);
  fields.require("groups", preset.groups);
  fields.require("rules", preset.rules);
  fields.optional("claims", preset.claims);
  fields.optional("joined", preset.joined);
  fields.optional("replicas", preset.replicas);
  fields.optional("defaults", preset.defaults);
  fields.optional("fixed", preset.fixed);
  fields.optional("execution", preset.execution);
}

template <typename T, typename>
static bool fromJSON(const json::Value &value, T &object, json::Path path) {
  if constexpr (std::is_same_v<T, Preset::Rule>)
    if (std::optional<StringRef> text = value.getAsString()) {
      object.text = text->str(); // Without a guard.
      return true;
    }
  Fields fields(value, path);
  readFields(fields, object);
  return fields.finish();
}
} // namespace stg

/// The members of `execution`, with where they are from.
static llvm::Error listConstants(const json::Object &file,
                                 Execution &execution) {
  const json::Object *object = file.getObject("execution");
  if (!object)
    return llvm::Error::success();
  const json::Object *sources = object->getObject("sources");
  auto print = [](const json::Value &value) {
    std::optional<double> number = value.getAsNumber();
    return number ? llvm::formatv("{0}", llvm::format("%g", *number)).str()
                  : llvm::formatv("{0}", value).str();
  };
  for (const auto &[name, value] : *object)
    if (name != "sources")
      execution.constants.push_back(
          {name.str(), print(value),
           sources ? sources->getString(name).value_or("").str() : ""});
  llvm::sort(execution.constants,
             [](const auto &a, const auto &b) { return a.name < b.name; });
  for (const auto &[name, source] : sources ? *sources : json::Object())
    if (name == "sources" || !object->get(name))
      return llvm::createStringError("is not a member at "
                                     "preset.execution.sources." +
                                     StringRef(name));
  return llvm::Error::success();
}

/// What is not written: the degree that makes an axis has the name of the axis,
/// or of its group.
static void nameDegrees(Preset &preset) {
  for (Preset::Group &group : preset.groups)
    for (Preset::Axis &axis : group.axes) {
      bool isDegree =
          llvm::any_of(preset.degrees, [&](const Preset::Degree &degree) {
            return degree.name == axis.name;
          });
      if (axis.of.empty())
        axis.of = isDegree ? axis.name : group.name;
    }
}

static void inheritMembers(json::Object &own, const json::Object &base) {
  const json::Object *sources = base.getObject("sources");
  for (const auto &[name, value] : base) {
    if (name == "sources" || !own.try_emplace(name, value).second || !sources)
      continue;
    if (const json::Value *source = sources->get(name)) {
      json::Value &all = own["sources"];
      if (!all.getAsObject())
        all = json::Object();
      all.getAsObject()->try_emplace(name, *source);
    }
  }
}

/// Fields that `own` does not have are those of `base`; so are members of
/// `execution`, with their sources.
static void inherit(json::Object &own, const json::Object &base) {
  for (const auto &[name, value] : base) {
    auto [it, isNew] = own.try_emplace(name, value);
    json::Object *inner = it->second.getAsObject();
    if (!isNew && inner && value.getAsObject() && name == "execution")
      inheritMembers(*inner, *value.getAsObject());
  }
}

static Expected<json::Value> readPreset(StringRef name, StringRef text,
                                        unsigned depth = 0);

Expected<Preset> Preset::parse(StringRef name, StringRef text, bool isShipped) {
  Expected<json::Value> value = readPreset(name, text);
  if (!value)
    return value.takeError();
  Preset preset;
  json::Path::Root root("preset");
  if (!fromJSON(*value, preset, root))
    return llvm::createStringError("preset '" + name +
                                   "': " + llvm::toString(root.getError()));
  if (llvm::Error error =
          listConstants(*value->getAsObject(), preset.execution))
    return llvm::createStringError("preset '" + name +
                                   "': " + llvm::toString(std::move(error)));
  // The file's name comes first; a text without a file may say one.
  if (!name.empty() || preset.name.empty())
    preset.name = name.str();
  nameDegrees(preset);
  value->getAsObject()->try_emplace("name", llvm::sys::path::stem(preset.name));
  preset.isShipped = isShipped;
  if (!isShipped)
    llvm::raw_string_ostream(preset.text) << *value;
  return preset;
}

std::vector<std::string> Preset::getDegrees(AxisRole role) const {
  std::vector<std::string> names;
  for (const Group &group : groups)
    for (const Axis &axis : group.axes)
      if (axis.role == role && !llvm::is_contained(names, axis.of))
        names.push_back(axis.of);
  return names;
}

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

/// The names of the presets in the folders, sorted.
static std::vector<std::string>
listPresets(llvm::ArrayRef<std::string> folders) {
  std::vector<std::string> names;
  for (const std::string &folder : folders) {
    std::error_code code;
    for (llvm::sys::fs::directory_iterator it(folder, code), end;
         it != end && !code; it.increment(code))
      if (StringRef(it->path()).ends_with(".json"))
        names.push_back(llvm::sys::path::stem(it->path()).str());
  }
  llvm::sort(names);
  names.erase(llvm::unique(names), names.end());
  return names;
}

/// A program that links archives is not where the presets are.
static llvm::Error makeUnknown(StringRef name,
                               llvm::ArrayRef<std::string> known) {
  return llvm::createStringError(
      "unknown preset '" + name + "'; give a .json file or " +
      (known.empty() ? "set STG_PRESETS_PATH to a folder with presets"
                     : "one of: " + llvm::join(known, ", ")));
}

namespace {
struct PresetFile {
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  bool isShipped;
};
} // namespace

static Expected<PresetFile> openPreset(StringRef name) {
  std::string file = name.str(), found;
  if (!name.ends_with(".json")) {
    std::vector<std::string> path =
        getSearchPath("STG_PRESETS_PATH", "presets");
    auto hasIt = [&](const std::string &folder) {
      llvm::SmallString<128> candidate(folder);
      llvm::sys::path::append(candidate, name + ".json");
      file = candidate.str().str();
      found = folder;
      return llvm::sys::fs::exists(candidate);
    };
    if (name.contains('/') || llvm::find_if(path, hasIt) == path.end())
      return makeUnknown(name, listPresets(path));
  }
  Expected<std::unique_ptr<llvm::MemoryBuffer>> buffer = readFile(file);
  if (!buffer)
    return llvm::createStringError("preset '" + file +
                                   "': " + llvm::toString(buffer.takeError()));
  return PresetFile{std::move(*buffer),
                    !found.empty() && found == getShippedFolder("presets")};
}

/// The text as JSON, with what it inherits.
static Expected<json::Value> readPreset(StringRef name, StringRef text,
                                        unsigned depth) {
  auto fail = [&](const llvm::Twine &message) {
    return llvm::createStringError("preset '" + name + "': " + message);
  };
  Expected<json::Value> value = parseJSON(text);
  if (!value)
    return fail(llvm::toString(value.takeError()));
  json::Object *object = value->getAsObject();
  const json::Value *given = object ? object->get("based_on") : nullptr;
  if (!given)
    return value;
  std::optional<StringRef> base = given->getAsString();
  if (!base)
    return fail("expected the name of a preset at preset.based_on");
  // Deeper than anybody writes, unless presets are based on each other.
  constexpr unsigned kMostBases = 8;
  if (depth == kMostBases)
    return fail("is based on more than " + llvm::Twine(kMostBases) +
                " presets in a row");
  Expected<PresetFile> file = openPreset(*base);
  if (!file)
    return fail("is based on another one: " + llvm::toString(file.takeError()));
  Expected<json::Value> inherited =
      readPreset(*base, file->buffer->getBuffer(), depth + 1);
  if (!inherited)
    return inherited;
  object->erase("based_on");
  if (const json::Object *fields = inherited->getAsObject())
    inherit(*object, *fields);
  return value;
}

Expected<Preset> Preset::load(StringRef name) {
  if (name.starts_with("{"))
    return parse("", name);
  Expected<PresetFile> file = openPreset(name);
  if (!file)
    return file.takeError();
  return parse(name, file->buffer->getBuffer(), file->isShipped);
}
