"""The socket between page and main process: access to it, and that neither side hangs or breaks."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from referee.control.socket import (
    CALLER_PATIENCE,
    LONGEST_LINE,
    MOST_CALLERS,
    NO_GAME,
    SLOW,
    SOCKET_NAME,
    ControlError,
    ControlServer,
    ask_referee,
    private_folder,
    runtime_folder,
)
from tests.support.patience import PATIENCE
from tests.web.browser import Main


class Clocked:
    """A control server whose turns and time the test controls."""

    def __init__(self, folder: Path) -> None:
        self.clock = [0]
        self.heard: list[Any] = []
        self.saving = False
        """Whether the log's disk is taking what the last command did."""
        self.inlet = ControlServer(folder, self._handle, lambda: self.clock[0], lambda: self.saving)

    def _handle(self, asked: Any) -> Mapping[str, Any]:
        self.heard.append(asked)
        self.saving = asked == "write"
        if asked == "fail":
            raise RuntimeError("inside")
        return {"accepted": True, "words": "done" if asked != "odd" else {1, 2}}

    def call(self) -> socket.socket:
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        link.connect(str(self.inlet.path))
        link.settimeout(PATIENCE)
        return link

    def said(self, line: bytes) -> dict[str, Any]:
        with self.call() as link:
            link.sendall(line)
            self.inlet.turn()
            answer = json.loads(link.recv(LONGEST_LINE))
            assert isinstance(answer, dict)
            return answer


@pytest.fixture
def clocked(tmp_path: Path) -> Any:
    made = Clocked(tmp_path)
    yield made
    made.inlet.close()


def test_a_command_is_answered(clocked: Clocked) -> None:
    """One line there, one line back."""
    assert clocked.said(b'{"do":"pause"}\n') == {"accepted": True, "words": "done"}
    assert clocked.heard == [{"do": "pause"}]


def test_a_command_is_answered_once_the_disk_has_its_line(clocked: Clocked) -> None:
    """The next command waits until then, too; both callers are still served after a slow disk."""
    with clocked.call() as writing, clocked.call() as other:
        writing.sendall(b'"write"\n')
        other.sendall(b'"read"\n')
        writing.setblocking(False)
        clocked.inlet.turn()
        clocked.inlet.turn()
        assert clocked.heard == ["write"]
        with pytest.raises(BlockingIOError):
            writing.recv(1000)
        clocked.saving = False
        clocked.clock[0] = CALLER_PATIENCE - 1
        clocked.inlet.turn()
        assert clocked.heard == ["write", "read"]
        assert [json.loads(link.recv(1000))["accepted"] for link in (writing, other)] == [True, True]


def test_nobody_else_can_reach_the_socket(clocked: Clocked) -> None:
    """The folder is the user's own, and so is the socket."""
    assert clocked.inlet.path.stat().st_mode & 0o777 == 0o600
    assert clocked.inlet.path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "line", [b"\n", b"{\n", b"[" * 5000 + b"\n", b"\xff\xfe\n", b"nan nan\n", b'"fail"\n', b'"odd"\n']
)
def test_nonsense_is_answered_too(clocked: Clocked, line: bytes) -> None:
    """An internal failure does not end the loop."""
    answer = clocked.said(line)
    assert answer["accepted"] is False
    assert answer["words"]


def test_a_line_that_comes_in_pieces_is_put_together(clocked: Clocked) -> None:
    """Byte by byte, a turn between."""
    with clocked.call() as link:
        for byte in b'{"do":"undo"}\n':
            link.sendall(bytes([byte]))
            clocked.inlet.turn()
        assert json.loads(link.recv(1000))["accepted"]
    assert clocked.heard == [{"do": "undo"}]


def test_who_says_nothing_or_too_much_is_let_go(clocked: Clocked) -> None:
    """After two seconds, or beyond the longest line; the loop never waits."""
    with clocked.call() as silent:
        clocked.inlet.turn()
        clocked.clock[0] = CALLER_PATIENCE
        clocked.inlet.turn()
        assert silent.recv(10) == b""
    with clocked.call() as loud:
        loud.setblocking(False)
        sent = 0
        while sent <= LONGEST_LINE + 1:
            try:
                sent += loud.send(b"x" * 4096)
            except BlockingIOError:
                clocked.inlet.turn()
            except BrokenPipeError:
                break
        clocked.inlet.turn()
        clocked.inlet.turn()
        assert not clocked.inlet._callers
    assert not clocked.heard
    assert clocked.said(b"1\n")["accepted"]


def test_many_callers_are_served_some_at_a_time(clocked: Clocked) -> None:
    """The rest wait in the kernel."""
    links = [clocked.call() for _ in range(MOST_CALLERS)]
    for link in links:
        link.sendall(b"1\n")
    clocked.inlet.turn()
    assert all(json.loads(link.recv(1000))["accepted"] for link in links)
    for link in links:
        link.close()


def test_a_caller_that_is_gone_before_the_answer_hurts_nobody(clocked: Clocked) -> None:
    """Its command was executed all the same."""
    link = clocked.call()
    link.sendall(b'{"do":"pause"}\n')
    link.close()
    clocked.inlet.turn()
    clocked.inlet.turn()
    assert clocked.said(b"1\n")["accepted"]


def test_a_socket_left_behind_is_taken_over_and_one_in_use_is_not(tmp_path: Path) -> None:
    """After a power cut the file is still there."""
    left = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    left.bind(str(tmp_path / SOCKET_NAME))
    left.close()
    first = Clocked(tmp_path)
    with pytest.raises(ControlError, match="another referee"):
        ControlServer(tmp_path, lambda _: {})
    assert first.said(b"1\n")["accepted"]
    first.inlet.close()
    assert not (tmp_path / SOCKET_NAME).exists()


def test_the_page_says_that_no_game_is_running(tmp_path: Path) -> None:
    """No socket, a socket without a listener, an invalid answer."""
    with pytest.raises(ControlError, match=NO_GAME):
        asyncio.run(ask_referee(tmp_path / SOCKET_NAME, {"do": "pause"}))
    left = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    left.bind(str(tmp_path / SOCKET_NAME))
    left.close()
    with pytest.raises(ControlError, match=NO_GAME):
        asyncio.run(ask_referee(tmp_path / SOCKET_NAME, {"do": "pause"}))


def test_the_page_does_not_wait_for_ever(tmp_path: Path) -> None:
    """The main process is there and hangs."""
    clocked = Clocked(tmp_path)
    with pytest.raises(ControlError, match=SLOW.partition(";")[0]):
        asyncio.run(ask_referee(clocked.inlet.path, {"do": "pause"}, timeout=0.05))
    clocked.inlet.close()


def test_page_and_main_process_speak_through_the_real_socket(tmp_path: Path) -> None:
    """The page asks while the main process takes turns."""
    main = Main([0])
    inlet = ControlServer(tmp_path, main.desk, lambda: 0)

    async def turns() -> None:
        while True:
            inlet.turn()
            await asyncio.sleep(0)

    async def run() -> list[dict[str, Any]]:
        turning = asyncio.create_task(turns())
        records = [{"do": "pause"}, {"do": "fly"}, {"do": "pair", "code": "000000", "from": "phone"}, {"do": "pair"}]
        answers = [await ask_referee(inlet.path, record) for record in records]
        turning.cancel()
        return answers

    answers = asyncio.run(run())
    inlet.close()
    assert [answer["accepted"] for answer in answers] == [True, False, False, False]
    assert [command.do for command in main.commands] == ["pause"]


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    """A link to it as well."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(ControlError):
        private_folder(tmp_path / "link")
    (tmp_path / "file").touch()
    with pytest.raises(ControlError):
        private_folder(tmp_path / "file")
    (tmp_path / "open").mkdir(mode=0o755)
    assert private_folder(tmp_path / "open").stat().st_mode & 0o777 == 0o700


def test_a_folder_can_be_shared_with_a_group(tmp_path: Path) -> None:
    """As the service's two users do; not where any user may have made it, and other users enter it in no case."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o770)
    assert private_folder(folder).stat().st_mode & 0o777 == 0o770
    clocked = Clocked(folder)
    try:
        assert clocked.inlet.path.stat().st_mode & 0o777 == 0o660
        assert clocked.said(b'{"do":"pause"}\n') == {"accepted": True, "words": "done"}
    finally:
        clocked.inlet.close()
    folder.chmod(0o775)
    assert private_folder(folder).stat().st_mode & 0o777 == 0o700
    folder.chmod(0o770)
    tmp_path.chmod(0o777)
    assert private_folder(folder).stat().st_mode & 0o777 == 0o700


def test_where_sockets_live() -> None:
    """The service's folder, the user's, or one made for the user."""
    assert runtime_folder({"RUNTIME_DIRECTORY": "/run/referee", "XDG_RUNTIME_DIR": "/x"}) == Path("/run/referee")
    assert runtime_folder({"XDG_RUNTIME_DIR": "/run/user/5"}) == Path("/run/user/5/referee")
    assert runtime_folder({}).name == f"referee-{os.getuid()}"
