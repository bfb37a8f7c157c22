"""The judge of `make pi-demo`: it passes what is right, and catches what is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hardware.pads.pinout import PAD_PINS, SEAT_LIGHT_PINS
from hardware.simulated.table.script import Script, play_game
from referee.demo.score import true_rulings
from referee.engine.log import encode_observation
from referee.engine.observations import Card, Slap
from referee.engine.rulings import encode_ruling
from tests.pi.demo import (
    CARDS,
    PACE,
    ROLL_CALL,
    SEED,
    STATUSES,
    TABLE_LIGHT,
    WANTED,
    contacts_of_script,
    first_lights,
    judge,
    judge_lights,
    judge_roll_call,
    judge_rulings,
    roll_call,
    steady,
)
from tests.pi.demo_guest import LOG, STATUS
from tests.pi.plan import MS
from tools.pi.board import Contact, Output, Run

BEGAN, ASKED, PICTURES = 7_000_000 * MS, 10_000 * MS, 20_000 * MS
"""The guest's clock at the first picture; the emulator's at the roll-call and at the second plan."""


@pytest.fixture(scope="module")
def script() -> Script:
    return play_game(SEED, 3, "classic", CARDS, PACE)


def log_of(script: Script) -> list[str]:
    """Return the log that ideal sensors lead to, on the guest's clock."""
    lines = [encode_observation(replace(line, t=line.t + BEGAN)) for line in script.truth]
    lines += [encode_ruling(replace(it, t=it.t + BEGAN)) for it in true_rulings(script.truth, script.duration)]
    return [LOG + line for line in lines]


def light(pin: int, begin: int, end: int) -> list[Output]:
    return [Output(begin, pin, True), Output(end, pin, False)]


def board(script: Script) -> Run:
    """Return a run in which every light is right."""
    begun = [replace(contact, t=contact.t + ASKED) for contact in roll_call()]
    played = [replace(contact, t=contact.t + PICTURES) for contact in contacts_of_script(script)]
    presses = {contact.pin: contact.t for contact in begun if contact.closed}
    outputs = [
        output
        for seat in ROLL_CALL
        for output in light(SEAT_LIGHT_PINS[seat - 1], ASKED - 500 * MS, presses[PAD_PINS[seat - 1]] + 10 * MS)
    ]
    ahead = played[0].t - script.contacts[0].t
    for ruling in true_rulings(script.truth, script.duration):
        if ruling.kind in ("slap_false", "slap_won"):
            at = next(it.t for it in script.truth if isinstance(it, Slap) and it.id in ruling.because) + ahead
            won = ruling.kind == "slap_won"
            outputs += light(SEAT_LIGHT_PINS[ruling["seat"] - 1], at + 2 * MS, at + (2_000 if won else 50) * MS)
            outputs += light(TABLE_LIGHT[won], at + 500 * MS, at + (1_500 if won else 600) * MS)
    lines = [
        *WANTED.values(), *(f"{STATUS}{command} {status}" for command, status in STATUSES.items()), *log_of(script),
    ]  # fmt: skip
    return Run(tuple(lines), (*begun, *played), tuple(sorted(outputs, key=lambda output: output.t)), 0.0)


def test_a_board_that_does_all_is_passed(script: Script) -> None:
    assert judge(script, board(script)) == []


def test_a_failed_command_and_a_missing_word_are_caught(script: Script) -> None:
    run = board(script)
    lines = [line.replace(f"{STATUS}doctor 0", f"{STATUS}doctor 1") for line in run.lines if line != WANTED["run"]]
    faults = judge(script, replace(run, lines=tuple(lines)))
    assert faults == ["referee doctor ended with 1", f"referee run never said: {WANTED['run']}"]


def test_a_command_that_never_ran_is_caught_if_it_was_to_run(script: Script) -> None:
    run = board(script)
    lines = tuple(line for line in run.lines if line not in (f"{STATUS}demo 0", WANTED["demo"]))
    faults = ["referee demo ended with no status", f"referee demo never said: {WANTED['demo']}"]
    assert judge(script, replace(run, lines=lines)) == faults
    assert judge(script, replace(run, lines=lines), ["doctor", "run"]) == []


def test_another_ruling_is_caught(script: Script) -> None:
    lines = [line.replace('"slap_false"', '"slap_void"') for line in log_of(script)]
    assert any("slap_false" in fault for fault in judge_rulings(script, lines))


def test_a_log_that_lacks_any_ruling_is_caught(script: Script) -> None:
    lines = log_of(script)
    for number in range(len(script.truth), len(lines)):
        lacking = judge_rulings(script, lines[:number] + lines[number + 1 :])
        assert any("should be" in fault for fault in lacking), lines[number]


def test_another_card_and_another_hand_are_caught(script: Script) -> None:
    card = next(line for line in script.truth if isinstance(line, Card))
    read = [line.replace(f'"{card.card}"', '"2c"') for line in log_of(script)]
    assert any("was read 2c" in fault for fault in judge_rulings(script, read))
    silent = [line for line in log_of(script) if '"slap"' not in line]
    assert any("slapped, and [] were told" in fault for fault in judge_rulings(script, silent))


def test_a_wrong_margin_is_caught(script: Script) -> None:
    won = next(it for it in true_rulings(script.truth, script.duration) if it.kind == "slap_won")
    lines = [line.replace(f'"margin":{won["margin"]}', f'"margin":{won["margin"] + MS}') for line in log_of(script)]
    assert any("and ruled was" in fault for fault in judge_rulings(script, lines))


def swapped(run: Run, one: int, other: int) -> Run:
    """Return the run with two pins' lights taken for each other."""
    pins = {one: other, other: one}
    return replace(run, outputs=tuple(replace(it, pin=pins.get(it.pin, it.pin)) for it in run.outputs))


def test_another_seats_light_is_caught(script: Script) -> None:
    wrong = swapped(board(script), SEAT_LIGHT_PINS[1], SEAT_LIGHT_PINS[2])
    assert list(judge_roll_call(wrong)) != []
    assert list(judge_lights(script, wrong)) != []


def test_a_table_light_of_another_colour_is_caught(script: Script) -> None:
    assert list(judge_lights(script, swapped(board(script), TABLE_LIGHT[0], TABLE_LIGHT[1]))) != []
    dark = board(script)
    dark = replace(dark, outputs=tuple(output for output in dark.outputs if output.pin not in TABLE_LIGHT))
    assert len(list(judge_lights(script, dark))) == 2


def test_a_white_table_light_is_not_green(script: Script) -> None:
    run = board(script)
    flash = [output for pin in TABLE_LIGHT for output in light(pin, PICTURES + 1_000 * MS, PICTURES + 1_100 * MS)]
    outputs = tuple(sorted((*run.outputs, *flash), key=lambda output: output.t))
    assert list(judge_lights(script, replace(run, outputs=outputs))) == []


def test_a_light_that_stays_dark_is_caught(script: Script) -> None:
    run = board(script)
    dark = replace(run, outputs=tuple(output for output in run.outputs if output.pin not in SEAT_LIGHT_PINS))
    assert len(list(judge_roll_call(dark))) == len(ROLL_CALL)
    assert list(judge_lights(script, dark)) != []


def test_contacts_that_broke_off_are_caught(script: Script) -> None:
    run = board(script)
    assert judge(script, replace(run, contacts=run.contacts[:-1])) == ["the contacts were not played to their end"]
    assert list(first_lights(script, replace(run, contacts=run.contacts[:6]))) == []


def test_a_dimmed_light_is_not_steady() -> None:
    dimmed = [Output(number * MS, 5, number % 5 == 0) for number in range(100)]
    assert steady(dimmed, 5, 20 * MS) == []
    assert steady([*dimmed, *light(5, 100 * MS, 120 * MS)], 5, 20 * MS) == [(100 * MS, 120 * MS)]


def test_the_roll_call_presses_each_pad_once() -> None:
    closed = [contact for contact in roll_call() if contact.closed]
    assert closed == [Contact(at * 1_000 * MS, PAD_PINS[seat - 1], True) for at, seat in enumerate(ROLL_CALL, start=1)]
