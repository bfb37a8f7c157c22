"""The referee's side of the vision process, so that the referee never waits for a picture.

The child (`referee.vision.process`) opens the camera, looks at each frame and sends its observations. The referee
answers each sight with its foresight (`referee.vision.sight` says why). The child runs at lower priority, so that a
busy eye does not delay the light for a hand. A child that dies or falls silent is restarted and counts as a lost camera
meanwhile; if the machine has no free process or file descriptor, the start is retried.
"""

from __future__ import annotations

import logging
import multiprocessing
import pickle
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from hardware.child import BackOff
from hardware.orphans import marked
from referee.engine.observations import Observation
from referee.sentence import Sentence
from referee.units import SECOND
from referee.vision.message_pipe import MessagePipe
from referee.vision.picture_buffer import Span
from referee.vision.process import FINISH, Failed, ForesightAnswer, PicturesTaken, Work, serve
from referee.vision.sight import Blind, News, Recall, Sight

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

    from referee.record.pictures import Picture

_SILENT: Final = 5.0
"""Minimum of `SightProcess.patience`, seconds."""
_SILENT_RECORDED: Final = 120.0
"""The same for a recording: nothing at the table waits for it, and a busy machine is slow but does not hang."""
_SLOWNESS: Final = 2.0
"""A look may take this multiple of the time to the child's first message, in which it loads its networks."""
_WAKING: Final = 90.0
"""Seconds allowed until the child's first message: it loads the eye."""

_SILENT_WORDS: Final = Sentence("the part that looks at the table does not answer; it is started again")
_STOPPED_WORDS: Final = Sentence("the part that looks at the table has stopped; it is started again")

_log = logging.getLogger(__name__)

Start = Callable[[Work, socket.socket], "BaseProcess"]
"""Starts a child at its end of the pipe; raises `OSError` if no process is available."""


def start_child(work: Work, link: socket.socket) -> BaseProcess:
    """Start a process that does the work."""
    # Not a daemon: a camera may need a child process of its own.
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(work, link), name="sight", daemon=False)
    with marked():
        process.start()
    return process


class SightProcess:
    """The child as seen by the referee; implements `referee.vision.sight.Sights`."""

    def __init__(self, work: Work, clock: Callable[[], float] = time.monotonic, start: Start = start_child) -> None:
        """``clock`` returns seconds."""
        self._work, self._clock, self._start = work, clock, start
        self._process: BaseProcess | None = None
        self._pipe: MessagePipe | None = None
        self._unstarted = ""
        """Why the last start failed, until it is reported."""
        self._heard = 0.0
        self._awake = False
        self._number = self._answered = 0
        """Number of the child's last sight, and of the last one that was answered."""
        self._back_off = BackOff()
        self._last_words = ""
        """The reason that the child gave for its end; empty: none yet."""
        self._take: Callable[[Sequence[Picture]], None] = lambda _: None
        self._least = _SILENT if work.live else _SILENT_RECORDED
        self.patience = self._least
        """Seconds without a message after which the child counts as hung."""
        self.restarts = 0
        """Number of restarts."""

    def start(self, ring: Callable[[], None]) -> None:
        """Start the child. News comes through a pipe, so ``ring`` is unused."""
        del ring
        self._spawn()

    @property
    def pid(self) -> int | None:
        """Process id of the child."""
        return None if self._process is None else self._process.pid

    def waitables(self) -> Sequence[MessagePipe]:
        """Return the pipe while there is a child."""
        return () if self._pipe is None else (self._pipe,)

    def hand_to(self, take: Callable[[Sequence[Picture]], None]) -> None:
        """Pass pictures to ``take``, in the thread that asks for news; it must not block."""
        self._take = take

    def want(self, span: Span) -> None:
        """Request the pictures of a span of the machine's time.

        This is a no-op if pictures are switched off; a span seen by a child that has since ended yields none.
        """
        if self._pipe is None or not self._work.pictures:
            return
        with suppress(OSError):
            self._pipe.send(span)

    def news(self, recall: Recall) -> Iterator[News]:
        """Yield the child's news, and restart the child if it has died."""
        if self._back_off.is_due(self._now()):
            self.restarts += 1
            self._spawn()
        # A caller that left an earlier iteration early still owes its answer, and a recording waits for it.
        self._answer(recall)
        if self._unstarted:
            words, self._unstarted = self._unstarted, ""
            yield self._fell(words)
        while (told := self._next()) is not None:
            if isinstance(told, Sight):
                self._back_off.works(self._now())
                self._number += 1
                yield told
                self._answer(recall)
            else:
                yield told
        if self._pipe is not None and self._clock() - self._heard > (self.patience if self._awake else _WAKING):
            yield self._fell(_SILENT_WORDS)

    def _answer(self, recall: Recall) -> None:
        """Answer the last sight with the foresight, once."""
        if self._answered == self._number:
            return
        self._answered = self._number
        foresight = recall()
        # The next poll of the pipe finds a child that has just died.
        with suppress(OSError):
            if self._pipe is not None:
                self._pipe.send(ForesightAnswer(self._number, foresight))

    def _next(self) -> News | None:
        """Return the next waiting news; `None`: there is none."""
        while self._pipe is not None and self._pipe.poll():
            try:
                told = self._pipe.recv()
            except (EOFError, OSError, pickle.UnpicklingError):
                return self._fell(self._last_words or _STOPPED_WORDS)
            if not self._awake:
                self.patience = max(self._least, _SLOWNESS * (self._clock() - self._heard))
            self._heard, self._awake = self._clock(), True
            if isinstance(told, Sight | Blind):
                return told
            self._hand_on(told)
        return None

    def _hand_on(self, told: object) -> None:
        """Pass pictures to the registered callback; keep the child's last words."""
        if isinstance(told, Failed):
            self._last_words = told.words
        if not isinstance(told, PicturesTaken):
            return
        try:
            self._take(told.pictures)
        except Exception:  # a picture must never end a game
            _log.exception("pictures could not be taken")

    def _spawn(self) -> None:
        self._back_off.begin()
        self._number = self._answered = 0
        self._heard, self._awake, self._last_words = self._clock(), False, ""
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:
            self._unstarted = _unstarted(error)
            return
        self._pipe = MessagePipe(ours, patient=False)
        try:
            self._process = self._start(self._work, theirs)
        except OSError as error:
            self._hang_up()
            self._unstarted = _unstarted(error)
        finally:
            # The child holds its own copy of this end; ours would keep the pipe open after its death.
            theirs.close()

    def _fell(self, words: str) -> Blind:
        self._hang_up()
        self._back_off.fall(self._now())
        return Blind(words)

    def _now(self) -> int:
        return round(self._clock() * SECOND)

    def _hang_up(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
        if self._process is not None:
            self._process.kill()
        self._pipe = self._process = None

    def finish(self) -> tuple[Observation, ...]:
        """Request the observations still held back; a child silent for two seconds has none."""
        if self._pipe is None:
            return ()
        seen: list[Observation] = []
        try:
            self._pipe.send(FINISH)
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
        """Close the pipe; a child that does not exit on its own is killed."""
        if self._pipe is not None:
            self._pipe.close()
        if self._process is not None:
            self._process.join(timeout=2.0)
        self._hang_up()


def _unstarted(bad: OSError) -> str:
    """Return the reason: the system is out of files or processes, usually for a while."""
    return Sentence(
        "the part that looks at the table cannot be started ({why}); it is tried again: close other programs, or "
        "switch the machine off and on",
        why=bad.strerror or bad,
    )
