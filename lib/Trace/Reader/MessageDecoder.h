//===- MessageDecoder.h - Wire format of one trace message ------*- C++ -*-===//
//
// Decodes the bytes of one message into a Node or Metadata without copying.
// Generated protobuf code is not used here on purpose: it takes a known field
// with the wrong wire type for an unknown one and drops it silently, rejects a
// whole message for one invalid UTF-8 string, logs on its own, and cannot say
// at which byte something is wrong. Whatever this decoder accepts, protobuf
// decodes to the same values (the fuzzer checks it).
//
//===----------------------------------------------------------------------===//

#ifndef STG_LIB_TRACE_READER_MESSAGEDECODER_H
#define STG_LIB_TRACE_READER_MESSAGEDECODER_H

#include "stg/Trace/Reader/TraceNode.h"

namespace stg::trace {

/// Reads a base-128 varint from the front of `bytes` and drops it. Returns
/// false, with `bytes` unchanged, if it is cut off or longer than 64 bits.
bool consumeVarint(llvm::StringRef &bytes, uint64_t &value);

/// Decoder of one message. After a decode function has returned false,
/// getError() and getErrorPosition() say what was found and where.
class MessageDecoder {
public:
  explicit MessageDecoder(llvm::StringRef bytes) : bytes(bytes) {}

  bool decode(Node &node);
  bool decode(Metadata &metadata);

  llvm::StringRef getError() const { return error; }

  /// Offset of the faulty field in the message.
  uint64_t getErrorPosition() const { return errorPosition; }

private:
  /// A field as it stands on the wire.
  struct Field {
    uint64_t number = 0;
    unsigned wireType = 0;
    uint64_t value = 0;
    llvm::StringRef payload;
    const char *start = nullptr;
  };

  bool fail(const char *where, const llvm::Twine &message);
  bool consumeField(llvm::StringRef &rest, Field &field);
  /// Calls `visit` for each field of a message until it fails or one is
  /// malformed. A template, because every byte of a trace goes through it.
  template <typename Visitor>
  bool forEachField(llvm::StringRef message, Visitor visit) {
    while (!message.empty()) {
      Field field;
      if (!consumeField(message, field) || !visit(field))
        return false;
    }
    return true;
  }
  bool consumeFixed(llvm::StringRef &rest, unsigned width, Field &field);
  bool expect(const Field &field, unsigned wireType, llvm::StringRef name);
  bool getText(const Field &field, llvm::StringRef name,
               llvm::StringRef &result);
  bool getDeps(const Field &field, llvm::StringRef name,
               llvm::SmallVectorImpl<uint64_t> &deps);
  bool decodeIOInfo(const Field &field, llvm::StringRef name, IOInfo &info);
  bool decodeAttribute(const Field &field, AttributeSet &attrs);
  bool decodeValue(const Field &field, Attribute &attr, AttributeSet &attrs);
  bool decodeList(llvm::StringRef list, Attribute &attr, AttributeSet &attrs);
  bool decodePacked(const Field &list, Attribute &attr, AttributeSet &attrs);
  bool decodeNodeField(const Field &field, Node &node);
  void noteText(llvm::StringRef name, llvm::StringRef text);

  llvm::StringRef bytes;
  std::string error;
  uint64_t errorPosition = 0;
  std::optional<llvm::StringRef> invalidText;
};

} // namespace stg::trace

#endif // STG_LIB_TRACE_READER_MESSAGEDECODER_H
