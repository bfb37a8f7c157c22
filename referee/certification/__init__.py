"""`referee certify`: one page before a session, with the requirements of this table and its measurements."""
