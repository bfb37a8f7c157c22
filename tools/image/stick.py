"""Orders on a USB stick for the appliance: ``table-referee-stick DEVICE``, which udev starts when one is plugged in.

An image has no shell that its owner could reach from a phone, so orders are files on a stick:

- ``*.update``: the newest is installed in the idle system (``table-referee-update``), which is then started;
- ``back.txt``: the previous system is started again;
- ``questions.txt``: the first questions are asked again; games stay;
- ``backup.txt``: games, people, settings and learned decks are written onto the stick, as one file;
- ``wireless.txt``: name and password of the table's own wireless network are written into the report.

The content of the text files does not matter. Each order is executed once, and its file is then renamed ``….done``.
The outcome is written to ``table-referee.txt`` on the stick, and shown on the machine's screen.

A stick may hold links, to files of the machine or to devices. None is followed: it is mounted with ``nosymfollow``,
only plain files are orders, and each file written onto it is a new file.

On the machine this file is a separate program, and needs Python, mount and the appliance's own commands.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

REPORT: Final = "table-referee.txt"
BACK: Final = "back.txt"
QUESTIONS: Final = "questions.txt"
BACKUP: Final = "backup.txt"
WIRELESS: Final = "wireless.txt"
ORDERS: Final = (BACKUP, WIRELESS, QUESTIONS, BACK)
"""File names, in the order in which they are executed."""
UPDATER: Final = "table-referee-update"
_RESTART: Final = "systemctl reboot"
_HOW: Final = re.compile(rf": ({_RESTART}\b.*)$")
_STATE: Final = Path("/var/lib/table-referee")
_USER: Final = "table-referee"
OPTIONS: Final = "nosuid,nodev,noexec,nosymfollow"
"""Mount options of a stick."""


@dataclass(frozen=True, slots=True)
class Appliance:
    """The appliance's side of the orders; a test passes its own."""

    run: Callable[[Sequence[str]], tuple[int, str]]
    """Runs a command; returns its exit status and output."""
    answered: Path = Path("/etc/table-referee/answered")
    """Exists once the first questions were answered."""
    state: Path = _STATE
    """Folder in which a backup may be written before it goes onto the stick."""


def obey_stick(stick: Path, appliance: Appliance) -> tuple[list[str], str]:
    """Execute the orders on a stick.

    Args:
        stick: where it is mounted; it can be written.
        appliance: executes them.

    Returns:
        The outcome, a line each (empty without orders), and the command that restarts the machine, if needed.
    """
    words: list[str] = []
    restart = ""
    there = {file.name.lower(): file for file in sorted(stick.iterdir()) if file.is_file() and not file.is_symlink()}
    for name in ORDERS:
        if name in there:
            try:
                there[name].replace(there[name].with_suffix(".done"))
            except OSError as error:
                words.append(
                    f"{name} cannot be renamed ({error.strerror}), so nothing was done: is the stick write-protected?"
                )
                continue
            said, again = _DONE_BY[name](stick, appliance)
            words, restart = [*words, said], restart or again
    updates = [file for name, file in there.items() if name.endswith(".update")]
    if updates and not restart:
        newest = max(updates, key=lambda file: ([int(digits) for digits in re.findall(r"\d+", file.name)], file.name))
        said, restart = _update(["--once", str(newest)], appliance)
        # The mount point means nothing to the reader of the report.
        words.append(said.replace(f"{newest.parent}/", ""))
    return words, restart


def _update(words: Sequence[str], appliance: Appliance) -> tuple[str, str]:
    """Return the updater's output and the restart command; a Raspberry Pi's command names a trial."""
    status, said = appliance.run([UPDATER, *words])
    # The lines before the last name the part that is being read.
    said = said.splitlines()[-1] if said else ""
    found = _HOW.search(said)
    if status or found is None:
        return said, ""
    return said[: found.start()], found[1]


def _take_back(_stick: Path, appliance: Appliance) -> tuple[str, str]:
    return _update(["back"], appliance)


def _ask_again(_stick: Path, appliance: Appliance) -> tuple[str, str]:
    if not appliance.answered.exists():
        return "the first questions are being asked already", ""
    appliance.answered.unlink()
    return "the first questions are asked again", _RESTART


def _back_up(stick: Path, appliance: Appliance) -> tuple[str, str]:
    """Back up as the referee's own user, who may not write the stick: beside the games first."""
    made = appliance.state / "table-referee-backup.zip"
    record, settings = appliance.state / "games" / "record.db", appliance.answered.with_name("table.toml")
    backup = ["referee", "backup", str(made), "--record", str(record), "--settings", str(settings)]
    # Learned decks are looked up as the service does.
    status, said = appliance.run(["runuser", "-u", _USER, "--", "env", f"XDG_DATA_HOME={_STATE.parent}", *backup])
    try:
        if status:
            return said, ""
        name = f"table-referee-{time.strftime('%Y%m%dT%H%M%S')}.zip"
        # The folder belongs to the referee's user, who could have put a link there.
        with os.fdopen(os.open(made, os.O_RDONLY | os.O_NOFOLLOW), "rb") as source, _write_anew(stick, name) as out:
            shutil.copyfileobj(source, out)
        return said.replace(str(made), name), ""
    except OSError as error:
        return f"the backup cannot be written onto the stick: {error.strerror}", ""
    finally:
        made.unlink(missing_ok=True)


def _name_network(_stick: Path, appliance: Appliance) -> tuple[str, str]:
    """Return the network of `tools.image.hotspot`, for a table without a screen."""
    try:
        lines = appliance.answered.with_name("hotspot.txt").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return "this table has opened no wireless network of its own yet", ""
    return f"the table's own wireless network: {', '.join(lines)}", ""


_DONE_BY: Final = {BACK: _take_back, QUESTIONS: _ask_again, BACKUP: _back_up, WIRELESS: _name_network}


def report(stick: Path, words: Sequence[str], appliance: Appliance) -> None:
    """Write the outcome and both systems, for reading on a computer."""
    _, state = appliance.run([UPDATER, "state"])
    # Some editors need CR LF.
    text = "".join(f"{line}\r\n" for line in [*words, "", *state.splitlines()])
    with _write_anew(stick, REPORT) as out:
        out.write(text.encode())


def _write_anew(stick: Path, name: str) -> IO[bytes]:
    """Create a new file on the stick, replacing any entry of this name: a link or a device is never written to.

    Raises:
        OSError: it cannot be made, or the stick's own folder is a link.
    """
    folder = os.open(stick, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
        new = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        return os.fdopen(os.open(name, new, 0o644, dir_fd=folder), "wb")
    finally:
        os.close(folder)


@contextmanager
def _mounted(device: str) -> Iterator[Path]:
    """Mount a stick for the duration of the block; raises `OSError`."""
    with tempfile.TemporaryDirectory() as folder:
        for options in (OPTIONS, f"ro,{OPTIONS}"):
            if _run(["mount", "-o", options, device, folder])[0] == 0:
                break
        else:
            raise OSError(f"{device} cannot be read")
        try:
            yield Path(folder)
        finally:
            _run(["umount", folder])


def _run(command: Sequence[str]) -> tuple[int, str]:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=_STATE, check=False)
    return done.returncode, done.stdout.strip()


def main() -> int:
    """Read the named stick; exit status 1 where it cannot be read."""
    appliance = Appliance(_run)
    try:
        with _mounted(sys.argv[1]) as stick:
            words, restart = obey_stick(stick, appliance)
            for line in words:
                print(line, flush=True)
            if words:
                # A write-protected stick takes no report; the screen has shown it.
                with suppress(OSError):
                    report(stick, words, appliance)
    except OSError as error:
        print(f"the stick: {error}", file=sys.stderr)
        return 1
    if restart:
        _run(shlex.split(restart))
    return 0


if __name__ == "__main__":
    sys.exit(main())
