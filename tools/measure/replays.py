"""Instant replays of live games, measured in headless Chromium: ``python -m tools.measure.replays`` (`make replays`).

* demo: `referee demo` in real time, watched by a projector;
* network: an evening of `referee play` with a camera in the network, phones and keys (as in `tools.measure.play_test`);
* memory: one slap opened and closed 200 times; the page's heap after a collection, and its decoded frames.

Of each replay: how long after the slap it began, its bytes, whether each frame that can be stepped to has the instant
of the record, and whether the next card ended it. The network's game stamps hands and replays on one clock, so its
delays are exact; the demo's clock waits for its eye, so there a delay begins when the hand's line was first seen in
the record, which is looked at every 20 ms. Exit status 1 where a requirement was missed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console

from hardware.clock import monotonic
from hardware.simulated.table.acts import Lay
from hardware.simulated.table.players import Habits
from hardware.simulated.table.script import play_game
from referee.engine.rulings import cause_of
from referee.record.pictures import AFTER, BEFORE, FRAMES_FILE, PictureStore
from referee.record.store import Record
from referee.record.stored_lines import replay_rows
from referee.settings.places import RECORD
from referee.units import MS, SECOND
from tests.support.patience import PATIENCE_MS
from tools.measure.play_test import ARGUMENTS, Evening, StreamedTable, clock_offset, playing, render

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_LATEST: Final = 3 * SECOND
_MOST_BYTES: Final = 2_000_000
_OPENED: Final = 200
_GROWTH: Final = 3 << 20
"""Growth of the heap that is allowed over all replays, bytes."""
_LEISURE: Final = 1.5
"""A family's: the simulated players lead some 2 s after a slap, the winner of a pile at a table some 3 s."""
_WATCH: Final = """
() => {
  const replays = [];
  const verdicts = {};
  const cards = [];
  let hidden = 0;
  // They outlive the change to the page of the game's end.
  const note = () => { sessionStorage.replays = JSON.stringify({ replays, hidden, verdicts, cards }); };
  note();
  const dialog = document.getElementById("instant-replay");
  const canvas = dialog.querySelector("canvas");
  let now = null;
  new MutationObserver(() => {
    const t = canvas.dataset.t;
    if (t && dialog.open) {
      if (!now) {
        now = { slap: dialog.dataset.slap, began: performance.timeOrigin + performance.now(), bytes: 0, frames: [],
          card: document.querySelector("#pile .newest")?.dataset.key ?? "", reached: false };
        replays.push(now);
      }
      now.slap = dialog.dataset.slap;
      now.bytes = Number(dialog.dataset.bytes);
      now.reached ||= canvas.dataset.verdict === "true";
      if (!now.frames.includes(t)) now.frames.push(t);
    } else if (!dialog.open && now) {
      now.after = document.querySelector("#pile .newest")?.dataset.key ?? "";
      now = null;
    }
    note();
  }).observe(dialog, { attributes: true, subtree: true });
  document.addEventListener("regions", () => {
    const key = document.querySelector("#pile .newest")?.dataset.key ?? "";
    if (now && dialog.open && key && key.split(":")[1] !== now.card.split(":")[1]) hidden += 1;
    const time = performance.timeOrigin + performance.now();
    if (key && key.split(":")[1] !== cards.at(-1)?.name) cards.push({ name: key.split(":")[1], time });
    const verdict = document.querySelector("#winner [data-t]:not(.over)");
    if (verdict) {
      const top = document.querySelector("#pile .newest")?.alt;
      const slapped = verdict.dataset.on;
      const after = Boolean(top) && top !== slapped;
      const seen = (verdicts[verdict.dataset.t] ??= { shown: time, film: null, after });
      if (verdict.dataset.film) seen.film ??= time;
    }
    note();
  });
}
"""
"""Notes each replay: its slap, when it began, its frames' instants, and whether a later card was hidden by it; also
when the page showed each verdict, its offer to watch it again, and each card."""


def why_not(verdict: dict[str, Any] | None, cards: Sequence[dict[str, Any]]) -> str:
    """Return why a decided slap was not played again by itself, from what a page has noted."""
    if verdict is None:
        return "its verdict was not shown"
    if verdict["after"]:
        return "a card came before its verdict"
    laid = min((card["time"] for card in cards if card["time"] > verdict["shown"]), default=float("inf"))
    ready = float("inf") if verdict["film"] is None else verdict["film"]
    if laid < ready:
        return "a card came before its pictures"
    if ready == float("inf"):
        return "its pictures were not kept"
    if laid < float("inf"):
        return f"a card came {laid - verdict['shown']:.0f} ms after its verdict"
    return f"its pictures came {ready - verdict['shown']:.0f} ms after its verdict"


def judge(name: str, record: Path, page: Page, falls: dict[str, int] | None = None) -> tuple[dict[str, Any], list[str]]:
    """Compare the replays that a page has noted with the record; return the figures and the faults.

    ``falls``: the machine's instant of each slap, ns; None: that of the record.
    """
    ahead = clock_offset(page, "performance.timeOrigin + performance.now()")
    found = json.loads(page.evaluate("sessionStorage.replays"))
    noted, hidden = found["replays"], found["hidden"]
    with Record(record, read_only=True) as opened:
        game = opened.games()[0].id
        replayed, _ = replay_rows(opened.lines(game))
    gone = {old for ruling in replayed.rulings for old in ruling.supersedes}
    standing = [ruling for ruling in replayed.rulings if ruling.id not in gone]
    # A dead heat and the slap that settles it are one moment, which is replayed once.
    first_of = {hand: cause_of(heat) for heat in standing if heat.kind == "dead_heat" for hand in heat.because}
    decided: dict[str, int] = {}
    for ruling in standing:
        if ruling.kind in ("slap_won", "dead_heat"):
            decided.setdefault(first_of.get(cause_of(ruling), cause_of(ruling)), ruling.t)
    delays, sizes, counts, faults, equal = [], [], [], [], 0
    for replay in noted:
        replay["slap"] = first_of.get(replay["slap"], replay["slap"])
    shown = {replay["slap"] for replay in noted}
    reasons = [
        why_not(found["verdicts"].get(str(t)), found["cards"]) for slap, t in decided.items() if slap not in shown
    ]
    with closing(PictureStore(record.with_name(FRAMES_FILE), read_only=True)) as store:
        for replay in noted:
            slap = replay["slap"]
            if slap not in decided:
                faults.append(f"{name}: {slap} was replayed, and is no decided slap")
                continue
            t = decided[slap]
            fell = t if falls is None else falls.get(slap, t)
            delays.append(round(replay["began"] * MS) + ahead - fell)
            sizes.append(replay["bytes"])
            kept = {str(instant) for instant in store.instants(game, t - BEFORE - SECOND, t + AFTER + SECOND)}
            counts.append(len(replay["frames"]))
            if set(replay["frames"]) <= kept:
                equal += 1
            else:
                faults.append(f"{name}: {slap} showed instants that the record does not have")
    steps = []
    for replay in noted:
        seen = found["verdicts"].get(str(decided.get(replay["slap"])))
        if seen is not None and seen["film"] is not None:
            steps.append([round(seen["film"] - seen["shown"]), round(replay["began"] - seen["shown"])])
    late = [delay for delay in delays if delay > _LATEST]
    if len(late) > 0.01 * len(delays):
        faults.append(f"{name}: {len(late)} of {len(delays)} replays began later than 3 s after their slap")
    if any(size > _MOST_BYTES for size in sizes):
        faults.append(f"{name}: a replay has {max(sizes)} bytes")
    if hidden:
        faults.append(f"{name}: a replay went on over {hidden} cards")
    if not delays:
        faults.append(f"{name}: nothing was replayed")
    figures = {
        "game": name, "decided": len(decided), "replays": len(delays),
        "delays_ms": [round(delay / MS) for delay in delays],
        "offered_and_begun_ms_after_the_verdict": steps, "late": len(late), "not_replayed": reasons,
        "most_bytes": max(sizes, default=0), "frames_shown": [min(counts), max(counts)] if counts else [],
        "instants_equal": equal, "to_the_verdict": sum(replay["reached"] for replay in noted), "hid_a_card": hidden,
    }  # fmt: skip
    return figures, faults


@contextmanager
def _demo(home: Path, seed: int, cards: int, rules: str) -> Iterator[tuple[str, Path, subprocess.Popen[bytes]]]:
    record = home / "demo.db"
    env = os.environ | {"XDG_DATA_HOME": str(home), "XDG_RUNTIME_DIR": str(home), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "referee", "demo", "--seed", str(seed), "--max-cards", str(cards), "--rules",
               rules, "--record", str(record), "--port", "8473"]  # fmt: skip
    with (home / "demo.txt").open("w", encoding="utf-8") as log:
        referee = subprocess.Popen(command, env=env, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        try:
            while "localhost" not in (said := Path(log.name).read_text(encoding="utf-8")):
                time.sleep(0.2)
                if referee.poll() is not None:
                    raise SystemExit(said)
            yield "http://localhost:" + said.partition("localhost:")[2].partition("/")[0], record, referee
        finally:
            referee.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                referee.wait(30)
            referee.kill()


def watch_demo(browser: Browser, home: Path, seed: int, cards: int, rules: str) -> tuple[dict[str, Any], list[str]]:
    """Watch a demo on a projector, to its end."""
    falls: dict[str, int] = {}
    read = 0
    with _demo(home, seed, cards, rules) as (address, record, referee):
        page = browser.new_context(viewport={"width": 1280, "height": 720}).new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.goto(f"{address}/projector")
        page.evaluate(_WATCH)
        while referee.poll() is None and "/end" not in page.url:
            with suppress(OSError), Record(record, read_only=True) as opened:
                game = next(iter(opened.games()), None)
                for number, text in opened.lines(game.id, read) if game else ():
                    read = number
                    if '"kind":"slap"' in text:
                        falls.setdefault(json.loads(text)["id"], monotonic())
            page.wait_for_timeout(20)
        out = judge("demo", record, page, falls)
        page.context.close()
    return out


def watch_network(browser: Browser, home: Path, seed: int, cards: int) -> tuple[dict[str, Any], list[str]]:
    """Watch a game whose camera is in the network, on a projector beside the players' windows."""
    script = play_game(seed, 4, max_cards=cards, cards_per_second=0.5, habits=Habits(leisure=_LEISURE))
    first = next(act.t for act in script.acts if isinstance(act, Lay))
    table = StreamedTable(render(script, Console(stderr=True)), round((first + 400 * MS) * 15.0 / SECOND))
    record = home / "table-referee" / RECORD
    with closing(table), playing(home) as address:
        evening = Evening(browser, address, None)
        evening.walk(script.table.seats, script.table.dealer, table)
        page = browser.new_context(viewport={"width": 1280, "height": 720}).new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.goto(f"{address}projector")
        page.locator("#board[data-shown]").wait_for()
        page.evaluate(_WATCH)
        origin = table.begin()
        evening.plan(script, origin)
        while monotonic() < origin + script.duration + 12 * SECOND and "/end" not in page.url:
            evening.answer(script, origin, record)
            page.wait_for_timeout(500)
        return judge("network", record, page)


def open_often(browser: Browser, record: Path, times: int) -> tuple[dict[str, Any], list[str]]:
    """Open and close one slap's replay again and again; return the heap before and after, and the faults."""
    with Record(record, read_only=True) as opened:
        game = opened.games()[0].id
        replayed, _ = replay_rows(opened.lines(game))
    slap = next(cause_of(ruling) for ruling in replayed.rulings if ruling.kind == "slap_won")
    command = [sys.executable, "-m", "referee", "page", "--record", str(record), "--port", "8474"]
    served = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert served.stdout is not None
        address = served.stdout.readline().strip()
        page = browser.new_context(viewport={"width": 1280, "height": 720}).new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.goto(f"{address}games/{game}/finish?slap={slap}")
        page.evaluate("""() => {
          window.alive = 0;
          const make = window.createImageBitmap;
          window.createImageBitmap = async (...asked) => {
            const image = await make(...asked);
            window.alive += 1;
            const close = image.close.bind(image);
            image.close = () => { window.alive -= 1; close(); };
            return image;
          };
        }""")
        session = page.context.new_cdp_session(page)
        heaps = []
        for n in range(times + 1):
            page.evaluate("InstantReplay.open(document.querySelector('[data-replay]').dataset.replay)")
            page.locator("#instant-replay[open] canvas[data-t]").wait_for()
            page.keyboard.press("Escape")
            # Reads come back at twenty a second, and each of these costs four.
            page.wait_for_timeout(220)
            if n in (10, times):
                session.send("HeapProfiler.collectGarbage")
                heaps.append(session.send("Runtime.getHeapUsage")["usedSize"])
        alive = page.evaluate("window.alive")
        page.context.close()
    finally:
        served.terminate()
        served.wait()
    faults = []
    if alive:
        faults.append(f"memory: {alive} decoded frames were not given back")
    if heaps[1] - heaps[0] > _GROWTH:
        faults.append(f"memory: the heap grew by {heaps[1] - heaps[0]} bytes")
    return {"replays": times, "heap_kib": [heap >> 10 for heap in heaps], "frames_alive": alive}, faults


def main() -> int:
    """Measure what is asked for; exit status 1 where a requirement was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=["demo", "network", "memory", []], help="default: all")
    parser.add_argument("--seed", type=int, default=11, help="of the first game (default: 11)")
    parser.add_argument("--games", type=int, default=1, help="of each kind (default: 1)")
    parser.add_argument("--cards", type=int, default=60, help="in each game (default: 60)")
    parser.add_argument("--rules", default="classic", help="of the demo; wikipedia-2009 has twice as many slaps")
    parser.add_argument("--times", type=int, default=_OPENED, help=f"replays for the memory (default: {_OPENED})")
    args = parser.parse_args()
    from playwright.sync_api import sync_playwright

    what, failed = args.what or ["demo", "network", "memory"], False
    record: Path | None = None
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        for seed in range(args.seed, args.seed + args.games):
            for name, watch in (("demo", partial(watch_demo, rules=args.rules)), ("network", watch_network)):
                if name not in what and (name != "demo" or record is not None or "memory" not in what):
                    continue
                home = Path(tempfile.mkdtemp(prefix=f"replays-{name}-"))
                figures, faults = watch(chromium, home, seed, args.cards)
                record = home / "demo.db" if name == "demo" else record or home / "table-referee" / RECORD
                print(json.dumps({**figures, "seed": seed, "faults": faults, "folder": str(home)}), flush=True)
                failed |= bool(faults)
        if "memory" in what and record is not None:
            figures, faults = open_often(chromium, record, args.times)
            print(json.dumps({**figures, "faults": faults}), flush=True)
            failed |= bool(faults)
        chromium.close()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
