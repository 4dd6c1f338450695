"""How long a write of 4 KiB with fdatasync takes in a folder.   fsync.py FOLDER"""

import os
import sys
import time

path = os.path.join(sys.argv[1], "fsync-probe")
file = os.open(path, os.O_CREAT | os.O_WRONLY)
times = []
for _ in range(200):
    start = time.perf_counter()
    os.pwrite(file, b"x" * 4096, 0)
    os.fdatasync(file)
    times.append(time.perf_counter() - start)
os.unlink(path)
print(f"{sorted(times)[100] * 1000:.3f} ms")
