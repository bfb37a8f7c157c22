"""A virtual machine that boots an image: its console, a root shell, its power, and its page's port."""

from __future__ import annotations

import base64
import contextlib
import os
import re
import shlex
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Final, Self

_SHELL: Final = (
    "[Unit]\\nDescription=A shell for the test\\nDefaultDependencies=no\\nAfter=local-fs.target\\n[Service]\\n"
    "ExecStart=/bin/bash --norc\\nStandardInput=tty-force\\nStandardOutput=tty\\nStandardError=tty\\n"
    "TTYPath=/dev/hvc1\\nTTYReset=yes\\nRestart=always\\nEnvironment=HOME=/root TERM=dumb PS1=\\n"
)
"""Passed as a credential of the virtual machine (systemd 256 or newer); the image itself allows no login."""
_MACHINES: Final = {
    "arm64": ["qemu-system-aarch64", "-machine", "virt", "-cpu", "cortex-a72"],
    "amd64": ["qemu-system-x86_64", "-machine", "q35", "-cpu", "max"],
}
_FIRMWARE: Final = {"arm64": Path("/usr/share/AAVMF/AAVMF_CODE.fd"), "amd64": Path("/usr/share/ovmf/OVMF.fd")}
_PACKAGES: Final = {"arm64": ("qemu-system-arm", "qemu-efi-aarch64"), "amd64": ("qemu-system-x86", "ovmf")}
_TOOLS: Final = {"mksquashfs": "squashfs-tools", "mcopy": "mtools", "mkfs.vfat": "dosfstools", "openssl": "openssl"}
"""Further programs that the check needs, each with its package."""


_NUMBER: Final = "6f2d8f0e-5b0c-4c51-9a3e-0d5c3a7b1e42"
"""The machine's serial number, as its maker would have set it."""
PATH: Final = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
"""Search path for programs, including root's."""


class Stuck(RuntimeError):  # noqa: N818 - it names a state
    """An expected result did not come; the message holds the last lines of the machine's console."""


def missing_packages(architecture: str) -> list[str]:
    """Return the packages that a virtual machine of this processor lacks here."""
    there = shutil.which(_MACHINES[architecture][0]) is not None and _FIRMWARE[architecture].exists()
    tools = [package for program, package in _TOOLS.items() if shutil.which(program, path=PATH) is None]
    return [*(() if there else _PACKAGES[architecture]), *tools]


class Guest:
    """One virtual machine, from power to power cut.

    Args:
        disk: an image, which is written to.
        architecture: ``arm64`` or ``amd64``.
        port: on this machine, leads to the guest's page.
        memory: MB.
        table: a folder that the guest reads as a second disk, if any.
    """

    def __init__(
        self, disk: Path, architecture: str = "arm64", *, port: int = 0, memory: int = 2048, table: Path | None = None
    ) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="guest-"))
        self.console_file = self._folder / "console"
        self.port = port or _free_port()
        self.began = time.monotonic()
        disks = [f"file={disk},format=raw,if=virtio,cache=writethrough"]
        if table is not None:
            disks.append(f"file={table},format=raw,if=virtio,readonly=on")
        unit = _SHELL.encode().decode("unicode_escape").encode()
        credential = (
            "io.systemd.credential.binary:systemd.extra-unit.test-shell.service=" + base64.b64encode(unit).decode()
        )
        wants = b"[Unit]\nWants=test-shell.service\n"
        dropin = "io.systemd.credential.binary:systemd.unit-dropin.sysinit.target=" + base64.b64encode(wants).decode()
        command = [
            *_MACHINES[architecture], "-accel", "tcg,thread=multi", "-smp", "2", "-m", str(memory),
            "-nodefaults", "-display", "none", "-uuid", _NUMBER, "-bios", str(_FIRMWARE[architecture]),
            "-serial", f"file:{self.console_file}",
            *(word for disk in disks for word in ("-drive", disk)),
            "-netdev", f"user,id=net,hostfwd=tcp:127.0.0.1:{self.port}-:8080",
            "-device", "virtio-net-pci,netdev=net,romfile=",
            "-device", "virtio-rng-pci", "-device", "virtio-serial-pci",
            "-chardev", f"socket,id=shell,path={self._folder / 'shell'},server=on,wait=off",
            "-chardev", "null,id=none", "-device", "virtconsole,chardev=none", "-device", "virtconsole,chardev=shell",
            "-smbios", f"type=11,value={credential},value={dropin}",
            "-device", "qemu-xhci", "-monitor", f"unix:{self._folder / 'monitor'},server=on,wait=off",
        ]  # fmt: skip
        self._log = (self._folder / "qemu.log").open("wb")
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log)
        self._link: socket.socket | None = None
        self._calls = 0

    @property
    def console(self) -> str:
        """Return the console's output so far."""
        with contextlib.suppress(OSError):
            return self.console_file.read_bytes().decode("utf-8", "replace")
        return ""

    def see(self, pattern: str, seconds: float, *, past: int = 0) -> re.Match[str]:
        """Wait until the console shows a pattern after a number of characters; raises `Stuck`."""
        until = time.monotonic() + seconds
        while (found := re.compile(pattern).search(self.console, past)) is None:
            if self._process.poll() is not None:
                raise Stuck(f"the virtual machine ended: {(self._folder / 'qemu.log').read_text()[-2000:]}")
            if time.monotonic() > until:
                raise Stuck(f"{pattern!r} did not come within {seconds:.0f} s: ...{self.console[-1500:]}")
            time.sleep(0.2)
        return found

    def run(self, command: str, seconds: float = 120) -> tuple[int, str]:
        """Run a command as root; return its status and output."""
        self._calls += 1
        mark = f"done-{self._calls}"
        link = self._shell()
        link.sendall(f"\n{{ {command}\n}} 2>&1; echo {mark[:4]}''{mark[4:]} $?\n".encode())
        said, found = self._hear(re.compile(rf"{mark} (\d+)"), seconds, shlex.quote(command))
        return int(found[1]), said

    def _shell(self) -> socket.socket:
        if self._link is None:
            self._link = socket.socket(socket.AF_UNIX)
            self._link.settimeout(1)
            self._link.connect(str(self._folder / "shell"))
            self._link.sendall(b"stty -echo; PS1= PS2=; echo 'silent'-now\n")
            self._hear(re.compile("silent-now"), 60, "the shell")
        return self._link

    def _hear(self, pattern: re.Pattern[str], seconds: float, what: str) -> tuple[str, re.Match[str]]:
        """Return the shell's output up to a pattern, and the match; raises `Stuck`."""
        said, until = "", time.monotonic() + seconds
        while (found := pattern.search(said)) is None:
            if time.monotonic() > until or self._link is None:
                raise Stuck(f"{what} did not end within {seconds:.0f} s: {said[-1500:]}")
            with contextlib.suppress(TimeoutError):
                said += self._link.recv(65536).decode("utf-8", "replace").replace("\r", "")
        return said[: found.start()], found

    def plug_in(self, stick: Path) -> None:
        """Plug in a USB stick, given its image."""
        self._order(f"drive_add 0 if=none,id=stick,format=raw,cache=writethrough,file={stick}")
        self._order("device_add usb-storage,drive=stick,id=plug,removable=on")

    def pull_out(self) -> None:
        """Pull out the stick."""
        self._order("device_del plug")

    def _order(self, words: str) -> None:
        """Send an order to the virtual machine's monitor."""
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.settimeout(20)
            monitor.connect(str(self._folder / "monitor"))
            for line in ("", words):
                monitor.sendall(f"{line}\n".encode() if line else b"")
                said = b""
                while not said.rstrip().endswith(b"(qemu)"):
                    said += monitor.recv(4096)
            if b"Error" in said or b"rror:" in said:
                raise Stuck(f"{words}: {said.decode('utf-8', 'replace')}")

    def cut_power(self) -> None:
        """Cut the power at once, as when the plug is pulled."""
        self._process.kill()
        self._process.wait()

    def hang_up(self) -> None:
        """Leave the shell, because the machine is about to restart."""
        if self._link is not None:
            self._link.close()
            self._link = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, what: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cut_power()
        self.hang_up()
        self._log.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])
