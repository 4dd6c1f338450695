#!/usr/bin/env python3
"""A page quotes an example whole, and below it what the example prints, both indented.   quoted_example.py PAGE EXAMPLE COMMAND…"""

import pathlib
import subprocess
import sys
import textwrap

if len(sys.argv) < 4:
    sys.exit(__doc__)
page, example, *command = sys.argv[1:]
text = pathlib.Path(page).read_text()
ran = subprocess.run(command, stdout=subprocess.PIPE, text=True)
if ran.returncode != 0:
    print(ran.stdout, end="")  # such as why it was skipped
    sys.exit(ran.returncode)
printed = ran.stdout
for what, quoted in (
    ("the example", pathlib.Path(example).read_text()),
    ("what it prints", printed),
):
    if not quoted.strip() or textwrap.indent(quoted, "    ") not in text:
        sys.exit(f"{page} does not quote {what}:\n{quoted}")
print(f"{page} quotes {example}")
