"""A table's settings and house-rules files: the schema, reading, and careful changes."""
