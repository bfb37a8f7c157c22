"""A script played through the real shells, and scored."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hardware.pads import LEAST_ERROR
from hardware.ports import Frame, HardwareMissing, Lights, Speaker
from hardware.simulated.script import Script
from referee.adjudication.observations import Taken
from referee.app.conductor import Conductor, Outlet, Watching
from referee.app.display import Display
from referee.app.journal import Journal
from referee.app.outlets import Lamps, Voice
from referee.app.paging import Paging, Shown
from referee.app.problems import UserError
from referee.app.scoring import Summary, count, slaps_of
from referee.app.scoring_cards import score_cards
from referee.app.scoring_rulings import heats, score_rulings

if TYPE_CHECKING:
    from typing import TextIO
from referee.app.demo_options import Options
from referee.app.demo_table import AtOnce, Pace, People, RealTime, Table, TableClock

SECOND: Final = 1_000_000_000
REDRAW: Final = 0.15
"""Seconds of the machine's time between two drawings of the display."""


@dataclass(slots=True)
class Run:
    """What is measured while the game is played."""

    frames: int = 0
    began: float = 0.0
    took: float = 0.0
    lag: float = 0.0

    @property
    def fps(self) -> float:
        return self.frames / self.took if self.took > 0 else 0.0


def _play(
    frames: Iterator[Frame], table: Table, conductor: Conductor, people: People, display: Display, pace: Pace,
    paging: Paging | None = None,
) -> Run:  # fmt: skip
    run = Run()
    drawn = 0.0
    for frame in frames:
        now = table.see(frame)
        if run.frames == 0:
            run.began = time.monotonic()
        for question, value in people.due(now):
            conductor.answer(question, value, now)
        if paging is not None:
            paging.turn(now)
        run.frames += 1
        wall = time.monotonic()
        run.took = wall - run.began
        behind = pace.behind(now)
        run.lag = max(run.lag, behind)
        if wall - drawn >= REDRAW:
            drawn = wall
            gauge = display.gauge
            gauge.t, gauge.fps, gauge.lag_ms = now, run.fps, behind
            gauge.cards = conductor.cards
            display.draw(conductor.view)
    return run


def play(
    options: Options,
    script: Script,
    watcher: Watching,
    *,
    speaker: Speaker | None = None,
    lights: Lights | None = None,
    outlets: Mapping[str, Outlet] | None = None,
    frames: Iterator[Frame],
    clock: TableClock | None = None,
    log: TextIO | None = None,
    journal: Journal | None = None,
    shown: Shown | None = None,
) -> tuple[Summary, Conductor]:
    """Play a script through the real shells and score it; written as text to ``log``, or to a ``journal``.

    Raises:
        UserError: the camera stopped.
    """
    people = People(script)
    paging = shown.paging if shown is not None else None
    lamps = Lamps(lights, script.seats) if lights is not None else None
    pace: Pace = RealTime() if options.pace else AtOnce()
    with ExitStack() as stack:
        display = stack.enter_context(Display(script.table.seats, live=options.live))
        display.gauge.title = f"{options.rules} · {script.seats} seats · seed {options.seed}"
        there = {"page": paging, "voice": Voice(speaker) if speaker is not None else None, "lights": lamps}
        parts: dict[str, Outlet] = {"display": display, "people": people.hear, **(outlets or {})}
        parts |= {name: part for name, part in there.items() if part is not None}
        conductor = Conductor(script.table, watcher, outlets=parts, log=log, journal=journal)
        clock = clock or TableClock()
        table = Table(script, conductor, lamps, pace, clock)
        if shown is not None:
            shown.paging.follow(conductor, shown.keeper, clock)
        try:
            run = _play(frames, table, conductor, people, display, pace, paging)
        except HardwareMissing as bad:
            raise UserError(str(bad)) from None
        table.close(script.duration)
        conductor.finish()
        if paging is not None:
            paging.turn(script.duration + 2 * SECOND)
        display.draw(conductor.view)
    return summarise(options, script, conductor, run), conductor


def summarise(options: Options, script: Script, conductor: Conductor, run: Run) -> Summary:
    """Hold what was seen and ruled against what really happened."""
    seen = conductor.observations
    called = [moment.t for moment in script.called]
    return Summary(
        seed=options.seed,
        seats=script.seats,
        rules=str(options.rules),
        finished=script.finished,
        cards=score_cards(script.truth, seen),
        slaps=slaps_of(script.truth),
        slaps_felt=slaps_of(seen),
        taken=count(Taken, script.truth),
        taken_seen=count(Taken, seen),
        rulings=score_rulings(
            conductor.rulings, seen, script.truth, [*called, *heats(script.truth, 2 * LEAST_ERROR)], script.duration
        ),
        played_s=round(script.duration / 1e9, 1),
        took_s=round(run.took, 1),
        frames=run.frames,
        fps=round(run.fps, 1),
        lag_ms=round(run.lag, 1),
        troubles=dict(conductor.troubles),
    )
