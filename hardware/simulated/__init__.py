"""The simulated table and its devices; they ship with the product."""
