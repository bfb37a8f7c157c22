"""The phrases for rulings and notices: which phrase, how urgent it is, and what makes it untrue.

A clip's name is the text that it speaks, so a phrase reads as it sounds: ``("seat three", "wins the slap", "by",
"fourteen", "milliseconds")``. The words are in `referee.announce.phrases`. `vocabulary` lists every clip, rendered
ahead; people are called by their names if the speaker has learned them (`referee.announce.spoken_names`), otherwise
by their seats. All but `Voice` and `Pulse` is pure; the table's process speaks the phrases, and the page shows them in
writing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final

from referee.announce.phrases import MOST, Clips, Language, NoWords, places, with_mark, words_in
from referee.announce.sinks import Notice
from referee.announce.spoken_names import names_to_call
from referee.engine.rulings import Ruling, gap_form, rests_on_gap
from referee.units import whole_ms

if TYPE_CHECKING:
    from hardware.ports import Speaker


class Priority(IntEnum):
    """Precedence of a phrase."""

    COUNT = 0
    """True for a moment only: dropped when late, cut off by a verdict."""
    CALL = 1
    """Worth saying until something overtakes it; cut off by a verdict."""
    VERDICT = 2
    """Interrupts the two others, and is itself spoken to its end."""


_PATIENCE: Final = {Priority.COUNT: 0.8, Priority.CALL: 2.5, Priority.VERDICT: 5.0}
_PRIORITIES: Final = {
    **dict.fromkeys(("challenge", "chance", "pile"), Priority.COUNT),
    **dict.fromkeys(
        ("slap_void", "challenge_moves", "challenge_off", "challenge_won", "repeated", "remind", "corrected"),
        Priority.CALL,
    ),
}
"""Priorities of rulings that replace none, by kind; any other is a verdict."""
_CHALLENGE: Final = frozenset(("challenge", "chance", "challenge_moves", "challenge_off", "challenge_won"))
"""Rulings of one topic: the later phrase makes the earlier one untrue."""
_NOTICE_PRIORITIES: Final = {
    **dict.fromkeys(("card_lands", "card_lands_alone"), Priority.COUNT),
    **dict.fromkeys(("asked", "offer", "nothing"), Priority.CALL),
}
"""Priorities of notices, by their name or its first word; any other is a verdict."""
NOBODY: Final[Mapping[int, str]] = {}
"""No seat is called by a name."""
_NOTICES: Final = {
    **{part: part for part in ("camera", "view", "eye", "pads", "lights", "log", "card", "network")},
    **dict.fromkeys(("paused", "resumed", "still_paused", "waits_for_camera"), "pause"),
    **dict.fromkeys(("asked", "offer", "nothing"), "choice"),
}
"""Topics of notices, by their name or its first word."""
_DETAILS: Final = {
    "slap_false": "reason", "slap_void": "reason", "burn": "where", "locked_out": "until", "foul": "foul",
    "question": "ask", "remind": "what",
}  # fmt: skip
"""The field that selects a variant of a ruling's phrase: ``slap_false.late`` is used if there is such a phrase."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase to speak."""

    clips: Clips
    """Names of clips, in order; each is in `vocabulary` or is a player's name, apart from a pause mark at its end."""
    priority: Priority
    t: int
    """The instant that the phrase is about, ns."""
    language: str = "en"
    topic: str = ""
    """A later phrase of the same topic makes this one untrue."""

    @property
    def urgent(self) -> bool:
        """Whether it interrupts the current phrase."""
        return self.priority is Priority.VERDICT

    @property
    def patience(self) -> float:
        """Time that it may wait for its turn until it is no longer worth saying, s."""
        return _PATIENCE[self.priority]

    @property
    def text(self) -> str:
        """The phrase in writing, in its language."""
        return words_in(self.language).written(self.clips)


def vocabulary(language: str = "en") -> Clips:
    """Return every clip that any phrase of a language can ask for."""
    return words_in(language).vocabulary()


def spelling(language: str = "en") -> Mapping[str, str]:
    """Return the words of a language that synthesisers mispronounce, and their corrected spelling."""
    return words_in(language).spelling


def margin(words: Language, ns: int | None, error: int) -> Clips:
    """Return the clips of a margin in whole milliseconds, rounded as in writing, with its error; empty if no hand was
    second.

    ``error`` in ns.
    """
    if ns is None:
        return ()
    whole = whole_ms(ns, error)
    if whole < 1:
        return words.say("margin.less")
    if whole > MOST:
        return words.say("margin.more")
    ms, give = words.counted(whole, "ms"), whole_ms(error, error)
    if not 1 <= give <= MOST:
        return words.say("margin", ms=ms)
    return words.say("margin.error", ms=ms, error=words.number(give))


def phrase(ruling: Ruling, language: str = "en", names: Mapping[int, str] = NOBODY) -> Phrase | None:
    """Return the phrase of one ruling; `None`: the lights say enough. ``names``: seats that are called by name."""
    words = words_in(language).calling(names)
    clips = _clips(words, ruling, _key(words, ruling))
    in_doubt = ruling.doubt or ruling.get("decided_by") == "doubt"
    # The verdict was spoken when the hand came down; only its margin is new.
    is_margin = ruling.window == "closed"
    if is_margin and not clips:
        return None
    if in_doubt and clips and ruling.kind.startswith("slap_") and not is_margin:
        clips = (*with_mark(clips, "."), *words.say("doubt.gap" if rests_on_gap(ruling) else "doubt"))
    if ruling.is_correction and ruling.supersedes and ruling.kind not in ("lead", "turn", "corrected"):
        clips = (*words.say("correction"), *clips) if clips else words.say("correction.void")
    if not clips:
        return None
    usual = Priority.CALL if is_margin else _PRIORITIES.get(ruling.kind, Priority.VERDICT)
    priority = Priority.VERDICT if ruling.supersedes else usual
    return Phrase(clips, priority, ruling.t, language, "challenge" if ruling.kind in _CHALLENGE else "")


def announce(rulings: Iterable[Ruling], language: str = "en", names: Mapping[int, str] = NOBODY) -> list[Phrase]:
    """Return the phrases of rulings that came together, joined where people would join them.

    A penalty follows its false slap in one breath: "seat two, false slap. burn one card". ``names``: see `phrase`.
    """
    words = words_in(language).calling(names)
    phrases: list[Phrase] = []
    before: Ruling | None = None
    for ruling in rulings:
        said = phrase(ruling, language, names)
        if said is None:
            continue
        if before is not None and _is_penalty_of(ruling, before):
            penalty = _clips(words, ruling, _key(words, ruling, "penalty."))
            phrases[-1] = replace(phrases[-1], clips=(*with_mark(phrases[-1].clips, "."), *penalty))
            continue
        phrases.append(said)
        before = ruling
    return phrases


def _is_penalty_of(ruling: Ruling, before: Ruling) -> bool:
    return (
        before.kind == "slap_false"
        and ruling.kind in ("burn", "give", "strike", "locked_out")
        and not ruling.supersedes
        and (ruling.t, ruling.get("seat")) == (before.t, before.get("seat"))
    )


def _key(words: Language, ruling: Ruling, prefix: str = "") -> str:
    """Return the key of a ruling's phrase; no such phrase exists if the lights say enough."""
    kind, key = ruling.kind, prefix + ruling.kind
    if kind == "slap_won":
        if ruling.window == "closed":
            return f"{key}.closed.margin" if ruling["margin"] is not None else ""
        if words.has(decided := f"{key}.{ruling.get('decided_by')}"):
            return decided
        named = {"pattern": _pattern(words, ruling), "margin": ruling.get("margin") is not None}
        return key + "".join(f".{part}" for part, there in named.items() if there)
    if kind == "contested":
        return f"{key}.{'upheld' if ruling['upheld'] else 'refused'}"
    if kind == "dead_card":
        return f"{key}.{'double_draw' if ruling.get('reason') == 'double_draw' else 'out_of_turn'}"
    if kind == "chance" and ruling["left"] == 1:
        return "chance.one"
    if "E8" in ruling.rule and words.has(left := f"{key}.left"):
        return left
    if kind == "pile" and not _some(words, ruling["count"], "card"):
        return "pile.many"
    # If no player has a card to pay a challenge with, the pile is won in the same breath.
    if (kind == "challenge" and ruling["challenged"] is None) or (kind == "dead_heat" and len(ruling["seats"]) < 2):
        return ""
    if words.has(full := f"{key}.{ruling.get(_DETAILS.get(kind, ''))}"):
        key = full
    if ruling.get("ask") == "unseen_gap" and words.has(form := f"{key}.{gap_form(ruling)}"):
        return form
    if ruling.get("ask") == "slap_or_limit" and "F9" in ruling.rule:
        return f"{key}.card"
    return f"{key}.cards" if len(_choice(ruling)) > 1 and words.has(f"{key}.cards") else key


def _clips(words: Language, ruling: Ruling, key: str) -> Clips:
    if not words.has(key):
        return ()
    return words.say(key, **{place: _filled(words, ruling, place) for place in places(words.phrases[key])})


def _filled(words: Language, ruling: Ruling, place: str) -> Clips:
    """Return the clips for a place of a ruling's phrase."""
    if place == "seat":
        return (words.seat(ruling["challenged" if ruling.kind == "challenge" else "seat"]),)
    if place == "to":
        return words.to(ruling["to"])
    if place == "seats":
        *others, before, last = (words.seat(seat) for seat in ruling["seats"])
        return (*(f"{seat}," for seat in others), before, *words.say("and"), last)
    if place == "cards":
        return _some(words, ruling["count"], "card")
    if place == "chances":
        return _some(words, ruling["chances" if ruling.kind == "challenge" else "left"], "chance")
    if place == "number":
        strikes = int(ruling["strikes"])
        return words.number(strikes) if 0 <= strikes <= MOST else ()
    if place == "margin":
        return margin(words, ruling["margin"], ruling.get("error") or 0)
    if place == "pattern":
        return _pattern(words, ruling)
    if place in ("card", "other"):
        # Of the cards that a gap left behind, people see the one on top.
        first = -1 if ruling.get("ask") == "unseen_gap" else 0
        return words.card(_choice(ruling)[first if place == "card" else 1])
    return (words.seat(ruling[place]),)


def _some(words: Language, count: int, noun: str) -> Clips:
    """Return a count and its noun; a number without words is omitted, which leaves the phrase true."""
    return words.counted(count, noun) if 0 <= count <= MOST else ()


def _pattern(words: Language, ruling: Ruling) -> Clips:
    """Return the name of the first pattern that has one; a double has none, since it is obvious."""
    rows = [str(row).partition(":")[0] for row in ruling.get("patterns", ())]
    if "P1" in rows:
        return ()
    return next((words.say(f"pattern.{row}") for row in rows if words.has(f"pattern.{row}")), ())


def _choice(ruling: Ruling) -> list[str]:
    """Return the cards between which a question asks people to choose."""
    return [card for card in ruling.get("cards", ()) if card != "??"] if ruling.kind == "question" else []


def tell(
    what: str, t: int = 0, language: str = "en", priority: Priority | None = None,
    names: Mapping[int, str] = NOBODY, **fields: Any,
) -> Phrase:  # fmt: skip
    """Return a phrase of the appliance itself: a key ``tell.…`` of the phrases, without that prefix.

    Args:
        what: such as ``roll_call``, ``camera_gone``, ``first_hand``.
        t: the instant that the phrase is about, ns.
        language: its code.
        priority: precedence over other phrases; None: the usual one.
        names: seats that are called by name.
        fields: fields of the phrase: ``seat``, ``card``, ``rank``, ``question`` (its ruling), ``margin`` (ns, or None
            if no hand was second) with its ``error`` (ns), ``rules`` (a preset's name; any other is the table's own),
            ``number``, ``digits`` (a text of them).

    Raises:
        NoWords: there is no such phrase, a field is missing, or there are no words for it.
    """
    words, key = words_in(language).calling(names), f"tell.{what}"
    said = {name: _say_field(words, name, value, fields) for name, value in fields.items() if name in _SPOKEN_FIELDS}
    if said.get("margin") and words.has(f"{key}.margin"):
        key += ".margin"
    first = what.partition("_")[0]
    topic = _NOTICES.get(what) or _NOTICES.get(first, "")
    usual = _NOTICE_PRIORITIES.get(what, _NOTICE_PRIORITIES.get(first, Priority.VERDICT))
    return Phrase(words.say(key, **said), usual if priority is None else priority, t, language, topic)


_SPOKEN_FIELDS: Final = ("seat", "card", "rank", "question", "margin", "rules", "number", "digits")
"""Spoken fields of the appliance's phrases."""


def _say_field(words: Language, name: str, value: Any, fields: Mapping[str, Any]) -> Clips:
    """Return the clips for a place of the appliance's phrase."""
    match name:
        case "seat":
            return (words.seat(value),)
        case "card":
            return words.card(value)
        case "rank":
            return (words.rank(value),)
        case "question":
            return _clips(words, value, _key(words, value))
        case "margin":
            return margin(words, value, fields.get("error", 0))
        case "rules":
            return words.say(f"rules.{value}" if words.has(f"rules.{value}") else "rules.own")
        case "number":
            return words.number(value)
        case _:
            return tuple(f"{clip}," for digit in value for clip in words.number(int(digit)))


def speak(speaker: Speaker, said: Phrase) -> None:
    """Speak a phrase, with its urgency, patience and topic."""
    speaker.say(said.clips, urgent=said.urgent, patience=said.patience, topic=said.topic)


class Voice:
    """Speaks rulings and notices."""

    def __init__(
        self, speaker: Speaker, language: str = "en", names: Sequence[str] = (), said: Mapping[str, str] | None = None
    ) -> None:
        """``names``: the players, by seat; those that the speaker can say are called by name. ``said``: the spelling of
        a name for the synthesiser, where it differs.
        """
        self._speaker, self._language = speaker, language
        wanted = names_to_call(names)
        learned = speaker.learn({name: (said or {}).get(name, name) for name in wanted.values()}) if wanted else ()
        self._names = {seat: name for seat, name in wanted.items() if name in learned}
        self._touched = False

    def __call__(self, rulings: Sequence[Ruling]) -> None:
        """Speak simultaneous rulings, joined where people would join them."""
        for said in announce(rulings, self._language, self._names):
            speak(self._speaker, said)

    def tell(self, notice: Notice) -> None:
        """Speak a notice, if there are words for it."""
        with suppress(NoWords):
            speak(self._speaker, tell(notice.what, notice.t, self._language, names=self._names, **notice.fields))

    def touch(self, touched: Sequence[int], now: int = 0) -> None:
        """Sound a cue at once for the first hand, if configured; ``touched``: pads that are down."""
        if touched and not self._touched:
            self._speaker.cue("slap")
        self._touched = bool(touched)


class Pulse:
    """Calls ``beat`` for a speaker's signs of life: its card asks for sound, or is known to be missing and sought."""

    def __init__(self, speaker: Speaker, beat: Callable[[], None]) -> None:
        self._speaker, self._beat = speaker, beat
        self._signs = -1

    @staticmethod
    def has(speaker: Speaker) -> bool:
        """Return whether this speaker gives any."""
        return hasattr(speaker, "signs")

    def touch(self, touched: Sequence[int], now: int = 0) -> None:
        """Check the speaker; called in every turn of the loop."""
        signs: int = getattr(self._speaker, "signs", self._signs)
        gone: str | None = getattr(self._speaker, "trouble", None)
        if signs != self._signs or gone:
            self._signs = signs
            self._beat()
