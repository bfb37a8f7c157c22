"""The verdict that would have followed if a hand or a card had come at another instant."""
