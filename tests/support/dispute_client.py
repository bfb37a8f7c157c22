"""`referee review` as a separate process, and a client of its page."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.error import HTTPError

from referee.engine.observations import Slap
from referee.units import SECOND
from tests.support.patience import PATIENCE

ROOT = Path(__file__).parents[2]


class ShownMoment(NamedTuple):
    """A moment as the page shows it."""

    name: str
    card: str
    frames: range


class ReviewedVideo:
    """The command's process; its address is known once the video has been read."""

    def __init__(self, video: Path, log: Path, *options: str, seats: str = "Ana,Ben,Cho,Dora") -> None:
        command = [sys.executable, "-m", "referee", "review", str(video), "--seats", seats, "--log", str(log)]
        self._process = subprocess.Popen(
            [*command, "--no-browser", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
        )
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip().rstrip("/")
        if not self.address:
            assert self._process.stderr is not None
            raise RuntimeError(self._process.stderr.read())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.stop()

    def stop(self) -> str:
        """Interrupt it as Ctrl-C does; return its last output."""
        self._process.terminate()
        said, complaint = self._process.communicate(timeout=PATIENCE)
        assert self._process.returncode in (0, None), complaint
        return said

    def post(self, act: str, **fields: Any) -> dict[str, Any]:
        """Send a post of the page's script; return the answer."""
        head = {"Content-Type": "application/json", "Origin": self.address}
        asked = urllib.request.Request(f"{self.address}/api/review/{act}", json.dumps(fields).encode(), head)
        try:
            with urllib.request.urlopen(asked) as answer:
                said = json.load(answer)
        except HTTPError as error:
            said = json.load(error)
        assert isinstance(said, dict)
        return said

    def read(self, path: str = "/") -> bytes:
        """Return the page's answer to a GET."""
        with urllib.request.urlopen(f"{self.address}{path}") as answer:
            data = answer.read()
        assert isinstance(data, bytes)
        return data

    def moments(self) -> list[ShownMoment]:
        """Return every moment of the page, by its card's instant."""
        html = self.read().decode()
        told = re.search(r'data-moments="([^"]*)"', html)
        assert told is not None
        names: dict[str, str] = dict(load.split(" ") for load in json.loads(told[1].replace("&quot;", '"')))
        shown = {}
        for part in html.split("<section ")[1:]:
            name = re.search(r'data-moment="([^"]+)"', part)
            frames = [int(frame) for frame in re.findall(r'data-frame="(\d+)"', part)]
            if name is not None:
                shown[name[1]] = ShownMoment(name[1], names[name[1]], range(frames[0], frames[-1] + 1))
        return [shown[name] for name in names]


def first_frame(slap: Slap, fps: float) -> int:
    """Return the first frame of a video that shows a lying hand which came down at a known instant."""
    return -(-round(slap.t * fps) // SECOND)
