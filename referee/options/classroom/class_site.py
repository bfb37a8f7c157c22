"""The routes of a class.

Phones join by a code on the room's page, as they join a table; their hands, and those of keys in a browser, come from
pads that are pages (`hardware.pads.page_pads`). Pupils stay anonymous: a phone is given a nickname in its language.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from hardware.clock import Clock, monotonic
from referee.control.commands import CommandError, check_fields
from referee.control.page_address import PageAddress
from referee.control.seat_codes import SeatCode
from referee.options.classroom.class_lesson import FIRST_KEY, SCREEN, PhoneReport, ReactionLesson
from referee.options.classroom.class_pages import (
    draw_median,
    draw_notice,
    draw_phone,
    draw_results,
    draw_room,
    draw_stage,
    draw_trial,
    name_pupil,
)
from referee.options.classroom.pupils import PHONES, PhonePlaces
from referee.options.classroom.reaction_trials import write_trials_csv
from referee.sentence import to_json
from referee.text.answers import in_language
from referee.text.catalogue import Texts
from referee.text.catalogue import texts as texts_in
from referee.web import layout, pad_pages
from referee.web.api import Control
from referee.web.layout import page_texts
from referee.web.serving import make_get_routes, send_events

_log = logging.getLogger(__name__)
TRIAL: Final = "/api/trial"
"""The address at which phones that show the stimulus themselves report their trials."""
_ACT: Final = "/api/class"
_ACTS: Final = frozenset(("begin", "stop", "next", "forget"))
_FOLDER: Final = Path(__file__).parent / "static"
_PACE: Final = 0.01
"""Seconds between two checks for hands."""
_CALM: Final = 0.4
"""Minimum seconds between two drawings of the results for one viewer."""
_SILENT: Final = 10.0


@dataclass(slots=True)
class ClassSite:
    """The routes of a class."""

    lesson: ReactionLesson
    control: Control
    address: PageAddress
    codes: list[SeatCode]
    clock: Clock = monotonic
    closed: bool = False
    _places: PhonePlaces = field(init=False)
    _drawn: dict[str, tuple[int, str]] = field(default_factory=dict)
    """The last drawing of the results and its change count, by language."""

    def __post_init__(self) -> None:
        self._places = PhonePlaces(
            self.lesson.room, {place.code: place.seat for place in self.codes if place.seat in PHONES}
        )

    def routes(self) -> list[Route]:
        """Return the routes, for `referee.web.security.guard.Guard`."""
        shown = {
            "/": self.show, "/events": self.stream, "/join": self.join, "/join.svg": self.send_code,
            "/pad": self.show_pad, "/trial": self.show_trial, "/trials.csv": self.send_trials,
            "/static/{name}": self.send_file, "/static/cards/{name}": layout.send_card,
        }  # fmt: skip
        return [
            *make_get_routes(shown),
            Route(_ACT, self.act, methods=["POST"]),
            Route(TRIAL, self.report, methods=["POST"]),
            *self.control.routes(),
        ]

    async def show(self, request: Request) -> Response:
        """Show the room's page; opening it pairs this machine's own browser."""
        teaches = self._teaches(request)
        keys = [{"code": code.code, "key": code.key, "unseen": code.seat == SCREEN}
                for code in self.codes if code.seat >= FIRST_KEY]  # fmt: skip
        answer = draw_room(request, self.lesson, self.address, keys, teaches=teaches)
        if teaches and request.scope.get("referee.device") is None:
            self.control.admit(answer, "this computer")
        return answer

    async def stream(self, request: Request) -> Response:
        """Stream the changes of the room's page."""
        return send_events(self._events(page_texts(request).language))

    async def _events(self, language: str) -> AsyncIterator[bytes]:
        texts, now = texts_in(language), asyncio.get_running_loop().time
        stage, sent, drawn = -1, -1, 0.0
        quiet = now()
        yield b"retry: 1500\n\n"
        while not self.closed:
            lesson = self.lesson
            fresh: dict[str, str] = {}
            if stage != lesson.changes:
                stage = lesson.changes
                fresh["stage"] = draw_stage(lesson, texts)
            if sent != lesson.changes and now() - drawn >= _CALM:
                sent, drawn = lesson.changes, now()
                fresh["results"] = self._results(texts)
            if fresh:
                quiet = now()
                phase = "idle" if lesson.rounds is None else lesson.rounds.phase.value
                yield f"event: class\ndata: {json.dumps({'phase': phase, 'regions': fresh})}\n\n".encode()
            elif now() - quiet > _SILENT:
                quiet = now()
                yield b": still here\n\n"
            await asyncio.sleep(_PACE)

    def _results(self, texts: Texts) -> str:
        """Return the results, drawn once for all viewers of one language."""
        at, drawn = self._drawn.get(texts.language, (-1, ""))
        if at != self.lesson.changes:
            drawn = draw_results(self.lesson, texts)
            self._drawn[texts.language] = (self.lesson.changes, drawn)
        return drawn

    async def join(self, request: Request) -> Response:
        """Give a phone a place in the class."""
        code = self._places.hand_out(page_texts(request)("nickname.animals").split())
        if code is None:
            return draw_notice(request, "class.full", 503)
        return RedirectResponse(f"/{'trial' if self.lesson.rounds is None else 'pad'}#{code}", 303)

    async def send_code(self, _request: Request) -> Response:
        """Send the phones' address as a QR code."""
        return layout.qr_code(f"{self.address.room or self.address.here}join")

    async def show_pad(self, request: Request) -> Response:
        """Show the page of a phone that is a pad."""
        return pad_pages.draw_pad(request)

    async def show_trial(self, request: Request) -> Response:
        """Show the page of a phone that shows the stimulus itself."""
        return draw_phone(request)

    async def send_trials(self, request: Request) -> Response:
        """Send every trial of the lesson so far."""
        if not self._teaches(request):
            return draw_notice(request, "pad.here_only", 403)
        return layout.download(write_trials_csv(self.lesson.room.trials, self.lesson.kind), "trials.csv", layout.CSV)

    async def send_file(self, request: Request) -> Response:
        """Send styles and scripts."""
        return await layout.send_static(request, [_FOLDER])

    async def act(self, request: Request) -> JSONResponse:
        """Carry out the teacher's command."""
        texts = page_texts(request)
        try:
            do = json.loads(await request.body())["do"]
        except (ValueError, RecursionError, TypeError, KeyError):
            do = None
        if do not in _ACTS:
            return JSONResponse({"accepted": False, "words": texts("error.not_found"), "lang": texts.language}, 400)
        done = self.lesson.act(do, self.clock())
        words = texts("class.done" if done else "class.nobody")
        return JSONResponse({"accepted": done, "words": words, "lang": texts.language}, 200 if done else 409)

    async def report(self, request: Request) -> JSONResponse:
        """Take a phone's own trial."""
        texts = page_texts(request)
        try:
            said = check_fields(PhoneReport, json.loads(await request.body()))
        except CommandError as error:
            return JSONResponse({"accepted": False, **in_language(to_json(error.sentence), texts)}, 400)
        except (ValueError, RecursionError):
            return JSONResponse({"accepted": False, "words": texts("error.not_found")}, 400)
        device = self._places.find_device(said["code"])
        if device is None or self.lesson.rounds is not None:
            return JSONResponse({"accepted": False, "words": texts("class.no_place"), "lang": texts.language}, 409)
        answer = self.lesson.take_report(device, said)
        if answer is None:
            return JSONResponse({"accepted": False, "words": texts("class.full"), "lang": texts.language}, 409)
        room = self.lesson.room
        made, name = room.of(answer["pupil"]), name_pupil(room, answer["pupil"], texts)
        last = draw_trial(made[-1], answer["number"], texts) if made and "trial" in said else ""
        told = {"accepted": True, "words": "", "name": name, "said": last, "median": draw_median(made, texts)}
        return JSONResponse(told | answer)

    def names(self) -> list[str]:
        """Return the label of each seat's pad."""
        room = self.lesson.room
        at = {device: room.nicknames.get(pupil, str(pupil)) for device, pupil in room.pupils.items()}
        return [at.get(f"page {seat}", "?") for seat in range(1, SCREEN + 1)]

    @staticmethod
    def _teaches(request: Request) -> bool:
        return pad_pages.is_trusted(request, secure=False)

    def close(self) -> None:
        """End every viewer's stream."""
        self.closed = True

    async def go_on(self) -> None:
        """Check for hands repeatedly."""
        while True:
            try:
                self.lesson.look(self.clock())
            except Exception:
                # Without checks the lesson would freeze; so log the error and go on.
                _log.exception("looking at what hands did")
            await asyncio.sleep(_PACE)
