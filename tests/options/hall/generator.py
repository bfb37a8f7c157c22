"""Many tables in one process: ``python -m tests.options.hall.generator PORT COUNT [FIRST]`` plays a recorded game.

At its pace; every table has its own connection with a last will, and publishes by a real table's code;
only its thread is shared. Ends when its standard input is closed, and then prints when each ruling was handed to the
connection: ``{table: [monotonic ns, …]}``, in the order of the rulings' numbers, which begin with 1.
"""

from __future__ import annotations

import asyncio
import heapq
import json
import sys
from typing import Final

from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion

from hardware.clock import monotonic
from referee.options.broker.messages import OFFLINE, ONLINE, Telling, Topics, encoded, wall_time
from referee.options.broker.service import PACE, Outbox, Tally
from tests.options.hall.performance import Performance, performance

SECOND: Final = 1_000_000_000
GOLDEN: Final = 0.618033988749895
"""Tables begin at fractions of the game that are spread evenly, whatever their number."""
BUNCH: Final = 50
"""Tables that have their turn before the sockets have theirs."""
LULL: Final = 2 * SECOND
"""Between a game and the next."""


class OneTable:
    """A table of the crowd."""

    def __init__(self, place: int, port: int, play: Performance) -> None:
        self.name = f"table-{place + 1:03}"
        self.sent: list[int] = []
        self._topics = Topics("referee", self.name)
        self._play, self._telling, self._tally, self._box = play, Telling("bench"), Tally(), Outbox()
        self._names = tuple(f"{name} {place + 1}" for name in play.names)
        self._game = 0
        self._at = int(len(play.moments) * (place * GOLDEN % 1))
        self.client = Client(CallbackAPIVersion.VERSION2, client_id=f"referee-{self.name}")
        self.client.will_set(self._topics.of("available"), OFFLINE, qos=1, retain=True)
        self.client.connect("127.0.0.1", port, 60)
        self._begin()

    def _begin(self) -> None:
        self._game += 1
        self._telling.begin(self._game, self._names)
        self._tally.begin(wall_time()[:10], self._game, self._names)

    def enter(self) -> None:
        """Announce the table."""
        self.client.publish(self._topics.of("available"), ONLINE, qos=1, retain=True)

    def play(self, now: int) -> int:
        """Publish the game's next event; return the time until the one after it, ns."""
        moment = self._play.moments[self._at]
        for ruling in moment.rulings:
            self._box.put(self._topics.of("ruling"), self._telling.ruling(ruling))
        if self._tally.take(moment.rulings):
            self._box.keep(self._topics.of("day"), self._tally.payload())
        self._box.keep(self._topics.of("state"), self._telling.state(moment.view))
        self.tell(now)
        self._at += 1
        if self._at < len(self._play.moments):
            return max(1, self._play.moments[self._at].t - moment.t)
        self._at = 0
        self._begin()
        return LULL

    def tell(self, now: int) -> None:
        """Send due messages."""
        for topic, payload, retain in self._box.take(now, 100):
            if not retain:
                self.sent.append(monotonic())
            self.client.publish(topic, encoded({**payload, "at": wall_time()}), qos=1, retain=retain)


def _joined(table: OneTable, loop: asyncio.AbstractEventLoop) -> None:
    """Let the event loop read and write the table's socket."""
    client, sock = table.client, table.client.socket()
    assert sock is not None
    loop.add_reader(sock.fileno(), client.loop_read)

    def writing(_client: Client, _data: object, on: object) -> None:
        loop.add_writer(on, client.loop_write)  # type: ignore[arg-type]

    def written(_client: Client, _data: object, on: object) -> None:
        loop.remove_writer(on)  # type: ignore[arg-type]

    client.on_socket_register_write, client.on_socket_unregister_write = writing, written


async def _play(tables: list[OneTable], over: asyncio.Event) -> None:
    due = [(monotonic() + place * SECOND // len(tables), place, True) for place in range(len(tables))]
    heapq.heapify(due)
    while not over.is_set():
        # The sockets get their turn even where the tables are behind.
        await asyncio.sleep(max(0, due[0][0] - monotonic()) / 1e9)
        for _ in range(min(BUNCH, len(due))):
            t, place, plays = due[0]
            if t > monotonic():
                break
            heapq.heappop(due)
            if plays:
                after = tables[place].play(monotonic())
                heapq.heappush(due, (t + after, place, True))
                heapq.heappush(due, (t + PACE, place, False))
            else:
                tables[place].tell(monotonic())


async def _alive(tables: list[OneTable]) -> None:
    while True:
        await asyncio.sleep(1)
        for table in tables:
            table.client.loop_misc()


async def crowd(port: int, count: int, first: int) -> dict[str, list[int]]:
    """Play until standard input ends; return when each ruling was sent."""
    loop, over, play = asyncio.get_running_loop(), asyncio.Event(), performance()
    tables = []
    for place in range(first, first + count):
        table = OneTable(place, port, play)
        _joined(table, loop)
        tables.append(table)
        await asyncio.sleep(0)
    for table in tables:
        table.enter()
    alive = asyncio.create_task(_alive(tables))
    loop.add_reader(sys.stdin.fileno(), over.set)
    print("playing", flush=True)
    await _play(tables, over)
    # Let pending messages arrive.
    await asyncio.sleep(1)
    alive.cancel()
    return {table.name: table.sent for table in tables}


def main() -> int:
    """Play and print."""
    port, count, *first = map(int, sys.argv[1:])
    print(json.dumps(asyncio.run(crowd(port, count, *first or (0,)))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
