#!/usr/bin/env python3
"""Starts the server on a free port, fetches the page and what it shows, and stops.   check.py PROGRAM STORE"""

import json
import re
import signal
import subprocess
import sys
import urllib.request


def get(url):
    with urllib.request.urlopen(url, timeout=30) as reply:
        return reply.read().decode()


def main(program, store):
    server = subprocess.Popen(
        [program, "serve", "--quiet", "--store", store, "--listen", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        said = server.stdout.readline()
        url = re.search(r"https?://\S+", said)
        if not url:
            sys.exit(f"the server said no address: {said!r}")
        print(said.strip())
        page = get(url[0] + "/")
        assets = re.findall(r'(?:src|href)="\.?(/assets/[^"]+)"', page)
        for asset in assets:
            get(url[0] + asset)
        listed = json.loads(get(url[0] + "/v1/conversations"))["result"]["conversations"]
        print(
            f"the page is {'the inspector' if assets else 'one that says how to add the inspector'}, and there are {', '.join(c['id'] for c in listed) or 'no conversations'}"
        )
    finally:
        server.send_signal(signal.SIGTERM)
        status = server.wait(30)
    if status != 0 or not (listed or store == "memory:"):
        sys.exit(f"exit status {status}, {len(listed)} conversations")


main(*sys.argv[1:])
