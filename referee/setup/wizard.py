"""The setup wizard: questions out, answers in. Pure; the terminal and the devices are elsewhere.

A step is a generator: it yields requests (a `Question` to a person, a `DeviceCall`, a `Remark`), is sent their results,
and returns the new settings. Results are kept, so going back replays them without the last answer, and no device action
is repeated for it. `referee.setup.console` holds the dialogue in a terminal, `referee.setup.wizard_site` in a browser.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from referee.errors import UserError
from referee.sentence import Sentence, Spoken, words_of
from referee.settings.file import SettingsText

Parse = Callable[[str], Any]
"""Turns typed text into a value; raises `BadAnswer`."""


class BadAnswer(Spoken):
    """An invalid answer; the text says what would be valid."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a person."""

    id: str
    words: str
    default: str
    """The answer for an empty line."""
    check: Parse
    choices: Mapping[str, str] = field(default_factory=dict)
    """The possible answers, if there is a list: typed text and meaning; a meaning's first line is its title."""
    kind: str = ""
    """``switches``: the answer lists, with commas, all choices that are on; ``names``: it is a list of names; ``file``:
    it is the text of a file that a page uploads."""
    cards: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Cards that a page draws beside a choice."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A message; it has no result."""

    words: str


@dataclass(frozen=True, slots=True)
class DeviceCall:
    """An action of a device; its result is sent back (see `referee.setup.bench.Bench`)."""

    what: str
    """Name of a method of the bench."""
    arguments: Mapping[str, Any]
    words: str = ""
    """Message shown meanwhile."""

    def carry_out(self, bench: object) -> Any:
        """Return the result of the bench's method, or a `Failure`."""
        try:
            return getattr(bench, self.what)(**self.arguments)
        except UserError as error:
            return Failure(words_of(error))


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a device did nothing."""

    words: str


Request = Question | Remark | DeviceCall
Run = Generator[Request, Any, SettingsText]


@dataclass(frozen=True, slots=True)
class WizardStep:
    """One part of the wizard."""

    name: str
    title: str
    run: Callable[[SettingsText], Run]


COMMANDS: Final = {
    "back": Sentence("the question before this one"),
    "again": Sentence("this step from its beginning"),
    "skip": Sentence("leave this step as it was"),
    "stop": Sentence("keep what was done; `referee setup` goes on here"),
}
"""Commands that may be typed instead of an answer."""


YES_NO: Final = {"yes": Sentence("Yes"), "no": Sentence("No")}
"""The choices of a question that is answered yes or no."""


_NO_SWITCH: Final = "none"
"""The answer that leaves every switch off."""


def one_of(values: Sequence[str]) -> Parse:
    """Return a check for one of these words, by the word, its number in the list, or a unique prefix."""

    def check(text: str) -> str:
        if text.isdecimal() and text not in values and 1 <= int(text) <= len(values):
            return values[int(text) - 1]
        lower = text.casefold()
        same = [value for value in values if value.casefold() == lower]
        begins = [value for value in values if value.casefold().startswith(lower)]
        if same or len(begins) == 1:
            return (same or begins)[0]
        if len(values) == 1:
            raise BadAnswer(Sentence("answer {word}", word=values[0]))
        raise BadAnswer(Sentence("answer {words} or {last}", words=values[:-1], last=values[-1]))

    return check


def whole_number(low: int, high: int) -> Parse:
    """Return a check for a whole number within bounds."""

    def check(text: str) -> int:
        if not text.isdecimal() or not low <= int(text) <= high:
            raise BadAnswer(Sentence("a whole number from {low} to {high}", low=low, high=high))
        return int(text)

    return check


def choose(key: str, words: str, default: str, choices: Mapping[str, str]) -> Question:
    """Return a question with a list of answers and their meanings."""
    return Question(key, words, default, one_of(list(choices)), choices)


def yes_no(key: str, words: str, default: bool) -> Question:
    """Return a question that is answered True or False."""
    check = one_of(tuple(YES_NO))
    return Question(key, words, "yes" if default else "no", lambda text: check(text) == "yes", YES_NO)


def switches(key: str, words: str, on: Sequence[str], choices: Mapping[str, str]) -> Question:
    """Return a question with several switches, some of them on; it is answered with a list of those to be on."""
    one = one_of(list(choices))

    def check(text: str) -> list[str]:
        if text.casefold() == _NO_SWITCH:
            return []
        told = {one(word.strip()) for word in text.split(",")}
        return [name for name in choices if name in told]

    return Question(key, words, ", ".join(on) or _NO_SWITCH, check, choices, "switches")


class Wizard:
    """The state of the wizard: `request` is the current request, None at its end."""

    def __init__(self, draft: SettingsText, steps: Sequence[WizardStep], at: int = 0) -> None:
        """``at``: index of the first step to run; those before it count as done."""
        self.draft = draft
        """The settings after the steps done so far."""
        self.steps = tuple(steps)
        self.at = at
        self.stopped = False
        self.request: Request | None = None
        self._before: dict[int, SettingsText] = {}
        self._silent: set[int] = set()
        """Steps without questions: going back skips them."""
        self._sent: list[tuple[Request, Any]] = []
        self._begin()

    @property
    def step(self) -> WizardStep | None:
        """The current step; `None`: the wizard has ended."""
        return self.steps[self.at] if self.at < len(self.steps) else None

    @property
    def done(self) -> tuple[str, ...]:
        """Names of the finished steps."""
        return tuple(step.name for step in self.steps[: self.at])

    def answer(self, text: str) -> str:
        """Answer the current question, or carry out a command; return why the answer is invalid, or an empty text.

        An answer that is valid, but not with the earlier ones, ends its step, which is left as it was.
        """
        question = self.request
        if not isinstance(question, Question):
            raise TypeError(f"no question is open, but {question}")
        try:
            return self._take(question, text.strip())
        except UserError as error:
            self.skip()
            return Sentence("That cannot be: {why}. This step is left as it was.", why=words_of(error))

    def _take(self, question: Question, typed: str) -> str:
        match typed.casefold():
            case "back":
                self.go_back()
            case "again":
                self._begin()
            case "skip":
                self.skip()
            case "stop":
                self.stopped = True
            case _:
                try:
                    value = question.check(typed or question.default)
                except BadAnswer as error:
                    return error.sentence
                self._sent.append((question, value))
                self._advance(value)
        return ""

    def give(self, result: Any = None) -> None:
        """Send the result of the current `DeviceCall`; for a `Remark`, None. A `Failure` ends the step."""
        if self.request is None or isinstance(self.request, Question):
            raise TypeError(f"a question is answered, not given {result!r}")
        if isinstance(result, Failure):
            # A missing device ends its step, never the wizard.
            self.skip()
            return
        self._sent.append((self.request, result))
        self._advance(result)

    def go_to(self, name: str) -> None:
        """Run a step by its name, with the present settings."""
        self.at = next(at for at, step in enumerate(self.steps) if step.name == name)
        self._begin()

    def skip(self) -> None:
        """Leave this step as it was."""
        self.at += 1
        self._begin()

    def _advance(self, value: Any) -> None:
        try:
            self.request = self._run.send(value)
        except StopIteration as error:
            self.draft = error.value
            asked = any(isinstance(request, Question) for request, _ in self._sent)
            # Going back must not stop at a step that would run through at once.
            (self._silent.discard if asked else self._silent.add)(self.at)
            self.at += 1
            self._begin()

    def _begin(self, sent: Sequence[tuple[Request, Any]] = ()) -> None:
        """Start the current step, and replay the results."""
        self._sent = list(sent)
        if self.step is None:
            self.request = None
            return
        self._before[self.at] = self.draft
        self._run = self.step.run(self.draft)
        self._advance(None)
        for _, value in sent:
            self._advance(value)

    def go_back(self) -> None:
        """Ask the question before this one again; a device call at work is given up."""
        asked = [k for k, (request, _) in enumerate(self._sent) if isinstance(request, Question)]
        if asked:
            self._begin(self._sent[: asked[-1]])
            return
        behind = [at for at in range(self.at) if at not in self._silent]
        self.at = behind[-1] if behind else self.at
        # A step finished in an earlier run is asked again from its final state.
        self.draft = self._before.get(self.at, self.draft)
        self._begin()
