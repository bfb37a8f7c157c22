"""What a USB stick asks of the appliance: ``table-referee-stick DEVICE``, which udev starts when one is plugged in.

An image has no shell that its owner could reach from a phone. So what is to be done lies on a stick:

- ``*.update``: the newest goes into the system that does not run (``table-referee-update``), which is started then;
- ``back.txt``: the system before is started again;
- ``questions.txt``: the first questions are asked again; games stay;
- ``backup.txt``: games, people, settings and learned decks are written onto the stick, as one file.

What stands in the text files does not matter. Each is done once, and is called ``….done`` from then on. What came of it
stands on the stick in ``table-referee.txt``, and on the machine's screen.

A stick may hold links, to files of the machine or to devices. None is followed: it is mounted with ``nosymfollow``,
only plain files are orders, and what is written onto it is a new file of that name.

On the machine this file is a program of its own, and needs Python, mount and the appliance's own commands.
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
ORDERS: Final = (BACKUP, QUESTIONS, BACK)
"""Names of files, in the order in which they are obeyed."""
UPDATER: Final = "table-referee-update"
_RESTART: Final = "systemctl reboot"
_HOW: Final = re.compile(rf": ({_RESTART}\b.*)$")
_STATE: Final = Path("/var/lib/table-referee")
_USER: Final = "table-referee"
OPTIONS: Final = "nosuid,nodev,noexec,nosymfollow"
"""By which a stick is mounted."""


@dataclass(frozen=True, slots=True)
class Appliance:
    """What the appliance does when it is asked to; a test has it done otherwise."""

    run: Callable[[Sequence[str]], tuple[int, str]]
    """A command: its exit status, and what it said."""
    answered: Path = Path("/etc/table-referee/answered")
    """There once the first questions were answered."""
    state: Path = _STATE
    """Where a backup may be written before it goes onto the stick."""


def obey_stick(stick: Path, appliance: Appliance) -> tuple[list[str], str]:
    """Do what the files on a stick ask for.

    Args:
        stick: where it is mounted; it can be written.
        appliance: does it.

    Returns:
        What came of it, a line each; nothing where nothing was asked for. And the command by which the machine is to
        start anew, where it is.
    """
    words: list[str] = []
    restart = ""
    there = {file.name.lower(): file for file in sorted(stick.iterdir()) if file.is_file() and not file.is_symlink()}
    for name in ORDERS:
        if name in there:
            try:
                there[name].replace(there[name].with_suffix(".done"))
            except OSError as bad:
                words.append(
                    f"{name} cannot be renamed ({bad.strerror}), so nothing was done: is the stick write-protected?"
                )
                continue
            said, again = _DONE_BY[name](stick, appliance)
            words, restart = [*words, said], restart or again
    updates = [file for name, file in there.items() if name.endswith(".update")]
    if updates and not restart:
        newest = max(updates, key=lambda file: ([int(digits) for digits in re.findall(r"\d+", file.name)], file.name))
        said, restart = _update(["--once", str(newest)], appliance)
        # Where the stick is mounted means nothing to whoever reads it.
        words.append(said.replace(f"{newest.parent}/", ""))
    return words, restart


def _update(words: Sequence[str], appliance: Appliance) -> tuple[str, str]:
    """What the updater said, and how it wants the machine started anew; a Raspberry Pi is told of a trial so."""
    status, said = appliance.run([UPDATER, *words])
    # Before it stands what is being read.
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
    """By the referee's own user, who may not write the stick: beside the games first."""
    made = appliance.state / "table-referee-backup.zip"
    record, settings = appliance.state / "games" / "record.db", appliance.answered.with_name("table.toml")
    backup = ["referee", "backup", str(made), "--record", str(record), "--settings", str(settings)]
    # Learned decks are found as the service finds them.
    status, said = appliance.run(["runuser", "-u", _USER, "--", "env", f"XDG_DATA_HOME={_STATE.parent}", *backup])
    try:
        if status:
            return said, ""
        name = f"table-referee-{time.strftime('%Y%m%dT%H%M%S')}.zip"
        # Made in a folder of the referee's user, who could have put a link there.
        with os.fdopen(os.open(made, os.O_RDONLY | os.O_NOFOLLOW), "rb") as source, _write_anew(stick, name) as out:
            shutil.copyfileobj(source, out)
        return said.replace(str(made), name), ""
    except OSError as bad:
        return f"the backup cannot be written onto the stick: {bad.strerror}", ""
    finally:
        made.unlink(missing_ok=True)


_DONE_BY: Final = {BACK: _take_back, QUESTIONS: _ask_again, BACKUP: _back_up}


def report(stick: Path, words: Sequence[str], appliance: Appliance) -> None:
    """Write down what was done, and both systems, for whoever takes the stick to a computer."""
    _, state = appliance.run([UPDATER, "state"])
    # Some editors want both ends of a line.
    text = "".join(f"{line}\r\n" for line in [*words, "", *state.splitlines()])
    with _write_anew(stick, REPORT) as out:
        out.write(text.encode())


def _write_anew(stick: Path, name: str) -> IO[bytes]:
    """A new file on the stick, in the place of whatever bears this name there: a link or a device is not written to.

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
    """A stick, as long as it is looked at; raises `OSError`."""
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
    """Look at the stick that is named; exit status 1 where it cannot be read."""
    appliance = Appliance(_run)
    try:
        with _mounted(sys.argv[1]) as stick:
            words, restart = obey_stick(stick, appliance)
            for line in words:
                print(line, flush=True)
            if words:
                # A stick that is write-protected takes none; the screen has told it.
                with suppress(OSError):
                    report(stick, words, appliance)
    except OSError as bad:
        print(f"the stick: {bad}", file=sys.stderr)
        return 1
    if restart:
        _run(shlex.split(restart))
    return 0


if __name__ == "__main__":
    sys.exit(main())
