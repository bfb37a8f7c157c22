"""The physical course of a game at the simulated table."""
