"""Time from the readout of a sensor's first row to that of its last, by the model's name and mode.

Rows of a rolling shutter are exposed one after another, so one stamp stands for a span. Line lengths and pixel rates
are those of the Linux drivers (imx219.c and ov5647.c of the mainline, imx477.c and imx708.c of Raspberry Pi's kernel);
where versions differ, the slower one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_LINES_NS: Final[Mapping[str, Mapping[tuple[int, int], float]]] = {
    "imx708": {(1536, 864): 5216 / 0.5664, (2304, 1296): 7824 / 0.5856, (4608, 2592): 15_648 / 0.5952},
    "imx219": dict.fromkeys(((640, 480), (1640, 1232), (1920, 1080), (3280, 2464)), 3448 / 0.1824),
    "imx477": {
        (1332, 990): 6664 / 0.84, (2028, 1080): 12_740 / 0.84, (2028, 1520): 12_740 / 0.84,
        (4056, 3040): 24_000 / 0.84,
    },
    "ov5647": {
        (640, 480): 1852 / 0.055, (1296, 972): 1896 / 0.081_666_7, (1920, 1080): 2416 / 0.081_666_7,
        (2592, 1944): 2844 / 0.0875,
    },
}  # fmt: skip
"""Readout time of a row, ns: pixels in a line over pixels per nanosecond; by sensor and its mode's width and height."""
_GLOBAL: Final = frozenset(("imx296", "ov9281"))
"""Sensors that expose all rows at once."""


def readout_ns(model: str, mode: tuple[int, int] | None) -> int | None:
    """Return the time from the first row's readout to the last's, ns; 0 for a global shutter, None if unknown.

    Args:
        model: libcamera's name; a suffix after ``_`` (``imx708_wide_noir``) names a lens or a filter, not the sensor.
        mode: width and height of the sensor's mode, px.
    """
    sensor = model.partition("_")[0]
    if sensor in _GLOBAL:
        return 0
    line = None if mode is None else _LINES_NS.get(sensor, {}).get(mode)
    return None if line is None or mode is None else round(line * mode[1])
