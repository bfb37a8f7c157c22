"""Calibrating the camera and the pads: find, measure, grade, store."""
