"""A listener for tests: pocketsphinx with a grammar of everything that `classic` lets the referee say.

The grammar offers every seat, every number from 0 to 999 and every template as rivals, so a phrase is
understood only if each of its words was heard.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from hardware.clips import pcm
from hardware.mixer import Mixer
from hardware.mixing import RATE, Samples

TEMPLATES: Final = (
    "<seat> wins the slap",
    "<seat> wins the slap by <ms>",
    "<seat> wins the slap by less than one millisecond",
    "<seat> wins the slap by more than one second",
    "<seat> false slap",
    "<seat> false slap burn <cards>",
    "<seat> false slap on a dead card burn <cards>",
    "<seat> false slap strike <number>",
    "<seat> false slap strike <number> no more slaps this game",
    "<seat> burns <cards>",
    "<seat> no more slaps this game",
    "<seat> is locked out",
    "<seat> has <chances>",
    "<chances> left",
    "<seat> goes on with <chances>",
    "<seat> takes the pile",
    "<seat> picks up <cards>",
    "<seat> played out of turn dead card",
    "<seat> drew two cards dead card",
    "tie between <seat> and <seat>",
    "tie between <seat> <seat> and <seat>",
    "<seat> is out",
    "<seat> is back in the game",
    "<seat> wins the game",
    "who was first",
    "which card is this",
    "who played this card",
    "this card cannot be here which card is it",
    "slap your pad and not the pile",
    "please take off rings and watches",
    "<seat> your pad is stuck",
    "correction <seat> wins the slap by <ms>",
)
_UNIT: Final = "one | two | three | four | five | six | seven | eight | nine"
_TEEN: Final = "ten | eleven | twelve | thirteen | fourteen | fifteen | sixteen | seventeen | eighteen | nineteen"
_TEN: Final = "twenty | thirty | forty | fifty | sixty | seventy | eighty | ninety"


def _tree(paths: list[list[str]]) -> str:
    """One rule for all of them with common beginnings merged: the same language, a quarter of the search."""
    groups: dict[str, list[list[str]]] = {}
    for path in paths:
        if path:
            groups.setdefault(path[0], []).append(path[1:])
    branches = []
    for word, rests in groups.items():
        rest = _tree(rests)
        if rest:
            rest = f"[ {rest} ]" if [] in rests else f"( {rest} )"
        branches.append(f"{word} {rest}".strip())
    return " | ".join(branches)


GRAMMAR: Final = f"""#JSGF V1.0;
grammar referee;
<unit> = {_UNIT};
<small> = <unit> | {_TEEN} | ( {_TEN} ) [ <unit> ];
<number> = zero | <small> | <unit> hundred [ and <small> ];
<seat> = seat ( one | two | three | four | five | six | seven | eight );
<ms> = one millisecond | <number> milliseconds;
<cards> = one card | <number> cards;
<chances> = one chance | <number> chances;
public <said> = {_tree([template.split() for template in TEMPLATES])};
"""


class Listener:
    """Transcribes sound by `GRAMMAR`."""

    def __init__(self) -> None:
        import pocketsphinx

        self._decoder: Any = pocketsphinx.Decoder(lm=None, samprate=RATE, bestpath=False, loglevel="FATAL")
        self._decoder.add_jsgf_string("referee", GRAMMAR)
        self._decoder.activate_search("referee")

    def hear(self, samples: Samples) -> str:
        """The words that were heard, or nothing."""
        self._decoder.start_utt()
        self._decoder.process_raw(pcm(samples), no_search=False, full_utt=True)
        self._decoder.end_utt()
        found = self._decoder.hyp()
        return "" if found is None else str(found.hypstr)


def in_the_room(phrase: Samples) -> Samples:
    """The phrase as the speaker would play it, noise floor and all, with a little quiet before and after."""
    quiet = RATE // 4
    mixer = Mixer()
    before = mixer.read(quiet)
    mixer.say(phrase)
    return np.concatenate([before, mixer.read(phrase.size + quiet)])


def shuffled(samples: Samples, chance: np.random.Generator, piece: float = 0.12) -> Samples:
    """The same sound in pieces of ``piece`` s, in another order."""
    count = max(2, round(samples.size / (piece * RATE)))
    pieces: Sequence[Samples] = np.array_split(samples, count)
    return np.concatenate([pieces[place] for place in chance.permutation(count)])


def _form(text: str) -> str:
    """The text with its seats and numbers taken for blanks."""
    words = " | ".join((_UNIT, _TEEN, _TEN, "zero")).split(" | ")
    one = rf"(?:{'|'.join(words)})\b"
    text = re.sub(rf"\bseat {one}", "<seat>", text)
    text = re.sub(rf"\b{one}(?: {one}| hundred\b| and {one})*", "<number>", text)
    for name, noun in (("<ms>", "millisecond"), ("<cards>", "card"), ("<chances>", "chance")):
        text = re.sub(rf"<number> {noun}s?\b", name, text)
    return text


def template_of(text: str) -> str | None:
    """The template that a phrase was made from; None if the grammar cannot hear it."""
    return {_form(template): template for template in TEMPLATES}.get(_form(text))
