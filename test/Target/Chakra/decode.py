#!/usr/bin/env python3
"""Prints the nodes of Chakra trace files as text, one field per line.

usage: decode.py FILE...

An independent reading of the wire format: it shares no code with the writer and
needs no protobuf library. Anything that the schema does not know is an error.
"""
import sys


def varint(data, pos):
    value = shift = 0
    while True:
        byte = data[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, pos
        shift += 7


def fields(data):
    """Yields (number, wire type, value) of a message."""
    pos = 0
    while pos < len(data):
        key, pos = varint(data, pos)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, pos = varint(data, pos)
        elif wire == 2:
            size, pos = varint(data, pos)
            assert pos + size <= len(data), "field goes beyond its message"
            value = data[pos : pos + size]
            pos += size
        else:
            raise ValueError(f"wire type {wire}")
        yield number, wire, value


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def packed(data):
    values, pos = [], 0
    while pos < len(data):
        value, pos = varint(data, pos)
        values.append(value)
    return values


KINDS = {9: "int64", 13: "uint64", 27: "bool", 29: "string", 30: "string_list"}


def attribute(data):
    name = text = None
    for number, wire, value in fields(data):
        if number == 1:
            name = value.decode()
        elif number == 30:
            items = [v.decode() for n, w, v in fields(value)]
            text = "string_list [" + ", ".join(items) + "]"
        elif number == 29:
            text = f'string "{value.decode()}"'
        elif number == 27:
            text = "bool " + ("false", "true")[value]
        elif number == 13:
            text = f"uint64 {value}"
        elif number == 9:
            text = f"int64 {signed(value)}"
        elif number == 7:
            text = f"int32 {signed(value)}"
        else:
            raise ValueError(f"attribute field {number}")
    return f"{name}: {text}"


TYPES = {4: "COMP", 5: "COMM_SEND", 6: "COMM_RECV", 7: "COMM_COLL"}


def node(data):
    ident, name, kind, ctrl, deps, attrs = 0, "", None, [], [], []
    for number, wire, value in fields(data):
        if number == 1:
            ident = value
        elif number == 2:
            name = value.decode()
        elif number == 3:
            kind = TYPES[value]
        elif number == 4:
            ctrl += packed(value)
        elif number == 5:
            deps += packed(value)
        elif number == 10:
            attrs.append(attribute(value))
        else:
            raise ValueError(f"node field {number}")
    print(f"node {ident} {kind} {name}")
    print(f"  ctrl {ctrl} data {deps}")
    for attr in attrs:
        print("  " + attr)


def metadata(data):
    for number, wire, value in fields(data):
        if number == 1:
            print(f'metadata version "{value.decode()}"')
        elif number == 2:
            print("  " + attribute(value))
        else:
            raise ValueError(f"metadata field {number}")


def main():
    for path in sys.argv[1:]:
        data = open(path, "rb").read()
        pos, first = 0, True
        while pos < len(data):
            size, pos = varint(data, pos)
            assert size > 0 and pos + size <= len(data), "broken framing"
            (metadata if first else node)(data[pos : pos + size])
            pos += size
            first = False


main()
