"""What is kept: games, pictures, people, and how each goes away again."""
