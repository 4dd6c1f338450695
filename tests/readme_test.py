#!/usr/bin/env python3
"""What the README shows is true.

    readme_test.py BINARY README EXAMPLE_SOURCE EXAMPLE_BINARY

The session of `undertext exec` gives the answers it shows; the C++ is quoted from the example, and the output below it is the example's.
"""
import pathlib
import subprocess
import sys

binary, readme, source, example = sys.argv[1:]
text = pathlib.Path(readme).read_text()
failures = []

session = text.split("$ undertext exec\n", 1)[1].split("\n\n", 1)[0]
lines = [line.strip() for line in session.splitlines()]
asked, shown = lines[0::2], lines[1::2]
answers = subprocess.run([binary, "exec"], input="\n".join(asked) + "\n", capture_output=True, text=True, check=True).stdout.splitlines()
if len(asked) < 4 or answers != shown:
    failures.append(f"the session: expected {shown}, got {answers}")

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
print(f"{2 - min(2, len(failures))} passed, {len(failures)} failed")
sys.exit(bool(failures))
