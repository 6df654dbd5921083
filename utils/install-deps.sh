#!/usr/bin/env bash
# Installs the Debian 12 packages that STG needs, as far as they are missing.
#
#   utils/install-deps.sh [--tests]
#
#   --tests   also what building and running the tests needs
set -euo pipefail

packages=(
  clang-22 lld-22 # what quickstart.sh and test.sh build with
  cmake g++ ninja-build python3
  libmlir-22-dev llvm-22-dev mlir-22-tools
  libprotobuf-dev protobuf-compiler libzstd-dev zlib1g-dev
  fuse3 libfuse3-dev # stg-mount, which is left out without them
)
test_packages=(
  clang-format-22 # formatting is part of the tests
  dpkg-dev file # cpack -G DEB
  libgtest-dev
  llvm-22-tools # lit, FileCheck
  pybind11-dev python3-dev python3-numpy # the package for Python
  mypy python3-matplotlib python3-pandas # its types, and its tour
  python3-pip python3-setuptools python3-venv python3-wheel # pip install
  python3-protobuf
  python3-psutil # lit needs it to stop tests that hang
)

fail() {
  echo "install-deps.sh: error: $*" >&2
  exit 1
}

case "${1-}" in
"") ;;
--tests) packages+=("${test_packages[@]}") ;;
*) fail "unknown argument '$1'; usage: utils/install-deps.sh [--tests]" ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  fail "this is not a Debian system. Install what these packages hold: ${packages[*]}"
fi

is_installed() {
  dpkg-query --show --showformat='${db:Status-Status}\n' "$1" 2>/dev/null |
    grep -x installed >/dev/null
}

missing=()
for package in "${packages[@]}"; do
  is_installed "$package" || missing+=("$package")
done
if [[ ${#missing[@]} -eq 0 ]]; then
  exit 0
fi

as_root=()
if [[ $EUID -ne 0 ]]; then
  command -v sudo >/dev/null ||
    fail "packages are missing, and only root can install them, but there is no sudo here." \
      "Run this as root: apt-get update && apt-get install --no-install-recommends ${missing[*]}"
  as_root=(sudo)
fi

echo "Installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -q ||
  fail "apt-get update failed; its messages are above"
"${as_root[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}" ||
  fail "apt-get could not install the packages; its messages are above." \
    "LLVM 22 for Debian 12 comes from the suite bookworm-security"
