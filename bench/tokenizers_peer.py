#!/usr/bin/env python3
"""One run of a Python peer for tokenizer_table.py.   tokenizers_peer.py PEER RANKS_OR_JSON TEXTS ROUNDS

Prints one line of JSON, as tokenizers_run.cpp does: seconds on the processor, of the first pass and of the others.
"""

import json
import pathlib
import struct
import sys
import time


def main(peer, source, path, rounds):
    data, texts, at = pathlib.Path(path).read_bytes(), [], 0
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at)
        texts.append(data[at + 4 : at + 4 + size].decode())
        at += 4 + size
    start = time.process_time()
    if peer == "tiktoken":
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/tokens"))
        from compare_with_tiktoken import load

        encoding = load("o200k_base", pathlib.Path(source))
        clock, count = time.thread_time, lambda text: len(encoding.encode_ordinary(text))
    else:
        import os

        os.environ["TOKENIZERS_PARALLELISM"] = "false"
        import tokenizers

        tokenizer = tokenizers.Tokenizer.from_file(source)
        clock, count = (
            time.process_time,
            lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids),
        )
    load_s = time.process_time() - start
    seconds = []
    for _ in range(int(rounds)):
        start = clock()
        tokens = sum(map(count, texts))
        seconds.append(clock() - start)
    print(
        json.dumps(
            {
                "bytes": len(data) - 4 * len(texts),
                "tokens": tokens,
                "load_s": load_s,
                "seconds": seconds,
            }
        )
    )


main(*sys.argv[1:])
