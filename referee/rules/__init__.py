"""The law of the game: cards, patterns, challenges, penalties, house rules; pure."""
