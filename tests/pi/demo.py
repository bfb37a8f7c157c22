"""`make pi-demo`: the product, installed, on an emulated Raspberry Pi 4: doctor, roll-call, a game, a demo.

The game is a script of the simulated table: its pictures are the camera's recording, its contacts close on the header's
pins. The rulings must be those of the script, and the right lights must light; exit status 1 if not.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from hardware.pads.pinout import PAD_PINS, SEAT_LIGHT_PINS
from hardware.simulated.table.script import Script, play_game
from referee.demo.rendered_camera import CameraView, DrawnCamera
from referee.demo.score import in_force, on_script_time, score_cards, score_rulings, true_rulings
from referee.engine.log import read_observations, ruling_of
from referee.engine.observations import Observation, Slap
from referee.engine.rulings import Ruling
from referee.settings.house_rules import resolve_rules
from tests.pi.demo_guest import FRAMES, LOG, ORDERS, SETTINGS, STATUS, TABLE
from tests.pi.plan import MS
from tools.pi.board import BoardError, Contact, Output, Run, run_on_board
from tools.pi.cpio import Entry, folder_entries, folders
from tools.pi.setup import CANNOT, FOLDER, PYTHON, ROOT, CannotSetUpError, set_up

SEED: Final = 121
"""Of four cards with a false slap of seat 2, and a slap of seat 3, 54 ms before that of seat 1."""
CARDS, PACE = 4, 2.5
SIZE: Final = (640, 480)
"""Of the pictures, px: the least that the eye reads well, for it has an emulated processor."""
FPS: Final = 15.0
DEMO: Final = ("--seats", "3", "--max-cards", "4", "--seed", "1")
LIMIT: Final = 3600.0
BEGIN: Final = 500 * MS
"""The second plan begins so long after the first picture, ns."""
ROLL_CALL: Final = (2, 3, 1)
"""Seats in the order in which they slap for the roll-call, a second apart."""
TABLE_LIGHT: Final = (27, 23, 24)
"""Pins of the table's light: the usual green and blue belong to this board's console."""
STATUSES: Final = {"doctor": "0", "run": "130", "demo": "0"}
"""Of the commands; 130: ended by Ctrl-C."""
WANTED: Final = {
    "doctor": "/dev/gpiochip0 (pinctrl-bcm2711)",
    "run": "All pads are heard.",
    "demo": "All targets met",
}
"""Words of each command."""
STEADY: Final = 20 * MS
"""A light that is on for so long is not dimmed, ns."""
_PROMPT: Final = 1_000 * MS
"""Longest time, ns, from a contact to its light beside an eye that takes the whole of an emulated processor."""


def main() -> int:
    """Play it all on the board, and judge; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.pi.demo", description=__doc__)
    parser.add_argument("command", nargs="?", choices=STATUSES, help="this one alone")
    only = parser.parse_args().command
    commands = (only,) if only else tuple(STATUSES)
    try:
        set_up([PYTHON], "product")
    except CannotSetUpError as error:
        print(f"pi: cannot be had here: {error}")
        return CANNOT
    began = time.monotonic()

    def hear(line: str) -> None:
        if not line.startswith((LOG, "qemu", "Only modules")):
            print(f"{time.monotonic() - began:5.0f} s  {line}", flush=True)

    script = play_game(SEED, 3, resolve_rules("classic"), CARDS, PACE)
    with tempfile.TemporaryDirectory(prefix="pi-demo-") as name:
        files = [*_table(script, Path(name), commands), *_own_wheel(Path(name))]
        try:
            run = run_on_board(
                "tests.pi.demo_guest", roll_call(), contacts_of_script(script), board="raspi4b", version=PYTHON,
                limit=LIMIT, files=files, archives=[FOLDER / "product.cpio"], packages=(), speed=0, hear=hear,
            )  # fmt: skip
        except BoardError as error:
            print(error)
            return 1
    faults = judge(script, run, commands)
    evidence = _evidence(script, run) if "run" in commands else ()
    print("\n".join(["", *evidence, *faults, f"pi-demo: {len(faults)} faults, {run.seconds:.0f} s"]))
    return 1 if faults else 0


def roll_call() -> list[Contact]:
    """Return the contacts of the roll-call."""
    return [
        Contact(number * 1_000 * MS + at, PAD_PINS[seat - 1], at == 0)
        for number, seat in enumerate(ROLL_CALL, start=1)
        for at in (0, 120 * MS)
    ]


def contacts_of_script(script: Script) -> list[Contact]:
    """Return the script's contacts, counted from the second plan's begin."""
    return [Contact(it.t - BEGIN, PAD_PINS[it.seat - 1], it.pressed) for it in script.contacts]


def _table(script: Script, folder: Path, commands: Sequence[str]) -> Iterator[Entry]:
    """Yield the files of the board's table: settings, pictures, orders."""
    pictures = folder / "frames"
    for _ in DrawnCamera(CameraView(script, FPS, "harbour", SIZE, pictures)).frames():
        pass
    root = str(TABLE).lstrip("/")
    yield from folders(root, str(FRAMES).lstrip("/"))
    yield from folder_entries(pictures, f"{root}/frames/", keep=lambda name: name.endswith(".jpg"))
    seats = "".join(
        f'[[seat]]\nname = "{person.name}"\npad = {PAD_PINS[person.seat - 1]}\n'
        f"light = {SEAT_LIGHT_PINS[person.seat - 1]}\n"
        for person in script.people
    )
    camera = f'[camera]\nsource = "{FRAMES}"\nfps = {FPS}\nwidth = {SIZE[0]}\nheight = {SIZE[1]}\n'
    settings = (
        f'rules = "classic"\ndealer = {script.table.dealer}\n{camera}[lights]\ntable = {list(TABLE_LIGHT)}\n'
        f"[voice]\nenabled = false\n[page]\nenabled = false\n{seats}"
    )
    orders = {"frame": round(1e9 / FPS), "begin": BEGIN, "demo": DEMO, "commands": commands}
    for path, text in ((SETTINGS, settings), (ORDERS, json.dumps(orders))):
        yield str(path).lstrip("/"), 0o100644, text.encode()
    yield from folders("etc")
    yield "etc/passwd", 0o100644, b"root:x:0:0::/root:/bin/sh\nplayer:x:1000:1000::/home/player:/bin/sh\n"
    yield "etc/group", 0o100644, b"root:x:0:\nplayer:x:1000:\ngpio:x:997:player\n"


def _own_wheel(folder: Path) -> Iterator[Entry]:
    """Yield the files of the wheel that `make wheel` built, as pip would install them."""
    zipfile.ZipFile(next((ROOT / "dist").glob("table_referee-*.whl"))).extractall(folder / "site")
    yield from folder_entries(folder / "site", "opt/site/")


def judge(script: Script, run: Run, commands: Sequence[str] = tuple(STATUSES)) -> list[str]:
    """Return every fault of these commands, in words."""
    told = dict(line.removeprefix(STATUS).split() for line in run.lines if line.startswith(STATUS))
    faults = []
    for command in commands:
        status = told.get(command, "no status")
        if status != STATUSES[command]:
            faults.append(f"referee {command} ended with {status}")
        if not any(WANTED[command] in line for line in run.lines):
            faults.append(f"referee {command} never said: {WANTED[command]}")
    if "run" in commands:
        if len(run.contacts) != len(roll_call()) + len(script.contacts):
            return [*faults, "the contacts were not played to their end"]
        faults += [*judge_rulings(script, run.lines), *judge_roll_call(run), *judge_lights(script, run)]
    return faults


def judge_rulings(script: Script, lines: Iterable[str]) -> list[str]:
    """Hold cards and rulings of the log against those of the script."""
    told = [line.removeprefix(LOG) for line in lines if line.startswith(LOG)]
    seen: list[Observation] = [line for _, line in read_observations(io.BytesIO("\n".join(told).encode()))]
    ruled = [ruling_of(fields) for fields in map(json.loads, told) if "kind" not in fields]
    true_slaps, slaps = _slaps(script.truth), _slaps(seen)
    if [slap.seat for slap in slaps] != [slap.seat for slap in true_slaps]:
        return [f"seats {[slap.seat for slap in true_slaps]} slapped, and {[slap.seat for slap in slaps]} were told"]
    began = slaps[0].t - true_slaps[0].t
    seen, ruled = [on_script_time(line, began) for line in seen], [on_script_time(line, began) for line in ruled]
    cards = score_cards(script.truth, seen)
    rulings = score_rulings(ruled, seen, script.truth, [], script.duration)
    return [*cards.faults, *rulings.differing, *rulings.asked, *_wrong_margins(script, ruled)]


def _slaps(observations: Iterable[Observation]) -> list[Slap]:
    return sorted((line for line in observations if isinstance(line, Slap)), key=lambda slap: slap.t)


def _wrong_margins(script: Script, ruled: Iterable[Ruling]) -> Iterator[str]:
    """Yield the margins of won slaps that differ from the truth by more than their error."""
    true = [ruling for ruling in in_force(true_rulings(script.truth, script.duration)) if ruling.kind == "slap_won"]
    won = [ruling for ruling in in_force(ruled) if ruling.kind == "slap_won"]
    for right, ruling in zip(true, won, strict=False):
        if abs(right["margin"] - ruling["margin"]) > ruling["error"]:
            yield f"won by {right['margin'] / MS:.1f} ms, and ruled was {ruling['margin'] / MS:.1f} ms"


def steady(outputs: Iterable[Output], pin: int, least: int) -> list[tuple[int, int]]:
    """Return begin and end of each time for which the guest drove a pin high without a break of at least so many ns."""
    spans, since = [], None
    for output in outputs:
        if output.pin != pin:
            continue
        if output.level and since is None:
            since = output.t
        elif not output.level and since is not None:
            if output.t - since >= least:
                spans.append((since, output.t))
            since = None
    return spans


def judge_roll_call(run: Run) -> Iterator[str]:
    """All lights burn until the first slap, and each goes out after its own seat's."""
    presses = {contact.pin: contact.t for contact in reversed(run.contacts[: len(roll_call())]) if contact.closed}
    first = min(presses.values())
    for seat in ROLL_CALL:
        press = presses[PAD_PINS[seat - 1]]
        ends = [end for begin, end in _lit(run, seat) if begin < first < end]
        if not ends or not press < ends[0] < press + _PROMPT:
            yield f"roll-call: the light of seat {seat} did not burn until its own slap: {ends}, {press}"


def _lit(run: Run, seat: int, least: int = STEADY) -> list[tuple[int, int]]:
    return steady(run.outputs, SEAT_LIGHT_PINS[seat - 1], least)


def first_lights(script: Script, run: Run) -> Iterator[tuple[int, int, int, int]]:
    """Yield seat and contact (ns) of each hand that was first, the seat that was lit first then, and its delay (ns)."""
    played = run.contacts[len(roll_call()) :]
    if not played:
        return
    ahead = played[0].t - min(it.t for it in script.contacts)
    for ruling in in_force(true_rulings(script.truth, script.duration)):
        if ruling.kind in ("slap_won", "slap_false"):
            at = next(
                slap.t for slap in _slaps(script.truth) if slap.id in ruling.because and slap.seat == ruling["seat"]
            )
            seats = range(1, script.seats + 1)
            lit = [(begin, seat) for seat in seats for begin, _ in _lit(run, seat) if begin >= at + ahead]
            begin, seat = min(lit, default=(at + ahead + 10**12, 0))
            yield ruling["seat"], at + ahead, seat, begin - at - ahead


def _table_lit(run: Run, colour: int) -> list[tuple[int, int]]:
    """Return begin and end of each time for which the table's light was red (0), green (1) or blue (2) alone."""
    spans = [steady(run.outputs, pin, STEADY) for pin in TABLE_LIGHT]
    mixed = [span for other, of_other in enumerate(spans) if other != colour for span in of_other]
    return [
        (begin, end) for begin, end in spans[colour] if not any(since < end and until > begin for since, until in mixed)
    ]


def judge_lights(script: Script, run: Run) -> Iterator[str]:
    """The light of each hand that was first comes first and soon; the winner's stays, and the table's is green then."""
    for seat, _, lit, after in first_lights(script, run):
        if lit != seat or after > _PROMPT:
            yield f"seat {seat} was first, and the light of seat {lit} came after {after / MS:.0f} ms"
    red, green = _table_lit(run, 0), _table_lit(run, 1)
    if not red:
        yield "the table's light was not red for the false slap"
    winner = next(ruling["seat"] for ruling in true_rulings(script.truth, script.duration) if ruling.kind == "slap_won")
    if not green:
        yield "the table's light was not green for the slap that won"
    for begin, end in green[:1]:
        burning = [
            seat for seat in range(1, script.seats + 1)
            if any(since < end and until > begin for since, until in _lit(run, seat, (end - begin) // 2))
        ]  # fmt: skip
        if burning != [winner]:
            yield f"seat {winner} won, and beside the green light those of seats {burning} burnt"


def _evidence(script: Script, run: Run) -> Iterator[str]:
    """Yield the figures: when which light came."""
    for seat, _, lit, after in first_lights(script, run):
        yield f"first hand: seat {seat}; first light: seat {lit}, {after / MS:.1f} ms after the contact"
    for number, colour in enumerate(("red", "green")):
        spans = ", ".join(f"{(end - begin) / MS:.0f} ms" for begin, end in _table_lit(run, number))
        yield f"table light, {colour}: {spans or 'never'}"


if __name__ == "__main__":
    sys.exit(main())
