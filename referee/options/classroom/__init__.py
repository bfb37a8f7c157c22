"""Reaction trials for a class: a light, a sound or a card, answered by phones, keys or pads."""
