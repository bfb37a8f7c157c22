"""The locks agree with pyproject.toml: every dependency at one version that is allowed, each file with its hash."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT: Final = Path(__file__).parents[1]
PROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: Final = PROJECT["optional-dependencies"]
NEEDED: Final = {
    "run": PROJECT["dependencies"],
    "dev": EXTRAS["dev"],
    "train": EXTRAS["train"],
    "keys": EXTRAS["keys"],
}
"""The purpose of each lock."""
SYSTEMS: Final = [(python, machine) for python in ("3.11", "3.13") for machine in ("x86_64", "aarch64")]
HOLES: Final = ("h11==0.14.0", "pillow==10.2.0", "gpiozero==2.0.1")
"""Versions that may not come in again: two with known holes, one that takes the wrong chip for the header."""


def _environment(python: str, machine: str) -> dict[str, str]:
    here = {name: str(value) for name, value in default_environment().items()}
    return here | {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "platform_machine": machine,
        "sys_platform": "linux",
        "platform_system": "Linux",
    }


def _locked(name: str) -> list[tuple[Requirement, list[str]]]:
    """Return each entry of a lock, with its hashes."""
    text = (ROOT / "locks" / f"{name}.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [
        (Requirement(line.split(" --hash")[0]), re.findall(r"--hash=sha256:([0-9a-f]{64})\b", line)) for line in lines
    ]


def _versions(name: str, environment: dict[str, str]) -> dict[str, str]:
    """Return the versions that a lock installs on one system. A package that stands there twice is an error."""
    found: dict[str, str] = {}
    for entry, _ in _locked(name):
        if entry.marker is None or entry.marker.evaluate(environment):
            package = canonicalize_name(entry.name)
            assert package not in found, f"{package} stands twice in locks/{name}.txt"
            (pin,) = entry.specifier
            assert pin.operator == "=="
            found[package] = pin.version
    return found


def _missing(wanted: list[str], locked: dict[str, str], environment: dict[str, str]) -> Iterator[str]:
    for requirement in map(Requirement, wanted):
        if requirement.marker is None or requirement.marker.evaluate(environment | {"extra": ""}):
            version = locked.get(canonicalize_name(requirement.name))
            if version is None or not requirement.specifier.contains(version, prereleases=True):
                yield f"{requirement} (locked: {version})"


@pytest.mark.parametrize("name", NEEDED)
def test_every_entry_has_hashes(name: str) -> None:
    assert [str(entry) for entry, hashes in _locked(name) if not hashes] == []


@pytest.mark.parametrize(("python", "machine"), SYSTEMS)
@pytest.mark.parametrize("name", NEEDED)
def test_every_dependency_is_locked_at_a_version_that_is_allowed(name: str, python: str, machine: str) -> None:
    """Otherwise pyproject.toml was changed and `make lock` forgotten."""
    environment = _environment(python, machine)
    assert list(_missing(NEEDED[name], _versions(name, environment), environment)) == []


@pytest.mark.parametrize(("python", "machine"), SYSTEMS)
def test_the_locks_name_one_version_of_each_package(python: str, machine: str) -> None:
    """They are installed one over the other."""
    environment = _environment(python, machine)
    run = _versions("run", environment)
    for name in ("dev", "train", "keys"):
        other = _versions(name, environment)
        assert {package: run[package] for package in run.keys() & other.keys()}.items() <= other.items()


@pytest.mark.parametrize("name", ["run", "dev"])
def test_what_the_locked_packages_need_is_locked_too(name: str) -> None:
    """By the metadata of those that are installed here at the locked version."""
    environment = {key: str(value) for key, value in default_environment().items()}
    locked = _versions("run", environment) | _versions(name, environment)
    asked = 0
    for package, version in locked.items():
        try:
            installed = distribution(package)
        except PackageNotFoundError:
            continue
        if installed.version == version:
            asked += 1
            assert list(_missing(installed.requires or [], locked, environment)) == [], package
    assert asked


@pytest.mark.parametrize("hole", HOLES)
def test_no_version_with_a_known_hole_is_allowed(hole: str) -> None:
    bad = Requirement(hole)
    (pin,) = bad.specifier
    allowed = [Requirement(line) for line in PROJECT["dependencies"]]
    floors = [each.specifier for each in allowed if canonicalize_name(each.name) == bad.name]
    assert floors and not any(floor.contains(pin.version) for floor in floors)
