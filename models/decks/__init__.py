"""Unusual decks: how they are learned and stored."""
