//===- Family.h - What is known of a family of models ---------- -*- C++
//-*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A family is a JSON file in a folder `families` of the folders of models:
// which keys its configurations have, what they are where they are absent, and
// what the model is that they describe. docs/Families.md says how it is
// written.
//
//===----------------------------------------------------------------------===//

#ifndef STG_IMPORT_FAMILY_H
#define STG_IMPORT_FAMILY_H

#include "stg/Import/Expression.h"
#include "llvm/Support/MemoryBuffer.h"
#include <map>
#include <set>

namespace stg::importer {

/// A text with expressions in braces.
struct Template {
  /// Texts, each but the last with what stands behind it.
  std::vector<std::pair<std::string, std::optional<Expression>>> parts;
};

struct Family {
  /// What must hold, and what is said where it does not.
  struct Check {
    Expression holds;
    std::string key; ///< Where that is said.
    Template message;
  };
  /// The values that a key may have, and why no others.
  struct Only {
    std::vector<Value> values;
    std::string reason;
  };
  struct Symbol {
    std::string name, help;
    /// None if the configuration says nothing of it.
    std::optional<Expression> value;
  };
  /// A list of layers.
  struct Stack {
    Expression count;
    std::optional<Expression> name;
    /// Which layers are no iterations of a loop, so that their parameters are
    /// the program's, and shared by what has one name.
    std::optional<Expression> apart;
    /// Whether all layers have the same parameters.
    std::optional<Expression> shared;
    /// Whether a module for further tokens has the layer that would come next.
    std::optional<Expression> next;
    std::string symbol; ///< That stands for the count.
    /// What must hold in each layer.
    std::vector<Check> checks;
    std::vector<Statement> layer;
  };
  struct Input {
    std::string name;
    std::optional<Expression> condition;
  };
  /// What a configuration describes and the model does not have.
  struct LeftOut {
    Expression condition;
    Template what;
    Expression parameters;
    /// The parameter of a strategy that adds it, or empty.
    std::string addedBy;
  };

  std::string name, description;
  std::vector<std::string> modelTypes, architectures;
  std::map<std::string, std::string> kinds;
  /// By key: a value, or a text that begins with `=` and is in `definitions`.
  std::map<std::string, Value> defaults;
  /// What null means where it is not what absence means.
  std::map<std::string, Expression> nulls;
  std::map<std::string, Expression> definitions;
  std::map<std::string, std::string> spellings; ///< To the key.
  std::set<std::string> unused;
  /// Objects whose keys are those of the model: `text_config`.
  std::set<std::string> transparent;
  /// Objects that are configurations of their own, such as that of a tower, and
  /// the keys that all of these have, with the values that change nothing: any,
  /// if none is listed.
  std::set<std::string> configurations;
  std::map<std::string, std::vector<Value>> inherited;
  std::vector<std::pair<std::string, Only>> only;
  std::vector<Check> checks;
  std::vector<Symbol> symbols;
  std::map<std::string, std::string> types, values, blocks;
  /// Of values with numbers, which `layer` stands for.
  std::map<std::string, Expression> numberedValues;
  std::vector<Input> inputs;
  std::vector<Statement> program;
  /// A name, or an expression that has one as its value.
  Expression result;
  std::map<std::string, Stack> stacks;
  /// Names of the layers that a module for further tokens has; a list.
  std::optional<Expression> moduleLayers;
  std::vector<LeftOut> leftOut;

  bool isKey(llvm::StringRef name) const {
    return defaults.count(name.str()) != 0;
  }
  /// False for an object of which the table reads nothing, but may say whether
  /// it can be there.
  bool hasKeysIn(llvm::StringRef object) const {
    auto isInside = [&](llvm::StringRef key) {
      return key.consume_front(object) && key.starts_with(".");
    };
    return llvm::any_of(llvm::make_first_range(kinds), isInside) ||
           llvm::any_of(llvm::make_first_range(spellings), isInside) ||
           llvm::any_of(unused, isInside);
  }
  bool isListOfObjects(llvm::StringRef name) const {
    auto kind = kinds.find(name.str());
    return kind != kinds.end() && kind->second == "objects" && isKey(name);
  }
};

/// The tables in the folders of models; those of an earlier folder hide later
/// ones of their name. A table is read and parsed when something needs it, and
/// then kept: a library is for one call of a user, who may edit tables between
/// calls, and for one thread.
class FamilyLibrary {
public:
  explicit FamilyLibrary(llvm::ArrayRef<std::string> modelPath);

  /// The table of a `model_type` or `_class_name`; none if there is none. Of
  /// several it is the one whose `when` the configuration meets, or else the
  /// one that has none.
  llvm::Expected<std::optional<Family>> find(llvm::StringRef type,
                                             const Value &config);
  /// The types, sorted, whose tables are for an architecture: one of each; or
  /// that of the only table whose first architecture it is.
  llvm::Expected<std::vector<std::string>>
  getTypesWith(llvm::StringRef architecture);
  /// All types, sorted.
  llvm::Expected<std::vector<std::string>> getTypes();

  /// The file among those of a folder of models, hidden or not, in which a size
  /// has that name.
  std::optional<std::string> findSize(llvm::StringRef folder,
                                      llvm::StringRef name);
  /// The names of all sizes in the tables of a folder of models. A table that
  /// is not valid has none.
  std::vector<std::string> listSizes(llvm::StringRef folder);

private:
  /// A file, of which no more is read than was asked for.
  class Table {
  public:
    Table(size_t number, llvm::StringRef folder, llvm::StringRef file);

    /// Whether a text of the table may be this: false costs no parsing.
    llvm::Expected<bool> mayHave(llvm::StringRef text);
    llvm::Expected<const Value *> get();

    size_t number; ///< Of the folder.
    std::string folder, file, name;
    bool isHidden = false;

  private:
    llvm::Error read();

    std::unique_ptr<llvm::MemoryBuffer> buffer;
    std::optional<Value> value;
  };

  /// Parses all tables that are not hidden, until an error.
  llvm::Error forEachShown(
      llvm::function_ref<llvm::Error(const Table &, const Value &)> visit);
  llvm::Expected<Value> getMerged(llvm::StringRef name, unsigned depth);

  /// By name; of one name, in the order of folders.
  std::vector<Table> tables;
};

} // namespace stg::importer

#endif // STG_IMPORT_FAMILY_H
