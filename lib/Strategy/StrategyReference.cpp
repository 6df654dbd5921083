//===- StrategyReference.cpp - The schema and the page of strategies ------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Schedule/PipelineSchedule.h"
#include "stg/Strategy/StrategyInput.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace stg;

//===----------------------------------------------------------------------===//
// Schema
//===----------------------------------------------------------------------===//

static json::Object describeInteger(const Field &field) {
  json::Object object{{"type", "integer"}, {"minimum", field.least}};
  if (field.most != kUnlimited)
    object["maximum"] = field.most;
  return object;
}

static json::Array listValues(const Field &field) {
  json::Array names;
  for (const NamedValue &value : field.values)
    names.push_back(value.name);
  return names;
}

/// Of values that are spelled as numbers.
static json::Array listNumbers(const Field &field) {
  json::Array numbers;
  for (const NamedValue &value : field.values)
    numbers.push_back(std::atoi(value.name));
  return numbers;
}

/// A list as a text, the path of a file, or what it has.
static json::Object describeRequests() {
  auto describe = [](int64_t least) {
    return json::Object{{"type", "integer"}, {"minimum", least}};
  };
  json::Object request{{"type", "object"},
                       {"properties", json::Object{{"new", describe(1)},
                                                   {"cached", describe(0)},
                                                   {"logits", describe(0)},
                                                   {"step", describe(0)},
                                                   {"generate", describe(1)},
                                                   {"dp", describe(0)},
                                                   {"micro_batch", describe(0)},
                                                   {"count", describe(1)}}},
                       {"required", json::Array{"new", "cached"}},
                       {"additionalProperties", false}};
  json::Object list{{"type", "array"}, {"items", std::move(request)}};
  return json::Object{{"oneOf", json::Array{std::move(list),
                                            json::Object{{"type", "string"}}}}};
}

static json::Object describeSchedule() {
  json::Array names;
  for (const auto &[name, description] : listSchedules())
    names.push_back(name);
  return json::Object{
      {"oneOf",
       json::Array{json::Object{{"enum", std::move(names)}},
                   json::Object{{"type", "string"}, {"pattern", "\\.json$"}},
                   json::Object{{"$ref", "schedule.json"}}}}};
}

static json::Object describeType(const Field &field) {
  json::Object list{{"type", "array"}};
  switch (field.kind) {
  case Field::Kind::Bool:
    return json::Object{{"type", "boolean"}};
  case Field::Kind::Integer:
    if (!field.values.empty())
      return json::Object{{"enum", listNumbers(field)}};
    return describeInteger(field);
  case Field::Kind::Word:
    return json::Object{{"enum", listValues(field)}};
  case Field::Kind::Words:
    list["items"] = json::Object{{"enum", listValues(field)}};
    list["uniqueItems"] = true;
    return list;
  case Field::Kind::Text:
    return json::Object{{"type", "string"}};
  case Field::Kind::Integers:
    list["items"] = describeInteger(field);
    return list;
  case Field::Kind::Texts:
    list["items"] = json::Object{{"type", "string"}};
    return list;
  case Field::Kind::Object:
    return json::Object{
        {"type", "object"},
        {"additionalProperties",
         json::Object{
             {"oneOf",
              json::Array{json::Object{{"type", "integer"}, {"minimum", 1}},
                          json::Object{{"type", "string"}},
                          json::Object{{"type", "boolean"}}}}}}};
  case Field::Kind::Loads:
    list["items"] = json::Object{{"type", "number"}, {"minimum", 0}};
    return json::Object{
        {"oneOf",
         json::Array{std::move(list), json::Object{{"type", "string"}}}}};
  case Field::Kind::Requests:
    return describeRequests();
  case Field::Kind::Schedule:
    return describeSchedule();
  case Field::Kind::Preset:
    return json::Object{
        {"oneOf", json::Array{json::Object{{"type", "string"}},
                              json::Object{{"$ref", "preset.json"}}}}};
  }
  llvm_unreachable("all kinds are above");
}

void stg::writeStrategySchema(raw_ostream &os) {
  static const Strategy defaults;
  json::Object properties;
  for (const Field &field : getFields()) {
    if (!(field.scopes & Field::File))
      continue;
    json::Object object = describeType(field);
    object["description"] = field.helpText;
    if (!field.isOptional)
      object["default"] = field.toJSON(defaults);
    properties[field.jsonName] = std::move(object);
  }
  json::Object schema{
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"title", "Strategy"},
      {"description",
       "How a training step is distributed: what stg-compile --strategy reads, "
       "and the object 'strategy' of a manifest"},
      {"type", "object"},
      {"additionalProperties", false},
      {"properties", std::move(properties)}};
  os << formatv("{0:2}", json::Value(std::move(schema))) << '\n';
}

//===----------------------------------------------------------------------===//
// Page
//===----------------------------------------------------------------------===//

/// A table's cell: '|' would end it.
static std::string escape(StringRef text) {
  std::string result;
  for (char c : text)
    result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

static std::string code(const Twine &text) {
  std::string inner = text.str();
  return inner.empty() ? "" : "`" + escape(inner) + "`";
}

static std::string describeValues(const Field &field) {
  if (field.values.empty())
    return field.kind == Field::Kind::Bool ? "`true`, `false`"
           : field.valueName.empty()       ? field.getExpectation()
                                           : code(field.valueName);
  std::string text;
  for (const NamedValue &value : field.values)
    text += (text.empty() ? "" : "<br>") + code(value.name) + ": " +
            escape(value.meaning);
  return text;
}

static std::string describeDefault(const Field &field) {
  static const Strategy defaults;
  return code(field.fallback.empty() ? field.print(defaults)
                                     : field.fallback.str());
}

static void writeTable(FieldGroup group, raw_ostream &os) {
  os << "\n## " << getTitle(group) << "\n\n"
     << "| field | what it is | values | default | has an effect with |\n"
     << "|---|---|---|---|---|\n";
  for (const Field &field : getFields())
    if (field.group == group)
      os << "| " << code(field.name) << " | " << escape(field.helpText) << " | "
         << describeValues(field) << " | " << describeDefault(field) << " | "
         << code(field.condition) << " |\n";
}

void stg::writeStrategyReference(raw_ostream &os) {
  os << "<!-- Generated from include/stg/Strategy/Strategy.def; do not edit. "
        "-->\n"
     << "# Strategy\n\n"
     << "Each field is a flag of `stg-compile` (`--zero 3`), an option of the "
        "pass pipeline (`--stg-pipeline=\"zero=3\"`),\nand a member of a "
        "strategy file and of the manifest (`\"zero\": 3`), where `-` is `_`.\n"
     << "[strategy.json](../schemas/strategy.json) is the schema of such a "
        "file.\n\n"
     << "In the last column, `&` joins conditions that all hold, and `|` "
        "alternatives.\n"
     << "A field that is given and has no effect is an error.\n"
     << "Of a flag that is given several times the last value counts; a list "
        "has all that was given,\n"
     << "and where that gives a name several values, as `--degrees` can, the "
        "last one counts.\n";
  for (int i = 0; i <= static_cast<int>(FieldGroup::Derived); ++i)
    writeTable(static_cast<FieldGroup>(i), os);
  os << "\nFields of the last table are options of the pass pipeline only: "
        "`stg-compile` derives them from the strategy and the model.\n"
     << "A pass pipeline has no `batch`, `seq`, `set`, `micro-batch` and "
        "`splits`.\n"
     << "Its degrees may be symbols, too.\n";
  writeTable(FieldGroup::Facts, os);
  os << "\nNobody gives these. They follow from the model, and from the mesh "
        "and the rules that the [preset](../Presets.md) makes of degrees.\n"
     << "\n## What cannot be together\n\n";
  for (const Conflict &conflict : getConflicts())
    os << "- " << code(conflict.first) << " with " << code(conflict.second)
       << ": " << conflict.reason << ".\n";
}
