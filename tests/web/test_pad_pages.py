"""Pad pages: the access to the seats' codes, and the reports of hands."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from referee.control.page_address import PageAddress
from referee.control.seat_codes import HANDS_SOCKET, begin_evening, call_in, make_seat_codes, read_seat_codes
from referee.control.socket import NO_GAME, SOCKET_NAME, STARTING
from referee.web.board import Board
from referee.web.events import Hub
from referee.web.games_cache import GameCache
from referee.web.security.guard import HANDS
from referee.web.server import build
from referee.web.site import Site
from tests.support.patience import PATIENCE
from tests.web.browser import House, Reply, request

NEAR, FAR = "127.0.0.1", "192.0.2.77"


@pytest.fixture
def house(tmp_path: Path) -> House:
    make_seat_codes(tmp_path, {1: "", 2: "KeyL"})
    return House(tmp_path)


@pytest.fixture
def hands(tmp_path: Path) -> Iterator[socket.socket]:
    """The referee's end."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / HANDS_SOCKET))
        listening.settimeout(PATIENCE)
        yield listening


def report(code: str, **more: Any) -> bytes:
    touches = {"page": "0123456789ab", "sent": 6, "until": 5, "kind": "touch", "hands": {code: [[1, 7, 1], [2, 9, 0]]}}
    return json.dumps(touches | more).encode()


def code_of(folder: Path, seat: int) -> str:
    return next(code.code for code in read_seat_codes(folder) if code.seat == seat)


def test_a_report_is_stamped_and_handed_on_without_pairing(house: House, hands: socket.socket, tmp_path: Path) -> None:
    house.clock[0] = 123_456
    reply = house.post(HANDS, report(code_of(tmp_path, 1), echo=[1, 2]), [])
    assert reply.status == 200 and reply.said["at"] == 123_456
    assert reply.said["seats"][code_of(tmp_path, 1)] == {"seat": 1, "name": "", "heard": 2}
    told = json.loads(hands.recv(1 << 16))
    assert (told["at"], told["echo"], told["hands"]) == (123_456, [1, 2], {"1": [[1, 7, 1], [2, 9, 0]]})


def test_whoever_has_no_seats_code_slaps_for_nobody(house: House, hands: socket.socket, tmp_path: Path) -> None:
    reply = house.post(HANDS, report("guessed"), [])
    assert reply.status == 409 and "scan the new one at the table" in reply.said["words"]
    hands.setblocking(False)
    with pytest.raises(BlockingIOError):
        hands.recv(10)


def test_a_seat_whose_code_is_known_takes_no_other_along(house: House, hands: socket.socket, tmp_path: Path) -> None:
    mine = code_of(tmp_path, 1)
    house.post(HANDS, report(mine, hands={mine: [], "guessed": [[1, 7, 1]]}), [])
    assert json.loads(hands.recv(1 << 16))["hands"] == {"1": []}


def test_without_a_referee_it_is_asked_for_again(house: House, tmp_path: Path) -> None:
    reply = house.post(HANDS, report(code_of(tmp_path, 1)), [])
    assert (reply.status, reply.said["words"]) == (503, NO_GAME)


def test_a_referee_that_is_starting_is_no_missing_referee(house: House, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as main:
        main.bind(str(tmp_path / SOCKET_NAME))
        reply = house.post(HANDS, report(code_of(tmp_path, 1)), [])
    assert (reply.status, reply.said["words"]) == (503, STARTING)


# One phone a seat


def test_a_second_phone_is_told_what_to_do_and_slaps_for_nobody(
    house: House, hands: socket.socket, tmp_path: Path
) -> None:
    mine = code_of(tmp_path, 1)
    assert house.post(HANDS, report(mine, phone="the first phone"), []).status == 200
    hands.recv(1 << 16)
    reply = house.post(HANDS, report(mine, phone="another phone"), [])
    assert reply.status == 409 and "replace the code on the control page" in reply.said["words"]
    assert json.loads(hands.recv(1 << 16)) == {"refused": 1, "why": "phone", "at": house.clock[0]}


def test_a_phone_may_load_its_page_again_and_the_page_may_be_started_again(
    house: House, hands: socket.socket, tmp_path: Path
) -> None:
    mine = code_of(tmp_path, 1)
    for again in (house, house, House(tmp_path)):
        for page in ("page 0123", "page 4567"):
            assert again.post(HANDS, report(mine, phone="the first phone", page=page), []).status == 200
    assert House(tmp_path).post(HANDS, report(mine, phone="another phone"), []).status == 409


def test_the_keys_of_a_browser_work_in_every_window(house: House, hands: socket.socket, tmp_path: Path) -> None:
    keys = code_of(tmp_path, 2)
    for window in ("a browser here", "another browser"):
        assert house.post(HANDS, report(keys, kind="key", phone=window), []).status == 200


def test_as_many_phones_as_people_allow(house: House, hands: socket.socket, tmp_path: Path) -> None:
    assert call_in(tmp_path, 1, 2) == ""
    mine = code_of(tmp_path, 1)
    told = [house.post(HANDS, report(mine, phone=f"phone {n} of Ana"), []).status for n in (1, 2, 3, 1)]
    assert told == [200, 200, 409, 200]


def test_a_code_that_is_called_in_lets_the_next_phone_join(house: House, hands: socket.socket, tmp_path: Path) -> None:
    make_seat_codes(tmp_path, {1: ""}, {1: "Ana"})
    old = code_of(tmp_path, 1)
    house.post(HANDS, report(old, phone="a lost phone"), [])
    assert call_in(tmp_path, 1) == ""
    reply = house.post(HANDS, report(old, phone="a lost phone"), [])
    assert (reply.status, reply.said["words"]) == (409, "Ana: this code was replaced; scan the new one at the table")
    assert house.post(HANDS, report(code_of(tmp_path, 1), phone="a new phone"), []).status == 200


def test_last_nights_phone_is_told_so(house: House, hands: socket.socket, tmp_path: Path) -> None:
    make_seat_codes(tmp_path, {1: ""}, {1: "Ana"})
    old = code_of(tmp_path, 1)
    begin_evening(tmp_path, goes_on=False)
    make_seat_codes(tmp_path, {1: ""}, {1: "Ana"})
    reply = house.post(HANDS, report(old), [])
    assert reply.status == 409 and reply.said["words"].startswith("Ana: this code was for another evening; scan")
    assert json.loads(hands.recv(1 << 16)) == {"refused": 1, "why": "code", "at": house.clock[0]}


def test_a_phone_that_knows_anothers_code_is_told_of_by_its_own_seat(
    house: House, hands: socket.socket, tmp_path: Path
) -> None:
    make_seat_codes(tmp_path, {1: "", 2: "", 3: "KeyL"}, {1: "Ana", 2: "Ben", 3: "Cho"})
    ana, ben, cho = (code_of(tmp_path, seat) for seat in (1, 2, 3))
    for code, phone in ((ana, "Ana's phone"), (ben, "Ben's phone")):
        assert house.post(HANDS, report(code, phone=phone), []).status == 200
        hands.recv(1 << 16)
    tries = [{ana: [[1, 7, 1]]}, {ana: [[1, 7, 1]], ben: []}, {ben: [], cho: [[1, 7, 1]]}]
    for claimed in tries:
        for kind in ("touch", "key"):
            assert house.post(HANDS, report(ben, phone="Ben's phone", kind=kind, hands=claimed), []).status == 409
            told = json.loads(hands.recv(1 << 16))
            assert (told["refused"], told["why"]) == (2, "seats")


def test_a_phone_is_no_keyboard_whatever_it_says(house: House, hands: socket.socket, tmp_path: Path) -> None:
    house.post(HANDS, report(code_of(tmp_path, 1), kind="key"), [])
    house.post(HANDS, report(code_of(tmp_path, 2), kind="touch"), [])
    assert [json.loads(hands.recv(1 << 16))["kind"] for _ in range(2)] == ["touch", "key"]


# Access to the codes


def shown(folder: Path, path: str, client: str, *, secure: bool = False, device: object = None) -> Reply:
    address = PageAddress("http://localhost:8080/", "http://192.0.2.5:8080/", "")
    site = Site(
        GameCache(folder / "none"),
        Hub(Board(names=("Ana", "Ben"))),
        address=address,
        folder=folder,
        secure=secure,
    )
    app: Starlette = build(site)

    async def with_device(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "referee.device": device}, receive, send)

    return asyncio.run(request(with_device, "GET", path, [("host", "localhost")], client=client))


@pytest.fixture
def coded(tmp_path: Path) -> Path:
    make_seat_codes(tmp_path, {1: "", 2: "KeyL"})
    return tmp_path


def test_the_machine_itself_is_shown_what_phones_scan_and_which_keys_are_whose(coded: Path) -> None:
    text = shown(coded, "/pads", NEAR).body.decode()
    assert f"http://192.0.2.5:8080/pad#{code_of(coded, 1)}" in text and "Ana" in text
    assert code_of(coded, 2) in text and "KeyL" in text
    assert shown(coded, "/pads/1.svg", NEAR).status == 200
    assert shown(coded, "/pads/2.svg", NEAR).status == 404, "a key needs no phone"
    assert shown(coded, "/pads/7.svg", NEAR).status == 404


@pytest.mark.parametrize(("client", "secure"), [(FAR, False), (NEAR, True)])
def test_others_are_shown_no_code_until_they_have_paired(coded: Path, client: str, secure: bool) -> None:
    """Behind a proxy of this machine every client seems to sit at it."""
    text = shown(coded, "/pads", client, secure=secure).body.decode()
    assert code_of(coded, 1) not in text and code_of(coded, 2) not in text
    assert shown(coded, "/pads/1.svg", client, secure=secure).status == 404
    paired = shown(coded, "/pads", client, secure=secure, device=object()).body.decode()
    assert code_of(coded, 1) in paired


def test_a_phones_page_holds_no_code(coded: Path) -> None:
    text = shown(coded, "/pad", FAR).body.decode()
    assert "pad.js" in text and code_of(coded, 1) not in text
