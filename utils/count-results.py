#!/usr/bin/env python3
"""Sums up a test run; the last line it prints is "N passed, N failed".

    count-results.py --lit-status STATUS RESULTS.json [CHECK=PASS|CHECK=FAIL]...

RESULTS.json is what `lit --output` wrote. A result code that is not known to
be good is a failure, and so is a run without tests or one that lit itself
calls failed without naming a failed test.
"""

import argparse
import json
import sys

PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
NOT_RUN = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def read_tests(path):
    """Names and result codes of the tests; none if lit wrote no results."""
    try:
        with open(path, encoding="utf-8") as file:
            return [(test["name"], test["code"]) for test in json.load(file)["tests"]]
    except (OSError, ValueError, KeyError) as error:
        print(f"no results of lit: {error}")
        return []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lit-status", type=int, required=True)
    parser.add_argument("results")
    parser.add_argument("checks", nargs="*")
    args = parser.parse_args()

    tests = read_tests(args.results)
    not_run = [name for name, code in tests if code in NOT_RUN]
    tests = [(name, code) for name, code in tests if code not in NOT_RUN]
    failed = [f"{code}: {name}" for name, code in tests if code not in PASSED]
    passed = len(tests) - len(failed)
    if not tests:
        failed.append("FAIL: no test was run")
    elif args.lit_status != 0 and not failed:
        failed.append(f"FAIL: lit ended with status {args.lit_status}")

    for check in args.checks:
        name, _, code = check.partition("=")
        if code == "PASS":
            passed += 1
        else:
            failed.append(f"FAIL: check of {name}")

    print()
    for name in not_run:
        print(f"not run: {name}")
    for line in failed:
        print(line)
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
