//===- Completion.h - What may stand at a place -----------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's parser knows which ops, values and keywords may stand at a place.
// Symbols of expressions, axes and names of other ops it does not know: these
// are found in the text.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TOOLS_LSP_SERVER_COMPLETION_H
#define STG_TOOLS_LSP_SERVER_COMPLETION_H

#include "mlir/AsmParser/CodeComplete.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/LSP/Protocol.h"

namespace stg {

void addItem(llvm::lsp::CompletionList &list, llvm::StringRef label,
             llvm::lsp::CompletionItemKind kind, llvm::StringRef detail = {});

/// What is declared with an `@` in front, of any op.
void addDeclaredNames(llvm::StringRef text, llvm::lsp::CompletionList &list);

/// The axes of all meshes of the text.
void addAxes(llvm::StringRef text, llvm::lsp::CompletionList &list);

/// True if a bracket `<` is open at the end, as in types and expressions.
bool isInBrackets(llvm::StringRef before);

/// Puts what the parser tells into a list.
class CompletionContext : public mlir::AsmParserCodeCompleteContext {
public:
  CompletionContext(llvm::SMLoc loc, llvm::lsp::CompletionList &list,
                    mlir::MLIRContext &context)
      : AsmParserCodeCompleteContext(loc), list(list), context(context) {}

  void completeDialectName(llvm::StringRef prefix) override;
  void completeOperationName(llvm::StringRef dialect) override;
  void appendSSAValueCompletion(llvm::StringRef name,
                                std::string type) override;
  void appendBlockCompletion(llvm::StringRef name) override;
  void completeExpectedTokens(llvm::ArrayRef<llvm::StringRef> tokens,
                              bool optional) override;
  void
  completeAttribute(const llvm::StringMap<mlir::Attribute> &aliases) override;
  void completeDialectAttributeOrAlias(
      const llvm::StringMap<mlir::Attribute> &aliases) override;
  void completeType(const llvm::StringMap<mlir::Type> &aliases) override;
  void completeDialectTypeOrAlias(
      const llvm::StringMap<mlir::Type> &aliases) override;

private:
  llvm::lsp::CompletionList &list;
  mlir::MLIRContext &context;
};

} // namespace stg

#endif // STG_TOOLS_LSP_SERVER_COMPLETION_H
