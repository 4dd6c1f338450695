"""docs/names.md against the doors: every name in the table exists, and nothing that a door offers is missing from it.

names_test.py PROGRAM ROOT
"""

import ast
import functools
import json
import pathlib
import re
import subprocess
import sys

program, root = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, str(root / "tests" / "server"))
wrong = []


def check(condition, words):
    if not condition:
        wrong.append(words)


def read_table():
    """What each door is said to offer: {"C++": {name, …}, …}, the operations and queries, and the arguments of COMPRESS by a strategy."""
    named, subjects, arguments = {}, set(), {}
    columns = []
    for line in (root / "docs" / "names.md").read_text().splitlines():
        if not line.startswith("|"):
            columns = []
            continue
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not columns:
            columns = cells
        elif columns[0] == "argument":
            for column, cell in zip(columns[1:], cells[1:]):
                arguments.setdefault(column, set()).update(re.findall("`([^`]+)`", cell))
        elif columns[0] == "API":
            named.setdefault(cells[0], set()).update(re.findall("`([^`]+)`", cells[1]))
        elif not cells[0].startswith("---"):
            check(len(cells) == len(columns), f"the row of {cells[0]} has {len(cells)} cells")
            if columns[0] in ("operation", "query"):
                subjects.update(re.findall("`([^`]+)`", cells[0]))
            for column, cell in zip(columns[1:], cells[1:]):
                names = re.findall("`([^`]+)`", cell)
                check(names or cell == "–", f"{column} of {cells[0]}: {cell}")
                named.setdefault(column, set()).update(names)
    return named, subjects, arguments


def compare(door, said, offered):
    check(said and offered, f"{door}: nothing to compare")
    for name in sorted(said - offered):
        check(False, f"{door} has no {name}")
    for name in sorted(offered - said):
        check(False, f"docs/names.md does not have {name} of {door}")


def in_cpp(name, headers):
    """Foo::bar is a member of the class Foo; std:: is somebody else's."""
    words = name.split("::")
    return words[0] == "std" or all(re.search(rf"\b{word}\b", headers) for word in words)


def c_functions():
    return set(
        re.findall(
            r"\b(undertext_[a-z_]+)\(",
            re.sub(r"/\*.*?\*/", "", (root / "bindings/c/undertext.h").read_text(), flags=re.S),
        )
    )


def routes():
    import running

    folder = running.Folder(program)
    try:
        server = running.Server(folder, store="memory:")
        paths = server.request("GET", "/openapi.json").json()["paths"]
        server.stop()
    finally:
        folder.remove()
    return {
        f"{method.upper()} {path.replace('/v1/conversations/{id}', '…')}"
        for path, methods in paths.items()
        for method in methods
        if method != "parameters"
    }


@functools.cache
def schema():
    return json.loads(subprocess.run([program, "schema"], capture_output=True, check=True).stdout)[
        "$defs"
    ]


def commands():
    said = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    listed = said.split("Subcommands:\n")[1].split("\n\n")[0]
    return {line.split()[0] for line in listed.splitlines() if re.match(r"  [a-z]", line)}


def python_names():
    """What undertext exports, and the methods of its classes that are not private."""
    folder = root / "bindings" / "python" / "undertext"
    exported = ast.parse((folder / "__init__.py").read_text())
    names = set(
        next(
            ast.literal_eval(node.value)
            for node in exported.body
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
        )
    )
    # Where those are written that undertext exports; what is a class of the same name elsewhere (undertext.aio, an adapter) is another.
    for file in (
        *(
            folder / f"{name}.py"
            for name in ("__init__", "_conversation", "_store", "_view", "_errors")
        ),
        folder / "_native.pyi",
    ):
        for node in ast.parse(file.read_text()).body:
            if (
                isinstance(node, ast.ClassDef)
                and node.name in names
                and (file.suffix == ".py" or node.name == "Cancel")
            ):
                methods = {
                    member.name
                    for member in node.body
                    if isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef))
                }
                names |= {
                    f"{node.name}.{method}" for method in methods if not method.startswith("_")
                }
    return names


def typescript_names():
    """The same of the package for Node: exported names, and public members of its classes and interfaces, inherited ones too."""
    names, parents = set(), {}
    for file in (root / "bindings" / "node" / "src").glob("*.ts"):
        owner = None
        text = re.sub(r"\n  (extends|implements) ", r" \1 ", file.read_text())  # of long heads
        for line in text.splitlines():
            if match := re.match(
                r"export (?:abstract |async |declare )*(?:class|interface|function|const|type) (\w+)(?:<[^>]*>)?(?: extends (\w+))?",
                line,
            ):
                owner = match[1]
                names.add(owner)
                parents[owner] = match[2]
            elif owner and (
                match := re.match(r"  (?:async |static |get |readonly )*([a-z]\w*)\??[(<:]", line)
            ):
                names.add(f"{owner}.{match[1]}")
            elif line.startswith("}"):
                owner = None
    for child, parent in parents.items():
        while parent:
            names |= {
                f"{child}.{name.split('.')[1]}" for name in names if name.startswith(f"{parent}.")
            }
            parent = parents.get(parent)
    return {name for name in names if not name.endswith(".constructor")}


def check_error_codes():
    """Every API has every code of error.hpp, under the same name and number, and the manual lists it."""
    codes = re.findall(
        r"^  (\w+),",
        re.search(
            r"enum class ErrorCode.*?\{(.*?)\};",
            (root / "include/undertext/error.hpp").read_text(),
            re.S,
        )[1],
        re.M,
    )
    statuses = {
        name.lower(): int(number)
        for name, number in re.findall(
            r"^  UNDERTEXT_(\w+) = (\d+)", (root / "bindings/c/undertext.h").read_text(), re.M
        )
    }
    python = (root / "bindings/python/undertext/_errors.py").read_text()
    typescript = re.search(
        r"type ErrorCode =(.*?)\n\n", (root / "bindings/node/src/protocol.ts").read_text(), re.S
    )[1]
    everywhere = {
        "C": set(statuses) - {"ok", "out_of_memory"},
        "TypeScript": set(re.findall(r"'(\w+)'", typescript)),
        "Python": set(re.findall(r'^    code(?:: str)? = "(\w+)"', python, re.M))
        - {"out_of_memory"},
        "the schema": set(schema()["ErrorCode"]["enum"]),
    }
    for api, named in everywhere.items():
        check(
            named == set(codes),
            f"the error codes of {api} differ from error.hpp: {sorted(named ^ set(codes))}",
        )
    for code, status in re.findall(
        r'^    code(?:: str)? = "(\w+)"\n(?:    #.*\n)?    status(?:: int)? = (\d+)', python, re.M
    ):
        check(
            statuses.get(code) == int(status),
            f"Python has another number for {code} than undertext.h",
        )
    for page in ("docs/server.md", "docs/cli.md"):
        text = (root / page).read_text()
        for code in codes:
            check(re.search(rf"^\|.*`{code}`", text, re.M), f"{page} does not have the code {code}")


def check_arguments(named, headers):
    """COMPRESS by a strategy takes the same arguments in every API."""
    for name in sorted(named["C++"]):
        check(in_cpp(name, headers), f"C++ has no {name}")
    typescript = re.search(
        r"type CompressByStrategy = Pick<(.*?)>",
        (root / "bindings/node/src/types.ts").read_text(),
        re.S,
    )[1]
    python = re.search(
        r"class CompressArguments\(.*?\n\n\n",
        (root / "bindings/python/undertext/_arguments.py").read_text(),
        re.S,
    )[0]
    usage = subprocess.run(
        [program, "compress", "--help"], capture_output=True, text=True, check=True
    ).stdout
    of_operations = {"operation", "description", "expectedVersion", "operationId"}
    of_python = {
        "summary",
        "indices",
        "ordinals",
        "description",
        "expected_version",
        "operation_id",
    }
    compare("COMPRESS in TypeScript", named["TypeScript"], set(re.findall(r"'(\w+)'", typescript)))
    compare(
        "COMPRESS in Python",
        named["Python"],
        set(re.findall(r"^    (\w+):", python, re.M)) - of_python,
    )
    compare(
        "COMPRESS over HTTP",
        named["HTTP"],
        set(schema()["CompressByStrategy"]["properties"]) - of_operations,
    )
    for option in named["command line"]:
        check(option in usage, f"undertext compress has no {option}")


#: What one sdk has and the other does not need: Python's managers work in memory and in a store, and its keyword arguments need no interface.
OF_TYPESCRIPT = {
    "AnyConversationManager",
    "StoredConversationManager",
    "MessageArrayManagerImpl",
    "ConversationManager.open",
}
OF_PYTHON = {"ConversationManager.conversation"}


def snake(name):
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: "_" + match[1].lower(), name)


def exports(folder):
    """The files behind `export … from './x.js'` of an index, with the names that are exported of each; None: all."""
    for names, file in re.findall(
        r"export (?:type )?(\*|\{[^}]*\}) from '\./(\w+)\.js'", (folder / "index.ts").read_text()
    ):
        yield (
            folder / f"{file}.ts",
            None if names == "*" else set(re.findall(r"\w+", names)) - {"type"},
        )


def sdk_of_typescript():
    """Classes, functions and enumerations with their members, in Python's spelling."""
    names, parents = set(), {}
    for file, exported in exports(root / "bindings" / "node" / "src" / "sdk"):
        owner = None
        text = re.sub(r"\n  (extends|implements) ", r" \1 ", file.read_text())  # of long heads
        for line in text.splitlines():
            if match := re.match(
                r"export (?:abstract |async )*(class|function|enum) (\w+)(?:<.*?>)?(?: extends (\w+))?",
                line,
            ):
                owner = match[2] if exported is None or match[2] in exported else None
                if owner:
                    names.add(owner if match[1] != "function" else snake(owner))
                    parents[owner] = match[3]
                if match[1] == "function":
                    owner = None
            elif (
                owner
                and (
                    match := re.match(
                        r"  (?:abstract |async |static )*([a-zA-Z]\w*)(?:<[^(]*>)?(?:\(| = ')", line
                    )
                )
                and match[1] != "constructor"
            ):
                names.add(
                    f"{owner}.{match[1] if match[1].isupper() or '_' in match[1] else snake(match[1])}"
                )
            elif line.startswith("}"):
                owner = None
    for child, parent in parents.items():
        names |= {
            f"{child}.{name.split('.')[1]}"
            for name in list(names)
            if parent and name.startswith(f"{parent}.")
        }
    return (
        {
            name
            for name in names
            if name not in OF_TYPESCRIPT and name.split(".")[0] not in OF_TYPESCRIPT
        }
        | {"MessageArrayManager"}
        | {
            f"MessageArrayManager.{name.split('.')[1]}"
            for name in names
            if name.startswith("MessageArrayManagerImpl.")
        }
    )


def sdk_of_python():
    folder = root / "bindings" / "python" / "undertext" / "sdk"
    tree = ast.parse((folder / "__init__.py").read_text())
    exported = set(
        next(ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign))
    )
    names, classes = exported & {"ValidationError"}, {}
    for file in folder.glob("_*.py"):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef) and (
                node.name in exported or node.name.startswith("_")
            ):
                classes[node.name] = node
            elif isinstance(node, ast.FunctionDef) and node.name in exported:
                names.add(node.name)

    def members(node):
        for member in node.body:
            if isinstance(
                member, (ast.FunctionDef, ast.AsyncFunctionDef)
            ) and not member.name.startswith("_"):
                yield member.name
            elif isinstance(member, ast.Assign) and member.targets[0].id.isupper():
                yield member.targets[0].id
        for base in node.bases:
            if isinstance(base, ast.Name) and base.id in classes:
                yield from members(classes[base.id])

    for name in exported & set(classes):
        if not any(
            isinstance(base, ast.Name) and base.id == "Protocol" for base in classes[name].bases
        ):
            names |= {name} | {f"{name}.{member}" for member in members(classes[name])}
    return names


def check_sdks():
    """The classes of the design documents have the same names in both languages, and blocks of a node the same order."""
    typescript, python = sdk_of_typescript(), sdk_of_python() - OF_PYTHON
    check(
        len(typescript) > 80, f"only {len(typescript)} names of the sdk for TypeScript were found"
    )
    for name in sorted(typescript - python):
        check(False, f"undertext.sdk has no {name}, which undertext/sdk has")
    for name in sorted(python - typescript):
        check(False, f"undertext/sdk has no {name}, which undertext.sdk has")
    orders = [
        re.search(pattern, (root / file).read_text())[1]
        for file, pattern in (
            ("bindings/node/src/sdk/node_blocks.ts", r"blockOrder = \[(.*?)\]"),
            ("bindings/python/undertext/sdk/_node_blocks.py", r"BLOCK_ORDER = \((.*?)\)"),
        )
    ]
    check(
        len({tuple(re.findall(r"\w+", order)) for order in orders}) == 1,
        "the blocks of a node have another order in the other language",
    )


def in_language(names, offered, owner):
    return {name if name in offered or "." in name else f"{owner}.{name}" for name in names}


def main():
    named, subjects, arguments = read_table()
    headers = "\n".join(file.read_text() for file in (root / "include" / "undertext").glob("*.hpp"))
    for name in sorted(named["C++"]):
        check(in_cpp(name, headers), f"C++ has no {name}")
    operations = re.search(r"using What =\s*std::variant<(.*?)>;", headers, re.S)[1]
    for name in re.findall(r"op::\w+", operations):
        check(
            name in named["C++"] or name in ("op::ApplyPlan", "op::CompressBy"),
            f"docs/names.md does not have {name}",
        )
    for name in schema()["Query"]["discriminator"]["mapping"]:
        check(name in subjects, f"docs/names.md does not have the query {name}")
    check_error_codes()
    check_sdks()
    check_arguments(arguments, headers)
    compare("C", named["C"], c_functions())
    compare("the command line", named["command line"], commands())
    compare("HTTP", named["HTTP"], routes())
    offered = python_names()
    compare("Python", in_language(named["Python"], offered, "Conversation"), offered)
    offered = typescript_names()
    said = in_language(named["TypeScript"], offered, "Conversation")
    compare(
        "TypeScript",
        said,
        {
            name
            for name in offered
            if name.split(".")[0] in ("Conversation", "Store") and "." in name
        }
        | (said & offered),
    )
    for words in wrong:
        print(words)
    print(f"{sum(map(len, named.values()))} names, {len(wrong)} of them wrong")
    return 1 if wrong else 0


sys.exit(main())
