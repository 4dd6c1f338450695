#!/usr/bin/env python3
"""Writes unicode_nfc.inc: what Normalization Form C needs to know, for Unicode 16.0.

    pip install unicodedata2==16.0.0
    python3 src/tokens/make_unicode_nfc.py > src/tokens/unicode_nfc.inc

Hangul syllables are not in it; they are composed by arithmetic.
"""

import sys

import unicodedata2


def main():
    if unicodedata2.unidata_version != "16.0.0":
        sys.exit(f"this is Unicode {unicodedata2.unidata_version}, not 16.0.0")
    decompositions, classes = [], []
    for code_point in range(0x110000):
        if 0xAC00 <= code_point < 0xD7A4 or 0xD800 <= code_point < 0xE000:
            continue
        character = chr(code_point)
        decomposition = unicodedata2.decomposition(character)
        if decomposition and not decomposition.startswith("<"):
            parts = [int(part, 16) for part in decomposition.split()] + [0]
            composes = unicodedata2.normalize("NFC", character) == character
            decompositions.append(
                f"{{{code_point:#x},{parts[0]:#x},{parts[1]:#x},{int(composes)}}},"
            )
        if unicodedata2.combining(character):
            combining = unicodedata2.combining(character)
            if classes and classes[-1][1] == code_point - 1 and classes[-1][2] == combining:
                classes[-1][1] = code_point
            else:
                classes.append([code_point, code_point, combining])
    print("// Made by make_unicode_nfc.py from Unicode 16.0.0.")
    print(
        "constexpr Decomposition decomposition_rows[] = {  // by code point: the character, its two parts (or one and 0), whether they compose again"
    )
    write(decompositions)
    print("};")
    print(
        "constexpr CombiningRange combining_ranges[] = {  // first, last, Canonical_Combining_Class"
    )
    write(f"{{{first:#x},{last:#x},{combining}}}," for first, last, combining in classes)
    print("};")


def write(words):
    line = ""
    for word in words:
        if len(line) + len(word) > 130:
            print(line)
            line = ""
        line += word
    print(line)


main()
