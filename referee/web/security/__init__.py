"""Who may do what on the page: guard, rate limits, sessions."""
