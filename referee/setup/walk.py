"""The walk by which a table is set up: questions out, answers in. Pure; the terminal and the devices are elsewhere.

A step is a generator: it yields what it wants (a `Question` to a person, a `DeviceCall`, a `Remark`), is sent what came
of it, and returns the settings as they are afterwards. What was sent is kept, so going back is playing the same again
without the last answer, and nothing is done twice to a device for it. `referee.setup.console` holds the conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from referee.sentence import Sentence, Spoken
from referee.settings.file import SettingsText

Check = Callable[[str], Any]
"""Turns what was typed into a value; raises `BadAnswer`."""


class BadAnswer(Spoken):
    """An answer that cannot be; the text says what would be."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a person."""

    id: str
    words: str
    default: str
    """What an empty line means."""
    check: Check
    choices: Mapping[str, str] = field(default_factory=dict)
    """The answers to choose from, if there is a list: what is typed, and what it means."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something to tell; nothing is sent back."""

    words: str


@dataclass(frozen=True, slots=True)
class DeviceCall:
    """Something to do with a device; what came of it is sent back (see `referee.setup.device_checks.Bench`)."""

    what: str
    """Name of a method of the bench."""
    arguments: Mapping[str, Any]
    words: str = ""
    """What people are told meanwhile."""


Request = Question | Remark | DeviceCall
Run = Generator[Request, Any, SettingsText]


@dataclass(frozen=True, slots=True)
class WalkStep:
    """One part of the walk."""

    name: str
    title: str
    run: Callable[[SettingsText], Run]


COMMANDS: Final = {
    "back": Sentence("the question before this one"),
    "again": Sentence("this step from its beginning"),
    "skip": Sentence("leave this step as it was"),
    "stop": Sentence("keep what was done; `referee setup` goes on here"),
}
"""What may be typed instead of an answer."""


def one_of(values: Sequence[str]) -> Check:
    """Takes one of these by its word, its number in the list, or how its word begins."""

    def check(text: str) -> str:
        if text.isdecimal() and text not in values and 1 <= int(text) <= len(values):
            return values[int(text) - 1]
        lower = text.casefold()
        same = [value for value in values if value.casefold() == lower]
        begins = [value for value in values if value.casefold().startswith(lower)]
        if same or len(begins) == 1:
            return (same or begins)[0]
        raise BadAnswer(Sentence("answer {words} or {last}", words=values[:-1], last=values[-1]))

    return check


def whole_number(low: int, high: int) -> Check:
    """Takes a whole number within bounds."""

    def check(text: str) -> int:
        if not text.isdecimal() or not low <= int(text) <= high:
            raise BadAnswer(Sentence("a whole number from {low} to {high}", low=low, high=high))
        return int(text)

    return check


def choose(key: str, words: str, default: str, choices: Mapping[str, str]) -> Question:
    """A question with a list of answers, each with what it means."""
    return Question(key, words, default, one_of(list(choices)), choices)


def yes_no(key: str, words: str, default: bool) -> Question:
    """A question that is answered True or False."""
    check = one_of(("yes", "no"))
    return Question(
        key,
        Sentence("{question} (yes, no)", question=words),
        "yes" if default else "no",
        lambda text: check(text) == "yes",
    )


class Walk:
    """The walk as it stands: `request` is what it wants now, None at its end."""

    def __init__(self, draft: SettingsText, steps: Sequence[WalkStep], at: int = 0) -> None:
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
    def step(self) -> WalkStep | None:
        """The step that is being walked; None at the end."""
        return self.steps[self.at] if self.at < len(self.steps) else None

    @property
    def done(self) -> tuple[str, ...]:
        """Names of the steps that lie behind."""
        return tuple(step.name for step in self.steps[: self.at])

    def answer(self, text: str) -> str:
        """Answer the present question, or go another way; gives why the answer cannot be, or nothing."""
        question = self.request
        if not isinstance(question, Question):
            raise TypeError(f"no question is open, but {question}")
        typed = text.strip()
        match typed.casefold():
            case "back":
                self._go_back()
            case "again":
                self._begin()
            case "skip":
                self.skip()
            case "stop":
                self.stopped = True
            case _:
                try:
                    value = question.check(typed or question.default)
                except BadAnswer as bad:
                    return bad.sentence
                self._sent.append((question, value))
                self._advance(value)
        return ""

    def give(self, result: Any = None) -> None:
        """Send what came of the present `DeviceCall`; of a `Remark`, nothing."""
        if self.request is None or isinstance(self.request, Question):
            raise TypeError(f"a question is answered, not given {result!r}")
        self._sent.append((self.request, result))
        self._advance(result)

    def go_to(self, name: str) -> None:
        """Walk a step by its name, with the settings as they are now."""
        self.at = next(at for at, step in enumerate(self.steps) if step.name == name)
        self._begin()

    def skip(self) -> None:
        """Leave this step as it was."""
        self.at += 1
        self._begin()

    def _advance(self, value: Any) -> None:
        try:
            self.request = self._run.send(value)
        except StopIteration as end:
            self.draft = end.value
            asked = any(isinstance(request, Question) for request, _ in self._sent)
            (self._silent.discard if asked else self._silent.add)(self.at)
            self.at += 1
            self._begin()

    def _begin(self, sent: Sequence[tuple[Request, Any]] = ()) -> None:
        """Start the present step, and play again what was sent."""
        self._sent = list(sent)
        if self.step is None:
            self.request = None
            return
        self._before[self.at] = self.draft
        self._run = self.step.run(self.draft)
        self._advance(None)
        for _, value in sent:
            self._advance(value)

    def _go_back(self) -> None:
        asked = [k for k, (request, _) in enumerate(self._sent) if isinstance(request, Question)]
        if asked:
            self._begin(self._sent[: asked[-1]])
            return
        behind = [at for at in range(self.at) if at not in self._silent]
        self.at = behind[-1] if behind else self.at
        # A step that an earlier walk did is asked again as it was left.
        self.draft = self._before.get(self.at, self.draft)
        self._begin()
