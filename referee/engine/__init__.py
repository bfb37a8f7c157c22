"""Observations in, rulings out: event time, first hand, doubt, corrections, replay; pure."""
