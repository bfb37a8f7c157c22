"""Disputes settled from people's own video: people mark frames around each moment, and the referee rules."""
