"""The meaning of letters, and the deck's language that they reveal."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import ImageFont

from models.eye.classes import RANK_CLASSES
from models.eye.letters import GLYPHS, LANGUAGES, Letters, Logs, prints
from models.eye.networks import WEIGHTS, Network
from tests.support.unusual_packs import foreign_packs


def logs(glyphs: list[str], sure: float = 0.98) -> Logs:
    """Return a sure reading of each glyph."""
    table = np.full((len(glyphs), len(GLYPHS)), (1 - sure) / (len(GLYPHS) - 1))
    table[range(len(glyphs)), [GLYPHS.index(glyph) for glyph in glyphs]] = sure
    return np.asarray(np.log(table))


def seen(*cards: str, sure: float = 0.98) -> Letters:
    """Return the letters after cards such as ``Vh`` or ``10s`` were read."""
    letters = Letters()
    suits = np.full((len(cards), 6), 0.004)
    suits[range(len(cards)), ["cdhs".index(card[-1]) for card in cards]] = 0.98
    letters.see(logs([card[:-1] for card in cards], sure), np.log(suits), np.full(len(cards), 9.0))
    return letters


def meaning(letters: Letters, glyph: str) -> dict[str, float]:
    """Return the ranks that a glyph may mean, with more than a hundredth each."""
    chances = np.exp(letters.ranks(logs([glyph], 1 - 1e-9))[0])
    return {rank: float(p) for rank, p in zip(RANK_CLASSES, chances, strict=True) if p > 0.01}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("rank", RANK_CLASSES)
def test_what_a_language_prints_is_read_as_that_rank_among_its_own(language: str, rank: str) -> None:
    own = [letter + suit for suit in "cdhs" for court in "AKQJ" for letter in prints(language, court)[:1]]
    letters = seen(*own)
    assert letters.language == language
    assert max(meaning(letters, prints(language, rank)[0]).items(), key=lambda item: item[1])[0] == rank


def test_a_v_alone_is_a_queen_or_a_jack_alike() -> None:
    assert meaning(seen("Vh"), "V") == {"Q": pytest.approx(0.5, abs=0.02), "J": pytest.approx(0.5, abs=0.02)}
    assert seen("Vh").language is None


@pytest.mark.parametrize(("others", "rank"), [("Ds Rh", "J"), ("1c Rd", "J"), ("Bs Hh", "Q"), ("Bd Bc", "Q")])
def test_other_letters_settle_the_v(others: str, rank: str) -> None:
    assert meaning(seen("Vh", *others.split()), "V")[rank] > 0.8


def test_a_king_beside_it_settles_nothing_for_sure() -> None:
    """A pack of one language may lie among another's."""
    assert max(meaning(seen("Vh", "Kc"), "V").values()) < 0.8


def test_a_t_alone_is_asked_about() -> None:
    """The ace of a Russian pack, or the ten of one of the few English packs that print no 10."""
    t = meaning(Letters(), "T")
    assert max(t["T"], t["A"]) < 0.9
    assert meaning(seen("Kc", "Qd", "Js", "Ah"), "T")["T"] > 0.9


def test_pips_tell_an_ace_whatever_letter_is_printed_on_it() -> None:
    """On a whole card an A means one pip: so it is of a pack that prints a T, a 1 or an E on it, too."""
    russian, ace = seen("Дc", "Дh", "Bs", "Td"), RANK_CLASSES.index("A")
    assert np.exp(russian.ranks(logs(["A"]), by_pips=True)[0, ace]) > 0.95
    assert np.exp(russian.ranks(logs(["A"]))[0, ace]) < 0.5


def test_an_eight_is_no_jack_among_english_courts() -> None:
    doubtful = np.logaddexp(logs(["8"], 0.999), logs(["B"], 0.999)) - np.log(2)
    english = np.exp(seen("Qc", "Qd", "Js", "Jh").ranks(doubtful)[0])
    german = np.exp(seen("Dc", "Dd", "Bs", "Bh").ranks(doubtful)[0])
    assert english[RANK_CLASSES.index("8")] > 0.97
    assert german[RANK_CLASSES.index("J")] > 0.3


def test_the_same_card_seen_again_and_again_says_no_more_than_once() -> None:
    once, often = seen("Dh", "Bs"), seen(*["Dh", "Bs"] * 50)
    assert np.allclose(once.chances, often.chances)


def test_what_is_hardly_an_index_tells_nothing() -> None:
    letters = Letters()
    letters.see(logs(["D"]), np.log(np.full((1, 6), 1 / 6)), np.array([0.5]))
    assert np.allclose(letters.chances, Letters().chances)


def test_numbers_tell_nothing() -> None:
    assert np.allclose(seen("7h", "9s", "2c").chances, Letters().chances)


def test_cards_of_two_packs_leave_no_language_told() -> None:
    assert seen("Qh", "Js", "Qc", "Rd", "Vs", "Rc", "Dh").language is None


def test_the_shipped_weights_say_what_they_tell_apart() -> None:
    for name in ("reader", "card"):
        assert Network(WEIGHTS / f"{name}.ncnn").glyphs == GLYPHS


def test_every_foreign_letter_is_in_the_typeface_that_prints_it() -> None:
    """A typeface prints a box for a letter that it lacks, and the eye would be judged on boxes."""
    for language, family in foreign_packs():
        font = ImageFont.truetype(family.font_file, 40)
        box = bytes(font.getmask("\uffff"))
        for letter in "".join(family.letters.values()):
            assert bytes(font.getmask(letter)) != box, (language, family.name, letter)
