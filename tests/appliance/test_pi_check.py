"""The judge of `make image-test BOARD=raspberry-debian`: it passes what is right, and catches what is not."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from hardware.pads.pinout import PAD_PINS, SEAT_LIGHT_PINS
from referee.units import MS, SECOND
from tools.image.pi_check import (
    HANDS,
    LIGHT,
    OUT,
    RED,
    ROLL_CALL,
    RULED,
    STAMP,
    Start,
    contacts_of,
    judge_hands,
    judge_lines,
    judge_roll_call,
)
from tools.pi.board import Contact, Output

GO = 90 * SECOND
"""The emulator's instant at which the roll-call's light came."""
AHEAD = 7 * SECOND
"""How far the guest's clock is behind the emulator's."""


@pytest.fixture
def right() -> Start:
    """Return a start in which every light is right."""
    contacts = [replace(it, t=it.t + GO) for it in contacts_of([*ROLL_CALL, *HANDS])]
    outputs = [Output(GO, SEAT_LIGHT_PINS[seat - 1], True) for seat, _ in ROLL_CALL]
    outputs += [Output(GO + t + 50 * MS, SEAT_LIGHT_PINS[seat - 1], False) for seat, t in ROLL_CALL]
    for seat, t in HANDS:
        light = SEAT_LIGHT_PINS[seat - 1]
        outputs += [Output(GO + t + 3 * MS, light, True), Output(GO + t + 60 * MS, light, False)]
        outputs += [Output(GO + t + SECOND, RED, True), Output(GO + t + SECOND + 160 * MS, RED, False)]
        outputs += [Output(GO + t + SECOND, light, True), Output(GO + t + SECOND + 160 * MS, light, False)]
    return Start((), tuple(contacts), tuple(sorted(outputs, key=lambda it: it.t)), 0.0)


@pytest.fixture
def lines() -> list[str]:
    """Return the lines of a record in which every hand is right."""
    told: list[dict[str, object]] = [{"kind": "table", "t": 0}]
    for number, (seat, t) in enumerate(HANDS):
        told.append({"kind": "slap", "id": f"s{number}", "seat": seat, "t": GO + t - AHEAD})
        told.append({"ruling": "slap_false", "seat": seat, "t": GO + t - AHEAD, "because": [f"s{number}"]})
    return [json.dumps(line) for line in told]


def moved(start: Start, pin: int, by: int, *, after: int = 0) -> Start:
    """Return the start with the changes of a pin later by so much."""
    late = [replace(it, t=it.t + by) if it.pin == pin and it.t >= after else it for it in start.outputs]
    return replace(start, outputs=tuple(sorted(late, key=lambda it: it.t)))


def swapped(start: Start, one: int, other: int) -> Start:
    """Return the start with two pins' lights taken for each other."""
    pins = {one: other, other: one}
    return replace(start, outputs=tuple(replace(it, pin=pins.get(it.pin, it.pin)) for it in start.outputs))


def test_what_is_right_is_passed(right: Start, lines: list[str]) -> None:
    assert [*judge_roll_call(right), *judge_hands(right), *judge_lines(lines, right)] == []


def test_a_light_of_another_seat_is_caught(right: Start) -> None:
    wrong = swapped(right, SEAT_LIGHT_PINS[0], SEAT_LIGHT_PINS[2])
    assert list(judge_roll_call(wrong)) and list(judge_hands(wrong))


def test_a_light_that_stays_or_never_comes_is_caught(right: Start) -> None:
    second = SEAT_LIGHT_PINS[1]
    assert list(judge_roll_call(moved(right, second, OUT, after=GO + 1)))
    dark = replace(right, outputs=tuple(it for it in right.outputs if it.pin != second))
    assert list(judge_roll_call(dark))
    nothing = replace(right, outputs=())
    assert len(list(judge_hands(nothing))) == 2 * len(HANDS)


def test_a_light_that_comes_late_is_caught(right: Start) -> None:
    first = SEAT_LIGHT_PINS[HANDS[0][0] - 1]
    assert list(judge_hands(moved(right, first, LIGHT, after=GO + 10 * SECOND)))
    assert list(judge_hands(moved(right, RED, RULED)))


def test_contacts_that_were_not_played_are_caught(right: Start) -> None:
    broken = replace(right, contacts=right.contacts[:-2])
    assert list(judge_hands(broken))
    assert list(judge_roll_call(replace(right, contacts=())))
    other = [replace(it, pin=PAD_PINS[4]) if it.pin == PAD_PINS[0] else it for it in right.contacts]
    assert list(judge_roll_call(replace(right, contacts=tuple(other))))


def test_a_hand_that_the_record_lacks_or_invents_is_caught(right: Start, lines: list[str]) -> None:
    assert list(judge_lines(lines[:-2], right))
    assert list(judge_lines([*lines, lines[1]], right))
    assert list(judge_lines([line.replace('"seat": 3', '"seat": 2') for line in lines], right))


def test_another_verdict_is_caught(right: Start, lines: list[str]) -> None:
    assert list(judge_lines([line.replace("slap_false", "slap_void") for line in lines], right))
    assert list(judge_lines([line for line in lines if "ruling" not in line], right))


def test_a_wrong_stamp_is_caught(right: Start, lines: list[str]) -> None:
    told = [json.loads(line) for line in lines]
    told[-2]["t"] += STAMP + 1
    assert list(judge_lines([json.dumps(line) for line in told], right))


def test_each_hand_closes_its_own_pad_and_opens_it() -> None:
    assert contacts_of([(3, SECOND)]) == [
        Contact(SECOND, PAD_PINS[2], True), Contact(SECOND + 60 * MS, PAD_PINS[2], False)
    ]  # fmt: skip
