#!/usr/bin/env python3
"""Only src/tokens/models.json names models.   models_test.py REPOSITORY

What stands anywhere else goes out of date unseen, or says something else. Comments and the texts of examples are not read: they decide nothing.
"""

import json
import pathlib
import re
import sys

SOURCES = ("src", "include", "bindings", "inspector/src")
ENDINGS = {".cpp", ".hpp", ".h", ".ts", ".tsx", ".py", ".pyi"}
LEFT_OUT = ("/node_modules/", "/dist/", "/tests/", "_test.cpp", ".test.ts", "/random_")

# How names of models begin, in the words that programs are made of.
STEM = re.compile(
    r"""\b(?:gpt-?(?:\d|oss)|chatgpt|claude-?(?:\d|v\d|opus|sonnet|haiku|fable|instant)|(?:opus|sonnet|haiku)-\d|gemini-?(?:\d\.|pro|flash|\d-)|gemma-?\d|"""
    r"""o[134]-(?:mini|pro|preview)|4o-mini|codex-mini|llama-?\d|qwen-?\d|qwq|deepseek-(?:v\d|r\d|chat|coder|reasoner)|(?:mis|minis|mix|pix)tral-|magistral|codestral|devstral|"""
    r"""grok-?(?:\d|beta|code|vision)|text-embedding)""",
    re.IGNORECASE,
)

# path: what in it looks like a model, and why it is none.
ALLOWED = {
    "src/gateway/upstreams.cpp": (
        {"chatgpt"},
        "the service that subscriptions are served by: its host, and the upstream and header named for it",
    ),
    "src/tokens/estimate_weights.hpp": ({"llama3"}, "a vocabulary that was measured"),
    "src/tokens/estimate_tokenizer.cpp": ({"llama3"}, "the name of that vocabulary"),
    "src/tokens/split.hpp": ({"gpt2", "qwen2"}, "how text is split, called by its first user"),
    "src/tokens/split.cpp": ({"gpt2", "qwen2"}, "how text is split"),
    "src/tokens/tiktoken_file.cpp": ({"gpt2"}, "how text is split"),
    "src/tokens/tokenizer_json.cpp": ({"gpt2"}, "how text is split"),
}


def without_comments(text, suffix):
    if suffix in (".py", ".pyi"):
        return re.sub(r'"""(?:.|\n)*?"""|#.*', lambda match: "\n" * match[0].count("\n"), text)
    return re.sub(
        r"/\*(?:.|\n)*?\*/|(?<![:\"'\w])//.*", lambda match: "\n" * match[0].count("\n"), text
    )


def is_source(path):
    return path.suffix in ENDINGS and not any(part in "/" + path.as_posix() for part in LEFT_OUT)


def main(root):
    root = pathlib.Path(root)
    names = [
        name
        for row in json.loads((root / "src/tokens/models.json").read_text())["models"]
        for name in row["names"]
    ]
    faults, files, used = [], 0, set()
    # Names of families may be words, and "o3" is too short to be told from a variable.
    faults += [
        f"tests/models_test.py: no stem for {name}"
        for name in names
        if not name.endswith("*") and len(name) > 3 and not STEM.search(name)
    ]
    for folder in SOURCES:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if not path.is_file() or not is_source(path.relative_to(root)):
                continue
            files += 1
            allowed = ALLOWED.get(name, (set(), ""))[0]
            for number, line in enumerate(
                without_comments(path.read_text(), path.suffix).splitlines(), 1
            ):
                for match in STEM.finditer(line):
                    if match[0].lower() in allowed:
                        used.add(name)
                    else:
                        faults.append(
                            f"{name}:{number}: `{match[0]}`: models are named in src/tokens/models.json alone"
                        )
    faults += [
        f"tests/models_test.py: {name} needs no exception any more"
        for name in sorted(ALLOWED.keys() - used)
    ]
    print(*faults, sep="\n")
    print(f"{len(names)} names of models, {files} other files, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
