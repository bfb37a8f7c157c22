"""Adjustment of the camera to its room: focus, exposure and white balance, and the mains frequency from flicker.

The values found are fixed at once and stored in the settings, so that they do not change during a game.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final

from hardware.camera.pi_camera import PiCamera
from hardware.ports import Frame
from models.table_view.light import Exposure
from models.table_view.mains import BEAT_FRAMES, BEAT_RATES, Flicker, Mains, is_steady, steady_rate
from referee.settings.model import CameraSettings
from referee.setup.calibration import tell

_BEAT_US: Final = 3000
"""Exposure for measuring flicker, µs: one as long as a whole swing would average it out."""
_MOST_GAIN: Final = 16.0


def adjusted(settings: CameraSettings, values: Mapping[str, Any]) -> CameraSettings:
    """Return the settings with other values of ``[camera]``; None leaves a value unchanged."""
    given = {name: value for name, value in values.items() if value is not None}
    return CameraSettings.model_validate({**settings.model_dump(), **given})


def changes(before: CameraSettings, after: CameraSettings) -> dict[str, Any]:
    """Return the keys of a settings file that differ."""
    one, other = before.model_dump(), after.model_dump()
    return {f"camera.{name}": value for name, value in other.items() if one[name] != value}


def adjust_camera(camera: PiCamera, settings: CameraSettings) -> tuple[CameraSettings, Mains]:
    """Let the camera adjust itself, measure the mains, and fix all values; print each step and its result."""
    tell("the camera finds its focus and the light: keep hands off the table")
    found = camera.adjust()
    for words in found.words:
        tell("  {words}", words=words)
    after = adjusted(settings, found.look)
    mains = _find_mains(camera, after)
    after = with_mains(after, mains)
    camera.hold(fps=after.fps, exposure_us=after.exposure_us, gain=after.gain)
    return after, mains


def _find_mains(camera: PiCamera, settings: CameraSettings) -> Mains:
    tell("looking for lamps that flicker")
    light = settings.exposure_us * settings.gain
    exposure = min(_BEAT_US, settings.exposure_us)
    flicker = Flicker()
    for rate in BEAT_RATES:
        camera.hold(fps=rate, exposure_us=exposure, gain=round(min(_MOST_GAIN, max(1.0, light / exposure)), 2))
        for frame in islice(camera.frames(), BEAT_FRAMES):
            flicker.feed(frame.image, frame.t, frame.exposure)
    return flicker.judge()


def mains_of(frames: Iterable[Frame]) -> Mains:
    """Return the mains frequency, as far as the camera's own frame rate reveals it."""
    flicker = Flicker()
    for frame in frames:
        flicker.feed(frame.image, frame.t, frame.exposure)
    return flicker.judge()


def with_mains(settings: CameraSettings, mains: Mains) -> CameraSettings:
    """Return the settings with these mains, and a matching frame rate unless bands already stand still; print the
    result.
    """
    if mains.hz is not None:
        tell("  lamps flicker with {hz} Hz mains, by {share} %", hz=mains.hz, share=f"{100 * mains.ripple:.1f}")
    elif settings.mains_hz is None:
        tell("  no lamp's flicker is seen; if lamps are lit later, set camera.mains_hz and camera.fps")
    hz = mains.hz or settings.mains_hz
    if hz is None or is_steady(settings.fps, hz):
        return adjusted(settings, {"mains_hz": hz})
    tell("  {hz} frames/s from now on: bands of lamps stand still at that", hz=f"{steady_rate(hz):g}")
    return adjusted(settings, {"mains_hz": hz, "fps": steady_rate(hz)})


def hold_exposure(camera: PiCamera, settings: CameraSettings, wanted: Exposure) -> CameraSettings:
    """Set the camera to this exposure."""
    after = adjusted(settings, {"exposure_us": wanted.exposure_us, "gain": wanted.gain})
    camera.hold(exposure_us=after.exposure_us, gain=after.gain)
    tell(
        "  exposed for white paper: {time} ms at gain {gain}",
        time=f"{after.exposure_us / 1000:.1f}",
        gain=f"{after.gain:g}",
    )
    return after
