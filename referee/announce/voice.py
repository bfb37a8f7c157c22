"""What the referee says: from rulings to the names of clips. Pure; nothing here makes a sound.

A clip's name is the text that it speaks, so a phrase reads as it sounds: ``("seat three", "wins the slap",
"by", "fourteen", "milliseconds")``. The words stand in `referee.app.phrases`, one module a language; here is what is
said of which ruling, how urgent it is, and what makes it untrue. Everything that can be said is in `vocabulary`,
rendered ahead. Players are called by their seats, since a name that nobody rendered cannot be spoken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final

from referee.adjudication.rulings import Ruling
from referee.app.phrases.language import MOST, MOST_SEATS, Clips, Language, with_mark
from referee.app.phrases.languages import BY_CODE, words_in
from referee.app.voice_words import margin_words, words_of

if TYPE_CHECKING:
    from hardware.ports import Speaker

__all__ = [
    "LANGUAGES", "MOST", "MOST_SEATS", "VOCABULARY", "Clips", "Phrase", "Priority", "announce", "margin", "number",
    "pad_stuck", "phrase", "seat", "speak", "spelling", "tell", "vocabulary",
]  # fmt: skip

LANGUAGES: Final = tuple(BY_CODE)
"""Codes of the languages that there are words in."""


class Priority(IntEnum):
    """How a phrase stands to others."""

    COUNT = 0
    """True for a moment only: dropped when late, cut off by a verdict."""
    CALL = 1
    """Worth saying until something overtakes it; cut off by a verdict."""
    VERDICT = 2
    """Interrupts the two others, and is itself spoken to its end."""


PATIENCE: Final = {Priority.COUNT: 0.8, Priority.CALL: 2.5, Priority.VERDICT: 5.0}
"""How long a phrase may wait for its turn until it is no longer worth saying, s."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Something to say."""

    clips: Clips
    """Names of clips, in order; each is in `vocabulary` but for the mark at its end, which is a pause."""
    priority: Priority
    t: int
    """The instant that it speaks of, ns."""
    language: str = "en"
    topic: str = ""
    """A later phrase of the same topic makes this one untrue."""

    @property
    def urgent(self) -> bool:
        """Whether it interrupts what is being said."""
        return self.priority is Priority.VERDICT

    @property
    def patience(self) -> float:
        """How long it may wait for its turn, s."""
        return PATIENCE[self.priority]

    @property
    def text(self) -> str:
        """The phrase in writing, in its language: for those who do not hear."""
        return words_in(self.language).written(self.clips)


def speak(speaker: Speaker, said: Phrase) -> None:
    """Have a phrase said, with all that the speaker must know of it."""
    speaker.say(said.clips, urgent=said.urgent, patience=said.patience, topic=said.topic)


def vocabulary(language: str = "en") -> Clips:
    """Every clip that any phrase of a language can ask for."""
    return words_in(language).vocabulary()


def spelling(language: str = "en") -> Mapping[str, str]:
    """Words of a language that synthesisers say wrongly, and how to write them for them."""
    return words_in(language).spelling


VOCABULARY: Final = vocabulary()
"""That of English."""


def number(value: int, language: str = "en") -> Clips:
    """Clips of a whole number from 0 to `MOST`; raises `NoWords` (a `ValueError`) for others."""
    return words_in(language).number(value)


def seat(place: int, language: str = "en") -> str:
    """The clip that calls a seat; raises `NoWords` (a `ValueError`) where there is no pad for one."""
    return words_in(language).seat(place)


def margin(ns: int | None, language: str = "en") -> Clips:
    """A margin as people say it, whole milliseconds, never more than it was; nothing where nobody was second."""
    return margin_words(words_in(language), ns)


_COUNTS: Final = frozenset(("challenge", "chance", "pile"))
_CALLS: Final = frozenset(
    ("slap_void", "challenge_moves", "challenge_off", "challenge_won", "repeated", "remind", "corrected")
)
_TOPICS: Final = {
    "challenge": "challenge", "chance": "challenge", "challenge_moves": "challenge", "challenge_off": "challenge",
    "challenge_won": "challenge",
}  # fmt: skip


def _priority(ruling: Ruling) -> Priority:
    if ruling.supersedes:
        return Priority.VERDICT
    if ruling.kind in _COUNTS:
        return Priority.COUNT
    return Priority.CALL if ruling.kind in _CALLS else Priority.VERDICT


def phrase(ruling: Ruling, language: str = "en") -> Phrase | None:
    """What to say of one ruling; None where the lights say enough."""
    words = words_in(language)
    clips = words_of(ruling, words)
    if ruling.doubt and clips and ruling.kind.startswith("slap_"):
        clips = (*with_mark(clips, "."), *words.say("doubt"))
    if ruling.supersedes and ruling.kind not in ("lead", "turn", "corrected"):
        clips = (*words.say("correction"), *clips) if clips else words.say("correction.void")
    if not clips:
        return None
    return Phrase(clips, _priority(ruling), ruling.t, language, _TOPICS.get(ruling.kind, ""))


def announce(rulings: Iterable[Ruling], language: str = "en") -> list[Phrase]:
    """What to say of rulings that came together, joined where people would join it.

    A penalty follows its false slap in one breath: "seat two, false slap. burn one card".
    """
    phrases: list[Phrase] = []
    before: Ruling | None = None
    for ruling in rulings:
        said = phrase(ruling, language)
        if said is None:
            continue
        if before is not None and _is_penalty_of(ruling, before):
            joined = (*with_mark(phrases[-1].clips, "."), *words_of(ruling, words_in(language), penalty=True))
            phrases[-1] = replace(phrases[-1], clips=joined)
            continue
        phrases.append(said)
        before = ruling
    return phrases


def _is_penalty_of(ruling: Ruling, before: Ruling) -> bool:
    return (
        before.kind == "slap_false"
        and ruling.kind in ("burn", "strike", "locked_out")
        and not ruling.supersedes
        and (ruling.t, ruling.get("seat")) == (before.t, before.get("seat"))
    )


_APPLIANCE_TOPICS: Final = ("camera", "view", "pads", "lights", "log", "pause")
_COLLECTED: Final = {"paused": "pause", "resumed": "pause", "still_paused": "pause", "waits_for_camera": "pause"}


def tell(what: str, t: int = 0, language: str = "en", priority: Priority = Priority.VERDICT, **fields: Any) -> Phrase:
    """What the appliance itself says: a key ``tell.…`` of the phrases, without that prefix.

    Args:
        what: such as ``roll_call``, ``camera_gone``, ``first_hand``.
        t: the instant that it speaks of, ns.
        language: its code.
        priority: how it stands to other phrases.
        fields: what the phrase names: ``seat``, ``margin`` (ns, or None where nobody was second), ``rules`` (a preset's
            name; any other is the table's own), ``number``, ``digits`` (a text of them).

    Raises:
        NoWords: there is no such phrase, a field is missing, or there are no words for it.
    """
    words = words_in(language)
    key, places = f"tell.{what}", _places(words, fields)
    if places.get("margin") and words.has(f"{key}.margin"):
        key += ".margin"
    topic = _COLLECTED.get(what, what.partition("_")[0])
    clips = words.say(key, **places)
    return Phrase(clips, priority, t, language, topic if topic in _APPLIANCE_TOPICS else "")


def _places(words: Language, fields: dict[str, Any]) -> dict[str, Clips]:
    out: dict[str, Clips] = {}
    for name, value in fields.items():
        if name == "seat":
            out[name] = (words.seat(value),)
        elif name == "margin":
            out[name] = margin_words(words, value)
        elif name == "rules":
            known = f"rules.{value}" if isinstance(value, str) else ""
            out[name] = words.say(known if words.has(known) else "rules.own")
        elif name == "number":
            out[name] = words.number(value)
        elif name == "digits":
            out[name] = tuple(f"{clip}," for digit in value for clip in words.number(int(digit)))
    return out


def pad_stuck(place: int, t: int, language: str = "en") -> Phrase:
    """Said when a pad has been down for too long to be a hand; ``t`` in ns."""
    return tell("pad_stuck", t, language, seat=place)
