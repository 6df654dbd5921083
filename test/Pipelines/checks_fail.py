"""Checks that must fail, each in its own way: what a check cannot find cannot be relied on.

Usage: checks_fail.py {wrong|missing|surplus|unasked|nothing}
"""

from dataclasses import replace

import checks
from checks import LIBRARY, Plan

MODEL = replace(LIBRARY["llama3-8b"], L=2)
PLAN = Plan(tp=2, dp=2, batch=4)


def wrong(check):
    """A number that differs."""
    entry = check.compile(MODEL, PLAN).only
    check.equal("optimizer", entry.states["optimizer"], 6 * MODEL.parameters)


def missing(check):
    """A collective that is expected and not there."""
    found = check.compile(MODEL, PLAN).only.collectives()
    check.equal("collectives", found, {**found, ("all_to_all", "ep", 2, "fwd"): (1, 8)})


def surplus(check):
    """A collective that is there and not expected."""
    found = check.compile(MODEL, PLAN).only.collectives()
    expected = {key: total for key, total in found.items() if key[1] != "dp"}
    check.equal("collectives", found, expected)


def unasked(check):
    """A collective that no expectation has a look at."""
    entry = check.compile(MODEL, PLAN).only
    check.equal("collectives of dp", entry.collective("dp", "all_reduce")[0], 1)
    check.equal("forward", entry.collective("tp", "all_reduce", "fwd")[0], 8)


def nothing(check):
    """No comparison at all."""
    check.compile(MODEL, PLAN)


if __name__ == "__main__":
    checks.main(wrong, missing, surplus, unasked, nothing)
