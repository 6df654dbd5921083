//===- PassOption.h - Enumerations of strategies as options of passes -*- C++
//-*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With this header an option of a pass can have the type of an enumeration of
// StrategyEnums.def: its values, their help and the message for another one
// come from there. Passes.td names the type and nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef STG_STRATEGY_PASSOPTION_H
#define STG_STRATEGY_PASSOPTION_H

#include "stg/Strategy/Strategy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

namespace stg {

template <typename Enum>
class EnumOptionParser : public llvm::cl::basic_parser<Enum> {
public:
  using llvm::cl::basic_parser<Enum>::basic_parser;

  bool parse(llvm::cl::Option &option, llvm::StringRef, llvm::StringRef text,
             Enum &value) {
    for (auto [i, known] : llvm::enumerate(getNamedValues<Enum>()))
      if (text == known.name) {
        value = static_cast<Enum>(i);
        return false;
      }
    return option.error("has the value '" + text + "', expected " +
                        listNames(getNamedValues<Enum>()));
  }
  static void print(llvm::raw_ostream &os, Enum value) {
    os << stringify(value);
  }
  void printOptionDiff(const llvm::cl::Option &, Enum,
                       const llvm::cl::OptionValue<Enum> &, size_t) const {}
  llvm::StringRef getValueName() const override { return "value"; }
  void anchor() override {}

  // Shadow those of the base: all values are listed.
  size_t getOptionWidth(const llvm::cl::Option &option) const {
    size_t width = llvm::cl::basic_parser<Enum>::getOptionWidth(option);
    for (const NamedValue &value : getNamedValues<Enum>())
      width = std::max(width, llvm::StringRef(value.name).size() + 8);
    return width;
  }
  void printOptionInfo(const llvm::cl::Option &option, size_t width) const {
    llvm::cl::basic_parser<Enum>::printOptionInfo(option, width);
    for (const NamedValue &value : getNamedValues<Enum>()) {
      llvm::outs() << "    =" << value.name;
      llvm::cl::Option::printEnumValHelpStr(
          value.meaning, width, llvm::StringRef(value.name).size() + 8);
    }
  }
};

} // namespace stg

#define STG_ENUM(Type)                                                         \
  template <>                                                                  \
  class llvm::cl::parser<stg::Type>                                            \
      : public stg::EnumOptionParser<stg::Type> {                              \
  public:                                                                      \
    using EnumOptionParser::EnumOptionParser;                                  \
  };
#define STG_VALUE(Type, Id, Name, Meaning)
#define STG_ENUM_END(Type)
#include "stg/Strategy/StrategyEnums.def"

#endif // STG_STRATEGY_PASSOPTION_H
