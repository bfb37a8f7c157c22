"""`referee doctor`: list the parts that are present or missing, and the commands that repair them.

A part is *needed* if even the simulated table cannot do without it; only a needed part that is not fine sets the exit
status to 1. Every check is short, closes its devices at once, and never raises.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import Path
from typing import Final

from referee.sentence import Sentence
from referee.settings.places import find_settings
from referee.setup.check import COLOURS, Check
from referee.setup.doctor.device_health import check_camera, check_header, check_sound
from referee.setup.doctor.machine import check_machine, check_table
from referee.setup.doctor.pad_health import check_plugged_pads
from referee.setup.doctor.probe import Machine, check_software, this_machine
from referee.text.terminal_language import translate

_USUAL: Final = Path("table.toml")
_STATES: Final = {"fine": Sentence("fine"), "missing": Sentence("missing"), "broken": Sentence("broken")}


def doctor(*, as_json: bool = False, settings: Path | None = None) -> int:
    """Print the state of every part; return the exit status."""
    path = settings or _usual_settings()
    found = list(examine(settings=path))
    if as_json:
        print(json.dumps([asdict(finding) for finding in found], indent=2, ensure_ascii=False))
        return exit_status(found)
    try:
        from rich.console import Console

        console = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
        for words in describe_ways(found, path):
            console.print(translate(words), markup=False)
        for line in report_lines(found, colour=True):
            console.print(line)
    except ImportError:
        print("\n".join([*map(translate, describe_ways(found, path)), *report_lines(found)]))
    return exit_status(found)


def examine(machine: Machine | None = None, settings: Path | None = None) -> Iterator[Check]:
    """Yield the finding of every part, those that the simulated table needs first.

    Args:
        machine: the machine to check; None: this one (`this_machine`).
        settings: the settings to check; None: those that `find_settings` finds.
    """
    host = this_machine() if machine is None else machine
    known, table = check_table(settings or _usual_settings())
    for group, found in (
        (Sentence("software"), check_software()),
        (Sentence("table"), table),
        (Sentence("pads and lights"), check_header(host, known)),
        (Sentence("pads and lights"), check_plugged_pads(host, known)),
        (Sentence("camera"), check_camera(host, known)),
        (Sentence("sound"), check_sound(host, known)),
        (Sentence("machine"), check_machine(host, known)),
    ):
        yield from (replace(finding, group=group) for finding in found)


def _usual_settings() -> Path:
    """Return the settings to check if none are named."""
    usual = find_settings()
    return usual if usual.exists() else _USUAL


def describe_ways(found: Sequence[Check], settings: Path) -> Iterator[str]:
    """Yield what can be played on this machine, a sentence for each way, and what each still needs.

    Args:
        found: every part.
        settings: the table's file, which was checked.
    """
    if exit_status(found):
        yield Sentence("Something that even the simulated table needs is not fine: see the lines marked needed.")
        return
    absent = [finding.part for finding in found if finding.state != "fine"]
    yield Sentence("A simulated table: ready (referee demo).")
    if "camera" in absent:
        yield Sentence("An evening with phones or keys: ready (referee play). No camera is here: a phone can be one.")
    else:
        yield Sentence("An evening with a camera and phones or keys: ready (referee play).")
    if absent:
        yield Sentence("A table with pads: needs {absent}.", absent=absent)
    else:
        yield Sentence("A table with pads: ready (referee run --settings {path}).", path=settings)


def report_lines(found: Sequence[Check], *, colour: bool = False) -> Iterator[str]:
    """Yield the report: for each group one line of fine parts, then a line with a remedy for each other part."""

    def paint(text: str, shade: str) -> str:
        return f"[{shade}]{text}[/]" if colour else text

    def plain(text: str) -> str:
        # A bracket in a device's name is not markup.
        return text.replace("[", r"\[") if colour else text

    for group, parts in groupby(found, key=lambda finding: finding.group):
        heading = translate(group)
        yield paint(heading[:1].upper() + heading[1:], "bold")
        listed = list(parts)
        # For software, which every installation has, the name is enough.
        fine = [
            translate(item.part) if group == "software" else f"{translate(item.part)}: {plain(translate(item.words))}"
            for item in listed
            if item.state == "fine"
        ]
        if fine:
            state = paint(f"{translate(_STATES['fine']):<8}", "green")
            yield f"  {state} {', '.join(fine)}"
        for check in listed:
            if check.state != "fine":
                state = paint(f"{translate(_STATES[check.state]):<8}", "red" if check.needed else COLOURS[check.state])
                needed = f" ({translate('needed')})" if check.needed else ""
                yield f"  {state} {plain(translate(check.part))}{needed}: {plain(translate(check.words))}"
                yield f"           → {plain(translate(check.mend))}"


def exit_status(found: Iterable[Check]) -> int:
    """Return the exit status: 1 if a part that even the simulated table needs is not fine."""
    return int(any(finding.needed and finding.state != "fine" for finding in found))


def short_report(found: Sequence[Check]) -> tuple[str, bool]:
    """Return the parts that are not fine, in lines, and whether there are none."""
    wrong = [finding for finding in found if finding.state != "fine"]
    words: str = Sentence("{count} parts are fine.", count=len(found) - len(wrong))
    for check in wrong:
        words = Sentence(
            "{before}\n{state}: {part}: {words}\n    → {mend}",
            before=words, state=_STATES[check.state], part=check.part, words=check.words, mend=check.mend,
        )  # fmt: skip
    return words, not wrong
