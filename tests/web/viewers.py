"""Viewers of a page in a separate process: ``python -m tests.web.viewers ADDRESS COUNT``.

Prints ``ready`` once each has the whole present, and, when its standard input ends, each one's number of events.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final, Self

from tests.support.patience import PATIENCE

ROOT: Final = Path(__file__).parents[2]
EACH: Final = 5
"""Streams from one address, below the guard's limit."""


class Viewers:
    """The process, from the measuring side."""

    def __init__(self, port: int, count: int) -> None:
        """Start it; a caller that must not block polls `ready`."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.web.viewers", str(port), str(count)], cwd=ROOT, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1,
        )  # fmt: skip

    def wait(self) -> Self:
        """Wait until each has the whole present; raises `RuntimeError` where that does not happen."""
        assert self._process.stdout is not None
        if self._process.stdout.readline().strip() != "ready":
            raise RuntimeError("the viewers were not let in")
        return self

    def close(self) -> int:
        """Close it; return the smallest number of events sent to a viewer."""
        said, _ = self._process.communicate()
        return int(said.split()[-1]) if said.split() else 0


async def _watch(port: int, place: int, seen: list[int], whole: asyncio.Event) -> None:
    own = f"127.0.0.{2 + place // EACH}"
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(own, 0), limit=1 << 22)
    language = ("en", "es", "de", "fr")[place % 4]
    writer.write(
        f"GET /events?lang={language} HTTP/1.1\r\nHost: localhost:{port}\r\nAccept: text/event-stream\r\n\r\n".encode()
    )
    try:
        while line := await reader.readline():
            if line.startswith(b"data: "):
                seen[place] += 1
                whole.set()
    finally:
        writer.close()


async def _main(port: int, count: int) -> None:
    seen, whole = [0] * count, [asyncio.Event() for _ in range(count)]
    tasks = [asyncio.create_task(_watch(port, place, seen, whole[place])) for place in range(count)]
    await asyncio.wait_for(asyncio.gather(*(event.wait() for event in whole)), PATIENCE)
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    print(min(seen))


if __name__ == "__main__":
    # Ctrl-C is for the measuring process, which closes our standard input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(_main(int(sys.argv[1]), int(sys.argv[2])))
