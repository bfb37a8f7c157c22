"""The matrix: each fault's test notes its results, and all of it is printed at the end of `make faults`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.faults.rig import Rig

COLUMNS = ("goes on", "told", "on the log", "recovers")


@dataclass
class Row:
    """One fault, and its test's results so far."""

    fault: str
    shown: dict[str, str] = field(default_factory=dict)

    def shows(self, column: str, words: str = "yes") -> None:
        """Note a result; called after it was asserted."""
        assert column in COLUMNS
        self.shown[column] = words


_rows: list[Row] = []


@pytest.fixture
def row(request: pytest.FixtureRequest) -> Row:
    """The row of the requesting test, named by its docstring."""
    made = Row(" ".join((request.function.__doc__ or request.function.__name__).split()).rstrip("."))
    _rows.append(made)
    return made


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """A table at which everything works."""
    made = Rig(tmp_path)
    yield made
    made.close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the matrix on request."""
    if not _rows or "FAULTS" not in os.environ:
        return
    wide = max(len(row.fault) for row in _rows)
    terminalreporter.section("faults")
    for name, cells in (("", {c: c for c in COLUMNS}), *((row.fault, row.shown) for row in _rows)):
        terminalreporter.write_line(f"{name:<{wide}}  " + "".join(f"{cells.get(c, '-'):<22}" for c in COLUMNS))
