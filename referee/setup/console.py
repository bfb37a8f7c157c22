"""`referee setup`: the walk in a terminal, or from a list of answers."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from referee.errors import UserError

if TYPE_CHECKING:
    from referee.settings.file import SettingsText
    from referee.setup.device_checks import Bench
    from referee.setup.walk import Ask, Do, Walk

Type = Callable[["Ask"], str | None]
"""Gives what is typed at a question; None when nobody types any more."""
STEP_NAMES: Final = ("seats", "pins", "pads", "lights", "camera", "voice", "rules", "check")


def keyboard(stream: TextIO) -> Type:
    """Answers from a terminal."""

    def typed(_ask: Ask) -> str | None:
        line = stream.readline()
        return line.rstrip("\n") if line else None

    return typed


def listed(lines: Sequence[str]) -> Type:
    """Answers from a list, shown as if typed; defaults after its end. A line that begins with # is none."""
    left: Iterator[str] = iter([line for line in lines if not line.startswith("#")])

    def typed(_ask: Ask) -> str | None:
        line = next(left, "")
        print(line, flush=True)
        return line

    return typed


# The walk, and where it was stopped


def set_up(
    path: Path, *, step: str | None = None, restart: bool = False, answers: str | None = None, simulated: bool = False
) -> int:
    """Set up a table by questions; exit status 0 at the end of the walk, 1 if it was stopped before.

    Args:
        path: the settings, which need not be there yet.
        step: walk this one alone.
        restart: go through every step, wherever an earlier walk was stopped.
        answers: a file with one answer a line instead of the keyboard; ``-`` is standard input.
        simulated: walk at the simulated table.

    Raises:
        UserError: the settings or the list of answers cannot be read.
    """
    from referee.setup.device_checks import SimulatedBench, TableBench

    bench = (SimulatedBench if simulated else TableBench)(path)
    typed = keyboard(sys.stdin)
    if answers is not None:
        try:
            text = sys.stdin.read() if answers == "-" else Path(answers).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as bad:
            raise UserError(f"--answers {answers} cannot be read: {bad}") from None
        typed = listed(text.splitlines())
    try:
        return walk_at(path, bench, typed, step=step, restart=restart)
    finally:
        bench.close()


def walk_at(path: Path, bench: Bench, typed: Type, *, step: str | None = None, restart: bool = False) -> int:
    """Walk with these devices and answers; see `set_up`.

    Raises:
        UserError: what is there is no settings file.
    """
    from referee.setup.steps import STEPS
    from referee.setup.walk import Walk

    steps = tuple(one for one in STEPS if step in (None, one.name))
    begun = [] if restart or step is not None else _begun(path)
    at = next((k for k, one in enumerate(steps) if one.name not in begun), 0) if path.exists() else 0
    draft = _draft(path)
    walk = Walk(draft, steps, at)
    if at:
        print(f"Going on where the last walk was stopped. (referee setup --restart begins at {steps[0].name}.)")
    print("Enter takes the answer in brackets. Always possible: back, again, skip, stop, ?")
    _walk(walk, path, bench, typed, alone=step is not None)
    if walk.step is not None:
        print(f"\nStopped before the end of: {walk.step.title}. `referee setup` goes on there.")
        return 1
    if step is None:
        _progress(path).unlink(missing_ok=True)
        print(f"\nThe table is set up: {path}. Play: referee run --settings {path}")
    else:
        print(f"\nDone: {path}")
    return 0


def _draft(path: Path) -> SettingsText:
    from referee.settings.file import new_settings, read_settings

    return read_settings(path) if path.exists() else new_settings(path.parent)


def _walk(walk: Walk, path: Path, bench: Bench, typed: Type, *, alone: bool) -> None:
    from referee.setup.walk import Ask, Do

    shown, kept = -1, walk.draft
    while walk.request is not None and not walk.stopped:
        if shown != walk.at and walk.step is not None:
            shown = walk.at
            print(f"\n{walk.step.title}" + ("" if alone else f" ({walk.at + 1} of {len(walk.steps)})"))
        request = walk.request
        if isinstance(request, Ask):
            _ask(walk, request, typed)
        elif isinstance(request, Do):
            _do(walk, request, bench)
        else:
            print("\n".join(f"  {line}" for line in request.words.splitlines()))
            walk.give()
        if walk.draft != kept or walk.at != shown:
            kept = walk.draft
            _save(walk, path, alone=alone)
    bench.dark()


def _do(walk: Walk, do: Do, bench: Bench) -> None:
    if do.words:
        print(f"  … {do.words}", flush=True)
    try:
        result = getattr(bench, do.what)(**do.arguments)
    except UserError as bad:
        # A device that is not there ends a step, never the walk.
        print(f"  {bad}")
        walk.leave()
    else:
        walk.give(result)


def _ask(walk: Walk, ask: Ask, typed: Type) -> None:
    from referee.setup.walk import COMMANDS

    print("\n".join(f"  {line}" for line in ask.words.splitlines()))
    # Answers that are numbers themselves are not numbered once more.
    plain = any(choice.value.isdecimal() for choice in ask.choices)
    for number, choice in enumerate(ask.choices, start=1):
        words = f": {choice.words}" if choice.words else ""
        print(f"    {choice.value if plain else f'{number}. {choice.value}'}{words}")
    print(f"  [{ask.default}] > ", end="", flush=True)
    line = typed(ask)
    if line is None:
        print()
        walk.answer("stop")
    elif line.strip() == "?":
        print("\n".join(f"    {word}: {words}" for word, words in COMMANDS.items()))
    else:
        try:
            complaint = walk.answer(line)
        except UserError as bad:
            # Answers that are each possible, and together are not.
            complaint = f"That cannot be: {bad}. This step is left as it was; repeat it with --step."
            walk.leave()
        if complaint:
            print(f"  {complaint}")


def _progress(path: Path) -> Path:
    """Where it stands which steps are done."""
    return path.with_name(f".{path.name}.setup")


def _begun(path: Path) -> list[str]:
    try:
        told = json.loads(_progress(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [str(name) for name in told] if isinstance(told, list) else []


def _save(walk: Walk, path: Path, *, alone: bool) -> None:
    from referee.settings.file import replace_file

    if not walk.draft.is_new:
        replace_file(path, walk.draft.text.encode("utf-8"))
    if not alone:
        replace_file(_progress(path), json.dumps(walk.done).encode("utf-8"))
