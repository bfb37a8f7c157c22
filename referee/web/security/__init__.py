"""Access control of the page: guard, rate limits, sessions."""
