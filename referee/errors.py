"""A user's mistake, told in one line."""

from __future__ import annotations

from referee.sentence import Spoken


class UserError(Spoken):
    """Something that the person at the keyboard can mend; the text is the one line that they read."""
