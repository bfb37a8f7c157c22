"""Explanation of a ruling: the pile then, the instants around it, and the alternatives considered (K5).

A `WitnessedLog` watches a log being judged, and judged again after amendments (K6). It explains any ruling by the state
before its cause: a ruling in force by the amended game, a replaced one by the game as it was until then. This module
collects the facts; `referee.text.explanation_lines` puts them into words.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from referee.engine.amended_log import PEOPLE
from referee.engine.doubt import judge_hand, order_is_open, position_after
from referee.engine.event_queue import JudgedMoment
from referee.engine.judged_course import JudgedCourse
from referee.engine.near_misses import Considered, judge_cover, missed_patterns
from referee.engine.observations import Answer, Card, Correct, Foul, Observation, Slap, Table, Taken
from referee.engine.overrule import is_overruled
from referee.engine.rulings import SHOWN_BY_POSITION, Ruling, base_id, cause_of, first_name, rests_on_gap
from referee.engine.state import State
from referee.rules.cards import is_card
from referee.rules.position import Laid, Position
from referee.rules.rows import ROWS
from referee.rules.slap_verdict import Verdict, newest_reveal

_AROUND_NS: Final = 1_500_000_000
"""Distance from a verdict's instant within which other lines are mentioned, ns."""
_MOST_MOMENTS: Final = 8
"""Maximum number of those lines, the nearest ones, besides those that the ruling rests on."""
_MOST_READINGS: Final = 3
"""Maximum number of cards mentioned that may have come before or after a slap."""
_MOST_LOOKED_AT: Final = 12
"""Maximum number of cards examined for that."""
_OF_SLAPS: Final = frozenset(("slap_won", "slap_false", "slap_void", "dead_heat", "question"))
_OF_PILES: Final = frozenset(("pile", "lead"))
"""Rulings that a card causes by showing that the previous pile was picked up."""
_OF_PATTERNS: Final = frozenset((None, "no_pattern", "covered"))
"""Reasons of verdicts that depend on the cards."""


class Moment(NamedTuple):
    """A line near the ruling: its time after the ruling (ns, negative before), and the error of that."""

    id: str
    kind: str
    seat: int | None
    card: str
    offset: int
    error: int
    about: str = ""
    """Subject of a statement by people: the line that they correct, or their question."""
    value: Any = None
    """Their statement."""
    by_people: bool = False
    """Whether the line comes from people, not from a sensor."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """All facts that explain one ruling."""

    ruling: Ruling
    pile: tuple[Laid, ...]
    """The pile before a slap, or with the judged card on top; lowest card first."""
    counts: tuple[int | None, ...]
    """Cards held before the ruling's cause."""
    turn: int | None
    """Whose turn it was before the ruling's cause."""
    moments: tuple[Moment, ...]
    considered: tuple[Considered, ...]
    left_out: int = 0
    """Number of further lines as near as those mentioned."""

    @property
    def rules(self) -> tuple[tuple[str, str], ...]:
        """Id and title of each row that it rests on."""
        return tuple((row, ROWS[row].title) for row in self.ruling.rule if row in ROWS)


def notation(pile: tuple[Laid, ...]) -> str:
    """Return the pile on one line, oldest first; burned cards in square brackets, dead ones in round ones."""
    marks = {"played": "{}", "burned": "[{}]", "dead": "({})"}
    return " ".join(marks[laid.state].format(laid.card) for laid in pile)


class WitnessedLog:
    """A witness that records the state before every line of a log each time it was judged."""

    def __init__(self, table: Table) -> None:
        self._table: Observation = table
        self._seen: dict[str, list[tuple[int, JudgedMoment]]] = {}
        """By line: each judging of it, with the number of the pass."""
        self._began: list[int] = [0]
        """The index of the first line of each pass."""
        self._next = 0
        self._passes = 1
        """The number of passes at the last amendment."""
        self._replaced: dict[str, int] = {}
        """By ruling, the pass that replaced it: the one after it, if it was undone within its own pass."""
        self._courses: dict[int, JudgedCourse] = {}

    def __call__(self, moment: JudgedMoment) -> None:
        """Record a judged observation."""
        if moment.nth < self._next:
            self._began.append(moment.nth)
        self._next = moment.nth + 1
        self._seen.setdefault(moment.observation.id, []).append((len(self._began) - 1, moment))
        if isinstance(moment.observation, Table):
            self._table = moment.observation
        self._courses.clear()

    def replace(self, names: Iterable[str]) -> None:
        """Record the pass that replaced these rulings."""
        if len(self._began) == self._passes:
            # A correction has put the table behind all lines, so none of them was judged.
            self._began.append(0)
            self._next = 0
        self._passes = len(self._began)
        self._replaced.update(dict.fromkeys(names, len(self._began) - 1))

    def undo(self, names: Iterable[str]) -> None:
        """Record that these rulings were in force in the last pass, and are no longer."""
        self._replaced.update(dict.fromkeys(names, len(self._began)))

    @property
    def table(self) -> Table:
        """The first line as it now stands."""
        assert isinstance(self._table, Table)
        return self._table

    def lines(self) -> list[Observation]:
        """Return every line as last judged, in the order of first judging."""
        return [seen[-1][1].observation for seen in self._seen.values()] or [self._table]

    def standing(self) -> list[Observation]:
        """Return every valid line as it now stands, in the order of judging, without struck-out lines."""
        course = self._course(len(self._began) - 1)
        return [moment.observation for moment in course.moments.values()] or [self._table]

    def line(self, name: str) -> Observation | None:
        """Return a line as last judged; None if there is no line with that id."""
        seen = self._seen.get(name)
        return seen[-1][1].observation if seen else None

    def state_before(self, name: str) -> State:
        """Return the state before a line when it was first judged."""
        return self._seen[name][0][1].state

    def explain(self, ruling: Ruling) -> Explanation:
        """Explain a ruling of the watched log."""
        course = self._course_of(ruling)
        moments, left_out = _moments(ruling, course)
        judged = _judged_at(ruling, course)
        if judged is None:
            return Explanation(ruling, (), self.table.counts or (), None, moments, (), left_out)
        before = judged.state.position
        considered = () if ruling.kind in SHOWN_BY_POSITION else tuple(_considered(ruling, judged, course))
        pile = _pile_of(ruling, judged, course)
        return Explanation(ruling, pile, before.counts, before.turn, moments, considered, left_out)

    def as_made(self, ruling: Ruling) -> Ruling | None:
        """Return a ruling as first made, before amendments renamed it; None if the clock caused it."""
        made = self._course_of(ruling).made.get(base_id(ruling))
        return (
            next((candidate for candidate in made.rulings if candidate.id == base_id(ruling)), None)
            if made is not None
            else None
        )

    def _course_of(self, ruling: Ruling) -> JudgedCourse:
        """Return the course of judging when a ruling was last in force."""
        return self._course(self._replaced.get(ruling.id, len(self._began)) - 1)

    def _course(self, number: int) -> JudgedCourse:
        """Return the course of judging after a pass, including lines that were judged again or left out later."""
        known = self._courses.get(number)
        if known is not None:
            return known
        # By pass, the first place from which later passes, up to the requested one, judged everything again.
        since = [2**62] * (number + 1)
        for earlier in range(number - 1, -1, -1):
            since[earlier] = min(since[earlier + 1], self._began[earlier + 1])
        standing = []
        for seen in self._seen.values():
            at, moment = next(((at, moment) for at, moment in reversed(seen) if at <= number), (0, None))
            if moment is not None and moment.nth < since[at]:
                standing.append(moment)
        course = self._courses[number] = JudgedCourse()
        for moment in sorted(standing, key=lambda moment: moment.nth):
            course.add(moment)
        course.sort()
        return course


def _judged_at(ruling: Ruling, course: JudgedCourse) -> JudgedMoment | None:
    """Return the judging that caused a ruling; for a verdict on a slap, that of the first hand of its heat."""
    if ruling.kind == "slap_won":
        names = (cause_of(ruling), *filter(course.slap, ruling.because))
        hands = [course.moments[name] for name in names if name in course.moments]
        if hands:
            return min(hands, key=lambda moment: moment.nth)
    made = course.made.get(base_id(ruling))
    if made is not None:
        return made
    # The clock caused it, not a line: use the last line before it.
    last = course.last_before(ruling.t)
    return last._replace(state=last.after) if last is not None else None


def _is_verdict(ruling: Ruling, course: JudgedCourse) -> bool:
    """Whether the ruling is a verdict on a hand."""
    if ruling.kind not in _OF_SLAPS:
        return False
    return ruling.kind != "question" or course.slap(cause_of(ruling)) is not None


def _met(judged: JudgedMoment) -> Position:
    """Return the position before a line, with the lowest card as named by people."""
    position = judged.state.position
    named = next((said for said in judged.answers if isinstance(said, str) and is_card(said)), None)
    asked = any(ruling.kind == "question" and ruling["ask"] == "bottom_card" for ruling in judged.rulings)
    if asked and named is not None and position.pile:
        return position.replace(pile=(position.pile[0]._replace(card=named), *position.pile[1:]))
    return position


def _pile_of(ruling: Ruling, judged: JudgedMoment, course: JudgedCourse) -> tuple[Laid, ...]:
    """Return the pile before a slap, or including the judged card."""
    position, card, after = _met(judged), judged.observation, judged.after.position.pile
    if ruling.kind == "dead_card" and any(laid.ref in ruling.because for laid in after):
        return after
    if not isinstance(card, Card) or _is_verdict(ruling, course):
        return position.pile
    if any(laid.ref == card.id for laid in after):
        return position.pile if ruling.kind in _OF_PILES else after
    if judged.state.position is judged.after.position or card.zone != "pile":
        return position.pile
    # The pile was taken at once, with the card.
    seat = card.seat if card.seat is not None else position.turn
    return (*position.pile, Laid(card.card, card.id, card.t, seat or 1, "played"))


def _moments(ruling: Ruling, course: JudgedCourse) -> tuple[tuple[Moment, ...], int]:
    """Return the lines that a ruling rests on, for a verdict also the nearest others; and how many more exist."""
    rests = {name: course.moments[name] for name in ruling.because if name in course.moments}
    told = [(rest.observation.t, rest.nth, rest.observation) for rest in rests.values() if rest.nth]
    left_out = 0
    if _is_verdict(ruling, course):
        low = bisect.bisect_left(course.shown, (ruling.t - _AROUND_NS,))
        high = bisect.bisect_right(course.shown, (ruling.t + _AROUND_NS, 2**62))
        others = [shown for shown in course.shown[low:high] if shown[2].id not in rests]
        others.sort(key=lambda entry: abs(entry[0] - ruling.t))
        told += others[:_MOST_MOMENTS]
        left_out = len(others[_MOST_MOMENTS:])
    return tuple(_moment(line, ruling, course) for _, _, line in sorted(told, key=lambda entry: entry[:2])), left_out


def _moment(line: Observation, ruling: Ruling, course: JudgedCourse) -> Moment:
    about, value = "", None
    if isinstance(line, Answer):
        name = first_name(line.to, course.made)
        asked = course.made.get(name)
        questions = asked.rulings if asked is not None else ()
        about = next((str(question.get("ask", "")) for question in questions if question.id == name), "")
        value = line.value
    elif isinstance(line, Correct):
        about, value = line.line, {"void": True} if line.void else _flat(line.extra)
    card, seat = getattr(line, "card", ""), getattr(line, "seat", None)
    error, by_people = getattr(line, "t_error", 0), line.extra.get("by") == PEOPLE
    return Moment(line.id, line.kind, seat, card, line.t - ruling.t, error, about, value, by_people)


def _flat(said: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that a correction replaces."""
    beside = said.get("fields")
    own = {name: value for name, value in said.items() if name != "fields"}
    return {**own, **(beside if isinstance(beside, Mapping) else {})}


def _considered(ruling: Ruling, judged: JudgedMoment, course: JudgedCourse) -> Iterator[Considered]:
    position, seat = _met(judged), ruling.get("seat")
    if ruling.kind == "slap_won":
        yield from _of_winner(ruling, position, course)
    elif ruling.kind in ("slap_false", "slap_void"):
        yield from _of_hand(ruling, judged, course)
    elif ruling.kind == "dead_heat":
        yield from _of_heat(ruling)
    elif ruling.kind == "question":
        yield from _of_question(ruling, judged, course)
    elif ruling.kind == "dead_card" and isinstance(judged.observation, Foul):
        yield Considered(ruling.rule[0], True, "people_said", {})
    elif ruling.kind == "dead_card" and ruling.get("reason") == "out_of_turn":
        yield Considered("S5", False, "turn_of", {"seat": position.turn})
    elif ruling.kind in ("burn", "give", "strike") and isinstance(seat, int) and seat <= position.seats:
        held = position.counts[seat - 1]
        if held is None:
            yield Considered("E1", True, "held_unknown", {"seat": seat})
        else:
            yield Considered("E1", held != 0, "held_before", {"seat": seat, "n_cards": held})
    elif ruling.kind == "challenge_won" and position.rules.slaps:
        yield Considered("C9", True, "may_be_slapped", {})
    asks_of_hand = ruling.get("ask") in ("slap_or_card", "slap_or_limit") and "F9" not in ruling.rule
    if asks_of_hand or ruling.kind in ("slap_won", "slap_false", "slap_void"):
        yield from _readings(ruling, course)


def _of_winner(ruling: Ruling, position: Position, course: JudgedCourse) -> Iterator[Considered]:
    """Yield the patterns that won, why this hand won, and the hands behind it."""
    if is_overruled(ruling):
        yield Considered("K6", True, "people_said", {})
    for row in ruling["patterns"]:
        yield Considered(row, True, "holds", {})
    heat = next((heat for _, heat in reversed(course.heats) if cause_of(ruling) in heat.because), None)
    tied: list[int] = []
    if heat is not None and ruling.get("decided_by", "time") not in ("time", "doubt"):
        tied = [seat for seat in heat["seats"] if seat is not None]
        yield from _of_heat(heat)
        yield from _decided(ruling, heat, course)
    if not ruling["runners_up"] and ruling.window != "open":
        yield Considered("K3", True, "no_other_hand", {})
    winner = cause_of(ruling)
    hands = {hand.seat: hand.id for hand in map(course.slap, ruling.because) if hand is not None}
    for runner in ruling["runners_up"]:
        margin = runner["margin"]
        if runner["seat"] in tied:
            continue
        if margin is None or margin < 0:
            yield Considered("K3", False, "not_behind", {"seat": runner["seat"]})
        else:
            error = course.error_between(winner, hands.get(runner["seat"], ""))
            yield Considered("K3", False, "was_later", {"seat": runner["seat"], "ms": margin, "ms_error": error})


def _of_heat(heat: Ruling) -> Iterator[Considered]:
    """Yield the distances between the hands of a dead heat."""
    fields = {"seats": heat["seats"], "ms": abs(heat.get("margin") or 0), "ms_error": heat.get("error") or 0}
    yield Considered("K3", False, "nearer_than_errors", fields)


def _decided(ruling: Ruling, heat: Ruling, course: JudgedCourse) -> Iterator[Considered]:
    """Yield what settled a dead heat (M2 to M4, K6)."""
    how = ruling["decided_by"]
    hands = [hand for hand in map(course.slap, heat.because) if hand is not None and hand.seat in heat["seats"]]
    own = next((hand.force for hand in hands if hand.seat == ruling["seat"]), None)
    others = [hand.force for hand in hands if hand.seat != ruling["seat"] and hand.force is not None]
    if how == "force":
        yield Considered("M2", True, "harder_hand", {"force": own, "second_force": max(others)})
    else:
        row = {"split": "M3", "war": "M4", "left": "E8"}.get(how, "")
        yield Considered(row or "M2", True, f"decided_{how}" if row else "people_said", {})


def _of_hand(ruling: Ruling, judged: JudgedMoment, course: JudgedCourse) -> Iterator[Considered]:
    """Yield why a hand was void or false."""
    slap, position, reason = judged.observation, _met(judged), ruling.get("reason", "")
    if not isinstance(slap, Slap):
        return
    newest = newest_reveal(position)
    since_error = 0 if newest is None else course.error_between(slap.id, newest.ref)
    if is_overruled(ruling):
        yield Considered("K6", True, "people_said", {})
    elif reason == "late":
        yield from _late(ruling, judged, slap, course)
    elif reason == "held":
        yield from _held(judged, slap, course)
    elif reason == "dead_card":
        dead = next((laid.card for laid in reversed(position.pile) if laid.state == "dead"), "")
        yield Considered("F8", False, "dead_on_top", {"card": dead})
    elif reason == "too_soon":
        if newest is not None and ruling.rule[0] in ("M6", "M15", "N12"):
            what = "soon_after" if slap.t >= newest.t else "counts_as_before"
            fields = {"card": newest.card, "ms": slap.t - newest.t, "ms_error": since_error}
            yield Considered(ruling.rule[0], False, what, fields)
    elif reason == "no_pattern":
        yield from missed_patterns(position)
        yield from judge_cover(position, slap.t, since_error)
    elif reason == "covered":
        yield from judge_cover(position, slap.t, since_error)


def _of_question(ruling: Ruling, judged: JudgedMoment, course: JudgedCourse) -> Iterator[Considered]:
    """Yield what a question depends on."""
    ask = ruling.get("ask")
    heat = course.heat_before(judged.nth + 1)
    if ask == "who_was_first" and heat is not None:
        yield from _of_heat(heat)
    elif ask in ("unreadable_card", "bottom_card", "unseen_gap") and isinstance(judged.observation, Slap):
        yield Considered(ruling.rule[0] if ruling.rule else "K2", True, f"hangs_on_{ask}", {})
    elif ask == "slap_or_limit" and isinstance(judged.observation, Card):
        card, before = ruling["about"]
        apart = judged.observation.t - course.moments[before].observation.t
        yield Considered("F9", True, "drawn_at_once", {"ms": apart, "ms_error": course.error_between(card, before)})


def _late(ruling: Ruling, judged: JudgedMoment, slap: Slap, course: JudgedCourse) -> Iterator[Considered]:
    """Yield how late a hand was, after the winner's or after the first of a dead heat still open."""
    claim = judged.state.position.claim
    if "N11" in ruling.rule:
        yield Considered("N11", False, "challenger_keeps", {"seat": claim.seat if claim is not None else None})
        return
    if "M2" in ruling.rule:
        yield from _beaten(ruling, slap, course)
        return
    heat = course.heat_before(judged.nth)
    winner = course.slap(claim.ref) if claim is not None else None
    if winner is not None and slap.t >= winner.t:
        fields = {"seat": winner.seat, "ms": slap.t - winner.t, "ms_error": winner.t_error + slap.t_error}
        yield Considered("M1", False, "came_later", fields)
        return
    first = course.slap(cause_of(heat)) if heat is not None else None
    if heat is not None and first is not None and slap.t >= first.t and (winner is None or winner.id in heat.because):
        fields = {"seats": heat["seats"], "ms": slap.t - first.t, "ms_error": first.t_error + slap.t_error}
        yield Considered("K3", False, "came_after_heat", fields)
    elif claim is not None:
        yield Considered("M1", False, "pile_was_won", {"seat": claim.seat})
    else:
        yield Considered("N1", False, "owner_unknown", {})


def _beaten(ruling: Ruling, slap: Slap, course: JudgedCourse) -> Iterator[Considered]:
    """Yield why a hand lost a dead heat (M2 to M4)."""
    heat = next((heat for _, heat in reversed(course.heats) if slap.id in heat.because), None)
    if heat is None:
        return
    yield from _of_heat(heat)
    winner = next((hand for hand in map(course.slap, ruling.because) if hand is not None and hand.id != slap.id), None)
    if winner is not None:
        how = _how_won(winner.id, heat, course)
        row = {"war": "M4", "split": "M3", "left": "E8"}.get(how, "M2")
        yield Considered(
            row, False, f"lost_by_{how}" if how in ("force", "war", "people", "left") else "lost", {"seat": winner.seat}
        )


def _how_won(slap: str, heat: Ruling, course: JudgedCourse) -> str:
    """Return what decided a dead heat for a hand, even before its pile is picked up."""
    name = f"slap_won@{slap}"
    made = course.made.get(name)
    if made is not None:
        return next((str(ruling["decided_by"]) for ruling in made.rulings if ruling.id == name), "")
    pending = course.made[heat.id].after.pending
    return pending.decided_by if pending is not None and pending.slap.id == slap else ""


def _held(judged: JudgedMoment, slap: Slap, course: JudgedCourse) -> Iterator[Considered]:
    """Yield how long the pad has been down."""
    presses = course.presses[slap.seat]
    at = bisect.bisect_left(presses, (judged.nth,))
    down = presses[at - 1][1] if at else None
    if down is not None:
        what = "down_since" if slap.t >= down.t else "down_already"
        error = slap.t_error + down.t_error
        yield Considered("M5", False, what, {"ms": slap.t - down.t, "ms_error": error, "line": down.id})


def _readings(ruling: Ruling, course: JudgedCourse) -> Iterator[Considered]:
    """Yield the verdicts of either order and either side of a time limit, if errors leave them open (K9)."""
    slap = course.slap(cause_of(ruling))
    told: list[Considered] = []
    if slap is not None and course.moments[slap.id].state.position.rules.has("K9"):
        at = bisect.bisect_left(course.changes, (slap.t,))
        near = course.changes[max(0, at - _MOST_LOOKED_AT) : at + _MOST_LOOKED_AT]
        near.sort(key=lambda entry: abs(entry[0] - slap.t))
        readings = (_reading(ruling, slap, other, course) for _, _, other in near[:_MOST_LOOKED_AT])
        told = [reading for reading in readings if reading is not None]
    mattered = [reading for reading in told if reading.held]
    # If no order matters, one reading is enough to show it.
    yield from mattered[:_MOST_READINGS] or told[: ruling.get("reason") in _OF_PATTERNS]
    sides = [] if slap is None else judge_hand(course.moments[slap.id].state.position, slap)[1]
    if sides:
        yield Considered("K9", True, "either_side", {"before": _worth(sides[0]), "after": _worth(sides[-1])})
    if rests_on_gap(ruling):
        yield Considered("K2", True, "hangs_on_unseen_gap", {})
    elif ruling.doubt and not mattered and not sides:
        yield Considered("K9", True, "in_doubt", {})


def _reading(ruling: Ruling, slap: Slap, other: Card | Taken, course: JudgedCourse) -> Considered | None:
    """Return the verdict of both orders of a slap and a card or pick-up; None if they explain nothing.

    They are judged in the state before the first of the two; with other lines between, that is not the actual ruling.
    """
    if not order_is_open(slap, other):
        return None
    hand, beside = course.moments[slap.id], course.moments[other.id]
    position = min(hand, beside, key=lambda moment: moment.nth).state.position
    before, _ = judge_hand(position, slap)
    after, _ = judge_hand(position_after(position, other), slap)
    ruled = {"slap_won": "won", "slap_false": "false", "slap_void": "void"}.get(ruling.kind)
    chosen = before if hand.nth < beside.nth else after
    if ruled is not None and chosen.outcome != ruled:
        return None
    fields = {
        "ms": slap.t - other.t,
        "ms_error": slap.t_error + other.t_error,
        "before": _worth(before),
        "after": _worth(after),
    }
    held = before.outcome != after.outcome
    if isinstance(other, Taken):
        return Considered("K9", held, "either_order_taken", fields)
    return Considered("K9", held, "either_order", {"card": other.card, **fields})


def _worth(judged: Verdict) -> tuple[str, tuple[str, ...], str]:
    """Return an outcome, its patterns and its reason."""
    return judged.outcome, judged.patterns, judged.reason
