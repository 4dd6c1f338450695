#!/usr/bin/env python3
"""Writes docs/undertext.1 from what the commands say of themselves.   make_man.py BINARY > docs/undertext.1"""

import re
import subprocess
import sys

INTRO = r"""'\" t
.TH UNDERTEXT 1 "" "Undertext" "User Commands"
.SH NAME
undertext \- keep the message array of an LLM agent, edit it, and lose nothing
.SH SYNOPSIS
.B undertext
.I COMMAND
.RI [ OPTION ]... " " [ ARGUMENT ]...
.SH DESCRIPTION
Undertext keeps conversations: the messages that an agent sends to its model. Every edit is an operation and makes a version; no edit loses anything, and every earlier state
can be read and restored. Conversations last in a store, an SQLite file of the user's unless another is named.
.PP
Output is for people: tables, in colours on a terminal (not where NO_COLOR is set). With
.B \-\-json
it is for programs: one JSON document, or one a line. Characters that could act on a terminal are never sent to one as they are.
"""
EXIT = r""".SH EXIT STATUS
.TS
l l.
0	success
1	any other failure; a question that was answered with no
2	invalid_argument: the call is wrong; of validate, something was found
3	not_found
4	conflict: another writer was first, or the id is taken
5	unavailable: retry later
6	corrupt: what is stored, or given, is damaged
7	cannot_fit
8	unsupported
9	too_large
10	denied
.TE
.PP
An error is one line on standard error, with
.B \-\-json
the JSON of it.
.SH ENVIRONMENT
.TP
.B UNDERTEXT_STORE
The store, where
.B \-\-store
is not given.
.TP
.B UNDERTEXT_CONVERSATION
The conversation, where none is named; else it is the one called default.
.TP
.BR XDG_DATA_HOME ", " XDG_STATE_HOME
Where the store (undertext/undertext.db) and the history of the shell (undertext/history) are; ~/.local/share and ~/.local/state unless set.
.TP
.BR VISUAL ", " EDITOR
What
.B undertext edit
opens.
.TP
.BR NO_COLOR ", " COLUMNS ", " TMPDIR
As everywhere.
.SH SEE ALSO
docs/cli.md, docs/operations.md, docs/export.md, docs/dialects.md and docs/server.md of the source.
"""
COMMON = ["--store", "--models", "--tenant", "--json", "--conversation"]


def escaped(text):
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"(?m)^([.'])", r"\\&\1", text)


def options_of(text):
    """[(names and value, help)] of the sections of a help text."""
    found = []
    for line in text.splitlines():
        # Help begins at column 30; names that fill the columns before have one space behind them.
        head = re.match(r"  (\S.{26}) (\S.*)$", line) or re.match(r"  (\S.*?)(?: {2,}(.*))?$", line)
        if line.startswith("   ") and found:
            found[-1][1] += " " + line.strip()
        elif head:
            found.append([head[1], head[2] or ""])
    return [
        (n.rstrip(), re.sub(r"^(REQUIRED|\.\.\.|Excludes:.*)\s*", "", h).strip()) for n, h in found
    ]


def section(text, name):
    return (
        text.split(f"\n{name}:\n")[1].split("\n\n")[0].split("\nOptions:")[0]
        if f"\n{name}:\n" in text
        else ""
    )


def main(binary):
    def help_of(*words):
        return subprocess.run(
            [binary, *words, "--help"], capture_output=True, check=True, env={"COLUMNS": "1000"}
        ).stdout.decode()

    top = help_of()
    commands = re.findall(r"^  ([\w-]+) {2,}(.*)$", section(top, "Subcommands"), re.M)
    common, out = {}, [INTRO.rstrip(), ".SH COMMANDS"]
    for command, summary in commands:
        text = help_of(command)
        out += [f".SS {command}", escaped(summary) + "."]
        for names, help_text in options_of(section(text, "Positionals")) + options_of(
            section(text, "Options")
        ):
            names = re.sub(r" Excludes:.*", "", names)
            option = re.search(r"--[a-z-]+", names)
            names = re.sub(r"\s*:\{.*?\}| REQUIRED", "", names)
            if option and option[0] == "--help":
                continue
            if (
                option
                and option[0] in COMMON
                and command not in ("exec", "count", "models", "shell", "token")
            ):
                common[option[0]] = (names, help_text)
                continue
            out += [".TP", ".B " + escaped(names), escaped(help_text) or "\\ "]
        footer = text.rstrip().split("\n\n")[-1]
        if not re.search(r"^(Options|Positionals|Usage):", footer, re.M) and "--help" not in footer:
            out += [".PP", ".nf", escaped(footer), ".fi"]
    out += [".SH COMMON OPTIONS"]
    for names, help_text in common.values():
        out += [".TP", ".B " + escaped(names), escaped(help_text)]
    print("\n".join(out + [EXIT.rstrip()]))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
