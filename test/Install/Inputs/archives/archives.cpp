// Prints the dialects of STG.

#include "mlir/IR/DialectRegistry.h"
#include "stg/InitAll.h"
#include "llvm/Support/raw_ostream.h"

int main() {
  mlir::DialectRegistry registry;
  stg::registerAllDialects(registry);
  for (llvm::StringRef name : registry.getDialectNames())
    llvm::outs() << name << "\n";
  return 0;
}
