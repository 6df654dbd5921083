"""Interrupts a program as soon as a file has a text in it.

    stop-when.py PATTERN TEXT COMMAND...

PATTERN may have wildcards. The program and what it has started get the signal, as from a
terminal, and the program ends by it."""

import glob
import os
import signal
import subprocess
import sys
import time

pattern, text, *command = sys.argv[1:]
signal.signal(signal.SIGINT, signal.default_int_handler)
process = subprocess.Popen(command, start_new_session=True)
deadline = time.monotonic() + 30
while not any(text in open(path).read() for path in glob.glob(pattern)):
    assert process.poll() is None and time.monotonic() < deadline, process.returncode
    time.sleep(0.01)
os.killpg(process.pid, signal.SIGINT)
assert process.wait() == -signal.SIGINT, process.returncode
