"""The Table Referee: rules, engine, and everything that connects them to a real table."""
