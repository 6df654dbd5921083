//===- Preset.h - Plans above the passes, as data ---------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A preset says how a framework distributes and executes a program: degrees of
// parallelism, the mesh that they make, sharding rules, and what a strategy is
// where a user says nothing. It is a .json file (docs/Presets.md). With degrees
// and the rules of a user it becomes what --stg-parallelize takes.
//
//===----------------------------------------------------------------------===//

#ifndef STG_PRESETS_PRESET_H
#define STG_PRESETS_PRESET_H

#include "mlir/Pass/PassManager.h"
#include "stg/Dialect/STG/IR/STG.h"
#include "stg/Machine/Execution.h"
#include "stg/Strategy/StrategyInput.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace stg {

/// A preset as it is written; expressions and conditions are texts.
struct Preset {
  /// All of `conditions` must hold, and not all of `unless`, if there are any.
  struct Guard {
    std::vector<std::string> conditions, unless;
  };
  struct Degree {
    std::string name, help;
    bool isOptional = false; ///< Without a value where it is not given.
  };
  struct Option {
    std::string name, help;
  };
  struct Case {
    Guard guard;
    std::string value;
  };
  struct Definition {
    std::string name;
    std::vector<Case> cases; ///< The first whose guard holds.
  };
  struct Requirement {
    Guard guard;
    std::vector<std::string> that;
    std::string message; ///< `{NAME}` stands for a value.
  };
  /// The ranks of an axis from the fastest `from` to the fastest `to` ones, as
  /// divisors of its size. Rules and claims may name it.
  struct Part {
    std::string name, from = "1", to;
  };
  struct Axis {
    Guard guard;
    std::string name, size;
    AxisRole role = AxisRole::None;
    std::string of; ///< The degree that makes it, for messages.
    /// The axis is cut where these begin and end.
    std::vector<Part> parts;
  };
  /// Axes that stand together in rank order, from the fastest to the slowest.
  struct Group {
    std::string name;
    std::vector<Axis> axes;
  };
  struct Rule {
    Guard guard;
    std::string text; ///< `DIM:AXIS`, or of a group: one for each of its axes.
  };
  struct Claim {
    Guard guard;
    std::string op, factor, axis;
    std::string dimension; ///< Of ops that have it; empty: of all of them.
    /// Not the op computes it, but what it makes is divided.
    bool isBehind = false;
  };
  /// A dimension that `stg-compile` replicates where `degree` is a multiple of
  /// it: the degree `times` says how often.
  struct Replicas {
    std::string dimension, degree, times;
  };

  /// Fields of a strategy that are as by default, and why.
  struct Fixed {
    std::vector<std::string> fields;
    std::string message;
  };

  std::string name, description;
  std::vector<Degree> degrees;
  std::vector<Option> options;
  std::vector<Definition> definitions;
  std::vector<Requirement> requirements;
  std::vector<Group> groups;
  std::vector<Rule> rules;
  std::vector<Claim> claims;
  /// Groups or axes that one collective serves.
  std::optional<std::vector<std::vector<std::string>>> joined;
  std::vector<Replicas> replicas;
  llvm::json::Object defaults; ///< Fields of a strategy.
  std::vector<Fixed> fixed;
  Execution execution; ///< How the framework executes programs.

  /// What was read, as one line of JSON with the name in it; empty of those
  /// that come with the tools.
  std::string text;
  /// One of those that come with the tools: its name says all.
  bool isShipped = false;

  /// The degrees that make axes with the role.
  std::vector<std::string> getDegrees(AxisRole role) const;

  /// Reads the text of a file.
  static llvm::Expected<Preset>
  parse(llvm::StringRef name, llvm::StringRef text, bool isShipped = false);
  /// Finds `name`, a .json file or the name of one (without .json) in a folder
  /// of presets, and reads it. It may also be the text of a preset.
  static llvm::Expected<Preset> load(llvm::StringRef name);
};

/// What a user says beside the name of a preset.
struct PresetRequest {
  /// How a degree or an option was given, with its value, for messages.
  using Speller = std::function<std::string(llvm::StringRef name)>;

  /// Degrees (numbers or symbols) and options (true or false), by name.
  std::vector<std::pair<std::string, std::string>> values;
  /// `DIM:AXIS` takes the place of the preset's rules of that dimension and
  /// scope, and comes last if there are none; `RULE+` stands before all rules
  /// of the preset, `+RULE` after them; `DIM:` drops those of a dimension.
  std::vector<std::string> rules;
  std::string rankOrder; ///< Groups joined by '-'; empty: as they are written.
  Speller spell;         ///< None: `NAME=VALUE`.
};

/// What a preset amounts to.
struct PresetPlan {
  struct Axis {
    std::string name, group;
    std::string degree; ///< That makes it.
    SymExpr size;
    AxisRole role;
  };
  struct Rule {
    RuleAttr rule;
    std::string written; ///< The axis or the group that the rule was for.
    bool isPreset;       ///< It may shard nothing; a rule of a user must not.
  };
  std::vector<Axis> axes; ///< From the fastest to the slowest.
  std::vector<Rule> rules;
  std::vector<std::string> claims;
  std::vector<std::string> joined; ///< `AXIS+AXIS`.
  std::vector<std::string> groups; ///< All of them, likewise.
  /// Axes that need no rule, since passes divide something over them later.
  std::vector<std::string> late;
  /// What must be given for the preset to divide the residual stream: options,
  /// or, where these are set, degrees.
  std::vector<std::string> streamSources;

  /// As --stg-parallelize takes them.
  std::vector<std::string> getMesh() const;
  std::vector<std::string> getRules() const;
};

/// Dimensions of a model by name; none: they are not known.
using DimensionNames = std::optional<std::vector<llvm::StringRef>>;

/// Evaluates the preset for a model with these dimensions; rules of the preset
/// for others are left out.
llvm::Expected<PresetPlan> evaluatePreset(const Preset &preset,
                                          const PresetRequest &request,
                                          mlir::MLIRContext *context,
                                          const DimensionNames &dimensions);

/// Adds the pass that states the plan in a module, for `program` or, where that
/// is empty, for the only one.
void addPresetPlan(mlir::OpPassManager &pm, const PresetPlan &plan,
                   llvm::StringRef program = {});

//===----------------------------------------------------------------------===//
// Presets of strategies
//===----------------------------------------------------------------------===//

/// Presets that have been read, by the name or text that a strategy has.
using LoadedPresets = std::map<std::string, Preset>;

/// Reads the preset of a strategy. A file is read once: the strategy has its
/// text from then on. Where nothing is given, the defaults of the preset take
/// its place. What `loaded` has is not read again; may be null.
llvm::Expected<Preset> loadPreset(StrategyInput &strategy,
                                  LoadedPresets *loaded = nullptr);

/// How the preset replicates the dimension; null if it does not, or if a rule
/// of the strategy says how the dimension is to be divided.
const Preset::Replicas *findReplicas(const Preset &preset,
                                     const Strategy &strategy,
                                     llvm::StringRef dim);

/// The extent of a dimension of the model; none if it is not known.
using ExtentLookup =
    llvm::function_ref<std::optional<int64_t>(llvm::StringRef dim)>;

/// Puts into a strategy how often the preset replicates dimensions: as often
/// as is given, or else as the degree is a multiple of the extent.
void deriveReplicas(const Preset &preset, ExtentLookup getExtent,
                    StrategyInput &strategy);

/// Evaluates the preset of a strategy, and puts what follows from the mesh into
/// the strategy.
llvm::Expected<PresetPlan> planStrategy(const Preset &preset,
                                        mlir::MLIRContext *context,
                                        const DimensionNames &dimensions,
                                        StrategyInput &strategy);

/// The product of the sizes of all axes; none if it is not a number, and more
/// than `kMostRanks` if it is any larger than that.
std::optional<int64_t> countRanks(const PresetPlan &plan);

} // namespace stg

#endif // STG_PRESETS_PRESET_H
