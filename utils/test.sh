#!/usr/bin/env bash
# Builds what is not built yet, runs every test and check, and ends with the line
# "N passed, N failed". The exit status is 0 only if none failed. In a new build
# folder warnings are errors; one that is there keeps its settings, so that nothing
# is built again only because quickstart.sh was first.
#
#   utils/test.sh
#
#   STG_BUILD_DIR   where to build (default: build/ in the repository)
#   STG_JOBS        how many jobs at once (default: the number of processors)
#   CC, CXX         the compiler (default: clang-22, which takes a third of GCC's time)
set -euo pipefail

if [[ $# -ne 0 ]]; then
  echo "usage: utils/test.sh (the variables that it reads are described inside)" >&2
  exit 1
fi

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(realpath -m "${STG_BUILD_DIR:-$root/build}")
jobs=${STG_JOBS:-$(nproc)}
python=/usr/bin/python3
lit=/usr/lib/llvm-22/bin/lit
cd "$root"

# Whatever stops this script before the summary is a failure, too.
trap 'echo "0 passed, 1 failed"' EXIT

utils/install-deps.sh --tests

options=(-DSTG_INCLUDE_TESTS=ON -DPython3_EXECUTABLE="$python")
if [[ ! -e $build/CMakeCache.txt ]]; then
  options+=(-DSTG_ENABLE_WERROR=ON)
  if [[ ! -v CC && ! -v CXX ]]; then
    export CC=clang-22 CXX=clang++-22
    options+=(-DLLVM_USE_LINKER=lld)
  fi
fi
cmake -G Ninja -S . -B "$build" "${options[@]}"
cmake --build "$build" -j "$jobs"

# Results of an earlier run must not pass for results of this one.
results=$build/test/results.json
rm -f "$results"
status=0
"$python" "$lit" -v -j "$jobs" --output "$results" "$build/test" || status=$?

checks=()
run_check() { # NAME COMMAND...
  local name=$1
  shift
  echo "-- Checking $name"
  if "$@"; then
    checks+=("$name=PASS")
  else
    checks+=("$name=FAIL")
  fi
}
run_check formatting utils/format.sh --check
run_check documentation env STG_BUILD_DIR="$build" utils/update-docs.sh --check

trap - EXIT
exec "$python" utils/count-results.py --lit-status "$status" "$results" "${checks[@]}"
