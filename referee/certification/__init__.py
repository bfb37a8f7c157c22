"""`referee certify`: one page before a session that says what this table requires of itself, and what it measured."""
