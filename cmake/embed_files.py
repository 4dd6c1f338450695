"""Writes the files of a folder into one C++ source: embed_files.py FOLDER SOURCE.   A folder that is not there is an empty one.

What is written is declared in src/server/inspector_files.hpp.
"""

import pathlib
import sys


def literal(data: bytes) -> str:
    """The bytes as adjacent string literals of one line each, since compilers limit the length of a line but not of their sum."""
    lines = []
    for start in range(0, len(data), 4000):
        piece = data[start : start + 4000]
        # Octal with three digits: what follows cannot be taken for a part of it.
        lines.append('"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}" for b in piece) + '"')
    return "\n".join(lines) or '""'


def main() -> None:
    folder, source = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    files = sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
    rows = [
        f'    {{"/{path.relative_to(folder).as_posix()}", std::string_view({literal(path.read_bytes())}, {path.stat().st_size})}},'
        for path in files
    ]
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
