"""A network that names the surface of each pixel of the table: drawn tables to learn from, the fit, its score."""
