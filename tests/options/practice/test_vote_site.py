"""A class's votes on the slaps of a lesson's game: what phones may see and say, through the guard."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from hardware.simulated.table.script import play_game
from referee.demo.demo_lesson import lesson_lines, write_lesson
from referee.engine.observations import Observation
from referee.options.classroom.pupils import MOST_PUPILS
from referee.options.classroom.vote_site import QUESTION, VOTE, VoteSite
from referee.options.what_if import what_if_page
from referee.record.store import Record
from referee.text.catalogue import LANGUAGES, texts
from referee.units import SECOND
from referee.web.board import Board
from referee.web.events import Hub
from referee.web.games_cache import GameCache
from referee.web.photo_finish.questions import HEAT, NOT_A_SLAP, find_questions
from referee.web.security.guard import OPEN_CHANGES, Guard
from referee.web.security.sessions import Sessions
from referee.web.server import build
from referee.web.site import Site
from tests.play import log
from tests.web.browser import HOST, HOSTS, LIMITLESS, OWN, Reply, request

LESSON = "/games/1/replay"
HERE, PHONE = "127.0.0.1", "192.168.1.9"
OWN_CODE, ASKED = "its own code", "the slap that is asked about"
"""Stand for what a test learns."""
SEATS = ("Ana", "Ben", "Cho", "Dora")


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The record of a lesson's game, with a dead heat among its first slaps."""
    return keep_game(tmp_path_factory.mktemp("lesson"), lesson_lines(play_game(4, 4, "classic", 60), 15.0))


def keep_game(folder: Path, lines: Sequence[Observation]) -> Path:
    """Return a record that holds a game of these lines."""
    with Record(folder / "record.db") as games:
        game = games.add_game("2026-01-01T00:00:00+00:00", list(enumerate(write_lesson(lines), start=1)))
        games.end(game, "2026-01-01T00:00:00+00:00")
    return folder / "record.db"


class Lesson:
    """The pages of a lesson behind the guard, without a socket; its clock is data."""

    def __init__(self, record: Path) -> None:
        self.now = 0
        self.site = Site(GameCache(record), Hub(Board()))
        self.votes = VoteSite(1, 30 * SECOND, lambda: self.now)
        options = [what_if_page.PAGE, self.votes.option()]
        self.routes = build(self.site, options=options)
        changes = (*OPEN_CHANGES, *self.votes.option().open_changes)
        self.app = Guard(self.routes, Sessions(), hosts=HOSTS, limits=LIMITLESS, open_changes=changes)
        self.slaps = [question.slap for question in find_questions(self.site.shelf.folded(1)).values()]

    def get(self, path: str, client: str = PHONE, query: bytes = b"", language: str = "en") -> Reply:
        head = [("host", HOST), ("accept-language", language)]
        return asyncio.run(request(self.app, "GET", path, head, client=client, query=query))

    def post(self, path: str, said: Any, client: str = PHONE, origin: str = OWN) -> Reply:
        head = [("host", HOST), ("origin", origin), ("content-type", "application/json")]
        body = (said if isinstance(said, str) else json.dumps(said)).encode()
        return asyncio.run(request(self.app, "POST", path, head, [body], client=client))

    def join(self) -> str:
        """Let a phone join; return its code."""
        way = self.get("/join").header("location") or ""
        assert way.startswith("/vote#")
        code = way.partition("#")[2]
        assert self.post(VOTE, {"code": code}).status == 200
        return code

    def ask(self, question: str | None, *, shown: bool = False) -> Reply:
        return self.post(QUESTION, {"question": question, "shown": shown}, HERE)

    def vote(self, code: str, question: str, choice: str) -> Reply:
        return self.post(VOTE, {"code": code, "question": question, "choice": choice})

    def see(self, language: str = "en") -> dict[str, Any]:
        """Return what a phone that opens the stream of events is sent at once."""
        return asyncio.run(self._see(language))

    async def _see(self, language: str) -> dict[str, Any]:
        scope = {"type": "http", "query_string": f"lang={language}".encode(), "headers": []}
        answer = await self.votes.stream(self.site, Request(scope))
        assert isinstance(answer, StreamingResponse)
        events = answer.body_iterator
        assert isinstance(events, AsyncIterator)
        async for event in events:
            if event.startswith(b"event: vote\n"):
                told: dict[str, Any] = json.loads(event.partition(b"data: ")[2])
                return told
        raise AssertionError("the stream ended")


@pytest.fixture
def lesson(record: Path) -> Iterator[Lesson]:
    made = Lesson(record)
    yield made
    made.site.close()


def test_a_phone_votes_changes_its_mind_and_keeps_its_vote_when_it_is_loaded_anew(lesson: Lesson) -> None:
    code, slap = lesson.join(), lesson.slaps[0]
    lesson.ask(slap)
    assert lesson.vote(code, slap, "B").said["votes"] == {slap: "B"}
    reply = lesson.vote(code, slap, HEAT)
    assert (reply.status, reply.said["votes"]) == (200, {slap: HEAT})
    again = lesson.post(VOTE, {"code": code}).said
    assert again["votes"] == {slap: HEAT}
    assert again["name"] == texts("en")("nickname.animals").split()[0]
    assert "Votes: 1 of 1" in lesson.see()["votes"]


def test_nothing_of_the_answer_is_sent_before_it_is_shown(lesson: Lesson) -> None:
    code = lesson.join()
    for slap in lesson.slaps[:6]:
        lesson.ask(slap)
        lesson.vote(code, slap, NOT_A_SLAP)
        before = lesson.see()
        assert not before["shown"] and before["due"] == 3000
        assert [name for name in SEATS if name in str(before)] == []
        assert "✓" not in before["asked"] and "verdict" not in before["asked"]
        lesson.ask(slap, shown=True)
        after = lesson.see()
        assert after["shown"] and any(name in after["asked"] for name in SEATS)
        assert after["votes"].count("✓") == 1, "the referee's answer is among those of the class"
        assert lesson.vote(code, slap, "A").status == 409


def test_the_right_answers_are_those_of_the_rulings(lesson: Lesson) -> None:
    """The first three slaps are won, the fourth is a dead heat that the players settled."""
    found = []
    for slap in lesson.slaps[:4]:
        lesson.ask(slap, shown=True)
        found.append(
            lesson.see()["votes"].partition('class="right"')[0].rpartition('data-choice="')[2].partition('"')[0]
        )
    assert found[3] == HEAT and set(found[:3]) <= set("ABCD")


def test_the_answer_comes_when_all_have_voted_or_the_time_is_over(lesson: Lesson) -> None:
    codes, slap = [lesson.join(), lesson.join()], lesson.slaps[0]
    lesson.ask(slap)
    lesson.vote(codes[0], slap, "A")
    assert lesson.see()["due"] == 30_000
    lesson.now += 10 * SECOND
    assert lesson.see()["due"] == 20_000
    lesson.vote(codes[1], slap, "B")
    assert lesson.see()["due"] == 3000
    late = lesson.join()
    assert lesson.see()["due"] == 20_000, "a phone that joins late may vote, too"
    lesson.now += 20 * SECOND
    assert lesson.vote(late, slap, "A").status == 200
    assert lesson.see()["shown"]
    assert lesson.vote(late, slap, "B").status == 409


@pytest.mark.parametrize(
    ("said", "status", "words"),
    [
        ("{", 400, "that is not JSON"),
        ([], 400, "post a JSON object here"),
        ({"question": "s1"}, 400, '"code" is missing'),
        ({"code": 7}, 400, '"code" must be'),
        ({"code": "x" * 12, "name": "Ana"}, 400, "there is no such field here"),
        ({"code": "another phone's"}, 409, "This phone has no place"),
        ({"code": OWN_CODE, "question": ASKED, "choice": ["A"]}, 400, '"choice" must be'),
        ({"code": OWN_CODE, "question": "nothing", "choice": "A"}, 409, "This slap is not asked about now"),
        ({"code": OWN_CODE, "question": ASKED, "choice": "Ana"}, 409, "This question has no such answer"),
        ({"code": OWN_CODE, "question": ASKED}, 409, "This question has no such answer"),
    ],
)
def test_nonsense_is_refused_in_words_and_changes_nothing(lesson: Lesson, said: Any, status: int, words: str) -> None:
    code, slap = lesson.join(), lesson.slaps[0]
    lesson.ask(slap)
    lesson.vote(code, slap, "A")
    before = lesson.see()
    if isinstance(said, dict):
        said = {key: {OWN_CODE: code, ASKED: slap}.get(str(value), value) for key, value in said.items()}
    reply = lesson.post(VOTE, said)
    assert reply.status == status and not reply.said["accepted"] and reply.said["words"].startswith(words)
    assert lesson.see() == before


def test_only_this_machine_asks_and_another_page_cannot(lesson: Lesson) -> None:
    slap = lesson.slaps[0]
    for said in ({"question": slap}, {"question": slap, "shown": True}, {"question": None}):
        reply = lesson.post(QUESTION, said)
        assert reply.status == 403 and reply.said["words"].startswith("Only the computer that runs the lesson")
    assert lesson.post(QUESTION, {"question": slap}, HERE, "http://evil.example").status == 403
    assert lesson.post(VOTE, {"code": lesson.join()}, origin="http://evil.example").status == 403
    assert lesson.see()["question"] == ""
    assert [lesson.post(QUESTION, said, HERE).status for said in ("?", {"slap": slap}, {"question": "s999"})] == [
        400, 400, 409,
    ]  # fmt: skip


def test_phones_see_only_their_votes_because_every_other_page_tells_the_answers(lesson: Lesson) -> None:
    paths = [
        re.sub(r"\{\w+(:int)?\}", "1", route.path)
        for route in lesson.routes.routes
        if isinstance(route, Route) and "GET" in (route.methods or ()) and "/static/" not in route.path
    ]
    assert LESSON in paths and "/games/1/what-if" in paths and len(paths) > 30
    open_paths = {path for path in paths if path not in ("/vote/events", "/join") and lesson.get(path).status != 303}
    assert open_paths == {"/vote", "/healthz"}
    assert lesson.get(LESSON, query=b"lesson=1").header("location") == "/join"
    assert lesson.get(LESSON, HERE).status == 200
    assert b'id="votes"' in lesson.get(LESSON, HERE, b"lesson=1").body
    assert b'id="votes"' not in lesson.get(LESSON, HERE).body


def test_a_single_hand_counts_or_does_not(tmp_path: Path) -> None:
    lesson = Lesson(keep_game(tmp_path, log("1000 1:7h\n2000 2:9c\n2500 slap 3\n2600 lift 3\n4000 3:Td")))
    try:
        lesson.ask("s1")
        asked = lesson.see()["asked"]
        assert "Does this slap count?" in asked and ">It counts<" in asked and "Dead heat" not in asked
        lesson.ask("s1", shown=True)
        assert '<tr data-choice="none" class="right">' in lesson.see()["votes"]
    finally:
        lesson.site.close()


def test_a_vote_leaves_the_record_as_it_is(lesson: Lesson, record: Path) -> None:
    before = record.read_bytes()
    codes = [lesson.join() for _ in range(5)]
    for slap in lesson.slaps[:5]:
        lesson.ask(slap)
        for code in codes:
            lesson.vote(code, slap, "A")
        lesson.ask(slap, shown=True)
    assert record.read_bytes() == before
    with Record(record, read_only=True) as games:
        assert len(games.games()) == 1


def test_a_class_is_full_at_sixty(lesson: Lesson) -> None:
    assert len({lesson.join() for _ in range(MOST_PUPILS)}) == MOST_PUPILS
    assert lesson.get("/join").status == 503


@pytest.mark.parametrize("language", LANGUAGES)
def test_question_and_answer_are_drawn_in_every_language(lesson: Lesson, language: str) -> None:
    words = texts(language)
    assert words("vote.wait").replace("'", "&#x27;") in lesson.see(language)["asked"]
    lesson.ask(lesson.slaps[3])
    asked = lesson.see(language)["asked"]
    assert words("vote.lane", lane="B") in asked and words("finish.heat") in asked and words("vote.none") in asked
    lesson.ask(lesson.slaps[3], shown=True)
    assert f"✓ {words('vote.referee')}".replace("'", "&#x27;") in lesson.see(language)["votes"]
    assert lesson.get("/vote", language=language).status == 200
