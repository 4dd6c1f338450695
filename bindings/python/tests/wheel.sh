#!/usr/bin/env bash
# Builds a wheel around the library of a build, installs it into an empty environment, and uses it there.   wheel.sh PYTHON BUILD_DIR
# PYTHON has what scripts/python installs.
set -euo pipefail

python=$1
build=$(cd "$2" && pwd)
package=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH

cmake --install "$build" --prefix "$work/installed" >/dev/null
# A copy: what setuptools and CMake leave behind does not belong into the source.
cp -r "$package" "$work/package"
CMAKE_CXX_COMPILER_LAUNCHER=$(command -v ccache || true) \
  "$python" -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps --no-index \
  --config-settings "cmake.define.undertext_ROOT=$work/installed" --wheel-dir "$work" "$work/package"

"$python" -m venv "$work/empty"
"$work/empty/bin/pip" install --quiet --disable-pip-version-check --no-index "$work"/undertext-*.whl
cd "$work"
"$work/empty/bin/python" - <<'PROGRAM'
import importlib.metadata
import pathlib
import sqlite3

import undertext
import undertext.aio
import undertext.sdk

folder = pathlib.Path(undertext.__file__).parent
assert (folder / "py.typed").exists() and (folder / "_native.pyi").exists()
assert importlib.metadata.version("undertext") == undertext.__version__
assert all("extra ==" in needed for needed in importlib.metadata.requires("undertext") or [])
with undertext.open("sqlite:store.db", "one") as conversation:
    conversation.append({"role": "user", "content": "Hello"})
    # Python's SQLite and ours are two in one process.
    assert sqlite3.connect("store.db").execute("pragma integrity_check").fetchall() == [("ok",)]
    assert conversation.messages(role="user", last=3) == [{"role": "user", "content": "Hello"}]
print("the wheel", next(pathlib.Path().glob("*.whl")), "works in an empty environment")
PROGRAM
