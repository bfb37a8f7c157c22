"""The build guide: each of its commands is run, or, where it needs the Pi, is one that the program understands."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from referee.cli.setup import STEP_NAMES
from referee.setup.pad_circuit import SUPPLY_OHMS
from tools.build_guide import sums
from tools.build_guide.__main__ import DRAWINGS, TABLES, with_tables

ROOT: Final = Path(__file__).parents[1]
GUIDE: Final = (ROOT / "docs" / "build.md").read_text(encoding="utf-8")
MARK: Final = "# on the Pi"
SYSTEMS: Final = {
    "apt", "raspi-config", "usermod", "reboot", "systemctl", "journalctl", "echo", "source", "poweroff", "ls",
    "pip", "mpremote",
}  # fmt: skip
"""Programs of the system that the guide may name in a line that is not run."""


def fenced() -> list[tuple[str, bool]]:
    """Return every line of every block of commands, and whether it is marked."""
    blocks = re.findall(r"^```sh\n(.+?)^```", GUIDE, flags=re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines() if line.strip()]
    return [(line.partition(MARK)[0].strip(), MARK in line) for line in lines]


def test_the_guide_has_commands_of_both_kinds() -> None:
    assert len([line for line, marked in fenced() if marked]) > 20
    assert len([line for line, marked in fenced() if not marked]) > 5
    assert "```\n" not in GUIDE.replace("\n```\n", ""), "every block says that it is for the shell"


@pytest.mark.parametrize("command", [line for line, marked in fenced() if marked])
def test_a_command_that_needs_the_pi_is_ours_or_the_systems(command: str) -> None:
    """`tests/test_documents.py` looks at the options of ours."""
    words = shlex.split(command.partition("|")[0])
    while words and (words[0] in ("sudo", "env") or "=" in words[0]):
        words = words[1:]
    assert words[0] in SYSTEMS | {"referee", "make"}, f"{command}: what is {words[0]}?"


def test_all_other_commands_run_one_after_another(tmp_path: Path) -> None:
    """As a reader would type them, in an empty folder."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environ = {**os.environ, "PATH": path, "OMP_NUM_THREADS": "1"}
    for command in [line for line, marked in fenced() if not marked]:
        done = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env=environ, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout[-800:]}\n{done.stderr[-800:]}"
    made = {file.name for file in tmp_path.iterdir()}
    assert made >= {"wiring.svg", "switches.svg", "sheet.pdf", "seen.jpg", "try.toml", "try.picture.jpg"}


def test_its_tables_and_pictures_are_what_the_code_makes_of_them_now() -> None:
    """`make build-guide` changes nothing."""
    assert with_tables(GUIDE) == GUIDE
    assert [
        name for name, draw in DRAWINGS.items() if (ROOT / "docs" / name).read_text(encoding="utf-8") != draw()
    ] == []


def test_it_shows_every_table_and_picture() -> None:
    shown = re.findall(r"^<!-- (\w+) -->$", GUIDE, flags=re.MULTILINE)
    assert sorted(shown) == sorted([*TABLES, *["end"] * len(TABLES)])
    assert set(re.findall(r"\]\((.+?\.svg)\)", GUIDE)) == DRAWINGS.keys()
    assert {file.name for file in (ROOT / "docs").glob("build-*.svg")} < DRAWINGS.keys()


@pytest.mark.parametrize("camera", sums.CAMERAS, ids=lambda camera: camera.name)
def test_the_sums_of_a_camera_agree_with_a_ruler(camera: sums.Optics) -> None:
    """Similar triangles, by hand: half the picture is to half the table as the focal length is to the height."""
    for height in sums.HEIGHTS_MM:
        mm_across = 2 * height * (camera.size[0] / 2) / camera.focal
        assert sums.card_px(camera, height) == pytest.approx(88.9 * camera.size[0] / mm_across, rel=1e-3)
        assert mm_across - 15 < sums.area_mm(camera, height)[0] < mm_across
    low, high = sums.fitting(camera)
    assert sums.card_px(camera, high) >= sums.FINE_PX > sums.card_px(camera, high + 10)
    assert sums.area_mm(camera, low) >= sums.WANTED_MM
    assert low < high


def test_the_fast_mode_sees_what_was_published() -> None:
    """The fast mode's focal length is what calibration begins with: 1.1 of the picture's width, within its doubt."""
    assert sums.CAMERAS[0].focal / sums.CAMERAS[0].size[0] == pytest.approx(1.155, abs=0.01)


def test_a_gate_switches_where_ohm_says() -> None:
    supply, resistor = 3.3, 10_000.0
    fsr = sums.switching(resistor, 0.5)
    assert supply * resistor / (resistor + fsr + SUPPLY_OHMS) == pytest.approx(supply / 2)
    assert sums.newtons(sums.FSR_OHM_NEWTON) == 1.0


def test_the_files_and_steps_that_it_names_are_there() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", GUIDE)
    assert [link for link in links if not (ROOT / "docs" / link).exists()] == []
    assert set(re.findall(r"--step (\w+)", GUIDE)) <= set(STEP_NAMES)
