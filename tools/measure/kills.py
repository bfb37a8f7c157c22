"""The cost of killed children in an evening: `make kills`.

A table plays rendered games in real time (`tools.measure.kills_table`) for half an hour, one after the other in one
referee. Each minute one of its children is killed: the camera's process, the eye, the page, in turn. In the end each
game's rulings are compared with the truth's, and each process's resources - memory, descriptors, threads - in the last
third of the time with the first. ``--again`` scores the stored results of an earlier run.

A ruling counts as *wrong with confidence* where it is in force in the end, the truth's game has none like it, and it
bears no doubt of its own (`tools.measure.gaps`). The questions to people are counted beside.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import cycle, pairwise
from pathlib import Path
from statistics import median
from typing import Final

from hardware.clock import monotonic
from hardware.priority import be_urgent
from referee.demo.score import (
    align,
    asked_once,
    comparable,
    in_force,
    match_rulings,
    true_rulings,
)
from referee.engine.observations import Card, Pause, Tick
from referee.engine.rulings import Ruling
from referee.units import SECOND
from tests.web.viewers import ROOT
from tools.measure.gaps import Refereed, errors_of, is_their_turn, says_so
from tools.measure.kills_table import Game
from tools.measure.soak_memory import FLAT, children, held, rise
from tools.measure.soak_rendered import free_port, serves

KINDS: Final = ("camera", "eye", "page")
_EVERY: Final = 5.0
"""Seconds between samples of the processes."""
_BACK_WITHIN: Final = 60.0
"""Seconds within which a killed child must be replaced."""
_ON_ITS_WAY: Final = 40.0
"""Seconds after a kill in which its trouble may still stand: a page must have lived for thirty."""
_TOLD_WITHIN: Final = 10 * SECOND
"""A question or a pause this near to a lost card accounts for it, ns."""
_KEPT: Final = "watch.json"
_SHARED: Final = Path("/dev/shm")


def family(referee: int) -> dict[str, int]:
    """Return the referee's processes by role; a missing one is left out."""
    found = {"referee": referee}
    for child, command in children(referee).items():
        if "spawn_main" in command:
            found["eye"] = child
            for below, its in children(child).items():
                if "hardware.camera.camera_process" in its:
                    found["camera"] = below
        elif " page " in command:
            found["page"] = child
    return found


@dataclass(frozen=True, slots=True)
class Holding:
    """The resources of a process at an instant."""

    memory: int
    descriptors: int
    threads: int

    @classmethod
    def of(cls, pid: int) -> Holding:
        """Sample a process; raises `OSError` where it has ended."""
        of = Path(f"/proc/{pid}")
        descriptors, threads = (sum(1 for _ in (of / name).iterdir()) for name in ("fd", "task"))
        return cls(held(pid), descriptors, threads)


@dataclass(slots=True)
class Watch:
    """Observations of the processes while the games are played."""

    seconds: float = 0.0
    samples: dict[str, list[tuple[int, int, int]]] = field(default_factory=dict)
    """By process: memory, descriptors, threads."""
    kills: list[tuple[str, float, float]] = field(default_factory=list)
    """The child, when it was killed, and the seconds until its replacement; -1: none came."""
    left: int = 0
    """Processes of the table that were still there when it had ended."""
    shared: int = 0
    """Shared memory segments that it left."""

    def keep(self, folder: Path, began: float) -> None:
        """Store in the folder's file; ``began``: the monotonic clock at the first game's beginning, s."""
        self.seconds = round(time.monotonic() - began, 1)
        (folder / _KEPT).write_text(json.dumps({name: getattr(self, name) for name in Watch.__slots__}))

    @classmethod
    def kept(cls, folder: Path) -> Watch:
        """Read the folder's file."""
        return cls(**json.loads((folder / _KEPT).read_text()))


def _sample(watch: Watch, referee: int) -> None:
    for name, pid in family(referee).items():
        with suppress(OSError):
            held_now = Holding.of(pid)
            watch.samples.setdefault(name, []).append((held_now.memory, held_now.descriptors, held_now.threads))


def _kill(kind: str, referee: int, port: int) -> float | None:
    """Kill a child, and wait until its replacement is there and the page answers.

    Returns the seconds that it took, -1 if none came, None where there was none to kill.
    """
    pid = family(referee).get(kind)
    if pid is None:
        return None
    os.kill(pid, signal.SIGKILL)
    began = time.monotonic()
    while time.monotonic() - began < _BACK_WITHIN:
        time.sleep(0.1)
        now = family(referee).get(kind, pid)
        if now != pid and (kind != "page" or serves(port)):
            return time.monotonic() - began
    return -1.0


def run(folder: Path, minutes: float, every: float, seed: int, *, urgent: bool = False) -> Watch:
    """Have the evening played, and kill children; raises `RuntimeError` where the table itself failed."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*"):
        if old.is_file():
            old.unlink()
    port, watch, before = free_port(), Watch(), set(_SHARED.iterdir())
    # Imported, not run with -m: pickle looks its classes up in a module of that name.
    command = [sys.executable, "-c", "from tools.measure.kills_table import main; main()", "--minutes", str(minutes)]
    with (folder / "said.txt").open("wb") as said:
        command += ["--seed", str(seed), "--folder", str(folder), "--port", str(port)]
        process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
            env={**os.environ, "XDG_RUNTIME_DIR": str(folder), "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
    began = time.monotonic()
    due, turn, seen = began + every, cycle(KINDS), set[int]()
    kind, sampled = next(turn), began
    try:
        while process.poll() is None:
            time.sleep(1)
            now = family(process.pid)
            for name, pid in now.items():
                if urgent and name in ("camera", "eye"):
                    with suppress(OSError):
                        be_urgent(pid)
            seen |= set(now.values())
            if time.monotonic() < sampled + _EVERY:
                continue
            sampled = time.monotonic()
            _sample(watch, process.pid)
            if due <= time.monotonic() < began + minutes * 60:
                at = monotonic() / SECOND
                took = _kill(kind, process.pid, port)
                if took is None:
                    # Between two games there is no eye: try a little later.
                    continue
                watch.kills.append((kind, at, round(took, 1)))
                print(f"{time.monotonic() - began:5.0f} s  {kind} killed, back after {took:.1f} s", flush=True)
                kind, due = next(turn), due + every
                watch.keep(folder, began)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()
    time.sleep(2)
    watch.left = sum(Path(f"/proc/{pid}").exists() for pid in seen)
    watch.shared = sum("psm_" in path.name for path in set(_SHARED.iterdir()) - before)
    watch.keep(folder, began)
    if process.returncode:
        raise RuntimeError(f"the table failed: {(folder / 'said.txt').read_text()[-3000:]}")
    return watch


@dataclass(slots=True)
class Score:
    """The sums over all games."""

    games: int = 0
    cards: int = 0
    seen: int = 0
    """The cards among these that the log has, even as ``??``."""
    lost: list[str] = field(default_factory=list)
    """Cards that the log lacks and that no notice mentioned."""
    rulings: int = 0
    """Rulings of the truth."""
    equal: int = 0
    open: int = 0
    """Rulings that the truth has not, and that say so themselves, or state a turn later."""
    asked: int = 0
    gave_up: int = 0
    """Games that people gave up because the turn was unknown."""
    troubles: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def score(games: Sequence[Game], kills: Sequence[tuple[str, float, float]]) -> Score:
    """Compare the games with the truth; each wrong ruling is printed with the last kill before it."""
    out = Score()
    for number, game in enumerate(games):
        called = [moment.t for moment in game.script.called]
        out.games += 1
        out.cards += game.script.laid
        out.gave_up += game.gave_up
        out.asked += len(asked_once(game.rulings))
        end = (game.began + max((line.t for line in game.lines), default=0)) / SECOND
        # A process just killed may still be restarting.
        fresh = {"page" if kind == "page" else "camera" for kind, t, _ in kills if end - _ON_ITS_WAY < t <= end}
        left = {part: words for part, words in game.troubles.items() if part not in fresh}
        out.troubles += [f"game {number}, at its end: {part}: {words}" for part, words in left.items()]
        _score_cards(out, game, f"game {number}")
        errors = errors_of(Refereed(game.lines, game.rulings))
        for since, until, true in true_stretches(game):
            wanted, _ = comparable([judged for judged in true if since < judged.t <= until], called)
            made, _ = comparable([judged for judged in in_force(game.rulings) if since < judged.t <= until], called)
            equal, _, surplus = match_rulings(wanted, made, errors)
            out.rulings += len(wanted)
            out.equal += len(equal)
            for ruling in surplus:
                if says_so(ruling) or is_their_turn(ruling, wanted, errors(ruling)):
                    out.open += 1
                else:
                    out.wrong.append(f"game {number}, {_show(ruling, game, kills)}")
    return out


def true_stretches(game: Game) -> Iterator[tuple[int, int, list[Ruling]]]:
    """Yield stretches of a game, each with the rulings of a referee that knew the truth from its beginning on.

    Where the players stood still they went on from the referee's state: so the stretch after that begins with the
    reports that he had received by then.
    """
    table, *truth = game.script.truth
    end = min(game.script.duration, max((line.t for line in game.lines), default=0))
    bounds = [-1, *game.resumed, end]
    for since, until in pairwise(bounds):
        told = [line for line in game.lines[1:] if line.t <= since and not isinstance(line, Tick)]
        true = [replace(line, id=f"true {line.id}") for line in truth if since < line.t <= until]
        yield since, until, true_rulings(sorted([table, *told, *true], key=lambda line: line.t), until)


def _score_cards(out: Score, game: Game, name: str) -> None:
    """Count the cards that the log has, and those that nothing mentions."""
    laid, read = ([line for line in lines if isinstance(line, Card)] for lines in (game.script.truth, game.lines))
    words = [ruling.t for ruling in game.rulings if ruling.kind == "question"]
    words += [line.t for line in game.lines if isinstance(line, Pause)]
    for true, seen in align(laid, read):
        if true is None:
            continue
        out.seen += seen is not None
        if seen is None and not any(abs(t - true.t) < _TOLD_WITHIN for t in words):
            out.lost.append(f"{name}, {true.t / SECOND:.2f} s: {true.card}")


def _show(ruling: Ruling, game: Game, kills: Sequence[tuple[str, float, float]]) -> str:
    at = (game.began + ruling.t) / SECOND
    last = next(
        (f"{at - t:.1f} s after the {kind}'s end" for kind, t, _ in reversed(kills) if t <= at), "no kill before"
    )
    return f"{ruling.t / SECOND:.2f} s ({last}): {ruling.kind} {dict(ruling.fields)}"


def _games(folder: Path) -> list[Game]:
    return [pickle.loads(path.read_bytes()) for path in sorted(folder.glob("game-*.pickle"))]


def table_of(watch: Watch, found: Score) -> Iterator[tuple[str, str, str, bool]]:
    """Yield the table: name, required, measured, and whether it is met."""
    killed = ", ".join(f"{kind} {many}" for kind, many in Counter(kind for kind, *_ in watch.kills).items())
    back = [took for *_, took in watch.kills]
    said = f"{sum(took >= 0 for took in back)} of {len(back)} ({killed})"
    if back:
        said += f", after {median(back):.1f} s, at most {max(back):.1f} s"
    yield "children killed and there again", "all", said, bool(back) and min(back) >= 0
    said = f"{found.equal} of the truth's {found.rulings} in {found.games} games, {found.cards} cards"
    said = f"{len(found.wrong)}; {said}; {found.open} open, {found.asked} questions"
    said += f", {found.gave_up} games given up" * bool(found.gave_up)
    yield "rulings wrong with confidence", "0", said, not found.wrong
    said = f"{len(found.lost)}; {found.seen} of {found.cards} cards on the log"
    yield "cards lost without a word", "0", said, not found.lost
    yield "troubles at a game's end", "0", "; ".join(found.troubles) or "0", not found.troubles
    for name in ("referee", *KINDS):
        yield from flatness(name, watch.samples.get(name, []))
    left = f"{watch.left}, {watch.shared}"
    yield "processes and shared memory left behind", "0, 0", left, left == "0, 0"


def flatness(name: str, samples: Sequence[tuple[int, int, int]]) -> Iterator[tuple[str, str, str, bool]]:
    memory = [size for size, _, _ in samples]
    more = rise(memory)
    said = "too few samples" if more is None else f"{more:+.1%}, {median(memory[-12:]) / 1e6:.0f} MB at the end"
    yield f"memory of {name} rises", f"{FLAT:.0%} at most", said, more is not None and more <= FLAT
    for what, place in (("descriptors", 1), ("threads", 2)):
        column = [sample[place] for sample in samples]
        third = len(column) // 3
        if third:
            # A leak raises both the median and the maximum; a pool's threads come late, and a start opens more for a
            # while.
            (first, most), (end, last) = ((median(part), max(part)) for part in (column[:third], column[-third:]))
            said = f"{first:g}, at most {most}; at the end {end:g}, {last}"
            yield f"{what} of {name}", "no more", said, end <= first or last <= most


def main() -> int:
    """Print required and measured; exit status 1 where a requirement is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0, help="in which games are begun")
    parser.add_argument("--every", type=float, default=60.0, help="seconds from one kill to the next")
    parser.add_argument("--seed", type=int, default=4301, help="of the first game")
    parser.add_argument(
        "--urgent", action="store_true", help="have the machine prefer camera and eye to its other work"
    )
    parser.add_argument("--folder", type=Path, default=Path("out/kills"), help="keeps all that was seen")
    parser.add_argument("--again", action="store_true", help="play nothing: score what the folder keeps")
    args = parser.parse_args()
    folder = args.folder.absolute()
    watch = Watch.kept(folder) if args.again else run(folder, args.minutes, args.every, args.seed, urgent=args.urgent)
    found = score(_games(folder), watch.kills)
    print(*(f"wrong: {words}" for words in found.wrong), *(f"lost: {words}" for words in found.lost), sep="\n")
    print(f"\n{watch.seconds / 60:.0f} minutes, {os.cpu_count()} cores, load {os.getloadavg()[2]:.0f}")
    ok = True
    for what, required, measured, kept in table_of(watch, found):
        ok &= kept
        print(f"{what:44}{required:>12}   {measured}{'' if kept else '   MISSED'}")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
