"""How well the eye reads, measured; never imported at run time."""
