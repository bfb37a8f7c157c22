"""Certificates: a table's measurements of itself before a session, kept with its games.

A certificate holds for one machine, its version of the referee, and the settings on which the measurements depend. It
is a JSON file in the folder `FOLDER` beside the record; `Standing` says whether the latest one still holds. Its lines
hold keys and numbers, which `referee.text.catalogue` puts into words (``[certificate]``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, Literal

from referee.errors import UserError
from referee.settings.model import Settings
from referee.settings.places import record_at
from referee.text.catalogue import Texts

FOLDER: Final = "certificates"
_MACHINE: Final = (Path("/sys/firmware/devicetree/base/serial-number"), Path("/etc/machine-id"))
"""Places of a machine's serial number, that of the hardware first: a card may be put into another machine."""
_DEPENDS: Final = (
    "seats",
    "camera",
    "eye",
    "pads",
    "lights",
    "voice",
    "record",
    "deck",
    "calibration",
    "pads_measured",
)
"""Sections of the settings on which measurements depend."""
_LATER: Final = {
    "voice": {"volume", "quiet_from", "quiet_to", "quiet_volume", "cards", "language"},
    "record": {"pictures_cap_mb"},
}
"""Keys in these sections that people change between games, and on which no measurement depends."""

GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "pads": ("roll_call", "order", "bounce", "crosstalk"),
    "camera": ("focus", "exposure", "flicker", "look", "offset"),
    "quickness": ("light", "sound"),
    "machine": ("clock", "disk", "seal", "no_game", "versions"),
}
"""Keys of a certificate's lines by their group, in the order in which they are shown."""

Figure = float | str
StandingWord = Literal["none", "failed", "other_machine", "other_version", "other_settings", "passed"]


_COMMANDS: Final[Mapping[str, str]] = {
    "order": "referee setup --step pads", "focus": "referee calibrate", "exposure": "referee calibrate",
    "flicker": "referee calibrate", "look": "referee setup --step camera", "light": "make install-appliance",
    "seal": "referee games --check",
}  # fmt: skip
"""The command that mends a line, if there is one."""


@dataclass(frozen=True, slots=True)
class CertificateLine:
    """One requirement and its measurement."""

    key: str
    """Key of its texts: ``certificate.KEY.name``, ``.required``, ``.measured``, ``.mend``."""
    passed: bool
    limits: Mapping[str, Figure] = field(default_factory=dict)
    """Fields of ``.required``."""
    measured: Mapping[str, Figure] = field(default_factory=dict)
    """Fields of ``.measured``, and of ``.mend``."""
    why_not: str = ""
    """Why it was not measured: a key of ``certificate.why``, or a device's words in English; empty if it was."""

    def name(self, texts: Texts) -> str:
        """Return the name of the measurement."""
        return texts(f"certificate.{self.key}.name")

    def required(self, texts: Texts) -> str:
        """Return the requirement in words."""
        if self.why_not and not self.limits:
            # The camera's limit comes from its frames, and there were none.
            return texts.get(f"certificate.{self.key}.unknown", texts(f"certificate.{self.key}.required"))
        return texts(f"certificate.{self.key}.required", **_written(self.limits, texts))

    def found(self, texts: Texts) -> str:
        """Return the measurement in words."""
        if self.why_not:
            return texts("certificate.not_measured")
        return texts(f"certificate.{self.key}.measured", **_written(self.measured, texts))

    def mend(self, texts: Texts) -> str:
        """Return what to do; empty if the line passed."""
        if self.passed:
            return ""
        if self.why_not:
            return texts.get(f"certificate.why.{self.why_not}", self.why_not)
        return texts(f"certificate.{self.key}.mend", **_written({**self.limits, **self.measured}, texts))

    @property
    def command(self) -> str:
        """Return the command that helps to mend it; empty if it passed, or no command does."""
        if self.passed:
            return ""
        return "referee doctor" if self.why_not else _COMMANDS.get(self.key, "")


def _written(figures: Mapping[str, Figure], texts: Texts) -> dict[str, str]:
    """Return the figures in the language's notation, with their own number of digits."""
    return {
        name: value if isinstance(value, str) else texts.number(value, _digits(value))
        for name, value in figures.items()
    }


def _digits(value: float) -> int:
    return 0 if isinstance(value, int) else len(f"{value}".partition(".")[2])


@dataclass(frozen=True, slots=True)
class Certificate:
    """All requirements and measurements of one certification."""

    at: str
    """Wall-clock time, ISO 8601."""
    machine: str
    """Hash that identifies this machine without revealing its serial number."""
    version: str
    settings: str
    """Hash of the settings that matter."""
    lines: tuple[CertificateLine, ...]
    simulated: bool = False
    seats: tuple[str, ...] = ()
    urgency: str = ""
    """The priority that the machine gives the referee, in English."""

    @property
    def passed(self) -> bool:
        """Whether every line passed."""
        return all(line.passed for line in self.lines)

    @property
    def failed(self) -> list[CertificateLine]:
        """The lines that failed."""
        return [line for line in self.lines if not line.passed]


def machine_mark(places: Sequence[Path] = _MACHINE) -> str:
    """Return a hash that identifies this machine; empty if it has no serial number."""
    for place in places:
        try:
            number = place.read_text(encoding="ascii").strip("\0 \n")
        except (OSError, UnicodeDecodeError):
            continue
        if number:
            return _mark(f"table-referee {number}")
    return ""


def settings_mark(settings: Settings) -> str:
    """Return a hash of the settings on which measurements depend."""
    told = settings.model_dump(mode="json", include=set(_DEPENDS))
    for section, keys in _LATER.items():
        told[section] = {key: value for key, value in told[section].items() if key not in keys}
    # A pad stays the same when another player sits at it.
    told["seats"] = [{key: seat[key] for key in ("pad", "light", "bearing")} for seat in told["seats"]]
    return _mark(json.dumps(told, sort_keys=True))


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def program_version() -> str:
    """Return the version of the installed referee."""
    try:
        return version("table-referee")
    except PackageNotFoundError:
        return "unknown"


def certificates_folder(settings: Settings) -> Path:
    """Return the folder of a table's certificates: beside its games, or where its games would be."""
    return beside_record(settings.record_file or record_at())


def beside_record(record: Path) -> Path:
    """Return the folder of the certificates that belong to a record."""
    return record.parent / FOLDER


def save_certificate(folder: Path, certificate: Certificate, page: str) -> Path:
    """Store a certificate and its page (HTML); return the page's path.

    Raises:
        UserError: the folder cannot be written.
    """
    stem = certificate.at.replace(":", "").replace("+", "p")
    path = folder / f"{stem}.html"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
        # The JSON file counts: write it last, and atomically.
        part = folder / f"{stem}.part"
        part.write_text(json.dumps(asdict(certificate), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        part.replace(folder / f"{stem}.json")
    except OSError as error:
        raise UserError(
            "{folder} cannot be written ({why}): see that the games' folder may be written",
            folder=folder,
            why=error.strerror,
        ) from None
    return path


def latest_certificate(folder: Path, *, simulated: bool = False) -> Certificate | None:
    """Return the latest certificate of a real table, or of the simulated one; None if there is none."""
    found: list[Certificate] = []
    for path in folder.glob("*.json"):
        # Skip one that is damaged or of a newer program: another one still counts.
        with suppress(OSError, ValueError, TypeError, KeyError):
            found.append(_read(json.loads(path.read_text(encoding="utf-8"))))
    # Not the file's own time: a restored backup has the time of the copy.
    mine = (certificate for certificate in found if certificate.simulated == simulated)
    return max(mine, key=lambda certificate: datetime.fromisoformat(certificate.at).timestamp(), default=None)


def _read(told: Mapping[str, Any]) -> Certificate:
    datetime.fromisoformat(told["at"])
    lines = tuple(CertificateLine(**line) for line in told["lines"])
    return Certificate(**{**told, "lines": lines, "seats": tuple(told["seats"])})


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a table is certified in its present state, and why not."""

    word: StandingWord
    certificate: Certificate | None = None

    @property
    def is_certified(self) -> bool:
        """Whether the latest certificate passed, and holds for this machine, program and settings."""
        return self.word == "passed"

    def words(self, texts: Texts) -> str:
        """Return it in a sentence."""
        return standing_words(standing_facts(self), texts)


def standing_facts(standing: Standing) -> dict[str, str]:
    """Return a standing in plain values that another process can read; ``failed`` are keys of lines."""
    found = standing.certificate
    if found is None:
        return {"word": standing.word}
    return {"word": standing.word, "at": found.at, "failed": " ".join(line.key for line in found.failed)}


def standing_words(facts: Mapping[str, str], texts: Texts) -> str:
    """Return the result of `standing_facts` in a sentence."""
    failed = ", ".join(texts(f"certificate.{key}.name") for key in facts.get("failed", "").split())
    at = facts.get("at", "")[:16].replace("T", " ")
    return texts(f"certificate.standing.{facts['word']}", at=at, failed=failed)


def find_standing(settings: Settings, *, machine: str | None = None, program: str | None = None) -> Standing:
    """Return a table's standing; ``machine`` and ``program`` replace this machine's hash and this program's version."""
    latest = latest_certificate(certificates_folder(settings))
    if latest is None:
        return Standing("none")
    if latest.machine != (machine_mark() if machine is None else machine):
        return Standing("other_machine", latest)
    if latest.version != (program_version() if program is None else program):
        return Standing("other_version", latest)
    if latest.settings != settings_mark(settings):
        return Standing("other_settings", latest)
    return Standing("passed" if latest.passed else "failed", latest)
