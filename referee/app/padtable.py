"""What the settings tell of a table's pads, as the filter of their edges takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardware.crosstalk import Crosstalk
from hardware.slaps import PadFilter

if TYPE_CHECKING:
    from referee.app.settings import Settings

US = 1000


def pad_filter(settings: Settings, start: int, *, force: bool = False, prefix: str = "") -> PadFilter:
    """The filter for this table's pads, with everything that was measured at them.

    Args:
        settings: those of the table.
        start: an instant before any edge, ns.
        force: whether a force sampler is there and will tell.
        prefix: stands before each id.

    Raises:
        ValueError: the pads were measured at a table with other seats (the settings refuse that, too).
    """
    seats = len(settings.seats)
    measured = settings.pads_measured
    if measured is None:
        return PadFilter(seats, start, force=force, prefix=prefix)
    errors = tuple(max(settings.pads.t_error_us, error) * US for error in measured.t_error_us)
    return PadFilter(
        seats,
        start,
        t_errors=errors,
        crosstalk=Crosstalk(
            tuple(tuple(length * US for length in row) for row in measured.crosstalk_us),
            errors,
            tuple(bounce * US for bounce in measured.bounce_us),
        ),
        force=force,
        prefix=prefix,
    )
