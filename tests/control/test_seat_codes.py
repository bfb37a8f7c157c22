"""Codes of seats: which of them are valid, and until when."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from referee.control.seat_codes import (
    EVENING,
    begin_evening,
    call_in,
    hand_on,
    make_seat_codes,
    read_seat_codes,
    why_ended,
)
from referee.units import SECOND

NIGHT = 100 * EVENING
PHONES = {1: "", 2: "", 3: ""}
NAMES = {1: "Ana", 2: "Ben", 3: "Cho"}


def made(folder: Path, names: dict[int, str] = NAMES, now: int = NIGHT) -> dict[int, str]:
    """Return by seat the codes with which a game begins."""
    return {code.seat: code.code for code in make_seat_codes(folder, dict.fromkeys(names, ""), names, now=now)}


def test_a_rematch_keeps_every_code(tmp_path: Path) -> None:
    assert made(tmp_path) == made(tmp_path, now=NIGHT + EVENING)
    assert len({code.code for code in read_seat_codes(tmp_path)}) == 3


def test_a_start_of_the_program_begins_a_new_evening(tmp_path: Path) -> None:
    before = made(tmp_path)
    begin_evening(tmp_path, goes_on=False, now=NIGHT + SECOND)
    assert read_seat_codes(tmp_path) == []
    after = made(tmp_path, now=NIGHT + 2 * SECOND)
    assert not set(before.values()) & set(after.values())
    words, seat = why_ended(tmp_path, before[2])
    assert words.startswith("Ben: this code was for another evening") and seat == 2


def test_a_game_that_was_broken_off_goes_on_with_its_phones_that_evening(tmp_path: Path) -> None:
    before = made(tmp_path)
    begin_evening(tmp_path, goes_on=True, now=NIGHT + EVENING)
    assert made(tmp_path, now=NIGHT + EVENING) == before
    begin_evening(tmp_path, goes_on=True, now=NIGHT + 3 * EVENING)
    assert read_seat_codes(tmp_path) == []


def test_the_walk_hands_its_phones_on_to_one_start(tmp_path: Path) -> None:
    before = made(tmp_path)
    hand_on(tmp_path)
    begin_evening(tmp_path, goes_on=False, now=NIGHT + SECOND)
    assert made(tmp_path, now=NIGHT + SECOND) == before
    begin_evening(tmp_path, goes_on=False, now=NIGHT + 2 * SECOND)
    assert read_seat_codes(tmp_path) == []


def test_a_program_that_never_stops_makes_new_codes_for_the_next_evening(tmp_path: Path) -> None:
    before = made(tmp_path)
    assert not set(before.values()) & set(made(tmp_path, now=NIGHT + EVENING + 1).values())


@pytest.mark.parametrize("now", [NIGHT - 1, 0])
def test_codes_from_before_the_machine_was_switched_off_have_ended(tmp_path: Path, now: int) -> None:
    before = made(tmp_path)
    assert not set(before.values()) & set(made(tmp_path, now=now).values())


def test_a_phone_moves_with_its_person_and_who_sits_down_anew_scans_anew(tmp_path: Path) -> None:
    before = made(tmp_path)
    after = made(tmp_path, {1: "Ana", 2: "Cho", 3: "Dan"})
    assert after[1] == before[1] and after[2] == before[3]
    assert after[3] not in before.values()
    words, seat = why_ended(tmp_path, before[2])
    assert words.startswith("Ben: ") and seat is None, "Ben is not here any more"


def test_a_key_stays_with_its_seat(tmp_path: Path) -> None:
    (first,) = make_seat_codes(tmp_path, {1: "KeyA"}, {1: "Ana"}, now=NIGHT)
    (again,) = make_seat_codes(tmp_path, {1: "KeyB"}, {1: "Ben"}, now=NIGHT)
    assert (again.code, again.key, again.name) == (first.code, "KeyB", "Ben")
    (phone,) = make_seat_codes(tmp_path, {1: ""}, {1: "Ben"}, now=NIGHT)
    assert phone.code != first.code


def test_calling_a_code_in_leaves_the_others(tmp_path: Path) -> None:
    before = made(tmp_path)
    assert call_in(tmp_path, 2, 3) == ""
    codes = {code.seat: code for code in read_seat_codes(tmp_path)}
    assert [codes[seat].code == before[seat] for seat in PHONES] == [True, False, True]
    assert [codes[seat].phones for seat in PHONES] == [1, 3, 1]
    assert why_ended(tmp_path, before[2]) == ("Ben: this code was replaced; scan the new one at the table", 2)
    assert made(tmp_path) == {seat: seat_code.code for seat, seat_code in codes.items()}, "a rematch keeps the new one"
    assert call_in(tmp_path, 7) == "seat 7's pad is neither a phone nor a browser, so there is no code to replace"


def test_a_code_that_nobody_knows_is_refused_in_words(tmp_path: Path) -> None:
    assert why_ended(tmp_path, "guessed") == ("this code was for another evening; scan the new one at the table", None)


def test_broken_codes_are_made_anew_and_only_this_user_reads_them(tmp_path: Path) -> None:
    (tmp_path / "seats.json").write_text('{"codes": [{]')
    assert read_seat_codes(tmp_path) == []
    assert len(made(tmp_path)) == 3
    assert stat.S_IMODE((tmp_path / "seats.json").stat().st_mode) == 0o600


def test_a_page_of_another_user_reads_them_in_the_common_folder(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o770)
    made(folder)
    assert stat.S_IMODE((folder / "seats.json").stat().st_mode) == 0o660
