// Prints how many ranks and classes a bundle has, and what a flag may be.

#include "stg/Strategy/StrategyInput.h"
#include "stg/Trace/Bundle/TraceBundle.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  auto bundle = stg::trace::TraceBundle::open(argv[1]);
  if (!bundle) {
    llvm::errs() << llvm::toString(bundle.takeError()) << "\n";
    return 1;
  }
  llvm::outs() << (*bundle)->getSpace().getNumRanks() << " ranks, "
               << (*bundle)->getClasses().size() << " classes\n";
  llvm::outs() << stg::findField("zero")->getHelp() << "\n";
  return 0;
}
