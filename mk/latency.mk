# How fast the running table is. ARGS= passes options on: make latency ARGS="--slaps 100"; VIEWERS=40: with and without.
.PHONY: latency
VIEWERS ?=

latency: install  ## from an edge to its light and from a verdict to its sound, with a busy eye (4 minutes; out/latency); VIEWERS=40: and with viewers
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.measure.latency$(if $(VIEWERS),_viewers --viewers $(VIEWERS)) $(ARGS)
