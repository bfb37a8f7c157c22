"""When a camera's process is queried, killed, abandoned and started: plain instants in, acts and words out."""

from __future__ import annotations

import itertools

from hardware.camera.supervisor import Act, Patience, Phase, Supervisor

PATIENCE = Patience(opening=1_000, frame=100, asked=10, killed=20, rests=(0, 50, 200), steady=500)


class Watched:
    """A supervisor, and its reports."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.it = Supervisor(PATIENCE, self.words.append, 0)

    def until_due(self) -> tuple[int, Act | None]:
        now = self.it.due
        assert self.it.look(now - 1) is None
        return now, self.it.look(now)


def test_a_camera_that_delivers_is_left_alone() -> None:
    watched = Watched()
    for t in range(0, 5_000, 50):
        watched.it.picture(t)
        assert watched.it.look(t) is None
    assert watched.words == []
    assert watched.it.phase is Phase.LIVE


def test_silence_is_asked_killed_left_behind_and_begun_again() -> None:
    watched = Watched()
    watched.it.picture(400)
    assert watched.until_due() == (500, Act.ASK)
    assert watched.words == ["the camera fell silent; starting it anew"]
    assert watched.until_due() == (510, Act.KILL)
    assert watched.until_due() == (530, Act.ABANDON)
    assert watched.until_due() == (530, Act.START)
    watched.it.picture(600)
    assert watched.words[1:] == [
        "the camera's process cannot be ended and is left behind; starting another",
        "the camera is back",
    ]


def test_one_that_does_not_open_is_started_again_with_longer_rests() -> None:
    watched = Watched()
    watched.it.picture(0)
    starts = []
    for _ in range(5):
        # Gone at once, each time with the same words.
        watched.it.gone(watched.it.due, "no camera answers")
        now, act = watched.until_due()
        assert act is Act.START
        starts.append(now)
    assert [later - earlier for earlier, later in itertools.pairwise(starts)] == [1_050, 1_200, 1_200, 1_200]
    assert watched.words == ["no camera answers"], "said once, not at every try"


def test_an_opening_has_its_own_deadline() -> None:
    watched = Watched()
    assert watched.until_due() == (1_000, Act.ASK)
    watched.it.gone(1_005, "asked to")
    assert watched.words == ["the camera does not open; starting it anew"]
    assert watched.until_due() == (1_005, Act.START)


def test_a_camera_that_was_sound_for_long_starts_at_once_again() -> None:
    watched = Watched()
    for t in (0, 90, 180):
        watched.it.picture(t)
    watched.it.gone(200, "died")
    assert watched.it.due == 200
    watched.it.look(200)
    watched.it.picture(300)
    watched.it.gone(310, "died")
    assert watched.it.due == 360, "it had been back for a moment only"
    watched.it.look(360)
    for t in range(400, 1_000, 90):
        watched.it.picture(t)
    watched.it.gone(1_000, "died")
    assert watched.it.due == 1_000
    assert watched.words == ["died", "the camera is back"] * 2 + ["died"]


def test_new_words_of_a_trouble_that_goes_on_are_told() -> None:
    watched = Watched()
    watched.it.picture(0)
    watched.it.gone(10, "the cable is out")
    watched.it.look(10)
    watched.it.gone(20, "no camera answers")
    assert watched.words == ["the cable is out", "no camera answers"]
