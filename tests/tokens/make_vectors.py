#!/usr/bin/env python3
"""Writes vectors/tiktoken.jsonl: texts and their tokens, as tiktoken 0.14.0 gives them.   make_vectors.py RANKS > vectors/tiktoken.jsonl

RANKS is the folder of the .tiktoken files; scripts/vocabularies puts them into build/vocabularies/ranks. Each line is
{"text":…,"o200k_base":[…],"cl100k_base":[…]}.
"""

import json
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from compare_with_tiktoken import TRICKY, load

TEXTS = [
    "",
    " ",
    "  ",
    "\n",
    "Hello, world",
    "Hello, world! 你好，世界。",
    "don't we'll it'ſ I'VE",
    "fooBarBAZqux HTTPServer 漢A 漢Ab",
    "12345 ١٢٣٤ Ⅷ²",
    "a;\n\n//b \r\n\t x",
    "\ufeffBOM \u0085 NEL \u00a0 \u3000",
    "e\u0301 \u0301A कि ไทย 한국어 にほんご العربية עברית Ελληνικά привет",
    "😀👩‍👩‍👧🇩🇪 👍🏽",
    "<|endoftext|> <|im_start|>user<|im_sep|>",
    "def f(x):\n    return {'a': [1, 2.5, None]}  # naïve\n",
    '{"role":"tool","content":"{\\"ok\\":true}"}',
    "a" * 300,
    "=" * 300,
    "-" * 1000,
    " " * 300,
    "\n" * 100,
    "漢" * 100,
    "😀" * 60,
    "https://example.com/a/b?c=d&e=%20#f",
    "\0\x01\x7f",
    "Supercalifragilisticexpialidocious Donaudampfschifffahrtsgesellschaft",
]


def main(ranks):
    encodings = {name: load(name, ranks) for name in ("o200k_base", "cl100k_base")}
    chance = random.Random(23)
    texts = TEXTS + ["".join(chance.choices(TRICKY, k=chance.randrange(2, 16))) for _ in range(150)]
    for text in texts:
        tokens = {name: encoding.encode_ordinary(text) for name, encoding in encodings.items()}
        print(json.dumps({"text": text, **tokens}, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
