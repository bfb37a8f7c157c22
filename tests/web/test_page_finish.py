"""The photo-finish agrees with the log to the last digit, in words, table and drawing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from referee.engine.rulings import cause_of
from referee.record.store import GameInfo
from referee.text.catalogue import texts
from referee.text.ruling_lines import RulingWords
from referee.web.finish_page import finish_page, found
from referee.web.games import explained
from referee.web.games_cache import LoadedGame
from referee.web.markup import PALETTES, Drawing, Text, svg
from referee.web.photo_finish.finish_svg import NARROW, WIDE, WIDE_SIZES, FinishDrawing, draw_finish
from referee.web.photo_finish.glance_svg import draw_shared
from referee.web.photo_finish.moment import Finish, headline, tell_why
from tests.play import TABLE, file_lines
from tests.web.table import DEMO

INFO = GameInfo(1, "2026-03-14T18:05:00+00:00", "2026-03-14T18:25:00+00:00", ("Ana", "Ben", "Cho"), "classic", False)
SEVENS = ("1000 1:7h", "2000 2:7c ±8 known@2300")


def folded(*texts: str, info: GameInfo = INFO) -> LoadedGame:
    return LoadedGame(info, list(enumerate((TABLE, *file_lines(*texts)), start=1)))


@pytest.fixture(scope="module")
def demo() -> LoadedGame:
    rows = list(enumerate(DEMO.read_text(encoding="utf-8").splitlines(), start=1))
    return LoadedGame(GameInfo(1, "", None, ("Ana", "Ben", "Cho", "Dora"), "classic", False), rows)


def seen(game: LoadedGame, slap: str) -> Finish:
    finish = found(game, slap)
    assert finish is not None
    return finish


def winners(finish: Finish) -> list[int]:
    """Return the seats of the winning hands in the ruling."""
    won = finish.ruling["seat"] if finish.ruling is not None and finish.ruling.kind == "slap_won" else None
    return [hand.seat for hand in finish.hands if hand.behind == 0 and hand.seat == won]


def written(scene: Drawing) -> list[str]:
    return [shape.text for shape in scene.shapes if isinstance(shape, Text)]


def drawing(finish: Finish, width: int = WIDE, names: tuple[str, ...] = ("Ana", "Ben", "Cho", "Dora")) -> Drawing:
    return draw_finish(finish, RulingWords(names, texts("en")), "title", "foot", width)


def logged() -> list[dict[str, Any]]:
    lines = (json.loads(line) for line in DEMO.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line.get("ruling") == "slap_won"]


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_every_margin_in_the_log_stands_in_its_drawing(demo: LoadedGame, width: int) -> None:
    won = logged()
    assert len([line for line in won if line["margin"] is not None]) > 5
    for line in won:
        finish = seen(demo, line["id"].partition("@")[2])
        texts_ = written(drawing(finish, width))
        for runner in line["runners_up"]:
            assert f"+{runner['margin'] / 1e6:.0f} ms" in texts_
        if line["margin"] is not None:
            assert f"by {line['margin'] / 1e6:.0f} ± {line['error'] / 1e6:.0f} ms" in texts_
            assert winners(finish) == [line["seat"]]


def test_the_table_holds_the_logs_nanoseconds(demo: LoadedGame) -> None:
    slaps = {}
    for line in DEMO.read_text(encoding="utf-8").splitlines():
        raw = json.loads(line)
        if raw.get("kind") == "slap":
            slaps[raw["id"]] = raw["t"]
    for ruling in demo.slaps():
        finish = seen(demo, cause_of(ruling))
        html = "".join(map(str, finish_page(demo, finish, texts("en"), None)))
        found_ = dict(re.findall(r'<tr data-line="([^"]+)"[^>]*>.*?data-ns="(\d+)"', html))
        assert all(int(found_[hand.id]) == slaps[hand.id] == hand.t for hand in finish.hands)


def test_where_things_are_drawn_is_to_scale(demo: LoadedGame) -> None:
    line = next(line for line in logged() if line["margin"] is not None)
    finish = seen(demo, line["id"].partition("@")[2])
    near = FinishDrawing(finish, RulingWords(("A", "B", "C", "D"), texts("en")), WIDE_SIZES).near
    per_ms = (near.right - near.left) / ((near.stop - near.start) / 1e6)
    assert near.x(line["margin"]) - near.x(0) == pytest.approx(line["margin"] / 1e6 * per_ms)


def test_a_hand_alone_has_no_margin() -> None:
    game = folded(*SEVENS, "2241.3 slap 3")
    texts_ = written(drawing(seen(game, "s1")))
    assert "Cho, alone" in texts_
    assert not [text for text in texts_ if "by " in text]


def test_a_dead_heat_is_called_one_and_nobody_first() -> None:
    game = folded(
        *SEVENS,
        "2241.3 slap 3 ±1.5",
        "2243.3 slap 1 ±1.5",
        "9000 tick",
    )
    finish = seen(game, "s2")
    assert finish.heat is not None and finish.heat["margin"] == 2_000_000
    assert winners(finish) == []
    assert [(hand.behind, hand.behind_error) for hand in finish.hands] == [(0, 0), (2_000_000, 3_000_000)]
    page = "".join(map(str, finish_page(game, finish, texts("en"), None)))
    assert "Dead heat, 2 ± 3 ms apart" in page
    assert "first</td>" not in page
    assert page.count("dead heat</td>") == 2


SLAPPED = ("2241.3 slap 3", "9000 tick")


@pytest.mark.parametrize(
    ("apart", "said"),
    [
        (44_694_000, "off by 3 ms at most, so Cho was first."),
        (2_000_000, "so the referee cannot say who was first."),
    ],
)
def test_why_it_is_so_or_cannot_be_told_is_said_in_a_sentence(apart: int, said: str) -> None:
    game = folded(
        *SEVENS,
        "2241.3 slap 3",
        f"{(2_241_300_000 + apart) / 1e6} slap 1",
        "9000 tick",
    )
    finish = seen(game, "s1")
    words = RulingWords(game.table.seats, texts("en"))
    assert tell_why(finish, words).endswith(said)
    page = "".join(map(str, finish_page(game, finish, texts("en"), None)))
    assert page.index('class="why"') < page.index("<details") < page.index('class="photofinish"')
    shared = draw_shared(finish, words, "title")
    joined = " ".join(written(shared))
    assert said in joined and shared.width >= 1200


def test_a_false_slap_says_what_lay_there_and_nothing_twice() -> None:
    game = folded(SEVENS[0], SEVENS[1].replace("7c", "8c"), *SLAPPED)
    finish, words = seen(game, "s1"), RulingWords(game.table.seats, texts("en"))
    said = "When Cho's hand came down, the newest cards were 7♥ and 8♣. No pattern that counts at this table lay there."
    assert tell_why(finish, words) == said
    page = "".join(map(str, finish_page(game, finish, texts("en"), None)))
    assert "the newest cards were 7♥ and 8♣" in page
    # A hand that was void for its own reason has it in the verdict, and no line repeats it.
    late = folded(*SEVENS, "2100 taken 1", *SLAPPED)
    assert tell_why(seen(late, "s1"), words) == ""
    assert 'class="why"' not in "".join(map(str, finish_page(late, seen(late, "s1"), texts("en"), None)))


def test_force_that_decides_is_told() -> None:
    game = folded(
        *SEVENS,
        "2241.3 slap 3 !0.2",
        "2243.3 slap 1 !0.9",
        "3000 taken 1",
    )
    finish = seen(game, "s1")
    assert winners(finish) == [1]
    texts_ = written(drawing(finish))
    assert "Dead heat" in texts_
    assert any("Ana: by the harder hand" in text for text in texts_)
    assert any("force 0.90" in text for text in texts_)


def test_a_false_slap_shows_what_was_missing() -> None:
    game = folded(SEVENS[0], "1300 slap 2")
    page = "".join(map(str, finish_page(game, seen(game, "s1"), texts("en"), None)))
    assert "False slap by Ben" in page and "nothing to slap" in page and "double" in page


def test_raw_edges_and_lifts_are_shown_and_unknown_lines_are_no_harm() -> None:
    edges = [(2241300000, "true"), (2242100000, "false"), (2242600000, "true"), (2390000000, "false")]
    game = folded(
        *SEVENS,
        "2241.3 slap 3",
        *(f'{{"kind":"edge","t":{t},"id":"e{t}","seat":3,"pressed":{pressed}}}' for t, pressed in edges),
        '{"kind":"edge","t":2241400000,"id":"odd","seat":"three"}',
        "2390 lift 3",
    )
    finish = seen(game, "s1")
    assert [(t, pressed) for _, t, pressed in finish.edges] == [(t, pressed == "true") for t, pressed in edges]
    assert finish.hands[0].lift == 2_390_000_000


def test_a_correction_changes_what_is_shown_and_says_so() -> None:
    game = folded(
        SEVENS[0],
        SEVENS[1].replace("7c", "8c"),
        "2300 slap 3",
        '9000 correct c2 {"card": "7c"}',
    )
    finish = seen(game, "s1")
    assert [mark.card for mark in finish.cards] == ["7h", "7c"]
    page = "".join(map(str, finish_page(game, finish, texts("en"), None)))
    assert "Cho, alone" in page
    replaced = game.replaced_by["slap_false@s1"]
    assert "slap_false@s1" in game.by_id[replaced].supersedes


def test_there_is_no_finish_of_what_is_no_slap() -> None:
    assert found(folded(*SEVENS), "c1") is None


@pytest.mark.parametrize("theme", PALETTES)
def test_a_file_stands_by_itself(demo: LoadedGame, theme: str) -> None:
    scene = drawing(seen(demo, cause_of(demo.slaps()[0])))
    text = svg(scene, PALETTES[theme])
    assert f'viewBox="0 0 {scene.width} {scene.height}"' in text
    assert f'width="{scene.width}" height="{scene.height}"' in text and PALETTES[theme]["ground"] in text
    assert "style=" not in text and "class=" not in text


def test_names_cannot_carry_markup(demo: LoadedGame) -> None:
    scene = drawing(seen(demo, cause_of(demo.slaps()[0])), names=("<script>alert(1)</script>", '"&', "c", "d"))
    assert "<script" not in svg(scene)


def test_the_demo_game_is_there() -> None:
    assert Path(DEMO).stat().st_size > 10_000


def page_of(game: LoadedGame, name: str, language: str) -> str:
    """Return the sections that explain a ruling."""
    ruling = game.by_id[name]
    return str(explained(game.explain(ruling), game, RulingWords(game.table.seats, texts(language))))


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "it needs 2 cards, and only one is there"),
        ("de", "es braucht 2 Karten, und nur eine liegt da"),
        ("es", "hacen falta 2 cartas y solo hay una"),
        ("fr", "il faut 2 cartes, et il n’y en a qu’une"),
    ],
)
def test_what_was_missing_is_told_in_the_pages_language(language: str, words: str) -> None:
    game = folded(SEVENS[0], "1300 slap 2")
    page = page_of(game, "slap_false@s1", language)
    assert words in page
    assert 'lang="en"' not in page


def test_an_answer_is_told_with_its_question_and_who_was_named() -> None:
    """Without the question's id; and the ruling says that people decided."""
    game = folded(
        *SEVENS,
        "2241.3 slap 3",
        "2242.3 slap 1",
        "3000 answer question@s1 1",
        "4000 taken 1",
    )
    page = page_of(game, "question@s1", "en")
    assert "Who was first?" in page and ": Ana" in page
    won = next(ruling for ruling in game.rulings if ruling.kind == "slap_won" and ruling.id not in game.replaced_by)
    assert "Ana wins the slap, double, the players said so" in RulingWords(game.table.seats)(won)
    assert "the players said so" in page_of(game, won.id, "en")


def test_a_slap_that_people_gave_away_has_no_margin() -> None:
    """The stamps have another hand first: the headline names the decision, and no hand is a negative time behind."""
    game = folded(
        *SEVENS,
        "2241.3 slap 3",
        "2291.3 slap 1",
        '3000 correct slap_won@s1 {"seat": 1}',
        "4000 taken 1",
    )
    finish = seen(game, "s2")
    head = headline(finish, RulingWords(game.table.seats, texts("en")))
    assert (head.text, head.under) == ("Ana first", "the players said so")
    assert all(hand.behind is None or hand.behind >= 0 for hand in finish.hands)


def test_a_hand_that_people_struck_out_is_not_drawn_beside_the_others() -> None:
    game = folded(
        *SEVENS,
        "2241.3 slap 3",
        "2291.3 slap 1",
        '3000 correct s2 {"void": true}',
    )
    assert [hand.id for hand in seen(game, "s1").hands] == ["s1"]
    assert {hand.id for hand in seen(game, "s2").hands} == {"s1", "s2"}
