"""A table's log as it is written, and what follows from it: rulings, and who is told of them.

Nothing here knows a device. `referee.table.game` puts in what was seen, felt and said.

The one place where sensors meet the referee, and where its rulings meet voice, lights and display.

The conductor owns no thread and no clock: what was seen, edges and the instant it is are handed to it, in one thread,
by whoever drives it (`loop` at a real table, `demo` at the simulated one). It writes the table log as it goes:
observations in the order in which they became known, ticks by which each sensor promises what it has told, and the
rulings. Played again, that log gives the same rulings.

A camera that is gone pauses the game (`Conductor.lose`): the log says so at the last instant that it vouched for, hands
meanwhile are named and not judged, and what lies on the table when it is back is held against what was believed. People
may pause it as well (`Conductor.said`); it goes on when neither holds it any more (`standstill`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TextIO

from hardware.pads.slaps import PadFilter
from referee.announce.sinks import BACK, GONE, PAD, Handing, Notice, Outlet, Teller
from referee.engine.adjudicator import LIVE_LOOKAHEAD, Adjudicator
from referee.engine.amended_log import UNUSED, is_said
from referee.engine.foresight import Foresight
from referee.engine.log import encode
from referee.engine.observations import Answer, Card, Correct, Observation, Other, Slap, Table, Tick
from referee.engine.rulings import Ruling, encode_ruling
from referee.engine.view import View
from referee.record.journal import Journal, LogWriter, TextJournal
from referee.table.pause import CAMERA, Outage, Standstill
from referee.table.timeline import RESUMED, Past
from referee.vision.sight import Blind, Looker, Sight, Watching

if TYPE_CHECKING:
    from hardware.ports import Edge, Frame

_LETTERS: Final = {
    "card": "c", "taken": "t", "placed": "p", "answer": "a", "trouble": "x", "pause": "q", "resume": "r",
    "correct": "z", "count": "n",
}  # fmt: skip


class Numberer:
    """Gives observations their ids: c1, c2 ... for cards, t1 ... for taken piles."""

    def __init__(self, prefix: str = "") -> None:
        self._counts: dict[str, int] = {}
        self._prefix = prefix

    def __call__(self, kind: str) -> str:
        letter = _LETTERS.get(kind, kind[:1])
        self._counts[letter] = self._counts.get(letter, 0) + 1
        return f"{self._prefix}{letter}{self._counts[letter]}"


class Ledger:
    """Writes a game's lines, has them judged, and hands out what comes of it.

    Args:
        hands: who is told.
        log: keeps the lines.
        prefix: stands before every id that is given here.
        began: the table's instant, ns.
    """

    def __init__(self, hands: Handing, log: LogWriter, *, prefix: str, began: int) -> None:
        self._adjudicator = Adjudicator(lookahead_ns=LIVE_LOOKAHEAD)
        self._hands, self._log = hands, log
        self._number = Numberer(prefix)
        self._began = self._now = began
        self._told: dict[str, int] = {}
        self._cards = 0
        self._refused = False
        """Whether the adjudicator could not use something that people said, and nobody has heeded that yet."""
        self.troubles: dict[str, str] = {}
        """The last words of each part that failed and is not mended."""
        self.rulings: list[Ruling] = []
        """Every final ruling so far, in the order of the log."""
        self.observations: list[Observation] = []
        """What was sensed or said so far, without ticks."""

    def _remember(self, past: Past) -> None:
        """Take a past game's observations as told."""
        for seen in (past.table, *past.told):
            for ruling in self._adjudicator.observe(seen):
                self.rulings.append(ruling)
                if ruling.id not in past.rulings:
                    self._log.write(encode_ruling(ruling))
            if isinstance(seen, Tick):
                self._told[seen.sensor or ""] = seen.t
            else:
                self.observations.append(seen)
                self._cards += isinstance(seen, Card)
        self._adjudicator.take_early()
        self._now = past.last

    @property
    def view(self) -> View:
        """The position as believed up to what every sensor has told."""
        return self._adjudicator.view

    @property
    def watermark(self) -> int:
        """Everything up to this instant (ns) has been told by every sensor."""
        return self._adjudicator.watermark

    @property
    def foresight(self) -> Foresight | None:
        """What deck memory says can come next, after all that was told; None where it cannot say."""
        return self._adjudicator.foresight

    @property
    def cards(self) -> int:
        """How many cards were seen coming face up so far."""
        return self._cards

    def new_id(self, kind: str) -> str:
        """An id for a new line of a kind, that this game does not have yet."""
        return self._number(kind)

    def trouble(self, part: str, words: str, what: str | None = None) -> None:
        """Put on record that a part failed, and tell it; the game goes on.

        Args:
            part: such as ``camera`` or ``voice``.
            words: what is amiss, and what to do about it.
            what: the notice to give; None gives the one that is usual for the part.
        """
        before = self.troubles.get(part)
        if before == words:
            return
        self.troubles[part] = words
        self.note("trouble", {"part": part, "words": words})
        said = what or (GONE.get(part, "") if before is None else "")
        self.tell(Notice(said, self._now, f"{part}: {words}", {"part": part}))

    def mended(self, part: str) -> None:
        """A part that had failed works again."""
        if self.troubles.pop(part, None) is None:
            return
        self.note("mended", {"part": part})
        self.tell(Notice(BACK.get(part, ""), self._now, f"{part}: works again", {"part": part}))

    def note(self, name: str, extra: Mapping[str, Any]) -> None:
        """Put something on the log that the referee itself does not rule on."""
        t = max(self._now, self.watermark + 1)
        self._observe(Other(t=t, id=self._number("trouble"), name=name, extra=extra))

    def vouched(self) -> int:
        """Up to where the camera has told everything, ns."""
        return max(self._began, self._told.get(CAMERA, self._began), self.watermark)

    def vouch(self, t: int) -> None:
        """The camera has told everything up to ``t`` (ns)."""
        self._tick(CAMERA, t)

    def put(self, seen: Observation) -> None:
        """Take an observation, and give it an id if it has none."""
        self._observe(seen if seen.id else replace(seen, id=self._number(seen.kind)))

    def _observe(self, seen: Observation) -> None:
        final = self._adjudicator.observe(seen)
        if isinstance(seen, Tick):
            self._log.tick(seen.sensor or "", encode(seen))
        else:
            self._log.write(encode(seen))
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
            self._log.write(encode_ruling(ruling))
            self._refused |= ruling.kind == "question" and ruling["ask"] in UNUSED
        early = self._adjudicator.take_early()
        if early:
            self._log.save(announcing=True)
            # A win that still waits for its runners-up comes after them; people hear things as they happened.
            self._hand_out(sorted(early, key=lambda ruling: ruling.t))

    def _hand_out(self, rulings: Sequence[Ruling]) -> None:
        for part, words in self._hands.rulings(rulings):
            self._heed_part(part, words)

    def tell(self, notice: Notice) -> None:
        """Tell something at the table."""
        for part, words in self._hands.notice(notice):
            self._heed_part(part, words)

    def _heed_part(self, part: str, words: str) -> None:
        """An outlet failed, or (no words) works again."""
        if words:
            self.trouble(part, words)
        else:
            self.mended(part)

    def _commit(self, now: int | None = None) -> None:
        """What was handed in has been dealt with: the log is kept, and where it could not be, that is told.

        Args:
            now: the present instant, ns, where what nobody was told of may wait a little; None: it may not.
        """
        words = self._log.save(now=now)
        if words:
            self.trouble("log", words)
        elif words is not None and "log" in self.troubles:
            self.mended("log")


__all__ = ["CAMERA", "PADS", "Conductor", "Outlet", "Watching"]

PADS: Final = "pads"
SENSORS: Final = (CAMERA, PADS)
BEHIND: Final = 500_000_000
"""How far the referee stays behind the pads while the camera is gone, ns: its first frame back is later than that."""


class Conductor(Ledger):
    """Joins the sensors to the adjudicator and its rulings to the outlets.

    Args:
        table: who sits where and by which rules; its ``sensors`` are set here.
        watcher: tells what the frames show, for `on_frame`; None where they are looked at elsewhere (`on_sight`).
        outlets: by name; each is handed the rulings as soon as they are decided. One that fails is on record, and the
            game goes on.
        tellers: each is handed what the appliance itself has to say, by name as well.
        log: where the table log is written, one JSON line each; none if not given.
        journal: the same, for what is no text stream.
        pads: the filter of the pads' edges; None takes one that nothing was measured for.
        past: a game that was broken off and goes on: what was told then is taken as told, and nothing of it is told,
            shown or written again. The game is paused until the camera has seen what lies there now (`begin_again`).

    Raises:
        LogError: the table cannot be played (an unknown preset, say).
    """

    def __init__(
        self,
        table: Table,
        watcher: Watching | None,
        *,
        outlets: Mapping[str, Outlet] | None = None,
        tellers: Mapping[str, Teller] | None = None,
        log: TextIO | None = None,
        journal: Journal | None = None,
        pads: PadFilter | None = None,
        past: Past | None = None,
    ) -> None:
        prefix, start = ("", table.t) if past is None else (past.prefix, past.last)
        keeper = LogWriter(TextJournal(log) if log is not None else journal)
        super().__init__(Handing(outlets or {}, tellers or {}), keeper, prefix=prefix, began=table.t)
        self._looker = Looker(watcher) if watcher is not None else None
        self._pads = pads or PadFilter(len(table.seats), start=start, prefix=prefix)
        self._seats = len(table.seats)
        self._lost: set[str] = set()
        self._still = Standstill(self)
        self._outage = Outage(self, self._still)
        self._ended = False
        if past is None:
            self._observe(replace(table, sensors=SENSORS))
        else:
            self._remember(past)
            self._still.remember()

    def begin_again(self, now: int, began: str = "") -> None:
        """A game that was broken off goes on.

        Args:
            now: the present instant on its line of time, ns.
            began: the wall's time at which it had begun (ISO 8601), for the terminal; empty where nobody knows.
        """
        self._now = max(self._now, now)
        self.note(RESUMED, {})
        of = f" of {began[:16].replace('T', ' ')}" if began else ""
        self.tell(Notice("taken_up", self._now, f"the game{of} was broken off; it goes on where it stood"))
        self._outage.broken_off()
        self._commit()

    @property
    def seats(self) -> int:
        """How many sat down at the beginning."""
        return self._seats

    @property
    def paused(self) -> bool:
        """Whether slaps are void: people paused the game, or nobody looks."""
        return self._still.holds

    def on_frame(self, frame: Frame) -> None:
        """Look at one frame here, and take what it tells. Frames come in the order of their ``t``.

        Raises:
            ValueError: this conductor has no watcher.
        """
        if self._looker is None:
            raise ValueError("this conductor was given no watcher: hand it sights")
        self.on_sight(self._looker.look(frame, self.foresight))

    def on_sight(self, sight: Sight) -> None:
        """Take what one frame told, wherever it was looked at. Sights come in the order of their ``t``."""
        self._now = max(self._now, sight.t + sight.exposure)
        if not self._outage.lost:
            for seen in sight.seen:
                self.put(seen)
        elif not self._outage.look_again(sight):
            return
        self._outage.heed_view(sight)
        self._tick(CAMERA, sight.watermark)
        self._commit(self._now)

    def on_blind(self, blind: Blind) -> None:
        """There are no frames any more; what the watcher still knew comes first."""
        if not self._outage.lost:
            for seen in blind.seen:
                self.put(seen)
            if blind.watermark is not None:
                self._tick(CAMERA, blind.watermark)
        self.lose(CAMERA, blind.words)

    def on_edge(self, edge: Edge) -> None:
        """Take one raw edge of a pad; it may come later than frames of its instant.

        Nothing is kept on the disk here, for its light would wait for that: `advance` does so.
        """
        self._keep_edge(edge)
        for seen in self._pads.feed(edge):
            self._felt(seen)

    def _keep_edge(self, edge: Edge) -> None:
        """Every edge is on the log as the pad told it, bounce and all: nothing is ruled by that line."""
        extra: dict[str, Any] = {"seat": edge.seat, "pressed": edge.pressed}
        if edge.t_error:
            extra["t_error"] = edge.t_error
        self._log.write(encode(Other(t=edge.t, id=self._number("edge"), name="edge", extra=extra)))

    def advance(self, now: int, told: int) -> None:
        """It is ``now`` (ns), and every edge up to ``told`` was handed over."""
        self._now = max(self._now, now)
        for seen in self._pads.advance(told):
            self._felt(seen)
        self._tick(PADS, self._pads.watermark)
        if self._outage.lost and not self._outage.looking:
            self._tick(CAMERA, told - BEHIND)
        if PADS in self._lost:
            self._tick(PADS, told)
        self._outage.told(told)
        if self._refused:
            self._refused = False
            self._still.settle(self._now)
        self._commit(self._now)

    def _felt(self, seen: Observation) -> None:
        self._observe(seen)
        if isinstance(seen, Slap):
            self._outage.add(seen)
        elif isinstance(seen, Other) and seen.name in PAD:
            seat = int(seen.extra["seat"])
            words = str(seen.extra.get("words", seen.name))
            if seen.name == "pad_freed":
                self.troubles.pop(f"pad {seat}", None)
            else:
                self.troubles[f"pad {seat}"] = words
            self.tell(Notice(PAD[seen.name], seen.t, words, {"seat": seat}))

    @property
    def touched(self) -> tuple[int, ...]:
        """Seats whose pads are down, the first hand first: for a light that must not wait."""
        return self._pads.touched

    @property
    def benched(self) -> tuple[int, ...]:
        """Seats whose pads make no slaps at present, stuck or chattering."""
        return self._pads.benched

    def weigh(self, seat: int, t: int, force: float) -> None:
        """The greatest force on a pad after its edge at ``t`` (ns) was ``force`` (0 to 1)."""
        self._pads.weigh(seat, t, force)

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
        self._commit()

    def said(self, line: Observation) -> None:
        """Something that people said, with its id: a correction, an answer, a pause.

        Raises:
            LogError: it does not fit this game, or would have it go on while nobody looks; nothing has changed then.
        """
        said = self._still.heard(line)
        self._now = max(self._now, line.t)
        self._observe(said)
        if isinstance(said, Correct) or is_said(said):
            self._still.settle(line.t)
        self._commit()

    def lose(self, sensor: str, words: str) -> None:
        """A sensor is gone: put it on record, and wait for it no longer. Without the camera the game is paused."""
        if sensor == CAMERA:
            self._outage.begin(words)
        else:
            self._lost.add(sensor)
            self.trouble(sensor, words)
        self._commit()

    def regain(self, sensor: str) -> None:
        """A lost sensor tells again."""
        if sensor == CAMERA and self._outage.lost:
            self._outage.end(self._now)
        elif sensor in self._lost:
            self._lost.discard(sensor)
            self.mended(sensor)
        self._commit()

    def finish(self, rest: Sequence[Observation] = ()) -> None:
        """The game is over, or the table is switched off: rule what is still open.

        Args:
            rest: what a watcher elsewhere had still to tell.
        """
        if self._ended:
            return
        self._ended = True
        if not self._outage.lost:
            for seen in (*(self._looker.finish() if self._looker is not None else ()), *rest):
                self.put(seen)
        self._ruled(self._adjudicator.finish())
        self._commit()
