"""Viewers of a page in a separate process: ``python -m tests.web.viewers PORT COUNT [replays]``.

Prints ``ready`` once each has the whole present, and, when its standard input ends, how many replays they loaded
together and the smallest number of events that one was sent. With ``replays`` each loads the replay of each last slap,
a second after it was shown.
"""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final, Self

from tests.support.patience import PATIENCE

ROOT: Final = Path(__file__).parents[2]
EACH: Final = 5
"""Streams from one address, below the guard's limit."""
_SLAP: Final = re.compile(rb"/games/(\d+)/finish\?slap=([\w.-]+)")


class Viewers:
    """The process, from the measuring side."""

    def __init__(self, port: int, count: int, *, replays: bool = False) -> None:
        """Start it; a caller that must not block polls `ready`."""
        self.replays = 0
        """Number of replays that they loaded, once they are closed."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.web.viewers", str(port), str(count), *(["replays"] if replays else [])],
            cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1,
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
        self.replays, events = map(int, said.split()[-2:]) if said.split() else (0, 0)
        return events


async def _load(port: int, own: str, game: str, slap: str, loaded: list[int]) -> None:
    await asyncio.sleep(1)
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(own, 0))
    path = f"/games/{game}/instant-replay?slap={slap}"
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n".encode())
    answer = await reader.read()
    loaded.append(len(answer) * answer.startswith(b"HTTP/1.1 200"))
    writer.close()


async def _watch(port: int, place: int, seen: list[int], whole: asyncio.Event, loaded: list[int] | None) -> None:
    latest, loading = b"", set[asyncio.Task[None]]()
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
                if loaded is not None and (slap := _SLAP.search(line)) and slap[0] != latest:
                    latest = slap[0]
                    if whole.is_set():
                        loading.add(asyncio.create_task(_load(port, own, slap[1].decode(), slap[2].decode(), loaded)))
                whole.set()
    finally:
        writer.close()


async def _main(port: int, count: int, replays: bool) -> None:
    loaded = list[int]()
    seen, whole = [0] * count, [asyncio.Event() for _ in range(count)]
    tasks = [
        asyncio.create_task(_watch(port, place, seen, whole[place], loaded if replays else None))
        for place in range(count)
    ]
    await asyncio.wait_for(asyncio.gather(*(event.wait() for event in whole)), PATIENCE)
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    print(sum(length > 0 for length in loaded), min(seen))


if __name__ == "__main__":
    # Ctrl-C is for the measuring process, which closes our standard input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(_main(int(sys.argv[1]), int(sys.argv[2]), "replays" in sys.argv))
