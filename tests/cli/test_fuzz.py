"""Damaged logs and house-rule files: every one is read or refused in words, never with a traceback.

Inputs are valid ones with a defect. ``FUZZ`` raises their number.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from typing import Any, Final

from referee.cli.logs import words
from referee.engine.explanation import WitnessedLog
from referee.engine.log import encode_observation, read_observations
from referee.engine.observations import LogError
from referee.engine.replay import StoredLog
from referee.engine.rulings import encode_ruling
from referee.rules.rows import BY_NAME, ROWS
from referee.settings.house_rules import HouseFileError, example_house_rules, parse_bytes
from referee.text.explanation_lines import explanation_fields
from referee.text.ruling_lines import ruling_writer
from referee.text.terminal_language import here
from tests.rules.plain_table import play_randomly, random_rules
from tests.support.wild_games import wild_game

_EARLIEST, _LATEST = -(2**63), 2**63 - 1
"""The instants that a log may state, ns."""
TRIES: Final = int(os.environ.get("FUZZ", "75"))
ODD: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, 1, 8, 9, 10**9, 2**63, -(2**63), 10**30, 0.5, float("nan"), float("inf"), "", "7h", "??",
    "Xr", "Zz", "classic", "\ud800", "\u0000", [], {}, [1], [[]], {"A": 1}, [None, None], "x" * 300,
)  # fmt: skip


def _log(rng: random.Random) -> list[str]:
    """Return a valid log of a random game, with answers and corrections here and there."""
    if rng.random() < 0.5:
        wild = wild_game(rng.randint(0, 10**6))
        # Sometimes at one of the ends of time.
        early, late = _EARLIEST - min(line.t for line in wild), _LATEST - max(line.t for line in wild)
        shift = rng.choice((0, 0, 0, early, late))
        return [encode_observation(replace(line, t=line.t + shift)) for line in wild]
    game = play_randomly(rng.randint(0, 400), rng.randint(5, 40))
    lines = [encode_observation(line) for line in game.lines]
    ids = [line.id for line in game.lines] + [ruling.id for ruling in game.rulings]
    for number in range(rng.choice((0, 0, 1, 3))):
        last = {"id": f"z{number}", "t": game.t + number}
        about = rng.choice(ids)
        lines.append(json.dumps(rng.choice(_amendments(rng, about)) | last))
    return lines


def _amendments(rng: random.Random, about: str) -> list[dict[str, Any]]:
    value = rng.choice(ODD)
    return [
        {"kind": "correct", "line": about, "void": True},
        {"kind": "correct", "line": about, "seat": rng.randint(1, 8)},
        {"kind": "correct", "line": about, "card": "7h", "fields": {"t": value}},
        {"kind": "correct", "line": about, "ruling": rng.choice(("slap_won", "slap_void", "slap_false", "turn"))},
        {"kind": "correct", "line": f"z{rng.randint(0, 3)}", "void": True},
        {"kind": "answer", "to": about, "value": value},
    ]


def spoil_line(rng: random.Random, line: str) -> str:
    """Damage one line: a field, a value, or the text itself."""
    fields = json.loads(line)
    name = rng.choice(list(fields))
    how = rng.randint(0, 6)
    if how == 0:
        fields[name] = rng.choice(ODD)
    elif how == 1:
        del fields[name]
    elif how == 2:
        fields[rng.choice(("seat", "t", "id", "kind", "card", "count", "by", "t_error", "zone", "rules"))] = rng.choice(
            ODD
        )
    elif how == 3:
        fields["t"] = fields["t"] + rng.choice((-1, 1, -(10**9), 10**9, 10**12)) if type(fields.get("t")) is int else 0
    elif how == 4:
        fields["seat"] = rng.randint(1, 8)
    elif how == 5:
        at = rng.randrange(len(line))
        return (
            line[:at]
            + rng.choice(("", "\x00", '"', "{", "}", "9" * 5000, "é", "[" * 2000))
            + line[at + rng.randint(0, 3) :]
        )
    else:
        fields["kind"] = rng.choice(("card", "slap", "lift", "taken", "placed", "count", "join", "day", "pause", "odd"))
    return json.dumps(fields)


def spoiled_log(rng: random.Random) -> bytes:
    """Return a log with some of its lines damaged, doubled, swapped or torn off; its table mostly whole."""
    lines = _log(rng)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(lines)) if rng.random() < 0.05 else rng.randrange(1, len(lines))
        how = rng.randint(0, 9)
        if how == 0:
            del lines[at]
        elif how == 1:
            lines.insert(at, lines[rng.randrange(len(lines))])
        elif how == 2:
            other = rng.randrange(1, len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        else:
            try:
                lines[at] = spoil_line(rng, lines[at])
            except (ValueError, RecursionError, TypeError):
                lines[at] = lines[at][::-1]
        if len(lines) < 2:
            break
    raw = ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass")
    if rng.random() < 0.05:
        at = rng.randrange(len(raw))
        raw = raw[:at] + bytes(rng.randrange(256) for _ in range(3)) + raw[at + 2 :]
    return raw


def read_log(raw: bytes) -> str:
    """Replay and explain a log through the commands' own functions; return how far it came."""
    stream = BytesIO(raw)
    seen = 0
    try:
        for _ in read_observations(stream):
            seen += 1
        stream.seek(0)
        stored = StoredLog(stream)
        record = WitnessedLog(stored.outline.table)
        made = list(stored.rulings(everything=True, witness=record))
    except LogError as error:
        assert str(error)
        return "refused later" if seen > 1 else "refused at once"
    say, explain = ruling_writer(stored.outline.table, here()), words(record.table, made)
    for ruling in made:
        assert encode_ruling(ruling)
        assert say(ruling)
    for ruling in made[-20:]:
        assert explain(record.explain(ruling))
        assert json.dumps(explanation_fields(record.explain(ruling)))
    return "ruled"


def spoiled_file(rng: random.Random) -> bytes:
    """Return a house-rules file with a defect."""
    text = _file(rng)
    names = [*ROWS, *BY_NAME]
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(text))
        how = rng.randint(0, 5)
        if how == 0:
            text = text[:at] + text[at + rng.randint(1, 5) :]
        elif how == 1:
            text = (
                text[:at] + rng.choice(("[", "]", '"', "=", "\n", "#", "\x00", "9" * 5000, "é", "[" * 800)) + text[at:]
            )
        elif how == 2:
            text = text.replace(
                rng.choice(("double", "marriage", "burn", "rank", "classic", "P4a")), rng.choice(names), 1
            )
        elif how == 3:
            text += (
                f"\n[set]\n{rng.choice(names)} = {rng.choice(('1', 'true', '[]', 'inf', '1979-05-27', '{a = 1}'))}\n"
            )
        elif how == 4:
            text = text.replace("= 2", f"= {rng.choice(('-1', '1e9', 'nan', '[1]', '[[]]', '07:32:00', ''))}", 1)
        else:
            text = text.replace(
                "rank(1)", rng.choice(("rank(0)", "rnk(1)", "rank(1", "((((1", "high(99)", "9" * 600)), 1
            )
        if not text:
            break
    raw = text.encode("utf-8", "surrogatepass")
    return raw if rng.random() > 0.05 else raw[: len(raw) // 2] + b"\xff\xfe" + raw[len(raw) // 2 :]


def _file(rng: random.Random) -> str:
    if rng.random() < 0.5:
        return example_house_rules()
    said = random_rules(rng)
    lines = [f'base = "{said["base"]}"', f"on = {json.dumps(said['on'])}", f"off = {json.dumps(said['off'])}", "[set]"]
    lines += [f"{row} = {json.dumps(value)}" for row, value in said["set"].items() if not isinstance(value, dict)]
    return "\n".join(lines) + "\n"


def read_file(raw: bytes) -> str:
    """Check a house-rules file as the command does; return how far it came."""
    try:
        house = parse_bytes(raw, "house.toml")
    except HouseFileError as error:
        assert error.mistakes
        assert all(mistake.as_line("house.toml") and "\n" not in mistake.problem for mistake in error.mistakes)
        late = [mistake for mistake in error.mistakes if mistake.place is not None and mistake.place.line > 1]
        return "refused later" if late else "refused at once"
    assert house.rules.on
    return "read"


def _fuzz(make: Callable[[random.Random], bytes], read: Callable[[bytes], str], first: int) -> Counter[str]:
    came: Counter[str] = Counter()
    for seed in range(first, first + TRIES // 2):
        raw = make(random.Random(seed))
        try:
            came[read(raw)] += 1
        except Exception as error:
            error.add_note(f"seed {seed}: {raw[:2000]!r}")
            raise
    print(f"{TRIES // 2} inputs: {dict(came)}")
    return came


def test_a_damaged_log_is_ruled_or_refused_in_words() -> None:
    came = _fuzz(spoiled_log, read_log, 0)
    assert came["refused at once"] <= TRIES // 4


def test_a_damaged_house_rules_file_is_read_or_refused_in_words() -> None:
    came = _fuzz(spoiled_file, read_file, 10**6)
    assert came["refused at once"] <= TRIES // 4
