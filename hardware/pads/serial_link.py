"""Serial lines through pyserial: the thin shell under `hardware.pads.serial_source`."""

from __future__ import annotations

import errno
import logging
from pathlib import Path
from typing import Any, Final

from hardware.pads.serial_source import SerialLink
from hardware.ports import HardwareMissing

USER_TO_DIALOUT: Final = "put your user into the group dialout (sudo usermod -aG dialout $USER), then log in again"
"""Advice for a serial line that may not be opened."""
_SPEED: Final = 115_200
"""Bits per second on a real serial line; USB ignores it."""
_MOST: Final = 4096

_log = logging.getLogger(__name__)


class SerialLine:
    """An open line; implements `hardware.pads.serial_source.SerialLink`."""

    def __init__(self, port: Any) -> None:
        """``port``: a `serial.Serial`."""
        self._port = port

    def fileno(self) -> int:
        """Return the descriptor that is readable when data has come."""
        return int(self._port.fileno())

    def read(self) -> bytes:
        """Return the data received."""
        return bytes(self._port.read(_MOST))

    def write(self, data: bytes) -> None:
        """Send; data that the board does not accept is dropped, since it will be asked again."""
        import serial

        try:
            self._port.write(data)
        except serial.SerialTimeoutException:
            _log.info("a pad board takes nothing at present")

    def close(self) -> None:
        """Release the line."""
        self._port.close()


class SerialPorts:
    """This machine's serial lines; implements `hardware.pads.serial_source.SerialLinks`."""

    def __init__(self) -> None:
        """Raise `HardwareMissing` if pyserial is missing."""
        try:
            import serial  # noqa: F401
        except ImportError as error:
            raise HardwareMissing(
                "a pad board needs pyserial, which cannot be loaded ({why}): make install (pip install pyserial)",
                why=error,
            ) from error
        self.refused = ""
        """A line that may not be opened, with advice; empty if there was none recently."""

    def open(self, device: str) -> SerialLink | None:
        """Open a line by its file, or the first one on USB; None if it is missing."""
        import serial

        self.refused = ""
        path = device or next(iter(usb_ports()), "")
        if not path:
            return None
        try:
            # Do not block on reads, and keep other programs from reading the line.
            return SerialLine(serial.Serial(path, _SPEED, timeout=0, write_timeout=0, exclusive=True))
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EPERM):
                self.refused = f"{path} may not be opened, so its pads are not heard: {USER_TO_DIALOUT}"
            elif error.errno in (errno.EAGAIN, errno.EBUSY):
                self.refused = f"another program holds {path}: end it, so that its pads are heard"
            else:
                _log.info("%s cannot be opened: %s", path, error)
            return None


def usb_ports() -> list[str]:
    """Return the files of serial lines on USB, as boards use."""
    from serial.tools import list_ports

    # A name by maker and number stays the same, whatever else is plugged in.
    names = {str(link.resolve()): str(link) for link in sorted(Path("/dev/serial/by-id").glob("*"))}
    ports = sorted(str(port.device) for port in list_ports.comports() if port.vid is not None)
    return [names.get(port, port) for port in ports]
