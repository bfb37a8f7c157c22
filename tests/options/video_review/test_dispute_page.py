"""The page of a dispute: its contents, its posts, and the access to them."""

from __future__ import annotations

import asyncio
import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from referee.cli import main
from referee.engine.observations import Card, Observation, Taken
from referee.engine.replay import replay_log
from referee.errors import UserError
from referee.options.video_review.dispute import Dispute
from referee.options.video_review.dispute_page import OpenDispute, build_dispute
from referee.options.video_review.dispute_server import ReviewOptions, filmed_table, list_moments, review, seat_names
from referee.options.video_review.footage import picture_path
from referee.options.video_review.footage_log import FrameSpan, footage_table
from referee.text.catalogue import LANGUAGES, texts
from referee.units import MS
from referee.web.security.guard import Guard
from tests.web.browser import Reply, request

OWN = "http://localhost"
SEEN: tuple[Observation, ...] = (
    Card(t=500 * MS, id="c1", card="7h"),
    Card(t=1_500 * MS, id="c2", card="7c"),
    Card(t=2_500 * MS, id="c3", card="9d"),
    Taken(t=4_000 * MS, id="t1", seat=1),
)


@pytest.fixture
def opened(tmp_path: Path) -> OpenDispute:
    """A double, then a card that matches nothing; 25 frames a second."""
    table = footage_table(("Ana <b>", "Ben"), "classic")
    spans = [FrameSpan(n * 40 * MS, 40 * MS) for n in range(130)]
    picture_path(tmp_path, 40).write_bytes(b"a picture")
    return OpenDispute(Dispute(table, SEEN, spans), tmp_path, tmp_path / "dispute.jsonl")


@pytest.fixture
def app(opened: OpenDispute) -> Guard:
    return build_dispute(opened)


def get(app: Guard, path: str, *headers: tuple[str, str], host: str = "localhost") -> Reply:
    return asyncio.run(request(app, "GET", path, [("host", host), *headers], server="127.0.0.1"))


def post(app: Guard, act: str, origin: str = OWN, **fields: Any) -> Reply:
    head = [("host", "localhost"), ("origin", origin), ("content-type", "application/json")]
    return asyncio.run(request(app, "POST", f"/api/review/{act}", head, [json.dumps(fields).encode()]))


def test_the_page_shows_what_may_be_slapped_first_and_then_the_rest(app: Guard) -> None:
    html = get(app, "/").body.decode()
    slappable, others = html.split(texts("en")("review.others"))
    assert 'data-moment="c2"' in slappable
    assert 'data-moment="c1"' in others
    assert 'data-moment="c3"' in others
    assert "double" in slappable
    assert 'data-frame="40"' in slappable
    assert "Ana &lt;b&gt;" in html
    assert "<b>" not in html


def test_each_card_is_named_with_its_moment(opened: OpenDispute, app: Guard) -> None:
    """In the terminal and on the page."""
    assert list(list_moments(opened.dispute)) == [
        "3 cards seen; moments that may be slapped: 1",
        "  7♥ at 0:00 · nothing to slap",
        "  7♣ on 7♥ at 0:01 · double",
        "  9♦ on 7♣ at 0:02 · nothing to slap",
    ]
    html = get(app, "/").body.decode()
    assert "7♣ on 7♥ at 0:01 · double" in html and "9♦ on 7♣ at 0:02 · nothing to slap" in html


def test_a_dealer_who_does_not_sit_there_is_told_how_seats_count(tmp_path: Path) -> None:
    video = tmp_path / "dispute.mp4"
    with pytest.raises(UserError, match="--dealer 4: seats count from 1 to 3, as they are named: Ana, Ben, Cho"):
        review(ReviewOptions(video=video, seats="Ana,Ben,Cho", dealer=4, log=tmp_path / "dispute.jsonl"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_speaks_every_language(app: Guard, language: str) -> None:
    html = get(app, "/", ("accept-language", language)).body.decode()
    assert f'lang="{language}"' in html
    assert texts(language)("review.strip") in html.replace("&#x27;", "'")


def test_frames_are_sent_and_nothing_else(app: Guard) -> None:
    assert get(app, "/frames/40.jpg").body == b"a picture"
    assert get(app, "/frames/41.jpg").status == 404
    assert get(app, "/static/dispute.js").status == 200
    assert get(app, "/games").status == 404


def test_a_mark_is_ruled_at_once_and_says_that_it_rests_on_people(app: Guard) -> None:
    post(app, "mark", moment="c2", seat=2, frame=45)
    said = post(app, "mark", moment="c2", seat=1, frame=48).said
    assert said["accepted"]
    assert [(mark["seat"], mark["frame"]) for mark in said["marks"]] == [(2, 45), (1, 48)]
    ruled = said["regions"]["ruled-c2"].replace("\u00a0", " ")
    assert "Ben wins the slap, double, by 120 ± 80 ms" in ruled
    assert texts("en")("review.rests") in ruled
    assert "Ben · 1.80 ± 0.04 s" in ruled


def test_marks_of_neighbouring_frames_are_a_dead_heat(app: Guard) -> None:
    post(app, "mark", moment="c2", seat=2, frame=45)
    ruled = post(app, "mark", moment="c2", seat=1, frame=46).said["regions"]["ruled-c2"]
    assert "Too close to call" in ruled


def test_nobody_undo_and_what_is_said_of_cards(app: Guard, opened: OpenDispute) -> None:
    post(app, "mark", moment="c2", seat=2, frame=45)
    said = post(app, "nobody", moment="c2").said
    assert texts("en")("review.unslapped") in said["regions"]["ruled-c2"]
    assert post(app, "undo").said["marks"] != []
    assert post(app, "name", moment="c3", card="7d").said["moments"] == ["c1 7h", "c2 7c", "c3 7d"]
    assert post(app, "strike", line="c1").said["moments"] == ["c2 7c", "c3 7d"]
    assert post(app, "add", frame=20, card="Xr").said["moments"] == ["added-20 Xr", "c2 7c", "c3 7d"]
    assert post(app, "strike", line="t1").said["accepted"]
    assert opened.dispute.takes == []


@pytest.mark.parametrize(
    ("act", "fields"),
    [
        ("mark", {"moment": "c9", "seat": 1, "frame": 45}), ("mark", {"moment": "c2", "seat": 3, "frame": 45}),
        ("mark", {"moment": "c2", "seat": 1, "frame": 45.0}), ("mark", {"moment": "c2", "seat": True, "frame": 45}),
        ("mark", {"moment": "c2", "seat": 1}), ("nobody", {"moment": 7}), ("undo", {"all": True}),
        ("add", {"frame": 0, "card": "7h"}), ("name", {"moment": "c2", "card": "11h"}), ("strike", {"line": "table"}),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_in_words(
    app: Guard, opened: OpenDispute, act: str, fields: dict[str, Any]
) -> None:
    before = opened.dispute.marks
    reply = post(app, act, **fields)
    assert (reply.status, reply.said["accepted"]) == (400, False)
    assert len(reply.said["words"]) > 10
    assert opened.dispute.marks == before


def test_another_page_may_not_post(app: Guard, opened: OpenDispute) -> None:
    assert post(app, "mark", "http://evil.example", moment="c2", seat=2, frame=45).status == 403
    assert get(app, "/", host="evil.example").status == 421
    assert opened.dispute.marks.hands == {}


def test_the_log_is_saved_and_ruled_the_same(app: Guard, opened: OpenDispute) -> None:
    post(app, "mark", moment="c2", seat=2, frame=45)
    assert "dispute.jsonl" in post(app, "save").said["words"]
    saved = list(replay_log(BytesIO(opened.log.read_bytes())))
    assert saved == opened.dispute.rule()
    assert "slap_won" in {ruling.kind for ruling in saved}


def test_a_log_that_cannot_be_written_is_told(opened: OpenDispute) -> None:
    app = build_dispute(OpenDispute(opened.dispute, opened.pictures, opened.pictures / "nowhere" / "dispute.jsonl"))
    reply = post(app, "save")
    assert "cannot be written" in reply.said["words"]
    assert not reply.said["accepted"]


@pytest.mark.parametrize(
    ("said", "names"),
    [("Ana, Ben,Cho", ("Ana", "Ben", "Cho")), ("3", ("Seat 1", "Seat 2", "Seat 3"))],
)
def test_players_are_named_or_counted(said: str, names: tuple[str, ...]) -> None:
    assert seat_names(said) == names


@pytest.mark.parametrize("said", ["", "Ana", "1", "9", "99999999999", "Ana,Ana", "Ana,,Ben", "a,b,c,d,e,f,g,h,i"])
def test_players_that_no_table_has_are_refused(said: str) -> None:
    with pytest.raises(UserError, match="--seats"):
        seat_names(said)


def test_a_tables_settings_say_who_sits_where(tmp_path: Path) -> None:
    settings = tmp_path / "table.toml"
    settings.write_text(
        'rules = "short"\n[[seat]]\nname = "Ana"\nbearing = 200\n[[seat]]\nname = "Ben"\nbearing = 20\n'
    )
    filmed = filmed_table(ReviewOptions(tmp_path / "game.mp4", settings=settings))
    assert (filmed.names, filmed.rules, filmed.bearings) == (("Ana", "Ben"), "short", {1: 200.0, 2: 20.0})
    assert filmed_table(ReviewOptions(tmp_path / "game.mp4", settings=settings, rules="classic")).rules == "classic"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "--seats"), (("--seats", "Ana,Ben"), "no such file"), (("--seats", "Ana,Ben", "--rules", "odd"), "odd"),
        (("--seats", "Ana,Ben", "--dealer", "3"), "--dealer"), (("--seats", "Ana,Ben", "--log", "{there}"), "already"),
    ],
)  # fmt: skip
def test_a_slip_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], options: tuple[str, ...],
    words: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    there = tmp_path / "there.jsonl"
    there.write_text("another program's\n")
    assert main(["review", "none.mp4", *(option.format(there=there) for option in options)]) == 2
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1
    assert there.read_text() == "another program's\n"


def test_a_moments_result_can_be_shared_as_a_picture(app: Guard) -> None:
    assert get(app, "/finish/c2.svg").status == 404
    post(app, "mark", moment="c2", seat=2, frame=45)
    sent = get(app, "/finish/c2.svg")
    assert sent.status == 200
    assert b"<svg" in sent.body and "7♣ on 7♥ at 0:01" in sent.body.decode()
    assert get(app, "/finish/c9.svg").status == 404
