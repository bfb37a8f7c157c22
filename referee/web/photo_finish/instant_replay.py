"""The instant replay: the second around a slap as one file, from the camera's own frames, and the dialog that plays it.

The file begins with the length of its head (4 bytes, big-endian). The head is JSON: the instants of frames, cards and
hands, and every word that the player draws. The frames follow as they are kept, JPEG after JPEG: none is made up, none
is scaled. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from referee.engine.observations import Card
from referee.record.pictures import BEFORE, Picture
from referee.text.catalogue import Texts, with_nbsp
from referee.text.ruling_lines import RulingWords
from referee.units import MS
from referee.web.layout import address, spoken_card
from referee.web.markup import Markup, seat_role, tag
from referee.web.photo_finish.moment import Finish, description, offset, read_verdict

MOST_BYTES: Final = 2_000_000
"""Most bytes of a replay: of more frames than that, every second one is left out."""
_CARDS: Final = 4
"""Most cards that are shown."""
_TURNING: Final = 150 * MS
"""Time in which a card is turned up, ns."""


def replay_address(game: int, slap: str, texts: Texts) -> str:
    """Return the address of a slap's replay, with the words in this language."""
    return address(f"/games/{game}/instant-replay", {"slap": slap, "lang": texts.language})


def replay_button(game: int, slap: str, texts: Texts) -> Markup:
    """Return the button that plays a slap again."""
    return tag(
        "button", tag("span", "▶", aria_hidden="true"), " ", texts("instant_replay.again"), type="button",
        class_="button", data_replay=replay_address(game, slap, texts),
    )  # fmt: skip


def replay_player(texts: Texts) -> Markup:
    """Return the player, which its script opens: a canvas, and buttons to step, play and keep a clip."""
    said = {
        "gone": texts("instant_replay.gone"),
        "no_clip": texts("instant_replay.no_clip"),
        "too_large": texts("instant_replay.too_large"),
        "making": texts("instant_replay.making", left="{left}"),
        "made": texts("instant_replay.made"),
    }
    buttons = [
        tag("button", sign, type="button", class_="button", data_act=act, aria_label=texts(f"replay.{word}"))
        for act, sign, word in (("back", "◀", "previous"), ("play", "▶▶", "play"), ("on", "▶", "next"))
    ]
    named = tag("input", type="checkbox", checked=True, data_names=True)
    clip = tag(
        "span",
        tag("button", texts("instant_replay.clip"), type="button", class_="button", data_act="clip"),
        tag("label", named, " ", texts("instant_replay.names")),
        class_="clip",
    )
    close = tag("button", "✕", type="button", class_="button", data_act="close", aria_label=texts("finish.close"))
    return tag(
        "dialog",
        # Not a button first: the space bar plays.
        tag("canvas", "", role="img", tabindex=-1, autofocus=True),
        tag("p", "", class_="crumb", aria_live="polite"),
        tag("div", buttons, clip, close, class_="buttons"),
        class_="instant-replay",
        id="instant-replay",
        aria_label=texts("instant_replay.title"),
        **{f"data_{word}": text for word, text in said.items()},
    )


def chosen_frames(pictures: Sequence[Picture]) -> Sequence[Picture]:
    """Return the pictures that fit into a replay."""
    while sum(len(picture.jpeg) for picture in pictures) > MOST_BYTES:
        pictures = pictures[::2]
    return pictures


def is_whole(instants: Sequence[int], stop: int) -> bool:
    """Return whether the pictures that began at these instants reach to ``stop``: the next would come after it."""
    if len(instants) < 2:
        return False
    gaps = sorted(later - earlier for earlier, later in pairwise(instants))
    return instants[-1] + gaps[len(gaps) // 2] > stop


def pack_replay(game: int, seen: Finish, names: Sequence[str], texts: Texts, pictures: Sequence[Picture]) -> bytes:
    """Return the file of a replay; see the module."""
    pictures = chosen_frames(pictures)
    head = {
        "game": game,
        "slap": seen.slap,
        "zero": str(seen.zero),
        "from": _begin(seen),
        "frames": [
            # As text: an instant may have more digits than a script's numbers.
            {"t": str(picture.t), "at": picture.t - seen.zero, "exposure": picture.exposure,
             "size": len(picture.jpeg), **_instant(picture, seen, texts)}
            for picture in pictures
        ],
        "cards": [
            {"at": card.t - seen.zero, "part": card in seen.pattern, "said": spoken_card(card.card, texts),
             "face": f"/static/cards/{'back' if card.card == '??' else card.card}.webp"}
            for card in _shown_cards(seen)
        ],
        "named": _words(seen, RulingWords(names, texts)),
        "nameless": _words(seen, RulingWords((), texts)),
        "title": texts("games.game", game=game),
        "slow": texts("instant_replay.slow"),
    }  # fmt: skip
    written = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode()
    return b"".join((len(written).to_bytes(4, "big"), written, *(picture.jpeg for picture in pictures)))


def _begin(seen: Finish) -> int:
    """Return where playing begins, ns after the zero: shortly before the last card came up on which the hand fell."""
    cards = [card.t - seen.zero for card in _shown_cards(seen) if card.t <= seen.zero]
    return max(-BEFORE, max(cards) - _TURNING if cards else -BEFORE)


def _shown_cards(seen: Finish) -> list[Card]:
    """Return the pattern's newest cards; without a pattern, the last two on which the hand fell."""
    before = [card for card in seen.cards if card.t <= seen.zero]
    return seen.pattern[-_CARDS:] or before[-2:]


def _instant(picture: Picture, seen: Finish, texts: Texts) -> dict[str, str]:
    """Return a frame's instant, short and in a sentence."""
    margin = offset(picture.t, picture.exposure, seen, texts, alone=True)
    exposure = texts.ms(picture.exposure, picture.exposure)
    return {"clock": with_nbsp(margin), "said": texts("finish.picture_at", margin=margin, exposure=exposure)}


def _words(seen: Finish, words: RulingWords) -> dict[str, Any]:
    """Return the lanes and the verdict in words, with the names that ``words`` has."""
    verdict = read_verdict(seen, words)
    seats = list(
        dict.fromkeys(hand.seat for hand in sorted(seen.hands, key=lambda hand: (hand.behind is None, hand.t)))
    )
    return {
        "lanes": [
            {
                "name": words.name(seat),
                "role": seat_role(seat),
                "hands": [
                    {"at": hand.t - seen.zero, "error": hand.error, "lift": hand.lift and hand.lift - seen.zero,
                     "said": with_nbsp(offset(hand.t, hand.error, seen, words.texts))}
                    for hand in seen.hands
                    if hand.seat == seat
                ],
            }
            for seat in seats
        ],
        "who": verdict.who,
        "how": with_nbsp(verdict.how),
        "under": with_nbsp(verdict.under),
        "role": seat_role(verdict.seat) if verdict.seat else "ink",
        "said": description(seen, words),
    }  # fmt: skip
