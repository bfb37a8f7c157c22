"""A simulated day at one table: memory stays flat, the record and its pictures stay under their caps.

``python -m tools.measure.soak --cards 200000`` plays games to their end, one after the other, each through raw edges
and injected observations into the conductor and the record, with pictures round every slap, while a page's process
follows with viewers; then ``--rendered`` whole games in real time through the real camera's, eye's and page's
processes (`tools.measure.soak_table`). Each process's memory is noted: the referee's and the page's after each game
of the day, and all three's every second of a rendered game. A day may be stopped (Ctrl-C) and resumed: its
folder keeps it.
"""

from __future__ import annotations

import argparse
import gc
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Final

from hardware.simulated.table.script import Script
from referee.demo.simulated_game import DemoOptions, script_of
from referee.engine.rulings import Ruling
from referee.record.pictures import Picture, PictureStore
from referee.record.retention import make_room
from referee.record.store import Record
from referee.table.page_link import PAGE_SOCKET, PageLink
from referee.table.services import GameContext, TableService
from tests.support.scripted_watcher import ScriptedWatcher, as_seen, blank_frames
from tests.support.stepped_demo import play
from tests.web.served import Served
from tests.web.viewers import Viewers
from tools.measure.soak_day import FRAMES_CAP, RECORD_CAP, Day, Game
from tools.measure.soak_memory import held
from tools.measure.soak_rendered import rendered

FPS: Final = 15.0
VIEWERS: Final = 3
GAMES: Final = 20
"""Number of different games, which are repeated; the first round of them is the settling time."""
JPEG: Final = b"\xff\xd8" + bytes(range(256)) * 80 + b"\xff\xd9"
TELL: Final = 2.0
"""Seconds between progress lines on a terminal; a log file gets a thirtieth of them."""


class _Pictures(TableService):
    """Keeps pictures round slaps, as the appliance does."""

    name = "pictures"

    def __init__(self, store: PictureStore) -> None:
        self._store = store
        self._number: Callable[[], int | None] = lambda: None
        self.given_up = 0

    def begin_game(self, game: GameContext) -> None:
        self._number = game.number

    def take_rulings(self, rulings: Sequence[Ruling]) -> None:
        game = self._number()
        for ruling in rulings:
            if game is not None and ruling.kind.startswith("slap"):
                near = [Picture(ruling.t + n * 66_000_000, 4_000_000, JPEG) for n in range(-4, 5)]
                self.given_up += self._store.add(game, near)


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in path.parent.glob(path.name + "*"))


class Table:
    """The referee's own process, which this is, and the page's beside it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._store = PictureStore(folder / "frames.db", cap=FRAMES_CAP)
        self._record = Record(folder / "record.db")
        run = folder / "run"
        self._page = Served(self._record.path, "--listen", str(run / PAGE_SOCKET), "--runtime", str(run))
        self._viewers = Viewers(self._page.port, VIEWERS).wait()

    def play(self, script: Script, seed: int) -> Game:
        """Play one game to its end; return its figures."""
        cards, lines, given_up = self._played(script, seed)
        removed = make_room(self._record, "2026-01-01", RECORD_CAP).removed
        sizes = _size(self._folder / "record.db"), _size(self._folder / "frames.db")
        # Reference cycles left by a game are no leak: the collector runs in a running table, too.
        gc.collect()
        memory = {"referee": held(), "page": held(self._page.pid)}
        return Game(cards, lines, len(removed), given_up, *sizes, memory)

    def _played(self, script: Script, seed: int) -> tuple[int, int, int]:
        """Return the cards laid, lines written, and old pictures removed."""
        pictures = _Pictures(self._store)
        link = PageLink(self._folder / "run")
        eye = ScriptedWatcher(as_seen(script.truth, round(1e9 / FPS)), delay=round(1e9 / FPS))
        try:
            with _silent():
                _, conductor = play(
                    DemoOptions(seed=seed, pace=False, live=False), script, eye,
                    frames=blank_frames(FPS, script.duration), services=[pictures, link],
                    record=self._record.path,
                )  # fmt: skip
        finally:
            link.close()
        game = self._record.games()[0].id
        return conductor.cards, sum(1 for _ in self._record.lines(game)), pictures.given_up

    def close(self) -> None:
        """Let everything go."""
        self._viewers.close()
        self._page.stop()
        self._record.close()
        self._store.close()


@contextmanager
def _silent() -> Iterator[None]:
    kept = sys.stdout
    with Path("/dev/null").open("w", encoding="utf-8") as nowhere:
        sys.stdout = nowhere
        try:
            yield
        finally:
            sys.stdout = kept


class Stopped:
    """Whether the end was requested, by Ctrl-C or SIGTERM; an unfinished game then does not count."""

    def __init__(self) -> None:
        self.asked = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)

    def _stop(self, *_: object) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        print("\nstopping", file=sys.stderr, flush=True)


class Progress:
    """Prints the progress and the remaining time, by the pace since it began."""

    def __init__(self, what: str, done: int, of: int) -> None:
        self._what, self._first, self._of = what, done, of
        self._began, self._told = time.monotonic(), 0.0
        self._live = sys.stderr.isatty()

    def tell(self, done: int, more: str = "") -> None:
        """Report progress."""
        now = time.monotonic()
        if now - self._told < (TELL if self._live else 30 * TELL) and done < self._of:
            return
        self._told = now
        pace = (done - self._first) / max(1e-9, now - self._began)
        left = f"{(self._of - done) / pace / 60:.0f} min left" if pace > 0 and done < self._of else ""
        line = f"{self._what} {min(done, self._of):,} of {self._of:,} ({min(done / self._of, 1):.0%}) {left} {more}"
        print(f"\r{line:<100}" if self._live else line, end="" if self._live else "\n", file=sys.stderr, flush=True)


def _scripts(first: int) -> Iterator[tuple[int, Script]]:
    """Yield games without end."""
    scripts: dict[int, Script] = {}
    for number in count(first):
        seed = 1 + number % GAMES
        if seed not in scripts:
            scripts[seed] = script_of(DemoOptions(seed=seed, max_cards=400))
        yield number, scripts[seed]


def a_day(folder: Path, cards: int, stopped: Stopped | None = None) -> Day:
    """Play games until enough cards were laid since the day's beginning, or the end is requested."""
    folder.mkdir(parents=True, exist_ok=True)
    day = Day.kept(folder / "day.jsonl")
    if day.cards >= cards:
        return day
    day.begin_segment()
    progress, table = Progress("cards", day.cards, cards), Table(folder)
    try:
        for number, script in _scripts(day.games):
            began = time.monotonic()
            game = table.play(script, number)
            if stopped is not None and stopped.asked:
                # The page may have received the same Ctrl-C.
                break
            day.add(game, time.monotonic() - began)
            memory = ", ".join(f"{name} {size / 1e6:.0f} MB" for name, size in day.last.memory.items())
            progress.tell(day.cards, memory)
            if day.cards >= cards:
                break
    except ProcessLookupError:
        if stopped is None or not stopped.asked:
            raise
    finally:
        table.close()
    return day


def _home(folder: Path, *, fresh: bool) -> Path:
    if fresh:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def main() -> int:
    """Play the day, print required and measured; exit status 1 where one is missed, 2 where there is more to do."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cards", type=int, default=200_000, help="of the whole day, those of earlier calls included")
    parser.add_argument("--rendered", type=int, default=2, help="whole games in real time")
    parser.add_argument("--rendered-cards", type=int, default=400, help="at most, of each of these")
    parser.add_argument("--folder", type=Path, default=Path("out/soak"), help="keeps the day")
    parser.add_argument("--fresh", action="store_true", help="forget what was played before")
    args = parser.parse_args()
    folder, stopped = _home(args.folder, fresh=args.fresh), Stopped()
    day = a_day(folder, args.cards, stopped)
    games = rendered(folder, args.rendered, args.rendered_cards, stopped)
    checks = [*day.checks(args.cards), *(check for game in games for check in game.checks())]
    if len(games) < args.rendered:
        checks.append(("whole rendered games", str(args.rendered), str(len(games)), None))
    print(f"\n{day.games} games, {day.cards} cards, {day.lines} lines in {day.seconds:.0f} s; {os.cpu_count()} cores")
    print(f"{'':44}{'required':>12}   measured")
    for what, required, measured, ok in checks:
        mark = "" if ok else "   NOT YET" if ok is None else "   MISSED"
        print(f"{what:44}{required:>12}   {measured}{mark}")
    if any(ok is None for *_, ok in checks):
        print("there is more to do: call it again, and it goes on")
    return 1 if any(ok is False for *_, ok in checks) else 2 if any(ok is None for *_, ok in checks) else 0


if __name__ == "__main__":
    sys.exit(main())
