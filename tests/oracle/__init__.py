"""A second, deliberately plain referee, and the games of every preset that it is compared on."""
