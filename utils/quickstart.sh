#!/usr/bin/env bash
# From a fresh Debian 12 to the first traces: installs what is missing, builds,
# and compiles Llama 3 8B for 64 ranks.
#
#   utils/quickstart.sh
#
#   STG_BUILD_DIR   where to build (default: build/ in the repository)
#   STG_JOBS        how many jobs at once (default: the number of processors)
#   CC, CXX         the compiler (default: clang-22, which takes a third of GCC's time)
set -euo pipefail

if [[ $# -ne 0 ]]; then
  echo "usage: utils/quickstart.sh (the variables that it reads are described inside)" >&2
  exit 1
fi

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(realpath -m "${STG_BUILD_DIR:-$root/build}")
cd "$root"

utils/install-deps.sh

options=(-DCMAKE_BUILD_TYPE=Release)
if [[ ! -e $build/CMakeCache.txt ]]; then
  # The tests need packages that a user does not; utils/test.sh installs them.
  options+=(-DSTG_INCLUDE_TESTS=OFF -DPython3_EXECUTABLE=/usr/bin/python3)
  if [[ ! -v CC && ! -v CXX ]]; then
    export CC=clang-22 CXX=clang++-22
    options+=(-DLLVM_USE_LINKER=lld)
  fi
fi
cmake -G Ninja -S . -B "$build" "${options[@]}"
cmake --build "$build" -j "${STG_JOBS:-$(nproc)}"

bin=$(realpath --relative-base="$root" "$build")/bin
traces=traces/llama3-8b
compile=("$bin/stg-compile" llama3-8b --dp 8 --tp 8 --sequence-parallel
  --batch 64 --seq 8192 -o "$traces")
echo
echo "\$ ${compile[*]}"
"${compile[@]}"

files=("$traces"/workload.*.et)
[[ -e ${files[0]} ]] || {
  echo "quickstart.sh: error: stg-compile wrote no traces into $traces" >&2
  exit 1
}
size=$(du -sh "$traces" | cut -f1)
cat <<END

Written, $size in all, into $root/$traces:
  workload.<rank>.et   one Chakra trace for each of ${#files[@]} ranks
  comm_group.json      the ranks of each communicator
  manifest.json        what the traces were made from, and their totals

Look at them next:
  $bin/stg-trace stats $traces
END
