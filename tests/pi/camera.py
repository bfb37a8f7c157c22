"""`make pi-camera`: the product's `PiCamera` on picamera2 and libcamera, on an emulated Raspberry Pi 4.

Exit status 1 if a check fails or does not come.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable

from tests.pi.camera_guest import CAMERA, CHECK, CHECKS, PIPELINE
from tools.pi.board import BoardError, run_on_board
from tools.pi.cpio import Entry, folders
from tools.pi.setup import CANNOT, FOLDER, PYTHON, CannotSetUpError, set_up

LIMIT = 3600.0


def main() -> int:
    """Run the checks on the board; return the exit status."""
    try:
        set_up([PYTHON], "product", "camera")
    except CannotSetUpError as error:
        print(f"pi: cannot be had here: {error}")
        return CANNOT
    began = time.monotonic()

    def hear(line: str) -> None:
        print(f"{time.monotonic() - began:5.0f} s  {line}", flush=True)

    places = [PIPELINE.rsplit("/", depth)[0] for depth in range(PIPELINE.count("/"), 0, -1)]
    files: list[Entry] = [*folders(*places), (PIPELINE, 0o100644, CAMERA.encode())]
    try:
        run = run_on_board(
            "tests.pi.camera_guest", [], board="raspi4b", version=PYTHON, limit=LIMIT, files=files, hear=hear,
            archives=[FOLDER / f"{name}.cpio" for name in ("product", "camera")], speed=0,
        )  # fmt: skip
    except BoardError as error:
        print(error)
        return 1
    faults = find_faults(run.lines)
    print("\n".join([*faults, f"pi-camera: {len(faults)} faults, {run.seconds:.0f} s"]))
    return 1 if faults else 0


def find_faults(lines: Iterable[str]) -> list[str]:
    """Return the checks that failed, and those that did not come."""
    told = [line.removeprefix(CHECK) for line in lines if line.startswith(CHECK)]
    fine = {line.removeprefix("ok ").partition(":")[0] for line in told if line.startswith("ok ")}
    failed = [line for line in told if not line.startswith("ok ")]
    named = {line.removeprefix("fault ").partition(":")[0] for line in failed}
    return [*failed, *(f"{name}: not checked" for name in CHECKS if name not in fine | named)]


if __name__ == "__main__":
    sys.exit(main())
