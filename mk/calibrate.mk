# The camera's calibration.
.PHONY: calibration-figures

calibration-figures: install  ## how true a table that is found is, and down to what picture cards are read
	$(BIN)/python -m tools.measure.calibration_figures $(ARGS)
