#!/usr/bin/env python3
"""The names of the tests that failed, one a line.   failed.py RESULTS    (of ctest --output-junit)

Ends with status 1 if one of them has a report of a sanitizer: such a fault is real however seldom it shows.
"""

import re
import sys
import xml.etree.ElementTree

REPORT = re.compile(r"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|: runtime error: ")


def main(results):
    failed = [
        case
        for case in xml.etree.ElementTree.parse(results).iter("testcase")
        if case.find("failure") is not None
    ]
    print("\n".join(case.get("name") for case in failed))
    return int(any(REPORT.search(case.findtext("system-out") or "") for case in failed))


sys.exit(main(*sys.argv[1:]))
