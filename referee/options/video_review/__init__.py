"""Disputes settled from people's own video: frames round each moment, marked by people, and a ruling."""
