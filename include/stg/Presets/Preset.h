//===- Preset.h - Plans above the passes, as data ---------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A preset says how a framework distributes a program: degrees of parallelism,
// the mesh that they make, sharding rules. It is a .json file
// (docs/Presets.md). With degrees and the rules of a user it becomes what
// --stg-parallelize takes.
//
//===----------------------------------------------------------------------===//

#ifndef STG_PRESETS_PRESET_H
#define STG_PRESETS_PRESET_H

#include "stg/Dialect/STG/IR/STG.h"
#include "llvm/Support/Error.h"
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
  struct Axis {
    Guard guard;
    std::string name, size;
    AxisRole role = AxisRole::None;
    std::string of; ///< The degree that messages name for it.
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
  };
  /// A dimension that `stg-compile` replicates where `degree` is a multiple of
  /// it: the degree `times` says how often.
  struct Replicas {
    std::string dimension, degree, times;
  };

  std::string name, description;
  std::vector<Degree> degrees;
  std::vector<Option> options;
  std::vector<Definition> definitions;
  std::vector<Requirement> requirements;
  std::vector<Group> groups;
  std::vector<Rule> rules;
  std::vector<Claim> claims;
  std::optional<Replicas> replicas;

  /// Reads the text of a file.
  static llvm::Expected<Preset> parse(llvm::StringRef name,
                                      llvm::StringRef text);
  /// Finds `name`, a .json file or the name of one (without .json) in a folder
  /// of presets, and reads it.
  static llvm::Expected<Preset> load(llvm::StringRef name);
};

/// What a user says beside the name of a preset.
struct PresetRequest {
  /// Degrees (numbers or symbols) and options (true or false), by name.
  std::vector<std::pair<std::string, std::string>> values;
  /// `DIM:AXIS` takes the place of the preset's rules of that dimension and
  /// scope, and comes last if there are none; `RULE+` stands before all rules
  /// of the preset, `+RULE` after them; `DIM:` drops those of a dimension.
  std::vector<std::string> rules;
  std::string rankOrder; ///< Groups joined by '-'; empty: as they are written.
};

/// What a preset amounts to, as --stg-parallelize takes it.
struct PresetPlan {
  std::vector<std::string> mesh, rules, claims;
};

/// Evaluates the preset for a model with these dimensions; rules of the preset
/// for others are left out.
llvm::Expected<PresetPlan>
evaluatePreset(const Preset &preset, const PresetRequest &request,
               mlir::MLIRContext *context,
               llvm::ArrayRef<llvm::StringRef> dimensions);

} // namespace stg

#endif // STG_PRESETS_PRESET_H
