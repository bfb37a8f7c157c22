"""The one place where sensors meet the referee, and where its rulings meet voice, lights and display.

The conductor owns no thread and no clock: frames, edges and the instant it is are handed to it, in one thread, by
whoever drives it (`running` at a real table, `demo` at the simulated one). It writes the table log as it goes:
observations in the order in which they became known, ticks by which each sensor promises what it has told, and the
rulings. Played again, that log gives the same rulings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol, TextIO

from hardware.slaps import PadFilter
from referee.adjudication.adjudicator import Adjudicator
from referee.adjudication.codec import encode
from referee.adjudication.foresight import Foresight
from referee.adjudication.observations import Answer, Card, Observation, Other, Table, Tick
from referee.adjudication.rulings import Ruling, encode_ruling
from referee.adjudication.view import View

if TYPE_CHECKING:
    from hardware.ports import Edge, Frame

CAMERA: Final = "camera"
PADS: Final = "pads"
SENSORS: Final = (CAMERA, PADS)
LOOKAHEAD: Final = 10_000_000
"""Widest error of a slap that a pad may state, ns: both sensors promise on an instant's earliest moment."""
LETTERS: Final = {"card": "c", "taken": "t", "placed": "p", "answer": "a", "trouble": "x"}

VIEW: Final = {
    "dark": "it is too dark to see the table; put the lamp on, and cards laid meanwhile are read then",
    "blocked": "something is before the camera; take it away, and cards laid meanwhile are read then",
    "moved": "the camera was moved; the cards are followed, but see that the whole table is still in view",
}
"""What is said of each trouble that a watcher has with its view."""

Outlet = Callable[[Sequence[Ruling]], None]
"""Takes rulings as soon as they are decided, those that came together at once: the voice, the lights, the display."""


class Watching(Protocol):
    """What the conductor needs of a watcher: frames in, observations out; before each frame it hears what can come."""

    @property
    def watermark(self) -> int: ...

    def recall(self, foresight: Foresight | None) -> None: ...

    def feed(self, image: Any, t: int, t_error: int) -> Sequence[Observation]: ...

    def finish(self) -> Sequence[Observation]: ...


class Numberer:
    """Gives observations their ids: c1, c2 ... for cards, t1 ... for taken piles."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def __call__(self, kind: str) -> str:
        letter = LETTERS.get(kind, kind[:1])
        self._counts[letter] = self._counts.get(letter, 0) + 1
        return f"{letter}{self._counts[letter]}"


class Conductor:
    """Joins the sensors to the adjudicator and its rulings to the outlets.

    Args:
        table: who sits where and by which rules; its ``sensors`` are set here.
        watcher: tells what the frames show.
        outlets: by name; each is handed the rulings as soon as they are decided. One that fails is on record, and the
            game goes on.
        log: where the table log is written, one JSON line each; none if not given.

    Raises:
        LogError: the table cannot be played (an unknown preset, say).
    """

    def __init__(
        self,
        table: Table,
        watcher: Watching,
        *,
        outlets: Mapping[str, Outlet] | None = None,
        log: TextIO | None = None,
    ) -> None:
        self._adjudicator = Adjudicator(lookahead_ns=LOOKAHEAD)
        self._watcher = watcher
        self._outlets = dict(outlets or {})
        self._log = log
        self._pads = PadFilter(len(table.seats), start=table.t)
        self._number = Numberer()
        self._now = table.t
        self._told: dict[str, int] = {}
        self._lost: set[str] = set()
        self._ended = False
        self._cards = 0
        self.troubles: dict[str, str] = {}
        """The last words of each part that failed."""
        self.rulings: list[Ruling] = []
        """Every final ruling so far, in the order of the log."""
        self.observations: list[Observation] = []
        """What was sensed or said so far, without ticks."""
        self._observe(replace(table, sensors=SENSORS))

    @property
    def view(self) -> View:
        """The position as believed up to what every sensor has told."""
        return self._adjudicator.view

    @property
    def watermark(self) -> int:
        """Everything up to this instant (ns) has been told by every sensor."""
        return self._adjudicator.watermark

    @property
    def cards(self) -> int:
        """How many cards were seen coming face up so far."""
        return self._cards

    def on_frame(self, frame: Frame) -> None:
        """Look at one frame. Frames come in the order of their ``t``."""
        self._watcher.recall(self._adjudicator.foresight)
        for seen in self._watcher.feed(frame.image, frame.t, frame.exposure):
            self._observe(self._named(seen))
        self._now = max(self._now, frame.t + frame.exposure)
        self._heed_view()
        self._tick(CAMERA, self._watcher.watermark)

    def on_edge(self, edge: Edge) -> None:
        """Take one raw edge of a pad; it may come later than frames of its instant."""
        for seen in self._pads.feed(edge):
            self._observe(seen)

    def advance(self, now: int, told: int) -> None:
        """It is ``now`` (ns), and every edge up to ``told`` was handed over."""
        self._now = max(self._now, now)
        for seen in self._pads.advance(told):
            self._observe(seen)
        self._tick(PADS, self._pads.watermark)
        for sensor in self._lost:
            self._tick(sensor, told)

    @property
    def touched(self) -> tuple[int, ...]:
        """Seats whose pads are down, the first hand first: for a light that must not wait."""
        return self._pads.touched

    @property
    def heard(self) -> frozenset[int]:
        """Seats whose pads have worked at least once."""
        return self._pads.heard

    def answer(self, question: str, value: Any, now: int) -> None:
        """People settle what the referee asked.

        Raises:
            LogError: there was no such question, or this is no answer to it.
        """
        self._now = max(self._now, now)
        self._observe(Answer(t=self._now, id=self._number("answer"), to=question, value=value))

    def trouble(self, part: str, words: str) -> None:
        """Put on record that a part failed; the game goes on."""
        if self.troubles.get(part) == words:
            return
        self.troubles[part] = words
        t = max(self._now, self.watermark + 1)
        line = Other(t=t, id=self._number("trouble"), name="trouble", extra={"part": part, "words": words})
        self._observe(line)

    def _heed_view(self) -> None:
        """Say what hinders the camera's view, as long as it does."""
        words = VIEW.get(getattr(self._watcher, "trouble", ""))
        if words is not None:
            self.trouble("view", words)
        else:
            self.troubles.pop("view", None)

    def lose(self, sensor: str, words: str) -> None:
        """A sensor is gone: put it on record, and wait for it no longer."""
        self.trouble(sensor, words)
        self._lost.add(sensor)

    def regain(self, sensor: str) -> None:
        """A lost sensor tells again."""
        self._lost.discard(sensor)
        self.troubles.pop(sensor, None)

    def finish(self) -> None:
        """The game is over, or the table is switched off: rule what is still open."""
        if self._ended:
            return
        self._ended = True
        for seen in self._watcher.finish():
            self._observe(self._named(seen))
        self._ruled(self._adjudicator.finish())

    def _named(self, seen: Observation) -> Observation:
        return seen if seen.id else replace(seen, id=self._number(seen.kind))

    def _observe(self, seen: Observation) -> None:
        final = self._adjudicator.observe(seen)
        self._write(encode(seen))
        if not isinstance(seen, Tick):
            self.observations.append(seen)
            self._cards += isinstance(seen, Card)
        self._ruled(final)

    def _tick(self, sensor: str, t: int) -> None:
        if t > self._told.get(sensor, -1):
            self._told[sensor] = t
            self._observe(Tick(t=t, sensor=sensor))

    def _ruled(self, final: Sequence[Ruling]) -> None:
        for ruling in final:
            self.rulings.append(ruling)
            self._write(encode_ruling(ruling))
        early = self._adjudicator.take_early()
        if early:
            # A win that still waits for its runners-up comes after them; people hear things as they happened.
            self._hand_out(sorted(early, key=lambda ruling: ruling.t))

    def _hand_out(self, rulings: Sequence[Ruling]) -> None:
        failed: list[tuple[str, str]] = []
        for name, outlet in self._outlets.items():
            try:
                outlet(rulings)
            except Exception as bad:  # whatever a device's library throws, the game must go on
                failed.append((name, f"{type(bad).__name__}: {bad}"))
        for name, words in failed:
            self.trouble(name, words)

    def _write(self, line: str) -> None:
        if self._log is None:
            return
        try:
            self._log.write(line + "\n")
        except OSError as bad:
            self._log = None
            self.troubles["log"] = f"the log cannot be written any more: {bad.strerror or bad}"
