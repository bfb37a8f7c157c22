"""An evening of rendered games in real time whose camera, eye and page may be killed: for `tools.measure.kills`.

Everything is wired as at a real table: the eye opens the camera in a separate process, which draws the table
at each instant, so that it may be restarted in mid-game. The games follow each other in one referee, with one
record and one page. Each game's log, with the true events, is kept for scoring.
"""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, Final

import numpy as np

from hardware.camera.remote import RemoteCamera
from hardware.camera.spec import CameraSpec
from hardware.clock import monotonic
from hardware.ports import Camera, Frame
from hardware.simulated.devices.silent_speaker import RecordingSpeaker
from hardware.simulated.table.script import Script
from hardware.simulated.table.simulated_table import SimulatedTable
from referee.demo.demo_players import Players
from referee.demo.demo_table import PacedTable
from referee.demo.rendered_camera import CameraView
from referee.demo.score import on_script_time
from referee.demo.simulated_game import DemoOptions, script_of, settings_for, view_of
from referee.engine.observations import Observation
from referee.engine.rulings import Ruling
from referee.settings.model import Settings
from referee.table.session import Evening, open_services
from referee.units import SECOND
from tools.measure.gaps import stretches, what_passed

_SHARED: Final = Path("/dev/shm")
_GIVES_UP: Final = 30 * SECOND
_DAY: Final = 86_400 * SECOND
"""Players who stand still do so for a day."""


class LiveCamera:
    """The simulated camera at the present instant; implements `hardware.ports.Camera`.

    Args:
        view: file that holds the `CameraView`.
        start: name of the shared memory of `referee.demo.rendered_camera.WatchedCamera`.
        script: file that holds the current script, once there was another one.
        origin: the machine's instant from which the table's time is counted, ns.
    """

    def __init__(self, view: str, start: str, script: str, origin: int) -> None:
        self._view: CameraView = pickle.loads(Path(view).read_bytes())
        # Read as a file: a process that attaches to it would have it removed when it is killed.
        self._start, self._script, self._origin = _SHARED / start.lstrip("/"), Path(script), origin
        self._scripts, self._closed = 0, False
        self._table = SimulatedTable(self._view.script, self._view.fps, self._view.size, self._view.family)
        self._table.warm()

    def frames(self) -> Iterator[Frame]:
        """Yield a frame at each multiple of the frame time; one whose time has passed is left out, as a camera does."""
        gap = round(SECOND / self._view.fps)
        number = (monotonic() - self._origin) // gap + 1
        while not self._closed:
            due = number * gap
            time.sleep(max(0, self._origin + due - monotonic()) / SECOND)
            began = self._heed_script()
            at = min(max(0, due - began), self._table.duration) if began else 0
            exposure = self._table.exposure_ns
            yield Frame(self._table.scene.picture(at, number), due, exposure, number)
            number = max(number + 1, (monotonic() - self._origin) // gap)

    def _heed_script(self) -> int:
        """Draw another script, if there is one; return when the game began, ns, 0 before."""
        began, scripts, since = map(int, np.fromfile(self._start, np.int64, 3))
        if scripts != self._scripts:
            # A newly started process has drawn none of the earlier scripts.
            since = since if scripts == self._scripts + 1 else 0
            self._scripts = scripts
            self._table.follow(pickle.loads(self._script.read_bytes()), since)
        return began

    def close(self) -> None:
        """Stop drawing."""
        self._closed = True


def open_live(view: CameraView, start: str, script: Path, origin: int, told: Callable[[str], None]) -> Camera:
    """Open the camera in a separate process, as a real one is opened."""
    file = script.with_name("view")
    file.write_bytes(pickle.dumps(view))
    given = {"view": str(file), "start": start, "script": str(script), "origin": origin}
    return RemoteCamera(CameraSpec(f"{__name__}:LiveCamera", given), told=told)


class TruthfulPlayers(Players):
    """Players who can also say what passed in a gap, and give a game up in which the turn stays unknown."""

    still: int | None = None
    """Since when they have stood still though the game is not paused, ns."""
    gave_up = False

    def beat(self, now: int) -> None:
        """See `Players`."""
        super().beat(now)
        is_stuck = self._still_since is not None and self._game is not None and not self._game.conductor.paused
        self.still = (now if self.still is None else self.still) if is_stuck else None
        self.gave_up = self.still is not None and now - self.still > _GIVES_UP
        self.leaves = self.leaves or self.gave_up

    def truth_of(self, asked: Ruling, seats: set[int]) -> Any:
        """See `Players`."""
        if asked["ask"] == "unseen_gap":
            assert self._game is not None
            about, began = asked.get("about", ()), self.table.pads.began or 0
            lines = [on_script_time(line, began) for line in self._game.conductor.observations if line.id in about]
            stretch = stretches(lines).get(about[0])
            return None if len(about) > 1 or stretch is None else what_passed(self.table.script, asked, stretch)
        return super().truth_of(asked, seats)


class FollowedTable(PacedTable):
    """Remembers when its players took up the game from the referee."""

    def __init__(self, script: Script, view: CameraView, stack: ExitStack) -> None:
        super().__init__(script, view, stack, pictures=True, live=True, open_camera=open_live)
        self.resumed: list[int] = []

    def follow(self, script: Script, since: int) -> None:
        """See `DemoTable`."""
        super().follow(script, since)
        if script.duration < since + _DAY:
            self.resumed.append(since)


@dataclass(frozen=True, slots=True)
class Game:
    """One game: its truth, reports and rulings, all on the script's time line."""

    script: Script
    began: int
    """The machine's instant of the script's beginning, ns."""
    lines: tuple[Observation, ...]
    rulings: tuple[Ruling, ...]
    resumed: tuple[int, ...]
    """When the players, who had stood still, went on from the referee's state, ns."""
    troubles: dict[str, str]
    """Troubles that still stood at its end."""
    gave_up: bool = False
    """Whether people gave it up because the turn was unknown."""


def play(options: DemoOptions, settings: Settings, services: list[Any]) -> Game:
    """Play one game to its end."""
    script = script_of(options)
    settings = settings.model_copy(update={
        "seats": settings_for(script).seats, "rules": script.table.rules, "dealer": script.table.dealer,
        "voice": settings.voice.model_copy(update={"enabled": False}),
    })  # fmt: skip
    with ExitStack() as stack:
        origin = monotonic()
        table = FollowedTable(script, view_of(options, script), stack)
        players = TruthfulPlayers(table, options.max_cards)
        evening = Evening(
            settings, [*services, players],
            openers=table.openers(lambda clock: RecordingSpeaker(clock, keep=0)), live=False,
        )  # fmt: skip
        conductor = evening.play({}, new=True)
        began = table.pads.began or 0
        return Game(
            table.script, origin + began,
            tuple(on_script_time(line, began) for line in conductor.observations),
            tuple(on_script_time(ruling, began) for ruling in conductor.rulings),
            tuple(table.resumed),
            dict(conductor.troubles), players.gave_up,
        )  # fmt: skip


def main() -> None:
    """Play games until the time is over, and finish the current one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--seed", type=int, required=True, help="of the first game; the others count on")
    parser.add_argument("--cards", type=int, default=400, help="of a game, at most")
    parser.add_argument("--folder", type=Path, required=True, help="takes the record, and the games")
    parser.add_argument("--port", type=int, required=True, help="of the page")
    args = parser.parse_args()
    until = time.monotonic() + args.minutes * 60
    options = DemoOptions(seed=args.seed, max_cards=args.cards, live=False)
    settings = settings_for(script_of(options), args.folder / "record.db", port=args.port)
    with ExitStack() as stack:
        _, services = open_services(settings, (), stack, {})
        for number in count():
            if time.monotonic() >= until:
                break
            game = play(replace(options, seed=args.seed + number), settings, services)
            part = args.folder / f"game-{number}.part"
            part.write_bytes(pickle.dumps(game))
            part.rename(part.with_suffix(".pickle"))
