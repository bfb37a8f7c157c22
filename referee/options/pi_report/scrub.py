"""Removes private data: names of people, host, users and networks, addresses, serial numbers, paths.

`find_secrets` collects the machine's own secrets; `Scrubber` replaces them, and whatever looks like an address or a
home folder, in every text of the report.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

from referee.record.database import RecordError
from referee.record.people import People
from referee.settings.model import Settings
from referee.setup.doctor.probe import SERVICE, Machine

_KNOWN: Final = frozenset((
    "pi", "root", "user", "raspberry", "raspberrypi", "localhost", "referee", SERVICE, "table", "usb", "hdmi", "camera",
))  # fmt: skip
"""Users, hosts and topics that every machine may have: they tell nothing, and stand in the report's own words."""
_OURS: Final = ("about", "state")
"""Keys of values that this program chose itself: a player may be called Fine."""
_LEAST_SERIAL: Final = 6
"""Shorter serial numbers, such as 0001, are those of many devices."""
_FIRST_PERSON, _LAST_PERSON = 1000, 60000
"""User ids of people; others are the system's."""
_MAC: Final = re.compile(
    r"(?<![0-9A-Za-z])[0-9A-Fa-f]{2}(?:([:_-])[0-9A-Fa-f]{2})(?:\1[0-9A-Fa-f]{2}){4}(?![0-9A-Za-z])"
)
_IP4: Final = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])")
_IP6: Final = re.compile(r"(?<![\w:])[0-9A-Fa-f:]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*(?:%\w+)?(?![\w:])")
_BY_ID: Final = re.compile(r"(/dev/\w+/by-id/)[^\s'\",]+")
"""Names of devices that end in their serial numbers."""
_HOMES: Final = re.compile(r"/(?:home|Users|media|run/media)/[^/\s'\"]+")


class Scrubber:
    """Replaces secrets in texts."""

    def __init__(self, secrets: Mapping[str, str], keep: Collection[str] = ()) -> None:
        """Prepare.

        Args:
            secrets: the replacement of each.
            keep: texts that look like addresses and are none: versions of packages.
        """
        known = {secret.casefold(): instead for secret, instead in secrets.items()}
        self._instead = dict(sorted(known.items(), key=lambda pair: -len(pair[0])))
        listed = "|".join(re.escape(secret) for secret in self._instead)
        self._known = re.compile(rf"(?<![^\W_])({listed})(?:['’]?s)?(?![^\W_])", re.IGNORECASE) if listed else None
        self._keep = frozenset(keep)

    def clean(self, text: str) -> str:
        """Return a text without secrets."""
        if self._known is not None:
            text = self._known.sub(lambda found: self._instead[found[1].casefold()], text)
        text = _HOMES.sub("~", _BY_ID.sub(r"\1<serial>", text))
        text = _MAC.sub("<address>", text)
        text = _IP4.sub(lambda found: found[0] if found[0] in self._keep else "<address>", text)
        return _IP6.sub(lambda found: "<address>" if _is_address(found[0]) else found[0], text)

    def clean_all(self, value: Any) -> Any:
        """Return the same lists and tables with every text cleaned; a table's keys are the report's own words."""
        if isinstance(value, str):
            return self.clean(value)
        if isinstance(value, Mapping):
            return {key: part if key in _OURS else self.clean_all(part) for key, part in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.clean_all(part) for part in value]
        return value


def _is_address(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text.partition("%")[0])
    except ValueError:
        return False
    return True


def find_secrets(
    machine: Machine, environment: Mapping[str, str], settings: Settings | None, path: Path
) -> dict[str, str]:
    """Return the secrets of this machine and table, each with its replacement.

    Args:
        machine: the machine.
        environment: variables of the shell.
        settings: the table's; None: they cannot be read.
        path: of the settings file.
    """
    found: dict[str, str] = {}

    def hide(instead: str, secrets: Iterable[str], least: int = 2) -> None:
        for secret in secrets:
            tidy = secret.strip()
            if len(tidy) >= least and tidy.casefold() not in _KNOWN:
                found.setdefault(tidy, instead)

    hide("<settings>", (str(place) for place in (path.absolute(), path.resolve()) if path.name))
    for folder in _folders(settings, path):
        hide("<folder>", (str(folder.absolute()), str(folder.resolve())), least=len("/data"))
    hide("~", (environment.get("HOME", ""), *_homes(machine)), least=len("/home"))
    hide("<name>", _player_names(settings, path))
    hide("<host>", _hosts(machine, environment))
    hide("<user>", _users(machine, environment))
    hide("<network>", _networks(machine))
    hide("<serial>", _serials(machine), _LEAST_SERIAL)
    if settings is not None:
        hide("<broker>", (settings.mqtt.host, settings.mqtt.user, settings.mqtt.table, settings.mqtt.prefix))
    return found


def _folders(settings: Settings | None, path: Path) -> Iterator[Path]:
    """Yield the folders that people named themselves."""
    # A folder such as /etc/table-referee is the appliance's.
    yield path.absolute().parent
    if settings is not None:
        yield from (place.parent for place in (settings.record_file,) if place is not None)
        yield from (place for place in (settings.log_folder,) if place is not None)


def _player_names(settings: Settings | None, path: Path) -> Iterator[str]:
    """Yield the names in the settings, even if there is a mistake in them, and those of the record."""
    with suppress(OSError):
        text = path.read_text(encoding="utf-8", errors="replace")
        for name in re.findall(r"^\s*(?:name|said)\s*=\s*[\"'](.*?)[\"']\s*(?:#.*)?$", text, flags=re.MULTILINE):
            yield from _with_parts(name)
    if settings is None:
        return
    for seat in settings.seats:
        yield from _with_parts(seat.name)
    record = settings.record_file
    if record is not None and record.exists():
        with suppress(RecordError, OSError), closing(People(record, read_only=True)) as people:
            for person in people.people():
                yield from _with_parts(person.name)


def _with_parts(name: str) -> Iterator[str]:
    """Yield a name, and its words: "Anna Lee" is also called Anna."""
    yield name
    yield from (
        part for part in re.split(r"[\s,]+", name) if len(part) > 1 and part.casefold() not in ("seat", "platz")
    )


def _hosts(machine: Machine, environment: Mapping[str, str]) -> Iterator[str]:
    hosts = [machine.read("/etc/hostname"), machine.read("/proc/sys/kernel/hostname"), environment.get("HOSTNAME", "")]
    hosts += [name for line in machine.read("/etc/hosts").splitlines() for name in line.partition("#")[0].split()[1:]]
    for host in hosts:
        if not host.startswith("ip6-"):
            yield from (host, host.partition(".")[0])


def _accounts(machine: Machine) -> Iterator[list[str]]:
    """Yield the fields of the people's accounts."""
    for line in machine.read("/etc/passwd").splitlines():
        fields = line.split(":")
        if len(fields) > 5 and fields[2].isdecimal() and _FIRST_PERSON <= int(fields[2]) < _LAST_PERSON:
            yield fields


def _users(machine: Machine, environment: Mapping[str, str]) -> Iterator[str]:
    yield from (environment.get(name, "") for name in ("USER", "LOGNAME", "SUDO_USER", "USERNAME"))
    for fields in _accounts(machine):
        yield fields[0]
        # The full name and other remarks.
        for remark in fields[4].split(","):
            yield from _with_parts(remark)


def _homes(machine: Machine) -> Iterator[str]:
    yield from (fields[5] for fields in _accounts(machine))


def _networks(machine: Machine) -> Iterator[str]:
    """Yield the names of wireless networks; those that root alone may read can be in no text of ours."""
    yield machine.run(["iwgetid", "-r"]) or ""
    files = [machine.at("/etc/wpa_supplicant/wpa_supplicant.conf")]
    files += machine.at("/etc/NetworkManager/system-connections").glob("*")
    for file in files:
        with suppress(OSError):
            text = file.read_text(encoding="utf-8", errors="replace")
            yield from re.findall(r"^\s*(?:ssid|id)\s*=\s*\"?(.*?)\"?\s*$", text, flags=re.MULTILINE)


def _serials(machine: Machine) -> Iterator[str]:
    yield from re.findall(r"^Serial\s*:\s*(\S+)", machine.read("/proc/cpuinfo"), flags=re.MULTILINE)
    for place in ("/proc/device-tree/serial-number", "/etc/machine-id"):
        yield machine.read(place)
    for pattern in ("bus/usb/devices/*/serial", "block/*/device/serial", "block/*/device/cid", "class/net/*/address"):
        for file in machine.at("/sys").glob(pattern):
            found = machine.read(f"/{file.relative_to(machine.root)}")
            yield from (found, found.replace(":", ""))
