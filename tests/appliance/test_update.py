"""Updating an image: the system that an update goes to, the refusals in words, and the rollback."""

from __future__ import annotations

import hashlib
import io
import os
import re
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tools.image.update import (
    TRIES,
    Machine,
    Refusal,
    check,
    examine,
    go_back,
    install,
    numbers_of,
    read_manifest,
    state,
    tries_left,
)

HERE: Final = "0.1.0+202611010000"
NEWER: Final = "0.1.0+202611020000"
PARTS: Final = {"root": b"the system " * 5000, "linux": b"a kernel", "initrd": b"its first files"}
ROOM: Final = 1 << 20
INITRD: Final = Path(__file__).parents[2] / "appliance/image/etc/initramfs-tools/scripts/local-premount/table-referee"


@dataclass(frozen=True)
class Maker:
    """Makes updates, and signs them."""

    folder: Path
    key: Path

    def sign(self, manifest: str) -> bytes:
        (self.folder / "manifest").write_text(manifest)
        subprocess.run(
            ["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", self.key, "-in", "manifest", "-out", "manifest.sig"],
            cwd=self.folder, check=True,
        )  # fmt: skip
        return (self.folder / "manifest.sig").read_bytes()

    def update(
        self, version: str = NEWER, *, parts: Mapping[str, bytes] = PARTS, told: str = "", architecture: str = "arm64",
        left_out: Sequence[str] = (),
    ) -> Path:  # fmt: skip
        """Return an update's file; ``told`` takes the manifest's place."""
        whole = {**parts, **PARTS}
        sums = "".join(f"sha256 {hashlib.sha256(whole[name]).hexdigest()} {name}\n" for name in whole)
        manifest = told or f"version {version}\narchitecture {architecture}\noptions ro quiet\n{sums}"
        members = {"manifest": manifest.encode(), "manifest.sig": self.sign(manifest), **parts}
        file = self.folder / "new.update"
        with tarfile.open(file, "w") as archive:
            for name, content in members.items():
                if name not in left_out:
                    member = tarfile.TarInfo(name)
                    member.size = len(content)
                    archive.addfile(member, io.BytesIO(content))
        return file


@pytest.fixture
def maker(tmp_path: Path) -> Maker:
    folder = tmp_path / "maker"
    folder.mkdir()
    made = Maker(folder, folder / "key.pem")
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", made.key], check=True)
    return made


@pytest.fixture
def machine(tmp_path: Path, maker: Maker) -> Machine:
    """System a runs, and b is empty."""
    esp, partitions = tmp_path / "efi", tmp_path / "by-partlabel"
    (esp / "loader" / "entries").mkdir(parents=True)
    (esp / "a").mkdir()
    (esp / "loader" / "entries" / "a.conf").write_text(f"title a\nversion {HERE}\nlinux /a/linux\n")
    partitions.mkdir()
    for slot in "ab":
        (partitions / f"root-{slot}").write_bytes(bytes(ROOM))
    key, settings = tmp_path / "update.pem", tmp_path / "table.toml"
    made = Machine(esp, partitions, tmp_path / "cmdline", tmp_path / "os-release", key, settings)
    runs(made, "a", HERE)
    subprocess.run(["openssl", "pkey", "-in", maker.key, "-pubout", "-out", made.key], check=True)
    return made


def runs(machine: Machine, slot: str, version: str, architecture: str = "arm64") -> None:
    """Pretend that this system was started."""
    machine.command_line.write_text(f"initrd=\\{slot}\\initrd root=PARTLABEL=root-{slot} ro quiet\n")
    machine.release.write_text(f'ID=debian\nIMAGE_VERSION="{version}"\nIMAGE_ARCHITECTURE={architecture}\n')


def entries(machine: Machine) -> list[str]:
    return sorted(path.name for path in machine.entries.iterdir())


def test_an_update_goes_where_nothing_runs_and_is_on_trial(machine: Machine, maker: Maker) -> None:
    before = (machine.partitions / "root-a").read_bytes()
    assert install(maker.update(), machine) == NEWER
    assert entries(machine) == ["a.conf", f"b+{TRIES}.conf"]
    assert (machine.partitions / "root-b").read_bytes().startswith(PARTS["root"])
    assert (machine.partitions / "root-a").read_bytes() == before
    assert (machine.esp / "b" / "linux").read_bytes() == PARTS["linux"]
    told = (machine.entries / f"b+{TRIES}.conf").read_text()
    assert "options root=PARTLABEL=root-b ro quiet" in told
    assert f"version {NEWER}" in told
    assert state(machine) == f"a: {HERE}, good, runs\nb: {NEWER}, on trial, 3 tries left, waits"


def test_the_next_update_goes_to_the_other_one_again(machine: Machine, maker: Maker) -> None:
    install(maker.update(), machine)
    (machine.entries / f"b+{TRIES}.conf").rename(machine.entries / "b.conf")
    runs(machine, "b", NEWER)
    assert install(maker.update("0.1.0+202611030000"), machine) == "0.1.0+202611030000"
    assert entries(machine) == [f"a+{TRIES}.conf", "b.conf"]


def test_what_runs_is_what_its_update_called_itself(machine: Machine, maker: Maker) -> None:
    """An update that stays on a stick is no newer than its installed copy, whatever name that system gives itself."""
    install(maker.update(), machine)
    (machine.entries / f"b+{TRIES}.conf").rename(machine.entries / "b.conf")
    runs(machine, "b", HERE)
    with pytest.raises(Refusal, match=f"and {re.escape(NEWER)} runs already"):
        install(maker.update(), machine)


def test_a_system_on_trial_is_not_updated(machine: Machine, maker: Maker) -> None:
    install(maker.update(), machine)
    (machine.entries / f"b+{TRIES}.conf").rename(machine.entries / "b+2-1.conf")
    runs(machine, "b", NEWER)
    with pytest.raises(Refusal, match="still on trial"):
        install(maker.update("0.1.0+202611030000"), machine)
    assert entries(machine) == ["a.conf", "b+2-1.conf"]


@pytest.mark.parametrize("share", [0.0, 0.02, 0.4, 0.97])
def test_a_torn_file_is_refused_and_changes_nothing(machine: Machine, maker: Maker, share: float) -> None:
    file = maker.update()
    content = file.read_bytes()
    end = content.index(PARTS["initrd"]) + len(PARTS["initrd"])
    file.write_bytes(content[: int(end * share)])
    with pytest.raises(Refusal, match=r"torn.*copy it once more"):
        install(file, machine)
    assert entries(machine) == ["a.conf"]
    assert not any((machine.partitions / "root-b").read_bytes())


def test_a_part_that_is_not_what_was_signed(machine: Machine, maker: Maker) -> None:
    swapped = {**PARTS, "linux": b"b kernel"}
    with pytest.raises(Refusal, match=r"linux in .* is not what was signed"):
        install(maker.update(parts=swapped), machine)
    assert entries(machine) == ["a.conf"]


def test_a_stranger_s_signature(machine: Machine, maker: Maker) -> None:
    stranger = maker.folder / "stranger.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", stranger], check=True)
    with pytest.raises(Refusal, match="not signed with the key"):
        examine(Maker(maker.folder, stranger).update(), machine)


def test_what_else_is_refused(machine: Machine, maker: Maker, tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="for amd64, and this machine is arm64"):
        examine(maker.update(architecture="amd64"), machine)
    for version in (HERE, "0.0.9+209901010000"):
        with pytest.raises(Refusal, match="runs already"):
            examine(maker.update(version), machine)
    large = {**PARTS, "root": bytes(ROOM + 1)}
    with pytest.raises(Refusal, match="write a whole image"):
        examine(maker.update(parts=large), machine)
    with pytest.raises(Refusal, match="initrd is missing"):
        examine(maker.update(left_out=["initrd"]), machine)
    with pytest.raises(Refusal, match="root was not expected there"):
        examine(maker.update(left_out=["manifest"]), machine)
    with pytest.raises(Refusal, match="does not name its version"):
        examine(maker.update(told="architecture arm64\n"), machine)
    with pytest.raises(Refusal, match="cannot be read: No such file"):
        examine(tmp_path / "none", machine)
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8" * 2000)
    with pytest.raises(Refusal, match="torn or no update"):
        examine(tmp_path / "photo.jpg", machine)


@pytest.mark.parametrize("place", ["file", "folder", "pipe"])
def test_an_update_is_read_by_no_link_and_from_no_device(
    machine: Machine, maker: Maker, tmp_path: Path, place: str
) -> None:
    file, named = maker.update(), tmp_path / "named.update"
    if place == "file":
        named.symlink_to(file)
    elif place == "folder":
        (tmp_path / "way").symlink_to(file.parent)
        named = tmp_path / "way" / file.name
    else:
        os.mkfifo(named)
    with pytest.raises(Refusal, match="is a link: name the file itself" if place != "pipe" else "is no file of which"):
        install(named, machine)
    assert entries(machine) == ["a.conf"] and not any((machine.partitions / "root-b").read_bytes())


def test_links_inside_of_an_update_are_no_parts_of_it(machine: Machine, maker: Maker) -> None:
    file = maker.folder / "links.update"
    with tarfile.open(maker.update()) as whole, tarfile.open(file, "w") as archive:
        for member in whole:
            content = whole.extractfile(member)
            if member.name == "root":
                member.type, member.linkname, member.size, content = tarfile.SYMTYPE, "/etc/shadow", 0, None
            archive.addfile(member, content)
    with pytest.raises(Refusal, match="torn"):
        install(file, machine)
    assert entries(machine) == ["a.conf"]


@pytest.mark.parametrize("to", ["shadow", "new", "pipe"])
def test_nothing_is_written_through_a_link(machine: Machine, maker: Maker, tmp_path: Path, to: str) -> None:
    """In the place of a partition, of a kernel, of an entry, and of a system's folder."""
    (tmp_path / "shadow").write_text("secret")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "elsewhere").mkdir()
    root, kernel = machine.partitions / "root-b", machine.esp / "b" / "linux"
    content = root.read_bytes()
    root.unlink()
    root.symlink_to(tmp_path / to)
    with pytest.raises((Refusal, OSError), match=r"leads to no partition|No such file"):
        install(maker.update(), machine)
    root.unlink()
    root.write_bytes(content)
    kernel.parent.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refusal, match="is a link: nothing was changed"):
        install(maker.update(), machine)
    kernel.parent.unlink()
    assert entries(machine) == ["a.conf"]
    kernel.parent.mkdir()
    kernel.symlink_to(tmp_path / to)
    with pytest.raises(OSError, match="symbolic links"):
        install(maker.update(), machine)
    kernel.unlink()
    (machine.entries / "b+3.new").symlink_to(tmp_path / to)
    with pytest.raises(OSError, match="symbolic links"):
        install(maker.update(), machine)
    assert (tmp_path / "shadow").read_text() == "secret"
    assert not (tmp_path / "new").exists() and not list((tmp_path / "elsewhere").iterdir())


def test_not_an_image(machine: Machine) -> None:
    machine.command_line.write_text("root=/dev/mmcblk0p2 rw\n")
    with pytest.raises(Refusal, match="git and make"):
        machine.slot()


def test_back_to_the_system_before(machine: Machine, maker: Maker) -> None:
    with pytest.raises(Refusal, match="no other system"):
        go_back(machine)
    install(maker.update(), machine)
    (machine.entries / f"b+{TRIES}.conf").rename(machine.entries / "b.conf")
    runs(machine, "b", NEWER)
    assert go_back(machine) == HERE
    assert entries(machine) == ["a.conf", "b+0.conf"]
    runs(machine, "a", HERE)
    assert state(machine).splitlines()[1] == f"b: {NEWER}, left alone, waits"
    # The abandoned system is never returned to; a further update takes its place.
    with pytest.raises(Refusal, match="no other system"):
        go_back(machine)
    install(maker.update("0.1.0+202611030000"), machine)
    assert entries(machine) == ["a.conf", f"b+{TRIES}.conf"]


def test_what_was_left_is_not_tried_again_by_itself(machine: Machine, maker: Maker) -> None:
    """A stick that stays plugged in with a bad update would otherwise start it again and again."""
    install(maker.update(), machine, once=True)
    (machine.entries / f"b+{TRIES}.conf").rename(machine.entries / "b+0-3.conf")
    with pytest.raises(Refusal, match="did not start well or was taken back"):
        install(maker.update(), machine, once=True)
    assert entries(machine) == ["a.conf", "b+0-3.conf"]
    assert install(maker.update(), machine) == NEWER, "people may try it again"
    (machine.entries / f"b+{TRIES}.conf").rename(machine.entries / "b+0-3.conf")
    assert install(maker.update("0.1.0+202611030000"), machine, once=True) == "0.1.0+202611030000"


def test_only_a_system_on_trial_is_started_anew(machine: Machine) -> None:
    restarts: list[str] = []
    assert "ready" in check(lambda: True, lambda: restarts.append("a"), machine)
    with pytest.raises(Refusal, match="did not answer"):
        check(lambda: False, lambda: restarts.append("a"), machine, patience=0)
    assert restarts == []
    (machine.entries / "a.conf").rename(machine.entries / "a+1-2.conf")
    with pytest.raises(Refusal, match="did not answer"):
        check(lambda: False, lambda: restarts.append("a"), machine, patience=0)
    assert restarts == ["a"]


@pytest.fixture
def devices() -> bytes:
    """Return a Raspberry Pi's device trees, as a part of an update."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        member = tarfile.TarInfo("overlays/imx708.dtbo")
        member.size = 4
        archive.addfile(member, io.BytesIO(b"tree"))
    return packed.getvalue()


def prefix(machine: Machine, name: str) -> str:
    """Return the system named by a file of the firmware's."""
    text = (machine.esp / name).read_text()
    assert text.startswith("arm_64bit=1\n") and text.endswith("camera_auto_detect=1\n"), "the rest stays"
    return text.splitlines()[1]


@pytest.fixture(params=["debian", "pi"])
def board(request: pytest.FixtureRequest, machine: Machine) -> str:
    """Make the machine a Raspberry Pi, whose kernel can ask the firmware for one try or, if it is Debian's, cannot."""
    name = f"arm64-raspberry-{request.param}"
    (machine.esp / "config.txt").write_text("arm_64bit=1\nos_prefix=a/\ncamera_auto_detect=1\n")
    runs(machine, "a", HERE, name)
    return name


def restart(machine: Machine, board: str, *, trial: bool) -> str:
    """Return the system that the firmware starts after an update; Debian's has put the way back into its place."""
    asked = (machine.esp / "tryboot.txt") if board.endswith("-pi") and trial else machine.esp / "config.txt"
    started = prefix(machine, asked.name).removeprefix("os_prefix=").rstrip("/")
    script = INITRD.read_text().replace("/efi", str(machine.esp))
    commands = [line for line in script.splitlines() if not line.startswith(("mount", "umount"))]
    subprocess.run(["sh", "-e"], input="\n".join(commands), text=True, check=True)
    return started


def test_a_raspberry_pi_tries_an_update_once_and_keeps_what_answered(
    machine: Machine, maker: Maker, devices: bytes, board: str
) -> None:
    file = maker.update(parts={**PARTS, "devices": devices}, architecture=board)
    assert install(file, machine) == NEWER
    assert (machine.esp / "b" / "overlays" / "imx708.dtbo").read_bytes() == b"tree"
    assert (machine.esp / "b" / "cmdline.txt").read_text() == "root=PARTLABEL=root-b ro quiet\n"
    assert restart(machine, board, trial=True) == "b"
    assert prefix(machine, "config.txt") == "os_prefix=a/", "whatever comes of it, the next start is a good one"
    runs(machine, "b", NEWER, board)
    assert "ready" in check(lambda: True, lambda: None, machine)
    assert entries(machine) == ["a.conf", "b.conf"]
    assert restart(machine, board, trial=False) == "b"
    assert go_back(machine) == HERE
    assert restart(machine, board, trial=False) == "a"


def test_what_a_raspberry_pi_tried_in_vain_is_left(machine: Machine, maker: Maker, devices: bytes, board: str) -> None:
    install(maker.update(parts={**PARTS, "devices": devices}, architecture=board), machine)
    assert restart(machine, board, trial=True) == "b"
    # It did not come up.
    assert restart(machine, board, trial=False) == "a"
    assert "in a" in check(lambda: True, lambda: None, machine)
    assert restart(machine, board, trial=False) == "a"
    assert state(machine) == f"a: {HERE}, good, runs\nb: {NEWER}, left alone, waits"


def test_the_way_back_is_written_before_the_trial_is_named(
    machine: Machine, maker: Maker, devices: bytes, board: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The power may fail between any two files: the firmware then starts the good system, or the trial with its way."""
    started: list[tuple[str, bool]] = []
    write = Path.rename

    def rename(file: Path, to: Path) -> Path:
        written = write(file, to)
        started.append((prefix(machine, "config.txt"), (machine.esp / "good.txt").exists()))
        return written

    monkeypatch.setattr(Path, "rename", rename)
    install(maker.update(parts={**PARTS, "devices": devices}, architecture=board), machine)
    assert ("os_prefix=b/", False) not in started
    assert (("os_prefix=b/", True) in started) == board.endswith("debian")


def test_each_new_name_is_flushed_with_its_file(
    machine: Machine, maker: Maker, devices: bytes, board: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On FAT a new name stands for nothing, or for the file that it replaced, until the file itself is flushed."""
    renamed: list[Path] = []
    unflushed: set[Path] = set()
    rename, flush = Path.rename, os.fsync

    def rename_one(file: Path, to: Path) -> Path:
        assert not unflushed
        renamed.append(to)
        unflushed.add(to.resolve())
        return rename(file, to)

    def flush_one(handle: int) -> None:
        unflushed.discard(Path(f"/proc/self/fd/{handle}").resolve())
        flush(handle)

    monkeypatch.setattr(Path, "rename", rename_one)
    monkeypatch.setattr(os, "fsync", flush_one)
    install(maker.update(parts={**PARTS, "devices": devices}, architecture=board), machine)
    restart(machine, board, trial=True)
    runs(machine, "b", NEWER, board)
    check(lambda: True, lambda: None, machine)
    go_back(machine)
    assert not unflushed
    assert {"config.txt", "b+1.conf", "b.conf", "b+0.conf"} <= {path.name for path in renamed}


def test_a_start_that_changes_nothing_writes_nothing(machine: Machine, board: str) -> None:
    before = (machine.esp / "config.txt").stat()
    check(lambda: True, lambda: None, machine)
    assert (machine.esp / "config.txt").stat() == before


@pytest.mark.parametrize("other", ["arm64", "amd64", "arm64-raspberry-other"])
@pytest.mark.parametrize(
    ("language", "words"),
    [("en", "this machine is"), ("de", "dieses Gerät ist"), ("fr", "cette machine est"), ("es", "este equipo es"),
     ("it", "this machine is"), (None, "this machine is")],
)  # fmt: skip
def test_an_update_for_another_board_is_refused_in_the_tables_language(
    machine: Machine, maker: Maker, board: str, other: str, language: str | None, words: str
) -> None:
    if language is not None:
        machine.settings.write_text(f'[voice]\nlanguage = "{language}"\n')
    with pytest.raises(Refusal, match=f" {other}, .* {words} {board} ?: .* {board}.update"):
        install(maker.update(architecture=other), machine)
    assert entries(machine) == ["a.conf"]


def test_versions_and_names() -> None:
    assert numbers_of("0.10.0+1") > numbers_of("0.9.0+20261124")
    assert tries_left(Path("a.conf")) is None
    assert tries_left(Path("a+3.conf")) == 3
    assert tries_left(Path("b+0-3.conf")) == 0
    with pytest.raises(Refusal, match="does not name its initrd"):
        read_manifest(f"version 1\narchitecture arm64\noptions ro\nsha256 {'0' * 64} root\nsha256 {'0' * 64} linux\n")
