"""Scenarios: small games in plain words, and their expected rulings.

``tests/scenarios/README.md`` explains the format for authors. This module reads the files, plays a
scenario through the referee, and lists its failures.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from referee.engine.adjudicator import Adjudicator
from referee.engine.log import from_fields
from referee.engine.observations import MAX_ERROR, LogError, Observation
from referee.engine.replay import outline_log
from referee.engine.rulings import Ruling
from referee.rules.cards import is_card
from referee.rules.house import read_house_rules
from referee.rules.presets import PRESETS
from tests.support.log_format import problems

FOLDER: Final = Path(__file__).parent.parent / "scenarios"
TABLE: Final = "Ana Ben Cho; Cho deals"
MS: Final = 1_000_000
_KEYS: Final = {"title", "table", "rules", "play", "rulings", "never", "refused", "deciding"}


class SceneError(ValueError):
    """A scenario that cannot be read; names the scenario and the line."""


@dataclass(frozen=True)
class Scene:
    """One scenario: the table, the house rules, the play, and the required and forbidden rulings."""

    where: str
    title: str
    table: str
    rules: Any
    play: str
    rulings: tuple[str, ...]
    never: tuple[str, ...]
    refused: str = ""
    """Words of the error with which the whole log is refused."""
    deciding: tuple[str, str] | None = None
    deciding_rules: Any = None

    def with_rules(self, rules: Any) -> Scene:
        """Return the same play under other house rules."""
        return replace(self, rules=rules)

    def with_deciding_fact_changed(self) -> Scene:
        """Return the same scenario with its one deciding fact changed.

        Raises:
            SceneError: none is named, or it does not occur exactly once in the table and the play.
        """
        if self.deciding_rules is not None:
            return self.with_rules(self.deciding_rules)
        if self.deciding is None:
            raise SceneError(f'{self.where}: "deciding" must name the fact and what to put in its place')
        old, new = self.deciding
        if self.table.count(old) + self.play.count(old) != 1:
            raise SceneError(f"{self.where}: {old!r} must stand exactly once in the table and the play")
        return replace(self, table=self.table.replace(old, new), play=self.play.replace(old, new))


@dataclass(frozen=True)
class Sheet:
    """A file of scenarios about one row, or about one preset."""

    path: Path
    row: str
    sources: str
    applies: tuple[Scene, ...]
    just_not: tuple[Scene, ...]
    instead: Any
    """House rules that stand for "switched off" where the row is a whole game."""
    cannot_be_off: str
    """Why the row cannot be switched off; empty where it can."""


def sheets(folder: Path = FOLDER) -> list[Sheet]:
    """Return all files of a folder, by name."""
    return [read(path) for path in sorted(folder.glob("*.toml"))]


def read(path: Path) -> Sheet:
    """Read one file.

    Raises:
        SceneError: a key is unknown or missing; names the file.
    """
    said = tomllib.loads(path.read_text(encoding="utf-8"))
    row = path.stem
    rules = said.pop("rules", None)
    if rules is None and path.parent != FOLDER:
        rules = row if row in PRESETS else "classic"
    elif rules is None:
        rules = (
            "classic" if row[0] == "G" or row in read_house_rules("classic").on else {"base": "classic", "on": [row]}
        )
    sheet = Sheet(
        path=path,
        row=row,
        sources=said.pop("sources", ""),
        applies=_scenes(path, "applies", said.pop("applies", []), rules),
        just_not=_scenes(path, "just_not", said.pop("just_not", []), rules),
        instead=said.pop("instead", None),
        cannot_be_off=said.pop("cannot_be_off", ""),
    )
    if said:
        raise SceneError(f"{path.name}: there is no key {', '.join(said)} in a file of scenarios")
    return sheet


def _scenes(path: Path, part: str, said: list[dict[str, Any]], rules: Any) -> tuple[Scene, ...]:
    scenes = []
    for number, case in enumerate(said, start=1):
        where = f"{path.name}, {part} {number}"
        if (
            not set(case) <= _KEYS
            or not {"title", "play"} <= set(case)
            or not {"rulings", "never", "refused"} & set(case)
        ):
            raise SceneError(
                f"{where}: title, play, and rulings, never or refused must be there; table, rules, deciding may be"
            )
        deciding = case.get("deciding", {})
        scenes.append(
            Scene(
                where=where,
                title=case["title"],
                table=case.get("table", TABLE),
                rules=case.get("rules", rules),
                play=case["play"],
                rulings=_lines(case.get("rulings", "")),
                never=_lines(case.get("never", "")),
                refused=case.get("refused", ""),
                deciding=(deciding["fact"], deciding["instead"]) if "fact" in deciding else None,
                deciding_rules=deciding.get("rules"),
            )
        )
    return tuple(scenes)


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def switched_off(rules: Any, row: str) -> Any:
    """Return the same house rules without one row."""
    said = {"base": rules} if isinstance(rules, str) else dict(rules)
    said["on"] = [other for other in said.get("on", []) if other != row]
    said["off"] = [*said.get("off", []), row]
    return said


# People's actions in words. Each pattern gives the fields of an observation.

_NUMBER: Final = r"\d+(?:\.\d+)?"


_JOINS: Final = re.compile(r"(\w+) joins(?: at pad (\d))?")


class _Names:
    """Players by name; a new player gets the next seat, or that of the pad, and may be named before joining."""

    def __init__(self, names: Iterable[str], lines: Iterable[str]) -> None:
        self.names = list(names)
        for found in filter(None, (_JOINS.fullmatch(line.partition(" ")[2]) for line in lines)):
            if found[1] not in self.names:
                seat = int(found[2] or len(self.names) + 1)
                self.names += [f"nobody{free}" for free in range(len(self.names) + 1, seat)] + [found[1]]

    def seat(self, name: str) -> int:
        if name not in self.names:
            raise SceneError(f"no player at this table is called {name}")
        return self.names.index(name) + 1

    def seat_or_none(self, name: str) -> int | None:
        return None if name == "somebody" else self.seat(name)


def _value(text: str, names: _Names) -> Any:
    """Return an answer's value: a player, a card, or any JSON."""
    if text in names.names:
        return names.seat(text)
    if is_card(text):
        return text
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _correction(found: re.Match[str], names: _Names) -> dict[str, Any]:
    value = _value(found[2], names)
    field = "card" if isinstance(value, str) else "seat"
    return {"kind": "correct", "line": found[1], field: value}


def _burned(found: re.Match[str], names: _Names) -> dict[str, Any]:
    words = found[2].split()
    cards = [word for word in words if is_card(word)]
    count = len(cards) or int(words[0])
    return {"kind": "placed", "seat": names.seat(found[1]), "count": count, "where": found[3], "cards": cards}


def _contest(found: re.Match[str], names: _Names) -> dict[str, Any]:
    by = [names.seat(name) for name in re.split(r", | and ", found[1])]
    fields: dict[str, Any] = {"kind": "contest", "by": by, "against": names.seat(found[2])}
    return {**fields, "ruling": found[3]} if found[3] else fields


def _blind(found: re.Match[str], names: _Names) -> dict[str, Any]:
    lying = [] if found[2] == "nothing" else [found[2]]
    return {"kind": "gap", "until": round(float(found[1]) * 1000 * MS), "lying": lying}


_SENTENCES: Final[tuple[tuple[str, Callable[[re.Match[str], _Names], dict[str, Any]]], ...]] = (
    (r"(\w+) lays (\S+)", lambda m, n: {"kind": "card", "card": m[2], "seat": n.seat_or_none(m[1])}),
    (r"(\w+) shows (\S+)", lambda m, n: {"kind": "card", "card": m[2], "seat": n.seat(m[1]), "zone": "seat"}),
    (r"(\w+) slaps", lambda m, n: {"kind": "slap", "seat": n.seat(m[1])}),
    (r"(\w+) lifts", lambda m, n: {"kind": "lift", "seat": n.seat(m[1])}),
    (r"(\w+) takes the pile", lambda m, n: {"kind": "taken", "seat": n.seat_or_none(m[1])}),
    (r"(\w+) burned (.+) at the (bottom|top)", _burned),
    (r"(\w+) is reported: (\w+)", lambda m, n: {"kind": "foul", "seat": n.seat(m[1]), "foul": m[2]}),
    (r"(.+) contests? (\w+)(?: for (\S+))?", _contest),
    (
        r"people answer (\S+): (.+)",
        lambda m, n: {"kind": "answer", "to": f"question@{m[1]}", "value": _value(m[2], n)},
    ),
    (r"people correct (\S+): (.+)", _correction),
    (r"people take up (\S+)", lambda m, n: {"kind": "correct", "line": m[1], "take": True}),
    (r"people strike out (\S+)", lambda m, n: {"kind": "correct", "line": m[1], "void": True}),
    (r"(\w+) calls (\w)", lambda m, n: {"kind": "say", "seat": n.seat(m[1]), "rank": m[2]}),
    (r"the wild rank is (\w)", lambda m, n: {"kind": "draw", "rank": m[1]}),
    (_JOINS.pattern, lambda m, n: {"kind": "join", "seat": n.seat(m[1])}),
    (r"(\w+) leaves", lambda m, n: {"kind": "leave", "seat": n.seat(m[1])}),
    (r"(\w+) counts (\d+)", lambda m, n: {"kind": "count", "seat": n.seat(m[1]), "cards": int(m[2])}),
    (r"the day is (\S+)", lambda m, n: {"kind": "day", "date": m[1]}),
    (r"the camera is blind until (\S+); (\S+) lies (?:on top|there)", _blind),
    (r"the table pauses", lambda m, n: {"kind": "pause"}),
    (r"the table goes on", lambda m, n: {"kind": "resume"}),
    (r"all has been reported", lambda m, n: {"kind": "tick"}),
)


def observations(scene: Scene) -> tuple[list[Observation], list[str]]:
    """Return the log of a scenario, and the players' names in seat order.

    Raises:
        SceneError: a line is none of the sentences; names the scenario and the line.
    """
    fields = _table(scene)
    names = _Names(fields["seats"], _lines(scene.play))
    log = [from_fields(fields, 1)]
    ids: set[str] = set()
    for number, line in enumerate(_lines(scene.play), start=2):
        instant, _, words = line.partition(" ")
        name = instant
        while name in ids:
            name = name + "b" if name == instant else name[:-1] + chr(ord(name[-1]) + 1)
        ids.add(name)
        try:
            said = _sentence(words, names)
            log.append(from_fields({"t": round(float(instant) * 1000 * MS), "id": name, **said}, number))
        except (SceneError, ValueError) as error:
            raise SceneError(f"{scene.where}: {line!r}: {error}") from None
    return log, names.names


def _sentence(words: str, names: _Names) -> dict[str, Any]:
    marks: dict[str, Any] = {}
    while found := re.search(rf", (±|force |by people)({_NUMBER})?$", words):
        words = words[: found.start()]
        if found[1] == "by people":
            marks |= {"by": "people", "t_error": MAX_ERROR}
        elif found[1] == "±":
            marks["t_error"] = round(float(found[2]) * MS)
        else:
            marks["force"] = float(found[2])
    for pattern, fields in _SENTENCES:
        found = re.fullmatch(pattern, words)
        if found:
            return {**fields(found, names), **marks}
    raise SceneError("this sentence is none that a scenario knows")


def _table(scene: Scene) -> dict[str, Any]:
    fields: dict[str, Any] = {"kind": "table", "t": 0, "id": "table", "rules": scene.rules}
    first, *rest = [part.strip() for part in scene.table.split(";")]
    fields["seats"] = first.split()
    fields["dealer"] = len(fields["seats"])
    for part in rest:
        words = part.split()
        if words[-1] == "deals":
            fields["dealer"] = fields["seats"].index(words[0]) + 1
        elif words[-1] == "cards":
            fields["counts"] = [None if word == "?" else int(word) for word in words[:-1]]
        elif words[-1] in ("packs", "pack", "jokers", "joker"):
            fields[words[-1].rstrip("s") + "s"] = int(words[0])
        elif words[0] == "at":
            fields["t"] = round(float(words[1]) * 1000 * MS)
        elif part in ("clockwise", "counter-clockwise"):
            fields["direction"] = part
        else:
            raise SceneError(f"{scene.where}: {part!r} says nothing about a table")
    return fields


def play(scene: Scene) -> list[str]:
    """Play a scenario; return the rulings in force at its end, in words.

    Raises:
        AssertionError: a ruling does not have the log's format.
    """
    log, names = observations(scene)
    referee = Adjudicator(stream=False)
    for observation in log:
        referee.observe(observation)
    rulings = referee.finish()
    assert not (wrong := problems(rulings, log)), f"{scene.where}: {wrong}"
    replaced = {name for ruling in rulings for name in ruling.supersedes}
    return [in_words(ruling, names) for ruling in rulings if ruling.id not in replaced]


_SEATS: Final = ("seat", "challenged", "to", "against", "seats", "by")


def in_words(ruling: Ruling, names: list[str]) -> str:
    """Return a ruling as words: kind, then each field's name and value, the rows, and its causes."""
    words = [ruling.kind]
    for name, value in ruling.fields.items():
        words += [name, *_spoken(name, value, names)]
    words += ["row", *ruling.rule, "because", *ruling.because, f"@{_short(ruling.t / 1000 / MS)}"]
    if ruling.doubt:
        words.append("doubtful")
    return " ".join(words)


def _spoken(name: str, value: Any, names: list[str]) -> list[str]:
    if name in ("margin", "error") and value is not None:
        return [_short(value / MS)]
    if name in _SEATS and value is not None:
        seats = value if isinstance(value, list | tuple) else [value]
        return [names[seat - 1] if seat <= len(names) else str(seat) for seat in seats]
    if name == "runners_up":
        return [word for hand in value for word in (names[hand["seat"] - 1], *_spoken("margin", hand["margin"], names))]
    if isinstance(value, list | tuple):
        return [str(item) for item in value]
    return ["none" if value is None else str(value)]


def _short(number: float) -> str:
    return f"{number:.6f}".rstrip("0").rstrip(".")


def fits(wanted: str, ruled: str) -> bool:
    """Whether a short line fits a ruling: the same kind and player, and all its words there in this order."""
    kind, *words = wanted.split()
    ruled_kind, *rest = ruled.split()
    if kind != ruled_kind:
        return False
    if rest[:1] == ["seat"] and words and words[0][0].isupper() and words[0][1:].islower() and words[0] != rest[1]:
        return False
    stream = iter(rest)
    return all(word in stream for word in words)


def failures(scene: Scene) -> list[str]:
    """Return a scenario's failures; empty where there are none."""
    if scene.refused:
        return _not_refused(scene)
    try:
        ruled = play(scene)
    except LogError as error:
        return [f"refused: {error}"]
    out = []
    at = 0
    for wanted in scene.rulings:
        place = next((n for n in range(at, len(ruled)) if fits(wanted, ruled[n])), None)
        if place is None:
            early = any(fits(wanted, other) for other in ruled[:at])
            out.append(f"missing{' here, though ruled earlier' if early else ''}: {wanted}")
        else:
            at = place + 1
    out += [f"never: {line}, but ruled: {ruling}" for line in scene.never for ruling in ruled if fits(line, ruling)]
    return out


def _not_refused(scene: Scene) -> list[str]:
    try:
        outline_log(enumerate(observations(scene)[0], start=1))
        play(scene)
    except LogError as error:
        return [] if scene.refused in str(error) else [f"refused otherwise: {error}"]
    return [f"not refused: {scene.refused}"]


def told(scene: Scene) -> str:
    """Return a failed scenario for debugging."""
    try:
        ruled = ["ruled:", *play(scene)]
    except LogError:
        ruled = []
    return "\n".join([f"{scene.where}: {scene.title}", *failures(scene), *ruled])
