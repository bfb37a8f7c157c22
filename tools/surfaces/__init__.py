"""A network to tell what each pixel of the table shows: drawn tables to learn from, the fit, its score."""
