"""The installation is complete: every package, and every file beside its code."""

from __future__ import annotations

import os
import subprocess
import tomllib
from pathlib import Path

import pytest
from setuptools import find_packages

ROOT = Path(__file__).parents[1]
TOOL = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
FOLDERS = ("referee", "hardware", "models")
AT_HOME = ("models.training",)
"""Packages that stay in the checkout, for training."""
SUFFIXES = (".toml", ".js", ".css", ".svg", ".ncnn", ".npz", ".json", ".csv", ".html")


def packages() -> set[str]:
    found = {
        str(file.parent.relative_to(ROOT)).replace("/", ".")
        for folder in FOLDERS
        for file in (ROOT / folder).rglob("__init__.py")
    }
    return {name for name in found if not name.startswith(AT_HOME)}


def test_every_package_is_installed() -> None:
    assert set(find_packages(str(ROOT), **TOOL["packages"]["find"])) == packages()


def test_every_file_beside_the_code_is_installed() -> None:
    taken = {
        file
        for package, patterns in TOOL["package-data"].items()
        for pattern in patterns
        for file in (ROOT / package.replace(".", "/")).glob(pattern)
    }
    there = {
        file
        for folder in FOLDERS
        for file in (ROOT / folder).rglob("*")
        if file.suffix in SUFFIXES and not file.is_relative_to(ROOT / "models" / "training")
    }
    assert {str(file.relative_to(ROOT)) for file in there - taken} == set()


@pytest.mark.parametrize(
    ("knows", "words"), [("calcsize", "64-bit Raspberry Pi OS"), ("version_info", "3.11 or newer"), ("", "not here")]
)
def test_what_cannot_run_the_referee_is_refused_in_words(tmp_path: Path, knows: str, words: str) -> None:
    """A 32-bit system, an old Python, none at all: nothing is installed then."""
    python = tmp_path / "python"
    if knows:
        # Says no to the check that it knows, and yes to all others.
        python.write_text(f'#!/bin/sh\ncase "$*" in *{knows}*) exit 1;; --version) echo Python 3.9;; esac\n')
        python.chmod(0o755)
    where = {"PATH": os.environ["PATH"], "PYTHON": str(python), "VENV": str(tmp_path / "venv")}
    done = subprocess.run([ROOT / "tools" / "install", "run"], env=where, capture_output=True, text=True)
    assert done.returncode == 1
    assert words in done.stderr
    assert not (tmp_path / "venv").exists()
