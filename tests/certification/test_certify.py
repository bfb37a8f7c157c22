"""The certificate of the simulated table, whole and with each fault; its validity later; its page."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hardware.camera.light_offset import LightOffset
from hardware.ports import HardwareMissing
from hardware.simulated.devices.pad_hands import Nature, example
from referee.certification.certificate_page import certificate_document
from referee.certification.certify import certify, measure_table, show
from referee.certification.judgement import judge_clock, judge_offset, judge_quickness, judge_seal
from referee.certification.requirements import LIMITS, offset_limit
from referee.certification.running_table import NotedLights, Quickness, lit_after
from referee.certification.simulated_bench import SimulatedTableBench, simulated_settings
from referee.certification.table_bench import WRITES, TableBench
from referee.errors import UserError
from referee.record.certificates import (
    FOLDER,
    GROUPS,
    Certificate,
    CertificateLine,
    certificates_folder,
    find_standing,
    latest_certificate,
    machine_mark,
    save_certificate,
    settings_mark,
)
from referee.record.seals import BrokenSeal
from referee.record.store import Record
from referee.settings.model import Settings, parse_settings
from referee.setup.doctor.machine import check_certificate
from referee.setup.eye_speed import EyeSpeed
from referee.share import percentile
from referee.text.catalogue import LANGUAGES, texts
from referee.units import MS

EN = texts("en")
AT = "2026-03-01T18:40:00+01:00"


class Bench(SimulatedTableBench):
    """The simulated table on a machine whose speed is data."""

    def __init__(self, settings: Settings, *, nature: Nature | None = None, write_ms: int = 2, **camera: Any) -> None:
        super().__init__(settings, EN, nature=nature, **camera)
        self.write_ms = write_ms
        self.quick = Quickness([1.0] * 20, [25.0] * 8, urgency="real time")

    def speed(self) -> EyeSpeed:
        """Return the speed of an average machine."""
        return EyeSpeed((960, 720), 15.0, 1, 60.0, 1.0)

    def quickness(self, told: Callable[[int], None] = lambda _hands: None) -> Quickness:
        """Return the set value."""
        return self.quick

    def clock_step(self, clock: Callable[[], int] | None = None) -> Any:
        """Return the step of a clock that counts nanoseconds."""
        return super().clock_step(iter(range(0, 10**7, 100)).__next__)

    def disk(self, clock: Callable[[], int] | None = None) -> list[float]:
        """Return the latency of a disk with the set speed."""
        instants = (n // 2 * 10**9 + n % 2 * self.write_ms * MS for n in range(10**6))
        return super().disk(instants.__next__)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return simulated_settings(str(tmp_path / "record.db"))


def lines(certificate: Certificate) -> dict[str, CertificateLine]:
    return {line.key: line for line in certificate.lines}


def failed(bench: TableBench) -> dict[str, str]:
    """Return the failures and their remedies."""
    return {line.key: line.mend(EN) for line in measure_table(bench).failed}


def test_the_simulated_table_passes(settings: Settings) -> None:
    made = measure_table(Bench(settings), at=AT)
    assert made.passed and made.simulated
    assert {line.key for line in made.lines} == {key for keys in GROUPS.values() for key in keys} - {"seal"}
    assert lines(made)["order"].found(EN) == "4 of 4 pairs"
    assert abs(float(lines(made)["offset"].measured["late"])) <= 2
    assert not list(Path(settings.record.file).parent.glob("**/disk-*")), "what was written for the disk is gone"


def test_an_offset_of_37_ms_is_found_and_told(settings: Settings) -> None:
    line = lines(measure_table(Bench(settings, late=37 * MS)))["offset"]
    assert abs(float(line.measured["late"]) - 37) <= 2
    assert not line.passed
    assert "raise its delay in the settings by that much" in line.mend(EN)


def test_a_camera_20_ms_late_fails(settings: Settings) -> None:
    (key, words), *more = failed(Bench(settings, late=20 * MS)).items()
    assert (key, more) == ("offset", [])
    assert re.match(r"The camera’s times are (19|20)\.\d ms late against the pads’", words)


def test_a_pad_that_bounces_for_8_ms_fails(settings: Settings) -> None:
    good = example(4)
    found = failed(Bench(settings, nature=replace(good, bounce=(*good.bounce[:2], 8 * MS, good.bounce[3]))))
    assert found == {"bounce": "The pad of Cho bounces too long. Fix its contacts, or replace the pad."}


def test_a_slow_disk_fails(settings: Settings) -> None:
    found = failed(Bench(settings, write_ms=180))
    assert list(found) == ["disk"]
    assert found["disk"].startswith("The disk is slow. Use a faster memory card (A2) or an SSD")


def test_a_dead_pad_and_one_that_hears_its_neighbour_fail(settings: Settings) -> None:
    good = example(4)
    dead = failed(Bench(settings, nature=replace(good, dead=(2,))))
    assert dead["roll_call"] == "The pad of Ben was not heard. Check its cable."
    assert dead["order"].startswith("These pads answered in the wrong order: Ana – Ben, Ben – Cho.")
    loud = replace(good, echo=((0, 14 * MS, 0, 0), *good.echo[1:]))
    assert "The pad of Ben hears the hand of Ana" in failed(Bench(settings, nature=loud))["crosstalk"]


def test_a_light_that_nobody_sees_and_a_late_one_fail(settings: Settings) -> None:
    bench = Bench(settings, brightness=0.0)
    bench.quick = Quickness([1.0] * 18 + [30.0] * 2, [], missing={"voice": "no sound: no sound card answers"})
    found = failed(bench)
    assert found.keys() == {"offset", "light", "sound"}
    assert found["offset"].startswith("The camera sees no seat's light go on.")
    assert lines(measure_table(bench))["offset"].required(EN) == "at most the error that the camera states"
    assert found["sound"] == "no sound: no sound card answers"
    made = lines(measure_table(bench))
    assert made["light"].found(EN) == "30.0 ms (20 slaps)"
    assert made["sound"].found(EN) == "not measured"


def test_what_cannot_be_had_fails_in_its_own_words_and_the_rest_is_measured(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    class NoCamera(Bench):
        def view(self) -> Any:
            raise HardwareMissing("no camera answers at usb:0; plug one in")

        def pads(self) -> Any:
            raise UserError("the pads' chip is gone")

    made = measure_table(NoCamera(settings))
    # A missing part is reported once.
    show(made, EN)
    assert capsys.readouterr().out.count("→ no camera answers") == 1
    found = {line.key: line.mend(EN) for line in made.failed}
    assert set(found) == {"focus", "exposure", "flicker", "roll_call", "order", "bounce", "crosstalk"}
    assert found["focus"] == "no camera answers at usb:0; plug one in"


# Limits


def test_every_limit_has_an_origin() -> None:
    assert [key for key, limit in LIMITS.items() if not limit.origin or not limit.unit] == []


def test_the_camera_may_be_as_late_as_it_states() -> None:
    assert offset_limit(4 * MS, 8 * MS, 0, 33 * MS) == 12 * MS
    assert offset_limit(33 * MS, 33 * MS, 0, 33 * MS) == 33 * MS, "never more than a frame"
    assert offset_limit(33 * MS, 33 * MS, 300 * MS, 33 * MS) == 333 * MS
    assert judge_offset(LightOffset(11 * MS, MS, 48, 48), 12 * MS).passed
    assert not judge_offset(LightOffset(11 * MS, 2 * MS, 48, 48), 12 * MS).passed, "its error counts"
    assert not judge_offset(LightOffset(-20 * MS, MS, 48, 48), 12 * MS).passed


def test_clocks_and_seals_are_judged() -> None:
    assert judge_clock(100, "tsc", is_fine=True).passed
    assert not judge_clock(4 * MS, "jiffies", is_fine=True).passed
    assert not judge_clock(100, "refined-jiffies", is_fine=False).passed
    assert judge_seal(None, "", []).passed
    broken = judge_seal(3, "aabbccdd00112233", [BrokenSeal(7, "is not the line that was sealed")])
    assert not broken.passed
    assert broken.found(EN) == "game 3"
    assert broken.measured["seal"] == "aabb ccdd 0011 2233"
    assert not judge_quickness("light", []).passed


def test_a_clock_that_runs_backwards_is_no_clock(settings: Settings) -> None:
    readings = iter([5, 4] * 5000)
    step, _ = TableBench(settings, EN).clock_step(readings.__next__)
    assert step >= 10**9


def test_the_last_games_seal_is_looked_at(settings: Settings) -> None:
    bench = TableBench(settings, EN)
    assert bench.seal() == (None, "", [])
    with Record(Path(settings.record.file)) as record:
        writer = record.begin("now")
        writer.write('{"kind":"table","t":0,"id":"table","seats":["Ana","Ben"],"rules":"classic"}')
        writer.end("then")
    game, seal, broken = bench.seal()
    assert (game, broken) == (1, [])
    assert len(seal) == 16


def test_the_disk_is_written_as_games_are(settings: Settings) -> None:
    assert len(TableBench(settings, EN).disk(iter(range(10**6)).__next__)) == WRITES


# Lights after hands


class Dark:
    """Lights that never show."""

    def seat(self, seat: int, level: float) -> None: ...

    def table(self, red: float, green: float, blue: float) -> None: ...

    def close(self) -> None: ...


def test_first_hands_are_held_against_their_lights() -> None:
    clock = iter([105 * MS, 400 * MS, 1007 * MS]).__next__
    lights = NotedLights(Dark(), clock)
    for seat, level in ((1, 1.0), (1, 0.0), (2, 1.0)):
        lights.seat(seat, level)
    slaps = [(100 * MS, 1), (110 * MS, 2), (1000 * MS, 2), (2000 * MS, 2), (4000 * MS, 1)]
    # The second hand of the first slap has no light; seat 2's burns still at the third; the last one never came.
    assert [waited for _, waited in lit_after(slaps, lights.changes)] == [5.0, 7.0, 1000.0]
    assert percentile([1.0, 2.0, 3.0, 4.0], 0.5) == 2.0


# Validity


@pytest.fixture
def passed(settings: Settings) -> Certificate:
    line = CertificateLine("bounce", True, {"limit": 6.4}, {"worst": 2.9, "who": "Ana"})
    return Certificate(AT, machine_mark(), "1", settings_mark(settings), (line,), seats=("Ana", "Ben"))


def test_a_certificate_holds_for_its_machine_version_and_settings(settings: Settings, passed: Certificate) -> None:
    folder = certificates_folder(settings)
    assert folder.name == FOLDER and folder.parent == Path(settings.record.file).parent
    assert find_standing(settings).word == "none"
    save_certificate(folder, passed, "page")
    assert latest_certificate(folder) == passed
    assert find_standing(settings, program="1").is_certified
    assert find_standing(settings, program="2").word == "other_version"
    assert find_standing(settings, machine="another", program="1").word == "other_machine"
    slower = settings.model_copy(update={"camera": settings.camera.model_copy(update={"fps": 25.0})})
    assert find_standing(slower, program="1").word == "other_settings"
    louder = settings.model_copy(update={"voice": settings.voice.model_copy(update={"volume": 10})})
    assert find_standing(louder, program="1").is_certified, "nothing that was measured depends on the volume"


def test_a_machine_is_known_by_its_hardware_s_number_or_by_its_system_s(tmp_path: Path) -> None:
    serial, system = tmp_path / "serial-number", tmp_path / "machine-id"
    assert machine_mark((serial, system)) == ""
    system.write_text("0123456789abcdef0123456789abcdef\n")
    by_system = machine_mark((serial, system))
    serial.write_bytes(b"10000000abcdef01\0")
    by_serial = machine_mark((serial, system))
    assert len({"", by_system, by_serial}) == 3
    system.write_text("fedcba9876543210fedcba9876543210\n")
    assert machine_mark((serial, system)) == by_serial, "the same machine, from another card"


def test_the_latest_one_counts_and_the_simulated_tables_never(settings: Settings, passed: Certificate) -> None:
    folder = certificates_folder(settings)
    save_certificate(folder, passed, "page")
    poor = replace(passed, at="2026-03-02T18:00:00+01:00", lines=(replace(passed.lines[0], passed=False),))
    save_certificate(folder, poor, "page")
    for number, path in enumerate(sorted(folder.glob("*.json"), reverse=True)):
        # As after the restoration of a backup.
        os.utime(path, ns=(number * 10**9, number * 10**9))
    standing = find_standing(settings, program="1")
    assert standing.word == "failed"
    assert "on 2026-03-02 18:00 these failed: Bounce of the contacts." in standing.words(EN)
    simulated = replace(passed, at="2026-03-03T18:00:00+01:00", simulated=True)
    save_certificate(folder, simulated, "page")
    assert find_standing(settings, program="1").word == "failed"
    (folder / "2026-03-02T180000p0100.json").write_text("{", encoding="utf-8")
    assert find_standing(settings, program="1").is_certified, "a damaged file is passed over"


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path, passed: Certificate) -> None:
    (tmp_path / "games").write_text("a file")
    with pytest.raises(UserError, match="see that the games' folder may be written"):
        save_certificate(tmp_path / "games" / FOLDER, passed, "page")


def test_the_doctor_says_how_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = tmp_path / "record.db"
    seats = '[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n'
    here = parse_settings(f'[record]\nfile = "{record}"\n{seats}')
    found = check_certificate(here, Path("table.toml"))
    assert (found.state, found.mend) == ("missing", "referee certify --settings table.toml")
    assert "has not been measured yet" in found.words


# The page


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_needs_nothing_and_says_all_in_every_language(settings: Settings, language: str) -> None:
    words = texts(language)
    made = measure_table(Bench(settings, late=37 * MS, write_ms=180), at=AT)
    page = certificate_document(made, words)
    assert "url(" not in page and "<script" not in page and 'href="' not in page
    for line in made.lines:
        for text in (line.name(words), line.found(words), line.mend(words)):
            assert text.replace("'", "&#x27;") in page
    assert page.count('class="mark bad"') == 2
    assert words("certificate.failed") in page


def test_the_command_needs_a_table(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--settings FILE, or --simulated"):
        certify()


def test_the_terminal_shows_what_fails(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    show(measure_table(Bench(settings, write_ms=180)), EN)
    out = capsys.readouterr().out
    assert "✗" in out and "Not certified" in out and "The disk is slow." in out


@pytest.fixture
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    yield tmp_path


@pytest.mark.slow
def test_the_command_certifies_the_simulated_table(at_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With this machine's own eye, disk and quickness, which a busy one may fail; everything simulated passes."""
    certify(simulated=True, out=at_home / "page.html")
    kept = json.loads(next((at_home / "table-referee" / "games" / FOLDER).glob("*.json")).read_text(encoding="utf-8"))
    busy = {"look", "light", "sound", "disk"}
    assert {line["key"] for line in kept["lines"] if not line["passed"]} <= busy
    measured = {line["key"]: line["measured"] for line in kept["lines"]}
    passed = {line["key"]: line["passed"] for line in kept["lines"]}
    for key, least in (("light", 15), ("sound", 3)):
        # A part that a busy machine did not let answer in time has no count; it failed above.
        assert measured[key].get("count", least if not passed[key] else 0) >= least, key
    assert "<title>" in (at_home / "page.html").read_text(encoding="utf-8")
