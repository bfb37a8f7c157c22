# A day at one table. CARDS= sets how long it is: make soak CARDS=20000. Ctrl-C stops it after the game that is on, and
# the same command goes on with it; ARGS=--fresh begins anew.
.PHONY: soak
soak: CARDS = 200000
soak: install  ## a simulated day and two whole rendered games: memory flat, record and pictures under their caps (25 minutes; can be stopped)
	$(BIN)/python -m tools.measure.soak --cards $(CARDS) $(ARGS)
