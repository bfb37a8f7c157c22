"""Looking, in a process of its own: the referee's own process never waits for a picture.

The child opens the camera, looks at each frame and sends what it told; the referee answers each sight with its
foresight (`referee.app.sight` says why). The child is less urgent to the machine (`NICE`), so that a busy eye does not
keep a hand's light waiting. A child that dies or falls silent is started again, and counts as a lost camera meanwhile.

Where pictures are switched on (`Work.pictures`) the child keeps the last seconds of its frames, small
(`referee.app.picture_ring`), and sends those that are asked for: a few after each sight, so that none waits for them.
"""

from __future__ import annotations

import logging
import multiprocessing
import pickle
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, Final

from referee.adjudication.foresight import Foresight
from referee.adjudication.observations import Observation
from referee.app.eyes import NO_FRAME, OPENING, Eyes, Open
from referee.app.picture_ring import PictureRing, Span
from referee.app.problems import UserError
from referee.app.sight import Blind, Looker, News, Recall, Sight, Watching
from referee.app.urgency import be_patient

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

    from hardware.ports import Frame
    from referee.app.record_frames import Picture

NICE: Final = 10
"""Niceness of looking; judging has none, or `loop.URGENT`."""
ANSWER_WITHIN: Final = 0.25
"""Seconds that the child waits for the referee's foresight; it takes about a millisecond."""
SIGN_OF_LIFE: Final = 0.5
"""Seconds from one word of the child to the next, at most."""
SILENT: Final = 5.0
"""After so many seconds without a word the child has hung."""
WAKING: Final = 90.0
"""Seconds that a child may need for its first word: it loads the eye."""
AGAIN: Final = (0.0, 1.0, 2.0, 5.0, 10.0)
"""Seconds before the first, second ... restart in a row, and between attempts to open a camera."""
PICTURES: Final = 2
"""Pictures sent with a sight at most: each frame is wanted once at most, so this catches up with what was asked late,
and each costs about a millisecond of the child's."""
FINAL_PICTURES: Final = 64
"""The same at the end of the game."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Work:
    """What the child does; travels to it, so everything in it can be pickled."""

    camera: Open
    """Opens the camera; raises `HardwareMissing`."""
    watcher: Callable[[], Watching]
    """Makes a watcher; raises `UserError` where there is no eye."""
    live: bool = True
    """Whether the camera may come back; a recording that has ended has ended."""
    pictures: bool = False
    """Whether frames are remembered, so that pictures can be asked for."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """The referee's, to the ``number``-th sight."""

    number: int
    foresight: Foresight | None


@dataclass(frozen=True, slots=True)
class _Taken:
    """Pictures that were asked for."""

    pictures: list[Picture]


_ALIVE: Final = "alive"
_FINISH: Final = "finish"


class _GameOver(Exception):  # noqa: N818 - a way out, no error
    """Nobody wants to know any more."""


class _Child:
    """Looks until the referee hangs up."""

    def __init__(self, work: Work, pipe: Connection) -> None:
        self._work, self._pipe = work, pipe
        self._looker: Looker | None = None
        self._foresight: Foresight | None = None
        self._ring = PictureRing() if work.pictures else None
        self._number = 0

    def run(self) -> None:
        attempt = 0
        while True:
            # Nobody waits for a recording's next frame, so none of it need be thrown away.
            eyes = Eyes(self._work.camera, drop=self._work.live)
            eyes.start()
            try:
                saw = self._watch(eyes)
            finally:
                eyes.close()
            self._send(self._blind(eyes.words))
            attempt = 0 if saw else attempt + 1
            while not self._work.live and saw:
                self._idle(SIGN_OF_LIFE)
            self._idle(AGAIN[min(attempt + 1, len(AGAIN) - 1)])

    def _watch(self, eyes: Eyes) -> bool:
        """Look at frames until the camera has ended; returns whether there were any."""
        seen_at, lost, saw = time.monotonic_ns(), False, False
        while True:
            frame = eyes.next(SIGN_OF_LIFE)
            if frame is None:
                if eyes.ended:
                    return saw
                self._send(_ALIVE)
                self._hear(0)
                self._give(PICTURES)
                if not lost and time.monotonic_ns() - seen_at > (NO_FRAME if saw else OPENING):
                    lost = True
                    self._send(self._blind(eyes.words))
                continue
            seen_at, lost, saw = time.monotonic_ns(), False, True
            if self._looker is None:
                # What another watcher knew is older than the gap.
                self._looker = Looker(self._work.watcher())
            self._send(self._looker.look(frame, self._foresight))
            self._number += 1
            self._foresight = None
            # The sight is on its way, and its answer is not here yet.
            self._remember(frame)
            self._hear(ANSWER_WITHIN)

    def _remember(self, frame: Frame) -> None:
        if self._ring is not None:
            self._ring.add(frame.image, frame.t, frame.exposure)
            self._give(PICTURES)

    def _give(self, most: int) -> None:
        """Send pictures that were asked for, at most so many."""
        pictures = self._ring.take(most) if self._ring is not None else []
        if pictures:
            self._send(_Taken(pictures))

    def _hear(self, seconds: float) -> None:
        """Wait for the answer to the last sight; an older one is no answer."""
        until = time.monotonic() + seconds
        while self._pipe.poll(max(0.0, until - time.monotonic())):
            told = self._pipe.recv()
            if told == _FINISH:
                self._give(FINAL_PICTURES)
                self._send(self._blind(""))
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
            self._send(_ALIVE)
            self._hear(min(left, SIGN_OF_LIFE))
            self._give(PICTURES)

    def _blind(self, words: str) -> Blind:
        looker, self._looker = self._looker, None
        if looker is None:
            return Blind(words)
        seen = looker.finish()
        return Blind(words, seen, looker.watermark)

    def _send(self, message: Any) -> None:
        self._pipe.send(message)


def serve(work: Work, pipe: Connection) -> None:
    """The child's whole life: it ends when the other end of the pipe does."""
    # An interrupt is the referee's to handle: it hangs up.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    be_patient(NICE)
    try:
        _Child(work, pipe).run()
    except (_GameOver, EOFError, ConnectionError):
        return
    except UserError as bad:
        pipe.send(Blind(str(bad)))


class SightProcess:
    """The child, seen from the referee; implements `referee.app.sight.Sights`."""

    def __init__(self, work: Work, clock: Callable[[], float] = time.monotonic) -> None:
        """``clock`` answers seconds."""
        self._work, self._clock = work, clock
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._heard = self._again = 0.0
        self._awake = False
        self._number = self._falls = 0
        self._take: Callable[[Sequence[Picture]], None] = lambda _: None
        self.restarts = 0
        """How often the child had to be started again."""

    def start(self, ring: Callable[[], None]) -> None:
        """Begin. News comes through a pipe, so nobody rings."""
        del ring
        self._spawn()

    @property
    def pid(self) -> int | None:
        """The child's process."""
        return None if self._process is None else self._process.pid

    def waitables(self) -> Sequence[Connection]:
        """The pipe, while there is a child."""
        return () if self._pipe is None else (self._pipe,)

    def hand_to(self, take: Callable[[Sequence[Picture]], None]) -> None:
        """Pictures that come are handed to ``take``, in the thread that asks for news; it must not wait."""
        self._take = take

    def want(self, span: Span) -> None:
        """Ask for pictures of a stretch of the machine's time.

        Nothing comes of it where pictures are switched off, or where the child that saw the frames is gone.
        """
        if self._pipe is None or not self._work.pictures:
            return
        # A child that has just died is found by the next look at the pipe.
        with suppress(OSError):
            self._pipe.send(span)

    def news(self, recall: Recall) -> Iterator[News]:
        """What the child has told; starts it again where it has fallen."""
        if self._pipe is None:
            if self._clock() >= self._again:
                self.restarts += 1
                self._spawn()
            return
        while (told := self._next()) is not None:
            if isinstance(told, Sight):
                self._falls = 0
                self._number += 1
                yield told
                self._answer(recall())
            else:
                yield told
        if self.waitables() and self._clock() - self._heard > (SILENT if self._awake else WAKING):
            yield self._fell("the part that looks at the table does not answer; it is started again")

    def _next(self) -> News | None:
        """The next news that waits; None if none does."""
        while self._pipe is not None and self._pipe.poll():
            try:
                told = self._pipe.recv()
            except (EOFError, OSError, pickle.UnpicklingError):
                return self._fell("the part that looks at the table has stopped; it is started again")
            self._heard, self._awake = self._clock(), True
            if isinstance(told, Sight | Blind):
                return told
            self._hand_on(told)
        return None

    def _hand_on(self, told: object) -> None:
        """Hand pictures to whoever takes them."""
        if not isinstance(told, _Taken):
            return
        try:
            self._take(told.pictures)
        except Exception:  # a picture must never end a game
            _log.exception("pictures could not be taken")

    def _answer(self, foresight: Foresight | None) -> None:
        if self._pipe is None:
            return
        try:
            self._pipe.send(_Answer(self._number, foresight))
        except OSError:
            # It has just died: the next look at the pipe will say so.
            return

    def _spawn(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        # No daemon: a camera may need a process of its own beneath this one.
        self._process = context.Process(target=serve, args=(self._work, theirs), name="sight", daemon=False)
        self._process.start()
        theirs.close()
        self._number, self._heard, self._awake = 0, self._clock(), False

    def _fell(self, words: str) -> Blind:
        self._hang_up()
        self._again = self._clock() + AGAIN[min(self._falls, len(AGAIN) - 1)]
        self._falls += 1
        return Blind(words)

    def _hang_up(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
        if self._process is not None:
            self._process.kill()
        self._pipe = self._process = None

    def finish(self) -> tuple[Observation, ...]:
        """Ask what was still kept back; a child that does not answer within two seconds has nothing more to say."""
        if self._pipe is None:
            return ()
        seen: list[Observation] = []
        try:
            self._pipe.send(_FINISH)
            until = self._clock() + 2.0
            while self._pipe.poll(max(0.0, until - self._clock())):
                told = self._pipe.recv()
                self._hand_on(told)
                if isinstance(told, Sight | Blind):
                    seen += told.seen
                if isinstance(told, Blind) and not told.words:
                    break
        except (EOFError, OSError, pickle.UnpicklingError):
            pass
        return tuple(seen)

    def close(self) -> None:
        """Hang up; a child that does not go by itself is ended."""
        if self._pipe is not None:
            self._pipe.close()
        if self._process is not None:
            self._process.join(timeout=2.0)
        self._hang_up()
