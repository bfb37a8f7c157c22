"""Other programs at the record of a running game: each is refused in words, and the game loses nothing.

``python -m tests.record.intrusions 200`` runs one `referee run`, pauses and resumes it all the time, and at
random instants begins a second one, removes a game, imports a log or restores a backup: that many times.
"""

from __future__ import annotations

import io
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from referee.cli import main as referee
from referee.record.backup import open_backup
from referee.record.store import Record
from tests.record.playing import add_game, game_lines
from tests.support.patience import PATIENCE
from tests.table.test_systemd_process import Listener, write_table

AT: Final = "2026-01-02T03:04:05+00:00"
A_WHILE: Final = 0.02
"""Longest time between an order at the running table and the next intrusion, s."""
REFUSED: Final = re.compile(
    r"referee: \S+ is in use by referee run, process (\d+), since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d: "
    r"stop that first; nothing was changed\n"
)


@dataclass(slots=True)
class Toll:
    """The results of all intrusions."""

    tried: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    """Intrusions that were not refused in one line that names the holder; and failed backups."""
    lost: int = 0
    """Lines that the running game wrote and that are not in its record."""
    kept: int = 0
    """Lines of the running game."""
    ended: int = 0
    """Games that were ended, removed or added."""

    @property
    def well(self) -> bool:
        """Whether nothing went wrong."""
        return not (self.wrong or self.lost or self.ended)


def _call(words: list[str]) -> tuple[int, str]:
    """Run one command in this process; return its exit status and standard error."""
    told = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(told):
        status = referee(words)
    return status, told.getvalue()


@contextmanager
def _running(table: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Yield the referee at this table, ready; it leaves when its standard input ends with ``quit``."""
    folder = table.parent
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as inbox:
        inbox.bind(str(folder / "notify"))
        inbox.settimeout(1)
        environ = {**os.environ, "NOTIFY_SOCKET": str(folder / "notify"), "OMP_NUM_THREADS": "1",
                   "XDG_CACHE_HOME": str(folder), "RUNTIME_DIRECTORY": str(folder / "run")}  # fmt: skip
        command = [sys.executable, "-m", "referee", "run", "--settings", str(table), "--log", str(folder / "log.jsonl")]
        with subprocess.Popen(
            command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            try:
                Listener(inbox, process).until("READY=1")
                yield process
            finally:
                process.kill()


def intrude(count: int, seed: int = 1) -> Toll:
    """Play, and disturb a number of times."""
    chance, toll = random.Random(seed), Toll()
    with tempfile.TemporaryDirectory(prefix="intrusions-") as name:
        folder = Path(name)
        table, record, saved, log = (folder / file for file in ("table.toml", "record.db", "saved.zip", "other.jsonl"))
        write_table(table)
        table.write_text(f'record.file = "{record}"\n' + table.read_text())
        add_game(record, ["Cho", "Dan"], AT)
        log.write_text("\n".join(game_lines(["Eve", "Fay"])) + "\n")
        beside = ["--record", str(record)]
        places = [*beside, "--settings", str(table)]
        assert _call(["backup", str(saved), *places])[0] == 0
        kinds = {
            "run": ["run", "--settings", str(table)],
            "run --new": ["run", "--settings", str(table), "--new"],
            "play": ["play", "--settings", str(table), "--no-browser"],
            "remove": ["games", "--remove", "1", *beside],
            "remove what is played": ["games", "--remove", "2", *beside],
            "import": ["games", "--import", str(log), *beside],
            "restore": ["restore", str(saved), "--yes", *places],
            "backup": ["backup", str(folder / "beside.zip"), *places],
        }
        with _running(table) as process:
            assert process.stdin is not None
            for number in range(count):
                process.stdin.write(b"pause\n" if number % 2 == 0 else b"resume\n")
                process.stdin.flush()
                time.sleep(chance.uniform(0, A_WHILE))
                kind = list(kinds)[number % len(kinds)]
                status, told = _call(kinds[kind])
                toll.tried[kind] += 1
                found = REFUSED.fullmatch(told)
                if kind == "backup":
                    with open_backup(folder / "beside.zip") as (_, manifest):
                        fine = status == 0 and manifest.games == 2
                else:
                    fine = status == 2 and found is not None and int(found[1]) == process.pid
                if not fine:
                    toll.wrong.append(f"{kind}: {status} {told}")
            process.stdin.write(b"quit\n")
            process.stdin.close()
            process.wait(PATIENCE)
        written = [line for line in (folder / "log.jsonl").read_text().splitlines() if not _is_tick(line)]
        with Record(record, read_only=True) as opened:
            kept = [text for _, text in opened.lines(2) if not _is_tick(text)]
            games = [(info.id, info.ended) for info in opened.games()]
        toll.kept = len(kept)
        toll.lost = len(written) - len(kept) if kept == written[: len(kept)] else len(written)
        toll.ended = int(games != [(2, None), (1, AT)])
    return toll


def _is_tick(line: str) -> bool:
    return bool(json.loads(line).get("kind") == "tick")


def main() -> int:
    """Intrude, and report; exit status 1 if anything was lost."""
    toll = intrude(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
    tried = ", ".join(f"{many} × {kind}" for kind, many in toll.tried.items())
    print(f"{sum(toll.tried.values())} intrusions into a running game of {toll.kept} lines: {tried}")
    print(f"  lines lost                               required 0   measured {toll.lost}")
    print(f"  games ended, removed or added            required 0   measured {toll.ended}")
    print(f"  not refused in words, or no backup       required 0   measured {len(toll.wrong)}")
    print("".join(f"  {words}\n" for words in toll.wrong[:12]), end="")
    return int(not toll.well)


if __name__ == "__main__":
    sys.exit(main())
