"""`referee enrol`: the dialogue over a deck, and the command with pictures and stored decks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from hardware.simulated.decks.packs import PrintedDeck
from models.decks.enrolment import Confusion
from models.decks.lookout import Lookout, NoLook
from models.decks.looks import LOOK_H, LOOK_W, CardLook
from referee.cli import main
from referee.settings.model import SettingsError, parse_settings
from referee.setup.decks.dialogue import ORDER, DeckDialogue, DeckNotice, card_in_words, named_cards
from referee.setup.decks.enrol import tell_confusions
from referee.vision import learned_decks
from tests.models.decks.test_enrolment import alone
from tests.support.unusual_packs import UNUSUAL
from tools.measure.enrol_check import SCALE, session

FRAME = 100_000_000


class PaintedLookout(Lookout):
    """Knows painted cards by their grey: 0 has no index, 1 is blurred, any other is some card."""

    def __init__(self) -> None:
        self.noted: dict[str, int] = {}

    def look(
        self, image: NDArray[np.uint8], cards: Sequence[str], changed: NDArray[np.bool_] | None = None
    ) -> list[CardLook]:
        grey = int(image[60, 80, 0])
        if grey < 2:
            raise NoLook(("none", "blurred")[grey], ("no index is found", "the picture is blurred")[grey])
        patch = np.full((1, LOOK_H, LOOK_W, 3), grey, np.uint8)
        return [CardLook(card, patch, patch[:0], None, 0.3) for card in cards]

    def contradicts(self, look: CardLook) -> str | None:
        return "9" if int(look.indices[0, 0, 0, 0]) == 99 else None

    def note(self, card: str, look: CardLook) -> None:
        self.noted[card] = int(look.indices[0, 0, 0, 0])

    def forget(self, card: str) -> None:
        self.noted.pop(card, None)

    def known_as(self, look: CardLook) -> str | None:
        grey = int(look.indices[0, 0, 0, 0])
        return next((c for c, g in self.noted.items() if g == grey and c != look.card), None)


class Table:
    """Lays painted cards before a `DeckDialogue`, frame by frame, and keeps its words."""

    def __init__(self, laying: DeckDialogue) -> None:
        self.laying, self.t, self.told = laying, 0, list[DeckNotice]()
        self.frames(np.full((120, 160, 3), 60, np.uint8), 6)

    def frames(self, image: NDArray[np.uint8], count: int) -> None:
        for _ in range(count):
            self.told += self.laying.feed(image, self.t)
            self.t += FRAME

    def card(self, grey: int, frames: int = 8) -> list[str]:
        """Let a card with that grey come in and lie; return the kinds of the reports."""
        before = len(self.told)
        for x in (10, 25, 40):
            image = np.full((120, 160, 3), 60, np.uint8)
            image[30:90, x : x + 80] = 250
            image[50:70, x + 20 : x + 60] = grey
            self.frames(image, 1)
        self.frames(image, frames)
        return [w.kind for w in self.told[before:]]

    def away(self) -> None:
        self.frames(np.full((120, 160, 3), 60, np.uint8), 6)

    def types(self, line: str) -> list[str]:
        words = self.laying.type_line(line)
        self.told += words
        return [w.kind for w in words]


@pytest.fixture
def table() -> Table:
    return Table(DeckDialogue(PaintedLookout(), ["As", "2s", "3s"]))


def test_cards_are_taken_in_order_and_the_next_is_asked_for(table: Table) -> None:
    assert table.laying.prompt().text == "[0 of 3] lay the ace of spades"
    assert table.card(20) == ["took", "lay"]
    assert table.laying.wanted == ("2s",)
    assert table.card(40) == ["took", "lay"]
    assert table.card(80) == ["took"]
    assert table.laying.is_done
    assert {card: len(looks) for card, looks in table.laying.looks.items()} == {"As": 2, "2s": 2, "3s": 2}


def test_a_card_that_goes_away_and_an_empty_table_are_no_news(table: Table) -> None:
    table.card(20)
    told = len(table.told)
    table.away()
    table.frames(np.full((120, 160, 3), 61, np.uint8), 30)
    assert len(table.told) == told
    assert table.card(40) == ["took", "lay"]


def test_a_card_without_index_is_told_once_and_may_be_skipped(table: Table) -> None:
    assert table.card(0, frames=40) == ["none"]
    assert "more light" in table.told[-1].text
    assert table.types("skip") == ["lay"]
    assert table.laying.wanted == ("2s",)


def test_a_blurred_card_is_told_and_taken_when_sharp(table: Table) -> None:
    assert table.card(1, frames=40) == ["blurred"]
    assert table.card(20) == ["took", "lay"]


def test_a_card_laid_twice_is_asked_again(table: Table) -> None:
    table.card(20)
    table.away()
    assert table.card(20) == ["twice"]
    assert "ace of spades, which was laid already: lay the two of spades" in table.told[-1].text
    assert table.card(40) == ["took", "lay"]
    assert table.laying.wanted == ("3s",)


def test_a_card_in_doubt_is_kept_if_the_person_says_so(table: Table) -> None:
    assert table.card(99) == ["other"]
    assert "looks like a nine" in table.told[-1].text
    assert table.types("what?") == ["what"]
    assert table.types("keep") == ["took", "lay"]


def test_the_last_card_can_be_undone(table: Table) -> None:
    assert table.types("undo") == ["what"]
    table.card(20)
    table.card(40)
    assert table.types("u") == ["undone", "lay"]
    assert table.laying.wanted == ("2s",)
    assert set(table.laying.looks) == {"As"}
    table.away()
    assert table.card(40) == ["took", "lay"]


def test_in_any_order_each_card_is_named_after_it_was_seen() -> None:
    table = Table(DeckDialogue(PaintedLookout(), ORDER, ask=True))
    assert table.card(20) == ["ask"]
    assert table.types("elephant") == ["what"]
    assert table.types("10H") == ["took", "lay"]
    assert table.card(40) == ["ask"]
    assert table.types("th") == ["twice"]
    assert table.types("kd") == ["took", "lay"]
    assert set(table.laying.looks) == {"Th", "Kd"}
    table.types("done")
    assert table.laying.is_done


def test_cards_that_are_still_confused_are_named_with_the_command_that_adds_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tell_confusions("skat", [Confusion("Js", "Ks", 0.25), Confusion("9h", "6h", 0.125)])
    said = capsys.readouterr().out
    assert "J♠ with K♠ (25% of its copies)" in said
    assert '--deck skat --more --cards "Js 9h"' in said


def test_lists_of_cards_are_read_and_refused_in_words() -> None:
    assert named_cards("as, 10D xr") == ["As", "Td", "Xr"]
    assert card_in_words("Td") == "ten of diamonds"
    for text, word in (("As As", "twice"), ("Zz", "no card"), (" ", "name cards")):
        with pytest.raises(ValueError, match=word):
            named_cards(text)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return pictures of six cards with German letters."""
    folder = tmp_path_factory.mktemp("cards")
    for card in ("Js", "Qs", "Ks", "Jh", "Qh", "Kh"):
        cv2.imwrite(str(folder / f"{card}.png"), alone(card))
    return [str(folder / f"{card}.png") for card in ("Js", "Qs", "Ks", "Jh", "Qh", "Kh")]


CARDS = ["--cards", "Js Qs Ks Jh Qh Kh"]


def test_a_deck_is_learned_from_pictures_used_listed_and_forgotten(
    pictures: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert main(["enrol", *pictures, "--deck", "skat", *CARDS]) in (0, 1)
    said = capsys.readouterr().out
    assert "learned: 6 cards" in said
    assert "Not laid: 46 cards" in said
    assert {f.name for f in learned_decks.folder().iterdir()} == {"skat.npz", "skat.png"}
    assert main(["recognise", "--deck", "skat", pictures[2]]) == 0
    assert '"card": "Ks"' in capsys.readouterr().out
    assert main(["enrol", "--list"]) == 0
    assert "skat: 6 cards" in capsys.readouterr().out
    assert main(["enrol", *pictures, "--deck", "skat", *CARDS]) == 2
    assert "--more adds looks" in capsys.readouterr().err
    assert main(["enrol", *pictures[:2], "--deck", "skat", "--cards", "Js Qs", "--more"]) in (0, 1)
    assert "learned: 6 cards" in capsys.readouterr().out
    file = learned_decks.path_of("skat")
    file.write_bytes(file.read_bytes()[:9000])
    assert main(["recognise", "--deck", "skat", pictures[0]]) == 2
    assert "lay the deck again" in capsys.readouterr().err
    assert main(["enrol", "--forget", "skat"]) == 0
    assert main(["recognise", "--deck", "skat", pictures[0]]) == 2
    assert "none was learned yet" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "word"),
    [
        (["--deck", "../up"], "cannot be a deck's name"),
        (["--forget", "nobody"], "no deck nobody"),
        (["one.png"], "name what the pictures show"),
        (["one.png", "two.png", "--cards", "As Ks Qs"], "2 images and 3 cards"),
        (["one.png", "--cards", "As As"], "twice"),
        (["none.png", "--cards", "As"], "no such file"),
        (["--source", "usb:97"], "usb:97|camera"),
        (["--source", ".", "--ask"], "does not stop for an answer"),
    ],
)
def test_mistakes_are_told_in_one_line(
    args: list[str], word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert main(["enrol", "--quiet", *args]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert any(part in said for part in word.split("|")), said


def test_a_picture_without_cards_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    cv2.imwrite(str(tmp_path / "cloth.png"), np.full((300, 400, 3), 80, np.uint8))
    assert main(["enrol", str(tmp_path / "cloth.png"), "--cards", "As"]) == 2
    assert "cloth.png (As): no index is found" in capsys.readouterr().err


def test_a_table_may_name_its_deck() -> None:
    seats = '[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n'
    assert parse_settings(f'deck = "skat"\n{seats}').deck == "skat"
    assert parse_settings(seats).deck is None
    with pytest.raises(SettingsError, match="deck"):
        parse_settings(f"deck = 7\n{seats}")


def test_a_deck_is_laid_before_a_recorded_camera(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    frames = tmp_path / "frames"
    frames.mkdir()
    cards = ["Js", "Ks", "Jh", "Kh"]
    for k, (image, _) in enumerate(session(PrintedDeck(UNUSUAL["kontor"], SCALE), cards)):
        cv2.imwrite(str(frames / f"frame_{k:05}.png"), image)
    asked = ["--source", str(frames), "--fps", "5", "--cards", " ".join(cards), "--quiet"]
    assert main(["enrol", "--deck", "laid", *asked]) in (0, 1)
    said = capsys.readouterr().out
    assert "[0 of 4] lay the jack of spades" in said
    assert "took the king of hearts" in said
    assert "learned: 4 cards, from 8 looks" in said
    assert learned_decks.read("laid").knowledge.laid == ("Jh", "Kh", "Js", "Ks")
