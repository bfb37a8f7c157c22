"""A paired device in a browser: overrules, begins games, sets the voice, switches off, keeps games.

The main process is a fake that records its commands. ``SHOTS=DIR`` keeps the screenshots.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from hardware.clock import monotonic
from referee.control.commands import Command
from referee.control.facts import Accepted, Outcome, Refused
from referee.control.seat_codes import make_seat_codes
from referee.engine.overrule import VERDICTS_INSTEAD
from tests.web.conftest import new_window
from tests.web.listening import listening, pair_at_once, show_all_controls
from tests.web.served import House, Served
from tests.web.table import Table, demo_lines
from tests.web.test_page_in_browser import SIZES, kept

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

VOICE = {"volume": 80, "quiet_volume": 30, "quiet_from": "22:00", "quiet_to": "07:00", "cards": False}
ABOUT: dict[str, Any] = {
    "pads": 5, "names": ["Ana", "Ben", "Cho", "Dora"], "rules": "classic", "voice": VOICE, "power_off": True,
}  # fmt: skip
EVERY = 0.2
"""Seconds between two updates."""


@dataclass
class Main:
    """The commands of a fake main process, and its answers."""

    table: Table
    about: dict[str, Any] | None
    paused: bool = False
    heard: list[Command] = field(default_factory=list)
    answer: Callable[[Command], Outcome] = lambda command: Accepted(f"{command.do} is done")
    served: Served = field(init=False)

    @property
    def last(self) -> tuple[str, Any]:
        return self.heard[-1].do, dict(self.heard[-1].fields)

    def obey(self, command: Command) -> Outcome:
        self.heard.append(command)
        return self.answer(command)


@contextmanager
def telling(main: Main) -> Iterator[None]:
    """The main process sends the present again and again, as the referee does: else the game counts as not live."""
    over = threading.Event()

    def tell() -> None:
        while not over.wait(EVERY):
            main.table.tell(about=main.about, paused=main.paused)

    thread = threading.Thread(target=tell)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def playing(house: House, page: Page, about: dict[str, Any] | None = ABOUT, lines: int = 420) -> Iterator[Main]:
    """A game in progress, and a browser that is paired with its table."""
    first, *rest = demo_lines()[:lines]
    table = Table(house.record, first, at_once=True)
    for line in rest:
        table.observe(line)
    table.join(house.link)
    main = Main(table, about)
    with listening(house, main.obey) as desk, house.serve_controlled() as served:
        main.served = served
        with telling(main):
            pair_at_once(page, desk.pairing.show(monotonic()), served.address)
            page.goto(f"{served.address}/control")
            page.get_by_text("This device is paired.").wait_for()
            if not table.view.game_over:
                page.locator("[data-playing=true]").wait_for(state="attached")
            yield main


def part(page: Page, legend: str) -> Locator:
    return page.locator("fieldset").filter(has=page.locator("legend", has_text=re.compile(f"^{legend}$")))


def done(page: Page, words: str) -> None:
    page.locator("#answer").filter(has_text=words).wait_for()


def test_a_slap_is_overruled_from_the_scoreboard(house: House, page: Page) -> None:
    with playing(house, page) as main:
        won = [ruling for ruling in main.table.in_force() if ruling.kind == "slap_won"][-1]
        page.goto(main.served.address)
        wrong = page.locator(f'#rulings li[data-id="{won.id}"]').get_by_role("link", name="Wrong?")
        page.goto(f"{main.served.address}{wrong.get_attribute('href')}")
        form = part(page, "A ruling is wrong")
        form.get_by_label("Which ruling").and_(page.locator(":focus")).wait_for()
        assert form.get_by_label("Which ruling").input_value() == won.id
        offered = form.get_by_label("Correct verdict").locator("option").all_text_contents()
        assert offered[:2] == ["The slap was false", "The slap does not count"]
        assert len(offered) > 2 and all(text.endswith(" was first") for text in offered[2:])
        # All by keys: the verdict below, and on to the button.
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        done(page, "overrule is done")
        assert main.last == ("overrule", {"ruling": won.id, "verdict": "slap_void"})
        form.get_by_label("Correct verdict").select_option(label=offered[2])
        form.get_by_role("button", name="Apply").click()
        page.locator("#answer[data-state=done]").wait_for()
        seat = next(seat for seat in range(1, 5) if f"{main.table.view.names[seat - 1]} was first" == offered[2])
        assert main.last == ("overrule", {"ruling": won.id, "seat": seat})


def test_a_ruling_that_cannot_be_overruled_any_more_is_told(house: House, page: Page) -> None:
    with playing(house, page) as main:
        page.goto(f"{main.served.address}/control?ruling=slap_won@gone")
        part(page, "A ruling is wrong").get_by_text("cannot be changed here any more").wait_for()


def test_the_wrong_player_is_put_right_and_a_hand_struck_out(house: House, page: Page) -> None:
    with playing(house, page) as main:
        form = part(page, "Wrong player")
        form.wait_for()
        line = form.get_by_label("Which card or hand").input_value()
        own = form.get_by_label("Which card or hand").locator("option").first.text_content() or ""
        others = form.get_by_label("Right player").locator("option").all_text_contents()
        assert len(others) == 3 and not any(name in own for name in others)
        form.get_by_label("Right player").select_option(label=others[-1])
        form.get_by_role("button", name="Apply").click()
        done(page, "correct is done")
        seat = main.table.view.names.index(others[-1]) + 1
        assert main.last == ("correct", {"line": line, "seat": seat})
        form.get_by_role("button", name="There was no such slap").click()
        done(page, "void is done")
        assert main.last == ("void", {"line": form.get_by_label("Which hand").input_value()})


def test_one_stack_or_several_are_counted(house: House, page: Page) -> None:
    with playing(house, page) as main:
        form = part(page, "Count the stacks")
        form.get_by_label("Ben").fill("12")
        form.get_by_role("button", name="Apply").click()
        done(page, "count is done")
        first: Any = main.last
        assert first == ("count", {"seat": 2, "cards": 12})
        form.get_by_label("Dora").fill("0")
        form.get_by_role("button", name="Apply").click()
        done(page, "recount is done")
        assert main.last == ("recount", {"cards": [None, 12, None, 0]})


def test_a_game_is_begun_and_the_one_that_is_on_broken_off_only_when_asked(house: House, page: Page) -> None:
    with playing(house, page) as main:
        form = part(page, "New game")
        form.get_by_label("Seat 4", exact=True).fill("Eve")
        form.get_by_role("button", name="Remove seat 3").click()
        form.get_by_role("button", name="Add a seat").click()
        page.keyboard.type("Finn")
        form.get_by_role("button", name="Add a seat").click()
        page.keyboard.type("Gil")
        assert form.get_by_role("button", name="Add a seat").is_disabled()
        form.get_by_label("Dealer").select_option(label="Eve")
        form.get_by_label("Rules").select_option("slapjack")
        # Updates of the game keep the half-filled form.
        main.about = {**ABOUT, "names": ["Xaver", "Yves"]}
        form.get_by_role("button", name="Begin the game").click()
        dialog = page.get_by_role("alertdialog")
        dialog.get_by_text("A game is in progress").wait_for()
        page.keyboard.press("Escape")
        dialog.wait_for(state="detached")
        assert main.heard == []
        form.get_by_role("button", name="Begin the game").click()
        dialog.get_by_role("button", name="Abandon it and begin").click()
        done(page, "begin is done")
        seats = ["Ana", "Ben", "Eve", "Finn", "Gil"]
        assert main.last == ("begin", {"seats": seats, "rules": "slapjack", "dealer": 3, "abandon": True})
        page.get_by_role("button", name="Rematch").click()
        dialog.get_by_role("button", name="Abandon it and begin").click()
        done(page, "rematch is done")
        assert main.last == ("rematch", {"abandon": True})


def test_a_game_goes_the_other_way_round(house: House, page: Page) -> None:
    """S5: the chosen rules have their own direction, and people may choose the other one."""
    page.set_viewport_size({"width": 390, "height": 844})
    with playing(house, page, lines=len(demo_lines())) as main:
        form = part(page, "New game")
        way = form.get_by_label("Which way round")
        assert way.input_value() == "clockwise"
        for rules, usual, chosen, sent in (
            ("classic", "clockwise", "counter-clockwise", {"base": "classic", "set": {"S5": "counter-clockwise"}}),
            ("suck-the-well", "counter-clockwise", "clockwise", {"base": "suck-the-well", "set": {"S5": "clockwise"}}),
            ("suck-the-well", "counter-clockwise", "counter-clockwise", "suck-the-well"),
        ):
            form.get_by_label("Rules").select_option("slapjack")
            form.get_by_label("Rules").select_option(rules)
            assert way.input_value() == usual
            way.select_option(chosen)
            kept(page, f"way-{chosen}-phone")
            form.get_by_role("button", name="Begin the game").click()
            done(page, "begin is done")
            assert main.last[1]["rules"] == sent


def test_after_a_game_the_next_one_begins_without_a_question(house: House, page: Page) -> None:
    with playing(house, page, lines=len(demo_lines())) as main:
        assert main.table.view.game_over
        page.get_by_role("button", name="Rematch").click()
        done(page, "rematch is done")
        assert main.last == ("rematch", {})
        assert not page.get_by_role("button", name="Pause").is_visible()
        assert not part(page, "Count the stacks").is_visible()


def test_a_refusal_is_shown_and_what_was_filled_in_stays(house: House, page: Page) -> None:
    with playing(house, page) as main:
        main.answer = lambda command: Refused("two seats have the same name")
        form = part(page, "New game")
        form.get_by_label("Seat 1", exact=True).fill("Ben")
        form.get_by_role("button", name="Begin the game").click()
        page.get_by_role("alertdialog").get_by_role("button", name="Abandon it and begin").click()
        done(page, "Refused: two seats have the same name")
        assert page.locator("#answer [lang=en]").text_content() == "two seats have the same name"
        main.about = {**ABOUT, "names": ["Xaver", "Yves"]}
        assert form.get_by_label("Seat 1", exact=True).input_value() == "Ben"
        page.reload()
        form.locator("input[value=Xaver]").wait_for()


def test_the_voice_is_set_and_quiet_hours_need_both_ends(house: House, page: Page) -> None:
    with playing(house, page) as main:
        form = part(page, "Voice")
        form.get_by_label("Volume", exact=False).first.fill("55")
        form.get_by_label("Quiet until").fill("")
        form.get_by_role("button", name="Apply").click()
        done(page, "or leave both empty")
        assert main.heard == []
        form.get_by_label("Quiet until").fill("06:30")
        form.get_by_label("Call each card").check()
        form.get_by_role("button", name="Apply").click()
        done(page, "settings is done")
        said = {"volume": 55, "quiet_volume": 30, "quiet_from": "22:00", "quiet_to": "06:30", "cards": True}
        assert main.last == ("settings", said)


def test_a_phones_code_is_called_in(house: House, page: Page) -> None:
    with playing(house, page) as main:
        make_seat_codes(house.folder / "runtime", {1: "", 2: "KeyL"}, {1: "Ana", 2: "Ben"})
        form = part(page, "Phones").locator("form")
        form.filter(has_text="Ana").get_by_label("Phones at the same time").fill("2")
        assert form.count() == 1, "a key needs no phone"
        form.get_by_role("button", name="Replace the code").click()
        done(page, "seat_code is done")
        assert main.last == ("seat_code", {"seat": 1, "phones": 2})


def test_the_focus_stays_where_it_is_while_the_game_goes_on(house: House, page: Page) -> None:
    with playing(house, page, lines=400) as main:
        chosen = part(page, "Correct a card").get_by_label("Which card of the pile")
        chosen.focus()
        card = chosen.input_value()
        rulings = part(page, "A ruling is wrong").get_by_label("Which ruling")
        before = rulings.locator("option").first.get_attribute("value")
        for line in demo_lines()[400:520]:
            main.table.observe(line)
        latest = [ruling.id for ruling in main.table.in_force() if ruling.kind in VERDICTS_INSTEAD][-1]
        assert latest != before
        rulings.locator(f'option:first-child[value="{latest}"]').wait_for(state="attached")
        assert chosen.evaluate("(list) => list === document.activeElement && list.value") == card
        # Once it is left, the list is current again.
        page.get_by_role("button", name="Pause").focus()
        newest = [line for line in demo_lines()[:520] if '"kind":"card"' in line][-1]
        newest = json.loads(newest)["id"]
        chosen.locator(f'option:first-child[value="{newest}"]').wait_for(state="attached")
        page.get_by_role("button", name="Pause").click()
        main.paused = True
        page.get_by_role("button", name="Resume").and_(page.locator(":focus")).wait_for()


def test_switching_off_needs_a_yes(house: House, page: Page) -> None:
    with playing(house, page) as main:
        part(page, "Power").get_by_role("button", name="Switch off").click()
        dialog = page.get_by_role("alertdialog")
        dialog.get_by_role("button", name="Cancel").and_(page.locator(":focus")).wait_for()
        page.keyboard.press("Enter")
        dialog.wait_for(state="detached")
        assert main.heard == []
        part(page, "Power").get_by_role("button", name="Switch off").click()
        dialog.get_by_role("button", name="Switch off").click()
        done(page, "power_off is done")
        assert main.last == ("power_off", {"confirm": True})


@pytest.mark.parametrize("about", [None, {**ABOUT, "pads": 0, "voice": None, "power_off": False}])
def test_what_the_table_cannot_do_is_not_offered(house: House, page: Page, about: Any) -> None:
    with playing(house, page, about):
        part(page, "A ruling is wrong").wait_for()
        part(page, "Paired devices").wait_for()
        assert [part(page, name).count() for name in ("New game", "Voice", "Power")] == [0, 0, 0]


def test_games_are_kept_and_removed_on_a_paired_device(house: House, page: Page, browser: Browser) -> None:
    old = house.demo()
    with playing(house, page) as main:
        page.goto(f"{main.served.address}/games")
        row = page.locator(f'tr[data-game="{old.game}"]')
        row.get_by_role("button", name="Keep forever").click()
        done(page, "keep is done")
        assert main.last == ("keep", {"game": old.game, "keep": True})
        row.locator(".badge").wait_for()
        row.get_by_role("button", name="Stop keeping").click()
        row.locator(".badge").wait_for(state="detached")
        assert main.last == ("keep", {"game": old.game, "keep": False})
        # The current game cannot be removed.
        assert page.get_by_role("button", name="Remove").count() == 1
        row.get_by_role("button", name="Remove").click()
        page.get_by_role("alertdialog").get_by_role("button", name="Remove").click()
        row.wait_for(state="detached")
        assert main.last == ("remove", {"game": old.game, "confirm": True})
        page.goto(f"{main.served.address}/games/{old.game}")
        page.get_by_role("button", name="Remove").click()
        page.get_by_role("alertdialog").get_by_role("button", name="Remove").click()
        page.wait_for_url(re.compile("/games$"))
        stranger = new_window(browser).new_page()
        stranger.goto(f"{main.served.address}/games")
        stranger.wait_for_load_state("networkidle")
        assert stranger.get_by_role("button", name="Remove").count() == 0
        stranger.context.close()


def serious_faults(axe: Any, page: Page) -> list[Any]:
    found = axe.run(page).response["violations"]
    serious = [violation for violation in found if violation["impact"] in ("serious", "critical")]
    return [(seriou["id"], [node["html"][:160] for node in seriou["nodes"][:3]]) for seriou in serious]


@pytest.mark.parametrize("size, scheme", [("phone", "dark"), ("laptop", "light"), ("projector", "light")])
def test_axe_finds_no_serious_fault_and_nothing_sticks_out(house: House, page: Page, size: str, scheme: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="chromium is not here").Axe()
    width, height = SIZES[size]
    faults = {}
    with playing(house, page) as main:
        won = [ruling for ruling in main.table.in_force() if ruling.kind == "slap_won"][-1]
        slap = won.id.partition("@")[2]
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        paths = {
            "paired": "/control", "paired-board": "/", "paired-games": "/games", "paired-game": "/games/1",
            "paired-finish": f"/games/1/finish?slap={slap}", "paired-rules": "/rules?preset=wikipedia-2025",
        }  # fmt: skip
        for name, path in paths.items():
            page.goto(main.served.address + path)
            page.wait_for_load_state("load")
            if name == "paired":
                show_all_controls(page)
                part(page, "Paired devices").wait_for()
            faults[path] = serious_faults(axe, page)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
            kept(page, f"{name}-{size}-{scheme}")
        page.get_by_role("button", name="As text").click()
        faults["text"] = serious_faults(axe, page)
        page.goto(f"{main.served.address}/control")
        show_all_controls(page)
        part(page, "Power").get_by_role("button", name="Switch off").click()
        faults["dialog"] = serious_faults(axe, page)
    assert {path: found for path, found in faults.items() if found} == {}


def test_a_phone_shows_what_a_game_needs_most_and_the_rest_on_request(house: House, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    with playing(house, page):
        page.get_by_role("button", name="Pause").wait_for()
        assert part(page, "New game").is_visible()
        assert not part(page, "Voice").is_visible()
        page.get_by_text("More", exact=True).click()
        part(page, "Voice").wait_for()
        page.set_viewport_size({"width": 1280, "height": 720})
        page.get_by_text("More", exact=True).wait_for(state="hidden")
        assert part(page, "Voice").is_visible()
        assert part(page, "Correct a card").is_visible()
