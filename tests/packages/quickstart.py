"""What a first user does, with an installed wheel. Prints how long importing took, in ms.   quickstart.py [--from-source]

--from-source: it was built from the sdist, which has no vocabularies, and uses libraries of the system.
"""

import pathlib
import sys
import tempfile
import time

start = time.perf_counter()
import undertext

imported_ms = (time.perf_counter() - start) * 1000

with (
    tempfile.TemporaryDirectory() as folder,
    undertext.open(f"sqlite:{folder}/agent.db", "support-17") as conversation,
):
    conversation.append({"role": "system", "content": "You are brief."})
    for turn in range(20):
        conversation.append(
            {
                "role": "user",
                "content": f"Question {turn}, of some length so that there is something to hide.",
            }
        )
        conversation.append(
            {"role": "assistant", "content": f"Answer {turn}, also of some length."}
        )
    assert len(conversation.messages()) == 41
    conversation.truncate(keep_last=5)
    assert len(conversation.messages()) == 5
    conversation.undo()
    assert len(conversation.messages()) == 41
if sys.argv[1:] != ["--from-source"]:
    # Exact counts: the vocabularies are in the package.
    assert undertext.count_tokens("o200k_base", "hello world") == 2
    # What PostgreSQL and HTTP need is in the package, and nothing of the system's is loaded for them.
    loaded = pathlib.Path("/proc/self/maps").read_text()
    assert not any(name in loaded for name in ("libpq.", "libcurl.", "libzstd.", "libstdc++.")), (
        loaded
    )
print(f"{imported_ms:.1f}")
