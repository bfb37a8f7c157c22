"""Makes build/pi ready for `tools.pi.board`: QEMU 10, Debian's arm64 kernel, arm64 Pythons. Nothing is installed.

The packages come from the archive that this machine's apt uses, into a folder of their own, and are only unpacked. A
second run costs nothing: the results are kept until these files change.

Exit status 77: a requirement cannot be had on this machine (the last line names it).
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from tools.pi import cpio

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = Path(os.environ.get("PI", ROOT / "build" / "pi"))
MODEL: Final = Path(__file__).with_name("pi_gpio.c")
CANNOT: Final = 77
SUITES: Final = {"3.11": "bookworm", "3.13": "trixie"}
"""The suite of Debian that has each Python."""
PYTHON: Final = "3.13"
NEWEST: Final = SUITES[PYTHON]
"""The suite with the kernel and with QEMU 10, the first that knows the Raspberry Pi 4."""
PICAMERA2: Final = ("picamera2==0.3.38", "piexif==1.1.3", "simplejpeg==1.9.0", "videodev2==0.0.4")
"""What its camera needs; encoders, DNG files and previews stay out."""
_KEYRING: Final = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
TREES: Final = {"raspi3b": ("bcm2837-rpi-3-b.dtb", "a02082"), "raspi4b": ("bcm2711-rpi-4-b.dtb", "b03115")}
"""Of each of QEMU's boards: the kernel's device tree, and the revision code that the firmware would add to it."""
BOARDS: Final = tuple(TREES)
_NEEDLESS: Final = re.compile(
    r"(usr/share|usr/include|etc|var|usr/lib/python3[^/]*/(test|idlelib|ensurepip|lib2to3|tkinter|pydoc_data))(/|$)"
)


class CannotSetUpError(Exception):
    """Something cannot be had on this machine."""


@dataclass(frozen=True, slots=True)
class Archive:
    """The packages of one suite for one architecture, apart from this machine's own packages."""

    address: str
    suite: str
    architecture: str
    name: str
    """The step that uses it: steps that run at once may not share apt's folders."""
    newer: str = ""
    """A further suite, which is taken from first."""

    def download(self, *packages: str) -> list[Path]:
        """Download packages with all that they need; return the files."""
        self._apt("update")
        self._apt("install", "-y", "--download-only", "-t", self.newer or self.suite, *packages)
        return sorted((self._folder / "archives").glob("*.deb"))

    def download_newest(self, package: str) -> Path:
        """Download the one package that a package stands for, without what it needs."""
        self._apt("update")
        told = run(["apt-cache", *self._options(), "depends", package])
        named = re.search(r"Depends: (linux-image-\d\S*)", told)
        if named is None:
            raise CannotSetUpError(f"{self.suite} has no {package}")
        folder = self._folder / "kernel"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        self._apt("download", named[1], place=folder)
        return next(folder.glob("*.deb"))

    @property
    def _folder(self) -> Path:
        return FOLDER / "apt" / self.name

    def _apt(self, *words: str, place: Path | None = None) -> None:
        for name in ("lists/partial", "archives/partial"):
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        (self._folder / "status").touch()
        signed = f"[signed-by={_KEYRING}] " if _KEYRING.exists() else ""
        suites = filter(None, (self.suite, self.newer))
        (self._folder / "sources.list").write_text("".join(f"deb {signed}{self.address} {it} main\n" for it in suites))
        run(["apt-get", "-qq", *self._options(), *words], place=place)

    def _options(self) -> list[str]:
        # The lists and files are kept apart; proxies and credentials stay this machine's.
        folder = self._folder
        options = [
            f"Dir::State={folder}", f"Dir::State::status={folder / 'status'}", f"Dir::State::lists={folder / 'lists'}",
            f"Dir::Cache={folder}", f"Dir::Cache::archives={folder / 'archives'}",
            f"Dir::Etc::sourcelist={folder / 'sources.list'}", "Dir::Etc::sourceparts=/dev/null",
            f"APT::Architecture={self.architecture}", f"APT::Architectures={self.architecture}",
            "APT::Install-Recommends=false", "Acquire::Languages=none", "Acquire::Retries=1",
            "Acquire::http::Timeout=20", "APT::Sandbox::User=",
        ]  # fmt: skip
        return [word for option in options for word in ("-o", option)]


def run(command: Sequence[str | Path], *, place: Path | None = None) -> str:
    """Run a program and return its output.

    Raises:
        CannotSetUpError: it failed or is not here.
    """
    try:
        done = subprocess.run(
            command, cwd=place, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
        )
    except FileNotFoundError as error:
        raise CannotSetUpError(f"{command[0]} is not here") from error
    if done.returncode:
        words = (done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}").splitlines()[-1]
        raise CannotSetUpError(f"{Path(command[0]).name}: {words}")
    return done.stdout


def emulator(*command: str | Path, preload: Path | None = None) -> list[str | Path]:
    """Return the command that runs a program of build/pi/qemu with the libraries there."""
    tree = FOLDER / "qemu" / "usr"
    loader: list[str | Path] = [tree / "lib64/ld-linux-x86-64.so.2", "--library-path", tree / "lib/x86_64-linux-gnu"]
    loader += [] if preload is None else ["--preload", preload]
    return [*loader, tree / "bin" / command[0], *command[1:]]


def unpack(packages: Sequence[Path], tree: Path, *only: str) -> None:
    """Unpack packages into a folder: everything, or only the files that match a pattern."""
    shutil.rmtree(tree, ignore_errors=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        (tree / "usr" / name).mkdir(parents=True)
        (tree / name).symlink_to(f"usr/{name}")
    chosen = ["--wildcards", *only] if only else [f"--exclude=./usr/share/{name}" for name in ("doc", "man", "locale")]
    for package in packages:
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as archive:
            taken = subprocess.run(
                ["tar", "-x", "--no-same-owner", "--keep-directory-symlink", "-C", tree, *chosen],
                stdin=archive.stdout, capture_output=True, check=False,
            )  # fmt: skip
        if archive.returncode or taken.returncode:
            raise CannotSetUpError(f"{package.name} cannot be unpacked")


def set_up_emulator(address: str) -> None:
    """Fetch QEMU and compile the model of the pins."""
    unpack(
        Archive(address, NEWEST, "amd64", "qemu").download("qemu-system-arm", "device-tree-compiler"), FOLDER / "qemu"
    )
    run(["gcc", "-O2", "-Wall", "-shared", "-fPIC", "-o", FOLDER / "pi_gpio.so", MODEL])


def set_up_kernel(address: str) -> None:
    """Fetch the kernel, and edit the boards' device trees as firmware would."""
    tree = FOLDER / "kernel"
    package = Archive(address, NEWEST, "arm64", "kernel").download_newest("linux-image-arm64")
    unpack([package], tree, "./boot/vmlinuz*", "./usr/lib/linux-image*/broadcom/*-rpi-[34]-b.dtb")
    shutil.copy(next(tree.glob("boot/vmlinuz*")), FOLDER / "vmlinuz")
    for board, (name, _) in TREES.items():
        blob = FOLDER / f"{board}.dtb"
        shutil.copy(next(tree.glob(f"usr/lib/linux-image*/broadcom/{name}")), blob)
        edit_tree(blob, board)


def edit_tree(blob: Path, board: str) -> None:
    """Edit a board's device tree as its firmware would, and for what QEMU lacks."""
    # The console is the first serial port, which the tree gives to Bluetooth; QEMU lacks the other's clock.
    run(emulator("fdtput", "-r", blob, "/soc/serial@7e201000/bluetooth"))
    run(emulator("fdtput", "-t", "s", blob, "/soc/serial@7e215040", "status", "disabled"))
    run(emulator("fdtput", "-c", blob, "/system"))
    run(emulator("fdtput", "-t", "x", blob, "/system", "linux,revision", TREES[board][1]))
    if board == "raspi4b":
        # The second gigabyte. QEMU removes nodes called memory, and enters the first one alone.
        upper = "/upper-memory@40000000"
        run(emulator("fdtput", "-c", blob, upper))
        run(emulator("fdtput", "-t", "s", blob, upper, "device_type", "memory"))
        run(emulator("fdtput", "-t", "x", blob, upper, "reg", "0", "40000000", "40000000"))


def set_up_python(version: str, address: str) -> None:
    """Fetch an arm64 Python and what pads and lights import, as an initial RAM filesystem."""
    tree = FOLDER / f"python{version}"
    unpack(Archive(address, SUITES[version], "arm64", f"python{version}").download("python3", "busybox-static"), tree)
    add_wheels(tree, version, locked(version, "gpiod", "gpiozero", "colorzero"))
    entries = cpio.folder_entries(tree, keep=lambda name: not _NEEDLESS.match(name))
    (FOLDER / f"python{version}.cpio").write_bytes(
        cpio.pack([*entries, *cpio.folders("dev", "proc", "sys", "run", "tmp")])
    )


def set_up_product(address: str) -> None:
    """Fetch all that the product needs on an arm64 Debian, its own wheel aside, as an addition to `NEWEST`'s Python."""
    tree = FOLDER / "product"
    packages = Archive(address, NEWEST, "arm64", "product").download("libgl1", "libglib2.0-0", "libsm6", "libxext6")
    _pack_addition(tree, packages, locked(PYTHON))


def set_up_camera(address: str) -> None:
    """Fetch picamera2, and a libcamera that has cameras without hardware, as an addition to the product."""
    tree = FOLDER / "camera"
    archive = Archive(address, NEWEST, "arm64", "camera", newer=f"{NEWEST}-backports")
    _pack_addition(tree, archive.download("python3-libcamera", "python3-prctl"), PICAMERA2)


def _pack_addition(tree: Path, packages: Sequence[Path], wheels: Sequence[str]) -> None:
    """Pack wheels, and the libraries and Python modules of packages, to be laid over a Python's archive."""
    # The board has no screen: what is linked to libGL never draws by it.
    unpack([package for package in packages if not re.match("mesa-|libllvm|libz3", package.name)], tree)
    add_wheels(tree, PYTHON, wheels)
    kept = re.compile("(opt|usr/lib/(aarch64-linux-gnu|python3)(?!/gconv)|usr(/lib)?$)")
    entries = cpio.folder_entries(tree, keep=lambda name: kept.match(name) is not None)
    (FOLDER / f"{tree.name}.cpio").write_bytes(cpio.pack(entries))


def add_wheels(tree: Path, version: str, wanted: Sequence[str]) -> None:
    """Fetch arm64 wheels for a Python, and unpack them into a tree's opt/site."""
    wheels = FOLDER / f"wheels-{tree.name}"
    shutil.rmtree(wheels, ignore_errors=True)
    platforms = [f"manylinux_2_{minor}_aarch64" for minor in (36, 28, 27, 17)]
    chosen = [word for tag in platforms for word in ("--platform", tag)]
    run(
        [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps",
         "--only-binary=:all:", "--implementation", "cp", "--python-version", version, *chosen, "-d", wheels, *wanted],
    )  # fmt: skip
    for wheel in wheels.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(tree / "opt" / "site")


def locked(version: str, *names: str) -> list[str]:
    """Return these packages of locks/run.txt, or all, with their versions for a Python on arm64."""
    # The board imports this module, too, and has no such package.
    from packaging.requirements import Requirement

    machine = {"python_version": version, "python_full_version": f"{version}.0", "platform_machine": "aarch64"}
    lines = (ROOT / "locks" / "run.txt").read_text().splitlines()
    wanted = [Requirement(line.rstrip(" \\")) for line in lines if re.match(r"[\w-]+==", line)]
    return [
        f"{package.name}{package.specifier}"
        for package in wanted
        if (not names or package.name in names) and (package.marker is None or package.marker.evaluate(machine))
    ]


def debian_archive() -> str:
    """Return the address of the archive that this machine's apt takes Debian's packages from."""
    address = run([ROOT / "tools" / "archive-of", "Debian"]).strip()
    if not address:
        raise CannotSetUpError("apt has no lists of a Debian archive: apt-get update reads them")
    return address


def set_up(versions: Sequence[str], *additions: str) -> None:
    """Make everything ready that is not yet: for these Pythons, and `ADDITIONS` to `PYTHON`; without any Python, the
    emulator alone.

    Raises:
        CannotSetUpError: something cannot be had on this machine.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if platform.machine() != "x86_64":
            raise CannotSetUpError(f"the emulator is fetched for x86-64 only, and this is {platform.machine()}")
        sources = (Path(__file__), Path(cpio.__file__), MODEL)
        recipe = hashlib.sha256(b"".join(file.read_bytes() for file in sources)).hexdigest()
        steps: dict[str, Callable[[str], None]] = {
            **{f"python{version}": partial(set_up_python, version) for version in versions},
            **{name: ADDITIONS[name] for name in additions},
        }
        with ThreadPoolExecutor() as workers:
            fetched = [workers.submit(_once, name, recipe, step) for name, step in steps.items()]
            # The device trees are edited with a program that comes with the emulator.
            _once("qemu", recipe, set_up_emulator)
            if versions:
                _once("kernel", recipe, set_up_kernel)
            for step_done in fetched:
                step_done.result()


ADDITIONS: Final[dict[str, Callable[[str], None]]] = {"product": set_up_product, "camera": set_up_camera}
"""Steps whose archives are laid over a Python's, by name."""


def _once(name: str, recipe: str, step: Callable[[str], None]) -> None:
    mark = FOLDER / f"{name}.ready"
    if mark.exists() and mark.read_text() == recipe:
        return
    began = time.monotonic()
    step(debian_archive())
    shutil.rmtree(FOLDER / "apt" / name, ignore_errors=True)
    mark.write_text(recipe)
    print(f"pi: {name} in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


def main(versions: Sequence[str]) -> int:
    """Set up for these Pythons; return the exit status."""
    try:
        set_up(versions)
    except CannotSetUpError as error:
        print(f"pi: cannot be had here: {error}", file=sys.stderr)
        return CANNOT
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["3.11"]))
