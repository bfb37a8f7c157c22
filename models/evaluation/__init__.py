"""Measures how well the eye reads; never imported at run time."""
