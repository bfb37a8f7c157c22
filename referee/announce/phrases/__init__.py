"""The words of the voice: a table of phrases for each language, and how a phrase is put together from clips.

A table (``en.toml``) holds one template a key. Bars separate its clips, and braces hold a place for other clips. The
text between two bars is spoken in one breath, so it is one clip: ``"{seat} | wins the slap, | {margin}"``. A mark at
the end of a clip is not spoken: it is a pause, and shows in writing. A hyphen there ties it to the next clip in one
word (German ``einhundert-`` ``vierzehn``). Number words follow Unicode's rules; the table says how a language changes
them before a noun.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any, Final

from unicode_rbnf import RbnfEngine

from hardware.sound.splice import PAUSE_MARKS
from referee.rules.cards import JOKERS, PACK, RANKS, SUITS
from referee.text.catalogue import LANGUAGES

Clips = tuple[str, ...]
"""Names of clips, each the text that it speaks, optionally with a mark at its end."""

MOST: Final = 999
"""The greatest number that has words."""
MOST_SEATS: Final = 8
_PLACE: Final = re.compile(r"\{(\w+)\}([,.:;?!]?)$")


class NoWords(ValueError):  # noqa: N818 - it names a state of the table of phrases
    """There are no words for a number, a seat, a key or a language."""


class Language:
    """The phrases of one language."""

    def __init__(self, code: str) -> None:
        """Raises `OSError` if there is no table of this language."""
        with (Path(__file__).parent / f"{code}.toml").open("rb") as file:
            self._table: Mapping[str, Any] = tomllib.load(file)
        self.code = code
        self.phrases: Mapping[str, str] = self._table["phrases"]
        """Templates by key."""
        self.spelling: Mapping[str, str] = self._table.get("spelling", {})
        """Words that synthesisers mispronounce, and the spelling that makes them say the word correctly."""
        self.nouns: Mapping[str, Mapping[str, str]] = self._table["nouns"]
        """Countable nouns: in each language ``card``, ``chance`` and ``ms``."""
        self._names: Mapping[int, str] = {}

    def calling(self, names: Mapping[int, str]) -> Language:
        """Return a copy of the language that calls these seats by their names."""
        called = copy(self)
        called._names = names
        return called

    def number(self, value: int) -> Clips:
        """Return the clips of a whole number by itself, hundreds and the rest in a clip each; raises `NoWords` outside
        0 to `MOST`.
        """
        if not 0 <= value <= MOST:
            raise NoWords(f"no words for {value}: only 0 to {MOST} are rendered")
        whole = self._numeral(value)
        if value < 100 or value % 100 == 0:
            return (whole,)
        rest = self._numeral(value % 100)
        head = whole.removesuffix(rest)
        return (head.rstrip() if head.endswith(" ") else f"{head}-", rest)

    def _numeral(self, value: int) -> str:
        words = _in_words(value, self.code, self._table["numerals"])
        return words.replace("-", self._table.get("hyphen", "-"))

    def counted(self, value: int, noun: str) -> Clips:
        """Return the clips of a whole number and its noun, inflected for gender, number and case; raises `NoWords` as
        `number`.

        Args:
            value: how many.
            noun: one of `nouns`.
        """
        forms = self.nouns[noun]
        fixed = forms.get({0: "zero", 1: "one"}.get(value, ""))
        if fixed is not None:
            return tuple(parts(fixed))
        *head, last = (self._before_noun(clip, forms.get("form", "")) for clip in self.number(value))
        # Numbers in this range share a clip with their noun; by default none do.
        least, most = self._table.get("joined", (1, 0))
        if least <= (value % 100 or value) <= most:
            return (*head, f"{last} {forms['many']}")
        return (*head, last, forms["many"])

    def _before_noun(self, numeral: str, form: str) -> str:
        for pattern, ending in self._table.get("forms", {}).get(form, ()):
            changed, count = re.subn(pattern, ending, numeral)
            if count:
                return changed
        return numeral

    def card(self, name: str) -> Clips:
        """Return the clips of a card (``7h``, ``Xr``)."""
        if name in JOKERS:
            return (self._table["jokers"][JOKERS.index(name)],)
        rank, suit = self._table["ranks"][RANKS.index(name[0])], self._table["suits"][SUITS.index(name[1])]
        return tuple(part.format(rank=rank, suit=suit) for part in parts(self._table["card"]))

    def rank(self, name: str) -> str:
        """Return the clip of a rank alone (``7``, ``K``)."""
        return str(self._table["ranks"][RANKS.index(name)])

    def seat(self, place: int) -> str:
        """Return the clip that calls a seat or its player; raises `NoWords` for a seat that has none."""
        if place in self._names:
            return self._names[place]
        if not 1 <= place <= MOST_SEATS:
            raise NoWords(f"no clip for seat {place}: seats are 1 to {MOST_SEATS}")
        return str(self._table["seat"]).format(number=self._numeral(place))

    def to(self, place: int) -> Clips:
        """Return the clips that name a recipient: an article precedes a seat but not a name."""
        of_seat, of_name = self._table["to"]
        return (of_name if place in self._names else of_seat, self.seat(place))

    def has(self, key: str) -> bool:
        """Return whether there is a phrase of this key."""
        return key in self.phrases

    def say(self, key: str, **places: Clips) -> Clips:
        """Return the clips of a phrase, its places filled.

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
        """Return the clips as a written line, with capitals and a full stop where they belong."""
        text = " ".join(clips).replace("- ", "").rstrip(",:;-")
        text = re.sub(r"(^|[.?!] )(\W*)(\w)", lambda found: found[1] + found[2] + found[3].upper(), text)
        if not text.endswith((".", "?", "!")):
            text += "."
        for mark in self._table.get("spaced", ""):
            text = text.replace(mark, f"\u202f{mark}")
        return text

    def vocabulary(self) -> Clips:
        """Return every clip that any phrase can ask for, each once, without marks."""
        # Each number below a hundred, each hundred by itself and before another number: all others are made of these.
        numbers = (*range(102), *(hundred + rest for hundred in range(200, MOST, 100) for rest in (0, 1)))
        said = [*map(self.seat, range(1, MOST_SEATS + 1)), *(clip for value in numbers for clip in self.number(value))]
        said += [clip for noun in self.nouns for value in numbers for clip in self.counted(value, noun)]
        said += [clip for card in (*PACK, *JOKERS) for clip in self.card(card)]
        said += [*map(self.rank, RANKS), *self._table["to"]]
        said += [part for text in self.phrases.values() for part in parts(text) if not _PLACE.fullmatch(part)]
        return tuple(dict.fromkeys(map(spoken, said)))


@cache
def _in_words(value: int, language: str, rules: str) -> str:
    words: str = RbnfEngine.for_language(language).format_number(value, ruleset_names=[rules]).text
    return words.replace("\u00ad", "")


@cache
def words_in(code: str) -> Language:
    """Return the language of a code; raises `NoWords` for one that the referee does not speak."""
    if code not in LANGUAGES:
        raise NoWords(f"no language {code!r}: the referee speaks {', '.join(LANGUAGES)}")
    return Language(code)


def parts(template: str) -> Iterator[str]:
    """Yield the parts of a template between its bars."""
    return (part.strip() for part in template.split("|") if part.strip())


def places(template: str) -> tuple[str, ...]:
    """Return the names of a template's places, in order."""
    return tuple(re.findall(r"\{(\w+)\}", template))


def spoken(clip: str) -> str:
    """Return a clip's name without the marks that are not spoken."""
    return clip.rstrip(PAUSE_MARKS)


def with_mark(clips: Clips, mark: str) -> Clips:
    """Return the same clips, with ``mark`` in place of the mark of the last one."""
    if not clips or not mark:
        return clips
    return (*clips[:-1], spoken(clips[-1]) + mark)
