"""The page's requests: commands, codes, sessions, house rules; `tests.web.test_access` holds who may send them."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette

from referee.control.commands import COMMAND_FIELDS
from referee.control.socket import NO_GAME
from referee.record.backup import Places
from referee.record.restore import restore
from referee.record.store import Record
from referee.units import MINUTE, SECOND
from referee.web.api import Control, address
from referee.web.security.guard import Guard
from referee.web.security.sessions import csrf_of
from tests.web.browser import HOST, HOSTS, LIMITLESS, OWN, House, Paired, request
from tests.web.test_access import FIELDS


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_everything_that_can_be_asked_reaches_the_table_as_it_was_asked(house: House) -> None:
    """Each command, by a paired page."""
    paired = house.pair()
    for do in COMMAND_FIELDS:
        reply = house.post(address(do), FIELDS.get(do, {}), paired.headers)
        assert (reply.status, reply.said) == (200, {"accepted": True, "words": "done"}), do
    assert [command.record() for command in house.main.commands] == [
        {"do": do, **FIELDS.get(do, {})} for do in COMMAND_FIELDS
    ]


NO_COMMANDS = [
    b"", b"[]", b"null", b"{", b'{"nope":1}', b'{"do":"power_off","confirm":true}', b"\xff", b"[" * 30000,
    b'{"line":"\\ud800","card":"7h"}', b'{"seats":1e400}',
]  # fmt: skip


@pytest.mark.parametrize("said", NO_COMMANDS)
def test_what_is_no_such_command_is_refused_in_words(house: House, said: bytes) -> None:
    """The page refuses it before the main process; a field cannot make it another command."""
    paired = house.pair()
    for do in COMMAND_FIELDS:
        reply = house.post(address(do), said, paired.headers)
        assert reply.status == 400 and reply.said["words"], do
    assert not house.main.commands


def test_a_wrong_code_an_old_code_and_a_used_code(house: House) -> None:
    """None of them pairs, and each gets its reason."""
    assert "no code" in house.post("/api/pair", {"code": "123456"}).said["words"]
    code = house.main.code()
    wrong = house.post("/api/pair", {"code": f"{(int(code) + 1) % 10**6:06d}"})
    assert wrong.status == 429
    assert wrong.header("retry-after") == "1"
    assert house.post("/api/pair", {"code": code}, client="192.168.1.50").status == 200
    assert house.post("/api/pair", {"code": code}, client="192.168.1.51").status == 409
    code = house.main.code()
    house.clock[0] += 120 * SECOND
    assert house.post("/api/pair", {"code": code}, client="192.168.1.52").status == 409
    assert len(house.control.sessions.devices(house.clock[0])) == 1


@pytest.mark.parametrize("code", ["12345", "1234567", "12345a", "١٢٣٤٥٦", "", 123456, None, ["123456"], "123456\n"])
def test_what_is_no_code_is_not_even_tried(house: House, code: Any) -> None:
    """Six digits, nothing else."""
    house.main.code()
    assert house.post("/api/pair", {"code": code}).status == 400
    assert house.main.attempts == 0


def test_a_session_ends_by_itself(house: House) -> None:
    """Its cookie opens nothing any more."""
    paired = house.pair()
    house.clock[0] += 4 * 60 * MINUTE
    assert house.post("/api/control/pause", {}, paired.headers).status == 401
    assert not house.main.commands


def test_pairing_again_ends_the_session_before(house: House) -> None:
    """A device has one; and what it had is worth nothing."""
    first = house.pair()
    code = house.main.code()
    again = house.post("/api/pair", {"code": code}, first.headers)
    assert again.status == 200
    assert len(house.control.sessions.devices(house.clock[0])) == 1
    assert house.post("/api/control/pause", {}, first.headers).status == 401


def test_devices_are_listed_and_signed_out(house: House) -> None:
    """Only to paired devices."""
    one = house.pair("Ana's phone")
    house.clock[0] += SECOND
    other = house.pair("Ben <b>")
    assert house.get("/api/devices").status == 401
    listed = house.get("/api/devices", one.headers).said["devices"]
    assert [(device["name"], device["own"]) for device in listed] == [("Ana's phone", True), ("Ben <b>", False)]
    assert house.post("/api/devices/sign-out", {"device": listed[1]["id"]}, one.headers).status == 200
    assert house.get("/api/devices", other.headers).status == 401
    assert house.post("/api/devices/sign-out", {"device": listed[1]["id"]}, one.headers).status == 409
    assert house.post("/api/devices/sign-out", {"all": True}, one.headers).status == 200
    assert house.post("/api/control/pause", {}, one.headers).status == 401


def test_a_page_learns_its_own_token_and_nobody_elses(house: House) -> None:
    """Without pairing there is none."""
    paired = house.pair("Ana's phone")
    said = house.get("/api/session", paired.headers).said
    assert (said["paired"], said["device"], said["csrf"]) == (True, "Ana's phone", paired.csrf)
    assert house.get("/api/session").said["csrf"] is None


def test_secrets_are_in_no_answer_but_the_cookie(house: House, caplog: pytest.LogCaptureFixture) -> None:
    """Neither token nor code appears in an answer or a log."""
    caplog.set_level(0)
    code = house.main.code()
    reply = house.post("/api/pair", {"code": code})
    cookie = (reply.header("set-cookie") or "").partition(";")[0]
    token = cookie.partition("=")[2]
    paired = Paired(cookie, reply.said["csrf"], "")
    read = (house.get(path, paired.headers).body for path in ("/api/session", "/api/devices", "/api/openapi.json"))
    answers = [reply.body, *read]
    answers.append(house.post("/api/control/pause", {}, paired.headers).body)
    assert not any(token.encode() in body or code.encode() in body for body in answers)
    assert token not in caplog.text
    assert code not in caplog.text


def test_house_rules_are_checked_as_they_are_typed(house: House) -> None:
    """Mistakes with their place, or the rules in words."""
    paired = house.pair()
    text = 'title = "Ours"\non = ["P8"]\n[patterns]\ntwins = "rank(1) = rank(2)"\n'
    good = house.post("/api/rules/check", {"text": text}, paired.headers)
    assert good.status == 200
    assert (good.said["accepted"], good.said["title"]) == (True, "Ours")
    assert any(row["row"] == "P8" for row in good.said["rows"])
    bad = house.post(
        "/api/rules/check", {"text": 'on = ["P8"]\n[patterns]\ntwins = "rank(1) = = rank(2)"\n'}, paired.headers
    )
    assert bad.said["accepted"] is False
    assert bad.said["mistakes"][0]["line"] == 3
    assert house.post("/api/rules/check", {"text": "x" * 9000}, paired.headers).status == 400
    long = house.post("/api/rules/check", {"text": "a" + ".a" * 3000 + " = 1"}, paired.headers)
    assert "break the line" in long.said["mistakes"][0]["words"]
    assert not house.main.commands


def test_rules_that_were_checked_are_rules_to_begin_with(house: House) -> None:
    """The check returns the form that begin takes."""
    paired = house.pair()
    rules = house.post("/api/rules/check", {"text": 'on = ["P8"]'}, paired.headers).said["rules"]
    begun = house.post("/api/control/begin", {"seats": ["A", "B"], "rules": rules}, paired.headers)
    assert begun.status == 200


def test_without_a_main_process_the_page_says_so(tmp_path: Path) -> None:
    """Pairing is impossible, because no table can show a code."""

    control = Control(tmp_path, clock=lambda: 5)
    token = control.sessions.begin("phone", 5)
    app = Guard(Starlette(routes=control.routes()), control.sessions, hosts=HOSTS, limits=LIMITLESS, clock=lambda: 5)
    headers = [("host", HOST), ("origin", OWN), ("content-type", "application/json"), ("cookie", f"referee={token}"),
               ("x-csrf-token", csrf_of(token))]  # fmt: skip
    for path, body in (("/api/pair", b'{"code":"123456"}'), ("/api/control/pause", b"{}")):
        reply = asyncio.run(request(app, "POST", path, headers, [body]))
        assert (reply.status, reply.said["words"]) == (503, NO_GAME)


# The whole page


def test_the_page_of_every_route_has_nothing_inline(whole: tuple[House, Path]) -> None:
    """Its policy allows only its own files for scripts and styles."""
    house, _ = whole
    paths = (
        "/",
        "/projector",
        "/control",
        "/rules",
        "/games",
        "/games/1",
        "/games/1/replay",
        "/figures",
        "/finish",
        "/league",
    )
    for path in paths:
        html = house.get(path).body.decode()
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|javascript:|data:", html), path


def test_a_paired_device_takes_a_backup_with_one_click(whole: tuple[House, Path], tmp_path: Path) -> None:
    """No other visitor does: it holds names. It is what `referee backup` writes, and `referee restore` takes."""
    house, path = whole
    assert house.get("/backup.zip").status == 401
    reply = house.get("/backup.zip", house.pair().headers)
    assert reply.status == 200 and (reply.header("content-disposition") or "").startswith("attachment; filename=")
    file = tmp_path / "table.zip"
    file.write_bytes(reply.body)
    other = Places(tmp_path / "other" / "record.db", None, tmp_path / "decks")
    restore(file, other, "20260502T100000")
    with Record(path, read_only=True) as record, Record(other.record, read_only=True) as restored:
        assert list(restored.sealed_lines(1)) == list(record.sealed_lines(1))


def test_a_record_that_is_too_large_or_missing_is_not_taken_by_the_page(whole: tuple[House, Path]) -> None:
    house, path = whole
    paired = house.pair()
    with path.open("r+b") as file:
        file.truncate(65 << 20)
    reply = house.get("/backup.zip", paired.headers)
    assert reply.status == 422 and b"is too large to be copied by the page" in reply.body
    path.unlink()
    assert house.get("/backup.zip", paired.headers).status == 503
