"""Gets the sources that packages are linked with: each crate of sources.json, checked against its hash, its folder unpacked as FOLDER/NAME.   obtain.py FOLDER

A crate is only the parcel: registries of crates keep every version for ever, and these carry the sources of C libraries as their authors released them.
UNDERTEXT_CRATES=URL: where crates come from. The exit status: 0; 3 when they cannot be reached; 1 for anything else.
"""

import hashlib
import io
import json
import os
import pathlib
import shutil
import sys
import tarfile
import urllib.parse
import urllib.request

CRATES = os.environ.get("UNDERTEXT_CRATES", "https://static.crates.io/crates").rstrip("/")
here = pathlib.Path(__file__).parent
target = pathlib.Path(sys.argv[1])

for source in json.loads((here / "sources.json").read_text()):
    folder, stamp = target / source["name"], target / f"{source['name']}.stamp"
    if stamp.exists() and stamp.read_text() == source["sha256"]:
        continue
    crate, version = source["crate"].split()
    url = f"{CRATES}/{crate}/{urllib.parse.quote(f'{crate}-{version}.crate')}"
    print(f"getting {url}")
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            parcel = answer.read()
    except OSError as error:
        print(f"{url}: {error}")
        sys.exit(3)
    if hashlib.sha256(parcel).hexdigest() != source["sha256"]:
        sys.exit(f"{url}: not the crate that was expected")
    shutil.rmtree(folder, ignore_errors=True)
    fresh = target / f"{source['name']}.new"
    shutil.rmtree(fresh, ignore_errors=True)
    with tarfile.open(fileobj=io.BytesIO(parcel)) as archive:
        archive.extractall(fresh)  # checked: its hash is known
    (fresh / f"{crate}-{version}" / source["folder"]).rename(folder)
    shutil.rmtree(fresh)
    stamp.write_text(source["sha256"])
