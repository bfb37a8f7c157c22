# What the league's ratings are worth, on made-up seasons of players whose strengths are known.
.PHONY: league-figures

league-figures: install  ## how often a rating's limits hold, and how often the better one stands above, as a table
	$(BIN)/python -m tools.measure.seasons
