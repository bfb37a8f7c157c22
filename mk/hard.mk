# Hard situations at the simulated table. ARGS= passes options on: make hard-set ARGS="--frames out/hard --faults"
.PHONY: hard-set

hard-set: install  ## what the watcher makes of glare, a bumped camera, a lamp switched off, ...: a table
	$(BIN)/python -m tools.hard_set $(ARGS)
