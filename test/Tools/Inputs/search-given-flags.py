"""Rows of searches: what is given leaves of all strategies those in which it has an effect."""
import csv
import sys


def read(name):
    with open(f"{sys.argv[1]}.{name}.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        for key in ("schedule", "virtual-stages", "zero", "recompute"):
            assert not row.get(key), (name, key, row)
    return {(row["dp"], row["tp"], row["pp"], row["micro-batch"]): float(row["step_seconds"]) for row in rows}


plain, given, pipeline, logits = map(read, ("plain", "given", "pipeline", "logits"))
# Two tensors go from stage to stage, where there are stages.
assert set(given) == {key for key in plain if key[2] not in ("", "1")}, given
# Fixing what is tried anyway changes no time.
of_two = {(dp, tp, batch): time for (dp, tp, pp, batch), time in given.items() if pp == "2"}
assert of_two == {(dp, tp, batch): time for (dp, tp, _, batch), time in pipeline.items()}, (of_two, pipeline)
assert set(logits) == {key for key in plain if key[1] not in ("", "1")}, logits
print(f"{len(given)} of {len(plain)} strategies with --stage-tensors, {len(pipeline)} of these with a pipeline of two, "
      f"{len(logits)} with --logits-gather")
