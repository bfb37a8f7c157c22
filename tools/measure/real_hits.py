"""Onsets against recordings of real hits: ``python -m tools.measure.real_hits FOLDER`` (`make real-hits`).

The recordings are the strokes of hands on a tabla and of sticks on drums in Debian's ``sonic-pi-samples`` (CC0, from
freesound.org). No recording of hands on cards was found under a licence that allows its use. Each is laid at random
instants and levels into a room's noise, with talk behind it or none. Of each: how far its onset is from the recording's
own rise from 2 to 30 % of its largest amplitude, against `ONSET_ERROR`, and against `SOUND_ERROR`, which is what a
heard hand's instant states; exit status 1 where that is exceeded. Needs PyAV.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from referee.options.video_review.hearing import SOUND_ERROR
from referee.options.video_review.sound import ONSET_ERROR, RATE, find_onsets, read_sound
from referee.units import MS, SECOND
from tools.measure.video_sound import Room, render

_KINDS: Final = ("tabla_*", "drum_*")
_LENGTH: Final = 1.5
"""Longest part of a recording that is used, s."""
_APART: Final = 2.2
"""Time from one hit to the next, s."""
_NEAR: Final = 20 * MS
"""An onset this near a hit is taken for it."""


def recordings(folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield the name and the sound of each hit, its largest amplitude 1."""
    for file in sorted(file for kind in _KINDS for file in folder.rglob(f"{kind}.flac")):
        # A roll is many hits.
        if "roll" not in file.stem and (sound := read_sound(file)) is not None:
            hit = np.asarray(sound[: int(_LENGTH * RATE)], np.float64)
            yield file.stem, hit / np.abs(hit).max()


def compare(hit: Any, behind: str, times: int, rng: np.random.Generator) -> Iterator[int | None]:
    """Yield, for each time that a hit is laid into a sound, how far its onset is from its rise, ns; None: unheard."""
    length = int((times + 1) * _APART * SECOND)
    sound = render(Room(int(rng.integers(2**31)), noise=behind), length, [], []).astype(np.float64)
    begins = [int((1 + n * _APART + rng.uniform(0, 0.3)) * RATE) for n in range(times)]
    for begin in begins:
        sound[begin : begin + len(hit)] += hit * 0.5 * 10 ** (rng.uniform(-6, 6) / 20)
    onsets = [onset.t for onset in find_onsets(sound)]
    first, last = (int(np.argmax(np.abs(hit) >= share)) for share in (0.02, 0.3))
    for begin in begins:
        rise = [(begin + place) * SECOND // RATE for place in (first, last)]
        yield min((off for t in onsets if (off := distance(t, rise)) < _NEAR), default=None)


def distance(t: int, span: Sequence[int]) -> int:
    """Return how far an instant is outside a span, ns."""
    return max(0, span[0] - t, t - span[1])


def main() -> int:
    """Print how many hits were heard, and how far their instants were off."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--times", type=int, default=8, help="that each recording is laid into a sound (default: 8)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng, wrong = np.random.default_rng(args.seed), 0
    hits = list(recordings(args.folder))
    for behind in ("", "talk"):
        for kind in _KINDS:
            chosen = [hit for name, hit in hits if name.startswith(kind[:-1])]
            found = [off for hit in chosen for off in compare(hit, behind, args.times, rng)]
            heard = [off for off in found if off is not None]
            outside = sum(off > ONSET_ERROR for off in heard)
            wrong += sum(off > SOUND_ERROR for off in heard)
            print(
                f"{kind[:-2]}, {behind or 'quiet'}: {len(heard)} of {len(found)} heard; {outside} further than "
                f"{ONSET_ERROR / MS:g} ms from the rise, at most {max(heard, default=0) / MS:.1f} ms"
            )
    return int(wrong > 0 or not hits)


if __name__ == "__main__":
    sys.exit(main())
