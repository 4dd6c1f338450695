#!/usr/bin/env python3
"""The tests that ctest skipped, one line for each reason.   skipped.py RESULTS    (of ctest --output-junit)

A skipped test prints "skipped: NAME: reason", or gives GoogleTest "NAME: reason". NAME is the part that it lacks (scripts/lib.sh lists them), or
"inapplicable" where nothing is lacking: such tests are not listed here. A test that gives no name is listed under "unnamed".
"""

import collections
import re
import sys
import xml.etree.ElementTree

REASON = re.compile(r"(?:^skipped: |: Skipped\n)([a-z-]+): (.*)$", re.MULTILINE)


def main(results):
    tests = collections.defaultdict(list)
    for case in xml.etree.ElementTree.parse(results).iter("testcase"):
        if case.find("skipped") is None:
            continue
        told = REASON.search(case.findtext("system-out") or "")
        tests[told.groups() if told else ("unnamed", "no reason given")].append(case.get("name"))
    for (name, reason), skipped in tests.items():
        if name != "inapplicable":
            more = f" and {len(skipped) - 3} more" if len(skipped) > 3 else ""
            print(f"{name}: {reason}; skipped: {', '.join(skipped[:3])}{more}")


main(*sys.argv[1:])
