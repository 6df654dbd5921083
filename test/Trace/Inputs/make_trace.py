#!/usr/bin/env python3
"""Writes the trace files that a test describes.

    make_trace.py TEST DIRECTORY

A line `//--- NAME` in TEST starts the description of the file NAME, which is
made below DIRECTORY. A file whose name ends in .et is described by one message
a line, any other file is copied as it stands. The wire format is written by
hand, so that a test can make messages that no protobuf library would.

    meta [version=V] [+ATTR=KIND:VALUE]...     GlobalMetadata
    comp ID [KEY=VALUE]...                     COMP node
    coll ID [KEY=VALUE]...                     COMM_COLL node
    send ID to=RANK [KEY=VALUE]...             COMM_SEND node
    recv ID from=RANK [KEY=VALUE]...           COMM_RECV node
    node ID type=N [KEY=VALUE]...              any node, with is_cpu_op and
                                               tensors only
    msg HEX                                    a framed message of these bytes
    raw HEX                                    these bytes alone
    repeat N LINE                              LINE N times; @ counts from 1,
                                               and @- is the number before

Keys of nodes: name=, data=1,2 and ctrl=1,2 (dependencies), in=a:8,b:4 and
out=c:8 (tensors), ops=, bytes=, type=, group=, size=, tag=, src=, dst=,
packed=0 (dependencies unpacked), micros= (duration). Attributes have the wire
types that every consumer reads; `-ATTR` leaves one out, `~ATTR=KIND:VALUE`
replaces one and `+ATTR=KIND:VALUE` adds one. List values are separated by
commas; `#` in front of a string means hex digits.

File directives: `gzip` compresses, `truncate N` drops the last N bytes,
`readonly` clears the write permission, `empty` gives an empty file.
"""

import gzip
import os
import shlex
import struct
import sys

ELEMENTS = ("double float int32 int64 uint32 uint64 sint32 sint64 fixed32 "
            "fixed64 sfixed32 sfixed64 bool string bytes").split()
TYPES = {"comp": 4, "send": 5, "recv": 6, "coll": 7}
LABELS = {4: "COMP_NODE", 5: "COMM_SEND_NODE", 6: "COMM_RECV_NODE",
          7: "COMM_COLL_NODE"}


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, wire, payload):
    """A field with its tag; `payload` is an int for varints, else bytes."""
    tag = varint(number << 3 | wire)
    if wire == 0:
        return tag + varint(payload)
    if wire == 2:
        return tag + varint(len(payload)) + payload
    return tag + payload


def to_bytes(text):
    return bytes.fromhex(text[1:]) if text.startswith("#") else text.encode()


def element(kind, text):
    """Wire type and payload of one value."""
    if kind in ("string", "bytes"):
        return 2, to_bytes(text)
    if kind == "double":
        return 1, struct.pack("<d", float(text))
    if kind == "float":
        return 5, struct.pack("<f", float(text))
    value = int(text, 0)
    if kind in ("sint32", "sint64"):
        value = value << 1 if value >= 0 else (-value << 1) - 1
    if kind in ("fixed32", "sfixed32"):
        return 5, struct.pack("<I", value & 0xffffffff)
    if kind in ("fixed64", "sfixed64"):
        return 1, struct.pack("<Q", value & (1 << 64) - 1)
    return 0, value


def packed(kind, texts):
    out = b""
    for text in texts:
        wire, payload = element(kind, text)
        out += varint(payload) if wire == 0 else payload
    return field(1, 2, out)


def attribute(name, value):
    """Encodes `value`, written as KIND:VALUE, as an AttributeProto."""
    kind, _, text = value.partition(":")
    out = field(1, 2, to_bytes(name))
    if kind == "none":
        return out
    is_list = kind.endswith("_list")
    base = kind[:-5] if is_list else kind
    number = 3 + 2 * ELEMENTS.index(base) + is_list
    if not is_list:
        wire, payload = element(base, text)
        return out + field(number, wire, payload)
    texts = text.split(",") if text else []
    if base in ("string", "bytes"):
        body = b"".join(field(1, 2, to_bytes(t)) for t in texts)
    else:
        body = packed(base, texts)
    return out + field(number, 2, body)


def attributes(number, values, words):
    """All attributes of a message after the changes that `words` ask for."""
    out = []
    for name, value in values.items():
        if "-" + name in words:
            continue
        for word in words:
            if word.startswith("~" + name + "="):
                value = word[len(name) + 2:]
        out.append(attribute(name, value))
    for word in words:
        if word.startswith("+"):
            name, _, value = word[1:].partition("=")
            out.append(attribute(name, value))
    return b"".join(field(number, 2, attr) for attr in out)


def tensors(text):
    return "string_list:" + ",".join(text.replace(":", ",").split(","))


def default_attributes(kind, node_id, rank, keys):
    values = {"is_cpu_op": "bool:0"}
    get = keys.get
    if kind == "comp":
        values["num_ops"] = "int64:" + get("ops", "1000000")
        values["tensor_size"] = "uint64:" + get("bytes", "4096")
    elif kind == "coll":
        values["comm_type"] = "int64:" + get("type", "0")
        values["comm_size"] = "int64:" + get("size", "64")
        values["pg_name"] = "string:" + get("group", "1")
    elif kind in ("send", "recv"):
        own, peer = ("src", "dst") if kind == "send" else ("dst", "src")
        values["comm_size"] = "int64:" + get("size", "64")
        values["comm_" + own] = "int32:" + get(own, str(rank))
        values["comm_" + peer] = "int32:" + (get("to") or get("from") or
                                             get(peer, "0"))
        values["comm_tag"] = "int32:" + get("tag", node_id)
    values["inputs"] = tensors(get("in", ""))
    values["outputs"] = tensors(get("out", ""))
    return values


def dependencies(number, text, is_packed):
    ids = [int(i) for i in text.split(",")]
    if not is_packed:
        return b"".join(field(number, 0, i) for i in ids)
    return field(number, 2, b"".join(varint(i) for i in ids))


def node(kind, words, rank):
    node_id, words = words[0], words[1:]
    keys = dict(word.split("=", 1) for word in words if word[0] not in "+-~")
    number = TYPES[kind] if kind in TYPES else int(keys["type"])
    name = keys.get("name", "%s_%s" % (LABELS.get(number, "NODE"), node_id))
    is_packed = keys.get("packed", "1") == "1"
    out = field(1, 0, int(node_id)) + field(2, 2, to_bytes(name))
    out += field(3, 0, number)
    if "ctrl" in keys:
        out += dependencies(4, keys["ctrl"], is_packed)
    if "data" in keys:
        out += dependencies(5, keys["data"], is_packed)
    if "micros" in keys:
        out += field(7, 0, int(keys["micros"]))
    values = default_attributes(kind, node_id, rank, keys)
    return out + attributes(10, values, words)


def metadata(words):
    keys = dict(word.split("=", 1) for word in words if word[0] not in "+-~")
    version = keys.get("version", "0.0.4")
    out = field(1, 2, to_bytes(version)) if version else b""
    return out + attributes(2, {}, words)


def frame(message):
    return varint(len(message)) + message


def message(words, rank):
    """The bytes that one line stands for."""
    command, words = words[0], words[1:]
    if command == "meta":
        return frame(metadata(words))
    if command == "msg":
        return frame(bytes.fromhex("".join(words)))
    if command == "raw":
        return bytes.fromhex("".join(words))
    if command == "repeat":
        return b"".join(
            message([w.replace("@-", str(i - 1)).replace("@", str(i))
                     for w in words[1:]], rank)
            for i in range(1, int(words[0]) + 1))
    return frame(node(command, words, rank))


def rank_of(path):
    part = os.path.basename(path).split(".")[-2:-1]
    return int(part[0]) if part and part[0].isdigit() else 0


def write_trace(path, lines):
    data, read_only = b"", False
    for line in lines:
        # shlex takes half a minute for a name of a million bytes.
        quoted = any(c in line for c in "'\"\\")
        words = shlex.split(line, comments=False) if quoted else line.split()
        if not words or words[0] == "empty":
            continue
        if words[0] == "gzip":
            data = gzip.compress(data, mtime=0)
        elif words[0] == "truncate":
            data = data[:-int(words[1])]
        elif words[0] == "readonly":
            read_only = True
        else:
            data += message(words, rank_of(path))
    with open(path, "wb") as out:
        out.write(data)
    if read_only:
        os.chmod(path, 0o444)


def read_sections(path):
    sections, current = {}, None
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("//--- "):
                current = sections.setdefault(line[6:].strip(), [])
            elif current is not None:
                current.append(line)
    return sections


def main():
    test, directory = sys.argv[1:]
    for name, lines in read_sections(test).items():
        path = os.path.join(directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.lexists(path):
            os.remove(path)
        if name.endswith(".et"):
            write_trace(path, lines)
        else:
            with open(path, "w", encoding="utf-8") as out:
                out.writelines(lines)


if __name__ == "__main__":
    main()
