"""A language's phrase table, and how a phrase is put together from clips: pure.

A table holds one template a key. Bars part its clips, braces hold a place for other clips, and what stands between
two bars is spoken in one breath, so it is one clip: ``"{seat} | wins the slap, | {pattern}, | {margin}"``. A mark at
the end of a clip is not spoken: it is a pause, and shows in writing. A hyphen there ties it to the next clip in one
word (German ``einhundert-`` ``vierzehn``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

Clips = tuple[str, ...]

MARKS: Final = ",.:;?!-"
"""What a clip's name may end in without being spoken."""
MOST: Final = 999
"""The greatest number that has words."""
MOST_SEATS: Final = 8
SUITS: Final = "shdc"
RANKS: Final = "A23456789TJQK"
JOKERS: Final = ("Xr", "Xb")
COUNTED: Final = ("card", "chance", "ms")
"""What is counted: each language has nouns of these names."""

_PLACE: Final = re.compile(r"\{(\w+)\}([,.:;?!]?)$")


class NoWords(ValueError):  # noqa: N818 - it names a state of the table of phrases
    """There are no words for a number, a seat or a key."""


@dataclass(frozen=True, slots=True)
class Language:
    """Everything that can be said in one language."""

    code: str
    name: str
    """As its speakers call it."""
    phrases: Mapping[str, str]
    """Templates by key."""
    seats: Clips
    """What the seats 1 to `MOST_SEATS` are called."""
    number: Callable[[int], Clips]
    """A whole number from 0 to `MOST` without a noun."""
    counted: Callable[[int, str], Clips]
    """A whole number from 0 to `MOST` and one of the nouns `COUNTED`, as its gender, number and case want it."""
    card: Callable[[str], Clips]
    """A card (``7h``, ``Xr``)."""
    numbers: Clips
    """Every clip that `number` and `counted` can give."""
    spelling: Mapping[str, str] = field(default_factory=dict)
    """Words that synthesisers say wrongly, and how to write them so that they say them right."""
    spaced: str = ""
    """Marks that are written with a narrow space before them."""

    def seat(self, place: int) -> str:
        """The clip that calls a seat; raises `NoWords` for one that has none."""
        if not 1 <= place <= MOST_SEATS:
            raise NoWords(f"no clip for seat {place}: seats are 1 to {MOST_SEATS}")
        return self.seats[place - 1]

    def has(self, key: str) -> bool:
        """Whether there is a phrase of this key."""
        return key in self.phrases

    def say(self, key: str, **places: Clips) -> Clips:
        """The clips of a phrase, its places filled.

        Args:
            key: a key of `phrases`.
            places: clips for each place that the template has; those of an empty place vanish with their pause.

        Raises:
            NoWords: there is no such phrase, or a place has nothing to fill it.
        """
        if key not in self.phrases:
            raise NoWords(f"no phrase {key!r} in {self.code}")
        out: list[str] = []
        for part in parts(self.phrases[key]):
            place = _PLACE.fullmatch(part)
            if place is None:
                out.append(part)
                continue
            name, mark = place.groups()
            if name not in places:
                raise NoWords(f"the phrase {key!r} needs {name!r}")
            out += with_mark(places[name], mark)
        return tuple(out)

    def written(self, clips: Clips) -> str:
        """Clips as a line for those who do not hear: capitals and a full stop where they belong."""
        text = " ".join(clips).replace("- ", "").rstrip(",:;-")
        text = re.sub(r"(^|[.?!] )(\W*)(\w)", lambda found: found[1] + found[2] + found[3].upper(), text)
        if not text.endswith((".", "?", "!")):
            text += "."
        for mark in self.spaced:
            text = text.replace(mark, f"\u202f{mark}")
        return text

    def vocabulary(self) -> Clips:
        """Every clip that any phrase can ask for, each once, without marks."""
        words = dict.fromkeys(self.seats)
        words.update(dict.fromkeys(self.numbers))
        for card in (*JOKERS, *(rank + suit for suit in SUITS for rank in RANKS)):
            words.update(dict.fromkeys(map(spoken, self.card(card))))
        for template in self.phrases.values():
            words.update(dict.fromkeys(spoken(part) for part in parts(template) if not _PLACE.fullmatch(part)))
        return tuple(words)


def parts(template: str) -> Iterator[str]:
    """What stands between the bars of a template."""
    for part in template.split("|"):
        if part.strip():
            yield part.strip()


def places(template: str) -> tuple[str, ...]:
    """The names of a template's places, in their order."""
    return tuple(re.findall(r"\{(\w+)\}", template))


def spoken(clip: str) -> str:
    """A clip's name without the marks that are not spoken."""
    return clip.rstrip(MARKS)


def with_mark(clips: Clips, mark: str) -> Clips:
    """The same clips, the last of them with a mark in place of the one it has."""
    if not clips or not mark:
        return clips
    return (*clips[:-1], spoken(clips[-1]) + mark)
