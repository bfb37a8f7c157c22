"""Lessons for a class: reaction trials, answered by phones, keys or pads, and votes on slaps."""
