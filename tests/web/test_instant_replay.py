"""The file of an instant replay: the kept frames with their instants, and every word that is drawn."""

from __future__ import annotations

import json
from typing import Any

from referee.engine.adjudicator import Adjudicator
from referee.engine.log import from_fields, parse_object
from referee.record.pictures import AFTER, BEFORE, Picture
from referee.text.catalogue import LANGUAGES, texts
from referee.units import MS
from referee.web.photo_finish.instant_replay import MOST_BYTES, is_whole, pack_replay
from referee.web.photo_finish.moment import Finish, finish
from tests.web.test_winner_in_browser import CARDS, FIRST, LATE, WON

NAMES = ("Ana", "Ben", "Cho", "Dora")
ZERO = 2_300_000_000


def moment() -> Finish:
    """Return Dora's slap, with Ana's hand 45 ms behind."""
    adjudicator, lines, rulings = Adjudicator(), [], []
    for number, line in enumerate((FIRST, *CARDS, *WON, *LATE)):
        lines.append(from_fields(parse_object(line, number), number))
        rulings += adjudicator.observe(lines[-1])
    rulings += adjudicator.finish()
    gone = {name for ruling in rulings for name in ruling.supersedes}
    seen = finish(lines, rulings, "s1", gone, len(NAMES))
    assert seen is not None
    return seen


def unpacked(data: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """Read a replay as its script does."""
    length = int.from_bytes(data[:4], "big")
    head, at, frames = json.loads(data[4 : 4 + length]), 4 + length, []
    for frame in head["frames"]:
        frames.append(data[at : at + frame["size"]])
        at += frame["size"]
    assert at == len(data)
    return head, frames


def pictures(count: int, size: int) -> list[Picture]:
    step = (BEFORE + AFTER) // count
    return [Picture(ZERO - BEFORE + n * step, 4 * MS, bytes([n % 256]) * size) for n in range(count)]


def test_every_kept_frame_is_there_with_its_instant() -> None:
    kept = pictures(30, 9_000)
    head, frames = unpacked(pack_replay(7, moment(), NAMES, texts("en"), kept))
    assert [int(frame["t"]) for frame in head["frames"]] == [picture.t for picture in kept]
    assert [frame["at"] for frame in head["frames"]] == [picture.t - ZERO for picture in kept]
    assert frames == [picture.jpeg for picture in kept]
    assert int(head["zero"]) == ZERO
    # Playing begins shortly before the second seven came up.
    assert head["from"] == -450 * MS


def test_of_too_many_bytes_every_second_frame_is_left_out() -> None:
    kept = pictures(120, 30_000)
    data = pack_replay(7, moment(), NAMES, texts("en"), kept)
    head, frames = unpacked(data)
    assert len(data) <= MOST_BYTES + 50_000 and 2 * len(data) > MOST_BYTES
    assert [int(frame["t"]) for frame in head["frames"]] == [picture.t for picture in kept[::2]]
    assert frames == [picture.jpeg for picture in kept[::2]]


def test_lanes_and_verdict_are_those_of_the_photo_finish() -> None:
    head, _ = unpacked(pack_replay(7, moment(), NAMES, texts("en"), pictures(3, 10)))
    said = head["named"]
    assert (said["who"], said["how"], said["under"]) == ("Dora", "45\xa0ms ahead", "give or take 3\xa0ms")
    assert [lane["name"] for lane in said["lanes"]] == ["Dora", "Ana", "Ben"], "every hand that came down has a lane"
    hand = said["lanes"][1]["hands"][0]
    assert hand["at"] == 44_694_000 and "45" in hand["said"] and "3" in hand["said"]
    assert [card["said"] for card in head["cards"]] == ["7 of hearts", "7 of clubs"]


def test_without_names_there_is_none_in_any_language() -> None:
    for language in LANGUAGES:
        head, _ = unpacked(pack_replay(7, moment(), NAMES, texts(language), pictures(3, 10)))
        nameless = json.dumps(head["nameless"], ensure_ascii=False)
        assert not [name for name in NAMES if name in nameless]
        assert [len(lane["hands"]) for lane in head["nameless"]["lanes"]] == [1, 1, 1]


def test_pictures_are_whole_once_the_next_would_come_after_the_end() -> None:
    every = list(range(0, 1_000, 66))
    assert is_whole(every, 1_000)
    assert not is_whole(every[:-1], 1_000)
    # A slow camera's few frames are as whole as it can show.
    assert is_whole([0, 200, 400], 500)
    assert not is_whole([400], 410) and not is_whole([], 410)
