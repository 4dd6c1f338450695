"""`undertext exec` through the package: the same options, the same lines, the same answers. Takes its first word, exec, for granted."""

from __future__ import annotations

import argparse
import json
import sys

import undertext

parser = argparse.ArgumentParser()
parser.add_argument("command", choices=["exec"])
parser.add_argument("--store")
parser.add_argument("--conversation", default="default")
parser.add_argument("--config", type=json.loads)
given = parser.parse_args()
try:
    conversation = undertext.open(
        given.store, given.conversation if given.store else None, settings=given.config
    )
except undertext.UndertextError as error:
    sys.exit(json.dumps({"ok": False, "error": error.error}))
with conversation:
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(conversation.answer_text(line.rstrip(b"\n")).encode() + b"\n")
        sys.stdout.buffer.flush()
