"""Everything that is kept of one person, for that person."""

from __future__ import annotations

from typing import Any

from referee.app.people.results import results
from referee.app.people.store import People, Person


def exported(people: People, person: Person) -> dict[str, Any]:
    """A person's data as a JSON object; instants of a game in ns on its own line of time. Raises `RecordError`."""
    played = []
    for result in results(people):
        seat = next((seat for seat, who in result.people.items() if who == person.id), None)
        if seat is None:
            continue
        hands = [
            {
                "t": hand.t, "outcome": hand.outcome, "since_reveal": hand.since, "error": hand.error,
                "kind": hand.kind, "reason": hand.reason, "patterns": list(hand.patterns),
            }
            for hand in result.hands if hand.seat == seat
        ]  # fmt: skip
        played.append({
            "game": result.game, "began": result.began, "seat": seat, "won": result.winner == seat,
            "ended": result.finished, "slaps": hands,
        })  # fmt: skip
    return {
        "name": person.name, "spellings": people.spellings(person), "agreed": person.agreed, "asked": person.asked,
        "consent_text": person.consent, "kept": people.keeping.words, "games": played,
    }  # fmt: skip
