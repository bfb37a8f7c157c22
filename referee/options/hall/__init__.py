"""A page with every table of a club, fed by a broker."""
