"""The moment of a slap, instant by instant: ``python -m tools.measure.moments`` (`make moments`).

Ten slaps are played at a whole table: hands that stay alone, late second and third hands, dead heats, false slaps.
Board and projector in headless Chromium are read twenty times a second, beside the terminal's lines and the voice's
phrases. No text may contradict the final ruling: each must say either what is known before any other hand is, or what
the final ruling says; and each place may change its words once.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hardware.clock import monotonic
from referee.announce.terminal import Display
from referee.announce.voice import phrase
from referee.engine.rulings import SLAP_KINDS, Ruling, cause_of
from referee.record.stored_lines import replay_rows
from referee.text.ruling_lines import RulingWords
from referee.units import MS
from referee.web.photo_finish.moment import Finish, finish, headline, read_verdict
from tests.web.served import House
from tests.web.whole import NAMES, WholeTable

if TYPE_CHECKING:
    from playwright.sync_api import Page

_TAKEN: Final = 2_000.0
"""Time from the first hand until its pile is taken, ms."""
_REST: Final = 2_000.0
"""Time until the next card, so that the moment has been seen, ms."""
_NEAR: Final = 30.0
"""Hands within this are handed over at once, ms."""
_EVERY: Final = 50
"""Least time between two pictures of a page, ms."""
_SIZE: Final = (800, 450)
"""Size of a picture: every text is legible, and nearly twice as many come in a second as at the page's own size."""
_READ: Final = """
window.readings = [];
setInterval(() => {
  const text = (home, part) => home?.querySelector(part)?.textContent ?? "";
  const winner = document.getElementById("winner"), last = document.getElementById("last");
  const now = { at: Math.round(performance.timeOrigin + performance.now()) };
  if (winner && !winner.hidden && winner.querySelector("[data-ruling]")) {
    now.winner = [winner.querySelector("[data-ruling]").dataset.ruling,
      ...[".who", ".how", ".under"].map((part) => text(winner, part))];
  }
  if (last?.querySelector(".head")) {
    now.last = [last.querySelector("a").search, text(last, ".head"), text(last, ".margin")];
  }
  now.list = [...document.querySelectorAll("#rulings li[data-id]")].map((li) => [li.dataset.id, text(li, ".text")]);
  window.readings.push(now);
}, 50);
"""
"""Reads what the page shows, every 50 ms."""


class Moment(NamedTuple):
    """A slap: its cards, its hands by seat with their ms after the first, and the seat that people name in a heat."""

    name: str
    cards: tuple[str, ...]
    hands: tuple[tuple[int, float], ...]
    named: int | None = None


MOMENTS: Final = (
    Moment("alone", ("2h", "2c"), ((3, 0),)),
    Moment("second after 14.5 ms", ("3h", "3c"), ((3, 0), (1, 14.5))),
    Moment("second after 300 ms", ("4h", "4c"), ((2, 0), (1, 300))),
    Moment("second after 60 ms, third after 450 ms", ("5h", "5c"), ((1, 0), (3, 60), (2, 450))),
    Moment("second after 250 ms, third after 700 ms", ("6h", "6c"), ((3, 0), (2, 250), (1, 700))),
    Moment("false slap", ("2s", "3d"), ((1, 0),)),
    Moment("dead heat of 5 µs", ("7h", "7c"), ((1, 0), (2, 0.005)), named=2),
    Moment("dead heat, third after 400 ms", ("8h", "8c"), ((3, 0), (1, 0.01), (2, 400)), named=3),
    Moment("second after 45 ms", ("9h", "9c"), ((1, 0), (3, 45))),
    Moment("second after 1200 ms", ("Th", "Tc"), ((2, 0), (3, 1200))),
)


class StampedLines(io.StringIO):
    """Standard output whose lines are kept with the instant (ms) at which they were written."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[tuple[int, str]] = []

    def write(self, text: str) -> int:
        """Keep a line."""
        if text.strip():
            self.lines.append((_now(), text.rstrip("\n")))
        return len(text)


def _now() -> int:
    return time.time_ns() // MS


def play(table: WholeTable, moments: Sequence[Moment], wait: Callable[[float], None]) -> None:
    """Play the slaps in real time; ``wait`` lets so many ms pass."""
    for moment in moments:
        for card in moment.cards:
            table.lay(table.conductor.view.turn, card)
            wait(400)
        began = monotonic()

        def wait_until(after: float, began: int = began) -> None:
            wait(max(0.0, after - (monotonic() - began) / MS))

        hands = list(moment.hands)
        while hands:
            first = hands[0][1]
            wait_until(first)
            # Hands that are near each other are handed over together, each with its own stamp.
            near = [hand for hand in hands if hand[1] - first < _NEAR]
            table.slap(*((seat, round((after - first) * MS)) for seat, after in near))
            del hands[: len(near)]
        if moment.named is not None:
            wait(800)
            table.answer(moment.named)
        wait_until(_TAKEN)
        owner = table.conductor.view.owner
        if owner is not None:
            table.take(owner)
        wait(_REST)


def film(page: Page, folder: Path, place: str) -> None:
    """Keep each picture that a page paints, named by its instant (ms), at most one in 50 ms."""
    folder.mkdir(parents=True, exist_ok=True)
    session, latest = page.context.new_cdp_session(page), [0]

    def keep(frame: Mapping[str, Any]) -> None:
        session.send("Page.screencastFrameAck", {"sessionId": frame["sessionId"]})
        at = round(frame["metadata"]["timestamp"] * 1000)
        if at - latest[0] >= _EVERY:
            latest[0] = at
            (folder / f"{place}-{at}.jpg").write_bytes(base64.b64decode(frame["data"]))

    session.on("Page.screencastFrame", keep)
    size = {"maxWidth": _SIZE[0], "maxHeight": _SIZE[1]}
    session.send("Page.startScreencast", {"format": "jpeg", "quality": 60, **size})


class Recording(NamedTuple):
    """Everything that a play gave: lines of the log, readings of the pages, and texts with their instants (ms)."""

    rows: list[tuple[int, str]]
    pages: dict[str, list[dict[str, Any]]]
    terminal: list[tuple[int, str]]
    voice: list[tuple[int, str]]
    skew: int
    """The wall clock less the table's clock, ns."""


def record(folder: Path | None) -> Recording:
    """Play every slap before a board and a projector; ``folder`` takes pictures of them."""
    from playwright.sync_api import sync_playwright

    lines, skew = StampedLines(), time.time_ns() - monotonic()
    with tempfile.TemporaryDirectory() as home, closing(House(Path(home))) as house:
        display, runtime = Display(NAMES, live=False), house.folder / "runtime"
        with (
            WholeTable(house, "classic", outlets={"display": display}) as table,
            house.serve("--listen", str(runtime / "page.sock"), "--runtime", str(runtime)) as served,
            sync_playwright() as playwright,
        ):
            display.began = table.conductor.observations[0].t
            chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            shots = [(chromium.new_page(), place) for place in ("board", "projector")]
            for page, place in shots:
                page.add_init_script(_READ)
                page.goto(f"{served.address}/{place.removeprefix('board')}?lang=en")
                page.locator("#board[data-shown]").wait_for()
                if folder is not None:
                    film(page, folder, place)
            with redirect_stdout(lines):
                play(table, MOMENTS, shots[0][0].wait_for_timeout)
            pages = {place: page.evaluate("window.readings") for page, place in shots}
            chromium.close()
            voice = [((said.t + skew) // MS, said.text) for said in table.speaker.said]
        return Recording(list(house.record.lines(1)), pages, lines.lines, voice, skew)


class Change(NamedTuple):
    """A text that a place shows or says about a slap from an instant on."""

    after: int
    """Time after the first hand, ms."""
    text: str
    is_true: bool
    """Whether it agrees with the final ruling."""


class Check:
    """Compares every text with the final rulings."""

    def __init__(self, recording: Recording) -> None:
        game, _ = replay_rows(recording.rows)
        self._rulings, self._lines, self._began = list(game.rulings), game.lines(), game.table.t
        self._words, self._skew = RulingWords(NAMES), recording.skew
        self.verdicts = sorted(
            (ruling for ruling in self._rulings if ruling.kind in ("slap_won", "slap_false")), key=lambda slap: slap.t
        )
        self.said: defaultdict[tuple[str, str], list[Change]] = defaultdict(list)
        """By the ruling's id and place: its texts, in order."""
        for place, readings in recording.pages.items():
            for reading in readings:
                self._page(place, reading)
        for at, line in recording.terminal:
            self._terminal(at, line)
        for at, text in recording.voice:
            self._voice(at, text)

    def _note(self, place: str, final: Ruling, at: int, text: str, allowed: Iterable[str]) -> None:
        text, changes = _plain(text), self.said[final.id, place]
        if not changes or changes[-1].text != text:
            after = at - (final.t + self._skew) // MS
            changes.append(Change(after, text, text in map(_plain, allowed)))

    def _forms(self, final: Ruling) -> list[Ruling]:
        """Return a ruling as it may be announced: before another hand is known, and at last."""
        if final.kind != "slap_won" or final["decided_by"] != "time":
            return [final]
        fields = {**final.fields, "margin": None, "error": None, "runners_up": []}
        return [replace(final, fields=fields, window="open"), final]

    def _finishes(self, final: Ruling) -> Iterator[Finish]:
        """Yield the photo-finish of a slap as it may be shown, a dead heat also before it is settled."""
        others = [ruling for ruling in self._rulings if ruling.kind not in SLAP_KINDS]
        for rulings in ([*others, form] for form in self._forms(final)):
            yield self._finish(final, rulings)
        if (unsettled := self._finish(final, others)).heat is not None:
            yield unsettled

    def _finish(self, final: Ruling, rulings: Sequence[Ruling]) -> Finish:
        seen = finish(self._lines, rulings, cause_of(final), seats=len(NAMES))
        assert seen is not None, final
        return seen

    def _page(self, place: str, reading: Mapping[str, Any]) -> None:
        """Check one reading of a page."""
        at, words = int(reading["at"]), self._words
        if winner := reading.get("winner"):
            final = self._verdict_on(winner[0].partition("@")[2])
            allowed = (" | ".join(read_verdict(finish, words)[:3]) for finish in self._finishes(final))
            self._note(f"{place}: moment", final, at, " | ".join(winner[1:]), allowed)
        if last := reading.get("last"):
            final = self._verdict_on(last[0].partition("slap=")[2].partition("&")[0])
            allowed = (" | ".join(headline(finish, words)[:2]) for finish in self._finishes(final))
            self._note(f"{place}: last slap", final, at, " | ".join(last[1:]), allowed)
        for final in self.verdicts:
            for text in (text for id_, text in reading["list"] if id_ == final.id):
                self._note(f"{place}: list", final, at, text, map(words, self._forms(final)))

    def _verdict_on(self, slap: str) -> Ruling:
        return next(ruling for ruling in self.verdicts if slap in ruling.because)

    def _terminal(self, at: int, line: str) -> None:
        clock, _, text = line.strip().partition("  ")
        for final in self.verdicts:
            kind = "wins the slap" if final.kind == "slap_won" else "False slap"
            if kind in text and self._words.texts.seconds(final.t - self._began) == clock:
                self._note("terminal", final, at, text, map(self._words, self._forms(final)))

    def _voice(self, at: int, text: str) -> None:
        """Check a phrase against the latest slap before it."""
        before = [ruling for ruling in self.verdicts if (ruling.t + self._skew) // MS <= at]
        if not before or not ("slap" in text or " by " in text):
            return
        final = before[-1]
        forms = (*self._forms(final), replace(final, window="closed"))
        allowed = (" ".join(one.clips) for form in forms if (one := phrase(form)) is not None)
        # A penalty follows its false slap in one breath.
        self._note("voice", final, at, text.partition(". burn")[0], allowed)

    def report(self) -> Iterator[str]:
        """Yield the texts of every slap with their instants; ``!`` marks those that its final ruling contradicts."""
        for moment, final in zip(MOMENTS, self.verdicts, strict=True):
            yield f"{moment.name}: {self._words(final)}"
            for (id_, place), changes in self.said.items():
                for change in changes if id_ == final.id else ():
                    yield f"  {' ' if change.is_true else '!'} {place:22} {change.after:5} ms  {change.text}"

    @property
    def contradictions(self) -> int:
        """Number of texts that their final ruling contradicts."""
        return sum(not change.is_true for changes in self.said.values() for change in changes)

    @property
    def restless(self) -> int:
        """Number of slaps and places whose words changed more than once."""
        return sum(len(changes) > 2 for changes in self.said.values())


def _plain(text: str) -> str:
    return text.replace("\xa0", " ").strip(" |")


def main() -> int:
    """Play and check; exit status 1 where a text contradicted its final ruling, or changed more than once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path, help="a folder for pictures of both pages, at most twenty a second")
    parser.add_argument("--out", type=Path, help="a file for everything that was read")
    parser.add_argument("--check", type=Path, help="such a file, to check it again instead of playing")
    args = parser.parse_args()
    recording = Recording(*json.loads(args.check.read_text())) if args.check else record(args.pictures)
    if args.out is not None:
        args.out.write_text(json.dumps(recording), encoding="utf-8")
    check = Check(recording)
    print(*check.report(), sep="\n")
    readings = sum(map(len, recording.pages.values()))
    texts_read = sum(map(len, check.said.values()))
    print(
        f"{len(check.verdicts)} slaps, {readings} readings of the pages, {texts_read} texts: "
        f"{check.contradictions} contradict their final ruling; changed more than once: {check.restless}"
    )
    return 1 if check.contradictions or check.restless else 0


if __name__ == "__main__":
    sys.exit(main())
