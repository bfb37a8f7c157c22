"""What a verdict would have been, had a hand or a card been at another instant."""
