"""Setting up a table: the wizard, the doctor, calibration, decks, wiring."""
