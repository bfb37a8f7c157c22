"""No view prints more digits than its error allows, and none makes a time contradict its ruling."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from referee.announce.phrases import words_in
from referee.announce.voice import phrase
from referee.engine.observations import MAX_ERROR
from referee.engine.rulings import Ruling
from referee.record.statistics import make_figures, summarise_players, typical_error
from referee.text.catalogue import LANGUAGES, texts
from referee.text.explanation_lines import explanation_lines
from referee.text.ruling_lines import RulingWords, ruling_writer
from referee.text.terminal_language import here
from referee.units import MS, last_place, round_at, whole_ms
from referee.web.board import Board
from referee.web.board_view import regions
from referee.web.figures import draw_reactions, write_figures
from referee.web.finish_page import finish_page, found
from referee.web.game_end import find_moments
from referee.web.games_cache import LoadedGame
from tests.play import TABLE, file_lines
from tests.web.test_page_finish import INFO

ERRORS = st.integers(1, MAX_ERROR)
TIMES = st.integers(0, 2_000 * MS)
_TIME = re.compile(r"([−+-]?[\d.,]+)(?:\s±\s([\d.,]+))?\s(ms|s)\b")


def number(text: str) -> float:
    return float(text.replace(",", ".").replace("−", "-"))


def place_of(text: str, unit: str) -> int:
    """Return the last digit's place, as a power of ten in ns; trailing zeros of a whole number may be rounding."""
    decimals = text.replace(",", ".").partition(".")[2]
    return (9 if unit == "s" else 6) - len(decimals)


@given(TIMES, ERRORS, st.sampled_from(list(LANGUAGES)), st.booleans())
def test_a_time_ends_where_its_error_does(ns: int, error: int, language: str, negative: bool) -> None:
    ns = -ns if negative else ns
    said = texts(language).measured(ns, error)
    time, margin, unit = _TIME.fullmatch(said).groups()  # type: ignore[union-attr]
    assert time == "0" if ns == 0 else place_of(time, unit) == place_of(margin, unit)
    # As many digits as the error is wide: one; two where the first is a one or where it decides.
    kept = margin.replace(",", "").replace(".", "").lstrip("0")
    if number(margin) * MS < 10 * MS:
        assert 1 <= len(kept) <= 2
    place = last_place(error, ns)
    assert error < 20 * 10**place or error < 100 * 10**place
    assert abs(number(time) * MS - ns) <= 10**place / 2 + 1
    assert abs(number(margin) * MS - error) <= 10**place / 2 + 1
    assert texts(language).ms(ns, error) == f"{time} ms"


@given(TIMES, ERRORS)
def test_what_was_ruled_can_be_read_off(ns: int, error: int) -> None:
    """A margin that was large enough never looks smaller than its error, nor a smaller one larger."""
    place = last_place(error, ns)
    seems, is_so = round_at(ns, place) > round_at(error, place), ns > error
    assert seems == is_so or abs(ns - error) <= 10**place


def test_the_examples_of_the_house() -> None:
    say = texts("en").measured
    assert say(44_694_000, 3 * MS) == "45 ± 3 ms"
    assert say(3_400_000, 3 * MS) == "3.4 ± 3.0 ms"
    assert say(120_400_000, 80 * MS) == "120 ± 80 ms"
    assert say(14_500_000, 40_000) == "14.50 ± 0.04 ms"
    assert say(1_234_000, 980_000) == "1.2 ± 1.0 ms"
    assert texts("de").measured(1_923_000_000, 40 * MS, unit="s") == "1,92 ± 0,04 s"
    assert whole_ms(44_694_000, 3 * MS) == 45


NAMES = ("Ana", "Ben", "Cho")


def written(margin: int, error: int) -> list[tuple[int, str]]:
    """Return the log of a slap won by this margin (ns), each hand known to half of ``error``, with a late one."""
    first = 2_241_300_000
    slaps = (f"{(first + after) / 1e6} slap {seat} ±{error // 2 / 1e6}" for after, seat in ((0, 3), (margin, 1)))
    lines = file_lines(TABLE, "1000 1:7h ±8", "2000 2:7c ±8", *slaps, "6000 taken 3", "8000 tick")
    return list(enumerate(lines, start=1))


def shown_live(lines: list[tuple[int, str]], language: str) -> Iterator[str]:
    """Yield scoreboard and projector before the pile is picked up, and after."""
    board = Board(1, NAMES, live=True)
    for upto in (5, 7):
        board.add_lines([line for line in lines if board.line < line[0] <= upto])
        if upto == 5:
            board.add_lines([(6, file_lines("5000 tick")[0])])
            board.line = 5
        yield from map(str, regions(board, texts(language)).values())


def views(told: LoadedGame, language: str) -> Iterator[str]:
    """Yield every text and drawing of a game's slap."""
    words = RulingWords(NAMES, texts(language))
    won = next(ruling for ruling in told.rulings if ruling.kind == "slap_won")
    yield ruling_writer(told.table, here())(won)
    yield words(won)
    for name in ("slap_won@s1", "slap_void@s2"):
        if name in told.by_id:
            said = told.explain(told.by_id[name])
            yield "\n".join(explanation_lines(said, told.table, words, {}))
    for slap in ("s1", "s2"):
        seen = found(told, slap)
        assert seen is not None
        html = "".join(map(str, finish_page(told, seen, words.texts, None)))
        yield re.sub(r"<details.*?</details>", "", html, flags=re.DOTALL)
    made = make_figures(told, 1)
    yield str(draw_reactions(summarise_players(made), typical_error(made), words.texts).description)
    yield "".join(map(str, write_figures(made, words.texts, "/figures.csv", 1)))
    moments = find_moments(told, words)
    assert {"nearest", "quickest"} <= {moment.what for moment in moments}
    yield "\n".join(moment.said for moment in moments)


@settings(deadline=None, max_examples=25)
@given(st.integers(3_100_000, 300 * MS), st.integers(100_000, 3 * MS), st.sampled_from(list(LANGUAGES)))
def test_no_view_prints_more_digits_than_its_error_allows(margin: int, error: int, language: str) -> None:
    allowed = last_place(error // 2 * 2, margin)
    lines = written(margin, error)
    shown = [*views(LoadedGame(INFO, lines), language), *shown_live(lines, language)]
    times = [match for view in shown for match in _TIME.finditer(view.replace("\xa0", " "))]
    assert len(times) > 20
    for time, own, unit in (match.groups() for match in times):
        if own is None:
            assert place_of(time, unit) >= allowed, time
        else:
            assert place_of(time, unit) == place_of(own, unit) >= allowed, (time, own)


@given(st.integers(3_100_000, 900 * MS), st.integers(100_000, 3 * MS))
def test_the_voice_says_what_is_written(margin: int, error: int) -> None:
    fields = {"seat": 3, "patterns": ["P1"], "margin": margin, "error": error, "runners_up": []}
    won = Ruling("slap_won", "slap_won@s1", 0, ("s1",), ("M1",), fields)
    said = phrase(won)
    assert said is not None
    written = round(number(_TIME.search(RulingWords(())(won)).group(1)))  # type: ignore[union-attr]
    assert abs(whole_ms(margin, error) - written) <= 1
    assert " ".join(words_in("en").number(whole_ms(margin, error))) in " ".join(said.clips)
