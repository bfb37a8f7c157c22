"""Practice: alone on the patterns of the house rules, and reaction trials for a class."""
