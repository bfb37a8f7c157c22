"""A second, deliberately plain referee of the preset ``classic``, and the games it is compared on."""
