"""Interrupts a search again and again, in a folder that is the argument. Its files are not there
then, and nothing else is."""
import os
import signal
import subprocess
import sys
import time

folder = sys.argv[1]
command = ["stg-search", "llama3-8b", "--machine=h100-80gb-dgx", "--ranks=64", "--batch=64",
           "--jobs=1", "--quiet", f"--csv={folder}/x.csv"]
# After the first signal it may end by itself before the second one comes.
seconds, status = 0.2, None
while status != -signal.SIGINT:
    assert seconds < 60, status
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not os.listdir(folder):
        assert process.poll() is None, process.returncode
    time.sleep(seconds)
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
    status = process.returncode
    left = os.listdir(folder)
    if status == 0:
        assert left == ["x.csv"], left
        os.remove(f"{folder}/x.csv")
    else:
        assert not left, (status, left)
    seconds *= 2
