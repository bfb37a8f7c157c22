"""The rules of the game: cards, patterns, challenges, penalties, house rules; pure."""
