"""The first week of families, a class and a club: ``python -m tools.measure.evenings`` (`make evenings`).

Each begins with an empty home, in headless Chromium and at the command line, and every step leaves a picture:

* family: a wrong camera address is mended; a game is broken off and resumed on the second evening, with hands that fall
  while it starts; a third evening drops it for a new one. A phone sleeps, a page is loaded anew. The rulings are
  compared with the truth as in `tools.measure.play_test`. Beside them stands what a busy machine does by itself:
  gaps in the camera's sight, and the greatest lateness of a picture in each part of the game; a phone that it makes
  late is asked about (``late_evidence``).
* no-camera: keys and phones alone; the game waits, and hands are named, not judged.
* wrong-camera: a camera that sees no cards is changed for another one before the game.
* class: phones take part in reaction trials, and a page for the room shows the results; then they vote on the slaps of
  a lesson, in four views of language, light and size.
* club: games are imported, one of them twice; league, player and backup are looked at; the backup is restored.

The exit status is 1 if a step had no way on, if a question was about an instant before its game's deal, or if a ruling
differed from the truth.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import cv2
import numpy as np
from rich.console import Console

from hardware.clock import monotonic
from hardware.simulated.table.acts import Lay
from hardware.simulated.table.script import Script, play_game
from referee.demo.score import score_cards, score_rulings
from referee.engine.observations import Gap, Other, Slap
from referee.record.store import Record
from referee.record.stored_lines import replay_rows
from referee.settings.model import load_settings
from referee.settings.places import RECORD
from referee.table.timeline import RESUMED
from referee.units import MS, SECOND
from tools.measure.play_test import (
    ARGUMENTS,
    HARNESS,
    Evening,
    StreamedTable,
    find_close_hands,
    held_against,
    moved,
    playing,
    read_game,
    render,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_PORT: Final = 8471
"""Phones come back to the address at which they left: every evening is served there."""
_REST: Final = 400 * MS
"""Time after which the hand that laid a card is gone from it."""
_PAUSED: Final = "Paused"
"""The board's words about a game that waits for its camera."""
_WAITING: Final = ("lead", "turn", "slap_void")
"""Rulings that judge nothing while no card was seen."""
_SLOWEST_START: Final = 60.0
"""Time limit for the camera's first picture, s."""
_PHONES: Final = 10
_VIEWS: Final[tuple[tuple[str, Literal["light", "dark"], tuple[int, int]], ...]] = (
    ("en-GB", "light", (1280, 720)), ("de-DE", "dark", (1920, 1080)), ("fr-FR", "light", (1920, 1080)),
    ("es-ES", "dark", (1280, 720)),
)  # fmt: skip
"""Language, light and projector's size of each voted lesson."""
_SLAPS: Final = 5
"""Slaps that a class votes on; the fourth of this game is a dead heat."""
_LESSON_SEED: Final = 4
_TRIALS: Final = 3
_REACT: Final = """
() => {
  const seen = document.getElementById("trial");
  const react = () => {
    window.hand("touch", 1, "", true);
    window.hand("touch", 1, "", false);
  };
  new MutationObserver(() => {
    if (seen.classList.contains("now")) setTimeout(react, 220);
  }).observe(seen, { attributes: true });
}
"""
"""Touches a phone's pad some time after each card shows."""


class Family:
    """Two phones, two keys and a camera in the network; one home for all evenings."""

    def __init__(self, browser: Browser, home: Path, script: Script, table: StreamedTable, pictures: Path) -> None:
        self._browser, self._home, self._script, self._table = browser, home, script, table
        self._pictures = pictures
        self.record = home / "table-referee" / RECORD
        self.faults: list[str] = []
        self._latest: list[int] = []
        """By part of the game, the greatest lateness of a picture of the simulated camera, ns."""

    @contextmanager
    def _evening(self, name: str) -> Iterator[Evening]:
        folder = self._pictures / name
        folder.mkdir(parents=True, exist_ok=True)
        with playing(self._home, "play", "--port", str(_PORT)) as address:
            evening = Evening(self._browser, address, folder)
            yield evening
            evening.shoot("last")

    def play_all(self) -> dict[str, Any]:
        """Play three evenings; return what is to be published of them."""
        script, table = self._script, self._table
        cut = _quiet_instant(script)
        with self._evening("family-1") as evening:
            self._mistype_address(evening)
            evening.walk(script.table.seats, script.table.dealer, table)
            first = self._play(evening, 0, cut)
            table.pause(cut)
            evening.main.wait_for_timeout(3000)
        hands = first[1]
        phones = {seat: page for seat, page in evening.windows.items() if page is not evening.main}
        with self._evening("family-2") as evening:
            evening.say("was broken off", "on", "broken-off")
            evening.say("Keep the pictures", "yes")
            # The phones were left lying: they find their seats again by themselves.
            evening.windows = phones | dict.fromkeys((3, 4), evening.main)
            self._slap_all(evening)
            evening.say("Lay the cards", "resume", "as-it-lay")
            for _ in range(5):
                # Hands that fall while the game starts are no evidence, and no question.
                evening.slap_now(3)
            evening.main.locator("#board").wait_for(timeout=60_000)
            evening.main.locator(".pad:not([disabled])").first.wait_for(timeout=60_000)
            # The board says that the game is paused until the camera has seen what lies there.
            evening.main.locator("#state", has_not_text=_PAUSED).wait_for(timeout=60_000)
            evening.windows[1].reload()
            evening.windows[1].locator(".pad:not([disabled])").wait_for(timeout=60_000)
            _sleep(evening.windows[2], 2000)
            second = self._play(evening, cut, None)
        measured = self._compare(cut, (first[0], second[0]), [*hands, *second[1]])
        table.pause(0)
        with self._evening("family-3") as evening:
            evening.say("was broken off", "new")
            evening.say("Keep the pictures", "no")
            evening.windows = phones | dict.fromkeys((3, 4), evening.main)
            self._slap_all(evening)
            evening.say("Who deals?", script.table.seats[script.table.dealer - 1])
            evening.say("Everything is ready", "begin")
            evening.main.locator("#board").wait_for(timeout=60_000)
        return measured

    def _mistype_address(self, evening: Evening) -> None:
        """Give an address that shows nothing; it must not pass, and can be put right."""
        main = evening.main
        main.locator("#steps button", has_text="The camera").click()
        evening.say("Which camera", "in the network")
        evening.say("The stream's address", f"{self._table.url}/nothing".replace("127.0.0.1", "127.0.0.2"))
        evening.say("How late are its pictures", "unknown")
        failed = main.locator(".ask", has_text="shows no picture")
        failed.wait_for(timeout=60_000)
        evening.shoot("wrong-address")
        if main.get_by_text("Done.").count():
            self.faults.append("a camera that shows nothing was said to be done")
        main.locator("#steps button", has_text="Who plays").click()

    def _slap_all(self, evening: Evening) -> None:
        """Let every hand fall once, for the test before the game."""
        for seat, page in evening.windows.items():
            try:
                page.locator(".pad:not([disabled])").first.wait_for(timeout=60_000)
            except Exception:
                evening.shoot(f"seat-{seat}-hears-nothing", page)
                raise
            evening.slap_now(seat)

    def _play(self, evening: Evening, begin: int, end: int | None) -> tuple[int, list[tuple[int, int]]]:
        """Play a part of the game; return its origin and the hands that fell, ns."""
        self._await_camera()
        origin = self._table.begin(end)
        offsets = evening.plan(self._script, origin, begin, end)
        while (left := origin + (end or self._script.duration + 3 * SECOND) - monotonic()) > 0:
            evening.answer(self._script, origin, self.record)
            evening.main.wait_for_timeout(min(500, max(1, left // MS)))
        self._latest.append(self._table.latest)
        evening.shoot("board")
        return origin, evening.fallen(offsets)

    def _await_camera(self) -> None:
        """Wait until the game that is on has seen its table: the players begin then, as in the demo."""
        until = time.monotonic() + _SLOWEST_START
        while time.monotonic() < until:
            with Record(self.record, read_only=True) as opened:
                lines = [line for _, line in opened.lines(opened.games()[0].id)]
            begun = max(n for n, line in enumerate(lines) if json.loads(line).get("kind") in ("table", RESUMED))
            if any('"sensor":"camera"' in line for line in lines[begun:]):
                return
            time.sleep(0.2)
        self.faults.append("the camera sent no picture")

    def _compare(self, cut: int, origins: Sequence[int], hands: Sequence[tuple[int, int]]) -> dict[str, Any]:
        """Compare the record's game with the truth."""
        with Record(self.record, read_only=True) as opened:
            listed = opened.games()
            game, _ = replay_rows(opened.lines(listed[0].id))
        if len(listed) != 1:
            self.faults.append(f"{len(listed)} games are recorded, not the one that was resumed")
        lines, rulings = game.lines(), list(game.rulings)
        early = [ruling.id for ruling in rulings if ruling.kind == "question" and ruling.t < origins[0]]
        if early:
            self.faults.append(f"asked about an instant before the deal: {early}")
        began, *happened = (moved(line, origins[line.t >= cut]) for line in self._script.truth)
        truth = held_against([replace(began, t=lines[0].t), *happened], sorted(hands, key=lambda hand: hand[1]))
        cards = score_cards(truth, lines)
        heard = [line for line in lines if isinstance(line, Slap)]
        close = [moment.t + origins[moment.t >= cut] for moment in self._script.called]
        called = find_close_hands(close, truth, heard)
        ruled = score_rulings(rulings, lines, truth, called, origins[1] + self._script.duration)
        if cards.right != cards.laid or ruled.differing:
            wrong = cards.laid - cards.right
            self.faults.append(f"{wrong} cards and {len(ruled.differing)} rulings differ from the truth")
        return {
            "cards": cards.laid, "cards_right": cards.right, "hands": len(hands), "rulings": ruled.true,
            "equal": ruled.equal, "differing": ruled.differing, "asked": ruled.asked,
            "gaps_ms": [round((line.until - line.t) / MS) for line in lines if isinstance(line, Gap)],
            "latest_picture_ms": [round(late / MS) for late in self._latest],
        }  # fmt: skip


def _quiet_instant(script: Script) -> int:
    """Return an instant in the middle of the game at which no hand is over the table and nothing is won."""
    busy = sorted([act.t for act in script.acts] + [line.t for line in script.truth if isinstance(line, Slap)])
    middle = script.duration // 3
    gaps = [
        (after - before, before)
        for before, after in itertools.pairwise(busy)
        if before > middle and any(act.t == before for act in script.acts if isinstance(act, Lay))
    ]
    return max(gaps)[1] + _REST


def _sleep(page: Page, length: int) -> None:
    """Let a phone's page sleep for some milliseconds, as a dark screen does."""
    session = page.context.new_cdp_session(page)
    session.send("Page.setWebLifecycleState", {"state": "frozen"})
    time.sleep(length / 1000)
    session.send("Page.setWebLifecycleState", {"state": "active"})


def play_family(
    browser: Browser, home: Path, pictures: Path, console: Console, seed: int
) -> tuple[dict[str, Any], list[str]]:
    """Play the family's three evenings; return the figures and the faults."""
    script = play_game(seed, 4, max_cards=24, cards_per_second=1.2)
    first = next(act.t for act in script.acts if isinstance(act, Lay))
    table = StreamedTable(render(script, console), round((first + _REST) * 15.0 / SECOND))
    with closing(table):
        family = Family(browser, home, script, table, pictures)
        return family.play_all(), family.faults


def play_without_camera(
    browser: Browser, home: Path, pictures: Path, console: Console, seed: int
) -> tuple[dict[str, Any], list[str]]:
    """Begin a game whose camera does not answer; return the figures and the faults."""
    script, table, faults = _opening(seed, console)
    names = script.table.seats
    table.is_on = False
    with closing(table), _at_home(browser, home, pictures / "no-camera") as evening:
        main = evening.main
        evening.name_players(names)
        evening.choose_hands(names)
        evening.name_stream(table.url)
        main.locator(".ask", has_text="shows no picture").wait_for(timeout=60_000)
        evening.shoot("no-picture")
        main.locator("#steps button", has_text="House rules").click()
        evening.begin(names, script.table.dealer)
        main.locator("#state", has_text=_PAUSED).wait_for(timeout=60_000)
        evening.shoot("board-paused")
        for seat in evening.windows:
            evening.slap_now(seat)
            main.wait_for_timeout(1000)
        evening.shoot("hands-named")
        if not main.locator("#troubles", has_text="camera").count():
            faults.append("the board does not say that the camera is gone")
        main.wait_for_timeout(3000)
        lines, rulings = read_game(home / "table-referee" / RECORD)
    named = [line for line in lines if isinstance(line, Other) and line.name == "first_hand"]
    if len(named) != len(names):
        faults.append(f"{len(named)} of {len(names)} hands were named")
    judged = [ruling.id for ruling in rulings if ruling.kind not in _WAITING]
    judged += [ruling.id for ruling in rulings if ruling.kind == "slap_void" and ruling["reason"] != "paused"]
    if judged:
        faults.append(f"ruled without having seen a card: {judged}")
    return {"hands": len(names), "named": len(named), "rulings": len(rulings)}, faults


def change_camera(
    browser: Browser, home: Path, pictures: Path, console: Console, seed: int
) -> tuple[dict[str, Any], list[str]]:
    """Change a camera that sees no cards for the right one; return the figures and the faults."""
    script, table, faults = _opening(seed, console)
    names = script.table.seats
    wall = cv2.imencode(".jpg", np.full((720, 960, 3), 140, np.uint8))[1]
    with (
        closing(table), closing(StreamedTable([np.asarray(wall).tobytes()], 0)) as other,
        _at_home(browser, home, pictures / "wrong-camera") as evening,
    ):  # fmt: skip
        main = evening.main
        evening.name_players(names)
        evening.choose_hands(names)
        evening.name_stream(other.url)
        main.locator("#items li", has_text="no card is seen").wait_for(timeout=60_000)
        evening.shoot("sees-no-cards")
        evening.say("Lay some cards", "other")
        evening.name_stream(table.url)
        table.show_game = True
        main.locator("#items li", has_text="read:").wait_for(timeout=60_000)
        evening.say("Lay some cards", "yes", "right-camera")
        table.show_game = False
        evening.say("Who sits at the bottom", names[0])
        evening.begin(names, script.table.dealer)
        main.locator("#state").wait_for()
        source = load_settings(home / "table-referee" / "table.toml").camera.source
    if source != table.url:
        faults.append(f"the game's camera is {source}")
    return {"cameras": 2}, faults


def _opening(seed: int, console: Console) -> tuple[Script, StreamedTable, list[str]]:
    """Return a short game, the camera that shows it, and no faults yet."""
    script = play_game(seed, 4, max_cards=1)
    first = next(act.t for act in script.acts if isinstance(act, Lay))
    return script, StreamedTable(render(script, console), round((first + _REST) * 15.0 / SECOND)), []


@contextmanager
def _at_home(browser: Browser, home: Path, folder: Path) -> Iterator[Evening]:
    """Yield the wizard of an empty home, with a picture of its last page at the end."""
    folder.mkdir(parents=True, exist_ok=True)
    with playing(home) as address:
        evening = Evening(browser, address, folder)
        yield evening
        evening.shoot("last")


def hold_class(
    browser: Browser, home: Path, pictures: Path, _console: Console, _seed: int
) -> tuple[dict[str, Any], list[str]]:
    """Let ten phones take part in trials; return the figures and the faults."""
    folder, faults = pictures / "class", list[str]()
    folder.mkdir(parents=True, exist_ok=True)
    with playing(home, "class", "--trials", str(_TRIALS), "--wait", "0.2") as address:
        room = browser.new_context(viewport={"width": 1280, "height": 720}).new_page()
        room.goto(address)
        room.locator("#stage").wait_for()
        room.screenshot(path=str(folder / "room.png"))
        phones = []
        for n in range(_PHONES):
            phone = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
            phone.add_init_script(HARNESS.replace("__SKEW__", json.dumps((0.0, 0.0, True))))
            phone.goto(f"{address}join")
            phone.screenshot(path=str(folder / "joining.png"))
            phone.locator("#trial[data-pupil]").wait_for(timeout=20_000)
            if phone.evaluate("document.documentElement.scrollWidth") > 390:
                faults.append(f"phone {n + 1} scrolls sideways")
            phones.append(phone)
        phones[0].screenshot(path=str(folder / "phone.png"))
        for phone in phones:
            phone.evaluate(_REACT)
            phone.evaluate("window.hand('touch', 1, '', true)")
        for n, phone in enumerate(phones, start=1):
            try:
                phone.locator("#trial[data-over=true]").wait_for(timeout=120_000)
            except Exception as error:
                faults.append(f"phone {n} came to no end: {error}")
        phones[0].screenshot(path=str(folder / "phone-over.png"))
        room.wait_for_timeout(1000)
        room.screenshot(path=str(folder / "results.png"), full_page=True)
        counted = room.locator("#results tr.all td").all_inner_texts()
        if str(_PHONES * _TRIALS) not in counted:
            faults.append(f"the room's page counts {counted[:3]}, not {_PHONES * _TRIALS} trials")
    votes = sum(_hold_vote(browser, home, folder, view, faults) for view in _VIEWS)
    return {"phones": _PHONES, "trials": _PHONES * _TRIALS, "votes": votes}, faults


def _hold_vote(
    browser: Browser, home: Path, folder: Path, view: tuple[str, Literal["light", "dark"], tuple[int, int]],
    faults: list[str],
) -> int:  # fmt: skip
    """Let ten phones vote on some slaps of a lesson, with pictures of every step; return how many votes counted."""
    language, scheme, (width, height) = view
    name, counted = f"votes-{language[:2]}", 0

    def look(size: tuple[int, int], address: str) -> Page:
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, locale=language, color_scheme=scheme
        )
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(f"{name}: {error}"))
        page.goto(address)
        return page

    def shoot(step: str) -> None:
        room.wait_for_timeout(300)
        for who, page, wide in (("room", room, width), ("phone", phones[0], 390)):
            if page.evaluate("document.documentElement.scrollWidth") > wide:
                faults.append(f"{name}: the {who}'s page scrolls sideways ({step})")
            page.screenshot(path=str(folder / f"{name}-{step}-{who}.png"), full_page=who == "phone")

    command = ("demo", "--lesson", "--seed", str(_LESSON_SEED), "--max-cards", "60", "--host", "0.0.0.0")
    with playing(home, *command) as address:
        room = look((width, height), f"{address}games/1/replay?lesson=1")
        phones = [look((390, 844), f"{address}join") for _ in range(_PHONES - 1)]
        for phone in phones:
            phone.locator("#nickname:not(:empty)").wait_for(timeout=20_000)
        shoot("joined")
        for slap in range(1, _SLAPS + 1):
            room.locator("[data-move=question]").click()
            if slap == 2:
                # A late phone, and one that was loaded anew.
                phones.append(look((390, 844), f"{address}join"))
                phones[1].reload()
            for n, phone in enumerate(phones):
                buttons = phone.locator("button[data-choice][aria-pressed=false]")
                buttons.first.wait_for(timeout=20_000)
                if n == len(phones) // 2:
                    shoot(f"{slap}-asked")
                buttons.nth(n * slap % buttons.count()).click()
                phone.locator("button[aria-pressed=true]").wait_for(timeout=20_000)
            room.locator("#ask details[open]").wait_for(timeout=20_000)
            for phone in phones:
                phone.locator("#votes tr.right").wait_for(timeout=20_000)
            shoot(f"{slap}-answered")
            told = [int(row.split()[-1]) for row in room.locator("#votes tr").all_inner_texts()]
            if sum(told) != len(phones):
                faults.append(f"{name}: {sum(told)} votes of {len(phones)} phones count on slap {slap}")
            counted += sum(told)
        for page in (room, *phones):
            page.context.close()
    return counted


def keep_club(
    _browser: Browser, home: Path, _pictures: Path, _console: Console, _seed: int
) -> tuple[dict[str, Any], list[str]]:
    """Record three games, import one twice, and bring a backup back; return the figures and the faults."""
    faults: list[str] = []
    env = os.environ | {"XDG_DATA_HOME": str(home), "LANGUAGE": "en"}

    def say(*words: str) -> str:
        done = subprocess.run([sys.executable, "-m", "referee", *words], env=env, capture_output=True, text=True)
        if done.returncode:
            faults.append(f"{' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    logs = [home / f"game-{n}.jsonl" for n in range(3)]
    for n, log in enumerate(logs):
        say("demo", "--no-pace", "--max-cards", "12", "--seed", str(n + 1), "--log", str(log))
        say("games", "--import", str(log))
    say("games", "--import", str(logs[0]))
    listed = _numbers(say("games"))
    if len(listed) != len(logs):
        faults.append(f"{len(listed)} games are listed after one of {len(logs)} was imported twice")
    say("league")
    say("backup", str(home / "club.zip"))
    for game in listed:
        say("games", "--remove", game)
    say("games", "--import", str(home / "club.zip"))
    again = _numbers(say("games"))
    if len(again) != len(listed):
        faults.append(f"{len(again)} of {len(listed)} games came back from the backup")
    return {"games": len(listed), "restored": len(again)}, faults


def _numbers(listing: str) -> list[str]:
    return re.findall(r"^ *(\d+) ", listing, re.MULTILINE)


_WEEKS: Final[dict[str, Callable[..., tuple[dict[str, Any], list[str]]]]] = {
    "family": play_family, "no-camera": play_without_camera, "wrong-camera": change_camera, "class": hold_class,
    "club": keep_club,
}  # fmt: skip


def main() -> int:
    """Play what is asked for; exit status 1 if there was a fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("who", nargs="*", choices=[*_WEEKS, []], help=f"of {', '.join(_WEEKS)} (default: all)")
    parser.add_argument("--pictures", type=Path, default=Path("out/evenings"), help="folder for the pictures")
    parser.add_argument("--seed", type=int, default=5, help="which game the family plays (default: 5)")
    args = parser.parse_args()
    from playwright.sync_api import sync_playwright

    console, failed = Console(stderr=True), False
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        for who in args.who or _WEEKS:
            home = Path(tempfile.mkdtemp(prefix=f"evening-{who}-"))
            figures, faults = _WEEKS[who](chromium, home, args.pictures, console, args.seed)
            print(json.dumps({"who": who, **figures, "faults": faults, "folder": str(home)}), flush=True)
            failed = failed or bool(faults)
        chromium.close()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
