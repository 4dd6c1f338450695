"""Gives a wheel the platform that its module was built for, and takes out of it what only a debugger reads.   finish_wheel.py WHEEL FOLDER PLATFORM OBJCOPY"""

import pathlib
import subprocess
import sys
import tempfile

wheel, folder, platform, objcopy = sys.argv[1:]
with tempfile.TemporaryDirectory() as place:
    tool = [sys.executable, "-m", "wheel"]
    subprocess.run([*tool, "unpack", "--dest", place, wheel], check=True, stdout=subprocess.DEVNULL)
    unpacked = next(pathlib.Path(place).iterdir())
    for module in unpacked.rglob("*.so"):
        subprocess.run([objcopy, "--strip-unneeded", str(module)], check=True)
    made = pathlib.Path(place) / "made"
    made.mkdir()
    subprocess.run(
        [*tool, "pack", "--dest-dir", str(made), str(unpacked)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    subprocess.run(
        [*tool, "tags", "--remove", "--platform-tag", platform, str(next(made.glob("*.whl")))],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    finished = next(made.glob("*.whl"))
    (pathlib.Path(folder) / finished.name).write_bytes(finished.read_bytes())
    print(pathlib.Path(folder) / finished.name)
