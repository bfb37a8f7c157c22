"""Sounds that are no speech: pure, made from arithmetic."""

from __future__ import annotations

from typing import Final

import numpy as np

from hardware.sound.splice import RATE, Samples, faded

_LEVEL: Final = 0.2
"""Peak of a cue; together with speech it stays near full scale."""


def _pluck(pitches: tuple[float, ...], seconds: float) -> Samples:
    """Partials that die away, as of wood that is struck: nothing in speech begins so steeply."""
    t = np.arange(round(seconds * RATE)) / RATE
    tone = sum(np.sin(2 * np.pi * pitch * t) / (place + 1) for place, pitch in enumerate(pitches))
    struck = tone * np.exp(-t * 6 / seconds)
    return faded((_LEVEL * struck / np.max(np.abs(struck))).astype(np.float32))


CUES: Final = {"slap": _pluck((1320.0, 3410.0, 5830.0), 0.07)}
"""By name. ``slap``: a pad was touched, whatever the touch will be worth."""
