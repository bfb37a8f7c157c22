"""What can fail at a table, failed on purpose, one after the other."""
