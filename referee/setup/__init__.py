"""Setting a table up: the walk, the doctor, calibration, decks, wiring."""
