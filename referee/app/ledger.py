"""A table's log as it is written, and what follows from it: rulings, and who is told of them.

Nothing here knows a device. `referee.app.conductor` puts in what was seen, felt and said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from referee.adjudication.adjudicator import Adjudicator
from referee.adjudication.codec import encode
from referee.adjudication.foresight import Foresight
from referee.adjudication.observations import Card, Observation, Other, Tick
from referee.adjudication.rulings import Ruling, encode_ruling
from referee.adjudication.view import View
from referee.app.amended import UNUSED
from referee.app.handing import Handing
from referee.app.journal import LogKeeper
from referee.app.notices import BACK, GONE, Notice
from referee.app.outage import CAMERA
from referee.app.resuming import Past

LOOKAHEAD: Final = 10_000_000
"""Widest error of a slap that a pad may state, ns: both sensors promise on an instant's earliest moment."""
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

    def __init__(self, hands: Handing, log: LogKeeper, *, prefix: str, began: int) -> None:
        self._adjudicator = Adjudicator(lookahead_ns=LOOKAHEAD)
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
