//===- StrategyTest.cpp - The description of strategies holds together ----===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stg/Strategy/StrategyInput.h"
#include "llvm/ADT/StringSet.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace stg;

static std::string set(StrategyInput &input, FieldId id, StringRef text,
                       GivenBy by = GivenBy::Flag) {
  Error error = input.set(getField(id), text, by);
  return error ? toString(std::move(error)) : "";
}

TEST(Strategy, TableIsInTheOrderOfTheMembers) {
  ASSERT_EQ(getFields().size(), kNumFields);
  StringSet<> names;
  for (const Field &field : getFields()) {
    EXPECT_EQ(&getField(field.id), &field);
    EXPECT_EQ(findField(field.name), &field);
    EXPECT_TRUE(names.insert(field.name).second) << field.name.str();
    EXPECT_FALSE(field.helpText.empty()) << field.name.str();
  }
  EXPECT_EQ(findField("none"), nullptr);
}

// A condition that names no field ends in an assertion.
TEST(Strategy, ConditionsAndConflictsNameFields) {
  StrategyInput input;
  for (const Field &field : getFields())
    input.hasEffect(field);
  EXPECT_FALSE(errorToBool(input.check()));
  EXPECT_FALSE(errorToBool(input.checkEffects()));
}

TEST(Strategy, DefaultsAreRead) {
  const Strategy defaults;
  for (const Field &field : getFields()) {
    std::string text = field.print(defaults);
    if (text.empty())
      continue;
    Strategy read;
    ASSERT_FALSE(errorToBool(field.parse(field, text, false, read)))
        << field.name.str();
    EXPECT_EQ(field.print(read), text);
    ASSERT_FALSE(errorToBool(field.parseJSON(field, field.toJSON(read), read)));
    EXPECT_EQ(field.print(read), text);
  }
}

TEST(Strategy, DefaultThatFollowsFromOthers) {
  StrategyInput one, two;
  one.resolve();
  EXPECT_EQ(one.values.schedule.text, "1f1b");
  EXPECT_EQ(set(two, FieldId::virtualStages, "2"), "");
  two.resolve();
  EXPECT_EQ(two.values.schedule.text, "interleaved");
}

TEST(Strategy, EachSourceHasItsSpelling) {
  StrategyInput input;
  EXPECT_EQ(set(input, FieldId::zero, "4"), "--zero 4: expected 0, 1, 2 or 3");
  EXPECT_EQ(set(input, FieldId::zero, "4", GivenBy::Option),
            "zero=4: expected 0, 1, 2 or 3");
  EXPECT_EQ(toString(input.readJSON("{\"zero\": 4}", "plan.json")),
            "plan.json: \"zero\": 4: expected 0, 1, 2 or 3");
}

// Only the symbols of a pipeline have no values yet.
TEST(Strategy, SymbolsAreDegreesOfPipelinesOnly) {
  StrategyInput input;
  EXPECT_EQ(set(input, FieldId::dp, "n"),
            "--dp n: expected an integer of at least 1");
  EXPECT_EQ(set(input, FieldId::dp, "n", GivenBy::Option), "");
  EXPECT_EQ(input.values.dp.symbol, "n");
  EXPECT_TRUE(input.hasEffect(getField(FieldId::zero)));
}

TEST(Strategy, NumbersOutOfRange) {
  StrategyInput input;
  EXPECT_EQ(set(input, FieldId::pp, "9223372036854775807"),
            "--pp 9223372036854775807: expected an integer of at most "
            "2147483647");
  EXPECT_EQ(set(input, FieldId::pp, "99999999999999999999"),
            "--pp 99999999999999999999: expected an integer of at most "
            "2147483647");
  EXPECT_EQ(set(input, FieldId::pp, "-1"),
            "--pp -1: expected an integer of at least 1");
  EXPECT_EQ(set(input, FieldId::pp, "2147483647"), "");
}

TEST(Strategy, AValueThatSaysThereIsNoneIsTrueAnywhere) {
  StrategyInput off, on;
  EXPECT_EQ(set(off, FieldId::sequenceParallel, "false"), "");
  EXPECT_EQ(toString(off.checkEffects()), "");
  EXPECT_EQ(set(on, FieldId::sequenceParallel, ""), "");
  EXPECT_EQ(toString(on.checkEffects()), ""); // The mesh is not known.
  on.setDerived(FieldId::streamRanks, {"tp"});
  EXPECT_EQ(toString(on.checkEffects()),
            "--sequence-parallel has no effect: needs --tp above 1");
}

// Messages call degrees as they are given: by a field that has their name.
TEST(Strategy, SourcesOfWhatFollowsFromTheMesh) {
  StrategyInput input;
  EXPECT_EQ(set(input, FieldId::zero, "1"), "");
  input.setDerived(FieldId::dataRanks, {"dp", "shards"});
  input.setDerived(FieldId::contextRanks);
  EXPECT_EQ(toString(input.checkEffects()),
            "--zero 1 has no effect: needs --dp above 1 or degree 'shards' "
            "above 1");
  input.values.dataRanks = 2;
  EXPECT_EQ(toString(input.checkEffects()), "");
}

TEST(Strategy, DefaultsOfAPresetAreNotGiven) {
  StrategyInput input;
  EXPECT_EQ(set(input, FieldId::prefetch, "2"), "");
  ASSERT_FALSE(errorToBool(input.setDefaults(
      json::Object{{"zero", 3}, {"prefetch", 4}, {"schedule", "gpipe"}})));
  EXPECT_FALSE(input.isGiven(FieldId::zero));
  EXPECT_EQ(input.values.prefetch, 2);
  input.setDerived(FieldId::pipelineRanks);
  input.setDerived(FieldId::microBatches);
  EXPECT_EQ(toString(input.checkEffects()), "");
  input.resolve();
  EXPECT_EQ(input.values.zero, ZeroLevel::Parameters);
  EXPECT_EQ(input.values.schedule.text, "1f1b"); // Of no use, so not chosen.
}

TEST(Strategy, AGivenDefaultIsGiven) {
  StrategyInput input;
  EXPECT_EQ(set(input, FieldId::prefetch, "1"), "");
  EXPECT_EQ(toString(input.checkEffects()),
            "--prefetch 1 has no effect: needs --zero 3");
}

TEST(Strategy, AFlagTakesTheEffectFromAFile) {
  StrategyInput file, flags;
  ASSERT_FALSE(errorToBool(
      file.readJSON("{\"dp\": 2, \"zero\": 3, \"prefetch\": 2}", "f.json")));
  EXPECT_EQ(set(flags, FieldId::zero, "0"), "");
  StrategyInput all = file;
  all.override(flags);
  auto hasEffectInFile = [&](const Field &field) {
    return file.hasEffect(field);
  };
  EXPECT_EQ(toString(all.checkEffects(hasEffectInFile)), "");
  EXPECT_EQ(all.values.prefetch, 1);
  EXPECT_FALSE(all.isGiven(FieldId::prefetch));
  EXPECT_EQ(all.values.dp.number, 2);
}

TEST(Strategy, OneSourceForASymbol) {
  StrategyInput both, file, flags;
  EXPECT_EQ(set(both, FieldId::batch, "8"), "");
  EXPECT_EQ(set(both, FieldId::set, "B=3"), "");
  EXPECT_EQ(toString(both.check()),
            "--set B=3: symbol 'B' has a value from --batch 8 already; give "
            "one of them");
  ASSERT_FALSE(errorToBool(
      file.readJSON("{\"batch\": 8, \"set\": {\"L\": 4}}", "f.json")));
  EXPECT_EQ(set(flags, FieldId::set, "B=3"), "");
  file.override(flags);
  EXPECT_EQ(toString(file.check()), "");
  EXPECT_FALSE(file.isGiven(FieldId::batch));
  EXPECT_EQ(file.values.set, (Symbols{{"B", 3}, {"L", 4}}));
}

TEST(Strategy, WrittenIsRead) {
  StrategyInput input, read;
  for (auto [id, text] : {std::pair(FieldId::dp, "8"),
                          {FieldId::tp, "2"},
                          {FieldId::zero, "3"},
                          {FieldId::zeroRoot, "units"},
                          {FieldId::rules, "F:tp,B:dp"},
                          {FieldId::dtype, "f32"},
                          {FieldId::batch, "64"},
                          {FieldId::set, "L=4"},
                          {FieldId::bucketSize, "1000"},
                          {FieldId::cp, "2"},
                          {FieldId::cpCommType, "p2p"}})
    EXPECT_EQ(set(input, id, text), "");
  input.resolve();
  json::Object written = toJSON(input);
  std::string text;
  raw_string_ostream(text) << json::Value(json::Object(written));
  ASSERT_FALSE(errorToBool(read.readJSON(text, "f.json")));
  EXPECT_EQ(json::Value(toJSON(read)), json::Value(std::move(written)));
  EXPECT_EQ(read.values.rules, (Strings{"F:tp", "B:dp"}));
  EXPECT_EQ(read.values.dtype, ElementType::F32);
}

TEST(Strategy, WrongFiles) {
  auto read = [](StringRef text) {
    StrategyInput input;
    return toString(input.readJSON(text, "f.json"));
  };
  EXPECT_EQ(read("{\"zer\": 1}"),
            "f.json: \"zer\": no such field, did you mean \"zero\"?");
  EXPECT_EQ(read("{\"dp\": \"2\"}"),
            "f.json: \"dp\": \"2\": expected an integer of at least 1");
  EXPECT_EQ(read("{\"dp\": 2.5}"),
            "f.json: \"dp\": 2.5: expected an integer of at least 1");
  EXPECT_EQ(read("{\"fp8\": 1}"), "f.json: \"fp8\": 1: expected true or false");
  EXPECT_EQ(read("{\"recompute\": \"some\"}"),
            "f.json: \"recompute\": \"some\": expected none, selective, "
            "alternate, needed or full");
  EXPECT_EQ(read("{\"set\": {\"L\": 0}}"),
            "f.json: \"set\": {\"L\":0}: symbol 'L': expected an integer of at "
            "least 1");
  EXPECT_EQ(read("[]"), "f.json: expected an object: a strategy, or a "
                        "manifest, which has one");
  EXPECT_EQ(read(std::string(200000, '[')),
            "f.json: not valid JSON: it is nested more than 64 levels deep");
  // What follows from the model is not given.
  EXPECT_EQ(StringRef(read("{\"bind\": \"B=1\"}"))
                .starts_with("f.json: \"bind\": no such field"),
            true);
}
