"""Rules for every test run: skips are listed with their reasons, and an unlisted one fails the run."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.chromium import browser, chromium

__all__ = ["browser", "chromium"]
_ALLOWED = [
    re.compile(line)
    for line in (Path(__file__).parent / "skips.txt").read_text().splitlines()
    if line and not line.startswith("#")
]
_unexpected: list[str] = []
_WORKER_MEMORY = 2 << 30
"""Memory of one worker towards the end of a run, with its browser, bytes."""
# The own games of the person who runs the tests stay untouched: every process that a test starts finds an empty folder.
os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp(prefix="referee-tests-")
atexit.register(shutil.rmtree, os.environ["XDG_DATA_HOME"], ignore_errors=True)
if os.environ.pop("PYTHONDONTWRITEBYTECODE", "") and sys.prefix != sys.base_prefix:
    # No bytecode in the checkout; but without any, each of a thousand started processes compiles the program anew.
    sys.dont_write_bytecode = False
    sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(Path(sys.prefix) / ".bytecode")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return two workers more than there are cores, because many tests wait for a browser or a table; less if memory is
    short.
    """
    cores = len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(cores + 2, memory // _WORKER_MEMORY))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest tests, so that no worker is left alone with one at the end."""
    items.sort(key=lambda item: "slow" not in item.keywords)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Make the process ordinary again: a table that ran in it took real-time priority, and would starve the others."""
    if sys.platform == "linux" and os.sched_getscheduler(0) != os.SCHED_OTHER:
        for thread in Path("/proc/self/task").iterdir():
            with suppress(ProcessLookupError):
                os.sched_setscheduler(int(thread.name), os.SCHED_OTHER, os.sched_param(0))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note every skip whose reason is not on the list."""
    if report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if not any(pattern.search(reason) for pattern in _ALLOWED):
            _unexpected.append(f"{report.nodeid}: {reason}")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail the run in CI if a skip was not allowed."""
    if os.environ.get("CI") and _unexpected and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the skips that were not allowed."""
    if _unexpected:
        terminalreporter.section("skips that tests/skips.txt does not allow")
        for line in _unexpected:
            terminalreporter.write_line(line)
