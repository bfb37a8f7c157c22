"""Makes the eye's weights: pictures, networks, training; never imported at run time."""
