"""What the speaker says is understood by a recogniser that is offered every seat, number and template as
rivals.

``python -m tests.hardware.test_voice_understood`` hears every phrase and prints the figures; the test hears
each template at a third of the seats, so as not to last for minutes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from hardware.clips import FLITE, Clips
from hardware.mixing import Samples
from referee.app.voice import VOCABULARY, Phrase
from tests.hardware.listening import Listener, in_the_room, shuffled, template_of
from tests.hardware.spoken import phrases_of_classic

WANTED: Final = 0.95
BASELINE: Final = 0.10
"""More than this share of spoilt phrases understood would mean that the grammar does the listening."""
EACH: Final = 3
"""The test hears each third phrase; the number of templates a seat has is no multiple of it, so all have
their turn.
"""

pytestmark = [
    pytest.mark.audio,
    pytest.mark.skipif(
        shutil.which("flite") is None, reason="no speech synthesiser: flite is not installed (apt install flite)"
    ),
]


@cache
def _listener() -> Listener:
    return Listener()


def _hear(samples: Samples) -> str:
    return _listener().hear(samples)


def heard_right(phrases: Sequence[Phrase], sounds: Sequence[Samples]) -> list[tuple[str, str]]:
    """What was said and what was heard, where they differ. Listens on all cores."""
    with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        heard = list(pool.map(_hear, sounds, chunksize=4))
    return [(phrase.text, words) for phrase, words in zip(phrases, heard, strict=True) if words != phrase.text]


def _share(phrases: Sequence[Phrase], wrong: Sequence[tuple[str, str]]) -> float:
    return 1 - len(wrong) / len(phrases)


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Clips:
    return Clips(FLITE, Path(tmp_path_factory.getbasetemp()) / "clips")


def test_the_grammar_knows_every_phrase() -> None:
    for phrase in phrases_of_classic():
        assert template_of(phrase.text), f"{phrase.text!r} is no rival in the grammar"
        assert set(phrase.clips) <= set(VOCABULARY)


def test_the_sample_holds_every_template() -> None:
    every = {template_of(phrase.text) for phrase in phrases_of_classic()}
    assert {template_of(phrase.text) for phrase in phrases_of_classic(each=EACH)} == every


def test_phrases_are_understood(clips: Clips) -> None:
    phrases = phrases_of_classic(each=EACH)
    wrong = heard_right(phrases, [in_the_room(clips.phrase(one.clips)) for one in phrases])
    assert _share(phrases, wrong) >= WANTED, wrong


@pytest.mark.parametrize("spoil", ["reversed", "shuffled"])
def test_spoilt_sound_is_not_understood(clips: Clips, spoil: str) -> None:
    chance = np.random.default_rng(5)
    ways: dict[str, Callable[[Samples], Samples]] = {
        "reversed": lambda samples: samples[::-1].copy(),
        "shuffled": lambda samples: shuffled(samples, chance),
    }
    phrases = phrases_of_classic(each=EACH)[::7]
    wrong = heard_right(phrases, [in_the_room(ways[spoil](clips.phrase(one.clips))) for one in phrases])
    assert _share(phrases, wrong) <= BASELINE, f"{spoil} sound passes for speech"


def main() -> None:
    """Hear everything, and print the figures."""
    bank = Clips(FLITE)
    bank.render(VOCABULARY)
    chance = np.random.default_rng(5)
    phrases = phrases_of_classic()
    plain = [bank.phrase(one.clips) for one in phrases]
    wrong = heard_right(phrases, [in_the_room(one) for one in plain])
    for said, heard in wrong:
        print(f"said {said!r}, heard {heard!r}", flush=True)
    print(
        f"understood   {len(phrases) - len(wrong)} of {len(phrases)} phrases, {_share(phrases, wrong):.1%}", flush=True
    )
    some = phrases[::4]
    backwards = heard_right(some, [in_the_room(one[::-1].copy()) for one in plain[::4]])
    print(f"reversed     {len(some) - len(backwards)} of {len(some)}, {_share(some, backwards):.1%}")
    mixed = heard_right(some, [in_the_room(shuffled(one, chance)) for one in plain[::4]])
    print(f"shuffled     {len(some) - len(mixed)} of {len(some)}, {_share(some, mixed):.1%}")


if __name__ == "__main__":
    main()
