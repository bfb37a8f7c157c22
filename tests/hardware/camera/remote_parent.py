"""A process that opens a remote camera, prints its child's number, and takes frames until it is terminated.

A second argument: ``stuck`` prints the number only when frames have stopped, ``leave`` ends without closing the camera,
``forked`` first prints the number of a copy of this process that goes on.
"""

from __future__ import annotations

import os
import signal
import sys

from hardware.camera.remote import RemoteCamera
from hardware.camera.spec import CameraSpec


def first_index(spec: str) -> tuple[int, int]:
    """Return the child's process number, and the first frame's index; close the camera again."""
    camera = RemoteCamera(CameraSpec.from_json(spec))
    frame = next(camera.frames())
    pid = camera.pid or 0
    camera.close()
    return pid, frame.index


if __name__ == "__main__":
    held = RemoteCamera(CameraSpec.from_json(sys.argv[1]))
    while sys.argv[2:] == ["stuck"] and held.next(0.5) is not None:
        pass
    if sys.argv[2:] == ["forked"] and (sibling := os.fork()):
        # It holds all that this process held, the camera's lifeline too.
        print(sibling, flush=True)
    elif sys.argv[2:] == ["forked"]:
        signal.pause()
    print(held.pid, flush=True)
    if sys.argv[2:] == ["leave"]:
        sys.exit(0)
    for _ in held.frames():
        pass
