# The pads' timing. ARGS= passes options on: make pulse-table ARGS="--pairs 1000", or --export, --record, --edges FILE
.PHONY: pulse-table

pulse-table: install  ## scripted pulses on the pads: required and measured, as a table (about a minute)
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.measure.pulse_table $(ARGS)
