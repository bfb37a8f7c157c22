"""Units of time: every instant and every span in this project is a whole number of nanoseconds."""

from typing import Final

US: Final = 1_000
MS: Final = 1_000_000
SECOND: Final = 1_000_000_000
MINUTE: Final = 60 * SECOND
_FINEST: Final = 3
"""Place of the last digit of an exact time: microseconds."""


def last_place(error: int, ns: int = 0) -> int:
    """Return the place of the last significant digit of a time, as a power of ten in ns: 6 is whole milliseconds.

    An error is a bound: the true time is no further than that from the stated one. It is shown with one digit, or two
    if the first is a one (3 ms, 1.5 ms, 80 ms, 0.04 ms), and the time ends at the same place: 45 ± 3 ms. If that would
    reverse which of the two is larger, both get one more digit, because a ruling depends on that comparison.

    Args:
        error: bound of the time's error, ns; 0 or less if it is exact.
        ns: the time, where it is shown beside its error.
    """
    if error <= 0:
        return _FINEST
    digits = str(error)
    place = len(digits) - 1
    if digits[0] == "1":
        return max(place - 1, 0)
    # A value that rounds up to the next power of ten begins with a one.
    if place == 0 or round_at(error, place) == 10 ** (place + 1):
        return place
    seems_larger = abs(round_at(ns, place)) > round_at(error, place)
    return place if seems_larger == (abs(ns) > error) else place - 1


def round_at(ns: int, place: int) -> int:
    """Return a time rounded at a place (`last_place`), halves away from zero, ns."""
    unit = 10**place
    rounded: int = (abs(ns) + unit // 2) // unit * unit
    return -rounded if ns < 0 else rounded


def whole_ms(ns: int, error: int) -> int:
    """Return a time in whole milliseconds, or coarser if its error requires it."""
    return round_at(ns, max(last_place(error, ns), len(str(MS)) - 1)) // MS
