"""`make image-test`: boot an image in a virtual machine, play, cut the power, update and roll back.

``python -m tools.image.image_check [--arch arm64]`` needs the output of `make image` and qemu. The machine is emulated
instruction by instruction, and its eye takes half a minute for a card: so the simulated game on its camera is
the shortest possible, and each frame waits for it. Exit status 1: an expected result was not seen.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import cv2

from hardware.simulated.table.players import NAMES
from hardware.simulated.table.script import play_game
from hardware.simulated.table.simulated_table import SimulatedTable
from referee.engine.observations import Card
from referee.units import MS, SECOND
from tools.image.first_start import Phone, answer_questions, fall_back, join_hotspot
from tools.image.guest import PATH, Guest, Stuck, missing_packages
from tools.image.stick import REPORT

BUILT: Final = Path(__file__).parents[2] / "build" / "image"
GAME: Final = 26
"""Seed of a game of eight that ends with its ninth card: Ben runs out of cards to pay with."""
SIZE: Final = (640, 480)
FPS: Final = 10.0
CUT_AFTER: Final = 4
"""Cards before the power is cut."""
CARD_MB: Final = 4096
"""Size of the card that the image is written to: larger than the image, as every real card is."""
SETTINGS: Final = f"""\
rules = "beggar-my-neighbour"
dealer = {len(NAMES)}
[camera]
source = "/run/table"
width = {SIZE[0]}
height = {SIZE[1]}
fps = {FPS}
[lights]
enabled = false
[voice]
enabled = false
""" + "".join(f'[[seat]]\nname = "{name}"\n' for name in NAMES)
"""Settings of a table without pads whose camera is a folder of frames; Beggar-My-Neighbour has no slaps."""
_FRAMES: Final = (
    "mount -o ro /dev/vdb /mnt; mkdir -p /run/table; cd /mnt; "
    "for n in $(seq -w 0 {still}); do ln -sf /mnt/{first}.jpg /run/table/0$n.jpg; done; "
    "for one in *; do [ $one \\< {first}.jpg ] || ln -sf /mnt/$one /run/table/1$one; done; "
)
"""Lays the frames from a number on into the camera's folder, after some in which nothing moves."""
_WAIT: Final = 90
"""Seconds that people wait after the power is back: the referee needs them to say that the game goes on."""
_READY: Final = r"ready ([\d.]+) s after the kernel began: (\S+) in (.)"
_ABSENT: Final = {
    "calibration", "pads measured", "certificate",
    "GPIO header", "picamera2 (the Pi's camera)", "camera", "ALSA", "sound", "eye",
}  # fmt: skip
"""Findings of the doctor that are expected here: this table is not measured, and a virtual machine has neither pins
nor devices, nor, emulated, an eye that keeps up with cards.
"""
_BOOT: Final = 900.0
ENVIRON: Final = {**os.environ, "PATH": PATH}
CANNOT: Final = 77
"""Exit status where no virtual machine can run here."""
_PLAY: Final = 1200.0


class Findings:
    """Reports each step with its measurements, and counts what was expected and not seen."""

    def __init__(self) -> None:
        self.failed = 0
        self._began = time.monotonic()

    def tell(self, what: str, seen: bool, words: str) -> None:
        """Print one line of the result."""
        self.failed += not seen
        print(f"{time.monotonic() - self._began:7.0f} s  {'' if seen else 'NOT SEEN: '}{what}: {words}", flush=True)

    def closing(self, words: str) -> str:
        """Return the last line: these words, if everything was seen."""
        return f"{self.failed} were not seen" if self.failed else words


class ImageCheck:
    """Checks one image on one card, from its first start on."""

    def __init__(self, built: Path, architecture: str, folder: Path, findings: Findings) -> None:
        self._built, self._architecture, self._folder = built, architecture, folder
        self.tell = findings.tell
        self._card = folder / "card.img"
        self._cards: list[Card] = []
        """Cards laid in the game on its camera."""
        self._number = ""
        """Serial number by which the machine and certificates know it."""

    def run(self) -> None:
        """Run all steps; raises `Stuck`."""
        frames = self._draw_game()
        shutil.copy(f"{self._built}.img", self._card)
        with self._card.open("r+b") as card:
            card.truncate(CARD_MB << 20)
        with self._boot(frames) as guest:
            self._look_at_first_start(guest)
            self._answer(guest)
            self._begin_game(guest)
            lines = self._cut_power(guest)
        with self._boot(frames) as guest:
            self._end_game(guest, lines)
            self._look_at_the_doctor(guest)
            self._update(guest)

    @contextmanager
    def _boot(self, frames: Path) -> Iterator[Guest]:
        with Guest(self._card, self._architecture, table=frames) as guest:
            try:
                ready = guest.see(_READY, _BOOT)
                took = time.monotonic() - guest.began
                self.tell("power to ready", True, f"{took:.0f} s, {ready[1]} s of them after the kernel began")
                yield guest
            finally:
                shutil.copy(guest.console_file, self._built.parent / f"console-{self._architecture}.log")

    def _draw_game(self) -> Path:
        """Draw the frames for its camera, as a disk."""
        drawn, disk = self._folder / "frames", self._folder / "frames.squashfs"
        drawn.mkdir()
        script = play_game(GAME, len(NAMES), "beggar-my-neighbour", cards_per_second=0.7)
        for frame in SimulatedTable(script, FPS, SIZE).frames():
            cv2.imwrite(str(drawn / f"{frame.index:04}.jpg"), frame.image)
        subprocess.run(["mksquashfs", drawn, disk, "-quiet", "-no-progress"], stdout=subprocess.DEVNULL, check=True)
        self._cards = [line for line in script.truth if isinstance(line, Card)]
        return disk

    def _look_at_first_start(self, guest: Guest) -> None:
        status, page = _get(guest, "/")
        self.tell("the first start asks in a browser", status == 200 and "wizard.js" in page, f"status {status}")
        failed = guest.run("systemctl --failed --plain --no-legend")[1].split()[:1]
        self.tell("services that failed", not failed, " ".join(failed) or "none")
        written = guest.run("touch /usr/written")[0]
        self.tell("the system cannot be written", written != 0, "refused" if written else "it was")
        secret = guest.run("getent shadow root | cut -d: -f2")[1].strip()
        self.tell(
            "who can log in", secret != "", "nobody" if secret[:1] in "*!" else "root, by the password it was given"
        )
        size = int(guest.run("findmnt -bno SIZE /var/lib/table-referee")[1])
        self.tell("the record takes what is left of the card", size > (CARD_MB - 2300) << 20, f"{size >> 20} MB")

        join_hotspot(guest, self.tell, _BOOT)
        fall_back(guest, self.tell, _BOOT)

    def _answer(self, guest: Guest) -> None:
        """Answer the first questions from a phone."""
        began = time.monotonic()
        asked = answer_questions(guest.port, lambda: guest.console, _PLAY)
        language = guest.run("grep -c '^language = .de.' /etc/table-referee/table.toml")[1].strip()
        guest.run(
            "for one in '' -page; do until systemctl -q is-active table-referee$one; do sleep 1; done; done", _BOOT
        )
        _wait_until(lambda: _get(guest, "/")[0] == 200, _BOOT)
        status, page = _get(guest, "/")
        steps = " ".join(dict.fromkeys(question.partition(".")[0] for question in asked))
        self.tell("a phone answers the first questions", language == "1", f"{len(asked)} of {steps}")
        self.tell("then the game's page is there", status == 200 and "wizard.js" not in page,
                  f"after {time.monotonic() - began:.0f} s")  # fmt: skip

    def _begin_game(self, guest: Guest) -> None:
        """Begin another table's game, whose camera is a folder of frames."""
        settings = base64.b64encode(SETTINGS.encode()).decode()
        began = time.monotonic()
        guest.run(
            "systemctl stop table-referee table-referee-page; rm -f /var/lib/table-referee/games/*; "
            f"{_FRAMES.format(first='0000', still='000')} cd /etc/table-referee; "
            f"echo {settings} | base64 -d > table.toml; chown table-referee: table.toml; "
            "systemctl start table-referee table-referee-page",
            _BOOT,
        )
        _wait_until(lambda: bool(_told(_lines(guest), "kind", "card")), _PLAY)
        took = time.monotonic() - began
        self.tell("a game begins, and the eye reads", bool(_told(_lines(guest), "kind", "card")), f"after {took:.0f} s")
        status, page = _get(guest, "/")
        self.tell("the page shows it", status == 200 and NAMES[0] in page, f"status {status}")

    def _cut_power(self, guest: Guest) -> list[str]:
        """Cut the power in the middle of the game; return the lines that its page showed before."""
        _wait_until(lambda: len(_told(_lines(guest), "kind", "card")) >= CUT_AFTER, _PLAY)
        lines = _lines(guest)
        self._number = guest.run("cat /etc/machine-id")[1].strip()
        guest.cut_power()
        cards = [line["card"] for line in _told(lines, "kind", "card")]
        self.tell("power cut", cards == [card.card for card in self._cards[: len(cards)]], f"after {' '.join(cards)}")
        return lines

    def _end_game(self, guest: Guest, before: list[str]) -> None:
        """Go on at the card at which the power was lost, and end the game."""
        laid = len(_told(before, "kind", "card"))
        on = self._cards[laid - 1].t + 700 * MS
        frames = _FRAMES.format(first=f"{on * int(FPS) // SECOND:04}", still=f"{int(_WAIT * FPS) - 1:04}")
        guest.run(
            f"systemctl stop table-referee; {frames} "
            "systemctl start table-referee", _BOOT,
        )  # fmt: skip
        began = time.monotonic()
        number = guest.run("cat /etc/machine-id")[1].strip()
        self.tell("the machine knows itself again", number == self._number, number)
        _wait_until(lambda: bool(_told(_lines(guest), "ruling", "lost")), 2 * _PLAY)
        lines = _lines(guest)
        kept = lines[: len(before)] == before
        self.tell("the game goes on", kept and len(lines) > len(before), f"{len(before)} lines kept: {kept}")
        cards = [line["card"] for line in _told(lines, "kind", "card")]
        ended = _told(lines, "ruling", "lost")
        self.tell(
            "the game is played to its end", bool(ended) and cards == [card.card for card in self._cards],
            f"{' '.join(cards)}; seat {ended[0]['seat'] if ended else 'none'} lost "
            f"after {time.monotonic() - began:.0f} s",
        )  # fmt: skip
        status, words = guest.run("referee games --record /var/lib/table-referee/games/record.db --check", 300)
        self.tell("the record is whole", status == 0, words.strip().replace("\n", "; "))

    def _look_at_the_doctor(self, guest: Guest) -> None:
        command = "referee doctor --json --settings /etc/table-referee/table.toml"
        # The service's working folder: the record's path is relative to it.
        status, words = guest.run(f"cd /var/lib/table-referee; runuser -u table-referee -- {command}", _BOOT)
        found = json.loads(words[words.index("[") :]) if "[" in words else []
        wrong = {result["part"] for result in found if result["state"] != "fine"}
        for check in found:
            print(f"           {check['state']}: {check['part']}: {check['words']}")
        told = ", ".join(sorted(wrong - _ABSENT)) or f"{len(found) - len(wrong)} parts fine, {len(wrong)} not to be had"
        self.tell("the doctor", status == 0 and bool(found) and wrong <= _ABSENT, told)

    def _update(self, guest: Guest) -> None:
        """Install a newer system from a stick, and roll back; then try a system that does not start."""
        version = f"{self._built.name.split('-')[2]}.1"
        make_update(self._built, self._folder / "parts", self._folder / "new.update", version, None)
        ready = self._plug_in(guest, self._folder / "new.update")
        self.tell("an update from a stick", ready == "b", f"runs in {ready}")
        told = guest.run("systemctl is-active systemd-bless-boot boot-complete.target; table-referee-update state")[1]
        self.tell("a good start is kept", "b: " in told and "good, runs" in told, told.strip().replace("\n", "; "))
        ready = self._plug_in(guest, self._folder / "back.txt", self._folder / "backup.txt")
        self.tell("the way back, from a stick", ready == "a", f"runs in {ready}")
        self._install(guest, f"{version}.1", "bad.update", root=b"no system at all\n" * 4096)
        ready = self._restart(guest)
        told = guest.run("table-referee-update state")[1].strip().replace("\n", "; ")
        self.tell("an update that does not start is left", ready == "a", told)

    def _plug_in(self, guest: Guest, *files: Path) -> str:
        """Plug in a stick with these files; return the system that runs afterwards, and print the stick's report."""
        image = self._folder / "stick.img"
        image.unlink(missing_ok=True)
        for file in files:
            file.touch()
        with image.open("wb") as made:
            made.truncate(sum(file.stat().st_size for file in files) + (64 << 20))
        subprocess.run(["mkfs.vfat", "-F", "32", image], stdout=subprocess.DEVNULL, check=True, env=ENVIRON)
        subprocess.run(["mcopy", "-i", image, *files, "::"], check=True)
        past = len(guest.console)
        guest.hang_up()
        guest.plug_in(image)
        ready = guest.see(_READY, 3 * _BOOT, past=past)[3]
        # The stick is still plugged in, so it is read once more.
        guest.run("while systemctl list-jobs --no-legend | grep -q stick; do sleep 1; done", _BOOT)
        guest.pull_out()
        read = subprocess.run(["mtype", "-i", image, f"::{REPORT}"], capture_output=True, text=True, check=False)
        for line in read.stdout.splitlines():
            print(f"           {line}")
        on_it = subprocess.run(["mdir", "-b", "-i", image], capture_output=True, text=True, check=False).stdout
        if "backup.txt" in {file.name for file in files}:
            self.tell("a backup comes onto the stick", ".zip" in on_it, " ".join(on_it.replace("::/", "").split()))
        return ready

    def _restart(self, guest: Guest) -> str:
        past = len(guest.console)
        guest.run("(sleep 1; systemctl reboot) &")
        guest.hang_up()
        return guest.see(_READY, 3 * _BOOT, past=past)[3]

    def _install(self, guest: Guest, version: str, name: str, *, root: bytes | None = None) -> None:
        make_update(self._built, self._folder / "parts", self._folder / name, version, root)
        handler = partial(_Quiet, directory=str(self._folder))
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            fetch = (
                f"import urllib.request as u; u.urlretrieve('http://10.0.2.2:{server.server_port}/{name}', '{name}')"
            )
            to = "cd /var/lib/table-referee"
            _, words = guest.run(f'{to} && python3 -c "{fetch}" && table-referee-update {name}; rm -f {name}', _BOOT)
            server.shutdown()
        self.tell(f"{version} is put into the other system", "started next" in words, words.strip().splitlines()[-1])


def make_update(built: Path, parts: Path, file: Path, version: str, root: bytes | None) -> None:
    """Copy the newest update under another version, signed as `make image` does.

    Args:
        built: the image's name without its suffix.
        parts: a folder for the update's parts.
        file: the update to be made.
        version: of it.
        root: its system; None: the image's own.
    """
    parts.mkdir(exist_ok=True)
    with tarfile.open(f"{built}.update") as tar:
        names = tar.getnames()
        tar.extractall(parts, filter="data")
    if root is not None:
        (parts / "root").write_bytes(root)
    lines = (parts / "manifest").read_text().splitlines()
    made = [re.sub("^version .*", f"version {version}", line) for line in lines if not line.startswith("sha256 root ")]
    made.append(f"sha256 {hashlib.sha256((parts / 'root').read_bytes()).hexdigest()} root")
    (parts / "manifest").write_text("\n".join(made) + "\n")
    sign = ["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", str(built.parent / "update.key")]
    subprocess.run([*sign, "-in", str(parts / "manifest"), "-out", str(parts / "manifest.sig")], check=True)
    with tarfile.open(file, "w") as tar:
        for name in names:
            tar.add(parts / name, name)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Log nothing."""


def _get(guest: Guest, path: str) -> tuple[int, str]:
    return Phone(guest.port).get(path)


def _lines(guest: Guest) -> list[str]:
    """Return the first game's log from its page; empty where there is none yet."""
    status, text = _get(guest, "/games/1/log.jsonl")
    return text.splitlines() if status == 200 else []


def _told(lines: list[str], key: str, value: str) -> list[dict[str, Any]]:
    """Return the lines in which a key has a value."""
    return [told for told in map(json.loads, lines) if told.get(key) == value]


def _wait_until(seen: Callable[[], bool], seconds: float) -> None:
    until = time.monotonic() + seconds
    while not seen() and time.monotonic() < until:
        time.sleep(3)


def _require(architecture: str) -> str:
    """Install missing packages if this is root; describe those that are not available."""
    packages = missing_packages(architecture)
    if packages and os.geteuid() == 0 and shutil.which("apt-get"):
        environ = {**ENVIRON, "DEBIAN_FRONTEND": "noninteractive"}
        for words in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
            subprocess.run(["apt-get", "-qq", *words], stdout=subprocess.DEVNULL, env=environ, check=False)
        packages = missing_packages(architecture)
    return f"sudo apt install {' '.join(packages)}" if packages else ""


def main() -> int:
    """Check the image; exit status 1 where an expected result was not seen."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--arch", choices=("arm64", "amd64"), default="arm64", help="which image (default: arm64)")
    architecture = parser.parse_args().arch
    if words := _require(architecture):
        print(f"image-test: cannot be had here: {words}", file=sys.stderr)
        return CANNOT
    newest = BUILT / f"newest-{architecture}"
    if not newest.exists():
        print(f"there is no image: make image ARCH={architecture}", file=sys.stderr)
        return 2
    findings = Findings()
    with tempfile.TemporaryDirectory(prefix="image-", dir=BUILT) as name:
        try:
            ImageCheck(Path(newest.read_text().strip()), architecture, Path(name), findings).run()
        except Stuck as error:
            findings.tell("what was waited for", False, str(error))
    print(findings.closing("the image boots, plays, outlasts a power cut, and is updated and taken back"))
    return int(findings.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
