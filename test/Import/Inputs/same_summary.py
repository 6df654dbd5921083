"""Two summaries of one model are the same but for its name and the time that it took."""

import json
import sys

first, second = (json.load(open(path)) for path in sys.argv[1:])
for summary in (first, second):
    for key in ("model", "config", "fingerprint"):
        summary.pop(key, None)
    for key in [key for key in summary if "seconds" in key]:
        del summary[key]
different = [key for key in first | second if first.get(key) != second.get(key)]
sys.exit(f"differ in {different}" if different else 0)
