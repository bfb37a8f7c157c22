"""Settings that a card writer left on the card: ``table-referee-card``, before the network is up.

Raspberry Pi Imager asks for a name, a user, a wireless network and a place, and writes the answers onto the boot
partition, as ``firstrun.sh`` (its format "systemd", which versions 1 and 2 know) or as ``rpi-preseed.toml``. The same
tables can be written by hand as ``custom.toml``. They are read at each start, so that a card may be changed in a
computer. Imager's script is read and never run: each of its settings is a command of its own on one line.

The system cannot be written, so everything goes to ``/run``: wpa_supplicant's configuration of the network to join,
which takes the place of the table's own network; a user record, for a login at the machine's own keyboard; the time
zone; the language that the first questions propose.
On the machine this file is a separate program, and needs Python and openssl alone.
"""

from __future__ import annotations

import grp
import json
import re
import shlex
import socket
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

CARD: Final = Path("/efi")
RUN: Final = Path("/run")
ZONES: Final = Path("/usr/share/zoneinfo")
CABLE: Final = Path("/etc/systemd/network/80-table.network")
"""Network settings on a cable, which are taken over for the network that is joined."""
WIRELESS: Final = "table-referee-card/wireless.conf"
"""Where `tools.image.hotspot` finds the network to join, below ``/run``."""
FILES: Final = ("custom.toml", "rpi-preseed.toml", "firstrun.sh")
"""The first one that is there counts."""
Tables = dict[str, dict[str, Any]]
"""Settings by table and key, as ``custom.toml`` of Raspberry Pi OS names them."""
_USER_ID: Final = 1000
_LANGUAGES: Final = {"de": "de", "at": "de", "ch": "de", "fr": "fr", "be": "fr", "es": "es", "latam": "es"}
"""The language by the keyboard's layout, which is all that Imager asks; other layouts mean English."""


class Refusal(ValueError):  # noqa: N818 - it is an answer
    """A setting that cannot be used, in words for the screen."""


class Entry(NamedTuple):
    """A file below ``/run``."""

    text: str
    mode: int = 0o644


def read_card(card: Path) -> Tables:
    """Return the settings on the card; empty without any.

    Raises:
        Refusal: the file cannot be read.
    """
    for name in FILES:
        try:
            text = (card / name).read_text(encoding="utf-8")
            return read_script(text) if name.endswith(".sh") else _tables(tomllib.loads(text))
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise Refusal(f"{name} cannot be read: {error}") from None
    return {}


def _tables(read: Mapping[str, Any]) -> Tables:
    return {name: table for name, table in read.items() if isinstance(table, dict)}


def read_script(text: str) -> Tables:
    """Return the settings in Imager's ``firstrun.sh``."""
    tables: Tables = {}
    for line in text.splitlines():
        words: list[str] = []
        with suppress(ValueError):
            words = shlex.split(line)
        program, words = (Path(words[0]).name, words[1:]) if words else ("", [])
        match program, words:
            case "userconf", [name, password]:
                tables["user"] = {"name": name, "password": password, "password_encrypted": True}
            case "imager_custom", ["set_hostname", name]:
                tables["system"] = {"hostname": name}
            case "imager_custom", ["set_wlan", *said]:
                hidden = "-h" in said[:1]
                ssid, password, country = [*said[hidden:], "", "", ""][:3]
                tables["wlan"] = {"ssid": ssid, "password": password, "country": country, "hidden": hidden}
            case "imager_custom", ["set_keymap" | "set_timezone" as what, value]:
                tables.setdefault("locale", {})[what.removeprefix("set_")] = value
    return tables


def _text(tables: Tables, table: str, key: str, pattern: str, *, needed: bool = False) -> str:
    """Return a setting that has this form, or an empty text where it is missing."""
    value = tables.get(table, {}).get(key, "")
    if (value != "" or needed) and not (isinstance(value, str) and re.fullmatch(pattern, value, re.ASCII | re.DOTALL)):
        raise Refusal(f"{key} in [{table}] cannot be used: {value!r}")
    return str(value)


def host_name(tables: Tables) -> str:
    """Return the machine's name."""
    return _text(tables, "system", "hostname", r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?")


def time_zone(tables: Tables) -> str:
    """Return the time zone, such as ``Europe/Berlin``."""
    return _text(tables, "locale", "timezone", r"[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*")


def join_network(tables: Tables, on_cable: str) -> dict[str, Entry]:
    """Return what joins the wireless network that was named.

    Args:
        tables: the card's settings.
        on_cable: network settings on a cable.
    """
    ssid = tables.get("wlan", {}).get("ssid", "")
    if ssid == "":
        return {}
    if not isinstance(ssid, str) or len(ssid.encode()) > 32:
        raise Refusal(f"ssid in [wlan] cannot be used: {ssid!r}")
    country = _text(tables, "wlan", "country", r"[A-Za-z]{2}").upper()
    password = _text(tables, "wlan", "password", r"[0-9a-fA-F]{64}|[ -~]{8,63}")
    # Imager derives the key, so the password itself is not on the card; WPA3 would need the password.
    security = {0: ["key_mgmt=NONE"], 64: ["key_mgmt=WPA-PSK", f"psk={password}"]}.get(
        len(password), ["key_mgmt=WPA-PSK SAE", "ieee80211w=1", f'psk="{password}"']
    )
    lines = [f"ssid={ssid.encode().hex()}", *security]
    if tables["wlan"].get("hidden") is True:
        lines.append("scan_ssid=1")
    head = f"country={country}\n" if country else ""
    body = "".join(f"\t{line}\n" for line in lines)
    on_air = on_cable.replace("Type=ether", "Type=wlan\nWLANInterfaceType=station")
    return {
        WIRELESS: Entry(f"{head}network={{\n{body}}}\n", 0o600),
        "systemd/network/60-card.network": Entry(on_air),
    }


def add_user(tables: Tables, group: int, encrypt: Callable[[str], str]) -> dict[str, Entry]:
    """Return the record of the user (systemd's, nss-systemd), who may log in at the keyboard and read the journal.

    Args:
        tables: the card's settings.
        group: number of the user's group, the one that may read the journal.
        encrypt: turns a password in plain text into what ``/etc/shadow`` would hold.
    """
    user = tables.get("user", {})
    if not user:
        return {}
    name = _text(tables, "user", "name", r"[a-z_][a-z0-9_-]{0,30}", needed=True)
    password = _text(tables, "user", "password", r"[^\0\n]+")
    if password and user.get("password_encrypted") is not True:
        password = encrypt(password)
    record = {
        "userName": name, "uid": _USER_ID, "gid": group, "homeDirectory": "/", "shell": "/bin/bash",
        "disposition": "regular",
    }  # fmt: skip
    secret = {"privileged": {"hashedPassword": [password] if password else []}}
    made: dict[str, Entry] = {}
    for key in (name, str(_USER_ID)):
        made[f"userdb/{key}.user"] = Entry(json.dumps(record))
        made[f"userdb/{key}.user-privileged"] = Entry(json.dumps(secret), 0o600)
    return made


def propose_language(tables: Tables) -> dict[str, Entry]:
    """Return the environment of the first questions: their language, by the keyboard."""
    layout = _text(tables, "locale", "keymap", r"[A-Za-z0-9_,-]+")
    language = _LANGUAGES.get(re.split("[-_,]", layout)[0].lower())
    return {"table-referee-card/environment": Entry(f"LC_MESSAGES={language}\n")} if language else {}


def write_entries(entries: Mapping[str, Entry], run: Path) -> None:
    """Write the files; a secret one is never readable by others."""
    for name, entry in entries.items():
        file = run / name
        file.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        file.touch(mode=entry.mode)
        file.write_text(entry.text, encoding="utf-8")


def apply_settings(
    tables: Tables,
    run: Path,
    name_machine: Callable[[str], None],
    *,
    group: int,
    zones: Path = ZONES,
    cable: Path = CABLE,
) -> list[str]:
    """Apply each setting that can be used; return the words about the others."""

    def name() -> None:
        if made := host_name(tables):
            name_machine(made)

    def place() -> None:
        if zone := time_zone(tables):
            if not (zones / zone).is_file():
                raise Refusal(f"timezone in [locale] is not known: {zone!r}")
            link = run / "table-referee-card" / "localtime"
            link.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            link.unlink(missing_ok=True)
            link.symlink_to(zones / zone)

    refused = []
    for step in (
        name,
        place,
        lambda: write_entries(join_network(tables, cable.read_text()), run),
        lambda: write_entries(add_user(tables, group, _encrypt), run),
        lambda: write_entries(propose_language(tables), run),
    ):
        try:
            step()
        except (Refusal, OSError) as error:
            refused.append(str(error))
    return refused


def _encrypt(password: str) -> str:
    done = subprocess.run(
        ["openssl", "passwd", "-6", "-stdin"], input=password, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Refusal(f"password in [user] cannot be encrypted: {done.stderr.strip()}")
    return done.stdout.strip()


def main() -> int:
    """Apply the card's settings; on the screen, a line for each that cannot be used."""
    try:
        group = grp.getgrnam("systemd-journal").gr_gid
        refused = apply_settings(read_card(CARD), RUN, socket.sethostname, group=group)
    except Refusal as error:
        refused = [str(error)]
    for words in refused:
        print(f"the card's settings: {words}", file=sys.stderr)
    return int(bool(refused))


if __name__ == "__main__":
    sys.exit(main())
