"""_native.pyi says what the module has: the same names, no more and no less."""

from __future__ import annotations

import ast
from pathlib import Path

from undertext import _native


def test_the_stub_has_the_names_of_the_module() -> None:
    stub = ast.parse(Path(_native.__file__).with_name("_native.pyi").read_text(encoding="utf-8"))
    said, there = set(), set()
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            said |= {node.name} | {
                f"{node.name}.{member.name}"
                for member in node.body
                if isinstance(member, ast.FunctionDef)
            }
        elif isinstance(node, ast.FunctionDef):
            said.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            said.add(node.target.id)
    for name, value in vars(_native).items():
        if not name.startswith("__"):
            there.add(name)
        if isinstance(value, type):
            there |= {f"{name}.{member}" for member in vars(value) if not member.startswith("__")}
    assert {name for name in said if not name.endswith(".__init__")} == there
