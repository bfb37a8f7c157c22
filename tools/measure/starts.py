"""How often a child dies while it starts on a busy machine: `make starts`.

Processes that only compute make the load. Each start is that of a table: the eye's process begins, its camera's thread
opens the camera in a separate process, and meanwhile its first thread loads OpenCV, as a watcher does, but no
networks. A start counts as dead where a trouble is reported before the first picture was looked at. Then the page's
process is killed as soon as it is there, again and again, and must serve again once the kills stop.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from hardware.camera.spec import CameraSpec
from hardware.clock import monotonic
from referee.control.page_address import listen_at
from referee.record.store import Record
from referee.table.loop import Alarm
from referee.table.page_link import PageProcess
from referee.vision.cameras import open_remote
from referee.vision.eye_client import SightProcess
from referee.vision.process import Work
from referee.vision.sight import Blind, Sight, Watching
from tools.measure.soak_rendered import serves

_CAMERA: Final = CameraSpec.of("twin", size=[32, 24], fps=100.0, patience=5.0, settle_frames=3, colour_gains=[1.0, 2.0])
_BUSY: Final = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"
"""Computes until its parent is gone."""
_PATIENCE: Final = 300.0
"""Seconds within which a start ends, one way or the other."""


class _Idle:
    """A watcher that sees nothing."""

    watermark = -1

    def recall(self, foresight: Any) -> None: ...

    def feed(self, image: Any, t: int, t_error: int) -> Sequence[Any]:
        return ()

    def finish(self) -> Sequence[Any]:
        return ()


def load_opencv() -> Watching:
    """Load the part of an eye that changes the search path of modules."""
    import cv2

    cv2.setNumThreads(1)
    return _Idle()


@contextmanager
def load_of(many: int) -> Iterator[None]:
    """Run a number of computing processes at low priority during the block."""
    busy = [subprocess.Popen(["nice", "-n", "19", sys.executable, "-c", _BUSY]) for _ in range(many)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def start_once() -> str:
    """Start eye and camera; return why a process died, empty where none did."""
    sights = SightProcess(Work(partial(open_remote, _CAMERA), load_opencv))
    alarm = Alarm()
    sights.start(alarm.ring)
    until = time.monotonic() + _PATIENCE
    try:
        while time.monotonic() < until:
            alarm.wait(0.5, sights.waitables())
            for news in sights.news(lambda: None):
                if isinstance(news, Sight):
                    return ""
                if isinstance(news, Blind):
                    return news.words
        return "nothing was heard of it"
    finally:
        sights.close()
        alarm.close()


def kill_the_page(kills: int) -> tuple[int, float, float]:
    """Kill the page a number of times, each as soon as it is there.

    Returns:
        The kills of the first minute; how long all of them took, s; and after the last one how long it took until the
        page served again, s.
    """
    with TemporaryDirectory() as folder:
        record = Path(folder) / "record.db"
        Record(record).close()
        listening = listen_at("127.0.0.1", 0)
        page, port = PageProcess(record, Path(folder), listening), int(listening.getsockname()[1])
        began, killed, minute = time.monotonic(), set[int](), 0
        while len(killed) < kills:
            page.beat(monotonic())
            if page.pid is not None and page.pid not in killed:
                os.kill(page.pid, 9)
                killed.add(page.pid)
                minute += time.monotonic() - began <= 60
            time.sleep(0.05)
        took, ended = time.monotonic() - began, time.monotonic()
        while page.pid in killed or not serves(port):
            page.beat(monotonic())
            time.sleep(0.05)
            if time.monotonic() - ended > _PATIENCE:
                break
        back = time.monotonic() - ended
        page.close()
    return minute, took, back


def main() -> int:
    """Start, kill, and print the results; exit status 1 where a child died, or the page is not back."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=200)
    parser.add_argument("--load", type=int, default=10, help="processes that compute meanwhile")
    parser.add_argument("--kills", type=int, default=20, help="of the page")
    args = parser.parse_args()
    died, longest = Counter[str](), 0.0
    with load_of(args.load):
        for number in range(1, args.starts + 1):
            began = time.monotonic()
            words = start_once()
            longest = max(longest, time.monotonic() - began)
            if words:
                died[words] += 1
                print(f"start {number}: {words}", flush=True)
            elif number % 20 == 0:
                print(f"{number} of {args.starts}, {died.total()} died, load {os.getloadavg()[0]:.1f}", flush=True)
        minute, took, back = kill_the_page(args.kills) if args.kills else (0, 0.0, 0.0)
    bound = f" (at most {3 / args.starts:.1%})" if not died and args.starts else ""
    print(f"\n{died.total()} of {args.starts} starts died{bound}; the slowest took {longest:.1f} s")
    if args.kills:
        print(f"the page: killed {args.kills} times in {took:.0f} s, {minute} of them in the first minute; "
              f"back {back:.1f} s after the last")  # fmt: skip
    return 1 if died or back >= _PATIENCE else 0


if __name__ == "__main__":
    sys.exit(main())
