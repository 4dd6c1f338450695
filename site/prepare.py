#!/usr/bin/env python3
"""Makes the Markdown that the site is built from.   prepare.py PROGRAM FOLDER

The manual is docs/*.md as it stands, with the pages that only a program can write beside it: routes and shapes from the OpenAPI description of a server, commands from their help,
C++ from the public headers, Python and TypeScript from their declarations. docs/README.md is the one list of pages: its headings are the groups, its tables the order.

Every link of a page leads to a page of the site, or to a file of the repository, which is copied beside the pages. What leads nowhere fails.
Besides, FOLDER/public gets every page as .md, llms.txt (the list of pages) and llms-full.txt (all of them), for programs that read.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from declarations import code, python_page, typescript_page

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
# Pages of the repository that are not in docs/, and what they are called here.
OUTSIDE = {
    "README.md": "start.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "docs/README.md": "index.md",
}
# Pages that are made here follow the one that explains them.
MADE = {
    "cpp.md": [("cpp-reference.md", "Headers for C++", "the public headers, whole")],
    "python.md": [
        (
            "python-reference.md",
            "Python declarations",
            "classes and functions with their signatures",
        )
    ],
    "node.md": [("typescript-reference.md", "TypeScript declarations", "what the package exports")],
    "c.md": [("c-reference.md", "Header for C", "`undertext.h`, whole")],
    "server.md": [
        ("http-reference.md", "Routes", "every route with its parameters and answers"),
        ("shapes.md", "Shapes", "operations, queries, answers, settings, errors, member by member"),
    ],
    "cli.md": [("commands.md", "Commands", "the help of every command")],
}
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)\s]+)(\))")


def main(program: str, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    public = folder / "public"
    public.mkdir(parents=True)
    pages = {
        page.name: page.read_text()
        for page in sorted(DOCS.glob("*.md"))
        if page.name != "README.md"
    }
    links = Links(public)
    pages = {name: links.settled(text, f"docs/{name}") for name, text in pages.items()}
    for path, name in OUTSIDE.items():
        pages[name] = links.settled((ROOT / path).read_text(), path)
    pages |= generated(program)
    groups = contents((DOCS / "README.md").read_text())
    pages["index.md"] = front_page(groups)
    check_contents(groups, pages)
    for name, text in pages.items():
        (folder / name).write_text(text)
        (public / name).write_text(text)
    (public / "llms.txt").write_text(index_for_models(groups))
    (public / "llms-full.txt").write_text(
        "\n\n".join(pages[name] for _, rows in groups for name, _, _ in rows)
    )
    (folder / "contents.json").write_text(
        json.dumps(
            [
                {
                    "text": group,
                    "items": [
                        {"text": title, "link": "/" + name.removesuffix(".md")}
                        for name, title, _ in rows
                    ],
                }
                for group, rows in groups
            ]
        )
    )


def contents(text: str) -> list:
    """The groups of docs/README.md: (heading, [(page, title, what it holds)])."""
    groups = []
    for line in text.splitlines():
        if line.startswith("## "):
            groups.append((line[3:].strip(), []))
        elif row := re.match(r"\| \[([^\]]+)\]\(([^)]+)\) \| (.*) \|$", line):
            path = os.path.normpath(f"docs/{row[2]}")
            name = OUTSIDE.get(path, Path(path).name)
            groups[-1][1].extend([(name, row[1], row[3]), *MADE.get(name, [])])
    return groups


def check_contents(groups: list, pages: dict) -> None:
    listed = [name for _, rows in groups for name, _, _ in rows]
    twice = {name for name in listed if listed.count(name) > 1}
    missing = set(pages) - set(listed) - {"index.md"}
    unknown = set(listed) - set(pages)
    if twice or missing or unknown:
        sys.exit(
            f"docs/README.md: listed twice {sorted(twice)}, not listed {sorted(missing)}, no such page {sorted(unknown)}"
        )


def front_page(groups: list) -> str:
    out = [
        "# Undertext",
        "",
        "The context of an LLM agent as a versioned sequence: edited by operations, and nothing is ever lost.",
        "",
    ]
    for group, rows in groups:
        out += [
            f"## {group}",
            "",
            "| page | what it holds |",
            "| --- | --- |",
            *(f"| [{title}]({name}) | {what} |" for name, title, what in rows),
            "",
        ]
    return "\n".join(out)


def index_for_models(groups: list) -> str:
    out = [
        "# Undertext",
        "",
        "> The context engine for LLM agents: every edit of the message array is an operation on a versioned sequence that loses nothing.",
        "",
    ]
    for group, rows in groups:
        out += [
            f"## {group}",
            "",
            *(f"- [{title}]({name}): {re.sub(r'[`*]', '', what)}" for name, title, what in rows),
            "",
        ]
    return "\n".join(out)


class Links:
    """Where the links of a page lead on the site."""

    def __init__(self, public: Path) -> None:
        self.public = public

    def settled(self, text: str, page: str) -> str:
        return outside_code(
            text,
            lambda part: LINK.sub(
                lambda found: found[1] + self.target(found[2], page) + found[3], part
            ),
        )

    def target(self, link: str, page: str) -> str:
        if re.match(r"[a-z]+:|#|/", link):
            return link
        path, _, anchor = link.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), path))
        anchor = "#" + anchor if anchor else ""
        if path in OUTSIDE:
            return "./" + OUTSIDE[path] + anchor
        if path in GENERATED:
            return "./" + GENERATED[path] + anchor
        if re.fullmatch(r"docs/[\w-]+\.md", path) and (ROOT / path).is_file():
            return "./" + Path(path).name + anchor
        if not (ROOT / path).exists():
            sys.exit(f"{page}: the link {link} leads nowhere")
        return self.copied(path)

    def copied(self, path: str) -> str:
        """A file as it is; a text as .txt, so that browsers show it; a folder as a list of its files."""
        source = ROOT / path
        if source.is_dir():
            files = subprocess.run(
                ["git", "-C", str(ROOT), "ls-files", path],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            target = self.public / "files" / f"{path}.txt"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(files)
        else:
            picture = source.suffix in {".svg", ".png"}
            target = self.public / "files" / (path if picture else f"{path}.txt")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        return "/" + str(target.relative_to(self.public))


def outside_code(text: str, change) -> str:
    """The text with `change` applied to what is neither a fenced nor an indented block of code nor a code span."""
    out, fence = [], None
    for line in text.split("\n"):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark and (fence is None or line.strip() == fence):
            fence = mark[1] if fence is None else None
            out.append(line)
        elif fence or line.startswith("    "):
            out.append(line)
        else:
            out.append(change(line))
    return "\n".join(out)


# Files of the repository that have a page made of them.
GENERATED = {
    f"include/undertext/{header.name}": "cpp-reference.md"
    for header in (ROOT / "include/undertext").glob("*.hpp")
} | {"bindings/c/undertext.h": "c-reference.md"}


def generated(program: str) -> dict:
    description = openapi(program)
    return {
        "http-reference.md": http_page(description),
        "shapes.md": shapes_page(description),
        "commands.md": commands_page(program),
        "cpp-reference.md": cpp_page(),
        "c-reference.md": "# Header for C\n\nOne header, `undertext.h`. [C](c.md) shows how it is used.\n\n"
        + code("c", (ROOT / "bindings/c/undertext.h").read_text()),
        "python-reference.md": python_page(ROOT / "bindings/python/undertext"),
        "typescript-reference.md": typescript_page(ROOT / "bindings/node"),
    }


def prose(text: str) -> str:
    """Text of a program as Markdown that says the same: no tags, no templates."""
    return (
        text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace("{{", "&#123;&#123;")
        .replace("|", "\\|")
        .replace("\n", " ")
    )


def openapi(program: str) -> dict:
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "HOME": home, "XDG_DATA_HOME": home, "XDG_CONFIG_HOME": home}
        server = subprocess.Popen(
            [program, "serve", "--quiet", "--store", "memory:", "--listen", "127.0.0.1:0"],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        try:
            address = re.search(r"https?://[^\s/]+", server.stdout.readline())[0]
            with urllib.request.urlopen(f"{address}/openapi.json") as answer:
                return json.load(answer)
        finally:
            server.terminate()
            server.wait()


def shape(schema: dict) -> str:
    """A schema in one cell."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{name}](shapes.md#{name.lower()})"
    for union in ("oneOf", "anyOf"):
        if union in schema:
            return " or ".join(dict.fromkeys(shape(one) for one in schema[union]))
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {shape(schema.get('items', {}))}"
    if isinstance(schema.get("additionalProperties"), dict):
        return f"object of {shape(schema['additionalProperties'])}"
    kind = schema.get("type", "any")
    return " or ".join(kind) if isinstance(kind, list) else kind


def http_page(description: dict) -> str:
    out = [
        "# HTTP reference",
        "",
        "Every route of `undertext serve`, made from its `/openapi.json`. [HTTP](server.md) explains how they are used; [shapes](shapes.md) holds what goes in and comes out.",
        "",
    ]
    group = None
    for path, methods in description["paths"].items():
        for method, route in methods.items():
            if route["tags"][0] != group:
                group = route["tags"][0]
                out += [f"## {group.capitalize()}", ""]
            out += [
                f"### `{method.upper()} {path}`",
                "",
                prose(route["summary"]),
                "",
                f"Right: {route.get('x-right', 'none')}.",
                "",
            ]
            if route.get("parameters"):
                out += ["| parameter | in | shape | what it is |", "| --- | --- | --- | --- |"]
                out += [
                    f"| `{one['name']}`{' (required)' if one.get('required') else ''} | {one['in']} | {shape(one.get('schema', {}))} | {prose(one.get('description', ''))} |"
                    for one in route["parameters"]
                ] + [""]
            for kind, body in route.get("requestBody", {}).get("content", {}).items():
                out += [f"Body: {shape(body.get('schema', {}))} as `{kind}`.", ""]
            answers = []
            for status, answer in route["responses"].items():
                kinds = answer.get("content", {})
                answers.append(
                    f"`{status}`"
                    + "".join(f" {shape(body.get('schema', {}))}" for body in kinds.values())
                )
            out += ["Answers: " + "; ".join(answers) + ".", ""]
    return "\n".join(out)


def shapes_page(description: dict) -> str:
    out = [
        "# Shapes",
        "",
        "Every value that goes into or comes out of `exec`, HTTP, and the bindings: operations, queries, answers, settings, errors. `undertext schema` prints the same as JSON Schema.",
        "",
    ]
    for name, schema in description["components"]["schemas"].items():
        out += [f"## {name}", "", prose(schema.get("description", "")), ""]
        if members := schema.get("properties"):
            required = set(schema.get("required", ()))
            out += ["| member | shape | what it is |", "| --- | --- | --- |"]
            out += [
                f"| `{member}`{' (required)' if member in required else ''} | {shape(one)} | {prose(one.get('description', ''))} |"
                for member, one in members.items()
            ] + [""]
        else:
            out += [shape(schema), ""]
    return "\n".join(out)


def commands_page(program: str) -> str:
    def help_of(*command: str) -> str:
        return subprocess.run(
            [program, *command, "--help"],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "COLUMNS": "96"},
        ).stdout

    listed = help_of()
    commands = re.findall(
        r"^  ([a-z][a-z-]+) {2,}\S", listed.split("Subcommands:")[1].split("\n\n")[0], re.M
    )
    out = [
        "# Commands",
        "",
        "What every command says of itself. [The command line](cli.md) shows how they are used together.",
        "",
        code("text", listed),
    ]
    for command in commands:
        out += [f"## undertext {command}", "", code("text", help_of(command))]
    return "\n".join(out)


def cpp_page() -> str:
    out = [
        "# Headers for C++",
        "",
        "The public headers, whole: each opens with what it is for and an example. [C++](cpp.md) shows how they are used together.",
        "",
    ]
    for header in sorted((ROOT / "include/undertext").glob("*.hpp")):
        out += [f"## {header.name}", "", code("cpp", header.read_text())]
    return "\n".join(out)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), Path(sys.argv[2]))
