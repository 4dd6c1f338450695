#!/usr/bin/env bash
# scripts/test and scripts/run where something cannot be obtained, and builds that follow what is installed.   parts_test.sh
# The scripts are the real ones, in a folder of their own; cmake, ctest and dpkg-query are stubs, and no registry can be reached.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "FAILED: $1" >&2
  [[ ! -f $work/output ]] || sed 's/^/  | /' "$work/output" >&2
  exit 1
}

# A repository without anything to compile.
repository=$work/repository
mkdir -p "$repository"/{tests/inspector,tests/dialect/clients,tests/agents,tests/server/generated,tests/mcp/clients,bindings/node/tests/adapters,inspector} "$work/stubs"
cp -r "$root/scripts" "$repository"
cp "$root/CMakePresets.json" "$repository"
cp "$root"/tests/{skipped,failed}.py "$repository/tests"
cp "$root"/tests/dialect/clients/*.json "$repository/tests/dialect/clients"
cp "$root"/tests/agents/*.json "$repository/tests/agents"
cp "$root"/tests/mcp/clients/*.json "$repository/tests/mcp/clients"
cp "$root"/tests/server/generated/*.json "$repository/tests/server/generated"
cp "$root"/bindings/node/package*.json "$repository/bindings/node"
cp "$root"/bindings/node/tests/adapters/*.json "$repository/bindings/node/tests/adapters"
cp "$root"/inspector/package*.json "$repository/inspector"
echo 'print("checked")' >"$repository/tests/inspector/check.py"
mkdir -p "$repository/build/sample"

stub() {
  cat >"$work/stubs/$1"
  chmod +x "$work/stubs/$1"
}
stub dpkg-query <<END
#!/bin/sh
case "\$*" in
  *Status-Abbrev*) cat "$work/installed" ;;
  *) printf installed ;;
esac
END
stub cmake <<END
#!/bin/sh
echo "\$*" >>"$work/cmake.log"
for word; do preset=\$word; done
case "\$*" in
  *--preset*) [ ! -e build/\$preset/CMakeCache.txt ] || echo "found \$preset in the cache" >>"$work/cmake.log"
    mkdir -p build/\$preset; touch build/\$preset/build.ninja build/\$preset/CMakeCache.txt; cat "$work/without" >build/\$preset/without.txt ;;
  *--build*) printf '#!/bin/sh\n' >"$repository/build/release/undertext"; chmod +x "$repository/build/release/undertext" ;;
esac
END
stub ctest <<END
#!/bin/sh
while [ "\$1" != --output-junit ]; do shift; done
cp "$work/results" "\$2"
echo '100% tests passed'
END
echo 'ii  gcc 12' >"$work/installed"
: >"$work/without"
echo '<testsuite/>' >"$work/results"
mkdir -p "$repository/build/release"

export PATH=$work/stubs:$PATH
export UNDERTEXT_NPM_REGISTRY=http://127.0.0.1:9 npm_config_cache=$work/npm PIP_INDEX_URL=http://127.0.0.1:9/simple PIP_CONFIG_FILE=/dev/null PIP_NO_CACHE_DIR=1
unset PIP_FIND_LINKS PIP_EXTRA_INDEX_URL PIP_RETRIES UNDERTEXT_WITHOUT UNDERTEXT_SECOND_TRY
# shellcheck disable=SC2086 # none or several names
unset ${!npm_config_fetch_@} ${!NPM_CONFIG_FETCH_@}

# run STATUS COMMAND…: its output in $work/output.
run() {
  local status=0
  (cd "$repository" && "${@:2}") >"$work/output" 2>&1 </dev/null || status=$?
  ((status == $1)) || fail "$* ended with status $status"
}
says() { grep -q -- "$1" "$work/output" || fail "nothing says: $1"; }
ends_with() { tail -n "$1" "$work/output" | grep -q -- "$2" || fail "the last $1 lines do not say: $2"; }

# npm gives up in seconds.
started=$SECONDS
run 3 scripts/inspector
((SECONDS - started < 60)) || fail "it took $((SECONDS - started)) s to find out that no registry can be reached"

# From here on at once.
export npm_config_fetch_retries=0 PIP_RETRIES=0

# Nothing can be reached: everything else is tested, each part is reported when it is found missing and again at the end, and the status is 1.
run 1 scripts/test
obtained=(sqlite inspector node node-adapters python python-adapters clients sdks mcp mcp-node tiktoken openapi site vocabularies)
for part in "${obtained[@]}"; do
  (($(grep -c "^MISSING $part: " "$work/output") == 2)) || fail "$part is not reported twice"
  ends_with $((${#obtained[@]} + 2)) "^MISSING $part: "
done
(($(grep -n -m 1 '^MISSING inspector' "$work/output" | cut -d: -f1) < $(grep -n '^npm package' "$work/output" | cut -d: -f1))) || fail "the inspector is not reported at once"
says '^100% tests passed'
ends_with 1 "UNDERTEXT_WITHOUT=\"${obtained[*]}\" scripts/test"

# Declined by name: nothing is tried, and the status is 0. A name of nothing is refused.
run 0 env UNDERTEXT_WITHOUT="sqlite inspector node python clients agents mcp sdks tiktoken openapi generators site vocabularies ruff biome prose" scripts/test
! grep -q MISSING "$work/output" || fail "what was declined is reported as missing"
ends_with 1 '^declined by UNDERTEXT_WITHOUT: sqlite inspector'
run 2 env UNDERTEXT_WITHOUT=inspektor scripts/test
run 2 env UNDERTEXT_WITHOUT=inspektor scripts/run --check

# scripts/run goes on, and says so before it serves.
run 0 scripts/run --check
for part in sqlite inspector vocabularies; do
  (($(grep -c "^MISSING $part: " "$work/output") == 2)) || fail "$part is not reported twice"
done
ends_with 3 '^goes on without'
ends_with 2 '^without SQLite there is no sample'
ends_with 1 '^checked'

all_declined=(env UNDERTEXT_WITHOUT="sqlite inspector node python clients agents mcp sdks tiktoken openapi generators site vocabularies ruff biome prose" scripts/test)

# What cmake did not find, and what tests were skipped for, is missing too.
echo 'server: Boost is not installed: no serve' >"$work/without"
rm "$repository/build/test/build.ninja"
run 1 "${all_declined[@]}"
ends_with 3 '^MISSING server: Boost is not installed: no serve'
: >"$work/without"
rm "$repository/build/test/build.ninja"
cat >"$work/results" <<'END'
<testsuite>
  <testcase name="passed"><system-out>fine</system-out></testcase>
  <testcase name="browser"><skipped message=""/><system-out>skipped: chromium: it is not installed</system-out></testcase>
  <testcase name="units"><skipped message=""/><system-out>[ RUN ]
a_test.cpp:7: Skipped
endpoint: built without libcurl
[ SKIPPED ]</system-out></testcase>
  <testcase name="elsewhere"><skipped message=""/><system-out>skipped: inapplicable: there is nothing to do</system-out></testcase>
  <testcase name="silent"><skipped message=""/><system-out/></testcase>
</testsuite>
END
run 1 "${all_declined[@]}"
ends_with 5 '^MISSING chromium: it is not installed; skipped: browser'
ends_with 5 '^MISSING endpoint: built without libcurl; skipped: units'
ends_with 5 '^MISSING unnamed: no reason given; skipped: silent'
! grep -q elsewhere "$work/output" || fail "what does not apply is reported as missing"
echo '<testsuite/>' >"$work/results"

# A test that fails beside others and passes by itself fails the run, unless a second try is asked for, which is reported. What a sanitizer reports,
# what fails again, and many tests at once are faults whatever was asked for.
cp "$work/stubs/ctest" "$work/ctest"
stub ctest <<END
#!/bin/sh
case "\$*" in *--rerun-failed*) exit \$(cat "$work/again") ;; esac
sh "$work/ctest" "\$@"
exit 8
END
failed_tests() {
  echo '<testsuite>'
  for name in "${@:2}"; do echo "<testcase name='$name'><failure message=''/><system-out>$1</system-out></testcase>"; done
  echo '</testsuite>'
}
failed_tests 'too slow' slow >"$work/results"
echo 0 >"$work/again"
run 8 "${all_declined[@]}"
run 0 env UNDERTEXT_SECOND_TRY=yes "${all_declined[@]}"
ends_with 2 '^UNSTEADY slow '
echo 8 >"$work/again"
run 8 env UNDERTEXT_SECOND_TRY=yes "${all_declined[@]}"
echo 0 >"$work/again"
failed_tests '==7==ERROR: AddressSanitizer: heap-use-after-free' torn >"$work/results"
run 8 env UNDERTEXT_SECOND_TRY=yes "${all_declined[@]}"
failed_tests 'too slow' one two three four >"$work/results"
run 8 env UNDERTEXT_SECOND_TRY=yes "${all_declined[@]}"
mv "$work/ctest" "$work/stubs/ctest"
echo '<testsuite/>' >"$work/results"

# A build is configured once, and again, from an empty cache, when something was installed, whichever command came first.
: >"$work/cmake.log"
run 0 "${all_declined[@]}"
! grep -q -- --preset "$work/cmake.log" || fail "configured again although nothing has changed"
echo 'ii  libbenchmark-dev 1.7' >>"$work/installed"
run 0 "${all_declined[@]}"
run 0 "${all_declined[@]}"
(($(grep -c -- '--preset test' "$work/cmake.log") == 1)) || fail "not configured once after a package was installed"
: >"$work/cmake.log"
run 0 scripts/run --check
(($(grep -c -- '--preset release' "$work/cmake.log") == 1)) || fail "the other build was not configured again"
! grep 'in the cache' "$work/cmake.log" || fail "what was found before is still in the cache"

# --all: other builds are made while tests run, each once; what they miss is reported as everything else, and one that fails ends it.
stub clang-format-19 <<END
#!/bin/sh
END
mkdir -p "$repository"/{include,src,bench,examples,build/release/bench}
printf '#!/bin/sh\n' >"$repository/build/release/bench/edits_bench"
chmod +x "$repository/build/release/bench/edits_bench"
rm -rf "$repository"/build/{test,asan,tsan}
: >"$work/cmake.log"
run 0 "${all_declined[@]}" --all
for preset in test asan tsan release; do
  (($(grep -c -- "--preset $preset" "$work/cmake.log") <= 1)) || fail "$preset is configured more than once"
  says "^build $([[ $preset == test ]] || echo "$preset") "
done
says '^PostgreSQL '
ends_with 2 '^100% tests passed'
echo 'line-editing: libedit is not installed' >"$work/without"
rm -rf "$repository"/build/{test,asan,tsan}
run 1 "${all_declined[@]}" --all
(($(grep -c "^MISSING line-editing: " "$work/output") == 2)) || fail "what several builds miss is not reported twice"
: >"$work/without"
cp "$work/stubs/cmake" "$work/cmake"
stub cmake <<END
#!/bin/sh
case "\$*" in --build*/asan*) echo 'the compiler is out of order'; exit 1 ;; esac
exec sh "$work/cmake" "\$@"
END
run 1 "${all_declined[@]}" --all
says '^build asan .* FAILED'
says 'the compiler is out of order'
! grep -q '^thread sanitizer' "$work/output" || fail "it goes on after a build that failed"

# Every part that cmake and tests name is one that can be declined, and no skipped test forgets its name.
rm "$work/output"
cd "$root"
sources() { grep -rP --exclude-dir=node_modules --exclude-dir=dist --include='*.cpp' --include='*.sh' --include='*.py' --include='*.cmake' --exclude=parts_test.sh "$@" cmake src tests bindings examples; }
how='(GTEST_SKIP\(\) << "|(print\(f?|echo )"skipped: |skip "|undertext_without\()\K'
names=$(sources -ho "${how}[a-z-]+(?=: | \")" | sort -u)
parts=$(bash -c 'source scripts/lib.sh; printf "%s\n" "${parts[@]}"')
unknown=$(grep -vxF "$parts" <<<"$names" | grep -vx inapplicable || true)
[[ -z $unknown ]] || fail "not in the list of parts in scripts/lib.sh: $unknown"
unnamed=$(sources -n "$how(?![a-z-]+(: | \")|\\$|part )" || true)
[[ -z $unnamed ]] || fail "skips without the name of a part: $unnamed"
echo "passed"
