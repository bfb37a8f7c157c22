"""Reads logs and rules for the command line: `referee replay`, `referee explain` and `referee rules`.

A log's file comes in, and words or JSON Lines go to standard output.
"""

from __future__ import annotations

import difflib
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

from referee.engine.explanation import Explanation, WitnessedLog
from referee.engine.log import find_replacements, open_log, read_observations
from referee.engine.observations import Table
from referee.engine.replay import Outline, ReplayedGame, StoredLog, TooLong
from referee.engine.rulings import Ruling, encode_ruling, ruling_fields
from referee.errors import UserError
from referee.options.what_if.moved_lines import moved_words
from referee.options.what_if.moves import MOST_MOVED, Move, MoveError, move_line
from referee.record.seals import find_broken_log
from referee.rules.house import HouseRules, read_house_rules
from referee.rules.presets import PRESETS
from referee.rules.rows import ALWAYS_ON, RIVALS, ROWS
from referee.sentence import Sentence
from referee.settings.house_rules import SUFFIX, HouseFileError, example_house_rules, load_house_rules, resolve_rules
from referee.text.escapes import escape_controls
from referee.text.explanation_lines import explanation_fields, explanation_lines
from referee.text.rules import rows_by_group, sentence
from referee.text.ruling_lines import RulingWords, ruling_writer
from referee.text.terminal_language import here, translate
from referee.units import MS

_INSTANT: Final = re.compile(r"(-?\d{1,18}(?:\.\d{1,18})?)(s|ms)?", re.ASCII)
_UNITS: Final = {"s": 1e9, "ms": 1e6}


def _until(rulings_: Iterable[Ruling], last: str, outlined: Outline) -> Iterator[Ruling]:
    """Yield the rulings up to an instant, to that of a line, or to a ruling.

    Raises:
        UserError: there is no such instant, line or ruling.
    """
    instant = _instant(last, outlined)
    if instant is None and "@" not in last:
        raise UserError(
            '--until: "{last}" is no instant (ns, or 2.5s, 250ms from the first line) and no id of this log', last=last
        )
    for ruling in rulings_:
        if instant is not None and ruling.t > instant:
            return
        yield ruling
        if ruling.id == last:
            return
    if instant is None:
        raise UserError('--until: this log leads to no ruling "{last}"', last=last)


def _instant(text: str, outlined: Outline) -> int | None:
    if outlined.found is not None:
        return outlined.found
    said = _INSTANT.fullmatch(text)
    if said is None:
        return None
    if said.group(2) is None:
        return int(said.group(1)) if said.group(1).lstrip("-").isdigit() else None
    return outlined.table.t + round(float(said.group(1)) * _UNITS[said.group(2)])


def replay(name: str, *, everything: bool = False, until: str = "", as_text: bool = False) -> int:
    """Print a log's rulings, as JSON Lines or in words; returns the exit status.

    Args:
        name: the log's file, or ``-``.
        everything: print superseded rulings too.
        until: stop after this instant, line or ruling.
        as_text: print each ruling as a line for people to read.

    Raises:
        UserError: the log cannot be read; the message, one line, names the log's line.
    """
    with open_log(name) as stream:
        stored = StoredLog(stream, until)
        table, made = stored.outline.table, stored.rulings(everything=everything)
        if as_text and stored.outline.amended:
            # A corrected table may have other names.
            witnessed = WitnessedLog(table)
            made = iter(list(stored.rulings(everything=everything, witness=witnessed)))
            table = witnessed.table
        write = ruling_writer(table, here()) if as_text else encode_ruling
        for ruling in _until(made, until, stored.outline) if until else made:
            sys.stdout.write(escape_controls(write(ruling)) + "\n")
        _tell_broken_seals(name, stream)
    return 0


_BROKEN_TOLD: Final = 5
"""Number of broken seals that are listed one by one."""


def _tell_broken_seals(name: str, stream: BinaryIO) -> None:
    """Report changes to a log since it was exported from a record; it is ruled all the same."""
    stream.seek(0)
    broken = list(find_broken_log(stream))
    for number, words in broken[:_BROKEN_TOLD]:
        told = translate("note: {file}, line {number} {words}", file=name, number=number, words=words)
        print(escape_controls(told), file=sys.stderr)
    if len(broken) > _BROKEN_TOLD:
        print(translate("note: the same goes for {many} more lines", many=len(broken) - _BROKEN_TOLD), file=sys.stderr)


def _write(*lines: str) -> None:
    """Print lines from a log, with control characters escaped: a log may hold anything."""
    sys.stdout.writelines(f"{escape_controls(line)}\n" for line in lines)


def explain(log: str, ruling: str | None = None, *, as_json: bool = False, what_if: Move | None = None) -> int:
    """Print why one ruling of a log, or each in force, came out as it did; returns the exit status.

    Args:
        log: the log's file, or ``-``.
        ruling: the id of one ruling, superseded ones included; None for all in force.
        as_json: one JSON object a line instead of words.
        what_if: move a hand or a card to another instant, and print the verdict before and after.

    Raises:
        UserError: the log cannot be read, or has no such ruling, hand or card.
    """
    with open_log(log) as stream:
        if what_if is not None:
            _explain_move(stream, what_if, as_json=as_json)
            return 0
        stored = StoredLog(stream)
        witnessed = WitnessedLog(stored.outline.table)
        made = list(stored.rulings(everything=True, witness=witnessed))
        _tell_broken_seals(log, stream)
    replaced_by = find_replacements(made)
    write = _as_json if as_json else words(witnessed.table, made)
    for chosen in _chosen(made, ruling, replaced_by):
        _write(*write(witnessed.explain(chosen)))
    return 0


def _explain_move(stream: BinaryIO, move: Move, *, as_json: bool) -> None:
    """Print the verdict as it was and as it would have been, and the first later ruling that would differ."""
    lines = list(read_observations(stream))
    try:
        game = ReplayedGame(lines)
        moved = move_line(lines, game, move)
    except MoveError as error:
        said = here()(f"what_if.bad_{error.problem}", most=f"{MOST_MOVED // MS} ms")
        raise UserError("{option}: {why}", option=f"--what-if {move.line}", why=said) from None
    except TooLong:
        raise UserError("--what-if: this game is too long to be ruled once more and kept") from None
    was = moved.verdict.was
    told = (None if was is None else game.explain(was), moved.explain())
    if as_json:
        later = [None if ruling is None else ruling_fields(ruling) for ruling in moved.later]
        found = [None if explanation is None else explanation_fields(explanation) for explanation in told]
        facts = dict(zip(("was", "would_be", "later_was", "later_would_be"), (*found, *later), strict=True))
        _write(json.dumps(facts, ensure_ascii=False, separators=(",", ":")))
        return
    words, write = RulingWords(game.table.seats, here()), ruling_writer(game.table, here())
    for head, explanation in zip((words.texts("what_if.was"), moved_words(moved, words)), told, strict=True):
        lines_ = (
            [words.texts("what_if.no_hand")]
            if explanation is None
            else explanation_lines(explanation, game.table, words, {})
        )
        _write(head, *(f"  {line}" for line in lines_), "")
    if moved.later.was is None and moved.later.would_be is None:
        _write(words.texts("what_if.on_none"))
        return
    _write(words.texts("what_if.on"))
    for name, ruled in zip(("was", "would_be"), moved.later, strict=True):
        _write(
            f"  {words.texts(f'what_if.{name}')}: {words.texts('what_if.nothing') if ruled is None else write(ruled)}"
        )


def _chosen(made: list[Ruling], name: str | None, replaced: dict[str, str]) -> list[Ruling]:
    if name is None:
        return [ruling for ruling in made if ruling.id not in replaced]
    found = [ruling for ruling in made if ruling.id == name]
    if found:
        return found
    near = difflib.get_close_matches(name[:80], [ruling.id for ruling in made], n=1)
    hint = (
        Sentence(' (did you mean "{word}"?)', word=near[0]) if near else Sentence("; `referee replay` prints the ids")
    )
    raise UserError('this log leads to no ruling "{name}"{hint}', name=name, hint=hint)


def _as_json(explanation: Explanation) -> list[str]:
    return [json.dumps(explanation_fields(explanation), ensure_ascii=False, separators=(",", ":"))]


def words(table: Table, made: Sequence[Ruling]) -> Callable[[Explanation], list[str]]:
    """Return a function that explains a ruling in plain words; ``made``: all rulings of the log."""
    said = RulingWords(table.seats, here())
    by_id = {ruling.id: ruling for ruling in made}
    replaced_by = {old: by_id[new] for old, new in find_replacements(made).items() if new in by_id}

    def write(explanation: Explanation) -> list[str]:
        lines = list(explanation_lines(explanation, table, said, replaced_by))
        return lines if len(lines) == 1 else [*lines, ""]

    return write


_WIDTH: Final = 100
_MISTAKE: Final = 2
_BESIDE: Final = frozenset(("S2", "S3"))
"""Rules that count by their value, whether or not they are on."""
_ON_SLAPS: Final = ("Patterns to slap", "Slapping")
_OF_SLAPS: Final = frozenset(("C9", "N11", "F8"))
"""Groups and rules that have no effect in games without slaps."""


def rules(what: list[str], *, rows: bool = False) -> int:
    """Print presets, rules or a check of files; returns the exit status.

    Args:
        what: nothing (the presets), ``check FILE``, ``example``, or a preset or file.
        rows: print the whole table instead.

    Raises:
        UserError: there are no such rules, or the words make no sense together.
    """
    if rows:
        _print(table())
    elif not what:
        _print(presets())
    elif what[0] == "check":
        return _check(what[1:])
    elif len(what) > 1:
        raise UserError("one set of rules at a time, not {many}; or: referee rules check FILE", many=len(what))
    elif what[0] == "example":
        sys.stdout.write(example_house_rules())
    else:
        _print(described(what[0]))
    return 0


def _print(lines: Iterator[str]) -> None:
    for line in lines:
        _write(line)


def _check(files: list[str]) -> int:
    if not files:
        raise UserError("check needs a file: referee rules check FILE")
    status = 0
    for file in files:
        try:
            house = load_house_rules(Path(file))
        except HouseFileError as error:
            status = _MISTAKE
            for mistake in error.mistakes:
                print(escape_controls(translate(mistake.as_line(file))), file=sys.stderr)
            continue
        for note in house.notes:
            print(escape_controls(translate("note: {words}", words=note.as_line(file))), file=sys.stderr)
        many = len(house.rules.on - ALWAYS_ON)
        _write(translate("{file}: {title}: {many} rows are on; no mistakes", file=file, title=house.title, many=many))
    return status


def presets() -> Iterator[str]:
    """Yield the presets by name."""
    yield "Presets:"
    widest = max(map(len, PRESETS))
    for name, preset in PRESETS.items():
        yield f"  {name:<{widest}}  {preset.title}"
    yield ""
    yield "referee rules PRESET       what one of them switches on, in words"
    yield "referee rules FILE.toml    the same for house rules of your own"
    yield "referee rules --rows       every row of the rules, with its values"
    yield "referee rules example      a house-rules file to begin with"


def described(word: str) -> Iterator[str]:
    """Yield what a preset or a house-rules file switches on, in plain words.

    Raises:
        UserError: there are no such rules.
    """
    said: Any = resolve_rules(word)
    on = read_house_rules(said)
    if word.endswith(SUFFIX):
        yield f"{load_house_rules(Path(word)).title} ({said['base']}, changed)"
    else:
        yield f"{word}: {PRESETS[word].title}"
    for title, rows in rows_by_group().items():
        shown = [row for row in rows if row in on.on or (row in _BESIDE and row in on.values)]
        if not on.slaps:
            shown = [row for row in shown if title not in _ON_SLAPS and row not in _OF_SLAPS]
        if shown:
            yield ""
            yield f"{title}:"
            for row in shown:
                yield from _item(row, on)
    if not on.slaps:
        yield ""
        yield "Nothing may be slapped in this game."
    if word in PRESETS and PRESETS[word].options:
        yield ""
        yield "Goes well with it, where house rules switch it on:"
        for row in PRESETS[word].options:
            yield from _item(row, on)


def _item(row: str, rules: HouseRules) -> list[str]:
    item = f"{sentence(row, rules)} ({row})"
    return textwrap.wrap(item, _WIDTH, initial_indent="  - ", subsequent_indent="    ", break_long_words=False)


def table() -> Iterator[str]:
    """Yield every rule: id, name, title, its value, and the rules that it excludes."""
    names = max(len(row.name) for row in ROWS.values())
    for title, rows in rows_by_group().items():
        yield f"{title}:"
        for id_ in rows:
            row = ROWS[id_]
            facts = [row.title]
            if row.check is not None:
                facts.append(f"value {_value(row.default)}; may be {row.allowed}")
            rivals = sorted(RIVALS.get(id_, ()))
            if rivals:
                facts.append("instead of " + ", ".join(rivals))
            if id_ in ALWAYS_ON:
                facts.append("on in every preset")
            yield f"  {id_:<4} {row.name:<{names}}  {'. '.join(facts)}"
        yield ""


def _value(value: Any) -> str:
    if value is None or value in ((), {}):
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
