"""`referee play`: the wizard in a browser, from a laptop on the table to the first card; and then the game.

This machine, and devices paired with the code in the terminal, may see the page. `referee.setup.wizard_runner` provides
the wizard's state; pads and pairing are the page's own (`referee.web`).
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from hardware.clock import monotonic
from referee.control.commands import Command
from referee.control.corrections import meet_command
from referee.control.facts import Outcome, Refused
from referee.control.page_address import address_of, listen_at, open_browser
from referee.control.pairing_code import Pairing
from referee.control.seat_codes import begin_evening, call_in, hand_on, read_seat_codes
from referee.control.socket import NO_GAME, NOT_JSON, CommandDispatcher, private_folder, runtime_folder
from referee.sentence import to_json
from referee.settings.file import new_settings, read_settings, replace_file
from referee.settings.places import RECORD, earlier_record, record_at
from referee.setup.bench import Bench
from referee.setup.evening_steps import EVENING, FIRST_START
from referee.setup.left_game import LeftGames
from referee.setup.wizard import Wizard
from referee.setup.wizard_runner import WizardRunner
from referee.text.answers import in_language
from referee.text.catalogue import Texts
from referee.text.terminal_language import here, translate
from referee.web import layout, pad_pages
from referee.web.api import Control
from referee.web.board import Board
from referee.web.control_page import answer_line, said_to_scripts
from referee.web.events import Hub
from referee.web.games_cache import GameCache
from referee.web.layout import page, page_texts
from referee.web.markup import tag
from referee.web.security.guard import Guard
from referee.web.security.hosts import Hosts
from referee.web.serving import SiteServer, make_get_routes
from referee.web.site import Site

_LONGEST: Final = 64_000
"""Maximum length of an answer, characters: it may be a file of house rules."""


def leave_earlier_record(path: Path) -> None:
    """Let games go into the one record from now on, where the settings still name the one of an earlier version.

    Raises `SettingsError`: they are wrong.
    """
    known = read_settings(path)
    if known.settings.record.file == str(earlier_record(path)):
        replace_file(path, known.changed({"record.file": RECORD}).text.encode("utf-8"))


class WizardSite:
    """The routes of the wizard."""

    def __init__(self, runner: WizardRunner, bench: Bench, control: Control, site: Site) -> None:
        self._runner, self._bench, self._control, self._site = runner, bench, control, site

    def routes(self) -> list[Route]:
        """Return the routes, for `referee.web.security.guard.Guard`."""
        pads = {
            "/pad": pad_pages.show_pad,
            "/pads": pad_pages.show_pads,
            "/pads/{seat:int}.svg": pad_pages.send_pad_code,
        }
        shown = {
            "/": self.lead, "/play": self.show, "/wizard.json": self.send_state, "/look.jpg": self.send_picture,
            "/static/{name}": layout.send_static, "/static/cards/{name}": layout.send_card,
        }  # fmt: skip
        return [
            *make_get_routes(shown),
            *make_get_routes({path: partial(handler, self._site) for path, handler in pads.items()}),
            Route("/api/wizard", self.say, methods=["POST"]),
            *self._control.routes(),
        ]

    async def lead(self, _request: Request) -> Response:
        """Redirect to the wizard."""
        return RedirectResponse("/play", 303)

    async def show(self, request: Request) -> HTMLResponse:
        """Show the wizard's page; opening it pairs this machine's own browser."""
        texts = page_texts(request)
        self._site.hub.board = Board(names=[seat.name for seat in self._runner.wizard.draft.settings.seats])
        keys = pad_pages.key_pads(self._site, request) if self._runner.state()["step"] == "slaps" else None
        scripts = ["forms.js", "faces.js", "wizard.js", *(["pad.js"] if keys else [])]
        words = said_to_scripts(texts, "play.", "pad.", "control.")
        content = [
            words,
            tag("h1", texts("play.title")),
            tag("ol", "", id="steps"),
            answer_line(),
            tag("div", "", id="wizard"),
            keys,
        ]
        answer = page(request, texts("play.title"), *content, scripts=scripts, pages=(), body="forms")
        if request.scope.get("referee.device") is None and pad_pages.is_trusted(request, secure=False):
            self._control.admit(answer, "this computer")
        return answer

    async def send_state(self, request: Request) -> JSONResponse:
        """Send the wizard's state to paired devices."""
        if request.scope.get("referee.device") is None:
            return JSONResponse({"paired": False})
        state, look = self._runner.state(), self._bench.look_now
        seen, texts = None, page_texts(request)
        if look is not None:

            def put(words: str) -> str:
                return in_language(to_json(words), texts)["words"]

            items = [[item.state, put(item.words), put(item.mend)] for item in look.items]
            seen = {"trouble": put(look.trouble), "items": items, "picture": bool(look.jpeg)}
        codes = [] if self._site.folder is None else read_seat_codes(self._site.folder)
        phones = [code.seat for code in codes if not code.key] if state["step"] == "slaps" else []
        names = [seat.name for seat in self._runner.wizard.draft.settings.seats]
        said = in_words(state, texts)
        return JSONResponse({"paired": True, **said, "look": seen, "phones": phones, "names": names})

    async def send_picture(self, request: Request) -> Response:
        """Send the camera's picture."""
        look = self._bench.look_now
        if request.scope.get("referee.device") is None or look is None or not look.jpeg:
            return Response(status_code=404)
        return Response(look.jpeg, media_type="image/jpeg", headers={"Cache-Control": "no-store"})

    async def say(self, request: Request) -> JSONResponse:
        """Take an answer to the wizard's question."""
        try:
            said = json.loads(await request.body())
        except (ValueError, RecursionError):
            return JSONResponse({"accepted": False, **to_json(NOT_JSON)}, 400)
        text = said.get("say") if isinstance(said, dict) else None
        if not isinstance(text, str) or len(text) > _LONGEST:
            return JSONResponse({"accepted": False, "words": "say is an answer, as a text"}, 400)
        complaint = await asyncio.to_thread(self._runner.say, text)
        words = in_language(to_json(complaint), page_texts(request))["words"]
        return JSONResponse({"accepted": not complaint, "words": words}, 409 if complaint else 200)


def in_words(state: Mapping[str, Any], texts: Texts) -> dict[str, Any]:
    """Return the wizard's state with each sentence translated, as its words and their language."""

    def worded(words: str) -> list[str]:
        made = in_language(to_json(words), texts)
        return [made["words"], made.get("lang", "en")]

    question = state["question"]
    if question is not None:
        choices = [[value, worded(words)] for value, words in question["choices"]]
        if question["id"] == "rules.source":
            # The presets' own titles are among the page's texts.
            choices = [[value, [texts.get(f"preset.{value}", said[0]), texts.language]] for value, said in choices]
        question = {**question, "words": worded(question["words"]), "choices": choices}
    return {
        **state,
        "question": question,
        "steps": [[name, worded(title)] for name, title in state["steps"]],
        "remarks": [worded(words) for words in state["remarks"]],
        "busy": state["busy"] and worded(state["busy"]),
        "complaint": state["complaint"] and worded(state["complaint"]),
    }


def _obey(folder: Path, command: Command) -> Outcome:
    """Carry out a command; before the game only a seat's code can be replaced."""
    if command.do != "seat_code":
        return Refused(NO_GAME)
    done = meet_command(command, None, str)
    words = call_in(folder, command.get("seat"), command.get("phones"))
    return Refused(words) if words else done


def tell_code(pairing: Pairing) -> None:
    """Print the code that pairs another device."""
    print(
        translate("another device is paired with the code {digits} (two minutes)", digits=pairing.show(monotonic())),
        flush=True,
    )


def keep_code_shown(pairing: Pairing, over: threading.Event) -> None:
    """Print another code whenever the last one is used or expired, until the wizard ends."""
    while not over.wait(1.0):
        if not pairing.shown(monotonic()):
            tell_code(pairing)


def hold_evening(
    path: Path, *, host: str, port: int, browse: bool, for_service: bool = False, games: LeftGames | None = None
) -> bool:
    """Run the wizard in a browser; return whether it was completed.

    Args:
        path: the settings, which need not exist yet.
        host: address to listen at.
        port: the preferred port; if it is taken, the next free one.
        browse: open this machine's browser.
        for_service: a service referees afterwards: the questions of the terminal are asked here, and a code is always
            on show, since there is no terminal to request one.
        games: the record with the game that was broken off, whose phones stay joined; None: there is none.

    Raises:
        UserError: the settings are wrong, or no port is free.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = private_folder(runtime_folder(os.environ))
    begin_evening(folder, goes_on=games is not None)
    bench = Bench(path, games, in_browser=True)
    known = path.exists()
    listening = listen_at(host, port, any_near=True)
    address = address_of(listening)
    wizard = _begin_wizard(path, known=known, for_service=for_service, has_left_game=games is not None)
    runner = WizardRunner(wizard, bench, partial(_keep_draft, path))
    pairing = Pairing()
    control = _make_control(folder, pairing, runner)
    site = Site(GameCache(record_at()), Hub(Board()), controlled=True, address=address, folder=folder)
    routes = WizardSite(runner, bench, control, site).routes()
    guard = Guard(Starlette(routes=routes), control.sessions, hosts=Hosts.of_this_machine())
    server = SiteServer(guard, site.hub.close)
    _start_thread("wizard's end", _stop_after_wizard, runner, server)
    print(translate("Set up the table in a browser: {address}", address=address.words))
    tell_code(pairing)
    if for_service:
        _start_thread("wizard's code", keep_code_shown, pairing, runner.over)
    if browse:
        open_browser(address.here)
    port = listening.getsockname()[1]
    try:
        asyncio.run(server.listen(listening, quiet=True))
    finally:
        bench.close()
        site.close()
    return _keep_choices(
        path, runner, {"page.enabled": True, "page.host": host, "page.port": port}, bench, games, known
    )


def _keep_choices(
    path: Path, runner: WizardRunner, page: Mapping[str, Any], bench: Bench, games: LeftGames | None, known: bool
) -> bool:
    """Keep what people chose, if the wizard was completed; return whether it was.

    Args:
        path: the settings.
        runner: the wizard, at its end.
        page: the settings of the table's page.
        bench: knows whether a broken-off game goes on.
        games: the record with that game; None: there is none.
        known: whether the table was set up before: pads are heard in a roll-call then.
    """
    if runner.wizard.step is not None:
        print(
            translate("Left before the first card; `referee play` goes on with what is kept in {path}.", path=path),
            file=sys.stderr,
        )
        return False
    hand_on(private_folder(runtime_folder(os.environ)))
    if games is not None and not bench.resumes:
        games.end()
    # Each player of a new table has slapped already.
    values = {**page, **({} if known else {"pads.roll_call": False})}
    replace_file(path, runner.wizard.draft.changed(values).text.encode("utf-8"))
    return True


def _begin_wizard(path: Path, *, known: bool, for_service: bool, has_left_game: bool) -> Wizard:
    """Return the wizard at its first step; a known table begins with its broken-off game, or the pictures."""
    draft = read_settings(path) if known else new_settings(path.parent, here().language)
    steps = [step for step in (FIRST_START if for_service else EVENING) if has_left_game or step.name != "left_game"]
    first = next(k for k, step in enumerate(steps) if step.name in ("left_game", "pictures"))
    return Wizard(draft, steps, first if known else 0)


def _keep_draft(path: Path, wizard: Wizard) -> None:
    """Write the settings so far, once there are any."""
    if not wizard.draft.is_new:
        replace_file(path, wizard.draft.text.encode("utf-8"))


def _make_control(folder: Path, pairing: Pairing, runner: WizardRunner) -> Control:
    """Return the control whose commands are carried out here: there is no referee yet."""
    dispatch = CommandDispatcher(pairing, partial(_obey, folder))

    async def ask(command: Mapping[str, Any]) -> dict[str, Any]:
        return dict(dispatch(command))

    return Control(folder, ask=ask, names=lambda: [seat.name for seat in runner.wizard.draft.settings.seats])


def _stop_after_wizard(runner: WizardRunner, server: SiteServer) -> None:
    """Stop the server when the wizard ends, a second later: viewers learn of the end before."""
    runner.over.wait()
    threading.Timer(1.0, server.stop).start()


def _start_thread(name: str, work: Callable[..., None], *arguments: object) -> None:
    threading.Thread(target=work, args=arguments, name=name, daemon=True).start()
