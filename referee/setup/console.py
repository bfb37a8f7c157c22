"""`referee setup`: the walk in a terminal, or from a list of answers."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from referee.errors import UserError

if TYPE_CHECKING:
    from referee.cli.parser import Commands
    from referee.settings.file import Draft
    from referee.setup.device_checks import Bench
    from referee.setup.walk import Ask, Do, Walk

Type = Callable[["Ask"], str | None]
"""Gives what is typed at a question; None when nobody types any more."""
STEP_NAMES: Final = ("seats", "pins", "pads", "lights", "camera", "voice", "rules", "check")


def add(commands: Commands) -> None:
    """The command `setup`."""
    from referee.cli.parser import command

    parser = command(
        commands, "setup", "set up a real table, question by question",
        "A walk through everything that a table needs: seats, wires, a slap roll-call that puts swapped pads right,\n"
        "lights, camera, voice, house rules, and the doctor's first look. Enter takes the answer in brackets; back,\n"
        "again, skip and stop are always possible. Each finished step is in the settings file at once; everything\n"
        "else there stays. Who stops goes on there the next time.\n\n"
        "steps: " + ", ".join(STEP_NAMES) + "\n\n"
        "examples:\n  referee setup\n  referee setup --step pads          one step alone\n"
        "  referee setup --simulated --settings try.toml --answers answers.txt\n"
        "  referee setup --set camera.exposure_us=1500 --set camera.gain=9     these values, and no questions",
        run,
    )  # fmt: skip
    add_argument = parser.add_argument
    add_argument("--settings", type=Path, default=Path("table.toml"), metavar="FILE",
                 help="the settings to write (default: table.toml)")  # fmt: skip
    add_argument("--step", choices=STEP_NAMES, metavar="STEP", help="walk this step alone")
    add_argument("--set", action="append", metavar="KEY=VALUE", dest="values",
                 help="set one value, such as voice.device=USB, and ask nothing; may be repeated")  # fmt: skip
    add_argument("--restart", action="store_true", help="from the first step, even if an earlier walk was stopped")
    add_argument("--answers", metavar="FILE", help="one answer a line instead of the keyboard (- is standard input); "
                 "after the last one every default is taken")  # fmt: skip
    add_argument("--simulated", action="store_true", help="walk at the simulated table: its pads slap by themselves")


def run(args: argparse.Namespace) -> int:
    """The command; exit status 0 at the end of the walk, 1 if it was stopped before.

    Raises:
        UserError: the settings or the list of answers cannot be read.
    """
    if args.values:
        from referee.settings.file import set_values

        return set_values(args.settings, args.values)
    from referee.setup.device_checks import SimulatedBench, TableBench

    bench = (SimulatedBench if args.simulated else TableBench)(args.settings)
    typed = keyboard(sys.stdin) if args.answers is None else listed(_lines(args.answers))
    try:
        return setup(args.settings, bench, typed, step=args.step, restart=args.restart)
    finally:
        bench.close()


def _lines(name: str) -> list[str]:
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as bad:
        raise UserError(f"--answers {name} cannot be read: {bad}") from None
    return text.splitlines()


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


def setup(path: Path, bench: Bench, typed: Type, *, step: str | None = None, restart: bool = False) -> int:
    """Walk; see `run`.

    Args:
        path: the settings, which need not be there yet.
        bench: the devices.
        typed: what people type.
        step: walk this one alone.
        restart: go through every step, wherever an earlier walk was stopped.

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


def _draft(path: Path) -> Draft:
    from referee.settings.file import Draft, new_draft
    from referee.settings.model import load

    if not path.exists():
        return new_draft(path.parent)
    load(path)
    return Draft(path.read_text(encoding="utf-8"), path.parent)


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
