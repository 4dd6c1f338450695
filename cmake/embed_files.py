"""Writes the files of a folder into one C++ source: embed_files.py FOLDER SOURCE.   A folder that is not there is an empty one.

What is written is declared in src/server/inspector_files.hpp.
"""

import gzip
import pathlib
import sys


def literal(data: bytes) -> str:
    """The bytes as adjacent string literals of one line each, since compilers limit the length of a line but not of their sum."""
    lines = []
    for start in range(0, len(data), 4000):
        piece = data[start : start + 4000]
        # Octal with three digits: what follows cannot be taken for a part of it.
        lines.append(
            '"'
            + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}" for b in piece)
            + '"'
        )
    return "\n".join(lines) or '""'


def compressed(data: bytes) -> bytes:
    """The same bytes each time; none where they would not be fewer."""
    packed = gzip.compress(data, 9, mtime=0)
    return packed if len(packed) < len(data) else b""


def row(path: str, data: bytes) -> str:
    packed = compressed(data)
    texts = ", ".join(f"std::string_view({literal(each)}, {len(each)})" for each in (data, packed))
    return f'    {{"/{path}", {texts}}},'


def main() -> None:
    folder, source = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    files = sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
    rows = [row(path.relative_to(folder).as_posix(), path.read_bytes()) for path in files]
    text = "\n".join(
        [
            '#include "server/inspector_files.hpp"',
            "",
            "namespace undertext {",
            "",
            "std::vector<InspectorFile> inspector_files() {",
            "  return {",
            *rows,
            "  };",
            "}",
            "",
            "}  // namespace undertext",
            "",
        ]
    )
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(text, encoding="ascii")


main()
