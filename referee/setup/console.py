"""`referee setup`: the wizard in a terminal, or from a list of answers; it resumes where it was stopped."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from referee.errors import UserError
from referee.sentence import Sentence
from referee.settings.file import new_settings, read_settings, replace_file
from referee.setup.bench import Bench, SimulatedBench
from referee.setup.steps import STEPS
from referee.setup.wizard import COMMANDS, YES_NO, Failure, Question, Remark, Wizard
from referee.text.terminal_language import here, translate


def set_up(
    path: Path, *, step: str | None = None, restart: bool = False, answers: str | None = None, simulated: bool = False
) -> int:
    """Set up a table by questions; exit status 0 at the end of the wizard, 1 if it was stopped before.

    Args:
        path: the settings, which need not exist yet.
        step: run only this one.
        restart: go through every step, wherever an earlier run was stopped.
        answers: a file with one answer a line instead of the keyboard; ``-`` is standard input.
        simulated: set up the simulated table.

    Raises:
        UserError: the settings or the list of answers cannot be read.
    """
    typed: Iterator[str] = iter(sys.stdin)
    if answers is not None:
        try:
            text = sys.stdin.read() if answers == "-" else Path(answers).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError("--answers {answers} cannot be read: {why}", answers=answers, why=error) from None
        typed = listed_answers(text.splitlines())
    bench = SimulatedBench(path) if simulated else Bench(path)
    try:
        return run_wizard(path, bench, typed, step=step, restart=restart)
    finally:
        bench.close()


def listed_answers(lines: Iterable[str]) -> Iterator[str]:
    """Yield answers from a list, shown as if typed, then defaults. Lines that begin with # are skipped."""
    for line in lines:
        if not line.startswith("#"):
            print(line, flush=True)
            yield line
    while True:
        print(flush=True)
        yield ""


def run_wizard(
    path: Path, bench: Bench, typed: Iterator[str], *, step: str | None = None, restart: bool = False
) -> int:
    """Run the wizard with these devices and answers; see `set_up`.

    Raises:
        UserError: the existing file is not a settings file.
    """
    steps = tuple(known for known in STEPS if step in (None, known.name))
    begun = [] if restart or step is not None else _steps_done(path)
    at = next((k for k, wanted in enumerate(steps) if wanted.name not in begun), 0) if path.exists() else 0
    wizard = Wizard(read_settings(path) if path.exists() else new_settings(path.parent, here().language), steps, at)
    if at:
        print(
            translate(
                "Going on where setup stopped last time. (referee setup --restart begins at {name}.)",
                name=steps[0].name,
            )
        )
    print(translate("Enter takes the answer in brackets. Always possible: back, again, skip, stop, ?"))
    _converse(wizard, path, bench, typed, alone=step is not None)
    if wizard.step is not None:
        print()
        print(translate("Stopped before the end of: {title}. `referee setup` goes on there.", title=wizard.step.title))
        return 1
    if step is None:
        _progress(path).unlink(missing_ok=True)
        print()
        print(translate("The table is set up: {path}. Play: referee run --settings {path}", path=path))
    else:
        print()
        print(translate("Done: {path}", path=path))
    return 0


def _converse(wizard: Wizard, path: Path, bench: Bench, typed: Iterator[str], *, alone: bool) -> None:
    """Run to the end, or until stopped; the effect of each answer is written to the file at once."""
    shown, kept = -1, wizard.draft
    while wizard.request is not None and not wizard.stopped:
        if shown != wizard.at and wizard.step is not None:
            shown = wizard.at
            title = translate(wizard.step.title)
            print()
            print(
                title
                if alone
                else translate("{title} ({at} of {all})", title=title, at=wizard.at + 1, all=len(wizard.steps))
            )
        request = wizard.request
        if isinstance(request, Question):
            _ask(wizard, request, typed)
        elif isinstance(request, Remark):
            print("\n".join(f"  {line}" for line in translate(request.words).splitlines()))
            wizard.give()
        else:
            if request.words:
                print(f"  … {translate(request.words)}", flush=True)
            result = request.carry_out(bench)
            if isinstance(result, Failure):
                print(f"  {translate(result.words)}")
            wizard.give(result)
        if wizard.draft != kept or wizard.at != shown:
            kept = wizard.draft
            if not kept.is_new:
                replace_file(path, kept.text.encode("utf-8"))
            if not alone:
                replace_file(_progress(path), json.dumps(wizard.done).encode("utf-8"))
    bench.dark()


def _ask(wizard: Wizard, question: Question, typed: Iterator[str]) -> None:
    is_yes_no = question.choices == YES_NO
    words = question.words
    if is_yes_no:
        words = Sentence("{question} (yes, no)", question=words)
    elif question.kind == "switches":
        words = Sentence("{question} (all of them, with commas; or none)", question=words)
    print("\n".join(f"  {line}" for line in translate(words).splitlines()))
    # Numeric answers get no list numbers.
    plain = any(value.isdecimal() for value in question.choices)
    for number, (value, words) in enumerate(() if is_yes_no else question.choices.items(), start=1):
        print(f"    {value if plain else f'{number}. {value}'}" + (f": {_in_lines(words)}" if words else ""))
    print(f"  [{question.default}] > ", end="", flush=True)
    line = next(typed, None)
    if line is None:
        print()
        wizard.answer("stop")
    elif line.strip() == "?":
        print("\n".join(f"    {word}: {translate(words)}" for word, words in COMMANDS.items()))
    elif complaint := wizard.answer(line):
        print(f"  {translate(complaint)}")


def _in_lines(words: str) -> str:
    """Return a choice's title, and what follows it on lines of its own."""
    return translate(words).replace("\n", "\n       ")


def _progress(path: Path) -> Path:
    """Return the path of the list of finished steps."""
    return path.with_name(f".{path.name}.setup")


def _steps_done(path: Path) -> list[str]:
    try:
        names = json.loads(_progress(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [str(name) for name in names] if isinstance(names, list) else []
