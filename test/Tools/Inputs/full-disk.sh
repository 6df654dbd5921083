#!/bin/sh
# Exports to a disk of its own that is too small, then has more room: in a mount
# namespace, so that nobody else sees it.
#
#     full-disk.sh DIRECTORY WHOLE COMMAND...     COMMAND makes the set WHOLE in DIRECTORY/out

disk=$1 whole=$2
shift 2
mount -t tmpfs -o size=3m tmpfs "$disk" || exit 1
if "$@" 2>"$disk.errors"; then
  echo "there was room"
fi
cat "$disk.errors"
cd "$disk/out" || exit 1
for file in *; do
  cmp "$file" "$whole/$file" && echo "whole: $file"
done
mount -o remount,size=100m "$disk"
"$@" --resume >/dev/null && diff -r "$whole" "$disk/out" && echo "the same"
