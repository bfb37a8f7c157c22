"""The core compared with the plain referee, game by game: the first instant at which the two disagree.

``python -m tests.oracle.comparison --games 2000`` plays that many games of each preset.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

from referee.engine.adjudicator import Adjudicator
from referee.engine.observations import Observation
from referee.engine.rulings import Ruling
from tests.oracle.games import APART, Game, play
from tests.oracle.plain_referee import PRESETS, Row, expected

FIELDS = {
    "lead": ("seat",),
    "turn": ("seat",),
    "challenge": ("seat", "challenged", "card", "chances"),
    "chance": ("seat", "left"),
    "challenge_moves": ("seat", "left"),
    "challenge_won": ("seat",),
    "slap_won": ("seat", "patterns", "cards", "margin", "error", "runners_up", "decided_by", "doubt"),
    "slap_false": ("seat", "reason", "doubt"),
    "slap_void": ("seat", "reason", "doubt"),
    "dead_heat": ("seats", "margin", "error"),
    "burn": ("seat", "count", "where"),
    "give": ("seat", "to", "count"),
    "contested": ("against", "by", "upheld"),
    "strike": ("seat", "strikes"),
    "locked_out": ("seat", "until"),
    "dead_card": ("seat", "card", "reason"),
    "pile": ("seat", "count"),
    "out": ("seat",),
    "slapped_in": ("seat",),
    "question": ("ask",),
    "won": ("seat",),
    "lost": ("seat",),
    "drawn": (),
}
"""The deciding fields of each kind; reminders and repetitions are left out, because they rule on nothing."""


def plain(value: object) -> object:
    """Return lists and plain dicts in place of tuples and mappings."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def reduced(ruling: Ruling) -> Row:
    row: Row = {"kind": ruling.kind, "t": ruling.t}
    for name in FIELDS.get(ruling.kind, ()):
        row[name] = ruling.doubt if name == "doubt" else plain(ruling.get(name))
    if "patterns" in row:
        row["patterns"] = sorted(row["patterns"])
    return row


def from_core(observations: Sequence[Observation]) -> list[Row]:
    adjudicator = Adjudicator()
    rulings = [ruling for line in observations for ruling in adjudicator.observe(line)]
    rulings += adjudicator.finish()
    replacing = [ruling for ruling in rulings if ruling.supersedes]
    assert all("E8" in ruling.rule for ruling in replacing), "nothing was corrected"
    replaced = {name for ruling in replacing for name in ruling.supersedes}
    standing = (ruling for ruling in rulings if ruling.id not in replaced)
    return [reduced(ruling) for ruling in standing if ruling.kind not in ("remind", "repeated")]


def from_oracle(played: Game) -> tuple[list[Row], int | None]:
    """Return its rulings, and from when on it has none, if so."""
    oracle = expected(played.lines, played.deal)
    rows = [{name: row[name] for name in ("kind", "t", *FIELDS[row["kind"]])} for row in oracle.rulings]
    return rows, oracle.stopped_at


def by_instant(rows: Iterable[Row]) -> dict[int, list[str]]:
    """Return rulings of each instant, as text; their order within the instant is tested elsewhere."""
    out: dict[int, list[str]] = {}
    for row in rows:
        if row.get("reason") in ("late", "held"):
            row["doubt"] = False  # such a hand is nothing, however it was judged
        words = " ".join(f"{name}={value}" for name, value in row.items() if name not in ("kind", "t"))
        out.setdefault(row["t"], []).append(f"{row['kind']} {words}")
    return {t: sorted(lines) for t, lines in sorted(out.items())}


class Difference(NamedTuple):
    """The first instant at which the two referees disagree."""

    core: list[str]
    """Rulings of the core alone."""
    oracle: list[str]
    """Rulings of the oracle alone."""
    story: str
    """The whole game in words, for judging."""

    @property
    def sort(self) -> str:
        """Return the common part of such differences: the kinds of rulings."""
        return " + ".join(
            f"{who}: {', '.join(sorted({row.split()[0] for row in rows})) or 'nothing'}"
            for who, rows in (("core", self.core), ("oracle", self.oracle))
        )


def difference(played: Game) -> Difference | None:
    """Return the first difference of the two referees; None if they agree."""
    rows, stopped_at = from_oracle(played)
    core, oracle = by_instant(from_core(played.observations)), by_instant(rows)
    for t in sorted(core.keys() | oracle.keys()):
        ours, theirs = core.get(t, []), oracle.get(t, [])
        if t == stopped_at and set(theirs) <= set(ours):
            break  # all later events are open as well
        if ours != theirs:
            only = [row for row in ours if row not in theirs], [row for row in theirs if row not in ours]
            return Difference(*only, _story(played, t, ours, *only))
    return None


def _story(played: Game, t: int, ours: list[str], core: list[str], oracle: list[str]) -> str:
    lines = [line for line in played.lines if line["t"] <= t]
    near = lines[max(1, len(lines) - 14) :] + [line for line in played.lines if line["t"] > t][:3]
    adjudicator = Adjudicator(lookahead_ns=APART)
    for observation in played.observations:
        if observation.t < t:
            adjudicator.observe(observation)
    adjudicator.promise(t - 1 + APART)
    view = adjudicator.view
    return "\n".join(
        [
            f"game {played.seed}: at {t} the two referees differ; the log there:",
            *("    " + json.dumps(line) for line in (played.lines[0], *near)),
            f"  just before, by the core: pile {' '.join(view.pile)!r}, counts {view.counts}, turn {view.turn}",
            *(f"  only the core:   {row}" for row in core),
            *(f"  only the oracle: {row}" for row in oracle),
            *(f"  both:            {row}" for row in ours if row not in core),
        ]
    )


def _compared(preset: str, seeds: range) -> tuple[int, list[Difference]]:
    """Return the number of rulings compared, and the differences."""
    rulings, found = 0, []
    for seed in seeds:
        played = play(seed, preset=preset)
        found.append(difference(played))
        rulings += len(from_oracle(played)[0])
    return rulings, [deviation for deviation in found if deviation]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="The core against the plain referee, on games played by chance.")
    parser.add_argument("--games", type=int, default=2000, help="how many of each preset (2000)")
    parser.add_argument("--seed", type=int, default=0, help="the first one's seed (0)")
    parser.add_argument("--preset", nargs="*", default=list(PRESETS), choices=list(PRESETS), metavar="PRESET")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options: Any = parser.parse_args(argv)
    with ProcessPoolExecutor(options.jobs) as pool:
        return max(_compare(pool, preset, options) for preset in options.preset)


def _compare(pool: ProcessPoolExecutor, preset: str, options: Any) -> int:
    """Compare one preset: return how many games differ, and the earliest difference of each sort."""
    start, block, last = time.perf_counter(), 20, options.seed + options.games
    blocks = [range(first, min(first + block, last)) for first in range(options.seed, last, block)]
    sorts: dict[str, list[Difference]] = {}
    games = rulings = 0
    for seeds, (many, found) in zip(blocks, pool.map(_compared, [preset] * len(blocks), blocks), strict=True):
        games, rulings = games + len(seeds), rulings + many
        for deviation in found:
            sorts.setdefault(deviation.sort, []).append(deviation)
        if sys.stderr.isatty():
            print(f"\r{preset}: {games} of {options.games} games", end="\r", file=sys.stderr, flush=True)
    took = time.perf_counter() - start
    differ = sum(map(len, sorts.values()))
    print(f"{preset}: {games} games, {rulings:,} rulings, {differ} games differ ({took:.0f} s)", flush=True)
    for sort, those in sorted(sorts.items(), key=lambda item: -len(item[1])):
        print(f"{len(those)} x {sort}\n{min((deviation.story for deviation in those), key=len)}", flush=True)
    return min(1, differ)


if __name__ == "__main__":
    sys.exit(main())
