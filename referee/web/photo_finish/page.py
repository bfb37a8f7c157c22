"""The photo-finish page: the drawing, the same figures as a table, the rule in words, what else was considered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from referee.adjudication.rulings import Ruling
from referee.app.page.cardviews import card
from referee.app.page.drawing import draw
from referee.app.page.explained import explained
from referee.app.page.finish import Finish, finish
from referee.app.page.finishwords import behind, headline, verdict
from referee.app.page.folding import Folded, slap_of
from referee.app.page.markup import Child, Markup, tag
from referee.app.page.measures import NARROW, WIDE
from referee.app.page.rulingwords import RulingWords
from referee.app.page.scene import Scene, svg
from referee.app.page.shell import address
from referee.app.page.texts import Texts
from referee.app.record_frames import Picture

AROUND: Final = 400_000_000
"""How far before and after the first hand pictures are shown, ns."""
MOST_PICTURES: Final = 12


def found(folded: Folded, slap: str) -> Finish | None:
    """The photo-finish of a hand; None where the game has no such hand."""
    return finish(folded.lines(), folded.rulings, slap, folded.replaced_by, len(folded.table.seats))


def drawn(folded: Folded, seen: Finish, texts: Texts, width: int) -> Scene:
    """Its drawing, `WIDE` or `NARROW`."""
    words = RulingWords(folded.table.seats, texts)
    title = texts("finish.of", game=folded.info.id, slap=seen.slap)
    rows = f"{seen.ruling.id} · {' '.join(seen.ruling.rule)}" if seen.ruling is not None else seen.slap
    after = texts("finish.at", time=texts.seconds(seen.zero - folded.table.t))
    return draw(seen, words, title, f"{rows} · {after}", WIDE if width != NARROW else NARROW)


def finish_page(
    folded: Folded, seen: Finish, texts: Texts, pictures: Sequence[Picture] | None, wrong: str = ""
) -> Iterator[Child]:
    """The content of the page.

    Args:
        folded: the game.
        seen: the photo-finish.
        texts: of the page's language.
        pictures: None where they are switched off.
        wrong: where people may say that the ruling is wrong; empty where they may not.
    """
    words = RulingWords(folded.table.seats, texts)
    head = headline(seen, words)
    game = folded.info.id
    yield tag("h1", f"{head.text}{', ' if head.under else ''}{head.under}", class_="unseen")
    yield _buttons(folded, seen, texts, wrong)
    if seen.ruling is not None:
        yield _replaced(folded, seen.ruling, words)
    yield tag(
        "figure",
        svg(drawn(folded, seen, texts, WIDE), class_="print wide"),
        svg(drawn(folded, seen, texts, NARROW), class_="print narrow"),
        class_="photofinish",
        id="print",
    )
    around = tag("section", tag("h2", texts("finish.pictures")), _pictures(game, seen, texts, pictures), class_="panel")
    # People look before they read; that there are no pictures can wait.
    if pictures:
        yield around
    yield tag("section", tag("h2", texts("finish.hands")), _hands(seen, words), class_="panel")
    yield tag("section", tag("h2", texts("finish.cards")), _cards(seen, words), class_="panel")
    if seen.ruling is not None:
        yield explained(folded.explain(seen.ruling), folded, words)
    if not pictures:
        yield around
    yield tag("p", texts("finish.exact"), class_="note")


def _buttons(folded: Folded, seen: Finish, texts: Texts, wrong: str) -> Markup:
    game, slaps = folded.info.id, list(dict.fromkeys(slap_of(ruling) for ruling in folded.slaps()))
    at = slaps.index(seen.slap) if seen.slap in slaps else -1
    path = f"/games/{game}/finish"
    links: list[Child] = []
    if at > 0:
        link = address(path, {"slap": slaps[at - 1]})
        links.append(tag("a", f"← {texts('finish.previous')}", href=link, class_="button", rel="prev"))
    if 0 <= at < len(slaps) - 1:
        link = address(path, {"slap": slaps[at + 1]})
        links.append(tag("a", f"{texts('finish.next')} →", href=link, class_="button", rel="next"))
    if wrong:
        links.append(tag("a", texts("board.wrong"), href=wrong, class_="button"))
    kinds = []
    for kind in ("png", "svg"):
        link = address(f"{path}.{kind}", {"slap": seen.slap})
        label = f"{texts('finish.download')} {kind.upper()}"
        kinds.append(tag("a", label, href=link, class_="button strong", download=True, data_themed=True))
    title = texts("finish.of", game=game, slap=seen.slap)
    return tag("div", tag("p", title, class_="crumb"), tag("div", links, kinds, class_="buttons"), class_="bar")


def _replaced(folded: Folded, ruling: Ruling, words: RulingWords) -> Markup:
    texts, parts = words.texts, []
    if ruling.supersedes:
        old = [folded.by_id[name] for name in ruling.supersedes if name in folded.by_id]
        lines = [tag("li", tag("s", words(one))) for one in old]
        parts.append(tag("div", tag("p", texts("finish.replaces")), tag("ul", lines), class_="notice"))
    return Markup("".join(parts))


def _hands(seen: Finish, words: RulingWords) -> Markup:
    texts = words.texts
    heads = ("player", "instant", "error", "behind", "lifted", "strength", "verdict")
    rows = []
    for hand in seen.hands:
        lifted = "" if hand.lift is None else texts.ms(hand.lift - seen.zero, sign=True)
        rows.append(
            tag(
                "tr",
                tag("th", tag("span", "", class_=f"dot bg-seat{(hand.seat - 1) % 8 + 1}"), words.name(hand.seat),
                    scope="row"),
                tag("td", texts.ms(hand.t - seen.zero, sign=True), tag("small", f"{hand.t} ns"), data_ns=hand.t),
                tag("td", f"± {texts.ms(hand.error)}", data_ns=hand.error),
                tag("td", behind(hand, texts) or "–", data_behind=hand.behind, data_error=hand.behind_error),
                tag("td", lifted or "–"),
                tag("td", "–" if hand.force is None else texts.number(hand.force, 2)),
                tag("td", verdict(hand, seen, words) or "–"),
                data_hand=hand.id,
                class_="asked" if hand.id == seen.slap else None,
            )
        )  # fmt: skip
    return _table(texts, heads, rows, texts("finish.hands"))


def _cards(seen: Finish, words: RulingWords) -> Markup:
    texts = words.texts
    heads = ("card", "by_player", "reveal", "error", "read", "part")
    rows = []
    for mark in seen.cards:
        read = "–" if mark.known_at is None else texts.ms(mark.known_at - seen.zero, sign=True)
        rows.append(
            tag(
                "tr",
                tag("th", card(mark.card, texts), scope="row"),
                tag("td", words.name(mark.seat)),
                tag("td", texts.ms(mark.t - seen.zero, sign=True), tag("small", f"{mark.t} ns"), data_ns=mark.t),
                tag("td", f"± {texts.ms(mark.error)}", data_ns=mark.error),
                tag("td", read),
                tag("td", texts("word.yes") if mark.part else "–"),
                data_card=mark.id,
            )
        )
    return _table(texts, heads, rows, texts("finish.cards"))


def _table(texts: Texts, heads: Sequence[str], rows: Sequence[Markup], label: str) -> Markup:
    head = tag("thead", tag("tr", [tag("th", texts(f"finish.{name}"), scope="col") for name in heads]))
    # A table that scrolls sideways must be reachable by keys.
    return tag("div", tag("table", head, tag("tbody", rows)), class_="scroll", tabindex=0, role="region",
               aria_label=label)  # fmt: skip


def _pictures(game: int, seen: Finish, texts: Texts, pictures: Sequence[Picture] | None) -> Markup:
    if pictures is None:
        return tag("p", texts("finish.pictures_off"), class_="none")
    if not pictures:
        return tag("p", texts("finish.pictures_none"), class_="none")
    shown = []
    for picture in _spread(pictures):
        margin = texts.ms(picture.t - seen.zero, 1, sign=True)
        said = texts("finish.picture_at", margin=margin, exposure=texts.ms(picture.exposure, 1))
        image = tag("img", src=f"/games/{game}/pictures/{picture.t}.jpg", alt=said, loading="lazy")
        shown.append(tag("figure", image, tag("figcaption", said)))
    return tag("div", shown, class_="pictures")


def _spread(pictures: Sequence[Picture]) -> Sequence[Picture]:
    """No more than can be looked at, evenly chosen."""
    if len(pictures) <= MOST_PICTURES:
        return pictures
    last = len(pictures) - 1
    return [pictures[round(place * last / (MOST_PICTURES - 1))] for place in range(MOST_PICTURES)]
