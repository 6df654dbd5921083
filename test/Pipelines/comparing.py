"""Numbers that a script compares with closed forms: what differs is said, and all of it."""

import sys

import traces

_DIFFERENT = []


def equal(what, found, want):
    """Reports a difference."""
    if found != want:
        _DIFFERENT.append(what)
        print(f"{what}: found {found}, expected {want}")


def compile_one(model, *flags):
    """The only class of ranks."""
    (entry,) = traces.compile_json(model, "--dry-run", *flags)["classes"]
    return entry


def finish():
    """Ends the script; its exit status says whether all numbers agree."""
    sys.exit(bool(_DIFFERENT))
