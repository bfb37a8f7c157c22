"""The appliance's own wireless network: ``table-referee-hotspot DEVICE`` writes the configuration for wpa_supplicant.

Phones that answer the first questions, or are pads, need a network, and not every room has one. Its name and password
are made at the first start, are kept beside the settings, and are shown on the machine's screen. If the card's settings
name a network to join (``table-referee-card``), that one is joined instead, if it can be (`tools.image.fallback`).
On the machine this file is a separate program, and needs Python alone.
"""

from __future__ import annotations

import os
import re
import secrets
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

ADDRESS: Final = "10.83.0.1"
"""The machine's own address there (appliance/image/etc/systemd/network/70-hotspot.network)."""
FILE: Final = "hotspot.txt"
JOINED: Final = Path("/run/table-referee-card/wireless.conf")
"""The configuration of a network to join, made from the card's settings."""
INSTEAD: Final = "/run/table-referee-fallback/{device}/open"
"""Exists while the own network takes that one's place."""
_LETTERS: Final = "abcdefghkmnpqrstuvwxyz23456789"
"""Letters that cannot be mistaken for others."""
_GROUPS: Final = 3
_CHANNEL: Final = 2437
"""MHz: channel 6, which every country allows."""
_LONGEST_NAME: Final = 32
_PASSWORD: Final = range(8, 64)
"""Allowed lengths of a password."""


class Hotspot(NamedTuple):
    """The network's name and password, which a phone needs."""

    name: str
    password: str

    @property
    def words(self) -> str:
        """Return the text for the screen."""
        return f"wireless network: {self.name}, password: {self.password}, then http://{ADDRESS}:8080"

    @property
    def configuration(self) -> str:
        """Return wpa_supplicant's configuration of the access point.

        The name is hexadecimal, because it may hold any byte.
        """
        return (
            f"network={{\n\tssid={self.name.encode().hex()}\n\tmode=2\n\tfrequency={_CHANNEL}\n\tkey_mgmt=WPA-PSK\n"
            f'\tproto=RSN\n\tpairwise=CCMP\n\tgroup=CCMP\n\tpsk="{self.password}"\n}}\n'
        )


def read_hotspot(text: str) -> Hotspot | None:
    """Read the network that people or an earlier start wrote down; None if the text holds none."""
    said = dict(re.findall(r"^(name|password): *(.*?) *$", text, flags=re.MULTILINE))
    name, password = said.get("name", ""), said.get("password", "")
    fits = 0 < len(name.encode()) <= _LONGEST_NAME and len(password) in _PASSWORD
    return Hotspot(name, password) if fits and password.isascii() and password.isprintable() else None


def keep_hotspot(folder: Path, address: str) -> Hotspot:
    """Return the network that is stored beside the settings; make a new one where there is none.

    Args:
        folder: of the settings.
        address: of the device, whose last digits tell tables in one room apart.
    """
    file, beside = folder / FILE, folder / f"{FILE}.{os.getpid()}"
    groups = ("".join(secrets.choice(_LETTERS) for _ in range(4)) for _ in range(_GROUPS))
    made = Hotspot(f"Table Referee {address.replace(':', '')[-4:]}".strip(), "-".join(groups))
    for spoilt in (False, True):
        with suppress(OSError, UnicodeDecodeError):
            if (kept := read_hotspot(file.read_text(encoding="utf-8"))) is not None:
                return kept
        if spoilt:
            file.unlink(missing_ok=True)
        beside.touch(mode=0o600)
        beside.write_text(f"name: {made.name}\npassword: {made.password}\n", encoding="utf-8")
        try:
            # If two devices appear at the same moment, the first one makes the name.
            os.link(beside, file)
        except FileExistsError:
            continue
        finally:
            beside.unlink()
        break
    return made


def main() -> int:
    """Write the configuration of the named device, and show the network on the screen."""
    device = sys.argv[1]
    configuration = Path("/run/table-referee-hotspot", f"{device}.conf")
    configuration.touch(mode=0o600)
    if JOINED.exists() and not Path(INSTEAD.format(device=device)).exists():
        configuration.write_text(JOINED.read_text())
        return 0
    made = keep_hotspot(Path("/etc/table-referee"), Path("/sys/class/net", device, "address").read_text().strip())
    configuration.write_text(made.configuration)
    with suppress(OSError):
        Path("/dev/console").write_text(f"{made.words}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
