"""Opens picamera2, and explains its errors with words that say what to do. The only file that imports picamera2, and
only when needed: it comes with the system, not with pip.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from typing import Any, Final

from hardware.ports import HardwareMissing

_INSTALL: Final = "sudo apt install python3-picamera2 --no-install-recommends"
_MEND: Final = f"sudo apt update && sudo apt full-upgrade, then {_INSTALL} --reinstall python3-libcamera, and reboot"
_USB: Final = 'or use a USB camera (source = "usb:0")'


def open_driver(load: Callable[[], Callable[[], Any]] | None = None) -> Any:
    """Return an open ``Picamera2`` object.

    Args:
        load: finds the class; a simulated camera passes its own.

    Raises:
        HardwareMissing: picamera2 is missing or does not fit its libcamera or numpy; no camera, or it is in use.
    """
    try:
        if load is None:
            from picamera2 import Picamera2
        else:
            Picamera2 = load()  # noqa: N806 - a class
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and error.name in (None, "picamera2"):
            raise HardwareMissing(
                "the Raspberry Pi's own camera is set, and this machine has no driver for it: no card is seen, so the "
                "first hand is named and no slap is judged; begin the evening again and choose another camera (on a "
                "Raspberry Pi, `referee doctor` says what to install)"
            ) from error
        raise HardwareMissing(_import_words(error)) from error
    except Exception as error:  # C code of another release raises whatever it likes
        words = f"picamera2 cannot be loaded ({_root_message(error)}): {_MEND}"
        if "numpy" in str(error):
            words = (
                f"picamera2's parts were built for another numpy ({error}): on Raspberry Pi OS Bookworm, in this "
                "environment, pip install 'numpy<2' opencv-python==4.11.0.86"
            )
        raise HardwareMissing(words) from error
    try:
        return Picamera2()
    except (IndexError, RuntimeError, OSError) as error:
        message = _root_message(error)
        words = memory_words(error) or (
            f"no camera answers on the ribbon cable ({message}): switch the power off, push both ends of the cable in, "
            f"and see `rpicam-hello --list-cameras`; {_USB}"
        )
        if "busy" in message.lower() or "in use" in message.lower():
            words = (
                f"another program holds the camera ({message}): close it; `sudo lsof /dev/video* /dev/media*` names it"
            )
        raise HardwareMissing(words) from error


def memory_words(error: BaseException) -> str | None:
    """Return advice if contiguous memory for buffers is short; None if that is not the error."""
    if any(
        getattr(exception, "errno", None) == errno.ENOMEM or "allocat" in str(exception).lower()
        for exception in _chain(error)
    ):
        return (
            f"there is not enough contiguous memory for the camera's buffers ({_root_message(error)}): close other "
            "programs that use the camera or the screen, reboot, or give it more (cma-256 at the vc4 overlay in "
            "/boot/firmware/config.txt), or choose a smaller picture; `grep Cma /proc/meminfo` shows what is left"
        )
    return None


def _import_words(error: ImportError) -> str:
    if isinstance(error, ModuleNotFoundError):
        return (
            f"picamera2 lacks {error.name}: it must be the system's, not pip's. pip uninstall picamera2, then "
            f"{_INSTALL}, in an environment made with --system-site-packages"
        )
    # This follows a partial upgrade, or a libcamera built by hand in /usr/local.
    return (
        f"picamera2 and libcamera do not fit together ({error}): {_MEND}; a libcamera under /usr/local, built by hand, "
        "must go"
    )


def _root_message(error: BaseException) -> str:
    """Return the innermost words: picamera2 wraps the cause in ever more general ones."""
    return [str(exception) or type(exception).__name__ for exception in _chain(error)][-1]


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
