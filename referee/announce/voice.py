"""The words of one ruling: which phrase of the table it is, and what fills its places. Pure.

What the referee says: from rulings to the names of clips. Pure; nothing here makes a sound.

A clip's name is the text that it speaks, so a phrase reads as it sounds: ``("seat three", "wins the slap",
"by", "fourteen", "milliseconds")``. The words stand in `referee.announce.phrases`, one module a language; here is what is
said of which ruling, how urgent it is, and what makes it untrue. Everything that can be said is in `vocabulary`,
rendered ahead. Players are called by their seats, since a name that nobody rendered cannot be spoken.

Rulings and notices made heard; what is seen of them is in `lamps` and `display`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final

from referee.announce.phrases import BY_CODE, words_in
from referee.announce.phrases.language import MOST, MOST_SEATS, Clips, Language, NoWords, with_mark
from referee.announce.sinks import Notice
from referee.engine.rulings import Ruling

if TYPE_CHECKING:
    from hardware.ports import Speaker

_MS: Final = 1_000_000

_Say = Callable[[Language, Ruling], Clips]


def words_of(ruling: Ruling, words: Language, *, penalty: bool = False) -> Clips:
    """What is said of a ruling, without correction and doubt; nothing where the lights say enough.

    Args:
        ruling: any ruling.
        words: the language.
        penalty: said in one breath after the false slap that it punishes, so without its seat.
    """
    say = (_PENALTIES if penalty else _RULINGS).get(ruling.kind)
    return say(words, ruling) if say is not None else ()


def _seat(words: Language, ruling: Ruling, field: str = "seat") -> Clips:
    return (words.seat(ruling[field]),)


def _either(words: Language, key: str, detail: object) -> str:
    """The key with its detail where there is such a phrase, else the key alone."""
    full = f"{key}.{detail}"
    return full if words.has(full) else key


def _some(words: Language, count: int, noun: str) -> Clips:
    """A count and its noun; a number without words is left out, which is still true."""
    return words.counted(count, noun) if 0 <= count <= MOST else ()


def margin_words(words: Language, ns: int | None) -> Clips:
    """Whole milliseconds, never more than it was; nothing where nobody was second."""
    if ns is None:
        return ()
    whole = ns // _MS
    if whole < 1:
        return words.say("margin.less")
    return words.say("margin.more") if whole > MOST else words.say("margin", ms=words.counted(whole, "ms"))


def _slap_won(words: Language, ruling: Ruling) -> Clips:
    seat = _seat(words, ruling)
    decided = f"slap_won.{ruling.get('decided_by')}"
    if words.has(decided):
        return words.say(decided, seat=seat)
    places = {"seat": seat, "margin": margin_words(words, ruling.get("margin")), "pattern": _pattern(words, ruling)}
    key = "slap_won" + "".join(f".{name}" for name in ("pattern", "margin") if places[name])
    return words.say(key, **places)


def _pattern(words: Language, ruling: Ruling) -> Clips:
    """The name of the first pattern that has one: a double has none, for everybody sees it."""
    rows = [str(row).partition(":")[0] for row in ruling.get("patterns", ())]
    if "P1" in rows:
        return ()
    return next((words.say(f"pattern.{row}") for row in rows if words.has(f"pattern.{row}")), ())


def _dead_heat(words: Language, ruling: Ruling) -> Clips:
    *others, last = (words.seat(place) for place in ruling["seats"])
    if not others:
        return ()
    listed = (*(f"{one}," for one in others[:-1]), others[-1], *words.say("and"), last)
    return words.say("dead_heat", seats=listed)


def _burn(key: str) -> _Say:
    def say(words: Language, ruling: Ruling) -> Clips:
        cards = _some(words, ruling["count"], "card")
        return words.say(_either(words, key, ruling.get("where")), seat=_seat(words, ruling), cards=cards)

    return say


def _give(words: Language, ruling: Ruling) -> Clips:
    cards = _some(words, ruling["count"], "card")
    return words.say("give", seat=_seat(words, ruling), cards=cards, to=_seat(words, ruling, "to"))


def _strike(key: str) -> _Say:
    def say(words: Language, ruling: Ruling) -> Clips:
        strikes = int(ruling["strikes"])
        number = words.number(strikes) if 0 <= strikes <= MOST else ()
        return words.say(key, seat=_seat(words, ruling), number=number)

    return say


def _of_seat(key: str, detail: str = "") -> _Say:
    """A phrase that names the seat, in the form for the ruling's field ``detail`` where there is one."""
    return lambda words, ruling: words.say(
        _either(words, key, ruling.get(detail)) if detail else key, seat=_seat(words, ruling)
    )


def _only_known(key: str, detail: str) -> _Say:
    """As `_of_seat`, and silent where there is no form for the detail."""

    def say(words: Language, ruling: Ruling) -> Clips:
        full = f"{key}.{ruling.get(detail)}"
        return words.say(full, seat=_seat(words, ruling)) if words.has(full) else ()

    return say


def _just(key: str) -> _Say:
    return lambda words, ruling: words.say(key)


def _dead_card(words: Language, ruling: Ruling) -> Clips:
    reason = "double_draw" if ruling.get("reason") == "double_draw" else "out_of_turn"
    return words.say(f"dead_card.{reason}", seat=_seat(words, ruling))


def _contested(words: Language, ruling: Ruling) -> Clips:
    key = "contested.upheld" if ruling["upheld"] else "contested.refused"
    return words.say(key, against=_seat(words, ruling, "against"))


def _challenge(words: Language, ruling: Ruling) -> Clips:
    if ruling["challenged"] is None:
        # Nobody has a card to pay with: the pile is won in the same breath.
        return ()
    chances = _some(words, ruling["chances"], "chance")
    return words.say("challenge", seat=_seat(words, ruling, "challenged"), chances=chances)


def _chance(words: Language, ruling: Ruling) -> Clips:
    if ruling["left"] == 1:
        return words.say("chance.one")
    return words.say("chance", chances=_some(words, ruling["left"], "chance"))


def _challenge_moves(words: Language, ruling: Ruling) -> Clips:
    return words.say("challenge_moves", seat=_seat(words, ruling), chances=_some(words, ruling["left"], "chance"))


def _pile(words: Language, ruling: Ruling) -> Clips:
    cards = _some(words, ruling["count"], "card")
    return words.say("pile" if cards else "pile.many", seat=_seat(words, ruling), cards=cards)


def _question(words: Language, ruling: Ruling) -> Clips:
    key = _either(words, "question", ruling["ask"])
    cards: list[Any] = [card for card in ruling.get("cards", ()) if card != "??"]
    if len(cards) > 1 and words.has(f"{key}.cards"):
        return words.say(f"{key}.cards", card=words.card(cards[0]), other=words.card(cards[1]))
    return words.say(key)


def _remind(words: Language, ruling: Ruling) -> Clips:
    key = f"remind.{ruling['what']}"
    return words.say(key) if words.has(key) else ()


_RULINGS: Final[Mapping[str, _Say]] = {
    "dead_heat": _dead_heat,
    "slap_won": _slap_won,
    "slap_false": _of_seat("slap_false", "reason"),
    "slap_void": _only_known("slap_void", "reason"),
    "burn": _burn("burn"),
    "strike": _strike("strike"),
    "give": _give,
    "locked_out": _of_seat("locked_out", "until"),
    "dead_card": _dead_card,
    "foul": _of_seat("foul", "foul"),
    "contested": _contested,
    "challenge": _challenge,
    "chance": _chance,
    "challenge_moves": _challenge_moves,
    "challenge_off": _just("challenge_off"),
    "challenge_won": _of_seat("challenge_won"),
    "out": _of_seat("out"),
    "pile": _pile,
    "slapped_in": _of_seat("slapped_in"),
    "won": _of_seat("won"),
    "lost": _of_seat("lost"),
    "drawn": _just("drawn"),
    "repeated": _just("repeated"),
    "question": _question,
    "remind": _remind,
    "corrected": _just("corrected"),
}
"""What is said of each kind of ruling. `lead` and `turn` are silent: the lights show them."""

_PENALTIES: Final[Mapping[str, _Say]] = {
    "burn": _burn("penalty.burn"),
    "strike": _strike("penalty.strike"),
    "locked_out": lambda words, ruling: (
        words.say(f"penalty.locked_out.{ruling.get('until')}")
        if words.has(f"penalty.locked_out.{ruling.get('until')}")
        else ()
    ),
}


__all__ = [
    "LANGUAGES", "MOST", "MOST_SEATS", "VOCABULARY", "Clips", "Phrase", "Priority", "announce", "margin", "number",
    "pad_stuck", "phrase", "seat", "speak", "spelling", "tell", "vocabulary",
]  # fmt: skip

LANGUAGES: Final = tuple(BY_CODE)
"""Codes of the languages that there are words in."""


class Priority(IntEnum):
    """How a phrase stands to others."""

    COUNT = 0
    """True for a moment only: dropped when late, cut off by a verdict."""
    CALL = 1
    """Worth saying until something overtakes it; cut off by a verdict."""
    VERDICT = 2
    """Interrupts the two others, and is itself spoken to its end."""


PATIENCE: Final = {Priority.COUNT: 0.8, Priority.CALL: 2.5, Priority.VERDICT: 5.0}
"""How long a phrase may wait for its turn until it is no longer worth saying, s."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Something to say."""

    clips: Clips
    """Names of clips, in order; each is in `vocabulary` but for the mark at its end, which is a pause."""
    priority: Priority
    t: int
    """The instant that it speaks of, ns."""
    language: str = "en"
    topic: str = ""
    """A later phrase of the same topic makes this one untrue."""

    @property
    def urgent(self) -> bool:
        """Whether it interrupts what is being said."""
        return self.priority is Priority.VERDICT

    @property
    def patience(self) -> float:
        """How long it may wait for its turn, s."""
        return PATIENCE[self.priority]

    @property
    def text(self) -> str:
        """The phrase in writing, in its language: for those who do not hear."""
        return words_in(self.language).written(self.clips)


def speak(speaker: Speaker, said: Phrase) -> None:
    """Have a phrase said, with all that the speaker must know of it."""
    speaker.say(said.clips, urgent=said.urgent, patience=said.patience, topic=said.topic)


def vocabulary(language: str = "en") -> Clips:
    """Every clip that any phrase of a language can ask for."""
    return words_in(language).vocabulary()


def spelling(language: str = "en") -> Mapping[str, str]:
    """Words of a language that synthesisers say wrongly, and how to write them for them."""
    return words_in(language).spelling


VOCABULARY: Final = vocabulary()
"""That of English."""


def number(value: int, language: str = "en") -> Clips:
    """Clips of a whole number from 0 to `MOST`; raises `NoWords` (a `ValueError`) for others."""
    return words_in(language).number(value)


def seat(place: int, language: str = "en") -> str:
    """The clip that calls a seat; raises `NoWords` (a `ValueError`) where there is no pad for one."""
    return words_in(language).seat(place)


def margin(ns: int | None, language: str = "en") -> Clips:
    """A margin as people say it, whole milliseconds, never more than it was; nothing where nobody was second."""
    return margin_words(words_in(language), ns)


_COUNTS: Final = frozenset(("challenge", "chance", "pile"))
_CALLS: Final = frozenset(
    ("slap_void", "challenge_moves", "challenge_off", "challenge_won", "repeated", "remind", "corrected")
)
_TOPICS: Final = {
    "challenge": "challenge", "chance": "challenge", "challenge_moves": "challenge", "challenge_off": "challenge",
    "challenge_won": "challenge",
}  # fmt: skip


def _priority(ruling: Ruling) -> Priority:
    if ruling.supersedes:
        return Priority.VERDICT
    if ruling.kind in _COUNTS:
        return Priority.COUNT
    return Priority.CALL if ruling.kind in _CALLS else Priority.VERDICT


def phrase(ruling: Ruling, language: str = "en") -> Phrase | None:
    """What to say of one ruling; None where the lights say enough."""
    words = words_in(language)
    clips = words_of(ruling, words)
    if ruling.doubt and clips and ruling.kind.startswith("slap_"):
        clips = (*with_mark(clips, "."), *words.say("doubt"))
    if ruling.supersedes and ruling.kind not in ("lead", "turn", "corrected"):
        clips = (*words.say("correction"), *clips) if clips else words.say("correction.void")
    if not clips:
        return None
    return Phrase(clips, _priority(ruling), ruling.t, language, _TOPICS.get(ruling.kind, ""))


def announce(rulings: Iterable[Ruling], language: str = "en") -> list[Phrase]:
    """What to say of rulings that came together, joined where people would join it.

    A penalty follows its false slap in one breath: "seat two, false slap. burn one card".
    """
    phrases: list[Phrase] = []
    before: Ruling | None = None
    for ruling in rulings:
        said = phrase(ruling, language)
        if said is None:
            continue
        if before is not None and _is_penalty_of(ruling, before):
            joined = (*with_mark(phrases[-1].clips, "."), *words_of(ruling, words_in(language), penalty=True))
            phrases[-1] = replace(phrases[-1], clips=joined)
            continue
        phrases.append(said)
        before = ruling
    return phrases


def _is_penalty_of(ruling: Ruling, before: Ruling) -> bool:
    return (
        before.kind == "slap_false"
        and ruling.kind in ("burn", "strike", "locked_out")
        and not ruling.supersedes
        and (ruling.t, ruling.get("seat")) == (before.t, before.get("seat"))
    )


_APPLIANCE_TOPICS: Final = ("camera", "view", "pads", "lights", "log", "pause")
_COLLECTED: Final = {"paused": "pause", "resumed": "pause", "still_paused": "pause", "waits_for_camera": "pause"}


def tell(what: str, t: int = 0, language: str = "en", priority: Priority = Priority.VERDICT, **fields: Any) -> Phrase:
    """What the appliance itself says: a key ``tell.…`` of the phrases, without that prefix.

    Args:
        what: such as ``roll_call``, ``camera_gone``, ``first_hand``.
        t: the instant that it speaks of, ns.
        language: its code.
        priority: how it stands to other phrases.
        fields: what the phrase names: ``seat``, ``margin`` (ns, or None where nobody was second), ``rules`` (a preset's
            name; any other is the table's own), ``number``, ``digits`` (a text of them).

    Raises:
        NoWords: there is no such phrase, a field is missing, or there are no words for it.
    """
    words = words_in(language)
    key, places = f"tell.{what}", _places(words, fields)
    if places.get("margin") and words.has(f"{key}.margin"):
        key += ".margin"
    topic = _COLLECTED.get(what, what.partition("_")[0])
    clips = words.say(key, **places)
    return Phrase(clips, priority, t, language, topic if topic in _APPLIANCE_TOPICS else "")


def _places(words: Language, fields: dict[str, Any]) -> dict[str, Clips]:
    out: dict[str, Clips] = {}
    for name, value in fields.items():
        if name == "seat":
            out[name] = (words.seat(value),)
        elif name == "margin":
            out[name] = margin_words(words, value)
        elif name == "rules":
            known = f"rules.{value}" if isinstance(value, str) else ""
            out[name] = words.say(known if words.has(known) else "rules.own")
        elif name == "number":
            out[name] = words.number(value)
        elif name == "digits":
            out[name] = tuple(f"{clip}," for digit in value for clip in words.number(int(digit)))
    return out


def pad_stuck(place: int, t: int, language: str = "en") -> Phrase:
    """Said when a pad has been down for too long to be a hand; ``t`` in ns."""
    return tell("pad_stuck", t, language, seat=place)


class Pulse:
    """Gives a speaker's signs of life: that its card asks for sound, or that it is known to be gone and looked for."""

    def __init__(self, speaker: Speaker, beat: Callable[[], None]) -> None:
        self._speaker, self._beat = speaker, beat
        self._signs = -1

    @staticmethod
    def has(speaker: Speaker) -> bool:
        """Whether this speaker gives any."""
        return hasattr(speaker, "signs")

    def touch(self, touched: Sequence[int], now: int = 0) -> None:
        """Called with every turn of the loop."""
        signs: int = getattr(self._speaker, "signs", self._signs)
        gone: str | None = getattr(self._speaker, "trouble", None)
        if signs != self._signs or gone:
            self._signs = signs
            self._beat()


class Voice:
    """Speaks the rulings, and what the appliance itself has to say."""

    def __init__(self, speaker: Speaker, language: str = "en") -> None:
        self._speaker, self._language = speaker, language
        self._touched = False

    def __call__(self, rulings: Sequence[Ruling]) -> None:
        """Say what came together, joined where people would join it."""
        for phrase in announce(rulings, self._language):
            speak(self._speaker, phrase)

    def tell(self, notice: Notice) -> None:
        """Say a notice, where there are words for it."""
        with suppress(NoWords):
            speak(self._speaker, tell(notice.what, notice.t, self._language, **notice.fields))

    def touch(self, touched: Sequence[int], now: int = 0) -> None:
        """Pads that are down: the first hand is heard at once, where that is wanted."""
        if touched and not self._touched:
            self._speaker.cue("slap")
        self._touched = bool(touched)
