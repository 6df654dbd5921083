//===- ModelLibrary.cpp - Finds models ------------------------------------===//
//
// Part of the STG project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelLibrary.h"
#include "mlir/Parser/Parser.h"
#include "stg/Dialect/Chakra/IR/ChakraDialect.h"
#include "stg/Dialect/STG/Transforms/Passes.h"
#include "stg/Import/Import.h"
#include "stg/Support/Error.h"
#include "stg/Support/Files.h"
#include "stg/Support/Installation.h"
#include "stg/Support/Names.h"
#include "stg/Trace/Bundle/TraceBundle.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace stg;
using llvm::Error;
using llvm::Expected;

/// The files of a folder whose names end so, sorted.
static std::vector<std::string> listFiles(StringRef folder, StringRef ending) {
  std::vector<std::string> files;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator it(folder, code), end;
       it != end && !code; it.increment(code))
    if (StringRef(it->path()).ends_with(ending))
      files.push_back(it->path());
  llvm::sort(files);
  return files;
}

/// The configurations of a folder of models, each a file of its name.
static std::vector<std::string> listConfigFiles(StringRef folder) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, "configs");
  return listFiles(path, ".json");
}

/// The names of the configurations in a file, without parsing it.
static std::vector<std::string> scanConfigs(StringRef text) {
  std::vector<std::string> names;
  constexpr StringLiteral keyword = "stg.config @";
  for (size_t at = text.find(keyword); at != StringRef::npos;
       at = text.find(keyword, at)) {
    at += keyword.size();
    StringRef rest = text.drop_front(at);
    bool isQuoted = rest.consume_front("\"");
    names.push_back(rest.take_while([&](char c) {
                          return isQuoted ? c != '"'
                                          : llvm::isAlnum(c) || c == '_';
                        })
                        .str());
  }
  return names;
}

/// True for the table of a family, in which sizes are models.
static bool isFamily(StringRef file) {
  return isConfigFile(file) &&
         llvm::sys::path::filename(llvm::sys::path::parent_path(file)) ==
             "families";
}

ArrayRef<std::string> ModelLibrary::getConfigs(StringRef file) {
  auto [it, isNew] = configs.try_emplace(file.str());
  if (!isNew)
    return it->second;
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> buffer = readFile(file);
  if (buffer)
    it->second = scanConfigs((*buffer)->getBuffer());
  else
    llvm::consumeError(buffer.takeError());
  return it->second;
}

std::optional<std::string> ModelLibrary::find(StringRef name) {
  for (const std::string &folder : path) {
    for (const std::string &file : listConfigFiles(folder))
      if (llvm::sys::path::stem(file) == name)
        return file;
    if (std::optional<std::string> file = families.findSize(folder, name))
      return file;
    for (const std::string &file : listFiles(folder, ".mlir"))
      if (llvm::is_contained(getConfigs(file), name))
        return file;
  }
  return std::nullopt;
}

std::vector<std::string> ModelLibrary::list() {
  std::vector<std::string> names;
  for (const std::string &folder : path) {
    for (const std::string &file : listConfigFiles(folder))
      names.push_back(llvm::sys::path::stem(file).str());
    llvm::append_range(names, families.listSizes(folder));
    for (const std::string &file : listFiles(folder, ".mlir"))
      llvm::append_range(names, getConfigs(file));
  }
  llvm::sort(names);
  names.erase(llvm::unique(names), names.end());
  return names;
}

/// Sets `model.config`: the one of that name, or the only one. Without a name
/// several leave it open: symbols may be given otherwise.
static Error chooseConfig(Model &model, StringRef name) {
  SmallVector<StringRef> names;
  for (auto config : model.module->getOps<ConfigOp>()) {
    names.push_back(config.getSymName());
    if (config.getSymName() == name || name.empty())
      model.config = config;
  }
  if (name.empty() && names.size() > 1)
    model.config = nullptr;
  if (name.empty() || model.config)
    return Error::success();
  std::string text =
      "'" + model.file + "' has no configuration '" + name.str() + "'";
  if (!names.empty())
    text += "; it has " + llvm::join(names, ", ");
  return makeError(text);
}

/// Why there is no file or folder of this name.
static std::string describeAbsence(StringRef name) {
  std::error_code code;
  llvm::sys::fs::file_status status;
  code = llvm::sys::fs::status(name, status);
  if (!code)
    code = std::make_error_code(std::errc::is_a_directory);
  if (code == std::errc::no_such_file_or_directory)
    return "no such file";
  return code.message();
}

/// A folder may be meant as what has been compiled.
static std::string describeFolder(StringRef name) {
  if (!llvm::sys::fs::is_directory(name))
    return "";
  if (trace::TraceBundle::findIn(name))
    return ", and the directory of that name has a bundle, which is a model "
           "that is compiled already";
  return ", and the directory of that name has no bundle, which stg-compile "
         "--bundle writes";
}

/// The library file with the configuration `name`.
static Expected<std::string> findModel(StringRef name, StringRef config,
                                       ModelLibrary &library) {
  if (name.ends_with(".mlir") || isConfigFile(name))
    return makeError("cannot open '" + name + "': " + describeAbsence(name));
  std::optional<std::string> file = library.find(name);
  if (!file) {
    // There are hundreds: those that may be meant.
    std::vector<std::string> similar =
        findSimilarNames(name, library.list(), /*most=*/5);
    return makeError(
        "unknown model '" + name + "'" + describeFolder(name) +
        "; give a .mlir file, a config.json or one of the library's models, "
        "which --list-models prints" +
        (similar.empty() ? "" : ", such as " + llvm::join(similar, ", ")));
  }
  if (!config.empty() && config != name)
    return makeError("model '" + name +
                     "' is a configuration already; --config is for model "
                     "files");
  return *file;
}

/// `size` is the name of a model in the table of a family, or empty.
static Expected<ImportedModel> importText(const CompileRequest &request,
                                          StringRef file, StringRef size,
                                          StringRef text, ModelLibrary &library,
                                          const MessagePrinter &printer) {
  ImportOptions options;
  options.file = file.str();
  options.size = size.str();
  // How weights are stored is said otherwise then.
  options.ignoresQuantization = request.ignoresQuantization ||
                                request.strategy.isGiven(FieldId::weightDtype);
  for (const Field &field : getFields())
    if (request.strategy.isGiven(field.id))
      options.given.insert(field.name.str());
  // What drafts is a module.
  if (request.strategy.values.mtp > 0)
    options.given.insert(getField(FieldId::mtp).name.str());
  auto tell = [&](const ToolMessage &message) { printer.print(message); };
  std::optional<ImportedModel> imported =
      importConfig(text, options, library.getFamilies(), tell);
  if (!imported)
    return makeDiagnosed();
  return std::move(*imported);
}

/// A configuration becomes a model of one configuration.
static Error makeModel(const CompileRequest &request, StringRef size,
                       ModelLibrary &library, Model &model,
                       std::unique_ptr<llvm::MemoryBuffer> &buffer,
                       const MessagePrinter &printer) {
  if (!request.config.empty())
    return makeError("--config " + request.config + " with '" + model.file +
                     "', which is a configuration itself");
  Expected<ImportedModel> imported = importText(
      request, model.file, size, buffer->getBuffer(), library, printer);
  if (!imported)
    return imported.takeError();
  model.family = imported->family;
  buffer = llvm::MemoryBuffer::getMemBufferCopy(imported->text,
                                                model.file + " (as a model)");
  return Error::success();
}

/// The text of the model that is asked for, the name of its file, and the name
/// of its configuration, which may be empty.
static Error readModel(const CompileRequest &request, ModelLibrary &library,
                       std::unique_ptr<llvm::MemoryBuffer> &buffer,
                       std::string &file, StringRef &config) {
  const std::string &name = request.model;
  file = name;
  config = request.config;
  if (request.modelText) {
    buffer = llvm::MemoryBuffer::getMemBufferCopy(
        *request.modelText, name == "-" ? "<stdin>" : name);
    return Error::success();
  }
  // A folder may have the name of a model: that of its traces, say.
  if (name != "-" &&
      (!llvm::sys::fs::exists(name) || llvm::sys::fs::is_directory(name))) {
    Expected<std::string> found = findModel(name, config, library);
    if (!found)
      return found.takeError();
    file = *found;
    config = name;
  }
  Expected<std::unique_ptr<llvm::MemoryBuffer>> read = readInput(file);
  if (!read)
    return makeError(file + ": " + llvm::toString(read.takeError()));
  buffer = std::move(*read);
  return Error::success();
}

Expected<ImportedModel> stg::importModel(const CompileRequest &request,
                                         const MessagePrinter &printer) {
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::string file;
  StringRef config;
  if (!isConfigFile(request.model))
    return makeError("'" + request.model +
                     "' is no configuration, expected a .json file");
  ModelLibrary library(getModelPath(request.modelPath));
  if (Error error = readModel(request, library, buffer, file, config))
    return std::move(error);
  return importText(request, file, /*size=*/"", buffer->getBuffer(), library,
                    printer);
}

/// The level of a program that is none of a model any more; empty for a model.
static StringRef getLaterLevel(ModuleOp module) {
  StringRef level;
  module.walk([&](Operation *op) {
    StringRef dialect = op->getName().getDialectNamespace();
    if (dialect == chakra::ChakraDialect::getDialectNamespace())
      level = "chakra";
    else if (isa<MeshOp>(op) || isa<CollectiveOpInterface>(op))
      level = "plan";
    else if (Phase phase = getPhase(op);
             phase == Phase::Backward || phase == Phase::Optimizer)
      level = "step";
    return level.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return level;
}

/// Says what takes a file that was written for something else.
static Error checkLevel(const Model &model, StringRef text) {
  if (!model.module) {
    // What is wrong with it has been said.
    if (text.contains("linalg."))
      return makeError("'" + model.file +
                       "' has ops of linalg: stg-opt --stg-import-linalg makes "
                       "a model of them (docs/UseFromLinalg.md)");
    return makeDiagnosed();
  }
  StringRef level = getLaterLevel(*model.module);
  if (level.empty())
    return Error::success();
  return makeError("'" + model.file + "' is at the " + level +
                   " level, expected a model: stg-opt executes the passes that "
                   "follow, and stg-translate --chakra-to-traces writes what "
                   "they make (docs/Architecture.md)");
}

Expected<Model> stg::loadModel(MLIRContext &context,
                               const CompileRequest &request,
                               ModelLibrary &library, llvm::SourceMgr &sources,
                               const MessagePrinter &printer) {
  Model model;
  StringRef config;
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  if (Error error = readModel(request, library, buffer, model.file, config))
    return error;
  model.family = llvm::sys::path::stem(model.file).str();
  if (isConfigFile(model.file)) {
    // A file that is named is a configuration, wherever it lies.
    StringRef size = model.file != request.model && isFamily(model.file)
                         ? config
                         : StringRef();
    if (Error error = makeModel(request, size, library, model, buffer, printer))
      return error;
    config = ""; // It has one.
  } else if (request.ignoresQuantization) {
    return makeError("--ignore-quantization with '" + model.file +
                     "', which is no configuration (.json)");
  }
  StringRef text = buffer->getBuffer();
  sources.AddNewSourceBuffer(std::move(buffer), SMLoc());
  model.module = parseSourceFile<ModuleOp>(sources, &context);
  if (Error error = checkLevel(model, text))
    return error;
  if (failed(resolveImports(*model.module, library.getPath())))
    return makeDiagnosed();
  if (Error error = chooseConfig(model, config))
    return error;
  return model;
}

Expected<Model> stg::loadModel(MLIRContext &context,
                               const CompileRequest &request,
                               llvm::SourceMgr &sources,
                               const MessagePrinter &printer) {
  ModelLibrary library(getModelPath(request.modelPath));
  return loadModel(context, request, library, sources, printer);
}
