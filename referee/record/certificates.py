"""Certificates: what a table measured of itself before a session, kept with its games.

A certificate holds for one machine, its version of the referee, and the settings that what was measured depends on. It
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
from referee.text.catalogue import Texts

FOLDER: Final = "certificates"
_MACHINE: Final = (Path("/sys/firmware/devicetree/base/serial-number"), Path("/etc/machine-id"))
"""Where a machine's number may stand, that of the hardware first: a card may be put into another machine."""
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
"""Sections of the settings on which something that is measured depends."""
_LATER: Final = {
    "voice": {"volume", "quiet_from", "quiet_to", "quiet_volume", "cards", "language"},
    "record": {"pictures_cap_mb"},
}
"""Keys of theirs that people change between games, and that nothing measured depends on."""

GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "pads": ("roll_call", "order", "bounce", "crosstalk"),
    "camera": ("focus", "exposure", "flicker", "look", "offset"),
    "quickness": ("light", "sound"),
    "machine": ("clock", "disk", "seal", "no_game", "versions"),
}
"""Keys of a certificate's lines by their group, in the order in which they are shown."""

Figure = float | str
StandingWord = Literal["none", "failed", "other_machine", "other_version", "other_settings", "passed"]


@dataclass(frozen=True, slots=True)
class CertificateLine:
    """One thing that was required and measured."""

    key: str
    """Of its texts: ``certificate.KEY.name``, ``.required``, ``.measured``, ``.mend``."""
    passed: bool
    limits: Mapping[str, Figure] = field(default_factory=dict)
    """Fields of ``.required``."""
    measured: Mapping[str, Figure] = field(default_factory=dict)
    """Fields of ``.measured``, and of ``.mend``."""
    why_not: str = ""
    """Why it was not measured: a key of ``certificate.why``, or a device's words in English; empty where it was."""

    def name(self, texts: Texts) -> str:
        """What was measured."""
        return texts(f"certificate.{self.key}.name")

    def required(self, texts: Texts) -> str:
        """What is required."""
        if self.why_not and not self.limits:
            # The camera's limit is what its frames state, and there were none.
            return texts.get(f"certificate.{self.key}.unknown", texts(f"certificate.{self.key}.required"))
        return texts(f"certificate.{self.key}.required", **_written(self.limits, texts))

    def found(self, texts: Texts) -> str:
        """What was measured of it."""
        if self.why_not:
            return texts("certificate.not_measured")
        return texts(f"certificate.{self.key}.measured", **_written(self.measured, texts))

    def mend(self, texts: Texts) -> str:
        """What to do; nothing where it passed."""
        if self.passed:
            return ""
        if self.why_not:
            return texts.get(f"certificate.why.{self.why_not}", self.why_not)
        return texts(f"certificate.{self.key}.mend", **_written({**self.limits, **self.measured}, texts))


def _written(figures: Mapping[str, Figure], texts: Texts) -> dict[str, str]:
    """Figures as the language writes them, with the digits that they have."""
    return {
        name: value if isinstance(value, str) else texts.number(value, _digits(value))
        for name, value in figures.items()
    }


def _digits(value: float) -> int:
    return 0 if isinstance(value, int) else len(f"{value}".partition(".")[2])


@dataclass(frozen=True, slots=True)
class Certificate:
    """Everything that was required and measured at one time."""

    at: str
    """Wall time, ISO 8601."""
    machine: str
    """A mark of this machine that tells nobody which one it is."""
    version: str
    settings: str
    """A mark of the settings that matter."""
    lines: tuple[CertificateLine, ...]
    simulated: bool = False
    seats: tuple[str, ...] = ()
    urgency: str = ""
    """How far the machine prefers the referee, in English."""

    @property
    def passed(self) -> bool:
        """Whether every line did."""
        return all(line.passed for line in self.lines)

    @property
    def failed(self) -> list[CertificateLine]:
        """The lines that did not."""
        return [line for line in self.lines if not line.passed]


def machine_mark(places: Sequence[Path] = _MACHINE) -> str:
    """A mark of this machine; empty where it has no number of its own."""
    for place in places:
        try:
            number = place.read_text(encoding="ascii").strip("\0 \n")
        except (OSError, UnicodeDecodeError):
            continue
        if number:
            return _mark(f"table-referee {number}")
    return ""


def settings_mark(settings: Settings) -> str:
    """A mark of what the settings hold that a measurement depends on."""
    told = settings.model_dump(mode="json", include=set(_DEPENDS))
    for section, keys in _LATER.items():
        told[section] = {key: value for key, value in told[section].items() if key not in keys}
    # A pad stays the same when somebody else sits at it.
    told["seats"] = [{key: seat[key] for key in ("pad", "light", "bearing")} for seat in told["seats"]]
    return _mark(json.dumps(told, sort_keys=True))


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def program_version() -> str:
    """Of the referee that is installed here."""
    try:
        return version("table-referee")
    except PackageNotFoundError:
        return "unknown"


def certificates_folder(settings: Settings) -> Path:
    """Where the certificates of a table lie: with its games, or where its games would be."""
    return beside_record(Path(settings.record.file).expanduser() if settings.record.file else Path("games/record.db"))


def beside_record(record: Path) -> Path:
    """Where the certificates lie that belong to a record."""
    return record.parent / FOLDER


def save_certificate(folder: Path, certificate: Certificate, page: str) -> Path:
    """Keep a certificate and its page (HTML); gives where the page is.

    Raises:
        UserError: the folder cannot be written.
    """
    stem = certificate.at.replace(":", "").replace("+", "p")
    path = folder / f"{stem}.html"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
        # The file that counts comes last, and whole.
        part = folder / f"{stem}.part"
        part.write_text(json.dumps(asdict(certificate), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        part.replace(folder / f"{stem}.json")
    except OSError as bad:
        raise UserError(
            "{folder} cannot be written ({why}): see that the games' folder may be written",
            folder=folder,
            why=bad.strerror,
        ) from None
    return path


def latest_certificate(folder: Path, *, simulated: bool = False) -> Certificate | None:
    """The certificate of a real table, or of the simulated one, that was made last; None where there is none."""
    found: list[Certificate] = []
    for path in folder.glob("*.json"):
        # Damaged, or of a newer program: another one still stands.
        with suppress(OSError, ValueError, TypeError, KeyError):
            found.append(_read(json.loads(path.read_text(encoding="utf-8"))))
    # A file's own time is that of its being copied, where a backup was brought back.
    mine = (one for one in found if one.simulated == simulated)
    return max(mine, key=lambda one: datetime.fromisoformat(one.at).timestamp(), default=None)


def _read(told: Mapping[str, Any]) -> Certificate:
    datetime.fromisoformat(told["at"])
    lines = tuple(CertificateLine(**line) for line in told["lines"])
    return Certificate(**{**told, "lines": lines, "seats": tuple(told["seats"])})


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a table is certified as it is now, and why not."""

    word: StandingWord
    certificate: Certificate | None = None

    @property
    def is_certified(self) -> bool:
        """Whether the latest certificate passed, and holds for this machine, program and settings."""
        return self.word == "passed"

    def words(self, texts: Texts) -> str:
        """In a sentence."""
        return standing_words(standing_facts(self), texts)


def standing_facts(standing: Standing) -> dict[str, str]:
    """How a table stands, in plain values that another process can read; ``failed`` are keys of lines."""
    found = standing.certificate
    if found is None:
        return {"word": standing.word}
    return {"word": standing.word, "at": found.at, "failed": " ".join(line.key for line in found.failed)}


def standing_words(facts: Mapping[str, str], texts: Texts) -> str:
    """What `standing_facts` gave, in a sentence."""
    failed = ", ".join(texts(f"certificate.{key}.name") for key in facts.get("failed", "").split())
    at = facts.get("at", "")[:16].replace("T", " ")
    return texts(f"certificate.standing.{facts['word']}", at=at, failed=failed)


def find_standing(settings: Settings, *, machine: str | None = None, program: str | None = None) -> Standing:
    """How a table stands; ``machine`` and ``program`` stand for this machine's mark and this program's version."""
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
