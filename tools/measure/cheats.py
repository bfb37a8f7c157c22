"""Twenty piles against each way to lie with a phone: ``python -m tools.measure.cheats`` (`make cheats`).

The whole program referees four phones that speak the pad page's own protocol over http, each with its own clock and
network; three are honest, and one lies (`tools.measure.cheating_phones`). The true instant of each hand is known: a
pile counts against the table where the liar won it for sure though another hand fell first by more than the ruling's
stated error. The report is a page, ``out/cheats/report.html``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from hardware.clock import boottime, monotonic
from referee.control.seat_codes import make_seat_codes, read_seat_codes
from referee.control.socket import SOCKET_NAME, ControlError, ask_referee
from referee.engine.observations import Card, Taken
from referee.engine.rulings import Ruling
from referee.text.catalogue import texts
from referee.text.ruling_lines import RulingWords
from referee.units import MS, SECOND
from tests.faults.told import Told
from tools.measure.cheating_phones import HONEST, LIES, AnothersHand, Hand, LastNights, Lie, Phone
from tools.measure.cheats_page import draw_report
from tools.measure.cheats_table import HEARD, NAMES

LIAR: Final = len(NAMES)
BEAT: Final = 200 * MS
"""Interval at which a page reports even without a touch, as `pad.js` does."""
PATIENCE: Final = 3 * SECOND
"""Longest wait for a verdict."""
_LATE: Final = 200 * MS
"""A pile counts only where each honest hand was reported within this time: else this machine was too busy."""
_DELAY: Final = 500 * MS
"""Largest delay of a verdict that a liar may cause."""
_TRIES: Final = 3
_RANKS: Final = "23456789T"
_NIGHT: Final = 20 * 3600 * SECOND


@dataclass
class Pile:
    """One pile: the hands that fell, and the rulings on them."""

    cards: tuple[int, int]
    """When its two cards lay."""
    hands: list[Hand] = field(default_factory=list)
    rulings: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    """When each was handed out."""
    stated: dict[int, tuple[int, int, bool]] = field(default_factory=dict)
    """By seat: the instants between which the table states that its hand came, and whether as late evidence."""
    stalled: bool = False
    """Whether the machine kept the table or its eye waiting meanwhile."""

    @property
    def first(self) -> Hand:
        """Return the hand that truly fell first."""
        return min(self.hands, key=lambda hand: hand.t)

    @property
    def verdict(self) -> tuple[int, dict[str, Any]] | None:
        """Return the first ruling on the winner, or the question who was first; None where none came."""
        return next(((at, ruling) for at, ruling in self.rulings if _decides(ruling)), None)

    @property
    def waited(self) -> int:
        """Return the time from the first hand to the verdict, ns; the whole patience where none came."""
        return PATIENCE if self.verdict is None else self.verdict[0] - self.first.t

    @property
    def is_wrong(self) -> bool:
        """Whether the liar won it for sure though another hand fell first by more than the stated error."""
        liar = next((hand for hand in self.hands if hand.seat == LIAR), None)
        won = [won_slap for _, won_slap in self.rulings if won_slap["ruling"] == "slap_won"]
        # The final ruling, once the pile is gone, names the error that holds for its first one, too.
        error = max((won_slap.get("error") or 0 for won_slap in won), default=0)
        for ruling in won:
            if ruling["seat"] == LIAR and ruling["decided_by"] != "people":
                others = [hand.t for hand in self.hands if hand.seat != LIAR]
                if liar is None or (others and liar.t - min(others) > error):
                    return True
        return False

    @property
    def was_asked(self) -> bool:
        """Whether people were asked for the first hand."""
        return any(ruling.get("ask") == "who_was_first" for _, ruling in self.rulings)

    def outcomes(self) -> list[str]:
        """Describe the outcome in words."""
        words = RulingWords(NAMES, texts("en"))
        kinds = ("slap_won", "dead_heat", "question")
        told = [words(_ruling(ruling)) for _, ruling in self.rulings if ruling["ruling"] in kinds]
        return list(dict.fromkeys(told)) or ["nothing was ruled"]

    @property
    def ruled(self) -> str:
        """Return its verdict in words."""
        return "" if self.verdict is None else RulingWords(NAMES, texts("en"))(_ruling(self.verdict[1]))

    @property
    def is_measured(self) -> bool:
        """Whether this machine reported all honest hands in time, and kept neither the table nor its eye waiting."""
        return not self.stalled and all(
            hand.heard is not None and hand.heard - hand.t <= _LATE for hand in self.hands if hand.seat != LIAR
        )


def _decides(one: dict[str, Any]) -> bool:
    return one["ruling"] == "slap_won" or one.get("ask") == "who_was_first"


@dataclass
class Played:
    """The results of one way to lie."""

    lie: Lie
    piles: list[Pile]
    told: list[str]
    """The table's words with the liar's name, the most telling first."""
    refused: list[str]
    """Refusals that the liar's own page received."""
    repeated: int
    """Piles that were played again because this machine was too busy."""
    strangers: int
    """Hands of others that the liar reported and that were ruled on."""
    accused: int
    """Troubles reported of honest phones while piles were played."""
    load: float

    @property
    def wronged(self) -> int:
        return sum(pile.is_wrong for pile in self.piles)

    @property
    def liar_first(self) -> int:
        """Piles whose first hand truly was the liar's."""
        return sum(pile.first.seat == LIAR for pile in self.piles)

    @property
    def asked(self) -> int:
        return sum(pile.was_asked for pile in self.piles)

    @property
    def late(self) -> int:
        """Hands of the liar that were named as late evidence."""
        return sum(pile.stated[LIAR][2] for pile in self.piles if LIAR in pile.stated)

    @property
    def honest_late(self) -> int:
        """Hands of the others that were named as late evidence."""
        return sum(late for pile in self.piles for seat, (_, _, late) in pile.stated.items() if seat != LIAR)

    @property
    def waits(self) -> list[int]:
        """Return the waits for the verdicts, the shortest first, ns."""
        return sorted(pile.waited for pile in self.piles)

    def delay(self, usual: Played) -> int:
        """Return by how much its longest wait exceeds that of an honest game, ns."""
        return max(0, self.waits[-1] - usual.waits[-1])

    @property
    def words(self) -> str:
        """Return the table's words on the liar; its own page's words where the table had none."""
        told = [f"“{words_said}”" for words_said in self.told[:1]] + [
            f"on its own page: “{words_said}”" for words_said in self.refused[:1]
        ]
        return "; ".join(told) or "inside what is stated anyway: no pile was too close" * self.lie.may_pass

    def misses(self, usual: Played) -> list[str]:
        """Return the requirements that it misses."""
        return [
            *[f"{self.wronged} piles were won unjustly"] * bool(self.wronged),
            *[f"{self.strangers} hands of others were made up"] * bool(self.strangers),
            *["a verdict was delayed by more than 0.5 s"] * (self.delay(usual) > _DELAY),
            *["nothing was reported of it"] * (not self.words and not self.lie.may_pass),
        ]


class Client:
    """A phone's page at work: reports five times a second and with each touch, over a network with delays."""

    def __init__(self, phone: Phone, port: int, rng: random.Random) -> None:
        self.phone, self._port, self._rng = phone, port, rng
        self._own = f"127.0.0.{10 + phone.seat}"
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.answered = 0

    async def run(self) -> None:
        """Run until cancelled."""
        beat = monotonic()
        try:
            while True:
                due = self.phone.due()
                until = beat if due is None else min(beat, due)
                await asyncio.sleep(max(0, until - monotonic()) / 1e9 if until > monotonic() else 0)
                if until > monotonic():
                    continue
                if len(self._tasks) >= 3:
                    await asyncio.sleep(0.005)
                    continue
                beat = monotonic() + BEAT
                task = asyncio.create_task(self._report(self.phone.report(monotonic())))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        finally:
            for task in self._tasks:
                task.cancel()
            for _, writer in self._idle:
                writer.close()

    async def _report(self, body: dict[str, Any]) -> None:
        await asyncio.sleep(self._rng.uniform(0.003, 0.025))
        try:
            answer = await asyncio.wait_for(self._post(body), 2)
        except (TimeoutError, OSError, asyncio.IncompleteReadError):
            return
        await asyncio.sleep(self._rng.uniform(0.003, 0.025))
        self.answered += bool(answer.get("accepted"))
        self.phone.hear(body, answer, monotonic())

    async def _post(self, body: dict[str, Any]) -> dict[str, Any]:
        link = self._idle.pop() if self._idle else await asyncio.open_connection(
            "127.0.0.1", self._port, local_addr=(self._own, 0)
        )  # fmt: skip
        reader, writer = link
        try:
            said, stays = await self._exchange(reader, writer, body)
        except BaseException:
            writer.close()
            raise
        if stays:
            self._idle.append(link)
        else:
            writer.close()
        return said

    async def _exchange(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: dict[str, Any]
    ) -> tuple[dict[str, Any], bool]:
        """Post a report; return the answer, and whether the connection stays."""
        sent = json.dumps(body).encode()
        host = f"localhost:{self._port}"
        head = (
            f"POST /api/pad HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nAccept-Language: en\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(sent)}\r\n\r\n"
        )
        writer.write(head.encode() + sent)
        got = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(got.partition("content-length:")[2].split("\r\n")[0])
        return json.loads(await reader.readexactly(length)), "connection: close" not in got


class Table:
    """The running program, and its announcements."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port, self.eye = folder, port, Told(folder)
        self._heard, self._at = folder / HEARD, 0
        self.turn: int | None = None
        self.words: list[tuple[int, str]] = []
        self.rulings: list[tuple[int, dict[str, Any]]] = []
        self.began = False
        self.stalled = 0
        """When the machine last kept the table or its eye waiting."""

    def listen(self) -> None:
        """Collect its announcements so far."""
        if not self._heard.exists():
            return
        with self._heard.open() as file:
            file.seek(self._at)
            for line in iter(file.readline, ""):
                if not line.endswith("\n"):
                    break
                self._at += len(line.encode())
                said = json.loads(line)
                self.turn = said["turn"] or self.turn
                self.began = self.began or "began" in said
                if "stalled" in said:
                    self.stalled = said["at"]
                if "words" in said:
                    self.words.append((said["at"], said["words"]))
                self.rulings += [(said["at"], ruling) for ruling in said.get("rulings", ())]

    async def until(self, is_so: Any, patience: int = PATIENCE) -> bool:
        """Wait for a condition, within a limit; return whether it became true."""
        end = monotonic() + patience
        while monotonic() < end:
            self.listen()
            if is_so():
                return True
            await asyncio.sleep(0.01)
        return False

    async def ask(self, **asked: Any) -> None:
        """Send a command as people do on the control page."""
        with suppress(ControlError):
            await ask_referee(self.folder / "run" / SOCKET_NAME, asked)


@contextmanager
def refereed(folder: Path) -> Iterator[Table]:
    """Run the program in a separate process, with a boot folder for it alone."""
    (folder / "run").mkdir(mode=0o700, exist_ok=True)
    environ = os.environ | {"RUNTIME_DIRECTORY": str(folder / "run"), "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1"}
    with (folder / "said.txt").open("w") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "tools.measure.cheats_table", str(folder)], env=environ, stdout=said,
            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            while "localhost:" not in (words := (folder / "said.txt").read_text()):
                time.sleep(0.1)
                if process.poll() is not None:
                    raise SystemExit(words)
            yield Table(folder, int(words.partition("localhost:")[2].partition("/")[0]))
        finally:
            process.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.wait(20)
            process.kill()


class Game:
    """Piles at one table, one after the other."""

    def __init__(self, table: Table, clients: Sequence[Client], lie: Lie, rng: random.Random) -> None:
        self.table, self.clients, self._lie, self._rng = table, clients, lie, rng
        self.phones = {client.phone.seat: client.phone for client in clients}
        self._laid = 0

    async def pile(self) -> Pile:
        """Play a pile: two equal cards, an honest hand first, later others; the liar's 20 to 500 ms later or before."""
        table, rng = self.table, self._rng
        rank = _RANKS[self._laid // 2 % len(_RANKS)]
        seat = table.turn or 1
        laid = []
        for suit in "hc":
            laid.append(monotonic())
            table.eye.happen(Card(t=laid[-1], card=rank + suit, seat=seat))
            self._laid += 1
            seat = seat % len(NAMES) + 1
            await asyncio.sleep(0.4)
        pile = Pile((laid[0], laid[1]))
        first = monotonic() + rng.randrange(60, 200) * MS
        honest = rng.sample(range(1, LIAR), 2)
        falls = {honest[0]: first}
        if rng.random() < 0.5:
            falls[honest[1]] = first + rng.randrange(30, 400) * MS
        liar = rng.randrange(20, 500) if rng.random() < 0.85 else -rng.randrange(60, 150)
        falls[LIAR] = first + liar * MS
        pile.hands = [self.phones[name].fall(t) for name, t in falls.items()]
        if self._lie.phone is AnothersHand:
            self.phones[LIAR].victim = self.phones[honest[1]].code
        begun = len(table.rulings)
        await asyncio.sleep(max(0, max(falls.values()) - monotonic()) / 1e9)

        def ruled() -> bool:
            pile.rulings = [(at, ruling) for at, ruling in table.rulings[begun:] if ruling["t"] >= laid[1]]
            return pile.verdict is not None

        await table.until(ruled, PATIENCE - (monotonic() - pile.first.t))
        if pile.verdict is not None and (asked := pile.verdict[1]).get("ask") == "who_was_first":
            await table.ask(do="answer", question=asked["id"], value=self._truth(pile))
            await table.until(
                lambda: ruled() and any(ruling["ruling"] == "slap_won" for _, ruling in pile.rulings), SECOND
            )
        pile.stalled = table.stalled >= laid[0]
        # Late messages are heard, too.
        await asyncio.sleep(0.35)
        table.listen()
        ruled()
        won = [ruling["seat"] for _, ruling in pile.rulings if ruling["ruling"] == "slap_won"]
        table.eye.happen(Taken(t=monotonic(), seat=won[-1] if won else pile.first.seat))
        turned = len(table.rulings)
        await table.until(lambda: len(table.rulings) > turned, SECOND)
        await asyncio.sleep(0.1)
        table.listen()
        ruled()
        return pile

    def _truth(self, pile: Pile) -> int:
        """Return which of the seats in the question was first."""
        heats = [ruling["seats"] for _, ruling in pile.rulings if ruling["ruling"] == "dead_heat"]
        there = [hand for hand in pile.hands if heats and hand.seat in heats[0]] or pile.hands
        return min(there, key=lambda hand: hand.t).seat


async def play(table: Table, lie: Lie, piles: int, seed: int, old: dict[int, str]) -> Played:
    """Play all piles of one case."""
    rng = random.Random(f"{seed} {lie.name}")
    await table.until(lambda: table.began, 120 * SECOND)
    codes = {code.seat: code.code for code in read_seat_codes(table.folder / "run")}
    phones = [Phone(seat, codes[seat], random.Random(rng.random())) for seat in range(1, LIAR)]
    code = old[LIAR] if lie.phone is LastNights else codes[LIAR]
    phones.append(lie.phone(LIAR, code, random.Random(rng.random())))
    clients = [Client(phone, table.port, random.Random(rng.random())) for phone in phones]
    tasks = [asyncio.create_task(client.run()) for client in clients]
    played: list[Pile] = []
    repeated = 0
    try:
        await table.until(
            lambda: all(client.answered >= 5 for client in clients[: LIAR - 1]) and table.turn is not None, 60 * SECOND
        )
        game = Game(table, clients, lie, rng)
        while len(played) < piles:
            pile = await game.pile()
            if not pile.is_measured and repeated < _TRIES * piles:
                repeated += 1
                continue
            played.append(pile)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    slaps = _slaps(table.folder / "game.jsonl")
    for pile in played:
        for hand in pile.hands:
            near = [
                slap for slap in slaps if slap["seat"] == hand.seat and pile.cards[1] <= slap["t"] <= hand.t + SECOND
            ]
            if near:
                felt = min(near, key=lambda felt_slap: abs(felt_slap["t"] - hand.t))
                pile.stated[hand.seat] = (
                    felt["t"] - felt["t_error"],
                    felt["t"] + felt["t_error"],
                    bool(felt.get("late")),
                )
    words = RulingWords(NAMES, texts("en"))
    # A notice that honest phones get as often, such as that the clock is not known yet, says nothing about a lie.
    counts = [
        Counter(_masked(text, seat) for _, text in table.words if _is_of(text, seat)) for seat in range(1, LIAR + 1)
    ]
    told = [
        text for _, text in table.words
        if _is_of(text, LIAR) and all(counts[-1][_masked(text, LIAR)] > c[_masked(text, LIAR)] for c in counts[:-1])
    ]  # fmt: skip
    told += [
        words(_ruling(ruling))
        for _, ruling in table.rulings
        if ruling["ruling"] == "dead_heat" and LIAR in ruling["seats"]
    ]
    begun = played[0].cards[0]
    accused = {
        text for at, text in table.words if at >= begun and text.startswith("pad ") and "works again" not in text
    }
    # No honest hand falls where it may not.
    strangers = len(
        {ruling["id"] for _, ruling in table.rulings if ruling["ruling"] == "slap_false" and ruling["seat"] != LIAR}
    )
    return Played(
        lie, played, list(dict.fromkeys(told)), list(dict.fromkeys(phones[-1].refused)), repeated, strangers,
        sum(NAMES[LIAR - 1] not in text for text in accused), os.getloadavg()[0],
    )  # fmt: skip


def _is_of(text: str, seat: int) -> bool:
    """Whether words concern this seat alone, and not that all is well again."""
    return [name for name in NAMES if name in text] == [NAMES[seat - 1]] and "works again" not in text


def _masked(text: str, seat: int) -> str:
    """Return the words about a seat, without its name."""
    return text.replace(NAMES[seat - 1], "…").replace(f"pad {seat}", "pad …")


def _slaps(log: Path) -> list[dict[str, Any]]:
    """Return the hands in the log."""
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines() if '"kind":"slap"' in line]
    return [{"t_error": 0, **line} for line in lines]


def _ruling(one: dict[str, Any]) -> Ruling:
    known = ("ruling", "id", "t", "because", "rule")
    fields = {key: value for key, value in one.items() if key not in known}
    return Ruling(one["ruling"], one["id"], one["t"], tuple(one["because"]), tuple(one["rule"]), fields)


def play_case(lie: Lie, piles: int, seed: int) -> Played:
    """Play one case in a separate program."""
    with tempfile.TemporaryDirectory(prefix="cheats-") as name:
        folder = Path(name)
        (folder / "run").mkdir(mode=0o700)
        seats = range(1, len(NAMES) + 1)
        last = make_seat_codes(
            folder / "run", dict.fromkeys(seats, ""), dict(zip(seats, NAMES, strict=True)), now=boottime() - _NIGHT
        )
        with refereed(folder) as table:
            return asyncio.run(play(table, lie, piles, seed, {code.seat: code.code for code in last}))


def played(lies: Sequence[Lie], piles: int, seed: int, at_once: int) -> Iterator[tuple[Played, Played]]:
    """Yield each case, after an honest game that was played beside it: a busy machine delays both."""
    for first in range(0, len(lies), at_once):
        with ThreadPoolExecutor(at_once + 1) as threads:
            batch = [HONEST, *lies[first : first + at_once]]
            usual, *cases = threads.map(partial(play_case, piles=piles, seed=seed + first), batch)
        for evening in cases:
            yield usual, evening


def show(one: Played, usual: Played) -> str:
    """Return a line of the table."""
    waits = one.waits
    return (
        f"{one.lie.name:34} n {len(one.piles):3}  first {one.liar_first:2}  won unjustly {one.wronged:2}  "
        f"asked {one.asked:2}  late {one.late:2}  others late {one.honest_late}  others' hands {one.strangers}  "
        f"others accused {one.accused}  "
        f"verdict after {waits[len(waits) // 2] / MS:4.0f} ms, at most {waits[-1] / MS:4.0f}, "
        f"honest {usual.waits[-1] / MS:4.0f}  again {one.repeated}  load {one.load:.0f}"
    )


def main() -> int:
    """Play every case; exit status 1 where one is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--piles", type=int, default=20, help="of each case (default: 20)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("out/cheats"), help="a folder for the report")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument(
        "--at-once", type=int, default=3, help="cases that are played beside an honest one (default: 3)"
    )
    args = parser.parse_args()
    lies, pairs = [lie for lie in LIES if args.only in lie.name], []
    for usual, evening in played(lies, args.piles, args.seed, args.at_once):
        pairs.append((usual, evening))
        print(show(evening, usual), flush=True)
        print(f"      {evening.words or 'nothing was reported'}", flush=True)
        for words in evening.misses(usual):
            print(f"      MISSED: {words}", flush=True)
    args.out.mkdir(parents=True, exist_ok=True)
    command = " ".join(["python -m tools.measure.cheats", *sys.argv[1:]])
    (args.out / "report.html").write_text(draw_report(pairs, command), encoding="utf-8")
    print(f"see {args.out / 'report.html'}")
    return int(any(evening.misses(usual) for usual, evening in pairs))


if __name__ == "__main__":
    sys.exit(main())
