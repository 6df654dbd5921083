//===- Document.h - A file in an editor -------------------------*- C++ -*-===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an editor asks of a file. A text that is being written is mostly wrong:
// symbols and names are found in the text, for which there need not be any IR.
//
//===----------------------------------------------------------------------===//

#ifndef STG_TOOLS_LSP_SERVER_DOCUMENT_H
#define STG_TOOLS_LSP_SERVER_DOCUMENT_H

#include "Plan.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/LSP/Protocol.h"
#include "llvm/Support/SourceMgr.h"

namespace stg {

class Document {
public:
  Document(const mlir::DialectRegistry &registry, llvm::lsp::URIForFile uri,
           std::string text);

  const std::string &getText() const { return text; }
  const std::vector<llvm::lsp::Diagnostic> &getDiagnostics() const {
    return diagnostics;
  }
  std::optional<llvm::lsp::Hover> hover(llvm::lsp::Position position);
  llvm::lsp::CompletionList complete(llvm::lsp::Position position);
  /// Where what stands at the position is defined; with `uses`, where it is
  /// used.
  std::vector<llvm::lsp::Location> find(llvm::lsp::Position position,
                                        bool uses);
  /// Functions, symbols, and whatever else has a name.
  std::vector<llvm::lsp::DocumentSymbol> getSymbols();

private:
  void parse();
  mlir::LogicalResult parse(bool verify);
  void addDiagnostic(mlir::Diagnostic &diagnostic);
  void scanSymbols();

  llvm::SMLoc getLoc(llvm::lsp::Position position);
  /// The identifier at a place of the text; empty if there is none.
  llvm::StringRef getWord(llvm::SMLoc loc) const;
  llvm::StringRef getBefore(llvm::StringRef word) const;
  /// The name of a symbol at a place; empty if there is none.
  llvm::StringRef getSymbol(llvm::SMLoc loc) const;
  const mlir::AsmParserState::OperationDefinition *findOp(llvm::SMLoc loc);
  std::vector<llvm::SMRange> findRanges(llvm::SMLoc loc, bool uses);
  std::string describeOp(mlir::Operation *op);
  void completeFromParser(llvm::SMLoc loc, llvm::lsp::CompletionList &list);

  llvm::lsp::URIForFile uri;
  std::string text;
  mlir::MLIRContext context;
  llvm::SourceMgr sources;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::AsmParserState state;
  std::vector<llvm::lsp::Diagnostic> diagnostics;
  /// The names of `stg.symbol`s, where they are declared, to the end of the
  /// line.
  llvm::StringMap<llvm::StringRef> symbols;
  /// What becomes of the program, once somebody has asked.
  std::optional<Plan> plan;
};

} // namespace stg

#endif // STG_TOOLS_LSP_SERVER_DOCUMENT_H
