"""A real Mosquitto on a free port of this machine, for tests and the bench; can be stopped and restarted."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.support.patience import PATIENCE

MISSING: Final = "mosquitto is not here"
PROGRAM: Final = shutil.which("mosquitto", path="/usr/sbin:/usr/bin:/usr/local/sbin:/sbin:/bin")


def free_port() -> int:
    """Return a port without a listener."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


class Mosquitto:
    """One broker. ``password`` names a file made by ``mosquitto_passwd``; without it the broker is open to all."""

    def __init__(self, folder: Path, *, password: Path | None = None, lines: tuple[str, ...] = ()) -> None:
        if PROGRAM is None:
            raise RuntimeError(MISSING)
        self.port = free_port()
        self._settings = folder / "mosquitto.conf"
        enter = "allow_anonymous true" if password is None else f"allow_anonymous false\npassword_file {password}"
        # As root it would become a user who may not read a test's folder.
        text = f"user root\nlistener {self.port} 127.0.0.1\npersistence false\nlog_dest none\n{enter}\n"
        self._settings.write_text(text + "\n".join(lines) + "\n", encoding="utf-8")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Return its process id."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it; it answers when this returns."""
        assert PROGRAM is not None
        self._process = subprocess.Popen([PROGRAM, "-c", str(self._settings)], stderr=subprocess.DEVNULL)
        until = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), PATIENCE).close()
                return
            except OSError:
                if time.monotonic() > until or self._process.poll() is not None:
                    raise

    def kill(self) -> None:
        """Kill it as if its plug were pulled; its retained data is lost."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.kill()
