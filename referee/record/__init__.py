"""Stored data: games, pictures, people, and how each is removed again."""
