"""The whole program with phones for pads, and an eye whose observations come from a file: run by
`tools.measure.cheats`.

``python -m tools.measure.cheats_table FOLDER``: record, page, orders, seat codes and the process that looks are those
of `referee run`; the camera's contents are written into the folder (`tests.faults.told`). The table's words, with their
times, go into ``heard.jsonl`` there.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from hardware.clock import monotonic
from referee.announce.sinks import Notice
from referee.control.socket import runtime_folder
from referee.engine.rulings import Ruling, encode_ruling
from referee.sentence import to_json
from referee.settings.model import Settings, parse_settings
from referee.table.devices import Openers
from referee.table.services import GameContext, TableService
from referee.table.session import Evening, open_services, typing_people
from referee.text.answers import in_language
from referee.text.catalogue import texts
from referee.units import MS
from referee.vision.eye_client import SightProcess
from referee.vision.process import Work
from referee.vision.sight import News, Recall
from tests.faults.told import Told
from tests.support.seeing import Switched

NAMES: Final = ("Ana", "Ben", "Cho", "Dan")
HEARD: Final = "heard.jsonl"


_STALL: Final = 500 * MS
"""An eye further behind than this waits for the machine, and no phone can be blamed for a late verdict."""


class NotedSights(SightProcess):
    """The looking process; notes up to which instant it has reported everything."""

    told = 0

    def news(self, recall: Recall) -> Iterator[News]:
        for news in super().news(recall):
            self.told = max(self.told, news.watermark or 0)
            yield news


class Heard(TableService):
    """Writes down the table's words with their times, and when the machine kept the table or its eye waiting."""

    name = "heard"
    needs_record = False

    def __init__(self, path: Path, sights: NotedSights) -> None:
        self._out, self._sights = path.open("a", buffering=1), sights
        self._game: GameContext | None = None
        self._last = 0

    def beat(self, now: int) -> None:
        at = monotonic()
        if self._sights.told and max(at - self._last, at - self._sights.told) > _STALL:
            self._note(stalled=True)
        self._last = at

    def begin_game(self, game: GameContext) -> None:
        self._game = game
        self._note(began=True)

    def take_rulings(self, rulings: Sequence[Ruling]) -> None:
        self._note(rulings=[json.loads(encode_ruling(ruling)) for ruling in rulings])

    def take_notice(self, notice: Notice) -> None:
        # As people read it, with their names.
        self._note(words=in_language(to_json(notice.words), texts("en"), NAMES)["words"])

    def _note(self, **said: Any) -> None:
        turn = None if self._game is None else self._game.conductor.view.turn
        self._out.write(json.dumps({"at": monotonic(), "turn": turn, **said}) + "\n")


def settings_of(folder: Path) -> Settings:
    """Return settings of four phones; with enough packs that deck memory never runs out of a card."""
    seats = "".join(f'[[seat]]\nname = "{name}"\npad = "phone"\n' for name in NAMES)
    given = parse_settings(
        "[pads]\nroll_call = false\n[lights]\nenabled = false\n[voice]\nenabled = false\n"
        f'[record]\nfile = "{folder / "games.db"}"\n[page]\nhost = "127.0.0.1"\nport = 0\n{seats}'
    )
    return given.model_copy(update={"rules": {"base": "classic", "set": {"S2": 8}}})


def main() -> int:
    """Referee until asked to stop."""
    folder = Path(sys.argv[1])
    # This closes everything, including the page's process.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    settings = settings_of(folder)
    with ExitStack() as stack:
        missing: dict[str, str] = {}
        orders, services = open_services(settings, (), stack, missing)
        typed = typing_people(services, stack)
        sights = NotedSights(Work(Switched(folder / "camera", every=0.05), Told(folder)))
        services.append(Heard(folder / HEARD, sights))
        evening = Evening(
            settings, services, orders=orders, openers=Openers(eye=lambda _: sights), typed=typed,
            log=folder / "game.jsonl", live=False, codes=runtime_folder(os.environ),
        )  # fmt: skip
        evening.play(missing)
    return 0


if __name__ == "__main__":
    sys.exit(main())
