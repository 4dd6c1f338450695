"""Small projects with tests, in four languages, in which the agents of scenarios.py work."""


def python_project(package, thing):
    things = thing + "s"
    Thing = thing.capitalize()
    return {
        "pyproject.toml": '[project]\nname = "%s"\nversion = "0.3.1"\nrequires-python = ">=3.9"\n\n[tool.pytest.ini_options]\ntestpaths = ["tests"]\n'
        % package,
        "README.md": "# %s\n\nKeeps %s in a JSON file.\n\n    python -m %s.cli add NAME PRICE\n    python -m %s.cli report\n"
        % (package, things, package, package),
        "docs/design.md": "# Design\n\nThe store reads the whole file and writes it back.\nPrices are cents.\n\n## Modules\n\n- `models.py`: values\n- `store.py`: the file\n- `pricing.py`: discounts and taxes\n- `report.py`: what people read\n",
        "%s/__init__.py" % package: '"""Keeps %s."""\n\n__version__ = "0.3.1"\n' % things,
        "%s/models.py" % package: '''"""What a %(t)s is."""
from dataclasses import dataclass, field


@dataclass
class %(T)s:
    name: str
    price_cents: int
    tags: list = field(default_factory=list)
    stock: int = 0

    def is_available(self):
        return self.stock > 0

    def to_json(self):
        return {"name": self.name, "price": self.price_cents, "tags": list(self.tags), "stock": self.stock}

    @classmethod
    def from_json(cls, data):
        return cls(data["name"], data["price"], data.get("tags", []), data.get("stock", 0))
'''
        % {"t": thing, "T": Thing},
        "%s/store.py" % package: '''"""%(T)ss in a JSON file."""
import json
import pathlib

from .models import %(T)s


class Store:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.items = {}

    def load(self):
        if not self.path.exists():
            return self
        for data in json.loads(self.path.read_text()):
            item = %(T)s.from_json(data)
            self.items[item.name] = item
        return self

    def save(self):
        rows = [item.to_json() for item in self.items.values()]
        self.path.write_text(json.dumps(rows, indent=1))

    def add(self, item):
        if item.name in self.items:
            raise KeyError("there is a %(t)s %%s already" %% item.name)
        self.items[item.name] = item

    def remove(self, name):
        del self.items[name]

    def find(self, text):
        return [item for item in self.items.values() if text.lower() in item.name.lower()]
'''
        % {"t": thing, "T": Thing},
        "%s/pricing.py" % package: '''"""Discounts and taxes, all in cents."""

TAX_PERCENT = 19
DISCOUNTS = {"new": 0, "sale": 20, "staff": 35}


def discounted(cents, kind):
    """The price after a discount, rounded to whole cents."""
    percent = DISCOUNTS[kind]
    return cents - cents * percent // 100


def with_tax(cents):
    return cents + cents * TAX_PERCENT // 100


def total(items, kind="new"):
    return sum(with_tax(discounted(item.price_cents, kind)) for item in items)


def format_cents(cents):
    return "%d.%02d" % (cents // 100, cents % 100)
''',
        "%s/report.py" % package: '''"""What people read."""
from .pricing import format_cents, with_tax


def line(item):
    return "%%-20s %%10s %%5d" %% (item.name, format_cents(with_tax(item.price_cents)), item.stock)


def report(items):
    lines = ["%(T)s                    price stock"]
    lines += [line(item) for item in sorted(items, key=lambda item: item.name)]
    return "\\n".join(lines)


def low_stock(items, limit=3):
    return [item for item in items if item.stock < limit]
'''
        % {"T": Thing},
        "%s/config.py" % package: '''"""Settings from the environment."""
import os


def data_path():
    return os.environ.get("%(P)s_DATA", "%(p)s.json")


def currency():
    return os.environ.get("%(P)s_CURRENCY", "EUR")
'''
        % {"p": package, "P": package.upper()},
        "%s/cli.py" % package: '''"""The command line."""
import sys

from . import config, report
from .models import %(T)s
from .store import Store


def main(arguments=None):
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    store = Store(config.data_path()).load()
    command = arguments.pop(0) if arguments else "report"
    if command == "add":
        name, price = arguments
        store.add(%(T)s(name, int(price)))
        store.save()
    elif command == "remove":
        store.remove(arguments[0])
        store.save()
    elif command == "report":
        print(report.report(store.items.values()))
    else:
        print("unknown command", command, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
'''
        % {"T": Thing},
        "%s/util/__init__.py" % package: "",
        "%s/util/dates.py" % package: '''"""Dates as people write them."""
import datetime


def parse_date(text):
    for form in ("%Y-%m-%d", "%d.%m.%Y"):
        try:
            return datetime.datetime.strptime(text, form).date()
        except ValueError:
            pass
    raise ValueError("no date: " + text)


def week_of(date):
    return date.isocalendar()[1]
''',
        "%s/util/text.py" % package: '''"""Text."""
import re
import unicodedata


def slug(text):
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


def shorten(text, width):
    return text if len(text) <= width else text[: width - 1] + "…"
''',
        "tests/test_models.py": 'from %s.models import %s\n\n\ndef test_round_trip():\n    item = %s("a", 100, ["x"], 2)\n    assert %s.from_json(item.to_json()) == item\n\n\ndef test_available():\n    assert not %s("a", 1).is_available()\n'
        % (package, Thing, Thing, Thing, Thing),
        "tests/test_store.py": 'import pytest\n\nfrom %s.models import %s\nfrom %s.store import Store\n\n\ndef test_save_and_load(tmp_path):\n    store = Store(tmp_path / "x.json")\n    store.add(%s("a", 100))\n    store.save()\n    assert list(Store(tmp_path / "x.json").load().items) == ["a"]\n\n\ndef test_no_two_of_a_name(tmp_path):\n    store = Store(tmp_path / "x.json")\n    store.add(%s("a", 100))\n    with pytest.raises(KeyError):\n        store.add(%s("a", 200))\n'
        % (package, Thing, package, Thing, Thing, Thing),
        "tests/test_pricing.py": 'from %s import pricing\n\n\ndef test_discount():\n    assert pricing.discounted(1000, "sale") == 800\n\n\ndef test_tax_is_rounded_half_up():\n    assert pricing.with_tax(1050) == 1250\n\n\ndef test_format():\n    assert pricing.format_cents(1205) == "12.05"\n'
        % package,
        "tests/test_text.py": 'from %s.util.text import shorten, slug\n\n\ndef test_slug():\n    assert slug("Crème Brûlée!") == "creme-brulee"\n\n\ndef test_shorten():\n    assert shorten("abcdef", 4) == "abc…"\n'
        % package,
        "tests/test_dates.py": 'import datetime\n\nfrom %s.util.dates import parse_date, week_of\n\n\ndef test_forms():\n    assert parse_date("2026-03-01") == parse_date("01.03.2026") == datetime.date(2026, 3, 1)\n\n\ndef test_week():\n    assert week_of(datetime.date(2026, 1, 1)) == 1\n'
        % package,
    }


def node_project(package, thing):
    return {
        "package.json": '{\n  "name": "%s",\n  "version": "1.4.0",\n  "type": "commonjs",\n  "scripts": {\n    "test": "node --test",\n    "lint": "node scripts/lint.js"\n  }\n}\n'
        % package,
        "README.md": "# %s\n\nA queue of %ss with retries.\n\n    npm test\n" % (package, thing),
        "docs/retries.md": "# Retries\n\nA %s is tried `attempts` times.\nThe delay doubles, from 100 ms.\n"
        % thing,
        "src/index.js": 'const { Queue } = require("./queue");\nconst { backoff } = require("./backoff");\nconst { parse } = require("./parse");\n\nmodule.exports = { Queue, backoff, parse };\n',
        "src/queue.js": """const { backoff } = require("./backoff");

class Queue {
  constructor(options = {}) {
    this.limit = options.limit ?? 100;
    this.attempts = options.attempts ?? 3;
    this.%(t)ss = [];
    this.failed = [];
  }

  push(%(t)s) {
    if (this.%(t)ss.length >= this.limit) throw new Error("the queue is full");
    this.%(t)ss.push({ ...%(t)s, tries: 0 });
    return this.%(t)ss.length;
  }

  async run(worker) {
    const done = [];
    while (this.%(t)ss.length > 0) {
      const next = this.%(t)ss.shift();
      try {
        done.push(await worker(next));
      } catch (error) {
        next.tries += 1;
        if (next.tries >= this.attempts) {
          this.failed.push({ %(t)s: next, error: error.message });
        } else {
          next.delay = backoff(next.tries);
          this.%(t)ss.push(next);
        }
      }
    }
    return done;
  }
}

module.exports = { Queue };
"""
        % {"t": thing},
        "src/backoff.js": "function backoff(tries, base = 100, most = 5000) {\n  return Math.min(most, base * 2 ** tries);\n}\n\nmodule.exports = { backoff };\n",
        "src/parse.js": 'function parse(line) {\n  const [kind, ...rest] = line.split(" ");\n  if (!kind) throw new Error("an empty line");\n  return { kind, args: rest };\n}\n\nmodule.exports = { parse };\n',
        "src/format.js": 'function format(%s) {\n  return `${%s.kind} ${(%s.args || []).join(" ")}`.trim();\n}\n\nmodule.exports = { format };\n'
        % (thing, thing, thing),
        "src/log.js": 'const levels = ["debug", "info", "warn", "error"];\n\nclass Log {\n  constructor(level = "info", write = console.log) {\n    this.level = levels.indexOf(level);\n    this.write = write;\n  }\n\n  say(level, text) {\n    if (levels.indexOf(level) < this.level) return false;\n    this.write(`${level}: ${text}`);\n    return true;\n  }\n}\n\nmodule.exports = { Log, levels };\n',
        "src/stats.js": "class Stats {\n  constructor() {\n    this.counts = new Map();\n  }\n\n  add(name, by = 1) {\n    this.counts.set(name, (this.counts.get(name) ?? 0) + by);\n  }\n\n  top(n) {\n    return [...this.counts].sort((a, b) => b[1] - a[1]).slice(0, n);\n  }\n}\n\nmodule.exports = { Stats };\n",
        "scripts/lint.js": 'const fs = require("node:fs");\nconst path = require("node:path");\n\nlet bad = 0;\nfor (const name of fs.readdirSync("src")) {\n  const lines = fs.readFileSync(path.join("src", name), "utf8").split("\\n");\n  lines.forEach((line, i) => {\n    if (/\\bvar\\b/.test(line) || /\\s+$/.test(line)) {\n      console.log(`src/${name}:${i + 1}: error: ${/var/.test(line) ? "no var" : "trailing space"}`);\n      bad += 1;\n    }\n  });\n}\nconsole.log(`${bad} problems (${bad} errors, 0 warnings)`);\nprocess.exit(bad ? 1 : 0);\n',
        "test/queue.test.js": """const test = require("node:test");
const assert = require("node:assert");
const { Queue } = require("../src/queue");

test("runs every %(t)s", async () => {
  const queue = new Queue();
  queue.push({ kind: "a" });
  queue.push({ kind: "b" });
  assert.deepEqual(await queue.run(async (x) => x.kind), ["a", "b"]);
});

test("gives up after three tries", async () => {
  const queue = new Queue();
  queue.push({ kind: "a" });
  await queue.run(async () => { throw new Error("no"); });
  assert.equal(queue.failed.length, 1);
});

test("is full at its limit", () => {
  const queue = new Queue({ limit: 1 });
  queue.push({ kind: "a" });
  assert.throws(() => queue.push({ kind: "b" }), /full/);
});
"""
        % {"t": thing},
        "test/backoff.test.js": 'const test = require("node:test");\nconst assert = require("node:assert");\nconst { backoff } = require("../src/backoff");\n\ntest("the first delay is the base", () => {\n  assert.equal(backoff(1), 100);\n});\n\ntest("never more than the most", () => {\n  assert.equal(backoff(30), 5000);\n});\n',
        "test/parse.test.js": 'const test = require("node:test");\nconst assert = require("node:assert");\nconst { parse } = require("../src/parse");\nconst { format } = require("../src/format");\n\ntest("parses what it formats", () => {\n  assert.equal(format(parse("send a b")), "send a b");\n});\n\ntest("refuses an empty line", () => {\n  assert.throws(() => parse(""));\n});\n',
    }


def cpp_project(library, thing):
    Thing = thing.capitalize()
    return {
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.16)\nproject(%s CXX)\nset(CMAKE_CXX_STANDARD 17)\nadd_library(%s src/%s.cpp src/parser.cpp src/table.cpp)\ntarget_include_directories(%s PUBLIC include)\nadd_executable(tests tests/main.cpp)\ntarget_link_libraries(tests %s)\nenable_testing()\nadd_test(NAME unit COMMAND tests)\n"
        % (library, library, thing, library, library),
        "README.md": "# %s\n\nReads %ss from text.\n\n    cmake -S . -B build && cmake --build build && ctest --test-dir build\n"
        % (library, thing),
        "docs/format.md": "# Format\n\nOne %s a line: a name, a colon, numbers with commas.\nA line that begins with # is a comment.\n"
        % thing,
        "include/%s/%s.hpp"
        % (
            library,
            thing,
        ): "#pragma once\n#include <string>\n#include <vector>\n\nnamespace %s {\n\nstruct %s {\n  std::string name;\n  std::vector<int> values;\n  int sum() const;\n  double mean() const;\n};\n\n}  // namespace %s\n"
        % (library, Thing, library),
        "include/%s/parser.hpp"
        % library: '#pragma once\n#include <optional>\n#include <string_view>\n#include "%s/%s.hpp"\n\nnamespace %s {\n\nstd::optional<%s> parse(std::string_view line);\n\n}  // namespace %s\n'
        % (library, thing, library, Thing, library),
        "include/%s/table.hpp"
        % library: '#pragma once\n#include <map>\n#include <string>\n#include "%s/%s.hpp"\n\nnamespace %s {\n\nclass Table {\n public:\n  bool add(%s item);\n  const %s* find(const std::string& name) const;\n  std::size_t size() const { return items_.size(); }\n\n private:\n  std::map<std::string, %s> items_;\n};\n\n}  // namespace %s\n'
        % (library, thing, library, Thing, Thing, Thing, library),
        "src/%s.cpp"
        % thing: '#include "%s/%s.hpp"\n\n#include <numeric>\n\nnamespace %s {\n\nint %s::sum() const { return std::accumulate(values.begin(), values.end(), 0); }\n\ndouble %s::mean() const { return sum() / values.size(); }\n\n}  // namespace %s\n'
        % (library, thing, library, Thing, Thing, library),
        "src/parser.cpp": "#include \"%s/parser.hpp\"\n\n#include <cstdlib>\n\nnamespace %s {\n\nstd::optional<%s> parse(std::string_view line) {\n  if (line.empty() || line.front() == '#') return std::nullopt;\n  const std::size_t colon = line.find(':');\n  if (colon == std::string_view::npos) return std::nullopt;\n  %s item{std::string(line.substr(0, colon)), {}};\n  std::string_view rest = line.substr(colon + 1);\n  while (!rest.empty()) {\n    const std::size_t comma = std::min(rest.find(','), rest.size());\n    item.values.push_back(std::atoi(std::string(rest.substr(0, comma)).c_str()));\n    rest.remove_prefix(std::min(comma + 1, rest.size()));\n  }\n  return item;\n}\n\n}  // namespace %s\n"
        % (library, library, Thing, Thing, library),
        "src/table.cpp": '#include "%s/table.hpp"\n\nnamespace %s {\n\nbool Table::add(%s item) { return items_.emplace(item.name, item).second; }\n\nconst %s* Table::find(const std::string& name) const {\n  const auto found = items_.find(name);\n  return found == items_.end() ? nullptr : &found->second;\n}\n\n}  // namespace %s\n'
        % (library, library, Thing, Thing, library),
        "tests/main.cpp": '#include <cstdio>\n\n#include "%s/parser.hpp"\n#include "%s/table.hpp"\n\nstatic int failures = 0;\n#define CHECK(what)                                              \\\n  if (!(what)) {                                                 \\\n    std::printf("%%s:%%d: error: CHECK(%%s) failed\\n", __FILE__, __LINE__, #what); \\\n    ++failures;                                                  \\\n  }\n\nint main() {\n  const auto item = %s::parse("a:1,2");\n  CHECK(item.has_value());\n  CHECK(item->sum() == 3);\n  CHECK(item->mean() == 1.5);\n  CHECK(!%s::parse("# comment"));\n  %s::Table table;\n  CHECK(table.add(*item));\n  CHECK(!table.add(*item));\n  std::printf("%%d failures\\n", failures);\n  return failures ? 1 : 0;\n}\n'
        % (library, library, library, library, library),
        "scripts/bench.sh": "#!/bin/sh\nset -e\ncmake -S . -B build -DCMAKE_BUILD_TYPE=Release\ncmake --build build\ntime ./build/tests\n",
        ".gitignore": "build/\n",
    }


def shell_project(name, thing):
    return {
        "README.md": "# %s\n\nNightly reports about %ss.\n\n    make report\n    make check\n"
        % (name, thing),
        "Makefile": "PYTHON ?= python3\n\nreport: out/report.txt\n\nout/report.txt: data/%s.csv scripts/report.py\n\tmkdir -p out\n\t$(PYTHON) scripts/report.py data/%s.csv > out/report.txt\n\ncheck:\n\tsh tests/check.sh\n\nclean:\n\trm -rf out\n"
        % (thing, thing),
        "data/%s.csv" % thing: "id,region,amount,day\n"
        + "".join(
            "%d,%s,%d,2026-0%d-1%d\n"
            % (i, ["north", "south", "west"][i % 3], (i * 37) % 211, 1 + i % 6, i % 9)
            for i in range(1, 60)
        ),
        "data/regions.csv": "region,manager\nnorth,Ines\nsouth,Omar\nwest,Lena\n",
        "scripts/report.py": 'import collections\nimport csv\nimport sys\n\n\ndef main(path):\n    sums = collections.Counter()\n    with open(path) as file:\n        for row in csv.DictReader(file):\n            sums[row["region"]] += int(row["amount"])\n    for region, amount in sums.items():\n        print(region, amount)\n    print("total", sum(sums.values()))\n\n\nif __name__ == "__main__":\n    main(sys.argv[1])\n',
        "scripts/clean.awk": 'BEGIN { FS = OFS = "," }\nNR == 1 || $3 > 0 { print }\n',
        "scripts/split.sh": '#!/bin/sh\n# One file for each region.\nset -e\nmkdir -p out\nfor region in north south west; do\n  grep ",$region," data/%s.csv > out/$region.csv\n  wc -l out/$region.csv\ndone\n'
        % thing,
        "config/report.ini": "[report]\ncurrency = EUR\nround = 2\nrecipients = finance@example.com\n",
        "sql/schema.sql": "create table %ss (id integer primary key, region text not null, amount integer, day text);\ncreate index by_region on %ss (region);\n"
        % (thing, thing),
        "sql/top.sql": "select region, sum(amount) as total from %ss group by region order by total desc limit 3;\n"
        % thing,
        "tests/check.sh": "#!/bin/sh\nset -e\nmake -s report\ngrep -q '^total ' out/report.txt || { echo 'tests/check.sh: error: no total in out/report.txt'; exit 1; }\nhead -1 out/report.txt | grep -q '^north' || { echo 'tests/check.sh: error: regions are not sorted'; exit 1; }\ntest \"$(wc -l < out/report.txt)\" -eq 4 || { echo 'tests/check.sh: error: expected 4 lines'; exit 1; }\necho 'all checks passed'\n",
        "docs/runbook.md": "# Runbook\n\nThe job runs at 02:00.\nIf it fails, look at `out/report.txt` first.\n",
    }
