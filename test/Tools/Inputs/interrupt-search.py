"""Interrupts a search, and prints what it says; further flags are arguments."""
import signal
import subprocess
import sys
import time

# There are one kind of tasks and a thousand strategies of many micro-batches, which take
# minutes. It is interrupted later and later, until something has been found by then.
command = ["stg-search", "llama3-8b", "--set=L=64", "--seq=1024", "--ranks=512", "--batch=8192",
           "--machine=h100-80gb-dgx", "--tp=1", "--cp=1", "--micro-batch=1", "--recompute=none",
           "--vary=gradient-reduction=flat,per-layer", "--exhaustive", "--jobs=1", *sys.argv[1:]]
for seconds in range(1, 60, 4):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate()
    if process.returncode == 0:
        # Before tasks have been looked at, nothing is known of what is left.
        if "takes at least" in out or "left_at_least_seconds" in out:
            break
        continue
    # Before it looks for signals, it is ended by one.
    assert process.returncode == -signal.SIGINT or \
        "interrupted while strategies were listed" in error or \
        "interrupted before a strategy was found that fits" in error, error
print(out)
