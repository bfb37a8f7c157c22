"""`make walk`: every file and function that one slap runs through, from the pad's edge to the announced ruling and on to the page.

A table is set up with the real loop, pad shell, referee, voice, lights and record; pads, camera and speaker are
simulated, and time is data. Two sevens are laid; then one hand falls, and from its edge on every function of the
product that is entered is noted, on every thread, until the voice has said who wins. Then the page's reader takes the
record's new lines, and is followed until the regions of its scoreboard are ready to be sent.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
PRODUCT: Final = tuple(str(ROOT / folder) + "/" for folder in ("referee", "hardware", "models"))
SIMULATED: Final = str(ROOT / "hardware" / "simulated") + "/"
MS: Final = 1_000_000
"""What stands in for the world is no part of the way."""


class Steps:
    """Functions that were entered, in the order of their first call."""

    def __init__(self) -> None:
        self.entered: dict[CodeType, int] = {}

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        if event == "call" and code not in self.entered and _is_ours(code):
            self.entered[code] = len(self.entered)

    @property
    def files(self) -> Counter[str]:
        """Functions by file, in the order in which the files were reached."""
        return Counter(str(Path(code.co_filename).relative_to(ROOT)) for code in self.entered)


def _is_ours(code: CodeType) -> bool:
    name = code.co_name
    made_by_python = name.startswith("<") or (
        name.startswith("__") and name not in ("__call__", "__enter__", "__exit__")
    )
    return code.co_filename.startswith(PRODUCT) and not code.co_filename.startswith(SIMULATED) and not made_by_python


@contextmanager
def followed(steps: Steps) -> Iterator[None]:
    """Note what is entered meanwhile, on all threads."""
    sys.setprofile(steps)
    threading.setprofile_all_threads(steps) if sys.version_info >= (3, 12) else threading.setprofile(steps)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
