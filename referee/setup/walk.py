"""The walk by which a table is set up: questions out, answers in. Pure; the terminal and the devices are elsewhere.

A step is a generator: it yields what it wants (`Ask` a person, `Do` something with a device, `Tell` something) and is
sent what came of it; it returns the settings as they are afterwards. What was sent is kept, so going back is playing
the same again without the last answer, and nothing is done twice to a device for it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from referee.settings.file import SettingsText

Check = Callable[[str], Any]
"""Turns what was typed into a value; raises `Refused`."""


class Refused(Exception):  # noqa: N818 - an answer that is asked for again is no error
    """An answer that cannot be; the text says what would be."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several answers: what is typed, and what it means."""

    value: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to a person."""

    id: str
    words: str
    default: str
    """What an empty line means."""
    check: Check
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True, slots=True)
class Tell:
    """Something to say; nothing is sent back."""

    words: str


@dataclass(frozen=True, slots=True)
class Do:
    """Something to do with a device; what came of it is sent back (see `referee.setup.device_checks.Bench`)."""

    what: str
    """Name of a method of the bench."""
    arguments: Mapping[str, Any]
    words: str = ""
    """What people are told meanwhile."""


Request = Ask | Tell | Do
Run = Generator[Request, Any, SettingsText]


@dataclass(frozen=True, slots=True)
class Step:
    """One part of the walk."""

    name: str
    title: str
    run: Callable[[SettingsText], Run]


COMMANDS: Final = {
    "back": "the question before this one",
    "again": "this step from its beginning",
    "skip": "leave this step as it was",
    "stop": "keep what was done; `referee setup` goes on here",
}
"""What may be typed instead of an answer."""


def one_of(choices: Sequence[Choice]) -> Check:
    """Takes a choice by its word, its number in the list, or how its word begins."""

    def check(text: str) -> str:
        values = [choice.value for choice in choices]
        if text.isdecimal() and text not in values and 1 <= int(text) <= len(values):
            return values[int(text) - 1]
        lower = text.casefold()
        same = [value for value in values if value.casefold() == lower]
        begins = [value for value in values if value.casefold().startswith(lower)]
        if same or len(begins) == 1:
            return (same or begins)[0]
        raise Refused(f"answer {', '.join(values[:-1])} or {values[-1]}")

    return check


def whole_number(low: int, high: int) -> Check:
    """Takes a whole number within bounds."""

    def check(text: str) -> int:
        if not text.isdecimal() or not low <= int(text) <= high:
            raise Refused(f"a whole number from {low} to {high}")
        return int(text)

    return check


def choose(key: str, words: str, default: str, choices: Iterable[Choice]) -> Ask:
    """A question with a list of answers."""
    listed = tuple(choices)
    return Ask(key, words, default, one_of(listed), listed)


def yes_no(key: str, words: str, default: bool) -> Ask:
    """A question that is answered True or False."""
    check = one_of((Choice("yes"), Choice("no")))
    return Ask(key, f"{words} (yes, no)", "yes" if default else "no", lambda text: check(text) == "yes")


class Walk:
    """The walk as it stands: `request` is what it wants now, None at its end."""

    def __init__(self, draft: SettingsText, steps: Sequence[Step], at: int = 0) -> None:
        """``at``: number of the step to begin with; those before it count as done."""
        self.draft = draft
        """The settings as the steps done so far leave them."""
        self.steps = tuple(steps)
        self.at = at
        self.stopped = False
        self.request: Request | None = None
        self._before: dict[int, SettingsText] = {}
        self._silent: set[int] = set()
        """Steps that had nothing to ask: going back passes them by."""
        self._sent: list[tuple[Request, Any]] = []
        self._begin()

    @property
    def step(self) -> Step | None:
        """The step that is being walked; None at the end."""
        return self.steps[self.at] if self.at < len(self.steps) else None

    @property
    def done(self) -> tuple[str, ...]:
        """Names of the steps that lie behind."""
        return tuple(step.name for step in self.steps[: self.at])

    def answer(self, text: str) -> str:
        """Answer the present question, or go another way; gives why the answer cannot be, or nothing."""
        ask = self.request
        if not isinstance(ask, Ask):
            raise TypeError(f"no question is open, but {ask}")
        said = text.strip()
        if said.casefold() in COMMANDS:
            {"back": self._back, "again": self._again, "skip": self._skip, "stop": self._stop}[said.casefold()]()
            return ""
        try:
            value = ask.check(said or ask.default)
        except Refused as should:
            return str(should)
        self._send(value)
        return ""

    def give(self, result: Any = None) -> None:
        """What came of the present `Do`; of a `Tell`, nothing."""
        if self.request is None or isinstance(self.request, Ask):
            raise TypeError(f"a question is answered, not given {result!r}")
        self._send(result)

    def leave(self) -> None:
        """Leave this step as it was: what it needs is not here."""
        self._skip()

    def _send(self, value: Any) -> None:
        if self.request is not None:
            self._sent.append((self.request, value))
        self._advance(value)

    def _advance(self, value: Any) -> None:
        try:
            self.request = self._run.send(value)
        except StopIteration as end:
            self.draft = end.value
            asked = any(isinstance(request, Ask) for request, _ in self._sent)
            (self._silent.discard if asked else self._silent.add)(self.at)
            self.at += 1
            self._begin()

    def _begin(self, sent: Sequence[tuple[Request, Any]] = ()) -> None:
        """Start the present step, and play again what was sent."""
        self._sent = list(sent)
        step = self.step
        if step is None:
            self.request = None
            return
        self._before[self.at] = self.draft
        self._run = step.run(self.draft)
        self._advance(None)
        for _, value in sent:
            self._advance(value)

    def _back(self) -> None:
        asked = [k for k, (request, _) in enumerate(self._sent) if isinstance(request, Ask)]
        if asked:
            self._begin(self._sent[: asked[-1]])
            return
        behind = [at for at in range(self.at) if at not in self._silent]
        self.at = behind[-1] if behind else self.at
        # A step that an earlier walk did is asked again as it was left.
        self.draft = self._before.get(self.at, self.draft)
        self._begin()

    def _again(self) -> None:
        self._begin()

    def _skip(self) -> None:
        self.at += 1
        self._begin()

    def _stop(self) -> None:
        self.stopped = True
