"""Update the appliance from a file, with a rollback: ``table-referee-update FILE | back | state | check``.

The machine has two systems, a and b, each a partition that is never written while it runs. An update goes into the
idle one; the running one stays as it is. The boot loader (systemd-boot) then tries the new one at most three times.
It stays only if its page answers (``check``); otherwise the previous system is started again. A Raspberry Pi
has its own boot loader, which tries a new system once: ``config.txt`` names the good system, and
``tryboot.txt`` the one on trial (raspberrypi.com/documentation, "tryboot"). Both are written from the same entries.
Debian's kernel cannot ask that boot loader for a try: there ``config.txt`` names the system on trial, whose initrd
first puts ``good.txt`` into its place.

An update is a tar file: ``manifest``, ``manifest.sig``, ``root``, ``linux``, ``initrd``, and for a Raspberry Pi
``devices``, a tar of its device trees. The manifest names version, architecture and the SHA-256 of each part; it is
signed, and the machine keeps the public key.

No link is followed on the way to the file or to any file that is written; only the link that udev makes for a
partition is, and it must lead to a block device.
On the machine this file is a separate program, and needs Python and openssl alone.
"""

from __future__ import annotations

import argparse
import errno
import hashlib
import os
import re
import stat
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

TRIES: Final = 3
"""Number of starts of a new system before the boot loader returns to the previous one."""
PARTS: Final = ("root", "linux", "initrd")
DEVICES: Final = "devices"
"""Additional part of an update for a Raspberry Pi."""
_BLOCK: Final = 1 << 20
_LONGEST: Final = 100_000
"""Largest manifest, bytes."""
_OTHER_MACHINE: Final = {
    "en": "{file} is for {other}, and this machine is {own}: take the file whose name ends in {own}.update",
    "de": "{file} ist für {other}, und dieses Gerät ist {own}: nimm die Datei, deren Name auf {own}.update endet",
    "fr": "{file} est pour {other}, et cette machine est {own} : prenez le fichier dont le nom finit par {own}.update",
    "es": "{file} es para {other}, y este equipo es {own}: toma el archivo cuyo nombre termina en {own}.update",
}
"""By the table's language."""
_PATIENCE: Final = 600.0
"""Seconds until the page must answer; the first start renders every phrase once."""


class Refusal(Exception):  # noqa: N818 - it is an answer
    """The reason why nothing was changed or an action did not finish, in words that say what to do."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of an update, as stated by itself."""

    version: str
    architecture: str
    """Of the processor, and for a Raspberry Pi the board's name: ``arm64-raspberry-debian``."""
    options: str
    """Kernel options besides the root."""
    sums: dict[str, str]
    """SHA-256 of each part, in hexadecimal digits."""


def read_manifest(text: str) -> Manifest:
    """Read a manifest: a key and its value a line, and a line ``sha256 SUM PART`` for each part.

    Raises:
        Refusal: something is missing.
    """
    values: dict[str, str] = {}
    sums: dict[str, str] = {}
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        if key == "sha256":
            total, _, part = value.partition(" ")
            sums[part] = total
        else:
            values[key] = value
    lacking = [name for name in ("version", "architecture", "options") if name not in values]
    lacking += [part for part in PARTS if not re.fullmatch("[0-9a-f]{64}", sums.get(part, ""))]
    if lacking:
        raise Refusal(f"this update does not name its {lacking[0]}: it was made by something else than `make image`")
    return Manifest(values["version"], values["architecture"], values["options"], sums)


def numbers_of(version: str) -> tuple[int, ...]:
    """Return a version as a comparable tuple: 0.1.0+20261124 is (0, 1, 0, 20261124)."""
    return tuple(int(digits) for digits in re.findall(r"\d+", version))


@dataclass(frozen=True, slots=True)
class Machine:
    """The paths of an appliance; a test passes its own."""

    esp: Path = Path("/efi")
    partitions: Path = Path("/dev/disk/by-partlabel")
    command_line: Path = Path("/proc/cmdline")
    release: Path = Path("/etc/os-release")
    key: Path = Path("/usr/share/table-referee/update.pem")
    settings: Path = Path("/etc/table-referee/table.toml")

    @property
    def entries(self) -> Path:
        """Return the folder of the boot loader's entries."""
        return self.esp / "loader" / "entries"

    def slot(self) -> str:
        """Return the running system, ``a`` or ``b``.

        Raises:
            Refusal: it is no such system.
        """
        found = re.search(r"\broot=PARTLABEL=root-([ab])\b", self.command_line.read_text())
        if found is None:
            raise Refusal(
                "this machine was not started from an image of the Table Referee: update it with git and make"
            )
        return found[1]

    def said(self, key: str) -> str:
        """Return a value of the system's own release file."""
        found = re.search(rf'^{key}="?([^"\n]*)"?$', self.release.read_text(), flags=re.MULTILINE)
        return found[1] if found else ""

    def language(self) -> str:
        """Return the table's language; English before the first questions were answered."""
        try:
            said = tomllib.loads(self.settings.read_text(encoding="utf-8"))["voice"]["language"]
        except (OSError, ValueError, LookupError, TypeError):
            return "en"
        return said if said in _OTHER_MACHINE else "en"

    @property
    def starts_by_firmware(self) -> bool:
        """Whether this is a Raspberry Pi, whose own boot loader starts it."""
        return (self.esp / "config.txt").exists()

    @property
    def asks_for_a_try(self) -> bool:
        """Whether the kernel can ask a Raspberry Pi's boot loader for one try, as Raspberry Pi's own can."""
        return self.said("IMAGE_ARCHITECTURE").endswith("-raspberry-pi")

    def entry(self, slot: str) -> Path | None:
        """Return the boot loader's entry of a system; its name may hold the tries left, as in ``b+2-1.conf``."""
        return next((path for path in sorted(self.entries.glob(f"{slot}*.conf")) if _slot_of(path) == slot), None)


def _slot_of(entry: Path) -> str:
    return entry.stem.partition("+")[0]


def tries_left(entry: Path) -> int | None:
    """Return how often the boot loader will still try it; None: it has been found good."""
    counted = re.fullmatch(r"[ab]\+(\d+)(-\d+)?", entry.stem)
    return int(counted[1]) if counted else None


def open_plain(file: Path) -> IO[bytes]:
    """Open a plain file for reading; no part of its path may be a link.

    Raises:
        Refusal: a part of it is one, or it is a device or a pipe.
        OSError: it cannot be read.
    """
    path = Path.cwd() / file
    at = os.open(path.anchor, os.O_RDONLY | os.O_DIRECTORY)
    for place, name in enumerate(path.parts[1:], start=2):
        # Opening a pipe would block until it has a writer.
        how = os.O_RDONLY | os.O_NOFOLLOW | (os.O_DIRECTORY if place < len(path.parts) else os.O_NONBLOCK)
        try:
            found = os.open(name, how, dir_fd=at)
        except OSError as error:
            if error.errno == errno.ELOOP or stat.S_ISLNK(os.lstat(name, dir_fd=at).st_mode):
                raise Refusal(f"{Path(*path.parts[:place])} is a link: name the file itself") from None
            raise
        finally:
            os.close(at)
        at = found
    if not stat.S_ISREG(os.fstat(at).st_mode):
        os.close(at)
        raise Refusal(f"{file} is no file of which an update could be read")
    return os.fdopen(at, "rb")


def _open_new(file: Path) -> IO[bytes]:
    """Open a file of the boot partition, emptied; raises `OSError` where its name is a link."""
    return os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644), "wb")


def _open_partition(place: Path) -> IO[bytes]:
    """Open a partition for writing, by the name that udev gives it.

    Raises:
        Refusal: the name does not lead to a block device.
    """
    if place.is_symlink() and not stat.S_ISBLK(place.stat().st_mode):
        raise Refusal(f"{place} leads to no partition: nothing was changed")
    return os.fdopen(os.open(place.resolve(), os.O_RDWR | os.O_NOFOLLOW), "r+b")


def _members(file: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    """Yield the parts of an update in order, with their lengths."""
    try:
        with open_plain(file) as source, tarfile.open(fileobj=source, mode="r|") as archive:
            for member in archive:
                content = archive.extractfile(member)
                if content is not None:
                    yield member.name, member.size, content
    except (tarfile.TarError, EOFError) as error:
        raise Refusal(f"{file} is torn or no update ({error}): copy it once more") from None
    except OSError as error:
        raise Refusal(f"{file} cannot be read: {error.strerror or error}") from None


def _blocks(name: str, size: int, content: IO[bytes]) -> Iterator[bytes]:
    """Yield all bytes of a part in blocks."""
    read = 0
    with suppress(tarfile.ReadError):
        while block := content.read(_BLOCK):
            read += len(block)
            yield block
    if read != size:
        raise Refusal(f"the file is torn: of {name} it holds {read} of {size} bytes; copy it once more")


def examine(file: Path, machine: Machine) -> Manifest:
    """Read the whole update before anything is changed.

    Raises:
        Refusal: it is torn, has a foreign signature, is for another machine, or is no newer.
    """
    signed: dict[str, bytes] = {}
    manifest: Manifest | None = None
    whole: set[str] = set()
    for name, size, content in _members(file):
        if manifest is None and name in ("manifest", "manifest.sig") and size < _LONGEST:
            signed[name] = b"".join(_blocks(name, size, content))
            if len(signed) == 2:
                manifest = _judged(signed, machine)
                _fits(file, manifest, machine)
        elif manifest is not None and name in manifest.sums:
            if name == "root" and size > (room := _room(machine)):
                raise Refusal(
                    f"the new system has {size >> 20} MiB, and its partition {room >> 20}: write a whole image"
                )
            total = hashlib.sha256()
            for block in _blocks(name, size, content):
                total.update(block)
            if total.hexdigest() != manifest.sums[name]:
                raise Refusal(f"{name} in {file} is not what was signed: copy the file once more")
            whole.add(name)
        else:
            raise Refusal(f"{file} is no update of the Table Referee: {name} was not expected there")
    lacking = [part for part in (PARTS if manifest is None else manifest.sums) if part not in whole]
    if manifest is None or lacking:
        raise Refusal(
            f"{file} is torn: {'its manifest' if manifest is None else lacking[0]} is missing; copy it once more"
        )
    return manifest


def _judged(signed: dict[str, bytes], machine: Machine) -> Manifest:
    """Return the manifest, if its signature is good."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in signed.items():
            Path(folder, name).write_bytes(content)
        done = subprocess.run(
            ["openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", str(machine.key),
             "-in", "manifest", "-sigfile", "manifest.sig"],
            cwd=folder, capture_output=True, check=False,
        )  # fmt: skip
    if done.returncode:
        raise Refusal(
            "this update was not signed with the key that this machine trusts: take it from where the image is from"
        )
    return read_manifest(signed["manifest"].decode("utf-8", "replace"))


def _fits(file: Path, manifest: Manifest, machine: Machine) -> None:
    """Check that an update is for this machine."""
    own, running = machine.said("IMAGE_ARCHITECTURE"), machine.entry(machine.slot())
    here = machine.said("IMAGE_VERSION") if running is None else _value(running, "version")
    if manifest.architecture != own:
        words = _OTHER_MACHINE[machine.language()]
        raise Refusal(words.format(file=file, other=manifest.architecture, own=own))
    if numbers_of(manifest.version) <= numbers_of(here):
        raise Refusal(
            f"{file} holds {manifest.version}, and {here} runs already: "
            "`table-referee-update back` goes back to the system before"
        )


def _room(machine: Machine) -> int:
    """Return the size in bytes of the partition that an update goes to."""
    with _open_partition(machine.partitions / f"root-{_other(machine)}") as partition:
        return partition.seek(0, os.SEEK_END)


def _other(machine: Machine) -> str:
    return "b" if machine.slot() == "a" else "a"


def entry_text(slot: str, version: str, options: str) -> str:
    """Return the text of a system's boot loader entry."""
    return (
        f"title Table Referee {version} ({slot})\nsort-key table-referee\nversion {version}\n"
        f"linux /{slot}/linux\ninitrd /{slot}/initrd\noptions root=PARTLABEL=root-{slot} {options}\n"
    )


def install(file: Path, machine: Machine, *, once: bool = False) -> str:
    """Install an update over the idle system, which is started next. Return its version.

    The power may fail at any moment: the entry of the boot loader is removed first and written last.

    Args:
        file: the update.
        machine: takes it.
        once: refuse an update that was here before, and did not start well or was taken back.

    Raises:
        Refusal: see `examine`.
    """
    slot = _other(machine)
    running = machine.entry(machine.slot())
    if running is not None and tries_left(running) is not None:
        raise Refusal(
            "the system that runs is itself still on trial: wait until `table-referee-update state` calls it good"
        )
    manifest = examine(file, machine)
    if (machine.esp / slot).is_symlink():
        raise Refusal(f"{machine.esp / slot} is a link: nothing was changed")
    left = machine.entry(slot)
    if once and left is not None and tries_left(left) == 0 and _value(left, "version") == manifest.version:
        raise Refusal(
            f"{manifest.version} was here before, and did not start well or was taken back: "
            "it is not tried again by itself"
        )
    while (old := machine.entry(slot)) is not None:
        old.unlink()
        _sync(machine.entries)
    (machine.esp / slot).mkdir(exist_ok=True)
    for name, size, content in _members(file):
        if name not in manifest.sums:
            continue
        total = hashlib.sha256()
        root = machine.partitions / f"root-{slot}"
        with _open_partition(root) if name == "root" else _open_new(machine.esp / slot / name) as out:
            for block in _blocks(name, size, content):
                total.update(block)
                out.write(block)
            out.flush()
            os.fsync(out.fileno())
        # `examine` checked an earlier reading; the file on the stick may have changed since.
        if total.hexdigest() != manifest.sums[name]:
            raise Refusal(f"{file} changed while it was read; the system that runs stays: try again")
    if DEVICES in manifest.sums:
        with tarfile.open(machine.esp / slot / DEVICES) as trees:
            trees.extractall(machine.esp / slot, filter="data")
        _write(machine.esp / slot / "cmdline.txt", f"root=PARTLABEL=root-{slot} {manifest.options}\n")
    # All data must be on the disk before the entry that starts it.
    os.sync()
    tries = 1 if machine.starts_by_firmware else TRIES
    _write(machine.entries / f"{slot}+{tries}.conf", entry_text(slot, manifest.version, manifest.options))
    _tell_firmware(machine)
    return manifest.version


def _write(file: Path, text: str) -> None:
    """Write atomically: after a power cut the file holds the new text or the old."""
    if file.is_file() and file.read_bytes() == text.encode():
        return
    beside = file.with_suffix(".new")
    with _open_new(beside) as out:
        out.write(text.encode())
        out.flush()
        os.fsync(out.fileno())
    _move(beside, file)


def _move(file: Path, to: Path) -> None:
    """Rename a file of the boot partition, for good."""
    file.rename(to)
    # On FAT a new name stands for nothing, or for the file that it replaced, until the file itself is flushed.
    _sync(to)
    _sync(to.parent)


def _tell_firmware(machine: Machine) -> None:
    """Name the good system, and the one on trial, to a Raspberry Pi's own boot loader."""
    if not machine.starts_by_firmware:
        return
    started = (machine.esp / "config.txt").read_text()
    entries = [entry for slot in "ab" if (entry := machine.entry(slot)) is not None]
    good = [entry for entry in entries if tries_left(entry) is None]
    named = {"config.txt": max(good, key=lambda entry: numbers_of(_value(entry, "version")), default=None)}
    trial = next((entry for entry in entries if tries_left(entry)), None)
    if machine.asks_for_a_try:
        named["tryboot.txt"] = trial
    elif trial is not None:
        # In this order: config.txt names the system on trial only once the way back is written.
        named = {"good.txt": named["config.txt"], "config.txt": trial}
    for name, entry in named.items():
        if entry is not None:
            prefix = f"os_prefix={_slot_of(entry)}/"
            _write(machine.esp / name, re.sub(r"^os_prefix=.*$", prefix, started, flags=re.MULTILINE))


def _settle_trial(machine: Machine) -> None:
    """On a Raspberry Pi: mark the running system good, and give up a system on trial that does not run."""
    if not machine.starts_by_firmware:
        return
    for slot in "ab":
        entry = machine.entry(slot)
        if entry is not None and tries_left(entry):
            _move(entry, machine.entries / (f"{slot}.conf" if slot == machine.slot() else f"{slot}+0.conf"))
    _tell_firmware(machine)


def go_back(machine: Machine) -> str:
    """Start the other system from now on; return its version.

    Raises:
        Refusal: there is none that was ever found good.
    """
    there = machine.entry(_other(machine))
    if there is None or tries_left(there) is not None:
        raise Refusal("there is no other system that was found good: nothing was changed")
    here = machine.entry(machine.slot())
    if here is not None:
        # Without tries left, the boot loader sorts it last.
        _move(here, here.with_name(f"{machine.slot()}+0.conf"))
    _tell_firmware(machine)
    return _value(there, "version")


def _value(entry: Path, key: str) -> str:
    found = re.search(rf"^{key} (.*)$", entry.read_text(), flags=re.MULTILINE)
    return found[1] if found else "?"


def state(machine: Machine) -> str:
    """Describe both systems, a line each."""
    lines = []
    for slot in "ab":
        entry = machine.entry(slot)
        runs = "runs" if slot == machine.slot() else "waits"
        left = None if entry is None else tries_left(entry)
        words = "good" if left is None else f"on trial, {left} tries left" if left else "left alone"
        holds = "nothing" if entry is None else f"{_value(entry, 'version')}, {words}"
        lines.append(f"{slot}: {holds}, {runs}")
    return "\n".join(lines)


def check(
    answers: Callable[[], bool], restart: Callable[[], None], machine: Machine, *, patience: float = _PATIENCE
) -> str:
    """Wait for the page; restart the machine if a system on trial does not serve it.

    Raises:
        Refusal: the page did not answer in time.
    """
    until = time.monotonic() + patience
    while not answers():
        if time.monotonic() >= until:
            entry = machine.entry(machine.slot())
            if entry is not None and tries_left(entry) is not None:
                restart()
            raise Refusal(f"the page did not answer within {patience:.0f} s: journalctl -u table-referee")
        time.sleep(1)
    _settle_trial(machine)
    uptime = Path("/proc/uptime").read_text().split()[0]
    return f"ready {uptime} s after the kernel began: {machine.said('IMAGE_VERSION')} in {machine.slot()}"


def _page_answers() -> bool:
    try:
        with urllib.request.urlopen("http://127.0.0.1:8080/", timeout=20) as page:
            return bool(page.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _restart() -> None:
    subprocess.run(["systemctl", "reboot"], check=False)


def _sync(place: Path) -> None:
    """Flush the changes of a file, or in a folder, to the disk."""
    handle = os.open(place, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def main() -> int:
    """Run the command; on refusal print one line that says what to do, with exit status 1."""
    parser = argparse.ArgumentParser(prog="table-referee-update", description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("what", metavar="FILE | back | state | check")
    parser.add_argument("--once", action="store_true", help="not an update that was left or taken back before")
    told = parser.parse_args()
    what, machine = told.what, Machine()
    try:
        if what == "state":
            print(state(machine))
        elif what == "check":
            print(check(_page_answers, _restart, machine), flush=True)
        elif what == "back":
            print(f"{go_back(machine)} is started next: systemctl reboot")
        else:
            print(f"reading {what} ...", flush=True)
            version = install(Path(what), machine, once=told.once)
            how = (
                ", once: systemctl reboot --reboot-argument='0 tryboot'"
                if machine.starts_by_firmware and machine.asks_for_a_try
                else ", once: systemctl reboot"
                if machine.starts_by_firmware
                else (f", for {TRIES} tries at most: systemctl reboot")
            )
            print(f"{version} is started next{how}")
    except Refusal as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{error.filename or what}: {error.strerror}; the system that runs stays", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
