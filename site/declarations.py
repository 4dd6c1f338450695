"""What the packages for Python and TypeScript export, as their sources declare it: names, signatures, the comment that goes with each, no bodies."""

import ast
import json
import re
from pathlib import Path


def code(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```\n"


SHAPES = "Types of operations, queries and answers: [shapes](shapes.md)."


def python_page(package: Path) -> str:
    out = [
        "# Python declarations",
        "",
        f"What the modules of the package export. [Python](python.md) shows how they are used. {SHAPES}",
        "",
    ]
    modules = [
        package / "__init__.py",
        *sorted(
            file
            for file in package.glob("*.py")
            if not file.name.startswith("_") and file.name != "types.py"
        ),
        package / "sdk/__init__.py",
    ]
    for file in modules:
        name = ".".join(
            ("undertext", *file.relative_to(package).with_suffix("").parts)
        ).removesuffix(".__init__")
        out += [f"## {name}", ""]
        for exported, node in python_exports(file):
            out += [f"### {exported}", "", code("python", "\n".join(declarations(node)))]
    return "\n".join(out)


def python_exports(file: Path) -> list:
    """The names of __all__ that are classes and functions, each with its definition, in this file or in the one it is imported from."""
    tree = ast.parse(file.read_text())
    named = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    found = definitions(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level and node.module:
            source = file.parents[node.level - 1] / (node.module.replace(".", "/") + ".py")
            theirs = (
                definitions(ast.parse(source.read_text()))
                if source.exists() and source.stem != "_protocol"
                else {}
            )
            found |= {
                alias.asname or alias.name: theirs[alias.name]
                for alias in node.names
                if alias.name in theirs
            }
    return [(name, found[name]) for name in named if name in found]


def definitions(tree: ast.Module) -> dict:
    return {
        node.name: node
        for node in tree.body
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
    }


def declarations(node: ast.AST) -> list:
    if not isinstance(node, ast.ClassDef):
        return declaration(node, "")
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    out = [
        f"class {node.name}({bases}):" if bases else f"class {node.name}:",
        *quoted(node, "    "),
    ]
    for member in node.body:
        if isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef)) and (
            not member.name.startswith("_") or member.name == "__init__"
        ):
            out += declaration(member, "    ")
        elif isinstance(member, ast.AnnAssign) and not ast.unparse(member.target).startswith("_"):
            out.append("    " + ast.unparse(member))
    return out


def declaration(node: ast.AST, indent: str) -> list:
    kind = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return [
        f"{indent}{kind} {node.name}({ast.unparse(node.args)}){returns}",
        *quoted(node, indent + "    "),
    ]


def quoted(node: ast.AST, indent: str) -> list:
    text = ast.get_docstring(node)
    return [indent + f'"""{text}"""'.replace("\n", "\n" + indent)] if text else []


def typescript_page(package: Path) -> str:
    out = [
        "# TypeScript declarations",
        "",
        f"What the package exports. [TypeScript](node.md) shows how they are used. {SHAPES}",
        "",
    ]
    for entry, target in json.loads((package / "package.json").read_text())["exports"].items():
        if isinstance(target, str):
            continue
        file = package / re.sub(r"^\./dist/(.*)\.d\.ts$", r"\1.ts", target["types"])
        out += [f"## undertext{entry[1:]}", ""]
        for name, text in typescript_exports(file):
            out += [f"### {name}", "", code("ts", text)]
    return "\n".join(out)


def typescript_exports(file: Path) -> list:
    text = file.read_text()
    found = list(exported(text).items())
    for names, source in re.findall(
        r"^export (?:type )?\{([^}]*)\} from '\./([^']+)\.js'", text, re.M
    ):
        theirs = exported((file.parent / f"{source}.ts").read_text())
        for name in re.split(r",\s*", names.strip().rstrip(",")):
            name, _, renamed = re.sub(r"^type ", "", name.strip()).partition(" as ")
            if name in theirs:
                found.append((renamed or name, theirs[name]))
    return found


def exported(text: str) -> dict:
    """By name: what a module declares and exports, with the comment above it."""
    out = {}
    for match in re.finditer(
        r"((?:^/\*\*(?:(?!\*/)[\s\S])*\*/\n)?)^export (?:abstract )?(class|interface|type|function|async function|const|enum) (\w+)[\s\S]*?(?=^\S)(?:^[}\])][^\n]*)?",
        text,
        re.M,
    ):
        body = match[0].rstrip()
        if match[2] == "class":
            body = class_outline(body)
        elif "function" in match[2]:
            body = body.split(" {\n")[0]
        elif match[2] == "const":
            body = body.split(" = ")[0]
        out[match[3]] = body
    return out


def class_outline(body: str) -> str:
    """The class without what is private and without bodies of methods."""
    out, held = [], []
    for line in body.split("\n"):
        if not line.startswith("  "):
            out.append(line)
        elif re.match(r"  (/\*\*| \*)", line):
            held.append(line)
        elif re.match(r"  (?!private|#|//)[\w\[]", line):
            out += held + [re.sub(r" \{.*$", "", line)]
            held = []
        elif not line.startswith("   "):
            held = []
    return "\n".join(out)
