"""People across games: who agreed to be remembered, what is kept of them, how it goes away, and the league."""
