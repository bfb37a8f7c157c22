"""Codes and sessions: their lifetimes, the limits on wrong codes, and that no device is locked out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.control.pairing_code import MOST_DIGITS, Pairing, Terms, random_code
from referee.units import MINUTE, SECOND
from referee.web.security.sessions import Sessions, clean_name, csrf_fits, csrf_of
from tests.web.browser import House

TERMS = Terms()


def pairing(*codes: str) -> Pairing:
    waiting = list(codes or ("123456", "222222", "333333"))
    return Pairing(TERMS, lambda _digits: waiting.pop(0))


def test_the_right_code_pairs_once() -> None:
    """A used code is worth nothing."""
    pairs = pairing()
    assert pairs.attempt(pairs.show(0), "phone", SECOND).accepted
    again = pairs.attempt("123456", "phone", 2 * SECOND)
    assert not again.accepted
    assert "no code is being shown" in again.words


def test_a_code_dies_after_two_minutes() -> None:
    """To the nanosecond."""
    pairs = pairing()
    pairs.show(0)
    assert not pairs.attempt("123456", "phone", TERMS.life).accepted
    pairs = pairing()
    pairs.show(0)
    assert pairs.attempt("123456", "phone", TERMS.life - 1).accepted


def test_without_a_code_nothing_is_counted() -> None:
    """A guess before a code is shown is no try at that code."""
    pairs = pairing()
    for _ in range(1000):
        assert not pairs.attempt("123456", "bot", 0).accepted
    pairs.show(0)
    for number in range(TERMS.together - 1):
        pairs.attempt("000000", f"bot{number}", 0)
    assert pairs.attempt("123456", "bot", 0).accepted


def test_asked_again_soon_the_same_code_is_shown() -> None:
    """A person may be typing it; but not one that is nearly over, or that was guessed at."""
    pairs = pairing()
    assert pairs.show(0) == pairs.show(60 * SECOND) == "123456"
    assert pairs.show(TERMS.life - TERMS.again + 1) == "222222"
    pairs.attempt("000000", "bot", TERMS.life)
    assert pairs.show(TERMS.life + SECOND) == "333333"


def test_an_address_has_three_wrong_codes_and_waits_between() -> None:
    """Even the right one comes too late then; another code allows three more."""
    pairs = pairing()
    pairs.show(0)
    now = 0
    for _ in range(3):
        wrong = pairs.attempt("000000", "bot", now)
        assert not wrong.accepted
        assert wrong.wait
        early = pairs.attempt("123456", "bot", now + wrong.wait - 1)
        assert not early.accepted
        now += wrong.wait
    assert not pairs.attempt("123456", "bot", now).accepted
    assert pairs.attempt(pairs.show(now), "bot", now + TERMS.longest_wait).accepted


def test_the_wait_grows_and_has_an_end() -> None:
    """1, 2, 4, 8, 15, 15 ... seconds, for every client; forgotten after ten quiet minutes."""
    pairs = pairing()
    pairs.show(0)
    waits = [pairs.attempt("000000", f"bot{n}", 0).wait // SECOND for n in range(7)]
    assert waits == [1, 2, 4, 8, 15, 15, 15]
    pairs.show(TERMS.forgotten)
    assert pairs.attempt("000000", "bot9", TERMS.forgotten).wait == SECOND


def test_who_was_wrong_before_tries_a_new_code_at_once() -> None:
    """The table showed the new code; the wait is for guesses at one code."""
    pairs = pairing()
    pairs.show(0)
    for number in range(9):
        pairs.attempt("000000", f"bot{number}", 0)
    assert pairs.attempt("000000", "phone", 0).wait == TERMS.longest_wait
    assert pairs.attempt(pairs.show(1), "phone", 1).accepted


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 20)), max_size=300), st.integers(0, 100))
@settings(max_examples=60, deadline=None)
def test_who_has_not_tried_is_never_made_to_wait(tries: list[tuple[int, int]], seconds: int) -> None:
    """Whatever thirty-one other addresses did: the table's own phone gets in at once."""
    pairs = pairing("123456", "222222")
    pairs.show(0)
    now = 0
    for bot, wait in tries:
        now = min(now + wait * SECOND // 10, seconds * SECOND)
        assert not pairs.attempt("000000", f"bot{bot}", now).accepted
    assert pairs.attempt("123456", "the table's phone", seconds * SECOND).accepted


def test_a_code_stands_a_hundred_guesses_and_no_more() -> None:
    """A ten-thousandth of all codes; then it is dead, and all clients need the next one."""
    pairs = pairing()
    pairs.show(0)
    for number in range(TERMS.together):
        assert not pairs.attempt("000000", f"bot{number}", 0).accepted
    dead = pairs.attempt("123456", "phone", 0)
    assert not dead.accepted
    assert pairs.attempt(pairs.show(SECOND), "phone", SECOND).accepted


def test_codes_that_many_addresses_use_up_grow_until_nobody_can() -> None:
    """The odds of a guess stay constant; and the table's own people get in."""
    pairs, lengths, now = Pairing(TERMS, lambda digits: "1" * digits), [6, 8, 10], 0
    for length in lengths[:-1]:
        code = pairs.show(now)
        assert len(code) == length
        for number in range(TERMS.together * 10 ** (length - 6)):
            assert not pairs.attempt(
                "0" * length, f"bot{number // TERMS.each}", now + TERMS.longest_wait * (number % 3)
            ).accepted
        now += TERMS.life
        assert not pairs.attempt(code, "phone", now).accepted
    code = pairs.show(now)
    assert len(code) == MOST_DIGITS == lengths[-1]
    for number in range(20_000):
        assert not pairs.attempt("0" * 10, f"bot{number}", now).accepted
    assert len(pairs._shown.wrong) <= 4096, "what is remembered of them has an end"  # type: ignore[union-attr]
    assert pairs.attempt(code, "phone", now + SECOND).accepted
    assert len(pairs.show(now + TERMS.forgotten)) == 6, "after a quiet while all is as at first"


def test_no_code_is_in_what_is_printed_of_it() -> None:
    """A log that prints objects must not print codes."""
    pairs = pairing()
    pairs.show(0)
    assert "123456" not in repr(vars(pairs))


def test_codes_have_six_digits_and_differ() -> None:
    """Leading zeros included."""
    codes = {random_code() for _ in range(200)}
    assert all(len(code) == 6 and code.isdecimal() for code in codes)
    assert len(codes) > 190


def sessions(kept: list[Any] | None = None) -> Sessions:
    def keep(what: list[dict[str, Any]]) -> None:
        if kept is not None:
            kept[:] = [json.loads(json.dumps(what))]

    return Sessions(changed=keep)


def test_a_session_ends_unused_and_ends_anyway() -> None:
    """Four hours without use, a day with it."""
    known = sessions()
    token = known.begin("phone", 0)
    assert known.find(token, 4 * 60 * MINUTE - 1)
    assert not known.find(token, 8 * 60 * MINUTE)
    token = known.begin("phone", 0)
    for hour in range(24):
        assert known.find(token, hour * 60 * MINUTE)
    assert not known.find(token, 24 * 60 * MINUTE)
    assert known.devices(24 * 60 * MINUTE) == []


def test_only_hashes_are_kept_and_they_come_back() -> None:
    """The stored hashes open nothing, and a restart of the page signs no device out."""
    kept: list[Any] = []
    known = sessions(kept)
    token = known.begin("Ana's phone", 5)
    assert token not in json.dumps(kept)
    again = sessions()
    again.restore(kept[0], 10)
    found = again.find(token, 10)
    assert found is not None
    assert found.name == "Ana's phone"
    assert not again.find(kept[0][0]["digest"], 10)


RAW = {"digest": "d", "id": "a", "name": "b", "paired": 0, "used": 0}
NONSENSE: list[Any] = [
    None,
    3,
    "x",
    [3],
    [{}],
    [RAW | {"digest": 1}],
    [RAW | {"paired": True}],
    [RAW | {"paired": 50, "used": 60}],
]


@pytest.mark.parametrize("kept", NONSENSE)
def test_what_was_kept_and_makes_no_sense_is_left_out(kept: Any) -> None:
    """Damaged entries, and entries from the future."""
    known = sessions()
    known.restore(kept, 10)
    assert known.devices(10) == []


def test_signing_out_one_or_all() -> None:
    """Each device separately, or all."""
    known = sessions()
    one, other = known.begin("one", 0), known.begin("other", 1)
    found = known.find(one, 2)
    assert found is not None
    assert known.sign_out(found.id)
    assert not known.sign_out(found.id)
    assert known.find(one, 2) is None
    assert known.find(other, 2)
    known.sign_out_all()
    assert known.find(other, 2) is None


def test_the_device_unused_for_longest_makes_room() -> None:
    """Thirty-two at most."""
    known = sessions()
    tokens = [known.begin(f"d{n}", n) for n in range(32)]
    known.find(tokens[0], 40)
    known.begin("one more", 50)
    assert known.find(tokens[0], 50)
    assert not known.find(tokens[1], 50)
    assert len(known.devices(50)) == 32


@given(st.text(max_size=80))
def test_no_token_but_its_own_opens_a_session(given_: str) -> None:
    """The cookie may hold any text."""
    known = sessions()
    known.begin("phone", 0)
    assert known.find(given_, 0) is None


def test_a_pages_token_is_its_sessions_own() -> None:
    """Derived from the cookie, which no script and no other page can read."""
    known = sessions()
    one, other = known.begin("a", 0), known.begin("b", 0)
    assert csrf_fits(one, csrf_of(one))
    assert not csrf_fits(one, csrf_of(other))
    assert not csrf_fits(one, "")
    assert not csrf_fits(one, "\udcff")


@given(st.one_of(st.text(max_size=200), st.none(), st.integers()))
def test_a_devices_name_is_one_short_line(said: Any) -> None:
    """It is shown to others."""
    name = clean_name(said)
    assert 0 < len(name) <= 40
    assert name.isprintable()


def test_use_is_kept_once_a_minute_only() -> None:
    """Flash memory cards wear out."""
    kept: list[int] = []
    known = Sessions(changed=lambda _: kept.append(1))
    token = known.begin("phone", MINUTE)
    for second in range(60, 240):
        known.find(token, second * SECOND)
    assert len(kept) == 3


def test_sessions_outlive_the_page_but_not_the_machine(tmp_path: Path) -> None:
    """The page is restarted: still paired. Another boot: not."""
    paired = House(tmp_path).pair()
    assert House(tmp_path).get("/api/session", paired.headers).said["paired"]
    file = tmp_path / "sessions.json"
    assert file.stat().st_mode & 0o777 == 0o600
    token = paired.cookie.partition("=")[2]
    assert token not in file.read_text()
    file.write_text(file.read_text().replace('"boot": "', '"boot": "x'))
    assert not House(tmp_path).get("/api/session", paired.headers).said["paired"]


def test_a_paired_device_may_invite_another(tmp_path: Path) -> None:
    house = House(tmp_path)
    assert house.post("/api/devices/invite", {}).status == 401
    phone = house.pair()
    reply = house.post("/api/devices/invite", {}, [("cookie", phone.cookie), ("x-csrf-token", phone.csrf)])
    digits = reply.said["words"].rpartition(" ")[2]
    assert reply.status == 200 and digits == house.main.code()
    assert house.post("/api/pair", {"code": digits, "device": "another"}).status == 200
