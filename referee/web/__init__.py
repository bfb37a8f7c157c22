"""The page: scoreboard, photo-finishes, recorded games, control."""
