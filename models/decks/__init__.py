"""Unusual decks: what is learned of them, and how it is kept."""
