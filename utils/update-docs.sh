#!/usr/bin/env bash
# Generates docs/reference from the TableGen files. The folder is committed, so
# that it can be read without a build, and holds nothing written by hand.
#
#   utils/update-docs.sh [--check]
#
#   --check   change nothing; fail if docs/reference is not up to date
#
#   STG_BUILD_DIR   a configured build (default: build/ in the repository)
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(realpath -m "${STG_BUILD_DIR:-$root/build}")
committed=$root/docs/reference
generated=$build/docs/reference

if [[ $# -gt 1 || (${1-} != "" && ${1-} != --check) ]]; then
  echo "usage: utils/update-docs.sh [--check]" >&2
  exit 1
fi
if [[ ! -e $build/CMakeCache.txt ]]; then
  echo "update-docs.sh: error: $build is not configured; see CONTRIBUTING.md" >&2
  exit 1
fi

# A page that is no longer generated must not survive in the build directory.
rm -rf "$generated"
cmake --build "$build" --target mlir-doc

if [[ ${1-} == --check ]]; then
  if ! diff -ru "$committed" "$generated"; then
    echo "update-docs.sh: error: docs/reference is out of date; run utils/update-docs.sh" >&2
    exit 1
  fi
else
  rm -rf "$committed"
  mkdir -p "$(dirname "$committed")"
  cp -r "$generated" "$committed"
fi
