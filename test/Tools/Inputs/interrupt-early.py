"""Interrupts a search later and later in what it does first, which takes seconds: the tasks of many
kinds of strategies are compiled. It ends while it lists strategies, until it finds one that fits;
what it lists by then is all of them."""
import json
import signal
import subprocess
import time

command = ["stg-search", "llama3-70b", "--machine=h100-80gb-dgx", "--ranks=64", "--batch=256",
           "--jobs=1", "--json", "--quiet"]
seconds, listed = 0.1, []
while len(listed) < 2:
    seconds *= 2
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate()
    if process.returncode == 0:
        found = json.loads(out)
        assert not found["complete"] and found["strategies"]["estimated"] > 0, found
        assert found["best"][0]["step_seconds"] > 0, found
        listed.append(found["strategies"]["all"])
        continue
    # Before it looks for signals, it is ended by one.
    assert process.returncode == -signal.SIGINT or \
        "interrupted while strategies were listed" in error or \
        "interrupted before any strategy was estimated" in error or \
        "interrupted before a strategy was found that fits" in error, error
assert listed[0] == listed[1], listed
