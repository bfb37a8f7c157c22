"""The vision process: cameras, the eye, and the observations they send to the referee."""
