//===- StrategyInput.h - Strategies as users give them ----------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a field was given decides what a message calls it and what wins: flags
// and options of a pipeline override a file. All checks of a strategy by itself
// are here, once for all of these.
//
//===----------------------------------------------------------------------===//

#ifndef STG_STRATEGY_STRATEGYINPUT_H
#define STG_STRATEGY_STRATEGYINPUT_H

#include "stg/Strategy/Field.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <array>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace stg {

/// Where a value comes from.
enum class GivenBy {
  Default,
  Preset, ///< The default of the preset.
  File,   ///< "zero": 3
  Option, ///< zero=3
  Flag,   ///< --zero 3
  Model,  ///< Derived from the model.
};

/// A strategy, and who gave which field.
class StrategyInput {
public:
  Strategy values;

  bool isGiven(FieldId id) const { return getGivenBy(id) > GivenBy::Preset; }
  GivenBy getGivenBy(FieldId id) const { return givenBy[static_cast<int>(id)]; }
  /// Says that a derived field is known, and which degrees and options of the
  /// preset it follows from.
  void setDerived(FieldId id, std::vector<std::string> sources = {}) {
    givenBy[static_cast<int>(id)] = GivenBy::Model;
    sourcesOf[id] = std::move(sources);
  }
  llvm::ArrayRef<std::string> getSources(FieldId id) const;
  /// Gives a field that follows from what was given the words that messages
  /// have for it.
  void setWords(FieldId id, std::string words) {
    wordsOf[id] = std::move(words);
  }

  /// The value of a degree of the preset: that of the field that has its name,
  /// or one of `degrees`; none if it is not given.
  std::optional<std::string> getDegree(llvm::StringRef name) const;

  /// Reads the value of a flag, or of an option of the pipeline.
  llvm::Error set(const Field &field, llvm::StringRef text, GivenBy by);
  /// As if the field had never been given.
  void reset(FieldId id);
  /// Reads the text of a file: a strategy, or a manifest, which has one; if it
  /// has several, that with the name `plan`.
  llvm::Error readJSON(llvm::StringRef text, llvm::StringRef file,
                       llvm::StringRef plan = kPlan);
  llvm::Error readFile(llvm::StringRef path, llvm::StringRef plan = kPlan);
  /// True if the file was a manifest of prefill and decoding on ranks of their
  /// own.
  bool hasDecodePlan() const { return fileHasDecodePlan; }
  static constexpr llvm::StringLiteral kPlan = "strategy";
  static constexpr llvm::StringLiteral kDecodePlan = "decode_strategy";

  /// Puts the values of an object, such as `{"zero": 1}`, where none is given.
  llvm::Error setDefaults(const llvm::json::Object &object);

  /// What is given in `other` takes the place of what is given here.
  void override(const StrategyInput &other);
  /// What a file and flags say together, checked.
  static llvm::Expected<StrategyInput> combine(const StrategyInput &file,
                                               const StrategyInput &flags);

  /// Settles whether the step is one of training or of inference: where
  /// somebody says what is cached, it is decoding.
  void deriveStep();
  /// What a step is, once that is settled.
  Mode getMode() const;

  /// Puts the value that follows from other fields where none was given, and
  /// takes away defaults of the preset that have no effect.
  void resolve();

  /// Symbols that two fields give a value to.
  llvm::Error checkSymbols() const;
  /// What can be said of the fields by themselves: conflicts, and the number of
  /// stages once it is known.
  llvm::Error check() const;
  /// What has no effect, now that derived fields are known, is an error. A
  /// field of a file that would have one there has lost it to a flag: it is
  /// dropped. Only such fields are asked for.
  llvm::Error checkEffects(
      llvm::function_ref<bool(const Field &)> hasEffectInFile = nullptr);
  /// Takes away what has no effect, as of a strategy that is that of another
  /// model.
  void dropWithoutEffect();
  /// True if the field has an effect, as far as is known.
  bool hasEffect(const Field &field) const;

  /// `--zero 3`, with `value` or that of the field.
  std::string spell(const Field &field) const;
  std::string spell(const Field &field, llvm::StringRef value,
                    GivenBy by) const;
  /// `--set L=2`; in the strategy of a draft model `--draft-set L=2`, if that
  /// is where it is from.
  std::string spellSetting(llvm::StringRef name) const;
  /// `--dp 4`, or `x=4` of a degree without a field.
  std::string spellDegree(llvm::StringRef name) const;
  std::string spellDegree(llvm::StringRef name, llvm::StringRef value) const;
  /// `--dp`, or `x`: as `spellDegree`, without the value.
  std::string spellDegreeName(llvm::StringRef name) const;
  /// `--dp above 1`, or `degree 'x' above 1`, for what a message asks.
  std::string spellLargerDegree(llvm::StringRef name) const;
  /// The degrees that a derived field follows from and that are given, joined.
  std::string spellSources(FieldId id, llvm::StringRef separator) const;

private:
  llvm::Error readFields(const llvm::json::Object &object, GivenBy by);
  /// How a field is given, or would be.
  GivenBy getStyle(FieldId id) const;

  std::array<GivenBy, kNumFields> givenBy = {};
  std::map<FieldId, std::vector<std::string>> sourcesOf;
  std::map<FieldId, std::string> wordsOf;
  std::string file; ///< That `readFile` read.
  bool fileHasDecodePlan = false;
};

/// What a manifest says: each field that has an effect and a value.
llvm::json::Object toJSON(const StrategyInput &input);

/// The JSON schema of strategy files.
void writeStrategySchema(llvm::raw_ostream &os);
/// The page of the reference: tables of all fields.
void writeStrategyReference(llvm::raw_ostream &os);

} // namespace stg

#endif // STG_STRATEGY_STRATEGYINPUT_H
