"""A listener for tests: pocketsphinx with a grammar of everything that the referee can say in English.

The grammar is made from the table of phrases: every phrase, every seat, every number from 0 to 999, every card, pattern
and penalty is offered wherever it could stand, so a phrase is understood only if each of its words was heard.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hardware.sound.clips import pcm
from hardware.sound.mixer import Mixer
from hardware.sound.splice import RATE, Samples
from referee.announce.phrases import parts, words_in

ROOM: Final = RATE // 4
"""Samples of quiet before and after the speech."""
SIGNAL_TO_NOISE: Final = 20.0
"""dB, over the whole phrase."""

_UNITS: Final = "one | two | three | four | five | six | seven | eight | nine"
_TEENS: Final = "ten | eleven | twelve | thirteen | fourteen | fifteen | sixteen | seventeen | eighteen | nineteen"
_TENS: Final = "twenty | thirty | forty | fifty | sixty | seventy | eighty | ninety"
_RANKS: Final = "ace | two | three | four | five | six | seven | eight | nine | ten | jack | queen | king"
_INNER: Final = ("margin", "pattern", "penalty", "rules", "doubt", "and", "correction")
"""First parts of keys of phrases that only stand inside others."""
_STANDS_FOR: Final = {"against": "seat", "other": "card", "error": "number"}
_UNLISTED: Final = (
    ("chatters", "CH AE T ER Z"), ("slapjack", "S L AE P JH AE K"), ("slapper", "S L AE P ER"),
    ("wikibooks", "W IH K IY B UH K S"),
)  # fmt: skip
"""Words that the recogniser's dictionary lacks, with their pronunciation."""


def bare(text: str) -> str:
    """Return the words alone, in small letters: the audible part of a text."""
    return " ".join(re.findall(r"[a-z']+", text.lower()))


def _form(template: str) -> str:
    """Return a template as a grammar rule, its places as references to rules."""
    words = []
    for part in parts(template):
        place = re.match(r"\{(\w+)\}", part)
        words.append(f"<{_STANDS_FOR.get(place[1], place[1])}>" if place else bare(part))
    return " ".join(words)


def _group(prefix: str) -> list[str]:
    phrases = words_in("en").phrases
    return [_form(template) for key, template in phrases.items() if key == prefix or key.startswith(f"{prefix}.")]


def _rulings() -> list[str]:
    out = []
    for key, template in words_in("en").phrases.items():
        if key.partition(".")[0] in (*_INNER, "tell"):
            continue
        tail = " [<penalty>]" if key.startswith("slap_false") else ""
        out.append(_form(template) + tail + (" [<doubt>]" if key.startswith("slap_") else ""))
    return [*out, "the ruling is taken back"]


def _tree(paths: Iterable[Sequence[str]]) -> str:
    """Return one rule for all of them with common beginnings merged: the same language, a quarter of the search."""
    groups: dict[str, list[Sequence[str]]] = {}
    for path in paths:
        if path:
            groups.setdefault(path[0], []).append(path[1:])
    branches = []
    for word, rests in groups.items():
        rest = _tree(rests)
        if rest:
            rest = f"[ {rest} ]" if () in rests or [] in rests else f"( {rest} )"
        branches.append(f"{word} {rest}".strip())
    return " | ".join(branches)


def _rule(name: str, forms: Sequence[str]) -> str:
    return f"<{name}> = {_tree([form.split() for form in dict.fromkeys(forms)])};"


def grammar() -> str:
    """Return everything that can be said, in JSGF."""
    return "\n".join(
        (
            "#JSGF V1.0;",
            "grammar referee;",
            f"<unit> = {_UNITS};",
            f"<small> = <unit> | {_TEENS} | ( {_TENS} ) [ <unit> ];",
            "<number> = zero | <small> | <unit> hundred [ and <small> ];",
            "<seat> = seat ( one | two | three | four | five | six | seven | eight );",
            "<to> = to <seat>;",
            "<seats> = <seat> [ <seat> ] [ <seat> ] and <seat>;",
            f"<digits> = {' '.join(['( zero | <unit> )'] * 6)};",
            "<ms> = one millisecond | <number> milliseconds;",
            "<cards> = one card | <number> cards;",
            "<chances> = one chance | <number> chances;",
            f"<card> = the ( {_RANKS} ) of ( spades | hearts | diamonds | clubs ) | the ( red | black ) joker;",
            f"<rank> = the ( {_RANKS} );",
            _rule("question", _group("question")),
            _rule("margin", _group("margin")),
            _rule("pattern", _group("pattern")),
            _rule("rules", _group("rules")),
            _rule("doubt", _group("doubt")),
            _rule("lock", _group("penalty.locked_out")),
            _rule("burned", _group("penalty.burn")),
            _rule("paid", _group("penalty.give")),
            "<penalty> = <burned> | strike <number> [ <lock> ] | <lock> | <paid>;",
            _rule("ruling", _rulings()),
            _rule("told", _group("tell")),
            "public <said> = [ correction ] <ruling> | <told>;",
        )
    )  # fmt: skip


Steps = Mapping[int, Sequence[tuple[int, float, str]]]
"""The steps of a network by their first state: the next state, the step's probability, and its word, if any."""


def read_network(text: str) -> tuple[int, int, Steps]:
    """Return the first state, the last one and the steps of a network as the recogniser writes it."""
    first, last = (int(found[1]) for found in re.finditer(r"^(?:START|FINAL)_STATE (\d+)$", text, re.M))
    steps: dict[int, list[tuple[int, float, str]]] = {}
    for found in re.finditer(r"^TRANSITION (\d+) (\d+) (\S+) ?(\S*)$", text, re.M):
        steps.setdefault(int(found[1]), []).append((int(found[2]), float(found[3]), found[4]))
    return first, last, steps


def merge_states(first: int, last: int, steps: Steps) -> tuple[int, int, Steps]:
    """Return the network with each two states as one after which the same may follow; it may have no circles."""
    numbers: dict[Sequence[tuple[int, float, str]] | None, int] = {None: 0}

    @cache
    def number(state: int) -> int:
        follows = {(number(to), share, word) for to, share, word in steps.get(state, ())}
        return numbers.setdefault(None if state == last else tuple(sorted(follows)), len(numbers))

    return number(first), 0, {state: follows for follows, state in numbers.items() if follows}


class Listener:
    """Transcribes sound by `grammar`, or by another one in JSGF."""

    def __init__(self, other: str = "") -> None:
        import pocketsphinx

        self._decoder: Any = pocketsphinx.Decoder(lm=None, samprate=RATE, bestpath=False, loglevel="FATAL")
        for word, sounds in _UNLISTED:
            self._decoder.add_word(word, sounds, True)
        # The recogniser copies a rule to each place where it stands, and passes through all states in each frame: most
        # are the same, and what it hears is the same without them.
        with tempfile.NamedTemporaryFile("r", encoding="utf-8") as file:
            self._decoder.parse_jsgf(other or grammar()).writefile(file.name)
            first, last, steps = merge_states(*read_network(Path(file.name).read_text(encoding="utf-8")))
        # As where it reads a file itself; `create_fsg` does not weigh.
        weight = float(self._decoder.config["lw"])
        network = [(at, to, share**weight, *word.split()) for at, ways in steps.items() for to, share, word in ways]
        self._decoder.add_fsg("referee", self._decoder.create_fsg("referee", first, last, network))
        self._decoder.activate_search("referee")

    def knows(self, word: str) -> bool:
        """Whether a word is in its dictionary."""
        return self._decoder.lookup_word(word) is not None

    def hear(self, samples: Samples) -> str:
        """Return the recognised words, or an empty text."""
        self._decoder.start_utt()
        self._decoder.process_raw(pcm(samples), no_search=False, full_utt=True)
        self._decoder.end_utt()
        found = self._decoder.hyp()
        return "" if found is None else re.sub(r"\(\d+\)", "", str(found.hypstr))


def pink(count: int, seed: int) -> Samples:
    """Return noise as rooms have it: as strong in each octave, of root mean square 1."""
    spectrum = np.fft.rfft(np.random.default_rng(seed).standard_normal(count))
    at = np.maximum(np.fft.rfftfreq(count, 1 / RATE), 50.0)
    noise: NDArray[np.float64] = np.fft.irfft(spectrum / np.sqrt(at), count)
    even: Samples = (noise / np.sqrt(np.mean(noise**2))).astype(np.float32)
    return even


def in_the_room(phrase: Samples, noise: float | None = SIGNAL_TO_NOISE, seed: int = 1) -> Samples:
    """Return the phrase as the speaker would play it, noise floor included, with a little quiet before and after.

    Args:
        phrase: the speech.
        noise: how far pink noise lies under the phrase, dB (root mean squares); None adds none to the speaker's floor.
        seed: of the noise.
    """
    mixer = Mixer()
    before = mixer.read(ROOM)
    mixer.say(phrase, urgent=True)
    heard = np.concatenate([before, mixer.read(phrase.size + ROOM)])
    if noise is None:
        return heard
    level = float(np.sqrt(np.mean(phrase.astype(np.float64) ** 2))) * 10 ** (-noise / 20)
    loud: Samples = np.clip(heard + level * pink(heard.size, seed), -1, 1).astype(np.float32)
    return loud


def shuffled(samples: Samples, chance: np.random.Generator, piece: float = 0.12) -> Samples:
    """Return the same sound in pieces of ``piece`` s, in another order."""
    count = max(2, round(samples.size / (piece * RATE)))
    pieces: Sequence[Samples] = np.array_split(samples, count)
    return np.concatenate([pieces[place] for place in chance.permutation(count)])
