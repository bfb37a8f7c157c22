"""The words of one ruling: which phrase of the table it is, and what fills its places. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from referee.adjudication.rulings import Ruling
from referee.app.phrases.language import MOST, Clips, Language

_MS: Final = 1_000_000

_Say = Callable[[Language, Ruling], Clips]


def words_of(ruling: Ruling, words: Language, *, penalty: bool = False) -> Clips:
    """What is said of a ruling, without correction and doubt; nothing where the lights say enough.

    Args:
        ruling: any ruling.
        words: the language.
        penalty: said in one breath after the false slap that it punishes, so without its seat.
    """
    say = (_PENALTIES if penalty else _RULINGS).get(ruling.kind)
    return say(words, ruling) if say is not None else ()


def _seat(words: Language, ruling: Ruling, field: str = "seat") -> Clips:
    return (words.seat(ruling[field]),)


def _either(words: Language, key: str, detail: object) -> str:
    """The key with its detail where there is such a phrase, else the key alone."""
    full = f"{key}.{detail}"
    return full if words.has(full) else key


def _some(words: Language, count: int, noun: str) -> Clips:
    """A count and its noun; a number without words is left out, which is still true."""
    return words.counted(count, noun) if 0 <= count <= MOST else ()


def margin_words(words: Language, ns: int | None) -> Clips:
    """Whole milliseconds, never more than it was; nothing where nobody was second."""
    if ns is None:
        return ()
    whole = ns // _MS
    if whole < 1:
        return words.say("margin.less")
    return words.say("margin.more") if whole > MOST else words.say("margin", ms=words.counted(whole, "ms"))


def _slap_won(words: Language, ruling: Ruling) -> Clips:
    seat = _seat(words, ruling)
    decided = f"slap_won.{ruling.get('decided_by')}"
    if words.has(decided):
        return words.say(decided, seat=seat)
    places = {"seat": seat, "margin": margin_words(words, ruling.get("margin")), "pattern": _pattern(words, ruling)}
    key = "slap_won" + "".join(f".{name}" for name in ("pattern", "margin") if places[name])
    return words.say(key, **places)


def _pattern(words: Language, ruling: Ruling) -> Clips:
    """The name of the first pattern that has one: a double has none, for everybody sees it."""
    rows = [str(row).partition(":")[0] for row in ruling.get("patterns", ())]
    if "P1" in rows:
        return ()
    return next((words.say(f"pattern.{row}") for row in rows if words.has(f"pattern.{row}")), ())


def _dead_heat(words: Language, ruling: Ruling) -> Clips:
    *others, last = (words.seat(place) for place in ruling["seats"])
    if not others:
        return ()
    listed = (*(f"{one}," for one in others[:-1]), others[-1], *words.say("and"), last)
    return words.say("dead_heat", seats=listed)


def _burn(key: str) -> _Say:
    def say(words: Language, ruling: Ruling) -> Clips:
        cards = _some(words, ruling["count"], "card")
        return words.say(_either(words, key, ruling.get("where")), seat=_seat(words, ruling), cards=cards)

    return say


def _give(words: Language, ruling: Ruling) -> Clips:
    cards = _some(words, ruling["count"], "card")
    return words.say("give", seat=_seat(words, ruling), cards=cards, to=_seat(words, ruling, "to"))


def _strike(key: str) -> _Say:
    def say(words: Language, ruling: Ruling) -> Clips:
        strikes = int(ruling["strikes"])
        number = words.number(strikes) if 0 <= strikes <= MOST else ()
        return words.say(key, seat=_seat(words, ruling), number=number)

    return say


def _of_seat(key: str, detail: str = "") -> _Say:
    """A phrase that names the seat, in the form for the ruling's field ``detail`` where there is one."""
    return lambda words, ruling: words.say(
        _either(words, key, ruling.get(detail)) if detail else key, seat=_seat(words, ruling)
    )


def _only_known(key: str, detail: str) -> _Say:
    """As `_of_seat`, and silent where there is no form for the detail."""

    def say(words: Language, ruling: Ruling) -> Clips:
        full = f"{key}.{ruling.get(detail)}"
        return words.say(full, seat=_seat(words, ruling)) if words.has(full) else ()

    return say


def _just(key: str) -> _Say:
    return lambda words, ruling: words.say(key)


def _dead_card(words: Language, ruling: Ruling) -> Clips:
    reason = "double_draw" if ruling.get("reason") == "double_draw" else "out_of_turn"
    return words.say(f"dead_card.{reason}", seat=_seat(words, ruling))


def _contested(words: Language, ruling: Ruling) -> Clips:
    key = "contested.upheld" if ruling["upheld"] else "contested.refused"
    return words.say(key, against=_seat(words, ruling, "against"))


def _challenge(words: Language, ruling: Ruling) -> Clips:
    if ruling["challenged"] is None:
        # Nobody has a card to pay with: the pile is won in the same breath.
        return ()
    chances = _some(words, ruling["chances"], "chance")
    return words.say("challenge", seat=_seat(words, ruling, "challenged"), chances=chances)


def _chance(words: Language, ruling: Ruling) -> Clips:
    if ruling["left"] == 1:
        return words.say("chance.one")
    return words.say("chance", chances=_some(words, ruling["left"], "chance"))


def _challenge_moves(words: Language, ruling: Ruling) -> Clips:
    return words.say("challenge_moves", seat=_seat(words, ruling), chances=_some(words, ruling["left"], "chance"))


def _pile(words: Language, ruling: Ruling) -> Clips:
    cards = _some(words, ruling["count"], "card")
    return words.say("pile" if cards else "pile.many", seat=_seat(words, ruling), cards=cards)


def _question(words: Language, ruling: Ruling) -> Clips:
    key = _either(words, "question", ruling["ask"])
    cards: list[Any] = [card for card in ruling.get("cards", ()) if card != "??"]
    if len(cards) > 1 and words.has(f"{key}.cards"):
        return words.say(f"{key}.cards", card=words.card(cards[0]), other=words.card(cards[1]))
    return words.say(key)


def _remind(words: Language, ruling: Ruling) -> Clips:
    key = f"remind.{ruling['what']}"
    return words.say(key) if words.has(key) else ()


_RULINGS: Final[Mapping[str, _Say]] = {
    "dead_heat": _dead_heat,
    "slap_won": _slap_won,
    "slap_false": _of_seat("slap_false", "reason"),
    "slap_void": _only_known("slap_void", "reason"),
    "burn": _burn("burn"),
    "strike": _strike("strike"),
    "give": _give,
    "locked_out": _of_seat("locked_out", "until"),
    "dead_card": _dead_card,
    "foul": _of_seat("foul", "foul"),
    "contested": _contested,
    "challenge": _challenge,
    "chance": _chance,
    "challenge_moves": _challenge_moves,
    "challenge_off": _just("challenge_off"),
    "challenge_won": _of_seat("challenge_won"),
    "out": _of_seat("out"),
    "pile": _pile,
    "slapped_in": _of_seat("slapped_in"),
    "won": _of_seat("won"),
    "lost": _of_seat("lost"),
    "drawn": _just("drawn"),
    "repeated": _just("repeated"),
    "question": _question,
    "remind": _remind,
    "corrected": _just("corrected"),
}
"""What is said of each kind of ruling. `lead` and `turn` are silent: the lights show them."""

_PENALTIES: Final[Mapping[str, _Say]] = {
    "burn": _burn("penalty.burn"),
    "strike": _strike("penalty.strike"),
    "locked_out": lambda words, ruling: (
        words.say(f"penalty.locked_out.{ruling.get('until')}")
        if words.has(f"penalty.locked_out.{ruling.get('until')}")
        else ()
    ),
}
