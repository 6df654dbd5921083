//===- Import.cpp - Models from configurations===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Import/Import.h"
#include "Config.h"
#include "stg/Import/Family.h"
#include "stg/Support/Names.h"
#include "stg/Support/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace stg;
using namespace stg::importer;

bool stg::isConfigFile(StringRef path) { return path.ends_with(".json"); }

/// What the file is called, or, as that is always `config.json`, its folder.
/// The library's sizes have dots in their names, and no file.
static std::string getModelName(StringRef file) {
  StringRef name = sys::path::filename(file);
  name.consume_back(".json");
  if (name == "config")
    name = sys::path::filename(sys::path::parent_path(file));
  if (file == "-" || file == "<stdin>")
    name = "model";
  std::string result;
  for (char c : name)
    result += isAlnum(c) || StringRef("-._").contains(c) ? c : '_';
  return result.empty() || result == "." || result == ".." ? "model" : result;
}

namespace {
/// One import, from the text to the model.
class Importer {
public:
  Importer(const ImportOptions &options, FamilyLibrary &library,
           MessageHandler tell)
      : options(options), library(library), tell(tell) {}

  std::optional<ImportedModel> run(StringRef text);

private:
  std::nullopt_t fail(Place place, const Twine &message);
  std::nullopt_t failAsUnknown(Place place, const Twine &message,
                               StringRef given, const Value *root = nullptr);
  std::optional<Family> findFamily(const Value &root);
  std::optional<Family> findByArchitecture(const Value &root);
  bool takeSize(Value &root);
  bool takeQuantization(Value &root);

  const ImportOptions &options;
  FamilyLibrary &library;
  MessageHandler tell;
};
} // namespace

std::nullopt_t Importer::fail(Place place, const Twine &message) {
  tell({ToolMessage::Severity::Error,
        ToolMessage::Place{options.file, place.line, place.column},
        message.str(),
        {}});
  return std::nullopt;
}

/// The parts of a configuration that are of a known type, each with that, such
/// as the text model of one with images.
static std::vector<std::string>
getKnownParts(const Value &root, const std::vector<std::string> &types) {
  std::vector<std::string> parts;
  for (const Member &member : root.members) {
    const Value *type = member.value.kind == Value::Object
                            ? member.value.find("model_type")
                            : nullptr;
    if (type && type->kind == Value::Text && is_contained(types, type->text))
      parts.push_back("'" + member.key + "' (" + type->str() + ")");
  }
  return parts;
}

/// The types that are known. Of many, those that may be meant.
static std::string listTypes(const std::vector<std::string> &types,
                             StringRef given) {
  constexpr size_t kFew = 12, kMostSimilar = 5;
  if (types.size() <= kFew)
    return "known: " + joinWords(types, "or");
  std::vector<std::string> similar =
      findSimilarNames(given, types, kMostSimilar);
  if (similar.empty())
    return "docs/BringYourModel.md lists the " + std::to_string(types.size()) +
           " types that are known";
  return "known types are " + llvm::join(similar, ", ") + " and " +
         std::to_string(types.size() - similar.size()) +
         " more, which docs/BringYourModel.md lists";
}

/// Ends with the parts of `root` that are known by themselves or, where there
/// are none, with types that are known; or says which table is not valid.
std::nullopt_t Importer::failAsUnknown(Place place, const Twine &message,
                                       StringRef given, const Value *root) {
  Expected<std::vector<std::string>> types = library.getTypes();
  if (!types)
    return fail(place, toString(types.takeError()));
  std::vector<std::string> parts;
  if (root)
    parts = getKnownParts(*root, *types);
  if (parts.empty())
    return fail(place, message + "; " + listTypes(*types, given));
  return fail(place, message +
                         "; known by itself, without the rest, as a file of "
                         "its own: " +
                         joinWords(parts, "or"));
}

/// Where nothing says the type, one class may be that of one family alone.
std::optional<Family> Importer::findByArchitecture(const Value &root) {
  const Value *names = root.find("architectures");
  if (!names || names->kind != Value::List || names->list.empty() ||
      names->list.front().kind != Value::Text)
    return failAsUnknown(root.place,
                         "has neither 'model_type' nor '_class_name', one "
                         "of which says what the other keys mean",
                         /*given=*/"");
  Expected<std::vector<std::string>> types =
      library.getTypesWith(names->list.front().text);
  if (!types)
    return fail(names->place, toString(types.takeError()));
  std::string given = "'architectures' is " + names->str();
  if (types->empty())
    return failAsUnknown(names->place,
                         given + ", which is no model of a known family, and "
                                 "'model_type' is not there",
                         names->list.front().text);
  if (types->size() > 1)
    return fail(names->place, given +
                                  ", which several families have; "
                                  "'model_type' says which: " +
                                  joinWords(*types, "or"));
  Expected<std::optional<Family>> family = library.find(types->front(), root);
  if (!family)
    return fail(names->place, toString(family.takeError()));
  return std::move(*family);
}

std::optional<Family> Importer::findFamily(const Value &root) {
  const Value *type = root.find("model_type");
  StringRef key = "model_type";
  if (!type || type->isNull()) {
    type = root.find("_class_name");
    key = "_class_name";
  }
  if (!type || type->isNull())
    return findByArchitecture(root);
  if (type->kind != Value::Text)
    return fail(type->place,
                "'" + key + "' is " + type->str() + ", expected a text");
  Expected<std::optional<Family>> family = library.find(type->text, root);
  if (!family)
    return fail(type->place, toString(family.takeError()));
  if (*family)
    return std::move(*family);
  const Value *architectures = root.find("architectures");
  return failAsUnknown(
      type->place,
      "'" + key + "' is " + type->str() +
          (architectures && !architectures->isNull()
               ? ", with 'architectures' " + architectures->str()
               : "") +
          ", which is not known",
      type->text, &root);
}

/// Puts one of the sizes of a family in the place of its table: a configuration
/// of the first type that the table is for, unless it says another one.
bool Importer::takeSize(Value &root) {
  const Value *sizes = root.find("sizes");
  const Value *size = sizes ? sizes->find(options.size) : nullptr;
  if (!size)
    return false;
  Value config = *size;
  const Value *types = root.find("types");
  if (types && !types->list.empty() && !config.find("model_type") &&
      !config.find("_class_name")) {
    Member type{"model_type", config.place, types->list.front()};
    type.value.place = config.place;
    config.members.push_back(std::move(type));
  }
  root = std::move(config);
  return true;
}

/// A quantized model has other bytes and operations.
bool Importer::takeQuantization(Value &root) {
  for (StringRef key :
       {"quantization_config", "compression_config", "quantization"}) {
    auto it = find_if(root.members,
                      [&](const Member &member) { return member.key == key; });
    if (it == root.members.end())
      continue;
    const Value *method = it->value.find("quant_method");
    std::string text = "'" + key.str() + "' is there" +
                       (method ? ", with method " + method->str() : "");
    if (!it->value.isNull() && !options.ignoresQuantization) {
      fail(it->place,
           text + ": a quantized model has other bytes and operations; the "
                  "model without quantization is that of "
                  "--ignore-quantization, and --weight-dtype says how its "
                  "weights are stored");
      return false;
    }
    if (!it->value.isNull())
      tell({ToolMessage::Severity::Remark,
            ToolMessage::Place{options.file, it->place.line, it->place.column},
            text + "; the model is the one without quantization",
            {}});
    root.members.erase(it);
  }
  return true;
}

std::optional<ImportedModel> Importer::run(StringRef text) {
  Value root;
  Problem problem;
  if (!parseValue(text, root, problem))
    return fail(problem.place, "not valid JSON: " + problem.message);
  if (!options.size.empty() && !takeSize(root))
    return fail(root.place, "there is no size '" + options.size + "'");
  if (root.kind != Value::Object)
    return fail(root.place, "expected an object, the keys of a configuration");
  std::optional<Family> family = findFamily(root);
  if (!family || !takeQuantization(root))
    return std::nullopt;
  Config config(*family, options, tell);
  if (!config.read(root) || !config.check())
    return std::nullopt;
  ImportedModel model;
  model.name = getModelName(options.size.empty() ? options.file : options.size);
  model.family = family->name;
  std::optional<std::string> modelText =
      printModel(*family, config, model.name);
  if (!modelText)
    return std::nullopt;
  model.text = std::move(*modelText);
  return model;
}

std::optional<ImportedModel> stg::importConfig(StringRef text,
                                               const ImportOptions &options,
                                               FamilyLibrary &families,
                                               MessageHandler tell) {
  return Importer(options, families, tell).run(text);
}
