# What deck memory adds to the eye, measured. ARGS= passes options on: make prior-check ARGS="--games 2"
.PHONY: prior-check

prior-check: install  ## how many more cards are named for sure with deck memory's help, and how often wrongly
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.measure.prior_check $(ARGS)
