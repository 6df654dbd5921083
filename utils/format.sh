#!/usr/bin/env bash
# Formats our C++ files with the one version of clang-format that counts.
#
#   utils/format.sh [--check]
#
#   --check   change nothing; fail if a file is not formatted
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
format=clang-format-22

case "${1-}" in
"") mode=(-i) ;;
--check) mode=(--dry-run --Werror) ;;
*)
  echo "usage: utils/format.sh [--check]" >&2
  exit 1
  ;;
esac

if ! command -v "$format" >/dev/null; then
  echo "format.sh: error: no $format; install it with utils/install-deps.sh --tests" >&2
  exit 1
fi

# Looks for files instead of asking git, so that it works in a plain copy, too.
cd "$root"
folders=()
for folder in benchmarks fuzz include lib python test tools; do
  if [[ -d $folder ]]; then
    folders+=("$folder")
  fi
done
find "${folders[@]}" -type f \( -name '*.h' -o -name '*.cpp' \) -print0 | sort -z |
  xargs -0 --no-run-if-empty "$format" "${mode[@]}"
