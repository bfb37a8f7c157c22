"""How the eye's weights are made: pictures, networks, training; never imported at run time."""
