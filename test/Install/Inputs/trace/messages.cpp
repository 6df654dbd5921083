// Prints what a bundle has, what a rank's messages are, and what a flag may be.
// The messages are also read by the classes of another schema.

#include "et_def.pb.h"
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
  ChakraProtoMsg::Node theirs;
  std::map<int, int> count;
  int same = 0;
  while (stream.read(node)) {
    ++count[node.type()];
    std::string bytes = node.SerializeAsString();
    same += theirs.ParseFromString(bytes) && theirs.name() == node.name() &&
            theirs.attr_size() == node.attr_size() &&
            theirs.SerializeAsString() == bytes;
  }
  llvm::outs() << "version " << metadata.version() << "\n";
  for (auto [type, number] : count)
    llvm::outs() << stg::proto::NodeType_Name(type) << " " << number << "\n";
  llvm::outs() << same << " nodes are the same in " << theirs.GetTypeName()
               << " and in " << node.GetTypeName() << "\n";
  llvm::outs() << stg::findField("zero")->getHelp() << "\n";
  return 0;
}
