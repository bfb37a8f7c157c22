"""What lets paired devices keep games for good, and remove them, on the pages that show them."""

from __future__ import annotations

from typing import Final

from referee.app.page.controlpage import answer_line, said_to_scripts
from referee.app.page.markup import Markup, tag
from referee.app.page.site import Site
from referee.app.page.texts import Texts

KEEPING: Final = ("words.js", "make.js", "asking.js", "keeping.js")
"""Its scripts; they show nothing on a device that is not paired."""


def keeping(site: Site, texts: Texts) -> list[Markup]:
    """What the script needs that lets paired devices keep and remove games; nothing where nobody can pair."""
    if not site.controlled:
        return []
    board = site.hub.board
    on = tag("template", "", id="on", data_game=board.game if board.playing else None)
    return [answer_line(), said_to_scripts(texts, "control.", "games."), on]
