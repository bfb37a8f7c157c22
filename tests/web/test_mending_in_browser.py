"""Mending by touch in a browser: a wrong item is touched, its answer is touched, and a whole table rules again.

The main process is real: the page's commands become lines of the log or are refused. ``SHOTS=DIR`` keeps screenshots.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
import pytest

from hardware.clock import monotonic
from referee.control.commands import Command
from referee.control.corrections import meet_command
from referee.control.facts import Accepted, Facts, Outcome
from referee.engine.log import encode_observation, from_fields, parse_object
from referee.engine.observations import Observation
from referee.record.pictures import Picture
from referee.units import MS, SECOND
from tests.web.listening import listening, pair_at_once
from tests.web.served import House
from tests.web.table import Table
from tests.web.test_page_buttons_in_browser import Main, serious_faults, telling

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

FIRST = '{"kind":"table","t":0,"id":"table","seats":["Ana","Ben","Cho"],"dealer":3,"rules":"classic"}'
EIGHT = (
    '{"kind":"card","t":1000000000,"id":"c1","card":"7h","seat":1}',
    '{"kind":"card","t":2000000000,"id":"c2","card":"8c","seat":2,"candidates":[["8c",0.7],["7c",0.2],["8s",0.1]]}',
    '{"kind":"slap","t":2300000000,"id":"s1","seat":3}',
    '{"kind":"tick","t":4000000000}',
)
"""A seven was read as an eight, so a slap was false."""
GAP = (
    '{"kind":"card","t":1000000000,"id":"c1","card":"7h","seat":1}',
    '{"kind":"gap","t":2000000000,"id":"g1","until":3800000000,"lying":["7s"]}',
    '{"kind":"card","t":2900000000,"id":"c2","card":"7s","seat":null,"t_error":900000000}',
    '{"kind":"tick","t":5000000000}',
)
"""The table was unseen for a while, and another card lies on top."""
GONE = (
    GAP[0], GAP[1].replace('["7s"]', "[]"),
    '{"kind":"taken","t":2900000000,"id":"t1","seat":null,"t_error":900000000}', GAP[3],
)  # fmt: skip
UNREAD = (EIGHT[0], EIGHT[1].replace('"card":"8c"', '"card":"??"'), EIGHT[3])
"""A card that cannot be read, with the candidates eight and seven of clubs."""


@dataclass
class Listener:
    """The main process beneath a page: it handles commands as the referee does."""

    table: Table
    seen: list[Observation]
    heard: list[Command] = field(default_factory=list)
    address: str = ""
    _names: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def see(self, *lines: str) -> None:
        """Add these lines from the sensors."""
        for line in lines:
            self.seen.append(from_fields(parse_object(line, 1), 1))
            self.table.observe(line)

    def obey(self, command: Command) -> Outcome:
        self.heard.append(command)
        watermark = max((line.t for line in self.seen if line.kind == "tick"), default=0)
        seen = [line for line in self.seen if line.kind != "tick"]
        facts = Facts(seen, self.table.rulings, self.table.view, self.table.now, watermark, self.table.game)
        outcome = meet_command(command, facts, lambda kind: f"{kind}-{next(self._names)}")
        if isinstance(outcome, Accepted):
            self.see(*map(encode_observation, outcome.observations))
            self.see(f'{{"kind":"tick","t":{facts.t + SECOND}}}')
        return outcome

    @property
    def last(self) -> tuple[str, Any]:
        return self.heard[-1].do, dict(self.heard[-1].fields)


@contextmanager
def playing(house: House, page: Page, *lines: str, pairs: bool = True, first: str = FIRST) -> Iterator[Listener]:
    """A game up to these lines, and a phone at its scoreboard."""
    listener = Listener(Table(house.record, first, house.link), [from_fields(parse_object(first, 1), 1)])
    page.set_viewport_size({"width": 390, "height": 844})
    with listening(house, listener.obey) as desk, house.serve_controlled() as served:
        listener.address = served.address
        listener.see(*lines)
        with telling(Main(listener.table, None)):
            if pairs:
                pair_at_once(page, desk.pairing.show(monotonic()), served.address)
            page.goto(served.address)
            page.locator("#pile .card").first.wait_for()
            if pairs:
                page.locator("body.paired").wait_for()
            yield listener


def sheet(page: Page) -> Locator:
    return page.locator("dialog.sheet[open]")


def offered(within: Locator, count: int) -> list[str | None]:
    """Return the touchable cards, as read out, once there are enough: a sheet requests them."""
    picks = within.locator(".pick")
    picks.nth(count - 1).wait_for()
    assert picks.count() == count
    return [pick.get_attribute("aria-label") for pick in picks.all()]


def kept(page: Page, name: str) -> None:
    """Keep the phone's screen, if screenshots are wanted; a sheet covers the rest of the page."""
    if "SHOTS" in os.environ:
        page.screenshot(path=str(Path(os.environ["SHOTS"]) / f"{name}.png"))


def test_a_wrong_card_is_put_right_in_two_taps(house: House, page: Page) -> None:
    with playing(house, page, *EIGHT) as listener:
        page.locator("#pile").get_by_role("button", name="8 of clubs").click()
        assert offered(sheet(page), 6)[:2] == ["7 of clubs", "8 of spades"]
        kept(page, "mend-card-phone-light")
        sheet(page).get_by_role("button", name="7 of clubs").click()
        page.locator("#pile").get_by_role("button", name="7 of clubs").wait_for()
        assert listener.last == ("correct", {"line": "c2", "card": "7c"})
        page.locator('#rulings li.replaced[data-id="slap_false@s1"]').wait_for()
        sheet(page).wait_for(state="detached")
        page.locator("#mended").get_by_text("the card is the 7♣").wait_for()


def test_a_slap_is_struck_out_in_two_taps_and_undone(house: House, page: Page) -> None:
    with playing(house, page, *EIGHT) as listener:
        row = page.locator('#rulings li[data-id="slap_false@s1"]')
        row.get_by_role("link", name="Wrong?").click()
        sheet(page).get_by_role("button", name="There was no such slap").click()
        page.locator('#rulings li.replaced[data-id="slap_false@s1"]').wait_for()
        assert listener.last == ("void", {"line": "s1"})
        page.locator("#mended").get_by_role("button", name="Undo").click()
        page.locator('#rulings li:not(.replaced)[data-id^="slap_false@s1"]').wait_for()
        assert [command.do for command in listener.heard] == ["void", "undo"]
        page.locator("#mended").get_by_role("button", name="Undo").wait_for(state="hidden")


def test_a_card_that_was_missed_is_told(house: House, page: Page) -> None:
    with playing(house, page, *EIGHT) as listener:
        page.locator("#pile").get_by_role("button", name="8 of clubs").click()
        sheet(page).get_by_role("button", name="A card was missed before it").click()
        # Ana laid the last one, and Ben this one: then it was Ana again, or the touched player.
        assert sheet(page).locator("[aria-pressed=true]").text_content() == "Ana"
        sheet(page).get_by_role("button", name="Ben").click()
        sheet(page).get_by_role("button", name="Q", exact=True).click()
        kept(page, "mend-missed-phone")
        sheet(page).get_by_role("button", name="queen of spades").click()
        page.locator("#pile").get_by_role("button", name="queen of spades").wait_for()
        assert listener.last == ("missed_card", {"seat": 2, "card": "Qs", "after": "c1"})
        assert listener.table.view.pile[-2:] == ("Qs", "8c")


def test_another_card_and_a_slap_that_was_missed(house: House, page: Page) -> None:
    with playing(house, page, *EIGHT[:2], EIGHT[3]) as listener:
        page.locator("#pile").get_by_role("button", name="8 of clubs").click()
        sheet(page).get_by_role("button", name="Another card").click()
        sheet(page).get_by_role("button", name="7", exact=True).click()
        sheet(page).get_by_role("button", name="7 of diamonds").click()
        page.locator("#pile").get_by_role("button", name="7 of diamonds").click()
        sheet(page).get_by_role("button", name="A slap on this card was missed").click()
        sheet(page).get_by_role("button", name="Ana").click()
        page.locator("#rulings").get_by_text("Ana wins the slap").first.wait_for()
        assert listener.last == ("missed_slap", {"seat": 1, "on": "c2"})


def test_a_ruling_leads_to_what_it_rests_on(house: House, page: Page) -> None:
    """Cho burned a card because the slap was false because a card was misread."""
    with playing(house, page, *EIGHT) as listener:
        page.locator('#rulings li[data-id="burn@s1"]').get_by_role("button", name="Wrong?").click()
        sheet(page).get_by_role("button", name="The slap was good").wait_for()
        kept(page, "mend-slap-phone")
        sheet(page).get_by_role("button", name="8 of clubs").click()
        sheet(page).get_by_role("button", name="7 of clubs").click()
        page.locator("#rulings").get_by_text("Cho wins the slap").first.wait_for()
        assert [command.do for command in listener.heard] == ["correct"]


def test_a_question_is_answered_from_its_picture(house: House, page: Page) -> None:
    with playing(house, page, EIGHT[0], '{"kind":"tick","t":1500000000}') as listener:
        shown = np.full((180, 320, 3), (70, 110, 30), np.uint8)
        cv2.rectangle(shown, (130, 50), (190, 135), (250, 250, 250), -1)
        jpeg = np.asarray(cv2.imencode(".jpg", shown)[1]).tobytes()
        at = 2 * SECOND + 300 * MS
        house.pictures.add(listener.table.game, [Picture(at - 200 * MS, MS, b"too early"), Picture(at, MS, jpeg)])
        listener.see(*UNREAD[1:])
        asked = page.get_by_role("group", name="Which card is this?")
        picture = asked.get_by_role("img", name="Seen by the camera")
        picture.wait_for()
        assert picture.get_attribute("src") == f"/games/{listener.table.game}/pictures/{at}.jpg"
        assert picture.evaluate("(image) => image.decode().then(() => image.naturalWidth)") == 320
        assert offered(asked, 3) == ["8 of clubs", "7 of clubs", "8 of spades"]
        kept(page, "mend-question-phone")
        asked.get_by_role("button", name="7 of clubs").click()
        asked.wait_for(state="detached")
        assert listener.last == ("answer", {"question": "question@c2", "value": "7c"})
        assert listener.table.view.pile == ("7h", "7c")


def test_what_passed_in_a_gap_is_answered_by_one_tap(house: House, page: Page) -> None:
    with playing(house, page, *GAP) as listener:
        asked = page.get_by_role(
            "group", name="I did not see the table for 1.8 s. I see 7♠ on top: what lies under it?"
        )
        asked.get_by_role("img", name="7 of spades").wait_for()
        kept(page, "mend-gap-phone")
        assert asked.get_by_role("button").all_text_contents() == [
            "No other card was laid", "Other cards lie under it", "Ana took the pile", "Ben took the pile",
            "Cho took the pile", "We do not know",
        ]  # fmt: skip
        asked.get_by_role("button", name="No other card was laid").click()
        asked.wait_for(state="detached")
        assert listener.last == ("answer", {"question": "question@g1", "value": "nothing"})
        assert listener.table.view.pile == ("7h", "7s")


def test_cards_that_came_in_a_gap_are_touched_one_after_the_other(house: House, page: Page) -> None:
    with playing(house, page, *GAP) as listener:
        asked = page.get_by_role("group", name="what lies under it?")
        asked.get_by_role("button", name="Other cards lie under it").click()
        asked.get_by_role("button", name="9", exact=True).click()
        asked.get_by_role("button", name="9 of clubs").click()
        asked.get_by_role("button", name="One more card").click()
        asked.get_by_role("button", name="4", exact=True).click()
        kept(page, "mend-gap-cards-phone")
        asked.get_by_role("button", name="4 of diamonds").click()
        asked.get_by_role("button", name="That is all").click()
        asked.wait_for(state="detached")
        assert listener.last == ("answer", {"question": "question@g1", "value": "9c 4d"})
        assert listener.table.view.pile == ("7h", "9c", "4d", "7s")


def test_who_took_a_pile_that_went_in_a_gap_is_one_tap(house: House, page: Page) -> None:
    with playing(house, page, *GAP[:1], GAP[3].replace("5000000000", "1500000000")) as listener:
        listener.see(*GONE[1:])
        asked = page.get_by_role("group", name="I did not see the table for 1.8 s, and the pile is gone: who took it?")
        asked.get_by_role("button", name="Ben took the pile").wait_for()
        assert asked.get_by_role("button", name="No other card was laid").count() == 0
        kept(page, "mend-gap-gone-phone")
        asked.get_by_role("button", name="Ben took the pile").click()
        asked.wait_for(state="detached")
        assert listener.last == ("answer", {"question": "question@g1", "value": 2})


def test_whether_two_cards_were_drawn_at_once_is_one_tap(house: House, page: Page) -> None:
    asks = FIRST.replace('"classic"', '{"base":"classic","on":["F9"],"set":{"K9":"question"}}')
    near = (
        '{"kind":"card","t":1000000000,"id":"c1","card":"Kh","seat":1}',
        '{"kind":"card","t":2000000000,"id":"c2","card":"5c","seat":2,"t_error":20000000}',
        '{"kind":"card","t":2080000000,"id":"c3","card":"6d","seat":2,"t_error":20000000}',
        '{"kind":"tick","t":4000000000}',
    )
    with playing(house, page, *near, first=asks) as listener:
        asked = page.get_by_role("group", name="Were these two cards drawn at once?")
        asked.get_by_role("img", name="5 of clubs").wait_for()
        asked.get_by_role("img", name="6 of diamonds").wait_for()
        assert asked.get_by_role("button").all_text_contents() == ["At once", "One after the other"]
        asked.get_by_role("button", name="At once").click()
        asked.wait_for(state="detached")
        assert listener.last == ("answer", {"question": "question@c3/4", "value": "before"})
        page.locator("#rulings").get_by_text("two cards at once").first.wait_for()


def test_one_question_is_asked_at_a_time_and_the_oldest_first(house: House, page: Page) -> None:
    second = '{"kind":"card","t":3000000000,"id":"c10","card":"??","seat":3}'
    with playing(house, page, *UNREAD[:2], second, UNREAD[2]):
        asked = page.locator("#questions li[data-question]")
        assert asked.get_attribute("data-question") == "question@c2"
        page.locator("#questions").get_by_text("1 more after this one").wait_for()
        page.locator(".asked").get_by_role("button", name="7 of clubs").click()
        page.locator('#questions li[data-question="question@c10"]').wait_for()
        page.locator(".asked").get_by_text("Cho").wait_for()
        asked.nth(1).wait_for(state="detached")


def test_a_question_that_settles_itself_goes(house: House, page: Page) -> None:
    """The wild rank was requested; then it was drawn and reported elsewhere. An open sheet goes with its subject."""
    wild = FIRST.replace('"classic"', '{"base":"classic","on":["P14"]}')
    with playing(house, page, EIGHT[0], '{"kind":"tick","t":1500000000}', first=wild) as listener:
        page.get_by_role("group", name="Which rank is wild?").wait_for()
        listener.see('{"kind":"draw","t":1600000000,"id":"d1","rank":"4"}', '{"kind":"tick","t":1900000000}')
        page.get_by_role("group", name="Which rank is wild?").wait_for(state="detached")
        page.locator("#questions li").first.wait_for(state="detached")
        assert listener.heard == []


def test_a_sheet_follows_what_others_correct(house: House, page: Page) -> None:
    with playing(house, page, *EIGHT) as listener:
        page.locator("#pile").get_by_role("button", name="8 of clubs").click()
        sheet(page).get_by_role("heading", name="8 of clubs").wait_for()
        listener.obey(Command("correct", {"line": "c2", "card": "7c"}))
        sheet(page).get_by_role("heading", name="7 of clubs").wait_for()
        listener.obey(Command("void", {"line": "c2"}))
        sheet(page).get_by_role("heading", name="No longer there").wait_for()


def test_a_phone_that_is_not_paired_can_watch_and_is_told_how_to_pair(house: House, page: Page) -> None:
    with playing(house, page, *EIGHT, pairs=False) as listener:
        page.wait_for_load_state("networkidle")
        assert page.locator("#pile [role=button], .asked, #mended button:visible").count() == 0
        page.locator("#pile img[data-line=c2]").click()
        sheet(page).get_by_text("This device is not paired").wait_for()
        sheet(page).get_by_text("tap a pad twice").wait_for()
        assert sheet(page).locator(".pick").count() == 0
        page.keyboard.press("Escape")
        page.locator("#rulings").get_by_role("link", name="Wrong?").first.click()
        sheet(page).get_by_role("link", name="Pair this device").click()
        page.get_by_label("Code").wait_for()
        answer = page.request.get(f"{listener.address}/touched.json?of=c2")
        assert (answer.status, answer.json()) == (401, {"paired": False})
        assert listener.heard == []


def test_keys_do_the_same_and_stay_in_the_sheet(house: House, page: Page) -> None:
    with playing(house, page, *EIGHT) as listener:
        card = page.locator("#pile").get_by_role("button", name="8 of clubs")
        card.focus()
        page.keyboard.press("Enter")
        sheet(page).wait_for()
        for _ in range(30):
            page.keyboard.press("Tab")
            assert page.evaluate(
                "document.activeElement === document.body || !!document.activeElement.closest('dialog')"
            )
        page.keyboard.press("Escape")
        sheet(page).wait_for(state="detached")
        assert card.evaluate("(one) => one === document.activeElement")
        page.keyboard.press(" ")
        sheet(page).get_by_role("button", name="7 of clubs").focus()
        page.keyboard.press("Enter")
        page.locator("#pile").get_by_role("button", name="7 of clubs").wait_for()
        assert listener.last == ("correct", {"line": "c2", "card": "7c"})


def test_a_card_of_a_pile_that_was_taken_is_found_in_the_list(house: House, page: Page) -> None:
    taken = ('{"kind":"taken","t":5000000000,"id":"t1","seat":3}', '{"kind":"tick","t":7000000000}')
    won = [line.replace('"8c","seat"', '"7c","seat"') for line in EIGHT]
    with playing(house, page, *won) as listener:
        listener.see(*taken)
        page.locator("#pile .card").first.wait_for(state="detached")
        page.get_by_role("button", name="What is wrong?").click()
        sheet(page).get_by_role("button", name="7♣ · Ben").click()
        sheet(page).get_by_role("button", name="8 of clubs").click()
        page.locator("#mended").get_by_text("the card is the").wait_for()
        assert listener.last == ("correct", {"line": "c2", "card": "8c"})


def test_a_refusal_is_shown_in_the_sheet(house: House, page: Page) -> None:
    rules = FIRST.replace('"classic"', '{"base":"classic","off":["K6"]}')
    with playing(house, page, *EIGHT) as listener:
        page.locator("#pile").get_by_role("button", name="8 of clubs").click()
        listener.seen[0] = from_fields(parse_object(rules, 1), 1)
        sheet(page).get_by_role("button", name="7 of clubs").click()
        sheet(page).locator("#answer").get_by_text("your house rules do not allow corrections").wait_for()
        assert len(offered(sheet(page), 6)) == 6


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault_in_a_sheet(house: House, page: Page, scheme: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="chromium is not here").Axe()
    page.emulate_media(color_scheme=scheme)
    lines = (*EIGHT, '{"kind":"card","t":5000000000,"id":"c3","card":"??","seat":3}', '{"kind":"tick","t":8000000000}')
    with playing(house, page, *lines) as listener:
        page.locator(".asked").wait_for()
        faults = {"board": serious_faults(axe, page)}
        kept(page, f"mend-board-{scheme}")
        touched = {"card": '#pile [data-line="c2"]', "slap": '#rulings li[data-id="burn@s1"] .wrong'}
        for name, what in touched.items():
            page.locator(what).click()
            sheet(page).wait_for()
            faults[name] = serious_faults(axe, page)
            kept(page, f"mend-{name}-{scheme}")
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            page.keyboard.press("Escape")
        page.locator(touched["card"]).click()
        sheet(page).get_by_role("button", name="A card was missed").click()
        faults["missed"] = serious_faults(axe, page)
        kept(page, f"mend-missed-{scheme}")
        assert listener.heard == []
    assert {name: found for name, found in faults.items() if found} == {}
