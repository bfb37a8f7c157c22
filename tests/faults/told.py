"""A watcher in the looking process, which reports the observations that a test writes into a folder."""

from __future__ import annotations

import json
import os
import signal
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from referee.engine.foresight import Foresight
from referee.engine.log import encode_observation, from_fields
from referee.engine.observations import Card, Observation
from referee.vision.sight import Watching

LAG = 100_000_000
"""Lag of its watermark behind its frames, ns."""


@dataclass(frozen=True)
class Told:
    """The folder, and its possible contents: on this side of the process, and as a factory on the other."""

    folder: Path

    def __call__(self) -> Watching:
        return _Teller(self)

    def happen(self, seen: Observation) -> None:
        """Let an event happen before the camera."""
        with (self.folder / "told.jsonl").open("a") as out:
            out.write(encode_observation(seen) + "\n")

    def lay_out(self, *cards: str) -> None:
        """Set the cards that a new watcher finds on the table."""
        self._set("lying", json.dumps(cards))

    def hide(self, state: str) -> None:
        """Set the view: ``dark``, ``blocked``, or clear (empty)."""
        self._set("view", state)

    def hang(self, seconds: float) -> None:
        """Let the next frame take this long."""
        self._set("hang", str(seconds))

    def _set(self, name: str, text: str) -> None:
        beside = self.folder / f"{name}.new"
        beside.write_text(text)
        beside.replace(self.folder / name)

    def get(self, name: str) -> str:
        file = self.folder / name
        return file.read_text() if file.exists() else ""


class _Teller:
    def __init__(self, told: Told) -> None:
        self._orders = told
        self._at = len(told.get("told.jsonl"))
        self._first = True
        self.watermark = -1
        self.trouble = self.state = ""

    def recall(self, foresight: Foresight | None) -> None: ...

    def feed(self, image: Any, t: int, t_error: int) -> list[Observation]:
        if self._orders.get("hang"):
            seconds = float(self._orders.get("hang"))
            (self._orders.folder / "hang").unlink()
            time.sleep(seconds)
        self.state = self.trouble = self._orders.get("view")
        seen: list[Observation] = []
        if self._first:
            seen = [Card(t=t, card=card) for card in json.loads(self._orders.get("lying") or "[]")]
            self._first = False
        lines = self._orders.get("told.jsonl")
        seen += [from_fields(json.loads(line), 0) for line in lines[self._at :].splitlines()]
        self._at = len(lines)
        if not self.state:
            self.watermark = t - LAG
        return [_without_id(line) for line in seen]

    def finish(self) -> list[Observation]:
        return []


def _without_id(seen: Observation) -> Observation:
    # In a watcher's form; the codec's fields for unknown values cannot travel.
    return replace(seen, id="", extra=dict(seen.extra))


def kill(pid: int | None) -> None:
    """Kill a process as the kernel does."""
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
