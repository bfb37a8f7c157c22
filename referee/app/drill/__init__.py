"""Practice for one: piles are dealt card by card, and the hand must come down on the house rules' patterns only."""
