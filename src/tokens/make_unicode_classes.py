#!/usr/bin/env python3
"""Writes unicode_classes.inc: what the split patterns of BPE tokenizers ask about a character, for Unicode 16.0.

    pip install unicodedata2==16.0.0
    python3 src/tokens/make_unicode_classes.py > src/tokens/unicode_classes.inc

The version matters: tiktoken's regex engine knows Unicode 16.0, and a letter of a later version is no letter to it. unicodedata2 is the
Unicode Character Database of that version; General_Category comes from it. White_Space is a property of PropList.txt, has not changed
since Unicode 6.3, and is listed here.
"""

import sys

import unicodedata2

WHITE_SPACE = {
    *range(0x09, 0x0E),
    0x20,
    0x85,
    0xA0,
    0x1680,
    *range(0x2000, 0x200B),
    0x2028,
    0x2029,
    0x202F,
    0x205F,
    0x3000,
}
# In the order of the enumeration CharacterClass.
OTHER, UPPER, LOWER, CASELESS, MARK, NUMBER, NEWLINE, SPACE = range(8)


def class_of(code_point):
    if code_point in (0x0A, 0x0D):
        return NEWLINE
    if code_point in WHITE_SPACE:
        return SPACE
    category = unicodedata2.category(chr(code_point))
    if category in ("Lu", "Lt"):
        return UPPER
    if category == "Ll":
        return LOWER
    return {"L": CASELESS, "M": MARK, "N": NUMBER}.get(category[0], OTHER)


def main():
    if unicodedata2.unidata_version != "16.0.0":
        sys.exit(f"this is Unicode {unicodedata2.unidata_version}, not 16.0.0")
    numbers, last = [], None
    for code_point in range(0x110000):
        now = class_of(code_point)
        if now != last:
            numbers.append(code_point << 3 | now)
            last = now
    print(
        "// Made by make_unicode_classes.py from Unicode 16.0.0. Each number is the first code point of a range, and below it, in three bits,"
    )
    print("// the class of the range.")
    line = ""
    for number in numbers:
        word = f"{number:#x},"
        if len(line) + len(word) > 130:
            print(line)
            line = ""
        line += word
    print(line)


main()
