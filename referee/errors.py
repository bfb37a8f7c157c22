"""Errors of the user, with a message of one line."""

from __future__ import annotations

from referee.sentence import Spoken


class UserError(Spoken):
    """A mistake that the user can correct; the text is the one line that they read."""
