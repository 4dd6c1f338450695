#!/usr/bin/env python3
"""The C++ of a page is quoted from an example, line by line, and the output below it is the example's.   quoted_lines.py PAGE EXAMPLE_SOURCE EXAMPLE_BINARY"""

import pathlib
import subprocess
import sys

page, source, example = sys.argv[1:]
text = pathlib.Path(page).read_text()
failures = []

code, rest = text.split("```cpp\n", 1)[1].split("```\n", 1)
output = rest.split("```\n", 2)[1]
quoted = [line.strip() for line in code.splitlines() if line.strip()]
original = [line.strip() for line in pathlib.Path(source).read_text().splitlines()]
for line in quoted:
    if line not in original:
        failures.append(f"not in the example: {line}")
printed = subprocess.run([example], capture_output=True, text=True, check=True).stdout
if output != printed or not quoted:
    failures.append(f"the example's output: expected {output!r}, got {printed!r}")

for failure in failures:
    print("FAIL", failure)
sys.exit(bool(failures))
