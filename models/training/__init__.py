"""How the eye's weights are made: pictures, networks, training. Never imported at run time."""
