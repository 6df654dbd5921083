//===- ResolveImports.cpp - Reads the files that a model imports ----------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file is found by its path, which is not the text of the import, so that it
// is there once, whoever imports it. Blocks are taken out of their file with
// the symbols and options that they see there.
//
//===----------------------------------------------------------------------===//

#include "mlir/Parser/Parser.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "stg/Support/Files.h"
#include "stg/Support/Installation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

namespace stg {
#define GEN_PASS_DEF_RESOLVEIMPORTS
#include "stg/Dialect/STG/Transforms/Passes.h.inc"
} // namespace stg

using namespace mlir;
using namespace stg;

namespace {
struct ResolveImports : stg::impl::ResolveImportsBase<ResolveImports> {
  using ResolveImportsBase::ResolveImportsBase;
  void runOnOperation() override {
    if (failed(resolveImports(
            getOperation(),
            getModelPath(std::vector<std::string>(path.begin(), path.end())))))
      signalPassFailure();
  }
};

/// Reads files into one module.
class Importer {
public:
  Importer(ModuleOp target, ArrayRef<std::string> path)
      : target(target), path(path) {}

  LogicalResult run();

private:
  LogicalResult import(ImportOp op);
  LogicalResult takeBlocks(ModuleOp file, ImportOp op);
  FailureOr<std::string> find(ImportOp op);

  ModuleOp target;
  ArrayRef<std::string> path;
  /// By their real path.
  llvm::StringMap<OwningOpRef<ModuleOp>> files;
  /// Those that import each other, down to the one that is read.
  SmallVector<std::string> open;
};
} // namespace

static std::string getRealPath(StringRef file) {
  SmallString<256> real;
  if (llvm::sys::fs::real_path(file, real))
    return file.str();
  return real.str().str();
}

/// True for a file of the library, whose blocks have been verified when it was
/// made: most of them are not even used by a model.
static bool isShipped(StringRef real) {
  std::string folder = getShippedFolder("models");
  return !folder.empty() && real.consume_front(folder) &&
         llvm::sys::path::is_separator(real.front());
}

/// The file in which an op stands; empty for one without a place.
static StringRef getFile(Operation *op) {
  auto place = op->getLoc()->findInstanceOf<FileLineColLoc>();
  return place ? place.getFilename().getValue() : StringRef();
}

/// The folder of the file that has the import, then those of models.
FailureOr<std::string> Importer::find(ImportOp op) {
  SmallVector<std::string> folders = {
      llvm::sys::path::parent_path(getFile(op)).str()};
  if (folders.front().empty())
    folders.front() = ".";
  llvm::append_range(folders, path);
  bool isAbsolute = llvm::sys::path::is_absolute(op.getFile());
  if (isAbsolute)
    folders = {""};
  for (const std::string &folder : folders) {
    SmallString<256> candidate(folder);
    llvm::sys::path::append(candidate, op.getFile());
    if (isRegularFile(candidate))
      return candidate.str().str();
  }
  InFlightDiagnostic diag = op.emitOpError("of '")
                            << op.getFile() << "': no such file";
  if (!isAbsolute)
    diag << "; it was looked for in " << llvm::join(folders, ", ");
  return diag;
}

/// The symbols and options that blocks of the file share become those of each.
static void takeDeclarations(ModuleOp file, BlockOp block) {
  DenseSet<StringAttr> own;
  for (Operation &op : block.getBody().getOps())
    if (isa<SymbolOp, OptionOp>(op))
      own.insert(SymbolTable::getSymbolName(&op));
  OpBuilder builder = OpBuilder::atBlockBegin(&block.getBody().front());
  for (Operation &op : file.getOps())
    if (isa<SymbolOp, OptionOp>(op) &&
        !own.contains(SymbolTable::getSymbolName(&op)))
      builder.clone(op);
}

LogicalResult Importer::takeBlocks(ModuleOp file, ImportOp op) {
  for (auto block : llvm::make_early_inc_range(file.getOps<BlockOp>())) {
    if (Operation *known = target.lookupSymbol(block.getSymNameAttr())) {
      InFlightDiagnostic diag = op.emitOpError("of '")
                                << op.getFile() << "' brings '"
                                << block.getSymName()
                                << "', which is declared already";
      diag.attachNote(known->getLoc()) << "this is the first";
      diag.attachNote(block.getLoc()) << "this is the second";
      return diag;
    }
    block->moveBefore(target.getBody(), target.getBody()->end());
    takeDeclarations(file, block);
  }
  return success();
}

LogicalResult Importer::import(ImportOp op) {
  FailureOr<std::string> found = find(op);
  if (failed(found))
    return failure();
  std::string real = getRealPath(*found);
  if (llvm::is_contained(open, real))
    return op.emitOpError("of '")
           << op.getFile() << "' makes a circle: the file imports this one, "
           << "over " << open.size() << " file(s)";
  if (files.contains(real))
    return success();
  auto buffer = readFile(*found);
  if (!buffer)
    return op.emitOpError("of '")
           << op.getFile() << "': " << llvm::toString(buffer.takeError());
  // Places in the file are called as it was found.
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), SMLoc());
  ParserConfig config(target.getContext(),
                      /*verifyAfterParse=*/!isShipped(real));
  OwningOpRef<ModuleOp> file = parseSourceFile<ModuleOp>(sources, config);
  if (!file)
    return failure();
  ModuleOp module = *file;
  files[real] = std::move(file);
  open.push_back(real);
  for (auto inner : module.getOps<ImportOp>())
    if (failed(import(inner)))
      return failure();
  open.pop_back();
  return takeBlocks(module, op);
}

LogicalResult Importer::run() {
  SmallVector<ImportOp> imports(target.getOps<ImportOp>());
  if (imports.empty())
    return success();
  open.push_back(getRealPath(getFile(imports.front())));
  for (ImportOp op : imports)
    if (failed(import(op)))
      return failure();
  for (ImportOp op : imports)
    op.erase();
  return success();
}

LogicalResult stg::resolveImports(ModuleOp module, ArrayRef<std::string> path) {
  return Importer(module, path).run();
}
