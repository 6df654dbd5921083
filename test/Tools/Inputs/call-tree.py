"""Prints a model of functions that each call the next one twice."""

import sys

depth = int(sys.argv[1])
print("stg.symbol @D")
print("!x = !stg.tensor<[D], f32>")
print(f"func.func private @f{depth}(%x: !x) -> !x {{")
print("  %y = stg.activation relu %x : !x")
print("  return %y : !x")
print("}")
for level in range(depth - 1, -1, -1):
    private = "private " if level else ""
    print(f"func.func {private}@f{level}(%x: !x) -> !x {{")
    print(f"  %y = func.call @f{level + 1}(%x) : (!x) -> !x")
    print(f"  %z = func.call @f{level + 1}(%y) : (!x) -> !x")
    print("  return %z : !x")
    print("}")
