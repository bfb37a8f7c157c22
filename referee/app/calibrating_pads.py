"""`referee calibrate pads`: the conversation of `padcheck` held at real or simulated pads, told, and stored."""

from __future__ import annotations

import argparse
import json
import queue
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Final

import tomlkit
from tomlkit.items import Table

from hardware.clock import monotonic
from hardware.pads import GpioPads
from hardware.ports import Edge, HardwareMissing
from hardware.simulated.pad_hands import Nature, PadHands, example
from hardware.simulated.pads import SimulatedPads
from referee.app.editing import backup_of, replace_file
from referee.app.padcheck import MS, PadCheck, Result
from referee.app.problems import UserError
from referee.app.settings import Settings, SettingsError, load, parse

NOTE: Final = "What `referee calibrate pads` measured, by seat; it writes this section anew each time."
NAMES: Final = ("Ana", "Ben", "Cho", "Dora", "Emil", "Fay", "Gus", "Hana")
TURN: Final = 0.05
"""Seconds between looks at the time."""
BETWEEN: Final = 700 * MS
"""How long simulated hands wait between blows, ns."""


def simulated(check: PadCheck, nature: Nature, *, seed: int = 1, say: Callable[[str], None] | None = None) -> None:
    """Hold the conversation with simulated pads and hands."""
    pads = SimulatedPads(len(nature.bounce), t_error=1_500_000)
    pads.pads.start(check.feed)
    hands = PadHands(nature, seed)
    while check.asking is not None:
        for contact in hands.hit(check.asking.seats, pads.now + 20 * MS):
            pads.advance(contact.seat, contact.pressed, contact.t)
        # A seat with a cut wire is waited for in vain.
        pads.run_to(pads.now + BETWEEN)
        for words in check.advance(pads.now):
            if say is not None:
                say(words)
    pads.close()


def _listen(check: PadCheck, settings: Settings) -> None:
    pins = {number: seat.pad for number, seat in enumerate(settings.seats, start=1)}
    try:
        pads = GpioPads(pins, active_high=settings.pads.active_high)
    except HardwareMissing as bad:
        raise UserError(str(bad)) from None
    edges: queue.SimpleQueue[Edge] = queue.SimpleQueue()
    pause = threading.Event()
    pads.start(edges.put)
    try:
        while check.asking is not None:
            pause.wait(TURN)
            told = pads.watermark(monotonic())
            while not edges.empty():
                check.feed(edges.get())
            for words in check.advance(told):
                _say(words)
            if pads.trouble:
                raise UserError(pads.trouble)
    finally:
        pads.close()


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def edited(text: str, result: Result, folder: Path | None = None) -> str:
    """A settings text with another ``[pads_measured]``; all else stays as it is.

    Raises:
        SettingsError: the text was no settings, or would be none afterwards.
    """
    parse(text, folder)
    document = tomlkit.parse(text)
    section = tomlkit.table()
    section.add(tomlkit.comment(NOTE))
    section.add("t_error_us", list(result.t_error_us))
    section.add("bounce_us", list(result.bounce_us))
    rows = "".join(f"    {list(row)},\n" for row in result.crosstalk_us)
    section.add("crosstalk_us", tomlkit.array(f"[\n{rows}]"))
    old = document.get("pads_measured")
    if isinstance(old, Table):
        old.clear()
        for key, value in section.items():
            old.add(key, value)
    else:
        document["pads_measured"] = section
    out = tomlkit.dumps(document)
    parse(out, folder)
    return out


def store(path: Path, result: Result) -> Path:
    """Write what was measured into a settings file; gives where its old state is kept.

    Raises:
        UserError: it cannot be read or written, or is no settings file.
    """
    try:
        data = path.read_bytes()
        text = edited(data.decode("utf-8"), result, path.parent)
    except SettingsError as bad:
        raise SettingsError(f"{path}: {bad}") from None
    except (OSError, UnicodeDecodeError) as bad:
        raise UserError(f"{path} cannot be read: {bad}") from None
    replace_file(backup_of(path), data)
    replace_file(path, text.encode("utf-8"))
    return backup_of(path)


def calibrate_pads(args: argparse.Namespace) -> int:
    """Measure the pads; exit status 1 if one was not heard.

    Raises:
        UserError: no settings, no pads, or a file that cannot be written.
    """
    settings = load(args.settings) if args.settings is not None else None
    if settings is None and not args.simulated:
        raise UserError("calibrate pads needs --settings FILE (its seats and pins), or --simulated")
    if settings is not None and args.seats is not None and args.seats != len(settings.seats):
        raise UserError(f"--seats {args.seats}: the settings name {len(settings.seats)} seats; leave --seats out")
    names = NAMES[: args.seats or 4] if settings is None else tuple(seat.name for seat in settings.seats)
    stated = 1_500_000 if settings is None else settings.pads.t_error_us * 1000
    start = 0 if args.simulated else monotonic()
    check = PadCheck(names, start, blows=args.blows, board=args.board, stated=stated)
    _say(check.opening)
    if args.simulated:
        simulated(check, example(len(names)), say=_say)
    elif settings is not None:
        _listen(check, settings)
    return _close(args, check)


def _close(args: argparse.Namespace, check: PadCheck) -> int:
    kept = store(args.settings, check.result()) if args.settings is not None and not check.found.silent else None
    if args.json:
        print(json.dumps({"pads_measured": asdict(check.result()), "silent": check.found.silent}))
        return int(bool(check.found.silent))
    for line in check.words():
        print(line)
    if kept is not None:
        print(f"stored in {args.settings}; the file as it was is {kept} (referee calibrate --undo puts it back)")
    elif check.found.silent:
        print("nothing was stored: mend the pads that were not heard, and begin again")
    else:
        print("nothing was stored: name the table's --settings FILE to keep this")
    return int(bool(check.found.silent))
