"""Compares the points of a sweep with each other, and one of them with a search by itself."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    points = json.load(file)
with open(sys.argv[2], encoding="utf-8") as file:
    alone = json.load(file)


def get(result):
    return [(entry["step_seconds"], entry["memory_bytes"], entry["command"]) for entry in result["best"]]


assert len(points) == 3, len(points)
assert get(points[1]) == get(alone), (points[1], alone)
times = [point["best"][0]["step_seconds"] for point in points]
assert times[0] > times[1] >= times[2], times
assert all("message" not in point for point in points)
print(", ".join(point["machine_set"] for point in points))
