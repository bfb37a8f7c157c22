"""What of a pile a pattern may look at."""

from __future__ import annotations

from typing import NamedTuple


class Look(NamedTuple):
    """What a pattern may look at."""

    top: tuple[str, ...]
    """Played cards, newest first."""
    first: str = ""
    """The first card played to this pile."""
    bottom: str = ""
    """The card that lies lowest; ``??`` where nobody saw it."""
    paid: int = 0
    """The top card is the n-th paid to a challenge; 0 where it was not paid."""
    wild: str = ""
    """The wild rank, once drawn."""
    said: str = ""
    """The rank that was called for the top card."""
    under: bool = False
    """Whether a burned card lies under the played ones."""
