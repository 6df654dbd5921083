"""Shows a page in headless Chromium: look-at-page.py PAGE FOLDER.

The browser's own tree has all pictures, nothing was loaded from elsewhere, and what is
on the screen has the colours of the pictures."""

import os
import struct
import subprocess
import sys
import zlib

page, folder = (os.path.abspath(path) for path in sys.argv[1:])
command = [
    os.environ["CHROMIUM"], "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
    "--user-data-dir=" + os.path.join(folder, "profile"), "--window-size=1200,1800",
]


def show(*arguments):
    return subprocess.run(
        [*command, *arguments, "file://" + page], check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


tree = show("--dump-dom").stdout
assert tree.count("<svg") == 5, tree.count("<svg")
assert tree.count("</svg>") == 5 and "</html>" in tree

picture = os.path.join(folder, "page.png")
show("--screenshot=" + picture)
with open(picture, "rb") as file:
    data = file.read()
assert data[:8] == b"\x89PNG\r\n\x1a\n"
width, height, depth, colour = struct.unpack(">IIBB", data[16:26])
assert (width, height, depth) == (1200, 1800, 8) and colour in (2, 6), (width, height, depth, colour)
place, packed = 8, b""
while place < len(data):
    (length,) = struct.unpack(">I", data[place : place + 4])
    if data[place + 4 : place + 8] == b"IDAT":
        packed += data[place + 8 : place + 8 + length]
    place += length + 12
channels = 3 if colour == 2 else 4
stride = width * channels
raw = zlib.decompress(packed)
last, colours = bytearray(stride), {}
for row in range(height):
    kind, line = raw[row * (stride + 1)], bytearray(raw[row * (stride + 1) + 1 : (row + 1) * (stride + 1)])
    for i in range(stride):
        left = line[i - channels] if i >= channels else 0
        up, corner = last[i], last[i - channels] if i >= channels else 0
        if kind == 1:
            line[i] = (line[i] + left) & 255
        elif kind == 2:
            line[i] = (line[i] + up) & 255
        elif kind == 3:
            line[i] = (line[i] + (left + up) // 2) & 255
        elif kind == 4:
            guess = left + up - corner
            a, b, c = abs(guess - left), abs(guess - up), abs(guess - corner)
            line[i] = (line[i] + (left if a <= b and a <= c else up if b <= c else corner)) & 255
    for i in range(0, stride, channels):
        key = bytes(line[i : i + 3])
        colours[key] = colours.get(key, 0) + 1
    last = line
# Forward, backward, the optimizer, activations in the schedule, white.
for name, (value, least) in {
    "forward": ((57, 122, 242), 2000),
    "backward": ((68, 211, 218), 2000),
    "optimizer": ((200, 83, 8), 20),
    "activations": ((242, 227, 179), 1000),
    "white": ((255, 255, 255), 300000),
}.items():
    assert colours.get(bytes(value), 0) >= least, (name, colours.get(bytes(value), 0))
print("seen")
