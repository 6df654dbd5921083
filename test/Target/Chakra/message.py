#!/usr/bin/env python3
"""usage: message.py FILE N: writes the Nth message of a trace file, without its
length, to the standard output."""
import sys

data = open(sys.argv[1], "rb").read()
pos = 0
for index in range(int(sys.argv[2]) + 1):
    size = shift = 0
    while True:
        byte = data[pos]
        pos += 1
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    message = data[pos : pos + size]
    pos += size
sys.stdout.buffer.write(message)
