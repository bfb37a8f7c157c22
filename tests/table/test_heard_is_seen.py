"""Every spoken phrase stands on the page and shows in the lights, for people who do not hear, or says why not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hardware.simulated.devices.simulated_lights import SimulatedLights
from referee.announce.light_show import Lamps
from referee.announce.phrases import places, words_in
from referee.announce.sinks import Notice
from referee.announce.voice import announce
from referee.engine.rulings import RULING_ORDER, Ruling
from referee.table.page_link import PAIRING_CODE_NOTICE, PageLink
from referee.units import MS, SECOND
from tests.announce.test_voice import SAID, ruled

SPOKEN = {ruling.kind: ruling for ruling, said in SAID if said is not None}
"""A ruling of each spoken kind."""
UNLIT_NOTICES = {
    "card_lands": "whose turn it is changes its light",
    "card_lands_alone": "a card is seen, and no turn follows",
}
"""The reasons why some phrases of the appliance have no light."""
FIELDS: dict[str, Any] = {
    "seat": 2,
    "card": "7h",
    "number": 3,
    "margin": 9 * MS,
    "rules": "classic",
    "digits": "123456",
    "rank": "7",
}
FIELDS["question"] = ruled("question", ask="who_was_first", about=["s1", "s2"])
NOTICES = [
    key.removeprefix("tell.")
    for key in words_in("en").phrases
    if key.startswith("tell.") and not key.endswith(".margin")
]


@pytest.fixture
def link(tmp_path: Path) -> Iterator[PageLink]:
    with closing(PageLink(tmp_path / "runtime")) as made:
        yield made


def captions(link: PageLink) -> list[str]:
    return [text for _, text, _ in link.state()["captions"]]


def course(first: list[Ruling | Notice], then: list[Ruling | Notice]) -> list[tuple[str, float]]:
    """Return everything shown from ``then`` on, for two seconds."""
    lights = SimulatedLights(4, lambda: 0)
    asks = any(isinstance(later, Ruling) and later.kind == "question" for later in then)
    lamps = Lamps(lights, 4, asks=lambda: asks)
    for event in (*first, *then):
        lamps([event]) if isinstance(event, Ruling) else lamps.tell(event)
    seen = []
    for t in range(0, 2 * SECOND, 20 * MS):
        lamps.touch((), t)
        seen += sorted(lights.levels.items())
    lights.close()
    return seen


BEFORE: dict[str, list[Ruling | Notice]] = {
    **{
        kind: [ruled("challenge", seat=1, challenged=2, card="Ah", chances=4)]
        for kind in ("challenge_off", "challenge_won", "chance", "challenge_moves", "pile")
    },
    "slapped_in": [ruled("out", seat=4)],
    "resumed": [Notice("paused", 0, "")],
    "pad_works": [Notice("pad_stuck", 0, "", {"seat": 2})],
}
"""Prerequisites of an end."""


def test_every_kind_that_can_be_said_is_tried() -> None:
    assert set(SPOKEN) == set(RULING_ORDER) - {"lead", "turn"}


@pytest.mark.parametrize("kind", sorted(SPOKEN))
def test_a_ruling_that_is_said_is_captioned_in_the_same_words(kind: str, link: PageLink) -> None:
    link.take_rulings([SPOKEN[kind]])
    (said,) = announce([SPOKEN[kind]])
    assert captions(link) == [said.text]


@pytest.mark.parametrize("kind", sorted(SPOKEN))
def test_a_ruling_that_is_said_changes_the_lights(kind: str) -> None:
    before = BEFORE.get(kind, [])
    assert course(before, [SPOKEN[kind]]) != course(before, [])


@pytest.mark.parametrize("what", NOTICES)
def test_what_the_appliance_says_is_captioned(what: str, link: PageLink) -> None:
    needed = {name: FIELDS[name] for name in places(words_in("en").phrases[f"tell.{what}"])}
    link.take_notice(Notice(what, 0, "not said", needed))
    # The code is for people at the table: on the page, anyone on the network could read it.
    assert len(captions(link)) == (what != PAIRING_CODE_NOTICE)
    assert "not said" not in captions(link)


@pytest.mark.parametrize("what", NOTICES)
def test_what_the_appliance_says_changes_the_lights_or_has_a_reason(what: str) -> None:
    before, notice = BEFORE.get(what, []), Notice(what, 0, "", {"seat": 2})
    assert (course(before, [notice]) != course(before, [])) != (what in UNLIT_NOTICES)
