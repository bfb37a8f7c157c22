"""The socket over which the page sends commands to the main process: one line of JSON there, one back.

A unix stream socket in a folder that only this user can enter or, if the page runs as a separate user, their common
group. The main process polls it between two turns of its loop (`ControlServer.turn`) and never waits for it; the page
waits for an answer (`ask_referee`), but not for long. Requests go to pairing, or to the game:

    desk = CommandDispatcher(Pairing(), obey)        # obey: Command -> Outcome, see `make_handler`
    server = ControlServer(folder, desk)             # and server.turn() once in each turn of the loop
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import stat
import struct
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hardware.clock import Clock, monotonic
from referee.control.commands import PAIRING, Command, CommandError, check_fields, parse_command
from referee.control.corrections import meet_command
from referee.control.facts import Accepted, Facts, Outcome, Refused
from referee.control.pairing_code import Pairing
from referee.engine.observations import LogError
from referee.sentence import Sentence, to_json
from referee.units import SECOND

SOCKET_NAME: Final = "control.sock"
LONGEST_LINE: Final = 128 << 10
"""Longest line, bytes."""
MOST_CALLERS: Final = 16
"""Connections served at a time; more wait in the kernel."""
CALLER_PATIENCE: Final = 2 * SECOND
"""Time that a connection has to send its line, or to take the answer, ns."""
_TIMEOUT: Final = 3.0
"""Time that the page waits for an answer, s."""
NO_GAME: Final = Sentence("no game is running, so nothing can be changed; start the referee")
STARTING: Final = Sentence("the referee is starting; the table hears you as soon as the game is on")
NOT_JSON: Final = Sentence("that is not JSON")
SLOW: Final = Sentence("the table did not answer; look at the scoreboard whether it was done before you try again")

Handler = Callable[[Any], Mapping[str, Any]]
"""Takes a request (any JSON), returns the answer: ``accepted``, words as JSON (`to_json`), and further fields."""


class ControlError(Exception):
    """The main process cannot be asked; ``words`` say why, and what to do."""

    def __init__(self, words: str) -> None:
        self.words = words
        super().__init__(words)


def runtime_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder for sockets of this boot: systemd's for the service, else the user's, or one made for the
    user."""
    for name, below in (("RUNTIME_DIRECTORY", ""), ("XDG_RUNTIME_DIR", "referee")):
        if environ.get(name):
            return Path(environ[name].partition(":")[0], below)
    return Path(tempfile.gettempdir(), f"referee-{_user()}")


def _user() -> int:
    """Return the user's id; 0 on systems without users, like their files' owner."""
    return os.getuid() if hasattr(os, "getuid") else 0


def private_folder(folder: Path) -> Path:
    """Return the folder, made if need be, closed to every other user except for a group that it is shared with.

    Raises:
        ControlError: it belongs to another user, or is no folder.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if is_shared(folder):
            return folder
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != _user():
            raise ControlError(f"{folder} is not a folder of this user; remove it, or name another one")
        folder.chmod(0o700)
    except OSError as error:
        raise ControlError(f"{folder} cannot be used ({error.strerror}); name another one") from None
    return folder


def is_shared(folder: Path) -> bool:
    """Return whether a folder is shared only with a group that this user is in.

    The service's two users share theirs so. Only the owner of the parent folder can have made it: in a folder that
    everyone may write to, a stranger's would look the same.
    """
    if not hasattr(os, "getgroups"):
        return False
    found, above = folder.lstat(), folder.parent.stat()
    return (
        stat.S_ISDIR(found.st_mode)
        and found.st_mode & 0o777 == 0o770
        and found.st_gid in (os.getegid(), *os.getgroups())
        and above.st_uid in (0, found.st_uid)
        and not above.st_mode & 0o022
    )


def let_in(made: Path) -> None:
    """Restrict a socket to the folder's owner, or to the group that the folder is shared with."""
    if is_shared(made.parent):
        os.chown(made, -1, made.parent.stat().st_gid)
        made.chmod(0o660)
    else:
        made.chmod(0o600)


@dataclass(slots=True)
class _Caller:
    """One connection: its request so far, or the rest of its answer."""

    link: socket.socket
    until: int
    heard: bytes = b""
    answer: bytes = b""


class ControlServer:
    """The main process' end.

    Args:
        folder: holds the socket; see `private_folder`.
        handle: takes each command, in the thread that calls `turn`. An exception is answered as an internal fault.
        clock: returns the present instant, ns.
        waits: whether the disk is still taking what the last command did: no command is handled or answered meanwhile.

    Raises:
        ControlError: the socket cannot be made, or another referee listens at it.
    """

    def __init__(
        self, folder: Path, handle: Handler, clock: Clock = monotonic, waits: Callable[[], bool] = lambda: False
    ) -> None:  # fmt: skip
        self.path = private_folder(folder) / SOCKET_NAME
        self._handle, self._clock, self._waits = handle, clock, waits
        self._callers: list[_Caller] = []
        self._listening = _listen(self.path)

    def turn(self) -> None:
        """Serve the connections that are ready; returns at once, and never raises."""
        now = self._clock()
        with contextlib.suppress(OSError):
            while len(self._callers) < MOST_CALLERS:
                link, _ = self._listening.accept()
                link.setblocking(False)
                if _is_ours(link, self.path.parent):
                    self._callers.append(_Caller(link, now + CALLER_PATIENCE))
                else:
                    link.close()
        for caller in tuple(self._callers):
            if self._waits():
                return
            try:
                done = self._serve(caller) or now >= caller.until
            except OSError:
                done = True
            if done:
                caller.link.close()
                self._callers.remove(caller)

    def _serve(self, caller: _Caller) -> bool:
        """Continue with one connection; return whether it is finished."""
        if not caller.answer:
            try:
                part = caller.link.recv(LONGEST_LINE)
            except BlockingIOError:
                return False
            caller.heard += part
            line, ended, _ = caller.heard.partition(b"\n")
            if not ended:
                return not part or len(caller.heard) > LONGEST_LINE
            caller.answer, caller.until = self._answer(line), self._clock() + CALLER_PATIENCE
            if self._waits():
                return False
        try:
            sent = caller.link.send(caller.answer)
        except BlockingIOError:
            return False
        caller.answer = caller.answer[sent:]
        return not caller.answer

    def _answer(self, line: bytes) -> bytes:
        try:
            asked = json.loads(line)
        except (ValueError, RecursionError):
            return _encoded({"accepted": False, **to_json(NOT_JSON)})
        try:
            return _encoded(self._handle(asked))
        except Exception as error:  # the game goes on whatever a command does
            words = Sentence("that failed inside the referee ({fault})", fault=type(error).__name__)
            return _encoded({"accepted": False, **to_json(words)})

    def close(self) -> None:
        """Stop listening."""
        for caller in self._callers:
            caller.link.close()
        self._callers.clear()
        self._listening.close()
        with contextlib.suppress(OSError):
            self.path.unlink()


def _encoded(answer: Mapping[str, Any]) -> bytes:
    return json.dumps(dict(answer), separators=(",", ":")).encode() + b"\n"


def _listen(path: Path) -> socket.socket:
    if not hasattr(socket, "AF_UNIX"):
        raise ControlError("this system has no Unix sockets, and so there is no page")
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if _answers(path):
            raise ControlError(f"another referee listens at {path}; stop it first")
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
        # Other users cannot enter the folder, so none can connect before the mode is set.
        listening.bind(str(path))
        let_in(path)
        listening.listen(MOST_CALLERS)
        listening.setblocking(False)
    except BaseException as error:
        listening.close()
        if isinstance(error, OSError):
            raise ControlError(f"{path} cannot be made ({error.strerror or error})") from None
        raise
    return listening


def _answers(path: Path) -> bool:
    """Return whether a process listens there; a socket left behind by a power cut refuses."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trial:
        try:
            trial.settimeout(0.2)
            trial.connect(str(path))
        except OSError:
            return False
    return True


def _is_ours(link: socket.socket, folder: Path) -> bool:
    """Return whether the peer runs as this user or as root, or in the group that the folder is shared with.

    On systems without peer credentials, the folder's permissions are the only check.
    """
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    said = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    # struct ucred: process, user, group.
    _, user, group = struct.unpack("3i", said)
    return user in (os.getuid(), 0) or (is_shared(folder) and group == folder.stat().st_gid)


async def ask_referee(path: Path, command: Mapping[str, Any], timeout: float = _TIMEOUT) -> dict[str, Any]:
    """Send a command from the page and return the answer.

    Raises:
        ControlError: no process listens, or no answer came within ``timeout`` seconds.
    """
    try:
        async with asyncio.timeout(timeout):
            reader, writer = await asyncio.open_unix_connection(path, limit=LONGEST_LINE)
            try:
                writer.write(_encoded(command))
                line = await reader.readline()
            finally:
                writer.close()
        answer = json.loads(line)
    except TimeoutError:
        raise ControlError(SLOW) from None
    except (OSError, ValueError):
        raise ControlError(NO_GAME) from None
    if not isinstance(answer, dict):
        raise ControlError(NO_GAME)
    return answer


Obey = Callable[[Command], Outcome]
"""Carries out a command, or refuses it."""
_LONGEST_ADDRESS: Final = 64
"""Longest address, characters."""


def make_handler(
    facts: Callable[[], Facts | None],
    name: Callable[[str], str],
    observe: Callable[..., None],
    order: Callable[[Command], str],
) -> Obey:
    """Return the function that carries out commands in a game.

    Args:
        facts: returns the present game; None if there is none.
        name: makes the id of a new line of a kind.
        observe: puts lines (`Observation`) into the log and has them judged; raises `LogError` if the log has ended.
        order: carries out requests that do not concern the log; returns why it cannot, else an empty string.
    """

    def obey(command: Command) -> Outcome:
        done = meet_command(command, facts(), name)
        if isinstance(done, Refused):
            return done
        if done.order is not None:
            words = order(done.order)
            return Refused(words) if words else done
        try:
            observe(*done.observations)
        except LogError as error:
            return Refused(error.problem)
        return done

    return obey


class CommandDispatcher:
    """Handles one record after the other; see `referee.control.socket.ControlServer`."""

    def __init__(
        self, pairing: Pairing, obey: Obey, clock: Clock = monotonic, state: Callable[[], Mapping[str, Any]] = dict
    ) -> None:
        """``state`` returns what the page shows but the record does not hold (``{"do": "state"}``)."""
        self.pairing = pairing
        self._obey, self._clock, self._state = obey, clock, state

    def __call__(self, asked: Any) -> Mapping[str, Any]:
        """Answer one record: ``accepted``, the words (`to_json`), and ``wait`` (s) until another try is possible."""
        try:
            if isinstance(asked, Mapping) and asked.get("do") == "pair":
                return self._pair(asked)
            if isinstance(asked, Mapping) and asked.get("do") == "code":
                digits = self.pairing.show(self._clock())
                return {"accepted": True, **to_json(Sentence("the code for another device is {digits}", digits=digits))}
            if isinstance(asked, Mapping) and asked.get("do") == "state":
                return {"accepted": True, **self._state()}
            done = self._obey(parse_command(asked))
        except CommandError as error:
            return {"accepted": False, **to_json(error.sentence)}
        return {"accepted": isinstance(done, Accepted), **to_json(done.words)}

    def _pair(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        code = check_fields(PAIRING, {"code": asked.get("code")})["code"]
        done = self.pairing.attempt(code, str(asked.get("from", ""))[:_LONGEST_ADDRESS], self._clock())
        if not done.wait:
            return {"accepted": done.accepted, **to_json(done.words)}
        return {"accepted": False, **to_json(done.words), "wait": -(-done.wait // SECOND), "status": 429}
