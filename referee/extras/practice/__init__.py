"""Practice alone: slap on the patterns of the house rules, and only then."""
