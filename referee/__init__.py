"""The Table Referee: rules, engine, and everything that joins them to a real table."""
