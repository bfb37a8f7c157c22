"""Why the watcher says what it says, in words: `referee watch --explain`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from models.eye.classes import SURE_READING, UNREAD
from models.watch.reasons import Evidence, Look, Reason, SpanFrame
from referee.engine.observations import Card, Foul, Placed, Taken
from referee.text.catalogue import Texts
from referee.text.ruling_lines import pretty

_PILE = (Reason.CARDS_AGAIN, Reason.BARE_UNMOVED)
"""Reasons why no pile counts as taken."""


def reason_lines(evidence: Evidence, texts: Texts) -> Iterator[str]:
    """Yield what was reported, or dropped, and the evidence for it in indented lines."""
    yield _headline(evidence, texts)
    for line in chain(_reasons(evidence, texts), _arrival(evidence, texts)):
        yield f"    {line}"
    for look in evidence.looks:
        yield f"    {_look(look, texts)}"
    yield f"    {texts('watch.decided', time=_clock(evidence.t, texts))}"


def _headline(evidence: Evidence, texts: Texts) -> str:
    told = evidence.observation
    if told is None:
        t = next((look.t for look in evidence.looks), evidence.since if evidence.since is not None else evidence.t)
        if evidence.reason in _PILE:
            return texts("watch.not_taken", time=_clock(t, texts))
        card, confidence = _card(evidence.name, texts), texts.number(evidence.confidence, 2)
        return texts("watch.dropped", time=_clock(t, texts), card=card, confidence=confidence)
    error = told.t_error if isinstance(told, Card | Taken) else 0
    time = texts.measured(told.t, error, unit="s") if error else _clock(told.t, texts)
    fields = {"time": time, "who": _who(getattr(told, "seat", None), texts), "id": told.id}
    match told:
        case Card(card=name):
            return texts("watch.asked" if name == UNREAD else "watch.card", **fields, card=pretty(name))
        case Placed():
            return texts("watch.slid", **fields, card=_card(evidence.name, texts))
        case Taken():
            return texts("watch.taken", **fields)
        case Foul():
            return texts("watch.foul", **fields)
        case _:
            return texts("watch.gap", **fields)


def _reasons(evidence: Evidence, texts: Texts) -> Iterator[str]:
    told = evidence.observation
    if evidence.reason != Reason.SEEN:
        reason = texts(f"watch.reason.{evidence.reason}")
        if evidence.other:
            yield texts("watch.because_of", reason=reason, card=_card(evidence.other, texts))
        else:
            yield texts("watch.why", reason=reason)
    if evidence.naming is not None:
        yield texts("watch.name", reason=texts(f"watch.reason.{evidence.naming}"))
    if isinstance(told, Card) and told.card != UNREAD:
        sure = evidence.confidence >= SURE_READING
        if told.card != evidence.name or not sure:
            confidence = texts.number(evidence.confidence, 2)
            yield texts("watch.eye_alone", card=_card(evidence.name, texts), confidence=confidence)
        elif told.candidates:
            yield texts("watch.against")


def _arrival(evidence: Evidence, texts: Texts) -> Iterator[str]:
    """Yield what drew the watcher's attention, and the frames that bound the instant."""
    if evidence.white is not None:
        yield texts("watch.white", time=_clock(evidence.white, texts))
    if evidence.bearing is not None:
        bearing = f"{evidence.bearing:.0f}"
        if evidence.arm is None:
            yield texts("watch.arm", bearing=bearing)
        else:
            yield texts("watch.arm_since", bearing=bearing, time=_clock(evidence.arm, texts))
    if evidence.since is not None:
        yield texts("watch.bare", time=_clock(evidence.since, texts))
    if isinstance(evidence.observation, Card) and evidence.frames:
        yield texts("watch.face", frames="; ".join(_frame(frame, texts) for frame in evidence.frames))
        if evidence.low > evidence.frames[0].t:
            yield texts("watch.too_late", time=_clock(evidence.low, texts))


def _frame(frame: SpanFrame, texts: Texts) -> str:
    return texts(f"watch.shown.{frame.shown}", time=_clock(frame.t, texts))


def _look(look: Look, texts: Texts) -> str:
    fields = {
        "time": _clock(look.t, texts),
        "card": _card(look.name, texts),
        "confidence": texts.number(look.confidence, 2),
        "place": texts(f"watch.{look.where}"),
        "motion": texts("watch.at_rest" if look.at_rest else "watch.moving"),
    }
    if look.occasion is None:
        return texts("watch.look", **fields)
    return texts("watch.look_why", **fields, occasion=texts(f"watch.occasion.{look.occasion}"))


def _card(name: str, texts: Texts) -> str:
    return texts("card.unread") if name == UNREAD else pretty(name)


def _who(seat: int | None, texts: Texts) -> str:
    return texts("watch.unknown_seat") if seat is None else texts("word.seat", n=seat)


def _clock(ns: int, texts: Texts) -> str:
    """Return an instant to the millisecond, since frames lie closer together than the tenth of a second."""
    return f"{texts.number(ns / 1e9, 3)} s"
