"""`make image-test BOARD=raspberry-debian`: boot a Pi's image on an emulated Raspberry Pi 4, with pads and lights.

``python -m tools.image.pi_check`` starts what the card itself names: kernel, initrd, device tree and options. First a
bad update is on trial, which leaves the card to the image itself; then a game is played until the power is cut; at
last it goes on in a good update. Contacts close on the header's pins; the lights' pins and the card are what is judged.

QEMU has no firmware of a Raspberry Pi, so `Card.started` reads ``config.txt`` as that firmware does; and no USB,
network, camera or sound of a Pi 4. Exit status 1: an expected result was not seen.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import cv2

from hardware.pads.pinout import PAD_PINS, SEAT_LIGHT_PINS, TABLE_LIGHT_PINS
from hardware.simulated.table.script import play_game
from hardware.simulated.table.simulated_table import SimulatedTable
from referee.record.store import Record
from referee.units import MS, SECOND
from tools.image.image_check import BUILT, CANNOT, CARD_MB, ENVIRON, Findings, make_update
from tools.image.update import Machine, install
from tools.pi.board import Contact, Output, emulate, plan_text, read_log
from tools.pi.setup import FOLDER, TREES, CannotSetUpError, edit_tree, emulator, run, set_up

BOARD: Final = "raspberry-debian"
NAMES: Final = ("Ana", "Ben", "Cho")
SIZE: Final = (320, 240)
FPS: Final = 5
STILL: Final = 900
"""Seconds for which the camera shows a table without cards."""
ROLL_CALL: Final = ((1, 1 * SECOND), (2, 2 * SECOND), (3, 3 * SECOND))
"""Seats and instants, from the moment when the first seat's light asks for its slap, ns."""
HANDS: Final = ((3, 25 * SECOND), (1, 33 * SECOND))
"""Slaps before the first card: each is false (N10), and costs nothing, so that the table stays bare. Seat 2 leads, so
its light is dimmed.
"""
LATER: Final = 10 * SECOND
"""How much later the hands come in a game that was broken off, ns: it goes on once the camera has seen the table."""
RED: Final = TABLE_LIGHT_PINS[0]
"""The table light's other pins are the serial console's, which QEMU shows: here it has others."""
SETTINGS: Final = f"""\
[rules]
base = "classic"
off = ["F1"]
set = {{ N10 = "false" }}
[camera]
source = "/var/lib/table-referee/table"
width = {SIZE[0]}
height = {SIZE[1]}
fps = {FPS}
[lights]
table = [{RED}, 10, 11]
[voice]
enabled = false
""" + "".join(
    f'[[seat]]\nname = "{name}"\npad = {pad}\nlight = {light}\n'
    for name, pad, light in zip(NAMES, PAD_PINS, SEAT_LIGHT_PINS, strict=False)
)
LIGHT: Final = 100 * MS
"""Longest time from a hand's contact to its light, ns: the referee has a quarter of a slow processor here."""
OUT: Final = 800 * MS
"""Longest time from a slap of the roll-call until that seat's light is out, ns."""
RULED: Final = 5 * SECOND
"""Longest time from a hand's contact to the table's light, ns."""
STAMP: Final = 5 * MS
"""Largest error of the time between two slaps, ns: QEMU lets processors take turns when it counts instructions, so an
interrupt may wait for the others (`make pi-test` measures the stamps where the others idle)."""
_TOUCH: Final = 60 * MS
_PATIENCE: Final = 3600.0
"""Seconds of this machine's time until a start is given up."""
_MARGIN: Final = 3.0
_OPTIONS: Final = " console=ttyAMA0,115200 isolcpus=1-3 systemd.journald.forward_to_console=1 systemd.watchdog_sec=off"
"""Added to the card's: the console that QEMU shows, and no watchdog, at whose first touch QEMU resets the machine."""
_READY: Final = re.compile(r"ready ([\d.]+) s after the kernel began: (\S+) in (.)")
_RECORD: Final = "games/record.db"


@dataclass(frozen=True, slots=True)
class Start:
    """One time under power; instants are the emulator's, ns."""

    lines: tuple[str, ...]
    """The console's."""
    contacts: tuple[Contact, ...]
    outputs: tuple[Output, ...]
    seconds: float

    @property
    def ready(self) -> re.Match[str] | None:
        """The line that calls the start a good one."""
        return next(filter(None, map(_READY.search, self.lines)), None)


class Card:
    """A card that an image was written to."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def partition(self, name: str) -> tuple[int, int]:
        """Return a partition's first byte and its size."""
        told = json.loads(_run("sfdisk", "--json", self.path))["partitiontable"]
        found = next(entry for entry in told["partitions"] if entry.get("name") == name)
        return found["start"] * told.get("sectorsize", 512), found["size"] * told.get("sectorsize", 512)

    def boot_file(self, name: str) -> bytes:
        """Return a file of the boot partition."""
        return _run_bytes("mtype", "-i", f"{self.path}@@{self.partition('esp')[0]}", f"::{name}")

    def started(self) -> dict[str, str]:
        """Return what the firmware starts by config.txt: names of kernel, initrd and device tree, and the options."""
        told = self.boot_file("config.txt").decode()
        said = dict(re.findall(r"^(\w+)=(.*)$", told, flags=re.MULTILINE))
        (initrd,) = re.findall(r"^initramfs (\S+) followkernel$", told, flags=re.MULTILINE)
        prefix = said["os_prefix"]
        options = self.boot_file(f"{prefix}cmdline.txt").decode().strip()
        return {
            "kernel": prefix + said["kernel"], "initrd": prefix + initrd, "tree": prefix + TREES["raspi4b"][0],
            "options": options,
        }  # fmt: skip

    def write_record(self, folder: Path) -> None:
        """Make the record's partition anew, with the files of a folder."""
        with tempfile.NamedTemporaryFile(dir=self.path.parent) as made:
            made.truncate(self.partition("record")[1])
            _run("mke2fs", "-q", "-t", "ext4", "-L", "record", "-E", "root_owner=0:0", "-d", folder, made.name)
            self._put("record", Path(made.name))

    def install(self, update: Path, folder: Path, key: Path) -> None:
        """Put an update into the system b: by the appliance's program, on this machine, in copies of the partitions."""
        esp, partitions = folder / "esp", folder / "partitions"
        for place in (esp, partitions):
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
        boot = f"{self.path}@@{self.partition('esp')[0]}"
        _run("mcopy", "-s", "-n", "-i", boot, "::*", esp)
        with (partitions / "root-b").open("wb") as root:
            root.truncate(self.partition("root-b")[1])
        (folder / "cmdline").write_text("root=PARTLABEL=root-a\n")
        (folder / "os-release").write_text(self._system_file("usr/lib/os-release"))
        install(update, Machine(esp, partitions, folder / "cmdline", folder / "os-release", key, folder / "table.toml"))
        _run("mdeltree", "-i", boot, "::loader/entries", "::b")
        _run("mcopy", "-s", "-i", boot, esp / "loader" / "entries", "::loader/")
        _run("mcopy", "-s", "-o", "-i", boot, esp / "b", esp / "good.txt", esp / "config.txt", "::")
        self._put("root-b", partitions / "root-b")

    def read_record(self, folder: Path) -> tuple[list[str], list[str], int]:
        """Return the lines of the only game, the broken seals, and the number of the record's user.

        It is read from a copy: the next start finds the card as the power cut left it.
        """
        record = self._cut_out()
        for name in ("record.db", "record.db-wal"):
            (folder / name).unlink(missing_ok=True)
            _run("debugfs", "-R", f"dump games/{name} {folder / name}", record)
        (owner,) = re.findall(r"User:\s+(\d+)", _run("debugfs", "-R", f"stat {_RECORD}", record))
        record.unlink()
        with Record(folder / "record.db") as games:
            (game,) = games.games()
            lines = [text for _, text in games.lines(game.id)]
            return lines, list(map(str, games.broken_seals(game.id))), int(owner)

    def _cut_out(self) -> Path:
        """Return a copy of the record's partition, whose journal is replayed as at the next start."""
        begin, size = self.partition("record")
        copy = self.path.with_name("record.part")
        copy.unlink(missing_ok=True)
        _run(
            "dd", f"if={self.path}", f"of={copy}", "bs=1M", f"skip={begin >> 20}", f"count={size}",
            "iflag=count_bytes", "conv=sparse",
        )  # fmt: skip
        with copy.open("r+b") as cut:
            cut.truncate(size)
        done = subprocess.run(["e2fsck", "-fy", copy], capture_output=True, text=True, env=ENVIRON, check=False)
        # 1: it mended something, such as by the journal.
        if done.returncode not in (0, 1):
            raise RuntimeError(done.stdout)
        return copy

    def _put(self, name: str, file: Path) -> None:
        """Write a partition anew."""
        begin, size = self.partition(name)
        _run("fallocate", "--punch-hole", f"--offset={begin}", f"--length={size}", self.path)
        _run("dd", f"if={file}", f"of={self.path}", "bs=1M", f"seek={begin >> 20}", "conv=notrunc,sparse")

    def user(self, name: str) -> int:
        """Return a user's number in the system a."""
        users = self._system_file("etc/passwd")
        return next(int(line.split(":")[2]) for line in users.splitlines() if line.startswith(f"{name}:"))

    def _system_file(self, name: str) -> str:
        """Return a file of the system a."""
        begin, _ = self.partition("root-a")
        return _run("unsquashfs", "-o", str(begin), "-cat", self.path, name)


def _run(*command: str | Path) -> str:
    return _run_bytes(*command).decode()


def _run_bytes(*command: str | Path) -> bytes:
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, env=ENVIRON).stdout


def contacts_of(hands: Sequence[tuple[int, int]]) -> list[Contact]:
    """Return the contacts of these seats' hands."""
    return [
        Contact(t + length, PAD_PINS[seat - 1], not length) for seat, t in hands for length in (0, _TOUCH)
    ]  # fmt: skip


def is_lit(outputs: Sequence[Output], pin: int, t: int) -> bool:
    """Return whether a pin is high at an instant."""
    return next((it.level for it in reversed(outputs) if it.pin == pin and it.t <= t), False)


def presses_of(contacts: Sequence[Contact]) -> list[tuple[int, int]]:
    """Return seat and instant of each closing."""
    return [(PAD_PINS.index(it.pin) + 1, it.t) for it in contacts if it.closed]


def judge_roll_call(start: Start) -> Iterator[str]:
    """Every seat's light burns until its own pad is slapped; yield what was otherwise."""
    presses = presses_of(start.contacts)[: len(ROLL_CALL)]
    if [seat for seat, _ in presses] != [seat for seat, _ in ROLL_CALL]:
        yield f"the roll-call was not played: {presses}"
        return
    for place, (seat, t) in enumerate(presses):
        waiting = [other for other, _ in presses[place:]]
        pin = SEAT_LIGHT_PINS[seat - 1]
        # A game that was broken off shows its pause soon after the last slap.
        out = next((it.t for it in start.outputs if it.pin == pin and not it.level and t < it.t <= t + OUT), t + OUT)
        for when, lit in ((t, waiting), (out, waiting[1:])):
            burning = [it for it, _ in presses if is_lit(start.outputs, SEAT_LIGHT_PINS[it - 1], when)]
            if burning != lit:
                yield f"{(when - t) / MS:.0f} ms after seat {seat} slapped, the lights of {burning} burnt, not of {lit}"


def judge_hands(start: Start) -> Iterator[str]:
    """Each hand's own light comes at once, and the red light of a false slap soon; yield what was otherwise."""
    presses = presses_of(start.contacts)[len(ROLL_CALL) :]
    if [seat for seat, _ in presses] != [seat for seat, _ in HANDS]:
        yield f"the hands were not played: {presses}"
        return
    for seat, t in presses:
        for other, _ in presses:
            lit = first_rise(start.outputs, SEAT_LIGHT_PINS[other - 1], t)
            came = lit is not None and lit - t <= LIGHT
            if came != (other == seat):
                yield f"seat {seat} slapped, and the light of seat {other} {'came' if came else 'did not come'}"
        red = first_rise(start.outputs, RED, t)
        if red is None or red - t > RULED:
            yield f"seat {seat} slapped, and the table's light was not red"


def first_rise(outputs: Sequence[Output], pin: int, after: int) -> int | None:
    """Return the first instant at which a pin rises, from another one on."""
    return next((it.t for it in outputs if it.pin == pin and it.level and it.t >= after), None)


def judge_lines(lines: Sequence[str], start: Start) -> Iterator[str]:
    """The record holds each hand, at its time, and rules it false; yield what is otherwise."""
    told = [json.loads(line) for line in lines]
    slaps = [line for line in told if line.get("kind") == "slap"]
    wanted = [seat for seat, _ in HANDS]
    if (seats := [line["seat"] for line in slaps]) != wanted:
        yield f"seats {wanted} slapped, and the record holds {seats}"
        return
    presses = presses_of(start.contacts)[-len(HANDS) :]
    apart = [(slap["t"] - slaps[0]["t"]) - (t - presses[0][1]) for slap, (_, t) in zip(slaps, presses, strict=True)]
    if any(abs(error) > STAMP for error in apart):
        yield f"the stamps are {', '.join(f'{error / MS:.2f}' for error in apart)} ms wrong"
    for slap in slaps:
        ruled = [line for line in told if "ruling" in line and slap["id"] in line.get("because", ())]
        false = [line["seat"] for line in ruled if line["ruling"] == "slap_false"]
        if false != [slap["seat"]]:
            yield f"the slap of seat {slap['seat']} was not ruled false: {[line['ruling'] for line in ruled]}"


class PiCheck:
    """Checks one image on one card, from its first start on."""

    def __init__(self, built: Path, folder: Path, findings: Findings) -> None:
        self._built, self._folder, self._tell = built, folder, findings.tell
        self._card = Card(folder / "card.img")
        self._starts = 0

    def run(self) -> None:
        """Run all steps."""
        shutil.copy(f"{self._built}.img", self._card.path)
        with self._card.path.open("r+b") as card:
            card.truncate(CARD_MB << 20)
        self._card.write_record(self._lay_table())
        self._try_in_vain()
        before = self._play_and_cut()
        self._go_on(before)

    def _lay_table(self) -> Path:
        """Return the record's folder: the settings, and a camera that shows the bare table."""
        folder = self._folder / "record"
        for name in ("settings", "cache", "games", "table"):
            (folder / name).mkdir(parents=True)
        (folder / "settings" / "table.toml").write_text(SETTINGS)
        (folder / "settings" / "answered").touch()
        script = play_game(1, len(NAMES), "classic", 1, 1.0)
        bare = next(iter(SimulatedTable(script, FPS, SIZE).frames())).image
        cv2.imwrite(str(folder / "table" / "00000.jpg"), bare)
        for number in range(1, STILL * FPS):
            (folder / "table" / f"{number:05}.jpg").symlink_to("00000.jpg")
        return folder

    def _try_in_vain(self) -> None:
        """Start an update whose system is none: the way back is there before that shows, and it restarts by itself."""
        self._install("1", b"no system at all\n" * 4096)
        start = self._start()
        faults = [
            *["it started"] * (start.ready is not None),
            *["it did not restart"] * (not any("Restarting system" in line for line in start.lines)),
            *["the way back is missing"] * (self._card.started()["kernel"] != "a/linux"),
        ]
        self._judge("an update that does not start", faults, "it restarts, and config.txt names the system before")

    def _play_and_cut(self) -> list[str]:
        """Hold the roll-call, slap twice, and cut the power as soon as the second verdict shows; return the lines."""
        start = self._start(contacts_of([*ROLL_CALL, *HANDS]))
        self._judge_start(start)
        lines, broken, owner = self._card.read_record(self._folder)
        self._judge("the record after a power cut", [*judge_lines(lines, start), *broken], f"{len(lines)} lines")
        user = self._card.user("table-referee")
        self._judge(
            "pads and lights by the service's own user",
            [] if owner == user else [f"user {owner}, not {user}"],
            str(user),
        )
        return lines

    def _go_on(self, before: list[str]) -> None:
        """Start an update with the games as the power cut left them: the game goes on, and nothing is lost."""
        self._install("2", None)
        start = self._start(contacts_of([*ROLL_CALL, *((seat, t + LATER) for seat, t in HANDS)]))
        self._judge_start(start, system="b")
        lines, broken, _ = self._card.read_record(self._folder)
        lost = [] if lines[: len(before)] == before else ["lines are lost"]
        self._judge(
            "the game goes on", [*judge_lines(lines[len(before) :], start), *broken, *lost],
            f"{len(before)} lines kept, {len(lines) - len(before)} new",
        )  # fmt: skip
        kernel = self._card.started()["kernel"]
        self._judge("the update stays", [] if kernel == "b/linux" else [f"{kernel} is next"], f"{kernel} is next")

    def _install(self, number: str, root: bytes | None) -> None:
        """Put an update with a further number in its version into the system b."""
        file = self._folder / "new.update"
        make_update(self._built, self._folder / "parts", file, f"{self._built.name.split('-')[2]}.{number}", root)
        self._card.install(file, self._folder, self._built.with_name("update.pem"))

    def _judge_start(self, start: Start, *, system: str = "a") -> None:
        ready = start.ready
        words = ready[0] if ready else "it does not run"
        self._judge("this start is a good one", [] if ready and ready[3] == system else [words], words)
        presses = presses_of(start.contacts)
        lit = [first_rise(start.outputs, SEAT_LIGHT_PINS[seat - 1], t) for seat, t in presses[len(ROLL_CALL) :]]
        after = [f"{(rise - t) / MS:.1f}" for rise, (_, t) in zip(lit, presses[len(ROLL_CALL) :], strict=True) if rise]
        took = f"{start.seconds:.0f} s of this machine's"
        self._judge("the roll-call on the header", judge_roll_call(start), took)
        self._judge(
            "a hand's light and its verdict",
            judge_hands(start),
            f"light after {', '.join(after)} ms",
        )

    def _judge(self, what: str, faults: Iterator[str] | Sequence[str], words: str) -> None:
        found = list(faults)
        self._tell(what, not found, "; ".join(found) or words)

    def _start(self, contacts: Sequence[Contact] = ()) -> Start:
        """Start what the card names.

        It is under power until the red light after the last contact; without contacts, until it is ready or restarts.
        """
        began = time.monotonic()
        self._starts += 1
        started = self._card.started()
        place = self._folder / "start"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for name in ("kernel", "initrd", "tree"):
            (place / name).write_bytes(self._card.boot_file(started[name]))
        edit_tree(place / "tree", "raspi4b")
        _move_card(place / "tree")
        (place / "plan").write_text(plan_text(contacts))
        (place / "log").touch()
        # With cache=unsafe each write still is this machine's at once, so it outlives the emulator.
        command = emulator(
            "qemu-system-aarch64", "-M", "raspi4b", "-kernel", place / "kernel", "-initrd", place / "initrd",
            "-dtb", place / "tree", "-drive", f"file={self._card.path},if=sd,format=raw,cache=unsafe",
            "-icount", "shift=1,sleep=off", "-append", started["options"] + _OPTIONS,
            "-display", "none", "-monitor", "none", "-serial", "stdio", "-no-reboot", preload=FOLDER / "pi_gpio.so",
        )  # fmt: skip
        where = {
            "PI_GPIO_PLAN": str(place / "plan"), "PI_GPIO_LOG": str(place / "log"),
            "PI_GPIO_GO": str(SEAT_LIGHT_PINS[0]),
        }  # fmt: skip
        is_over = _is_ruled(place / "log", len(contacts)) if contacts else _is_ready
        console = self._built.parent / f"console-{BOARD}-{self._starts}.log"
        with console.open("w", buffering=1) as shown:
            lines = emulate(
                command, where, began + _PATIENCE, is_over=is_over, hear=lambda line: print(line, file=shown)
            )
        made, driven, _ = read_log((place / "log").read_text())
        return Start(tuple(lines), tuple(made), tuple(driven), time.monotonic() - began)


def _move_card(tree: Path) -> None:
    """Edit the device tree: QEMU's card hangs on the controller that serves a Pi 4's wireless device."""
    slot = "/soc/mmc@7e300000"
    for edit in (
        ("-t", "s", tree, "/emmc2-bus@fe000000/mmc@7e340000", "status", "disabled"),
        ("-d", tree, slot, "mmc-pwrseq", "non-removable"),
        ("-r", tree, f"{slot}/wifi@1"),
        (tree, slot, "broken-cd"),
    ):
        run(emulator("fdtput", *edit))


def _is_ready(lines: list[str]) -> bool:
    return any(map(_READY.search, lines[-20:]))


def _is_ruled(log: Path, contacts: int) -> Callable[[list[str]], bool]:
    """Return whether all contacts were played, and the table's light is red or too late; looks once a second."""
    looked = 0.0

    def is_over(lines: list[str]) -> bool:
        nonlocal looked
        if time.monotonic() - looked < 1:
            return False
        looked = time.monotonic()
        made, driven, _ = read_log(log.read_text())
        if len(made) < contacts:
            return False
        # The light of the seat in turn is dimmed, so its pin tells the time.
        return first_rise(driven, RED, made[-1].t) is not None or driven[-1].t > made[-1].t + 2 * RULED

    return is_over


def main() -> int:
    """Check the newest image; exit status 1 where an expected result was not seen."""
    newest = BUILT / f"newest-arm64-{BOARD}"
    if not newest.exists():
        print(f"there is no image: make image BOARD={BOARD}", file=sys.stderr)
        return 2
    try:
        set_up([])
    except CannotSetUpError as error:
        print(f"image-test: cannot be had here: {error}", file=sys.stderr)
        return CANNOT
    findings = Findings()
    with tempfile.TemporaryDirectory(prefix="image-", dir=BUILT) as name:
        PiCheck(Path(newest.read_text().strip()), Path(name), findings).run()
    print(
        findings.closing(
            "the image starts on an emulated Pi, rules, outlasts a power cut, and takes updates, a bad one back"
        )
    )
    return int(findings.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
