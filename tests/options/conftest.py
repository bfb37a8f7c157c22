"""A broker and a browser for the tests that need one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.options.hall.broker import MISSING, PROGRAM, Mosquitto
from tests.web.conftest import house, page

__all__ = ["broker", "house", "page"]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    """A running Mosquitto that is open to all."""
    if PROGRAM is None:
        pytest.skip(MISSING)
    with Mosquitto(tmp_path) as one:
        yield one
