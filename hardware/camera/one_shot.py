"""Finds exposure, white balance and focus of the Pi's camera by its own automatics, once, so that they can be held.

A fixed lens is set to 1 dioptre and sharp from half a metre to two; one autofocus run finds the setting for a table.
Uses libcamera's controls ``AeEnable``, ``AwbEnable``, ``AfMode`` and ``AfTrigger``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

# Values of libcamera's enumerations, to avoid the import.
AF_MANUAL: Final = 0
_AF_AUTO: Final = 1
_AF_START: Final = 0
_SCANNING, _FOCUSED, _FAILED = 1, 2, 3

_LATE: Final = 12
"""Number of frames until a changed control shows; a change took 11."""
_EVEN: Final = 10
"""Number of consecutive frames with equal exposure and colours after which the automatics have settled."""
_LIKE: Final = 0.02
"""Share by which those may differ."""
_LIGHT_PATIENCE: Final = 120
"""Most frames allowed for exposure and white balance."""
_FOCUS_PATIENCE: Final = 150
"""Most frames allowed for an autofocus run."""
_LONGEST_US: Final = 30_000
_MOST_GAIN: Final = 16.0

Look = Callable[[], Mapping[str, Any]]
"""Waits for the next frame and returns its metadata."""


@dataclass(frozen=True, slots=True)
class Adjustment:
    """The values found by the automatics."""

    look: Mapping[str, Any]
    """Fields of `hardware.camera.pi_camera.PiCameraSettings`: ``exposure_us``, ``gain``, ``colour_gains``, and
    ``lens_position`` if the lens found its focus.
    """
    words: tuple[str, ...]
    """For people: the values found, and those not found."""


def find_look(camera: Any, look: Look) -> Adjustment:
    """Run the automatics of a started camera and read their results; they are left running.

    Args:
        camera: a ``Picamera2`` object.
        look: waits for the next frame.
    """
    found, light = _find_light(camera, look)
    lens, focus = _find_focus(camera, look)
    return Adjustment(found | lens, (light, focus))


def _find_light(camera: Any, look: Look) -> tuple[dict[str, Any], str]:
    # Older versions of libcamera keep a fixed exposure and gain until they get 0; newer ones ignore that.
    camera.set_controls({"AeEnable": True, "ExposureTime": 0, "AnalogueGain": 0.0, "AwbEnable": True})
    for _ in range(_LATE):
        look()
    last: deque[tuple[float, ...]] = deque(maxlen=_EVEN)
    told: Mapping[str, Any] = {}
    for _ in range(_LIGHT_PATIENCE):
        told = look()
        last.append((_light_of(told), *(float(gain) for gain in told.get("ColourGains", ()))))
        if len(last) == _EVEN and all(max(row) <= min(row) * (1 + _LIKE) for row in zip(*last, strict=True)):
            break
    exposure = min(int(told.get("ExposureTime", _LONGEST_US)), _LONGEST_US)
    gain = min(max(1.0, _light_of(told) / exposure), _MOST_GAIN)
    found: dict[str, Any] = {"exposure_us": exposure, "gain": round(gain, 2)}
    words = f"exposure {exposure / 1000:.1f} ms at gain {gain:.1f}"
    if "ColourGains" in told:
        found["colour_gains"] = tuple(round(float(colour_gain), 3) for colour_gain in told["ColourGains"])
        words += ", white balance {:.2f} and {:.2f}".format(*found["colour_gains"])
    return found, f"{words}: found by the camera and held"


def _light_of(told: Mapping[str, Any]) -> float:
    """Return exposure times gain, which determines brightness, µs."""
    gain = float(told.get("AnalogueGain", 1.0)) * float(told.get("DigitalGain", 1.0))
    return float(told.get("ExposureTime", _LONGEST_US)) * gain


def _find_focus(camera: Any, look: Look) -> tuple[dict[str, Any], str]:
    if not {"AfMode", "LensPosition"} <= set(camera.camera_controls):
        return {}, "this camera has no autofocus: turn its lens by hand until the table is sharp"
    camera.set_controls({"AfMode": _AF_AUTO, "AfTrigger": _AF_START})
    began = False
    for count in range(_FOCUS_PATIENCE):
        told = look()
        state = told.get("AfState")
        # Ignore the state left by an earlier run.
        began = began or state == _SCANNING or count >= 2 * _LATE
        if began and state == _FOCUSED and "LensPosition" in told:
            lens = round(float(told["LensPosition"]), 2)
            far = f" ({100 / lens:.0f} cm)" if lens > 0.1 else ""
            return {"lens_position": lens}, f"the lens found its focus at {lens:g} dioptres{far}, and is held there"
        if began and state == _FAILED:
            break
    return {}, (
        "the lens found no focus and is left where the settings have it: lay the sheet, or cards, in the middle of the "
        "picture, in good light, and calibrate again; or set camera.lens_position (1 / metres to the table)"
    )
