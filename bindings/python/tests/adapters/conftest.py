"""Random tests hold on a machine that is busy, and leave nothing behind; what fails is printed, with its input made as small as can be."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The same examples in every run; RANDOM_EXAMPLES=1 looks for others.
settings.register_profile(
    "undertext",
    derandomize="RANDOM_EXAMPLES" not in os.environ,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("undertext")


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path / 'a.db'}"
