"""The wizard of `referee play`: its questions, the camera's access from elsewhere, and the words on its picture."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from hardware.pads.pinout import PAD_PINS
from hardware.ports import Edge, Frame, HardwareMissing
from models.eye.eye import Eye
from referee.errors import UserError
from referee.sentence import Sentence, to_json
from referee.settings.file import new_settings
from referee.settings.places import RECORD
from referee.setup.bench import Bench
from referee.setup.calibration.simulated_camera import simulated_camera
from referee.setup.camera_preview import CameraPreview, judge_picture, make_preview_frame
from referee.setup.check import Check
from referee.setup.evening_steps import EVENING, FIRST_START
from referee.setup.left_game import LeftGame, name_day
from referee.setup.wizard import DeviceCall, Question, Remark, Wizard, WizardStep
from referee.setup.wizard_runner import WizardRunner
from referee.setup.wizard_site import in_words, leave_earlier_record
from referee.text.answers import OTHERS, in_language
from referee.text.catalogue import texts
from referee.vision.photos import load_eye
from tests.support.patience import PATIENCE


class FakeBench(Bench):
    """Devices that answer at once."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "table.toml")
        self.done: list[str] = []
        self.troubles: list[str] = []
        """Why the camera shows no picture, look by look."""
        self.hands: list[dict[int, float]] = [{1: 12.0}, {1: 12.0, 2: 9.0}]
        self.away = threading.Event()
        """Set once the camera was closed."""

    def pad_kinds(self) -> dict[str, str]:
        return {"phone": "phones", "browser": "keys", "wired": "pads", "board": "buttons"}

    def cameras(self) -> list[tuple[str, str]]:
        return [("usb:0", "a webcam")]

    def look(self, text: str) -> str:
        self.done.append(f"look {self.settings(text).camera.source}")
        return self.troubles.pop(0) if self.troubles else ""

    def look_away(self) -> None:
        self.done.append("away")
        self.away.set()

    def has_looked(self) -> bool:
        return True

    def slaps(self, text: str) -> dict[int, float]:
        self.settings(text)
        return self.hands.pop(0)

    def slap(self, seat: int, pins: Sequence[int], active_high: bool) -> int | str | None:
        """The first two seats' wires are crossed."""
        return PAD_PINS[{1: 2, 2: 1}.get(seat, seat) - 1]

    def blink(self, pin: int, pins: Sequence[int]) -> str:
        self.done.append(f"blink {pin}")
        return ""

    def measure(self, text: str) -> tuple[str | None, str]:
        return text, Sentence("All is well.")

    def sounds(self) -> list[tuple[str, str]]:
        return [("USB Audio", "on USB"), ("vc4-hdmi-0", "a screen's, on HDMI")]

    def speak(self, text: str) -> str:
        self.done.append(f"speak {self.settings(text).voice.device}")
        return ""

    def decks(self) -> list[str]:
        return []

    def doctor(self, text: str) -> tuple[str, bool]:
        raise AssertionError("it was not asked for")


def answer_wizard(bench: FakeBench, *answers: str, steps: Sequence[WizardStep] = EVENING) -> Wizard:
    """Return the wizard after these answers."""
    wizard = Wizard(new_settings(bench.path.parent), steps)
    resume(wizard, bench, *answers)
    return wizard


def resume(wizard: Wizard, bench: FakeBench, *answers: str) -> None:
    """Go on with the wizard: these answers, and the bench's."""
    said = iter(answers)
    while wizard.request is not None:
        if isinstance(wizard.request, Question):
            if (text := next(said, None)) is None:
                return
            assert (complaint := wizard.answer(text)) == "", complaint
        else:
            resume_once(wizard, bench)


def resume_once(wizard: Wizard, bench: FakeBench) -> None:
    """Give the wizard what its request to the bench returns."""
    what = getattr(wizard.request, "what", None)
    wizard.give(None if what is None else getattr(bench, what)(**wizard.request.arguments))  # type: ignore[union-attr]


def test_an_evening_with_phones_and_a_webcam(tmp_path: Path) -> None:
    bench = FakeBench(tmp_path)
    wizard = answer_wizard(bench, "Ana, Ben, Cho", "phone", "usb:0", "yes", "2", "classic")
    while isinstance(wizard.request, Question) and wizard.request.id.startswith("rules."):
        assert wizard.answer("") == ""
    settings = wizard.draft.settings
    assert [seat.name for seat in settings.seats] == ["Ana", "Ben", "Cho"]
    assert [str(seat.pad) for seat in settings.seats] == ["phone"] * 3
    assert [seat.bearing for seat in settings.seats] == [30.0, 270.0, 150.0]
    assert (settings.camera.source, settings.camera.width, settings.lights.enabled) == ("usb:0", 1280, False)
    assert bench.done == ["look usb:0"]


def test_the_first_start_of_an_appliance_asks_what_is_wired_and_what_is_heard(tmp_path: Path) -> None:
    bench = FakeBench(tmp_path)
    wired = ("yes", "no", "yes", *("1", "2"), *("red", "green", "blue"))
    heard = ("yes", "de", "USB Audio", "no", "vc4-hdmi-0", "yes", "none")
    wizard = answer_wizard(
        bench, "Ana, Ben", "wired", *wired, "usb:0", "yes", "1", *heard, "classic", steps=FIRST_START
    )
    settings = wizard.draft.settings
    assert [seat.pad_pin for seat in settings.seats] == [PAD_PINS[1], PAD_PINS[0]], "crossed wires are put right"
    assert settings.lights.enabled
    assert (settings.voice.language, settings.voice.device) == ("de", "vc4-hdmi-0")
    assert [done for done in bench.done if done.startswith("speak")] == ["speak USB Audio", "speak vc4-hdmi-0"]


def test_each_player_finds_their_button_on_a_board(tmp_path: Path) -> None:
    """Also one who first presses another's button, and one whose button is silent."""
    presses: list[str | None] = ["serial:2@/dev/a", "serial:2@/dev/a", "serial:1@/dev/a", None]
    bench = FakeBench(tmp_path)
    bench.slap = lambda seat, pins, active_high: presses.pop(0)  # type: ignore[method-assign]
    wizard = answer_wizard(bench, "Ana, Ben, Cho", "board", "retry", "silent", steps=FIRST_START)
    assert [str(seat.pad) for seat in wizard.draft.settings.seats] == ["serial:2@/dev/a", "serial:1@/dev/a", "6"]
    assert wizard.step is not None and wizard.step.name == "wires"


def test_where_nothing_is_wired_nobody_is_asked_about_wires(tmp_path: Path) -> None:
    wizard = answer_wizard(FakeBench(tmp_path), "Ana, Ben", "phone", steps=FIRST_START)
    assert wizard.step is not None and wizard.step.name == "camera"
    assert not wizard.draft.settings.lights.enabled


def test_keys_are_given_to_everybody_once(tmp_path: Path) -> None:
    bench = FakeBench(tmp_path)
    wizard = answer_wizard(bench, "Ana, Ben", "browser", "f")
    assert wizard.answer("f") == "Another player has that key"
    assert wizard.answer("?!") == "one letter or digit, as it stands on an English keyboard"
    assert wizard.answer("j") == ""
    assert [str(seat.pad) for seat in wizard.draft.settings.seats] == ["browser:f", "browser:j"]


class Returning(FakeBench):
    """A table whose last game was broken off."""

    game = LeftGame("yesterday", (("Ana", 29), ("Ben", None)), ("9d", "??", "9h"))
    resumes = False

    def find_left_game(self, text: str) -> LeftGame | None:
        return self.game

    def choose_game(self, resume: bool) -> None:
        self.resumes = resume

    def resumed_game(self, text: str) -> LeftGame | None:
        return self.game if self.resumes else None


def test_a_broken_off_game_goes_on_without_a_deal(tmp_path: Path) -> None:
    bench = Returning(tmp_path)
    wizard = answer_wizard(bench, "Ana, Ben", "phone", "", "", "", "classic", "", steps=EVENING)
    assert wizard.step is not None and wizard.step.name == "left_game"
    assert isinstance(wizard.request, Question)
    assert wizard.request.words == (
        "The game that began yesterday was broken off: Ana 29, Ben ?; 3 cards on the pile (9h on top). Go on with it?"
    )
    bench.hands = [{1: 9.0, 2: 9.0}]
    resume(wizard, bench, "on", "yes")
    assert isinstance(wizard.request, Question) and wizard.request.id == "deal.resume"
    assert "Ana 29, Ben ?; 3 cards on the pile (9h on top)" in wizard.request.words
    assert bench.resumes is True
    assert wizard.answer("resume") == ""
    assert wizard.step is None


def test_a_new_game_may_be_begun_in_place_of_a_broken_off_one(tmp_path: Path) -> None:
    bench = Returning(tmp_path)
    wizard = answer_wizard(bench, "Ana, Ben", "phone", "", "", "", "classic", "", steps=EVENING)
    bench.hands = [{1: 9.0, 2: 9.0}]
    resume(wizard, bench, "new", "")
    assert isinstance(wizard.request, Question) and wizard.request.id == "deal.dealer"
    assert bench.resumes is False


def test_nothing_is_read_right_before_there_is_a_picture(tmp_path: Path) -> None:
    bench = FakeBench(tmp_path)
    bench.has_looked = lambda: False  # type: ignore[method-assign]
    wizard = answer_wizard(bench, "Ana, Ben", "phone", "", "yes")
    assert isinstance(wizard.request, Question) and wizard.request.id == "camera.live"
    bench.has_looked = lambda: True  # type: ignore[method-assign]
    resume(wizard, bench, "yes")
    assert isinstance(wizard.request, Question) and wizard.request.id == "camera.bottom"


@pytest.mark.parametrize(
    ("ago", "words"), [(0, "today"), (1, "yesterday"), (2, "on Thursday"), (6, "on Sunday"), (7, "on 2026-11-21")]
)
def test_a_day_is_named_as_people_name_it(ago: int, words: str) -> None:
    today = date(2026, 11, 28)
    assert name_day(today - timedelta(days=ago), today) == words


class Ghosting:
    """Pads in a browser whose keyboard never reports more than two of three keys at once."""

    def __init__(self, seats: int, tells: int) -> None:
        self._seats, self._tells = seats, tells

    def start(self, on_edge: Callable[[Edge], None], on_lost: Any = None) -> None:
        for seat in range(1, min(self._seats, self._tells) + 1):
            on_edge(Edge(seat, seat * 1_000_000, True, 8_000_000))
        on_edge(Edge(1, 500_000_000, False, 8_000_000))

    def watermark(self, now: int) -> int:
        return now

    def close(self) -> None:
        """Release nothing."""


@pytest.mark.parametrize("tells", [2, 3])
def test_three_keys_of_one_keyboard_are_held_together_in_the_wizard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tells: int
) -> None:
    monkeypatch.setattr("referee.setup.bench.open_pads", lambda _: Ghosting(3, tells))
    monkeypatch.setattr("referee.setup.bench._HOLDING", 0.2)
    draft = new_settings(tmp_path).with_seats(
        [{"name": name, "pad": f"browser:{key}"} for name, key in (("Ana", "a"), ("Ben", "s"), ("Cho", "d"))]
    )
    wizard, bench, told = Wizard(draft, EVENING, at=6), Bench(tmp_path / "table.toml", in_browser=True), list[str]()
    wizard.give({1: 8.0, 2: 8.0, 3: 8.0})
    while not isinstance(wizard.request, Question):
        request = wizard.request
        if isinstance(request, DeviceCall) and request.what == "resumed_game":
            wizard.give(None)
        elif isinstance(request, DeviceCall):
            assert request.words == "Ana, Ben, Cho: press your keys together, and hold"
            wizard.give(getattr(bench, request.what)(**request.arguments))
        else:
            assert isinstance(request, Remark)
            told.append(request.words)
            wizard.give()
    bench.close()
    if tells == 2:
        assert told[-1].startswith("This keyboard cannot hear these keys together: a, s, d. Not heard: Cho.")
    else:
        assert told[-1] == "This keyboard hears these keys together: a, s, d."


def test_each_may_slap_something_else(tmp_path: Path) -> None:
    wizard = answer_wizard(FakeBench(tmp_path), "Ana, Ben", "each", "phone", "browser", "")
    assert [str(seat.pad) for seat in wizard.draft.settings.seats] == ["phone", "browser:l"]


def test_a_stream_or_a_recording_may_be_the_camera(tmp_path: Path) -> None:
    bench = FakeBench(tmp_path)
    wizard = answer_wizard(bench, "Ana, Ben", "phone", "stream")
    assert "http://" in wizard.answer("nowhere.mp4")
    assert "begins with" in wizard.answer("ftp://x")
    assert wizard.answer("http://192.0.2.7:8080/video") == ""
    assert wizard.answer("known") == ""
    assert wizard.answer("soon") == "a whole number from 0 to 5000"
    assert wizard.answer("250") == ""
    assert wizard.draft.is_new or wizard.draft.settings.camera.source == "picamera"
    wizard = answer_wizard(bench, "Ana, Ben", "phone", "stream", str(tmp_path), "other")
    assert isinstance(wizard.request, Question) or wizard.request is not None
    assert bench.done[-1] == f"look {tmp_path}" or bench.done[-1] == "away"


def test_a_wrong_address_says_what_failed_and_may_be_given_again(tmp_path: Path) -> None:
    bench = FakeBench(tmp_path)
    bench.troubles = ["nothing answers there"] * 2
    wizard = answer_wizard(bench, "Ana, Ben", "phone", "stream", "http://192.0.2.7/", "unknown")
    assert isinstance(wizard.request, Question) and wizard.request.id == "camera.failed"
    resume(wizard, bench, "retry")
    assert isinstance(wizard.request, Question) and wizard.request.id == "camera.failed"
    resume(wizard, bench, "other", "stream")
    assert isinstance(wizard.request, Question)
    assert (wizard.request.id, wizard.request.default) == ("camera.address", "http://192.0.2.7/")
    resume(wizard, bench, "http://192.0.2.7/video", "unknown")
    assert isinstance(wizard.request, Question) and wizard.request.id == "camera.live"


def test_all_names_stand_on_one_form(tmp_path: Path) -> None:
    wizard = Wizard(new_settings(tmp_path), EVENING)
    assert wizard.answer("Ana") == "2 to 8 players can play"
    assert "ana 2" in wizard.answer("Ana, Ben, ana")
    assert wizard.answer("Ana\nSmith, John\n\nCho") == ""
    assert [seat.name for seat in wizard.draft.settings.seats] == ["Ana", "Smith, John", "Cho"]


def test_rules_of_ones_own_are_uploaded_and_kept(tmp_path: Path) -> None:
    bench = FakeBench(tmp_path)
    wizard = answer_wizard(bench, "Ana, Ben", "phone", "usb:0", "yes", "1", "file")
    assert "TOML" in wizard.answer("these are no rules")
    resume(wizard, bench, 'title = "Grandma\'s rules"\nbase = "classic"\non = ["marriage"]\n', "")
    assert wizard.step is not None and wizard.step.name != "rules"
    assert (tmp_path / "house-grandma-s-rules.toml").exists()
    assert wizard.draft.settings.rules["base"] == "classic"


# Held from elsewhere


class Slow(FakeBench):
    """Waits for slaps until a player leaves."""

    def slaps(self, text: str) -> dict[int, float]:
        self.heard = {1}
        self.left.wait(PATIENCE)
        raise UserError("no pads here")


def settled(runner: WizardRunner) -> dict[str, Any]:
    """Return its state once it waits for people."""
    state = runner.state()
    for _ in range(2000):
        state = runner.state()
        if state["question"] or state["over"]:
            return state
        threading.Event().wait(0.005)
    raise AssertionError(state)


def test_a_wizard_is_answered_from_another_thread(tmp_path: Path) -> None:
    kept: list[str] = []
    bench = FakeBench(tmp_path)
    wizard = Wizard(new_settings(tmp_path), EVENING, at=6)
    runner = WizardRunner(wizard, bench, lambda changed: kept.append(changed.draft.text))
    state = settled(runner)
    assert state["step"] == "slaps" and state["question"]["id"] == "slaps.again"
    assert "Ana ±12 ms" in state["remarks"][0] and "Ben" in state["remarks"][1]
    assert runner.say("perhaps") == "answer retry or on"
    assert runner.state()["complaint"] == "answer retry or on"
    bench.hands = [{1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0}]
    assert runner.say("retry") == ""
    assert settled(runner)["question"]["id"] == "deal.dealer"
    assert runner.say("step seats") == ""
    assert settled(runner)["question"]["id"] == "seats.names"
    assert runner.say("step deal") == ""
    assert settled(runner)["question"]["id"] == "deal.dealer"
    assert runner.say("3") == ""
    state = settled(runner)
    assert state["question"]["id"] == "deal.begin"
    assert "No camera answers" in state["remarks"][-1], "the Pi's own is set and not there"
    assert runner.wizard.draft.settings.dealer == 1, "a step is done once it is through"
    assert runner.say("begin") == ""
    assert runner.wizard.draft.settings.dealer == 3
    assert runner.over.wait(PATIENCE) and runner.state()["step"] is None
    assert kept


@pytest.mark.parametrize(
    ("source", "warns"), [("picamera", True), ("usb:1", True), ("usb:0", False), ("http://x/video", False)]
)
def test_who_begins_without_a_camera_is_told_what_the_game_will_be(tmp_path: Path, source: str, warns: bool) -> None:
    draft = new_settings(tmp_path).changed({"camera.source": source})
    wizard, bench, told = Wizard(draft, EVENING[-1:]), FakeBench(tmp_path), list[str]()
    for _ in range(10):
        match wizard.request:
            case Question(id="deal.begin"):
                break
            case Question():
                wizard.answer("")
                continue
            case Remark(words=words):
                told.append(words)
        resume_once(wizard, bench)
    assert told == ["No camera answers, so the referee will see no cards: it names the first hand and judges no slap. "
                    "To play with one, go back to “The camera”."] * warns  # fmt: skip


def test_a_person_who_waits_for_hands_may_leave(tmp_path: Path) -> None:
    runner = WizardRunner(Wizard(new_settings(tmp_path), EVENING, at=6), Slow(tmp_path), lambda _wizard: None)
    for _ in range(2000):
        if runner.state()["heard"]:
            break
        threading.Event().wait(0.005)
    assert runner.state()["heard"] == [1] and "slaps once" in runner.state()["busy"]
    assert runner.say("leave") == ""
    state = settled(runner)
    assert state["question"]["id"] == "deal.dealer" and state["remarks"] == ["no pads here"]


class Stuck(FakeBench):
    """Its camera shows no picture until a person leaves."""

    def look(self, text: str) -> str:
        self.left.clear()
        self.heard = {1}
        self.left.wait(PATIENCE)
        return "the camera is being opened"


@pytest.mark.parametrize(("way", "question"), [("back", "camera.source"), ("step seats", "seats.names")])
def test_going_back_is_never_refused_while_a_device_is_busy(tmp_path: Path, way: str, question: str) -> None:
    bench = Stuck(tmp_path)
    runner = WizardRunner(Wizard(new_settings(tmp_path), EVENING, at=2), bench, lambda _wizard: None)
    assert settled(runner)["question"]["id"] == "camera.source"
    assert runner.say("usb:0") == ""
    while runner.state()["doing"] != "look" or not runner.state()["heard"]:
        threading.Event().wait(0.005)
    assert runner.say(way) == ""
    state = settled(runner)
    assert (state["question"]["id"], state["remarks"]) == (question, [])


@pytest.mark.parametrize("way", ["step rules", "skip", "1"])
def test_the_camera_looks_no_longer_than_its_step_lasts(tmp_path: Path, way: str) -> None:
    bench = FakeBench(tmp_path)
    runner = WizardRunner(Wizard(new_settings(tmp_path), EVENING, at=2), bench, lambda _wizard: None)
    for said, question in (("usb:0", "camera.live"), ("yes", "camera.bottom")):
        assert runner.say(said) == ""
        assert settled(runner)["question"]["id"] == question
    assert bench.done == ["look usb:0"], "the picture shows who sits where"
    assert runner.say(way) == ""
    assert bench.away.wait(PATIENCE)
    assert bench.done == ["look usb:0", "away"]


# The picture


@pytest.fixture(scope="module")
def eye() -> Eye:
    return load_eye()


@pytest.fixture(scope="module")
def cards() -> Any:
    return next(simulated_camera("cards").frames()).image


def grades(items: list[Check]) -> dict[str, str]:
    return {item.part: item.state for item in items}


def test_a_good_picture_is_said_to_be_good(eye: Eye, cards: Any) -> None:
    look = make_preview_frame(cards, eye)
    assert len(look.cards) == 4 and "??" not in look.cards
    assert set(grades(list(look.items)).values()) == {"fine"}
    shown = cv2.imdecode(np.frombuffer(look.jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert shown is not None and shown.shape[1] >= 900


@pytest.mark.parametrize(
    ("spoil", "part", "todo"),
    [
        (lambda image: (image * 0.22).astype(np.uint8), "light", "more light"),
        (lambda image: cv2.GaussianBlur(image, (0, 0), 3.2), "sharpness", "focus"),
        (lambda image: cv2.resize(image, None, fx=0.45, fy=0.45, interpolation=cv2.INTER_AREA), "card size", "lower"),
        (lambda image: cv2.resize(image, None, fx=1.0, fy=0.68, interpolation=cv2.INTER_AREA), "tilt", "straight down"),
        (lambda image: cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR), "colours",
         "colour camera"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_picture_is_told_with_what_to_do(
    eye: Eye, cards: Any, spoil: Any, part: str, todo: str
) -> None:
    spoiled = spoil(cards)
    items = judge_picture(spoiled, eye.recognise(spoiled))
    assert grades(items)[part] in ("poor", "acceptable")
    assert todo in next(item.mend for item in items if item.part == part)
    # Every notice about it exists in every language.
    for words in (words for item in items for words in (item.words, item.mend) if words):
        assert all(in_language(to_json(words), texts(code)).get("lang") == code for code in OTHERS), words


def test_a_table_without_cards_is_told_what_to_lay(eye: Eye) -> None:
    bare = np.full((480, 640, 3), 60, np.uint8)
    assert judge_picture(bare, eye.recognise(bare))[0].mend.startswith("lay some cards")


class Camera:
    """Gives the same picture again and again."""

    def __init__(self, image: Any) -> None:
        self.image, self.closed = image, False

    def frames(self) -> Iterator[Frame]:
        index = 0
        while True:
            yield Frame(self.image, index, 1, index)
            index += 1

    def close(self) -> None:
        self.closed = True


def test_the_newest_look_is_there_until_it_is_closed(eye: Eye, cards: Any) -> None:
    camera = Camera(cards)
    live = CameraPreview(lambda: camera, lambda: eye)
    for _ in range(2000):
        if live.newest.jpeg:
            break
        threading.Event().wait(0.01)
    assert len(live.newest.cards) == 4
    live.close()
    assert camera.closed


def test_a_camera_that_is_not_there_is_told(eye: Eye) -> None:
    def refuse() -> Any:
        raise HardwareMissing("no camera; plug one in")

    live = CameraPreview(refuse, lambda: eye)
    live.close()
    assert live.newest.trouble == "no camera; plug one in"


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("kind", ["browser", "wired"])
def test_everything_that_the_wizard_says_is_said_in_each_language(tmp_path: Path, language: str, kind: str) -> None:
    bench = FakeBench(tmp_path)
    bench.hands = [{1: 12.0}, {1: 12.0, 2: 9.0, 3: 9.0}]
    wizard = Wizard(new_settings(tmp_path), FIRST_START)
    given = {"seats.names": "Ana, Ben, Cho", "hands.kind": kind, "camera.source": "usb:0", "pins.has_lights": "yes"}
    english: set[str] = set()
    asked: set[str] = set()
    while (request := wizard.request) is not None:
        state: dict[str, Any] = {
            "question": None,
            "steps": [[step.name, step.title] for step in FIRST_START],
            "remarks": [],
            "busy": "",
        }
        if isinstance(request, Question):
            asked.add(request.id)
            question = {"id": request.id, "words": request.words, "choices": [*map(list, request.choices.items())]}
            state["question"] = question
        else:
            key = "remarks" if isinstance(request, Remark) else "busy"
            state[key] = [request.words] if isinstance(request, Remark) else request.words
        said = in_words({**state, "complaint": ""}, texts(language))
        told = [*(title for _, title in said["steps"]), *said["remarks"], *([said["busy"]] if said["busy"] else [])]
        if said["question"] is not None:
            told.append(said["question"]["words"])
            told += [words for _, words in said["question"]["choices"] if words[0] and not is_data(words[0])]
        english |= {words for words, lang in told if lang != language}
        if isinstance(request, Question):
            wizard.answer(given.get(request.id, ""))
        elif isinstance(request, DeviceCall):
            held = {"hold_keys": ("browser:a", "browser:l")}
            what = request.what
            wizard.give(held[what] if what in held else getattr(bench, what)(**request.arguments))
        else:
            wizard.give()
    assert english == set()
    assert {"camera.live", "camera.bottom", "voice.card", "voice.heard", "slaps.again", "deal.begin"} <= asked
    assert ("hands.key.3" in asked, "pads.measure" in asked) == (kind == "browser", kind == "wired")


def is_data(words: str) -> bool:
    """Whether this is no sentence: a name that was typed, or a device's own name."""
    return (
        words in ("phones", "keys", "pads", "a webcam", "USB Audio", "on USB", "a screen's, on HDMI")
        or words.startswith(("Player", "Seat"))
        or len(words.split()) == 1
    )


def test_games_of_later_evenings_go_into_the_one_record(tmp_path: Path) -> None:
    """An earlier version named a record beside the settings; a place that people chose stays."""
    path = tmp_path / "table.toml"
    seats = '[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n'
    for file, expected in ((tmp_path / "games.db", RECORD), (tmp_path / "club.db", str(tmp_path / "club.db"))):
        path.write_text(f'[record]\nfile = "{file}"   # the games\npictures = true\n{seats}', encoding="utf-8")
        leave_earlier_record(path)
        text = path.read_text(encoding="utf-8")
        assert f'file = "{expected}"   # the games\npictures = true\n' in text
