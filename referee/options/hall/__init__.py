"""Every table of a club on one page, fed by a broker."""
