"""The eye: finds and reads the cards in one picture."""
