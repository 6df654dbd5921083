"""Takes the arguments of ASTRA-sim and prints what it prints, of ranks that all finish
after STAND_IN_CYCLES ns; the first STAND_IN_FINISHED of them, if that is set. Then ends
as STAND_IN_END says: with that status, by signal 6 for "abort", or after a minute for
"hang"."""

import json
import os
import re
import sys
import time

arguments = dict(argument[2:].split("=", 1) for argument in sys.argv[1:])
assert arguments.keys() == {
    "workload-configuration",
    "comm-group-configuration",
    "system-configuration",
    "network-configuration",
    "remote-memory-configuration",
}, arguments
with open(arguments["network-configuration"]) as file:
    network = dict(re.findall(r"(\w+): \[ (.*) \]", file.read()))
ranks = 1
for count in network["npus_count"].split(","):
    ranks *= int(count)
for key in ("system", "remote-memory"):
    with open(arguments[key + "-configuration"]) as file:
        json.load(file)
print("[2026-01-01 00:00:00.000] [system] [info] All data are read")
cycles = int(os.environ.get("STAND_IN_CYCLES", 1000))
for rank in range(int(os.environ.get("STAND_IN_FINISHED", ranks))):
    assert os.path.exists(f"{arguments['workload-configuration']}.{rank}.et")
    print(
        f"[2026-01-01 00:00:00.000] [workload] [info] sys[{rank}] finished, {cycles - rank} cycles, "
        f"exposed communication {cycles // 2 + rank} cycles."
    )
    print(f"[2026-01-01 00:00:00.000] [statistics] [info] sys[{rank}], Wall time: {cycles - rank}")
sys.stdout.flush()
end = os.environ.get("STAND_IN_END", "0")
if end == "abort":
    os.abort()
if end == "hang":
    time.sleep(60)
    end = "0"
sys.exit(int(end))
