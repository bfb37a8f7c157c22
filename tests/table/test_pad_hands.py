"""Hands on real contacts, through the pads' shell and filter to the ruling: held pads, echoes, forces."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from hardware.pads.crosstalk import Crosstalk
from hardware.pads.slaps import PadFilter
from hardware.ports import Edge
from hardware.simulated.devices.simulated_pads import SimulatedPads
from hardware.simulated.table.players import Contact, press
from referee.engine.adjudicator import Adjudicator
from referee.engine.observations import Card, Lift, Observation, Slap, Table
from referee.engine.rulings import Ruling

MS = 1_000_000
SEATS = 3


def observed(contacts: Iterable[Contact], until: int, pads: PadFilter | None = None) -> list[Observation]:
    """Return the observations that the pads' shell and filter make of these contacts."""
    table, heard = SimulatedPads(SEATS, t_error=1_500_000), pads or PadFilter(SEATS)
    edges: list[Edge] = []
    table.pads.start(edges.append)
    for contact in sorted(contacts, key=lambda found: found.t):
        table.advance(contact.seat, contact.pressed, contact.t)
    table.run_to(until)
    for edge in edges:
        heard.feed(edge)
    return heard.advance(until)


def ruled(seen: Iterable[Observation], rules: str = "classic") -> list[Ruling]:
    """Rule on two sevens at one and two seconds, and these hands."""
    referee = Adjudicator()
    referee.observe(Table(t=0, id="table", seats=("Ana", "Ben", "Cho"), dealer=3, rules=rules))
    referee.observe(Card(t=1_000 * MS, id="c1", card="7h", seat=1))
    referee.observe(Card(t=2_000 * MS, id="c2", card="7c", seat=2))
    for line in seen:
        referee.observe(line)
    return referee.finish()


def verdicts(rulings: Iterable[Ruling]) -> list[tuple[str, int, str]]:
    return [
        (ruling.kind, ruling["seat"], ruling.get("reason", "")) for ruling in rulings if ruling.kind.startswith("slap_")
    ]


def hand(seat: int, at: int, lasts: int = 90, seed: int = 1) -> list[Contact]:
    return list(press(seat, at * MS, lasts * MS, Random(seed)))


def test_a_hand_that_lies_on_its_pad_when_the_card_turns_makes_no_slap() -> None:
    """M5: it came down before the first card, and chatters as it presses harder on the second."""
    resting = [Contact(500 * MS, 3, True)]
    for at in (2_250, 2_256):
        resting += [Contact(at * MS, 3, False), Contact(at * MS + 3 * MS, 3, True)]
    resting.append(Contact(2_900 * MS, 3, False))
    seen = observed([*resting, *hand(1, 2_400)], 4_000 * MS)
    assert [(line.seat, line.t // MS) for line in seen if isinstance(line, Slap)] == [(3, 500), (1, 2_400)]
    assert ("slap_won", 1, "") in verdicts(ruled(seen))
    assert not any(kind == "slap_won" and seat == 3 for kind, seat, _ in verdicts(ruled(seen)))


def test_a_hand_that_was_taken_away_in_time_slaps() -> None:
    seen = observed([*hand(3, 500, 400), *hand(3, 2_300), *hand(1, 2_400)], 4_000 * MS)
    assert ("slap_won", 3, "") in verdicts(ruled(seen))


def test_a_stuck_pad_makes_no_slap_when_it_is_hit_again() -> None:
    """A glass stood on it since long before; as it is taken away the pad closes once more."""
    contacts = [Contact(10 * MS, 3, True), Contact(4_000 * MS, 3, False), *hand(3, 4_300), *hand(1, 4_400)]
    seen = observed(contacts, 7_000 * MS)
    assert [(line.seat, line.t // MS) for line in seen if isinstance(line, Slap)] == [(3, 10), (1, 4_400)]
    assert [line.t // MS for line in seen if isinstance(line, Lift) and line.seat == 3] == [4_000]
    assert ("slap_won", 1, "") in verdicts(ruled(seen))


def test_a_pad_that_hears_the_winner_pays_no_penalty() -> None:
    """Ana slaps wrongly; the echo on Ben's pad must not cost Ben a card."""
    blow = [*hand(1, 1_400), Contact(1_400 * MS + 300_000, 2, True), Contact(1_403 * MS, 2, False)]
    rows = ((0, 4 * MS, 0), (4 * MS, 0, 0), (0, 0, 0))
    crosstalk = Crosstalk(rows, (1_500_000,) * 3, (6 * MS,) * 3)
    with_matrix = observed(blow, 3_000 * MS, PadFilter(SEATS, crosstalk=crosstalk))
    assert [kind for kind, seat, _ in verdicts(ruled(with_matrix)) if seat == 2] == []
    assert [kind for kind, seat, _ in verdicts(ruled(observed(blow, 3_000 * MS))) if seat == 2] == ["slap_false"]
    assert any(ruling.kind == "burn" and ruling["seat"] == 1 for ruling in ruled(with_matrix))


def test_a_dead_heat_is_settled_by_force_or_by_people() -> None:
    def heat(forces: dict[int, float]) -> list[Ruling]:
        pads = PadFilter(SEATS, force=True)
        for seat, force in forces.items():
            pads.weigh(seat, 2_400 * MS, force)
        return ruled(observed([*hand(1, 2_400), *hand(3, 2_400, seed=5)], 4_000 * MS, pads))

    assert ("slap_won", 3, "") in verdicts(heat({1: 0.3, 3: 0.8}))
    for unsure in ({1: 0.75, 3: 0.8}, {3: 0.8}):
        made = heat(unsure)
        assert any(ruling.kind == "question" and ruling["ask"] == "who_was_first" for ruling in made)
        assert not any(kind == "slap_won" for kind, _, _ in verdicts(made))
