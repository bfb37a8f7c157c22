"""The comparison of a shadowed game in words: agreement with its error, and each difference with its explanation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from referee.engine.log import find_replacements
from referee.engine.replay import ReplayedGame
from referee.options.shadow.comparison import Comparison, JudgedSlap, MarkedSlap
from referee.share import wilson
from referee.text.catalogue import Texts
from referee.text.explanation_lines import explanation_lines
from referee.text.ruling_lines import RulingWords


def agreement_words(comparisons: Sequence[Comparison], texts: Texts, key: str = "shadow.agreement") -> str:
    """Return how many slaps were ruled alike, as a share with its interval."""
    agreed, counted = (
        sum(len(comparison.agreed) for comparison in comparisons),
        sum(comparison.counted for comparison in comparisons),
    )
    if not counted:
        return texts("shadow.none")
    low, high = wilson(agreed, counted)
    share, low_, high_ = (texts.number(100 * each, 1) for each in (agreed / counted, low, high))
    return texts(key, agreed=agreed, counted=counted, share=share, low=low_, high=high_)


def difference_words(number: int, one: MarkedSlap, began: int, texts: Texts) -> str:
    """Return one difference in words; ``began``: the game's first instant, ns."""
    said, ruled = (texts(f"shadow.{verdict}_word") for verdict in (one.mark.verdict, one.slap.verdict))
    return texts("shadow.difference", number=number, time=_time(one.slap, began, texts), people=said, referee=ruled)


def undecided_words(one: MarkedSlap, began: int, texts: Texts) -> str:
    """Return a slap that the referee could not decide, and the reason."""
    said, why = texts(f"shadow.{one.mark.verdict}_word"), texts(f"shadow.why_{one.slap.why}")
    return texts("shadow.undecided_line", time=_time(one.slap, began, texts), people=said, why=why)


def _time(slap: JudgedSlap, began: int, texts: Texts) -> str:
    return texts.seconds(slap.t - began)


def left_over(compared: Comparison, texts: Texts) -> list[str]:
    """Return what was not compared: slaps without a mark, marks without a slap, replaced marks."""
    counts = {"unmarked": compared.unmarked, "stray": compared.stray, "replaced": compared.replaced}
    return [texts.count(f"shadow.{key}", len(found)) for key, found in counts.items() if found]


def shadow_lines(game: ReplayedGame, compared: Comparison, words: RulingWords) -> Iterator[str]:
    """Yield the whole comparison, line by line for a terminal."""
    texts, began = words.texts, game.table.t
    by_id = game.by_id
    replaced = {old: by_id[new] for old, new in find_replacements(game.rulings).items() if new in by_id}
    yield agreement_words([compared], texts)
    if compared.counted:
        yield ""
        many = len(compared.differing)
        yield texts.count("shadow.differences", many) if many else texts("shadow.no_differences")
    for number, difference in enumerate(compared.differing, start=1):
        yield difference_words(number, difference, began, texts)
        if difference.slap.ruling is not None:
            for line in explanation_lines(game.explain(difference.slap.ruling), game.table, words, replaced):
                yield f"   {line}"
        yield ""
    if compared.undecided:
        yield texts.count("shadow.undecided", len(compared.undecided))
        yield from (f"   {undecided_words(slap, began, texts)}" for slap in compared.undecided)
    yield from left_over(compared, texts)
