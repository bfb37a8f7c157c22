"""The vision process: it opens the camera, looks at each frame and sends its observations until the referee hangs up.

Started by `referee.vision.eye_client`. The camera has a thread of its own (`Eyes`): frames wait in a `Backlog` while
there is room, so the eye never waits for a driver. If pictures are switched on (`Work.pictures`), the process keeps the
last seconds of its frames, scaled down (`referee.vision.picture_buffer`), and sends the requested ones: a few after
each sight, so that no sight waits for them.
"""

from __future__ import annotations

import faulthandler
import importlib
import os
import signal
import socket
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hardware.child import BackOff
from hardware.clock import Clock, monotonic
from hardware.ports import HardwareMissing
from hardware.priority import be_patient
from referee.engine.foresight import Foresight
from referee.errors import UserError
from referee.sentence import Sentence, words_of
from referee.units import MS, SECOND
from referee.vision.message_pipe import MessagePipe
from referee.vision.picture_buffer import PictureRing, Span
from referee.vision.sight import Blind, Looker, Watching

if TYPE_CHECKING:
    from hardware.ports import Camera, Frame
    from referee.record.pictures import Picture

_RECORDED: Final = 16 * 2**20
"""Bytes of a recording's frames that may wait; beyond them the recording waits."""
_PASSED_OVER: Final = Sentence("the eye could not keep up, and pictures were passed over; lay cards more slowly")
NO_MORE: Final = Sentence("the camera's pictures have ended")
_NO_FRAMES: Final = Sentence("the camera sends no pictures")
_STANDS_STILL: Final = Sentence("the camera sends the same picture again and again")
_SHARE: Final = 4
"""Waiting frames may take one in this many bytes of free memory ..."""
_LEAST_ROOM: Final = 64 * 2**20
"""... but at least this ..."""
_MOST_ROOM: Final = 2**30
"""... and at most this, bytes."""
_BEHIND: Final = 3 * SECOND
"""An eye this far behind the newest frame is reported, ns ..."""
_FOLLOWS: Final = SECOND
"""... until it is no further behind than this."""
NO_FRAME: Final = 2 * SECOND
"""Time without a frame after which the camera counts as lost, ns."""
LONGEST_GAP: Final = 1_900 * MS
"""Longest gap between timestamps that the watcher bridges, ns: after a longer one no instant would be certain to a
second either way, and the camera counts as lost.
"""
_LIVELY: Final = 3
"""Number of consecutive differing pictures that prove sensor noise: from then on a repeated picture is not a sight."""
_OPENING: Final = 15 * SECOND
"""The same limit for the first frame, ns: a camera is opened, configured, and settles."""
_DRAWING: Final = 120 * SECOND
"""The same limit for a recording and a simulated camera, ns: on a busy machine a picture takes long to draw."""
_NICE: Final = 10
"""Niceness of the vision process; the referee has none."""
_ANSWER_WITHIN: Final = 0.25
"""Seconds that the child waits for the referee's foresight; it takes about a millisecond."""
_RECORDED_ANSWER: Final = 60.0
"""The same for a recording, which can wait: its log must not depend on how busy the machine is."""
_SIGN_OF_LIFE: Final = 0.5
"""Maximum seconds between two messages of the child."""
PICTURES: Final = 2
"""Maximum number of pictures sent with a sight. Each frame is requested at most once, so this catches up with late
requests; each picture costs the child about a millisecond.
"""
_FINAL_PICTURES: Final = 64
"""The same at the end of the game."""
_ALIVE: Final = "alive"
"""From the child: it is working and has no news."""
FINISH: Final = "finish"
"""To the child: the game is over."""

Open = Callable[[Callable[[str], None]], "Camera"]
"""Opens a camera, which reports its own state in words to the given callback."""


@dataclass(frozen=True, slots=True)
class Work:
    """The work of the child; sent to it, so everything in it can be pickled."""

    camera: Open
    """Opens the camera; raises `HardwareMissing`."""
    watcher: Callable[[], Watching]
    """Makes a watcher; raises `UserError` if there is no eye."""
    live: bool = True
    """Whether the camera may come back; a recording ends for good."""
    pictures: bool = False
    """Whether frames are kept, so that pictures can be requested."""


@dataclass(frozen=True, slots=True)
class ForesightAnswer:
    """The referee's answer to the ``number``-th sight."""

    number: int
    foresight: Foresight | None


@dataclass(frozen=True, slots=True)
class PicturesTaken:
    """The requested pictures."""

    pictures: list[Picture]


@dataclass(frozen=True, slots=True)
class Failed:
    """The child's last message: it exits and must be restarted."""

    words: str
    """The reason, and what to do about it."""


def free_memory() -> int:
    """Return the bytes of available memory, 0 if the system does not report them."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), 0)
    except OSError:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def room_for_frames() -> int:
    """Return the bytes that waiting frames may take on this machine."""
    return max(_LEAST_ROOM, min(_MOST_ROOM, free_memory() // _SHARE))


class Backlog:
    """A queue of frames between two threads: a slow eye runs late but misses no frame.

    When it is full, all waiting frames are dropped at once, because any action that they show is long over; the next
    frame follows a gap.

    Args:
        room: capacity in bytes; None: as much as this machine has to spare.
        drop: drop frames when it is full; otherwise the producer waits.
    """

    def __init__(self, room: int | None = None, *, drop: bool = True) -> None:
        self._room, self._drop = room_for_frames() if room is None else room, drop
        self._frames: deque[Frame] = deque()
        self._bytes = self._newest = 0
        self._given_up = False
        self._change = threading.Condition()
        self.after_gap = False
        """Whether frames were dropped before the last one taken."""
        self.is_behind = False
        """Whether the last frame taken was seconds older than the newest."""

    def put(self, frame: Frame) -> None:
        """Add a frame."""
        size = int(frame.image.nbytes)
        with self._change:
            while self._frames and self._bytes + size > self._room:
                if self._drop:
                    self._frames.clear()
                    self._bytes, self._given_up = 0, True
                else:
                    self._change.wait()
            self._frames.append(frame)
            self._bytes += size
            self._newest = frame.t
            self._change.notify_all()

    def next(self, seconds: float) -> Frame | None:
        """Return the oldest frame; `None`: no frame came within ``seconds``."""
        with self._change:
            if not self._frames and seconds > 0:
                self._change.wait_for(lambda: bool(self._frames), seconds)
            if not self._frames:
                return None
            frame = self._frames.popleft()
            self._bytes -= int(frame.image.nbytes)
            self.after_gap, self._given_up = self._given_up, False
            late = self._newest - frame.t
            # Hysteresis: an eye near the limit must not flip the report to and fro.
            self.is_behind = late > (_FOLLOWS if self.is_behind else _BEHIND)
            self._change.notify_all()
            return frame


class Eyes:
    """The camera on a thread of its own, which also opens it, so that no other thread waits for a driver."""

    def __init__(self, open_camera: Open, *, drop: bool = True) -> None:
        """``drop``: drop frames when there is no room; otherwise the camera waits."""
        self._open = open_camera
        self._camera: Camera | None = None
        self.backlog = Backlog(drop=True) if drop else Backlog(_RECORDED, drop=False)
        self._words = ""
        self._closed = False
        self.ended = False
        self._ring: Callable[[], None] = lambda: None
        self._thread = threading.Thread(target=self._look, name="camera", daemon=True)

    def start(self, ring: Callable[[], None] | None = None) -> None:
        """Start the thread; it calls ``ring`` with each frame, and at the end."""
        self._ring = ring or self._ring
        self._thread.start()

    def _look(self) -> None:
        try:
            self._camera = camera = self._open(self._set_words)
            # Closed while the driver was still opening it.
            if self._closed:
                camera.close()
                return
            for frame in camera.frames():
                self.backlog.put(frame)
                self._ring()
        except Exception as error:  # whatever a camera's library raises, the table must learn of it
            missing = isinstance(error, HardwareMissing)
            self._words = words_of(error) if missing else Sentence("the camera failed: {why}", why=repr(error))
        self.ended = True
        self._ring()

    def _set_words(self, words: str) -> None:
        self._words = words

    def close(self) -> None:
        """Close the camera; one that is still being opened is closed right afterwards."""
        self._closed = True
        if self._camera is not None:
            self._camera.close()

    def next(self, seconds: float) -> Frame | None:
        """Return the next frame; `None`: no frame came within ``seconds`` (0: do not wait)."""
        return self.backlog.next(seconds)

    @property
    def words(self) -> str:
        """Why there are no more frames."""
        return self._words or (NO_MORE if self.ended else _NO_FRAMES)


class Repeats:
    """Detects pictures that merely repeat the one before. Sensor noise is never the same twice, so a camera that
    repeats a picture shows nothing of the table, whatever the timestamps say.

    A camera without noise, such as a rendered one, is trusted.
    """

    def __init__(self) -> None:
        self._before: Any = None
        self._differed = 0

    def is_repeat(self, image: Any) -> bool:
        """Return whether a picture equals the last one exactly, from a camera that has noise."""
        before, self._before = self._before, image
        same = before is not None and before.shape == image.shape and _are_equal(before, image)
        if before is not None and not same and self._differed < _LIVELY:
            self._differed += 1
        # Noise is not proven yet: a rendered camera may repeat pictures, so count again.
        elif same and self._differed < _LIVELY:
            self._differed = 0
        return same and self._differed >= _LIVELY


def _are_equal(one: Any, other: Any) -> bool:
    """Compare two pictures; every 16th row first, which tells most apart at almost no cost."""
    return bool((one[::16] == other[::16]).all()) and bool((one == other).all())


class _GameOver(Exception):  # noqa: N818 - a way out, no error
    """Raised when the referee has ended the game."""


class Child:
    """Looks until the referee hangs up."""

    def __init__(self, work: Work, pipe: MessagePipe, clock: Clock = monotonic) -> None:
        self._work, self._pipe, self._clock = work, pipe, clock
        self._looker: Looker | None = None
        self._looked = False
        self._foresight: Foresight | None = None
        self._ring = PictureRing() if work.pictures else None
        self._number = 0
        self._back_off = BackOff()
        self._seen_t = 0
        """Start of the last frame looked at, ns."""

    def run(self) -> None:
        while True:
            # A recording can wait for the eye, so none of its frames need be dropped.
            eyes = Eyes(self._work.camera, drop=self._work.live)
            eyes.start()
            try:
                if self._looker is None:
                    # Load the networks while the camera opens: this is slow on a slow machine and must not count as a
                    # hang.
                    self._looker = Looker(self._work.watcher())
                saw = self.watch(eyes)
            finally:
                eyes.close()
            self._send_blind(eyes.words)
            while not self._work.live and saw:
                self._idle(_SIGN_OF_LIFE)
            now = self._clock()
            self._idle((self._back_off.fall(now) - now) / SECOND)

    def watch(self, eyes: Eyes) -> bool:
        """Look at frames until the camera ends; return whether there were any."""
        seen_at, lost, saw = self._clock(), False, False
        repeats = Repeats()
        while True:
            frame = eyes.next(_SIGN_OF_LIFE)
            is_repeat = frame is not None and self._work.live and repeats.is_repeat(frame.image)
            if frame is None or is_repeat:
                if frame is None and eyes.ended:
                    return saw
                self._pipe.send(_ALIVE)
                self._hear(0)
                self._send_pictures(PICTURES)
                patience = (NO_FRAME if saw else _OPENING) if self._work.live else _DRAWING
                if not lost and self._clock() - seen_at > patience:
                    lost = True
                    self._send_blind(_STANDS_STILL if is_repeat else eyes.words)
                continue
            seen_at, lost, saw = self._clock(), False, True
            self._back_off.works(seen_at)
            if eyes.backlog.after_gap:
                self._send_blind(_PASSED_OVER)
            elif self._looked and self._work.live and frame.t - self._seen_t > LONGEST_GAP:
                # Frames that waited in the backlog arrive late but unharmed, so the gap is measured between timestamps.
                self._send_blind(_NO_FRAMES)
            self._seen_t = frame.t
            if self._looker is None:
                # The knowledge of an earlier watcher is older than the gap.
                self._looker = Looker(self._work.watcher())
            self._pipe.send(self._looker.look(frame, self._foresight, behind=eyes.backlog.is_behind))
            self._looked = True
            self._number += 1
            self._foresight = None
            # The sight has been sent and its answer is still on the way: use the time.
            if self._ring is not None:
                self._ring.add(frame.image, frame.t, frame.exposure)
            self._send_pictures(PICTURES)
            self._hear(_ANSWER_WITHIN if self._work.live else _RECORDED_ANSWER)

    def _send_pictures(self, most: int) -> None:
        """Send at most ``most`` requested pictures."""
        pictures = self._ring.take(most) if self._ring is not None else []
        if pictures:
            self._pipe.send(PicturesTaken(pictures))

    def _hear(self, seconds: float) -> None:
        """Wait for the answer to the last sight, and ignore answers to older ones."""
        until = time.monotonic() + seconds
        while self._pipe.poll(max(0.0, until - time.monotonic())):
            told = self._pipe.recv()
            if told == FINISH:
                self._send_pictures(_FINAL_PICTURES)
                self._send_blind("")
                raise _GameOver
            if isinstance(told, Span):
                if self._ring is not None:
                    self._ring.want(told)
            elif told.number == self._number:
                self._foresight = told.foresight
                return

    def _idle(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._pipe.send(_ALIVE)
            self._hear(min(left, _SIGN_OF_LIFE))
            self._send_pictures(PICTURES)

    def _send_blind(self, words: str) -> None:
        if self._looker is None or not self._looked:
            self._pipe.send(Blind(words))
            return
        self._pipe.send(Blind(words, self._looker.finish(), self._looker.watermark))
        self._looker, self._looked = None, False


def serve(work: Work, link: socket.socket) -> None:
    """Run the child until the other end of the pipe closes."""
    # The referee handles an interrupt: it hangs up.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError, ValueError, AttributeError):
        # Fails without standard error; a crash in C code then leaves no trace.
        faulthandler.enable()
    with suppress(ImportError):
        # OpenCV's loader changes `sys.path` while it loads, and a process started by the camera's thread meanwhile
        # would inherit that. So load it before there is another thread.
        importlib.import_module("cv2")
    be_patient(_NICE)
    pipe = MessagePipe(link, patient=True)
    try:
        Child(work, pipe).run()
    except (_GameOver, EOFError, ConnectionError):
        return
    except UserError as error:
        pipe.send(Failed(words_of(error)))
    except Exception as error:  # whatever it is, people learn of it in a sentence
        with suppress(OSError):
            traceback.print_exc()
        why = f"{type(error).__name__}: {error}"
        pipe.send(Failed(Sentence("the part that looks at the table failed ({why}); it is started again", why=why)))
