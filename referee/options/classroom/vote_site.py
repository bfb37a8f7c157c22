"""A class votes on the slaps of a recorded game: the routes and drawings that a lesson adds to the table's page.

The page that steps through the game stops at each slap (`referee.web.games`); this machine's browser reports at which,
and when the answer is shown. Phones join as those of reaction trials do, and learn of both from the page's events.
Other devices see nothing else, because the recorded game tells every answer. Votes are kept in memory alone, and the
record is only read.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Mapping
from functools import wraps
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from hardware.clock import Clock, monotonic
from referee.control.commands import CommandError, CommandFields, check_fields
from referee.control.socket import NOT_JSON
from referee.options.classroom.class_pages import draw_notice, invite_phones, name_pupil
from referee.options.classroom.pupils import PHONES, PhonePlaces, Pupils
from referee.options.classroom.slap_votes import Ballot, SlapVotes
from referee.sentence import Sentence, to_json
from referee.text.answers import in_language
from referee.text.catalogue import Texts
from referee.text.catalogue import texts as texts_in
from referee.text.ruling_lines import RulingWords
from referee.units import MS, SECOND
from referee.web import layout
from referee.web.board_view import pile
from referee.web.control_page import answer_line, said_to_scripts
from referee.web.games import draw_replay, show_replay, unnamed_hands
from referee.web.games_cache import LoadedGame
from referee.web.layout import page, page_texts
from referee.web.markup import Markup, join, tag
from referee.web.pad_pages import is_trusted
from referee.web.photo_finish.moment import Finish
from referee.web.photo_finish.questions import (
    HEAT,
    NOT_A_SLAP,
    answer_of,
    find_questions,
    list_choices,
    name_lanes,
    right_choice,
)
from referee.web.serving import send_events
from referee.web.site import Handler, PageOption, Site, game_of
from referee.web.winner_view import first_view, why_line

VOTE: Final = "/api/vote"
"""The address at which phones report their votes ..."""
QUESTION: Final = "/api/question"
"""... and this machine's browser the slap that is asked about."""
_LESSON: Final = "/games/{game:int}/replay"
_OF_PHONES: Final = ("/join", "/vote", "/vote/events", "/healthz")
"""Paths that other devices than this machine may see."""
_FOLDER: Final = Path(__file__).parent / "static"
_STYLES: Final = ("class.css",)
_QUIET: Final = 10.0
"""Seconds after which a silent stream sends a sign of life."""
_ID = Field(None, max_length=80, description=Sentence("the id of a line or ruling"))


class VoteReport(CommandFields):
    """A phone's vote on a slap; without one it only joins, and asks for its votes so far."""

    code: str = Field(min_length=8, max_length=40, description=Sentence("the code of the phone's place in the class"))
    question: str | None = _ID
    choice: str | None = Field(None, max_length=8, description=Sentence("one of the answers to the question"))


class SlapQuestion(CommandFields):
    """The slap that the lesson has come to, or none, and whether its answer is shown."""

    question: str | None = _ID
    shown: bool = Field(False, description=Sentence("true or false"))


class _AskedSlap(NamedTuple):
    """A slap that the class is asked about."""

    text: str
    """Key of the question."""
    finish: Finish
    pile: tuple[str, ...]
    """The cards on the table when the hands came down."""


class VoteSite:
    """The votes of a lesson on one recorded game.

    Args:
        game: the game.
        length: time from the first vote on a slap to its answer, ns.
        clock: returns the present instant, ns.
    """

    def __init__(self, game: int, length: int, clock: Clock = monotonic) -> None:
        self._game, self._clock = game, clock
        self.votes, self.room = SlapVotes(length), Pupils()
        self._places = PhonePlaces(self.room, {secrets.token_urlsafe(9): seat for seat in PHONES})
        self._slaps: dict[str, _AskedSlap] = {}
        self._names: tuple[str, ...] = ()
        self._timer: asyncio.TimerHandle | None = None
        self._drawn: dict[str, dict[str, str]] = {}
        """The regions as they are now, by language."""

    def option(self) -> PageOption:
        """Return what the lesson adds to the table's page."""
        routes: dict[str, Handler] = {
            _LESSON: self.show_lesson, "/join": self.join, "/join.svg": self.send_code, "/vote": self.show_vote,
            "/vote/events": self.stream,
        }  # fmt: skip
        changes: dict[str, Handler] = {VOTE: self.take_vote, QUESTION: self.ask}
        return PageOption(routes, _FOLDER, self._hide_answers, changes)

    def _hide_answers(self, handler: Handler) -> Handler:
        """Wrap a handler so that phones find nothing but their votes."""

        @wraps(handler)
        async def show(site: Site, request: Request) -> Response:
            if request.url.path in _OF_PHONES or is_trusted(request, secure=False):
                return await handler(site, request)
            return RedirectResponse("/join", 303)

        return show

    async def show_lesson(self, site: Site, request: Request) -> Response:
        """The lesson: the replay that stops at each slap, with the class's votes."""
        if request.query_params.get("lesson") != "1" or game_of(request) != self._game:
            return await show_replay(site, request)
        texts = page_texts(request)
        beside = tag(
            "aside",
            said_to_scripts(texts, "vote.", "control."),
            tag("div", "", id="votes"),
            invite_phones(site.shared_address(request), "vote.each_phone", texts),
        )
        return await draw_replay(site, request, beside, scripts=("forms.js", "vote.js"), styles=_STYLES)

    async def join(self, _site: Site, request: Request) -> Response:
        """A place in the class for the phone that asks."""
        code = self._places.hand_out(page_texts(request)("nickname.animals").split())
        return draw_notice(request, "vote.full", 503) if code is None else RedirectResponse(f"/vote#{code}", 303)

    async def send_code(self, site: Site, request: Request) -> Response:
        """The phones' address as a QR code."""
        address = site.shared_address(request)
        return layout.qr_code(f"{address.room or address.here}join")

    async def show_vote(self, _site: Site, request: Request) -> Response:
        """A phone's page: its code is in the address' fragment, which no log ever contains."""
        texts = page_texts(request)
        content = [
            said_to_scripts(texts, "vote.", "class.", "pad.", "control."),
            tag("h1", texts("vote.title"), class_="unseen"),
            tag("p", "", id="nickname"),
            answer_line(),
            tag("div", "", id="asked", aria_live="polite"),
            tag("div", "", id="votes"),
        ]
        scripts = ("forms.js", "regions.js", "vote.js")
        return page(request, texts("vote.title"), content, scripts=scripts, pages=(), styles=_STYLES, body="voting")

    async def stream(self, site: Site, request: Request) -> Response:
        """The stream of questions and answers."""
        return send_events(self._events(site, page_texts(request).language))

    def _events(self, site: Site, language: str) -> AsyncIterator[bytes]:
        sent: Mapping[str, object] = {}

        def draw() -> bytes:
            nonlocal sent
            asked, due = self.votes.asked, self.votes.due(self.room.pupils)
            state = {
                "question": "" if asked is None else asked.question, "shown": asked is not None and asked.shown,
                "due": due, **self._regions(language),
            }  # fmt: skip
            fresh = {name: said for name, said in state.items() if name not in sent or sent[name] != said}
            sent = state
            if not fresh:
                return b""
            # A phone does not know this machine's clock.
            left = None if due is None else max(0, due - self._clock()) // MS
            told = {**fresh, "question": state["question"], "shown": state["shown"], "due": left}
            return f"event: vote\ndata: {json.dumps(told, ensure_ascii=False)}\n\n".encode()

        return site.hub.follow(draw, _QUIET)

    def _changed(self, site: Site) -> None:
        """Show all viewers what is new, and wait for the end of the time."""
        self.votes.advance(self._clock(), self.room.pupils)
        self._drawn.clear()
        site.hub.wake_streams()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due = self.votes.due(self.room.pupils)
        if due is not None:
            wait = max(0, due - self._clock()) / SECOND
            self._timer = asyncio.get_running_loop().call_later(wait, self._changed, site)

    async def take_vote(self, site: Site, request: Request) -> Response:
        """Take a phone's vote."""
        texts = page_texts(request)
        try:
            said = check_fields(VoteReport, json.loads(await request.body()))
        except CommandError as error:
            return _refuse(texts, 400, error.sentence)
        except (ValueError, RecursionError):
            return _refuse(texts, 400, NOT_JSON)
        device = self._places.find_device(said["code"])
        if device is None:
            return JSONResponse({"accepted": False, "words": texts("class.no_place"), "lang": texts.language}, 409)
        before = len(self.room.pupils)
        pupil = self.room.admit(device)
        assert pupil is not None, "there are as many places as pupils"
        problem = None
        if said.get("question") is not None:
            problem = self.votes.vote(device, said["question"], said.get("choice") or "", self._clock())
        if problem is not None:
            return JSONResponse({"accepted": False, "words": texts(problem.value), "lang": texts.language}, 409)
        if said.get("question") is not None or len(self.room.pupils) > before:
            self._changed(site)
        told = {"name": name_pupil(self.room, pupil, texts), "votes": self.votes.votes_of(device)}
        return JSONResponse({"accepted": True, "words": "", **told})

    async def ask(self, site: Site, request: Request) -> Response:
        """Ask the class about a slap, or show its answer; from this machine only."""
        texts = page_texts(request)
        if not is_trusted(request, secure=False):
            return JSONResponse({"accepted": False, "words": texts("vote.here_only"), "lang": texts.language}, 403)
        try:
            said = check_fields(SlapQuestion, json.loads(await request.body()))
        except CommandError as error:
            return _refuse(texts, 400, error.sentence)
        except (ValueError, RecursionError):
            return _refuse(texts, 400, NOT_JSON)
        if not self._slaps:
            folded = await site.run_in_worker(site.shelf.folded, self._game)
            self._slaps, self._names = await site.run_in_worker(_find_slaps, folded), folded.table.seats
        question = said.get("question")
        if question is None:
            self.votes.stop()
        elif question in self._slaps:
            self.votes.ask(question, list_choices(self._slaps[question].finish), self._clock())
            if said.get("shown"):
                self.votes.show()
        else:
            return JSONResponse({"accepted": False, "words": texts("vote.not_asked"), "lang": texts.language}, 409)
        self._changed(site)
        return JSONResponse({"accepted": True, "words": ""})

    def _regions(self, language: str) -> dict[str, str]:
        """Return what phones and the room are shown now, drawn once for all viewers of one language."""
        if language not in self._drawn:
            self._drawn[language] = self._draw(texts_in(language))
        return self._drawn[language]

    def _draw(self, texts: Texts) -> dict[str, str]:
        ballot = self.votes.asked
        if ballot is None:
            return {"asked": tag("p", texts("vote.wait"), class_="panel"), "votes": self._draw_turnout(None, texts)}
        slap, words = self._slaps[ballot.question], RulingWords(self._names, texts)
        if not ballot.shown:
            return {"asked": _draw_question(slap, ballot, words), "votes": self._draw_turnout(ballot, texts)}
        answer = first_view(slap.finish, words, why_line(slap.finish, words))
        return {"asked": tag("section", answer, class_="finish"), "votes": _draw_result(slap, ballot, words)}

    def _draw_turnout(self, ballot: Ballot | None, texts: Texts) -> Markup:
        """Draw how many phones have voted, and which."""
        pupils = self.room.pupils
        if not pupils:
            return tag("p", texts("vote.no_phones"), class_="panel")
        voted = {} if ballot is None else ballot.votes
        names = [
            tag("li", name_pupil(self.room, pupil, texts), class_="voted" if device in voted else None)
            for device, pupil in pupils.items()
        ]
        label = texts("vote.votes", n=len(voted), all=len(pupils))
        bar = tag("progress", max=len(pupils), value=len(voted), aria_label=label)
        turnout = (tag("b", label), bar, tag("p", "", id="left")) if ballot is not None else None
        return tag("section", turnout, tag("ul", names, class_="names"), class_="panel turnout")


def _refuse(texts: Texts, status: int, why: str) -> JSONResponse:
    return JSONResponse({"accepted": False, **in_language(to_json(why), texts)}, status)


def _find_slaps(folded: LoadedGame) -> dict[str, _AskedSlap]:
    """Return the slaps to ask a class about, by the hand whose photo-finish is the answer."""
    questions, found = find_questions(folded), {}
    for place, step in enumerate(folded.steps):
        question = questions.get(step.observation.id)
        if question is not None:
            seen = answer_of(folded, question)
            found[question.slap] = _AskedSlap(question.text, seen, folded.view(place - 1).pile)
    return found


def _name_choices(slap: _AskedSlap, words: RulingWords, *, named: bool) -> dict[str, str]:
    """Return every possible answer in words; ``named``: with the players' names."""
    texts, lanes = words.texts, name_lanes(slap.finish)
    said = {
        letter: f"{letter} · {words.name(seat)}" if named else texts("vote.lane", lane=letter)
        for letter, seat in lanes.items()
    }
    if len(lanes) == 1:
        said = dict.fromkeys(lanes, texts("vote.counts"))
    return said | {HEAT: texts("finish.heat"), NOT_A_SLAP: texts("vote.none")}


def _draw_question(slap: _AskedSlap, ballot: Ballot, words: RulingWords) -> Markup:
    """Draw the question for phones: the cards, the hands, and a button for each answer."""
    texts, names = words.texts, _name_choices(slap, words, named=False)
    buttons = [
        tag("button", names[choice], type="button", class_="button", data_choice=choice, aria_pressed="false")
        for choice in ballot.choices
    ]
    return join(
        (
            tag("h2", texts(slap.text), class_="headline"),
            tag("div", pile(slap.pile, texts), class_="r-pile panel"),
            unnamed_hands(slap.finish, words),
            tag("div", buttons, class_="choices"),
            tag("p", texts("vote.standing"), class_="note", id="standing"),
        )
    )


def _draw_result(slap: _AskedSlap, ballot: Ballot, words: RulingWords) -> Markup:
    """Draw the votes for each answer as bars, beside the referee's."""
    texts, counts, right = words.texts, ballot.count(), right_choice(slap.finish)
    names, most = _name_choices(slap, words, named=True), max(1, *counts.values())
    rows = []
    for choice, count in counts.items():
        mark = tag("small", f" ✓ {texts('vote.referee')}") if choice == right else None
        bar = tag("progress", max=most, value=count, aria_label=f"{names[choice]}: {count}")
        rows.append(tag(
            "tr", tag("th", names[choice], mark, scope="row"), tag("td", bar), tag("td", count), data_choice=choice,
            class_="right" if choice == right else None,
        ))  # fmt: skip
    return tag("section", tag("h2", texts("vote.title")), tag("table", tag("tbody", rows)), class_="panel tally")
