"""Devices that have paired: each has a random token, of which only the hash is kept. Pure; time is data.

Instants are of the machine's monotonic clock (it has no clock that knows the date), so sessions end when the machine is
switched off, at the latest.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Any, Final

from referee.units import MINUTE

_HOUR: Final = 60 * MINUTE
_LONGEST_NAME: Final = 40
"""Longest name of a device, characters."""
_LONGEST_TOKEN: Final = 64
"""Longest token, characters."""


@dataclass(frozen=True, slots=True)
class Lives:
    """Longest life of a session, longest time unused, and number of sessions; times in ns."""

    absolute: int = 24 * _HOUR
    idle: int = 4 * _HOUR
    devices: int = 32


LIVES: Final = Lives()


@dataclass(frozen=True, slots=True)
class Device:
    """A paired device as others may see it."""

    id: str
    name: str
    paired: int
    used: int


def csrf_of(token: str) -> str:
    """Return the value that a paired device sends with each change: bound to its token, which scripts cannot read."""
    return hmac.new(token.encode(), b"csrf", sha256).hexdigest()


def csrf_fits(token: str, given: str) -> bool:
    """Return whether ``given`` was made for the session of this token; takes constant time."""
    return hmac.compare_digest(csrf_of(token).encode(), given.encode(errors="replace"))


def clean_name(said: object) -> str:
    """Return a device's name in one line of at most `_LONGEST_NAME` characters; ``a device`` if there is none."""
    text = said if isinstance(said, str) else ""
    shown = "".join(letter for letter in text if letter.isprintable()).strip()
    return shown[:_LONGEST_NAME].strip() or "a device"


def _digest(token: str) -> str:
    return sha256(token.encode(errors="replace")).hexdigest()


class Sessions:
    """The paired devices.

    Args:
        changed: called after each change worth keeping, with the argument of `restore`.
    """

    def __init__(self, *, changed: Callable[[list[dict[str, Any]]], None] = lambda _: None) -> None:
        self._changed = changed
        self._sessions: dict[str, Device] = {}
        """By the hash of the token."""
        self._kept_used: dict[str, int] = {}

    def begin(self, name: object, now: int) -> str:
        """Begin a device's session; returns its token. If there are too many, the one unused for longest ends."""
        token = secrets.token_urlsafe(32)
        device = Device(secrets.token_hex(4), clean_name(name), now, now)
        alive = sorted(self._alive(now).items(), key=lambda item: item[1].used)
        self._sessions = dict([*alive[max(0, len(alive) + 1 - LIVES.devices) :], (_digest(token), device)])
        self._keep()
        return token

    def find(self, token: str | None, now: int) -> Device | None:
        """Return the device of a token, if its session is alive, and count that as use."""
        if token is None or not token or len(token) > _LONGEST_TOKEN:
            return None
        digest, found = _digest(token), None
        for known, device in self._sessions.items():
            # Compare with every one: the time taken must not reveal whether or which one matched.
            if hmac.compare_digest(known, digest):
                found = device
        if found is None or self._over(found, now):
            return None
        device = self._sessions[digest] = replace(found, used=now)
        if now - self._kept_used.get(device.id, 0) >= MINUTE:
            self._keep()
        return device

    def devices(self, now: int) -> list[Device]:
        """Return the devices with live sessions, in order of pairing."""
        return sorted(self._alive(now).values(), key=lambda device: (device.paired, device.id))

    def sign_out(self, id_: str) -> bool:
        """End one session; return false if there is none of that id."""
        left = {digest: device for digest, device in self._sessions.items() if device.id != id_}
        found = len(left) < len(self._sessions)
        self._sessions = left
        if found:
            self._keep()
        return found

    def sign_out_all(self) -> None:
        """End every session."""
        self._sessions.clear()
        self._keep()

    def restore(self, kept: object, now: int) -> None:
        """Take over what ``changed`` received earlier in this boot; unreadable entries are left out."""
        for raw in kept if isinstance(kept, list) else ():
            if not isinstance(raw, Mapping):
                continue
            fields: list[Any] = [raw.get(key) for key in ("digest", "id", "name", "paired", "used")]
            digest, id_, name, paired, used = fields
            if not all(isinstance(text, str) for text in (digest, id_, name)) or not type(paired) is type(used) is int:
                continue
            device = Device(id_, clean_name(name), paired, used)
            if not self._over(device, now):
                self._sessions[digest] = device

    def _alive(self, now: int) -> dict[str, Device]:
        return {digest: device for digest, device in self._sessions.items() if not self._over(device, now)}

    def _over(self, device: Device, now: int) -> bool:
        if not 0 <= device.paired <= device.used <= now:
            return True
        return now - device.paired >= LIVES.absolute or now - device.used >= LIVES.idle

    def _keep(self) -> None:
        self._kept_used = {device.id: device.used for device in self._sessions.values()}
        self._changed([{"digest": digest, **asdict(device)} for digest, device in self._sessions.items()])
