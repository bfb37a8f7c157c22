"""Reports by people of what no sensor saw: contests, fouls, calls, joining and leaving, missed cards and slaps.

Each method of `Reports` is the command of its name (`referee.control.commands`); `referee.control.corrections` calls
them. They return lines of the table log. Pure.
"""

from __future__ import annotations

from typing import Any, Final

from referee.control.facts import Accepted, Denied, MetCommand
from referee.engine.amended_log import BY_PEOPLE
from referee.engine.observations import (
    MAX_ERROR,
    Card,
    Contest,
    Draw,
    Foul,
    Join,
    Leave,
    Observation,
    Other,
    Say,
    Slap,
    Table,
    Taken,
)
from referee.engine.rulings import SLAP_KINDS, cause_of
from referee.engine.shadow_marks import GOOD, MARK, is_shadowed
from referee.sentence import Sentence

MISSED: Final = "missed"
"""Kind under which ids are made for lines that the sensors missed."""
CONTESTABLE: Final = (*SLAP_KINDS[:2], "challenge_won", "pile")
"""Kinds of rulings that put a slap or a take on record (F5)."""


class Reports(MetCommand):
    """The commands that put something new on record. They raise `Denied`."""

    def contest(self) -> Accepted:
        """Contest a slap or a take (F5): the latest of that seat, or the one that a ruling names."""
        self._refuse_after_the_end()
        if not self._facts.offers.contests:
            raise Denied("your house rules do not allow contests")
        name, against = self._get("ruling"), self._get("against")
        if name is not None:
            ruling = self._find_verdict(name)
            if ruling.kind not in CONTESTABLE:
                raise Denied('"{name}" is no slap and no take', name=name)
            if against not in (None, ruling["seat"]):
                raise Denied("that ruling is about {seat}", seat=ruling["seat"])
            against = ruling["seat"]
        against = self._checked_seat(against)
        by = tuple(dict.fromkeys(map(self._checked_seat, self._get("by"))))
        if against in by:
            raise Denied("a player cannot contest their own action")
        on_record = (ruling["seat"] for ruling in self._log.rulings.values() if ruling.kind in CONTESTABLE)
        if against not in (self._facts.view.owner, *on_record):
            raise Denied("{seat} has neither slapped nor taken a pile yet", seat=against)
        for seat in by:
            if not self._contested_before(seat, against, name):
                break
        else:
            raise Denied("{seat} has contested that already", seat=by[0])
        line = Contest(t=self._facts.t, id=self._name("contest"), by=by, against=against, ruling=name)
        return Accepted(Sentence("contested; the referee checks the record"), (line,))

    def _contested_before(self, seat: int, against: int, name: str | None) -> bool:
        """Return whether a seat has already contested the act of this ruling, or that player's latest one (F5)."""
        ruled = [
            ruling for ruling in self._log.rulings.values() if ruling.kind in CONTESTABLE and ruling["seat"] == against
        ]
        named = (
            self._find_verdict(name)
            if name is not None
            else max(ruled, key=lambda ruled_slap: ruled_slap.t, default=None)
        )
        acts = [ruling.because[-1] for ruling in self._log.rulings.values()
                if ruling.kind == "contested" and ruling["against"] == against and seat in ruling["by"]]  # fmt: skip
        return named is not None and any(act in (cause_of(named), *named.because) for act in acts)

    def foul(self) -> Accepted:
        """Report a foul that people saw (S6 to S8, F7, F9, F10)."""
        self._refuse_after_the_end()
        foul = self._get("foul")
        if foul not in self._facts.offers.fouls:
            raise Denied("your house rules do not punish that foul")
        seat = self._checked_seat(self._get("seat"))
        line = Foul(t=self._facts.t, id=self._name("foul"), seat=seat, foul=foul, extra=BY_PEOPLE)
        return Accepted(Sentence("foul of {seat} reported", seat=seat), (line,))

    def say(self) -> Accepted:
        """Report that a player called a rank (N14)."""
        self._refuse_after_the_end()
        if self._facts.offers.call is None:
            raise Denied("your house rules do not have players call ranks")
        seat = self._checked_seat(self._get("seat"))
        line = Say(t=self._facts.t, id=self._name("say"), seat=seat, rank=self._get("rank"))
        return Accepted(Sentence("{seat} calls {rank}", seat=seat, rank=self._get("rank")), (line,))

    def draw(self) -> Accepted:
        """Report the wild rank that was drawn (P14)."""
        self._refuse_after_the_end()
        if not self._facts.rules.has("P14"):
            raise Denied("your house rules have no wild rank")
        rank = self._get("rank")
        line = Draw(t=self._facts.t, id=self._name("draw"), rank=rank)
        return Accepted(Sentence("the wild rank is {rank}", rank=rank), (line,))

    def join(self) -> Accepted:
        """Let a bystander join at a free pad (M11)."""
        self._refuse_after_the_end()
        if not self._facts.rules.has("M11"):
            raise Denied("your house rules do not let a new player join")
        seat = self._get("seat")
        if seat not in self._facts.offers.joins:
            raise Denied("seat {number} is taken; free are {free}", number=seat, free=self._facts.offers.joins)
        line = Join(t=self._facts.t, id=self._name("join"), seat=seat, extra=BY_PEOPLE)
        return Accepted(Sentence("{seat} joins", seat=seat), (line,))

    def leave(self) -> Accepted:
        """Let a player leave the game (E8)."""
        self._refuse_after_the_end()
        if not self._facts.rules.has("E8"):
            raise Denied("your house rules do not say where a leaving player's cards go")
        seat = self._checked_seat(self._get("seat"))
        if seat not in self._facts.offers.leaves:
            raise Denied("{seat} has left already", seat=seat)
        line = Leave(t=self._facts.t, id=self._name("leave"), seat=seat)
        return Accepted(Sentence("{seat} leaves the game", seat=seat), (line,))

    def missed_card(self) -> Accepted:
        """Report a card that the camera missed: right after a card, a hand or a pick-up, or else as the latest."""
        after = self._find_before(self._get("after"), (Card, Slap, Taken, Table), (Card, Taken, Table))
        seat, card = self._checked_seat(self._get("seat")), self._get("card")
        t, error = self._place_after(after, (Card, Slap, Taken))
        line = Card(t=t, id=self._name(MISSED), card=card, seat=seat, t_error=error, extra=BY_PEOPLE)
        words = Sentence("{seat} laid the {card}; the referee rules again on everything after it", seat=seat, card=card)
        return Accepted(words, self._told_late(line))

    def missed_slap(self) -> Accepted:
        """Report a hand that its pad missed: on the latest card, or on the named one."""
        on = self._find_before(self._get("on"), (Card,), (Card,))
        seat = self._checked_seat(self._get("seat"))
        t, error = self._place_after(on, (Card, Taken))
        line = Slap(t=t, id=self._name(MISSED), seat=seat, t_error=error, extra=BY_PEOPLE)
        words = Sentence("{seat} slapped; the referee rules again on everything after it", seat=seat)
        return Accepted(words, self._told_late(line))

    def mark(self) -> Accepted:
        """Mark people's verdict on the latest slap, in a game that the referee only shadows."""
        if not is_shadowed(self._facts.observations):
            raise Denied("verdicts can be marked only in shadow mode")
        verdict = self._get("verdict")
        line = Other(t=self._facts.t, id=self._name(MARK), name=MARK, extra={"verdict": verdict})
        said = Sentence("marked: the slap was good") if verdict == GOOD else Sentence("marked: the slap was false")
        return Accepted(said, (line,))

    def take_up(self) -> Accepted:
        """Have a line judged that came too late (reading 20)."""
        self._refuse_without_corrections()
        line = self._get("line")
        asked = (self._log.ruling(name) for name in self._facts.view.questions)
        if not any(
            ruling is not None and ruling["ask"] == "late_evidence" and cause_of(ruling) == line for ruling in asked
        ):
            raise Denied('"{line}" did not come too late', line=line)
        words = Sentence("taken up; the referee rules again on everything after it")
        return Accepted(words, (self._correction(line, take=True),))

    def _told_late(self, line: Observation) -> tuple[Observation, ...]:
        """Return the lines for something that people add; before the watermark it is late evidence, taken up at
        once."""
        if line.t > self._facts.watermark:
            return (line,)
        return line, self._correction(line.id, take=True)

    def _find_before(
        self, name: str | None, kinds: tuple[type[Observation], ...], usual: tuple[type[Observation], ...]
    ) -> Observation:
        """Return the line after which something was missed: the named one, or the latest of the usual kinds."""
        self._refuse_without_corrections()
        if name is None:
            found = [line for line in self._log.all_now() if isinstance(line, usual)]
            if not found:
                raise Denied("no card was laid yet")
            return found[-1]
        line = self._log.now(name) if self._log.known(name) else None
        if not isinstance(line, kinds):
            raise Denied('this cannot have followed "{line}"', line=name)
        return line

    def _place_after(self, before: Observation, kinds: tuple[type[Observation], ...]) -> tuple[int, int]:
        """Return an instant and its error (ns) for something known only to lie between two lines.

        The instant is halfway to the next line of these kinds, and at most `MAX_ERROR` after ``before``; the error ends
        short of both lines, since people did state the order.
        """
        later: list[Any] = [line for line in self._log.all_now() if isinstance(line, kinds) and line.t > before.t]
        end = later[0].t if later else self._facts.t
        half = min((end - before.t) // 2, MAX_ERROR)
        if half < 1:
            raise Denied('nothing can have come between "{line}" and what followed it', line=before.id)
        errors = (getattr(before, "t_error", 0), later[0].t_error if later else 0)
        return before.t + half, max(0, half - max(errors) - 1)
