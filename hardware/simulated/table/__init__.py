"""A game as it physically happens at the simulated table."""
