"""Teaching the eye an unusual deck."""
