# How fast the running table is. ARGS= passes options on: make latency ARGS="--slaps 100"
.PHONY: latency

latency: install  ## from an edge to its light and from a verdict to its sound, with a busy eye (4 minutes; out/latency)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.latency $(ARGS)
