"""Network cameras: a real MJPEG stream through OpenCV, and the effect of its jitter on the frames' instants."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any

import cv2
import numpy as np
import pytest

from hardware.camera.camera import open_camera
from hardware.camera.network import NetworkCamera, masked
from hardware.camera.remote import RemoteCamera
from hardware.camera.spec import CameraSpec
from hardware.clock import monotonic, time_awake
from hardware.ports import Frame, HardwareMissing
from referee.engine.observations import MAX_ERROR, Card, Observation, Slap
from referee.units import MS
from referee.vision.sight import Looker
from tests.support.patience import PATIENCE

PICTURE = np.full((120, 160, 3), 90, np.uint8)


class Capture:
    """OpenCV's VideoCapture: frames that come at these instants (ms), and no more. Each is read in no time, or in as
    many ms as ``reading`` says for its number.
    """

    def __init__(self, *came: float, reading: Mapping[int, float] | None = None) -> None:
        self._came, self._reading = list(came), dict(reading or {})
        self._number = -1
        self.now = self.awake = 0

    def isOpened(self) -> bool:  # noqa: N802 - OpenCV's name
        return True

    def read(self) -> tuple[bool, Any]:
        if not self._came:
            return False, None
        self._number += 1
        reading = round(self._reading.get(self._number, 0) * MS)
        self.now = max(self.now, round(self._came.pop(0) * MS)) + reading
        self.awake += reading
        return True, PICTURE

    def release(self) -> None:
        self._came.clear()


def given(
    *came: float, delay_ms: float | None = None, reading: Mapping[int, float] | None = None,
    ends: str = "stopped sending",
) -> list[Frame]:  # fmt: skip
    """The frames until the stream ends with these words."""
    capture = Capture(*came, reading=reading)
    camera = NetworkCamera(
        "http://x/", delay_ms=delay_ms, clock=lambda: capture.now, awake=lambda: capture.awake, capture=capture
    )
    frames, out = camera.frames(), []
    with pytest.raises(HardwareMissing, match=ends):
        while True:
            out.append(next(frames))
    return out


def test_a_frame_is_earlier_than_it_came_by_a_measured_delay() -> None:
    frames = given(*(500 + 40 * k for k in range(20)), delay_ms=200)
    assert frames[-1].t == (500 + 40 * 19 - 200 - 40) * MS
    assert (frames[-1].exposure, frames[-1].clock_error) == (40 * MS, 0)


def test_jitter_is_measured_and_stated() -> None:
    """One frame came 70 ms late: from then on every instant has at least this error."""
    frames = given(20, 60, *(100 + 40 * k for k in range(8)), 490, 500, 540, delay_ms=100)
    assert [frame.clock_error // MS for frame in frames[-5:]] == [0, 0, 70, 70, 70]
    assert all(a.t < b.t for a, b in pairwise(frames))


def test_what_came_while_the_stream_was_opened_is_passed_over() -> None:
    """Its arrival is unknown; it would be reported a second late."""
    frames = given(0, 0.1, 40, 40.1, 40.2, 80, 120, 160, 200, delay_ms=0)
    assert [frame.index for frame in frames] == [0, 1]
    assert frames[1].t == 160 * MS


def test_frames_that_come_in_bunches_are_as_long_as_the_stream_is_slow() -> None:
    frames = given(40, 80, *(120 + 120 * (k // 3) + k % 3 for k in range(60)), delay_ms=100)
    assert 35 * MS < frames[-1].exposure < 45 * MS
    assert frames[-1].clock_error > 100 * MS


def test_a_frame_that_lay_there_is_as_uncertain_as_its_arrival() -> None:
    """The machine was busy for ten frames: they came after the last one that was waited for, at unknown times."""
    came, busy = [500 + 40 * k for k in range(60)], dict.fromkeys(range(20, 30), 60)
    frames = given(*came, delay_ms=0, reading=busy)
    assert len(frames) == 58
    for frame, lit in zip(frames, came[2:], strict=True):
        end = (frame.t + frame.exposure) / MS
        assert end - frame.clock_error / MS <= lit <= end, "it holds for each"
    assert max(frame.clock_error for frame in frames) > 200 * MS
    assert frames[-1].clock_error == 60 * MS, "one slow reading, not what was behind"


def test_frames_too_uncertain_for_a_card_are_passed_over() -> None:
    came, busy = [500 + 40 * k for k in range(200)], dict.fromkeys(range(20, 50), 100)
    frames = given(*came, delay_ms=0, reading=busy)
    assert max(frame.clock_error for frame in frames) <= 900 * MS
    assert max(later.t - earlier.t for earlier, later in pairwise(frames)) > 1500 * MS, "a gap, and no wrong instant"
    assert frames[-1].clock_error == 100 * MS


def test_a_machine_that_stays_too_busy_says_so() -> None:
    came = [500 + 40 * k for k in range(200)]
    given(*came, delay_ms=0, reading=dict.fromkeys(range(20, 200), 100), ends="too busy to read")


def test_a_thread_is_awake_while_it_works_and_not_while_it_waits() -> None:
    began, awake = monotonic(), time_awake()
    threading.Event().wait(0.05)
    assert monotonic() - began - (time_awake() - awake) >= 49 * MS
    began, awake = time.thread_time_ns(), time_awake()
    sum(range(100_000))
    assert time_awake() - awake >= time.thread_time_ns() - began - MS


def test_a_delay_that_nobody_measured_is_an_error_as_wide() -> None:
    frame = given(920, 960, 1000, 1040, 1080)[-1]
    truth_low, truth_high = 1080 - 600, 1080
    middle = (frame.t + frame.exposure) / MS
    assert middle - frame.clock_error / MS <= truth_low
    assert middle + frame.clock_error / MS >= truth_high


def test_a_password_is_not_shown() -> None:
    assert masked("rtsp://ann:secret@10.0.0.9/live") == "rtsp://…@10.0.0.9/live"
    assert masked("http://10.0.0.9:8080/video") == "http://10.0.0.9:8080/video"


class Watcher:
    """Reports these lines with the next frame."""

    def __init__(self, *told: Observation) -> None:
        self.told, self.watermark = list(told), 0

    def recall(self, foresight: Any) -> None:
        """Ignore the predictions."""

    def feed(self, image: Any, t: int, t_error: int) -> Sequence[Observation]:
        self.watermark = t
        told, self.told = self.told, []
        return told

    def finish(self) -> Sequence[Observation]:
        return ()


def test_what_is_seen_by_the_network_has_the_clocks_error_too_and_the_watermark_waits_for_it() -> None:
    card = Card(t=900 * MS, id="c1", card="7h", seat=1, t_error=20 * MS)
    looker = Looker(Watcher(card, Slap(t=5, id="s1", seat=1)))
    sight = looker.look(Frame(PICTURE, 1000 * MS, 40 * MS, 0, clock_error=300 * MS), None)
    seen, slap = sight.seen
    assert isinstance(seen, Card) and seen.t_error == 320 * MS
    assert slap == Slap(t=5, id="", seat=1)
    assert sight.watermark == 700 * MS
    assert looker.look(Frame(PICTURE, 1040 * MS, 40 * MS, 1, clock_error=500 * MS), None).watermark == 700 * MS


def test_no_error_is_larger_than_a_log_may_state() -> None:
    looker = Looker(Watcher(Card(t=9000 * MS, id="c1", card="7h", seat=1, t_error=20 * MS)))
    (seen,) = looker.look(Frame(PICTURE, 9100 * MS, 40 * MS, 0, clock_error=1500 * MS), None).seen
    assert isinstance(seen, Card) and seen.t_error == MAX_ERROR


# A real stream


class Phone:
    """A phone as camera: MJPEG by HTTP, a picture every 40 ms; can go and come back at the same address."""

    def __init__(self) -> None:
        self._port = 0
        self.begin()

    def begin(self) -> None:
        there, jpeg = threading.Event(), cv2.imencode(".jpg", PICTURE)[1].tobytes()

        class Stream(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
                self.end_headers()
                with suppress(OSError):
                    while not there.wait(0.04):
                        self.wfile.write(b"--frame\r\nContent-Type: image/jpeg\r\n")
                        self.wfile.write(f"Content-Length: {len(jpeg)}\r\n\r\n".encode() + jpeg + b"\r\n")

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self._gone = there
        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), Stream)
        self._port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self._port}/video"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def leave(self) -> None:
        self._gone.set()
        self._server.shutdown()
        self._server.server_close()


class Intercom:
    """An IP camera: one viewer over RTSP, uncompressed pictures (RFC 4175) within its connection, one every 40 ms."""

    def __init__(self) -> None:
        self._gone = threading.Event()
        self._door = socket.create_server(("127.0.0.1", 0))
        self.url = f"rtsp://ann:secret@127.0.0.1:{self._door.getsockname()[1]}/live"
        threading.Thread(target=self._serve, daemon=True).start()

    def leave(self) -> None:
        self._gone.set()
        self._door.close()

    def _serve(self) -> None:
        with suppress(OSError), self._door.accept()[0] as viewer:
            while self._answer(viewer, self._read_request(viewer)) != "PLAY":
                pass
            number = 0
            while not self._gone.wait(0.04):
                for row in range(120):
                    header = struct.pack("!BBHII", 0x80, 112 + 128 * (row == 119), number * 120 + row, number * 3600, 7)
                    packet = header + struct.pack("!HHHH", 0, 320, row, 0) + bytes([128, 90] * 160)
                    viewer.sendall(b"$\0" + struct.pack("!H", len(packet)) + packet)
                number += 1

    def _read_request(self, viewer: socket.socket) -> list[str]:
        told = b""
        while not told.endswith(b"\r\n\r\n"):
            told += viewer.recv(4096)
        return told.decode().splitlines()

    def _answer(self, viewer: socket.socket, request: list[str]) -> str:
        method = request[0].split()[0]
        count = next(line for line in request if line.startswith("CSeq"))
        scene = (
            "v=0\r\nm=video 0 RTP/AVP 112\r\na=rtpmap:112 raw/90000\r\n"
            "a=fmtp:112 sampling=YCbCr-4:2:2; width=160; height=120; depth=8; colorimetry=BT601-5\r\n"
            "a=control:track\r\n"
        )
        more = {
            "DESCRIBE": f"Content-Type: application/sdp\r\nContent-Length: {len(scene)}\r\n\r\n{scene}",
            "SETUP": "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\nSession: 1\r\n\r\n",
        }.get(method, "Session: 1\r\n\r\n")
        viewer.sendall(f"RTSP/1.0 200 OK\r\n{count}\r\n{more}".encode())
        return method


def test_an_rtsp_stream_is_watched_and_its_end_is_told() -> None:
    intercom = Intercom()
    camera = open_camera(intercom.url, delay_ms=100)
    frames = camera.frames()
    shown = [next(frames) for _ in range(40)]
    assert shown[-1].image.shape == PICTURE.shape
    assert abs(int(shown[-1].image.mean()) - 86) <= 3
    assert 20 * MS < shown[-1].exposure < 120 * MS
    intercom.leave()
    with pytest.raises(HardwareMissing, match="stopped sending") as told:
        for _ in range(1000):
            next(frames)
    assert "secret" not in str(told.value)
    camera.close()


@pytest.fixture
def phone() -> Iterator[Phone]:
    made = Phone()
    yield made
    made.leave()


def test_a_stream_is_watched_and_its_end_is_told(phone: Phone) -> None:
    camera = open_camera(phone.url, delay_ms=100)
    frames = camera.frames()
    shown = [next(frames) for _ in range(10)]
    assert shown[-1].image.shape == PICTURE.shape
    assert abs(int(shown[-1].image.mean()) - 90) <= 3
    assert 20 * MS < shown[-1].exposure < 120 * MS
    now = time.monotonic_ns()
    assert 0 < now - shown[-1].t < 2000 * MS
    phone.leave()
    with pytest.raises(HardwareMissing, match="stopped sending"):
        for _ in range(1000):
            next(frames)
    camera.close()
    phone.begin()


def test_nothing_there_is_told_with_what_to_do() -> None:
    with pytest.raises(HardwareMissing, match="same network"):
        open_camera("http://127.0.0.1:9/video")


def test_a_camera_that_comes_back_is_watched_again(phone: Phone) -> None:
    told: list[str] = []
    camera = RemoteCamera(CameraSpec.of(phone.url), told=told.append)
    frames = camera.frames()
    assert next(frames).image.shape == PICTURE.shape
    phone.leave()
    seen = threading.Thread(target=lambda: _until_told(frames, told), daemon=True)
    seen.start()
    phone.begin()
    seen.join(PATIENCE)
    assert any("stopped" in words for words in told)
    assert next(frames).image.shape == PICTURE.shape
    camera.close()


def _until_told(frames: Iterator[Frame], told: list[str]) -> None:
    while not told:
        next(frames)
