"""`referee doctor`: what is here, what is missing, and the command that mends it.

A part is *needed* if even the simulated table cannot do without it; only a needed part that is not fine makes the
exit status 1. Every look is short, opens nothing for longer than it must, and never raises.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import Path
from typing import Final

from referee.setup.doctor.device_health import camera, header, sound
from referee.setup.doctor.machine import calibration, house, pads_measured, read_settings
from referee.setup.doctor.probe import Finding, Machine, State, library, ours_alone, software

__all__ = ["Finding", "State", "doctor", "findings", "library", "ours_alone", "short_report", "verdict"]

INSTALLED: Final = Path("/etc/table-referee/table.toml")
"""The settings of the appliance."""
COLOURS: Final = {"fine": "green", "missing": "yellow", "broken": "red"}


def settings_path(asked: Path | None) -> Path:
    """The settings that are looked at: as asked, else this folder's, else the appliance's."""
    here = Path("table.toml")
    return asked if asked is not None else INSTALLED if INSTALLED.exists() and not here.exists() else here


def findings(machine: Machine | None = None, settings: Path | None = None) -> Iterator[Finding]:
    """Every part, those that the simulated table needs first."""
    host = Machine() if machine is None else machine
    path = settings_path(settings)
    known, about = read_settings(path)
    table = [about] + ([calibration(known, path), pads_measured(known, path)] if known is not None else [])
    yield from _grouped("software", software())
    yield from _grouped("table", table)
    yield from _grouped("pads and lights", header(host, known))
    yield from _grouped("camera", camera(host, known))
    yield from _grouped("sound", sound(host, known))
    yield from _grouped("machine", house(host, known))


def _grouped(group: str, found: Iterable[Finding]) -> Iterator[Finding]:
    for finding in found:
        yield replace(finding, group=group)


def lines(found: Sequence[Finding], *, colour: bool = False) -> Iterator[str]:
    """The report: of each group what is fine in a line, and what is not in a line each, with its remedy."""
    for group, parts in groupby(found, key=lambda finding: finding.group):
        listed = list(parts)
        fine = [finding for finding in listed if finding.state == "fine"]
        yield _coloured(group.capitalize(), "bold", colour)
        if fine:
            yield "  " + _coloured("fine", "green", colour) + "     " + ", ".join(_brief(finding) for finding in fine)
        for finding in listed:
            if finding.state != "fine":
                shade = "red" if finding.needed else COLOURS[finding.state]
                needed = " (needed)" if finding.needed else ""
                yield (
                    f"  {_coloured(f'{finding.state:<8}', shade, colour)} {_plain(finding.part, colour)}{needed}: "
                    + _plain(finding.words, colour)
                )
                yield f"           → {_plain(finding.mend, colour)}"


def _brief(finding: Finding) -> str:
    """A fine part in few words: of what everybody has, its name is enough."""
    if finding.group == "software":
        return finding.part
    return f"{finding.part}: {finding.words}"


def _coloured(text: str, colour: str, wanted: bool) -> str:
    return f"[{colour}]{text}[/]" if wanted else text


def _plain(text: str, wanted: bool) -> str:
    # A bracket in somebody's device name is no colour.
    return text.replace("[", r"\[") if wanted else text


def _print(found: Sequence[Finding]) -> None:
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
    for line in lines(found, colour=True):
        console.print(line)


def verdict(found: Iterable[Finding]) -> int:
    """Exit status: 1 if a part that even the simulated table needs is not fine."""
    return int(any(finding.needed and finding.state != "fine" for finding in found))


def _closing(found: Sequence[Finding]) -> str:
    if verdict(found):
        return "Something that even the simulated table needs is not fine: see the lines marked needed."
    absent = [finding.part for finding in found if finding.state != "fine"]
    if absent:
        return "The simulated table runs here (referee demo). A real table also needs: " + ", ".join(absent) + "."
    return "Everything is here for a real table: referee run --settings FILE."


def short_report(found: Sequence[Finding]) -> tuple[str, bool]:
    """What is not fine, in lines, and whether that is nothing."""
    wrong = [finding for finding in found if finding.state != "fine"]
    out = [f"{len(found) - len(wrong)} parts are fine."]
    out += [f"{finding.state}: {finding.part}: {finding.words}\n    → {finding.mend}" for finding in wrong]
    return "\n".join(out), not wrong


def doctor(*, as_json: bool = False, settings: Path | None = None) -> int:
    """Print how every part stands; returns the exit status."""
    found = list(findings(settings=settings))
    if as_json:
        json.dump([asdict(finding) for finding in found], sys.stdout, indent=2, ensure_ascii=False)
        sys.stdout.write("\n")
        return verdict(found)
    try:
        _print(found)
    except ImportError:
        print("\n".join(lines(found)))
    print(_closing(found))
    return verdict(found)
