"""From the main process to the page: what is new, as one datagram over a local socket.

The main process never waits for the page: a page that is slow, dead or not yet there loses datagrams (Linux keeps ten).
Each says the whole present, captions that could not be told go with the next one, and the page looks into the record by
itself. So that the page is up to date soon after a burst, the main process tells at least once a second.
"""

from __future__ import annotations

import contextlib
import json
import socket
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from referee.engine.view import ChallengeView, View

LONGEST: Final = 128 * 1024
"""Bytes of one datagram, below what Linux sends over a local socket by default."""


def news(
    game: int | None,
    line: int,
    view: View,
    *,
    now: int,
    troubles: Mapping[str, str] | None = None,
    said: Sequence[str] = (),
    rulings: Sequence[Mapping[str, Any]] = (),
    paused: bool = False,
    about: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What the main process tells.

    Args:
        game: the game's number in the record; None between games, when only the table itself has something to say.
        line: number of the last line that is in the record.
        view: the position as believed.
        now: the present instant on the game's line of time, ns.
        troubles: what is not well, by part, in words; replaces what was told before.
        said: the text of each phrase that was spoken since the last news.
        rulings: rulings that were decided but are not in the log yet, as `ruling_fields`; the log's replace them by id.
        paused: whether the game is paused.
        about: the table itself, so that the page offers what it can do: ``pads`` (how many are set up), ``names``,
            ``rules`` (a preset's name, or what a log's first line says), ``voice`` (``volume``, ``quiet_volume``,
            ``quiet_from``, ``quiet_to``; None where there is no voice), ``power_off`` (whether it can be switched off).
            What is None or missing here is not offered.
    """
    fields = asdict(view)
    fields["locked_out"] = sorted(view.locked_out)
    return {
        "game": game, "line": line, "view": fields, "now": now, "troubles": dict(troubles or {}), "said": list(said),
        "rulings": list(rulings), "paused": paused, "about": None if about is None else dict(about),
    }  # fmt: skip


UNSAID: Final = 5
"""Captions kept for a page that is not listening."""


class Publisher:
    """The main process's end. Makes no file, and may be made before the page is there."""

    def __init__(self, path: Path) -> None:
        """``path`` is where the page listens (`Receiver`)."""
        self._path = str(path)
        self._unsaid: deque[str] = deque(maxlen=UNSAID)
        self._socket: socket.socket | None = None
        with contextlib.suppress(OSError):
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            self._socket.setblocking(False)

    def tell(self, told: Mapping[str, Any]) -> bool:
        """Send `news`; never blocks, never raises. Returns whether the page's socket took it."""
        if self._socket is None:
            return False
        self._unsaid.extend(told.get("said", ()))
        whole = {**told, "said": list(self._unsaid)}
        try:
            self._socket.sendto(json.dumps(whole, separators=(",", ":")).encode(), self._path)
        except (OSError, TypeError, ValueError):
            return False
        self._unsaid.clear()
        return True

    def close(self) -> None:
        """Let go of the socket."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


class Receiver:
    """The page's end: a socket in a folder of ours, taken over from a page that died."""

    def __init__(self, path: Path) -> None:
        """Listen at ``path``; raises `OSError` where no socket can be made there."""
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        path.chmod(0o600)
        self.socket.setblocking(False)

    def take(self) -> list[News]:
        """All that has come; what is not news is left out."""
        out: list[News] = []
        while True:
            try:
                data = self.socket.recv(LONGEST)
            except (BlockingIOError, InterruptedError):
                return out
            told = parsed(data)
            if told is not None:
                out.append(told)

    def close(self) -> None:
        """Let go of the socket and its file."""
        self.socket.close()
        with contextlib.suppress(OSError):
            self._path.unlink()


@dataclass(frozen=True, slots=True)
class News:
    """What the page was told; see `news` for the fields."""

    game: int | None
    line: int
    view: View
    now: int
    troubles: Mapping[str, str] = field(default_factory=dict)
    said: tuple[str, ...] = ()
    rulings: tuple[Mapping[str, Any], ...] = ()
    paused: bool = False
    about: Mapping[str, Any] | None = None


def parsed(data: bytes) -> News | None:
    """News from a datagram; None for anything else."""
    try:
        raw = json.loads(data)
        return News(
            _or_none(raw["game"]),
            int(raw["line"]),
            _view(raw["view"]),
            int(raw["now"]),
            {str(part): str(words) for part, words in raw.get("troubles", {}).items()},
            tuple(str(text) for text in raw.get("said", ())),
            tuple(one for one in raw.get("rulings", ()) if isinstance(one, dict)),
            bool(raw.get("paused", False)),
            raw["about"] if isinstance(raw.get("about"), dict) else None,
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _view(raw: Mapping[str, Any]) -> View:
    challenge = raw.get("challenge")
    return View(
        names=tuple(map(str, raw["names"])),
        counts=tuple(None if count is None else int(count) for count in raw["counts"]),
        pile=tuple(map(str, raw["pile"])),
        turn=_or_none(raw.get("turn")),
        challenge=None if challenge is None else ChallengeView(**{key: int(challenge[key]) for key in _CHALLENGE}),
        owner=_or_none(raw.get("owner")),
        locked_out=frozenset(map(int, raw.get("locked_out", ()))),
        game_over=bool(raw.get("game_over", False)),
        winner=_or_none(raw.get("winner")),
        questions=tuple(map(str, raw.get("questions", ()))),
    )


_CHALLENGE: Final = ("challenger", "challenged", "left")


def _or_none(value: Any) -> int | None:
    return None if value is None else int(value)
