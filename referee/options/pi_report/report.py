"""`referee pi-report`: one zip that tells how the referee's machine is made and how fast it is, without names.

``report.json`` holds every part by its name: ``about`` (what it says), ``seconds`` (how long it took), and ``found``,
or else ``absent`` with the reason. Names of values end in their unit. `VERSION` counts changes of this form.
``report.md`` has the same for people. A picture is in it only if asked for.

No part can end the report: whatever it raises, or that it does not answer, is its reason.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

from referee.errors import UserError
from referee.options.pi_report import looks, measurements
from referee.options.pi_report.scrub import Scrubber, find_secrets
from referee.options.pi_report.subject import Subject
from referee.record.certificates import program_version
from referee.sentence import Sentence
from referee.settings.model import load_settings
from referee.settings.places import find_settings
from referee.setup.check import Check
from referee.setup.doctor import report_lines
from referee.setup.doctor.probe import this_machine
from referee.text.terminal_language import speaking, translate

VERSION: Final = 1
"""Version of the form of `report.json`."""
NAME: Final = "pi-report.zip"


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the report."""

    name: str
    title: str
    look: Callable[[Subject], Any]
    limit: float = 30.0
    """Time limit, s: a driver may hang."""

    @property
    def about(self) -> str:
        """Its meaning, in English as the report itself: the first sentence about its function."""
        return " ".join((self.look.__doc__ or "").partition("\n\n")[0].split()).removeprefix("Return ")


PARTS: Final = (
    Part("board", Sentence("board and system"), looks.look_at_board),
    Part("software", Sentence("software"), looks.look_at_software),
    Part("pins", Sentence("pins of the header"), looks.look_at_pins),
    Part("chips", Sentence("GPIO chips"), looks.look_at_chips),
    Part("power", Sentence("power and heat"), looks.look_at_power),
    Part("sensor", Sentence("the camera's modes and controls"), looks.look_at_sensor, 60.0),
    Part("frames", Sentence("the camera's frames"), measurements.measure_frames, 90.0),
    Part("eye", Sentence("eye"), measurements.measure_eyes, 240.0),
    # The processor has worked meanwhile.
    Part("power_after", Sentence("power and heat"), looks.look_at_power),
    Part("sound", Sentence("sound"), looks.look_at_sound),
    Part("disk", Sentence("disk"), measurements.measure_disk, 60.0),
    Part("loop", Sentence("loop of wire"), measurements.measure_loop, 120.0),
    Part("doctor", Sentence("the doctor's look at every part"), measurements.ask_doctor, 120.0),
)


def pi_report(out: Path, settings: Path | None, loop: Sequence[int] | None, *, pictures: bool) -> int:
    """Write the report of this machine; return the exit status.

    Raises:
        UserError: the file cannot be written, or the loop's pins cannot be joined.
    """
    machine = this_machine()
    pins = None if loop is None else (loop[0], loop[1])
    if pins is not None:
        measurements.check_loop(machine.root, *pins)
    path = settings or find_settings()
    try:
        table = load_settings(path) if path.exists() else None
    except UserError:
        # The doctor names the mistake.
        table = None
    if pins is not None:
        print("\n".join(map(translate, measurements.wiring_words(*pins))))
        if sys.stdin.isatty():
            input(translate(Sentence("Enter: the wire is there. Ctrl-C: it is not.")))
    subject = Subject(machine, path, table, pins, pictures)
    write_report(out, subject, os.environ)
    print(out.absolute())
    print(translate(Sentence("Look through report.md in this file, then send the file to the maintainers.")))
    return 0


def write_report(out: Path, subject: Subject, environment: Mapping[str, str]) -> None:
    """Look at a machine part by part, and write the zip; progress goes to the terminal."""
    parts = {}
    for number, part in enumerate(PARTS, start=1):
        print(
            translate(Sentence("{done} of {total}: {part}", done=number, total=len(PARTS), part=part.title)), flush=True
        )
        parts[part.name] = look_at(part, subject)
    scrubber = Scrubber(
        find_secrets(subject.machine, environment, subject.settings, subject.path),
        [version for _, version, _ in looks.packages()],
    )
    head = {"report": "table-referee pi-report", "version": VERSION, "referee": program_version(),
            "made": date.today().isoformat()}  # fmt: skip
    told = {**head, "parts": scrubber.clean_all(parts)}
    files: dict[str, str | bytes] = {
        "report.json": json.dumps(told, indent=1, ensure_ascii=False) + "\n",
        "report.md": "\n".join(to_markdown(told)) + "\n",
    }
    if subject.picture is not None:
        import cv2

        files["picture.jpg"] = cv2.imencode(".jpg", subject.picture)[1].tobytes()
    try:
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
    except OSError as error:
        raise UserError("{folder} cannot be written ({why})", folder=out, why=error.strerror or error) from None


def look_at(part: Part, subject: Subject) -> dict[str, Any]:
    """Return what a part found, or why it found nothing. A part that does not answer in time is left behind."""
    found: list[dict[str, Any]] = []

    def look() -> None:
        try:
            found.append({"found": part.look(subject)})
        except UserError as error:
            found.append({"absent": str(error)})
        except Exception as error:  # an unknown part of the machine may raise anything
            found.append({"absent": f"{type(error).__name__}: {error}"})

    begun = time.monotonic()
    worker = threading.Thread(target=look, name=part.name, daemon=True)
    worker.start()
    worker.join(part.limit)
    took = {"about": part.about, "seconds": round(time.monotonic() - begun, 1)}
    return {**took, **(found[0] if found else {"absent": f"no answer within {part.limit:g} s"})}


def to_markdown(told: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a report for people."""
    yield f"# {told['report']} {told['version']}"
    yield f"\nreferee {told['referee']}, {told['made']}. Units stand at the end of each name."
    for name, part in told["parts"].items():
        yield f"\n## {name}\n\n{part['about']} ({part['seconds']} s)\n"
        if "absent" in part:
            yield f"Not here: {part['absent']}"
        elif name == "doctor":
            with speaking("en"):
                yield from ("```text", *report_lines([Check(**finding) for finding in part["found"]]), "```")
        else:
            yield from _bullets(part["found"], "")


def _bullets(value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            if isinstance(part, (Mapping, list)) and part and not _is_flat(part):
                yield f"{indent}- {name}:"
                yield from _bullets(part, f"{indent}  ")
            else:
                yield f"{indent}- {name}: {_in_line(part)}"
    elif isinstance(value, list):
        for part in value:
            yield f"{indent}- {_in_line(part)}"
    else:
        yield f"{indent}- {value}"


def _is_flat(value: Any) -> bool:
    """Whether a value fits into one line: a few numbers or words."""
    parts = list(value.values()) if isinstance(value, Mapping) else value
    return all(isinstance(part, (int, float)) or part is None for part in parts)


def _in_line(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_in_line(part)}" for name, part in value.items() if part not in ("", None))
    if isinstance(value, list):
        return " ".join(map(_in_line, value))
    return str(value)
