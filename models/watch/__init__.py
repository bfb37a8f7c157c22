"""A stream of frames in, cards laid and piles taken out."""
