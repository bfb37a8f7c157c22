"""Lights: an LED for each seat, or a strip."""
