"""Reasons of the watcher in words: every word has its text, and a page's example is what the command prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from models.watch.reasons import Evidence, Look, Occasion, Reason, Shown, SpanFrame
from referee.cli import main
from referee.engine.observations import Card, Foul, Gap, Observation, Placed, Taken
from referee.text.catalogue import LANGUAGES, table, texts
from referee.units import MS
from referee.vision.reason_lines import reason_lines

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "vision.md").read_text(encoding="utf-8")
LOOK = Look(1_067 * MS, "Qs", 0.61, "on", at_rest=True, occasion=Occasion.WHITE)
FRAMES = (
    SpanFrame(1_000 * MS, 1_004 * MS, Shown.NONE),
    SpanFrame(1_067 * MS, 1_071 * MS, Shown.PAPER),
)


def words(evidence: Evidence, language: str = "en") -> list[str]:
    return list(reason_lines(evidence, texts(language)))


@pytest.mark.parametrize(("name", "kind"), [("reason", Reason), ("occasion", Occasion), ("shown", Shown)])
def test_every_reason_has_its_text_and_no_text_is_left_over(name: str, kind: type[Reason]) -> None:
    there = {key.removeprefix(f"watch.{name}.") for key in table("en") if key.startswith(f"watch.{name}.")}
    assert there == {word.value for word in kind} - {"seen"}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("reason", Reason)
def test_each_reason_is_told_in_each_language_for_a_candidate_and_for_each_kind_of_report(
    language: str, reason: Reason
) -> None:
    told: list[Observation | None] = [
        None, Card(t=1_035 * MS, id="c1", card="??", t_error=45 * MS), Card(t=1, id="c2", card="Qs", seat=2),
        Taken(t=1, id="t1"), Placed(t=1, id="p1", seat=1), Foul(t=1, id="f1", seat=1, foul="hover"),
        Gap(t=1, id="g1", until=2),
    ]  # fmt: skip
    for line in told:
        evidence = Evidence(
            reason, 1_200 * MS, line, Reason.MEMORY, "Qc", 0.7, "Ks", (LOOK,), 1, 2, 90.0, 1, 2, 3, FRAMES
        )
        first, *rest = words(evidence, language)
        assert not first.startswith(" ") and all(line.startswith("    ") for line in rest)
        assert "{" not in first + "".join(rest)


def test_a_card_that_memory_named_says_what_the_eye_alone_read() -> None:
    told = Card(t=1_035 * MS, id="c7", card="Qc", seat=3, t_error=45 * MS, confidence=0.93)
    evidence = Evidence(
        Reason.RESTS_ON_PILE, 1_400 * MS, told, Reason.MEMORY, "Qs", 0.61, looks=(LOOK,), white=1_067 * MS,
        bearing=91.4, low=1_000 * MS, high=1_071 * MS, frames=FRAMES,
    )  # fmt: skip
    assert words(evidence) == [
        "1.04 ± 0.05 s: Q♣, laid by seat 3 (c7)",
        "    why: it lies still on the pile",
        "    name: the eye was unsure, and deck memory leaves one of its names",
        "    deck memory: the eye alone read Q♠ 0.61",
        "    noticed: white paper on its way, at 1.067 s",
        "    arm: from 91°",
        "    face: 1.000 s surely none; 1.067 s white paper",
        "    look at 1.067 s: Q♠ 0.61, on top, at rest, because white paper had shown that no card explains",
        "    decided at 1.400 s",
    ]


def test_a_span_that_reports_made_before_cut_short_says_so() -> None:
    told = Card(t=1_035 * MS, id="c7", card="Qs", seat=3, t_error=45 * MS)
    evidence = Evidence(
        Reason.FOLLOWED, 1_400 * MS, told, Reason.NEXT_WAITS, "Qs", 0.99, low=1_030 * MS, high=1_071 * MS, frames=FRAMES
    )
    assert "    span begins at 1.030 s: everything before had been reported" in words(evidence)


def test_a_dropped_candidate_names_the_card_that_decided_it() -> None:
    lines = words(Evidence(Reason.READ_TWO_WAYS, 1_400 * MS, name="Qc", confidence=0.7, other="Qs", looks=(LOOK,)))
    assert lines[0] == "1.067 s: Q♣ 0.70, not reported"
    assert lines[1].endswith("one card, read two ways: Q♠")


@pytest.mark.skipif(not (ROOT / "models" / "weights" / "finder.ncnn").exists(), reason="the eye's weights are not here")
def test_the_pages_example_is_what_the_command_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All but the confidences, which the processor rounds in its own way."""
    shown = re.search(r"^    (referee demo .*--frames) frames/ && (referee watch .*) frames/$", PAGE, re.MULTILINE)
    assert shown is not None
    for command in shown.groups():
        capsys.readouterr()
        main([*command.split()[1:], str(tmp_path / "frames")])
    printed = capsys.readouterr().out
    section = PAGE[shown.end() :]
    example = re.search(r"```text\n(.+?)```", section, re.DOTALL)
    assert example is not None
    assert rounded(example[1]) in rounded(printed)


def rounded(text: str) -> str:
    return re.sub(r" [01]\.\d\d,", " 1,", text)
