//===- stg-lsp-server.cpp - Language server for editors -------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On LLVM's library for the protocol. MLIR's own server cannot be told what to
// say of an op or which symbols an expression may have.
//
//===----------------------------------------------------------------------===//

#include "Document.h"
#include "mlir/IR/DialectRegistry.h"
#include "stg/InitAll.h"
#include "stg/Support/Messages.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/LSP/Transport.h"
#include "llvm/Support/Program.h"
#include <map>

using namespace llvm::lsp;
using llvm::StringRef;
using stg::Document;

namespace {
class Server {
public:
  Server(const mlir::DialectRegistry &registry, MessageHandler &handler)
      : registry(registry),
        publish(handler.outgoingNotification<PublishDiagnosticsParams>(
            "textDocument/publishDiagnostics")) {
    handler.method("initialize", this, &Server::onInitialize);
    handler.notification("initialized", this, &Server::onInitialized);
    handler.method("shutdown", this, &Server::onShutdown);
    handler.notification("textDocument/didOpen", this, &Server::onOpen);
    handler.notification("textDocument/didChange", this, &Server::onChange);
    handler.notification("textDocument/didClose", this, &Server::onClose);
    handler.method("textDocument/hover", this, &Server::onHover);
    handler.method("textDocument/completion", this, &Server::onCompletion);
    handler.method("textDocument/definition", this, &Server::onDefinition);
    handler.method("textDocument/references", this, &Server::onReferences);
    handler.method("textDocument/documentSymbol", this, &Server::onSymbols);
  }

  bool isShutDown = false;

private:
  void onInitialize(const InitializeParams &,
                    Callback<llvm::json::Value> reply) {
    llvm::json::Object capabilities{
        {"textDocumentSync",
         llvm::json::Object{
             {"openClose", true},
             {"change", static_cast<int>(TextDocumentSyncKind::Incremental)}}},
        {"completionProvider",
         llvm::json::Object{
             {"triggerCharacters", {".", "%", "^", "!", "#", "@", "[", ":"}}}},
        {"hoverProvider", true},
        {"definitionProvider", true},
        {"referencesProvider", true},
        {"documentSymbolProvider", true}};
    llvm::json::Object info{{"name", "stg-lsp-server"},
                            {"version", STG_VERSION}};
    reply(llvm::json::Object{{"serverInfo", std::move(info)},
                             {"capabilities", std::move(capabilities)}});
  }
  void onInitialized(const InitializedParams &) {}
  void onShutdown(const NoParams &, Callback<std::nullptr_t> reply) {
    isShutDown = true;
    reply(nullptr);
  }

  void update(const URIForFile &uri, std::string text, int64_t version) {
    auto &document = documents[uri.uri().str()];
    document = std::make_unique<Document>(registry, uri, std::move(text));
    PublishDiagnosticsParams params(uri, version);
    params.diagnostics = document->getDiagnostics();
    publish(params);
  }
  void onOpen(const DidOpenTextDocumentParams &params) {
    update(params.textDocument.uri, params.textDocument.text,
           params.textDocument.version);
  }
  void onChange(const DidChangeTextDocumentParams &params) {
    Document *document = find(params.textDocument.uri);
    if (!document)
      return;
    std::string text = document->getText();
    if (succeeded(TextDocumentContentChangeEvent::applyTo(params.contentChanges,
                                                          text)))
      update(params.textDocument.uri, std::move(text),
             params.textDocument.version);
  }
  void onClose(const DidCloseTextDocumentParams &params) {
    documents.erase(params.textDocument.uri.uri().str());
    publish(PublishDiagnosticsParams(params.textDocument.uri, 0));
  }

  Document *find(const URIForFile &uri) {
    auto it = documents.find(uri.uri().str());
    return it == documents.end() ? nullptr : it->second.get();
  }
  void onHover(const TextDocumentPositionParams &params,
               Callback<std::optional<Hover>> reply) {
    Document *document = find(params.textDocument.uri);
    reply(document ? document->hover(params.position) : std::nullopt);
  }
  void onCompletion(const CompletionParams &params,
                    Callback<CompletionList> reply) {
    Document *document = find(params.textDocument.uri);
    reply(document ? document->complete(params.position) : CompletionList());
  }
  void onDefinition(const TextDocumentPositionParams &params,
                    Callback<std::vector<Location>> reply) {
    Document *document = find(params.textDocument.uri);
    reply(document ? document->find(params.position, /*uses=*/false)
                   : std::vector<Location>());
  }
  void onReferences(const ReferenceParams &params,
                    Callback<std::vector<Location>> reply) {
    Document *document = find(params.textDocument.uri);
    reply(document ? document->find(params.position, /*uses=*/true)
                   : std::vector<Location>());
  }
  void onSymbols(const DocumentSymbolParams &params,
                 Callback<std::vector<DocumentSymbol>> reply) {
    Document *document = find(params.textDocument.uri);
    reply(document ? document->getSymbols() : std::vector<DocumentSymbol>());
  }

  const mlir::DialectRegistry &registry;
  OutgoingNotification<PublishDiagnosticsParams> publish;
  std::map<std::string, std::unique_ptr<Document>> documents;
};
} // namespace

int main(int argc, char **argv) {
  stg::MessagePrinter &printer = stg::guardStandardStreams("stg-lsp-server");
  // Editors say nothing, or how the server is talked to.
  static llvm::cl::OptionCategory category("Options");
  static llvm::cl::opt<bool> usesStdio(
      "stdio", llvm::cl::cat(category),
      llvm::cl::desc("Talk through standard input and output, as always"));
  llvm::cl::HideUnrelatedOptions(category);
  if (!stg::parseCommandLine(argc, argv,
                             "STG: tells editors what a program means, as a "
                             "server of the Language Server Protocol\n",
                             printer))
    return 1;
  mlir::DialectRegistry registry;
  stg::registerAllDialects(registry);
  llvm::sys::ChangeStdinToBinary();
  JSONTransport transport(stdin, llvm::outs());
  MessageHandler handler(transport);
  Server server(registry, handler);
  if (llvm::Error error = transport.run(handler)) {
    llvm::consumeError(std::move(error));
    return 1;
  }
  return server.isShutDown ? 0 : 1;
}
