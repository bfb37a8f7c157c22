"""The simulated table's packs of cards, drawn by our own code."""
