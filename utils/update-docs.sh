#!/usr/bin/env bash
# Generates docs/reference from the TableGen files and the description of
# strategies, docs/schemas/strategy.json and the class in python/stg/strategy.py from
# the latter, and the figure of one op from what the tools print. They are committed,
# so that they can be read without a build, and hold nothing written by hand.
#
#   utils/update-docs.sh [--check]
#
#   --check   change nothing; fail if they are not up to date
#
#   STG_BUILD_DIR   a configured build (default: build/ in the repository)
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(realpath -m "${STG_BUILD_DIR:-$root/build}")
committed=$root/docs/reference
generated=$build/docs/reference
files=(schemas/strategy.json figures/one-op.svg)

if [[ $# -gt 1 || (${1-} != "" && ${1-} != --check) ]]; then
  echo "usage: utils/update-docs.sh [--check]" >&2
  exit 1
fi
if [[ ! -e $build/CMakeCache.txt ]]; then
  echo "update-docs.sh: error: $build is not configured; see CONTRIBUTING.md" >&2
  exit 1
fi

# A page that is no longer generated must not survive in the build directory.
rm -rf "$generated" "${files[@]/#/$build/docs/}"
cmake --build "$build" --target mlir-doc
cmake --build "$build" --target stg-opt stg-compile stg-trace
mkdir -p "$build/docs/figures"
PATH=$build/bin:$PATH "$root/utils/one-op-figure.py" >"$build/docs/figures/one-op.svg"
python=python/stg/strategy.py
"$root/utils/strategy-class.py" "$build/docs/schemas/strategy.json" >"$build/docs/strategy.py"

if [[ ${1-} == --check ]]; then
  status=0
  diff -ru "$committed" "$generated" || status=1
  for file in "${files[@]}"; do
    diff -u "$root/docs/$file" "$build/docs/$file" || status=1
  done
  diff -u "$root/$python" "$build/docs/strategy.py" || status=1
  if [[ $status -ne 0 ]]; then
    echo "update-docs.sh: error: docs are out of date; run utils/update-docs.sh" >&2
    exit 1
  fi
else
  rm -rf "$committed"
  mkdir -p "$(dirname "$committed")"
  cp -r "$generated" "$committed"
  for file in "${files[@]}"; do
    cp "$build/docs/$file" "$root/docs/$file"
  done
  cp "$build/docs/strategy.py" "$root/$python"
fi
