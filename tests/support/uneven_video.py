"""A video with uneven frame times, as a telephone's: written evenly, with a changed table of durations."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

_PATH = (b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stts")
_HEAD = 8
"""Bytes of a box's size and name."""


def write_uneven_video(file: Path, milliseconds: Sequence[int]) -> None:
    """Write an MP4 with a frame for each of these durations, each of another grey."""
    fps = 25.0
    writer = cv2.VideoWriter(str(file), cv2.VideoWriter.fourcc(*"mp4v"), fps, (64, 48))
    for n in range(len(milliseconds)):
        writer.write(np.full((48, 64, 3), 8 * n % 256, np.uint8))
    writer.release()
    data = file.read_bytes()
    boxes = _find_boxes(data)
    start, size = boxes[-1]
    _, even = struct.unpack(">II", data[start + _HEAD + 8 : start + _HEAD + 16])
    ticks = [round(ms * even * fps / 1000) for ms in milliseconds]
    table = struct.pack(">II", 0, len(ticks)) + b"".join(struct.pack(">II", 1, tick) for tick in ticks)
    made = struct.pack(">I4s", _HEAD + len(table), b"stts") + table
    longer = len(made) - size
    out = bytearray(data[:start] + made + data[start + size :])
    # The pictures precede all of this in the file, so their offsets stay valid.
    for at, length in boxes[:-1]:
        struct.pack_into(">I", out, at, length + longer)
    file.write_bytes(out)


def _find_boxes(data: bytes) -> list[tuple[int, int]]:
    """Return start and size of each box on the way to the durations."""
    found, at, end = [], 0, len(data)
    for name in _PATH:
        while data[at + 4 : at + 8] != name:
            at += struct.unpack(">I", data[at : at + 4])[0]
            assert at < end, name
        size = struct.unpack(">I", data[at : at + 4])[0]
        found.append((at, size))
        at, end = at + _HEAD, at + size
    return found
