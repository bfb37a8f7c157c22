"""House rules are written in a browser: as a form and as text, checked at once, exported, played by."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from referee.rules.frozen import thaw
from referee.rules.house import read_house_rules
from referee.settings.house_rules import load_house_rules
from tests.web.served import House
from tests.web.test_page_buttons_in_browser import ABOUT, done, part, playing

if TYPE_CHECKING:
    from playwright.sync_api import Page

FINE = "No mistakes."


def editor(page: Page, address: str, preset: str = "classic") -> None:
    page.goto(f"{address}/rules?preset={preset}")
    page.locator("#state").filter(has_text=FINE).wait_for()


def switch(page: Page, row: str) -> None:
    page.locator(f'[data-switch="{row}"]').click()


def test_mistakes_are_shown_at_their_line_and_go(house: House, page: Page) -> None:
    with playing(house, page) as main:
        editor(page, main.served.address)
        page.get_by_role("button", name="As text").click()
        text = page.get_by_label("House rules as text (TOML)")
        good = text.input_value()
        text.fill(good + 'on = [\n    "double",\n    "sandwhich",\n]\n')
        page.locator("#state").filter(has_text="1 mistake").wait_for()
        assert page.get_by_role("button", name="Begin a game with these rules").is_disabled()
        assert text.get_attribute("aria-invalid") == "true"
        line = (good + "on = [\n").count("\n") + 2
        assert page.locator("#gutter .wrong").all_text_contents() == [str(line)]
        assert "sandwich" in (page.locator("#mistakes").text_content() or "")
        page.get_by_role("button", name=f"Line {line}, column").click()
        chosen = text.evaluate("(area) => area.value.slice(area.selectionStart, area.selectionEnd)")
        assert chosen.startswith('"sandwhich"')
        # Text with an error is kept when switching to the form.
        assert page.get_by_role("button", name="As a form").is_disabled()
        text.fill(good + 'on = ["marriage"]\n[set]\nburn = 3\n')
        page.locator("#state").filter(has_text=FINE).wait_for()
        assert page.locator("#mistakes li").count() == 0
        page.get_by_role("button", name="As a form").click()
        assert page.locator('[data-switch="P6"]').is_checked()
        assert page.locator('[data-value="F1"] input').input_value() == "3"
        differs = page.locator("#differs").text_content() or ""
        assert "Marriage: a king and a queen together. P6" in differs
        assert "3 cards instead of 1 cards F1" in differs


def test_the_form_writes_what_the_rules_read(house: House, page: Page, tmp_path: Path) -> None:
    with playing(house, page) as main:
        editor(page, main.served.address, "short")
        page.get_by_label("Name of these rules").fill('Friday "evenings"')
        chosen = {"C2a", "P4a", "P14", "N12", "S4d", "P19", "S3", "M6", "E7", "E8"}
        for row in sorted(chosen):
            switch(page, row)
        switch(page, "P2")
        page.locator('[data-value="P4a"] [data-part=n]').fill("5")
        page.locator('[data-value="P4a"] [data-part=ace]').select_option(label="ace before the two")
        page.locator('[data-value="P14"] select').select_option("10")
        page.locator('[data-value="N12"] [data-part=ms]').fill("120")
        page.locator('[data-value="N12"] [data-part=is]').select_option(label="faster is a false slap")
        page.locator('[data-value="M6"] [data-part=ms]').fill("350")
        page.locator('[data-value="M6"] [data-part=who]').select_option(
            label="players who slapped falsely before touch"
        )
        page.locator('[data-value="E7"] [data-part=unit]').select_option(label="piles")
        page.locator('[data-value="E7"] [data-part=n]').fill("30")
        page.locator('[data-value="E8"] select').select_option(label="the cards are dealt out to the others")
        page.locator('[data-value="S4d"] input').fill("2, 3")
        page.locator('[data-value="S3"] input').fill("4")
        page.get_by_role("button", name="Add a pattern").click()
        page.keyboard.type("twins")
        page.locator(".pattern [data-part=text]").fill("rank(1) = rank(2) and suit(1) = hearts")
        page.locator("#state").filter(has_text=FINE).wait_for()
        with page.expect_download() as coming:
            page.get_by_role("button", name="Download").click()
        assert coming.value.suggested_filename == "friday-evenings.toml"
        file = tmp_path / "house.toml"
        coming.value.save_as(file)
        read = load_house_rules(file)
        assert read.title == 'Friday "evenings"'
        assert not read.notes
        on = read_house_rules("short").on - {"C1", "P2"} | chosen
        assert read.rules.on == on
        boxes = page.locator("[data-switch]:checked").evaluate_all("all => all.map((one) => one.dataset.switch)")
        assert set(boxes) == on
        rows = ("P4a", "P14", "N12", "S4d", "S3", "P19", "F1", "M6", "E7", "E8")
        values = {row: thaw(read.rules.value(row)) for row in rows}
        assert values == {
            "P4a": {"n": 5, "ace": "low", "wrap": False}, "P14": "T", "N12": [120, "false"], "S4d": [2, 3], "S3": 4,
            "P19": {"twins": "rank(1) = rank(2) and suit(1) = hearts"}, "F1": 2,
            "M6": [350, "convicted"], "E7": {"piles": 30}, "E8": "others",
        }  # fmt: skip

        page.get_by_role("button", name="Begin a game with these rules").click()
        page.wait_for_url(re.compile(r"/control\?begin"))
        form = part(page, "New game")
        form.get_by_label("Rules").locator("option").first.filter(
            has_text='From the editor: Friday "evenings"'
        ).wait_for(state="attached")
        form.get_by_role("button", name="Begin the game").click()
        page.get_by_role("alertdialog").get_by_role("button", name="Abandon it and begin").click()
        done(page, "begin is done")
        do, fields = main.last
        assert (do, fields["seats"], fields["dealer"]) == ("begin", ABOUT["names"], 1)
        assert read_house_rules(fields["rules"]) == read.rules
        # Back in the editor, they are still there.
        page.goto(f"{main.served.address}/rules")
        page.locator("#state").filter(has_text=FINE).wait_for()
        assert page.get_by_label("Name of these rules").input_value() == 'Friday "evenings"'
        assert page.locator('[data-switch="P19"]').is_checked()


def test_a_rule_switches_off_those_that_it_excludes(house: House, page: Page) -> None:
    with playing(house, page) as main:
        editor(page, main.served.address)
        switch(page, "C2b")
        assert not page.locator('[data-switch="C1"]').is_checked()
        switch(page, "C2a")
        assert not page.locator('[data-switch="C2b"]').is_checked()
        switch(page, "C2a")
        switch(page, "C1")
        page.locator("#differs").get_by_text("None: exactly classic.").wait_for()
        page.locator("#state").filter(has_text=FINE).wait_for()


def test_what_goes_well_with_a_preset_is_offered_until_it_is_on(house: House, page: Page) -> None:
    """A class may agree on twenty minutes."""
    with playing(house, page) as main:
        editor(page, main.served.address, "classroom")
        offered = page.locator("#differs").get_by_text("Goes well with this preset")
        offered.wait_for()
        switch(page, "E7")
        offered.wait_for(state="detached")
        page.locator("#differs b").filter(has_text="E7").wait_for(state="attached")
        page.locator("#state").filter(has_text=FINE).wait_for()


def test_another_preset_asks_before_changes_are_lost(house: House, page: Page) -> None:
    with playing(house, page) as main:
        editor(page, main.served.address)
        page.get_by_label("Preset").select_option("slapjack")
        assert page.locator('[data-switch="P18"]').is_checked()
        switch(page, "P1")
        page.get_by_label("Preset").select_option("classroom")
        page.get_by_role("alertdialog").get_by_role("button", name="Cancel").click()
        page.locator("#base option[value=slapjack]:checked").wait_for(state="attached")
        assert page.locator('[data-switch="P1"]').is_checked()


def test_too_many_checks_wait_and_go_on(house: House, page: Page) -> None:
    """For the time stated in the refusal; then the current rules are checked."""
    with playing(house, page) as main:
        editor(page, main.served.address)
        asked: list[int] = []
        page.on("response", lambda answer: asked.append(answer.status) if answer.url.endswith("/check") else None)
        no = {"accepted": False, "words": "too often"}
        refused = {"status": 429, "headers": {"Retry-After": "1"}, "json": no}
        page.route("**/api/rules/check", lambda route: route.fulfill(**refused), times=1)
        switch(page, "P6")
        page.locator("#state").filter(has_text="Too many checks at once").wait_for()
        assert page.get_by_role("button", name="Begin a game with these rules").is_disabled()
        page.locator("#state").filter(has_text=FINE).wait_for()
        assert asked[0] == 429 and asked[-1] == 200


def test_whoever_has_not_paired_may_write_and_take_along(house: House, page: Page, tmp_path: Path) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.method))
    with house.serve("--runtime", str(house.folder / "runtime")) as served:
        page.goto(f"{served.address}/rules")
        page.get_by_text("Not checked: this device is not paired.").wait_for()
        switch(page, "P6")
        page.locator("#differs").get_by_text("Marriage").wait_for()
        with page.expect_download() as coming:
            page.get_by_role("button", name="Download").click()
        file = tmp_path / "house.toml"
        coming.value.save_as(file)
        assert load_house_rules(file).rules.has("P6")
        assert page.get_by_role("button", name="Begin a game with these rules").is_disabled()
    assert "POST" not in asked


def test_a_file_is_opened(house: House, page: Page, tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text('# Ours\r\ntitle = "Ours"\r\nbase = "slapjack"\r\n', encoding="utf-8")
    with playing(house, page) as main:
        editor(page, main.served.address)
        page.locator("#file").set_input_files(file)
        page.locator("#base option[value=slapjack]:checked").wait_for(state="attached")
        assert page.get_by_label("House rules as text (TOML)").input_value().startswith("# Ours\n")
        page.locator("#differs").get_by_text("None: exactly slapjack.").wait_for()
        # The text is still there after a visit to another page.
        page.locator("#state").filter(has_text=FINE).wait_for()
        page.goto(f"{main.served.address}/control")
        part(page, "New game").get_by_label("Rules").locator("option", has_text="From the editor: Ours").wait_for(
            state="attached"
        )
        assert part(page, "New game").get_by_label("Rules").input_value() == "classic"
        page.goto(f"{main.served.address}/rules?lang=de")
        page.locator("#base option[value=slapjack]:checked").wait_for(state="attached")


def test_the_search_shows_the_rules_that_have_its_words(house: House, page: Page) -> None:
    with playing(house, page) as main:
        editor(page, main.served.address)
        found = page.locator("[data-row]:visible")
        every = found.count()
        page.get_by_label("Find a rule").press_sequentially("jack slap")
        rows = found.all_text_contents()
        assert 0 < len(rows) < every
        assert all("jack" in text.lower() and "slap" in text.lower() for text in rows)
        page.get_by_label("Find a rule").fill("m9")
        assert found.evaluate_all("all => all.map((row) => row.dataset.row)") == ["M9"]
        page.get_by_label("Find a rule").fill("zebra")
        page.get_by_text("No rule has these words.").wait_for()
        assert found.count() == 0
        page.get_by_label("Find a rule").fill("")
        assert found.count() == every
        page.locator("#differs").get_by_text("None: exactly classic.").wait_for()


def test_on_a_phone_the_groups_are_closed_until_one_is_wanted(house: House, page: Page) -> None:
    with house.serve() as served:
        rows, switch = page.locator("[data-row]:visible"), page.locator('[data-switch="M9"]')
        page.goto(f"{served.address}/rules")
        every = rows.count()
        tall = page.evaluate("document.documentElement.scrollHeight")
        page.set_viewport_size({"width": 390, "height": 844})
        page.locator(".rulegroup[open]").first.wait_for(state="detached")
        assert rows.count() == 0
        assert page.evaluate("document.documentElement.scrollHeight") < tall / 3
        first = page.locator(".rulegroup").first
        first.locator("summary").click()
        opened = rows.count()
        assert 0 < opened < every
        # A row that a search finds is in sight; afterwards the groups are as they were.
        page.get_by_label("Find a rule").fill("m9")
        switch.wait_for(state="visible")
        assert rows.count() == 1
        page.get_by_label("Find a rule").fill("")
        switch.wait_for(state="hidden")
        assert rows.count() == opened
        page.goto(f"{served.address}/rules#M9")
        switch.wait_for(state="visible")
        group = page.locator(".rulegroup", has=switch).locator("summary small")
        said = group.text_content()
        switch.click()
        assert re.fullmatch(r"\d+ of \d+ on", said or "") and group.text_content() != said
        page.set_viewport_size({"width": 1280, "height": 720})
        page.locator(".rulegroup:not([open])").first.wait_for(state="detached")
        assert rows.count() == every


def test_the_differences_from_most_families_stand_on_top_for_every_preset(house: House, page: Page) -> None:
    with house.serve() as served:
        for preset in ("classic", "slapjack"):
            page.goto(f"{served.address}/rules?preset={preset}")
            usual, rules = read_house_rules("classic"), read_house_rules(preset)
            rows = (usual.on ^ rules.on) | {row for row in rules.on if rules.value(row) != usual.value(row)}
            page.locator("#unusual-count", has_text=re.compile(f"^{len(rows)}$")).wait_for()
            page.get_by_text("What differs from most families").click()
            named = page.locator("#unusual li b").all_text_contents()
            assert set(named) == rows
        assert page.locator("#differs").get_by_text("None: exactly slapjack.").is_visible()
