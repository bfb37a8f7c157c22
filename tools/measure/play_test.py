"""A whole evening in a browser: ``python -m tools.measure.play_test`` (`make play-test`).

`referee play` is operated in headless Chromium: a rendered game comes from a camera in the network (MJPEG), two
seats slap by phones and two by keys of the browser. The phones' clocks stand 3 s off and drift by 50 millionths, each
of their ways takes 5 to 80 ms, and their screens stamp a touch up to 34 ms late. Then the game is compared with the
truth: cards, rulings, and each hand's stated error.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np
from rich.console import Console
from rich.progress import track

from hardware.clock import monotonic
from hardware.simulated.table.acts import Lay
from hardware.simulated.table.script import Script, play_game
from hardware.simulated.table.simulated_table import SimulatedTable
from referee.demo.score import heats, score_cards, score_rulings
from referee.engine.observations import Observation, Slap
from referee.engine.rulings import Ruling
from referee.record.store import Record
from referee.record.stored_lines import replay_rows
from referee.settings.places import RECORD
from referee.units import MS, SECOND
from tests.support.patience import PATIENCE_MS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_FPS: Final = 15.0
_REST: Final = 400 * MS
"""Time after which the hand that laid a card is gone from it."""
_HOLD: Final = 90 * MS
"""Time for which a hand stays."""
_HEAT: Final = 70 * MS
"""Sum of two phones' errors."""
_KEYS: Final = {3: "f", 4: "j"}
"""The keys of the seats that have no phone."""
_SKEW: Final = {1: (3000.0, 50e-6), 2: (-3000.0, -50e-6)}
"""By seat: its phone's clock offset, ms, and its drift."""
HARNESS: Final = """
const real = performance.now.bind(performance);
window.realNow = real;
const [ahead, drift, slow] = __SKEW__;
const shown = (t) => t * (1 + drift) + ahead;
performance.now = () => shown(real());
const stamp = Object.getOwnPropertyDescriptor(Event.prototype, "timeStamp").get;
Object.defineProperty(Event.prototype, "timeStamp", { get() { return shown(stamp.call(this) + (this.late ?? 0)); } });
const sent = window.fetch.bind(window);
const way = () => new Promise((done) => setTimeout(done, 5 + Math.random() * 75));
window.fetch = async (...asked) => {
  if (!slow || !String(asked[0]).includes("/api/pad")) return sent(...asked);
  await way();
  const answer = await sent(...asked);
  await way();
  return answer;
};
window.done = [];
window.hand = (kind, seat, code, down) => {
  const event = kind === "touch" ? new PointerEvent(down ? "pointerdown" : "pointerup", { bubbles: true })
    : new KeyboardEvent(down ? "keydown" : "keyup", { code, bubbles: true });
  const at = real();
  event.late = Math.random() * (kind === "touch" ? 34 : 16);
  const pad = kind !== "touch" ? document.body : down ? document.querySelector(".pad") : window;
  pad.dispatchEvent(event);
  if (down) window.done.push([seat, at]);
};
window.plan = (hands) => {
  for (const [at, ...hand] of hands) setTimeout(() => window.hand(...hand), Math.max(0, at - real()));
};
"""


ARGUMENTS: Final = [
    "--no-sandbox", "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
]  # fmt: skip
"""Every window stands for a separate device, so none of them is in the background."""
_LOADED: Final = """
() => Promise.all([...document.images].filter((image) => !image.complete)
  .map((image) => new Promise((done) => { image.onload = image.onerror = done; })))
"""
"""Ends when every picture of the page is there."""


class StreamedTable:
    """A camera in the network: shows the bare table until the game is begun, then the game at its own pace."""

    def __init__(self, pictures: Sequence[bytes], look: int) -> None:
        """``look`` is the number of a picture with a card, for the look before the game."""
        self._pictures, self._begun = pictures, threading.Event()
        self._rest, self._last = 0, len(pictures) - 1
        """Numbers of the pictures at which the table rests, before and after a part of the game."""
        self._stills: dict[int, Iterator[bytes]] = {}
        self.show_game = False
        """Show a card, for the look before the game."""
        self.is_on = True
        """Whether the camera answers."""
        self._look = look
        self.origin = 0
        """When the game's first frame was shown, ns."""
        self.latest = 0
        """Greatest lateness of a picture since the game went on, ns: this machine was too busy to send it."""
        self._over = False
        table = self

        class Stream(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if not table.is_on:
                    self.send_error(503)
                    return
                self.send_response(200)
                self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
                self.end_headers()
                with suppress(OSError):
                    table.send(self.wfile)

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Stream)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/video"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def begin(self, end: int | None = None) -> int:
        """Let the game go on from where it rests, in a second; return the instant of its first frame, ns.

        ``end``: the instant of the game, ns, at which the table rests again; None: its end.
        """
        last = len(self._pictures) - 1
        self._last = last if end is None else min(last, round(end * _FPS / SECOND))
        self.origin = monotonic() + SECOND - round(self._rest * SECOND / _FPS)
        self.latest = 0
        self._begun.set()
        return self.origin

    def pause(self, t: int) -> None:
        """Show the table as it is at this instant of the game, ns, until the game goes on from there."""
        self._rest = round(t * _FPS / SECOND)
        self._begun.clear()

    def send(self, out: Any) -> None:
        """Send one viewer's stream."""
        due = monotonic()
        while not self._over:
            index, rests = self.picture_at(due)
            late = monotonic() - due
            self.latest = max(self.latest, late)
            time.sleep(max(0, -late) / SECOND)
            jpeg = next(self._still(index)) if rests else self._pictures[index]
            head = f"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: {len(jpeg)}\r\n\r\n"
            out.write(head.encode() + jpeg + b"\r\n")
            due = self._after(due)

    def picture_at(self, t: int) -> tuple[int, bool]:
        """Return the number of the picture that is due at this instant, ns, and whether the table rests.

        Before the game goes on, the table is seen as it rests: no card is there that has yet to be laid, and none is
        gone that was.
        """
        if not self._begun.is_set():
            return (self._look if self.show_game else self._rest), True
        number = round((t - self.origin) * _FPS / SECOND)
        shown = min(max(self._rest, number), self._last)
        return shown, shown != number

    def _still(self, index: int) -> Iterator[bytes]:
        """Yield one picture with ever new noise: a camera whose pictures are all the same has stopped."""
        if index not in self._stills:
            image: Any = cv2.imdecode(np.frombuffer(self._pictures[index], np.uint8), cv2.IMREAD_COLOR)
            noise = np.random.default_rng(index).integers(0, 3, (4, *image.shape)).astype(np.uint8)
            made = [cv2.imencode(".jpg", cv2.add(image, speck), [cv2.IMWRITE_JPEG_QUALITY, 92])[1] for speck in noise]
            self._stills[index] = itertools.cycle([np.asarray(jpeg).tobytes() for jpeg in made])
        yield from self._stills[index]

    def _after(self, due: int) -> int:
        """Return when the next frame is due, ns: on the game's own grid once that has begun."""
        step = SECOND / _FPS
        if not self._begun.is_set():
            return round(due + step)
        return round(self.origin + (round((due - self.origin) / step) + 1) * step)

    def close(self) -> None:
        """Stop showing."""
        self._over = True
        self._server.shutdown()


def render(script: Script, console: Console) -> list[bytes]:
    """Return every frame of the game as a JPEG."""
    table = SimulatedTable(script, _FPS)
    frames = track(table.frames(), "rendering the game", total=table.frame_count, console=console)
    return [np.asarray(cv2.imencode(".jpg", f.image, [cv2.IMWRITE_JPEG_QUALITY, 92])[1]).tobytes() for f in frames]


def clock_offset(page: Page, now: str) -> int:
    """Return the difference between the machine's time and a window's, ns: the quickest of some tries.

    ``now`` is the script that returns the window's time, ms.
    """
    tries = []
    for _ in range(30):
        before = monotonic()
        shown = page.evaluate(now)
        after = monotonic()
        tries.append((after - before, (before + after) // 2 - round(shown * MS)))
    return int(min(tries)[1])


class Evening:
    """A browser at the table's machine, and phones."""

    def __init__(self, browser: Browser, address: str, pictures: Path | None) -> None:
        """``pictures`` is a folder for a picture of each step."""
        self._browser, self._address, self._pictures = browser, address, pictures
        self.windows: dict[int, Page] = {}
        """By seat, the window in which its hand falls."""
        self._answered: set[str] = set()
        self.main = self._window((0.0, 0.0, False))
        self.main.goto(address)

    def _window(self, skew: tuple[float, float, bool]) -> Page:
        width, height = (390, 700) if skew[-1] else (1100, 760)
        page = self._browser.new_context(viewport={"width": width, "height": height}).new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.add_init_script(HARNESS.replace("__SKEW__", json.dumps(skew)))
        return page

    def shoot(self, name: str, page: Page | None = None) -> None:
        """Keep a screenshot of a window; by default the main one."""
        if self._pictures is not None:
            path = self._pictures / f"first-evening-{name}.jpg"
            shown = page or self.main
            shown.evaluate(_LOADED)
            shown.screenshot(path=str(path), type="jpeg", quality=80)

    def say(self, question: str, answer: str, picture: str = "") -> None:
        """Answer an expected question, by typing or choosing."""
        asked = self.main.locator(".ask", has_text=question)
        asked.locator("input, .choices").first.wait_for()
        if picture:
            self.shoot(picture)
        field = asked.locator("form input")
        if field.count():
            field.fill(answer)
            asked.locator("form button").click()
        else:
            by_value = asked.locator(f'.choices .button[data-value="{answer}"]')
            (by_value if by_value.count() else asked.locator(".choices .button", has_text=answer)).first.click()
        asked.wait_for(state="detached")

    def switch(self, question: str, wanted: Mapping[str, bool], picture: str = "") -> None:
        """Turn switches of an expected question on or off, and go on."""
        asked = self.main.locator(".ask", has_text=question)
        asked.locator(".switch").first.wait_for()
        for value, on in wanted.items():
            asked.locator(f'.switch input[value="{value}"]').set_checked(on)
        if picture:
            self.shoot(picture)
        asked.locator("form button").click()
        asked.wait_for(state="detached")

    def walk(self, names: Sequence[str], dealer: int, table: StreamedTable, way: str = "clockwise") -> None:
        """Operate the wizard from the first question to the game, with the cards going round this way."""
        self.name_players(names)
        self.choose_hands(names)
        self.name_stream(table.url)
        self.main.locator("#items li").first.wait_for()
        if self._pictures is not None:
            # Cards are laid before the camera, as the page asks.
            table.show_game = True
            self.main.locator("#items li", has_text="read:").wait_for()
            self.main.wait_for_timeout(1500)
        self.say("Lay some cards", "yes", "camera")
        table.show_game = False
        self.say("Who sits at the bottom", names[0])
        self.begin(names, dealer, way)

    def choose_hands(self, names: Sequence[str]) -> None:
        """Give two players keys and the others phones."""
        self.say("What do the players slap?", "by name", "hands")
        for n, name in enumerate(names, start=1):
            self.say(f"What does {name} slap?", "keyboard" if n in _KEYS else "own phone")
        for seat, key in _KEYS.items():
            self.say(f"Which key is {names[seat - 1]}", key)

    def name_stream(self, url: str) -> None:
        """Choose a camera in the network whose delay is known."""
        self.say("Which camera", "in the network")
        self.say("The stream's address", url)
        self.say("How late are its pictures", "known")
        self.say("How late are they", "0")

    def begin(self, names: Sequence[str], dealer: int, way: str = "clockwise") -> None:
        """Operate the wizard from the rules to the game."""
        self.say("Which rules", "sandwiches", "rules")
        self.switch("Which of these", {"counter-clockwise": way == "counter-clockwise"}, "switches")
        # With pictures: the replays are measured, too.
        self.say("Keep the pictures", "yes")
        self.main.locator(".invitations figure").first.wait_for()
        self._join(len(names))
        self.shoot("slap")
        for seat in range(1, len(names) + 1):
            self.slap_now(seat)
            if seat == 1:
                self.shoot("phone", self.windows[seat])
        self.say("Who deals?", names[dealer - 1])
        self.say("Everything is ready", "begin", "deal")
        self.main.locator("#board").wait_for()
        self.windows |= dict.fromkeys(_KEYS, self.main)
        self.main.locator(".pad:not([disabled])").first.wait_for()

    def name_players(self, names: Sequence[str]) -> None:
        """Fill in the form of names."""
        asked = self.main.locator(".ask", has_text="Who plays?")
        fields = asked.locator(".names input")
        fields.first.wait_for()
        while fields.count() < len(names):
            asked.get_by_role("button", name="Add a player").click()
        for place in range(fields.count()):
            fields.nth(place).fill(names[place] if place < len(names) else "")
        self.shoot("people")
        asked.locator("form button.strong").click()
        asked.wait_for(state="detached")

    def _join(self, seats: int) -> None:
        codes = self.main.evaluate("fetch('/pads').then((got) => got.text())")
        for seat in (n for n in range(1, seats + 1) if n not in _KEYS):
            code = codes.partition(f"/pads/{seat}.svg")[2].partition("pad#")[2].partition('"')[0]
            phone = self._window((*_SKEW[seat], True))
            phone.goto(f"{self._address}pad#{code}")
            phone.locator(".pad:not([disabled])").wait_for()
            self.windows[seat] = phone
        self.windows |= dict.fromkeys(_KEYS, self.main)
        self.main.locator(".pad:not([disabled])").first.wait_for()

    def slap_now(self, seat: int) -> None:
        """Simulate one hand, for the test before the game."""
        self.windows[seat].evaluate(
            "(hand) => { window.hand(...hand, true); setTimeout(() => window.hand(...hand, false), 80); }",
            self._hand(seat),
        )
        self.windows[seat].wait_for_timeout(300)

    @staticmethod
    def _hand(seat: int) -> list[Any]:
        return ["key", seat, f"Key{_KEYS[seat].upper()}"] if seat in _KEYS else ["touch", seat, ""]

    def plan(self, script: Script, origin: int, begin: int = 0, end: int | None = None) -> dict[int, int]:
        """Schedule the hands of the game between two instants of it; return each window's offset by seat."""
        offsets = {seat: clock_offset(page, "window.realNow()") for seat, page in self.windows.items()}
        for seat, page in self.windows.items():
            hands = [
                [(origin + at - offsets[seat]) / MS, *self._hand(seat), down]
                for slap in script.truth
                if isinstance(slap, Slap) and slap.seat == seat and begin <= slap.t < (end or script.duration)
                for at, down in ((slap.t, True), (slap.t + _HOLD, False))
            ]  # fmt: skip
            page.evaluate("(hands) => { window.done = window.done.filter(() => false); window.plan(hands); }", hands)
        return offsets

    def answer(self, script: Script, origin: int, record: Path) -> None:
        """Answer the referee's questions as the players would, on the control's own address."""
        questions = self.main.evaluate("fetch('/recent.json').then((got) => got.json()).then((now) => now.questions)")
        for question in questions:
            if question["id"] in self._answered:
                continue
            with Record(record, read_only=True) as opened:
                told = [json.loads(text) for _, text in opened.lines(opened.games()[0].id)]
            about = [line for line in told if line.get("id") in question["about"] and "ruling" not in line]
            seats = {line.get("seat") for line in about}
            at = min((line["t"] for line in about), default=origin) - origin
            # Phones state wide errors, so hands that the script did not make close may be a dead heat, too.
            value = script.answer(question["ask"], at, seats, error=2 * _HEAT) if about else None
            if value is not None:
                self._answered.add(question["id"])
                self.main.evaluate(
                    "async (said) => { await Asking.look(); await Asking.ask('/api/control/answer', said); }",
                    {"question": question["id"], "value": value},
                )

    def fallen(self, offsets: dict[int, int]) -> list[tuple[int, int]]:
        """Return each hand that fell, as its seat and the machine's instant, ns."""
        out = []
        for page in dict.fromkeys(self.windows.values()):
            out += [(seat, round(at * MS) + offsets[seat]) for seat, at in page.evaluate("window.done")]
        return sorted(out, key=lambda hand: hand[1])


def moved(line: Observation, origin: int) -> Observation:
    """Return a line of the script, moved to the machine's clock."""
    return replace(line, t=line.t + origin)


def held_against(truth: Sequence[Observation], hands: Sequence[tuple[int, int]]) -> list[Observation]:
    """Return the truth with each slap at its window's real instant."""
    left = list(hands)
    out: list[Observation] = []
    for line in truth:
        if isinstance(line, Slap):
            near = min(
                (touch for touch in left if touch[0] == line.seat),
                key=lambda touch: abs(touch[1] - line.t),
                default=None,
            )
            if near is not None:
                left.remove(near)
                line = replace(line, t=near[1])
        out.append(line)
    return [out[0], *sorted(out[1:], key=lambda line: line.t)]


def find_close_hands(called: Sequence[int], truth: Sequence[Observation], heard: Sequence[Slap]) -> list[int]:
    """Return the instants of hands that may be a dead heat, within their errors, ns: no ruling on them is compared.

    Args:
        called: instants that the script made too close to call.
        truth: the hands as they fell, among other observations.
        heard: the hands as they were reported: another hand may be near only here, or only in the truth.
    """
    close = [*called, *heats(truth, _HEAT)]
    hands = [*heard, *(line for line in truth if isinstance(line, Slap))]
    return close + [hand.t for hand in hands for t in close if abs(hand.t - t) <= _HEAT]


def read_game(record: Path) -> tuple[list[Observation], list[Ruling]]:
    """Return the lines and rulings of the record's only game."""
    with Record(record, read_only=True) as opened:
        game, _ = replay_rows(opened.lines(opened.games()[0].id))
    return game.lines(), list(game.rulings)


@contextmanager
def playing(home: Path, *words: str) -> Iterator[str]:
    """Run `referee play`, or another command in `words`, with an empty home, ended by Ctrl-C; yield its address."""
    runtime = home / "run"
    runtime.mkdir(mode=0o700, exist_ok=True)
    env = os.environ | {"XDG_DATA_HOME": str(home), "XDG_RUNTIME_DIR": str(runtime), "PYTHONUNBUFFERED": "1"}
    name, *more = words or ("play",)
    served = ("--host", "127.0.0.1", "--port", "0", *("--no-browser",) * (name != "demo"))
    command = [sys.executable, "-m", "referee", name, *served, *more]
    with (home / "referee.txt").open("w", encoding="utf-8") as log:
        referee = subprocess.Popen(command, env=env, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        try:
            while "localhost" not in (said := Path(log.name).read_text(encoding="utf-8")):
                time.sleep(0.2)
                if referee.poll() is not None:
                    raise SystemExit(said)
            yield "http://localhost:" + said.partition("localhost:")[2].partition("/")[0] + "/"
        finally:
            referee.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                referee.wait(30)
            referee.kill()


def main() -> int:
    """Play the evening; exit status 1 where a requirement was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cards", type=int, default=60, help="how many cards are laid (default: 60)")
    parser.add_argument("--pictures", type=Path, help="a folder for a picture of each step")
    parser.add_argument("--seed", type=int, default=3, help="which game (default: 3)")
    args = parser.parse_args()
    from playwright.sync_api import sync_playwright

    console = Console(stderr=True)
    script = play_game(args.seed, 4, max_cards=args.cards, cards_per_second=1.5)
    first = next(act.t for act in script.acts if isinstance(act, Lay))
    table = StreamedTable(render(script, console), round((first + _REST) * _FPS / SECOND))
    home = Path(tempfile.mkdtemp(prefix="evening-"))
    record = home / "table-referee" / RECORD
    with closing(table), playing(home) as address, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        evening = Evening(chromium, address, args.pictures)
        evening.walk(script.table.seats, script.table.dealer, table)
        console.print("the game is on")
        origin = table.begin()
        offsets = evening.plan(script, origin)
        end = origin + script.duration
        while monotonic() < end + 3 * SECOND:
            evening.answer(script, origin, record)
            evening.main.wait_for_timeout(500)
        hands = evening.fallen(offsets)
        evening.shoot("board")
        chromium.close()
    lines, rulings = read_game(record)
    # The game in the log began with the people's command, before the script's first instant.
    began, *happened = (moved(line, origin) for line in script.truth)
    truth = held_against([replace(began, t=lines[0].t), *happened], hands)
    cards = score_cards(truth, lines)
    heard = [line for line in lines if isinstance(line, Slap)]
    called = find_close_hands([moment.t + origin for moment in script.called], truth, heard)
    ruled = score_rulings(rulings, lines, truth, called, end)
    within = sum(any(slap.seat == seat and abs(slap.t - t) <= slap.t_error for slap in heard) for seat, t in hands)
    stated = {seat: max((slap.t_error for slap in heard if slap.seat == seat), default=0) for seat in range(1, 5)}
    print(json.dumps({
        "cards": cards.laid, "cards_right": cards.right, "seats_right": cards.seat_right,
        "hands": len(hands), "hands_heard": len(heard), "within_stated_error": within,
        "most_stated_ms": {str(seat): round(error / MS, 1) for seat, error in stated.items()},
        "rulings": ruled.true, "equal": ruled.equal, "differing": ruled.differing, "asked": ruled.asked,
        "folder": str(home),
    }, indent=1))  # fmt: skip
    return 0 if within >= 0.99 * len(hands) and not ruled.differing and cards.right == cards.laid else 1


if __name__ == "__main__":
    sys.exit(main())
