"""The Pi camera's real shell over the simulated driver, opened by name: ``twin``, ``twin:silent@30``, ``twin:/path``.

What stands after the colon is a script of faults (`hardware.simulated.devices.camera_faults`) or, where it holds a slash, the
path of a file that holds one, and may change while the camera runs.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from hardware.camera.pi_camera import PiCamera, PiCameraSettings
from hardware.camera.pi_driver import open_driver
from hardware.simulated.devices.camera_faults import Faults
from hardware.simulated.devices.pi_driver_twin import Pictures, SimulatedPicamera2, plain


def open_twin(source: str = "twin", *, pictures: str | Pictures = plain, **look: Any) -> PiCamera:
    """A Pi camera without a Pi, at real pace, on the real clocks.

    Args:
        source: as above.
        look: fields of `hardware.camera.pi_camera.PiCameraSettings`; None leaves one as it is.
        pictures: paints each frame, or the import path (``package.module:function``) of what does; see
            `hardware.simulated.devices.pi_driver_twin.Pictures`.

    Raises:
        HardwareMissing: by a fault of the opening.
        ValueError: there is no such fault.
    """
    _, _, told = source.partition(":")
    faults = Faults(switch=Path(told)) if "/" in told else Faults(told)
    paint: Pictures = _imported(pictures) if isinstance(pictures, str) else pictures
    driver = open_driver(lambda: _load(faults, paint))
    return PiCamera(PiCameraSettings().changed(**look), driver=driver, source=source)


def _load(faults: Faults, paint: Pictures) -> Any:
    """What the import of picamera2 gives, or raises."""
    now = faults.at(-1)
    if "uninstalled" in now:
        raise ModuleNotFoundError("No module named 'picamera2'", name="picamera2")
    if "bindings" in now:
        raise ModuleNotFoundError("No module named 'libcamera'", name="libcamera")
    if "mismatch" in now:
        raise ImportError("_libcamera.cpython-311-aarch64-linux-gnu.so: undefined symbol: _ZN9libcamera4_logE")
    if "numpy" in now:
        raise ValueError("numpy.dtype size changed, may indicate binary incompatibility")
    return lambda: SimulatedPicamera2(faults, pictures=paint)


def _imported(path: str) -> Any:
    module, _, function = path.partition(":")
    return getattr(importlib.import_module(module), function)
