# Unusual decks, learned by laying them once.
.PHONY: enrol-check
PICTURES ?= 200

enrol-check: install  ## unusual simulated decks before and after `referee enrol`, as a table (some minutes)
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.measure.enrol_check --pictures $(PICTURES) --sheets build/enrol $(ARGS)
