"""A report from a telephone is ruled, seen on the scoreboard, and heard at the table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.web.listening import pair_at_once, show_all_controls
from tests.web.served import House
from tests.web.test_page_buttons_in_browser import done, part, serious_faults
from tests.web.test_page_in_browser import SIZES, kept
from tests.web.whole import WholeTable

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

PHONE: Final[ViewportSize] = {"width": 390, "height": 844}


@contextmanager
def playing(
    house: House, page: Page, *on: str, off: Sequence[str] = (), counts: tuple[int | None, ...] | None = None,
    values: Mapping[str, Any] = MappingProxyType({}),
) -> Iterator[tuple[WholeTable, str]]:  # fmt: skip
    """A table with the classic house rules and these, and a telephone that is paired with it."""
    rules = {"base": "classic", "on": list(on), "off": list(off), "set": dict(values)}
    with WholeTable(house, rules, counts) as table:
        listen = ("--listen", str(house.folder / "runtime" / "page.sock"), "--runtime", str(house.folder / "runtime"))
        with house.serve(*listen) as served:
            pair_at_once(page, table.link.code(), served.address)
            page.goto(f"{served.address}/control")
            page.get_by_text("This device is paired.").wait_for()
            yield table, served.address


def shown(page: Page, address: str, words: str) -> None:
    """Check that it is among the rulings of the scoreboard, and its announcement among the captions."""
    page.goto(address)
    page.locator("#rulings li").filter(has_text=re.compile(words)).first.wait_for()


def test_a_slap_is_contested(house: House, page: Page) -> None:
    """F5"""
    with playing(house, page, "F5") as (table, address):
        table.lay(1, "7h")
        table.lay(2, "7c", slapped_by=3)
        table.heard("seat three wins the slap")
        table.take(3)
        form = part(page, "Contest")
        form.get_by_label("Slap or take of").select_option(label="Cho")
        form.get_by_role("checkbox", name="Ana").check()
        form.get_by_role("button", name="Contest").click()
        done(page, "contested; the referee checks the record")
        table.heard("the contest fails seat three was right")
        table.heard("seat one gives one card to seat three")
        (line,) = table.logged("contest")
        assert (line.by, line.against) == ((1,), 3)  # type: ignore[attr-defined]
        form.get_by_role("checkbox", name="Ana").check()
        form.get_by_role("button", name="Contest").click()
        done(page, "Refused: Ana has contested that already")
        shown(page, address, "Ana contested Cho")
        page.locator("#said").get_by_text("The contest fails").wait_for()


def test_a_slap_is_contested_by_four_taps(house: House) -> None:
    """F5, without a page: a pad held pauses the game, and Ana taps her own four times."""
    with WholeTable(house, {"base": "classic", "on": ["F5"]}) as table:
        table.lay(1, "7h")
        table.lay(2, "7c", slapped_by=3)
        table.heard("seat three wins the slap")
        table.take(3)
        table.heard("seat three picks up two cards")
        # No other hand near: the winner's was more than a second ago.
        table.press(2, (1300, 3500))
        assert table.conductor.paused
        table.press(1, (0, 100), (300, 400), (600, 700), (900, 1000))
        table.heard("the contest fails seat three was right")
        assert [line.by for line in table.logged("contest")] == [(1,)]  # type: ignore[attr-defined]


def test_a_rank_is_called(house: House, page: Page) -> None:
    """N14: the next player, and the next rank, are filled in already."""
    with playing(house, page, "N14") as (table, address):
        table.lay(1, "7h")
        form = part(page, "Call a rank")
        form.locator("select[name=seat] option:checked", has_text="Ben").wait_for(state="attached")
        assert form.get_by_label("Rank").input_value() == "A"
        form.get_by_label("Rank").select_option("10")
        form.get_by_role("button", name="Call a rank").click()
        done(page, "Ben calls 10")
        table.lay(2, "Tc", slapped_by=3)
        table.heard("seat three wins the slap named and laid")
        table.take(3)
        assert [line.rank for line in table.logged("say")] == ["T"]  # type: ignore[attr-defined]
        shown(page, address, "Cho wins the slap, named card")


def test_a_void_slap_is_said_to_have_won(house: House, page: Page) -> None:
    """M9: the sevens were covered; the table says that the hand was in time (K6)."""
    with playing(house, page) as (table, address):
        table.lay(1, "7h")
        table.lay(2, "7c")
        table.lay(3, "8d", slapped_by=1, after=100)
        table.heard("seat one the pattern was covered")
        form = part(page, "A ruling is wrong")
        form.get_by_label("Which ruling").locator("option").first.wait_for(state="attached")
        form.get_by_label("Correct verdict").select_option(label="The slap was good")
        form.get_by_role("button", name="Apply").click()
        done(page, "the slap was good; the referee rules again on everything after it")
        table.heard("seat one wins the slap")
        table.take(1)
        shown(page, address, "Ana wins the slap")
        page.locator("#said").get_by_text("Ana wins the slap").wait_for()
        page.locator("#rulings li s").filter(has_text="Void slap by Ana").wait_for()


def test_a_foul_is_reported_and_taken_back(house: House, page: Page) -> None:
    """S6, and undo."""
    with playing(house, page, "S6", "S7") as (table, address):
        table.lay(1, "7h")
        form = part(page, "Report a foul")
        form.get_by_label("Foul").locator("option").nth(3).wait_for(state="attached")
        assert form.get_by_label("Foul").locator("option").all_text_contents() == [
            "peeking", "hovering", "a card out of turn", "a ring or a watch"
        ]  # fmt: skip
        form.get_by_label("Player").select_option(label="Ben")
        form.get_by_role("button", name="Apply").click()
        done(page, "foul of Ben reported")
        table.heard("seat two foul peeking")
        page.get_by_role("button", name="Undo").click()
        done(page, "taken back")
        table.heard("the correction is noted")
        shown(page, address, "Foul by Ben")
        page.locator("#rulings li s").filter(has_text="Foul by Ben").wait_for()


def test_a_card_out_of_turn_is_reported(house: House, page: Page) -> None:
    """F7: the king's player was unseen; it counted as Ben's, and was Cho's."""
    page.set_viewport_size(PHONE)
    with playing(house, page) as (table, address):
        table.lay(1, "7h")
        table.lay(None, "Kd")
        table.heard("seat three has three chances")
        show_all_controls(page)
        form = part(page, "Report a foul")
        form.get_by_label("Player").select_option(label="Cho")
        form.get_by_label("Foul").select_option("a card out of turn")
        kept(page, "out-of-turn-phone")
        form.get_by_role("button", name="Apply").click()
        done(page, "foul of Cho reported")
        table.heard("seat three foul out of turn")
        table.heard("seat three played out of turn dead card")
        shown(page, address, "Foul by Cho: a card out of turn")
        page.locator("#state .headline").get_by_text("Ben's turn").wait_for()
        page.locator("#said").get_by_text("played out of turn").first.wait_for()
        kept(page, "out-of-turn-board-phone")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_a_game_that_the_clock_ended_is_settled_by_counting(house: House, page: Page) -> None:
    """E7, with uncounted stacks."""
    page.set_viewport_size(PHONE)
    with playing(house, page, "E7", values={"E7": {"piles": 1}}, counts=(None, None, None)) as (table, address):
        table.lay(1, "7h")
        table.lay(2, "7c", slapped_by=3)
        table.heard("seat three wins the slap")
        table.take(3)
        table.heard("please count your cards")
        page.locator("fieldset", has_text="Please count your cards").wait_for()
        form = part(page, "Count the stacks")
        for name, cards in (("Ana", 20), ("Ben", 12), ("Cho", 20)):
            form.get_by_label(name).fill(str(cards))
        kept(page, "counted-phone")
        form.get_by_label("Ana").fill("10")
        form.get_by_role("button", name="Apply").click()
        done(page, "stacks counted: 3")
        table.heard("seat three wins the game")
        page.locator("fieldset", has_text="Please count your cards").wait_for(state="detached")
        shown(page, address, "Cho wins the game")
        page.locator("#said").get_by_text("wins the game").first.wait_for()
        kept(page, "counted-board-phone")


def test_the_third_hand_of_a_heat_was_first(house: House, page: Page) -> None:
    """M4: they would play War for it, and none of them has a card left."""
    page.set_viewport_size(PHONE)
    with playing(house, page, "M4", off=("E4", "M12"), counts=(1, 1, 0)) as (table, address):
        table.lay(1, "7h")
        table.lay(2, "7c", slapped_by=(1, 2, 3))
        table.heard("who was first")
        asked = page.locator("fieldset", has_text="Who was first")
        asked.get_by_role("button", name="Ben").wait_for()
        kept(page, "heat-phone")
        asked.get_by_role("button", name="Cho").click()
        done(page, "answered: Cho")
        table.heard("seat three wins the slap")
        shown(page, address, "Cho has won the pile|Cho wins the slap|Dead heat")
        page.locator("#state .headline").get_by_text("Cho").wait_for()
        page.locator("#said").get_by_text("Cho wins the slap").first.wait_for()
        kept(page, "heat-board-phone")


def test_late_evidence_is_left_out(house: House, page: Page) -> None:
    """Reading 20: the question goes, and nothing is ruled by it."""
    page.set_viewport_size(PHONE)
    with playing(house, page) as (table, address):
        table.lay(1, "7h")
        table.lay(2, "8c", slapped_by=3, after=900)
        table.heard("seat three false slap")
        table.tell_late(2, "7c")
        table.heard("a report came too late please check the last ruling")
        asked = page.locator("fieldset", has_text="Something arrived too late")
        asked.get_by_role("button", name="Leave it out").wait_for()
        kept(page, "late-phone")
        asked.get_by_role("button", name="Leave it out").click()
        done(page, "answered: it is left out")
        asked.wait_for(state="detached")
        shown(page, address, "False slap by Cho")
        assert not page.locator("#questions li").count()
        page.locator("#said").get_by_text("please check the last ruling").first.wait_for()
        kept(page, "late-board-phone")
        assert [line.value for line in table.logged("answer")] == ["ignore"]  # type: ignore[attr-defined]


def test_a_bystander_joins(house: House, page: Page) -> None:
    """M11"""
    with playing(house, page, "M11") as (table, address):
        table.lay(1, "7h")
        part(page, "Join and leave").get_by_role("button", name="Seat 4 joins").click()
        done(page, "joins")
        table.heard("seat four joins the game")
        page.goto(address)
        page.locator("#seats li").nth(3).wait_for()


def test_what_the_house_rules_make_nothing_of_is_not_offered(house: House, page: Page) -> None:
    with playing(house, page) as (table, _):
        table.lay(1, "7h")
        part(page, "The referee missed something").wait_for()
        part(page, "Report a foul").wait_for()
        assert [part(page, name).count() for name in ("Contest", "Call a rank", "Join and leave")] == [0, 0, 0]


def test_a_card_that_the_camera_missed_is_told(house: House, page: Page) -> None:
    """Cho's slap was false by the camera; a late report that is taken up in one step leads to no question."""
    with playing(house, page) as (table, address):
        table.lay(1, "7h", slapped_by=3, after=400)
        table.heard("seat three false slap")
        form = part(page, "The referee missed something")
        form.locator("select[name=after] option", has_text="7♥").wait_for(state="attached")
        form.get_by_label("Laid by").select_option(label="Ben")
        form.get_by_label("Rank").select_option("7")
        form.get_by_label("Suit").select_option("clubs")
        assert "7♥ · Ana" in (form.get_by_label("Right after").locator("option:checked").text_content() or "")
        form.get_by_role("button", name="Add this card").click()
        done(page, "Ben laid the 7♣; the referee rules again on everything after it")
        table.heard("seat three wins the slap")
        table.take(3)
        assert not any("came too late" in said for said in table.said())
        shown(page, address, "Cho wins the slap")
        page.locator("#rulings li s").filter(has_text="False slap by Cho").wait_for()
        assert [line.extra for line in table.logged("card")][-1] == {"by": "people"}


def test_a_slap_that_its_pad_missed_is_told_and_taken_back(house: House, page: Page) -> None:
    with playing(house, page) as (table, address):
        table.lay(1, "7h")
        table.lay(2, "7c")
        form = part(page, "The referee missed something")
        form.locator("select[name=on] option:checked", has_text="7♣").wait_for(state="attached")
        form.get_by_label("Slap by").select_option(label="Ana")
        form.get_by_role("button", name="Add this slap").click()
        done(page, "Ana slapped; the referee rules again on everything after it")
        table.heard("seat one wins the slap")
        page.get_by_role("button", name="Undo").click()
        done(page, "taken back")
        page.goto(address)
        page.locator("#state .headline").get_by_text("Cho's turn").wait_for()


def test_a_player_leaves(house: House, page: Page) -> None:
    """E8"""
    with playing(house, page, "E8") as (table, address):
        table.lay(1, "7h")
        form = part(page, "Join and leave")
        form.get_by_label("Player").select_option(label="Ben")
        form.get_by_role("button", name="Leaves the game").click()
        page.get_by_role("alertdialog").get_by_role("button", name="Leaves the game").click()
        done(page, "Ben leaves the game")
        table.heard("seat two leaves the game")
        table.heard("cards go under the pile")
        shown(page, address, "Ben is out")
        page.locator("#state .headline").get_by_text("Cho's turn").wait_for()


def test_the_wild_rank_is_asked_for_and_drawn(house: House, page: Page) -> None:
    """P14: before the first card."""
    with playing(house, page, "P14") as (table, _):
        table.heard("draw the wild rank a number from two to ten")
        part(page, re.escape("Which rank is wild? Draw a number, 2 to 10")).get_by_role("button", name="10").click()
        done(page, "the wild rank is 10")
        table.heard("the wild rank is ten")
        table.lay(1, "Tc", slapped_by=3)
        table.heard("seat three wins the slap wild rank")


@pytest.mark.parametrize("size, scheme", [("phone", "dark"), ("laptop", "light")])
def test_axe_finds_no_serious_fault_where_everything_may_be_reported(
    house: House, page: Page, size: str, scheme: Any
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="chromium is not here").Axe()
    width, height = SIZES[size]
    with playing(house, page, "F5", "F9", "S6", "S8", "N14", "M11", "E8", "P14") as (table, _):
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        table.lay(1, "7h", slapped_by=2)
        show_all_controls(page)
        for name in ("Contest", "Report a foul", "Call a rank", "Join and leave", "The referee missed something"):
            part(page, name).wait_for()
        assert serious_faults(axe, page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        kept(page, f"reports-{size}-{scheme}")
