//===- Config.h - A configuration, read with its family's table -*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_IMPORT_CONFIG_H
#define STG_LIB_IMPORT_CONFIG_H

#include "stg/Import/Family.h"
#include "stg/Import/Import.h"
#include "llvm/ADT/StringMap.h"

namespace stg::importer {

/// What a file says, seen through the table of its family.
class Config {
public:
  Config(const Family &family, const ImportOptions &options,
         MessageHandler tell)
      : family(family), options(options), tell(tell) {}

  /// Takes all keys of the file; says what is wrong with each.
  bool read(const Value &root);
  /// What must hold for more than one key.
  bool check();
  /// Of the layer that expressions speak of, if there is one.
  bool check(llvm::ArrayRef<Family::Check> checks);

  /// The value of an expression; none if it has been told what is wrong.
  std::optional<Value> evaluate(const Expression &expression);
  /// As a flag: true where there is no condition.
  std::optional<bool> holds(const std::optional<Expression> &condition);
  std::optional<std::string> fillIn(const Template &text);
  /// Of the first key of the file that the expression comes from.
  Place getPlace(const Expression &expression);

  /// The layer that expressions speak of.
  std::optional<int64_t> layer;

  /// True if this parameter of a strategy is given.
  bool isGiven(llvm::StringRef parameter) const {
    return options.given.count(parameter.str()) != 0;
  }

  void error(Place place, const llvm::Twine &message);
  void remark(const llvm::Twine &message);

private:
  struct Given {
    Place place;
    std::string spelling;
    Value value;
  };

  /// An element of a list of objects. What is in it is read like what is in
  /// an object, and each of its keys is the list of what all elements have.
  struct Element {
    std::string list; ///< The path of the list.
    size_t number, count;
  };

  void readObject(const Value &object, const std::string &prefix);
  void readElements(const Member &member, const std::string &path,
                    const std::string &key);
  void completeElements(const std::string &key, size_t count);
  std::string spellPath(const std::string &path) const;
  std::string getKey(const std::string &path) const;
  void readMember(const Member &member, const std::string &path);
  void readKey(const Member &member, const std::string &path,
               const std::string &key);
  void rejectUnknown(const Member &member, const std::string &path);
  bool readInherited(const Member &member, const std::string &path);
  void checkKind(const Member &member, const std::string &path,
                 llvm::StringRef kind);
  bool checkArchitecture();
  bool checkOnly();
  bool lookup(llvm::StringRef name, Value &value);
  void complain(const Expression &part, const llvm::Twine &text);
  const Given *findGiven(const Expression &part, unsigned depth);

  const Family &family;
  const ImportOptions &options;
  MessageHandler tell;
  llvm::StringMap<Given> given;
  std::optional<Element> element; ///< That is being read.
  unsigned depth = 0;             ///< Of definitions.
  bool isGood = true;
};

/// The text of the model that the configuration describes.
std::optional<std::string> printModel(const Family &family, Config &config,
                                      llvm::StringRef name);

} // namespace stg::importer

#endif // STG_LIB_IMPORT_CONFIG_H
