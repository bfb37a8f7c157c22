"""The way to a table whose wireless network cannot be joined: ``table-referee-fallback DEVICE WAIT AGAIN``.

A wrong password, or a network out of reach, must not leave a cable as the only way. After ``WAIT`` seconds in vain the
table opens its own network (`tools.image.hotspot`); after ``AGAIN`` seconds without a phone in it, the written one is
tried once more. A network that was joined once is never left for the own one: wpa_supplicant joins it again by itself.
On the machine this file is a separate program, and needs Python, iw and systemctl alone.
"""

from __future__ import annotations

import subprocess
import sys
import time
from enum import Enum
from math import inf
from pathlib import Path
from typing import Final, NamedTuple

OPEN: Final = "/run/table-referee-fallback/{device}/open"
"""Exists while the own network takes the place of the written one: `tools.image.hotspot` and the referee read it."""
ATTEMPT: Final = 30.0
"""Seconds that a further attempt to join may take; no phone finds the table meanwhile."""
_PACE: Final = 5.0


class Network(Enum):
    """The network that a wireless device is set to."""

    WRITTEN = "the written one, not joined yet"
    JOINED = "the written one, joined"
    OWN = "the table's own"


class Setting(NamedTuple):
    """A device's network, and the instant at which its time is up, s."""

    network: Network
    until: float

    def after(self, now: float, again: float, *, is_up: bool, phones: int) -> Setting:
        """Return the setting that follows from what is seen.

        Args:
            now: this instant, s.
            again: time without a phone after which the written network is tried again, s.
            is_up: whether the device's link is up.
            phones: number of them in the own network.
        """
        match self.network:
            case Network.WRITTEN if is_up:
                return Setting(Network.JOINED, inf)
            case Network.WRITTEN if now >= self.until:
                return Setting(Network.OWN, now + again)
            case Network.OWN if phones:
                return Setting(Network.OWN, now + again)
            case Network.OWN if now >= self.until:
                return Setting(Network.WRITTEN, now + ATTEMPT)
        return self


def watch_device(device: str, wait: float, again: float) -> None:
    """Change the device's network whenever its time is up; return once the written one is joined."""
    own = Path(OPEN.format(device=device))
    now = time.monotonic()
    setting = Setting(Network.OWN, now + again) if own.exists() else Setting(Network.WRITTEN, now + wait)
    while setting.network is not Network.JOINED:
        time.sleep(_PACE)
        state = Path("/sys/class/net", device, "operstate").read_text().strip()
        following = setting.after(time.monotonic(), again, is_up=state == "up", phones=_count_phones(device))
        if following.network is not setting.network:
            print(f"{device}: {following.network.value}", flush=True)
            _set_network(device, own, following.network)
        setting = following


def _count_phones(device: str) -> int:
    dump = subprocess.run(["iw", "dev", device, "station", "dump"], capture_output=True, text=True, check=False)
    return dump.stdout.count("Station ")


def _set_network(device: str, own: Path, network: Network) -> None:
    if network is Network.OWN:
        own.touch()
    else:
        own.unlink(missing_ok=True)
    if network is not Network.JOINED:
        subprocess.run(["systemctl", "restart", f"table-referee-hotspot@{device}.service"], check=True)


def main() -> int:
    """Watch the named device."""
    device, wait, again = sys.argv[1:]
    watch_device(device, float(wait), float(again))
    return 0


if __name__ == "__main__":
    sys.exit(main())
