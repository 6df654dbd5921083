#!/usr/bin/env bash
# Generates docs/reference from the TableGen files and the description of
# strategies, and docs/strategy.schema.json from the latter. They are committed,
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
schema=strategy.schema.json

if [[ $# -gt 1 || (${1-} != "" && ${1-} != --check) ]]; then
  echo "usage: utils/update-docs.sh [--check]" >&2
  exit 1
fi
if [[ ! -e $build/CMakeCache.txt ]]; then
  echo "update-docs.sh: error: $build is not configured; see CONTRIBUTING.md" >&2
  exit 1
fi

# A page that is no longer generated must not survive in the build directory.
rm -rf "$generated" "$build/docs/$schema"
cmake --build "$build" --target mlir-doc

if [[ ${1-} == --check ]]; then
  if ! diff -ru "$committed" "$generated" ||
    ! diff -u "$root/docs/$schema" "$build/docs/$schema"; then
    echo "update-docs.sh: error: docs/reference or docs/$schema is out of date; run utils/update-docs.sh" >&2
    exit 1
  fi
else
  rm -rf "$committed"
  mkdir -p "$(dirname "$committed")"
  cp -r "$generated" "$committed"
  cp "$build/docs/$schema" "$root/docs/$schema"
fi
