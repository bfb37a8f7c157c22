"""The photo-finish of a slap: its moment, its drawing, its page."""
