"""The process that looks: cameras, the eye, and what they tell the referee."""
