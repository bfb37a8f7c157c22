# The camera's own process: what it costs, and how soon it is back.
.PHONY: camera-figures

camera-figures: install  ## cost and delay of a frame between the processes, and the time without frames after a fault
	$(BIN)/python -m tools.measure.camera_figures
