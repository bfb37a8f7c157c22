"""The game that was broken off, as the wizard offers it: go on with it, or begin a new one. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, Protocol

from referee.sentence import Sentence, joined
from referee.settings.file import SettingsText
from referee.setup.wizard import DeviceCall, Run, choose

_WEEK: Final = 7
_WEEKDAYS: Final = (
    Sentence("on Monday"), Sentence("on Tuesday"), Sentence("on Wednesday"), Sentence("on Thursday"),
    Sentence("on Friday"), Sentence("on Saturday"), Sentence("on Sunday"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LeftGame:
    """A game that was broken off, as it stood at its last recorded instant."""

    day: str
    """The day on which it began, in words (`name_day`)."""
    players: Sequence[tuple[str, int | None]]
    """Names by seat, with the cards that each player holds; None: the number is not known."""
    pile: Sequence[str]
    """Cards of the pile, oldest first; ``??`` for one that was not read."""


class LeftGames(Protocol):
    """The record, as the wizard needs it."""

    def find(self, text: str) -> LeftGame | None:
        """Return the broken-off game that can be resumed with these settings; None if there is none."""

    def end(self) -> None:
        """End the broken-off game; it stays among the recorded games."""


def left_game_step(draft: SettingsText) -> Run:
    """Ask whether the broken-off game goes on; silent if there is none."""
    left: LeftGame | None = yield DeviceCall("find_left_game", {"text": draft.text})
    if left is None:
        return draft
    words = Sentence(
        "The game that began {day} was broken off: {players}; {pile}. Go on with it?",
        day=left.day, players=describe_players(left), pile=describe_pile(left),
    )  # fmt: skip
    choices = {
        "on": Sentence("Go on with that game"),
        "new": Sentence("Begin a new game (the old one is kept)"),
    }
    choice = yield choose("left_game.choice", words, "on", choices)
    yield DeviceCall("choose_game", {"resume": choice == "on"})
    return draft


def describe_table(left: LeftGame) -> str:
    """Return the cards that must lie on the table before the game goes on."""
    return Sentence(
        "Lay the cards as they lay then: {players}; {pile}. Then keep your hands off the pile.",
        players=describe_players(left), pile=describe_pile(left),
    )  # fmt: skip


def describe_players(left: LeftGame) -> str:
    """Return each player's name and number of cards, as in ``Ana 29, Ben 18``."""
    return ", ".join(f"{name} {'?' if count is None else count}" for name, count in left.players)


def describe_pile(left: LeftGame) -> str:
    """Return how many cards the pile has, and which is on top."""
    if not left.pile:
        return Sentence("no pile")
    words = [Sentence("{cards} on the pile", cards=len(left.pile))]
    if left.pile[-1] != "??":
        words.append(Sentence("({card} on top)", card=left.pile[-1]))
    return joined(words)


def name_day(day: date, today: date) -> str:
    """Return a past day in words: today, yesterday, the weekday within a week, else the date."""
    ago = (today - day).days
    if ago in (0, 1):
        return Sentence("yesterday") if ago else Sentence("today")
    if 0 < ago < _WEEK:
        return _WEEKDAYS[day.weekday()]
    return Sentence("on {date}", date=day.isoformat())
