"""Faults of a table, each provoked on purpose, one after the other."""
