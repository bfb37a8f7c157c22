"""The wizard: pure first, then in its shell, at the simulated table and with benches whose wires are crossed."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardware.pads.pinout import PAD_PINS, SEAT_LIGHT_PINS, TABLE_LIGHT_PINS
from hardware.simulated.devices.simulated_picamera import CameraRoom
from hardware.simulated.pictures.ambient import Lamp
from referee.cli.setup import STEP_NAMES
from referee.errors import UserError
from referee.rules.conditions import PileView
from referee.rules.house import read_house_rules
from referee.rules.matches import find_patterns
from referee.rules.presets import PRESETS
from referee.rules.rows import BY_NAME
from referee.settings.file import SettingsText, new_settings, set_values
from referee.settings.model import Settings, load_settings
from referee.setup import bench
from referee.setup.bench import Bench, SimulatedBench, try_voice
from referee.setup.calibration.report import write_picture
from referee.setup.console import listed_answers, run_wizard
from referee.setup.pads_step import assign_pins
from referee.setup.steps import STEPS
from referee.setup.wizard import DeviceCall, Question, Remark, Wizard
from tests.support.pi_room import pi_camera

SKIP = ["skip"] * len(STEPS)


class FakeBench(Bench):
    """Devices that answer at once: pads soldered as set, and everything else well."""

    def __init__(self, soldered: Sequence[int] = PAD_PINS, found: Sequence[str] = ("usb:0",)) -> None:
        self.soldered = list(soldered)
        self.found = found
        self.done: list[str] = []
        self.lit: int | None = None
        self.hits: list[int] = []
        """Seats that slap out of turn, before the requested one."""
        self.learned: list[str] = []
        self.keys: dict[int, str] = {}
        """Seats that press a key, by its place."""
        self.cards = ["USB Audio"]
        self.blocked: set[str] = set()
        """Keys that are not heard beside the others."""
        self.owners: dict[int, str] = {}

    def pin_owners(self) -> dict[int, str]:
        return self.owners

    def slap(self, seat: int, pins: Sequence[int], active_high: bool) -> int | str | None:
        if seat in self.keys:
            return self.keys[seat]
        who = self.hits.pop(0) if self.hits else seat
        pin = self.soldered[who - 1]
        return pin if pin in pins else None

    def hold_keys(self, places: Sequence[str], text: str) -> tuple[str, ...]:
        return tuple(place for place in places if place not in self.blocked)

    def measure(self, text: str) -> tuple[str | None, str]:
        return None, "not measured"

    def blink(self, pin: int, pins: Sequence[int]) -> str:
        self.lit = pin
        return ""

    def dark(self) -> None:
        self.lit = None

    def cameras(self) -> list[tuple[str, str]]:
        self.done.append("cameras")
        return [(source, f"camera {source}") for source in self.found]

    def picture(self, text: str) -> tuple[str | None, str]:
        return text, "a picture"

    def calibrate(self, text: str, by: str) -> tuple[str | None, str]:
        return None, f"the table was not found by {by}"

    def eye(self, text: str) -> tuple[str | None, str]:
        return SettingsText(text).changed({"eye.threads": 3}).text, "the eye is quick"

    def sounds(self) -> list[tuple[str, str]]:
        return [(name, "") for name in self.cards]

    def speak(self, text: str) -> str:
        voice = SettingsText(text).settings.voice
        self.done.append(f"spoken at {voice.volume}" + (f" through {voice.device}" if voice.device else ""))
        return ""

    def decks(self) -> list[str]:
        return self.learned

    def doctor(self, text: str) -> tuple[str, bool]:
        return "1 part is fine.", True

    def close(self) -> None: ...


def ask(wizard: Wizard, bench: FakeBench) -> Question | None:
    """Perform actions until a question is open; None at the end."""
    while wizard.request is not None and not isinstance(wizard.request, Question):
        request = wizard.request
        wizard.give(getattr(bench, request.what)(**request.arguments) if isinstance(request, DeviceCall) else None)
    return wizard.request


def answer_wizard(
    answers: Mapping[str, str], bench: FakeBench | None = None, draft: SettingsText | None = None
) -> Settings:
    """Return a whole run with answers by the questions' ids, and defaults."""
    wizard, table = Wizard(draft or new_settings(), STEPS), bench or FakeBench()
    while (question := ask(wizard, table)) is not None:
        assert wizard.answer(answers.get(question.id, "")) == ""
    return wizard.draft.settings


def test_every_default_is_an_answer_and_the_table_can_be_run() -> None:
    made = answer_wizard({})
    assert [seat.name for seat in made.seats] == ["Seat 1", "Seat 2", "Seat 3", "Seat 4"]
    assert [seat.pad for seat in made.seats] == list(PAD_PINS[:4])
    assert made.camera.source == "usb:0"
    assert made.eye.threads == 3, "what was measured is kept"


def test_everything_that_is_asked_is_in_the_settings() -> None:
    made = answer_wizard(
        {
            "seats.count": "3", "seats.name.1": "Zoe", "seats.name.3": "Max", "seats.standing": "280, 150 30",
            "pins.wiring": "other", "pins.pads": "2 3 4", "pins.lights": "5 6 7", "pins.table": "12 13 16",
            "pins.pads_pull": "high", "pins.force": "yes", "voice.language": "de", "voice.heard": "",
            "voice.quiet": "22:00-7:30", "voice.quiet_volume": "12", "rules.preset": "slapjack",
        },
        FakeBench([2, 3, 4]),
    )  # fmt: skip
    assert [(seat.name, seat.pad, seat.light, seat.bearing) for seat in made.seats] == [
        ("Zoe", 2, 5, 280), ("Seat 2", 3, 6, 150), ("Max", 4, 7, 30),
    ]  # fmt: skip
    assert (made.lights.table, made.pads.active_high, made.pads.force) == ((12, 13, 16), True, True)
    voice = made.voice
    assert (voice.language, voice.quiet_from, voice.quiet_to, voice.quiet_volume) == ("de", "22:00", "07:30", 12)
    assert made.rules == "slapjack"


@settings(deadline=None, max_examples=20)
@given(st.permutations(PAD_PINS), st.integers(2, 8))
def test_however_the_pads_are_crossed_the_roll_call_puts_them_right(soldered: list[int], seats: int) -> None:
    """Pads may also be on lines outside the settings."""
    made = answer_wizard({"seats.count": str(seats)}, FakeBench(soldered))
    assert [seat.pad for seat in made.seats] == soldered[:seats]


@settings(deadline=None, max_examples=20)
@given(st.permutations(range(4)))
def test_however_the_lights_are_crossed_people_put_them_right(whose: list[int]) -> None:
    """The light that blinks for seat k is seat ``whose[k]``'s; by its number or its player's name."""
    names = [str(seat + 1) if seat % 2 else f"Seat {seat + 1}" for seat in whose]
    made = answer_wizard({f"lights.seat.{k}": name for k, name in enumerate(names, start=1)})
    assert [seat.light for seat in made.seats] == [SEAT_LIGHT_PINS[whose.index(seat)] for seat in range(4)]


def test_the_colours_of_the_tables_light_are_put_right() -> None:
    red, green, blue = TABLE_LIGHT_PINS
    seen = {"lights.table.red": "blue", "lights.table.green": "red", "lights.table.blue": "green"}
    assert answer_wizard(seen).lights.table == (green, blue, red)
    assert answer_wizard({"lights.table.red": "none"}).lights.table == (red, green, blue)


def test_a_pad_that_answered_already_is_no_second_seats() -> None:
    """Seat 1 slaps twice; seat 2 is asked again, and answers."""
    bench = FakeBench()
    bench.hits = [1, 1]
    made = answer_wizard({"pads.silent.2": "retry", "seats.count": "2"}, bench)
    assert [seat.pad for seat in made.seats] == list(PAD_PINS[:2])


def test_whoever_presses_a_key_has_it_and_the_others_keep_their_wires() -> None:
    bench = FakeBench()
    bench.keys = {2: "key:a@Keys", 4: "key:btn_south@Gamepad"}
    made = answer_wizard({}, bench)
    assert [seat.pad for seat in made.seats] == [PAD_PINS[0], "key:a@Keys", PAD_PINS[2], "key:btn_south@Gamepad"]
    again = answer_wizard({}, bench, SettingsText(settings_text(bench)))
    assert again.seats == made.seats


def settings_text(bench: FakeBench) -> str:
    wizard = Wizard(new_settings(), STEPS)
    while ask(wizard, bench) is not None:
        wizard.answer("")
    return wizard.draft.text


@pytest.mark.parametrize("blocked", [set(), {"key:d@Keys"}])
def test_a_keyboard_that_cannot_hear_three_keys_together_is_named(blocked: set[str]) -> None:
    bench = FakeBench()
    bench.keys = {1: "key:a@Keys", 2: "key:s@Keys", 3: "key:d@Keys"}
    bench.blocked = blocked
    wizard, told = Wizard(new_settings(), STEPS), []
    while wizard.request is not None:
        if isinstance(wizard.request, Remark):
            told.append(wizard.request.words)
        if isinstance(wizard.request, Question):
            wizard.answer("")
        else:
            request = wizard.request
            wizard.give(getattr(bench, request.what)(**request.arguments) if isinstance(request, DeviceCall) else None)
    (words,) = (words for words in told if words.startswith("Keys "))
    assert words.startswith("Keys cannot hear these keys together: a, s, d. Not heard: " if blocked else "Keys hears")
    assert not blocked or "Not heard: Seat 3." in words


def test_a_table_without_wires_is_asked_for_none() -> None:
    bench = FakeBench()
    bench.keys = {seat: f"key:{key}" for seat, key in enumerate("asdf", start=1)}
    made = answer_wizard({"pins.wiring": "none"}, bench)
    assert not made.lights.enabled
    assert [seat.pad for seat in made.seats] == ["key:a", "key:s", "key:d", "key:f"]
    wizard = Wizard(SettingsText(settings_text(bench)).changed({"lights.enabled": False}), STEPS)
    while (question := ask(wizard, bench)) is not None and question.id != "pins.wiring":
        wizard.answer("")
    assert question is not None
    assert question.default == "none"


@pytest.mark.parametrize("seats", [2, 4, 8])
def test_pins_of_others_are_named_and_free_ones_proposed(seats: int) -> None:
    """A serial console and a sound card on the header take pins of the wiring picture."""
    bench = FakeBench(soldered=range(2, 28))
    bench.owners = {14: "the serial console", 15: "the serial console", **dict.fromkeys((18, 19, 20, 21), "I2S")}
    wizard, told = Wizard(new_settings(), [step for step in STEPS if step.name in ("seats", "pins")]), []
    while wizard.request is not None:
        request = wizard.request
        if isinstance(request, Question):
            assert wizard.answer({"seats.count": str(seats)}.get(request.id, "")) == ""
            if request.id == "pins.wiring":
                assert "picture" not in request.choices
                assert next(iter(request.choices)) == "free"
        else:
            told += [request.words] if isinstance(request, Remark) else []
            wizard.give(getattr(bench, request.what)(**request.arguments) if isinstance(request, DeviceCall) else None)
    assert "Pins that are not free: 14 15 (the serial console)." in told
    made = wizard.draft.settings
    taken = [*(seat.pad_pin for seat in made.seats), *(seat.light for seat in made.seats), *made.lights.table]
    assert len({*taken}) == 2 * seats + 3
    assert not {*taken} & bench.owners.keys()
    assert made.seats[0].pad == PAD_PINS[0], "what can stay stays"
    assert made.lights.table[0] == TABLE_LIGHT_PINS[0]


def test_a_typed_pin_of_another_is_refused_by_its_owner() -> None:
    bench = FakeBench()
    bench.owners = dict.fromkeys((18, 19, 20, 21), "I2S")
    wizard = Wizard(new_settings(), [step for step in STEPS if step.name == "pins"])
    while (question := ask(wizard, bench)) is not None and question.id != "pins.pads":
        wizard.answer({"pins.wiring": "other"}.get(question.id, ""))
    assert "pin 18 is not free (I2S); free are" in wizard.answer("4 5 6 18")
    assert wizard.answer("4 5 6 7") == ""


def test_a_header_without_enough_free_pins_is_asked_for_them() -> None:
    bench = FakeBench()
    bench.owners = dict.fromkeys(range(12, 28), "another")
    wizard = Wizard(new_settings(), [step for step in STEPS if step.name == "pins"])
    while (question := ask(wizard, bench)) is not None and question.id != "pins.wiring":
        wizard.answer("")
    assert question is not None
    assert list(question.choices) == ["other", "none"]


@given(
    st.permutations(range(2, 20)).map(lambda pins: pins[:4]),
    st.dictionaries(st.integers(1, 4), st.integers(2, 27), max_size=4),
)
def test_silent_seats_keep_their_pin_or_get_a_free_one(before: list[int], told: dict[int, int]) -> None:
    told = {seat: pin for seat, pin in told.items() if list(told.values()).count(pin) == 1}
    after = assign_pins(before, told, list(range(2, 28)))
    assert len(set(after)) == len(before)
    assert all(after[seat - 1] == pin for seat, pin in told.items())
    kept = [k for k, pin in enumerate(before) if k + 1 not in told and pin not in told.values()]
    assert all(after[k] == before[k] for k in kept)


@pytest.mark.parametrize(
    ("step", "id", "text"),
    [
        ("seats", "seats.count", "9"), ("seats", "seats.count", "four"), ("seats", "seats.name.2", "seat 1"),
        ("seats", "seats.name.1", "x" * 30), ("seats", "seats.standing", "10 20 100 200"),
        ("seats", "seats.standing", "north"), ("pins", "pins.wiring", "x"), ("pins", "pins.pads", "4 4 5 6"),
        ("pins", "pins.pads", "4 5 6"), ("pins", "pins.lights", "4 20 21 22"), ("pins", "pins.table", "1 2 28"),
        ("pins", "pins.pads", "8 9 10 11"),
        ("pins", "pins.force", "maybe"), ("camera", "camera.calibrate", "s"), ("voice", "voice.heard", "101"),
        ("voice", "voice.quiet", "22-7"), ("voice", "voice.quiet", "24:00-07:00"), ("voice", "voice.language", "it"),
        ("rules", "rules.preset", "clasic"), ("rules", "rules.preset", "no-such-file.toml"),
        ("rules", "rules.switches", "sandwich, nothing"),
    ],
)  # fmt: skip
def test_an_answer_that_cannot_be_is_asked_for_again(step: str, id: str, text: str) -> None:  # noqa: A002
    wizard, bench = (
        Wizard(new_settings(Path()), [known_step for known_step in STEPS if known_step.name == step]),
        FakeBench(),
    )
    while (question := ask(wizard, bench)) is not None and question.id != id:
        wizard.answer({"pins.wiring": "other", "pins.force": "yes"}.get(question.id, ""))
    assert question is not None
    complaint = wizard.answer(text)
    # An `s` is how one answer alone begins.
    assert (complaint != "") == (id != "camera.calibrate")
    assert (wizard.request is question) == (complaint != "")


class SoundCard:
    """Stands for the sounddevice module: its card takes blocks as fast as it gets them, and keeps them."""

    class PortAudioError(Exception):
        """As sounddevice's."""

    def __init__(self) -> None:
        self.played: list[Any] = []
        self._ended = threading.Event()

    def OutputStream(self, **how: Any) -> Any:  # noqa: N802 - sounddevice's name
        self._thread = threading.Thread(target=self._pull, args=(how["callback"],), daemon=True)
        return self

    def _pull(self, callback: Any) -> None:
        while not self._ended.wait(0.001):
            block = np.zeros((2048, 1), np.float32)
            callback(block, len(block), None, SimpleNamespace(output_underflow=False))
            self.played.append(block[:, 0])

    def start(self) -> None:
        self._thread.start()

    def abort(self, ignore_errors: bool = True) -> None:
        self._ended.set()
        self._thread.join()

    def close(self, ignore_errors: bool = True) -> None: ...


def test_a_learned_deck_can_be_chosen_and_left() -> None:
    bench = FakeBench()
    assert answer_wizard({"rules.deck": "x"}, bench).deck is None, "nothing is asked where none was learned"
    bench.learned = ["old-tarot", "skat"]
    draft = new_settings().changed({"deck": "skat"})
    assert answer_wizard({"rules.deck": "old"}, bench).deck == "old-tarot"
    assert answer_wizard({}, bench, draft).deck == "skat"
    assert answer_wizard({"rules.deck": "ordinary"}, bench, draft).deck is None


@pytest.mark.parametrize(
    ("source", "before", "answer", "after"),
    [
        ("usb:0", (1536, 864), "", (1280, 720)),
        ("usb:0", (800, 600), "", (800, 600)),
        ("usb:0", (1280, 720), "1920x1080", (1920, 1080)),
        ("picamera", (2304, 1296), "", (2304, 1296)),
        ("picamera", (1280, 720), "", (1536, 864)),
    ],
)
def test_a_picture_is_of_a_size_that_the_camera_gives(
    source: str, before: tuple[int, int], answer: str, after: tuple[int, int]
) -> None:
    draft = new_settings().changed({"camera.width": before[0], "camera.height": before[1]})
    camera = answer_wizard({"camera.size": answer}, FakeBench(found=(source,)), draft).camera
    assert (camera.width, camera.height) == after


def test_the_mains_are_asked_where_no_lamp_told_them() -> None:
    kept = [answer_wizard({"camera.mains": answer}).camera for answer in ("50", "60", "")]
    assert [(camera.mains_hz, camera.fps) for camera in kept] == [(50, 25.0), (60, 30.0), (None, 30.0)]
    known = new_settings().changed({"camera.mains_hz": 60})
    assert answer_wizard({"camera.mains": "50"}, draft=known).camera.mains_hz == 60, "what was measured is not asked"


def test_the_set_ups_picture_is_sharp_and_what_the_camera_found_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = CameraRoom(focus=2.0, light=20_000.0, lamp=Lamp(50, 0.2))
    monkeypatch.setattr(bench, "open_camera_of", lambda _: pi_camera(room))
    text, words = Bench(tmp_path / "table.toml").picture(
        new_settings(tmp_path).changed({"camera.source": "picamera"}).text
    )
    assert "it is what the camera sees" in words
    assert text is not None
    camera = SettingsText(text).settings.camera
    assert camera.lens_position == pytest.approx(2.0, abs=0.01)
    assert (camera.mains_hz, camera.fps) == (50, 25.0)
    assert camera.exposure_us * camera.gain == pytest.approx(20_000, rel=0.05)


def test_the_bare_table_is_looked_at_where_its_cloth_is_printed() -> None:
    class Printed(FakeBench):
        def bare(self, text: str) -> tuple[str | None, str]:
            self.done.append("bare")
            return SettingsText(text).changed({"camera.bare_table": "table.bare.png"}).text, "kept"

    bench = Printed()
    assert answer_wizard({"camera.bare": "yes"}, bench).camera.bare_table == "table.bare.png"
    assert bench.done.count("bare") == 1
    assert answer_wizard({}, Printed()).camera.bare_table == ""


# Back, again, skip, stop


def trace(wizard: Wizard, bench: FakeBench) -> tuple[Any, ...]:
    """Return where a run of the wizard stands."""
    question = ask(wizard, bench)
    return (wizard.at, question and (question.id, question.words, question.default), wizard.draft.text)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.sampled_from(["", "", "2", "yes", "none", "Ana", "other", "again", "skip", "x"]), max_size=25))
def test_back_is_where_one_was(answers: list[str]) -> None:
    """After any way there, an answer and `back` change nothing; and the settings are usable at every step."""
    wizard, bench = Wizard(new_settings(), STEPS), FakeBench()
    for text in answers:
        before = trace(wizard, bench)
        if before[1] is None:
            break
        taken = wizard.answer("") == ""
        if taken and trace(wizard, bench)[0] == before[0]:
            wizard.answer("back")
            assert trace(wizard, bench) == before
        elif ask(wizard, bench) is not None:
            wizard.answer(text)
    assert len(wizard.draft.settings.seats) >= 2


def test_back_undoes_a_whole_step_and_does_nothing_to_a_device() -> None:
    wizard, bench = Wizard(new_settings(), STEPS[:2]), FakeBench()
    first = trace(wizard, bench)
    while wizard.at == 0:
        ask(wizard, bench)
        wizard.answer("3" if trace(wizard, bench)[1][0] == "seats.count" else "")
    assert len(wizard.draft.settings.seats) == 3
    wizard.answer("back")
    assert trace(wizard, bench) == first
    wizard.answer("back")
    assert trace(wizard, bench) == first


def test_back_passes_by_a_step_that_has_nothing_to_ask() -> None:
    """Without lights their step has no question; from the camera one goes back to the pads."""
    draft = new_settings().changed({"lights.enabled": False})
    wizard, bench = Wizard(draft, STEPS[2:5]), FakeBench(found=("usb:0", "usb:2"))
    for text in ("no", "back"):
        ask(wizard, bench)
        wizard.answer(text)
    question = ask(wizard, bench)
    assert question is not None
    assert question.id == "pads.roll_call"


def test_back_in_the_camera_step_takes_no_second_look_for_cameras() -> None:
    wizard, bench = Wizard(new_settings(), [STEPS[4]]), FakeBench(found=("usb:0", "usb:2"))
    for text in ("usb:2", "", "back", "back"):
        ask(wizard, bench)
        wizard.answer(text)
    question = ask(wizard, bench)
    assert question is not None
    assert (question.id, bench.done) == ("camera.source", ["cameras"])


def voice_walk(bench: FakeBench, answers: Sequence[str], draft: SettingsText | None = None) -> Wizard:
    """Return the voice step with this answer."""
    wizard = Wizard(draft or new_settings(), [STEPS[5]])
    for text in answers:
        ask(wizard, bench)
        assert wizard.answer(text) == ""
    assert ask(wizard, bench) is None
    return wizard


def test_each_sound_card_is_tried_until_one_is_heard() -> None:
    """The most likely audible ones are offered first; with no other the system's choice stays."""
    bench = FakeBench()
    bench.cards = ["USB Audio", "bcm2835 Headphones", "vc4-hdmi-0"]
    wizard = voice_walk(bench, ("yes", "en", "", "no", "", "60", "yes", "none"))
    assert bench.done == [
        "spoken at 80 through USB Audio", "spoken at 80 through bcm2835 Headphones",
        "spoken at 60 through bcm2835 Headphones",
    ]  # fmt: skip
    assert (wizard.draft.settings.voice.device, wizard.draft.settings.voice.volume) == ("bcm2835 Headphones", 60)
    again = FakeBench()
    again.cards = bench.cards
    voice_walk(again, ("yes", "en", "", "yes", "none"), wizard.draft)
    assert again.done == ["spoken at 60 through bcm2835 Headphones"], "the one that was heard is offered first"
    assert voice_walk(FakeBench(), ("yes", "en", "yes", "none")).draft.settings.voice.device == ""


def test_no_sound_card_is_told() -> None:
    bench = FakeBench()
    bench.cards = []
    wizard = Wizard(new_settings(), [STEPS[5]])
    told = []
    for text in ("yes", "en"):
        ask(wizard, bench)
        wizard.answer(text)
    while not isinstance(wizard.request, Question):
        told += [wizard.request.words] if isinstance(wizard.request, Remark) else []
        request = wizard.request
        wizard.give(getattr(bench, request.what)(**request.arguments) if isinstance(request, DeviceCall) else None)
    assert "No sound card answers" in told[0]


def test_a_card_whose_pins_are_taken_is_refused_and_another_asked_for() -> None:
    """Four seats' lights are on pins of I2S by default."""
    bench = FakeBench()
    bench.cards = ["snd_rpi_hifiberry_dac", "vc4-hdmi-0"]
    wizard = voice_walk(bench, ("yes", "en", "", "", "yes", "none"))
    assert wizard.draft.settings.voice.device == "vc4-hdmi-0"


def test_the_volume_is_tried_until_it_is_heard_well() -> None:
    wizard, bench = Wizard(new_settings(), [STEPS[5]]), FakeBench()
    for text in ("yes", "fr", "35", "50", "yes", "none"):
        ask(wizard, bench)
        assert wizard.answer(text) == ""
    assert ask(wizard, bench) is None
    assert bench.done == ["spoken at 80", "spoken at 35", "spoken at 50"]
    assert (wizard.draft.settings.voice.volume, wizard.draft.settings.voice.language) == (50, "fr")


# The shell


def test_the_whole_walk_at_the_simulated_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two of its pads are crossed: they are put right, the table is found, and the camera's picture is there."""
    path = tmp_path / "table.toml"
    assert run_wizard(path, SimulatedBench(path), listed_answers(["3", "Ana", "Ben", "Cho"])) == 0
    made = load_settings(path)
    assert [(seat.name, seat.pad) for seat in made.seats] == [("Ana", 5), ("Ben", 4), ("Cho", 6)]
    assert made.calibration is not None
    assert made.pads_measured is not None
    assert (tmp_path / "table.picture.jpg").exists()
    shown = capsys.readouterr().out
    assert "Ana's pad is on pin 5, not pin 4: put right" in shown
    assert all(step.title in shown for step in STEPS)
    assert not list(tmp_path.glob(".*.setup"))


def test_who_stops_goes_on_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.toml"
    assert run_wizard(path, FakeBench(), listed_answers(["2", "", "", "", "", "stop"])) == 1
    assert len(load_settings(path).seats) == 2
    assert "Stopped before the end of: Wires" in capsys.readouterr().out
    assert run_wizard(path, FakeBench(), listed_answers([])) == 0
    shown = capsys.readouterr().out
    assert "Wires (2 of 8)" in shown
    assert "How many seats" not in shown
    assert run_wizard(path, FakeBench(), listed_answers([*SKIP])) == 0
    assert "How many seats" in capsys.readouterr().out, "a wizard that came to its end begins anew"


def test_what_is_there_stays(tmp_path: Path) -> None:
    """Comments, further keys and the calibration; and skipping everything changes no letter."""
    path = tmp_path / "table.toml"
    text = (
        "# our table\ndealer = 2   # Ben\n\n[camera]\nexposure_us = 2000  # measured\n\n"
        '[[seat]]\nname = "Ana"  # left-handed\nbearing = 250\n[[seat]]\nname = "Ben"\nbearing = 100\n'
    )
    path.write_text(text)
    assert run_wizard(path, FakeBench(), listed_answers(SKIP)) == 0
    assert path.read_text() == text
    assert run_wizard(path, FakeBench(), listed_answers([])) == 0
    made, now = load_settings(path), path.read_text()
    assert all(words in now for words in ("# our table", "# Ben", "# measured", "# left-handed"))
    assert (made.dealer, made.camera.exposure_us) == (2, 2000)
    assert [(seat.name, seat.bearing) for seat in made.seats] == [("Ana", 250), ("Ben", 100)]


def test_measured_pads_are_forgotten_when_they_are_others(tmp_path: Path) -> None:
    seats = '[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n'
    measured = "[pads_measured]\nt_error_us = [1500, 1600]\nbounce_us = [0, 9]\ncrosstalk_us = [[0, 1], [2, 0]]\n"
    draft = SettingsText(measured + seats, tmp_path)
    assert answer_wizard({}, draft=draft).pads_measured is not None
    assert answer_wizard({}, FakeBench([PAD_PINS[1], PAD_PINS[0]]), draft).pads_measured is None


SOURCE = "wikipedia-2009"


@pytest.mark.parametrize(
    ("answers", "rules"),
    [
        ({}, "classic"),
        ({"rules.preset": "sandwiches"}, "classic"),
        ({"rules.preset": "doubles"}, {"base": "classic", "off": ["P2"]}),
        ({"rules.preset": "doubles", "rules.switches": "1, comeback"}, "classic"),
        ({"rules.preset": "beggar"}, "beggar-my-neighbour"),
        ({"rules.preset": "class", "rules.switches": "sandwich, agreed-end"},
         {"base": "classroom", "on": ["E7"], "off": ["M10"]}),
        ({"rules.preset": "slapjack", "rules.switches": "pay"}, {"base": "slapjack", "on": ["F12"], "off": ["M10"]}),
        ({"rules.preset": "page", "rules.source": SOURCE}, SOURCE),
        ({"rules.preset": SOURCE}, SOURCE),
        ({"rules.switches": "sandwich, comeback, jokers, burn-two"},
         {"base": "classic", "on": ["P13a"], "set": {"S3": 2, "F1": 2}}),
        ({"rules.preset": "short", "rules.switches": "runs, comeback"},
         {"base": "short", "off": ["P2", "P5b", "P6"], "set": {"F1": 1}}),
        ({"rules.preset": SOURCE, "rules.switches": "none"},
         {"base": SOURCE, "off": ["P2", "P5b", "P6", "P7", "P4a", "P8", "P9", "M10"]}),
        ({"rules.preset": SOURCE, "rules.switches": "sandwich, top, marriage, runs, tens, comeback, war"},
         {"base": SOURCE, "on": ["M4"], "off": ["M3"]}),
    ],
)  # fmt: skip
def test_a_choice_and_its_switches_become_a_preset_with_changes(answers: dict[str, str], rules: object) -> None:
    assert answer_wizard(answers).rules == rules


def rules_shown(rules: object) -> tuple[Question, Question]:
    """Return the choice and the switches that are shown with these rules in the settings, each by itself kept."""
    draft = new_settings().changed({"rules": rules})
    wizard, bench = Wizard(draft, [step for step in STEPS if step.name == "rules"]), FakeBench()
    chosen = ask(wizard, bench)
    assert wizard.answer("") == ""
    switched = ask(wizard, bench)
    assert wizard.answer("") == ""
    assert ask(wizard, bench) is None
    assert wizard.draft.settings.rules == rules
    assert chosen is not None
    assert switched is not None
    return chosen, switched


def test_changed_rules_are_offered_as_they_are() -> None:
    own = {"base": "classic", "on": ["P6"], "off": ["P2"]}
    chosen, switched = rules_shown(own)
    assert (chosen.default, next(iter(chosen.choices)), switched.default) == ("kept", "kept", "marriage, comeback")
    for rules in PRESETS:
        chosen, switched = rules_shown(rules)
        assert (chosen.default == "kept") == ("kept" in chosen.choices)
        assert list(chosen.choices)[-1] == "page"
    chosen, switched = rules_shown({"base": "classic", "off": ["P2"]})
    assert (chosen.default, switched.default) == ("doubles", "comeback")


def test_every_drawn_example_may_be_slapped() -> None:
    chosen, _ = rules_shown("classic")
    assert set(chosen.cards) == {"sandwiches", "doubles", "everything", "slapjack", "class"}
    for name, cards in chosen.cards.items():
        rules = read_house_rules(answer_wizard({"rules.preset": name}).rules)
        held, depth = find_patterns(PileView(tuple(reversed(cards)), cards[0], cards[0]), rules)
        assert held, name
        assert depth == len(cards) or name == "slapjack"


def test_all_that_tables_argue_about_is_on_one_page_and_options_with_their_preset() -> None:
    argued = (
        "sandwich", "top-bottom", "marriage", "runs", "tens", "jokers", "burn-two", "comeback", "war",
        "counter-clockwise",
    )  # fmt: skip
    _, switched = rules_shown("classic")
    assert (switched.kind, tuple(switched.choices)) == ("switches", argued)
    assert tuple(rules_shown("beggar-my-neighbour")[1].choices) == ("counter-clockwise",)
    # Where runs take four cards, the page says so.
    assert "four cards" in rules_shown("short")[1].choices["runs"]
    for name, preset in PRESETS.items():
        offered = {BY_NAME[choice] for choice in rules_shown(name)[1].choices if choice in BY_NAME}
        assert set(preset.options) <= offered


def test_switches_are_answered_with_a_list_and_gone_back_over() -> None:
    wizard, bench = Wizard(new_settings(), [step for step in STEPS if step.name == "rules"]), FakeBench()
    ask(wizard, bench)
    wizard.answer("everything")
    assert ask(wizard, bench).default == "sandwich, top-bottom, marriage, runs, tens, comeback"  # type: ignore[union-attr]
    assert wizard.answer("sandwich, hoagie") != ""
    assert wizard.answer("back") == ""
    assert ask(wizard, bench).id == "rules.preset"  # type: ignore[union-attr]
    wizard.answer("beggar")
    assert wizard.answer("") == ""
    assert ask(wizard, bench) is None
    assert wizard.draft.settings.rules == "beggar-my-neighbour"


@pytest.mark.parametrize("name", PRESETS)
def test_a_switch_that_is_turned_twice_leaves_the_rules_as_they_were(name: str) -> None:
    """Each switch of each preset: what the page shows next is what was chosen, and then the preset again."""
    steps = [step for step in STEPS if step.name == "rules"]
    _, shown = rules_shown(name)
    before = set(shown.default.split(", ")) - {"none"}
    for switch in shown.choices:
        draft = new_settings().changed({"rules": name})
        for wanted in (before ^ {switch}, before):
            wizard, bench = Wizard(draft, steps), FakeBench()
            ask(wizard, bench)
            wizard.answer("")
            ask(wizard, bench)
            assert wizard.answer(", ".join(wanted) or "none") == ""
            assert ask(wizard, bench) is None
            draft = wizard.draft
            now = read_house_rules(draft.settings.rules)
            assert (now == read_house_rules(name)) == (wanted == before or switch == "counter-clockwise")


def test_a_file_of_house_rules_stays_a_file(tmp_path: Path) -> None:
    (tmp_path / "house.toml").write_text('base = "classic"\non = ["P6"]\n')
    draft = new_settings(tmp_path)
    for answers in ({"rules.preset": "house.toml"}, {}):
        wizard, bench = Wizard(draft, [step for step in STEPS if step.name == "rules"]), FakeBench()
        while (question := ask(wizard, bench)) is not None:
            assert question.id != "rules.switches" or list(question.choices) == ["counter-clockwise"]
            assert wizard.answer(answers.get(question.id, "")) == ""
        draft = wizard.draft
        assert '\nrules = "house.toml"' in draft.text


def test_which_way_the_cards_go_stands_in_the_settings_where_the_rules_say_otherwise() -> None:
    """S5"""
    made = answer_wizard({"rules.switches": "sandwich, comeback, counter-clockwise"})
    assert (made.rules, made.direction) == ("classic", "counter-clockwise")
    assert made.played_rules == {"base": "classic", "set": {"S5": "counter-clockwise"}}
    assert answer_wizard({"rules.preset": "classic"}).direction is None
    usual = answer_wizard({"rules.preset": "suck-the-well"})
    assert (usual.direction, usual.played_rules) == (None, "suck-the-well")
    other = answer_wizard({"rules.preset": "suck-the-well", "rules.switches": "none"})
    assert read_house_rules(other.played_rules).word("S5") == "clockwise"


def test_one_step_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.toml"
    run_wizard(path, FakeBench(), listed_answers([]))
    capsys.readouterr()
    assert run_wizard(path, FakeBench(), listed_answers(["slapjack"]), step="rules") == 0
    assert load_settings(path).rules == "slapjack"
    assert "How many seats" not in capsys.readouterr().out


def test_single_values_are_set_without_questions(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text(new_settings().text)
    given = ["camera.exposure_us=1500", "camera.colour_gains=[1.9, 1.6]", "voice.device = USB Audio", "dealer=2",
             "lights.strip=\"/dev/leds0\""]  # fmt: skip
    assert set_values(path, given) == 0
    made = load_settings(path)
    assert (made.camera.exposure_us, made.camera.colour_gains, made.dealer) == (1500, (1.9, 1.6), 2)
    assert (made.voice.device, made.lights.strip) == ("USB Audio", "/dev/leds0")
    assert "shorter is sharper" in path.read_text(), "comments stay"


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        ("camera.exposure_us", "write a key and its value"), ("seat.name=x", "write a key"), ("=3", "write a key"),
        ("camera.exposure_us=no", "camera.exposure_us must be"), ("camera.gian=2", "did you mean gain"),
        ("dealer=9", "dealer must be"),
    ],
)  # fmt: skip
def test_a_value_that_cannot_be_is_not_written(tmp_path: Path, pair: str, words: str) -> None:
    path = tmp_path / "table.toml"
    path.write_text(new_settings().text)
    with pytest.raises(UserError, match=words):
        set_values(path, ["camera.gain=2", pair])
    assert path.read_text() == new_settings().text


def test_a_keyboard_that_falls_silent_stops_the_walk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_wizard(tmp_path / "table.toml", FakeBench(), iter(StringIO("?\n5\nAna\n"))) == 1
    assert "the question before this one" in capsys.readouterr().out


def test_a_device_that_is_not_here_ends_its_step_and_not_the_walk(tmp_path: Path) -> None:
    class NoPads(FakeBench):
        def slap(self, seat: int, pins: Sequence[int], active_high: bool) -> int | str | None:
            raise UserError("no pins here")

    path = tmp_path / "table.toml"
    assert run_wizard(path, NoPads(), listed_answers([])) == 0
    assert load_settings(path).camera.source == "usb:0"


def test_answers_that_together_cannot_be_leave_the_step_as_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """While the lights are off, a light and a pad may stand on one pin; not once they are switched on."""
    path = tmp_path / "table.toml"
    path.write_text('[lights]\nenabled = false\n[[seat]]\nname = "A"\nlight = 5\n[[seat]]\nname = "B"\n')
    assert run_wizard(path, FakeBench(), listed_answers(["", "", "", "yes"]), step="pins") == 0
    assert "That cannot be: pin 5" in capsys.readouterr().out
    assert not load_settings(path).lights.enabled


def test_settings_that_cannot_be_read_are_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text("seat = 3\n")
    with pytest.raises(UserError, match="seats"):
        run_wizard(path, FakeBench(), listed_answers([]))
    assert path.read_text() == "seat = 3\n"


def test_this_machines_bench_says_in_words_what_is_not_here(tmp_path: Path) -> None:
    """A camera may be a folder of frames; pins numbered 100 and more exist nowhere."""
    frames = tmp_path / "frames"
    frames.mkdir()
    for number in range(14):
        write_picture(frames / f"f{number:02}.jpg", np.full((48, 64, 3), 10 * number, np.uint8))
    path, bench = tmp_path / "table.toml", Bench(tmp_path / "table.toml")
    text = new_settings(tmp_path).changed({"camera.source": str(frames)}).text
    assert bench.picture(text) == (text, f"Look at {tmp_path / 'table.picture.jpg'}: it is what the camera sees "
                                   "(64×48 px, mean brightness 120 of 255).")  # fmt: skip
    assert bench.picture(text.replace(str(frames), str(tmp_path / "none")))[0] is None
    assert bench.calibrate(text, "sheet")[0] is None
    assert path.read_text() == text
    with pytest.raises(UserError, match="skip"):
        bench.slap(1, [100, 101], False)
    assert bench.blink(100, [100]) != ""
    bench.close()


def test_the_steps_have_the_names_that_help_shows() -> None:
    assert tuple(step.name for step in STEPS) == STEP_NAMES


def test_the_voice_counts_to_three_as_loud_as_the_settings_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through a card that keeps its input; half the volume is 12 dB less (`hardware.sound.volume.factor`)."""
    if not any(shutil.which(name) for name in ("flite", "espeak-ng")):
        pytest.skip("no speech synthesiser")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def loudest(volume: int) -> float:
        card = SoundCard()
        words = f'[voice]\nvolume = {volume}\n[[seat]]\nname = "A"\n[[seat]]\nname = "B"\n'
        assert try_voice(SettingsText(words).settings.voice, card) == ""
        return float(np.abs(np.concatenate(card.played)).max())

    full = loudest(100)
    assert full > 0.1
    assert 0.2 < loudest(50) / full < 0.3
