"""The votes of a class on slaps: one for each phone, changeable until the verdict, in event time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from referee.options.classroom.pupils import PhonePlaces, Pupils
from referee.options.classroom.slap_votes import SECOND_THOUGHTS, SlapVotes, VoteProblem
from referee.units import SECOND

CHOICES = ("A", "B", "heat", "none")
LENGTH = 30 * SECOND


def asked(*votes: tuple[str, str, int]) -> SlapVotes:
    """Return the votes on slap s1, asked at 0: device, choice and instant of each."""
    made = SlapVotes(LENGTH)
    made.ask("s1", CHOICES, 0)
    for device, choice, now in votes:
        assert made.vote(device, "s1", choice, now) is None
    return made


def counted(votes: SlapVotes) -> dict[str, int]:
    assert votes.asked is not None
    return votes.asked.count()


def test_a_phone_has_one_vote_and_may_change_it_until_the_verdict() -> None:
    votes = asked(("p1", "A", 1), ("p2", "heat", 2), ("p1", "B", 3))
    assert counted(votes) == {"A": 0, "B": 1, "heat": 1, "none": 0}
    assert votes.show() and not votes.show()
    assert votes.vote("p1", "s1", "A", 4) is VoteProblem.SHOWN
    assert votes.vote("p3", "s1", "A", 4) is VoteProblem.SHOWN
    assert counted(votes) == {"A": 0, "B": 1, "heat": 1, "none": 0}


def test_a_vote_on_another_slap_or_for_no_answer_is_refused() -> None:
    votes = asked()
    assert votes.vote("p1", "s2", "A", 1) is VoteProblem.NOT_ASKED
    assert votes.vote("p1", "s1", "C", 1) is VoteProblem.NO_CHOICE
    votes.stop()
    assert votes.vote("p1", "s1", "A", 1) is VoteProblem.NOT_ASKED
    assert not votes.show() and votes.votes_of("p1") == {}


def test_the_time_runs_from_the_first_vote_and_without_one_not_at_all() -> None:
    assert asked().due(["p1"]) is None and not asked().advance(10 * LENGTH, ["p1"])
    votes = asked(("p1", "A", 5 * SECOND), ("p1", "B", 20 * SECOND))
    assert votes.due(["p1", "p2"]) == 5 * SECOND + LENGTH
    assert not votes.advance(5 * SECOND + LENGTH - 1, ["p1", "p2"])
    assert votes.advance(5 * SECOND + LENGTH, ["p1", "p2"]) and votes.due(["p1", "p2"]) is None


def test_when_all_have_voted_there_is_a_moment_for_second_thoughts_and_late_phones() -> None:
    votes = asked(("p1", "A", SECOND), ("p2", "A", 4 * SECOND))
    assert votes.due(["p1", "p2"]) == 4 * SECOND + SECOND_THOUGHTS
    assert votes.due(["p1", "p2", "late"]) == SECOND + LENGTH
    votes.vote("p1", "s1", "B", 6 * SECOND)
    assert votes.due(["p1", "p2"]) == 6 * SECOND + SECOND_THOUGHTS
    votes.vote("p1", "s1", "A", SECOND + LENGTH - 1)
    assert votes.due(["p1", "p2"]) == SECOND + LENGTH, "a change of mind makes it no longer"


def test_a_slap_that_is_asked_again_keeps_its_votes_and_its_verdict() -> None:
    votes = asked(("p1", "A", 1))
    votes.ask("s2", ("A", "none"), 2 * LENGTH)
    assert votes.vote("p1", "s2", "none", 2 * LENGTH) is None and votes.show()
    assert votes.votes_of("p1") == {"s1": "A", "s2": "none"}
    votes.ask("s1", CHOICES, 3 * LENGTH)
    assert votes.due(["p1", "p2"]) == 4 * LENGTH, "its time runs anew"
    assert votes.vote("p1", "s1", "B", 3 * LENGTH) is None
    votes.ask("s2", ("A", "none"), 3 * LENGTH)
    assert votes.vote("p1", "s2", "A", 3 * LENGTH) is VoteProblem.SHOWN


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from((*CHOICES, "C")), st.integers(0, LENGTH))))
def test_no_phone_counts_twice_and_the_last_vote_of_each_stands(cast: list[tuple[str, str, int]]) -> None:
    votes, last = asked(), dict[str, str]()
    for device, choice, now in cast:
        if votes.vote(device, "s1", choice, now) is None:
            last[device] = choice
    assert sum(counted(votes).values()) == len(last) == len({device for device, choice, _ in cast if choice != "C"})
    assert {device: votes.votes_of(device) for device in last} == {
        voter: {"s1": choice} for voter, choice in last.items()
    }


def test_each_phone_gets_a_place_and_unused_ones_are_given_out_again() -> None:
    room = Pupils()
    places = PhonePlaces(room, {"code-1": 1, "code-2": 2})
    assert [places.hand_out(["Otter"]) for _ in range(3)] == ["code-1", "code-2", "code-1"]
    device = places.find_device("code-1")
    assert device is not None and room.admit(device) == 1 and room.nicknames == {1: "Otter"}
    assert places.hand_out([]) == "code-2" and places.find_device("code-3") is None
    room.admit(places.find_device("code-2") or "")
    assert places.hand_out([]) is None
