"""Explanations in words: why a rule held or not, and the lines around a ruling; for the terminal, JSON and the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from referee.engine.explanation import Explanation, Moment, notation
from referee.engine.near_misses import Considered
from referee.engine.observations import Table
from referee.engine.rulings import SHOWN_BY_POSITION, Ruling, ruling_fields
from referee.rules.position import Laid
from referee.rules.rows import ROWS
from referee.text.catalogue import Texts
from referee.text.rules import row_words, sentence
from referee.text.ruling_lines import RulingWords, pretty

_MOST_CARDS: Final = 24
"""Maximum number of cards of a pile that are listed, the newest ones."""
_PLAIN: Final = RulingWords(())


def explanation_fields(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation as a JSON object; its words are English, with seats by number."""
    ruling = explanation.ruling
    return {
        "ruling": ruling_fields(ruling),
        "notation": notation(explanation.pile),
        "pile": [
            {"card": laid.card, "seat": laid.seat or None, "state": laid.state}
            for laid in explanation.pile[-_MOST_CARDS:]
        ],
        "below": max(0, len(explanation.pile) - _MOST_CARDS),
        "counts": list(explanation.counts),
        "turn": explanation.turn,
        "moments": [_moment_fields(moment) for moment in explanation.moments],
        "left_out": explanation.left_out,
        "rules": [{"id": row, "name": ROWS[row].name, "title": title} for row, title in explanation.rules],
        "considered": [
            {"row": considered.row, "held": considered.held, "why": why(considered, _PLAIN, cards=str)}
            for considered in explanation.considered
        ],
        "supersedes": list(ruling.supersedes),
        "words": _PLAIN(ruling),
    }


def _moment_fields(moment: Moment) -> dict[str, Any]:
    fields = moment._asdict()
    if not moment.about:
        del fields["about"], fields["value"]
    if not moment.by_people:
        del fields["by_people"]
    return fields


def why(considered: Considered, words: RulingWords, *, cards: Any = pretty) -> str:
    """Return why a rule held, or did not.

    Args:
        considered: the rule that was considered.
        words: the language, and the players' names.
        cards: formats a card.
    """
    fields = {name: _field(name, value, words, cards) for name, value in considered.fields.items()}
    if "ms" in fields:
        # Slap before card is negative in a text that says which came first.
        signed = considered.what.startswith("either_order")
        fields["ms"] = words.texts.measured(
            considered.fields["ms"], considered.fields["ms_error"], sign=signed
        ).replace("−", "-")
    return words.texts(f"why.{considered.what}", **fields)


def _field(name: str, value: Any, words: RulingWords, cards: Any) -> str:
    texts = words.texts
    match name:
        case "seat":
            return words.name(value)
        case "seats":
            return texts.both(map(words.name, value))
        case "card" | "other":
            return str(cards(value))
        case "cards":
            return " ".join(map(cards, value))
        case "n_cards":
            return texts.count("cards", value)
        case "force" | "second_force":
            return texts.number(value, 2)
        case "patterns":
            return ", ".join(value if cards is str else map(words.pattern, value))
        case "before" | "after":
            outcome, patterns, reason = value
            because = ", ".join(patterns) if cards is str else words.patterns(patterns)
            because = because or (texts.get(f"reason.{reason}", reason.replace("_", " ")) if reason else "")
            said = texts(f"why.outcome_{outcome}")
            return f"{said} ({because})" if because else said
        case "rank" | "second":
            return str(value).replace("T", "10")
    return str(value)


def explanation_lines(
    explanation: Explanation, table: Table, words: RulingWords, replaced_by: Mapping[str, Ruling]
) -> Iterator[str]:
    """Yield the lines of an explanation; a turn, which explains itself, takes one line.

    Args:
        explanation: to write out.
        table: the log's first line.
        words: the language, and the players' names.
        replaced_by: the ruling that replaced another, by the other's id.
    """
    ruling, texts = explanation.ruling, words.texts
    if ruling.kind in SHOWN_BY_POSITION:
        yield f"{ruling.id}: {words(ruling)}  [{' '.join(ruling.rule)}]"
        yield from _successors(ruling, words, replaced_by)
        return
    yield f"{ruling.id}: {words(ruling)}"
    yield f"  {texts('explain.when', time=texts.seconds(ruling.t - table.t))}"
    yield f"  {texts('explain.pile', pile=_pile(explanation.pile, words))}"
    on = table.house
    for row, _ in explanation.rules:
        # With the value that the row has at this table; only the English texts have one.
        title = sentence(row, on) if texts.language == "en" else row_words(row, texts)
        yield f"  {texts('explain.rule', row=row, title=title)}"
    if explanation.moments:
        yield f"  {texts('explain.around')}"
        for moment in explanation.moments:
            yield f"    {offset_of(moment, explanation, texts).replace('−', '-'):>15}  {_moment(moment, ruling, words)}"
        if explanation.left_out:
            yield f"    {texts.count('explain.left_out', explanation.left_out)}"
    if explanation.considered:
        yield f"  {texts('explain.considered')}"
        for considered in explanation.considered:
            row, _, own = considered.row.partition(":")
            name = own or (ROWS[row].name if row in ROWS else "")
            held = texts("word.yes") if considered.held else f"{texts('word.no')} "
            yield f"    {held} {row} {name}: {why(considered, words, cards=str)}"
    yield from _successors(ruling, words, replaced_by)


def _pile(pile: tuple[Laid, ...], words: RulingWords) -> str:
    texts, top = words.texts, pile[-_MOST_CARDS:]
    states = {laid.state for laid in top}
    marks = [f"[{texts('explain.burned')}]"] * ("burned" in states) + [f"({texts('explain.dead')})"] * (
        "dead" in states
    )
    hidden = len(pile) - len(top)
    below = f"… {texts.count('explain.more_below', hidden)}, " if hidden else ""
    return below + (notation(top) or texts("explain.no_card")) + ("   " if marks else "") + " ".join(marks)


def offset_of(moment: Moment, explanation: Explanation, texts: Texts) -> str:
    """Return the time from the ruling's instant to a line, with both errors; people's lines have none."""
    own = next((moment.error for moment in explanation.moments if moment.offset == 0 and moment.error), 0)
    if moment.offset == 0:
        return texts.ms(0, 0)
    return texts.measured(moment.offset, own + moment.error, sign=True)


def _moment(moment: Moment, ruling: Ruling, words: RulingWords) -> str:
    rests = f"  <- {words.texts('explain.rests')}" if moment.id in ruling.because else ""
    return f"{moment_words(moment, words)} ({moment.id}){rests}"


def moment_words(moment: Moment, words: RulingWords) -> str:
    """Return a line near a ruling in a word or two; an answer shows its question's text, not its id."""
    texts = words.texts
    if moment.kind == "answer":
        asked = texts.get(f"ask.{moment.about}", moment.about.replace("_", " "))
        said = words.name(moment.value) if moment.about in _SEATS else str(moment.value)
        return texts("explain.asked", about=asked, value=said)
    if moment.kind == "correct":
        if isinstance(moment.value, Mapping) and "void" in moment.value:
            return texts("explain.struck", about=moment.about)
        fields = moment.value if isinstance(moment.value, Mapping) else {}
        said = ", ".join(f"{name} {value}" for name, value in fields.items())
        return texts("explain.corrected", about=moment.about, value=said)
    who = f" {words.name(moment.seat)}" if moment.seat is not None else ""
    card = f" {moment.card}" if moment.card else ""
    what = f"{texts.get(f'moment.{moment.kind}', moment.kind)}{who}{card}"
    return texts("explain.by_people", what=what) if moment.by_people else what


_SEATS: Final = frozenset(("who_was_first", "who_played", "mend_pile"))
"""Questions whose answer is a seat."""


def _successors(ruling: Ruling, words: RulingWords, replaced_by: Mapping[str, Ruling]) -> Iterator[str]:
    if ruling.supersedes:
        yield f"  {words.texts('explain.replaces', which=', '.join(ruling.supersedes))}"
    if ruling.id in replaced_by:
        newer = replaced_by[ruling.id]
        yield f"  {words.texts('explain.replaced', which=newer.id, now=words(newer))}"
