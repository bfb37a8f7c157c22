"""Power cuts of a running demo, again and again: no announced ruling may be lost, and each game must go on.

``python -m tests.powercut.cuts 300`` cuts the power of a filesystem that forgets unsynced data 300 times, and
kills the program 300 times on an ordinary one. Half of the power cuts fall at a chosen change of the filesystem (inside
commits and the writing of pictures); the other half, and all kills, some instants after a chosen announcement.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Final

from referee.engine.adjudicator import LIVE_LOOKAHEAD, Adjudicator
from referee.engine.log import read_observations
from referee.engine.observations import Card, Pause, Tick
from referee.engine.view import View
from referee.record.pictures import PictureStore
from referee.record.rescue import mend_record
from referee.record.store import Record
from referee.table.game import Conductor
from referee.table.pause import CAMERA
from referee.table.timeline import RESUME_GAP, past_of
from referee.vision.sight import Sight
from tests.powercut.mount import NoFuse, Power, mounted
from tests.powercut.playing import FRAMES, JPEG, RECORD, Marker, perform, script_for

SEEDS: Final = (1, 3, 5)
A_WHILE: Final = 0.004
"""Longest time from a chosen announcement to a cut, s: a demo announces some three rulings in that time."""


@dataclass(slots=True)
class Reference:
    """A demo that was not cut short."""

    seed: int
    lines: list[str]
    commits: frozenset[int]
    announced: int
    changes: int
    """Number of changes of the filesystem."""
    careless: bool = False


@dataclass(slots=True)
class Tally:
    """The results of all cuts."""

    cuts: int = 0
    announced: int = 0
    lost: int = 0
    """Rulings that were announced and are not on record."""
    torn: int = 0
    """Records that are not the beginning of the uncut game, up to one of its commits."""
    stuck: int = 0
    """Games that did not go on, or not from the same state."""
    pictures: int = 0
    """Incomplete pictures."""
    damaged: int = 0
    """Records that were mistaken for damaged ones."""
    where: Counter[str] = field(default_factory=Counter)
    words: list[str] = field(default_factory=list)

    @property
    def well(self) -> bool:
        """Whether nothing went wrong."""
        return not (self.lost or self.torn or self.stuck or self.pictures or self.damaged)


def _start(folder: Path, of: Reference, marker: Marker, out: int) -> int:
    """Start the demo in a child; return its process."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        perform(folder, of.seed, out, marker, of.careless)
    finally:
        os._exit(0)


def _after(pipe: int, announced: int) -> bytes:
    """Wait until enough rulings were announced, or the demo is over; return the output read for it."""
    data = b""
    while data.count(b"\n") < announced:
        part = os.read(pipe, 1 << 12)
        if not part:
            break
        data += part
    return data


def _said(pipe: int, data: bytes = b"") -> list[str]:
    """Return every ruling announced before the end; one that is cut within its line does not count."""
    while part := os.read(pipe, 1 << 16):
        data += part
    os.close(pipe)
    return [line.decode() for line in data.split(b"\n")[:-1]]


def reference(folder: Path, seed: int, power: Power | None, careless: bool = False) -> Reference:
    """Play one demo to its end."""
    read, write = os.pipe()
    os.set_blocking(write, True)
    if power is not None:
        power.clear()
        power.cut_at(1 << 30)
    with open(os.devnull, "w") as null:  # noqa: PTH123 - a device
        stdout, sys.stdout = sys.stdout, null
        try:
            commits = perform(folder, seed, write, Marker(), careless)
        finally:
            sys.stdout = stdout
    os.close(write)
    changes = power.changes()[0] if power is not None else 0
    announced = len(_said(read))
    with Record(folder / RECORD) as record:
        lines = [text for _, text in record.lines(record.games()[0].id)]
    _sweep(folder)
    return Reference(seed, lines, frozenset((0, *commits)), announced, changes, careless)


def _sweep(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()


def _strike(folder: Path, of: Reference, announced: int, cut: Callable[[int], None]) -> tuple[list[str], str]:
    """Play up to an announcement, then until the cut; return the announcements, and the demo's activity."""
    read, write = os.pipe()
    marker = Marker()
    pid = _start(folder, of, marker, write)
    os.close(write)
    heard = _after(read, announced)
    cut(pid)
    os.waitpid(pid, 0)
    return _said(read, heard), marker.phase


def _judge(folder: Path, of: Reference, announced: list[str], tally: Tally) -> None:
    """Restore the power; compare the record, and check that the game goes on."""
    tally.cuts += 1
    tally.announced += len(announced)
    lines: list[str] = []
    # As the next start reads it; a power cut must never be taken for damage.
    if amiss := mend_record(folder / RECORD, "20260102T030405"):
        tally.damaged += 1
        tally.words.append(f"seed {of.seed}: {amiss}")
    with Record(folder / RECORD) as record:
        games = record.games()
        if games:
            lines = [text for _, text in record.lines(games[0].id)]
    if lines != of.lines[: len(lines)] or len(lines) not in of.commits:
        tally.torn += 1
        tally.words.append(f"seed {of.seed}: {len(lines)} lines on record, which is no commit of the game")
    rest = [seen for _, seen in read_observations(BytesIO("\n".join(lines).encode()))]
    engine = Adjudicator(lookahead_ns=LIVE_LOOKAHEAD)
    ruled = {ruling.id for seen in rest for ruling in engine.observe(seen)}
    view = engine.view
    # Lines not yet judged when the power failed are judged when time goes on: a hand on a table beyond the camera's
    # watermark is void.
    camera_watermark = max((seen.t for seen in rest if isinstance(seen, Tick) and seen.sensor == CAMERA), default=0)
    late = (
        Pause(t=max(camera_watermark, engine.watermark) + 1, id="pause"),
        Tick(t=max((line.t for line in rest), default=0) + RESUME_GAP),
    )
    ruled |= {ruling.id for seen in late for ruling in engine.observe(seen)} if rest else set()
    settled = engine.view
    ruled |= {ruling.id for ruling in engine.finish()}
    gone = [name for name in announced if name not in ruled]
    tally.lost += len(gone)
    tally.words += [f"seed {of.seed}: {name} was announced and is not on record" for name in gone]
    if lines and not _goes_on(lines, view, settled):
        tally.stuck += 1
        tally.words.append(f"seed {of.seed}: the game did not go on after {len(lines)} lines")
    _look_at_pictures(folder, tally)


def _goes_on(lines: list[str], view: View, settled: View) -> bool:
    """Whether the game stands where it stood, and the next look at the table lets it go on without a question."""
    past = past_of(lines)
    conductor = Conductor(past.table, past=past)
    if conductor.view != view:
        return False
    now = past.last + RESUME_GAP
    conductor.begin_again(now)
    was_paused = conductor.paused
    lying = tuple(Card(t=now, card=card, seat=None, t_error=0) for card in settled.pile[-1:])
    conductor.on_sight(Sight(now + 1, 1_000_000, lying, now + 1, state="quiet", first=True))
    conductor.advance(now + RESUME_GAP, now + RESUME_GAP)
    conductor.on_sight(Sight(now + RESUME_GAP, 1_000_000, (), now + RESUME_GAP, state="quiet"))
    after = conductor.view
    same = (after.pile, after.turn, after.counts) == (settled.pile, settled.turn, settled.counts)
    return was_paused and not conductor.paused and same


def _look_at_pictures(folder: Path, tally: Tally) -> None:
    store = PictureStore(folder / FRAMES)
    whole = all(picture.jpeg == JPEG for picture in store.near(1, 0, 1 << 62))
    store.close()
    if not whole:
        tally.pictures += 1
        tally.words.append("a picture is torn")


def power_cuts(count: int, seed: int = 1) -> Tally:
    """Cut the power of a forgetful filesystem a number of times.

    Raises:
        NoFuse: none can be mounted here.
    """
    tally, chance = Tally(), random.Random(seed)
    folder = Path(tempfile.mkdtemp(prefix="powercut-"))
    with mounted(folder) as power:
        plays = [reference(folder, seed, power) for seed in SEEDS]
        for number in range(count):
            of = plays[number % len(plays)]
            power.clear()
            at = chance.randrange(1, of.changes) if number % 2 else 0
            after = 0 if at else chance.randrange(of.announced)
            later = chance.uniform(0, A_WHILE)

            def cut(pid: int, at: int = at, later: float = later) -> None:
                if at:
                    power.cut_at(at, pid)
                else:
                    time.sleep(later)
                    power.cut_at(0, pid)

            announced, phase = _strike(folder, of, after, cut)
            tally.where[f"{phase}: {power.changes()[1]}" if at else phase] += 1
            power.back(chance.randrange(1 << 30) if chance.random() < 0.5 else None)
            _judge(folder, of, announced, tally)
            _sweep(folder)
    folder.rmdir()
    return tally


def kills(count: int, seed: int = 2, careless: bool = False) -> Tally:
    """Kill the program a number of times; a careless one announces before it commits."""
    tally, chance = Tally(), random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="kill-") as name:
        folder = Path(name)
        plays = [reference(folder, seed, None, careless) for seed in SEEDS]
        for number in range(count):
            of = plays[number % len(plays)]
            after, later = chance.randrange(of.announced), chance.uniform(0, A_WHILE)

            def kill(pid: int, later: float = later) -> None:
                time.sleep(later)
                os.kill(pid, signal.SIGKILL)

            announced, phase = _strike(folder, of, after, kill)
            tally.where[phase] += 1
            _judge(folder, of, announced, tally)
            _sweep(folder)
    return tally


def _show(title: str, tally: Tally) -> None:
    print(f"{title}: {tally.cuts}, after {tally.announced} rulings were announced")
    for name, value in (
        ("announced rulings lost", tally.lost), ("records torn", tally.torn),
        ("games that did not go on from the same state", tally.stuck), ("pictures torn", tally.pictures),
        ("records taken to be damaged", tally.damaged),
    ):  # fmt: skip
        print(f"  {name:46} required 0   measured {value}")
    print("  where they fell:")
    for where, count in tally.where.most_common():
        print(f"    {where:44} {count:4}  {'#' * max(1, round(60 * count / max(1, tally.cuts)))}")
    for words in tally.words[:12]:
        print(f"  {words}")


def main() -> int:
    """Cut, kill, and report; exit status 1 if anything was lost."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    for seed in SEEDS:
        script_for(seed)
    try:
        tallies = [("power cuts", power_cuts(count)), ("kills", kills(count))]
    except NoFuse as error:
        print(f"no filesystem that forgets can be mounted here: {error}")
        tallies = [("kills", kills(count))]
    for title, tally in tallies:
        _show(title, tally)
    return int(len(tallies) < 2 or not all(tally.well for _, tally in tallies))


if __name__ == "__main__":
    sys.exit(main())
