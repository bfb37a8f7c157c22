"""A deck with German letters, learned from one look at each card, and the limits of its confidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from hardware.simulated.decks.packs import PrintedDeck, all_cards
from models.decks.deck_file import DeckBroken, LearnedDeck, load, save
from models.decks.enrolment import CAP, Confusion, Knowledge, TooFewLooks
from models.decks.lookout import Lookout, NoLook
from models.decks.looks import CardLook
from models.eye.classes import RANK_CLASSES, SUIT_CLASSES
from models.eye.eye import Eye
from models.eye.networks import WEIGHTS, Network
from tests.models.table_view.tabletop import HEIGHT, WIDTH, Laid, Picture, Take, picture, pile
from tests.support.unusual_packs import UNUSUAL
from tools.measure.enrol_check import LAYING, SCALE, score

KONTOR = PrintedDeck(UNUSUAL["kontor"], SCALE)


def alone(card: str, seed: int = 0, take: Take = LAYING) -> Picture:
    rng = np.random.default_rng([seed, RANK_CLASSES.index(card[0]), SUIT_CLASSES.index(card[1])])
    return picture(KONTOR, [Laid(card, WIDTH / 2, HEIGHT / 2, float(rng.normal(0, 10)))], take, rng)


@pytest.fixture(scope="module")
def lookout() -> Lookout:
    return Lookout.load()


@pytest.fixture(scope="module")
def looks(lookout: Lookout) -> list[CardLook]:
    return [look for card in all_cards() for look in lookout.look(alone(card), [card])]


@pytest.fixture(scope="module")
def known(lookout: Lookout, looks: Sequence[CardLook]) -> Knowledge:
    return lookout.learn(looks)


def test_other_letters_are_read_after_one_look_at_each_card(known: Knowledge) -> None:
    after = score(Eye.load(deck=known), KONTOR, 16)
    assert after.right >= 15
    assert after.sure >= 14
    assert after.wrong == 0


def test_the_new_letters_themselves_are_read(known: Knowledge) -> None:
    eye = Eye.load(deck=known)
    dim = Take(scale=0.9, tilt=0.06, light=0.75, warmth=0.1, blur=0.9, noise=5)
    read = [eye.recognise(alone(card, 3, dim))[0] for card in ("Js", "Qh", "Jd", "Qc")]
    assert [seen.card for seen in read] == ["Js", "Qh", "Jd", "Qc"]
    assert min(seen.confidence for seen in read) > 0.8


def test_an_ordinary_eye_reads_as_before(known: Knowledge) -> None:
    rng = np.random.default_rng(2)
    image = picture(PrintedDeck("meadow", SCALE), pile(["7h", "Qs", "4c"], rng), Take(), rng)
    before = Eye.load().recognise(image)
    Eye.load(deck=known).recognise(image)
    after = Eye.load().recognise(image)
    assert [(s.card, s.confidence, s.top) for s in before] == [(s.card, s.confidence, s.top) for s in after]


def test_learning_the_same_looks_is_learning_the_same(lookout: Lookout, looks: Sequence[CardLook]) -> None:
    few = [look for look in looks if look.card[0] in "29K"]
    one, other = lookout.learn(few), lookout.learn(few)
    assert np.array_equal(one.rank.lines.weight, other.rank.lines.weight)
    assert one.confusions == other.confusions


def test_what_was_not_laid_is_not_said_for_sure(lookout: Lookout, looks: Sequence[CardLook]) -> None:
    partly = lookout.learn([look for look in looks if look.card[0] in "2579"])
    eye = Eye.load(deck=partly)
    for card in ("Ks", "Jd", "Ah", "Qc"):
        assert all(seen.confidence < 0.9 for seen in eye.recognise(alone(card, 5))), card
    assert eye.recognise(alone("5h", 5))[0].card == "5h"


def test_a_card_named_wrongly_is_found_out(lookout: Lookout, looks: Sequence[CardLook]) -> None:
    swapped = {"4s": "9s", "9s": "4s"}
    few = [look for look in looks if look.card[0] in "3459"]
    known = lookout.learn([replace(look, card=swapped.get(look.card, look.card)) for look in few])
    assert {"4s", "9s"} <= {c.card for c in known.confusions}
    assert known.cap("4s") == CAP


def test_confused_cards_are_capped_and_others_are_not(known: Knowledge) -> None:
    doubtful = replace(known, confusions=(Confusion("Jc", "Qc", 0.6),), laid=tuple(c for c in known.laid if c != "2h"))
    assert doubtful.cap("Jc") == doubtful.cap("Qc") == doubtful.cap("2h") == CAP < 0.9
    assert doubtful.cap("3h") == 1.0


def test_one_card_teaches_no_deck(lookout: Lookout, looks: Sequence[CardLook]) -> None:
    with pytest.raises(TooFewLooks, match="two ranks"):
        lookout.learn([look for look in looks if look.card == "7h"])


def test_an_empty_table_and_a_blurred_card_are_told_apart(lookout: Lookout) -> None:
    cloth = picture(KONTOR, [], LAYING, np.random.default_rng(1))
    with pytest.raises(NoLook) as none:
        lookout.look(cloth, ["7h"])
    assert none.value.kind == "none"
    with pytest.raises(NoLook) as blurred:
        lookout.look(np.asarray(cv2.GaussianBlur(alone("7h"), (0, 0), 7.0), np.uint8), ["7h"])
    assert blurred.value.kind in ("blurred", "none")


def test_cards_side_by_side_are_named_from_left_to_right(lookout: Lookout) -> None:
    laid = [Laid(card, 130.0 + 190 * k, 240.0, 4.0 * k) for k, card in enumerate(["Js", "7h", "Kd"])]
    image = picture(KONTOR, laid, LAYING, np.random.default_rng(4))
    found = lookout.look(image, ["Js", "7h", "Kd"])
    assert [lookout.read_rank(look)[0] for look in found[1:]] == ["7", "K"]
    with pytest.raises(NoLook, match="of the 5 cards"):
        lookout.look(image, ["Js", "7h", "Kd", "2c", "3c"])


def test_a_number_that_is_clearly_another_is_contradicted(lookout: Lookout) -> None:
    (look,) = lookout.look(alone("9c"), ["4c"])
    assert lookout.contradicts(look) == "9"
    assert lookout.contradicts(replace(look, card="9c")) is None


def test_a_card_laid_again_is_recognised_and_a_new_one_is_not() -> None:
    lookout = Lookout.load()
    for card in ("2s", "7s", "Jd", "5d", "9h", "Qc"):
        lookout.note(card, lookout.look(alone(card), [card])[0])
    again = {card: lookout.known_as(lookout.look(alone(card, 7), ["3d"])[0]) for card in ("2s", "Jd", "5d")}
    assert sum(card == known for card, known in again.items()) >= 2
    assert [lookout.known_as(lookout.look(alone(card, 7), [card])[0]) for card in ("8h", "Ac", "6d")] == [None] * 3


@pytest.fixture
def stored(tmp_path: Path, known: Knowledge, looks: Sequence[CardLook]) -> Path:
    path = tmp_path / "kontor.npz"
    save(LearnedDeck("kontor", tuple(looks[:6]), known, "weights"), path)
    return path


def test_a_stored_deck_is_the_same_deck(stored: Path, known: Knowledge, looks: Sequence[CardLook]) -> None:
    deck = load(stored)
    features = np.random.default_rng(1).random((3, known.rank.lines.weight.shape[0]), np.float32)
    ordinary = np.log(np.full((3, len(RANK_CLASSES)), 1 / len(RANK_CLASSES)))
    assert np.array_equal(deck.knowledge.rank.logs(features, ordinary), known.rank.logs(features, ordinary))
    assert (deck.name, deck.weights, deck.knowledge.laid) == ("kontor", "weights", known.laid)
    assert [look.card for look in deck.looks] == [look.card for look in looks[:6]]
    assert np.abs(deck.looks[0].indices.astype(int) - looks[0].indices).mean() < 4
    assert [file.name for file in stored.parent.iterdir()] == ["kontor.npz"]


def test_a_torn_deck_says_what_to_do(stored: Path) -> None:
    whole = stored.read_bytes()
    rng = np.random.default_rng(1)
    for cut in (0, 10, len(whole) // 2, len(whole) - 5):
        stored.write_bytes(whole[:cut])
        with pytest.raises(DeckBroken, match="lay the deck again"):
            load(stored)
    for place in rng.integers(0, len(whole), 12):
        stored.write_bytes(whole[:place] + bytes(rng.integers(0, 256, 40, np.uint8)) + whole[place + 40 :])
        try:
            load(stored)
        except DeckBroken as error:
            assert "lay the deck again" in str(error)


def test_features_come_with_the_same_answer() -> None:
    batch = np.random.default_rng(1).integers(0, 256, (3, 64, 48, 3), dtype=np.uint8)
    network = Network(WEIGHTS / "reader.ncnn")
    out, features = network.with_features(batch)
    assert np.array_equal(out, network(batch))
    assert features.shape[0] == 3
    assert features.std() > 0
