"""What the referee says: from rulings to the names of clips. Pure; nothing here makes a sound.

A clip's name is the text that it speaks, so a phrase reads as it sounds: ``("seat three", "wins the slap",
"by", "fourteen", "milliseconds")``. Everything that can be said is in `VOCABULARY`, rendered ahead. Players
are called by their seats, since a name that nobody rendered cannot be spoken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, Final

from referee.adjudication.rulings import Ruling

Clips = tuple[str, ...]

_MS: Final = 1_000_000
MOST_SEATS: Final = 8
MOST: Final = 999
"""The greatest number that has words."""

_UNITS: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


class Priority(IntEnum):
    """How a phrase stands to others."""

    COUNT = 0
    """True for a moment only: dropped when late, cut off by a verdict."""
    CALL = 1
    """Worth saying until something overtakes it; cut off by a verdict."""
    VERDICT = 2
    """Interrupts the two others, and is itself spoken to its end."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Something to say."""

    clips: Clips
    """Names of clips, in order; each is in `VOCABULARY`."""
    priority: Priority
    t: int
    """The instant that it speaks of, ns."""

    @property
    def urgent(self) -> bool:
        """Whether it interrupts what is being said."""
        return self.priority is Priority.VERDICT

    @property
    def text(self) -> str:
        """The phrase in writing."""
        return " ".join(self.clips)


def number(value: int) -> Clips:
    """Clips of a whole number from 0 to `MOST`.

    Raises:
        ValueError: the number has no words.
    """
    if not 0 <= value <= MOST:
        raise ValueError(f"no words for {value}: only 0 to {MOST} are rendered")
    hundreds, rest = divmod(value, 100)
    if hundreds == 0:
        return (_below_hundred(rest),)
    head = f"{_UNITS[hundreds]} hundred"
    return (head, "and", _below_hundred(rest)) if rest else (head,)


def _below_hundred(value: int) -> str:
    if value < len(_UNITS):
        return _UNITS[value]
    tens, unit = divmod(value, 10)
    return _TENS[tens - 2] + (f" {_UNITS[unit]}" if unit else "")


def seat(place: int) -> str:
    """The clip that calls a seat.

    Raises:
        ValueError: there are pads for `MOST_SEATS` seats only.
    """
    if not 1 <= place <= MOST_SEATS:
        raise ValueError(f"no clip for seat {place}: seats are 1 to {MOST_SEATS}")
    return f"seat {_UNITS[place]}"


def margin(ns: int | None) -> Clips:
    """A margin as people say it, whole milliseconds, never more than it was; nothing where nobody was second."""
    if ns is None:
        return ()
    whole = ns // _MS
    if whole < 1:
        return ("by less than one millisecond",)
    if whole > MOST:
        return ("by more than one second",)
    return ("by", *number(whole), "millisecond" if whole == 1 else "milliseconds")


def _some(count: int, one: str, many: str) -> Clips:
    """A count and its noun; a number without words is left out, which is still true."""
    if not 0 <= count <= MOST:
        return (many,)
    return (*number(count), one if count == 1 else many)


def _cards(count: int) -> Clips:
    return _some(count, "card", "cards")


def _chances(count: int) -> Clips:
    return _some(count, "chance", "chances")


_FALSE: Final[Mapping[str, Clips]] = {
    "dead_card": ("on a dead card",),
    "too_soon": ("too soon",),
    "hovering": ("hovering",),
    "late": ("too late",),
}
_VOID: Final[Mapping[str, str]] = {
    "locked_out": "is locked out",
    "mashing": "do not drum on the pad",
    "too_soon": "too soon no slap",
}
_DEAD: Final[Mapping[str, str]] = {
    "out_of_turn": "played out of turn dead card",
    "double_draw": "drew two cards dead card",
}
_LOCKED: Final[Mapping[str, str]] = {
    "game": "no more slaps this game",
    "pile": "no slaps until the pile is won",
    "rounds": "no slaps for some rounds",
    "cards": "no slaps for some cards",
}
_ASK: Final[Mapping[str, str]] = {
    "who_was_first": "who was first",
    "unreadable_card": "which card is this",
    "impossible_card": "this card cannot be here which card is it",
    "order_changed": "the order of a stack has changed",
    "who_played": "who played this card",
    "bottom_card": "which card is at the bottom",
    "mend_pile": "whose pile is this",
    "recount": "please count your cards",
}
_ASK_ELSE: Final = "please look at the screen"
_REMIND: Final[Mapping[str, str]] = {
    "rings": "please take off rings and watches",
    "forehead": "touch your forehead first",
    "other_hand": "slap with the other hand",
    "slap_your_pad": "slap your pad and not the pile",
}
_CORRECTION: Final = "correction"
_STUCK: Final = "your pad is stuck"

_Say = Callable[[Ruling], Clips]


def _slap_won(ruling: Ruling) -> Clips:
    return (seat(ruling["seat"]), "wins the slap", *margin(ruling.get("margin")))


def _slap_false(ruling: Ruling) -> Clips:
    return (seat(ruling["seat"]), "false slap", *_FALSE.get(str(ruling.get("reason")), ()))


def _slap_void(ruling: Ruling) -> Clips:
    words = _VOID.get(str(ruling.get("reason")))
    return (seat(ruling["seat"]), words) if words else ()


def _dead_heat(ruling: Ruling) -> Clips:
    *others, last = (seat(place) for place in ruling["seats"])
    return ("tie between", *others, "and", last) if others else ()


def _burn(ruling: Ruling) -> Clips:
    return (seat(ruling["seat"]), "burns", *_cards(ruling["count"]))


def _give(ruling: Ruling) -> Clips:
    return (seat(ruling["seat"]), "gives", *_cards(ruling["count"]), "to", seat(ruling["to"]))


def _strike(ruling: Ruling) -> Clips:
    strikes = int(ruling["strikes"])
    return (seat(ruling["seat"]), "strike", *(number(strikes) if 0 <= strikes <= MOST else ()))


def _locked_out(ruling: Ruling) -> Clips:
    until = ruling.get("until")
    words = _LOCKED.get(until if isinstance(until, str) else "", "is locked out")
    return (seat(ruling["seat"]), words)


def _dead_card(ruling: Ruling) -> Clips:
    return (seat(ruling["seat"]), _DEAD.get(str(ruling.get("reason")), "dead card"))


def _contested(ruling: Ruling) -> Clips:
    words = "is upheld" if ruling["upheld"] else "is turned down"
    return ("the contest against", seat(ruling["against"]), words)


def _challenge(ruling: Ruling) -> Clips:
    if ruling["challenged"] is None:
        # Nobody has a card to pay with: the pile is won in the same breath.
        return ()
    return (seat(ruling["challenged"]), "has", *_chances(ruling["chances"]))


def _chance(ruling: Ruling) -> Clips:
    return (*_chances(ruling["left"]), "left")


def _challenge_moves(ruling: Ruling) -> Clips:
    return (seat(ruling["seat"]), "goes on with", *_chances(ruling["left"]))


def _pile(ruling: Ruling) -> Clips:
    return (seat(ruling["seat"]), "picks up", *_cards(ruling["count"]))


def _question(ruling: Ruling) -> Clips:
    return (_ASK.get(str(ruling["ask"]), _ASK_ELSE),)


def _remind(ruling: Ruling) -> Clips:
    words = _REMIND.get(str(ruling["what"]))
    return (words,) if words else ()


def _of_seat(*words: str) -> _Say:
    return lambda ruling: (seat(ruling["seat"]), *words)


def _just(*words: str) -> _Say:
    return lambda ruling: words


_SPOKEN: Final[Mapping[str, tuple[Priority, _Say]]] = {
    "dead_heat": (Priority.VERDICT, _dead_heat),
    "slap_won": (Priority.VERDICT, _slap_won),
    "slap_false": (Priority.VERDICT, _slap_false),
    "slap_void": (Priority.CALL, _slap_void),
    "burn": (Priority.VERDICT, _burn),
    "strike": (Priority.VERDICT, _strike),
    "give": (Priority.VERDICT, _give),
    "locked_out": (Priority.VERDICT, _locked_out),
    "dead_card": (Priority.VERDICT, _dead_card),
    "foul": (Priority.VERDICT, _of_seat("foul")),
    "contested": (Priority.VERDICT, _contested),
    "challenge": (Priority.COUNT, _challenge),
    "chance": (Priority.COUNT, _chance),
    "challenge_moves": (Priority.CALL, _challenge_moves),
    "challenge_off": (Priority.CALL, _just("the challenge is off")),
    "challenge_won": (Priority.CALL, _of_seat("takes the pile")),
    "out": (Priority.VERDICT, _of_seat("is out")),
    "pile": (Priority.COUNT, _pile),
    "slapped_in": (Priority.VERDICT, _of_seat("is back in the game")),
    "won": (Priority.VERDICT, _of_seat("wins the game")),
    "lost": (Priority.VERDICT, _of_seat("loses the game")),
    "drawn": (Priority.VERDICT, _just("the game is a draw")),
    "repeated": (Priority.CALL, _just("this position was here before")),
    "question": (Priority.VERDICT, _question),
    "remind": (Priority.CALL, _remind),
}
"""What is said of each kind of ruling. `lead` and `turn` are silent: the lights show them."""


def phrase(ruling: Ruling) -> Phrase | None:
    """What to say of one ruling; None where the lights say enough."""
    spoken = _SPOKEN.get(ruling.kind)
    if spoken is None:
        return None
    priority, say = spoken
    clips = say(ruling)
    if not clips:
        return None
    if ruling.supersedes:
        return Phrase((_CORRECTION, *clips), Priority.VERDICT, ruling.t)
    return Phrase(clips, priority, ruling.t)


def announce(rulings: Iterable[Ruling]) -> list[Phrase]:
    """What to say of rulings that came together, joined where people would join them.

    A penalty follows its false slap in one breath: "seat two, false slap, burn one card".
    """
    phrases: list[Phrase] = []
    before: Ruling | None = None
    for ruling in rulings:
        said = phrase(ruling)
        if said is None:
            continue
        if before is not None and _is_penalty_of(ruling, before):
            phrases[-1] = replace(phrases[-1], clips=phrases[-1].clips + _penalty(ruling))
            continue
        phrases.append(said)
        before = ruling
    return phrases


def _is_penalty_of(ruling: Ruling, before: Ruling) -> bool:
    return (
        before.kind == "slap_false"
        and ruling.kind in ("burn", "strike", "locked_out")
        and not ruling.supersedes
        and (ruling.t, ruling.get("seat")) == (before.t, before.get("seat"))
    )


def _penalty(ruling: Ruling) -> Clips:
    if ruling.kind == "burn":
        return ("burn", *_cards(ruling["count"]))
    return (phrase(ruling) or Phrase((), Priority.VERDICT, 0)).clips[1:]


def pad_stuck(place: int, t: int) -> Phrase:
    """Said when a pad has been down for too long to be a hand; ``t`` in ns."""
    return Phrase((seat(place), _STUCK), Priority.VERDICT, t)


def _vocabulary() -> tuple[str, ...]:
    words: dict[str, None] = {seat(place): None for place in range(1, MOST_SEATS + 1)}
    for value in (*range(100), *range(100, MOST + 1, 100)):
        words.update(dict.fromkeys(number(value)))
    tables: tuple[Mapping[str, Any], ...] = (_VOID, _DEAD, _LOCKED, _ASK, _REMIND)
    for table in tables:
        words.update(dict.fromkeys(table.values()))
    for clips in _FALSE.values():
        words.update(dict.fromkeys(clips))
    words.update(dict.fromkeys(_OTHER_WORDS))
    return tuple(words)


_OTHER_WORDS: Final = (
    "and", "by", "to", "millisecond", "milliseconds", "by less than one millisecond", "by more than one second",
    "card", "cards", "chance", "chances", "left", "has", "goes on with", "picks up", "takes the pile",
    "wins the slap", "false slap", "tie between", "burn", "burns", "gives", "strike", "is locked out", "dead card",
    "foul", "the contest against", "is upheld", "is turned down", "the challenge is off", "is out",
    "is back in the game", "wins the game", "loses the game", "the game is a draw",
    "this position was here before", _ASK_ELSE, _CORRECTION, _STUCK,
)  # fmt: skip

VOCABULARY: Final[Clips] = _vocabulary()
"""Every clip that any phrase can ask for."""
