"""The steps of the walk in their order, and its last two: house rules, and the doctor's look."""

from __future__ import annotations

from typing import Any, Final

from referee.app.housefile import SUFFIX
from referee.app.problems import UserError
from referee.app.setup import Ask, Choice, Do, Refused, Run, Step, Tell, choose
from referee.app.setup_draft import Draft
from referee.app.setup_seats import pins_step, seats_step
from referee.app.setup_senses import camera_step, voice_step
from referee.app.setup_wiring import lights_step, pads_step
from referee.rules.presets import PRESETS


def rules_step(draft: Draft) -> Run:
    """A preset, a file, or what is there; and the deck."""
    now: Any = draft.settings.rules
    own = not isinstance(now, str)
    choices = [Choice(name, preset.title) for name, preset in PRESETS.items()]
    if own:
        choices.append(Choice("kept", "the house rules that the settings have"))
    listed = choose("rules.preset", f"Which rules? Or a file of your own (*{SUFFIX}, see `referee rules example`)",
                    "kept" if own else now, choices)  # fmt: skip

    def check(text: str) -> str:
        if not text.endswith(SUFFIX):
            return str(listed.check(text))
        try:
            draft.changed({"rules": text})
        except UserError as bad:
            raise Refused(str(bad)) from None
        return text

    said = yield Ask(listed.id, listed.words, listed.default, check, listed.choices)
    draft = draft if said == "kept" else draft.changed({"rules": said})
    return (yield from _deck(draft))


ORDINARY: Final = "ordinary"


def _deck(draft: Draft) -> Run:
    """Which deck is played with, where unusual ones were learned."""
    learned, now = (yield Do("decks", {})), draft.settings.deck
    if not learned and now is None:
        return draft
    names = [*dict.fromkeys([*learned, *([now] if now else [])])]
    choices = [Choice(ORDINARY, "any usual deck"), *(Choice(name, "learned with referee enrol") for name in names)]
    deck = yield choose("rules.deck", "Which deck is played with?", now or ORDINARY, choices)
    return draft.changed({"deck": None if deck == ORDINARY else deck})


def check_step(draft: Draft) -> Run:
    """The doctor looks at everything."""
    while True:
        words, well = yield Do("doctor", {"text": draft.text}, "looking at every part")
        yield Tell(words)
        again = (Choice("retry", "I have mended something"), Choice("done", "go on with what there is"))
        if well or (yield choose("check.again", "Look again?", "done", again)) == "done":
            return draft


STEPS: Final = (
    Step("seats", "Seats", seats_step),
    Step("pins", "Wires", pins_step),
    Step("pads", "Slap roll-call", pads_step),
    Step("lights", "Lights", lights_step),
    Step("camera", "Camera", camera_step),
    Step("voice", "Voice", voice_step),
    Step("rules", "House rules", rules_step),
    Step("check", "First check", check_step),
)
