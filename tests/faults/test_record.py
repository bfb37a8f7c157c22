"""The record's disk: full, or turned read-only, and recovered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from referee.record.store import Record
from referee.table.broken_off import Both
from referee.table.page_link import PageLink
from tests.faults.conftest import Row
from tests.faults.disks import Disk, NoFuse, full, read_only
from tests.faults.rig import Rig

FAULTS = {"full": (full, "The record's disk is full"), "read-only": (read_only, "The record's disk turns read-only")}
ADVICE = {"full": "make room", "read-only": "look at the card"}


class Memory:
    """Every line ever written; implements `referee.record.journal.Journal`."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def write(self, line: str, sensor: str | None = None) -> None:
        """Keep a line; a record may leave out a sensor's promise."""
        if sensor is None:
            self.lines.append(line)

    def commit(self) -> None: ...


class Recorded(Rig):
    """A table with a record and a page."""

    def __init__(self, folder: Path, disk: Disk) -> None:
        self.file = disk.folder / "record.db"
        self.record = Record(self.file)
        self.keeper = self.record.begin("2026-01-02T03:04:05+00:00")
        self.memory = Memory()
        run = folder / "run"
        run.mkdir(mode=0o700)
        self.paging = PageLink(run)
        super().__init__(folder, journal=Both(self.keeper, self.memory), page=(self.paging, self.keeper))

    def page(self) -> dict[str, Any]:
        """Return the answer to the page's question about the table's state."""
        return self.paging.state()

    def written(self) -> str:
        """Return the disk's contents, as a new reader sees them."""
        with Record(self.file, read_only=True) as record:
            lines = list(record.lines(1))
        assert [number for number, _ in lines] == list(range(1, len(lines) + 1))
        return "".join(f"{text}\n" for _, text in lines)

    def close(self) -> None:
        super().close()
        self.paging.close()
        self.record.close()


@pytest.fixture(params=FAULTS)
def how(request: pytest.FixtureRequest) -> str:
    """The disk's fault."""
    return str(request.param)


@pytest.fixture
def disk(how: str, tmp_path: Path) -> Iterator[Disk]:
    """A disk that works at first."""
    with ExitStack() as stack:
        try:
            made = stack.enter_context(FAULTS[how][0](tmp_path / "disk"))
        except NoFuse as error:
            pytest.skip(f"no filesystem that forgets: {error}")
        yield made


@pytest.fixture
def recorded(disk: Disk, tmp_path: Path) -> Iterator[Recorded]:
    """A table whose record is on that disk."""
    made = Recorded(tmp_path, disk)
    yield made
    made.close()


def test_record(recorded: Recorded, disk: Disk, how: str, row: Row) -> None:
    """The record's disk"""
    rig, row.fault = recorded, FAULTS[how][1]
    rig.see()
    rig.double("7")
    rig.until(lambda: not rig.keeper.waiting, "for the record")
    disk.fail()
    kept = rig.keeper.written
    rig.double("8")
    rig.until(lambda: "log" in rig.conductor.troubles, "for the fault")
    rig.double("9")
    assert len(rig.rulings("slap_won")) == 3
    row.shows("goes on")
    assert ADVICE[how] in rig.conductor.troubles["log"]
    assert rig.told().count("log_gone") == 1
    assert any("the log cannot be written" in said for said in rig.said())
    assert ADVICE[how] in rig.page()["troubles"]["log"]["words"]
    row.shows("told", "and the page")
    assert rig.keeper.written == kept == len(rig.written().splitlines())
    assert rig.keeper.waiting > 10
    disk.mend()
    rig.until(lambda: "log" not in rig.conductor.troubles, "for the disk")
    rig.until(lambda: not rig.page()["troubles"], "for the page")
    rig.until(lambda: any("the log is written again" in said for said in rig.said()), "for the words")
    rig.until(lambda: not rig.keeper.waiting, "for the record")
    row.shows("recovers", "no line is lost")
    rig.double("T")
    assert rig.replays()
    lines = [line for line in rig.written().splitlines() if '"kind":"tick"' not in line]
    assert lines == rig.memory.lines, "all of them, in order, none twice"
    names = [line["kind"] for line in map(json.loads, lines) if line.get("part") == "log"]
    assert names == ["trouble", "mended"]
    row.shows("on the log", "and replays")
