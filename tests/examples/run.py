#!/usr/bin/env python3
"""Runs a command in an empty folder, with the official SDKs led to the model of model.py.   run.py COMMAND…"""

import os
import subprocess
import sys
import tempfile

from model import environment, model

with model() as upstream, tempfile.TemporaryDirectory(prefix="undertext-example-") as folder:
    sys.exit(
        subprocess.run(
            sys.argv[1:], cwd=folder, env={**os.environ, **environment(upstream.url)}
        ).returncode
    )
