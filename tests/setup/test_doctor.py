"""The doctor: every part is reported, nothing raises, and only a required part makes it fail."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from referee.setup.check import Check
from referee.setup.doctor import describe_ways, doctor, exit_status
from referee.setup.doctor.probe import check_library, check_package

PARTS = (
    "Python",
    "numpy",
    "ncnn",
    "gpiozero",
    "weights",
    "picamera2",
    "GPIO",
    "sound",
    "voice",
    "ALSA",
)


def test_json_tells_every_part(capsys: pytest.CaptureFixture[str]) -> None:
    status = doctor(as_json=True)
    found = json.loads(capsys.readouterr().out)
    names = " ".join(finding["part"] for finding in found)
    assert all(part in names for part in PARTS)
    assert {finding["state"] for finding in found} <= {"fine", "missing", "broken"}
    assert all(finding["mend"] for finding in found if finding["state"] != "fine")
    broken = [finding for finding in found if finding["needed"] and finding["state"] != "fine"]
    assert status == int(bool(broken))


def test_without_its_libraries_the_doctor_names_them() -> None:
    code = (
        "import sys\n"
        "for name in ('numpy', 'cv2', 'ncnn'): sys.modules[name] = None\n"
        "from referee.cli import main\n"
        "sys.exit(main(['doctor', '--json']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    states = {finding["part"]: finding["state"] for finding in json.loads(done.stdout)}
    assert (done.returncode, states["numpy"], states["opencv-python"], states["ncnn"]) == (1, *["missing"] * 3)


def test_it_begins_with_what_can_be_played_here(capsys: pytest.CaptureFixture[str]) -> None:
    doctor()
    assert capsys.readouterr().out.startswith("A simulated table: ready (referee demo).\nAn evening with ")


def test_each_way_to_play_says_what_it_needs() -> None:
    fine, no_camera = (
        Check("weights", "fine", "", "", needed=True),
        Check("camera", "missing", "none", "plug one in"),
    )
    path = Path("club.toml")
    assert list(describe_ways([fine], path))[1:] == [
        "An evening with a camera and phones or keys: ready (referee play).",
        "A table with pads: ready (referee run --settings club.toml).",
    ]
    assert list(describe_ways([fine, no_camera], path))[1:] == [
        "An evening with phones or keys: ready (referee play). No camera is here: a phone can be one.",
        "A table with pads: needs camera.",
    ]
    assert len(list(describe_ways([Check("weights", "missing", "none", "make train", needed=True)], path))) == 1


def test_a_library_that_is_not_there_is_missing_and_needed() -> None:
    finding = check_library("no_such_library_at_all", "no-such-library")
    assert (finding.state, finding.needed) == ("missing", True)
    assert "no-such-library" in finding.mend


def test_our_names_are_check_package(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    assert check_package("models", root).state == "fine"
    assert check_package("models", tmp_path).state == "broken"


def test_only_what_is_needed_makes_it_fail() -> None:
    absent = Check("camera", "missing", "none", "plug one in")
    needed = Check("weights", "missing", "none", "make train", needed=True)
    assert exit_status([absent]) == 0
    assert exit_status([absent, needed]) == 1
