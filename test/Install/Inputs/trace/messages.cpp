// Prints what a bundle has, what a rank's messages are, and what a flag may be.

#include "stg/Proto/et_def.pb.h"
#include "stg/Strategy/Field.h"
#include "stg/Trace/Bundle/MessageStream.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

int main(int argc, char **argv) {
  auto bundle = stg::trace::TraceBundle::open(argv[1]);
  if (!bundle) {
    llvm::errs() << llvm::toString(bundle.takeError()) << "\n";
    return 1;
  }
  llvm::outs() << (*bundle)->getSpace().getNumRanks() << " ranks, "
               << (*bundle)->getClasses().size() << " classes\n";
  stg::trace::MessageStream stream(**bundle, 1);
  stg::proto::GlobalMetadata metadata;
  stream.read(metadata);
  stg::proto::Node node;
  std::map<int, int> count;
  while (stream.read(node))
    ++count[node.type()];
  llvm::outs() << "version " << metadata.version() << "\n";
  for (auto [type, number] : count)
    llvm::outs() << stg::proto::NodeType_Name(type) << " " << number << "\n";
  llvm::outs() << stg::findField("zero")->getHelp() << "\n";
  return 0;
}
