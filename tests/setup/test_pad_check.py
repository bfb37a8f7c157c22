"""`referee calibrate pads`: its results at pads with a known truth, and its output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hardware.pads.measurement import NotOneBlow, blow, difference, errors, touches
from hardware.pads.slaps import PadFilter
from hardware.ports import Edge
from hardware.simulated.devices.pad_hands import Nature, SimulatedHands, example
from referee.cli import build_parser
from referee.engine.observations import Other, Slap
from referee.errors import UserError
from referee.settings.file import SettingsText
from referee.settings.model import PadsMeasured, SettingsError, example_settings, parse_settings
from referee.setup.calibration.pad_check import HAND_PATIENCE, PadCheck, check_simulated_pads, store_measured_pads
from referee.setup.wired_devices import pad_filter
from referee.units import MS

NAMES = ("Ana", "Ben", "Cho", "Dora", "Emil", "Fay", "Gus", "Hana")
LOOK = 500_000
"""Interval of the shell's looks at a release, ns."""


def checked(nature: Nature, *, board: bool = True, blows: int = 8) -> PadCheck:
    check = PadCheck(NAMES[: len(nature.bounce)], 0, blows=blows, board=board)
    check_simulated_pads(check, nature)
    return check


@pytest.mark.parametrize("seats", [2, 4, 8])
def test_what_is_measured_is_what_is_true(seats: int) -> None:
    nature = example(seats)
    check = checked(nature, blows=20)
    result = check.result()
    for a in range(1, seats + 1):
        truth = nature.bounce[a - 1]
        assert truth * 0.7 <= check.bounce(a) <= truth
        assert truth <= result.bounce_us[a - 1] * 1000 + truth // 10
        for b in range(1, seats + 1):
            longest = nature.echo[a - 1][b - 1]
            assert bool(check.echo(a, b)) == bool(longest)
            assert longest * 0.7 <= check.echo(a, b) <= longest + LOOK
            assert longest <= result.crosstalk_us[a - 1][b - 1] * 1000


def test_a_pad_that_disagrees_with_its_neighbours_states_more() -> None:
    nature = example(4)
    result = checked(nature, blows=20).result()
    worst = max(result.t_error_us)
    assert result.t_error_us.index(worst) == 2
    # The slow pad answers up to 4.8 ms after a blow, the others up to 2.0, in the mean 1.0.
    assert 2 * nature.answer[2] - nature.answer[0] <= worst * 1000 + LOOK <= 6 * MS
    assert [error for seat, error in enumerate(result.t_error_us) if seat != 2] == [1_500] * 3


def test_without_a_board_the_error_is_as_stated_and_the_words_say_so() -> None:
    check = checked(example(4), board=False)
    assert check.result().t_error_us == (1_500,) * 4
    assert all("not measured: one pad alone cannot tell" in line for line in check.words()[:4])


def test_the_words() -> None:
    nature = Nature((0, 2_000_000, 0), ((0, 0, 0), (0, 0, 0), (0, 1_200_000, 0)), (1_000_000,) * 3)
    words = checked(nature).words()
    assert words[0] == "Ana: bounces for 0.0 ms, hears no other hand; stated error ± 1.5 ms"
    assert words[1].startswith("Ben: bounces for ")
    assert "hears Cho's hand for 1." in words[1]
    assert len(words) == 3


def test_an_echo_as_long_as_a_hand_is_to_be_mended() -> None:
    nature = Nature((0, 0), ((0, 12 * MS), (0, 0)), (1_000_000,) * 2)
    assert "nothing can tell the two apart" in checked(nature).words()[-1]


def test_a_cut_wire_is_named_and_the_others_are_measured() -> None:
    nature = example(4)
    check = checked(Nature(nature.bounce, nature.echo, nature.answer, dead=(2,)))
    assert check.silent == [2]
    assert "Ben: was not heard; nothing was measured" in check.words()
    assert sorted(check.blows) == [1, 3, 4]
    assert sorted(check.differences) == [(1, 4), (3, 4)]


def test_what_was_measured_makes_the_filter_drop_the_echo_and_keep_the_hand() -> None:
    text = edited(example_settings(), checked(example(4), blows=20).result())
    settings = parse_settings(text)
    hands = SimulatedHands(example(len(settings.seats)), seed=9)
    for pads, echoes in ((pad_filter(settings, 0), True), (PadFilter(len(settings.seats)), False)):
        seen = []
        for number in range(30):
            for contact in hands.hit([1 + number % 4], (1 + number) * 1_000 * MS):
                error = 1_500_000 if contact.pressed else 0
                pads.feed(Edge(contact.seat, contact.t, pressed=contact.pressed, t_error=error))
        seen = pads.advance(60_000 * MS)
        assert sum(isinstance(line, Other) for line in seen) == (60 if echoes else 0)
        if echoes:
            assert sum(isinstance(line, Slap) for line in seen) == 30


# Errors of people


def edges(seat: int, at: int, lasts: int) -> list[Edge]:
    return [Edge(seat, at * MS, pressed=True), Edge(seat, (at + lasts) * MS, pressed=False)]


@pytest.mark.parametrize(
    ("played", "words"),
    [
        (edges(2, 10, 80), "Ben: hands off"),
        ([*edges(1, 10, 80), *edges(1, 150, 80)], "too close together"),
        (edges(1, 10, 4), "that was no slap of Ana"),
    ],
)
def test_a_blow_that_is_not_what_was_asked_is_not_counted(played: list[Edge], words: str) -> None:
    check = PadCheck(NAMES[:2], 0, blows=1)
    for edge in played:
        check.feed(edge)
    (said,) = check.advance(2_000 * MS)
    assert words in said
    assert check.asking == (1,)
    for edge in edges(1, 3_000, 80):
        check.feed(edge)
    assert check.advance(4_000 * MS)[0].startswith("Ben: slap your pad")


def test_nobody_is_waited_for_for_ever() -> None:
    check = PadCheck(NAMES[:2], 0)
    assert check.advance(HAND_PATIENCE - 1) == []
    assert "Ana's pad was not heard" in check.advance(HAND_PATIENCE)[0]


def test_a_board_that_hits_one_pad_only() -> None:
    with pytest.raises(NotOneBlow, match="silent"):
        difference(1, 2, touches(edges(1, 10, 80)))
    with pytest.raises(NotOneBlow, match="apart"):
        difference(1, 2, touches([*edges(1, 10, 80), *edges(2, 60, 80)]))
    assert difference(1, 2, touches([*edges(1, 12, 80), *edges(2, 10, 80)])) == -2 * MS


def test_a_hand_on_the_way_out_is_no_bounce() -> None:
    found = touches([*edges(1, 10, 2), *edges(1, 14, 60), *edges(1, 76, 3)])
    assert [touch.lasted for touch in found] == [69 * MS]
    assert blow(1, found).bounce == 4 * MS


def test_who_is_to_blame_for_a_difference() -> None:
    assert errors(1_500, {(1, 2): 2_900, (2, 3): 5_000, (3, 4): 5_500, (1, 4): 1_000}, 4) == (
        1_500,
        1_500,
        4_000,
        1_500,
    )
    assert errors(1_500, {(1, 2): 4_000}, 2) == (2_000, 2_000)
    assert errors(1_500, {}, 2) == (1_500, 1_500)


# The file, and the command

RESULT = PadsMeasured(t_error_us=(1_500, 1_600), bounce_us=(2_100, 800), crosstalk_us=((0, 1_200), (0, 0)))
TWO = 'rules = "classic"  # as at home\n[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n'


def test_only_its_own_section_changes_and_comments_stay(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text(TWO, encoding="utf-8")
    kept = store_measured_pads(path, RESULT)
    assert kept.read_text(encoding="utf-8") == TWO
    text = path.read_text(encoding="utf-8")
    assert text.startswith(TWO.splitlines()[0])
    measured = parse_settings(text).pads_measured
    assert measured is not None
    assert (measured.t_error_us, measured.bounce_us, measured.crosstalk_us) == (
        RESULT.t_error_us, RESULT.bounce_us, RESULT.crosstalk_us,
    )  # fmt: skip
    again = edited(text, PadsMeasured(t_error_us=(1_700, 1_700), bounce_us=(0, 0), crosstalk_us=((0, 0), (0, 0))))
    assert again.count("[pads_measured]") == 1
    assert "1200" not in again


def test_measures_of_another_table_are_refused() -> None:
    with pytest.raises(SettingsError):
        edited(TWO, PadsMeasured(t_error_us=(1_500,) * 3, bounce_us=(0,) * 3, crosstalk_us=((0,) * 3,) * 3))


def edited(text: str, result: PadsMeasured) -> str:
    return SettingsText(text).with_measured("pads_measured", result.model_dump(), "referee calibrate pads").text


def run(*words: str) -> int:
    args = build_parser().parse_args(["calibrate", "pads", *words])
    status: int = args.run(args)
    return status


def test_the_command_measures_and_stores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.toml"
    path.write_text(TWO, encoding="utf-8")
    assert run("--simulated", "--board", "--settings", str(path)) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Ana: bounces for ")
    assert "stored in" in out
    assert "lay a stiff board over both pads" in err
    measured = parse_settings(path.read_text(encoding="utf-8")).pads_measured
    assert measured is not None
    assert run("--simulated", "--json", "--seats", "3") == 0
    assert len(json.loads(capsys.readouterr().out)["pads_measured"]["crosstalk_us"]) == 3


def test_the_command_says_what_it_needs() -> None:
    with pytest.raises(UserError, match="--settings FILE"):
        run()


def test_calibrate_alone_and_calibrate_pads_as_one_word_are_understood() -> None:
    parser = build_parser()
    alone = parser.parse_args(["calibrate", "--simulated"])
    assert alone.images == []
    assert parser.parse_args(["calibrate", "a.jpg", "pads"]).images == ["a.jpg", "pads"]
    words = ["--simulated", "--json", "--seats", "3", "--blows", "4", "--board"]
    one, two = parser.parse_args(["calibrate-pads", *words]), parser.parse_args(["calibrate", "pads", *words])
    assert vars(one) | {"command": ""} == vars(two) | {"command": ""}
    assert one.run is not alone.run
