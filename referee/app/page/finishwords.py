"""The words of a photo-finish: its headline, and one description for those who do not see the drawing."""

from __future__ import annotations

from dataclasses import dataclass

from referee.adjudication.rulings import Ruling
from referee.app.page.finish import Finish, Hand
from referee.app.page.rulingwords import RulingWords
from referee.app.page.texts import Texts


@dataclass(frozen=True, slots=True)
class Headline:
    """What stands above the drawing."""

    text: str
    under: str
    seat: int | None
    """Whose colour it has."""


def headline(finish: Finish, words: RulingWords) -> Headline:
    """Who was first and by how much, or what else was ruled."""
    texts, ruling = words.texts, finish.ruling
    if finish.heat is not None:
        return _heat(finish.heat, ruling, words)
    if ruling is None:
        asked = next(hand for hand in finish.hands if hand.id == finish.slap)
        return Headline(texts("finish.pending", name=words.name(asked.seat)), "", asked.seat)
    name = words.name(ruling.get("seat"))
    if ruling.kind != "slap_won":
        key = "finish.false" if ruling.kind == "slap_false" else "finish.void"
        return Headline(texts(key, name=name), words.reason(ruling), ruling.get("seat"))
    if ruling["margin"] is None:
        return Headline(texts("finish.alone", name=name), words.patterns(ruling["patterns"]), ruling["seat"])
    under = texts("finish.by", margin=texts.ms(ruling["margin"]), error=texts.ms(ruling["error"]))
    return Headline(texts("finish.first", name=name), under, ruling["seat"])


def _heat(heat: Ruling, ruling: Ruling | None, words: RulingWords) -> Headline:
    """Nobody was first; who has the pile, and why, where that is settled."""
    texts = words.texts
    under = texts("finish.apart", margin=texts.ms(heat["margin"]), error=texts.ms(heat["error"]))
    if ruling is not None and ruling.kind == "slap_won":
        how = texts.get(f"decided.{ruling['decided_by']}", "")
        under = f"{under} · {words.name(ruling['seat'])}: {how}"
    return Headline(texts("finish.heat"), under, None)


def behind(hand: Hand, texts: Texts) -> str:
    """How far a hand was behind the first, with the error of that; empty where it is not compared."""
    if hand.behind is None or hand.behind_error is None:
        return ""
    if hand.behind == 0:
        return texts.ms(0)
    return f"{texts.ms(hand.behind, sign=True)} ± {texts.ms(hand.behind_error)}"


def verdict(hand: Hand, finish: Finish, words: RulingWords) -> str:
    """What was ruled on one hand, in a word or two."""
    texts = words.texts
    if finish.heat is not None and hand.seat in finish.heat["seats"] and hand.id in finish.heat.because:
        won = hand.ruling is not None and hand.ruling.kind == "slap_won"
        return texts("finish.in_heat") + (f", {texts('board.won')}" if won else "")
    if hand.ruling is None:
        return ""
    return texts("finish.won") if hand.ruling.kind == "slap_won" else words.reason(hand.ruling)


def description(finish: Finish, words: RulingWords) -> str:
    """The drawing in sentences."""
    texts = words.texts
    head = headline(finish, words)
    parts = [f"{head.text}, {head.under}" if head.under else head.text]
    for hand in finish.hands:
        after = behind(hand, texts) or f"{texts.ms(hand.t - finish.zero, sign=True)} ± {texts.ms(hand.error)}"
        said = verdict(hand, finish, words)
        parts.append(f"{words.name(hand.seat)}: {after}" + (f", {said}" if said else ""))
    return ". ".join(parts) + "."
