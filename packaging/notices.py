"""Writes what a package holds that others wrote: NOTICE, with their licences, and an SBOM (SPDX 2.3, JSON).   notices.py KIND VERSION ROOT FOLDER

KIND is wheel, addon or binary; or sdist or dev, which use the libraries of their system, and hold SQLite alone. ROOT is the repository, after packaging/libraries.sh and scripts/package have obtained
everything (for an sdist scripts/sqlite is enough); versions and licences are read from what was obtained, and a licence that is not found is an error. Into FOLDER: NOTICE and sbom.spdx.json.
"""

import hashlib
import json
import pathlib
import re
import sys

kind, version, root, folder = (
    sys.argv[1],
    sys.argv[2],
    pathlib.Path(sys.argv[3]),
    pathlib.Path(sys.argv[4]),
)
packaging, obtained = root / "packaging", root / "build/package"


def first(pattern, path):
    return re.search(pattern, path.read_text(errors="replace"))[1]


def npm(name):
    place = root / "inspector/node_modules" / name
    about = json.loads((place / "package.json").read_text())
    return component(
        about["name"],
        about["version"],
        about["license"],
        f"https://www.npmjs.com/package/{name}",
        next(place.glob("LICENSE*")),
        f"pkg:npm/{name.replace('@', '%40')}@{about['version']}",
    )


def component(name, version, licence, home, text, purl, sha256=None):
    return {
        "name": name,
        "version": version,
        "licence": licence,
        "home": home,
        "text": pathlib.Path(text).read_text(errors="replace"),
        "purl": purl,
        "sha256": sha256,
    }


def components():
    sqlite = first(r'#define SQLITE_VERSION\s+"([^"]+)"', root / "build/sqlite/sqlite3.h")
    yield component(
        "SQLite",
        sqlite,
        "blessing",
        "https://www.sqlite.org",
        packaging / "licences/SQLite.txt",
        f"pkg:generic/sqlite@{sqlite}",
    )
    if kind not in ("sdist", "dev"):
        yield from obtained_components()


def obtained_components():
    for source in json.loads((packaging / "sources.json").read_text()):
        if kind not in source.get("kinds", [kind]):
            continue
        text = obtained / "sources" / source["name"] / source["licenceFile"]
        if not text.exists():
            text = packaging / "licences" / source["licenceFile"]
        crate, parcel = source["crate"].split()
        yield component(
            source["name"],
            source["version"],
            source["licence"],
            source["home"],
            text,
            f"pkg:cargo/{crate}@{parcel.replace('+', '%2B')}",
            source["sha256"],
        )
    zig = next(obtained.glob("zig/lib/python3*/site-packages/ziglang"))
    llvm = first(r"#\s*define _LIBCPP_VERSION (\d+)", next(zig.glob("lib/libcxx/include/__config")))
    llvm = f"{int(llvm) // 10000}.{int(llvm) // 100 % 100}.{int(llvm) % 100}"
    yield component(
        "LLVM libc++, libc++abi, libunwind",
        llvm,
        "Apache-2.0 WITH LLVM-exception",
        "https://libcxx.llvm.org",
        zig / "lib/libcxx/LICENSE.TXT",
        f"pkg:generic/llvm@{llvm}",
    )
    yield component(
        "vocabularies o200k_base and cl100k_base of tiktoken",
        "0.12",
        "MIT",
        "https://github.com/openai/tiktoken",
        packaging / "licences/tiktoken.txt",
        "pkg:pypi/tiktoken@0.12",
    )
    if kind == "wheel":
        place = next(root.glob("build/venv/lib/python3*/site-packages/nanobind"))
        about = next(place.parent.glob("nanobind-*.dist-info"))
        number = about.name.removesuffix(".dist-info").split("-")[1]
        yield component(
            "nanobind",
            number,
            "BSD-3-Clause",
            "https://nanobind.readthedocs.io",
            next(about.rglob("LICENSE*")),
            f"pkg:pypi/nanobind@{number}",
        )
        header = place / "ext/robin_map/include/tsl/robin_growth_policy.h"
        number = ".".join(
            first(rf"#define TSL_RH_VERSION_{part} (\d+)", header)
            for part in ("MAJOR", "MINOR", "PATCH")
        )
        robin = component(
            "robin-map",
            number,
            "MIT",
            "https://github.com/Tessil/robin-map",
            header,
            f"pkg:github/Tessil/robin-map@v{number}",
        )
        robin["text"] = re.sub(
            r"(?m)^ \* ?", "", re.match(r"/\*\*?\n(.*?)\*/", robin["text"], re.S)[1]
        )  # its head
        yield robin
    if kind == "binary":
        musl = first(r'#define VERSION "([^"]+)"', zig / "lib/libc/musl/src/internal/version.h")
        yield component(
            "musl",
            musl,
            "MIT",
            "https://musl.libc.org",
            zig / "lib/libc/musl/COPYRIGHT",
            f"pkg:generic/musl@{musl}",
        )
        boost = first(
            r'#define BOOST_LIB_VERSION "([^"]+)"', pathlib.Path("/usr/include/boost/version.hpp")
        ).replace("_", ".")
        yield component(
            "Boost",
            boost,
            "BSL-1.0",
            "https://www.boost.org",
            packaging / "licences/Boost.txt",
            f"pkg:generic/boost@{boost}",
        )
        cli11 = first(
            r'#define CLI11_VERSION "([^"]+)"', pathlib.Path("/usr/include/CLI/Version.hpp")
        )
        yield component(
            "CLI11",
            cli11,
            "BSD-3-Clause",
            "https://github.com/CLIUtils/CLI11",
            "/usr/share/doc/libcli11-dev/copyright",
            f"pkg:generic/cli11@{cli11}",
        )
        for name in ("preact", "@preact/signals", "@preact/signals-core", "uplot"):
            yield npm(name)


def spdx_id(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")


def notice(parts):
    text = "Undertext\nLicensed under the Apache License, Version 2.0; see LICENSE.\n\nThis package holds what others wrote, under these licences.\n"
    for part in parts:
        text += f"\n{'=' * 100}\n{part['name']} {part['version']}   {part['home']}\n{part['licence']}\n{'=' * 100}\n\n{part['text'].strip()}\n"
    return text


def sbom(parts):
    def package(name, number, licence, home, purl, sha256=None):
        found = {
            "SPDXID": spdx_id(name),
            "name": name,
            "versionInfo": number,
            "downloadLocation": "NOASSERTION",
            "homepage": home,
            "filesAnalyzed": False,
            "licenseConcluded": licence,
            "licenseDeclared": licence,
            "copyrightText": "NOASSERTION",
            "externalRefs": [
                {
                    "referenceCategory": "PACKAGE-MANAGER",
                    "referenceType": "purl",
                    "referenceLocator": purl,
                }
            ],
        }
        if sha256:
            found["checksums"] = [{"algorithm": "SHA256", "checksumValue": sha256}]
            found["comment"] = "The checksum is that of the crate which carries the source."
        return found

    own = package(
        "undertext", version, "Apache-2.0", "NOASSERTION", f"pkg:generic/undertext@{version}"
    )
    names = hashlib.sha256("".join(p["name"] + p["version"] for p in parts).encode()).hexdigest()
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"undertext-{version}-{kind}",
        "documentNamespace": f"urn:undertext:{version}:{kind}:{names[:32]}",
        "creationInfo": {
            "created": "1980-01-01T00:00:00Z",
            "creators": ["Tool: undertext-package"],
        },
        "packages": [own]
        + [
            package(p["name"], p["version"], p["licence"], p["home"], p["purl"], p["sha256"])
            for p in parts
        ],
        "relationships": [
            {
                "spdxElementId": "SPDXRef-DOCUMENT",
                "relationshipType": "DESCRIBES",
                "relatedSpdxElement": own["SPDXID"],
            }
        ]
        + [
            {
                "spdxElementId": own["SPDXID"],
                "relationshipType": "CONTAINS"
                if kind == "sdist" or p["home"] == "https://github.com/openai/tiktoken"
                else "STATIC_LINK",
                "relatedSpdxElement": spdx_id(p["name"]),
            }
            for p in parts
        ],
    }


parts = list(components())
folder.mkdir(parents=True, exist_ok=True)
(folder / "NOTICE").write_text(notice(parts))
(folder / "sbom.spdx.json").write_text(json.dumps(sbom(parts), indent=2) + "\n")
