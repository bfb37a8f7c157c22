"""Thin shells over real devices, and simulated devices behind the same ports."""
