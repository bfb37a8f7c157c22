"""Teaching an unusual deck to the eye."""
