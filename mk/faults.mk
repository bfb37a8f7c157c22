# What can fail at a table, failed on purpose. ARGS= passes options on: make faults ARGS="-k camera"
.PHONY: faults

faults: install  ## every fault of a running table: goes on, told, on the log, recovers; a matrix (two minutes)
	FAULTS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q tests/faults $(ARGS)
